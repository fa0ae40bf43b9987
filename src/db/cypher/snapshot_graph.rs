//! [`SnapshotGraph`]: one version of the graph, as queries in Cypher see it.

use super::inverse::Inverse;
use super::look_ups::{LookUps, nodes_per_test};
use super::names::{
    NamedProperty, Owned, PropertyNames, is_property, is_unambiguous, is_visible, parts_in,
    short_name,
};
use super::snapshot_lists::{SnapshotLists, node_types, nodes_of_type};
use super::stored_values::to_cypher;
use crate::db::query::warnings::{Warning, WarningKind};
use hexgraph_base::schema::{Schema, is_reserved};
use hexgraph_base::types::{Error, Position, Result, Uid, bounded, did_you_mean};
use hexgraph_cypher::ast::Direction;
use hexgraph_cypher::{
    Adjacency, AlgorithmRequest, AlgorithmRows, Graph, IndexAccess, IndexEstimate, IndexTest,
    NameKind, NameList,
};
use hexgraph_scalar::{Map, Relationship, Value};
use hexgraph_store::exec::RequestContext;
use hexgraph_store::graph::{Direction as Edges, Predicate, Version};
use hexgraph_store::storage::{NodeSet, text_of};
use rustc_hash::FxHashMap;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// The number of nodes of a batch.
const BATCH_LEN: usize = 1024;

/// The most warnings of a request: nobody reads more.
const WARNINGS_MAX: usize = 100;

/// The most nodes of a look-up that are stored: more are searched for again, which costs less than
/// a visit of each.
const LOOKED_UP_MAX: usize = 1024;

/// A predicate with edges.
struct EdgeType {
    name: Arc<str>,
    predicate: Arc<Predicate>,
    /// Its edges against their direction, where the predicate has no `@reverse`.
    inverse: OnceCell<Inverse>,
}

/// Predicates in the order of their names.
type Named = Vec<(Arc<str>, Arc<Predicate>)>;

/// The predicates that a request sees.
struct Visible<'a> {
    /// In the order of names; the id of a type is its index.
    types: Vec<EdgeType>,
    /// The predicates with values, in the order of names.
    value_predicates: Named,
    /// What joins read.
    lists: SnapshotLists<'a>,
}

/// The nodes that have a value of a property, from the estimate for a plan until they are needed.
struct LookedUp {
    property: Box<str>,
    value: Value,
    nodes: NodeSet,
}

/// One version of the graph for one request.
pub(super) struct SnapshotGraph<'a> {
    version: Arc<Version>,
    context: &'a RequestContext,
    names: Arc<PropertyNames>,
    /// All predicates, for what needs more than single properties.
    visible: OnceCell<Visible<'a>>,
    properties: RefCell<FxHashMap<Box<str>, Rc<NamedProperty>>>,
    owned: RefCell<FxHashMap<Box<str>, Rc<Owned>>>,
    labels: RefCell<FxHashMap<Box<str>, Arc<str>>>,
    /// The nodes of each label that was tested.
    nodes_of_labels: RefCell<FxHashMap<Box<str>, NodeSet>>,
    keys: RefCell<FxHashMap<Box<str>, Arc<str>>>,
    looked_up: RefCell<Option<LookedUp>>,
    warnings: RefCell<Vec<Warning>>,
}

