//! The rows of an answer as a table: in Arrow's layout, as a rectangle, and as files and texts of
//! all kinds.

pub(super) mod batch;
pub(super) mod flatten;
pub(super) mod cells;
pub(super) mod uids;
pub(super) mod greatest;
pub(super) mod text;
pub(super) mod write;
