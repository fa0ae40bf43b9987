//! Removes what no request could use: inputs without fields, the fields of these inputs' types, and
//! the mutations that accept them.

use std::collections::{BTreeMap, HashSet};

use crate::generate::definitions::root_fields::Operation;
use crate::generate::layout::tree::{Definition, Entry};

/// Removes inputs, fields and mutations until nothing changes. Each round removes at least one
/// input, so the worst case is quadratic in the number of inputs; the number of rounds is the
/// length of the longest chain of references.
pub(super) fn prune(inputs: &mut BTreeMap<String, Definition>, mutations: &mut Vec<Operation>) {
    loop {
        let empty: HashSet<String> = inputs
            .values()
            .filter(|input| input.fields.is_empty() || is_update_of_nothing(input))
            .map(|input| input.name.clone())
            .collect();
        // What was removed may have been the last field of another input.
        if empty.is_empty() {
            return;
        }
        inputs.retain(|name, _| !empty.contains(name));
        for input in inputs.values_mut() {
            input.fields.retain(|field| !refers_to(field, &empty));
        }
        mutations.retain(|(mutation, _)| {
            !mutation.arguments.iter().any(|argument| empty.contains(argument.ty.name()))
        });
    }
}

/// Returns true if the type of a field is one of the names.
fn refers_to(field: &Entry, names: &HashSet<String>) -> bool {
    field.ty.as_ref().is_some_and(|ty| names.contains(ty.name()))
}

/// Returns true for an `UpdateTInput` that has nothing but its filter left, because its patches
/// were removed.
fn is_update_of_nothing(input: &Definition) -> bool {
    matches!(&input.fields[..], [only] if only.name == "filter") && input.name.starts_with("Update")
}
