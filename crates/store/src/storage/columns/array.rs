//! The one array type of the store: immutable, plain little-endian items, in heap or mapped.

use crate::storage::files::blocks::{BLOCK_LEN, Guard, unwind_with};
use bytemuck::Pod;
use bytes::Bytes;
use hexgraph_base::types::{Error, Result};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

/// An immutable array of plain items. A clone shares the items.
///
/// The items are an owned vector, or are in a mapped snapshot. There every access first ensures
/// that the blocks that it touches match their checksums: a bit test, and a read of the block the
/// first time.
///
/// # Unwinding
///
/// Every access of a mapped array may unwind with an [`Error::Corrupt`] as payload, without a
/// message on the screen: for a block that does not match its checksum, and for a position out of
/// bounds, since positions come from other arrays of the same file. The boundary of the database
/// returns it as an error. An array in heap panics in the second case, and has no first one.
pub struct Array<T: Pod> {
    /// Aligned for `T`, with a length that is a multiple of its size.
    bytes: Bytes,
    guard: Option<Guard>,
    items: PhantomData<fn() -> T>,
}

/// Lends the bytes of a vector to [`Bytes`].
struct Owned<T>(Vec<T>);

impl<T: Pod> AsRef<[u8]> for Owned<T> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

impl<T: Pod> Array<T> {
    const ITEM_LEN: usize = {
        assert!(size_of::<T>() != 0, "an item has a size");
        size_of::<T>()
    };

    /// An array in heap. Takes the vector over as it is.
    pub fn from_vec(items: Vec<T>) -> Array<T>
    where
        T: Send,
    {
        if items.is_empty() {
            return Array::empty();
        }
        Array { bytes: Bytes::from_owner(Owned(items)), guard: None, items: PhantomData }
    }

    /// An array over bytes of a mapped file that this process wrote and nobody else can open:
    /// without checksums.
    pub(in crate::storage) fn from_scratch(bytes: Bytes) -> Array<T> {
        if bytes.is_empty() {
            return Array::empty();
        }
        assert!(bytemuck::try_cast_slice::<u8, T>(&bytes).is_ok(), "it was written as such items");
        Array { bytes, guard: None, items: PhantomData }
    }

    /// An array without items.
    pub fn empty() -> Array<T> {
        Array { bytes: Bytes::new(), guard: None, items: PhantomData }
    }

    /// An array over bytes of a mapped file.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] when the bytes are not aligned for `T` or their length is no multiple of
    /// its size.
    pub(in crate::storage) fn from_mapped(bytes: Bytes, guard: Guard) -> Result<Array<T>> {
        if let (false, Err(fault)) = (bytes.is_empty(), bytemuck::try_cast_slice::<u8, T>(&bytes)) {
            return Err(guard.corrupt(format_args!("{fault} for {} bytes", bytes.len())));
        }
        Ok(Array { bytes, guard: Some(guard), items: PhantomData })
    }

    /// The number of items.
    #[inline]
    pub fn len(&self) -> usize {
        self.bytes.len() / Self::ITEM_LEN
    }

    /// True when there are no items.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The item at `index`.
    ///
    /// # Panics
    ///
    /// When `index` is not below [`Array::len`]; a mapped array unwinds.
    #[inline]
    pub fn get(&self, index: usize) -> T {
        // The bounds first: a guard takes them for granted.
        let Some(item) = self.unchecked().get(index) else {
            self.out_of_bounds(index..index.saturating_add(1))
        };
        if let Some(guard) = &self.guard {
            guard.ensure(index * Self::ITEM_LEN, Self::ITEM_LEN);
        }
        *item
    }

    /// The items of a range of positions. Costs a bit test for every 4 MiB when checked before.
    ///
    /// # Panics
    ///
    /// When the range is inverted or exceeds [`Array::len`]; a mapped array unwinds.
    #[inline]
    pub fn slice(&self, range: Range<usize>) -> &[T] {
        // As in `get`: a range beyond the array would name blocks of the sections that follow.
        let Some(items) = self.unchecked().get(range.clone()) else { self.out_of_bounds(range) };
        if let Some(guard) = &self.guard {
            guard.ensure(range.start * Self::ITEM_LEN, size_of_val(items));
        }
        items
    }

    /// All items. The first time, this reads a mapped array to its end.
    pub fn as_slice(&self) -> &[T] {
        self.slice(0..self.len())
    }

    /// All items, where they are read without any check: in heap.
    pub fn plain(&self) -> Option<&[T]> {
        self.guard.is_none().then(|| self.unchecked())
    }

