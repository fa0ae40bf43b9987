//! Inputs of mutations, references, orders, and the enums that go with them.

use crate::generate::definitions::facts::{
    id_of, is_orderable, is_settable, is_testable, unique_of,
};
use crate::generate::layout::tree::{Definition, Entry, Word, lower_first, one, required};
use crate::model::{Field, Kind, Model, TypeDef, TypeRef};

/// `AddTInput`.
pub(in crate::generate) fn add_input(model: &Model, def: &TypeDef) -> Definition {
    let fields = def.fields.iter().filter(|field| is_settable(model, field)).map(|field| {
        let mut entry = input_entry(field, input_type(model, field));
        if field.default_add.is_some() {
            entry.ty = entry.ty.map(|ty| ty.nullable());
        }
        entry
    });
    let secret =
        def.secret.as_ref().map(|secret| Entry::new(&secret.field, required(one("String"))));
    Definition::new(Word::Input, format!("Add{}Input", def.name)).with(fields).with(secret)
}

/// `TPatch`.
pub(in crate::generate) fn patch(model: &Model, def: &TypeDef) -> Definition {
    let settable = def.fields.iter().filter(|field| !field.is_id() && is_settable(model, field));
    let fields = settable.map(|field| input_entry(field, input_type(model, field).nullable()));
    Definition::new(Word::Input, format!("{}Patch", def.name)).with(fields).with(secret_entry(def))
}

/// `UpdateTInput`.
pub(in crate::generate) fn update_input(def: &TypeDef) -> Definition {
    let filter = Entry::new("filter", required(one(format!("{}Filter", def.name))));
    let parts = ["set", "remove"].map(|part| Entry::new(part, one(format!("{}Patch", def.name))));
    Definition::new(Word::Input, format!("Update{}Input", def.name)).with([filter]).with(parts)
}

/// `TRef`: what names a node, and for an object type what makes one.
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
    require_only_key(def, &mut definition);
    definition
}

/// A reference that can be made in one way only has to be made in that way.
fn require_only_key(def: &TypeDef, definition: &mut Definition) {
    if let [only] = &mut definition.fields[..] {
        let key = id_of(def).into_iter().chain(unique_of(def)).any(|key| key.name == only.name);
        if key {
            only.ty = only.ty.take().map(required);
        }
    }
}

/// The reference to a union: one of its members.
pub(in crate::generate) fn union_reference(def: &TypeDef) -> Definition {
    let members = def.members.iter();
    let members = members.map(|member| {
        Entry::new(format!("{}Ref", lower_first(member)), one(format!("{member}Ref")))
    });
    Definition::new(Word::Input, format!("{}Ref", def.name)).with(members)
}

/// The names of a union's members.
pub(in crate::generate) fn union_type(def: &TypeDef) -> Definition {
    Definition::new(Word::Enum, format!("{}Type", def.name))
        .with(def.members.iter().map(Entry::value))
}

/// `TOrder`.
pub(in crate::generate) fn order(def: &TypeDef) -> Definition {
    let by = format!("{}Orderable", def.name);
    let name = format!("{}Order", def.name);
    let fields = ["asc", "desc"].map(|way| Entry::new(way, one(&by)));
    let then = Entry::new("then", one(&name));
    Definition::new(Word::Input, name).with(fields).with([then])
}

/// `TOrderable`.
pub(in crate::generate) fn orderable(def: &TypeDef) -> Definition {
    field_names(def, "Orderable", is_orderable)
}

/// `THasFilter`.
pub(in crate::generate) fn has_filter(def: &TypeDef) -> Definition {
    let mut definition = field_names(def, "HasFilter", is_testable);
    if def.fields.iter().any(|field| field.embedding) {
        definition.fields.push(Entry::value("vector_distance"));
    }
    definition
}

/// `TEmbedding`.
pub(in crate::generate) fn embedding(def: &TypeDef) -> Definition {
    field_names(def, "Embedding", |field| field.embedding)
}

fn field_names(def: &TypeDef, suffix: &str, choose: fn(&Field) -> bool) -> Definition {
    let chosen = def.fields.iter().filter(|field| choose(field));
    Definition::new(Word::Enum, format!("{}{suffix}", def.name))
        .with(chosen.map(|field| Entry::value(&field.name)))
}

fn secret_entry(def: &TypeDef) -> Option<Entry> {
    def.secret.as_ref().map(|secret| Entry::new(&secret.field, one("String")))
}

fn input_entry(field: &Field, ty: TypeRef) -> Entry {
    let mut entry = Entry::new(&field.name, ty);
    entry.description.clone_from(&field.description);
    entry
}

/// The type that the field has in inputs: objects become references.
fn input_type(model: &Model, field: &Field) -> TypeRef {
    let name = field.ty.name();
    let built = matches!(name, "Point" | "Polygon" | "MultiPolygon");
    let declared = model
        .get(name)
        .is_some_and(|def| matches!(def.kind, Kind::Object | Kind::Interface | Kind::Union));
    if built || declared { field.ty.renamed(&format!("{name}Ref")) } else { field.ty.clone() }
}
