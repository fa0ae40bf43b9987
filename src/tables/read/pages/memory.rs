//! The memory for the input of a load.

use hexgraph_base::budget::{Budget, Held, Reservation};
use hexgraph_base::types::{Error, Result};
use std::sync::Arc;

/// The least bytes of a round, also for a load with less memory: a page of a file may have so many.
const ROUND_LEN_MIN: u64 = 64 << 20;

/// The most bytes of a chunk.
const CHUNK_LEN_MAX: u64 = 256 << 20;

/// The memory of a load for what it reads: a round of chunks at a time.
#[derive(Clone)]
pub(in crate::tables) struct ReadMemory {
    reservation: Arc<Reservation>,
    /// The bytes of the chunks of a round.
    round_len: u64,
    /// The bytes of one of them.
    chunk_len: u64,
}

impl ReadMemory {
    /// The memory of a load that may use `memory` bytes, or as many as `budget` has where that is
    /// 0.
    pub(in crate::tables) fn new(budget: &Budget, memory: u64) -> ReadMemory {
        let round_len = match memory {
            0 => budget.bound() / 4,
            bytes => (bytes / 2).max(ROUND_LEN_MIN),
        };
        let chunk_len = round_len / (2 * rayon::current_num_threads() as u64);
        let chunk_len = chunk_len.min(CHUNK_LEN_MAX);
        ReadMemory { reservation: Arc::new(budget.reservation()), round_len, chunk_len }
    }

    /// Reserves bytes until the result is dropped.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] where the budget has too few bytes left.
    pub(in crate::tables) fn reserve(&self, bytes: u64) -> Result<Held> {
        Held::reserve(&self.reservation, bytes)
    }

    /// The bytes of the chunks of a round.
    pub(in crate::tables) fn round_len(&self) -> u64 {
        self.round_len
    }

    /// The bytes of a chunk.
    pub(in crate::tables) fn chunk_len(&self) -> u64 {
        self.chunk_len
    }

    /// The error for a part of a file that takes more than a round may.
    pub(in crate::tables) fn too_large(&self, what: &str, bytes: u64) -> Error {
        let message = format!(
            "{what} takes {bytes} bytes of memory to be read, and this load may take {} for that; \
             raise the setting `memory`, or write the file in smaller parts",
            self.round_len
        );
        Error::Limit { message }
    }
}
