//! How work is done anywhere: as long as it is requested, on how many threads, how deep, under
//! which locks.

pub(super) mod check;
pub(super) mod generation_cache;
pub(super) mod held;
pub(super) mod arrivals;
pub mod parallel;
mod placement;
pub mod pool;
pub(super) mod priority;
pub mod stack;
pub mod sync;
pub(super) mod waiting;
