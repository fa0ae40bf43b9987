//! `hexgraph health`: whether a server answers, as an exit status.

mod probe;

pub(super) use probe::health;
