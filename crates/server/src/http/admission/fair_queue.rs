//! A queue with one sub-queue for each client, served round-robin: a client that sends a thousand
//! requests delays only itself.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::time::Instant;

/// A queue of items `T` that is served round robin between clients `C`.
pub(super) struct FairQueue<C, T> {
    /// The clients that have items in the queue; the first one is served next.
    order: VecDeque<C>,
    waiting: HashMap<C, VecDeque<(Instant, T)>>,
}

impl<C: Copy + Eq + Hash, T> FairQueue<C, T> {
    /// Creates an empty queue.
    pub(super) fn new() -> FairQueue<C, T> {
        FairQueue { order: VecDeque::new(), waiting: HashMap::new() }
    }

    /// The number of items. O(waiting clients).
    pub(super) fn len(&self) -> usize {
        self.waiting.values().map(VecDeque::len).sum()
    }

    /// Whether the queue is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Adds an item of a client. O(1).
    pub(super) fn push(&mut self, client: C, item: T) {
        let own = self.waiting.entry(client).or_default();
        if own.is_empty() {
            self.order.push_back(client);
        }
        own.push_back((Instant::now(), item));
    }

    /// Removes and returns the next item.
    pub(super) fn pop(&mut self) -> Option<T> {
        let client = self.order.pop_front()?;
        // A client is in `order` while it has items, and never twice, so each pop finds one.
        let own = self.waiting.get_mut(&client)?;
        let (_, item) = own.pop_front()?;
        match own.is_empty() {
            true => drop(self.waiting.remove(&client)),
            false => self.order.push_back(client),
        }
        Some(item)
    }

    /// Counts the items that would be served before another one of this client. O(waiting clients).
    pub(super) fn requests_before(&self, client: C) -> usize {
        let own = self.waiting.get(&client).map_or(0, VecDeque::len);
        // Each client is served once a round, and another item of this one would be served in round
        // `own + 1`.
        self.waiting.values().map(|others| others.len().min(own + 1)).sum()
    }

    /// Removes the items that nobody waits for any more.
    pub(super) fn retain(&mut self, is_expected: impl Fn(&T) -> bool) {
        for own in self.waiting.values_mut() {
            own.retain(|(_, item)| is_expected(item));
        }
        self.waiting.retain(|_, own| !own.is_empty());
        let waiting = &self.waiting;
        self.order.retain(|client| waiting.contains_key(client));
    }

    /// The time since which the oldest item has been waiting. O(waiting clients).
    pub(super) fn oldest(&self) -> Option<Instant> {
        self.waiting.values().filter_map(|own| Some(own.front()?.0)).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_alternate() {
        let mut queue = FairQueue::new();
        for number in 0..5 {
            queue.push('a', number);
        }
        queue.push('b', 10);
        queue.push('b', 11);
        assert_eq!(
            (queue.requests_before('a'), queue.requests_before('b'), queue.requests_before('c')),
            (7, 5, 2)
        );
        assert!(queue.oldest().is_some());
        let order: Vec<i32> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, [0, 10, 1, 11, 2, 3, 4]);
        assert!(queue.is_empty() && queue.oldest().is_none());
    }

    #[test]
    fn who_went_away_is_left_out() {
        let mut queue = FairQueue::new();
        for number in 0..4 {
            queue.push(number % 2, number);
        }
        queue.retain(|number| *number == 2);
        assert_eq!(queue.requests_before(1), 1);
        assert_eq!((queue.pop(), queue.pop()), (Some(2), None));
    }
}
