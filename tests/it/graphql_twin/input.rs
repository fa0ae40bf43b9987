//! Random inputs: objects, references, patches, filters of mutations.

use super::family::MARK;
use super::graph::Graph;
use super::lit::{Lit, object, plain};
use super::schema::{Field, Of, Scalar, Schema, lower_first};
use super::words::{chance, one_of, value};
use fastrand::Rng;

/// Makes inputs for one state of the graph.
pub struct Inputs<'a> {
    pub rng: &'a mut Rng,
    pub schema: &'a Schema,
    pub graph: &'a Graph,
    /// Numbers that were not used yet, for marks and for `@id` values.
    pub fresh: &'a mut i64,
}

impl Inputs<'_> {
    fn next(&mut self) -> i64 {
        *self.fresh += 1;
        *self.fresh
    }

    /// An object that can be created.
    pub fn object(&mut self, kind: usize, parent: Option<&Field>, depth: usize) -> Lit {
        let schema = self.schema;
        let mut entries = Vec::new();
        let inverse = parent.and_then(|parent| schema.inverse_of(parent));
        for field in schema.fields(kind) {
            let is_inverse = inverse.is_some_and(|inverse| inverse.name == field.name);
            if !schema.is_settable(field) || is_inverse && !chance(self.rng, 10) {
                continue;
            }
            // Sometimes what is required is left out, below a root.
            let forgets = parent.is_some() && chance(self.rng, 1);
            let must = field.is_required && field.default_add.is_none() && !forgets;
            if field.name == MARK || must || self.expects(field, depth) {
                let value = self.value(field, depth, must);
                entries.push((field.name.clone(), value));
            }
        }
        self.rng.shuffle(&mut entries);
        Lit::Object(entries)
    }

    fn expects(&mut self, field: &Field, depth: usize) -> bool {
        let percent = match field.of {
            Of::Scalar(_) if field.unique.is_some() => 65,
            Of::Scalar(_) => 55,
            _ if depth == 0 => 0,
            _ => 45,
        };
        chance(self.rng, percent)
    }

    fn value(&mut self, field: &Field, depth: usize, must: bool) -> Lit {
        if !must && field.name != MARK && chance(self.rng, 4) {
            return Lit::Null;
        }
        let Of::Scalar(scalar) = field.of else { return self.references(field, depth, must) };
        if field.name == MARK {
            return plain(self.next());
        }
        if field.unique.is_some() {
            return self.key(field, scalar, 5);
        }
        if !field.is_list() {
            return value(self.rng, scalar);
        }
        let count = self.rng.usize(..4);
        Lit::List((0..count).map(|_| value(self.rng, scalar)).collect())
    }

    /// A value of an `@id` field; so often one that some node has already, perhaps one of another
    /// type.
    fn key(&mut self, field: &Field, scalar: Scalar, percent: u32) -> Lit {
        if scalar == Scalar::Text && chance(self.rng, 1) {
            return plain("");
        }
        let nodes = self.graph.nodes.iter().filter_map(|node| node.values.get(&field.predicate));
        let existing: Vec<_> = nodes.flatten().collect();
        if !existing.is_empty() && chance(self.rng, percent) {
            return Lit::Plain((*one_of(self.rng, &existing)).clone());
        }
        // Some are given twice in one request.
        let number = if chance(self.rng, 4) { *self.fresh } else { self.next() };
        match scalar {
            Scalar::Text => plain(format!("k{number}")),
            _ if field.name.starts_with("big") => plain(number + 3_000_000_000),
            _ => plain(number),
        }
    }

    fn references(&mut self, field: &Field, depth: usize, must: bool) -> Lit {
        if !field.is_list() {
            return self.reference(field, depth);
        }
        let count = match depth {
            0 => 0,
            _ if must => self.rng.usize(..3),
            _ => self.rng.usize(..4),
        };
        let mut items: Vec<Lit> = (0..count).map(|_| self.reference(field, depth)).collect();
        match items.len() {
            1 if chance(self.rng, 30) => items.remove(0),
            _ => Lit::List(items),
        }
    }

    /// A link or a new object, for a field.
    pub fn reference(&mut self, field: &Field, depth: usize) -> Lit {
        let kind = match field.of {
            Of::Scalar(_) => unreachable!("scalars are no objects"),
            Of::Kind(kind) => kind,
            Of::Union(union) => {
                let member = *one_of(self.rng, &self.schema.unions[union].1);
                if chance(self.rng, 1) {
                    return Lit::Object(Vec::new());
                }
                let inner = self.reference_to(member, field, depth);
                let name = lower_first(&self.schema.kinds[member].name);
                return object(format!("{name}Ref"), inner);
            }
        };
        self.reference_to(kind, field, depth)
    }

    fn reference_to(&mut self, kind: usize, field: &Field, depth: usize) -> Lit {
        let is_interface = self.schema.kinds[kind].is_interface;
        if (is_interface || chance(self.rng, 45))
            && let Some(link) = self.link(kind)
        {
            return link;
        }
        match is_interface {
            true => self.odd_link(kind),
            false => self.object(kind, Some(field), depth.saturating_sub(1)),
        }
    }

    /// A node that is there, by its ID or a value.
    pub fn link(&mut self, kind: usize) -> Option<Lit> {
        let schema = self.schema;
        let nodes = self.graph.of_kind(schema, kind);
        if nodes.is_empty() {
            return None;
        }
        if chance(self.rng, 2) {
            return Some(self.odd_link(kind));
        }
        let node = *one_of(self.rng, &nodes);
        let mut fields = schema.unique_fields(kind);
        if schema.kinds[kind].is_interface {
            fields.truncate(1);
        }
        fields.retain(|field| self.graph.has(node, field));
        if let (Some(id), true) = (schema.id_field(kind), fields.is_empty() || self.rng.bool()) {
            return Some(object(&id.name, self.id(node)));
        }
        if fields.is_empty() {
            return None;
        }
        let field = *one_of(self.rng, &fields);
        Some(object(&field.name, Lit::Plain(self.graph.value(node, field)?)))
    }

    /// The ID of a node, in one of its forms.
    pub fn id(&mut self, node: usize) -> Lit {
        let uid = self.graph.uid(node);
        match self.rng.u32(..10) {
            0 => plain(uid.to_string()),
            1 => plain(uid),
            _ => plain(format!("{uid:#x}")),
        }
    }

    /// A link to what may not be there.
    fn odd_link(&mut self, kind: usize) -> Lit {
        let schema = self.schema;
        let keys = schema.unique_fields(kind);
        match (schema.id_field(kind), keys.first()) {
            (Some(id), None) => {
                let number = self.rng.u64(1..30);
                object(&id.name, plain(format!("{number:#x}")))
            }
            (_, Some(field)) => {
                let scalar = field.scalar().expect("it is one");
                let key = self.key(field, scalar, 60);
                object(&field.name, key)
            }
            (None, None) => Lit::Object(Vec::new()),
        }
    }

    /// What an update sets.
    pub fn patch(&mut self, kind: usize, but: &[String]) -> Lit {
        let mut entries = Vec::new();
        for field in self.schema.fields(kind) {
            let is_key = field.unique.is_some() && !chance(self.rng, 15);
            let has_default = field.default_update.is_some();
            if !self.schema.is_settable(field) || is_key || but.contains(&field.name) {
                continue;
            }
            if field.name != MARK && chance(self.rng, 30) {
                let value = self.value(field, 2, true);
                let is_null = !has_default && chance(self.rng, 4);
                entries.push((field.name.clone(), if is_null { Lit::Null } else { value }));
            }
        }
        Lit::Object(entries)
    }

    /// What an update takes away.
    pub fn removal(&mut self, kind: usize, but: &[String]) -> Lit {
        let mut entries = Vec::new();
        for field in self.schema.fields(kind) {
            if !self.schema.is_settable(field) || but.contains(&field.name) {
                continue;
            }
            let percent = if field.is_required { 12 } else { 25 };
            if !chance(self.rng, percent) {
                continue;
            }
            let value = match field.of {
                _ if chance(self.rng, 30) => Lit::Null,
                Of::Scalar(scalar) if field.is_list() => {
                    Lit::List(vec![value(self.rng, scalar), value(self.rng, scalar)])
                }
                Of::Scalar(scalar) => self.existing_value(kind, field, scalar),
                _ => {
                    let link = self.reference(field, 0);
                    if field.is_list() { Lit::List(vec![link]) } else { link }
                }
            };
            entries.push((field.name.clone(), value));
        }
        Lit::Object(entries)
    }

    fn existing_value(&mut self, kind: usize, field: &Field, scalar: Scalar) -> Lit {
        let nodes = self.graph.of_kind(self.schema, kind);
        let existing = nodes.iter().filter_map(|node| self.graph.value(*node, field));
        let existing: Vec<_> = existing.collect();
        let is_plain = !matches!(scalar, Scalar::Mood | Scalar::Point);
        if existing.is_empty() || !is_plain || field.unique.is_some() && self.rng.bool() {
            return value(self.rng, scalar);
        }
        Lit::Plain(one_of(self.rng, &existing).clone())
    }
}
