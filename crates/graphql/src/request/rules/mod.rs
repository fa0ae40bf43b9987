//! Validation (GraphQL specification, *Validation*): the rules for documents, in the words and the
//! order of Dgraph.

mod lookup;
mod walker;
mod selected_fields;
mod fragments;
mod operations;
mod input_values;
mod merge;

pub(super) use input_values::function_count_message;
pub(super) use lookup::{field_of, input_fields, is_composite, root_type};
pub(super) use selected_fields::cascade_message;
pub(super) use walker::{CascadeVariable, check};
