//! The numbers of many nodes at once: stored ones, and those of changed nodes put in.
//!
//! `stored` is the numbers of a column that has one for each of its nodes. `number` makes the
//! requested number of a stored one, and `changed` of the value of a changed node.

use super::{LangValues, NumberRun};
use hexgraph_base::types::ValueRef;

impl LangValues {
    /// Those of some nodes, which ascend, that have a number, and their numbers. `None` when one
    /// has something that is no such number. O(nodes), and O(log changes) for each change.
    pub(crate) fn numbers_among<S: Copy, T: Copy>(
        &self,
        nodes: &[u32],
        stored: &[S],
        number: impl Fn(S) -> T,
        changed: impl Fn(ValueRef<'_>) -> Option<T>,
    ) -> Option<(Vec<u32>, Vec<T>)> {
        // All that have one: the column from end to end, with the changes put in.
        if self.subjects().is_exactly(nodes) {
            return Some((nodes.to_vec(), self.all_numbers(stored, number, changed)?));
        }
        let (mut with, mut numbers) = (Vec::new(), Vec::new());
        self.base.column.subjects.for_each_row(nodes, |position, row| {
            with.push(nodes[position]);
            numbers.push(number(stored[row]));
        });
        let numbers = patched(numbers, &mut with, self.changes_among(nodes, changed)?);
        Some((with, numbers))
    }

    /// The numbers of all nodes that have one, in the order of the nodes: stored ones, copied from
    /// change to change, and changed ones between them. `None` as [`LangValues::numbers_among`].
    pub(crate) fn all_numbers<S: Copy, T: Copy>(
        &self,
        stored: &[S],
        number: impl Fn(S) -> T,
        changed: impl Fn(ValueRef<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let subjects = &self.base.column.subjects;
        let mut all = Vec::with_capacity(self.subjects().len());
        let mut done = 0;
        for (node, row) in self.changed_between(0, u32::MAX) {
            // The changed node follows as many stored ones, whether it is one of them or new.
            let position = subjects.rank(node);
            all.extend(stored[done..position].iter().map(|stored| number(*stored)));
            done = position + usize::from(subjects.contains(node));
            if let Some(row) = row {
                all.push(changed(row.first())?);
            }
        }
        all.extend(stored[done..].iter().map(|stored| number(*stored)));
        Some(all)
    }

    /// Those of some nodes, which ascend, that changed since the column was built, with the numbers
    /// that they have now. `None` as [`LangValues::numbers_among`].
    pub(crate) fn changes_among<T>(
        &self,
        nodes: &[u32],
        changed: impl Fn(ValueRef<'_>) -> Option<T>,
    ) -> Option<Vec<(u32, Option<T>)>> {
        let (mut changes, mut are_numbers) = (Vec::new(), true);
        self.by_changes(nodes, |run| {
            let NumberRun::Changed(node, row) = run else { return };
            let number = row.map(|row| changed(row.first()));
            are_numbers &= !matches!(number, Some(None));
            changes.push((node, number.flatten()));
        });
        are_numbers.then_some(changes)
    }
}

/// The numbers of `nodes` with changes put in; `nodes` gains and loses those that have a number
/// now, or none any more.
fn patched<T: Copy>(
    numbers: Vec<T>,
    nodes: &mut Vec<u32>,
    changes: Vec<(u32, Option<T>)>,
) -> Vec<T> {
    if changes.is_empty() {
        return numbers;
    }
    let capacity = numbers.len() + changes.len();
    let (mut with, mut values) = (Vec::with_capacity(capacity), Vec::with_capacity(capacity));
    let mut done = 0;
    for (node, number) in changes {
        // Copied from change to change: few changes cost few copies of long ranges.
        let position = done + nodes[done..].partition_point(|&other| other < node);
        with.extend_from_slice(&nodes[done..position]);
        values.extend_from_slice(&numbers[done..position]);
        done = position + usize::from(nodes.get(position) == Some(&node));
        if let Some(number) = number {
            with.push(node);
            values.push(number);
        }
    }
    with.extend_from_slice(&nodes[done..]);
    values.extend_from_slice(&numbers[done..]);
    *nodes = with;
    values
}
