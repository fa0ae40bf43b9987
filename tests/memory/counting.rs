//! An allocator that counts: the bytes that are live, and the most that were live at once.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// The allocator of the system, with counters.
pub struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The bytes that are live now.
pub fn live() -> usize {
    LIVE.load(Relaxed)
}

/// The most bytes that were live at once since [`forget_peak`].
pub fn peak() -> usize {
    PEAK.load(Relaxed)
}

/// Starts a new measurement of [`peak`].
pub fn forget_peak() {
    PEAK.store(live(), Relaxed);
}

fn add(bytes: usize) {
    PEAK.fetch_max(LIVE.fetch_add(bytes, Relaxed) + bytes, Relaxed);
}

#[expect(unsafe_code, reason = "an allocator is unsafe; all calls go to the system's as they come")]
// SAFETY: each method passes its arguments to the same method of the allocator of the system.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // The allocator of the product copies, so both blocks are live for a moment.
        add(size);
        // SAFETY: as the caller promises.
        let moved = unsafe { System.realloc(pointer, layout, size) };
        LIVE.fetch_sub(layout.size(), Relaxed);
        moved
    }
}
