//! Loads files and tables of any length in bulk, straight into the stored form.

pub(super) mod batch;
pub(super) mod unique;
pub(super) mod spill;
pub(super) mod typed_endpoints;
pub(super) mod stored_ids;
pub(super) mod names;
pub(super) mod duplicates;
pub(super) mod gather;
pub(super) mod intern;
pub(super) mod columns;
pub(super) mod lines;
