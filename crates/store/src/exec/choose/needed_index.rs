//! The indexes that functions can't do without.

use crate::graph::Predicate;
use crate::index::IndexKind;
use hexgraph_base::types::{Error, Result};

/// Refuses a function whose index the schema does not have.
pub(crate) fn expect_index(predicate: &Predicate, kind: IndexKind, title: &str) -> Result<()> {
    if crate::index::index_kinds(&predicate.def).contains(&kind) {
        return Ok(());
    }
    let name = &predicate.def.name;
    let message = format!("predicate `{name}` has no {title} index");
    let hint = format!("add `@index({title})` to the schema of `{name}`");
    Err(Error::query(message).with_hint(hint))
}