impl<'a> SnapshotGraph<'a> {
    /// O(1): predicates are listed when they are needed. `names` are those of the version's schema.
    pub(super) fn new(
        version: Arc<Version>,
        names: Arc<PropertyNames>,
        context: &'a RequestContext,
    ) -> SnapshotGraph<'a> {
        SnapshotGraph {
            version,
            context,
            names,
            visible: OnceCell::new(),
            properties: RefCell::default(),
            owned: RefCell::default(),
            labels: RefCell::default(),
            nodes_of_labels: RefCell::default(),
            keys: RefCell::default(),
            looked_up: RefCell::default(),
            warnings: RefCell::default(),
        }
    }

    /// What the request reads.
    pub(super) fn version(&self) -> &Version {
        &self.version
    }

    /// The limits of the request.
    pub(super) fn context(&self) -> &'a RequestContext {
        self.context
    }

    /// The edges of a relationship type.
    pub(super) fn edges_of_type(&self, type_id: u32) -> Option<&Arc<Predicate>> {
        self.types().get(type_id as usize).map(|it| &it.predicate)
    }

    /// Adds a warning, each once.
    pub(super) fn warn(&self, warning: Warning) {
        let mut warnings = self.warnings.borrow_mut();
        if warnings.len() < WARNINGS_MAX && !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    /// Returns the warnings in the order of the text.
    pub(super) fn into_warnings(self) -> Vec<Warning> {
        let mut warnings = self.warnings.into_inner();
        warnings.sort_by_key(|warning| (warning.at.line, warning.at.column));
        warnings
    }

    /// All predicates that the request sees. O(predicates) for the first call.
    fn visible(&self) -> &Visible<'a> {
        self.visible.get_or_init(|| {
            let mut visible: Vec<_> = self
                .version
                .predicates()
                .filter(|(_, predicate)| is_visible(predicate))
                .map(|(name, predicate)| (Arc::clone(name), Arc::clone(predicate)))
                .collect();
            visible.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
            let (edges, value_predicates): (Named, Named) =
                visible.into_iter().partition(|(_, predicate)| predicate.is_edges());
            let lists = SnapshotLists::new(
                &self.version,
                self.context,
                &edges,
                &value_predicates,
                &self.names,
            );
            let types = edges
                .into_iter()
                .map(|(name, predicate)| EdgeType { name, predicate, inverse: OnceCell::new() })
                .collect();
            Visible { types, value_predicates, lists }
        })
    }

    /// The predicates with edges, in the order of their names.
    pub(super) fn edge_predicates(&self) -> impl Iterator<Item = (&Arc<str>, &Predicate)> {
        self.types().iter().map(|it| (&it.name, &*it.predicate))
    }

    /// The predicates with values, in the order of their names.
    pub(super) fn value_predicates(&self) -> impl Iterator<Item = (&Arc<str>, &Predicate)> {
        self.visible().value_predicates.iter().map(|(name, it)| (name, &**it))
    }

    fn types(&self) -> &[EdgeType] {
        &self.visible().types
    }

    /// The types that have fields of a short name, and these fields.
    pub(super) fn owned(&self, short: &str) -> Rc<Owned> {
        if let Some(owned) = self.owned.borrow().get(short) {
            return Rc::clone(owned);
        }
        let owned = Rc::new(self.names.owned(&self.version, short));
        self.owned.borrow_mut().insert(short.into(), Rc::clone(&owned));
        owned
    }

    fn has_label_named(&self, name: &str) -> bool {
        self.version.schema.types.contains_key(name)
            || !nodes_of_type(&self.version, name).is_empty()
    }

    /// The ids of the relationship types of a full or short name, in ascending order.
    fn type_ids(&self, name: &str) -> impl Iterator<Item = u32> {
        let is_named = move |full: &str| full == name || short_name(full) == name;
        (0..).zip(self.types()).filter(move |(_, edges)| is_named(&edges.name)).map(|(id, _)| id)
    }

    fn has_type_named(&self, name: &str) -> bool {
        self.type_ids(name).next().is_some()
    }

    /// Whether the schema is empty: then no name is a mistake.
    fn is_bare(&self) -> bool {
        let Schema { types, predicates, .. } = &*self.version.schema;
        types.keys().map(|it| &**it).chain(predicates.keys().map(|it| &**it)).all(is_reserved)
    }

    /// What a warning says of a name that nothing has.
    fn unknown(kind: NameKind, name: &str) -> (WarningKind, String) {
        match kind {
            NameKind::Label => {
                (WarningKind::UnknownType, format!("no node has the label `{name}`"))
            }
            NameKind::RelationshipType => {
                (WarningKind::UnknownPredicate, format!("there is no relationship type `{name}`"))
            }
            NameKind::LabelOrType => {
                let message = format!("there is no label and no relationship type `{name}`");
                (WarningKind::UnknownType, message)
            }
            NameKind::Property => {
                (WarningKind::UnknownPredicate, format!("no node has the property `{name}`"))
            }
        }
    }

    /// What to write instead of a name that nothing has. O(schema).
    fn proposal(&self, kind: NameKind, name: &str) -> String {
        let Schema { types, predicates, .. } = &*self.version.schema;
        let labels = || types.keys().map(|it| &**it).filter(|it| !is_reserved(it));
        let edges = || self.types().iter().flat_map(|it| [&*it.name, short_name(&it.name)]);
        match kind {
            NameKind::Label => did_you_mean(name, labels()),
            NameKind::RelationshipType => did_you_mean(name, edges()),
            NameKind::LabelOrType => did_you_mean(name, labels().chain(edges())),
            NameKind::Property if self.has_type_named(name) => {
                format!("it is a relationship type: match `(n)-[:{name}]->(m)`")
            }
            NameKind::Property => {
                let values = predicates.iter().filter(|(full, def)| is_property(full, def));
                did_you_mean(name, values.flat_map(|(full, _)| [&**full, short_name(full)]))
            }
        }
    }

    fn node(&self, uid: u64) -> Option<u32> {
        self.version.nodes.node(Uid(uid))
    }

    /// The edges of a relationship's type, with its two endpoints; `None` where a node has no id.
    fn edge(&self, it: Relationship) -> Result<Option<(&Edges, u32, u32)>> {
        let id = it.type_id as usize;
        let edges = self.types().get(id).map(|edges| edges.predicate.direction(false));
        let edges = edges.ok_or_else(|| Error::internal(format!("no relationship type {id}")))?;
        let endpoints = (self.node(it.subject), self.node(it.object));
        let (Some(edges), (Some(subject), Some(object))) = (edges, endpoints) else {
            return Ok(None);
        };
        Ok(Some((edges, subject, object)))
    }

    fn inverse<'e>(&self, edges: &'e EdgeType) -> Result<&'e Inverse> {
        if let Some(inverse) = edges.inverse.get() {
            return Ok(inverse);
        }
        let forward = edges.predicate.direction(false);
        let forward = forward.ok_or_else(|| Error::internal("a relationship type has no edges"))?;
        let inverse = Inverse::of(forward, self.context)?;
        Ok(edges.inverse.get_or_init(|| inverse))
    }

    fn labels_of(&self, node: u32) -> Vec<Arc<str>> {
        let Some(types) = node_types(&self.version) else { return Vec::new() };
        let values = types.values(node);
        let texts = values.iter().filter_map(text_of);
        let mut labels: Vec<_> = texts
            .filter(|name| !is_reserved(name))
            .map(|name| shared(&self.labels, name))
            .collect();
        labels.sort_unstable();
        labels
    }

    fn append_batch(&self, set: &NodeSet, after: Option<u64>, into: &mut Vec<u64>) {
        let least = match after {
            None => Some(0),
            Some(uid) => self.version.nodes.node_after(Uid(uid)),
        };
        let Some(least) = least else { return };
        let nodes = set.iter_from(least).take(BATCH_LEN);
        into.extend(nodes.map(|node| self.version.nodes.uid(node).0));
    }

    fn named(&self, name: &str) -> Rc<NamedProperty> {
        if let Some(property) = self.properties.borrow().get(name) {
            return Rc::clone(property);
        }
        let property = Rc::new(self.names.property(&self.version, name));
        self.properties.borrow_mut().insert(name.into(), Rc::clone(&property));
        property
    }

    fn expand_type(
        &self,
        (type_id, node, uid): (u32, u32, u64),
        direction: Direction,
        into: &mut Vec<(Relationship, u64)>,
    ) -> Result<()> {
        let edges = &self.types()[type_id as usize];
        let uid_of = |other: u32| self.version.nodes.uid(other).0;
        if direction != Direction::In
            && let Some(forward) = edges.predicate.direction(false)
        {
            into.extend(forward.targets(node).iter().map(|&other| {
                let object = uid_of(other);
                (Relationship { subject: uid, object, type_id }, object)
            }));
        }
        if direction == Direction::Out {
            return Ok(());
        }
        let mut add = |other: u32| {
            // A relationship from the node to itself was appended with the outgoing ones.
            if direction == Direction::In || other != node {
                let subject = uid_of(other);
                into.push((Relationship { subject, object: uid, type_id }, subject));
            }
        };
        match edges.predicate.direction(true) {
            Some(reverse) => reverse.targets(node).iter().copied().for_each(&mut add),
            None => self.inverse(edges)?.subjects(node).for_each(&mut add),
        }
        Ok(())
    }
}

