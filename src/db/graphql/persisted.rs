//! Texts that clients name by their SHA-256 once the server knows them (automatic persisted
//! queries).
//!
//! They are retained in memory and not with the data as in Dgraph: a client sends a text
//! again when it was forgotten, and whoever may only read can't make the data grow.

use crate::db::graphql::request::Request;
use hexgraph_base::types::GenerationCache;
use hexgraph_graphql::request::GraphqlError;
use ring::digest::{SHA256, digest};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

/// The most texts that are retained.
const ENTRIES_MAX: usize = 1_000;

/// The longest text that is retained, in bytes.
const TEXT_MAX: usize = 64 * 1024;

/// Texts by their hashes. When there is no more space, those are forgotten that nobody requested
/// lately.
pub(super) struct Persisted {
    texts: GenerationCache<Arc<str>>,
}

impl Default for Persisted {
    fn default() -> Persisted {
        // Each text has a bound of its own, so their number alone bounds the memory.
        Persisted { texts: GenerationCache::new(ENTRIES_MAX, u64::MAX) }
    }
}

impl Persisted {
    /// Returns the request with the text that its hash names. Of a request that has both the text
    /// is retained.
    ///
    /// # Errors
    ///
    /// When the hash is not that of the text, or nobody has sent the text yet.
    pub(super) fn complete<'r>(
        &self,
        request: &'r Request,
    ) -> Result<Cow<'r, Request>, GraphqlError> {
        let Some(hash) = hash_in(&request.extensions) else { return Ok(Cow::Borrowed(request)) };
        if request.query.is_empty() {
            let text =
                self.texts.get(hash).ok_or_else(|| GraphqlError::new("PersistedQueryNotFound"))?;
            let query = text.to_string();
            return Ok(Cow::Owned(Request { query, ..request.clone() }));
        }
        // A cached text needs no hashing.
        if self.texts.get(hash).is_some_and(|existing| *existing == *request.query) {
            return Ok(Cow::Borrowed(request));
        }
        if hash_of(&request.query) != hash {
            return Err(GraphqlError::new("provided sha does not match query"));
        }
        if request.query.len() <= TEXT_MAX {
            let text: Arc<str> = Arc::from(request.query.as_str());
            self.texts.insert(Arc::from(hash), &text, text.len() as u64);
        }
        Ok(Cow::Borrowed(request))
    }
}

/// Returns the hash in `{"persistedQuery": {"sha256Hash": ...}}`. The case of keys does not matter,
/// as in Go.
fn hash_in(extensions: &Map<String, Value>) -> Option<&str> {
    let find = |members: &'_ Map<String, Value>, name: &str| -> Option<String> {
        members.keys().find(|key| key.eq_ignore_ascii_case(name)).cloned()
    };
    let query = extensions.get(&find(extensions, "persistedQuery")?)?.as_object()?;
    query.get(&find(query, "sha256Hash")?)?.as_str().filter(|hash| !hash.is_empty())
}

fn hash_of(text: &str) -> String {
    let mut hash = String::with_capacity(64);
    for byte in digest(&SHA256, text.as_bytes()).as_ref() {
        write!(hash, "{byte:02x}").expect("a text takes what is written to it");
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(text: &str, hash: &str) -> Request {
        let extensions = json!({ "PersistedQuery": { "sha256hash": hash } });
        let extensions = extensions.as_object().unwrap().clone();
        Request { query: text.to_owned(), extensions, ..Request::default() }
    }

    #[test]
    fn a_text_is_sent_once() {
        let persisted = Persisted::default();
        let hash = hash_of("{ a }");
        let requested = request("", &hash);
        let missing = persisted.complete(&requested).unwrap_err();
        assert_eq!(missing.message, "PersistedQueryNotFound");
        let wrong = request("{ b }", &hash);
        assert!(persisted.complete(&wrong).unwrap_err().message.contains("does not match"));
        assert_eq!(persisted.complete(&request("{ a }", &hash)).unwrap().query, "{ a }");
        assert_eq!(persisted.complete(&requested).unwrap().query, "{ a }");
        assert_eq!(persisted.complete(&Request::new("{ c }")).unwrap().query, "{ c }");
    }

    #[test]
    fn requested_texts_stay_while_others_are_evicted() {
        let persisted = Persisted::default();
        let send = |text: &str| drop(persisted.complete(&request(text, &hash_of(text))).unwrap());
        let is_cached = |text: &str| persisted.complete(&request("", &hash_of(text))).is_ok();
        send("{ a }");
        for number in 0..3 * ENTRIES_MAX {
            assert!(is_cached("{ a }"), "{number}");
            send(&format!("{{ a{number} }}"));
        }
        assert!(!is_cached("{ a0 }"));
        assert!(persisted.texts.entry_count() <= ENTRIES_MAX);
    }
}
