//! Lowers what is in parentheses: numbers, uids, values, functions and expressions.

pub(super) mod number;
pub(super) mod geo;
pub(super) mod uids;
pub(super) mod values;
pub(super) mod compare;
pub(super) mod other_languages;
pub(super) mod function;
pub(super) mod math;
pub(super) mod facets;

pub(crate) use function::FUNCTIONS;

/// The names of the functions of expressions.
pub(crate) fn math_functions() -> impl Iterator<Item = &'static str> {
    math::FUNCTIONS.iter().map(|(name, _, _)| *name)
}
