//! Walks over edges, from level to level.

pub(super) mod lists;
pub(super) mod traverse;
pub(super) mod long_lists;
pub(super) mod gather;
pub(super) mod expand;
pub(super) mod cascade;
pub(super) mod recurse;
pub(super) mod paths;