/// The shared text of a name that comes again and again.
fn shared(cache: &RefCell<FxHashMap<Box<str>, Arc<str>>>, name: &str) -> Arc<str> {
    if let Some(text) = cache.borrow().get(name) {
        return Arc::clone(text);
    }
    let text: Arc<str> = name.into();
    cache.borrow_mut().insert(name.into(), Arc::clone(&text));
    text
}

/// The value that a node has of a predicate in a language; null when there is none.
fn stored(predicate: &Predicate, lang: &str, node: u32) -> Result<Value> {
    let value_type = predicate.def.value_type;
    let mut values = Vec::new();
    for part in parts_in(predicate, lang) {
        for value in part.values(node).iter() {
            let value = to_cypher(value, value_type)?;
            if !predicate.def.list {
                return Ok(value);
            }
            values.push(value);
        }
    }
    if values.is_empty() { Ok(Value::Null) } else { Ok(Value::list(values)?) }
}

/// The value that a test requires, where it is one.
fn only_value(test: &IndexTest) -> Option<&Value> {
    match test {
        IndexTest::AnyOf(values) => values.first().filter(|_| values.len() == 1),
        IndexTest::Range(_) | IndexTest::Text(..) | IndexTest::Matches(_) | IndexTest::Near(..) => {
            None
        }
    }
}

