//! Makes statements and links of the patches of an update, for the nodes that its filter finds.

use crate::model::{Field, TypeDef};
use crate::mutate::inputs::{Entries, Shape, children, ordered};
use crate::mutate::names::{Names, ObjectPosition};
use crate::mutate::values::{language, statement, text, value_statements};
use crate::mutate::writer::{Age, OutcomeWriter, back_of, required_key};
use crate::mutate::{MATCHED, MutationFault, Unlink};
use crate::request::Value;
use hexgraph_base::formats::{Object, Subject};

/// The nodes that the filter of the update finds.
const UPDATED: Subject<'static> = Subject::Var(MATCHED);

impl<'a> Names<'a> {
    /// Adds the names of nodes that links are removed to.
    pub(super) fn add_removed(&mut self, def: &'a TypeDef, patch: &'a Entries) {
        for (name, value) in ordered(patch) {
            let Some(field) = def.field(name) else { continue };
            // What is no object of a union is reported when the patch is executed.
            let children = children(self.model(), def, field, value);
            for (child, object) in children.into_iter().flatten() {
                self.add_reference(child, object);
            }
        }
    }
}

impl<'a> OutcomeWriter<'a> {
    /// Writes what `set` says. Values by default go with it: an update that only removes sets none,
    /// and a field that `removed` names gets none.
    pub(super) fn set(&mut self, def: &'a TypeDef, patch: &'a Entries, removed: &'a Entries) {
        if patch.is_empty() {
            return;
        }
        match self.rename(def, patch, UPDATED) {
            Ok(()) => {
                self.write(def, UPDATED, patch, ObjectPosition::Root);
                self.write_defaults(def, UPDATED, &[patch, removed], Age::Existing);
            }
            Err(fault) => self.faults.push(fault),
        }
    }

    /// Writes what `remove` says.
    pub(super) fn remove(&mut self, def: &'a TypeDef, patch: &'a Entries) {
        for (name, value) in ordered(patch) {
            if let Some(secret) = def.secret.as_ref().filter(|secret| secret.field == **name) {
                let password = value.as_str().map_or(Object::Star, text);
                self.out.deletes.push(statement(UPDATED, &secret.predicate, password));
            } else if let Some(field) = def.field(name) {
                self.remove_field(def, field, value);
            }
        }
    }

    /// Removes values or links of one field; all of them when the value is `null`.
    fn remove_field(&mut self, def: &'a TypeDef, field: &'a Field, value: &'a Value) {
        let Some(predicate) = &field.predicate else { return };
        let shape = Shape::of(self.model, field);
        let is_all = *value == Value::Null || is_list_of_null(value);
        match shape {
            Shape::Scalar | Shape::Geo if is_all => {
                let mut quad = statement(UPDATED, &predicate.name, Object::Star);
                quad.lang = language(field);
                self.out.deletes.push(quad);
            }
            Shape::Scalar | Shape::Geo => {
                let is_geo = shape == Shape::Geo;
                self.out.deletes.extend(value_statements(UPDATED, field, is_geo, value));
            }
            Shape::Object(_) | Shape::Union(_) if is_all => self.unlink(field, None),
            Shape::Object(_) | Shape::Union(_) => {
                for child in children(self.model, def, field, value) {
                    match child.and_then(|(def, object)| self.removed_node(def, object)) {
                        Ok(None) => {}
                        Ok(target) => self.unlink(field, target),
                        Err(fault) => self.faults.push(fault),
                    }
                }
            }
        }
    }

    /// Returns the node that an object of `remove` names; `None` when it does not exist, so that no
    /// link points to it either.
    fn removed_node(
        &mut self,
        def: &'a TypeDef,
        object: &'a Entries,
    ) -> Result<Option<Subject<'a>>, MutationFault> {
        // A node that does not exist has no links to remove; an object that names nothing is a
        // fault.
        let node = self.reference(def, object)?;
        if node.is_none() && self.names.entity(def, object).is_none() {
            return Err(MutationFault::new(match required_key(def) {
                Some(field) => format!("field {field} cannot be empty"),
                None => "id is not provided".to_owned(),
            }));
        }
        Ok(node.filter(|node| matches!(node, Subject::Uid(_))))
    }

    /// Removes the links of a field to a node, or all of them.
    fn unlink(&mut self, field: &'a Field, target: Option<Subject<'a>>) {
        let Some(predicate) = &field.predicate else { return };
        let back = back_of(self.model, field);
        let (predicate, is_reverse) = (&predicate.name, predicate.reverse);
        self.out.unlinks.push(Unlink { source: UPDATED, predicate, is_reverse, target, back });
    }
}

/// Returns true for a list of one `null`: coercion has made it of a `null` for the entire list.
fn is_list_of_null(value: &Value) -> bool {
    matches!(value, Value::List(values) if matches!(values[..], [Value::Null]))
}
