//! Values that a changed type cannot represent: they retain the type that they were stored with,
//! and reading them is an error.

use crate::graph::change::altering::definitions::Definitions;
use crate::graph::version::graph_version::Version;
use crate::graph::version::predicate::Predicate;
use hexgraph_base::schema::SchemaItem;
use hexgraph_base::types::{Value, ValueRef, ValueType, shown};

/// The most values reported of a predicate.
const REPORTED_MAX: usize = 3;

/// Returns, for each predicate whose type definitions change, how many of its values have no
/// equivalent in the new type, and the first of them by uid. O(values of these predicates); nothing
/// is read for types that can represent every value, such as string.
pub(super) fn unread(version: &Version, definitions: &Definitions) -> Vec<SchemaItem> {
    let reported = definitions.predicates.iter().filter_map(|new| {
        let stored = version.predicate(&new.name)?;
        let takes_all = new.value_type.is_text();
        // A password is never shown, and to hash a text as one takes long.
        let is_password = [stored.def.value_type, new.value_type].contains(&ValueType::Password);
        let is_same = stored.def.value_type == new.value_type;
        if takes_all || is_password || is_same || stored.is_edges() {
            return None;
        }
        let what = of_predicate(version, stored, new.value_type)?;
        Some(SchemaItem { of: new.name.clone(), what })
    });
    reported.collect()
}

fn of_predicate(version: &Version, stored: &Predicate, expected: ValueType) -> Option<String> {
    let (mut count, mut all, mut first) = (0_u64, 0_u64, Vec::new());
    // A type may change more than once, so it is the values that know which one they have.
    let mut old = stored.def.value_type;
    for part in stored.langs() {
        for node in part.subjects().iter() {
            for value in part.values(node).iter() {
                all += 1;
                if value.value_type() == expected || value.convert(expected).is_ok() {
                    continue;
                }
                if count == 0 {
                    old = value.value_type();
                }
                count += 1;
                if first.len() < REPORTED_MAX {
                    first.push(format!("{} of {}", text_of(value), version.nodes.uid(node)));
                }
            }
        }
    }
    if count == 0 {
        return None;
    }
    let dots = if first.len() < count as usize { ", ..." } else { "" };
    Some(format!(
        "{count} of {all} values can't be read as {}: {}{dots}; asking for them is an error until they are set anew, or `{}` is {} again",
        expected.name(),
        first.join(", "),
        stored.def.name,
        old.name(),
    ))
}

fn text_of(value: ValueRef<'_>) -> String {
    match value.convert(ValueType::String) {
        Ok(Value::String(text)) => shown(&text),
        _ => format!("a {}", value.value_type().name()),
    }
}
