//! Kinds of requests, and which kinds were slow recently. Requests that differ only in numbers and
//! quoted texts are of one kind.

use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// The number of bytes of a body that are hashed.
const LOOKED_AT: usize = 16 << 10;

/// The largest number of kinds that are remembered as slow, for each generation.
const EXISTING_MOST: usize = 4096;

/// Hashes a request to the number of its kind. Requests to the same path have the same number if
/// their texts differ only in digits and between quotes. Of a body in JSON the member `query` is
/// looked at, where it has one.
pub(crate) fn likeness(position: usize, parameter: &str, body: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    position.hash(&mut hasher);
    hash_text(&parameter.as_bytes()[..parameter.len().min(LOOKED_AT)], b"\"", &mut hasher);
    let body = &body[..body.len().min(LOOKED_AT)];
    match query_member(body) {
        // The quotes of the query are escaped in JSON.
        Some(text) => hash_text(text, b"\\\"", &mut hasher),
        None => hash_text(body, b"\"", &mut hasher),
    }
    hasher.finish()
}

/// The text after `"query":"` in an object.
fn query_member(body: &[u8]) -> Option<&[u8]> {
    const KEY: &[u8] = b"\"query\"";
    if body.trim_ascii_start().first() != Some(&b'{') {
        return None;
    }
    let at = body.windows(KEY.len()).position(|window| window == KEY)?;
    let rest = body[at + KEY.len()..].trim_ascii_start().strip_prefix(b":")?;
    let text = rest.trim_ascii_start().strip_prefix(b"\"")?;
    let mut end = 0;
    // A backslash and what it escapes are skipped together, and may pass the end of what is looked
    // at.
    while end < text.len() && text[end] != b'"' {
        end += if text[end] == b'\\' { 2 } else { 1 };
    }
    Some(&text[..end.min(text.len())])
}

fn hash_text(text: &[u8], quote: &[u8], hasher: &mut FxHasher) {
    let (mut at, mut inside) = (0, false);
    while at < text.len() {
        if text[at..].starts_with(quote) {
            inside = !inside;
            at += quote.len();
            continue;
        }
        if !inside && !text[at].is_ascii_digit() {
            hasher.write_u8(text[at]);
        }
        at += 1;
    }
}

/// The kinds whose last two requests were slow. One is not enough: a quick request is measured as
/// slow where the system preempted it, and would have to wait behind slow ones from then on.
#[derive(Default)]
pub(super) struct Slow {
    /// By kind, whether the request before the last one was slow too. There are two generations: a
    /// kind that does not occur while one generation fills up is forgotten.
    young: FxHashMap<u64, bool>,
    old: FxHashMap<u64, bool>,
}

impl Slow {
    /// Whether the last two requests of this kind were slow.
    pub(super) fn has(&self, kind: u64) -> bool {
        self.young.get(&kind).or_else(|| self.old.get(&kind)).is_some_and(|is_known| *is_known)
    }

    /// Records whether a request of this kind was slow.
    pub(super) fn note(&mut self, kind: u64, is_slow: bool) {
        if !is_slow {
            self.young.remove(&kind);
            self.old.remove(&kind);
            return;
        }
        // Half of the kinds are in each generation at most; one that is in the young generation
        // needs no space.
        if EXISTING_MOST / 2 <= self.young.len() && !self.young.contains_key(&kind) {
            self.old = std::mem::take(&mut self.young);
        }
        let was_slow = self.young.contains_key(&kind) || self.old.remove(&kind).is_some();
        self.young.insert(kind, was_slow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike() {
        let dql = |text: &str| likeness(1, "", text.as_bytes());
        let one = dql("{ q(func: eq(name, \"a\"), first: 10) { name } }");
        assert_eq!(one, dql("{ q(func: eq(name, \"b c\"), first: 2500) { name } }"));
        assert_ne!(one, dql("{ q(func: eq(name, \"a\"), first: 10) { nick } }"));
        assert_ne!(one, likeness(2, "", b"{ q(func: eq(name, \"a\"), first: 10) { name } }"));
        assert_eq!(likeness(1, "{ a(n: 1) }", b""), likeness(1, "{ a(n: 2) }", b""));
        assert_ne!(likeness(1, "{ a(n: 1) }", b""), likeness(1, "{ b(n: 1) }", b""));
        let json = |text: &str| likeness(3, "", text.as_bytes());
        let one = json(r#"{"variables":{"a":"x"},"query":"{ f(a: \"x\", b: 1) { c } }"}"#);
        assert_eq!(one, json(r#"{"query" : "{ f(a: \"y z\", b: 22) { c } }","variables":{}}"#));
        assert_ne!(one, json(r#"{"query":"{ f(a: \"x\", b: 1) { d } }"}"#));
        // A truncated text is no fault.
        json(r#"{"query":"{ f(a: \"#);
        json(r#"{"query"#);
    }

    #[test]
    fn what_was_slow_is_forgotten_in_time() {
        let mut slow = Slow::default();
        slow.note(1, true);
        assert!(!slow.has(1), "it may have been the machine");
        slow.note(1, true);
        assert!(slow.has(1) && !slow.has(2));
        slow.note(1, false);
        assert!(!slow.has(1));
        for kind in 0..3 * EXISTING_MOST as u64 {
            slow.note(kind, true);
            slow.note(kind, true);
        }
        assert!(slow.has(3 * EXISTING_MOST as u64 - 1) && !slow.has(0));
        assert!(slow.young.len() + slow.old.len() <= EXISTING_MOST);
    }
}