impl Graph for SnapshotGraph<'_> {
    fn nodes(&self, after: Option<u64>, into: &mut Vec<u64>) -> Result<()> {
        self.append_batch(self.visible().lists.all_nodes()?, after, into);
        Ok(())
    }

    fn node_count(&self) -> Result<u64> {
        Ok(self.visible().lists.all_nodes()?.len() as u64)
    }

    fn has_node(&self, node: u64) -> Result<bool> {
        match self.node(node) {
            Some(node) => self.visible().lists.has_node(node, || !self.labels_of(node).is_empty()),
            None => Ok(false),
        }
    }

    fn nodes_with_label(&self, label: &str, after: Option<u64>, into: &mut Vec<u64>) -> Result<()> {
        self.append_batch(&nodes_of_type(&self.version, label), after, into);
        Ok(())
    }

    fn label_count(&self, label: &str) -> Result<u64> {
        Ok(nodes_of_type(&self.version, label).len() as u64)
    }

    fn find(&self, property: &str, test: &IndexTest) -> Result<Option<Vec<u64>>> {
        let is_it = |it: &LookedUp, value: &Value| *it.property == *property && it.value == *value;
        if let Some(value) = only_value(test)
            && let Some(existing) = self.looked_up.borrow().as_ref().filter(|it| is_it(it, value))
        {
            return Ok(Some(self.version.nodes.uids(&existing.nodes.to_vec())));
        }
        let property = self.named(property);
        let Some(look_ups) = LookUps::of(&property, test) else { return Ok(None) };
        let is_union = only_value(test).is_none();
        let _reserved = match look_ups.estimate().filter(|_| is_union) {
            Some(estimate) => {
                // Nodes are listed, sorted and named by their uids.
                let bytes = (estimate.nodes as usize).saturating_mul(4 + size_of::<u64>());
                Some(self.context.charge_while(bytes)?)
            }
            None => None,
        };
        Ok(look_ups.nodes().map(|nodes| self.version.nodes.uids(&nodes.to_vec())))
    }

    fn estimate(&self, property: &str, test: &IndexTest) -> Result<Option<IndexEstimate>> {
        let named = self.named(property);
        let Some(look_ups) = LookUps::of(&named, test) else { return Ok(None) };
        let Some(value) = only_value(test) else { return Ok(look_ups.estimate()) };
        let Some(nodes) = look_ups.nodes() else { return Ok(None) };
        let estimate = look_ups.expecting(nodes.len() as u64);
        if nodes.len() <= LOOKED_UP_MAX {
            let (property, value) = (property.into(), value.clone());
            self.looked_up.replace(Some(LookedUp { property, value, nodes }));
        }
        Ok(Some(estimate))
    }

    fn nodes_per_test(&self, property: &str, access: IndexAccess) -> Result<Option<u64>> {
        Ok(nodes_per_test(&self.named(property), access))
    }

    fn labels(&self, node: u64) -> Result<Vec<Arc<str>>> {
        Ok(self.node(node).map(|node| self.labels_of(node)).unwrap_or_default())
    }

    fn has_label(&self, node: u64, label: &str) -> Result<bool> {
        let Some(node) = self.node(node) else { return Ok(false) };
        if let Some(nodes) = self.nodes_of_labels.borrow().get(label) {
            return Ok(nodes.contains(node));
        }
        let nodes = nodes_of_type(&self.version, label);
        let is_member = nodes.contains(node);
        self.nodes_of_labels.borrow_mut().insert(label.into(), nodes);
        Ok(is_member)
    }

    fn property(&self, node: u64, name: &str) -> Result<Value> {
        let Some(id) = self.node(node) else { return Ok(Value::Null) };
        let property = self.named(name);
        let mut result = Value::Null;
        let mut source: Option<&str> = None;
        if !property.owned.is_empty() {
            let labels = self.labels_of(id);
            let of_types = property.owned.iter().filter(|(owner, _)| labels.contains(owner));
            for predicate in of_types.flat_map(|(_, predicates)| predicates) {
                let value = stored(predicate, &property.lang, id)?;
                match source {
                    _ if value.is_null() => {}
                    Some(other) if other != predicate.def.name.as_str() && result != value => {
                        return Err(ambiguous(node, name, other, &predicate.def.name));
                    }
                    _ => (result, source) = (value, Some(predicate.def.name.as_str())),
                }
            }
        }
        match &property.exact {
            Some(predicate) if source.is_none() => stored(predicate, &property.lang, id),
            _ => Ok(result),
        }
    }

    fn properties(&self, node: u64) -> Result<Map> {
        let Some(id) = self.node(node) else { return Ok(Map::new(Vec::new())?) };
        let labels = self.labels_of(id);
        let mut entries = Vec::new();
        let values = &self.visible().value_predicates;
        for (name, predicate) in values.iter().filter(|(_, it)| it.has(id)) {
            let is_short = is_unambiguous(&self.owned(short_name(name)), name, &labels)
                && predicate_of(values, short_name(name)).is_none_or(|other| !other.has(id));
            let key =
                if is_short { shared(&self.keys, short_name(name)) } else { Arc::clone(name) };
            let untagged = stored(predicate, "", id)?;
            if !untagged.is_null() {
                entries.push((Arc::clone(&key), untagged));
            }
            let tagged = predicate.langs().iter().filter(|_| predicate.def.lang);
            for lang in tagged.map(|values| &*values.lang).filter(|lang| !lang.is_empty()) {
                let value = stored(predicate, lang, id)?;
                if !value.is_null() {
                    entries.push((shared(&self.keys, &format!("{key}@{lang}")), value));
                }
            }
        }
        Ok(Map::new(entries)?)
    }

    fn relationship_types(&self) -> Result<Vec<Arc<str>>> {
        Ok(self.types().iter().map(|edges| Arc::clone(&edges.name)).collect())
    }

    fn type_name(&self, type_id: u32) -> Result<Arc<str>> {
        let edges = self.types().get(type_id as usize);
        Ok(edges.map_or_else(|| "".into(), |edges| Arc::clone(&edges.name)))
    }

    fn types_named(&self, name: &str) -> Result<Vec<u32>> {
        Ok(self.type_ids(name).collect())
    }

    fn expand(
        &self,
        node: u64,
        direction: Direction,
        types: Option<&[u32]>,
        into: &mut Vec<(Relationship, u64)>,
    ) -> Result<()> {
        let Some(id) = self.node(node) else { return Ok(()) };
        match types {
            Some(types) => {
                for &type_id in types {
                    self.expand_type((type_id, id, node), direction, into)?;
                }
            }
            None => {
                for type_id in 0..self.types().len() as u32 {
                    self.expand_type((type_id, id, node), direction, into)?;
                }
            }
        }
        Ok(())
    }

    fn has_relationship(&self, relationship: Relationship) -> Result<bool> {
        let edge = self.edge(relationship)?;
        Ok(edge.is_some_and(|(edges, subject, object)| edges.contains(subject, object)))
    }

    fn relationship_property(&self, relationship: Relationship, name: &str) -> Result<Value> {
        let edge = self.edge(relationship)?;
        match edge.and_then(|(edges, subject, object)| edges.facet(subject, object, name)) {
            Some(value) => to_cypher(value, value.value_type()),
            None => Ok(Value::Null),
        }
    }

    fn relationship_properties(&self, relationship: Relationship) -> Result<Map> {
        let mut entries = Vec::new();
        if let Some((edges, subject, object)) = self.edge(relationship)? {
            for (key, value) in edges.facets(subject, object) {
                entries.push((shared(&self.keys, key), to_cypher(value, value.value_type())?));
            }
        }
        Ok(Map::new(entries)?)
    }

    fn adjacency(&self) -> Option<&dyn Adjacency> {
        Some(&self.visible().lists)
    }

    fn names(&self, list: NameList) -> Result<Vec<Arc<str>>> {
        self.name_list(list)
    }

    fn algorithm(&self, request: &AlgorithmRequest) -> Result<AlgorithmRows> {
        self.run_algorithm(request)
    }

    fn note_name(&self, kind: NameKind, name: &str, at: &dyn Fn() -> Position) {
        let is_there = match kind {
            NameKind::Label => self.has_label_named(name),
            NameKind::RelationshipType => self.has_type_named(name),
            NameKind::LabelOrType => self.has_label_named(name) || self.has_type_named(name),
            NameKind::Property => {
                let property = self.named(name);
                property.exact.is_some()
                    || !property.owned.is_empty()
                    || self.names.is_declared(&self.version.schema, name)
            }
        };
        if is_there || WARNINGS_MAX <= self.warnings.borrow().len() || self.is_bare() {
            return;
        }
        let (at, name) = (at(), &bounded(name));
        let (warning, message) = SnapshotGraph::unknown(kind, name);
        // A query that runs for each row of parameters meets its names again and again: what is
        // reported is not searched for proposals once more.
        let is_same = |other: &Warning| other.at == at && other.message == message;
        if !self.warnings.borrow().iter().any(is_same) {
            let hint = self.proposal(kind, name);
            self.warn(Warning { kind: warning, message, at, hint });
        }
    }

    fn check(&self) -> Result<()> {
        self.context.check()
    }

    fn reserve(&self, bytes: usize) -> Result<()> {
        self.context.charge(bytes)
    }

    fn release(&self, bytes: usize) {
        self.context.uncharge(bytes);
    }

    fn affords(&self, bytes: usize) -> bool {
        self.context.affords(bytes)
    }
}

/// A predicate of a list that is sorted by name.
fn predicate_of<'p>(
    predicates: &'p [(Arc<str>, Arc<Predicate>)],
    name: &str,
) -> Option<&'p Arc<Predicate>> {
    let index = predicates.binary_search_by(|(other, _)| (**other).cmp(name)).ok()?;
    Some(&predicates[index].1)
}

fn ambiguous(node: u64, name: &str, one: &str, other: &str) -> Error {
    let message = format!(
        "the property `{name}` of node {node:#x} has two different values, of `{one}` and of `{other}`"
    );
    Error::query(message).with_hint(format!("write the full name in backquotes: n.`{one}`"))
}
