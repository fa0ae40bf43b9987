//! Caches compact graphs for later calls with the same input.
//!
//! The key of a graph is its input: the predicates themselves at their versions, the node lists of
//! filters, the facet, the direction. A caller resolves the predicates in the version visible to it
//! and computes the lists there. So nobody ever gets a graph of edges outside its rights, and
//! callers with equal rights hit the same entry.
//!
//! After a commit the graph of the previous version is patched, as long as both have the same base
//! columns.

use super::compact::graph::Graph;
use super::compact::make::make;
use super::compact::patch::patch;
use super::requested::{EdgeSelection, Requested};
use super::task::Task;
use crate::graph::{Direction as Edges, EdgeDelta, Predicate};
use crate::storage::Edges as StoredEdges;
use hexgraph_base::budget::{Budget, Held, Reservation};
use hexgraph_base::plan::Direction;
use hexgraph_base::types::Result;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The part of the process budget for cached graphs: one in so many bytes.
const BUDGET_RATIO: u64 = 8;

/// The most bytes of cached graphs, however large the budget is.
const BYTES_MAX: u64 = 8 << 30;

/// The cached graphs, limited in bytes, with least-recently-used eviction.
pub struct GraphCache {
    reservation: Arc<Reservation>,
    bytes_max: u64,
    /// In order of use, the most recent one last.
    cached: Mutex<Vec<Cached>>,
}

/// Where a graph comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// It was made of the columns.
    Made,
    /// It was made for an earlier request, and nothing in it has changed.
    Cached,
    /// It was made for an earlier request, and what commits changed since was patched.
    Patched,
}

struct Cached {
    key: Key,
    graph: Arc<Graph>,
}

/// What a graph was made of.
struct Key {
    parts: Vec<PartKey>,
    nodes: Option<Vec<u32>>,
    direction: Direction,
}

struct PartKey {
    /// Weak, so that a version that nobody reads any more is freed. Its address is not used again
    /// while this is retained.
    predicate: Weak<Predicate>,
    /// The columns of its edges, weak likewise, and what had changed in them.
    stored: Weak<StoredEdges>,
    changes: EdgeDelta,
    reverse: bool,
    weight: Option<String>,
    far: Option<Vec<u32>>,
}

impl GraphCache {
    /// A cache with at most an eighth of a budget.
    pub fn new(budget: &Budget) -> GraphCache {
        let bytes_max = (budget.bound() / BUDGET_RATIO).min(BYTES_MAX);
        GraphCache::with_bound(budget, bytes_max)
    }

    /// A cache of at most so many bytes.
    pub fn with_bound(budget: &Budget, bytes_max: u64) -> GraphCache {
        GraphCache {
            reservation: Arc::new(budget.reservation()),
            bytes_max,
            cached: Mutex::default(),
        }
    }

    /// The number of cached graphs, and their bytes.
    pub fn cached(&self) -> (usize, u64) {
        let cached = self.lock();
        (cached.len(), bytes_of(&cached))
    }

    /// As `GraphCache::graph`, of a cache that may not be there: then each graph is made anew.
    ///
    /// # Errors
    ///
    /// As `GraphCache::graph`.
    pub fn get(
        cache: Option<&GraphCache>,
        expected: &Requested<'_>,
        task: &Task<'_>,
    ) -> Result<(Arc<Graph>, Lookup)> {
        match cache {
            Some(cache) => cache.graph(expected, task),
            None => Ok((Arc::new(make(expected, task)?), Lookup::Made)),
        }
    }

    /// The requested graph, cached, patched or built, and which of these it is. Comparing lists of
    /// nodes with those of cached graphs costs O(their lengths).
    ///
    /// # Errors
    ///
    /// Those of building it: `Query` for a weight that is negative or NaN, and for a weight facet
    /// without values; `Limit`.
    fn graph(&self, expected: &Requested<'_>, task: &Task<'_>) -> Result<(Arc<Graph>, Lookup)> {
        if let Some(graph) = self.find(expected) {
            return Ok((graph, Lookup::Cached));
        }
        // The lock is free meanwhile. Two who want one graph at once both make it, which costs time
        // alone.
        let (graph, lookup) = match self.patched(expected, task)? {
            Some(graph) => (Arc::new(graph), Lookup::Patched),
            None => (Arc::new(make(expected, task)?), Lookup::Made),
        };
        self.insert(expected, &graph);
        Ok((graph, lookup))
    }

    /// The graph that is requested where it need not be made anew: one that is retained, or that is
    /// patched.
    ///
    /// # Errors
    ///
    /// `Limit` when there is no memory for a patch, or the computation has to stop.
    pub fn at_hand(&self, expected: &Requested<'_>, task: &Task<'_>) -> Result<Option<Arc<Graph>>> {
        if let Some(graph) = self.find(expected) {
            return Ok(Some(graph));
        }
        let Some(graph) = self.patched(expected, task)? else { return Ok(None) };
        let graph = Arc::new(graph);
        self.insert(expected, &graph);
        Ok(Some(graph))
    }

