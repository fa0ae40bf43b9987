//! Mutations: statements that are deleted and set in one commit, all or none.
//!
//! Everything is read and checked before anything is changed: names, languages, types and values
//! against the schema, with the predicates added to it that the statements bring along. New nodes
//! get their uids here. What comes out is a list of changes, which [`Changes::apply`] executes.

use super::bindings::Bindings;
use super::bounds::{Charge, STATEMENTS_MAX};
use super::change_weight;
use super::changes::{Changes, Delete, Deleted, Part, SetEdge, SetValue};
use super::check::{check_facets, check_name, check_shape, loss_of, stored};
use super::losses::Losses;
use super::refusal::{Refusal, about_value};
use super::statements::{Mutation, target};
use crate::graph::version::graph_version::Version;
use crate::graph::version::node_ids::NodeIds;
use crate::graph::version::uids::NamedUids;
use crate::storage::text_of;
use hexgraph_base::formats::{NQuad, Object, Predicate, Subject};
use hexgraph_base::schema::{Actor, NODE_TYPE, PredicateDef, Schema};
use hexgraph_base::types::{ConvertError, Error, Result, Uid, Value, ValueType};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// The result of staging a request, apart from its changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MutationReport {
    /// The new nodes: how the request calls them, and the uid that they got. A label stands
    /// without `_:`. In order of appearance.
    pub uids: Vec<(String, Uid)>,
    /// The number of statements that are executed.
    pub triples: u64,
    /// The values that are stored as less than they are.
    pub losses: Losses,
    /// The predicates that were looked up outside of the schema, existing or not. The changes are
    /// the same on any version in which these and the types are unchanged.
    pub reads: BTreeSet<String>,
}

/// The memory of changes is charged each time it has grown by this many bytes.
const CHARGE_BYTES: usize = 64 << 10;

/// On whose behalf mutations are staged.
#[derive(Clone, Copy)]
pub struct Stager<'a> {
    /// The caller, whose rights are checked.
    pub actor: Actor<'a>,
    /// Hashes and compares passwords.
    pub passwords: &'a dyn Passwords,
    /// Called before allocations during staging, and for what [`Changes::apply`] will allocate.
    pub charge: Charge<'a>,
}

/// Hashes and compares passwords. Both are slow on purpose, so the caller decides on which thread
/// and when.
pub trait Passwords {
    /// The hash of a password that [`Value::check_password`] lets pass.
    ///
    /// # Errors
    ///
    /// When there is no time for it.
    fn hash(&self, plain: &str) -> Result<Value>;

    /// True when `hash` is one of the password `plain`.
    ///
    /// # Errors
    ///
    /// As [`Passwords::hash`]; [`Error::Query`] for a hash that takes too long.
    fn verify(&self, hash: &str, plain: &str) -> Result<bool>;
}

/// Checks mutations against a version, with `bindings` for their variables, and says what they
/// change. Costs O(statements), and what passwords cost.
///
/// # Errors
///
/// [`Error::Schema`] for what the schema forbids, [`Error::Query`] for what makes no sense,
/// [`Error::Limit`] for too many statements; those of [`Stager::charge`].
pub fn stage(
    version: &Version,
    mutations: Vec<Mutation<'_>>,
    bindings: &Bindings,
    stager: Stager<'_>,
) -> Result<(Changes, MutationReport)> {
    let lists = list_hints(&mutations, &version.schema);
    let mut capacity = STATEMENTS_MAX;
    let resolve = |mutation| bindings.resolve(mutation, &mut capacity, stager.charge);
    let mutations: Vec<Mutation<'_>> = mutations.into_iter().map(resolve).collect::<Result<_>>()?;
    let mut staging = Staging {
        version,
        stager,
        reads: BTreeSet::new(),
        losses: Losses::default(),
        lists,
        changes: Changes { langs: vec![Box::default()], ..Changes::default() },
        named: NamedUids::default(),
        allocated: Vec::new(),
        predicates: FxHashMap::default(),
        last: None,
        langs: FxHashMap::from_iter([("", 0)]),
        labels: FxHashMap::default(),
        uncharged: 0,
        fields: FxHashMap::default(),
        passwords: FxHashMap::default(),
    };
    let uids = staging.number_nodes(&mutations)?;
    // A request that is refused uses up no uids.
    staging.parts(&mutations).inspect_err(|_| version.uids.give_back(&staging.allocated))?;
    // Only now: what is refused names no uids.
    version.uids.reserve(&staging.named);
    staging.changes.named = staging.named;
    let Staging { changes, reads, losses, .. } = staging;
    let report =
        MutationReport { uids, triples: (STATEMENTS_MAX - capacity) as u64, losses, reads };
    Ok((changes, report))
}

