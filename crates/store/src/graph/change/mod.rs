//! Makes the next version from the text of a mutation or of a schema.

pub(super) mod bounds;
pub(super) mod refusal;
pub(super) mod check;
pub(super) mod keys;
pub(super) mod effect;
pub(super) mod losses;
pub(super) mod statements;
pub(super) mod bindings;
pub(super) mod changes;
mod change_weight;
pub(super) mod mutate;
pub(super) mod apply;
pub(super) mod detach;
pub(super) mod altering;
