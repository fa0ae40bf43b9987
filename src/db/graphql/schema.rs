//! Sets and returns the GraphQL schema of a database.

use crate::db::Database;
use crate::db::graphql::schemas::{Access, GraphqlOptions, read_api};
use crate::db::guard::guarded;
use hexgraph_base::budget::Reservation;
use hexgraph_base::schema::{SchemaReport, schema_weight};
use hexgraph_base::types::{Error, Result, Uid, stack};
use hexgraph_graphql::auth::{KeySource, Verifier};
use hexgraph_graphql::generate::Api;
use hexgraph_graphql::model::Model;
use hexgraph_graphql::remote::Fetch;
use hexgraph_graphql::request::{Request, RequestLimits};
use hexgraph_graphql::sdl::{Growth, Settings, check_rules};
use hexgraph_graphql::{remote, syntax};
use hexgraph_store::exec::{Canceller, RequestContext};
use hexgraph_store::graph;
use hexgraph_store::graph::{Check, encode_changes};
use std::sync::{Arc, Mutex, PoisonError};

/// The GraphQL schema as users see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphqlSchema {
    /// The node that holds it.
    pub id: Uid,
    /// The text as it was given; empty when there is none.
    pub schema: String,
    /// The API that is made of it; empty when there is none.
    pub generated: String,
    /// What setting it changed in the schema of the store; nothing of one that was set before.
    pub report: SchemaReport,
}

/// # GraphQL schemas
impl Database {
    /// Sets the options for GraphQL, for all later requests.
    ///
    /// ```
    /// use hexgraph::db::Database;
    /// use hexgraph::db::graphql::GraphqlOptions;
    ///
    /// let db = Database::in_memory();
    /// db.set_graphql_options(GraphqlOptions { debug: true, ..GraphqlOptions::default() });
    /// assert!(db.graphql_options().debug);
    /// ```
    pub fn set_graphql_options(&self, options: GraphqlOptions) {
        self.graphql_schemas().options.store(Arc::new(options));
    }

    /// Returns the options for GraphQL.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// assert_eq!(db.graphql_options().lambda_url, None);
    /// ```
    pub fn graphql_options(&self) -> Arc<GraphqlOptions> {
        self.graphql_schemas().options.load_full()
    }

