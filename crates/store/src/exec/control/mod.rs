//! The limits, the deadline and the shared state of a request.

pub(super) mod limits;
pub(super) mod options;
pub(super) mod stop;
pub(super) mod pending;
pub(super) mod trace;
pub(super) mod work;
pub(super) mod passwords;
pub(super) mod group_cells;
pub(super) mod tree;
pub(super) mod column_var;
pub(super) mod context;
pub(super) mod steps;
pub(super) mod morsels;
