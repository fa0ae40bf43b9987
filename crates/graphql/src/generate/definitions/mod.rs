//! What is generated for each declared type: filters, inputs, payloads, aggregates and root fields.

pub(super) mod facts;
pub(super) mod filters;
pub(super) mod output_types;
pub(super) mod input_types;
pub(super) mod root_fields;
