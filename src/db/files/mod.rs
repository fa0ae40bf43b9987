//! The files that a path or a pattern of names represents.

pub(super) mod paths;
#[cfg(feature = "files")]
mod pattern;
#[cfg(not(feature = "files"))]
#[path = "pattern_missing.rs"]
mod pattern;
