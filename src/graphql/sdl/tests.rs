//! Cases of our own.
