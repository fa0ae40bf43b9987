//! Mutations: statements that are deleted and set in one commit, all or none.
//!
//! Everything is read and checked before anything is changed: names, languages, types and values
//! against the schema, with the predicates added to it that the statements bring along. Then new
//! nodes get their uids, deletes are carried out, and sets after them.

use super::apply::Draft;
use super::apply::EdgeChange;
use super::apply::ValueChange;
use super::check::check_name;
use super::check::check_shape;
use super::check::missing_lang;
use super::check::stored_value;
use super::node_ids::NodeIds;
use super::renumber::with_high_uids;
use super::version::Version;
use crate::formats::NQuad;
use crate::formats::Object;
use crate::formats::Predicate;
use crate::formats::Subject;
use crate::formats::parse_text;
use crate::schema::PredicateDef;
use crate::types::Error;
use crate::types::Result;
use crate::types::Uid;
use crate::types::Value;
use crate::types::ValueType;
use rustc_hash::FxHashMap;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// So many statements a request may have.
const STATEMENTS_MAX: usize = 1_000_000;

/// What a mutation did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MutationReport {
    /// The new nodes: the label without `_:`, and the uid that it got. In order of appearance.
    pub uids: Vec<(String, Uid)>,
    /// The number of statements that were carried out.
    pub triples: u64,
}

/// The version with the N-Quads of `delete` deleted and then those of `set` set. Costs
/// O(statements · log), but for a large row of a list, which is copied once.
///
/// # Errors
///
/// [`Error::Syntax`] for what is no N-Quad, [`Error::Schema`] for what the schema forbids,
/// [`Error::Query`] for what makes no sense, [`Error::Limit`] for too many statements.
pub fn apply(version: &Version, set: &str, delete: &str) -> Result<(Version, MutationReport)> {
    let (sets, deletes) = (parse_text(set)?, parse_text(delete)?);
    let count = sets.len() + deletes.len();
    if STATEMENTS_MAX < count {
        let message = format!(
            "NQuad count in the request: {count}, is more than threshold: {STATEMENTS_MAX}"
        );
        return Err(Error::Limit { message });
    }
    let mut next = version.clone();
    for quad in &deletes {
        check_delete(quad, &next)?;
    }
    add_definitions(&mut next, &sets)?;
    let (mut next, uids) = number_nodes(&next, &sets)?;
    let nodes = Nodes { labels: uids.iter().map(|(label, uid)| (&**label, *uid)).collect() };
    let mut draft = Draft::new(&next);
    for quad in &deletes {
        delete_quad(&mut draft, quad, version)?;
    }
    set_quads(&mut draft, &sets, &nodes)?;
    draft.check_unique()?;
    let changed = draft.finish();
    next.predicates.extend(changed);
    drop(nodes);
    let uids = uids.into_iter().map(|(label, uid)| (label.to_owned(), uid)).collect();
    Ok((next, MutationReport { uids, triples: count as u64 }))
}

/// The uids of a request's blank nodes.
struct Nodes<'a> {
    labels: FxHashMap<&'a str, Uid>,
}

impl Nodes<'_> {
    fn uid(&self, subject: Subject<'_>) -> Result<Uid> {
        match subject {
            Subject::Uid(uid) => Ok(Uid(uid)),
            Subject::Blank(label) => Ok(self.labels[label]),
            Subject::Var(name) => Err(undefined(name)),
            Subject::Star => Err(star_in_set()),
        }
    }
}

fn undefined(name: &str) -> Error {
    Error::query(format!("variables [{name}] not defined"))
}

fn star_in_set() -> Error {
    Error::query("Cannot use star in set n-quad")
}

/// The node on the other side, of a statement that is an edge.
fn target<'a>(object: &Object<'a>) -> Option<Subject<'a>> {
    match object {
        Object::Uid(uid) => Some(Subject::Uid(*uid)),
        Object::Blank(label) => Some(Subject::Blank(label)),
        Object::Var(name) => Some(Subject::Var(name)),
        _ => None,
    }
}

fn check_delete(quad: &NQuad<'_>, version: &Version) -> Result<()> {
    for node in [Some(quad.subject), target(&quad.object)].into_iter().flatten() {
        match node {
            Subject::Blank(label) => {
                return Err(Error::query(format!("UID not found/generated for xid _:{label}")));
            }
            Subject::Var(name) => return Err(undefined(name)),
            _ => {}
        }
    }
    if let Object::Val(name) = quad.object {
        return Err(undefined(name));
    }
    let is_star = quad.object == Object::Star;
    let name = match (quad.subject, quad.predicate) {
        (Subject::Uid(_), Predicate::Name(name)) => name,
        (Subject::Uid(_), Predicate::Star) if is_star => return Ok(()),
        _ => {
            let message = "Only valid wildcard delete patterns are 'S * *' and 'S P *'";
            return Err(Error::query(message));
        }
    };
    check_name(name, &version.schema).map_err(Error::schema)?;
    match version.schema.predicates.get(name) {
        Some(def) if is_star && !quad.lang.is_empty() && !def.lang => {
            Err(Error::schema(missing_lang(name)))
        }
        Some(def) if !is_star => {
            let is_edge = target(&quad.object).is_some();
            check_shape(def, quad.lang, is_edge).map_err(Error::schema)
        }
        _ => Ok(()),
    }
}

