//! A mutation under way: objects become nodes or links, and links keep both of their ends.

use super::filter::parse_uid;
use super::graph::{Graph, Node};
use super::lit::Lit;
use super::naming::{Failure, Names, filled, id_given, keys_given, refused, unpack};
use super::schema::{Field, Of, Schema};
use super::words::stored;
use std::collections::HashMap;

pub struct Change<'a> {
    schema: &'a Schema,
    names: Names<'a>,
    pub after: Graph,
    /// The partners that this mutation gave to ends that lead to one node.
    partners: HashMap<(usize, String), usize>,
    /// Whether such an end got two.
    pub is_open: bool,
    /// Entities that were referred to before an object said what they are.
    pending: Vec<usize>,
}

impl<'a> Change<'a> {
    pub fn new(graph: &Graph, schema: &'a Schema, names: Names<'a>) -> Change<'a> {
        Change {
            schema,
            names,
            after: graph.clone(),
            partners: HashMap::new(),
            is_open: false,
            pending: Vec::new(),
        }
    }

    /// An object of an add: a new node, or one that an upsert finds.
    pub fn root(&mut self, kind: usize, object: &'a Lit) -> Result<usize, Failure> {
        let keys = keys_given(self.schema, kind, object)?;
        let Some(entity) = self.names.entity(kind, &keys) else {
            let node = self.blank(kind);
            self.fill(kind, node, None, object)?;
            return Ok(node);
        };
        if let Some(node) = self.names.entities[entity].there {
            self.give_defaults(kind, &[node], &[object]);
            self.write(kind, &[node], None, object)?;
            return Ok(node);
        }
        let node = self.made(entity);
        self.pending.retain(|pending| *pending != entity);
        self.fill(kind, node, None, object)?;
        Ok(node)
    }

    /// The node of an object below another.
    fn child(&mut self, kind: usize, parent: &Field, object: &'a Lit) -> Result<usize, Failure> {
        if let Some(id) = id_given(self.schema, kind, object) {
            let node = parse_uid(id).and_then(|uid| self.after.by_uid(uid));
            return node.map_or_else(|| refused("no such node"), Ok);
        }
        let keys = keys_given(self.schema, kind, object)?;
        if self.schema.kinds[kind].is_interface {
            let entity = self.names.entity(kind, &keys);
            let there = entity.and_then(|entity| self.names.entities[entity].there);
            return there.map_or_else(|| refused("interfaces can't be created"), Ok);
        }
        let Some(entity) = self.names.entity(kind, &keys) else {
            if self.schema.unique_fields(kind).iter().any(|field| field.is_required) {
                return refused("a key is missing");
            }
            let node = self.blank(kind);
            self.fill(kind, node, Some(parent), object)?;
            return Ok(node);
        };
        let existing = &self.names.entities[entity];
        if let Some(node) = existing.there {
            return Ok(node);
        }
        let is_definition = std::ptr::eq(existing.object, object);
        let is_root = existing.is_root;
        let is_new = existing.made.is_none();
        let node = self.made(entity);
        if is_definition && !is_root {
            self.pending.retain(|pending| *pending != entity);
            self.fill(kind, node, Some(parent), object)?;
        } else if is_new {
            self.pending.push(entity);
        }
        Ok(node)
    }

    /// Whether all that was referred to is there.
    pub fn finish(&mut self) -> Result<(), Failure> {
        match self.pending.is_empty() {
            true => Ok(()),
            false => Err(Failure::Undecided("never defined")),
        }
    }

    fn blank(&mut self, kind: usize) -> usize {
        self.after.nodes.push(Node { kind, ..Node::default() });
        self.after.nodes.len() - 1
    }

    fn made(&mut self, entity: usize) -> usize {
        if let Some(node) = self.names.entities[entity].made {
            return node;
        }
        let node = self.blank(self.names.entities[entity].kind);
        self.names.entities[entity].made = Some(node);
        node
    }

    /// What a new node is given.
    fn fill(
        &mut self,
        kind: usize,
        node: usize,
        parent: Option<&Field>,
        object: &'a Lit,
    ) -> Result<(), Failure> {
        let schema = self.schema;
        let exempt = parent.and_then(|parent| schema.inverse_of(parent));
        for field in schema.fields(kind) {
            let value = object.get(&field.name);
            match (&field.default_add, value) {
                (Some(default), None) => self.give(node, field, default),
                _ if value.is_none_or(|value| *value == Lit::Null)
                    && field.is_required
                    && field.default_add.is_none()
                    && schema.is_settable(field)
                    && exempt.is_none_or(|exempt| exempt.name != field.name) =>
                {
                    return refused(format!("{} is required", field.name));
                }
                _ => {}
            }
        }
        self.write(kind, &[node], filled(schema, parent), object)
    }

    /// What an update sets on nodes: nothing when it only removes, and never by default what it
    /// removes.
    pub fn set(
        &mut self,
        kind: usize,
        nodes: &[usize],
        object: &'a Lit,
        removed: &Lit,
    ) -> Result<(), Failure> {
        if object.entries().is_empty() {
            return Ok(());
        }
        self.give_defaults(kind, nodes, &[object, removed]);
        self.write(kind, nodes, None, object)
    }

    /// What fields that no object mentions have by default, when a node is updated.
    fn give_defaults(&mut self, kind: usize, nodes: &[usize], objects: &[&Lit]) {
        for field in self.schema.fields(kind) {
            let is_mentioned = objects.iter().any(|object| object.get(&field.name).is_some());
            let default = field.default_update.as_ref();
            if let Some(default) = default.filter(|_| !is_mentioned) {
                nodes.iter().for_each(|node| self.give(*node, field, default));
            }
        }
    }

    fn write(
        &mut self,
        kind: usize,
        nodes: &[usize],
        filled: Option<&str>,
        object: &'a Lit,
    ) -> Result<(), Failure> {
        let schema = self.schema;
        for (name, value) in object.entries() {
            let field = schema.field(kind, name).expect("inputs name fields");
            if field.is_id() || *value == Lit::Null || filled == Some(name.as_str()) {
                continue;
            }
            if matches!(field.of, Of::Scalar(_)) {
                nodes.iter().for_each(|node| self.give(*node, field, value));
                continue;
            }
            for item in value.items() {
                let (child, item) = unpack(schema, field.of, item)?;
                let target = self.child(child, field, item)?;
                nodes.iter().for_each(|node| self.link(*node, field, target));
            }
        }
        Ok(())
    }

    /// A value: it takes the place of another, or is put to those of a list.
    fn give(&mut self, node: usize, field: &Field, value: &Lit) {
        let scalar = field.scalar().expect("values are scalars");
        let values = self.after.nodes[node].values.entry(field.predicate.clone()).or_default();
        if !field.is_list() {
            *values = vec![stored(scalar, value)];
            return;
        }
        for item in value.items() {
            let item = stored(scalar, item);
            if !values.contains(&item) {
                values.push(item);
            }
        }
    }

    fn link(&mut self, from: usize, field: &Field, to: usize) {
        let back = self.schema.inverse_of(field);
        self.take_partner(from, field, to, back);
        self.join(from, field, to);
        if let Some(back) = back {
            self.take_partner(to, back, from, Some(field));
            self.join(to, back, from);
        }
    }

    /// An end that leads to one node gives up the one that it led to.
    fn take_partner(&mut self, node: usize, field: &Field, new: usize, back: Option<&Field>) {
        if field.is_list() {
            return;
        }
        let before = self.partners.insert((node, field.predicate.clone()), new);
        self.is_open |= before.is_some_and(|before| before != new);
        for old in self.after.targets(node, field).into_iter().filter(|old| *old != new) {
            self.part(node, field, old);
            if let Some(back) = back {
                self.part(old, back, node);
            }
        }
    }

    fn join(&mut self, from: usize, field: &Field, to: usize) {
        self.after.nodes[from].edges.entry(field.predicate.clone()).or_default().insert(to);
    }

    fn part(&mut self, from: usize, field: &Field, to: usize) {
        if let Some(edges) = self.after.nodes[from].edges.get_mut(&field.predicate) {
            edges.remove(&to);
        }
    }

    /// What an update takes away from a node.
    pub fn remove(&mut self, kind: usize, node: usize, object: &Lit) -> Result<(), Failure> {
        let schema = self.schema;
        for (name, value) in object.entries() {
            let field = schema.field(kind, name).expect("inputs name fields");
            let Of::Scalar(scalar) = field.of else {
                self.unlink(node, field, value)?;
                continue;
            };
            let gone: Vec<_> = value.items().iter().map(|item| stored(scalar, item)).collect();
            // All of a predicate is all its languages, too.
            let tagged = format!("{}@", field.predicate);
            for (name, values) in &mut self.after.nodes[node].values {
                if *value == Lit::Null && name.starts_with(&tagged) {
                    values.clear();
                } else if *name == field.predicate {
                    values.retain(|have| *value != Lit::Null && !gone.contains(have));
                }
            }
        }
        Ok(())
    }

    /// What is taken away must be said well, whether there is a node to take it from or not.
    pub fn check_removal(&self, kind: usize, object: &Lit) -> Result<(), Failure> {
        for (name, value) in object.entries() {
            let field = self.schema.field(kind, name).expect("inputs name fields");
            if field.scalar().is_none() {
                for item in value.items() {
                    self.referred(field, item)?;
                }
            }
        }
        Ok(())
    }

    fn unlink(&mut self, node: usize, field: &Field, value: &Lit) -> Result<(), Failure> {
        let targets = match value {
            Lit::Null => self.after.targets(node, field),
            _ => {
                let result = value.items().iter().map(|item| self.referred(field, item));
                result.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect()
            }
        };
        let back = self.schema.inverse_of(field);
        for target in targets {
            let is_there = self.after.targets(node, field).contains(&target);
            self.part(node, field, target);
            if let Some(back) = back.filter(|_| is_there) {
                self.part(target, back, node);
            }
        }
        Ok(())
    }

    /// The node that an object below `remove` refers to.
    fn referred(&self, field: &Field, item: &Lit) -> Result<Option<usize>, Failure> {
        let (kind, object) = unpack(self.schema, field.of, item)?;
        let nodes = self.names.before.of_kind(self.schema, kind);
        if let Some(id) = id_given(self.schema, kind, object) {
            let node = parse_uid(id).and_then(|uid| self.names.before.by_uid(uid));
            // Whether one of another type is an error is not said.
            return match node.filter(|node| nodes.contains(node)) {
                Some(node) => Ok(Some(node)),
                None => Err(Failure::Undecided("remove of another type")),
            };
        }
        let keys = keys_given(self.schema, kind, object)?;
        match keys.is_empty() {
            true => refused("id is not provided"),
            false => self.names.look_up(kind, &keys),
        }
    }
}
