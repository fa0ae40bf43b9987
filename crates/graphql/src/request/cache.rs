//! The requests that came lately, by their text.
//!
//! Two generations of persistent maps behind one pointer: a look-up takes no lock, and an entry that is not used while
//! half of the room fills up with others is forgotten. A cache belongs to one API and goes with it.

use arc_swap::ArcSwap;
use std::sync::Arc;

use crate::generate::Api;
use crate::request::{Fault, Limits, Request};

/// The most texts that are kept.
const ENTRIES_MAX: usize = 1_000;

/// The longest text that is kept, in bytes: a longer one takes long to carry out anyway.
const TEXT_MAX: usize = 16 * 1024;

/// A bounded cache of checked requests.
#[derive(Debug, Default)]
pub struct Requests {
    generations: ArcSwap<Generations>,
}

type Entries = imbl::HashMap<Arc<str>, Arc<Request>>;

#[derive(Debug, Clone, Default)]
struct Generations {
    young: Entries,
    old: Entries,
}

impl Requests {
    /// The checked request of a text. A repeated text is neither read nor checked again.
    ///
    /// # Errors
    ///
    /// What is wrong with the text; faulty texts are not kept.
    pub fn get(&self, api: &Api, text: &str, limits: &Limits) -> Result<Arc<Request>, Vec<Fault>> {
        if let Some(request) = self.find(text) {
            return Ok(request);
        }
        let request = Arc::new(Request::parse(api, text, limits)?);
        if text.len() <= TEXT_MAX {
            self.keep(Arc::from(text), &request);
        }
        Ok(request)
    }

    fn find(&self, text: &str) -> Option<Arc<Request>> {
        let generations = self.generations.load();
        if let Some(request) = generations.young.get(text) {
            return Some(Arc::clone(request));
        }
        let (text, request) = generations.old.get_key_value(text)?;
        self.keep(Arc::clone(text), request);
        Some(Arc::clone(request))
    }

    fn keep(&self, text: Arc<str>, request: &Arc<Request>) {
        self.generations.rcu(|generations| {
            let mut next = Generations::clone(generations);
            if ENTRIES_MAX / 2 <= next.young.len() {
                next.old = std::mem::take(&mut next.young);
            }
            next.young.insert(Arc::clone(&text), Arc::clone(request));
            next
        });
    }
}
