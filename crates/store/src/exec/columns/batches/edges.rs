//! The edges of nodes, counted or followed batch by batch.

use super::{RowFinder, Rows};
use crate::graph::Direction;
use crate::storage::{NO_ROW, gallop};

/// Counts the edges of nodes batch by batch.
pub(crate) struct EdgeCounts<'a> {
    edges: &'a Direction,
    finder: RowFinder,
    counts: Vec<i64>,
}

impl<'a> EdgeCounts<'a> {
    /// The counts of edges in one direction.
    pub(crate) fn new(edges: &'a Direction) -> EdgeCounts<'a> {
        EdgeCounts::with_finder(edges, RowFinder::default())
    }

    /// The same for nodes that a finder was made for.
    pub(crate) fn with_finder(edges: &'a Direction, finder: RowFinder) -> EdgeCounts<'a> {
        EdgeCounts { edges, finder, counts: Vec::new() }
    }

    /// The number of edges of each node of a list, which ascends: 0 for one that has none. O(nodes
    /// + changes between the first and the last node), without a look at an edge.
    pub(crate) fn read(&mut self, nodes: &[u32]) -> &[i64] {
        let EdgeCounts { edges, finder, counts } = self;
        counts.clear();
        let stored = edges.stored();
        finder.for_each_chunk(&stored.subjects, nodes, |rows| match rows {
            Rows::Run(rows) => stored.offsets.push_lens(rows, counts),
            Rows::Missing(count) => counts.resize(counts.len() + count, 0),
            Rows::Each(rows) => counts.extend(rows.iter().map(|&row| match row {
                NO_ROW => 0,
                row => stored.offsets.range(row as usize).len() as i64,
            })),
        });
        edges.changed_counts(nodes, |position, count| counts[position] = count);
        counts
    }
}

/// Reads where the edges of nodes lead, batch by batch.
pub struct EdgeTargets<'a> {
    edges: &'a Direction,
    finder: RowFinder,
}

impl<'a> EdgeTargets<'a> {
    /// The targets of edges in one direction.
    pub fn new(edges: &'a Direction) -> EdgeTargets<'a> {
        EdgeTargets { edges, finder: RowFinder::default() }
    }

    /// Calls `visit` with the targets of all nodes of a list, which ascends, in the order of the
    /// nodes: those of nodes that are stored contiguous as one slice. It gets, too, whether a slice
    /// is of one node: then it ascends. O(edges + changes between the first and the last node).
    pub(crate) fn for_each(&mut self, nodes: &[u32], mut visit: impl FnMut(&[u32], bool)) {
        let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else { return };
        let edges = self.edges;
        let mut rest = nodes;
        for (node, _) in edges.changed_between(first, last) {
            let (before, behind) = rest.split_at(gallop(rest, |&other| other < node));
            self.stored(before, &mut visit);
            rest = behind;
            if behind.first() == Some(&node) {
                rest = &behind[1..];
                visit(&edges.targets(node), true);
            }
        }
        self.stored(rest, &mut visit);
    }

    /// Calls `visit` with the position of each node of a list that has edges, and their targets.
    /// The list ascends. O(edges + changes between the first and the last node).
    pub fn for_each_list(&mut self, nodes: &[u32], mut visit: impl FnMut(usize, &[u32])) {
        let edges = self.edges;
        self.for_each_by_changes(nodes, |position, stored| match stored {
            Some(targets) => visit(position, targets),
            None => visit(position, &edges.targets(nodes[position])),
        });
    }

    /// As [`EdgeTargets::for_each_list`], with `None` for a node whose edges changed, which may
    /// have none: they are not put together. O(stored edges + changes between the first and the
    /// last node), or O(nodes · log changes) where that is less.
    pub(crate) fn for_each_by_changes(
        &mut self,
        nodes: &[u32],
        mut visit: impl FnMut(usize, Option<&[u32]>),
    ) {
        let mut changed = Vec::new();
        self.edges.changed_near(nodes, |node, _| changed.push(node));
        let mut done = 0;
        for node in changed {
            let position = done + gallop(&nodes[done..], |&other| other < node);
            self.stored_lists(&nodes[done..position], |row, targets| {
                visit(done + row, Some(targets))
            });
            done = position;
            if nodes.get(position) == Some(&node) {
                visit(position, None);
                done += 1;
            }
        }
        self.stored_lists(&nodes[done..], |position, targets| {
            visit(done + position, Some(targets))
        });
    }

    fn stored_lists(&mut self, nodes: &[u32], mut visit: impl FnMut(usize, &[u32])) {
        let stored = self.edges.stored();
        let mut position = 0;
        self.finder.for_each_chunk(&stored.subjects, nodes, |rows| {
            let (start, count) = (position, rows.len());
            match rows {
                Rows::Each(rows) => {
                    stored.for_each_row(rows, |at, targets| visit(start + at, targets))
                }
                _ => rows.for_each(|row| {
                    if let Some(row) = row {
                        visit(position, stored.targets.slice(stored.offsets.range(row)));
                    }
                    position += 1;
                }),
            }
            position = start + count;
        });
    }

    fn stored(&mut self, nodes: &[u32], visit: &mut impl FnMut(&[u32], bool)) {
        let stored = self.edges.stored();
        self.finder.for_each_chunk(&stored.subjects, nodes, |rows| match rows {
            Rows::Run(rows) if rows.is_empty() => {}
            Rows::Run(rows) => {
                let first = stored.offsets.range(rows.start).start;
                let last = stored.offsets.range(rows.end - 1).end;
                visit(stored.targets.slice(first..last), rows.len() == 1);
            }
            Rows::Missing(_) => {}
            Rows::Each(rows) => stored.for_each_row(rows, |_, targets| visit(targets, true)),
        });
    }
}
