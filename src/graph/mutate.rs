//! Mutations: statements that are deleted and set in one commit, all or none.
//!
//! Everything is read and checked before anything is changed: names, languages, types and values
//! against the schema, with the predicates added to it that the statements bring along. New nodes
//! get their uids here. What comes out is a list of changes, which [`Changes::apply`] carries out.

use super::bindings::Bindings;
use super::changes::Changes;
use super::changes::Delete;
use super::changes::Deleted;
use super::changes::Part;
use super::changes::SetEdge;
use super::changes::SetValue;
use super::check::check_name;
use super::check::check_shape;
use super::check::missing_lang;
use super::check::stored;
use super::node_ids::NodeIds;
use super::statements::Mutation;
use super::statements::target;
use super::version::Version;
use crate::formats::NQuad;
use crate::formats::Object;
use crate::formats::Predicate;
use crate::formats::Subject;
use crate::schema::PredicateDef;
use crate::schema::Schema;
use crate::types::Error;
use crate::types::Result;
use crate::types::Uid;
use crate::types::ValueType;
use crate::types::shown;
use rustc_hash::FxHashMap;
use rustc_hash::FxHashSet;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// So many statements a request may have.
pub const STATEMENTS_MAX: usize = 1_000_000;

/// What a request will do beside its changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MutationReport {
    /// The new nodes: how the request calls them, and the uid that they got. A label stands
    /// without `_:`. In order of appearance.
    pub uids: Vec<(String, Uid)>,
    /// The number of statements that are carried out.
    pub triples: u64,
}

/// Checks mutations against a version, with `bindings` for their variables, and says what they
/// change. Costs O(statements).
///
/// # Errors
///
/// [`Error::Schema`] for what the schema forbids, [`Error::Query`] for what makes no sense,
/// [`Error::Limit`] for too many statements.
pub fn stage(
    version: &Version,
    mutations: Vec<Mutation<'_>>,
    bindings: &Bindings,
) -> Result<(Changes, MutationReport)> {
    let lists = list_hints(&mutations, &version.schema);
    let mut room = STATEMENTS_MAX;
    let resolve = |mutation| bindings.resolve(mutation, &mut room);
    let mutations: Vec<Mutation<'_>> = mutations.into_iter().map(resolve).collect::<Result<_>>()?;
    let mut staging = Staging {
        version,
        lists,
        changes: Changes { langs: vec![Box::default()], ..Changes::default() },
        predicates: FxHashMap::default(),
        langs: FxHashMap::from_iter([("", 0)]),
        labels: FxHashMap::default(),
    };
    let uids = staging.number_nodes(&mutations)?;
    for mutation in &mutations {
        let part = staging.part(mutation)?;
        staging.changes.parts.push(part);
    }
    // Only now: what is refused names no uids.
    version.uids.skip_to(staging.changes.next_uid);
    let report = MutationReport { uids, triples: (STATEMENTS_MAX - room) as u64 };
    Ok((staging.changes, report))
}

/// The error for a request of so many statements.
pub(super) fn too_many(count: usize) -> Error {
    Error::Limit {
        message: format!(
            "the request has {count} statements, at most {STATEMENTS_MAX} are carried out at once: split it, or load a file"
        ),
    }
}

fn star_in_set() -> Error {
    Error::query("`*` can only be deleted, not set")
}

/// What a request calls a new node.
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
            Subject::Uid(_) | Subject::Star => None,
        }
    }

    /// The name in the report. A node without any is told apart from those of other requests.
    fn reported(self, version: &Version) -> String {
        match self {
            Label::Blank(label) => label.to_owned(),
            Label::New(number) => format!("dg.{}.{number}", version.commit + 1),
            Label::Var(name) => format!("uid({name})"),
        }
    }
}

/// Which of the predicates that the schema does not know are lists, as far as the text tells.
///
/// JSON tells by its brackets. N-Quads tell by a node that has the predicate twice.
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
    lists: FxHashMap<&'a str, bool>,
    changes: Changes,
    /// The places of the predicates in the changes.
    predicates: FxHashMap<String, u32>,
    /// The places of the languages.
    langs: FxHashMap<&'a str, u32>,
    labels: FxHashMap<Label<'a>, Uid>,
}

