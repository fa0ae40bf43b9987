//! Loops over columns and bits with the widest vector instructions that the processor has.

use fearless_simd::{Level, Simd, dispatch};

/// Does work that is compiled once for each set of vector instructions (SSE 4.2, AVX2 and AVX-512; elsewhere those that all processors have), and carried out
/// with the best ones of this processor. It has to be a loop that the compiler finds vectors for, with everything in it inlined: what is called and not inlined is
/// compiled for any processor. The choice takes about a nanosecond.
#[inline(always)]
pub(crate) fn vectorized<R>(work: impl FnOnce() -> R) -> R {
    dispatch!(Level::new(), simd => simd.vectorize(work))
}
