//! The numbers of nodes in a compact graph: the rank of a node among the graph's.

/// A table of numbers may span at most this many node ids for each node.
const SPAN_MAX: usize = 8;

const NOWHERE: u32 = u32::MAX;

/// The nodes of a compact graph, and the lookup of their numbers.
pub(in crate::algo) struct Numbering {
    /// The node ids, ascending; the number of a node is its position.
    pub(in crate::algo) nodes: Vec<u32>,
    positions: Positions,
}

enum Positions {
    /// All node ids from the first on.
    Run(u32),
    /// By the distance from the first; [`NOWHERE`] for a node id that is none of the graph.
    Table(u32, Vec<u32>),
    /// By search.
    Search,
}

impl Numbering {
    /// Numbers nodes, which are ascending and distinct.
    pub(in crate::algo) fn new(nodes: Vec<u32>) -> Numbering {
        let positions = match (nodes.first(), nodes.last()) {
            (Some(&first), Some(&last)) if (last - first) as usize == nodes.len() - 1 => {
                Positions::Run(first)
            }
            (Some(&first), Some(&last))
                if (last - first) as usize <= SPAN_MAX.saturating_mul(nodes.len()) =>
            {
                let mut table = vec![NOWHERE; (last - first) as usize + 1];
                for (node, position) in nodes.iter().zip(0..) {
                    table[(node - first) as usize] = position;
                }
                Positions::Table(first, table)
            }
            _ => Positions::Search,
        };
        Numbering { nodes, positions }
    }

    /// The number of a node; `None` for one that is not in the graph.
    #[inline]
    pub(in crate::algo) fn number(&self, node: u32) -> Option<u32> {
        // A node id before the first one wraps to a position after all others.
        let position = match &self.positions {
            Positions::Run(first) => node.wrapping_sub(*first),
            Positions::Table(first, table) => {
                *table.get(node.wrapping_sub(*first) as usize).unwrap_or(&NOWHERE)
            }
            Positions::Search => {
                return self.nodes.binary_search(&node).ok().map(|position| position as u32);
            }
        };
        ((position as usize) < self.nodes.len()).then_some(position)
    }

    /// The bytes that it takes.
    pub(in crate::algo) fn byte_len(&self) -> usize {
        let table = if let Positions::Table(_, table) = &self.positions { table.len() } else { 0 };
        size_of::<u32>() * (self.nodes.len() + table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn numbers_are_ranks(
            nodes in prop::collection::btree_set(0u32..200, 0..60),
            factor in prop::sample::select(vec![1u32, 3, 1000]),
            requested in prop::collection::vec(0u32..200_000, 20),
        ) {
            let nodes: BTreeSet<u32> = nodes.iter().map(|node| node * factor + 5).collect();
            let numbering = Numbering::new(nodes.iter().copied().collect());
            for &node in requested.iter().chain(&nodes) {
                let expected = nodes.contains(&node).then(|| nodes.range(..node).count() as u32);
                prop_assert_eq!(numbering.number(node), expected);
            }
        }
    }
}
