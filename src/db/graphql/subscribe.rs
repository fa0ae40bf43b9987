//! Subscriptions: an operation that is evaluated again when a commit touches the predicates of its
//! answer.
//!
//! What differs between subscribers of one operation is the caller. Of that only the claims matter
//! which rules name: those in whom they agree have the same [`Identity`], and one subscription can
//! serve them all.

use crate::db::Database;
use crate::db::access::Identified;
use crate::db::graphql::request::{Headers, Request, Response};
use crate::db::graphql::run::Run;
use crate::db::graphql::schemas::Loaded;
use crate::db::graphql::session::Session;
use crate::db::guard::guarded;
use hexgraph_base::types::Error;
use hexgraph_graphql::auth::TokenError;
use hexgraph_graphql::request::{GraphqlError, Operation, OperationKind};
use hexgraph_graphql::subscribe;
use hexgraph_store::exec::RequestContext;
use hexgraph_store::graph::Watch;
use serde_json::{Value, json};
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::Arc;
use std::time::SystemTime;

/// An operation whose answer is requested again whenever it changes. Nothing is computed but in
/// [`Subscription::update`]; the caller is woken when the answer may have changed.
pub struct Subscription {
    database: Database,
    operation: Operation,
    loaded: Arc<Loaded>,
    /// The answer that was given last, by two fingerprints whose keys nobody knows.
    last: Option<[u64; 2]>,
    fingerprints: [RandomState; 2],
    /// The commit of the version that was evaluated last.
    commit: u64,
    /// Whose token was checked at the beginning.
    session: Session,
    /// The time when the token expires; `None` if the subscription serves several callers, who
    /// watch their own tokens.
    expires: Option<SystemTime>,
    _watch: Arc<Watch>,
}

/// A subscription that can begin: it was checked, and so was the token of the caller for it.
pub struct Subscribable {
    database: Database,
    operation: Operation,
    loaded: Arc<Loaded>,
    session: Session,
    identity: Identity,
    commit: u64,
}

/// What the answers to a subscription depend on besides the data. Subscriptions with equal
/// identities get equal answers.
#[derive(Clone)]
pub struct Identity {
    /// The user where users have rights, the key, the request, and the claims that matter.
    text: Arc<str>,
    /// The schema, which lives as long as somebody compares with it.
    loaded: Arc<Loaded>,
}

impl PartialEq for Identity {
    fn eq(&self, other: &Identity) -> bool {
        self.text == other.text && Arc::ptr_eq(&self.loaded, &other.loaded)
    }
}

impl Eq for Identity {}

impl Hash for Identity {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.text.hash(hasher);
    }
}

impl Identity {
    fn new(
        caller: Option<Identified<'_>>,
        request: &Request,
        session: &Session,
        loaded: &Arc<Loaded>,
    ) -> Identity {
        let claims: Vec<Option<&Value>> =
            loaded.rules.claims().map(|name| session.claim(name)).collect();
        let Request { query, operation, variables, extensions, is_served: _ } = request;
        let text = json!([caller, query, operation, variables, extensions, claims]).to_string();
        Identity { text: text.into(), loaded: Arc::clone(loaded) }
    }
}

/// What has become of the answer to a subscription.
#[derive(Debug, Clone, PartialEq)]
pub enum Update {
    /// An answer that differs from the last one.
    Next(Response),
    /// The answer is the same as the last one.
    Same,
    /// The schema has changed, or the database is closed, or the caller's token has expired: there
    /// will be no more.
    Ended,
}