fn star_in_set() -> Error {
    Error::query("`*` can only be deleted, not set")
}

/// The name of a new node in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Label<'a> {
    Blank(&'a str),
    New(u32),
    Var(&'a str),
}

impl<'a> Label<'a> {
    fn of(subject: Subject<'a>) -> Option<Label<'a>> {
        match subject {
            Subject::Blank(label) => Some(Label::Blank(label)),
            Subject::New(number) => Some(Label::New(number)),
            Subject::Var(name) => Some(Label::Var(name)),
            Subject::Uid(_) | Subject::Star | Subject::Name(_) => None,
        }
    }

    /// The name in the report. An unnamed node is distinguished from those of other requests.
    fn reported(self, version: &Version) -> String {
        match self {
            Label::Blank(label) => label.to_owned(),
            Label::New(number) => format!("dg.{}.{number}", version.commit + 1),
            Label::Var(name) => format!("uid({name})"),
        }
    }
}

/// Which of the predicates unknown to the schema are lists, judged by the text.
///
/// JSON lists have brackets. In N-Quads, a node that has the predicate twice makes it a list.
fn list_hints<'a>(mutations: &[Mutation<'a>], schema: &Schema) -> FxHashMap<&'a str, bool> {
    let mut lists: FxHashMap<&str, bool> = FxHashMap::default();
    let mut pairs: FxHashSet<(Subject<'_>, &str)> = FxHashSet::default();
    for mutation in mutations {
        pairs.clear();
        for quad in &mutation.sets {
            let Predicate::Name(name) = quad.predicate else { continue };
            if schema.predicates.contains_key(name) {
                continue;
            }
            // A second value in the same mutation; one in a later mutation replaces the first.
            let again = !pairs.insert((quad.subject, name));
            match quad.in_list {
                Some(in_list) => *lists.entry(name).or_insert(in_list) |= in_list,
                None if again => drop(lists.insert(name, true)),
                None => {}
            }
        }
    }
    lists
}

