//! Between Python's objects and the engine's.

pub(super) mod errors;
pub(super) mod sequences;
pub(super) mod json;
pub(super) mod encoding;
pub(super) mod variables;
pub(super) mod dict_sink;
pub(super) mod json_table;
pub(super) mod arrow;
pub(super) mod arrow_columns;
pub(super) mod decimals;
pub(crate) mod python_columns;
