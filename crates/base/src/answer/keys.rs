//! The keys that the objects of a block have, in the order of the query's text.

use crate::types::{Sink, Uid, ValueRef};

/// A key that objects of a block may have.
#[derive(Debug, Clone, PartialEq)]
pub enum Key {
    /// This one; it counts as a column also where no object has it.
    Always(String),
    /// This one, where an object has it.
    Perhaps(String),
    /// Whatever facets the values or edges under a key turn out to have: `key|facet`.
    Facets(String),
    /// Whatever languages a predicate turns out to have: `name@en`, and `name`.
    Languages(String),
}

impl Key {
    /// The key, where the text tells it.
    fn fixed(&self) -> Option<&str> {
        match self {
            Key::Always(key) => Some(key),
            Key::Perhaps(_) | Key::Facets(_) | Key::Languages(_) => None,
        }
    }

    /// Whether a column `key.inner` is that of an object under this key.
    pub(super) fn is_above(&self, column: &str) -> bool {
        let above = |own: &str| column.strip_prefix(own).is_some_and(|rest| rest.starts_with('.'));
        match self {
            Key::Always(own) | Key::Perhaps(own) => above(own),
            Key::Facets(_) | Key::Languages(_) => {
                column.match_indices('.').any(|(end, _)| self.matches(&column[..end]))
            }
        }
    }

    /// Whether it stands for a key that an object has.
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

/// True when the objects have to be looked at to know their keys.
pub fn need_data(keys: &[Key]) -> bool {
    keys.iter().any(|key| key.fixed().is_none())
}

/// The columns of a block: what `keys` say, in their order, and of the keys that objects have
/// those that are matched, each once; what nothing matches stands at the end.
pub fn columns(keys: &[Key], found: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::with_capacity(keys.len());
    let mut add = |key: &str| {
        if !all.iter().any(|known| known == key) {
            all.push(key.to_owned());
        }
    };
    for key in keys {
        match key.fixed() {
            Some(key) => add(key),
            None => found.iter().filter(|found| key.matches(found)).for_each(|key| add(key)),
        }
    }
    found.iter().for_each(|key| add(key));
    all
}

/// Collects the keys of the objects of one block.
#[derive(Debug, Default)]
pub struct KeySink {
    wanted: String,
    keys: Vec<String>,
    /// The keys of the object at hand.
    row: Vec<String>,
    open: Vec<Open>,
    /// The key of the next value.
    next: Option<String>,
}

#[derive(Debug)]
struct Open {
    /// The key under which it stands, in an object of the block.
    key: Option<String>,
    /// Whether it is the block, or in it.
    is_wanted: bool,
    items: usize,
}

/// How many are open in an object of a block: the object of all blocks, the block's array, itself.
const ROW_DEPTH: usize = 3;

impl KeySink {
    /// A sink for the keys of a block.
    pub fn new(block: String) -> KeySink {
        KeySink { wanted: block, ..KeySink::default() }
    }

    /// The keys, in the order in which they came up first.
    pub fn finish(self) -> Vec<String> {
        self.keys
    }

    fn begin(&mut self) {
        let key = self.next.take();
        let is_wanted = match self.open.as_slice() {
            [_] => key.as_deref() == Some(&self.wanted),
            [.., last] => last.is_wanted,
            [] => false,
        };
        self.open.push(Open { key, is_wanted, items: 0 });
    }

    fn end(&mut self) {
        let Some(Open { key, is_wanted, .. }) = self.open.pop() else { return };
        if is_wanted && self.open.len() + 1 == ROW_DEPTH {
            for key in self.row.drain(..) {
                if !self.keys.contains(&key) {
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
        if let (Some(key), true) = (key, open.is_wanted && depth == ROW_DEPTH) {
            self.row.push(key);
        }
    }
}

impl Sink for KeySink {
    fn begin_object(&mut self) {
        self.begin();
    }

    fn end_object(&mut self) {
        self.end();
    }

    fn discard_object(&mut self) {
        self.discard();
    }

    fn begin_array(&mut self) {
        self.begin();
    }

    fn end_array(&mut self) {
        self.end();
    }

    fn discard_array(&mut self) {
        self.discard();
    }

    fn is_empty(&self) -> bool {
        self.open.last().is_none_or(|open| open.items == 0)
    }

    fn key(&mut self, key: &str) {
        let may_count = self.open.len() == 1 || self.open.len() == ROW_DEPTH;
        self.next = may_count.then(|| key.to_owned());
    }

    fn value(&mut self, value: ValueRef<'_>) {
        // What is never shown: see `JsonSink`.
        match value {
            ValueRef::Password(_) => self.next = None,
            ValueRef::Float(number) if !number.is_finite() => self.next = None,
            _ => self.item(),
        }
    }

    fn uid(&mut self, _uid: Uid) {
        self.item();
    }

    fn int(&mut self, _number: i64) {
        self.item();
    }

    fn null(&mut self) {
        self.item();
    }

    fn text(&mut self, _text: &str) {
        self.item();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_one_block_without_what_was_taken_back() {
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
        let found = ["a", "e|w", "l@en", "e", "l", "z"].map(text);
        assert_eq!(columns(&keys, &found), ["z", "e|w", "l@en", "l", "a", "e"]);
        assert_eq!(columns(&keys, &[]), ["z", "a"]);
    }
}