    /// Sets the client that sends requests to other servers.
    ///
    /// ```
    /// use hexgraph::db::Database;
    /// use hexgraph::db::graphql::{Fetch, Incoming, Outgoing, Unanswered};
    /// use std::sync::Arc;
    ///
    /// /// A client that sends nothing.
    /// struct Offline;
    ///
    /// impl Fetch for Offline {
    ///     fn fetch(&self, _: &Outgoing) -> Result<Incoming, Unanswered> {
    ///         Err(Unanswered { message: "offline".to_owned(), unreachable: true })
    ///     }
    /// }
    ///
    /// let db = Database::in_memory();
    /// db.set_graphql_client(Arc::new(Offline));
    /// db.set_graphql_schema(
    ///     "type Query { now: String @custom(http: { url: \"http://localhost/\", method: GET }) }
    ///     type Person { name: String! }",
    /// )?;
    /// assert_eq!(db.graphql("{ now }").errors.len(), 1);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn set_graphql_client(&self, client: Arc<dyn Fetch>) {
        self.graphql_schemas().client.store(Arc::new(client));
    }

    /// Returns the client that sends requests to other servers.
    pub(super) fn graphql_client(&self) -> Arc<dyn Fetch> {
        Arc::clone(&self.graphql_schemas().client.load())
    }

    fn graphql_settings(&self, growth: Growth) -> Settings {
        Settings { lambda_url: self.graphql_options().lambda_url.clone(), growth }
    }

    /// Checks a GraphQL schema without setting it.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// assert!(db.check_graphql_schema("type Person { name: String! }").is_ok());
    /// let faults = db.check_graphql_schema("type Person { name: Strnig }").unwrap_err();
    /// assert!(faults[0].starts_with("input:1:"));
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::check_graphql_schema_with`].
    pub fn check_graphql_schema(&self, text: &str) -> std::result::Result<(), Vec<String>> {
        self.check_graphql_schema_with(text, &RequestContext::new())
    }

    /// Checks a GraphQL schema without setting it, until `context` says stop, as
    /// [`Database::alter_with`] does.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    /// use std::time::Duration;
    ///
    /// let db = Database::in_memory();
    /// let context = RequestContext::new().with_timeout(Duration::from_secs(60));
    /// assert!(db.check_graphql_schema_with("type Person { name: String! }", &context).is_ok());
    /// ```
    ///
    /// # Errors
    ///
    /// The faults, each as a message that begins with `input:` and the line number; one message
    /// where there is no memory or no time.
    pub fn check_graphql_schema_with(
        &self,
        text: &str,
        context: &RequestContext,
    ) -> std::result::Result<(), Vec<String>> {
        self.prepare(context);
        let (database, text) = (self.clone(), text.to_owned());
        let checked = guarded(|| {
            let reservation = context.reservation().cloned();
            context.run_detached(move |canceller| {
                let checked =
                    database.checked(&text, &Bounds::new(reservation, Some(canceller)))?;
                Ok(checked.and_then(|(model, _)| database.survey(&model)))
            })
        });
        let checked = checked.inspect_err(|error| note_starved(error, context));
        let reported =
            |faults: Vec<syntax::GraphqlError>| faults.iter().map(ToString::to_string).collect();
        checked.map_err(|error| vec![error.to_string()])?.map_err(reported)
    }

    /// Compares custom fields with the schemas of the servers that answer them. Calls each server
    /// once.
    fn survey(&self, model: &Model) -> std::result::Result<(), Vec<syntax::GraphqlError>> {
        stack::require();
        let options = self.graphql_options();
        let client = self.graphql_client();
        let faults =
            remote::survey(model, &*client, options.remote_timeout, options.remote_bytes_max);
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    /// Sets the GraphQL schema: requests are answered by it from now on, and predicates and types
    /// that it needs are declared in the schema of the store: in addition to what
    /// [`Database::alter`] declared of them, and instead of what the GraphQL schema before
    /// declared. The text is retained with the data.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.set_graphql_schema("type Person { name: String! knows: [Person] }")?;
    /// assert!(db.schema_text()?.contains("Person.knows"));
    /// let added = db.graphql("mutation { addPerson(input: [{ name: \"Ada\" }]) { numUids } }");
    /// assert!(added.errors.is_empty());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Schema` for what is wrong with the text; as [`Database::alter`] when the store's schema
    /// can't follow. Requests are answered by the old schema then.
    pub fn set_graphql_schema(&self, text: &str) -> Result<GraphqlSchema> {
        self.check_administrator()?;
        let reservation = Arc::new(self.budget().reservation());
        self.set_graphql_schema_while(text, &Bounds::new(Some(reservation), None))
    }

    /// As [`Database::set_graphql_schema`], until `context` says stop, as [`Database::alter_with`]
    /// does.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// let context = RequestContext::new();
    /// context.canceller().cancel();
    /// assert!(db.set_graphql_schema_with("type Person { name: String! }", &context).is_err());
    /// assert!(db.graphql_schema()?.is_none());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::set_graphql_schema`]; `Limit` when `context` stops it. Nothing is changed
    /// then.
    pub fn set_graphql_schema_with(
        &self,
        text: &str,
        context: &RequestContext,
    ) -> Result<GraphqlSchema> {
        self.check_administrator()?;
        self.prepare(context);
        let (database, text) = (self.clone(), text.to_owned());
        let reservation = context.reservation().cloned();
        let set = guarded(|| {
            context.run_detached(move |canceller| {
                database.set_graphql_schema_while(&text, &Bounds::new(reservation, Some(canceller)))
            })
        });
        set.inspect_err(|error| note_starved(error, context))
    }

    /// Runs a load, and sets a GraphQL schema after it, if there is one: what it declares is built
    /// in one go, of the data that are there by then. A schema that has faults is refused before
    /// anything is loaded.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext, Source};
    ///
    /// let db = Database::in_memory();
    /// let schema = Some("type Person { name: String! }");
    /// db.load_before_graphql(schema, &RequestContext::new(), || {
    ///     let triples = "<1> <Person.name> \"Ada\" .\n<1> <dgraph.type> \"Person\" .\n";
    ///     db.load(Source::Bytes(triples.into()))
    /// })?;
    /// let response = db.graphql("{ queryPerson { name } }");
    /// assert_eq!(response.data.unwrap(), br#"{"queryPerson":[{"name":"Ada"}]}"#);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of the load, and of [`Database::set_graphql_schema_with`]: if it fails because of the
    /// database, and not of the text, the data stay.
    pub fn load_before_graphql<T>(
        &self,
        schema: Option<&str>,
        context: &RequestContext,
        load: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let Some(text) = schema else { return load() };
        self.check_administrator()?;
        self.prepare(context);
        let bounds = Bounds::new(context.reservation().cloned(), Some(&context.canceller()));
        guarded(|| self.checked(text, &bounds)?.map_err(|faults| schema_error(&faults)))?;
        let report = load()?;
        self.set_graphql_schema_with(text, context)?;
        Ok(report)
    }

    fn set_graphql_schema_while(&self, text: &str, bounds: &Bounds) -> Result<GraphqlSchema> {
        self.budget().check_growth()?;
        let model = guarded(|| {
            self.checked(text, bounds)?
                .and_then(|(model, _)| self.survey(&model).map(|()| model))
                .map_err(|faults| schema_error(&faults))
        })?;
        let schemas = self.graphql_schemas();
        // Definitions and text are two commits; another schema must not come between them.
        let _changing = schemas.changing.lock().unwrap_or_else(PoisonError::into_inner);
        // What `alter` declared stays; what an earlier GraphQL schema declared goes.
        let declared = model.to_dql_schema();
        bounds.reserve(schema_weight(&declared))?;
        let check: Check<'_> = &|| bounds.reserve(0);
        let report =
            self.define_while(|version| graph::resolve_graphql(version, &declared), check)?;
        // The definitions are there by now: the text goes with them, whoever has stopped waiting.
        let id = self.store_graphql_schema(text)?;
        let loaded = schemas.of(&*self.entire_version()?);
        let generated = loaded.map_or_else(String::new, |loaded| loaded.api.sdl.clone());
        Ok(GraphqlSchema { id, schema: text.to_owned(), generated, report })
    }

    fn store_graphql_schema(&self, text: &str) -> Result<Uid> {
        let stored = self.change(None, |version, commit| {
            let (changes, id) = graph::stage_graphql_schema(version, text)?;
            if let Some(record) = &mut commit.record {
                encode_changes(std::slice::from_ref(&changes), record);
            }
            let (next, _) = changes.apply_keyed(version, &mut commit.keys, &|| Ok(()))?;
            Ok((next, id))
        })?;
        Ok(stored.1)
    }

    /// Returns the GraphQL schema; `None` if none is set.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// assert!(db.graphql_schema()?.is_none());
    /// db.set_graphql_schema("type Person { name: String! }")?;
    /// let schema = db.graphql_schema()?.expect("it was set");
    /// assert!(schema.generated.contains("queryPerson"));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails only when it is closed.
    pub fn graphql_schema(&self) -> Result<Option<GraphqlSchema>> {
        let version = self.entire_version()?;
        let loaded = self.graphql_schemas().of(&version);
        Ok(loaded.map(|loaded| GraphqlSchema {
            id: loaded.id,
            schema: loaded.model.text.clone(),
            generated: loaded.api.sdl.clone(),
            report: SchemaReport::default(),
        }))
    }

    /// The node that holds the GraphQL schema, or will hold it: it is made where it is missing.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// assert_eq!(db.graphql_schema_id()?, db.graphql_schema_id()?);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::mutate`] when it has to be made.
    pub fn graphql_schema_id(&self) -> Result<Uid> {
        match graph::graphql_schema(&*self.entire_version()?) {
            Some((id, _)) => Ok(id),
            None => self.store_graphql_schema(""),
        }
    }

    /// Returns the cross-origin settings of the schema.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// assert!(db.graphql_access().origins.is_empty());
    /// ```
    pub fn graphql_access(&self) -> Arc<Access> {
        let version = self.entire_version().ok();
        let loaded = version.and_then(|version| self.graphql_schemas().of(&version));
        loaded.map_or_else(Arc::default, |loaded| Arc::clone(&loaded.access))
    }

    /// Returns a number that grows whenever the GraphQL schema changes.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// let before = db.graphql_schema_counter()?;
    /// db.set_graphql_schema("type Person { name: String! }")?;
    /// assert!(before < db.graphql_schema_counter()?);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails only when it is closed.
    pub fn graphql_schema_counter(&self) -> Result<u64> {
        let schemas = self.graphql_schemas();
        schemas.of(&*self.entire_version()?);
        Ok(schemas.counter())
    }
}

