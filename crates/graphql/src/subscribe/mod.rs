//! Subscriptions: what a query that is asked again and again depends on.

mod reads;

pub use reads::{custom_below, nested_custom_field, predicates};
