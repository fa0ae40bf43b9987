//! Lowers `@cascade`. It is handed down from field to field until another one takes its place.

use crate::lower::target::languages;
use crate::model::TypeDef;
use crate::request;
use hexgraph_base::plan::Cascade;

/// Returns the predicates that an object must have by `@cascade`; `None` without `@cascade`.
///
/// Only fields of the object's types count. Where these have none of the fields that `@cascade` names, nothing is asked of the object itself.
pub(super) fn cascade(types: &[&TypeDef], inherited: Option<&request::Cascade>) -> Option<Cascade> {
    let cascade = inherited?;
    if cascade.fields.is_empty() {
        return Some(Cascade::All);
    }
    let mut names: Vec<String> = Vec::new();
    for def in types {
        let fields = cascade.fields.iter().filter_map(|name| def.field(name));
        let predicates = fields.filter_map(|field| field.predicate.as_ref());
        names.extend(predicates.map(|predicate| match predicate.reverse {
            true => format!("~{}", predicate.name),
            // Another field may be another language of the predicate.
            false => format!("{}@{}", predicate.name, languages(predicate).join(":")),
        }));
    }
    names.sort_unstable();
    names.dedup();
    Some(Cascade::Fields(names))
}
