//! Objects with those in their lists, read as columns: some nodes of a level, the targets of their
//! edges, and so on; each node of a level once.
//!
//! ```text
//!   positions in the level of the roots        7  8  9
//!   knows                                   7 → 2 1,  8 → none,  9 → 1
//!   read of the level below                 1  2
//!   lists of positions among these             1 0,  none,  0
//! ```

use super::source::{Source, qualifies};
use crate::exec::control::tree::{EdgeField, FieldData, Level};
use crate::graph::Version;
use crate::storage::gallop;
use hexgraph_base::types::{ObjectCells, ObjectLists, Objects, stack};
use std::ops::Range;

/// The bytes that an item of a list takes, about.
const ITEM_BYTES: usize = 16;

/// How much a batch may have yet.
pub(super) struct Bounds {
    /// Objects in lists.
    pub(super) items: usize,
    /// Values.
    pub(super) cells: usize,
}

/// How the objects of a level are read as columns.
pub(in crate::exec) struct Selection<'a> {
    level: &'a Level,
    /// No other selection of the answer has it.
    number: usize,
    fields: Vec<(&'a str, Of<'a>)>,
}

/// Where the values of a field come from.
#[expect(clippy::large_enum_variant, reason = "nearly all fields are values")]
enum Of<'a> {
    Values(Source<'a>),
    Edges(&'a EdgeField, Selection<'a>),
}

impl<'a> Selection<'a> {
    /// The selection of a level; `None` where its objects have to be written one by one. Numbers
    /// from `next` on are given to it and to those below. `reserve` is called with the bytes of
    /// each field.
    pub(in crate::exec) fn of(
        version: &'a Version,
        level: &'a Level,
        next: &mut usize,
        reserve: &mut dyn FnMut(usize),
    ) -> Option<Selection<'a>> {
        if qualifies(level) { Selection::below(version, level, next, reserve) } else { None }
    }

    fn below(
        version: &'a Version,
        level: &'a Level,
        next: &mut usize,
        reserve: &mut dyn FnMut(usize),
    ) -> Option<Selection<'a>> {
        stack::require();
        let number = *next;
        *next += 1;
        reserve(size_of::<(&str, Of<'_>)>() * level.fields.len());
        let mut fields = Vec::with_capacity(level.fields.len());
        for result in &level.fields {
            let of = match &result.data {
                FieldData::Edges(edges) if edges.level.fields.is_empty() => continue,
                FieldData::Edges(edges) => {
                    Of::Edges(edges, Selection::below(version, &edges.level, next, reserve)?)
                }
                FieldData::Nothing
                | FieldData::Uid
                | FieldData::Values(_)
                | FieldData::Counts(_)
                | FieldData::CountUid
                | FieldData::Column(_)
                | FieldData::Passwords(_) => match Source::of(version, level, result) {
                    Ok(Some(source)) if source.is_for_sinks() => {
                        reserve(source.byte_len());
                        Of::Values(source)
                    }
                    Ok(None) => continue,
                    Ok(Some(_)) | Err(_) => return None,
                },
            };
            fields.push((result.field.key.as_str(), of));
        }
        Some(Selection { level, number, fields })
    }

    /// Whether no object has others in it.
    pub(super) fn is_flat(&self) -> bool {
        self.fields.iter().all(|(_, of)| matches!(of, Of::Values(_)))
    }

    /// Collects what is read of nodes of the level, ascending; `None` where they have more than is
    /// `left`, which is counted down, or a node is not in the level.
    pub(super) fn find(&self, nodes: Nodes, left: &mut Bounds) -> Option<SelectedNodes<'a>> {
        stack::require();
        let level = &self.level.nodes;
        let result = match nodes {
            Nodes::Run(positions) => ResultNodes::Run(positions),
            Nodes::Some(nodes) => {
                let positions = positions_in(&nodes, level)?;
                ResultNodes::Some { nodes, positions }
            }
        };
        left.cells = left.cells.checked_sub(result.len() * self.fields.len())?;
        let first = result.positions().next().and_then(|position| level.get(position).copied());
        let first = first.unwrap_or_default();
        let mut fields = Vec::with_capacity(self.fields.len());
        for (key, of) in &self.fields {
            let field = match of {
                Of::Values(source) => Field::Values(source.fork(first)),
                Of::Edges(edges, below) => Field::Lists(Lists::of(edges, &result, below, left)?),
            };
            fields.push((*key, field));
        }
        Some(SelectedNodes { level: self.level, number: self.number, nodes: result, fields })
    }
}

/// Nodes of a level.
pub(super) enum Nodes {
    /// Those at the positions.
    Run(Range<usize>),
    /// These, ascending, each once.
    Some(Vec<u32>),
}

/// Nodes of a level and their positions there.
enum ResultNodes {
    Run(Range<usize>),
    Some { nodes: Vec<u32>, positions: Vec<u32> },
}

impl ResultNodes {
    fn len(&self) -> usize {
        match self {
            ResultNodes::Run(run) => run.len(),
            ResultNodes::Some { nodes, .. } => nodes.len(),
        }
    }

    fn positions(&self) -> impl Iterator<Item = usize> + '_ {
        let (run, some) = match self {
            ResultNodes::Run(run) => (run.clone(), &[][..]),
            ResultNodes::Some { positions, .. } => (0..0, positions.as_slice()),
        };
        run.chain(some.iter().map(|position| *position as usize))
    }
}

