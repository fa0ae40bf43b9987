//! Reads input objects: their entries in order, and the objects below a field.

use apollo_compiler::Name;
use hexgraph_base::types::stack;

use crate::model::{Field, Kind, Model, TypeDef};
use crate::mutate::MutationFault;
use crate::request::Value;

/// The entries of an input object.
pub(super) type Entries = [(Name, Value)];

/// Returns the entries of an object; none of any other value.
pub(super) fn entries(value: &Value) -> &Entries {
    match value {
        Value::Object(entries) => entries,
        _ => &[],
    }
}

/// Returns the value of a key, unless it is absent or `null`.
pub(super) fn given<'v>(entries: &'v Entries, key: &str) -> Option<&'v Value> {
    let (_, value) = entries.iter().find(|(name, _)| name == key)?;
    if *value == Value::Null { None } else { Some(value) }
}

/// Returns true if a key is there, even with `null`.
pub(super) fn mentions(entries: &Entries, key: &str) -> bool {
    entries.iter().any(|(name, _)| name == key)
}

/// Returns the entries ordered by the bytes of their keys. Dgraph goes through them in this
/// order, so its faults come in it.
pub(super) fn ordered(entries: &Entries) -> Vec<&(Name, Value)> {
    let mut ordered: Vec<&(Name, Value)> = entries.iter().collect();
    ordered.sort_by(|(one, _), (other, _)| one.as_str().cmp(other.as_str()));
    ordered
}

/// Returns true for equal values. The order of keys does not matter, that of items does. Costs
/// O(keys²) for each object. It unwinds with an error at the end of the stack, as
/// [`stack::require`] does.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    stack::require();
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => same_entries(one, other),
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        _ => one == other,
    }
}

/// Returns true for equal objects. The order of keys does not matter.
pub(super) fn same_entries(one: &Entries, other: &Entries) -> bool {
    one.len() == other.len()
        && one.iter().all(|(key, value)| {
            let result = other.iter().find(|(name, _)| name == key);
            result.is_some_and(|(_, other)| same(value, other))
        })
}

/// The kind of a field's values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape<'a> {
    /// Scalars and values of enums.
    Scalar,
    /// Points, polygons or multi polygons.
    Geo,
    /// Nodes of an object type or of an interface.
    Object(&'a TypeDef),
    /// Nodes of the members of a union.
    Union(&'a TypeDef),
}

impl<'a> Shape<'a> {
    /// Returns the kind of a field's values.
    pub(super) fn of(model: &'a Model, field: &Field) -> Shape<'a> {
        match model.get(field.ty.name()) {
            Some(def) if def.kind == Kind::Union => Shape::Union(def),
            Some(def) if def.is_stored() => Shape::Object(def),
            Some(_) => Shape::Scalar,
            None => match field.ty.name() {
                "Point" | "Polygon" | "MultiPolygon" => Shape::Geo,
                _ => Shape::Scalar,
            },
        }
    }
}

/// An input object below a field, and the type whose node it creates or names.
pub(super) type Child<'a> = (&'a TypeDef, &'a Entries);

/// Returns the input objects of a field that points to nodes, in their order, each with its type or
/// a fault; none for other fields. Nulls are left out, and a single object represents a list of
/// one. `owner` is the type that declares the field, for the fault.
pub(super) fn children<'a>(
    model: &'a Model,
    owner: &TypeDef,
    field: &'a Field,
    value: &'a Value,
) -> Vec<Result<Child<'a>, MutationFault>> {
    let one = std::slice::from_ref(value);
    let (values, is_list) = match value {
        Value::List(values) => (&values[..], true),
        _ => (one, false),
    };
    // The index of a fault counts nulls too, so they are left out after counting.
    let objects = values.iter().enumerate().filter(|(_, value)| **value != Value::Null);
    match Shape::of(model, field) {
        Shape::Object(def) => objects.map(|(_, value)| Ok((def, entries(value)))).collect(),
        Shape::Union(union) => {
            let position = |index| if is_list { Some(index) } else { None };
            let child = |(index, value)| {
                member(model, union, entries(value)).ok_or_else(|| {
                    MutationFault::new(wrong_member(owner, field, position(index), entries(value)))
                })
            };
            objects.map(child).collect()
        }
        Shape::Scalar | Shape::Geo => Vec::new(),
    }
}

/// Returns the member of a union that an input object names by a key such as `filmRef`, with the
/// object below; `None` unless it names exactly one.
fn member<'a>(model: &'a Model, union: &'a TypeDef, object: &'a Entries) -> Option<Child<'a>> {
    let [(key, value)] = object else { return None };
    let key = key.strip_suffix("Ref")?;
    // Keys begin in lower case and types in any, so the first letter is compared without its case.
    let is_named = |member: &&String| {
        let mut letters = member.chars();
        let first = letters.next().map(|letter| letter.to_ascii_lowercase());
        key.chars().next() == first && key.chars().skip(1).eq(letters)
    };
    let member = union.members.iter().find(is_named)?;
    match value {
        Value::Object(entries) => Some((model.get(member)?, entries)),
        _ => None,
    }
}

/// Words the fault of an object that does not name exactly one member of a union.
fn wrong_member(owner: &TypeDef, field: &Field, index: Option<usize>, object: &Entries) -> String {
    let count = object.iter().filter(|(_, value)| *value != Value::Null).count();
    let position = index.map_or_else(String::new, |index| format!(" index `{index}`"));
    format!(
        "value for field `{}` in type `{}`{position} must have exactly one child, found {count} children",
        field.name, owner.name
    )
}

/// Returns the field at the other end of a link, with its type; `None` for a field without
/// `@hasInverse`.
pub(super) fn inverse_of<'a>(model: &'a Model, field: &Field) -> Option<(&'a TypeDef, &'a Field)> {
    let inverse = field.inverse.as_ref()?;
    let def = model.get(&inverse.type_name)?;
    Some((def, def.field(&inverse.field)?))
}

/// Returns the name of the field of a child that its parent fills in: the other end of the link,
/// where that points to one node. What the child says of it is ignored. A list at the other end
/// gets the parent in addition to what the child says, so it is `None`.
pub(super) fn filled_by_parent<'a>(model: &'a Model, link: &Field) -> Option<&'a str> {
    let (_, field) = inverse_of(model, link)?;
    if field.ty.is_list() { None } else { Some(&field.name) }
}
