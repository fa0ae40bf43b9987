//! What all root fields of a request share: the request while it runs, and what a root field comes to.

use crate::db::Database;
use crate::db::graphql::reply::span::Span;
use crate::db::graphql::request::Headers;
use crate::db::graphql::schemas::{GraphqlOptions, Loaded};
use crate::db::graphql::session::Session;
use hexgraph_base::types::Error;
use hexgraph_graphql::lower::Caller;
use hexgraph_graphql::remote::{HeaderOf, Sender};
use hexgraph_graphql::request::{Fault, Field, PathStep};
use hexgraph_store::exec::Control;
use hexgraph_store::graph::Version;
use std::sync::Arc;

/// A request while it runs.
pub(super) struct Run<'a> {
    /// Where.
    pub database: &'a Database,
    /// What queries read. A mutation reads and makes newer ones.
    pub version: Arc<Version>,
    /// By which schema.
    pub loaded: Arc<Loaded>,
    /// For whom.
    pub session: Session,
    /// What came with it.
    pub headers: &'a Headers,
    /// What stops it.
    pub control: &'a Control,
}

impl Run<'_> {
    /// The caller, for a root field.
    ///
    /// # Errors
    ///
    /// Why there must not be an answer, in the words for queries.
    pub(super) fn caller(&self, field: &Field) -> Result<Caller<'_>, Fault> {
        self.session.caller(&self.loaded).map_err(|why| {
            let message = format!("couldn't rewrite query {} because {why}", field.shape.key);
            Fault::on(root_path(field), message)
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

/// What a root field came to.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The value as JSON text.
    pub value: Vec<u8>,
    /// What is wrong, each with its whole path.
    pub errors: Vec<Fault>,
    /// The null of a value that must not be null reaches the root: all of `data` is null.
    pub spoils: bool,
    /// Of a mutation: it did not happen, so those behind it do not happen either. There need not be an error.
    pub failed: bool,
    /// How many values and edges were asked for.
    pub touched: u64,
    /// How long it took.
    pub span: Option<Span>,
}

impl Outcome {
    /// Null, or no elements, because of a fault.
    pub(super) fn fault(field: &Field, fault: Fault) -> Outcome {
        let value = if field.shape.ty.is_list() { "[]" } else { "null" };
        let (value, errors) = (value.as_bytes().to_vec(), vec![fault]);
        Outcome { value, errors, failed: true, ..Outcome::default() }
    }
}

/// The path of a root field.
pub(super) fn root_path(field: &Field) -> Vec<PathStep> {
    vec![PathStep::Key(field.shape.key.as_str().into())]
}

/// A field that the store could not answer. Places are those of statements that nobody has written.
pub(super) fn store_fault(field: &Field, error: &Error) -> Fault {
    let reason = match error {
        Error::Query { message, hint, .. } | Error::Schema { message, hint, .. } => {
            if hint.is_empty() { message.clone() } else { format!("{message} ({hint})") }
        }
        other => other.to_string(),
    };
    let message = format!("Dgraph query failed because Dgraph execution failed because {reason}");
    Fault { path: root_path(field), ..Fault::at(field.shape.location, message) }
}
