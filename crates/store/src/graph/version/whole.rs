//! The whole graph at one moment: what a query reads, and nothing else.

use super::edges::{Direction, EdgeStore};
use super::node_ids::NodeIds;
use super::uids::Uids;
use super::values::LangValues;
use crate::graph::change::weight;
use crate::graph::thresholds::Thresholds;
use crate::storage::NodeSet;
use hexgraph_base::budget::Budget;
use hexgraph_base::schema::{PredicateDef, Schema};
use roaring::RoaringBitmap;
use std::sync::Arc;

/// An immutable view of the graph. Cloning costs a few reference counts.
#[derive(Clone)]
pub struct Version {
    /// The number of the commit that made it; it grows.
    pub commit: u64,
    /// Between uids and node ids.
    pub nodes: NodeIds,
    /// What predicates and types there are.
    pub schema: Arc<Schema>,
    /// The predicates by name: all that the schema has, those that nobody uses yet without data.
    pub predicates: imbl::HashMap<Arc<str>, Arc<Predicate>>,
    /// Hands out the uids of new nodes, to all versions of the graph.
    pub uids: Arc<Uids>,
    /// About the bytes that were replaced by other ones in the version and all before it. So who
    /// keeps an older one keeps at most the difference of the two beside it.
    pub replaced: u64,
    /// Of what loads, folds and builds of indexes draw memory.
    pub budget: Budget,
    /// From which sizes on it is folded and searched in another way.
    pub thresholds: Thresholds,
}

/// One predicate at one version.
#[derive(Clone)]
pub struct Predicate {
    /// Its definition.
    pub def: Arc<PredicateDef>,
    /// Its data.
    pub data: PredicateData,
}

/// The data of a predicate.
#[derive(Clone)]
pub enum PredicateData {
    /// Values, one part for each language, sorted by language; untagged first.
    Values(Vec<LangValues>),
    /// Edges.
    Edges(EdgeStore),
}

impl Version {
    /// The graph without data, with the schema that every graph has.
    pub fn empty() -> Version {
        let mut version = Version {
            commit: 0,
            nodes: NodeIds::default(),
            schema: Arc::new(Schema::new()),
            predicates: imbl::HashMap::new(),
            uids: Arc::new(Uids::default()),
            replaced: 0,
            budget: Budget::new(u64::MAX),
            thresholds: Thresholds::default(),
        };
        version.add_unused();
        version
    }

    /// Adds those predicates of the schema that are missing, without data.
    pub fn add_unused(&mut self) {
        let missing =
            self.schema.predicates.values().filter(|def| !self.predicates.contains_key(&*def.name));
        let new: Vec<_> = missing
            .map(|def| (Arc::from(def.name.as_str()), Arc::new(Predicate::empty(def.clone()))))
            .collect();
        self.predicates.extend(new);
    }

    /// Puts predicates in the place of those of their names.
    pub fn replace(&mut self, predicates: impl IntoIterator<Item = (Arc<str>, Arc<Predicate>)>) {
        for (name, predicate) in predicates {
            if let Some(old) = self.predicates.get(&name) {
                self.replaced += weight::of_replaced(old, Some(&predicate)) as u64;
            }
            self.predicates.insert(name, predicate);
        }
    }

    /// The number of nodes that have a value or an edge, or that an edge leads to.
    pub fn node_count(&self) -> u64 {
        let nodes_of = |(_, predicate): (&Arc<str>, &Arc<Predicate>)| {
            let mut nodes = predicate.subjects().to_bitmap();
            if let PredicateData::Edges(edges) = &predicate.data {
                match &edges.reverse {
                    Some(reverse) => nodes |= reverse.subjects().to_bitmap(),
                    None => nodes |= edges.forward.all_targets(),
                }
            }
            nodes
        };
        self.predicates.iter().map(nodes_of).fold(RoaringBitmap::new(), |all, one| all | one).len()
    }

    /// Whether a predicate is the same in another version, or in neither. Costs no look at the data: one that was
    /// changed and changed back counts as another.
    pub fn has_same(&self, other: &Version, name: &str) -> bool {
        match (self.predicate(name), other.predicate(name)) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        }
    }

    /// The predicate of a name.
    pub fn predicate(&self, name: &str) -> Option<&Arc<Predicate>> {
        self.predicates.get(name)
    }
}

impl Predicate {
    /// The values in one language; the empty one for untagged values.
    pub fn values(&self, lang: &str) -> Option<&LangValues> {
        let langs = self.langs();
        if lang.is_empty() {
            return langs.first().filter(|values| values.lang.is_empty());
        }
        let place = langs.binary_search_by(|values| (*values.lang).cmp(lang)).ok()?;
        Some(&langs[place])
    }

    /// The parts of a value predicate; none for edges.
    pub fn langs(&self) -> &[LangValues] {
        match &self.data {
            PredicateData::Values(langs) => langs,
            PredicateData::Edges(_) => &[],
        }
    }

    /// The parts that are read where no language is named: the untagged values, and all parts of a
    /// predicate without `@lang`. It may have had it once, and its tagged values stay what they are,
    /// but nobody can name their languages any more.
    pub fn untagged(&self) -> &[LangValues] {
        match self.langs() {
            langs if !self.def.lang => langs,
            [first, ..] if first.lang.is_empty() => std::slice::from_ref(first),
            _ => &[],
        }
    }

    /// The part of [`Predicate::untagged`], where it is just one.
    pub fn only_untagged(&self) -> Option<&LangValues> {
        match self.untagged() {
            [part] => Some(part),
            _ => None,
        }
    }

    /// The edges in one direction.
    pub fn direction(&self, reverse: bool) -> Option<&Direction> {
        match &self.data {
            PredicateData::Edges(edges) => edges.direction(reverse),
            PredicateData::Values(_) => None,
        }
    }

    /// True when the predicate leads to nodes.
    pub fn is_edges(&self) -> bool {
        matches!(self.data, PredicateData::Edges(_))
    }

    /// The nodes that have a value in any language, or an edge.
    pub fn subjects(&self) -> NodeSet {
        match &self.data {
            PredicateData::Edges(edges) => edges.forward.subjects(),
            PredicateData::Values(langs) => langs
                .iter()
                .map(LangValues::subjects)
                .reduce(|one, other| one.or(&other))
                .unwrap_or_default(),
        }
    }

    /// Whether a node has anything.
    pub fn has(&self, node: u32) -> bool {
        match &self.data {
            PredicateData::Edges(edges) => edges.forward.has(node),
            PredicateData::Values(langs) => langs.iter().any(|values| values.has(node)),
        }
    }
}
