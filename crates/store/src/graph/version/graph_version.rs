//! One immutable version of the entire graph: what a query reads, and nothing else.

use super::node_ids::NodeIds;
use super::predicate::Predicate;
use super::uids::Uids;
use super::weight;
use crate::graph::thresholds::Thresholds;
use crate::graph::view::View;
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
    /// What predicates and types there are, of those that the view shows.
    pub schema: Arc<Schema>,
    /// The predicates by name: all of the schema, including those without data and those outside
    /// the view. Reads for a caller use [`Version::predicate`] and [`Version::predicates`].
    pub(in crate::graph) predicates: imbl::HashMap<Arc<str>, Arc<Predicate>>,
    /// What can be seen of it; `None` for all.
    pub(in crate::graph) view: Option<Arc<View>>,
    /// Hands out the uids of new nodes, to all versions of the graph.
    pub uids: Arc<Uids>,
    /// About the bytes replaced in this version and all before it. So an older version pins at most
    /// the difference of the two.
    pub replaced: u64,
    /// True if the commit changed a predicate that is due for compaction.
    pub is_compaction_due: bool,
    /// The memory budget of loads, compactions and index builds.
    pub budget: Budget,
    /// The sizes that control compaction and search.
    pub thresholds: Thresholds,
}

impl Version {
    /// True if loads of few statements run as commits, which costs less than rebuilding entire
    /// predicates of this graph. O(predicates).
    pub fn allows_small_loads(&self) -> bool {
        self.thresholds.is_small(0, self.stored_rows())
    }

    /// The values and edges in the columns of all predicates, without changes. O(predicates).
    pub(in crate::graph) fn stored_rows(&self) -> usize {
        let rows = |predicate: &Predicate| match predicate.direction(false) {
            Some(edges) => edges.base.targets.len(),
            None => predicate.langs().iter().map(|it| it.base.column.values.len()).sum(),
        };
        self.predicates.values().map(|predicate| rows(predicate)).sum()
    }

    /// The graph without data, with the schema that every graph has.
    pub fn empty() -> Version {
        let mut version = Version {
            commit: 0,
            nodes: NodeIds::default(),
            schema: Arc::new(Schema::new()),
            predicates: imbl::HashMap::new(),
            view: None,
            uids: Arc::new(Uids::default()),
            replaced: 0,
            is_compaction_due: false,
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

    /// Adds a predicate without data, unless it is there.
    pub(in crate::graph) fn add_unused_of(&mut self, def: &PredicateDef) {
        if !self.predicates.contains_key(&*def.name) {
            let empty = Arc::new(Predicate::empty(def.clone()));
            self.predicates.insert(Arc::from(def.name.as_str()), empty);
        }
    }

    /// Replaces predicates by name.
    pub fn replace(&mut self, predicates: impl IntoIterator<Item = (Arc<str>, Arc<Predicate>)>) {
        for (name, predicate) in predicates {
            if let Some(old) = self.predicates.get(&name) {
                self.replaced += weight::of_replaced(old, Some(&predicate)) as u64;
            }
            self.predicates.insert(name, predicate);
        }
    }

    /// The number of nodes that have a value or an edge. O(containers of all predicates + changes).
    pub fn subject_count(&self) -> u64 {
        let mut nodes = RoaringBitmap::new();
        self.predicates().for_each(|(_, predicate)| predicate.subjects().or_into(&mut nodes));
        nodes.len()
    }

    /// Bounds of the number of nodes with a value or an edge in a stored direction: the greatest
    /// number of one predicate, and the sum over all predicates. No set is read: O(predicates).
    pub fn subject_bounds(&self) -> (usize, usize) {
        let counts = self.predicates().flat_map(|(_, predicate)| predicate.subject_counts());
        counts.fold((0, 0), |(most, sum), count| (most.max(count), sum.saturating_add(count)))
    }

    /// The number of nodes that have a value, or an edge in either direction.
    pub fn node_count(&self) -> u64 {
        let mut nodes = RoaringBitmap::new();
        self.predicates().for_each(|(_, predicate)| predicate.nodes_into(&mut nodes));
        nodes.len()
    }

    /// Whether a predicate is the same in another version, or in neither. Does not read the data: a
    /// predicate that was changed and changed back counts as different.
    pub fn has_same(&self, other: &Version, name: &str) -> bool {
        match (self.predicate(name), other.predicate(name)) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        }
    }

    /// The predicate of a name.
    pub fn predicate(&self, name: &str) -> Option<&Arc<Predicate>> {
        match &self.view {
            None => self.predicates.get(name),
            Some(view) => self.predicates.get(name).filter(|_| view.shows(name)),
        }
    }

    /// All predicates with their names, in no particular order.
    pub fn predicates(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<Predicate>)> {
        let view = self.view.as_deref();
        self.predicates.iter().filter(move |(name, _)| view.is_none_or(|view| view.shows(name)))
    }

    /// The predicate of a name, visible or not: for internal reads.
    pub fn hidden_predicate(&self, name: &str) -> Option<&Arc<Predicate>> {
        self.predicates.get(name)
    }

    /// The same version restricted to `view`. It is read-only, and no version is built on it. Costs
    /// a few reference counts, and O(schema) after each change of the schema.
    pub fn seen_by(&self, view: &Arc<View>) -> Version {
        let schema = view.schema(&self.schema);
        Version { schema, view: Some(Arc::clone(view)), ..self.clone() }
    }

    /// What can be seen of it; `None` for all.
    pub fn view(&self) -> Option<&Arc<View>> {
        self.view.as_ref()
    }

    /// Whether all predicates are the same in another version; quick, so false is possible for
    /// equal ones.
    pub fn has_same_predicates(&self, other: &Version) -> bool {
        self.predicates.ptr_eq(&other.predicates)
    }
}
