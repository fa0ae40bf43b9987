//! Which GraphQL schema is in force.
//!
//! The text is data of the graph, so each version has its own. The parsed schema is cached with the
//! predicate that has the text: while a version has the same predicate, nothing is parsed again.
//! Thus it does not matter how a text came into the graph: by a change, from a log or a snapshot,
//! or by following another process.

use crate::db::graphql::change::hooks::Hooks;
use crate::db::graphql::keys::Keys;
use crate::db::graphql::persisted::Persisted;
use arc_swap::{ArcSwap, ArcSwapOption};
use hexgraph_base::types::{Error, Uid, stack};
use hexgraph_graphql::auth::{KeyError, KeySource, Rulebook, Verifier};
use hexgraph_graphql::generate::Api;
use hexgraph_graphql::model::Model;
use hexgraph_graphql::remote::Fetch;
use hexgraph_graphql::request::Requests;
use hexgraph_graphql::sdl::{Settings, read};
use hexgraph_graphql::syntax;
use hexgraph_store::graph;
use hexgraph_store::graph::{Predicate, Version};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The GraphQL state of a database: the loaded schema of the newest version, the options, and the
/// HTTP client.
pub struct Schemas {
    /// The options, common to all namespaces.
    pub(super) options: Arc<ArcSwap<GraphqlOptions>>,
    /// The client that sends requests to other servers, common to all namespaces.
    pub(super) client: Arc<ArcSwap<Arc<dyn Fetch>>>,
    /// The persisted queries, by their hashes.
    pub(super) persisted: Persisted,
    /// The queue of events for the lambda server.
    pub(super) hooks: Hooks,
    current: ArcSwapOption<Current>,
    /// Locked while the schema is changed.
    pub(super) changing: Mutex<()>,
}

/// Options for GraphQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphqlOptions {
    /// True if responses say why a mutation was refused by rules.
    pub debug: bool,
    /// Mutations may link nodes, by their IDs or `@id` values, which the rules of `@auth` let their
    /// callers neither see nor change. Dgraph lets them; here such nodes are not there
    /// unless this is set.
    pub links_hidden: bool,
    /// True if servers add `extensions` to responses: counts of reads, and times.
    pub extensions: bool,
    /// True if a token without an audience is accepted although the schema names audiences.
    pub audience_optional: bool,
    /// The URL of the lambda server. Without one, schemas with `@lambda` are refused.
    pub lambda_url: Option<String>,
    /// The longest time for a request to another server, including its redirects.
    pub remote_timeout: Duration,
    /// The longest answer of another server, in bytes.
    pub remote_bytes_max: u64,
    /// The largest number of requests to other servers that one request may run at once.
    pub remote_parallel: usize,
}

impl Default for GraphqlOptions {
    fn default() -> GraphqlOptions {
        GraphqlOptions {
            debug: false,
            links_hidden: false,
            extensions: true,
            audience_optional: false,
            lambda_url: None,
            remote_timeout: Duration::from_secs(30),
            remote_bytes_max: 64 << 20,
            remote_parallel: 16,
        }
    }
}

struct Current {
    /// The predicate that held the text. A version with the same predicate has the same schema.
    predicate: Arc<Predicate>,
    /// The loaded schema; `None` if there is no text, or it can't be read.
    loaded: Option<Arc<Loaded>>,
    /// A number that grows with every change of the schema.
    counter: u64,
}

/// A GraphQL schema with everything that is derived from its text.
pub(super) struct Loaded {
    /// The uid of the node that holds the text.
    pub id: Uid,
    /// The types and fields that the text declares.
    pub model: Model,
    /// The generated API that requests are checked against.
    pub api: Api,
    /// The cache of checked requests.
    pub requests: Requests,
    /// The `@auth` rules.
    pub rules: Rulebook,
    /// The verifier of tokens; `None` if the schema has no authorization, an error if its settings
    /// can't be used.
    pub verifier: std::result::Result<Option<Verifier>, KeyError>,
    /// The cross-origin settings.
    pub access: Arc<Access>,
}

/// The cross-origin settings of a schema, for browsers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Access {
    /// The origins whose pages may send requests.
    pub origins: Vec<String>,
}

