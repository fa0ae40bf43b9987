//! Compact graphs that are kept for the next call that wants the same one.
//!
//! A graph is found by what it was made of: the predicates themselves, each at its version, the lists of nodes that filters left, the facet,
//! the direction. Who asks has found the predicates in the version that he may see, and computed the lists there; so nobody is ever given a
//! graph of edges that he may not read, and callers with equal rights share.
//!
//! After a commit the graph of the version before is patched, as long as the columns below both are the same.

use super::compact::graph::Graph;
use super::compact::make::make;
use super::compact::patch::patch;
use super::task::Task;
use super::wanted::{EdgeSelection, Wanted};
use crate::graph::{Direction as Edges, EdgeDelta, Predicate};
use crate::storage::Edges as StoredEdges;
use hexgraph_base::budget::{Budget, Held, Share};
use hexgraph_base::plan::Direction;
use hexgraph_base::types::Result;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The share of the budget of the process that kept graphs may take: one in so many bytes.
const BUDGET_SHARE: u64 = 8;

/// The most bytes of kept graphs, however large the budget is.
const BYTES_MAX: u64 = 8 << 30;

/// The graphs that are kept, within a bound in bytes; those that nobody asked for longest go first.
pub struct GraphCache {
    share: Arc<Share>,
    bytes_max: u64,
    /// The one that was asked for last stands last.
    kept: Mutex<Vec<Kept>>,
}

/// Where a graph comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It was made of the columns.
    Made,
    /// It was made for an earlier request, and nothing in it has changed.
    Kept,
    /// It was made for an earlier request, and what commits changed since was patched.
    Patched,
}

struct Kept {
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
    /// Weak, so that a version that nobody reads any more is freed. Its address is not used again while this is kept.
    predicate: Weak<Predicate>,
    /// The columns of its edges, weak likewise, and what had changed in them.
    stored: Weak<StoredEdges>,
    changes: EdgeDelta,
    reverse: bool,
    weight: Option<String>,
    far: Option<Vec<u32>>,
}

impl GraphCache {
    /// A cache that draws on a budget, and takes at most an eighth of it.
    pub fn new(budget: &Budget) -> GraphCache {
        let bytes_max = (budget.bound() / BUDGET_SHARE).min(BYTES_MAX);
        GraphCache::with_bound(budget, bytes_max)
    }

    /// A cache of at most so many bytes.
    pub fn with_bound(budget: &Budget, bytes_max: u64) -> GraphCache {
        GraphCache { share: Arc::new(budget.share()), bytes_max, kept: Mutex::default() }
    }

    /// The number of graphs that are kept, and the bytes that they take.
    pub fn kept(&self) -> (usize, u64) {
        let kept = self.lock();
        (kept.len(), bytes_of(&kept))
    }

    /// As `GraphCache::graph`, of a cache that may not be there: then each graph is made anew.
    ///
    /// # Errors
    ///
    /// As `GraphCache::graph`.
    pub fn take(
        cache: Option<&GraphCache>,
        wanted: &Wanted<'_>,
        task: &Task<'_>,
    ) -> Result<(Arc<Graph>, Taken)> {
        match cache {
            Some(cache) => cache.graph(wanted, task),
            None => Ok((Arc::new(make(wanted, task)?), Taken::Made)),
        }
    }

    /// The graph that is wanted: one that is kept, or that is patched, or a new one; and which of them it is. Comparing lists of nodes with those of kept
    /// graphs costs O(their lengths).
    ///
    /// # Errors
    ///
    /// Those of making it: `Query` for a weight that is below 0 or no number, and for one that no edge has; `Limit`.
    fn graph(&self, wanted: &Wanted<'_>, task: &Task<'_>) -> Result<(Arc<Graph>, Taken)> {
        if let Some(graph) = self.find(wanted) {
            return Ok((graph, Taken::Kept));
        }
        // The lock is free meanwhile. Two who want one graph at once both make it, which costs time alone.
        let (graph, taken) = match self.patched(wanted, task)? {
            Some(graph) => (Arc::new(graph), Taken::Patched),
            None => (Arc::new(make(wanted, task)?), Taken::Made),
        };
        self.keep(wanted, &graph);
        Ok((graph, taken))
    }

    /// The graph that is wanted where it need not be made anew: one that is kept, or that is patched.
    ///
    /// # Errors
    ///
    /// `Limit` when there is no memory for a patch, or the computation has to stop.
    pub fn at_hand(&self, wanted: &Wanted<'_>, task: &Task<'_>) -> Result<Option<Arc<Graph>>> {
        if let Some(graph) = self.find(wanted) {
            return Ok(Some(graph));
        }
        let Some(graph) = self.patched(wanted, task)? else { return Ok(None) };
        let graph = Arc::new(graph);
        self.keep(wanted, &graph);
        Ok(Some(graph))
    }