/// # GraphQL subscriptions
impl Database {
    /// Begins a subscription. `wake` is called, on the thread of whoever commits, when the answer
    /// may have changed; it must be quick and must not commit. The first answer is there at once.
    ///
    /// ```
    /// use hexgraph::db::graphql::{Headers, Request, Update};
    /// use hexgraph::db::{Database, RequestContext};
    /// use std::sync::mpsc;
    ///
    /// let db = Database::in_memory();
    /// db.set_graphql_schema("type Note @withSubscription { text: String! }")?;
    /// let (sender, wakes) = mpsc::channel();
    /// let request = Request::new("subscription { queryNote { text } }");
    /// let wake = move || drop(sender.send(()));
    /// let mut notes = db.graphql_subscribe(&request, &Headers::new(), wake).unwrap();
    /// assert!(matches!(notes.update(&RequestContext::new()), Update::Next(_)));
    /// db.graphql("mutation { addNote(input: [{ text: \"new\" }]) { numUids } }");
    /// wakes.recv().unwrap();
    /// assert!(matches!(notes.update(&RequestContext::new()), Update::Next(_)));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// What is wrong with the request, or that it is not a subscription.
    pub fn graphql_subscribe(
        &self,
        request: &Request,
        headers: &Headers,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Result<Subscription, Vec<GraphqlError>> {
        let begun = guarded(|| Ok(self.begin_subscription(request, headers, wake)));
        begun.unwrap_or_else(|error| Err(refusal(&error)))
    }

    fn begin_subscription(
        &self,
        request: &Request,
        headers: &Headers,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Result<Subscription, Vec<GraphqlError>> {
        let subscribable = self.check_subscription(request, headers)?;
        let expires = subscribable.expires();
        Ok(Subscription { expires, ..subscribable.begin(wake)? })
    }

    /// Checks what [`Database::graphql_subscribe`] checks, and begins nothing.
    ///
    /// ```
    /// use hexgraph::db::Database;
    /// use hexgraph::db::graphql::{Headers, Request};
    ///
    /// let db = Database::in_memory();
    /// db.set_graphql_schema("type Note @withSubscription { text: String! }")?;
    /// let query = Request::new("{ queryNote { text } }");
    /// assert!(db.graphql_subscribable(&query, &Headers::new()).is_err(), "it is no subscription");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::graphql_subscribe`].
    pub fn graphql_subscribable(
        &self,
        request: &Request,
        headers: &Headers,
    ) -> Result<Subscribable, Vec<GraphqlError>> {
        let checked = guarded(|| Ok(self.check_subscription(request, headers)));
        checked.unwrap_or_else(|error| Err(refusal(&error)))
    }

    fn check_subscription(
        &self,
        request: &Request,
        headers: &Headers,
    ) -> Result<Subscribable, Vec<GraphqlError>> {
        let version = self.entire_version().map_err(|error| refusal(&error))?;
        self.check_existing().map_err(|error| refusal(&error))?;
        let (loaded, operation) = self.graphql_operation(&version, request)?;
        if operation.kind != OperationKind::Subscription {
            return Err(vec![GraphqlError::new("given GraphQL operation is not a subscription")]);
        }
        if let Some(name) = subscribe::nested_custom_field(&loaded.model, &operation) {
            let message = format!("Custom field `{name}` is not supported in graphql subscription");
            return Err(vec![GraphqlError::new(message)]);
        }
        let reported = |why: TokenError| vec![GraphqlError::new(why.to_string())];
        let session = Session::new(&loaded, headers, &self.graphql_options()).map_err(reported)?;
        session.caller(&loaded).map_err(reported)?;
        let identity = Identity::new(self.caller_identity(), request, &session, &loaded);
        let (database, commit) = (self.clone(), version.commit);
        Ok(Subscribable { database, operation, loaded, session, identity, commit })
    }

    /// What a request would do.
    ///
    /// ```
    /// use hexgraph::db::Database;
    /// use hexgraph::db::graphql::{OperationKind, Request};
    ///
    /// let db = Database::in_memory();
    /// db.set_graphql_schema("type Note { text: String! }")?;
    /// let kind = db.graphql_kind(&Request::new("{ queryNote { text } }"));
    /// assert_eq!(kind, Ok(OperationKind::Query));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn graphql_kind(&self, request: &Request) -> Result<OperationKind, Vec<GraphqlError>> {
        let result = guarded(|| Ok(self.graphql_operation(&*self.entire_version()?, request)));
        result.unwrap_or_else(|error| Err(refusal(&error))).map(|result| result.1.kind)
    }
}

/// Where the schema's text is.
const SCHEMA_PREDICATE: &str = "dgraph.graphql.schema";

impl Subscribable {
    /// What says whether another one is answered alike.
    ///
    /// ```
    /// use hexgraph::db::Database;
    /// use hexgraph::db::graphql::{Headers, Request};
    ///
    /// let db = Database::in_memory();
    /// db.set_graphql_schema("type Note @withSubscription { text: String! }")?;
    /// let request = Request::new("subscription { queryNote { text } }");
    /// let one = db.graphql_subscribable(&request, &Headers::new()).unwrap();
    /// let other = db.graphql_subscribable(&request, &Headers::new()).unwrap();
    /// assert!(one.identity() == other.identity(), "one answer serves both");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The expiry of the caller's token.
    ///
    /// ```
    /// use hexgraph::db::Database;
    /// use hexgraph::db::graphql::{Headers, Request};
    ///
    /// let db = Database::in_memory();
    /// db.set_graphql_schema("type Note @withSubscription { text: String! }")?;
    /// let request = Request::new("subscription { queryNote { text } }");
    /// let note = db.graphql_subscribable(&request, &Headers::new()).unwrap();
    /// assert_eq!(note.expires(), None, "the caller has no token");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn expires(&self) -> Option<SystemTime> {
        let expiries = [self.session.expires(), self.database.caller_expires()];
        expiries.into_iter().flatten().min()
    }