    /// The first position in `range` whose item does not have the property `holds`, or the end of
    /// the range. Items with the property come first. Touches O(log n) items, and only their
    /// blocks.
    pub fn partition_point(&self, range: Range<usize>, mut holds: impl FnMut(T) -> bool) -> usize {
        let Range { mut start, mut end } = range;
        while start < end {
            // Item by item, and not as a slice, which would check each block of the range.
            let middle = start + (end - start) / 2;
            if holds(self.get(middle)) {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        start
    }

    /// The items from position `start` on; none beyond the array. Checks a mapped array during
    /// iteration.
    pub fn iter_from(&self, start: usize) -> ArrayIter<'_, T> {
        ArrayIter { array: self, next: start.min(self.len()), chunk: [].iter() }
    }

    /// True when both are the same part of memory, and so have the same items.
    pub(in crate::storage) fn is_same(&self, other: &Array<T>) -> bool {
        self.bytes.as_ptr() == other.bytes.as_ptr() && self.bytes.len() == other.bytes.len()
    }

    /// The bytes of the items.
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// The items as bytes that share this array's memory. Reads a mapped array to its end.
    pub fn bytes(&self) -> Bytes {
        if let Some(guard) = &self.guard {
            guard.ensure(0, self.bytes.len());
        }
        self.bytes.clone()
    }

    /// The bytes in chunks of at most 1 MiB, each checked when visited.
    pub(in crate::storage) fn checked_chunks(&self) -> impl Iterator<Item = Result<&[u8]>> {
        const CHUNK_LEN: usize = 16 * BLOCK_LEN;
        self.bytes.chunks(CHUNK_LEN).enumerate().map(|(index, chunk)| {
            if let Some(guard) = &self.guard {
                guard.try_ensure(index * CHUNK_LEN, chunk.len())?;
            }
            Ok(chunk)
        })
    }

    /// Returns a copy of the items, and releases the pages of a mapped array.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] when a block does not have its checksum.
    pub fn to_vec_checked(&self) -> Result<Vec<T>> {
        if let Some(guard) = &self.guard {
            guard.try_ensure(0, self.bytes.len())?;
        }
        let items = self.unchecked().to_vec();
        self.release();
        Ok(items)
    }

    /// Releases the pages of a mapped array; they are read again when they are next touched.
    pub fn release(&self) {
        if let Some(guard) = &self.guard {
            // The outer pages may hold parts of other sections, which are read again as well: that
            // costs time alone.
            guard.release(self.bytes.len());
        }
    }

    /// Checks all blocks of the array, so that later accesses need no tests.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] when a block does not have its checksum.
    pub(in crate::storage) fn into_checked(self) -> Result<Array<T>> {
        if let Some(guard) = &self.guard {
            guard.try_ensure(0, self.bytes.len())?;
        }
        // Without a guard, which is what the later accesses save.
        Ok(Array { guard: None, ..self })
    }

    /// The error for items that make no sense: names the file and section of a mapped array.
    pub fn corrupt(&self, what: impl fmt::Display) -> Error {
        match &self.guard {
            Some(guard) => guard.corrupt(what),
            None => Error::Corrupt { path: "<memory>".to_owned(), message: what.to_string() },
        }
    }

    /// The items, whether their blocks were checked or not.
    #[inline]
    fn unchecked(&self) -> &[T] {
        // Fails for an empty array only, whose address means nothing.
        bytemuck::try_cast_slice(&self.bytes).unwrap_or(&[])
    }

    #[cold]
    #[inline(never)]
    fn out_of_bounds(&self, range: Range<usize>) -> ! {
        let what = format!("positions {range:?} are out of bounds for {} items", self.len());
        match &self.guard {
            Some(guard) => unwind_with(guard.corrupt(what)),
            None => panic!("{what}"),
        }
    }
}

impl<T: Pod> Clone for Array<T> {
    fn clone(&self) -> Array<T> {
        Array { bytes: self.bytes.clone(), guard: self.guard.clone(), items: PhantomData }
    }
}

impl<T: Pod> Default for Array<T> {
    fn default() -> Array<T> {
        Array::empty()
    }
}

impl<T: Pod> fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let position = if self.guard.is_some() { "mapped" } else { "in heap" };
        write!(f, "Array({} items {position})", self.len())
    }
}

/// Iterates over an [`Array`] and checks a mapped one block by block.
#[derive(Clone)]
pub struct ArrayIter<'a, T: Pod> {
    array: &'a Array<T>,
    /// The position after `chunk`.
    next: usize,
    chunk: std::slice::Iter<'a, T>,
}

impl<'a, T: Pod> ArrayIter<'a, T> {
    #[inline(never)]
    fn next_chunk(&mut self) -> Option<T> {
        let array = self.array;
        let left = array.len() - self.next;
        // A block at a time, so that stopping early reads no more of a file than needed.
        let count = if array.guard.is_some() { left.min(BLOCK_LEN / size_of::<T>()) } else { left };
        self.chunk = array.slice(self.next..self.next + count).iter();
        self.next += count;
        self.chunk.next().copied()
    }
}

impl<T: Pod> Iterator for ArrayIter<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        match self.chunk.next() {
            Some(item) => Some(*item),
            None => self.next_chunk(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.chunk.len() + self.array.len() - self.next;
        (left, Some(left))
    }
}

impl<T: Pod> ExactSizeIterator for ArrayIter<'_, T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_was_stored() {
        let array = Array::from_vec((0..100_u32).map(|n| n * n).collect());
        assert_eq!((array.len(), array.byte_len()), (100, 400));
        assert_eq!(array.get(7), 49);
        assert_eq!(array.slice(2..4), [4, 9]);
        assert_eq!(array.as_slice().len(), 100);
        assert_eq!(array.partition_point(0..100, |n| n < 50), 8);
        assert_eq!(array.partition_point(10..20, |n| n < 50), 10);
        assert_eq!(array.iter_from(98).collect::<Vec<_>>(), [98 * 98, 99 * 99]);
        assert_eq!(array.iter_from(1000).next(), None);
        assert_eq!(
            array.clone().bytes().as_ref(),
            bytemuck::cast_slice::<u32, u8>(array.slice(0..100))
        );
    }

    #[test]
    fn empty_arrays_have_no_items() {
        for array in [Array::<u64>::empty(), Array::default(), Array::from_vec(Vec::new())] {
            assert!(array.is_empty() && array.as_slice().is_empty() && array.bytes().is_empty());
            assert!(array.slice(0..0).is_empty());
        }
    }

    #[test]
    #[should_panic(expected = "positions 3..4 are out of bounds for 3 items")]
    fn a_position_behind_the_end_panics() {
        Array::from_vec(vec![1_u8, 2, 3]).get(3);
    }
}
