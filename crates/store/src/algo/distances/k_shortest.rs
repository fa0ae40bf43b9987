//! The k shortest simple paths between two nodes, by Yen's algorithm: the next path deviates from a
//! previous one at some spur node, and is the shortest that does. With Lawler's rule a path only
//! deviates after the node where it deviated itself.
//!
//! Of paths of equal weight, the one with fewer edges comes first, then the one with the lesser
//! nodes, compared from the source. Searches are guided by the distances to the target (A*), which
//! are computed once, from the target backwards.

use super::weighted::ALONG_A_PATH;
use crate::algo::bits::Bits;
use crate::algo::compact::rows::Rows;
use crate::algo::run::{Outcome, Output, Paths, Report, Run};
use crate::algo::task::Task;
use hexgraph_base::types::{Error, Result};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The bytes for each node: its distance to the target, whether it is on the path, and the state of
/// the spur search.
const BYTES_A_NODE: usize =
    size_of::<f64>() + 1 + 2 * size_of::<(u32, Label)>() + size_of::<Open>();

/// The bytes for each node of a path, apart from the result: itself as a candidate, and its node in
/// the tree of paths.
const BYTES_A_STEP: usize = 2 * size_of::<u32>() + 2 * size_of::<Vec<u32>>() + size_of::<f64>();

/// The nodes that are searched between two looks at the clock.
const NODES_A_CHECK: usize = 4096;

/// By how much a distance may be off by rounding.
const ROUNDING: f64 = 1e-12;

pub(in crate::algo) fn k_shortest(run: &Run<'_>) -> Result<Outcome> {
    let (source, target) = (one_of(run, "source")?, one_of(run, "target")?);
    let most = run.call.int("k").unwrap_or(1) as usize;
    let (Some(source), Some(target)) = (source, target) else { return Ok(result(Vec::new(), 0)) };
    let _capacity = run.capacity_per_node(BYTES_A_NODE)?;
    let (outgoing, incoming) = (run.graph.outgoing(), run.graph.incoming(&run.task)?);
    let heuristic = Heuristic::new(incoming, source, target, &run.task)?;
    if !heuristic.far.is_finite() {
        return match heuristic.has_lost {
            true => Err(run.too_heavy(ALONG_A_PATH)),
            false => Ok(result(Vec::new(), heuristic.edges)),
        };
    }
    let passed = Bits::new(outgoing.nodes());
    let mut search = Search {
        outgoing,
        incoming,
        target,
        heuristic,
        passed,
        task: run.task,
        edges: 0,
        searched: 0,
    };
    let (mut routes, mut candidates) = (Vec::<Route>::new(), BinaryHeap::new());
    let (mut tree, mut capacities) = (Tree::new(), Vec::new());
    candidates.extend(search.deviation(&[], (source, 0.0), &[])?.map(Reverse));
    while let Some(Reverse(route)) = candidates.pop() {
        capacities.push(run.task.capacity(route.nodes.len(), BYTES_A_STEP)?);
        tree.add(&route.nodes);
        let (mut branch, mut cost) = (Tree::ROOT, 0.0);
        for (position, nodes) in route.nodes.windows(2).enumerate() {
            branch = tree.next[&(branch, nodes[0])];
            if route.left_at <= position && routes.len() + 1 < most {
                let used = &tree.nodes[branch];
                let other = search.deviation(&route.nodes[..position], (nodes[0], cost), used)?;
                if let Some(other) = other {
                    capacities.push(run.task.capacity(other.nodes.len(), size_of::<u32>())?);
                    candidates.push(Reverse(other));
                }
            }
            // Marked one by one: all root paths of a long path together have as many nodes as the
            // square of its length.
            search.passed.set(nodes[0] as usize);
            cost += outgoing.weight_between(nodes[0], nodes[1]).unwrap_or(0.0);
        }
        route.nodes.iter().for_each(|node| search.passed.unset(*node as usize));
        routes.push(route);
        if routes.len() == most {
            break;
        }
    }
    let edges = search.edges + search.heuristic.edges;
    if routes.iter().any(|route| f64::from_bits(route.cost).is_infinite()) {
        return Err(run.too_heavy(ALONG_A_PATH));
    }
    let listed = routes.into_iter().map(|route| distances_along(outgoing, route.nodes)).collect();
    Ok(result(listed, edges))
}

