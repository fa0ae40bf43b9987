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

/// The names of the functions of filters and of expressions.
pub(crate) fn function_names() -> impl Iterator<Item = &'static str> {
    let functions = function::FUNCTIONS.iter().map(|(name, _)| *name);
    functions.chain(math::FUNCTIONS.iter().map(|(name, _, _)| *name))
}
