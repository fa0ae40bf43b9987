//! Lowers `@cascade`. It is handed down from field to field until another one replaces it.

use crate::lower::target::languages;
use crate::model::{Predicate, TypeDef};
use crate::request;
use hexgraph_base::plan::{Cascade, FieldKind};

/// Returns the predicates that an object of an aggregate must have by `@cascade`; `None` without
/// `@cascade`.
///
/// Only fields of the object's types count. Where these have none of the fields that `@cascade`
/// names, the object itself has no condition.
pub(super) fn cascade(types: &[&TypeDef], inherited: Option<&request::Cascade>) -> Option<Cascade> {
    let cascade = inherited?;
    if cascade.fields.is_empty() {
        return Some(Cascade::All);
    }
    let predicates = named_predicates(types, cascade).into_iter();
    let mut names: Vec<String> = predicates
        .map(|predicate| match predicate.reverse {
            true => format!("~{}", predicate.name),
            // Another field may be another language of the predicate.
            false => format!("{}@{}", predicate.name, languages(predicate).join(":")),
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    Some(Cascade::Fields(names))
}

/// Returns the predicates of the fields that `@cascade` names.
pub(super) fn named_predicates<'a>(
    types: &[&'a TypeDef],
    cascade: &request::Cascade,
) -> Vec<&'a Predicate> {
    let fields = types.iter().flat_map(|def| &def.fields);
    let named = fields.filter(|field| cascade.fields.iter().any(|name| *name == *field.name));
    named.filter_map(|field| field.predicate.as_ref()).collect()
}

/// Returns true if a field of a plan fetches what a field of the schema is stored as.
pub(super) fn fetches(kind: &FieldKind, predicate: &Predicate) -> bool {
    let FieldKind::Predicate { name, reverse, langs } = kind else { return false };
    *name == predicate.name
        && *reverse == predicate.reverse
        && (*reverse || *langs == languages(predicate))
}
