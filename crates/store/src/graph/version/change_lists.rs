//! What changed of a column, as a list.
//!
//! A query that reads an entire column reads such a list from end to end at the speed of memory: the leaves of the map of changed rows lie apart, and to
//! go from one to the next is a miss of the cache.

use crate::storage::{Values, gallop};
use hexgraph_base::types::{ValueRef, ValueType};
use imbl::OrdMap;
use std::sync::{Arc, OnceLock};

/// The nodes that changed since a column of numbers was built, ascending, with the number that each has now.
pub type ChangedNumbers<T> = Arc<Vec<(u32, Option<T>)>>;

/// The list is made anew behind so many changes at least.
const FRESH_MIN: usize = 64;

/// The list is made anew when it lacks one in so many of its nodes: so a change costs as many steps of a copy, amortised, and a query merges few
/// nodes into it.
const FRESH_RATIO: usize = 64;

/// What nodes have now that changed since a column was built: a list of them, and those that changed since the list was made.
#[derive(Clone)]
pub(super) struct ChangeList<T> {
    /// Ascending by node, each once.
    sorted: Arc<Vec<(u32, T)>>,
    /// In the order in which they changed, some perhaps repeatedly; the last one counts.
    fresh: Arc<Vec<(u32, T)>>,
    /// Both as one list, once somebody has asked for it.
    merged: OnceLock<Arc<Vec<(u32, T)>>>,
}

impl<T> Default for ChangeList<T> {
    fn default() -> ChangeList<T> {
        ChangeList { sorted: Arc::default(), fresh: Arc::default(), merged: OnceLock::new() }
    }
}

impl<T: Copy> ChangeList<T> {
    /// To be called when a node has changed. Returns true.
    pub(super) fn note(&mut self, node: u32, now: T) -> bool {
        match Arc::get_mut(&mut self.fresh) {
            Some(fresh) => fresh.push((node, now)),
            None => {
                // An older version has this list, too, and must not see
                // what comes now. The others of this commit find room.
                let mut fresh = Vec::with_capacity(self.fresh.len() + 8);
                fresh.extend_from_slice(&self.fresh);
                fresh.push((node, now));
                self.fresh = Arc::new(fresh);
            }
        }
        self.merged = OnceLock::new();
        if FRESH_MIN.max(self.sorted.len() / FRESH_RATIO) <= self.fresh.len() {
            *self = ChangeList { sorted: self.merge(), ..ChangeList::default() };
        }
        true
    }

    /// All changes, ascending by node. O(1) when none came since the list was made, else one copy of the list for the first the caller.
    pub(super) fn all(&self) -> Arc<Vec<(u32, T)>> {
        match self.fresh.is_empty() {
            true => Arc::clone(&self.sorted),
            false => Arc::clone(self.merged.get_or_init(|| self.merge())),
        }
    }

    fn merge(&self) -> Arc<Vec<(u32, T)>> {
        let mut fresh = Vec::clone(&self.fresh);
        // The sort is stable, so the last change of a node stays the last.
        fresh.sort_by_key(|(node, _)| *node);
        let mut all = Vec::with_capacity(self.sorted.len() + fresh.len());
        let mut rest = self.sorted.as_slice();
        for (position, &(node, now)) in fresh.iter().enumerate() {
            if fresh.get(position + 1).is_some_and(|next| next.0 == node) {
                continue;
            }
            let (before, behind) = rest.split_at(rest.partition_point(|(other, _)| *other < node));
            all.extend_from_slice(before);
            let is_present = behind.first().is_some_and(|(other, _)| *other == node);
            rest = &behind[usize::from(is_present)..];
            all.push((node, now));
        }
        all.extend_from_slice(rest);
        Arc::new(all)
    }

    /// Calls `visit` with the place of each changed one of some nodes, which ascend, and what it has now: of some nodes twice, and the last time
    /// counts. O(changes between the first and the last node) at most, and O(nodes · log changes) at most.
    pub(super) fn near(&self, nodes: &[u32], mut visit: impl FnMut(usize, T)) {
        let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else { return };
        let start = self.sorted.partition_point(|(node, _)| *node < first);
        let (mut position, mut rest) = (0, &self.sorted[start..]);
        while let Some(&(node, now)) = rest.first().filter(|(node, _)| *node <= last) {
            // The position is known where the nodes have no gaps; the next change is mostly near otherwise.
            let guess = (node - first) as usize;
            position = match nodes.get(guess) == Some(&node) {
                true => guess,
                false => position + gallop(&nodes[position..], |&other| other < node),
            };
            match nodes.get(position) {
                Some(&next) if next != node => {
                    rest = &rest[gallop(rest, |(other, _)| *other < next)..];
                }
                Some(_) => {
                    visit(position, now);
                    rest = &rest[1..];
                }
                None => break,
            }
        }
        for &(node, now) in self.fresh.iter() {
            if let Ok(position) = nodes.binary_search(&node) {
                visit(position, now);
            }
        }
    }
}

/// Stands for the number of a text where there is none.
pub(crate) const NO_TEXT: u32 = u32::MAX;

