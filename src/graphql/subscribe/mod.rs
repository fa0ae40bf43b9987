//! Subscriptions: what a query that is asked again and again depends on.

mod reads;

pub use reads::{nested_custom_field, predicates};