fn schema_error(faults: &[syntax::GraphqlError]) -> Error {
    let reported = faults.iter().map(|fault| {
        let positions = fault.positions.iter();
        let positions: Vec<String> = positions
            .map(|position| format!("{{Line: {}, Column: {}}}", position.line, position.column))
            .collect();
        match positions.is_empty() {
            true => fault.to_string(),
            false => format!("{fault}\n (Locations: [{}])", positions.join(", ")),
        }
    });
    Error::schema(reported.collect::<Vec<_>>().join("\n"))
}

/// A model and its API, or what is wrong with the text.
type Checked = std::result::Result<(Model, Api), Vec<syntax::GraphqlError>>;

/// The memory and the time for reading a schema.
struct Bounds {
    reservation: Option<Arc<Reservation>>,
    canceller: Option<Canceller>,
}

impl Bounds {
    fn new(reservation: Option<Arc<Reservation>>, canceller: Option<&Canceller>) -> Bounds {
        Bounds { reservation, canceller: canceller.cloned() }
    }

    /// Reserves memory, unless the request is over.
    fn reserve(&self, bytes: u64) -> Result<()> {
        self.canceller.as_ref().map_or(Ok(()), Canceller::check)?;
        self.reservation.as_ref().map_or(Ok(()), |reservation| reservation.reserve(bytes))
    }
}