    fn find(&self, expected: &Requested<'_>) -> Option<Arc<Graph>> {
        let mut cached = self.lock();
        // Only readers of an old version query old states of changed predicates. The latest
        // replaced graph is retained to be patched, as long as the columns are the same.
        cached.retain(|it| it.key.parts.iter().all(PartKey::is_of_use));
        let position = cached.iter().position(|it| it.key.is_of(expected))?;
        let result = cached.remove(position);
        let graph = Arc::clone(&result.graph);
        cached.push(result);
        // A graph grows when its edges are transposed.
        drop_oldest(&mut cached, self.bytes_max);
        Some(graph)
    }

    /// The graph that is requested, patched from one of the same columns; `None` where there is
    /// none, or not one that can be patched.
    fn patched(&self, expected: &Requested<'_>, task: &Task<'_>) -> Result<Option<Graph>> {
        let (old, before) = {
            let mut cached = self.lock();
            let before = |it: &Cached| it.key.before(expected);
            let result = (0..cached.len())
                .rev()
                .find_map(|position| Some((position, before(&cached[position])?)));
            let Some((position, before)) = result else { return Ok(None) };
            let old = Arc::clone(&cached[position].graph);
            // No version has its input any more, so it is only useful for this patch, and the new
            // one replaces it.
            if !cached[position].key.parts.iter().all(PartKey::is_alive) {
                cached.remove(position);
            }
            (old, before)
        };
        patch(&old, &before, expected, task)
    }

    fn reserve(&self, bytes: u64) -> Option<Held> {
        Held::reserve(&self.reservation, bytes).ok().or_else(|| {
            self.lock().clear();
            Held::reserve(&self.reservation, bytes).ok()
        })
    }

    /// Caches a graph. Without enough memory in the process it is used once, and the request has
    /// been charged for it.
    fn insert(&self, expected: &Requested<'_>, graph: &Arc<Graph>) {
        let bytes = graph.byte_len() as u64;
        if bytes <= self.bytes_max
            && let Some(held) = self.reserve(bytes)
        {
            graph.hold(held);
            let new = Cached { key: Key::new(expected), graph: Arc::clone(graph) };
            let mut cached = self.lock();
            cached.push(new);
            drop_oldest(&mut cached, self.bytes_max);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Cached>> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn bytes_of(cached: &[Cached]) -> u64 {
    cached.iter().map(|it| it.graph.byte_len() as u64).sum()
}

fn drop_oldest(cached: &mut Vec<Cached>, bytes_max: u64) {
    while 1 < cached.len() && bytes_max < bytes_of(cached) {
        cached.remove(0);
    }
}

impl PartKey {
    /// Whether some version has the predicate still.
    fn is_alive(&self) -> bool {
        0 < self.predicate.strong_count()
    }

    /// Whether it can be hit, or patched.
    fn is_of_use(&self) -> bool {
        self.is_alive() || 0 < self.stored.strong_count()
    }

    /// The edges that the graph was made of.
    fn edges(&self) -> Option<Edges> {
        Some(Edges { base: self.stored.upgrade()?, delta: self.changes.clone() })
    }
}

impl Key {
    fn new(expected: &Requested<'_>) -> Key {
        let parts = expected.parts.iter().map(|part| {
            let edges = part.predicate.direction(false);
            PartKey {
                predicate: Arc::downgrade(part.predicate),
                stored: edges.map_or_else(Weak::new, |edges| Arc::downgrade(&edges.base)),
                changes: edges.map(|edges| edges.delta.clone()).unwrap_or_default(),
                reverse: part.reverse,
                weight: part.weight.map(str::to_owned),
                far: part.far.clone(),
            }
        });
        Key { parts: parts.collect(), nodes: expected.nodes.clone(), direction: expected.direction }
    }

    /// The edges of a cached graph of the requested kind, if they are changes of the same columns.
    fn before(&self, expected: &Requested<'_>) -> Option<Vec<Edges>> {
        let is_like = |cached: &PartKey, part: &EdgeSelection<'_>| {
            part.predicate
                .direction(false)
                .is_some_and(|edges| std::ptr::eq(cached.stored.as_ptr(), Arc::as_ptr(&edges.base)))
        };
        let edges = || self.parts.iter().map(PartKey::edges).collect();
        if self.is_shaped(expected, is_like) { edges() } else { None }
    }

    fn is_of(&self, expected: &Requested<'_>) -> bool {
        let is_same = |cached: &PartKey, part: &EdgeSelection<'_>| {
            std::ptr::eq(cached.predicate.as_ptr(), Arc::as_ptr(part.predicate))
        };
        self.is_shaped(expected, is_same)
    }

    /// Whether both are of the same nodes, weights and directions, and of parts that are so.
    fn is_shaped(
        &self,
        expected: &Requested<'_>,
        is_part: impl Fn(&PartKey, &EdgeSelection<'_>) -> bool,
    ) -> bool {
        let parts = || self.parts.iter().zip(&expected.parts);
        self.direction == expected.direction
            && self.parts.len() == expected.parts.len()
            && parts().all(|(cached, part)| {
                is_part(cached, part)
                    && cached.reverse == part.reverse
                    && cached.weight.as_deref() == part.weight
            })
            && self.nodes == expected.nodes
            && parts().all(|(cached, part)| cached.far == part.far)
    }
}
