//! The rows of a network of groups, in the parts in which threads made them. They are not joined:
//! memory that nobody has used before costs more than what is written there, so each row is written
//! once, to where it stays.

use crate::algo::compact::weights::{WeightSlice, Weights, is_narrow};

/// The rows of all groups. They do not ascend.
pub(super) struct Grouped {
    parts: Vec<GroupRows>,
    /// The part of each group, and its position there.
    positions: Vec<(u32, u32)>,
    edges: usize,
}

/// The rows of some neighbouring groups.
pub(super) struct GroupRows {
    /// The start of each group's row, and the end of the last one.
    starts: Vec<usize>,
    targets: Vec<u32>,
    /// Narrow as long as no weight would be another number then.
    weights: Weights,
    /// What the edges of each group weigh together.
    strengths: Vec<f64>,
}

impl GroupRows {
    /// An empty part, with capacity for `groups` groups with at most `edges` entries.
    pub(super) fn with_capacity(groups: usize, edges: usize) -> GroupRows {
        let mut starts = Vec::with_capacity(groups + 1);
        starts.push(0);
        GroupRows {
            starts,
            targets: Vec::with_capacity(edges),
            weights: Weights::Narrow(Vec::with_capacity(edges)),
            strengths: Vec::with_capacity(groups),
        }
    }

    /// Adds the row of the next group.
    pub(super) fn push(&mut self, row: &[(u32, f64)], strength: f64) {
        self.targets.extend(row.iter().map(|(to, _)| *to));
        self.starts.push(self.targets.len());
        self.strengths.push(strength);
        match &mut self.weights {
            Weights::Narrow(narrow) if row.iter().all(|(_, weight)| is_narrow(*weight)) => {
                narrow.extend(row.iter().map(|(_, weight)| *weight as f32));
            }
            Weights::Narrow(narrow) => {
                let before = narrow.iter().map(|weight| f64::from(*weight));
                let wide = before.chain(row.iter().map(|(_, weight)| *weight)).collect();
                self.weights = Weights::Wide(wide);
            }
            Weights::Wide(wide) => wide.extend(row.iter().map(|(_, weight)| *weight)),
        }
    }
}

impl Grouped {
    /// The rows of parts that follow each other, and what the edges of each group weigh together.
    pub(super) fn new(mut parts: Vec<GroupRows>) -> (Grouped, Vec<f64>) {
        let (mut positions, mut strengths) = (Vec::new(), Vec::new());
        for (number, part) in (0..).zip(&mut parts) {
            positions.extend((0..part.strengths.len() as u32).map(|position| (number, position)));
            strengths.append(&mut part.strengths);
        }
        let edges = parts.iter().map(|part| part.targets.len()).sum();
        (Grouped { parts, positions, edges }, strengths)
    }

    /// The number of entries: two for each edge.
    pub(super) fn edges(&self) -> usize {
        self.edges
    }

    /// The groups that edges join a group with, and what they weigh.
    #[inline]
    pub(super) fn row(&self, group: u32) -> (&[u32], WeightSlice<'_>) {
        let (part, position) = self.positions[group as usize];
        let part = &self.parts[part as usize];
        let range = part.starts[position as usize]..part.starts[position as usize + 1];
        (&part.targets[range.clone()], part.weights.slice(range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_those_that_were_pushed(
            parts in prop::collection::vec(
                prop::collection::vec(prop::collection::vec((0u32..9, 0u8..4), 0..5), 0..5),
                0..5,
            ),
            unit in prop::sample::select(vec![1.0, 0.1]),
        ) {
            let weigh = |row: &Vec<(u32, u8)>| -> Vec<(u32, f64)> {
                // Of the unit 0.1 some weights are narrow, and most are not.
                row.iter().map(|(to, weight)| (*to, f64::from(*weight) * unit)).collect()
            };
            let made = parts.iter().map(|rows| {
                let mut part = GroupRows::with_capacity(rows.len(), 0);
                rows.iter().map(weigh).zip(0_u8..).for_each(|(row, it)| part.push(&row, it.into()));
                part
            });
            let (grouped, strengths) = Grouped::new(made.collect());
            let rows: Vec<Vec<(u32, f64)>> = parts.iter().flatten().map(weigh).collect();
            prop_assert_eq!(strengths.len(), rows.len());
            prop_assert_eq!(grouped.edges(), rows.iter().map(Vec::len).sum::<usize>());
            for (group, row) in (0..).zip(&rows) {
                let (targets, weights) = grouped.row(group);
                let result = targets.iter().zip(0..).map(|(to, position)| (*to, weights.at(position)));
                prop_assert_eq!(&result.collect::<Vec<_>>(), row);
            }
        }
    }
}
