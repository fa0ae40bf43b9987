//! Lists of numbers that threads make smaller at the same time.
//!
//! A number only falls, and what it has fallen to in the end does not depend on which thread came first. So kernels that lower numbers until none
//! falls any more give the same with any number of threads. A thread may see a number as it was a moment ago, which is greater: it must try
//! `lower` or `swap` before it relies on it. The only order between threads is that of the steps of a [`super::task::Task`].

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Floats from 0 on: their bits have the order of the numbers.
pub(super) struct LoweredFloats(Vec<AtomicU64>);

impl LoweredFloats {
    /// So many numbers that are infinite.
    pub(super) fn new(len: usize) -> LoweredFloats {
        let infinite = f64::INFINITY.to_bits();
        LoweredFloats((0..len).map(|_| AtomicU64::new(infinite)).collect())
    }

    #[inline]
    pub(super) fn get(&self, place: usize) -> f64 {
        f64::from_bits(self.0[place].load(Relaxed))
    }

    /// Makes a number smaller; returns whether it was greater.
    #[inline]
    pub(super) fn lower(&self, place: usize, number: f64) -> bool {
        let (there, new) = (&self.0[place], number.to_bits());
        // Mostly it is not: that costs no turn of the cache line.
        new < there.load(Relaxed) && new < there.fetch_min(new, Relaxed)
    }

    /// As [`LoweredFloats::lower`], where no other thread has the numbers.
    #[inline]
    pub(super) fn lower_alone(&mut self, place: usize, number: f64) -> bool {
        let (there, new) = (self.0[place].get_mut(), number.to_bits());
        let is_less = new < *there;
        if is_less {
            *there = new;
        }
        is_less
    }

    pub(super) fn into_vec(self) -> Vec<f64> {
        self.0.into_iter().map(|number| f64::from_bits(number.into_inner())).collect()
    }
}

/// Whole numbers.
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
    pub(super) fn get(&self, place: u32) -> u32 {
        self.0[place as usize].load(Relaxed)
    }

    /// Sets a number to one that it has been lowered to, or that is as good.
    #[inline]
    pub(super) fn set(&self, place: u32, number: u32) {
        self.0[place as usize].store(number, Relaxed);
    }

    /// Sets a number to a smaller one if it is still `old`; returns whether it was.
    #[inline]
    pub(super) fn swap(&self, place: u32, old: u32, new: u32) -> bool {
        self.0[place as usize].compare_exchange(old, new, Relaxed, Relaxed).is_ok()
    }
}
