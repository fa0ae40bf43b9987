//! The columns of a block: the keys that its objects have, in the order of the text of the query.

use super::name_positions::NamePositions;
use super::outline::Outline;
use rustc_hash::FxHashMap;
use std::collections::{HashMap, HashSet};

/// A key that objects of a block may have.
#[derive(Debug, Clone, PartialEq)]
pub enum Key {
    /// This key. It is a column even when no object has it.
    Always(String),
    /// This key. It is a column only when some object has it.
    Perhaps(String),
    /// The keys `key|facet` for all facets that the values or edges of this key have in the data.
    Facets(String),
    /// The keys `name@language` for all languages that a predicate has in the data, and `name`.
    Languages(String),
}

impl Key {
    /// Returns the key if the text of the query alone determines it.
    fn fixed(&self) -> Option<&str> {
        match self {
            Key::Always(key) => Some(key),
            Key::Perhaps(_) | Key::Facets(_) | Key::Languages(_) => None,
        }
    }

    /// Returns true if a key of an object is this one, or one of those that it represents.
    #[cfg(test)]
    pub(super) fn matches(&self, key: &str) -> bool {
        let continues = |start: &str, mark: char| {
            key.strip_prefix(start).is_some_and(|rest| rest.starts_with(mark))
        };
        match self {
            Key::Always(own) | Key::Perhaps(own) => key == own,
            Key::Facets(own) => continues(own, '|'),
            Key::Languages(name) => key == name || continues(name, '@'),
        }
    }
}

/// The first of some keys that matches a name, searched by the bytes that can terminate a key
/// within the name.
#[derive(Debug, Default)]
pub(super) struct KeyPositions<'a> {
    full: HashMap<&'a str, usize>,
    facets: HashMap<&'a str, usize>,
    languages: HashMap<&'a str, usize>,
}

