//! Finds the nodes that the inputs of a mutation name, by an ID or by values of `@id` fields.
//!
//! Objects of one request that name the same node are one *entity*. One of them may define it, and
//! the others refer to it: an object with nothing but the value is a reference. Two objects that
//! define an entity differently, or that both add it, are a fault. The walk takes objects in the
//! order of the input and their fields by name, so that faults come in the order of Dgraph.

use hexgraph_base::types::stack;
use std::borrow::Cow;
use std::collections::HashMap;

use crate::model::{Field, Model, TypeDef};
use crate::mutate::MutationFault;
use crate::mutate::inputs::{
    Entries, children, filled_by_parent, given, inverse_of, ordered, same_entries,
};
use crate::mutate::lookups::Lookups;
use crate::request::Value;
use hexgraph_base::types::Uid;

/// A node that objects of the request name by values of its `@id` fields.
#[derive(Debug)]
pub(super) struct Entity<'a> {
    /// The type.
    pub def: &'a TypeDef,
    /// The object that defines it; before one was seen, the first that refers to it.
    pub object: &'a Entries,
    /// The values, in the order in which they were seen.
    pub keys: Vec<Key<'a>>,
    /// True if an object of the input itself, and not one below a field, names it.
    is_root: bool,
}

/// A value of an `@id` field.
#[derive(Debug)]
pub(super) struct Key<'a> {
    /// The field.
    pub field: &'a Field,
    /// The value as text.
    pub text: Cow<'a, str>,
    /// The number of the look-up of nodes of the type with this value.
    pub lookup: usize,
    /// The interface of `@id(interface: true)`, and the number of the look-up of its nodes.
    pub elsewhere: Option<(&'a TypeDef, usize)>,
}

/// All nodes that the inputs of a mutation name.
#[derive(Debug)]
pub(super) struct Names<'a> {
    model: &'a Model,
    /// What has to be looked up.
    pub lookups: Lookups<'a>,
    /// The entities, in the order in which they were seen.
    pub entities: Vec<Entity<'a>>,
    /// The numbers of the entities that have a value. Entities of several types may: they inherit
    /// the field from one interface.
    by_key: HashMap<KeyName<'a>, Vec<usize>>,
    /// The faults so far.
    pub faults: Vec<MutationFault>,
}

/// The type that declares the field, the field, the value.
type KeyName<'a> = (&'a str, &'a str, Cow<'a, str>);

/// Where an object stands.
#[derive(Debug, Clone, Copy)]
pub(super) enum ObjectPosition<'a> {
    /// It is an object of the input itself.
    Root,
    /// It is below this field.
    Below(&'a Field),
}

impl<'a> Names<'a> {
    /// Starts without names.
    pub(super) fn new(model: &'a Model) -> Names<'a> {
        Names {
            model,
            lookups: Lookups::default(),
            entities: Vec::new(),
            by_key: HashMap::new(),
            faults: Vec::new(),
        }
    }

    /// Returns the schema.
    pub(super) fn model(&self) -> &'a Model {
        self.model
    }

    /// Adds the names in an object and below it.
    pub(super) fn add(
        &mut self,
        def: &'a TypeDef,
        position: ObjectPosition<'a>,
        object: &'a Entries,
    ) {
        stack::require();
        if self.add_id(def, object) {
            return;
        }
        match self.entity_of_keys(def, position, object) {
            Ok(true) => self.add_children(def, position, object),
            Ok(false) => {}
            Err(fault) => self.faults.push(fault),
        }
    }

    /// Adds the ID that an object gives, and returns true; returns false when it gives none.
    fn add_id(&mut self, def: &'a TypeDef, object: &'a Entries) -> bool {
        let Some(id) = id_given(def, object) else { return false };
        match Uid::parse(id) {
            // No node has the number 0. It is not looked up, so the object points to no node, and
            // that is reported by the look-up.
            Some(Uid(0)) => {}
            Some(uid) => self.lookups.id(def, uid.0),
            None => {
                let message = format!("ID argument ({id}) was not able to be parsed");
                self.faults.push(MutationFault::new(message));
            }
        }
        true
    }

    /// Adds the names below an object.
    pub(super) fn add_children(
        &mut self,
        def: &'a TypeDef,
        position: ObjectPosition<'a>,
        object: &'a Entries,
    ) {
        let filled = filled_in(self.model, position);
        for (name, value) in ordered(object) {
            let Some(field) = def.field(name) else { continue };
            if filled == Some(name.as_str()) || *value == Value::Null {
                continue;
            }
            for child in children(self.model, def, field, value) {
                match child {
                    Ok((child, object)) => self.add(child, ObjectPosition::Below(field), object),
                    Err(fault) => self.faults.push(fault),
                }
            }
        }
    }

