//! The indexes that functions can't do without.

use crate::graph::Predicate;
use hexgraph_base::plan::PredicateUse;
use hexgraph_base::types::{Error, Result};

/// Refuses a function whose index the schema does not have.
pub(crate) fn expect_index(predicate: &Predicate, needed: PredicateUse) -> Result<()> {
    if needed.is_allowed(&predicate.def) {
        return Ok(());
    }
    let (name, title) = (&predicate.def.name, needed.index());
    let message = format!("predicate `{name}` has no {title} index");
    let hint = format!("add `@index({title})` to the schema of `{name}`");
    Err(Error::query(message).with_hint(hint))
}