impl<'a> KeyPositions<'a> {
    /// Some keys, each with its index.
    pub(super) fn new(keys: impl Iterator<Item = (usize, &'a Key)>) -> KeyPositions<'a> {
        let mut positions = KeyPositions::default();
        for (position, key) in keys {
            let (kind, name) = match key {
                Key::Always(name) | Key::Perhaps(name) => (&mut positions.full, name),
                Key::Facets(name) => (&mut positions.facets, name),
                Key::Languages(name) => (&mut positions.languages, name),
            };
            kind.entry(name).or_insert(position);
        }
        positions
    }

    /// Returns the index of the first key that equals a name or represents it.
    pub(super) fn of(&self, name: &str) -> Option<usize> {
        let starts = |mark: char| name.match_indices(mark).map(|(end, _)| &name[..end]);
        let full = [self.full.get(name), self.languages.get(name)].into_iter().flatten();
        let facets = starts('|').filter_map(|start| self.facets.get(start));
        let languages = starts('@').filter_map(|start| self.languages.get(start));
        full.chain(facets).chain(languages).min().copied()
    }

    /// Returns the index of the first key of an object that has this column: `key.inner`.
    pub(super) fn of_object(&self, name: &str) -> Option<usize> {
        name.match_indices('.').filter_map(|(end, _)| self.of(&name[..end])).min()
    }
}

/// Returns true when some of the columns depend on the data.
pub fn need_data(keys: &[Key]) -> bool {
    keys.iter().any(|key| key.fixed().is_none())
}

/// Returns the names of the columns of a block, each once, in the order of `keys`. `result` are the
/// keys that objects have; those that no entry of `keys` matches come last.
pub fn columns(keys: &[Key], result: &[String]) -> Vec<String> {
    let by_data = keys.iter().enumerate().filter(|(_, key)| key.fixed().is_none());
    let positions = KeyPositions::new(by_data);
    let mut result_at: FxHashMap<usize, Vec<&str>> = FxHashMap::default();
    for key in result {
        if let Some(position) = positions.of(key) {
            result_at.entry(position).or_default().push(key);
        }
    }
    let mut all: Vec<&str> = Vec::with_capacity(keys.len());
    for (position, key) in keys.iter().enumerate() {
        match key.fixed() {
            Some(key) => all.push(key),
            None => all.extend(result_at.remove(&position).unwrap_or_default()),
        }
    }
    let mut existing = HashSet::with_capacity(all.len());
    let each = all.into_iter().chain(result.iter().map(String::as_str));
    each.filter(|key| existing.insert(*key)).map(str::to_owned).collect()
}

/// A sink that collects the keys of the objects of one block and drops their values.
#[derive(Debug, Default)]
pub struct KeySink {
    expected: String,
    keys: Vec<String>,
    positions: NamePositions,
    /// The keys of the object of the block that is being written. They count once the object is
    /// complete.
    row: Vec<String>,
    open: Vec<Open>,
    /// The key of the next value, in the object of all blocks and in an object of the block.
    next: Option<String>,
}

#[derive(Debug)]
struct Open {
    /// The key that it is the value of.
    key: Option<String>,
    /// True for the array of the requested block and for everything inside it.
    is_expected: bool,
    items: usize,
}

/// The number of open objects and arrays inside an object of a block: the object of all blocks, the
/// array of the block, and the object itself.
const ROW_DEPTH: usize = 3;

impl KeySink {
    /// Creates a sink for the keys of the objects of a block.
    pub fn new(block: String) -> KeySink {
        KeySink { expected: block, ..KeySink::default() }
    }

    /// Returns the keys, each once, in the order of their first occurrence.
    pub fn finish(self) -> Vec<String> {
        self.keys
    }
}

impl Outline for KeySink {
    fn begin(&mut self) {
        let key = self.next.take();
        let is_expected = match self.open.as_slice() {
            [_] => key.as_deref() == Some(&self.expected),
            [.., last] => last.is_expected,
            [] => false,
        };
        self.open.push(Open { key, is_expected, items: 0 });
    }

    fn end(&mut self) {
        let Some(Open { key, is_expected, .. }) = self.open.pop() else { return };
        if is_expected && self.open.len() + 1 == ROW_DEPTH {
            for (next, key) in self.row.drain(..).enumerate() {
                let keys = &self.keys;
                if self.positions.find(&key, next, keys.len(), |position| &keys[position]).is_none()
                {
                    self.keys.push(key);
                }
            }
        }
        self.next = key;
        self.item();
    }

    fn discard(&mut self) {
        if self.open.len() == ROW_DEPTH {
            self.row.clear();
        }
        self.open.pop();
        self.next = None;
    }

    fn item(&mut self) {
        let key = self.next.take();
        let depth = self.open.len();
        let Some(open) = self.open.last_mut() else { return };
        open.items += 1;
        if let (Some(key), true) = (key, open.is_expected && depth == ROW_DEPTH) {
            self.row.push(key);
        }
    }

    fn has_element(&self) -> bool {
        self.open.last().is_some_and(|open| open.items != 0)
    }

    fn next_key(&mut self, key: &str) {
        let may_count = self.open.len() == 1 || self.open.len() == ROW_DEPTH;
        self.next = may_count.then(|| key.to_owned());
    }

    fn omit(&mut self) {
        self.next = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Sink;
    use fastrand::Rng;

    #[test]
    fn keys_of_one_block_without_discarded_ones() {
        let mut sink = KeySink::new("q".to_owned());
        sink.begin_object();
        for block in ["p", "q"] {
            sink.key(block);
            sink.begin_array();
            sink.begin_object();
            sink.key(&format!("{block}1"));
            sink.int(1);
            sink.key("empty");
            sink.begin_array();
            assert!(sink.is_empty());
            sink.discard_array();
            sink.key("nested");
            sink.begin_object();
            sink.key("inner");
            sink.int(2);
            sink.end_object();
            sink.end_object();
            sink.begin_object();
            sink.key("gone");
            sink.int(3);
            sink.discard_object();
            sink.end_array();
        }
        sink.end_object();
        assert_eq!(sink.finish(), ["q1", "nested"]);
    }

    #[test]
    fn columns_follow_the_text() {
        let text = |key: &str| key.to_owned();
        let keys = [
            Key::Always(text("z")),
            Key::Perhaps(text("uid")),
            Key::Facets(text("e")),
            Key::Languages(text("l")),
            Key::Always(text("a")),
            Key::Always(text("z")),
        ];
        assert!(need_data(&keys));
        let result = ["a", "e|w", "l@en", "e", "l", "z"].map(text);
        assert_eq!(columns(&keys, &result), ["z", "e|w", "l@en", "l", "a", "e"]);
        assert_eq!(columns(&keys, &[]), ["z", "a"]);
    }

    /// As a linear search finds it.
    #[test]
    fn the_first_key_that_matches() {
        let mut rng = Rng::with_seed(7);
        let text = |rng: &mut Rng| {
            let len = rng.usize(1..6);
            (0..len).map(|_| *rng.choice(&['a', 'b', '.', '|', '@']).unwrap()).collect::<String>()
        };
        for _ in 0..2000 {
            let key = |rng: &mut Rng| {
                let kinds = [Key::Always, Key::Perhaps, Key::Facets, Key::Languages];
                rng.choice(&kinds).unwrap()(text(rng))
            };
            let keys: Vec<Key> = (0..rng.usize(..8)).map(|_| key(&mut rng)).collect();
            let positions = KeyPositions::new(keys.iter().enumerate());
            let name = text(&mut rng);
            assert_eq!(positions.of(&name), keys.iter().position(|key| key.matches(&name)));
            let above =
                |key: &Key| name.match_indices('.').any(|(end, _)| key.matches(&name[..end]));
            assert_eq!(positions.of_object(&name), keys.iter().position(above));
        }
    }
}
