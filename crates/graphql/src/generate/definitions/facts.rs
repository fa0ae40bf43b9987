//! Properties of fields and types that decide what is generated, and the form that is generated.
//!
//! In a federation of services a type may be `extended`: another service declares it, and this one
//! adds fields. A field of it is `stored_elsewhere` when the other service has its values, so that
//! none are stored here.

use crate::generate::layout::tree::{ArgumentEntry, one};
use crate::model::{Field, Kind, Model, TypeDef};

/// The reader that an API is generated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Clients: with the argument `after`, which Dgraph lacks.
    Full,
    /// Tests: exactly what Dgraph generates.
    #[cfg_attr(not(test), allow(dead_code))]
    Plain,
    /// The gateway of a federation: without the directives that say how values are computed.
    Service,
}

impl Form {
    /// Returns the argument of paging by cursor, in the form that has it. No other position knows
    /// which one that is.
    pub(in crate::generate) fn after(self) -> Option<ArgumentEntry> {
        (self == Form::Full).then(|| ArgumentEntry::new("after", one("ID")))
    }

    /// Returns true if the type has operations, and its fields have arguments. For a gateway, a
    /// type that another service declares has neither.
    pub(in crate::generate) fn operates_on(self, def: &TypeDef) -> bool {
        self != Form::Service || !def.extended
    }
}

/// Returns the field of the type `ID`, unless it belongs to another service of a federation.
pub(in crate::generate) fn id_of(def: &TypeDef) -> Option<&Field> {
    def.fields.iter().find(|field| field.is_id() && !field.stored_elsewhere)
}

/// Returns the `@id` fields, without those of another service of a federation.
pub(in crate::generate) fn unique_of(def: &TypeDef) -> impl Iterator<Item = &Field> {
    def.unique_fields().filter(|field| !field.stored_elsewhere)
}

/// Returns true when a node of the type can be named by an ID or an `@id` field, which `getT` and
/// references need.
pub(in crate::generate) fn has_key(def: &TypeDef) -> bool {
    id_of(def).is_some() || unique_of(def).next().is_some()
}

/// Returns the object type or interface that a field points to, when nodes of it are stored.
pub(in crate::generate) fn stored_target<'m>(
    model: &'m Model,
    field: &Field,
) -> Option<&'m TypeDef> {
    model.get(field.ty.name()).filter(|def| def.is_stored())
}

/// Returns true if mutations can set the field. They can set the ID of an entity that another
/// service declares.
pub(crate) fn is_settable(model: &Model, field: &Field) -> bool {
    // The store assigns the IDs of its own nodes, which are no values of a predicate. That of an
    // extended type is one.
    let own_id = field.is_id() && field.predicate.is_none();
    if own_id || field.stored_elsewhere || field.is_custom() || field.is_reverse() {
        return false;
    }
    if field.predicate.as_ref().is_some_and(|predicate| !predicate.language.is_writable()) {
        return false;
    }
    let target = model.get(field.ty.name());
    // Objects of an interface are only linked to, and here there is nothing to link by.
    !target.is_some_and(|def| def.kind == Kind::Interface && !has_key(def))
}

/// Returns true for a field that reads the first of several languages that has a value, as
/// `name@hi:en` does: it can be selected and aggregated, and not filtered or ordered by.
pub(in crate::generate) fn is_multi_language(field: &Field) -> bool {
    field.predicate.as_ref().is_some_and(|predicate| predicate.language.is_preferred())
}

/// Returns true if aggregates can compare values of the field: it has one scalar, of an ordered
/// type.
pub(in crate::generate) fn is_comparable(field: &Field) -> bool {
    if field.ty.is_list() || field.is_custom() || field.stored_elsewhere {
        return false;
    }
    match field.ty.name() {
        "Int" | "Int64" | "Float" | "String" | "DateTime" => true,
        // The key of an entity of another service is a value as any other.
        "ID" => field.predicate.is_some(),
        _ => false,
    }
}

/// Returns true if nodes can be ordered by the field.
pub(in crate::generate) fn is_orderable(field: &Field) -> bool {
    is_comparable(field) && !is_multi_language(field)
}

/// Returns true if a filter can test whether the field has a value, by `has`. Every node has an ID,
/// so that is not tested.
pub(in crate::generate) fn is_testable(field: &Field) -> bool {
    !field.is_id() && !field.is_custom() && !field.stored_elsewhere && !is_multi_language(field)
}
