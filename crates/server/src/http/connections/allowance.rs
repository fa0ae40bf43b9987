//! What a connection that was handed over to another protocol may send before its message is
//! complete, reserved from the budget.

use hexgraph_base::budget::{Budget, Held};
use std::sync::Arc;

/// The approximate memory of such a connection in addition to its messages: the read buffer of its
/// protocol, and what was written and waits.
pub(super) const CONNECTION_LEN: u64 = 16 << 10;

/// What a connection may send before its message is complete.
pub(super) struct Allowance {
    budget: Budget,
    /// The bytes since the last message.
    come: u64,
    /// The most of them.
    most: u64,
    /// What is reserved for them; `None` as long as they fit into what the connection takes itself.
    pending: Option<Held>,
}

impl Allowance {
    /// An allowance of at most `most` bytes, without any received bytes.
    pub(super) fn new(budget: Budget, most: u64) -> Allowance {
        Allowance { budget, come: 0, most, pending: None }
    }

    /// Reserves the bytes that have come. False when they are too many, or there is no memory for
    /// them.
    pub(super) fn admit(&mut self, len: usize) -> bool {
        self.come = self.come.saturating_add(len as u64);
        if self.most < self.come {
            return false;
        }
        // A buffer that grows is doubled, and has the old bytes next to the new ones meanwhile.
        let expected = self.come.saturating_mul(3);
        match &mut self.pending {
            _ if self.come <= CONNECTION_LEN / 4 => true,
            Some(held) => match expected.checked_sub(held.bytes()) {
                Some(more) => held.grow(more).is_ok(),
                None => true,
            },
            none => {
                *none = Held::reserve(&Arc::new(self.budget.reservation()), expected).ok();
                none.is_some()
            }
        }
    }

    /// Records that the message is complete, and is reserved by its consumer.
    pub(super) fn consume(&mut self, most: u64) {
        (self.come, self.most, self.pending) = (0, most, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn received_bytes_are_reserved_until_the_message_is_consumed() {
        let budget = Budget::new(1 << 20);
        let mut allowance = Allowance::new(budget.clone(), 1 << 20);
        assert!(
            allowance.admit(4096) && budget.reserved() == 0,
            "the connection has so much itself"
        );
        assert!(
            allowance.admit(96 << 10) && 300 << 10 <= budget.reserved(),
            "{}",
            budget.reserved()
        );
        assert!(!allowance.admit(512 << 10), "there is no memory");
        allowance.consume(10 << 10);
        assert_eq!(budget.reserved(), 0);
        assert!(allowance.admit(10 << 10) && !allowance.admit(1), "that is the most");
    }
}
