//! `shortest` where every edge weighs 1: breadth first, a set of nodes at a time.
//!
//! Where all edges can be followed in both directions, the search starts from both ends and grows
//! the smaller side, so that it sees about the square root of what one side would see; else it goes
//! forward. Of several shortest paths the result is the one whose nodes, read from the end to the
//! start, are the least: Dijkstra's algorithm with ties broken by node has the same result.

use crate::exec::control::context::Context;
use crate::exec::control::tree::Path;
use crate::exec::walk::lists::distinct;
use crate::exec::walk::traverse::Walk;
use crate::graph::Direction;
use hexgraph_base::types::Result;
use rustc_hash::FxHashSet;

/// An edge field that a path may use: its number in the block, and its edges in both directions.
pub(crate) struct Way<'p> {
    /// The number of the field in the block.
    pub(crate) field: usize,
    /// The field and its edges.
    pub(crate) walk: Walk<'p>,
    /// The same edges in the other direction; `None` when they are not stored, or the field leaves
    /// some out.
    pub(crate) back: Option<&'p Direction>,
}

/// The targets of a layer in one direction: a list if a filter or a page computes them.
enum Taken {
    /// All edges, which can be probed.
    All,
    /// The position at which the targets of each node of the layer start, and the targets.
    Some(Vec<u32>, Vec<u32>),
}

/// The bytes that are charged for each node that was seen: a position in its layer, and an entry of
/// a set that may be half empty.
const SEEN_BYTES: usize = 3 * size_of::<u32>() + 2;

/// One side of a search: the nodes at each distance, ascending.
struct Side {
    layers: Vec<Vec<u32>>,
    seen: FxHashSet<u32>,
}

impl Side {
    fn new(start: u32) -> Side {
        Side { layers: vec![vec![start]], seen: FxHashSet::from_iter([start]) }
    }

    fn last(&self) -> &[u32] {
        self.layers.last().expect("a side starts with a layer")
    }

    /// Adds the next layer: the new ones of `reached`. False when there are none.
    fn grow(&mut self, reached: Vec<u32>) -> bool {
        let mut layer = reached;
        // A node that was seen before has a path of as few edges or fewer, so no shortest path
        // has to visit it again.
        layer.retain(|&node| self.seen.insert(node));
        layer.sort_unstable();
        self.layers.push(layer);
        !self.last().is_empty()
    }
}