/// Adds the definitions of predicates that the schema does not know.
fn add_definitions(version: &mut Version, sets: &[NQuad<'_>]) -> Result<()> {
    let mut defs: FxHashMap<&str, PredicateDef> = FxHashMap::default();
    let mut pairs: FxHashSet<((u64, &str), &str)> = FxHashSet::default();
    for quad in sets {
        let Predicate::Name(name) = quad.predicate else { return Err(star_in_set()) };
        check_name(name, &version.schema).map_err(Error::schema)?;
        if let Some(def) = version.schema.predicates.get(name) {
            let is_edge = target(&quad.object).is_some();
            check_shape(def, quad.lang, is_edge).map_err(Error::schema)?;
            continue;
        }
        let value_type = match &quad.object {
            Object::Literal { value_type, .. } => *value_type,
            Object::Star => return Err(star_in_set()),
            Object::Val(name) => return Err(undefined(name)),
            _ => ValueType::Uid,
        };
        let def = defs.entry(name).or_insert_with(|| PredicateDef::new(name, value_type));
        let is_edge = value_type == ValueType::Uid;
        check_shape(def, quad.lang, is_edge).map_err(Error::schema)?;
        let again = !pairs.insert((node_key(quad.subject), name));
        let single_only = matches!(def.value_type, ValueType::Bool | ValueType::Password);
        def.list |= is_edge || again && !single_only;
    }
    if !defs.is_empty() {
        let schema = Arc::make_mut(&mut version.schema);
        schema.predicates.extend(defs.into_values().map(|def| (def.name.clone(), def)));
    }
    Ok(())
}

/// Tells the nodes of a request apart: by uid, else by label.
fn node_key<'a>(subject: Subject<'a>) -> (u64, &'a str) {
    match subject {
        Subject::Uid(uid) => (uid, ""),
        Subject::Blank(label) | Subject::Var(label) => (0, label),
        Subject::Star => (0, ""),
    }
}

/// The version with all nodes of the statements numbered, and the uids of the blank ones.
fn number_nodes<'a>(
    version: &Version,
    sets: &[NQuad<'a>],
) -> Result<(Version, Vec<(&'a str, Uid)>)> {
    let mut next = version.clone();
    let mentioned = || sets.iter().flat_map(|quad| [Some(quad.subject), target(&quad.object)]);
    let mut high = Vec::new();
    for node in mentioned().flatten() {
        if let Subject::Uid(uid) = node {
            next.reserve_uid(Uid(uid));
            high.push(uid);
        }
    }
    let mut labels: FxHashSet<&str> = FxHashSet::default();
    let mut uids = Vec::new();
    for node in mentioned().flatten() {
        if let Subject::Blank(label) = node
            && labels.insert(label)
        {
            let uid = next.new_uid();
            uids.push((label, uid));
            high.push(uid.0);
        }
    }
    high.retain(|&uid| NodeIds::is_high(Uid(uid)));
    Ok((with_high_uids(&next, high)?, uids))
}

/// Carries a delete out. `before` is the version before the request, whose types count.
fn delete_quad(draft: &mut Draft<'_>, quad: &NQuad<'_>, before: &Version) -> Result<()> {
    let Subject::Uid(subject) = quad.subject else { return Ok(()) };
    let Some(node) = draft.node(Uid(subject)) else { return Ok(()) };
    let Predicate::Name(name) = quad.predicate else {
        for name in fields_of(before, Uid(subject)) {
            draft.clear(&name, node);
        }
        return Ok(());
    };
    let Some(def) = draft.definition(name) else { return Ok(()) };
    match &quad.object {
        Object::Star if quad.lang.is_empty() => draft.clear(name, node),
        Object::Star => draft.clear_lang(name, quad.lang, node),
        Object::Uid(uid) => {
            if let Some(target) = draft.node(Uid(*uid)) {
                draft.remove_edge(name, node, target);
            }
        }
        Object::Literal { text, .. } if def.value_type == ValueType::Password => {
            draft.remove_values(name, quad.lang, node, |value| match value {
                Value::Password(hash) => hash == text || Value::verify_password(hash, text),
                _ => false,
            });
        }
        Object::Literal { text, value_type } => {
            let wanted = stored_value(text, *value_type, &def).map_err(Error::query)?;
            draft.remove_values(name, quad.lang, node, |value| *value == wanted);
        }
        Object::Blank(_) | Object::Var(_) | Object::Val(_) => {}
    }
    Ok(())
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

fn set_quads(draft: &mut Draft<'_>, sets: &[NQuad<'_>], nodes: &Nodes<'_>) -> Result<()> {
    let (mut values, mut edges) = (Vec::new(), Vec::new());
    for quad in sets {
        let Predicate::Name(name) = quad.predicate else { return Err(star_in_set()) };
        let subject = nodes.uid(quad.subject)?;
        let node = draft.node(subject).expect("all nodes of the sets are numbered");
        let facets = quad.facets.iter();
        let facets = facets.map(|(key, value)| (Arc::from(*key), value.clone())).collect();
        if let Some(target) = target(&quad.object) {
            let target = nodes.uid(target)?;
            let target = draft.node(target).expect("all nodes of the sets are numbered");
            edges.push(EdgeChange { name, node, target, facets });
            continue;
        }
        let Object::Literal { text, value_type } = &quad.object else {
            let Object::Val(name) = quad.object else { return Err(star_in_set()) };
            return Err(undefined(name));
        };
        let def = draft.definition(name).expect("all predicates of the sets are defined");
        let value = stored_value(text, *value_type, &def).map_err(Error::query)?;
        values.push(ValueChange { name, lang: quad.lang, node, value, facets });
    }
    draft.check_vectors(&values)?;
    draft.set_edges(edges);
    draft.set_values(values);
    Ok(())
}
