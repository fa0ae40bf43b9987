//! Lists of numbers that threads make smaller at the same time.
//!
//! A number only falls, and what it has fallen to in the end does not depend on which thread came
//! first. So kernels that lower numbers until none falls any more give the same with any number of
//! threads. A thread may see a number as it was a moment ago, which is greater: it must try `lower`
//! or `swap` before it relies on it. The only order between threads is that of the steps of a
//! [`super::task::Task`].

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// A number from 0 on that is lowered.
pub(super) trait Falls: Copy + PartialOrd + Send + Sync {
    /// The shared form for threads.
    type Cell: Send + Sync;
    /// The greatest.
    const MOST: Self;

    fn cell(self) -> Self::Cell;
    fn get(cell: &Self::Cell) -> Self;
    /// Makes the number of a cell smaller; returns whether it was greater.
    fn lower(cell: &Self::Cell, number: Self) -> bool;
    /// As [`Falls::lower`], where no other thread has the cell.
    fn lower_alone(cell: &mut Self::Cell, number: Self) -> bool;
}

/// Floats from 0 on: their bits have the order of the numbers.
impl Falls for f64 {
    type Cell = AtomicU64;
    const MOST: f64 = f64::INFINITY;

    fn cell(self) -> AtomicU64 {
        AtomicU64::new(self.to_bits())
    }

    #[inline]
    fn get(cell: &AtomicU64) -> f64 {
        f64::from_bits(cell.load(Relaxed))
    }

    #[inline]
    fn lower(cell: &AtomicU64, number: f64) -> bool {
        let new = number.to_bits();
        // Usually it is not lower, and then the cache line stays shared.
        new < cell.load(Relaxed) && new < cell.fetch_min(new, Relaxed)
    }

    #[inline]
    fn lower_alone(cell: &mut AtomicU64, number: f64) -> bool {
        lower_to(cell.get_mut(), number.to_bits())
    }
}

impl Falls for u32 {
    type Cell = AtomicU32;
    const MOST: u32 = u32::MAX;

    fn cell(self) -> AtomicU32 {
        AtomicU32::new(self)
    }

    #[inline]
    fn get(cell: &AtomicU32) -> u32 {
        cell.load(Relaxed)
    }

    #[inline]
    fn lower(cell: &AtomicU32, number: u32) -> bool {
        number < cell.load(Relaxed) && number < cell.fetch_min(number, Relaxed)
    }

    #[inline]
    fn lower_alone(cell: &mut AtomicU32, number: u32) -> bool {
        lower_to(cell.get_mut(), number)
    }
}

#[inline]
fn lower_to<T: PartialOrd>(there: &mut T, new: T) -> bool {
    let is_less = new < *there;
    if is_less {
        *there = new;
    }
    is_less
}

/// Numbers from 0 on.
pub(super) struct Lowered<N: Falls>(Vec<N::Cell>);

impl<N: Falls> Lowered<N> {
    /// So many numbers that are the greatest.
    pub(super) fn new(len: usize) -> Lowered<N> {
        Lowered((0..len).map(|_| N::MOST.cell()).collect())
    }

    #[inline]
    pub(super) fn get(&self, position: usize) -> N {
        N::get(&self.0[position])
    }

    /// Makes a number smaller; returns whether it was greater.
    #[inline]
    pub(super) fn lower(&self, position: usize, number: N) -> bool {
        N::lower(&self.0[position], number)
    }

    /// As [`Lowered::lower`], where no other thread has the numbers.
    #[inline]
    pub(super) fn lower_alone(&mut self, position: usize, number: N) -> bool {
        N::lower_alone(&mut self.0[position], number)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Integers.
pub(super) struct LoweredInts(Vec<AtomicU32>);

impl LoweredInts {
    /// The numbers from 0 to below `len`, in this order.
    pub(super) fn ascending(len: u32) -> LoweredInts {
        LoweredInts((0..len).map(AtomicU32::new).collect())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub(super) fn get(&self, position: u32) -> u32 {
        self.0[position as usize].load(Relaxed)
    }

    /// Sets a number to one that it has been lowered to, or that is as good.
    #[inline]
    pub(super) fn set(&self, position: u32, number: u32) {
        self.0[position as usize].store(number, Relaxed);
    }

    /// Sets a number to a smaller one if it is still `old`; returns whether it was.
    #[inline]
    pub(super) fn swap(&self, position: u32, old: u32, new: u32) -> bool {
        self.0[position as usize].compare_exchange(old, new, Relaxed, Relaxed).is_ok()
    }
}
