//! Numbers for the distinct tokens of an index that is being built.

use rustc_hash::FxHasher;
use std::hash::Hasher;

/// Gives each distinct text a number, from 0 in order of first appearance.
///
/// The texts lie in one buffer and the table holds numbers only, so a token that was seen before
/// costs no allocation.
pub(super) struct TokenInterner {
    bytes: Vec<u8>,
    /// The start byte of each text, and finally the end byte of the last one.
    starts: Vec<usize>,
    /// Open addressing: numbers plus one, 0 for a free slot. The length is a power of two.
    slots: Vec<u32>,
}

impl TokenInterner {
    /// An interner that has no text yet.
    pub(super) fn new() -> TokenInterner {
        TokenInterner { bytes: Vec::new(), starts: vec![0], slots: vec![0; 1024] }
    }

    /// The number of texts.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The bytes of all texts.
    pub(super) fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// The text of a number.
    pub(super) fn get(&self, id: u32) -> &[u8] {
        let id = id as usize;
        &self.bytes[self.starts[id]..self.starts[id + 1]]
    }

    /// The number of a text.
    ///
    /// # Panics
    ///
    /// With 2^32 - 1 texts, which would need more memory than their nodes.
    pub(super) fn intern(&mut self, text: &[u8]) -> u32 {
        // At least half of the slots are free, so the walk to a free one is short.
        let mask = self.slots.len() - 1;
        let mut slot = hash(text) & mask;
        while self.slots[slot] != 0 {
            let id = self.slots[slot] - 1;
            if self.get(id) == text {
                return id;
            }
            slot = (slot + 1) & mask;
        }
        let id = u32::try_from(self.len()).expect("an index has fewer than 2^32 tokens");
        self.slots[slot] = id.checked_add(1).expect("an index has fewer than 2^32 tokens");
        self.bytes.extend_from_slice(text);
        self.starts.push(self.bytes.len());
        if self.slots.len() < 2 * self.len() {
            self.grow();
        }
        id
    }

    fn grow(&mut self) {
        // The number of slots is a power of two, so one less than twice as many is the mask of the
        // new table.
        let mask = 2 * self.slots.len() - 1;
        let mut slots = vec![0; mask + 1];
        for id in 0..self.len() as u32 {
            let mut slot = hash(self.get(id)) & mask;
            while slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            slots[slot] = id + 1;
        }
        self.slots = slots;
    }
}

fn hash(text: &[u8]) -> usize {
    let mut hasher = FxHasher::default();
    hasher.write(text);
    let hash = hasher.finish();
    // Mixed, so that the slot depends on both halves of the hash.
    (hash ^ hash >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_one_number() {
        let mut interner = TokenInterner::new();
        for round in 0..2 {
            for number in 0..5000_u32 {
                let text = format!("token {number}");
                assert_eq!(interner.intern(text.as_bytes()), number, "round {round}");
                assert_eq!(interner.get(number), text.as_bytes());
            }
        }
        assert_eq!(interner.intern(b""), 5000);
        assert_eq!(interner.len(), 5001);
    }
}