/// Notes that a request ended for want of memory, and not of time.
fn note_starved(error: &Error, context: &RequestContext) {
    if matches!(error, Error::Limit { .. }) && context.check().is_ok() {
        context.note_starved();
    }
}

impl Database {
    /// Reads a schema and makes its API. The inner error has all faults of the first stage of
    /// checks that has any.
    ///
    /// # Errors
    ///
    /// Those of the bounds.
    fn checked(&self, text: &str, bounds: &Bounds) -> Result<Checked> {
        let over = Arc::new(Mutex::new(None));
        let (noted, own) =
            (Arc::clone(&over), Bounds::new(bounds.reservation.clone(), bounds.canceller.as_ref()));
        let growth = Growth::new(move |bytes| {
            own.reserve(bytes).inspect_err(|error| {
                *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
            })
        });
        let checked = checked(text, &self.graphql_settings(growth), &self.graphql_schemas().keys());
        let over = over.lock().unwrap_or_else(PoisonError::into_inner).take();
        match over {
            Some(message) => Err(Error::Limit { message }),
            None => Ok(checked),
        }
    }
}

fn checked(text: &str, settings: &Settings, keys: &Arc<dyn KeySource>) -> Checked {
    let (model, api) = read_api(text, settings)?;
    let mut faults = check_rules(&model, |rule| match settings.growth.reserve(0) {
        Ok(()) => rule_faults(&api, rule),
        Err(over) => vec![over.message],
    });
    if let Some(settings) = &model.authorization
        && let Err(why) = Verifier::new(settings, Arc::clone(keys))
    {
        faults.push(syntax::GraphqlError::new(why.to_string()));
    }
    if faults.is_empty() { Ok((model, api)) } else { Err(faults) }
}

fn rule_faults(api: &Api, rule: &str) -> Vec<String> {
    match Request::parse(api, rule, &RequestLimits::default()) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.into_iter().map(|fault| fault.message).collect(),
    }
}
