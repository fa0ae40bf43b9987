//! The changes of a column as a list.
//!
//! A query that scans an entire column reads such a list at the speed of memory. The leaves of the
//! map of changed rows are scattered, so each step between them is a cache miss.

use crate::storage::{Values, gallop};
use hexgraph_base::types::{ValueRef, ValueType};
use imbl::OrdMap;
use std::sync::{Arc, OnceLock};

/// The nodes that changed since a column of numbers was built, ascending, with the number that each
/// has now.
pub type ChangedNumbers<T> = Arc<Vec<(u32, Option<T>)>>;

/// The list is made anew after so many changes at least.
const FRESH_MIN: usize = 64;

/// The list is rebuilt when it lacks one in so many of its nodes. So a change costs as many copy
/// steps, amortised, and a query merges few nodes into it.
const FRESH_RATIO: usize = 64;

/// The current values of nodes that changed since a column was built: a list, and the changes made
/// after the list.
#[derive(Clone)]
pub(super) struct ChangeList<T> {
    /// Ascending by node, each once.
    sorted: Arc<Vec<(u32, T)>>,
    /// In the order in which they changed, some perhaps repeatedly; the last one counts.
    fresh: Arc<Vec<(u32, T)>>,
    /// Both as one list, cached on first use.
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
                // An older version shares this list and must not see later changes. The others of
                // this commit have capacity.
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

    /// All changes, ascending by node. O(1) if none came after the list, else one copy of the list
    /// on first use.
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

    /// Calls `visit` with the position and the current value of each changed node of `nodes`, which
    /// ascend. A node may occur twice; the last call counts. O(changes between the first and the
    /// last node) at most, and O(nodes · log changes) at most.
    pub(super) fn near(&self, nodes: &[u32], mut visit: impl FnMut(usize, T)) {
        let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else { return };
        let start = self.sorted.partition_point(|(node, _)| *node < first);
        let (mut position, mut rest) = (0, &self.sorted[start..]);
        while let Some(&(node, now)) = rest.first().filter(|(node, _)| *node <= last) {
            // The position is exact for contiguous nodes; otherwise the next change is usually
            // near.
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

/// The number of a text that is absent.
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
    /// The numbers of the current texts, and perhaps of others: below the number of these texts.
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

    /// Called when a node gets its only value, several values, which are `Some(None)`, or loses
    /// all.
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