/// More distinct texts than this are no few.
const TEXTS_MAX: usize = 1 << 12;

/// The changes of a column of few distinct texts, as numbers of these.
#[derive(Clone, Default)]
pub(super) struct TextChanges {
    /// The texts that changed nodes have, or had: numbered as they came.
    numbers: OrdMap<Arc<str>, u32>,
    list: ChangeList<u32>,
}

impl TextChanges {
    /// False when the texts have become too many, with nothing done.
    fn note(&mut self, node: u32, text: &str) -> bool {
        let number = match self.numbers.get(text) {
            Some(number) => *number,
            None if self.numbers.len() < TEXTS_MAX => {
                let number = self.numbers.len() as u32;
                self.numbers.insert(text.into(), number);
                number
            }
            None => return false,
        };
        self.list.note(node, number);
        true
    }
}

/// The nodes that changed since a column of few distinct texts was built.
pub(crate) struct ChangedTexts<'a> {
    /// The numbers of the texts that they have now, and perhaps of others: below the number of these texts.
    pub(crate) numbers: &'a OrdMap<Arc<str>, u32>,
    /// The nodes, ascending, with the numbers of their texts; [`NO_TEXT`] for one that has none.
    pub(crate) list: Arc<Vec<(u32, u32)>>,
}

/// The changes of a column, where they are retained as a list.
#[derive(Clone, Default)]
pub(super) enum ColumnChanges {
    /// The column is none of those below, or a change is not of its type.
    #[default]
    None,
    /// Changes of ints.
    Int(ChangeList<Option<i64>>),
    /// Changes of floats.
    Float(ChangeList<Option<f64>>),
    /// Changes of few distinct texts.
    Text(TextChanges),
}

impl ColumnChanges {
    /// No changes of a column.
    pub(super) fn of(values: &Values) -> ColumnChanges {
        match values {
            Values::SmallInt(_) | Values::Int(_) => ColumnChanges::Int(ChangeList::default()),
            Values::Float(_) => ColumnChanges::Float(ChangeList::default()),
            Values::Coded { value_type: ValueType::String, .. } => {
                ColumnChanges::Text(TextChanges::default())
            }
            _ => ColumnChanges::None,
        }
    }

    /// To be called when a node has got its only value, several ones, which are `Some(None)`, or has none any more.
    pub(super) fn note(&mut self, node: u32, now: Option<Option<ValueRef<'_>>>) {
        let fits = match (&mut *self, now) {
            (ColumnChanges::None, _) => true,
            (ColumnChanges::Int(list), None) => list.note(node, None),
            (ColumnChanges::Int(list), Some(Some(ValueRef::Int(int)))) => {
                list.note(node, Some(int))
            }
            (ColumnChanges::Float(list), None) => list.note(node, None),
            (ColumnChanges::Float(list), Some(Some(ValueRef::Float(float)))) => {
                list.note(node, Some(float))
            }
            (ColumnChanges::Text(texts), None) => texts.list.note(node, NO_TEXT),
            (ColumnChanges::Text(texts), Some(Some(ValueRef::String(text)))) => {
                texts.note(node, text)
            }
            _ => false,
        };
        if !fits {
            *self = ColumnChanges::None;
        }
    }

    /// The changes of a column of ints.
    pub(super) fn ints(&self) -> Option<ChangedNumbers<i64>> {
        if let ColumnChanges::Int(list) = self { Some(list.all()) } else { None }
    }

    /// The changes of a column of floats.
    pub(super) fn floats(&self) -> Option<ChangedNumbers<f64>> {
        if let ColumnChanges::Float(list) = self { Some(list.all()) } else { None }
    }

    /// The changes of a column of few distinct texts.
    pub(super) fn texts(&self) -> Option<ChangedTexts<'_>> {
        let ColumnChanges::Text(texts) = self else { return None };
        Some(ChangedTexts { numbers: &texts.numbers, list: texts.list.all() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// A list has what each node has now, of all nodes and of some.
        #[test]
        fn lists_have_the_last_changes(
            changes in prop::collection::vec((0u32..300, any::<i64>()), 0..600),
            requested in prop::collection::btree_set(0u32..310, 0..200),
            run in (0u32..310, 0u32..100),
        ) {
            let (mut list, mut expected) = (ChangeList::default(), BTreeMap::new());
            for (node, now) in changes {
                list.note(node, now);
                expected.insert(node, now);
            }
            let all: Vec<(u32, i64)> = expected.iter().map(|(node, now)| (*node, *now)).collect();
            prop_assert_eq!(&*list.all(), &all);
            let requested: Vec<u32> = requested.into_iter().collect();
            for nodes in [requested, (run.0..run.0 + run.1).collect()] {
                let mut result = vec![None; nodes.len()];
                list.near(&nodes, |position, now| result[position] = Some(now));
                let existing: Vec<_> = nodes.iter().map(|node| expected.get(node).copied()).collect();
                prop_assert_eq!(result, existing);
            }
        }
    }
}
