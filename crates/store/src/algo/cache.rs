//! Compact graphs that are kept for the next call that wants the same one.
//!
//! A graph is found by what it was made of: the predicates themselves, each at its version, the lists of nodes that filters left, the facet,
//! the direction. Who asks has found the predicates in the version that he may see, and computed the lists there; so nobody is ever given a
//! graph of edges that he may not read, and callers with equal rights share.

use super::compact::graph::Graph;
use super::compact::make::make;
use super::task::Task;
use super::wanted::Wanted;
use crate::graph::Predicate;
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
    ) -> Result<(Arc<Graph>, bool)> {
        match cache {
            Some(cache) => cache.graph(wanted, task),
            None => Ok((Arc::new(make(wanted, task)?), false)),
        }
    }

    /// The graph that is wanted: one that is kept, or a new one, and whether it was kept. Comparing lists of nodes with those of kept
    /// graphs costs O(their lengths).
    ///
    /// # Errors
    ///
    /// Those of making it: `Query` for a weight that is below 0 or no number, and for one that no edge has; `Limit`.
    fn graph(&self, wanted: &Wanted<'_>, task: &Task<'_>) -> Result<(Arc<Graph>, bool)> {
        if let Some(graph) = self.find(wanted) {
            return Ok((graph, true));
        }
        let graph = Arc::new(make(wanted, task)?);
        let bytes = graph.byte_len() as u64;
        if bytes <= self.bytes_max {
            // Where the process has no memory to keep it, the graph is used once, and the request has been charged for it.
            if let Some(held) = self.draw(bytes) {
                graph.hold(held);
                self.keep(Kept { key: Key::new(wanted), graph: Arc::clone(&graph) });
            }
        }
        Ok((graph, false))
    }

    fn find(&self, wanted: &Wanted<'_>) -> Option<Arc<Graph>> {
        let mut kept = self.lock();
        // Of predicates that have changed nobody asks for the old state again, but for those who hold an old version.
        kept.retain(|it| it.key.parts.iter().all(|part| 0 < part.predicate.strong_count()));
        let place = kept.iter().position(|it| it.key.is_of(wanted))?;
        let found = kept.remove(place);
        let graph = Arc::clone(&found.graph);
        kept.push(found);
        // A graph grows when its edges are turned round.
        drop_oldest(&mut kept, self.bytes_max);
        Some(graph)
    }

    fn draw(&self, bytes: u64) -> Option<Held> {
        Held::draw(&self.share, bytes).ok().or_else(|| {
            self.lock().clear();
            Held::draw(&self.share, bytes).ok()
        })
    }

    fn keep(&self, new: Kept) {
        let mut kept = self.lock();
        kept.push(new);
        drop_oldest(&mut kept, self.bytes_max);
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

impl Key {
    fn new(wanted: &Wanted<'_>) -> Key {
        let parts = wanted.parts.iter().map(|part| PartKey {
            predicate: Arc::downgrade(part.predicate),
            reverse: part.reverse,
            weight: part.weight.map(str::to_owned),
            far: part.far.clone(),
        });
        Key { parts: parts.collect(), nodes: wanted.nodes.clone(), direction: wanted.direction }
    }

    fn is_of(&self, wanted: &Wanted<'_>) -> bool {
        let parts = || self.parts.iter().zip(&wanted.parts);
        self.direction == wanted.direction
            && self.parts.len() == wanted.parts.len()
            && parts().all(|(kept, part)| {
                std::ptr::eq(kept.predicate.as_ptr(), Arc::as_ptr(part.predicate))
                    && kept.reverse == part.reverse
                    && kept.weight.as_deref() == part.weight
            })
            && self.nodes == wanted.nodes
            && parts().all(|(kept, part)| kept.far == part.far)
    }
}
