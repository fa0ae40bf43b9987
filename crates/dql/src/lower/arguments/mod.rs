//! Lowers what stands in parentheses: numbers, uids, values, functions and expressions.

pub(super) mod number;
pub(super) mod geo;
pub(super) mod uids;
pub(super) mod values;
pub(super) mod compare;
pub(super) mod other_languages;
pub(super) mod function;
pub(super) mod math;
pub(super) mod facets;