    /// The commit of the version by which it was checked: answers from before are too old.
    ///
    /// ```
    /// use hexgraph::db::Database;
    /// use hexgraph::db::graphql::{Headers, Request};
    ///
    /// let db = Database::in_memory();
    /// db.set_graphql_schema("type Note @withSubscription { text: String! }")?;
    /// let request = Request::new("subscription { queryNote { text } }");
    /// let note = db.graphql_subscribable(&request, &Headers::new()).unwrap();
    /// assert_eq!(note.commit(), db.commit()?);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn commit(&self) -> u64 {
        self.commit
    }

    /// Begins it for all that agree with it: it does not end with the token, so it has to be seen
    /// to that nobody is reported anything after the end of his.
    ///
    /// ```
    /// use hexgraph::db::graphql::{Headers, Request, Update};
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// db.set_graphql_schema("type Note @withSubscription { text: String! }")?;
    /// let request = Request::new("subscription { queryNote { text } }");
    /// let note = db.graphql_subscribable(&request, &Headers::new()).unwrap();
    /// let mut notes = note.begin(|| {}).unwrap();
    /// assert!(matches!(notes.update(&RequestContext::new()), Update::Next(_)));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the database is closed.
    pub fn begin(
        self,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Result<Subscription, Vec<GraphqlError>> {
        let Subscribable { database, operation, loaded, session, .. } = self;
        let database = database.without_end();
        // Another schema closes the subscription, so it is watched too.
        let names = subscribe::predicates(&loaded.model, &operation).map(|mut names| {
            names.push(SCHEMA_PREDICATE.to_owned());
            names.into_iter().map(Arc::from).collect()
        });
        let open = database.open_state().map_err(|error| refusal(&error))?;
        let watch = open.store.watch(names, wake);
        let fingerprints = [RandomState::new(), RandomState::new()];
        Ok(Subscription {
            database,
            operation,
            loaded,
            last: None,
            fingerprints,
            commit: 0,
            session,
            expires: None,
            _watch: watch,
        })
    }
}

