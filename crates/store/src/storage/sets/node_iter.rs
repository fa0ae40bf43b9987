//! Walks over sets of nodes. A walk over a stored set with later changes merges them.

use crate::storage::{Array, FrozenIter};
use roaring::bitmap::Iter;
use std::ops::Range;

/// Walks a [`NodeSet`](super::node_set::NodeSet), ascending.
pub enum NodeIter<'a> {
    /// Over a set without later changes.
    Plain(PlainIter<'a>),
    /// Over a stored set with later changes.
    Overlay(Box<OverlayIter<'a>>),
}

impl Iterator for NodeIter<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        match self {
            NodeIter::Plain(nodes) => nodes.next(),
            NodeIter::Overlay(nodes) => nodes.next(),
        }
    }

    /// Walks chunk by chunk, without a look at the kind for each member.
    fn fold<B, F: FnMut(B, u32) -> B>(self, first: B, step: F) -> B {
        match self {
            NodeIter::Plain(nodes) => nodes.fold(first, step),
            NodeIter::Overlay(nodes) => (*nodes).fold(first, step),
        }
    }
}

/// Walks a set without later changes, ascending.
pub enum PlainIter<'a> {
    /// Over a list.
    Sorted(std::slice::Iter<'a, u32>),
    /// Over part of a stored array.
    Slice(&'a Array<u32>, Range<usize>),
    /// Over a computed bitmap.
    Bitmap(Box<Iter<'a>>),
    /// Over a stored bitmap.
    Frozen(FrozenIter<'a>),
}

impl Iterator for PlainIter<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        match self {
            PlainIter::Sorted(nodes) => nodes.next().copied(),
            PlainIter::Slice(array, range) => range.next().map(|position| array.get(position)),
            PlainIter::Bitmap(nodes) => nodes.next(),
            PlainIter::Frozen(nodes) => nodes.next(),
        }
    }

    /// Walks a stored bitmap container by container.
    fn fold<B, F: FnMut(B, u32) -> B>(self, first: B, step: F) -> B {
        match self {
            PlainIter::Sorted(nodes) => nodes.copied().fold(first, step),
            PlainIter::Slice(array, range) => array.slice(range).iter().copied().fold(first, step),
            PlainIter::Bitmap(nodes) => (*nodes).fold(first, step),
            PlainIter::Frozen(nodes) => nodes.fold(first, step),
        }
    }
}

/// Walks a stored set with its changes, ascending.
pub struct OverlayIter<'a> {
    base: PlainIter<'a>,
    gained: Iter<'a>,
    lost: Iter<'a>,
    /// The next member of each of `base`, `gained` and `lost`; `None` before the first step of the
    /// walk.
    next: Option<Next>,
}

struct Next {
    base: Option<u32>,
    gained: Option<u32>,
    lost: Option<u32>,
}

impl<'a> OverlayIter<'a> {
    /// Iterates over `base` without `lost`, all of which it has, and with `gained`, none of which
    /// it has. All begin at the same node.
    pub(super) fn new(base: PlainIter<'a>, gained: Iter<'a>, lost: Iter<'a>) -> OverlayIter<'a> {
        OverlayIter { base, gained, lost, next: None }
    }
}

impl Next {
    /// Moves on to the next stored member that is not lost. Both ascend, and each lost one is
    /// stored, so they meet.
    fn step_base(&mut self, base: &mut PlainIter<'_>, lost: &mut Iter<'_>) {
        // A lost node is a stored one, so neither walk can pass the other by.
        self.base = base.next();
        while self.base.is_some() && self.base == self.lost {
            self.lost = lost.next();
            self.base = base.next();
        }
    }
}

impl Iterator for OverlayIter<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let OverlayIter { base, gained, lost, next } = self;
        let next = next.get_or_insert_with(|| {
            let mut first = Next { base: None, gained: gained.next(), lost: lost.next() };
            first.step_base(base, lost);
            first
        });
        match (next.base, next.gained) {
            (Some(stored), Some(new)) if new < stored => {
                next.gained = gained.next();
                Some(new)
            }
            (Some(stored), _) => {
                next.step_base(base, lost);
                Some(stored)
            }
            (None, new) => {
                next.gained = gained.next();
                new
            }
        }
    }

    /// Walks the stored set as fast as it can be walked; only where a change comes next is more
    /// than one number compared.
    fn fold<B, F: FnMut(B, u32) -> B>(mut self, first: B, mut step: F) -> B {
        let mut all = first;
        if self.next.is_some() {
            // Iteration has begun, so it is in the middle of a merge and continues as one.
            for node in self.by_ref() {
                all = step(all, node);
            }
            return all;
        }
        let (mut gained, mut lost) = (self.gained.peekable(), self.lost.peekable());
        let change = |gained: Option<&u32>, lost: Option<&u32>| -> u64 {
            let position = |node: Option<&u32>| node.map_or(u64::MAX, |node| u64::from(*node));
            // As u64: a node may be the greatest u32, and no change at all has to be greater
            // still.
            position(gained).min(position(lost))
        };
        let mut next = change(gained.peek(), lost.peek());
        all = self.base.fold(all, |mut all, node| {
            if u64::from(node) < next {
                return step(all, node);
            }
            while let Some(new) = gained.next_if(|new| *new < node) {
                all = step(all, new);
            }
            if lost.next_if_eq(&node).is_none() {
                all = step(all, node);
            }
            next = change(gained.peek(), lost.peek());
            all
        });
        gained.fold(all, step)
    }
}
