//! Subscriptions: the predicates whose change may change an answer, and the fields whose changes
//! are not announced.

mod reads;

pub use reads::{custom_below, nested_custom_field, predicates};