impl<'a> Staging<'a, '_> {
    /// Gives uids to the new nodes, and says which. They come after all that are named.
    fn number_nodes(&mut self, mutations: &[Mutation<'a>]) -> Result<Vec<(String, Uid)>> {
        let sets = || mutations.iter().flat_map(|mutation| &mutation.sets);
        let mentioned = || sets().flat_map(|quad| [Some(quad.subject), target(&quad.object)]);
        for node in mentioned().flatten() {
            if let Subject::Uid(uid) = node {
                self.note_uid(uid, !NodeIds::is_high(Uid(uid)));
            }
        }
        let mut labels = Vec::new();
        for label in mentioned().flatten().filter_map(Label::of) {
            if let Entry::Vacant(place) = self.labels.entry(label) {
                place.insert(Uid(0));
                labels.push(label);
            }
        }
        if labels.is_empty() {
            return Ok(Vec::new());
        }
        let Version { uids, nodes, .. } = self.version;
        uids.skip_to(self.changes.next_uid);
        let new = uids.take_unknown(labels.len() as u64, nodes)?;
        let mut reported = Vec::with_capacity(labels.len());
        for (label, uid) in labels.into_iter().zip(new) {
            self.labels.insert(label, Uid(uid));
            self.note_uid(uid, true);
            reported.push((label.reported(self.version), Uid(uid)));
        }
        Ok(reported)
    }

    /// Notes a uid that is set; `is_counted` says whether new ones come after it.
    fn note_uid(&mut self, uid: u64, is_counted: bool) {
        if NodeIds::is_high(Uid(uid)) {
            self.changes.high.push(uid);
        }
        if is_counted {
            self.changes.next_uid = self.changes.next_uid.max(uid + 1);
        }
    }

    fn part(&mut self, mutation: &Mutation<'a>) -> Result<Part> {
        let mut part = Part::default();
        for quad in &mutation.deletes {
            self.delete(quad, &mut part).map_err(|error| error.or_at(quad.at))?;
        }
        for quad in &mutation.sets {
            self.set(quad, &mut part).map_err(|error| error.or_at(quad.at))?;
        }
        Ok(part)
    }

    fn delete(&mut self, quad: &NQuad<'a>, part: &mut Part) -> Result<()> {
        let is_star = quad.object == Object::Star;
        let name = match (quad.subject, quad.predicate) {
            (Subject::Star, _) => return Err(wrong_star()),
            (_, Predicate::Name(name)) => name,
            (_, Predicate::Star) if is_star => {
                let node = self.known_uid(quad.subject)?;
                self.delete_node(node, part);
                return Ok(());
            }
            (_, Predicate::Star) => return Err(wrong_star()),
        };
        let node = self.known_uid(quad.subject)?;
        let target = target(&quad.object).map(|target| self.known_uid(target)).transpose()?;
        check_name(name, &self.version.schema).map_err(Error::schema)?;
        // Deletes never create schema.
        let Some(predicate) = self.predicate(name) else { return Ok(()) };
        let def = Arc::clone(&self.changes.predicates[predicate as usize]);
        let lang = self.lang(quad.lang);
        let what = match (&quad.object, target) {
            (Object::Star, _) if quad.lang.is_empty() => Deleted::All,
            (Object::Star, _) if def.lang => Deleted::Lang(lang),
            (Object::Star, _) => return Err(Error::schema(missing_lang(name))),
            (object, target) => {
                check_shape(&def, quad.lang, target.is_some()).map_err(Error::schema)?;
                match (object, target) {
                    (_, Some(target)) => Deleted::Edge(target),
                    (Object::Literal { text, .. }, _) if def.value_type == ValueType::Password => {
                        Deleted::Password(lang, text.to_string())
                    }
                    _ => {
                        let wrong = |reason| wrong_value(reason, &def, quad.subject);
                        Deleted::Value(lang, stored(object, &def).map_err(wrong)?)
                    }
                }
            }
        };
        part.deletes.push(Delete { predicate, node, what });
        Ok(())
    }

    /// Deletes what the types of a node say that it has, and the types.
    fn delete_node(&mut self, node: Uid, part: &mut Part) {
        for name in fields_of(self.version, node) {
            if let Some(predicate) = self.predicate(&name) {
                part.deletes.push(Delete { predicate, node, what: Deleted::All });
            }
        }
    }

    fn set(&mut self, quad: &NQuad<'a>, part: &mut Part) -> Result<()> {
        let Predicate::Name(name) = quad.predicate else { return Err(star_in_set()) };
        if quad.subject == Subject::Star || quad.object == Object::Star {
            return Err(star_in_set());
        }
        check_name(name, &self.version.schema).map_err(Error::schema)?;
        let predicate = match self.predicate(name) {
            Some(predicate) => predicate,
            None => self.define(name, &quad.object),
        };
        let target = target(&quad.object);
        let def = Arc::clone(&self.changes.predicates[predicate as usize]);
        check_shape(&def, quad.lang, target.is_some()).map_err(Error::schema)?;
        let node = self.known_uid(quad.subject)?;
        let facets = quad.facets.iter();
        let facets = facets.map(|(key, value)| (Arc::from(*key), value.clone())).collect();
        if let Some(target) = target {
            let target = self.known_uid(target)?;
            part.edges.push(SetEdge { predicate, node, target, facets });
            return Ok(());
        }
        let wrong = |reason| wrong_value(reason, &def, quad.subject);
        let value = stored(&quad.object, &def).map_err(wrong)?;
        let lang = self.lang(quad.lang);
        part.values.push(SetValue { predicate, lang, node, value, facets });
        Ok(())
    }

    /// The place of a predicate that the schema or the request knows.
    fn predicate(&mut self, name: &str) -> Option<u32> {
        if let Some(&place) = self.predicates.get(name) {
            return Some(place);
        }
        let def = self.version.schema.predicates.get(name)?.clone();
        Some(self.add_predicate(def))
    }

    fn add_predicate(&mut self, def: PredicateDef) -> u32 {
        let place = self.changes.predicates.len() as u32;
        self.predicates.insert(def.name.clone(), place);
        self.changes.predicates.push(Arc::new(def));
        place
    }

    /// Defines a predicate by the first object that it has.
    fn define(&mut self, name: &str, object: &Object<'_>) -> u32 {
        let value_type = match object {
            Object::Literal { value_type, .. } => *value_type,
            Object::Value(value) => value.value_type(),
            _ => ValueType::Uid,
        };
        let mut def = PredicateDef::new(name, value_type);
        let single_only = matches!(value_type, ValueType::Bool | ValueType::Password);
        let is_list = self.lists.get(name).copied();
        def.list = is_list.unwrap_or(value_type == ValueType::Uid) && !single_only;
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
    fn known_uid(&self, subject: Subject<'a>) -> Result<Uid> {
        if let Subject::Uid(uid) = subject {
            return Ok(Uid(uid));
        }
        let label = Label::of(subject);
        let known = label.and_then(|label| self.labels.get(&label).copied());
        known.ok_or_else(|| match label {
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

/// The error for a value that can't be stored, or that nobody can have.
fn wrong_value(reason: String, def: &PredicateDef, subject: Subject<'_>) -> Error {
    let node = match subject {
        Subject::Uid(uid) => Uid(uid).to_string(),
        Subject::Blank(label) => format!("_:{label}"),
        Subject::Var(name) => format!("uid({name})"),
        Subject::New(_) | Subject::Star => "a new node".to_owned(),
    };
    let (name, value_type) = (shown(&def.name), def.value_type.name());
    Error::query(reason).with_hint(format!("{name} of {node} is of type {value_type}"))
}

fn wrong_star() -> Error {
    Error::query("of the deletes with `*`, only two are possible")
        .with_hint("`<0x1> <name> * .` for a predicate of a node, `<0x1> * * .` for all of a node")
}

/// The predicates that `S * *` deletes: those of the node's types, and the types themselves.
fn fields_of(version: &Version, subject: Uid) -> Vec<String> {
    const TYPE: &str = "dgraph.type";
    let mut fields = vec![TYPE.to_owned()];
    let types = version.predicate(TYPE).and_then(|types| types.values(""));
    let (Some(types), Some(node)) = (types, version.nodes.node(subject)) else { return fields };
    for name in types.values(node).iter().filter_map(crate::storage::text_of) {
        if let Some(def) = version.schema.types.get(name) {
            fields.extend(def.fields.iter().filter(|field| !field.starts_with('~')).cloned());
        }
    }
    fields.sort_unstable();
    fields.dedup();
    fields
}