impl Schemas {
    /// Creates the state with no schema loaded.
    pub(in crate::db) fn new(client: Arc<dyn Fetch>) -> Schemas {
        Schemas::sharing(Arc::default(), Arc::new(ArcSwap::from_pointee(client)))
    }

    /// The state of another namespace, with no schema loaded.
    pub(in crate::db) fn sibling(&self) -> Schemas {
        Schemas::sharing(Arc::clone(&self.options), Arc::clone(&self.client))
    }

    fn sharing(
        options: Arc<ArcSwap<GraphqlOptions>>,
        client: Arc<ArcSwap<Arc<dyn Fetch>>>,
    ) -> Schemas {
        Schemas {
            options,
            client,
            persisted: Persisted::default(),
            hooks: Hooks::default(),
            current: ArcSwapOption::default(),
            changing: Mutex::default(),
        }
    }

    /// Returns the loaded schema of a version; `None` if it has none, or one that this release
    /// can't read.
    pub(super) fn of(&self, version: &Version) -> Option<Arc<Loaded>> {
        let predicate = version.hidden_predicate("dgraph.graphql.schema")?;
        if let Some(current) = &*self.current.load()
            && Arc::ptr_eq(&current.predicate, predicate)
        {
            return current.loaded.clone();
        }
        let result = graph::graphql_schema(version).filter(|(_, text)| !text.is_empty());
        let loaded = result
            // Another predicate object may hold the same text, which was parsed already.
            .and_then(|(id, text)| {
                self.existing(id, &text).or_else(|| load(id, &text, self.keys()))
            });
        // Two threads that find the same new schema both count it: the counter only has to differ
        // from before.
        self.current.rcu(|old| {
            let counter = old.as_ref().map_or(0, |old| old.counter) + 1;
            let (predicate, loaded) = (Arc::clone(predicate), loaded.clone());
            Some(Arc::new(Current { predicate, loaded, counter }))
        });
        loaded
    }

    /// Returns the loaded schema if its text is the given one.
    fn existing(&self, id: Uid, text: &str) -> Option<Arc<Loaded>> {
        let current = self.current.load_full()?;
        let loaded = current.loaded.as_ref()?;
        (loaded.id == id && loaded.model.text == text).then(|| Arc::clone(loaded))
    }

    /// The source of key sets (JWKS), which calls the present client.
    pub(super) fn keys(&self) -> Arc<dyn KeySource> {
        Arc::new(Keys::new(Arc::clone(&self.client.load())))
    }

    /// How often the schema in force has changed.
    pub(super) fn counter(&self) -> u64 {
        self.current.load().as_ref().map_or(0, |current| current.counter)
    }
}

impl Access {
    fn of(model: &Model) -> Access {
        Access { origins: model.allowed_origins.clone() }
    }
}

/// What was accepted once is accepted again, whatever the options are now, and whichever servers
/// are available.
fn load(id: Uid, text: &str, keys: Arc<dyn KeySource>) -> Option<Arc<Loaded>> {
    // Any address will do here: whether one is needed was checked when the schema was set.
    let settings = Settings { lambda_url: Some(String::new()), ..Settings::default() };
    let (model, api) = read_api(text, &settings).ok()?;
    let rules = Rulebook::new(&model);
    let verifier = model.authorization.as_ref();
    let verifier = verifier.map(|settings| Verifier::later(settings, keys)).transpose();
    let access = Arc::new(Access::of(&model));
    let requests = Requests::default();
    Some(Arc::new(Loaded { id, model, api, requests, rules, verifier, access }))
}

/// Reads a schema and makes its API, without the checks that need another server or the rules.
pub(super) fn read_api(
    text: &str,
    settings: &Settings,
) -> std::result::Result<(Model, Api), Vec<syntax::GraphqlError>> {
    stack::with_space(|| make_api(text, settings))
}

fn make_api(
    text: &str,
    settings: &Settings,
) -> std::result::Result<(Model, Api), Vec<syntax::GraphqlError>> {
    let model = read(text, settings)?;
    let internal = |error: Error| vec![syntax::GraphqlError::new(error.to_string())];
    let api = Api::within(&model, &settings.growth).map_err(internal)?;
    Ok((model, api))
}
