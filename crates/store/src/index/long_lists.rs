//! Bitmaps of the long posting lists of an index.
//!
//! The nodes of a type are most of all ids. Queries intersect such a list with a few thousand nodes
//! or with a column, and map nodes to rows. A bitmap does that word by word, a list needs a search
//! for each. A bitmap is built on first use, in O(list), and cached with it: a bit or two for a
//! node, against 32 in the list.

use crate::storage::{Array, FrozenBitmap, Offsets, is_run};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Lists of fewer nodes have no bitmap.
const LONG: usize = 1 << 14;

/// Lists with gaps at most positions have none either. So many contiguous nodes are checked at so
/// many positions, and their first and last ids may differ by only a few more.
const POSITIONS: usize = 8;
const NODES: usize = 1 << 10;
const IDS_MAX: u32 = 1_400;

/// The bitmaps of the long lists of one index, with the positions of their tokens, ascending.
/// Clones of the index share them.
#[derive(Clone, Default)]
pub(super) struct LongLists(Arc<OnceLock<Vec<LongList>>>);

struct LongList {
    position: usize,
    /// `None` inside for the list of a damaged file, which does not ascend.
    nodes: OnceLock<Option<FrozenBitmap>>,
}

impl LongLists {
    /// The nodes of the token at a position as a bitmap; `None` if its list is short, or has too
    /// many gaps. O(1) after the first call for the token, which reads its list, and after the
    /// first one for the index, which reads the lengths of all lists.
    pub(super) fn bitmap(
        &self,
        (offsets, postings): (&Offsets, &Array<u32>),
        position: usize,
    ) -> Option<FrozenBitmap> {
        let list = offsets.range(position);
        if !is_long(postings, &list) {
            return None;
        }
        let lists = self.0.get_or_init(|| {
            let is_long = |position: &usize| is_long(postings, &offsets.range(*position));
            let positions = (0..offsets.rows()).filter(is_long);
            positions.map(|position| LongList { position, nodes: OnceLock::new() }).collect()
        });
        let result = lists.binary_search_by_key(&position, |list| list.position).ok()?;
        lists[result].nodes.get_or_init(|| bitmap_of(postings.slice(list))).clone()
    }

    /// The bytes of the bitmaps that were made.
    pub(super) fn byte_len(&self) -> usize {
        let made = self.0.get().into_iter().flatten().filter_map(|list| list.nodes.get());
        made.flatten().map(FrozenBitmap::byte_len).sum()
    }
}

/// Whether a list has a bitmap. O(1): some of its nodes are looked at.
fn is_long(postings: &Array<u32>, list: &Range<usize>) -> bool {
    if list.len() < LONG {
        return false;
    }
    let has_few_gaps = |position: &usize| {
        let start = list.start + position * (list.len() / POSITIONS);
        let [first, last] = [start, start + NODES - 1].map(|at| postings.get(at));
        last.wrapping_sub(first) < IDS_MAX
    };
    // All but one: uids of later nodes may begin anywhere.
    POSITIONS - 1 <= (0..POSITIONS).filter(has_few_gaps).count()
}

fn bitmap_of(nodes: &[u32]) -> Option<FrozenBitmap> {
    if !nodes.is_sorted_by(|one, next| one < next) {
        return None;
    }
    Some(match is_run(nodes) {
        // The id after the last one fits, as `u32::MAX` is reserved.
        true => FrozenBitmap::from_range(*nodes.first()?..nodes.last()?.checked_add(1)?),
        false => FrozenBitmap::from_sorted(nodes),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_most_ids_are_bitmaps() {
        let most = (5..60_000).filter(|node| node % 9 != 0).chain(3_000_000..3_001_000).collect();
        let half = (5..60_000).filter(|node| node % 2 == 0).collect();
        let lists = [vec![7, 9], most, half, (70_000..90_000).collect(), (1..9_000).collect()];
        let offsets = Offsets::from_lens(lists.iter().map(Vec::len));
        let (postings, bitmaps) = (Array::from_vec(lists.concat()), LongLists::default());
        for (position, (list, is_long)) in
            lists.iter().zip([false, true, false, true, false]).enumerate()
        {
            let result = bitmaps.bitmap((&offsets, &postings), position);
            assert_eq!(
                result.map(|it| it.iter().collect()),
                is_long.then(|| list.clone()),
                "{position}"
            );
        }
        // Two bits a node of the first of them, and one entry of a directory for the other one.
        assert!((1..20_000).contains(&bitmaps.byte_len()));
    }

    #[test]
    fn a_list_that_does_not_ascend_stays_a_list() {
        let mut list: Vec<u32> = (0..30_000).collect();
        list.swap(9, 11);
        let offsets = Offsets::from_lens([list.len()].into_iter());
        let postings = Array::from_vec(list);
        assert!(LongLists::default().bitmap((&offsets, &postings), 0).is_none());
    }
}
