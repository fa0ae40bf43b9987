//! A request, root field by root field: those of a query concurrently on one version, those of a
//! mutation one after the other, each in a commit of its own, until one fails.

use crate::db::Database;
use crate::db::graphql::change::root_mutation::mutate;
use crate::db::graphql::reply::span::Span;
use crate::db::graphql::request::{Headers, Request, Response};
use crate::db::graphql::root_query::{Begun, RootResolver};
use crate::db::graphql::run::{Outcome, Run, root_path};
use crate::db::graphql::schemas::Loaded;
use crate::db::graphql::session::Session;
use crate::db::guard::guarded;
use hexgraph_base::answer::write_json_text;
use hexgraph_base::types::Error;
use hexgraph_graphql::request as language;
use hexgraph_graphql::request::{Field, GraphqlError, Operation, OperationKind, RequestLimits};
use hexgraph_store::exec::RequestContext;
use hexgraph_store::graph::Version;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use std::sync::Arc;
use std::time::Instant;

/// # GraphQL requests
impl Database {
    /// Executes a GraphQL request without headers. Faults are part of the response.
    ///
    /// ```
    /// use hexgraph::db::Database;
    ///
    /// let db = Database::in_memory();
    /// db.set_graphql_schema("type Person { id: ID! name: String! }")?;
    /// let response = db.graphql("{ queryPerson { name } }");
    /// assert!(response.errors.is_empty());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn graphql(&self, request: impl Into<Request>) -> Response {
        self.graphql_with(&request.into(), &Headers::new(), &RequestContext::new())
    }

    /// Runs a GraphQL request. All that is wrong is in the answer.
    ///
    /// ```
    /// use hexgraph::db::graphql::{Headers, Request};
    /// use hexgraph::db::{Database, RequestContext};
    /// use std::time::Duration;
    ///
    /// let db = Database::in_memory();
    /// db.set_graphql_schema("type Person { name: String! }")?;
    /// let request = Request::new("mutation { addPerson(input: [{ name: \"Ada\" }]) { numUids } }");
    /// let context = RequestContext::new().with_timeout(Duration::from_secs(10));
    /// let response = db.graphql_with(&request, &Headers::new(), &context);
    /// assert_eq!(response.data.unwrap(), br#"{"addPerson":{"numUids":1}}"#);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn graphql_with(
        &self,
        request: &Request,
        headers: &Headers,
        context: &RequestContext,
    ) -> Response {
        guarded(|| {
            self.prepare(context);
            let full = self.entire_version()?;
            let (loaded, operation) = match self.graphql_operation(&full, request) {
                Ok(result) => result,
                Err(faults) => return Ok(Response::refused(faults)),
            };
            if operation.kind == OperationKind::Mutation {
                self.check_may_write()?;
            }
            let session = match Session::new(&loaded, headers, &self.graphql_options()) {
                Ok(session) => session,
                Err(why) => return Ok(Response::refused(vec![GraphqlError::new(why.to_string())])),
            };
            let (version, refusal) = self.seen_or_nothing(full)?;
            let run = Run { database: self, version, loaded, session, refusal, headers, context };
            Ok(run.execute(&operation))
        })
        .unwrap_or_else(|error| Response::refused(vec![GraphqlError::new(error.to_string())]))
    }

    /// What a request requests, by the schema of a version.
    pub(super) fn graphql_operation(
        &self,
        version: &Version,
        request: &Request,
    ) -> Result<(Arc<Loaded>, Operation), Vec<GraphqlError>> {
        let Some(loaded) = self.graphql_schemas().of(version) else {
            return Err(vec![no_schema(request)]);
        };
        let operation = resolve(self, &loaded, request)?;
        Ok((loaded, operation))
    }
}

fn resolve(
    database: &Database,
    loaded: &Loaded,
    request: &Request,
) -> Result<Operation, Vec<GraphqlError>> {
    let persisted = &database.graphql_schemas().persisted;
    let request = persisted.complete(request).map_err(|fault| vec![fault])?;
    let checked = loaded.requests.get(&loaded.api, &request.query, &RequestLimits::default())?;
    checked.resolve(&loaded.api, request.operation.as_deref(), &request.variables)
}

/// To a client of a server as Dgraph words it, which names the first field of the text.
fn no_schema(request: &Request) -> GraphqlError {
    let text = request.query.as_str();
    if text.is_empty() {
        return language::no_query();
    }
    let names = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let behind = text.find('{').map_or(text, |start| &text[start..]);
    let first = behind.split(|c: char| !(c.is_alphanumeric() || c == '_')).find(|w| !w.is_empty());
    let first = first.or(names.into_iter().find(|word| !word.is_empty())).unwrap_or("anything");
    GraphqlError::new(match request.is_served {
        true => format!(
            "Not resolving {first}. There's no GraphQL schema in Dgraph. Use the /admin API to add a GraphQL schema"
        ),
        false => format!(
            "Not resolving {first}. There is no GraphQL schema yet (set one: `db.graphql_schema(text)` in Python, \
             `Database::set_graphql_schema` in Rust)"
        ),
    })
}

