//! A set of the tokens one text has given so far.

use std::hash::Hasher;

use rustc_hash::FxHasher;

/// Tokens seen in the current text. Cleared at a cost that does not depend on what it held.
#[derive(Debug, Default)]
pub(in crate::text) struct Distinct {
    tokens: Vec<u8>,
    spans: Vec<(u64, u32, u32)>,
    /// Open addressing: the round a slot was written in, and the number of its token.
    slots: Vec<(u32, u32)>,
    round: u32,
}

const SLOTS_MIN: usize = 64;

impl Distinct {
    /// Forgets all tokens, keeping the memory.
    pub(in crate::text) fn clear(&mut self) {
        self.tokens.clear();
        self.spans.clear();
        self.round = self.round.wrapping_add(1);
        if self.round == 0 || self.slots.is_empty() {
            self.slots.clear();
            self.slots.resize(SLOTS_MIN, (0, 0));
            self.round = 1;
        }
    }

    /// Adds `token`; whether it was new.
    pub(in crate::text) fn insert(&mut self, token: &[u8]) -> bool {
        if self.slots.len() < self.spans.len() * 2 + 2 {
            self.grow();
        }
        let hash = hash(token);
        let mut slot = self.first_slot(hash);
        while self.slots[slot].0 == self.round {
            let (other, start, end) = self.spans[self.slots[slot].1 as usize];
            if other == hash && &self.tokens[start as usize..end as usize] == token {
                return false;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = (self.round, self.spans.len() as u32);
        let start = self.tokens.len() as u32;
        self.tokens.extend_from_slice(token);
        self.spans.push((hash, start, self.tokens.len() as u32));
        true
    }

    fn first_slot(&self, hash: u64) -> usize {
        (hash >> 32) as usize & (self.slots.len() - 1)
    }

    fn grow(&mut self) {
        let length = (self.slots.len() * 2).max(SLOTS_MIN);
        self.slots.clear();
        self.slots.resize(length, (0, 0));
        self.round = 1;
        for number in 0..self.spans.len() {
            let mut slot = self.first_slot(self.spans[number].0);
            while self.slots[slot].0 == self.round {
                slot = (slot + 1) & (length - 1);
            }
            self.slots[slot] = (self.round, number as u32);
        }
    }
}

fn hash(token: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(token);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_new_tokens_across_growth_and_rounds() {
        let mut seen = Distinct::default();
        for _ in 0..3 {
            seen.clear();
            for number in 0..1000_u32 {
                assert!(seen.insert(number.to_string().as_bytes()));
            }
            for number in 0..1000_u32 {
                assert!(!seen.insert(number.to_string().as_bytes()));
            }
            assert!(seen.insert(b""));
            assert!(!seen.insert(b""));
        }
    }
}
