//! Which variables a clause sees.

use super::kinds::Kind;
use hexgraph_base::types::nearest;
use rustc_hash::{FxHashMap, FxHashSet};

/// The number of a variable, which differs from that of another variable with the same name.
pub(super) type Slot = u32;

/// The variables of one query or subquery, in the order in which they are bound.
#[derive(Debug, Default)]
pub(super) struct Frame<'a> {
    names: FxHashMap<&'a str, Slot>,
    order: Vec<&'a str>,
    /// Names that a `WITH` before did not pass on, to explain why they are not in scope.
    dropped: FxHashSet<&'a str>,
}

impl<'a> Frame<'a> {
    /// The names and slots, in the order in which they were bound.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a str, Slot)> {
        self.order.iter().map(|&name| (name, self.names[name]))
    }

    /// Adds a name, or replaces its slot.
    pub(super) fn insert(&mut self, name: &'a str, slot: Slot) {
        if self.names.insert(name, slot).is_none() {
            self.order.push(name);
        }
    }

    /// How many variables there are.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    pub(super) fn get(&self, name: &str) -> Option<Slot> {
        self.names.get(name).copied()
    }

    /// The slots of all variables.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> {
        self.names.values().copied()
    }

    /// Records which names of the scope before are not in this one.
    pub(super) fn record_dropped(&mut self, before: Frame<'a>) {
        self.dropped = before.dropped;
        self.dropped.extend(before.order.iter().filter(|&&it| !self.names.contains_key(it)));
    }
}

/// The scopes from the outermost query to the subquery that is analysed. A subquery sees what is
/// outside of it, unless it names what it imports.
#[derive(Debug)]
pub(super) struct Scopes<'a> {
    pub(super) frames: Vec<Frame<'a>>,
    /// What each variable holds, by slot.
    kinds: Vec<Kind>,
    /// The scopes that subqueries do not see, to explain why a name is not there.
    hidden: Vec<Vec<Frame<'a>>>,
}

impl<'a> Scopes<'a> {
    pub(super) fn new() -> Scopes<'a> {
        Scopes { frames: vec![Frame::default()], kinds: Vec::new(), hidden: Vec::new() }
    }

    /// The scope of the query that is analysed.
    pub(super) fn current(&mut self) -> &mut Frame<'a> {
        self.frames.last_mut().expect("a query has a scope")
    }

    /// Creates a variable without a name in any scope.
    pub(super) fn create(&mut self, kind: Kind) -> Slot {
        self.kinds.push(kind);
        (self.kinds.len() - 1) as Slot
    }

    pub(super) fn kind(&self, slot: Slot) -> &Kind {
        &self.kinds[slot as usize]
    }

    /// Finds a variable, the innermost one first.
    pub(super) fn find(&self, name: &str) -> Option<Slot> {
        self.frames.iter().rev().find_map(|frame| frame.get(name))
    }

    /// Whether a name is bound outside of the current query.
    pub(super) fn is_outer(&self, name: &str) -> bool {
        let outer = &self.frames[..self.frames.len() - 1];
        outer.iter().any(|frame| frame.get(name).is_some())
    }

    /// Enters a subquery that sees no variables but those given.
    pub(super) fn hide(&mut self, seen: Vec<Frame<'a>>) {
        self.hidden.push(std::mem::replace(&mut self.frames, seen));
    }

    /// Leaves the subquery that `hide` entered.
    pub(super) fn unhide(&mut self) {
        self.frames = self.hidden.pop().expect("a subquery was entered");
    }

    /// All variables that are in scope, the outermost first.
    pub(super) fn visible(&self) -> Vec<(&'a str, Slot)> {
        self.frames.iter().flat_map(Frame::entries).collect()
    }

    /// What to write instead of a name that nothing binds.
    pub(super) fn hint(&self, name: &str) -> String {
        if self.frames.iter().any(|frame| frame.dropped.contains(name)) {
            return format!("`WITH` does not pass `{name}` on: add it to the items of `WITH`");
        }
        if self.hidden.iter().flatten().any(|frame| frame.get(name).is_some()) {
            return format!("the subquery has to import it: `CALL ({name}) {{ ... }}`");
        }
        let names = self.frames.iter().flat_map(|frame| frame.order.iter().copied());
        match nearest(name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => String::new(),
        }
    }
}
