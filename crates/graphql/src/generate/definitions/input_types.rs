//! The inputs of mutations, references to nodes, orders, and the enums of field names that go with
//! them.

use crate::generate::definitions::facts::{
    id_of, is_orderable, is_settable, is_testable, unique_of,
};
use crate::generate::layout::tree::{Definition, Entry, Word, lower_first, one, required};
use crate::model::{Field, Kind, Model, TypeDef, TypeRef};

/// Makes `AddTInput`.
pub(in crate::generate) fn add_input(model: &Model, def: &TypeDef) -> Definition {
    let fields = def.fields.iter().filter(|field| is_settable(model, field)).map(|field| {
        let mut entry = input_entry(field, input_type(model, field));
        // A field with a default need not be given.
        if field.default_add.is_some() {
            entry.ty = entry.ty.map(|ty| ty.nullable());
        }
        entry
    });
    let secret =
        def.secret.as_ref().map(|secret| Entry::new(&secret.field, required(one("String"))));
    Definition::new(Word::Input, format!("Add{}Input", def.name)).with(fields).with(secret)
}

/// Makes `TPatch`, which has all fields that an update may set or remove.
pub(in crate::generate) fn patch(model: &Model, def: &TypeDef) -> Definition {
    let settable = def.fields.iter().filter(|field| !field.is_id() && is_settable(model, field));
    let fields = settable.map(|field| input_entry(field, input_type(model, field).nullable()));
    Definition::new(Word::Input, format!("{}Patch", def.name)).with(fields).with(secret_entry(def))
}

/// Makes `UpdateTInput`.
pub(in crate::generate) fn update_input(def: &TypeDef) -> Definition {
    let filter = Entry::new("filter", required(one(format!("{}Filter", def.name))));
    let parts = ["set", "remove"].map(|part| Entry::new(part, one(format!("{}Patch", def.name))));
    Definition::new(Word::Input, format!("Update{}Input", def.name)).with([filter]).with(parts)
}

/// Makes `TRef`, which names an existing node, or, for an object type, makes a new one.
pub(in crate::generate) fn reference(model: &Model, def: &TypeDef) -> Definition {
    let mut definition = Definition::new(Word::Input, format!("{}Ref", def.name));
    let id = id_of(def);
    definition.fields.extend(id.map(|id| Entry::new(&id.name, one("ID"))));
    if def.kind == Kind::Interface {
        let first = unique_of(def).next();
        let first = first.map(|field| input_entry(field, field.ty.nullable()));
        definition.fields.extend(first);
    } else {
        let settable =
            def.fields.iter().filter(|field| !field.is_id() && is_settable(model, field));
        let fields = settable.map(|field| input_entry(field, input_type(model, field).nullable()));
        definition = definition.with(fields).with(secret_entry(def));
    }
    // All fields are there by now.
    require_only_key(def, &mut definition);
    definition
}

/// Makes the only field of a reference required when it is a key: a node can be named by nothing
/// else.
fn require_only_key(def: &TypeDef, definition: &mut Definition) {
    if let [only] = &mut definition.fields[..] {
        let key = id_of(def).into_iter().chain(unique_of(def)).any(|key| key.name == only.name);
        if key {
            only.ty = only.ty.take().map(required);
        }
    }
}

/// Makes the reference to a union: a key for each of its members.
pub(in crate::generate) fn union_reference(def: &TypeDef) -> Definition {
    let members = def.members.iter();
    let members = members.map(|member| {
        Entry::new(format!("{}Ref", lower_first(member)), one(format!("{member}Ref")))
    });
    Definition::new(Word::Input, format!("{}Ref", def.name)).with(members)
}

/// Makes the enum of the names of a union's members.
pub(in crate::generate) fn union_type(def: &TypeDef) -> Definition {
    Definition::new(Word::Enum, format!("{}Type", def.name))
        .with(def.members.iter().map(Entry::value))
}

/// Makes `TOrder`.
pub(in crate::generate) fn order(def: &TypeDef) -> Definition {
    let by = format!("{}Orderable", def.name);
    let name = format!("{}Order", def.name);
    let fields = ["asc", "desc"].map(|order| Entry::new(order, one(&by)));
    let then = Entry::new("then", one(&name));
    Definition::new(Word::Input, name).with(fields).with([then])
}

/// Makes `TOrderable`, the enum of the fields that nodes can be ordered by.
pub(in crate::generate) fn orderable(def: &TypeDef) -> Definition {
    field_names(def, "Orderable", is_orderable)
}

/// Makes `THasFilter`, the enum of the fields whose presence can be requested.
pub(in crate::generate) fn has_filter(def: &TypeDef) -> Definition {
    let mut definition = field_names(def, "HasFilter", is_testable);
    if def.fields.iter().any(|field| field.embedding) {
        definition.fields.push(Entry::value("vector_distance"));
    }
    definition
}

/// Makes `TEmbedding`, the enum of the fields that are vectors.
pub(in crate::generate) fn embedding(def: &TypeDef) -> Definition {
    field_names(def, "Embedding", |field| field.embedding)
}

fn field_names(def: &TypeDef, suffix: &str, choose: fn(&Field) -> bool) -> Definition {
    let chosen = def.fields.iter().filter(|field| choose(field));
    Definition::new(Word::Enum, format!("{}{suffix}", def.name))
        .with(chosen.map(|field| Entry::value(&field.name)))
}

/// Makes the optional password of a type, if it has one.
fn secret_entry(def: &TypeDef) -> Option<Entry> {
    def.secret.as_ref().map(|secret| Entry::new(&secret.field, one("String")))
}

fn input_entry(field: &Field, ty: TypeRef) -> Entry {
    let mut entry = Entry::new(&field.name, ty);
    entry.description.clone_from(&field.description);
    entry
}

/// Returns the type of a field in inputs, where objects become references.
fn input_type(model: &Model, field: &Field) -> TypeRef {
    let name = field.ty.name();
    let built = matches!(name, "Point" | "Polygon" | "MultiPolygon");
    let declared = model
        .get(name)
        .is_some_and(|def| matches!(def.kind, Kind::Object | Kind::Interface | Kind::Union));
    if built || declared { field.ty.renamed(&format!("{name}Ref")) } else { field.ty.clone() }
}
