//! Checksums of a mapped file, tested block by block on first access.
//!
//! The data area of a snapshot is divided into blocks of [`BLOCK_LEN`] bytes, each with a checksum
//! in a table. One bit a block says that it was read and is intact. An access costs one load of
//! such a bit; only the first one to a block reads all of it.
//!
//! Reading is infallible in the signatures of this module's users, as damage is rare and reads are
//! everywhere. So a block that fails its test unwinds with an [`Error`] as payload, and
//! [`catch_corrupt`] at the boundary of the database turns it into a result. The panic hook does
//! not run, so nothing is printed.

use super::mapped::Pages;
use bytes::Bytes;
use hexgraph_base::types::{Error, Result};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of bytes with one checksum.
pub(in crate::storage) const BLOCK_LEN: usize = 64 * 1024;

/// Runs `read` and returns what it returned, or the [`Error`] that it unwound with.
///
/// # Errors
///
/// The error that damaged data raised inside `read`. Other panics go on unwinding.
pub(crate) fn catch_corrupt<R>(read: impl FnOnce() -> R) -> Result<R> {
    catch_unwind(AssertUnwindSafe(read)).or_else(|payload| match payload.downcast::<Error>() {
        Ok(error) => Err(*error),
        Err(panic) => resume_unwind(panic),
    })
}

/// Unwinds with `error`, for [`catch_corrupt`] to return.
#[cold]
pub(in crate::storage) fn unwind_with(error: Error) -> ! {
    resume_unwind(Box::new(error))
}

/// The data area of one mapped file, its checksums, and which of its blocks are verified.
pub(in crate::storage) struct CheckedBlocks {
    file: String,
    data: Bytes,
    data_start: usize,
    sums: Vec<u32>,
    checked: Box<[AtomicU64]>,
    pages: Pages,
}

impl CheckedBlocks {
    /// Blocks over `data`, which starts at byte `data_start` of `file`; none is checked yet.
    ///
    /// # Panics
    ///
    /// When there is not one sum for each block.
    pub(in crate::storage) fn new(
        file: String,
        data: Bytes,
        data_start: usize,
        sums: Vec<u32>,
    ) -> CheckedBlocks {
        assert_eq!(sums.len(), data.len().div_ceil(BLOCK_LEN), "one checksum for each block");
        let checked = (0..sums.len().div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        CheckedBlocks { file, data, data_start, sums, checked, pages: Pages::default() }
    }

    /// Attaches the pages of the map that the data lie in, so that they can be released.
    pub(super) fn with_pages(self, pages: Pages) -> CheckedBlocks {
        CheckedBlocks { pages, ..self }
    }

    /// Releases the pages that hold `len` bytes from byte `start` of the data area on: they are
    /// read from the file again when they are next touched.
    pub(in crate::storage) fn release(&self, start: usize, len: usize) {
        let start = self.data_start + start;
        self.pages.release(start..start + len);
    }

    /// The number of blocks.
    pub(in crate::storage) fn count(&self) -> usize {
        self.sums.len()
    }

    /// Tests one block unless that was done. Costs a read of the block the first time.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] when its bytes do not have the checksum; it names `section`.
    pub(in crate::storage) fn check(&self, block: usize, section: &str) -> Result<()> {
        if self.is_checked(block) {
            return Ok(());
        }
        let start = block * BLOCK_LEN;
        let end = (start + BLOCK_LEN).min(self.data.len());
        let result = crc32fast::hash(&self.data[start..end]);
        let expected = self.sums[block];
        if result != expected {
            let at = self.data_start + start;
            return Err(self.corrupt(
                section,
                format!("the block at offset {at} has checksum {result:08x}, not {expected:08x}"),
            ));
        }
        // The bit publishes nothing but itself: the bytes never change, so a thread that does not
        // see it yet only tests the block again. That is why relaxed loads and stores do.
        self.checked[block / 64].fetch_or(1 << (block % 64), Ordering::Relaxed);
        Ok(())
    }

    /// Whether a block is verified.
    #[inline]
    fn is_checked(&self, block: usize) -> bool {
        self.checked[block / 64].load(Ordering::Relaxed) >> (block % 64) & 1 != 0
    }

    /// Tests the blocks from `first` to `last`; verified ones 64 at a time.
    fn check_range(&self, first: usize, last: usize, section: &str) -> Result<()> {
        for group in first / 64..=last / 64 {
            let low = first.max(group * 64) - group * 64;
            let high = last.min(group * 64 + 63) - group * 64;
            // Both are positions within one word of 64 bits, so neither shift reaches 64.
            let expected = (u64::MAX >> (63 - high)) & (u64::MAX << low);
            if self.checked[group].load(Ordering::Relaxed) & expected == expected {
                continue;
            }
            for block in low..=high {
                self.check(group * 64 + block, section)?;
            }
        }
        Ok(())
    }

    fn corrupt(&self, section: &str, what: impl fmt::Display) -> Error {
        Error::Corrupt { path: self.file.clone(), message: format!("section `{section}`: {what}") }
    }
}

/// Guards the bytes of one section: their blocks are checked before they are read.
#[derive(Clone)]
pub(in crate::storage) struct Guard {
    blocks: Arc<CheckedBlocks>,
    section: Arc<str>,
    start: usize,
}

impl Guard {
    /// Guards the section that begins at byte `start` of the data area.
    pub(in crate::storage) fn new(
        blocks: &Arc<CheckedBlocks>,
        section: &str,
        start: usize,
    ) -> Guard {
        Guard { blocks: Arc::clone(blocks), section: Arc::from(section), start }
    }

    /// Tests the blocks that hold `len` bytes from byte `start` of the section on. Unwinds with
    /// [`Error::Corrupt`] when one is damaged.
    #[inline]
    pub(in crate::storage) fn ensure(&self, start: usize, len: usize) {
        if len == 0 {
            return;
        }
        let first = (self.start + start) / BLOCK_LEN;
        let last = (self.start + start + len - 1) / BLOCK_LEN;
        // Nearly all accesses lie in one block that was checked before: they cost this inlined
        // load.
        if first != last || !self.blocks.is_checked(first) {
            self.ensure_range(start, len);
        }
    }

    /// Like [`Guard::ensure`], returning the error.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] when a block is damaged.
    pub(in crate::storage) fn try_ensure(&self, start: usize, len: usize) -> Result<()> {
        let start = self.start + start;
        if len == 0 {
            return Ok(());
        }
        self.blocks.check_range(start / BLOCK_LEN, (start + len - 1) / BLOCK_LEN, &self.section)
    }

    /// Releases the pages that hold the first `len` bytes of the section; they are read again when
    /// they are next touched.
    pub(in crate::storage) fn release(&self, len: usize) {
        if len != 0 {
            self.blocks.release(self.start, len);
        }
    }

    /// The error for bytes that have the right checksum and make no sense.
    pub(in crate::storage) fn corrupt(&self, what: impl fmt::Display) -> Error {
        self.blocks.corrupt(&self.section, what)
    }

    #[inline(never)]
    fn ensure_range(&self, start: usize, len: usize) {
        if let Err(error) = self.try_ensure(start, len) {
            unwind_with(error);
        }
    }
}
