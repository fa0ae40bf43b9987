//! Which objects of an input name one and the same node, by values of `@id` fields.

use super::filter::parse_uid;
use super::graph::Graph;
use super::lit::Lit;
use super::schema::{Field, Of, Schema, lower_first};
use super::words::stored;
use serde_json::Value as Json;

/// Why a mutation is not executed, or not by the model.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    Refused(String),
    /// The specification leaves open what comes of it, for this reason.
    Undecided(&'static str),
}

/// Refuses.
pub fn refused<T>(reason: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Refused(reason.into()))
}

/// A node that objects of an input name.
#[derive(Debug)]
pub struct Entity<'a> {
    pub kind: usize,
    /// Names of fields with their values.
    pub keys: Vec<(String, Json)>,
    /// The object with the most to say about it.
    pub object: &'a Lit,
    pub is_root: bool,
    /// Whether it stood below a field whose other end leads to one node.
    is_owned: bool,
    /// The node in the graph before.
    pub there: Option<usize>,
    /// The node that was made for it.
    pub made: Option<usize>,
}

/// All that is named in a request.
#[derive(Debug)]
pub struct Names<'a> {
    pub schema: &'a Schema,
    pub before: &'a Graph,
    pub entities: Vec<Entity<'a>>,
    /// Whether what is said of nodes that are there is walked, too.
    walks_all: bool,
}

/// The kind and the object that a value of a field stands for: members of unions are unpacked.
pub fn unpack<'a>(schema: &Schema, of: Of, value: &'a Lit) -> Result<(usize, &'a Lit), Failure> {
    match of {
        Of::Scalar(_) => unreachable!("scalars are no objects"),
        Of::Kind(kind) => Ok((kind, value)),
        Of::Union(union) => {
            let [(name, inner)] = value.entries() else {
                return refused("a union has exactly one child");
            };
            let fits =
                |kind: &&usize| *name == format!("{}Ref", lower_first(&schema.kinds[**kind].name));
            let kind = schema.unions[union].1.iter().find(fits);
            Ok((*kind.expect("inputs name members"), inner))
        }
    }
}

/// The ID that an object gives.
pub fn id_given<'a>(schema: &Schema, kind: usize, object: &'a Lit) -> Option<&'a Lit> {
    object.given(&schema.id_field(kind)?.name)
}

/// The values of `@id` fields that an object gives.
pub fn keys_given(
    schema: &Schema,
    kind: usize,
    object: &Lit,
) -> Result<Vec<(String, Json)>, Failure> {
    let mut keys = Vec::new();
    for field in schema.unique_fields(kind) {
        let Some(value) = object.given(&field.name) else { continue };
        let value = stored(field.scalar().expect("it is a scalar"), value);
        if value == "" {
            return refused("an empty value for @id");
        }
        keys.push((field.name.clone(), value));
    }
    Ok(keys)
}

/// The field of an object that its parent fills in, where it leads to one node.
pub fn filled<'a>(schema: &'a Schema, parent: Option<&Field>) -> Option<&'a str> {
    let inverse = schema.inverse_of(parent?)?;
    (!inverse.is_list()).then_some(inverse.name.as_str())
}

impl<'a> Names<'a> {
    /// What a walk notes.
    ///
    /// What is said of nodes that are there is ignored; whether it may make a mutation fail is
    /// open.
    pub fn noted(
        schema: &'a Schema,
        before: &'a Graph,
        walk: impl Fn(&mut Names<'a>) -> Result<(), Failure>,
    ) -> Result<Names<'a>, Failure> {
        let mut names = Names { schema, before, entities: Vec::new(), walks_all: false };
        walk(&mut names)?;
        let mut all = Names { schema, before, entities: Vec::new(), walks_all: true };
        match walk(&mut all) {
            Ok(()) => Ok(names),
            Err(_) => Err(Failure::Undecided("what is said of known nodes")),
        }
    }

    /// Walks an object and all below it.
    pub fn walk(
        &mut self,
        kind: usize,
        parent: Option<&Field>,
        object: &'a Lit,
    ) -> Result<(), Failure> {
        let id = parent.and_then(|_| id_given(self.schema, kind, object));
        if let Some(id) = id {
            return self.check_id(kind, id);
        }
        let keys = keys_given(self.schema, kind, object)?;
        if keys.is_empty() || self.note(kind, parent, object, keys)? {
            self.walk_below(kind, parent, object)?;
        }
        Ok(())
    }

    pub fn walk_below(
        &mut self,
        kind: usize,
        parent: Option<&Field>,
        object: &'a Lit,
    ) -> Result<(), Failure> {
        let schema = self.schema;
        let filled = filled(schema, parent);
        for (name, value) in object.entries() {
            let field = schema.field(kind, name).expect("inputs name fields");
            if matches!(field.of, Of::Scalar(_)) || filled == Some(name.as_str()) {
                continue;
            }
            for item in value.items() {
                let (child, item) = unpack(schema, field.of, item)?;
                self.walk(child, Some(field), item)?;
            }
        }
        Ok(())
    }

    /// An ID has to be that of a node of the kind.
    fn check_id(&self, kind: usize, id: &Lit) -> Result<(), Failure> {
        let node = parse_uid(id).and_then(|uid| self.before.by_uid(uid));
        match node {
            Some(node) if self.before.of_kind(self.schema, kind).contains(&node) => Ok(()),
            _ => refused(format!("{id} is none of the kind")),
        }
    }

