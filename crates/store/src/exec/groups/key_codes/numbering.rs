//! Numbers for values in the order in which they come.
//!
//! A table of many keys lies in the farther caches, and a look at it waits for them twice: for the
//! slot, and for the key that is compared. So keys are looked up in batches: first all of their
//! slots are read, then all keys that these name, and then they are compared, most of them without
//! another look. No read of a batch waits for another, which a lookup key by key in a table of a
//! library doesn't allow.

use crate::exec::control::pending::VALUE_ENTRY_BYTES;
use std::hash::{BuildHasher, RandomState};
use std::hint::black_box;

/// The number of keys of a lot.
const BATCH: usize = 32;

/// The slots that are looked at at once: nearly all keys are in one of them, as there are two slots
/// for a key, and mostly these are in one cache line.
const NEAR: usize = 4;

/// The least number of slots.
const SLOTS_MIN: usize = 2 * BATCH;

/// Distinct keys, and the number of each.
#[derive(Clone)]
pub(super) struct KeyNumbers {
    /// The upper half of a key's hash, and the position of the key plus 1; 0 for a slot without a
    /// key. A power of two of them, at most half of which have one. A key is in the first free slot
    /// from that of its hash on.
    slots: Vec<u64>,
    keys: Vec<u128>,
    numbers: Vec<u32>,
    /// The keys to look up, and where their numbers are written.
    requested: Vec<(u128, u32)>,
    /// The number of keys when [`KeyNumbers::growth`] was last called.
    charged: usize,
    /// Numbers that nobody knows who chooses the keys.
    seeds: [u64; 2],
}

impl Default for KeyNumbers {
    fn default() -> KeyNumbers {
        let random = RandomState::new();
        KeyNumbers {
            seeds: [0, 1].map(|seed| random.hash_one(seed)),
            slots: vec![0; SLOTS_MIN],
            keys: Vec::new(),
            numbers: Vec::new(),
            requested: Vec::with_capacity(BATCH),
            charged: 0,
        }
    }
}

/// Both halves of a key, multiplied, and the halves of the product put together, as in wyhash:
/// texts that differ in a digit or two are as far apart as any. (Of 100,000 such texts one in ten
/// had its own slot by the hash of rustc, and of sixteen partitions half were left empty.)
#[inline]
pub(super) fn mixed(key: u128, seeds: [u64; 2]) -> u64 {
    let [one, two] = seeds;
    let product = u128::from(key as u64 ^ one) * u128::from((key >> 64) as u64 ^ two);
    product as u64 ^ (product >> 64) as u64
}

/// The part of a hash that a slot has.
const TAG: u64 = u64::MAX << 32;

impl KeyNumbers {
    #[inline]
    fn hash_of(&self, key: u128) -> u64 {
        mixed(key, self.seeds)
    }

    /// The number of keys.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Puts 0 after some numbers, where that of a key is written at the latest by
    /// [`KeyNumbers::settle`]. Keys that come for the first time are numbered from `others` + 1 on,
    /// after the existing ones.
    #[inline]
    pub(super) fn probe(&mut self, key: u128, others: usize, out: &mut Vec<u32>) {
        self.requested.push((key, out.len() as u32));
        out.push(0);
        if self.requested.len() == BATCH {
            self.settle(others, out);
        }
    }

    /// Writes the numbers of the keys that were looked up.
    pub(super) fn settle(&mut self, others: usize, out: &mut [u32]) {
        let mut requested = std::mem::take(&mut self.requested);
        // Nothing moves while they are looked for.
        self.make_space(requested.len());
        let mut hashes = [0; BATCH];
        hashes.iter_mut().zip(&requested).for_each(|(hash, (key, _))| *hash = self.hash_of(*key));
        let mut positions = [0; BATCH];
        for (position, hash) in positions.iter_mut().zip(&hashes[..requested.len()]) {
            *position = self.position_near(*hash);
        }
        let key_at = |position: u32| self.keys.get((position as usize).wrapping_sub(1)).copied();
        black_box(
            positions.iter().fold(0, |all, position| all ^ key_at(*position).unwrap_or_default()),
        );
        for ((&(key, at), &hash), &position) in requested.iter().zip(&hashes).zip(&positions) {
            let is_there = position != 0 && self.keys[position as usize - 1] == key;
            let position =
                if is_there { position as usize - 1 } else { self.position(key, hash, others) };
            out[at as usize] = self.numbers[position];
        }
        requested.clear();
        self.requested = requested;
    }