    fn find(&self, wanted: &Wanted<'_>) -> Option<Arc<Graph>> {
        let mut kept = self.lock();
        // Of predicates that have changed nobody asks for the old state again, but for those who hold an old version.
        // Of the newest one that is gone the next may be made, as long as the columns are the same.
        kept.retain(|it| it.key.parts.iter().all(PartKey::is_of_use));
        let place = kept.iter().position(|it| it.key.is_of(wanted))?;
        let found = kept.remove(place);
        let graph = Arc::clone(&found.graph);
        kept.push(found);
        // A graph grows when its edges are turned round.
        drop_oldest(&mut kept, self.bytes_max);
        Some(graph)
    }

    /// The graph that is wanted, patched from one of the same columns; `None` where there is none, or not one that can be patched.
    fn patched(&self, wanted: &Wanted<'_>, task: &Task<'_>) -> Result<Option<Graph>> {
        let (old, before) = {
            let mut kept = self.lock();
            let before = |it: &Kept| it.key.before(wanted);
            let found =
                (0..kept.len()).rev().find_map(|place| Some((place, before(&kept[place])?)));
            let Some((place, before)) = found else { return Ok(None) };
            let old = Arc::clone(&kept[place].graph);
            // No version has the state that it was made of, so it was of
            // use for this patch alone, and the new one takes its place.
            if !kept[place].key.parts.iter().all(PartKey::is_alive) {
                kept.remove(place);
            }
            (old, before)
        };
        patch(&old, &before, wanted, task)
    }

    fn draw(&self, bytes: u64) -> Option<Held> {
        Held::draw(&self.share, bytes).ok().or_else(|| {
            self.lock().clear();
            Held::draw(&self.share, bytes).ok()
        })
    }

    /// Keeps a graph for those who want it next. Where the process has no memory for that it is used once, and the request has been charged for it.
    fn keep(&self, wanted: &Wanted<'_>, graph: &Arc<Graph>) {
        let bytes = graph.byte_len() as u64;
        if bytes <= self.bytes_max
            && let Some(held) = self.draw(bytes)
        {
            graph.hold(held);
            let new = Kept { key: Key::new(wanted), graph: Arc::clone(graph) };
            let mut kept = self.lock();
            kept.push(new);
            drop_oldest(&mut kept, self.bytes_max);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn bytes_of(kept: &[Kept]) -> u64 {
    kept.iter().map(|it| it.graph.byte_len() as u64).sum()
}

fn drop_oldest(kept: &mut Vec<Kept>, bytes_max: u64) {
    while 1 < kept.len() && bytes_max < bytes_of(kept) {
        kept.remove(0);
    }
}

impl PartKey {
    /// Whether some version has the predicate still.
    fn is_alive(&self) -> bool {
        0 < self.predicate.strong_count()
    }

    /// Whether it can be asked for, or patched.
    fn is_of_use(&self) -> bool {
        self.is_alive() || 0 < self.stored.strong_count()
    }

    /// The edges that the graph was made of.
    fn edges(&self) -> Option<Edges> {
        Some(Edges { base: self.stored.upgrade()?, delta: self.changes.clone() })
    }
}

impl Key {
    fn new(wanted: &Wanted<'_>) -> Key {
        let parts = wanted.parts.iter().map(|part| {
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
        Key { parts: parts.collect(), nodes: wanted.nodes.clone(), direction: wanted.direction }
    }

    /// The edges of which a graph of the same kind as the wanted one was made, where they are changes of the same columns.
    fn before(&self, wanted: &Wanted<'_>) -> Option<Vec<Edges>> {
        let is_like = |kept: &PartKey, part: &EdgeSelection<'_>| {
            part.predicate
                .direction(false)
                .is_some_and(|edges| std::ptr::eq(kept.stored.as_ptr(), Arc::as_ptr(&edges.base)))
        };
        let edges = || self.parts.iter().map(PartKey::edges).collect();
        if self.is_shaped(wanted, is_like) { edges() } else { None }
    }

    fn is_of(&self, wanted: &Wanted<'_>) -> bool {
        let is_same = |kept: &PartKey, part: &EdgeSelection<'_>| {
            std::ptr::eq(kept.predicate.as_ptr(), Arc::as_ptr(part.predicate))
        };
        self.is_shaped(wanted, is_same)
    }

    /// Whether both are of the same nodes, weights and directions, and of parts that are so.
    fn is_shaped(
        &self,
        wanted: &Wanted<'_>,
        is_part: impl Fn(&PartKey, &EdgeSelection<'_>) -> bool,
    ) -> bool {
        let parts = || self.parts.iter().zip(&wanted.parts);
        self.direction == wanted.direction
            && self.parts.len() == wanted.parts.len()
            && parts().all(|(kept, part)| {
                is_part(kept, part)
                    && kept.reverse == part.reverse
                    && kept.weight.as_deref() == part.weight
            })
            && self.nodes == wanted.nodes
            && parts().all(|(kept, part)| kept.far == part.far)
    }
}