    /// Notes the entity that an object names, if it names one. Returns false when the object only
    /// refers to one that was seen before, so that nothing below it matters.
    ///
    /// # Errors
    ///
    /// When the object and one before it define the entity differently, or an `@id` value is empty.
    fn entity_of_keys(
        &mut self,
        def: &'a TypeDef,
        position: ObjectPosition<'a>,
        object: &'a Entries,
    ) -> Result<bool, MutationFault> {
        let keys = keys_given(def, object)?;
        if keys.is_empty() {
            return Ok(true);
        }
        let mut existing = None;
        for (field, text) in &keys {
            // Entities of other types may have the value as well, so the one of this type is
            // searched among them.
            let name = name_of(def, field, text.clone());
            let Some(entity) = self.find(def, object, &name)? else { continue };
            // Two of its values may name two entities, which can't be one node.
            if self.is_duplicate(entity, position, object)
                || existing.is_some_and(|one| one != entity)
            {
                return Err(duplicate(text));
            }
            existing = Some(entity);
        }
        let (entity, is_new) = match existing {
            Some(entity) => (entity, false),
            None => (self.new_entity(def, position, object), true),
        };
        for (field, text) in keys {
            self.add_key(entity, field, text);
        }
        if is_new {
            return Ok(true);
        }
        // The first object may have been a reference; this one defines the entity.
        let entity = &mut self.entities[entity];
        if entity.object.len() == 1 && 1 < object.len() {
            entity.object = object;
            return Ok(true);
        }
        Ok(false)
    }

    /// Adds the names in an object that only refers to a node.
    pub(super) fn add_reference(&mut self, def: &'a TypeDef, object: &'a Entries) {
        if self.add_id(def, object) {
            return;
        }
        match keys_given(def, object) {
            Ok(keys) if keys.is_empty() => {}
            Ok(keys) => {
                let existing = self.entity(def, object);
                let entity =
                    existing.unwrap_or_else(|| self.new_entity(def, ObjectPosition::Root, object));
                for (field, text) in keys {
                    self.add_key(entity, field, text);
                }
            }
            Err(fault) => self.faults.push(fault),
        }
    }

    fn new_entity(
        &mut self,
        def: &'a TypeDef,
        position: ObjectPosition<'a>,
        object: &'a Entries,
    ) -> usize {
        let is_root = matches!(position, ObjectPosition::Root);
        self.entities.push(Entity { def, object, keys: Vec::new(), is_root });
        self.entities.len() - 1
    }

    /// Adds a value by which an entity is named, with the look-ups for it.
    fn add_key(&mut self, number: usize, field: &'a Field, text: Cow<'a, str>) {
        let def = self.entities[number].def;
        if self.entities[number].keys.iter().any(|key| key.field.name == field.name) {
            return;
        }
        let lookup = self.lookups.value(def, field, &text);
        let elsewhere = match (&field.unique, &field.inherited_from) {
            (Some(unique), Some(interface)) if unique.interface => self.model.get(interface),
            _ => None,
        };
        // The interface itself needs no second look-up.
        let elsewhere = elsewhere.filter(|interface| interface.name != def.name);
        let elsewhere =
            elsewhere.map(|interface| (interface, self.lookups.value(interface, field, &text)));
        self.by_key.entry(name_of(def, field, text.clone())).or_default().push(number);
        self.entities[number].keys.push(Key { field, text, lookup, elsewhere });
    }

    /// Returns the number of the entity that was seen with a value before.
    ///
    /// # Errors
    ///
    /// When a node of another type that inherits the field is defined with it.
    fn find(
        &self,
        def: &TypeDef,
        object: &Entries,
        name: &KeyName<'a>,
    ) -> Result<Option<usize>, MutationFault> {
        stack::require();
        let existing = self.by_key.get(name).map_or(&[][..], Vec::as_slice);
        let of_type = |number: &&usize| self.entities[**number].def.name == def.name;
        if let Some(number) = existing.iter().find(of_type) {
            return Ok(Some(*number));
        }
        let is_defined = |number: &usize| 1 < self.entities[*number].object.len();
        match 1 < object.len() && existing.iter().any(is_defined) {
            true => Err(duplicate(&name.2)),
            false => Ok(None),
        }
    }

