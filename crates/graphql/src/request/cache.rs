//! The requests that came lately, by their text. A cache belongs to one API and goes with it.

use hexgraph_base::types::{Arrivals, GenerationCache};
use std::sync::Arc;

use crate::generate::Api;
use crate::request::{GraphqlError, Request, RequestLimits};

/// The most texts that are retained.
const ENTRIES_MAX: usize = 1_000;

/// The longest text that is retained, in bytes: a longer one takes long to execute anyway.
const TEXT_MAX: usize = 16 * 1024;

/// A bounded cache of checked requests.
#[derive(Debug)]
pub struct Requests {
    existing: GenerationCache<Arc<Request>>,
    arrivals: Arrivals,
}

impl Default for Requests {
    /// An empty cache for 1,000 texts.
    fn default() -> Requests {
        // Texts are short, so their number alone bounds the memory.
        let existing = GenerationCache::new(ENTRIES_MAX, u64::MAX);
        Requests { existing, arrivals: Arrivals::default() }
    }
}

impl Requests {
    /// Returns the checked request of a text. A text that comes for the third time is neither read
    /// nor checked again: it costs a look-up.
    ///
    /// # Errors
    ///
    /// Errors of the text; faulty texts are not cached.
    pub fn get(
        &self,
        api: &Api,
        text: &str,
        limits: &RequestLimits,
    ) -> Result<Arc<Request>, Vec<GraphqlError>> {
        if let Some(request) = self.existing.get(text) {
            return Ok(request);
        }
        let request = Arc::new(Request::parse(api, text, limits)?);
        if text.len() <= TEXT_MAX && self.arrivals.came_before(text) {
            self.existing.insert(Arc::from(text), &request, text.len() as u64);
        }
        Ok(request)
    }
}