/// The node of an argument; `None` for one that is not in the graph.
fn one_of(run: &Run<'_>, name: &str) -> Result<Option<u32>> {
    match run.list(name) {
        Some([node]) => Ok(Some(*node)),
        Some([]) | None => Ok(None),
        Some(nodes) => {
            let message = format!("`k_shortest` with {} nodes as its `{name}`", nodes.len());
            Err(Error::query(message).with_hint("it goes from one node to one other"))
        }
    }
}

/// The nodes of a path with their distances from its start.
fn distances_along(rows: &Rows, nodes: Vec<u32>) -> (Vec<u32>, Vec<f64>) {
    let mut distance = 0.0;
    let steps = nodes.windows(2).map(|step| {
        distance += rows.weight_between(step[0], step[1]).unwrap_or(0.0);
        distance
    });
    let distances = std::iter::once(0.0).chain(steps).collect();
    (nodes, distances)
}

fn result(routes: Vec<(Vec<u32>, Vec<f64>)>, edges: usize) -> Outcome {
    let mut paths = Paths { distances: Some(Vec::new()), ..Paths::default() };
    let report = Report { iterations: routes.len(), edges, ..Report::default() };
    for (nodes, distances) in routes {
        paths.nodes.extend(nodes);
        paths.bounds.push(paths.nodes.len());
        paths.distances.get_or_insert_default().extend(distances);
    }
    Outcome { output: Output::Paths(paths), report }
}

/// A path, ordered by weight, then by edges, then by nodes.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Route {
    /// The bits of what it weighs: no float below 0 has the order of its bits.
    cost: u64,
    length: usize,
    nodes: Vec<u32>,
    /// The position at which it deviates from its parent path.
    left_at: usize,
}

/// All result paths, as a prefix tree.
struct Tree {
    /// The branch after a node that a branch goes on with.
    next: FxHashMap<(usize, u32), usize>,
    /// The nodes that each branch goes on with, ascending.
    nodes: Vec<Vec<u32>>,
}

impl Tree {
    const ROOT: usize = 0;

    fn new() -> Tree {
        Tree { next: FxHashMap::default(), nodes: vec![Vec::new()] }
    }

    fn add(&mut self, route: &[u32]) {
        let mut branch = Tree::ROOT;
        for &node in route {
            branch = *self.next.entry((branch, node)).or_insert_with(|| {
                let position = self.nodes[branch].partition_point(|other| *other < node);
                self.nodes[branch].insert(position, node);
                self.nodes.push(Vec::new());
                self.nodes.len() - 1
            });
        }
    }
}

/// The distances to the target, as far as the source is.
struct Heuristic {
    distances: Vec<f64>,
    /// The distance of the source; infinite if the target is unreachable.
    far: f64,
    /// Whether a path to the target has a weight that overflows a float.
    has_lost: bool,
    edges: usize,
}

impl Heuristic {
    fn new(incoming: &Rows, source: u32, target: u32, task: &Task<'_>) -> Result<Heuristic> {
        let mut distances = vec![f64::INFINITY; incoming.nodes()];
        let mut open = BinaryHeap::from([Reverse((0.0_f64.to_bits(), target))]);
        let (mut edges, mut popped, mut has_lost) = (0, 0_usize, false);
        distances[target as usize] = 0.0;
        while let Some(Reverse((bits, node))) = open.pop() {
            let distance = f64::from_bits(bits);
            if distances[source as usize] < distance {
                break;
            }
            if distances[node as usize] < distance {
                continue;
            }
            popped += 1;
            if popped.is_multiple_of(NODES_A_CHECK) {
                task.check()?;
            }
            edges += incoming.degree(node);
            for (from, weight) in incoming.weighted(node) {
                let sum = distance + weight;
                has_lost |= sum.is_infinite();
                if sum < distances[from as usize] {
                    distances[from as usize] = sum;
                    open.push(Reverse((sum.to_bits(), from)));
                }
            }
        }
        let far = distances[source as usize];
        Ok(Heuristic { distances, far, has_lost, edges })
    }

