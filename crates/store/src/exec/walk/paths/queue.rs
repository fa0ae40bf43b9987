//! A queue that gives the least first, of which most is never sorted.
//!
//! A search by weight puts several times more into its queue than it takes out near the front, and a heap of all that is larger than the caches. So
//! only what is near stands in a heap; the rest lies in a list, and when the heap is empty the nearest part of the list goes there:
//!
//! ```text
//!   heap: up to the border      list: beyond it, in no order
//! ```
//!
//! What comes out is the order of the items, wherever the border was.

use std::collections::BinaryHeap;

/// The items from which on a heap is cut: so many of 24 bytes fit the second cache.
const NEAR_MAX: usize = 8 << 10;

/// The part of a list that goes to the heap at a time: each item is looked at as often, in a row.
const LIST_SHARE: usize = 8;

/// The items that the border is chosen by.
const SAMPLE: usize = 64;

/// An item of a queue. The greatest of its order comes first, as on a heap.
pub(super) trait Waiting: Ord {
    /// The number by which the order of items goes first: the item of the least comes first.
    fn key(&self) -> f64;
}

/// A queue.
pub(super) struct Queue<T> {
    near: BinaryHeap<T>,
    far: Vec<T>,
    /// The greatest key on the heap; those of the list are greater.
    border: f64,
    /// The items from which on the heap is cut.
    near_max: usize,
}

impl<T: Waiting> Queue<T> {
    pub(super) fn new() -> Queue<T> {
        let (near, far) = (BinaryHeap::new(), Vec::new());
        Queue { near, far, border: f64::INFINITY, near_max: NEAR_MAX }
    }

    pub(super) fn push(&mut self, item: T) {
        if self.near.is_empty() {
            // So is the list, and the border says nothing any more: an item behind it would be the only one, and not be found.
            self.border = f64::INFINITY;
        } else if self.is_far(&item) {
            return self.far.push(item);
        }
        self.near.push(item);
        if self.near_max < self.near.len() {
            let near = std::mem::take(&mut self.near).into_vec();
            self.cut(near, NEAR_MAX / LIST_SHARE);
            // Where all keys are the same nothing was cut off, and it is not tried again soon.
            self.near_max = NEAR_MAX.max(2 * self.near.len());
        }
    }

    /// As the order of items compares them, numbers and others.
    fn is_far(&self, item: &T) -> bool {
        self.border.total_cmp(&item.key()).is_lt()
    }

    /// Takes the first item.
    pub(super) fn pop(&mut self) -> Option<T> {
        let first = self.near.pop();
        self.refill();
        first
    }

    /// The first item.
    pub(super) fn peek(&self) -> Option<&T> {
        self.near.peek()
    }

    /// Keeps some items.
    pub(super) fn retain(&mut self, is_kept: impl Fn(&T) -> bool) {
        self.near.retain(&is_kept);
        self.far.retain(&is_kept);
        self.refill();
    }

    /// The heap is empty only where the list is.
    fn refill(&mut self) {
        if self.near.is_empty() && !self.far.is_empty() {
            let far = std::mem::take(&mut self.far);
            let count = (far.len() / LIST_SHARE).max(NEAR_MAX / LIST_SHARE);
            self.cut(far, count);
        }
    }

    /// Puts about `count` of some items onto the heap, the nearest, and the others onto the list. At least one goes onto the heap.
    fn cut(&mut self, mut items: Vec<T>, count: usize) {
        self.border = border(&items, count);
        let mut place = 0;
        for at in 0..items.len() {
            if self.is_far(&items[at]) {
                items.swap(place, at);
                place += 1;
            }
        }
        self.near = BinaryHeap::from(items.split_off(place));
        match self.far.is_empty() {
            true => self.far = items,
            false => self.far.append(&mut items),
        }
    }
}

/// A key that about `count` of some items do not exceed.
fn border<T: Waiting>(items: &[T], count: usize) -> f64 {
    let step = items.len().div_ceil(SAMPLE);
    let mut keys: Vec<f64> = items.iter().step_by(step).map(Waiting::key).collect();
    keys.sort_unstable_by(f64::total_cmp);
    let place = keys.len() * count / items.len();
    keys[place.min(keys.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use std::cmp::{Ordering, Reverse};

    #[derive(Clone, Debug)]
    struct Item(f64, u32);

    impl PartialEq for Item {
        fn eq(&self, other: &Item) -> bool {
            self.cmp(other).is_eq()
        }
    }

    impl Eq for Item {}

    impl PartialOrd for Item {
        fn partial_cmp(&self, other: &Item) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }

    impl Ord for Item {
        fn cmp(&self, other: &Item) -> Ordering {
            other.0.total_cmp(&self.0).then(other.1.cmp(&self.1))
        }
    }

    impl Waiting for Item {
        fn key(&self) -> f64 {
            self.0
        }
    }

    #[test]
    fn items_come_in_their_order() {
        for (seed, keys) in [(1, 1.0), (2, 7.0), (3, 1e4), (4, 1e9)] {
            let mut rng = Rng::with_seed(seed);
            let (mut queue, mut plain) = (Queue::new(), BinaryHeap::new());
            let (mut base, mut most) = (0.0, 0);
            for number in 0..200_000 {
                // As a search does it: mostly behind what was taken last, sometimes before it.
                let ahead =
                    (rng.f64() * keys).floor() - if rng.u32(..100) == 0 { keys } else { 0.0 };
                let item =
                    Item(if rng.u32(..1000) == 0 { f64::INFINITY } else { base + ahead }, number);
                queue.push(item.clone());
                plain.push(item);
                most = most.max(queue.far.len());
                while rng.u32(..5) < 2 {
                    assert_eq!(queue.peek(), plain.peek());
                    let (one, other) = (queue.pop(), plain.pop());
                    assert_eq!(one, other);
                    base = one.map_or(base, |item| item.0.min(1e12));
                }
                // A search that goes on alone keeps hardly any, and may take the last one before it finds others.
                let share = if number % 50_000 == 49_999 { 10_000 } else { 3 };
                if number % 20_000 == 19_999 || share != 3 {
                    queue.retain(|item| item.1 % share == 1);
                    plain.retain(|item| item.1 % share == 1);
                }
                if share != 3 {
                    while let Some(item) = plain.pop() {
                        base = item.0.min(1e12);
                        assert_eq!(queue.pop(), Some(item));
                    }
                    assert!(queue.pop().is_none());
                }
            }
            assert!(0 < most || keys == 1.0, "nothing was cut off, with {keys}");
            let rest: Vec<Item> = std::iter::from_fn(|| queue.pop()).collect();
            let mut all = plain.into_vec();
            all.sort_by_key(|item| Reverse(item.clone()));
            assert_eq!(rest, all);
        }
    }
}