struct Staging<'a, 'v> {
    version: &'v Version,
    stager: Stager<'v>,
    reads: BTreeSet<String>,
    losses: Losses,
    lists: FxHashMap<&'a str, bool>,
    changes: Changes,
    /// The uids below 2^31 that the request names.
    named: NamedUids,
    /// The uids of its new nodes.
    allocated: Vec<u64>,
    /// The positions of the predicates in the changes.
    predicates: FxHashMap<String, u32>,
    /// The predicate of the last statement: most have the same as the one before.
    last: Option<(&'a str, u32)>,
    /// The positions of the languages.
    langs: FxHashMap<&'a str, u32>,
    labels: FxHashMap<Label<'a>, Uid>,
    /// The bytes not yet charged.
    uncharged: usize,
    /// The fields that `S * *` deletes, by the types of the node: most nodes that are deleted
    /// together have the same.
    fields: FxHashMap<Vec<&'v str>, Arc<NodeFields>>,
    /// The hashes set so far, by the positions of their predicates and their nodes.
    passwords: FxHashMap<(u32, Uid), String>,
}

/// The predicates that `S * *` is about: those of the types of a node, and the types themselves.
struct NodeFields {
    /// The positions of those that go, and whether each is that of the types.
    gone: Vec<(u32, bool)>,
    /// The names of those that the actor may not change.
    left: Vec<String>,
}

impl<'a> Staging<'a, '_> {
    /// Gives uids to the new nodes, and says which. They come after all that are named.
    fn number_nodes(&mut self, mutations: &[Mutation<'a>]) -> Result<Vec<(String, Uid)>> {
        let sets = || mutations.iter().flat_map(|mutation| &mutation.sets);
        let mentioned = || sets().flat_map(|quad| [Some(quad.subject), target(&quad.object)]);
        for node in mentioned().flatten() {
            if let Subject::Uid(uid) = node {
                match NodeIds::is_high(Uid(uid)) {
                    true => self.changes.high.push(uid),
                    false => self.named.add(uid as u32),
                }
            }
        }
        self.changes.next_uid = self.named.next();
        let mut labels = Vec::new();
        for label in mentioned().flatten().filter_map(Label::of) {
            if let Entry::Vacant(position) = self.labels.entry(label) {
                // Filled in below, once the number of uids is known.
                position.insert(Uid(0));
                labels.push(label);
            }
        }
        if labels.is_empty() {
            return Ok(Vec::new());
        }
        let Version { uids, nodes, .. } = self.version;
        self.allocated = uids.allocate(labels.len() as u64, nodes, &self.named)?;
        let mut reported = Vec::with_capacity(labels.len());
        for (label, &uid) in labels.into_iter().zip(&self.allocated) {
            self.labels.insert(label, Uid(uid));
            if NodeIds::is_high(Uid(uid)) {
                self.changes.high.push(uid);
            }
            self.changes.next_uid = self.changes.next_uid.max(uid + 1);
            reported.push((label.reported(self.version), Uid(uid)));
        }
        Ok(reported)
    }

    /// Adds what the mutations change, and has all of it charged.
    fn parts(&mut self, mutations: &[Mutation<'a>]) -> Result<()> {
        for mutation in mutations {
            let part = self.part(mutation)?;
            self.changes.parts.push(part);
        }
        (self.stager.charge)(self.uncharged)
    }

    fn part(&mut self, mutation: &Mutation<'a>) -> Result<Part> {
        let mut part = Part::default();
        for quad in &mutation.deletes {
            // One statement may be several deletes, `<0x1> * * .`, or none.
            let before = part.deletes.len();
            self.delete(quad, &mut part).map_err(|error| error.or_at(quad.at))?;
            self.note_bytes((part.deletes.len() - before) * change_weight::of_delete())?;
        }
        for quad in &mutation.sets {
            self.set(quad, &mut part).map_err(|error| error.or_at(quad.at))?;
            let def = |predicate: u32| &*self.changes.predicates[predicate as usize];
            let changed = match target(&quad.object) {
                Some(_) => {
                    part.edges.last().map(|edge| change_weight::of_edge(edge, def(edge.predicate)))
                }
                None => part
                    .values
                    .last()
                    .map(|value| change_weight::of_value(value, def(value.predicate))),
            };
            self.note_bytes(changed.unwrap_or_default())?;
        }
        Ok(part)
    }

    /// Counts bytes that a change takes, and has them charged now and then.
    fn note_bytes(&mut self, bytes: usize) -> Result<()> {
        self.changes.weight += bytes;
        self.uncharged += bytes;
        if self.uncharged < CHARGE_BYTES {
            return Ok(());
        }
        (self.stager.charge)(std::mem::take(&mut self.uncharged))
    }

    fn delete(&mut self, quad: &NQuad<'a>, part: &mut Part) -> Result<()> {
        let is_star = quad.object == Object::Star;
        let name = match (quad.subject, quad.predicate) {
            (Subject::Star, _) => return Err(wrong_star()),
            (_, Predicate::Name(name)) => name,
            (_, Predicate::Star) if is_star => {
                let node = self.existing_uid(quad.subject)?;
                self.delete_node(node, part);
                return Ok(());
            }
            (_, Predicate::Star) => return Err(wrong_star()),
        };
        let node = self.existing_uid(quad.subject)?;
        let target = target(&quad.object).map(|target| self.existing_uid(target)).transpose()?;
        // Deletes never create schema.
        let Some(predicate) = self.changed_predicate(name)? else {
            // Another commit may define it before this request is applied, and then there may be
            // something to delete.
            self.reads.insert(name.to_owned());
            return Ok(());
        };
        let def = Arc::clone(&self.changes.predicates[predicate as usize]);
        let lang = self.lang(quad.lang);
        let what = match (&quad.object, target) {
            (Object::Star, _) if quad.lang.is_empty() => Deleted::All,
            (Object::Star, _) if def.lang => Deleted::Lang(lang),
            (Object::Star, _) => {
                let predicate = name.to_owned();
                return Err(Error::schema(Refusal::NoLanguages { predicate }));
            }
            (object, target) => {
                check_shape(&def, quad.lang, target.is_some()).map_err(Error::schema)?;
                match (target, text_of_password(object, &def)) {
                    (Some(target), _) => Deleted::Edge(target),
                    (None, Some(text)) => match self.password(&def, node, text)? {
                        Some(hash) => Deleted::Value(lang, hash),
                        // No node has this value. Still, the delete conflicts with requests that
                        // set one.
                        None => Deleted::Value(lang, Value::Password(String::new())),
                    },
                    (None, None) => {
                        let wrong = |reason| wrong_value(reason, &def, quad.subject);
                        Deleted::Value(lang, stored(object, &def).map_err(wrong)?)
                    }
                }
            }
        };
        part.deletes.push(Delete { predicate, node, what });
        Ok(())
    }

    /// The password of a node that matches a text, its plain text or its hash: the one that an
    /// earlier part of the request sets, or the stored one.
    fn password(&mut self, def: &PredicateDef, node: Uid, text: &str) -> Result<Option<Value>> {
        self.reads.insert(def.name.clone());
        let stored = || {
            let values = self.version.predicate(&def.name)?.values("")?;
            text_of(values.first(self.version.nodes.node(node)?)?)
        };
        let set = self.passwords.get(&(self.predicates[&def.name], node));
        let Some(hash) = set.map(String::as_str).or_else(stored) else { return Ok(None) };
        let is_meant = hash == text || self.stager.passwords.verify(hash, text)?;
        Ok(is_meant.then(|| Value::Password(hash.to_owned())))
    }

    /// Deletes the fields of the types of a node, and the types, as far as the actor may change
    /// them. If a field remains, so do the types of the node.
    fn delete_node(&mut self, node: Uid, part: &mut Part) {
        let version = self.version;
        self.reads.insert(NODE_TYPE.to_owned());
        let types = types_of(version, node);
        let fields = match self.fields.get(&types) {
            Some(fields) => Arc::clone(fields),
            None => {
                let fields = Arc::new(self.fields_of(&types));
                self.fields.insert(types, Arc::clone(&fields));
                fields
            }
        };
        let retains = fields.left.iter().any(|name| has(version, name, node));
        for (predicate, is_types) in &fields.gone {
            if !retains || !is_types {
                part.deletes.push(Delete { predicate: *predicate, node, what: Deleted::All });
            }
        }
    }

    /// What `S * *` deletes of a node of some types.
    fn fields_of(&mut self, types: &[&str]) -> NodeFields {
        let schema = &self.version.schema;
        let mut names = vec![NODE_TYPE];
        for def in types.iter().filter_map(|name| schema.types.get(*name)) {
            let own = def.fields.iter().filter(|field| !field.starts_with('~'));
            names.extend(own.map(String::as_str));
        }
        names.sort_unstable();
        names.dedup();
        let actor = self.stager.actor;
        let (gone, left): (Vec<&str>, Vec<&str>) =
            names.into_iter().partition(|name| actor.may_change(name, schema));
        let gone =
            gone.into_iter().filter_map(|name| Some((self.predicate(name)?, name == NODE_TYPE)));
        let gone = gone.collect();
        NodeFields { gone, left: left.into_iter().map(str::to_owned).collect() }
    }

    fn set(&mut self, quad: &NQuad<'a>, part: &mut Part) -> Result<()> {
        let Predicate::Name(name) = quad.predicate else { return Err(star_in_set()) };
        if quad.subject == Subject::Star || quad.object == Object::Star {
            return Err(star_in_set());
        }
        let predicate = match self.changed_predicate(name)? {
            Some(predicate) => predicate,
            None => self.define(name, &quad.object),
        };
        let target = target(&quad.object);
        let def = Arc::clone(&self.changes.predicates[predicate as usize]);
        check_shape(&def, quad.lang, target.is_some()).map_err(Error::schema)?;
        let node = self.existing_uid(quad.subject)?;
        check_facets(&quad.facets).map_err(|reason| wrong_value(reason, &def, quad.subject))?;
        let facets = quad.facets.iter();
        let facets = facets.map(|(key, value)| (Arc::from(*key), value.clone())).collect();
        if let Some(target) = target {
            let target = self.existing_uid(target)?;
            part.edges.push(SetEdge { predicate, node, target, facets });
            return Ok(());
        }
        let wrong = |reason| wrong_value(reason, &def, quad.subject);
        let value = match text_of_password(&quad.object, &def) {
            Some(plain) if is_plain(&quad.object) => {
                Value::check_password(plain)
                    .map_err(|reason| wrong(ConvertError::from(reason).into()))?;
                self.stager.passwords.hash(plain)?
            }
            _ => stored(&quad.object, &def).map_err(wrong)?,
        };
        if let Some(loss) = loss_of(&quad.object, value.as_ref()) {
            self.losses.add(name, node, loss);
        }
        if let Value::Password(hash) = &value {
            self.passwords.insert((predicate, node), hash.clone());
        }
        let lang = self.lang(quad.lang);
        part.values.push(SetValue { predicate, lang, node, value, facets });
        Ok(())
    }

    /// The position of a predicate that a statement sets or deletes; `None` for an undefined one.
    fn changed_predicate(&mut self, name: &'a str) -> Result<Option<u32>> {
        if let Some((last, predicate)) = self.last
            && last == name
        {
            return Ok(Some(predicate));
        }
        check_name(name, &self.version.schema, self.stager.actor).map_err(Error::schema)?;
        let predicate = self.predicate(name);
        self.last = predicate.map(|predicate| (name, predicate));
        Ok(predicate)
    }

    /// The position of a predicate of the schema or the request.
    fn predicate(&mut self, name: &str) -> Option<u32> {
        if let Some(&position) = self.predicates.get(name) {
            return Some(position);
        }
        let def = self.version.schema.predicates.get(name)?.clone();
        Some(self.add_predicate(def))
    }

    fn add_predicate(&mut self, def: PredicateDef) -> u32 {
        let position = self.changes.predicates.len() as u32;
        self.predicates.insert(def.name.clone(), position);
        self.changes.predicates.push(Arc::new(def));
        position
    }

    /// Defines a predicate by the first object that it has.
    fn define(&mut self, name: &str, object: &Object<'_>) -> u32 {
        let value_type = match object {
            Object::Literal { value_type, .. } => *value_type,
            Object::Value(value) => value.value_type(),
            _ => ValueType::Uid,
        };
        let mut def = PredicateDef::new(name, value_type);
        let is_list = self.lists.get(name).copied();
        def.list = is_list.unwrap_or(value_type == ValueType::Uid) && value_type.has_lists();
        self.changes.definitions.push(def.clone());
        self.add_predicate(def)
    }

    fn lang(&mut self, lang: &'a str) -> u32 {
        *self.langs.entry(lang).or_insert_with(|| {
            self.changes.langs.push(lang.into());
            self.changes.langs.len() as u32 - 1
        })
    }

    /// The uid of a node; of a new one when some statement of the request sets something there.
    fn existing_uid(&self, subject: Subject<'a>) -> Result<Uid> {
        if let Subject::Uid(uid) = subject {
            return Ok(Uid(uid));
        }
        let label = Label::of(subject);
        let existing = label.and_then(|label| self.labels.get(&label).copied());
        existing.ok_or_else(|| match label {
            Some(Label::Blank(label)) => {
                let message = format!("`_:{label}` is a new node, which has nothing to be deleted");
                Error::query(message).with_hint("name the node by its uid: `<0x1>`")
            }
            Some(label) => {
                let name = label.reported(self.version);
                let message = format!("`{name}` is a new node, which has nothing to be deleted");
                Error::query(message).with_hint("name the node by its uid: `<0x1>`")
            }
            None => wrong_star(),
        })
    }
}

/// Whether mutations name a password predicate, so that staging them may be slow. O(predicates),
/// and O(statements) if there is such a predicate.
pub fn names_passwords(schema: &Schema, mutations: &[Mutation<'_>]) -> bool {
    let passwords = schema.predicates.values().filter(|def| def.value_type == ValueType::Password);
    let names: FxHashSet<&str> = passwords.map(|def| def.name.as_str()).collect();
    let mut quads = mutations.iter().flat_map(|it| it.sets.iter().chain(&it.deletes));
    let is_named =
        |quad: &NQuad<'_>| matches!(quad.predicate, Predicate::Name(name) if names.contains(name));
    !names.is_empty() && quads.any(is_named)
}

/// The text of an object where a password stands.
fn text_of_password<'o>(object: &'o Object<'_>, def: &PredicateDef) -> Option<&'o str> {
    match object {
        _ if def.value_type != ValueType::Password => None,
        Object::Literal { text, .. } => Some(text),
        Object::Value(Value::Default(text) | Value::String(text) | Value::Password(text)) => {
            Some(text)
        }
        _ => None,
    }
}

/// True when an object is plain text, and no hash, which says of itself that it is one.
fn is_plain(object: &Object<'_>) -> bool {
    use ValueType::{Default, String};
    match object {
        Object::Literal { value_type, .. } => matches!(value_type, Default | String),
        Object::Value(value) => matches!(value.value_type(), Default | String),
        _ => false,
    }
}

/// The error for a value that can't be stored, or that nobody can have.
fn wrong_value(reason: Refusal, def: &PredicateDef, subject: Subject<'_>) -> Error {
    Error::query(reason).with_hint(about_value(&def.name, Some(def.value_type), subject))
}

fn wrong_star() -> Error {
    Error::query("of the deletes with `*`, only two are possible")
        .with_hint("`<0x1> <name> * .` for a predicate of a node, `<0x1> * * .` for all of a node")
}

/// True when a node has a value or an edge of a predicate.
fn has(version: &Version, name: &str, node: Uid) -> bool {
    let predicate = version.predicate(name).zip(version.nodes.node(node));
    predicate.is_some_and(|(predicate, node)| predicate.has(node))
}

/// The types of a node, as they are stored.
fn types_of(version: &Version, subject: Uid) -> Vec<&str> {
    let values = version.predicate(NODE_TYPE).and_then(|types| types.values(""));
    let (Some(values), Some(node)) = (values, version.nodes.node(subject)) else {
        return Vec::new();
    };
    let mut types = Vec::new();
    let list = values.values(node);
    types.extend((0..list.len()).filter_map(|position| text_of(list.get(position))));
    types
}