    /// A lower bound of the weight from a node to the target. Nodes farther than the source were
    /// not visited.
    #[inline]
    fn at_least(&self, node: u32) -> f64 {
        self.distances[node as usize].min(self.far)
    }
}

/// How a search came to a node.
#[derive(Clone, Copy)]
struct Label {
    cost: f64,
    length: u32,
    before: u32,
}

/// A node to be expanded: the bits of the lower bound of a path through it, its edges so far, the
/// node, and the bits of its cost.
type Open = Reverse<(u64, u32, u32, u64)>;

struct Search<'s> {
    outgoing: &'s Rows,
    incoming: &'s Rows,
    target: u32,
    heuristic: Heuristic,
    /// The nodes of the root path, before the spur node.
    passed: Bits,
    task: Task<'s>,
    edges: usize,
    searched: usize,
}

impl Search<'_> {
    /// The first path in the order of paths that begins with the root path `before`, whose nodes
    /// are marked as passed. It continues from a spur node with some cost to a node outside of
    /// `used`, which ascend.
    fn deviation(
        &mut self,
        before: &[u32],
        (start, cost): (u32, f64),
        used: &[u32],
    ) -> Result<Option<Route>> {
        let mut labels: FxHashMap<u32, Label> = FxHashMap::default();
        labels.insert(start, Label { cost, length: 0, before: start });
        let open = Reverse((cost.to_bits(), 0, start, cost.to_bits()));
        let mut open: BinaryHeap<Open> = BinaryHeap::from([open]);
        while let Some(Reverse((least, length, node, bits))) = open.pop() {
            let best = labels.get(&self.target).map_or(f64::INFINITY, |label| label.cost);
            if best * (1.0 + ROUNDING) < f64::from_bits(least) {
                break;
            }
            let cost = f64::from_bits(bits);
            let is_old = labels[&node].cost != cost || labels[&node].length != length;
            if is_old || node == self.target {
                continue;
            }
            self.searched += 1;
            if self.searched.is_multiple_of(NODES_A_CHECK) {
                self.task.check()?;
            }
            self.edges += self.outgoing.degree(node);
            for (to, weight) in self.outgoing.weighted(node) {
                let is_used = node == start && used.binary_search(&to).is_ok();
                if is_used || self.passed.has(to as usize) {
                    continue;
                }
                let (sum, length) = (cost + weight, length + 1);
                let is_better = labels
                    .get(&to)
                    .is_none_or(|it| sum < it.cost || sum == it.cost && length < it.length);
                if is_better {
                    labels.insert(to, Label { cost: sum, length, before: node });
                    let least = sum + self.heuristic.at_least(to);
                    open.push(Reverse((least.to_bits(), length, to, sum.to_bits())));
                }
            }
        }
        Ok(self.first_route(before, (start, used), &labels))
    }

    /// Of the best paths by the labels, the one with the least nodes.
    fn first_route(
        &self,
        before: &[u32],
        (start, used): (u32, &[u32]),
        labels: &FxHashMap<u32, Label>,
    ) -> Option<Route> {
        let end = labels.get(&self.target)?;
        // For each node on such a path the least successor.
        let mut next: FxHashMap<u32, u32> = FxHashMap::default();
        let mut waiting = vec![self.target];
        while let Some(node) = waiting.pop() {
            if node == start {
                continue;
            }
            let label = labels[&node];
            for (from, weight) in self.incoming.weighted(node) {
                let Some(other) = labels.get(&from) else { continue };
                let is_even = other.cost + weight == label.cost && other.length + 1 == label.length;
                let is_free = from != start || used.binary_search(&node).is_err();
                if is_free && (is_even || from == label.before) {
                    let is_new = !next.contains_key(&from);
                    let least = next.entry(from).or_insert(node);
                    *least = node.min(*least);
                    if is_new {
                        waiting.push(from);
                    }
                }
            }
        }
        let mut nodes = before.to_vec();
        let mut at = start;
        nodes.push(at);
        while at != self.target {
            at = *next.get(&at)?;
            nodes.push(at);
        }
        let (cost, length) = (end.cost.to_bits(), nodes.len());
        Some(Route { cost, length, nodes, left_at: before.len() })
    }
}
