//! What the columns of a table mean.

pub(super) mod options;
pub(super) mod rivals;
pub(super) mod plan;
pub(super) mod named;
pub(super) mod choose_ids;
pub(super) mod wkt;
pub(super) mod foreign_keys;
pub(super) mod other_types;
pub(super) mod plan_nodes;
pub(super) mod ids;
pub(super) mod cell_error;
pub(super) mod parts;
pub(super) mod names;
mod reuse;
