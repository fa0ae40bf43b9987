//! The common state of all root fields of a request, and the outcome of a root field.

use crate::db::Database;
use crate::db::graphql::reply::nulls::bytes_of;
use crate::db::graphql::reply::span::Span;
use crate::db::graphql::request::Headers;
use crate::db::graphql::schemas::{GraphqlOptions, Loaded};
use crate::db::graphql::session::Session;
use hexgraph_base::types::{AccessError, Error};
use hexgraph_graphql::lower::Caller;
use hexgraph_graphql::remote::{HeaderOf, Sender};
use hexgraph_graphql::request::{Field, GraphqlError, PathStep};
use hexgraph_store::exec::RequestContext;
use hexgraph_store::graph::Version;
use std::sync::Arc;

/// A request that is being executed.
pub(super) struct Run<'a> {
    /// The database.
    pub database: &'a Database,
    /// The version that queries read. A mutation reads the newest one, and publishes another.
    pub version: Arc<Version>,
    /// The GraphQL schema of that version.
    pub loaded: Arc<Loaded>,
    /// The caller, by the token.
    pub session: Session,
    /// Why nothing of the data is answered, where users have rights and this caller is not
    /// authenticated.
    pub refusal: Option<AccessError>,
    /// The headers of the request.
    pub headers: &'a Headers,
    /// The context that stops the request.
    pub context: &'a RequestContext,
}

impl Run<'_> {
    /// The caller, for a root field.
    ///
    /// # Errors
    ///
    /// Why there must not be an answer, in the words for queries.
    pub(super) fn caller(&self, field: &Field) -> Result<Caller<'_>, GraphqlError> {
        self.session.caller(&self.loaded).map_err(|why| {
            let message = format!("couldn't rewrite query {} because {why}", field.shape.key);
            GraphqlError::on(root_path(field), message)
        })
    }

    /// Whoever has requests sent to other servers for it.
    pub(super) fn sender<'s>(
        &'s self,
        options: &'s GraphqlOptions,
        came: HeaderOf<'s>,
    ) -> Sender<'s> {
        Sender {
            model: &self.loaded.model,
            came,
            lambda_url: options.lambda_url.as_deref(),
            timeout: options.remote_timeout,
            bytes_max: options.remote_bytes_max,
        }
    }
}

/// The result of a root field.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The value as JSON text.
    pub value: Vec<u8>,
    /// The faults, each with its path from the root.
    pub errors: Vec<GraphqlError>,
    /// The null of a value that must not be null reaches the root: all of `data` is null.
    pub spoils: bool,
    /// Of a mutation: it did not happen, so those after it do not happen either. There need not be
    /// an error.
    pub failed: bool,
    /// The number of values and edges that were read.
    pub touched: u64,
    /// The time of the field; `None` if it needed no work.
    pub span: Option<Span>,
}

impl Outcome {
    /// About the bytes that it retains until the request is answered.
    pub(super) fn retained_bytes(&self) -> u64 {
        let errors: usize = self.errors.iter().map(bytes_of).sum();
        (self.value.capacity() + errors) as u64
    }

    /// The result of a field that failed: null, or an empty list, and the fault.
    pub(super) fn fault(field: &Field, fault: GraphqlError) -> Outcome {
        let value = if field.shape.ty.is_list() { "[]" } else { "null" };
        let (value, errors) = (value.as_bytes().to_vec(), vec![fault]);
        Outcome { value, errors, failed: true, ..Outcome::default() }
    }
}

/// The path of a root field.
pub(super) fn root_path(field: &Field) -> Vec<PathStep> {
    vec![PathStep::Key(field.shape.key.as_str().into())]
}

/// A field that the store could not answer. Positions would be those of generated statements.
pub(super) fn store_fault(field: &Field, error: &Error) -> GraphqlError {
    let reason = match error {
        Error::Query { message, hint, .. } | Error::Schema { message, hint, .. } => {
            if hint.is_empty() { message.clone() } else { format!("{message} ({hint})") }
        }
        other => other.to_string(),
    };
    let message = format!("Dgraph query failed because Dgraph execution failed because {reason}");
    GraphqlError { path: root_path(field), ..GraphqlError::at(field.shape.location, message) }
}
