//! Makes statements and links of the inputs of a mutation, once existing nodes are resolved.
//!
//! An object represents an existing node, for a node that another object of the request creates, or
//! for a new node. Once that is decided, what the object says is written. Requests are of bounded
//! depth, so the walk is too.

use hexgraph_base::types::stack;
use std::collections::BTreeSet;

use crate::generate::is_settable;
use crate::model::{DefaultValue, Field, Kind, Model, TypeDef};
use crate::mutate::inputs::{Entries, Shape, children, given, inverse_of, mentions, ordered};
use crate::mutate::names::{Entity, Key, Names, ObjectPosition, filled_in, id_given, key_fields};
use crate::mutate::values::{language, statement, text, value_statements};
use crate::mutate::{Back, Link, LookupResult, MutationFault, NewNode, Outcome};
use crate::request::Value;
use hexgraph_base::formats::Subject;
use hexgraph_base::types::Uid;

/// The predicate of types.
const TYPE: &str = "dgraph.type";

/// Makes the outcome of a mutation.
pub(super) struct OutcomeWriter<'a> {
    pub model: &'a Model,
    pub names: Names<'a>,
    result: LookupResult,
    /// The node of each entity of `names`, once it is decided.
    subjects: Vec<Option<Subject<'a>>>,
    /// What `$now` represents.
    now: &'a str,
    pub out: Outcome<'a>,
    pub faults: Vec<MutationFault>,
}

/// Which of the matched nodes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    All,
    /// Those that may be linked.
    Linkable,
}

/// Whether a node is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Age {
    New,
    Existing,
}