impl Run<'_> {
    /// Answers all root fields.
    pub(super) fn execute(&self, operation: &Operation) -> Response {
        let outcomes = match operation.kind {
            OperationKind::Mutation => self.mutations(&operation.fields),
            kind => self.queries(&operation.fields, kind),
        };
        let settings =
            self.loaded.model.authorization.as_ref().filter(|_| operation.max_age.is_some());
        let token_header = settings.map(|settings| settings.header.as_str().into());
        let mut response =
            Response { max_age: operation.max_age, token_header, ..Response::default() };
        let mut data = Vec::with_capacity(outcomes.iter().map(|it| it.value.len() + 32).sum());
        data.push(b'{');
        let mut spoiled = false;
        for (field, outcome) in operation.fields.iter().zip(outcomes) {
            response.errors.extend(outcome.errors);
            response.spans.extend(outcome.span);
            response.touched += outcome.touched;
            spoiled |= outcome.spoils;
            // A mutation after one that failed has no key in `data`.
            if outcome.value.is_empty() {
                continue;
            }
            if data.len() > 1 {
                data.push(b',');
            }
            write_json_text(&field.shape.key, &mut data);
            data.push(b':');
            data.extend_from_slice(&outcome.value);
        }
        data.push(b'}');
        response.data = Some(if spoiled { b"null".to_vec() } else { data });
        response
    }

    /// Concurrently where several of them need time.
    fn queries(&self, fields: &[Field], kind: OperationKind) -> Vec<Outcome> {
        let started = Instant::now();
        let reader = RootResolver::of_fields(self, fields);
        let long = fields.iter().filter(|field| reader.may_be_long(field)).count();
        let each = |field| begin(&reader, field, kind);
        // Handing one field to another thread and waiting for it gains nothing.
        let is_shared = 1 < long.min(self.database.threads());
        let pool = if is_shared { self.database.pool().ok() } else { None };
        let begun: Vec<Begun<'_>> = match pool {
            Some(pool) if self.context.check_spreading().is_ok() => {
                let shared = |field| (!reader.checks_passwords(field)).then(|| each(field));
                let all = || fields.par_iter().map(shared).collect();
                // The calling thread looks meanwhile whether anybody waits for the answer.
                let shared: Vec<_> = self.context.install(&pool, all);
                let own = |(done, field): (Option<_>, _)| done.unwrap_or_else(|| each(field));
                shared.into_iter().zip(fields).map(own).collect()
            }
            _ => fields.iter().map(each).collect(),
        };
        let finished = guarded(|| Ok(reader.finish(begun)))
            .unwrap_or_else(|error| fields.iter().map(|field| refused(field, &error)).collect());
        let timed = fields.iter().zip(finished).map(|(field, outcome)| {
            // What was done at once has its span already.
            let span = outcome.span.or_else(|| span(field, kind, started));
            Outcome { span, ..outcome }
        });
        timed.collect()
    }

    fn mutations(&self, fields: &[Field]) -> Vec<Outcome> {
        let mut failed = false;
        let each = |field: &Field| {
            if field.shape.name == "__typename" {
                return type_name("Mutation");
            }
            if failed {
                let errors = vec![not_executed(field)];
                return Outcome { errors, failed: true, ..Outcome::default() };
            }
            let started = Instant::now();
            let outcome = guarded_outcome(field, || mutate(self, field));
            failed = outcome.failed;
            Outcome { span: span(field, OperationKind::Mutation, started), ..outcome }
        };
        fields.iter().map(each).collect()
    }
}

fn begin<'f>(reader: &'f RootResolver<'_>, field: &'f Field, kind: OperationKind) -> Begun<'f> {
    if field.shape.name == "__typename" {
        let is_query = kind == OperationKind::Query;
        return Begun::Done(type_name(if is_query { "Query" } else { "Subscription" }));
    }
    let started = Instant::now();
    let begun = guarded(|| Ok(reader.begin(field)));
    match begun.unwrap_or_else(|error| Begun::Done(refused(field, &error))) {
        Begun::Done(outcome) => {
            Begun::Done(Outcome { span: span(field, kind, started), ..outcome })
        }
        begun => begun,
    }
}

/// The time of a field that does something; names of types and introspection have none.
fn span(field: &Field, kind: OperationKind, started: Instant) -> Option<Span> {
    field.shape.root.is_some().then(|| Span::new(field, kind, started))
}

fn type_name(root: &str) -> Outcome {
    let mut value = Vec::with_capacity(root.len() + 2);
    write_json_text(root, &mut value);
    Outcome { value, ..Outcome::default() }
}

fn guarded_outcome(field: &Field, work: impl FnOnce() -> Outcome) -> Outcome {
    guarded(|| Ok(work())).unwrap_or_else(|error| refused(field, &error))
}

fn refused(field: &Field, error: &Error) -> Outcome {
    let fault = GraphqlError {
        path: root_path(field),
        ..GraphqlError::at(field.shape.location, error.to_string())
    };
    Outcome::fault(field, fault)
}

/// What is reported of a mutation after one that failed.
pub(super) fn not_executed(field: &Field) -> GraphqlError {
    let key = &field.shape.key;
    let message = format!("Mutation {key} was not executed because of a previous error.");
    GraphqlError { path: root_path(field), ..GraphqlError::at(field.shape.location, message) }
}
