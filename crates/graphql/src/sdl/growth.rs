//! The memory limit of reading a schema and generating its API.

use crate::syntax::GraphqlError;
use hexgraph_base::types::Result;
use std::fmt;
use std::sync::Arc;

/// A function that reserves bytes, or says that the request is over.
type Reserve = Arc<dyn Fn(u64) -> Result<()> + Send + Sync>;

/// Called before bytes are allocated, and between long steps. An error stops the work.
#[derive(Clone, Default)]
pub struct Growth(Option<Reserve>);

impl Growth {
    /// Reserves by a function, whose error stops the work.
    pub fn new(reserve: impl Fn(u64) -> Result<()> + Send + Sync + 'static) -> Growth {
        Growth(Some(Arc::new(reserve)))
    }

    /// Reserves so many bytes.
    ///
    /// # Errors
    ///
    /// Those of the function. The work stops with a fault of the same text.
    pub fn reserve(&self, bytes: usize) -> std::result::Result<(), GraphqlError> {
        let Some(reserve) = &self.0 else { return Ok(()) };
        reserve(bytes as u64).map_err(|error| GraphqlError::new(error.to_string()))
    }
}

impl fmt::Debug for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Growth")
    }
}