    /// The number of one key.
    pub(super) fn number(&mut self, key: u128, others: usize) -> u32 {
        self.make_space(1);
        let position = self.position(key, self.hash_of(key), others);
        self.numbers[position]
    }

    /// The position, plus 1, of a key with a hash in one of the first slots where it may be; 0
    /// where there is none. Without branches.
    #[inline]
    fn position_near(&self, hash: u64) -> u32 {
        let first = self.slot_of(hash);
        (0..NEAR).fold(0, |result, behind| {
            let slot = self.slots[(first + behind) & (self.slots.len() - 1)];
            if (slot ^ hash) & TAG == 0 { slot as u32 } else { result }
        })
    }

    fn slot_of(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    /// The position of a key, which is put after the others where it is not there. There is space
    /// for it.
    fn position(&mut self, key: u128, hash: u64, others: usize) -> usize {
        let mut slot = self.slot_of(hash);
        loop {
            let result = self.slots[slot];
            if result == 0 {
                break;
            }
            let position = (result as u32 - 1) as usize;
            if (result ^ hash) & TAG == 0 && self.keys[position] == key {
                return position;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        let position = self.keys.len();
        self.keys.push(key);
        self.numbers.push((others + position) as u32 + 1);
        self.slots[slot] = hash & TAG | (position as u64 + 1);
        position
    }

    /// Makes space for so many keys more.
    fn make_space(&mut self, more: usize) {
        let needed = 2 * (self.keys.len() + more);
        if needed <= self.slots.len() {
            return;
        }
        self.slots.clear();
        self.slots.resize(needed.next_power_of_two(), 0);
        for (position, key) in self.keys.iter().enumerate() {
            let hash = self.hash_of(*key);
            let mut slot = self.slot_of(hash);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (self.slots.len() - 1);
            }
            self.slots[slot] = hash & TAG | (position as u64 + 1);
        }
    }

    /// The keys with their numbers, in the order in which they came.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u128, u32)> {
        self.keys.iter().copied().zip(self.numbers.iter().copied())
    }

    /// The bytes by which the table has grown since the last call.
    pub(super) fn growth(&mut self) -> usize {
        let grown = self.len() - self.charged;
        self.charged += grown;
        VALUE_ENTRY_BYTES * grown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        /// Each key has one number, which each lookup returns, alone or in a batch.
        #[test]
        fn keys_keep_their_numbers(
            keys in prop::collection::vec(prop_oneof![0u128..50, any::<u128>(), (0u128..9).prop_map(|it| it << 64)], 0..2000),
            alone in prop::collection::vec(any::<bool>(), 2000),
        ) {
            let (mut numbering, mut others, mut out) = (KeyNumbers::default(), 0, Vec::new());
            for (position, (&key, &alone)) in keys.iter().zip(&alone).enumerate() {
                match alone && position % 5 == 0 {
                    true => out.push(numbering.number(key, others)),
                    false => numbering.probe(key, others, &mut out),
                }
                // Numbers that are given to something else.
                if position % 100 == 99 {
                    numbering.settle(others, &mut out);
                    others += 3;
                }
            }
            numbering.settle(others, &mut out);
            let (mut existing, mut met) = (HashMap::new(), HashMap::new());
            for (key, number) in keys.iter().zip(&out) {
                prop_assert!(0 < *number);
                prop_assert_eq!(*existing.entry(*key).or_insert(*number), *number);
                prop_assert_eq!(*met.entry(*number).or_insert(*key), *key);
            }
            prop_assert_eq!(numbering.len(), existing.len());
            prop_assert_eq!(numbering.iter().collect::<HashMap<u128, u32>>(), existing);
        }
    }
}
