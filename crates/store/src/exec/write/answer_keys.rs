//! The keys that objects of a block may have, in the order of the query's text.

use crate::exec::control::tree::{FieldData, FieldResult, Level};
use hexgraph_base::answer::Key;
use hexgraph_base::plan::FieldKind;
use hexgraph_base::types::stack;

/// The keys of a level's objects; `flat` where nested ones are multiplied into them.
pub(crate) fn of_level(level: &Level, flat: bool) -> Vec<Key> {
    stack::require();
    let mut keys = Vec::with_capacity(level.fields.len());
    for result in &level.fields {
        if let FieldData::Edges(edges) = &result.data
            && flat
        {
            facets(result, &mut keys);
            keys.extend(of_level(&edges.level, true));
        } else {
            field(result, flat, &mut keys);
        }
    }
    keys
}

/// The keys of a field that is not multiplied into its object.
fn field(result: &FieldResult, flat: bool, keys: &mut Vec<Key>) {
    let field = &result.field;
    let is_shown = !flat || field.alias.is_some();
    let own = field.key.clone();
    match &field.kind {
        FieldKind::Predicate { langs, .. } if langs.iter().any(|lang| lang == "*") => {
            let name = own.trim_end_matches("@*").to_owned();
            facets_under(&name, result, keys);
            keys.push(Key::Languages(name));
        }
        FieldKind::Predicate { .. } => {
            if matches!(result.data, FieldData::Values(_)) {
                facets(result, keys);
            }
            if is_shown {
                keys.push(Key::Always(own));
            }
        }
        // Shown without an alias too, where nothing is multiplied or the uid comes first.
        FieldKind::Uid | FieldKind::CheckPassword { .. } if !is_shown => {
            keys.push(Key::Perhaps(own));
        }
        FieldKind::Uid
        | FieldKind::Count { .. }
        | FieldKind::CountUid
        | FieldKind::Val(_)
        | FieldKind::AggregateVar(..)
        | FieldKind::AggregatePredicate { .. }
        | FieldKind::Math(_)
        | FieldKind::Expand(_)
        | FieldKind::CheckPassword { .. } => keys.extend(is_shown.then_some(Key::Always(own))),
    }
}

/// The keys of a field's facets: those that the text names, or whatever there are.
fn facets(result: &FieldResult, keys: &mut Vec<Key>) {
    facets_under(&result.field.key, result, keys);
}

fn facets_under(own: &str, result: &FieldResult, keys: &mut Vec<Key>) {
    let Some(facets) = &result.field.facets else { return };
    for item in &facets.items {
        let key = item.alias.clone();
        let key = key.unwrap_or_else(|| format!("{own}|{}", item.facet));
        keys.push(Key::Perhaps(key));
    }
    keys.push(Key::Facets(own.to_owned()));
}