impl Subscription {
    /// The expiry of the caller's token, which closes the subscription.
    ///
    /// ```
    /// use hexgraph::db::Database;
    /// use hexgraph::db::graphql::{Headers, Request};
    ///
    /// let db = Database::in_memory();
    /// db.set_graphql_schema("type Note @withSubscription { text: String! }")?;
    /// let request = Request::new("subscription { queryNote { text } }");
    /// let notes = db.graphql_subscribe(&request, &Headers::new(), || {}).unwrap();
    /// assert_eq!(notes.expires(), None, "the caller has no token");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn expires(&self) -> Option<SystemTime> {
        self.expires
    }

    /// Whether it has ended without a look at the data: the token has, or the database is closed.
    ///
    /// ```
    /// use hexgraph::db::Database;
    /// use hexgraph::db::graphql::{Headers, Request};
    ///
    /// let db = Database::in_memory();
    /// db.set_graphql_schema("type Note @withSubscription { text: String! }")?;
    /// let request = Request::new("subscription { queryNote { text } }");
    /// let notes = db.graphql_subscribe(&request, &Headers::new(), || {}).unwrap();
    /// assert!(!notes.is_over());
    /// db.close()?;
    /// assert!(notes.is_over());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn is_over(&self) -> bool {
        self.expires.is_some_and(|end| end <= SystemTime::now()) || self.database.version().is_err()
    }

    /// The commit of the version that was evaluated last.
    ///
    /// ```
    /// use hexgraph::db::graphql::{Headers, Request};
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// db.set_graphql_schema("type Note @withSubscription { text: String! }")?;
    /// let request = Request::new("subscription { queryNote { text } }");
    /// let mut notes = db.graphql_subscribe(&request, &Headers::new(), || {}).unwrap();
    /// notes.update(&RequestContext::new());
    /// assert_eq!(notes.commit(), db.commit()?);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn commit(&self) -> u64 {
        self.commit
    }

    /// A fingerprint of the answer: two numbers that differ for different answers.
    ///
    /// ```
    /// use hexgraph::db::graphql::{Headers, Request};
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// db.set_graphql_schema("type Note @withSubscription { text: String! }")?;
    /// let request = Request::new("subscription { queryNote { text } }");
    /// let mut notes = db.graphql_subscribe(&request, &Headers::new(), || {}).unwrap();
    /// assert_eq!(notes.fingerprint(), None);
    /// notes.update(&RequestContext::new());
    /// assert!(notes.fingerprint().is_some());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn fingerprint(&self) -> Option<[u64; 2]> {
        self.last
    }

    /// Takes the next answer for a new one whatever it is.
    ///
    /// ```
    /// use hexgraph::db::graphql::{Headers, Request, Update};
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// db.set_graphql_schema("type Note @withSubscription { text: String! }")?;
    /// let request = Request::new("subscription { queryNote { text } }");
    /// let mut notes = db.graphql_subscribe(&request, &Headers::new(), || {}).unwrap();
    /// notes.update(&RequestContext::new());
    /// assert!(matches!(notes.update(&RequestContext::new()), Update::Same));
    /// notes.forget();
    /// assert!(matches!(notes.update(&RequestContext::new()), Update::Next(_)));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn forget(&mut self) {
        self.last = None;
    }

    /// Answers the subscription on the newest version. Costs what the query costs, and a pass over
    /// the answer.
    ///
    /// ```
    /// use hexgraph::db::graphql::{Headers, Request, Update};
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// db.set_graphql_schema("type Note @withSubscription { text: String! }")?;
    /// let request = Request::new("subscription { queryNote { text } }");
    /// let mut notes = db.graphql_subscribe(&request, &Headers::new(), || {}).unwrap();
    /// let Update::Next(first) = notes.update(&RequestContext::new()) else { unreachable!("it is new") };
    /// assert_eq!(first.data.unwrap(), br#"{"queryNote":[]}"#);
    /// // Another schema stops it.
    /// db.set_graphql_schema("type Other { text: String! }")?;
    /// assert!(matches!(notes.update(&RequestContext::new()), Update::Ended));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn update(&mut self, context: &RequestContext) -> Update {
        if self.expires.is_some_and(|end| end <= SystemTime::now()) {
            return Update::Ended;
        }
        let mut commit = self.commit;
        let answered = guarded(|| {
            let version = self.database.version()?;
            commit = version.commit;
            let current = self.database.graphql_schemas().of(&version);
            if !current.is_some_and(|current| Arc::ptr_eq(&current, &self.loaded)) {
                return Ok(None);
            }
            let (loaded, session) = (Arc::clone(&self.loaded), self.session.clone());
            // Fields that pass headers on can't be subscribed to.
            let headers = &Headers::new();
            let database = &self.database;
            let refusal = None;
            let run = Run { database, version, loaded, session, refusal, headers, context };
            Ok(Some(run.execute(&self.operation)))
        });
        self.commit = commit;
        match answered {
            Ok(None) => Update::Ended,
            // Closed, or damaged: another query would not help.
            Err(error) if self.database.version().is_err() => {
                drop(error);
                Update::Ended
            }
            Ok(Some(response)) => self.compare(response),
            Err(error) => self.compare(Response::refused(refusal(&error))),
        }
    }

    fn compare(&mut self, response: Response) -> Update {
        // The answer is not stored: two keyed hashes identify it.
        let text = response.to_json("");
        let [one, other] = &self.fingerprints;
        let now = Some([one.hash_one(&text), other.hash_one(&text)]);
        if self.last == now {
            return Update::Same;
        }
        self.last = now;
        Update::Next(response)
    }
}

fn refusal(error: &Error) -> Vec<GraphqlError> {
    vec![GraphqlError::new(error.to_string())]
}
