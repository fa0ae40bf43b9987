//! Sets of nodes in the form in which many questions for a member cost least.

use super::span_bits::SpanBits;
use crate::storage::NodeSet;

/// The ids that a node takes as bits, at the most.
const BITS_RATIO: usize = 256;

/// This many lookups are worth as much memory as a node: at most four bytes each.
const QUESTIONS_PER_NODE: usize = 8;

/// Nodes, for many questions whether one is among them.
pub(crate) enum NodeLookup {
    /// Nodes that lie close together.
    Bits(SpanBits),
    /// Any other.
    Set(NodeSet),
}

impl NodeLookup {
    /// Gets nodes ready for so many questions. O(nodes + span / 64).
    pub(crate) fn of(nodes: &NodeSet, questions: usize) -> NodeLookup {
        let weight = nodes.len().max(questions / QUESTIONS_PER_NODE);
        match (nodes.first(), nodes.last()) {
            (Some(least), Some(greatest)) if is_dense(least, greatest, weight) => {
                NodeLookup::Bits(SpanBits::of(least, greatest, nodes.iter()))
            }
            // A sorted list is looked up by halves; a bitmap in one step.
            _ if nodes.list().is_some() => NodeLookup::Set(NodeSet::from(nodes.to_bitmap())),
            _ => NodeLookup::Set(nodes.clone()),
        }
    }

    /// True when `node` is a member.
    #[inline]
    pub(crate) fn contains(&self, node: u32) -> bool {
        match self {
            NodeLookup::Bits(nodes) => nodes.contains(node),
            NodeLookup::Set(nodes) => nodes.contains(node),
        }
    }

    /// The bytes of the bitmap; 0 for any other form, which needs no more than the nodes.
    pub(crate) fn byte_len(&self) -> usize {
        if let NodeLookup::Bits(nodes) = self { nodes.byte_len() } else { 0 }
    }
}

/// True where so many nodes are a bit for each id between the least and the greatest one.
pub(crate) fn is_dense(least: u32, greatest: u32, nodes: usize) -> bool {
    ((greatest - least) as usize) < BITS_RATIO.saturating_mul(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use roaring::RoaringBitmap;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    proptest! {
        /// Members and others are distinguished in any form and order.
        #[test]
        fn members_are_reported(
            nodes in prop::collection::btree_set(any::<u32>(), 0..200),
            shift in 0u32..32,
            questions in prop_oneof![Just(1_usize), Just(1 << 20)],
            form in 0..3,
        ) {
            let nodes: BTreeSet<u32> = nodes.iter().map(|node| node >> shift).collect();
            let bitmap: RoaringBitmap = nodes.iter().collect();
            let set = match form {
                0 => NodeSet::from(nodes.iter().copied().collect::<Vec<u32>>()),
                1 => NodeSet::from(bitmap),
                _ => NodeSet::Overlay {
                    base: Box::new(NodeSet::from(bitmap.iter().step_by(2).collect::<Vec<u32>>())),
                    gained: Arc::new(bitmap.iter().skip(1).step_by(2).collect()),
                    lost: Arc::default(),
                },
            };
            let lookup = NodeLookup::of(&set, questions);
            for node in nodes.iter().flat_map(|node| node.saturating_sub(2)..node.saturating_add(2)) {
                prop_assert_eq!(lookup.contains(node), nodes.contains(&node), "{}", node);
            }
        }
    }
}
