//! Sets of unsorted lists of nodes with repeats.

use crate::storage::{NodeSet, SpanBits};

/// The set of an unsorted list with repeats, in the form with the fastest lookups.
pub(crate) fn union_of(nodes: Vec<u32>) -> NodeSet {
    match bits_of(&nodes) {
        Some(bits) => NodeSet::from(bits.to_bitmap()),
        None => NodeSet::from(sorted(nodes)),
    }
}

/// The members of any of some sets.
pub(crate) fn union_of_sets(sets: &[NodeSet]) -> NodeSet {
    match sets {
        [] => NodeSet::default(),
        [one] => one.clone(),
        _ => {
            let mut nodes = Vec::with_capacity(sets.iter().map(NodeSet::len).sum());
            sets.iter().for_each(|set| set.append_to(&mut nodes));
            union_of(nodes)
        }
    }
}

/// The members of an unsorted list with repeats, ascending.
pub(crate) fn distinct_of(nodes: &[u32]) -> Vec<u32> {
    let Some(bits) = bits_of(nodes) else { return sorted(nodes.to_vec()) };
    let mut members = Vec::with_capacity(bits.count());
    bits.append_to(&mut members);
    members
}

/// The bits of a list that is long and dense in its range.
fn bits_of(nodes: &[u32]) -> Option<SpanBits> {
    let (low, high) = (*nodes.iter().min()?, *nodes.iter().max()?);
    let span = (high - low) as usize / 64 + 2;
    // At most four words of 64 ids for each node: then scanning the words costs no more than
    // sorting.
    if nodes.len() < 512 || 4 * nodes.len() < span {
        return None;
    }
    Some(SpanBits::of(low, high, nodes.iter().copied()))
}

/// From this length on, dealing nodes out by their bytes is faster than comparing them.
const RADIX_LEN: usize = 128;

fn sorted(mut nodes: Vec<u32>) -> Vec<u32> {
    if nodes.len() < RADIX_LEN {
        nodes.sort_unstable();
    } else {
        radix_sort(&mut nodes);
    }
    nodes.dedup();
    nodes
}

/// Sorts by one byte after the other, the lowest first; bytes that are the same in all are skipped.
fn radix_sort(nodes: &mut Vec<u32>) {
    let differ = nodes.iter().fold(0, |differ, node| differ | (node ^ nodes[0]));
    let mut partitioned = vec![0; nodes.len()];
    for shift in [0, 8, 16, 24] {
        if differ >> shift & 255 == 0 {
            continue;
        }
        let mut offsets = [0usize; 256];
        nodes.iter().for_each(|node| offsets[(node >> shift & 255) as usize] += 1);
        let mut end = 0;
        for slot in &mut offsets {
            end += *slot;
            *slot = end;
        }
        // Backwards, as the offsets are counted down: nodes with the same byte retain the order of
        // the lower bytes.
        for &node in nodes.iter().rev() {
            let slot = &mut offsets[(node >> shift & 255) as usize];
            *slot -= 1;
            partitioned[*slot] = node;
        }
        std::mem::swap(nodes, &mut partitioned);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lists_become_sets(
            nodes in prop::collection::vec(0u32..1 << 20, 0..2000),
            shift in 0u32..12,
        ) {
            // Short and long ones, close together and far apart.
            let nodes: Vec<u32> = nodes.iter().map(|node| node << shift).collect();
            let mut expected = nodes.clone();
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(&distinct_of(&nodes), &expected);
            prop_assert_eq!(union_of(nodes).to_vec(), expected);
        }
    }
}