    /// Notes what an object names; true when it is to be walked.
    fn note(
        &mut self,
        kind: usize,
        parent: Option<&Field>,
        object: &'a Lit,
        keys: Vec<(String, Json)>,
    ) -> Result<bool, Failure> {
        let is_owned = filled(self.schema, parent).is_some();
        let same = |entity: &Entity<'_>| {
            entity.kind == kind && entity.keys.iter().any(|key| keys.contains(key))
        };
        let result: Vec<usize> =
            (0..self.entities.len()).filter(|position| same(&self.entities[*position])).collect();
        let [position] = result[..] else {
            if result.is_empty() && self.is_unique_elsewhere(kind, &keys) {
                return refused("unique among all types of the interface");
            }
            if !result.is_empty() || self.is_of_another_type(kind, &keys) {
                return Err(Failure::Undecided("values of several entities"));
            }
            let there = self.look_up(kind, &keys)?;
            let is_root = parent.is_none();
            self.entities.push(Entity { kind, keys, object, is_root, is_owned, there, made: None });
            return Ok(parent.is_none() || there.is_none() || self.walks_all);
        };
        let entity = &mut self.entities[position];
        let both_define = 1 < entity.object.entries().len() && 1 < object.entries().len();
        let is_torn = both_define && !same_entries(entity.object, object);
        let is_twice = entity.is_root && parent.is_none() || entity.is_owned && is_owned;
        if is_torn || is_twice {
            // Whether nodes that are there may be described twice is not said.
            return match entity.there {
                Some(_) if !(entity.is_root && parent.is_none()) => {
                    Err(Failure::Undecided("known node described twice"))
                }
                _ => refused("duplicate XID found"),
            };
        }
        let defines = entity.object.entries().len() == 1 && 1 < object.entries().len();
        if is_owned || entity.is_owned || defines && (entity.is_root || parent.is_none()) {
            return Err(Failure::Undecided("named twice, owned or root"));
        }
        if parent.is_none() {
            entity.is_root = true;
        }
        if defines {
            entity.object = object;
            entity.keys.extend(keys);
        }
        Ok(defines && (entity.there.is_none() || self.walks_all))
    }

    /// Whether a value that only one node of all types of an interface may have is named in two of
    /// them.
    fn is_unique_elsewhere(&self, kind: usize, keys: &[(String, Json)]) -> bool {
        let is_wide = |entity: &Entity<'_>, name: &str| {
            let field = self.schema.field(kind, name).expect("keys are fields");
            let origin = self.schema.origin(kind, name);
            field.unique == Some(true)
                && origin.is_some()
                && origin == self.schema.origin(entity.kind, name)
        };
        let is_interface = |kind: usize| self.schema.kinds[kind].is_interface;
        self.entities.iter().any(|entity| {
            entity.kind != kind
                && !is_interface(kind)
                && !is_interface(entity.kind)
                && entity.keys.iter().any(|key| keys.contains(key) && is_wide(entity, &key.0))
        })
    }

    /// Whether a value of a field that one interface gave to two types is named in both.
    fn is_of_another_type(&self, kind: usize, keys: &[(String, Json)]) -> bool {
        self.entities.iter().any(|entity| {
            let is_wide = |name: &str| {
                let origin = self.schema.origin(kind, name);
                origin.is_some() && origin == self.schema.origin(entity.kind, name)
            };
            let is_near =
                self.schema.is_a(kind, entity.kind) || self.schema.is_a(entity.kind, kind);
            entity.kind != kind
                && entity.keys.iter().any(|key| (is_near || is_wide(&key.0)) && keys.contains(key))
        })
    }

    /// The node that is there with one of some values.
    pub fn look_up(&self, kind: usize, keys: &[(String, Json)]) -> Result<Option<usize>, Failure> {
        let mut result: Vec<usize> = Vec::new();
        for (name, value) in keys {
            let field = self.schema.field(kind, name).expect("keys are fields");
            let with = |kind| self.before.with_value(self.schema, kind, field, value);
            let own = with(kind);
            let origin = self.schema.origin(kind, name).filter(|_| field.unique == Some(true));
            let all = origin.map(with).unwrap_or_default();
            if all.iter().any(|node| !own.contains(node)) {
                return refused("it exists in some other type of the interface");
            }
            result.extend(own);
        }
        result.sort_unstable();
        result.dedup();
        match result[..] {
            [] => Ok(None),
            [node] => Ok(Some(node)),
            _ => Err(Failure::Undecided("values of several nodes")),
        }
    }

    /// The entity of an object.
    pub fn entity(&self, kind: usize, keys: &[(String, Json)]) -> Option<usize> {
        let is_it = |entity: &Entity<'_>| {
            entity.kind == kind && entity.keys.iter().any(|key| keys.contains(key))
        };
        self.entities.iter().position(is_it)
    }
}

/// Whether two objects say the same, in whatever order.
fn same_entries(one: &Lit, other: &Lit) -> bool {
    one.entries().len() == other.entries().len()
        && one.entries().iter().all(|(name, value)| other.get(name) == Some(value))
}
