//! Task two.