/// What is read of some nodes.
pub(super) struct SelectedNodes<'a> {
    level: &'a Level,
    number: usize,
    nodes: ResultNodes,
    fields: Vec<(&'a str, Field<'a>)>,
}

#[expect(clippy::large_enum_variant, reason = "nearly all fields are values")]
enum Field<'a> {
    Values(Source<'a>),
    Lists(Lists<'a>),
}

/// The targets of the edges of some nodes.
struct Lists<'a> {
    /// For all the nodes one after the other, the positions of their targets among those that are
    /// read.
    items: Vec<u32>,
    /// Where those of each node end.
    ends: Vec<usize>,
    is_list: bool,
    below: SelectedNodes<'a>,
}

impl<'a> Lists<'a> {
    fn of(
        edges: &EdgeField,
        nodes: &ResultNodes,
        below: &Selection<'a>,
        left: &mut Bounds,
    ) -> Option<Lists<'a>> {
        let level = below.level;
        let (mut targets, mut ends) = (Vec::new(), Vec::new());
        let is_list = !edges.is_single();
        for position in nodes.positions() {
            let all = edges.targets_of(position);
            let all = if is_list { all } else { &all[..all.len().min(1)] };
            left.items = left.items.checked_sub(all.len())?;
            match &level.alive {
                None => targets.extend_from_slice(all),
                Some(alive) => {
                    let is_alive = |node: &&u32| level.position(**node).is_some_and(|it| alive[it]);
                    targets.extend(all.iter().filter(is_alive));
                }
            }
            ends.push(targets.len());
        }
        let (nodes, items_of) = ascending(targets);
        let below = below.find(Nodes::Some(nodes), left)?;
        Some(Lists { items: items_of, ends, is_list, below })
    }
}

impl<'a> SelectedNodes<'a> {
    /// The bytes that reading takes, about.
    pub(super) fn byte_len(&self) -> usize {
        let len = self.nodes.len();
        let of_field = |(_, field): &(&str, Field<'_>)| match field {
            Field::Values(source) => source.cell_len() * len,
            Field::Lists(lists) => ITEM_BYTES * (lists.items.len() + len) + lists.below.byte_len(),
        };
        let fields = size_of::<(&str, Field<'_>)>() * self.fields.len();
        fields + self.fields.iter().map(of_field).sum::<usize>()
    }

    /// Reads the objects. To be called once.
    pub(super) fn read<'f>(&'f mut self) -> Objects<'f> {
        stack::require();
        let len = self.nodes.len();
        let SelectedNodes { level, number, nodes, fields } = self;
        let columns = fields.iter_mut().map(|(key, field)| {
            let cells = match field {
                Field::Values(source) => match &*nodes {
                    ResultNodes::Run(run) => source.read(&level.nodes[run.clone()], run.start),
                    ResultNodes::Some { nodes, positions } => {
                        source.read_scattered(nodes, positions)
                    }
                },
                Field::Lists(Lists { items, ends, is_list, below }) => {
                    let objects = below.read();
                    ObjectCells::Lists(Box::new(ObjectLists {
                        items,
                        offsets: ends,
                        is_list: *is_list,
                        objects,
                    }))
                }
            };
            (*key, cells)
        });
        Objects { len, selection: *number, order: None, columns: columns.collect() }
    }
}

/// Nodes ascending, each once, and for each as it was given its position among them. O(nodes * log
/// nodes).
pub(super) fn ascending(given: Vec<u32>) -> (Vec<u32>, Vec<u32>) {
    if given.is_sorted_by(|one, other| one < other) {
        let positions = (0..given.len() as u32).collect();
        return (given, positions);
    }
    let mut pairs: Vec<u64> = given
        .iter()
        .zip(0_u64..)
        .map(|(node, position)| u64::from(*node) << 32 | position)
        .collect();
    pairs.sort_unstable();
    let (mut nodes, mut positions) = (given, vec![0; pairs.len()]);
    nodes.clear();
    for pair in pairs {
        let node = (pair >> 32) as u32;
        if nodes.last() != Some(&node) {
            nodes.push(node);
        }
        positions[pair as u32 as usize] = nodes.len() as u32 - 1;
    }
    (nodes, positions)
}

/// The positions of nodes in a level; both ascend; `None` where one is not there. O(nodes *
/// log(nodes of the level between two of them)).
fn positions_in(nodes: &[u32], level: &[u32]) -> Option<Vec<u32>> {
    let mut at = 0;
    nodes
        .iter()
        .map(|&node| {
            at += gallop(&level[at..], |other| *other < node);
            (level.get(at) == Some(&node)).then_some(at as u32)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_found_at_their_places() {
        for given in [vec![9, 2, 40, 7], vec![5, 5, 1], vec![1, 2, 3], vec![]] {
            let (nodes, positions) = ascending(given.clone());
            assert!(nodes.is_sorted_by(|one, other| one < other));
            let again: Vec<u32> =
                positions.iter().map(|position| nodes[*position as usize]).collect();
            assert_eq!(again, given);
        }
        assert_eq!(positions_in(&[3, 9], &[1, 3, 4, 9]), Some(vec![1, 3]));
        assert_eq!(positions_in(&[3, 8], &[1, 3, 4, 9]), None);
    }
}