impl<'a> OutcomeWriter<'a> {
    /// Starts with what was read for the names.
    pub(super) fn new(
        model: &'a Model,
        names: Names<'a>,
        result: LookupResult,
        now: &'a str,
    ) -> OutcomeWriter<'a> {
        let subjects = vec![None; names.entities.len()];
        let (out, faults) = (Outcome::default(), Vec::new());
        OutcomeWriter { model, names, result, subjects, now, out, faults }
    }

    /// Adds the node of an object of an `add` input; with `is_upsert` changes the one that exists.
    pub(super) fn add_root(&mut self, def: &'a TypeDef, object: &'a Entries, is_upsert: bool) {
        match self.root(def, object, is_upsert) {
            Ok(subject) => self.out.roots.extend(subject),
            Err(fault) => self.faults.push(fault),
        }
    }

    /// Returns the node of an object of the input; `None` for an upsert that the rules refuse.
    fn root(
        &mut self,
        def: &'a TypeDef,
        object: &'a Entries,
        is_upsert: bool,
    ) -> Result<Option<Subject<'a>>, MutationFault> {
        let Some(entity) = self.names.entity(def, object) else {
            return Ok(Some(self.create(def, object, ObjectPosition::Root, None)));
        };
        if !is_upsert {
            self.refuse_existing(entity)?;
        }
        // An upsert of a node that the caller may not change leaves it unchanged, and reports
        // nothing.
        if let Some(uid) = self.existing(entity, Seen::All)? {
            let subject = Subject::Uid(uid);
            if !self.result.may_upsert(uid) {
                return Ok(None);
            }
            self.subjects[entity] = Some(subject);
            self.write(def, subject, object, ObjectPosition::Root);
            self.write_defaults(def, subject, &[object], Age::Existing);
            return Ok(Some(subject));
        }
        // An object before this one may have created the node, which no look-up knows.
        Ok(Some(match self.subjects[entity] {
            Some(subject) => subject,
            None => self.create(def, object, ObjectPosition::Root, Some(entity)),
        }))
    }

    /// Makes the values of the `@id` fields that an update sets name the updated node. A value that
    /// the node has already is no change.
    ///
    /// # Errors
    ///
    /// When another node has one of them.
    pub(super) fn rename(
        &mut self,
        def: &'a TypeDef,
        object: &'a Entries,
        subject: Subject<'a>,
    ) -> Result<(), MutationFault> {
        let Some(number) = self.names.entity(def, object) else { return Ok(()) };
        let entity = &self.names.entities[number];
        let changed = || entity.keys.iter().filter(|key| !self.has_already(key));
        changed().try_for_each(|key| self.refuse_used(entity, key))?;
        changed().try_for_each(|key| self.refuse_elsewhere(number, key))?;
        self.out.sets_key = true;
        self.subjects[number] = Some(subject);
        Ok(())
    }

    /// True if the one node that an update has matched has a value.
    fn has_already(&self, key: &Key<'_>) -> bool {
        self.result.updated().is_some_and(|uid| {
            let nodes = self.result.nodes(key.lookup, &key.text);
            nodes.contains(&uid)
        })
    }

    /// Refuses an entity that exists.
    fn refuse_existing(&self, number: usize) -> Result<(), MutationFault> {
        let entity = &self.names.entities[number];
        entity.keys.iter().try_for_each(|key| self.refuse_used(entity, key))
    }

    /// Refuses a value that a node of the type has.
    fn refuse_used(&self, entity: &Entity<'_>, key: &Key<'_>) -> Result<(), MutationFault> {
        if self.result.nodes(key.lookup, &key.text).is_empty() {
            return Ok(());
        }
        let (text, field, name) = (&key.text, &key.field.name, &entity.def.name);
        let message = format!("id {text} already exists for field {field} inside type {name}");
        Err(about_node(entity.def, message))
    }

    /// Refuses a value of `@id(interface: true)` that a node of another type has, or that one
    /// before it in the request is given.
    fn refuse_elsewhere(&self, number: usize, key: &Key<'_>) -> Result<(), MutationFault> {
        let Some((interface, lookup)) = key.elsewhere else { return Ok(()) };
        let entity = &self.names.entities[number];
        let (text, field, name) = (&key.text, &key.field.name, &interface.name);
        if !self.result.nodes(lookup, &key.text).is_empty() {
            let message = format!(
                "id {text} already exists for field {field} in some other implementing type of interface {name}"
            );
            return Err(about_node(entity.def, message));
        }
        let mut others = self.names.others(number, key);
        match others.find(|other| self.subjects[*other].is_some()) {
            None => Ok(()),
            Some(other) => {
                let (one, this) = (&self.names.entities[other].def.name, &entity.def.name);
                Err(MutationFault::new(format!(
                    "duplicate XID found: {text} is given to a node of type {one} and to one of type {this}, and field {field} is unique among all types of interface {name}"
                )))
            }
        }
    }

    /// Returns the node of an entity, when it exists.
    ///
    /// # Errors
    ///
    /// When its values name several nodes, or one of another type with the same interface.
    fn existing(&self, number: usize, seen: Seen) -> Result<Option<u64>, MutationFault> {
        let entity = &self.names.entities[number];
        let mut nodes = BTreeSet::new();
        for key in &entity.keys {
            let result = self.result.nodes(key.lookup, &key.text);
            let is_seen = |uid: &&u64| seen == Seen::All || self.result.may_link(**uid);
            nodes.extend(result.iter().filter(is_seen).copied());
            if result.is_empty() {
                self.refuse_elsewhere(number, key)?;
            }
        }
        if 1 < nodes.len() {
            let message = "multiple nodes found for given xid values, updation not possible";
            return Err(MutationFault::new(message));
        }
        Ok(nodes.pop_first())
    }

    /// Returns the node of an object below a field; `None` after a fault.
    fn node_below(
        &mut self,
        def: &'a TypeDef,
        link: &'a Field,
        object: &'a Entries,
    ) -> Option<Subject<'a>> {
        let node = match self.reference(def, object) {
            Ok(Some(subject)) => return Some(subject),
            // A node that may not be linked has the values: the new one can't have them, too.
            Ok(None) => self.check_new(def, link, object).and_then(|entity| {
                entity.map_or(Ok(()), |number| self.refuse_existing(number))?;
                Ok(entity)
            }),
            Err(fault) => Err(fault),
        };
        match node {
            Ok(entity) => Some(self.create(def, object, ObjectPosition::Below(link), entity)),
            Err(fault) => {
                self.faults.push(fault);
                None
            }
        }
    }

    /// Returns the node that an object refers to, when it exists or another object has created it.
    pub(super) fn reference(
        &mut self,
        def: &'a TypeDef,
        object: &'a Entries,
    ) -> Result<Option<Subject<'a>>, MutationFault> {
        if let Some(id) = id_given(def, object) {
            let uid = Uid::parse(id).map_or(0, |uid| uid.0);
            let position = self.names.lookups.ids_of(def);
            let is_there =
                |position| self.result.has_id(position, uid) && self.result.may_link(uid);
            return match position.is_some_and(is_there) {
                true => Ok(Some(Subject::Uid(uid))),
                false => Err(MutationFault::new(format!("ID \"{id}\" isn't a {}", def.name))),
            };
        }
        let Some(entity) = self.names.entity(def, object) else { return Ok(None) };
        if let Some(subject) = self.subjects[entity] {
            return Ok(Some(subject));
        }
        // Noted, so that all objects of the entity point to the same node.
        let subject = self.existing(entity, Seen::Linkable)?.map(Subject::Uid);
        self.subjects[entity] = subject;
        Ok(subject)
    }

    /// Checks that a node can be created from an object below a field, and says which entity it is.
    fn check_new(
        &self,
        def: &'a TypeDef,
        link: &'a Field,
        object: &'a Entries,
    ) -> Result<Option<usize>, MutationFault> {
        let entity = self.names.entity(def, object);
        let object = entity.map_or(object, |entity| self.names.entities[entity].object);
        if entity.is_none()
            && let Some(field) = required_key(def)
        {
            return Err(MutationFault::new(format!("field {field} cannot be empty")));
        }
        if def.kind == Kind::Interface {
            let name = &def.name;
            return Err(MutationFault::new(format!(
                "{name} is an interface, so no node of it can be created: name one that exists by its ID or `@id` value"
            )));
        }
        // The field that leads back to the parent is filled in, so it need not be given.
        let filled = inverse_of(self.model, link).map(|(_, field)| field.name.as_str());
        let is_missing = |field: &&Field| {
            is_required(self.model, field)
                && filled != Some(field.name.as_str())
                && given(object, &field.name).is_none()
        };
        match def.fields.iter().find(is_missing) {
            Some(field) => Err(MutationFault::new(format!(
                "type {} requires a value for field {}, but no value present",
                def.name, field.name
            ))),
            None => Ok(entity),
        }
    }

    /// Creates the node of an object, or of the object that defines the entity.
    fn create(
        &mut self,
        def: &'a TypeDef,
        object: &'a Entries,
        position: ObjectPosition<'a>,
        entity: Option<usize>,
    ) -> Subject<'a> {
        stack::require();
        let subject = Subject::New(self.out.new.len() as u32);
        self.out.new.push(NewNode { def });
        // Noted before what is below is written: an object there may name this node.
        if let Some(entity) = entity {
            self.subjects[entity] = Some(subject);
        }
        let object = entity.map_or(object, |entity| self.names.entities[entity].object);
        self.write(def, subject, object, position);
        self.write_defaults(def, subject, &[object], Age::New);
        subject
    }

    /// Writes what an object says of a node.
    pub(super) fn write(
        &mut self,
        def: &'a TypeDef,
        subject: Subject<'a>,
        object: &'a Entries,
        position: ObjectPosition<'a>,
    ) {
        stack::require();
        let filled = filled_in(self.model, position);
        for (name, value) in ordered(object) {
            if *value == Value::Null || filled == Some(name.as_str()) {
                continue;
            }
            if let Some(secret) = def.secret.as_ref().filter(|secret| secret.field == **name) {
                let password = text(value.as_str().unwrap_or_default());
                self.out.sets.push(statement(subject, &secret.predicate, password));
            } else if let Some(field) = def.field(name) {
                self.write_field(def, subject, field, value);
            }
        }
    }

    /// Writes the values or the links of one field.
    fn write_field(
        &mut self,
        def: &'a TypeDef,
        subject: Subject<'a>,
        field: &'a Field,
        value: &'a Value,
    ) {
        let shape = Shape::of(self.model, field);
        if let Shape::Scalar | Shape::Geo = shape {
            let is_geo = shape == Shape::Geo;
            self.out.sets.extend(value_statements(subject, field, is_geo, value));
            return;
        }
        for child in children(self.model, def, field, value) {
            let node = match child {
                Ok((child, object)) => self.node_below(child, field, object),
                Err(fault) => {
                    self.faults.push(fault);
                    None
                }
            };
            // Links are no statements yet: the targets that they replace are looked up first.
            if let (Some(target), Some(predicate)) = (node, &field.predicate) {
                self.out.links.push(Link {
                    source: subject,
                    source_type: field.inherited_from.as_deref().unwrap_or(&def.name),
                    predicate: &predicate.name,
                    is_single: !field.ty.is_list(),
                    target,
                    back: back_of(self.model, field),
                });
            }
        }
    }

    /// Gives a node the values that its fields have by default, but for those that an object
    /// mentions.
    pub(super) fn write_defaults(
        &mut self,
        def: &'a TypeDef,
        subject: Subject<'a>,
        objects: &[&Entries],
        age: Age,
    ) {
        let is_mentioned =
            |field: &&Field| objects.iter().any(|object| mentions(object, &field.name));
        for field in def.fields.iter().filter(|field| !is_mentioned(field)) {
            let default = match age {
                Age::New => &field.default_add,
                Age::Existing => &field.default_update,
            };
            let value = match default {
                Some(DefaultValue::Now) => self.now,
                Some(DefaultValue::Text(text)) => text,
                None => continue,
            };
            if let Some(predicate) = &field.predicate {
                let mut quad = statement(subject, &predicate.name, text(value));
                quad.lang = language(field);
                self.out.sets.push(quad);
            }
        }
    }

    /// The outcome.
    ///
    /// # Errors
    ///
    /// All that is wrong.
    pub(super) fn finish(self, is_guarded: bool) -> Result<Outcome<'a>, Vec<MutationFault>> {
        if !self.faults.is_empty() {
            return Err(self.faults);
        }
        let mut out = self.out;
        out.is_guarded = is_guarded;
        let mut types = Vec::with_capacity(out.new.len());
        for (number, node) in out.new.iter().enumerate() {
            let interfaces = node.def.interfaces.iter().filter_map(|name| self.model.get(name));
            for def in std::iter::once(node.def).chain(interfaces) {
                types.push(statement(Subject::New(number as u32), TYPE, text(&def.dgraph_type)));
            }
        }
        types.append(&mut out.sets);
        out.sets = types;
        Ok(out)
    }
}

/// Whether a new node has to be given a value of the field.
fn is_required(model: &Model, field: &Field) -> bool {
    field.ty.is_non_null() && field.default_add.is_none() && is_settable(model, field)
}

/// The other end of a field's links.
pub(super) fn back_of<'a>(model: &'a Model, field: &Field) -> Option<Back<'a>> {
    let (def, inverse) = inverse_of(model, field)?;
    let predicate = inverse.predicate.as_ref()?;
    let type_name = &def.name;
    Some(Back { type_name, predicate: &predicate.name, is_single: !inverse.ty.is_list() })
}

/// The first `@id` field that a node of the type can't be without.
pub(super) fn required_key(def: &TypeDef) -> Option<&str> {
    let required = key_fields(def).filter(|field| field.ty.is_non_null());
    required.map(|field| field.name.as_str()).min()
}

fn about_node(def: &TypeDef, message: String) -> MutationFault {
    MutationFault::about_node(message, def.auth.query.is_some())
}
