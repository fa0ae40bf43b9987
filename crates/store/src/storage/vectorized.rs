//! Loops over columns and bits with the widest vector instructions that the processor has.

use fearless_simd::{Level, Simd, dispatch};

/// Does work that is compiled once for each set of vector instructions (SSE 4.2, AVX2 and AVX-512;
/// elsewhere those that all processors have), and executed with the best ones of this processor. It
/// has to be a loop that the compiler finds vectors for, with everything in it inlined: what is
/// called and not inlined is compiled for any processor. The choice takes about a nanosecond.
#[inline(always)]
pub(crate) fn vectorized<R>(work: impl FnOnce() -> R) -> R {
    dispatch!(Level::new(), simd => simd.vectorize(work))
}

/// A bit for each of 64 rows for which `holds` says so. A byte for each comes of vector
/// instructions, and a multiplication moves the lowest bits of eight bytes into one.
#[inline]
pub(crate) fn bits_where<T: Copy>(rows: &[T; 64], holds: impl Fn(T) -> bool) -> u64 {
    /// Moves bit 8 i to bit 56 + i, for each i below 8; what else it makes lies below or falls off.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let mut bytes = [0_u8; 64];
    bytes.iter_mut().zip(rows).for_each(|(byte, row)| *byte = u8::from(holds(*row)));
    let eights: &[[u8; 8]] = bytes.as_chunks().0;
    eights
        .iter()
        .rev()
        .fold(0, |bits, eight| bits << 8 | u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56)
}
