//! Checks that no two fields of a selection have the same key.

use hexgraph_base::plan::{Field, FieldKind};
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::sync::Arc;

/// Up to this many fields are compared in pairs; more are put into a hash set.
const COMPARED_MAX: usize = 16;

/// What must be unique among the fields of a selection: a class of fields, and the key within it.
/// Dgraph permits the same key in different classes, so the answer may have a key twice.
type Identity<'a> = (u8, Cow<'a, str>);

/// Returns the first field with the identity of a field before it.
pub(crate) fn first_duplicate(fields: &[Arc<Field>]) -> Option<&Field> {
    if fields.len() < 2 {
        return None;
    }
    let identities = fields.iter().map(|field| identity(field));
    if fields.len() > COMPARED_MAX {
        let mut seen = FxHashSet::default();
        let mut pairs = fields.iter().zip(identities);
        return pairs
            // The first field that is in the set already is the one; nothing after it is looked at.
            .find(|(_, identity)| !seen.insert(identity.clone()))
            .map(|(field, _)| field.as_ref());
    }
    let identities: Vec<Identity> = identities.collect();
    let repeats = |&index: &usize| identities[..index].contains(&identities[index]);
    (1..fields.len()).find(repeats).map(|index| fields[index].as_ref())
}

fn identity(field: &Field) -> Identity<'_> {
    let key = field.key.as_str();
    // The numbers only distinguish classes. Aliases are in one class with the names of predicates,
    // whatever they represent.
    if field.alias.is_some() {
        return (0, Cow::Borrowed(key));
    }
    match &field.kind {
        FieldKind::Predicate { .. } | FieldKind::Uid => {
            (u8::from(field.group_by.is_some()), Cow::Borrowed(key))
        }
        FieldKind::Count { langs, .. } => (2, Cow::Owned(format!("{key}@{}", langs.join(":")))),
        FieldKind::CountUid => (3, Cow::Borrowed(key)),
        FieldKind::Val(_) | FieldKind::Math(_) => (4, Cow::Borrowed(key)),
        FieldKind::AggregateVar(..) => match field.var {
            Some(var) => (5, Cow::Owned(format!("{key} {}", var.0))),
            None => (6, Cow::Borrowed(key)),
        },
        FieldKind::AggregatePredicate { langs, .. } => {
            (7, Cow::Owned(format!("{key}@{}", langs.join(":"))))
        }
        FieldKind::Expand(_) => (8, Cow::Borrowed(key)),
        FieldKind::CheckPassword { password, .. } => (9, Cow::Owned(format!("{key} {password}"))),
    }
}
