//! Takes away what can't be used: inputs without fields, fields of such inputs, mutations that need them.

use std::collections::{BTreeMap, HashSet};

use crate::generate::operations::Operation;
use crate::generate::tree::{Definition, Entry};

/// Prunes until nothing changes. Each round takes away one input at least: O(inputs²) at worst, as long as the
/// longest chain of references in practice.
pub(super) fn prune(inputs: &mut BTreeMap<String, Definition>, mutations: &mut Vec<Operation>) {
    loop {
        let empty: HashSet<String> = inputs
            .values()
            .filter(|input| input.fields.is_empty() || is_update_of_nothing(input))
            .map(|input| input.name.clone())
            .collect();
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

fn refers_to(field: &Entry, names: &HashSet<String>) -> bool {
    field.ty.as_ref().is_some_and(|ty| names.contains(ty.name()))
}

/// An `UpdateTInput` of which the patches are gone has its filter left.
fn is_update_of_nothing(input: &Definition) -> bool {
    matches!(&input.fields[..], [only] if only.name == "filter") && input.name.starts_with("Update")
}