    /// Returns the number of the entity that an object names, once all names are resolved.
    pub(super) fn entity(&self, def: &'a TypeDef, object: &'a Entries) -> Option<usize> {
        let keys = keys_given(def, object).ok()?;
        keys.into_iter().find_map(|(field, text)| {
            let existing = self.by_key.get(&name_of(def, field, text))?;
            existing.iter().copied().find(|number| self.entities[*number].def.name == def.name)
        })
    }

    /// Returns the numbers of the entities of other types that have a value of an entity, by a
    /// field that they inherit from one interface.
    pub(super) fn others(&self, number: usize, key: &Key<'a>) -> impl Iterator<Item = usize> {
        let name = name_of(self.entities[number].def, key.field, key.text.clone());
        let existing = self.by_key.get(&name).map_or(&[][..], Vec::as_slice);
        existing.iter().copied().filter(move |other| *other != number)
    }

    /// Returns true if an object and an entity that it names exclude each other.
    fn is_duplicate(&self, number: usize, position: ObjectPosition<'a>, object: &Entries) -> bool {
        let entity = &self.entities[number];
        let is_used = match position {
            ObjectPosition::Root => entity.is_root,
            // Only one parent can be at the other end.
            ObjectPosition::Below(field) => {
                inverse_of(self.model, field).is_some_and(|(_, inverse)| !inverse.ty.is_list())
            }
        };
        let both_define = 1 < entity.object.len() && 1 < object.len();
        is_used || both_define && !same_entries(entity.object, object)
    }
}

/// Returns the name of the field that the parent of an object fills in.
pub(super) fn filled_in<'a>(model: &'a Model, position: ObjectPosition<'a>) -> Option<&'a str> {
    match position {
        ObjectPosition::Root => None,
        ObjectPosition::Below(link) => filled_by_parent(model, link),
    }
}

/// Returns the ID that an object gives.
pub(super) fn id_given<'a>(def: &TypeDef, object: &'a Entries) -> Option<&'a str> {
    let field = def.id_field().filter(|field| field.predicate.is_none())?;
    given(object, &field.name)?.as_str()
}

/// Returns the fields whose values name a node: those with `@id`, and the ID of an entity that
/// another service declares.
pub(super) fn key_fields(def: &TypeDef) -> impl Iterator<Item = &Field> {
    let is_key = |field: &&Field| {
        field.unique.is_some()
            || field.is_id() && !field.stored_elsewhere && field.predicate.is_some()
    };
    def.fields.iter().filter(is_key)
}

/// Returns the values of `@id` fields that an object gives, ordered by the names of the fields.
///
/// # Errors
///
/// When a value is empty.
fn keys_given<'a>(
    def: &'a TypeDef,
    object: &'a Entries,
) -> Result<Vec<(&'a Field, Cow<'a, str>)>, MutationFault> {
    let mut keys = Vec::new();
    for field in key_fields(def) {
        let Some(text) = given(object, &field.name).and_then(text_of) else { continue };
        if text.is_empty() {
            let (name, field) = (&def.name, &field.name);
            let message = format!("encountered an empty value for @id field `{name}.{field}`");
            return Err(MutationFault::new(message));
        }
        keys.push((field, text));
    }
    keys.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name));
    Ok(keys)
}

/// What is reported of a value that two objects give to what would be two nodes.
fn duplicate(text: &str) -> MutationFault {
    MutationFault::new(format!("duplicate XID found: {text}"))
}

/// The text of a scalar, by which nodes are looked up; `None` for other values.
fn text_of(value: &Value) -> Option<Cow<'_, str>> {
    Some(match value {
        Value::String(text) => Cow::Borrowed(&**text),
        Value::Enum(name) => Cow::Borrowed(name.as_str()),
        Value::Int(number) => Cow::Owned(number.to_string()),
        Value::Float(number) => Cow::Owned(number.to_string()),
        Value::Boolean(value) => Cow::Owned(value.to_string()),
        Value::Null | Value::List(_) | Value::Object(_) => return None,
    })
}

/// Makes the key of a value in `by_key`: values of an inherited field belong to the interface.
fn name_of<'a>(def: &'a TypeDef, field: &'a Field, text: Cow<'a, str>) -> KeyName<'a> {
    (field.inherited_from.as_deref().unwrap_or(&def.name), &field.name, text)
}