impl Context<'_> {
    /// A path of the fewest edges between two different nodes, of at most `depth` edges.
    pub(crate) fn fewest_edges(
        &self,
        ways: &[Way<'_>],
        from: u32,
        to: u32,
        depth: usize,
    ) -> Result<Option<Path>> {
        let back: Option<Vec<&Direction>> = ways.iter().map(|way| way.back).collect();
        match back {
            Some(back) => self.search_both_ends(ways, &back, from, to, depth),
            None => self.search_forward(ways, from, to, depth),
        }
    }

    fn search_forward(
        &self,
        ways: &[Way<'_>],
        from: u32,
        to: u32,
        depth: usize,
    ) -> Result<Option<Path>> {
        let mut side = Side::new(from);
        let mut taken = Vec::new();
        while side.layers.len() <= depth {
            self.check()?;
            let mut reached = Vec::new();
            let mut by_way = Vec::with_capacity(ways.len());
            for way in ways {
                let (offsets, targets) = self.walk(side.last(), &way.walk, way.walk.field.page)?;
                reached.extend_from_slice(&targets);
                let all = way.walk.takes_all();
                // A filter or a page can't be applied to one edge later, when the path is traced
                // back.
                by_way.push(if all { Taken::All } else { Taken::Some(offsets, targets) });
            }
            taken.push(by_way);
            if !side.grow(reached) {
                return Ok(None);
            }
            self.control.charge(SEEN_BYTES * side.last().len())?;
            if side.last().binary_search(&to).is_ok() {
                return Ok(Some(trace(ways, &side.layers, &taken, to)));
            }
        }
        Ok(None)
    }

    fn search_both_ends(
        &self,
        ways: &[Way<'_>],
        back: &[&Direction],
        from: u32,
        to: u32,
        depth: usize,
    ) -> Result<Option<Path>> {
        let forth: Vec<&Direction> = ways.iter().map(|way| way.walk.edges).collect();
        let (mut start, mut end) = (Side::new(from), Side::new(to));
        let (mut start_cost, mut end_cost) =
            (edges_of(&forth, start.last()), edges_of(back, end.last()));
        while start.layers.len() + end.layers.len() <= depth.saturating_add(1) {
            self.check()?;
            // The side with fewer edges to follow, not with fewer nodes: edges are what is paid
            // for.
            let forward = start_cost <= end_cost;
            let (side, other, edges) = match forward {
                true => (&mut start, &end, &forth[..]),
                false => (&mut end, &start, back),
            };
            // The visited ones, and what is retained of them: a position in a layer, an entry of a
            // set.
            let count = edges_of(edges, side.last());
            let _while_growing = self.control.charge_while(2 * size_of::<u32>() * count)?;
            let reached = targets_of(edges, side.last());
            // The last and largest layer need not be made: who meets the other side is enough.
            let met: Vec<u32> =
                reached.iter().copied().filter(|node| other.seen.contains(node)).collect();
            if !met.is_empty() {
                let layers = joined(start.layers, &end.layers, distinct(&met), forward, &forth);
                let all = |_| ways.iter().map(|_| Taken::All).collect();
                let taken: Vec<_> = (1..layers.len()).map(all).collect();
                return Ok(Some(trace(ways, &layers, &taken, to)));
            }
            if !side.grow(reached) {
                return Ok(None);
            }
            self.control.charge(SEEN_BYTES * side.last().len())?;
            let cost = edges_of(edges, side.last());
            *if forward { &mut start_cost } else { &mut end_cost } = cost;
        }
        Ok(None)
    }
}

impl Walk<'_> {
    /// True when the field takes all edges of a node: it has no filter and no page.
    pub(crate) fn takes_all(&self) -> bool {
        self.field.filter.is_none() && self.field.facet_filter.is_none() && self.field.page.is_all()
    }
}

fn targets_of(edges: &[&Direction], nodes: &[u32]) -> Vec<u32> {
    let mut reached = Vec::new();
    for edges in edges {
        nodes.iter().for_each(|&node| reached.extend_from_slice(&edges.targets(node)));
    }
    reached
}

/// The number of edges that leave some nodes.
fn edges_of(edges: &[&Direction], nodes: &[u32]) -> usize {
    edges.iter().map(|edges| nodes.iter().map(|&node| edges.count(node)).sum::<usize>()).sum()
}

/// The layers from the start to the end: from those that both sides have visited, the nodes on
/// shortest paths alone. `met` is the start's next layer when it moved, else its last.
fn joined(
    mut layers: Vec<Vec<u32>>,
    end: &[Vec<u32>],
    met: Vec<u32>,
    forward: bool,
    forth: &[&Direction],
) -> Vec<Vec<u32>> {
    if !forward {
        layers.pop();
    }
    layers.push(met);
    // From where the sides met on to the end: of the targets of each layer those stay that are
    // one edge nearer to it.
    for closer in end.iter().rev().skip(usize::from(forward)) {
        let mut next = distinct(&targets_of(forth, layers.last().expect("it has a layer")));
        next.retain(|node| closer.binary_search(node).is_ok());
        layers.push(next);
    }
    layers
}

/// Walks back from the end: to the least node of the layer before that has an edge.
fn trace(ways: &[Way<'_>], layers: &[Vec<u32>], taken: &[Vec<Taken>], to: u32) -> Path {
    let (mut nodes, mut hops) = (vec![to], Vec::new());
    let mut node = to;
    for (layer, taken) in layers.iter().zip(taken).rev() {
        let (before, way) = before(ways, layer, taken, node);
        nodes.push(before);
        hops.push(way);
        node = before;
    }
    nodes.reverse();
    hops.reverse();
    let weight = hops.len() as f64;
    Path { nodes, hops, weight }
}

/// The least node of a layer with an edge to `node`, and the last field that has it.
fn before(ways: &[Way<'_>], layer: &[u32], taken: &[Taken], node: u32) -> (u32, usize) {
    let leads = |position: usize, way: usize| match &taken[way] {
        Taken::All => ways[way].walk.edges.contains(layer[position], node),
        Taken::Some(offsets, targets) => {
            targets[offsets[position] as usize..offsets[position + 1] as usize].contains(&node)
        }
    };
    let result = (0..layer.len()).find_map(|position| {
        let way = (0..ways.len()).rfind(|&way| leads(position, way))?;
        Some((layer[position], ways[way].field))
    });
    result.expect("a node of a layer is reached from the layer before")
}
