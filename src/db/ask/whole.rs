//! What the engine asks for itself.

use super::plans::Variables;
use super::query::QueryRequest;
use crate::db::database::Database;
use hexgraph_base::types::{Error, Result};
use hexgraph_store::exec::Control;
use hexgraph_store::graph::Version;
use serde_json::Value as Json;
use std::sync::Arc;

impl Database {
    /// The answer to a query of the engine itself, to whom nothing is hidden.
    ///
    /// # Errors
    ///
    /// As [`Database::query`].
    pub(in crate::db) fn ask_whole(
        &self,
        version: &Arc<Version>,
        text: &str,
        variables: Variables,
    ) -> Result<Json> {
        let request = QueryRequest { text: text.to_owned(), variables, debug: false };
        let control = Control::new();
        let answer = self.query_version(Arc::clone(version), &request, &control)?;
        let (json, _) = answer.to_json_within(&control)?;
        serde_json::from_str(&json).map_err(|error| Error::internal(error.to_string()))
    }
}
