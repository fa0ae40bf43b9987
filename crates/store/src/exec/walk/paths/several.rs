//! Several loop-free paths in ascending weight.
//!
//! Yen's algorithm ("Finding the k shortest loopless paths in a network", 1971) with Lawler's
//! change (1972): all paths but those that were returned are divided into classes by where they
//! leave the last one returned, and of each class the first path is a candidate. The first
//! candidate is the next path, and what is left of its class is divided likewise.
//!
//! Most classes are never searched: the edges where a class leaves its path, and the distance from
//! there to the end, give a weight that none of its paths is below ([`Class::least`]). The class
//! with the least such weight is searched first, as long as it may have a path that is not heavier
//! than the first candidate, and not much further than that: what it has beyond is left for later.
//! No more candidates are retained than paths are requested: memory is O(paths · length) plus the
//! nodes that one search has visited.
//!
//! The order of equal paths is that in which [`RootPaths`] returns them, which pops the lightest
//! root path first, of equal ones the one with the most edges, then the one whose last node is the
//! least, then that whose nodes are. Of two paths the one comes first whose greatest beginning
//! after their common one is taken first. Weights do not fall along a path, and more edges come
//! first, so that is the root path at which a path first has its entire weight ([`Candidate`]).

use super::deviation::{Deviation, Deviations, Most, Rest, Start};
use super::front::Meter;
use super::lightest::{Lightest, lightest};
use super::ordered::compared_by_ord;
use super::path_edges::PathEdges;
use super::root_paths::{Frontier, RootPaths};
use crate::exec::control::pending::NUMBER_ENTRY_BYTES;
use crate::exec::control::tree::Path;
use hexgraph_base::plan::ShortestPath;
use hexgraph_base::types::Result;
use rustc_hash::FxHashSet;
use std::cmp::Ordering;
use std::collections::{BTreeSet, BinaryHeap};
use std::rc::Rc;

/// How many times what the first candidate weighs more than the first path a class is searched for:
/// further than is needed now, so that a class is searched a few times and not once for each path.
const FURTHER: f64 = 2.0;

/// A path that may be the next: the first of its class.
struct Candidate {
    nodes: Vec<u32>,
    fields: Vec<u32>,
    /// The weight of the beginning that ends at each node.
    sums: Vec<f64>,
    /// The position of the node at which the class leaves the path that it was split from.
    leaves_at: usize,
    /// The nodes that no path of the class goes on to from there.
    banned: Vec<u32>,
}

impl Candidate {
    fn weight(&self) -> f64 {
        self.sums.last().copied().unwrap_or(0.0)
    }

    /// The bytes that are charged for it.
    fn bytes(&self) -> usize {
        let node = 2 * size_of::<u32>() + size_of::<f64>();
        size_of::<Candidate>() + 64 + node * self.nodes.len() + size_of::<u32>() * self.banned.len()
    }

    fn to_path(&self) -> Path {
        let hops = self.fields.iter().map(|field| *field as usize).collect();
        Path { nodes: self.nodes.clone(), hops, weight: self.weight() }
    }
}

/// The paths that begin as another does, up to one of its nodes, and go on otherwise.
struct Class {
    /// No remaining path of it weighs less.
    least: f64,
    path: Rc<Candidate>,
    /// The position of the node at which they leave it.
    at: usize,
    /// The nodes that they do not go on to from there.
    banned: Vec<u32>,
}

impl Class {
    /// The bytes that are charged for it, with its slot on a heap that may have twice the capacity
    /// it needs.
    fn bytes(&self) -> usize {
        2 * size_of::<Class>() + 16 + size_of::<u32>() * self.banned.len()
    }

    fn start(&self) -> Start<'_> {
        let nodes = &self.path.nodes[..=self.at];
        Start { nodes, weight: self.path.sums[self.at], banned: &self.banned }
    }
}

compared_by_ord!(Class);

impl Ord for Class {
    /// Inverted, since a heap pops its greatest first. Of equal ones that which leaves its path
    /// last: its search is short.
    fn cmp(&self, other: &Class) -> Ordering {
        other.least.total_cmp(&self.least).then(self.at.cmp(&other.at))
    }
}

compared_by_ord!(Candidate);

impl Ord for Candidate {
    fn cmp(&self, other: &Candidate) -> Ordering {
        let by_weight = self.weight().total_cmp(&other.weight());
        if by_weight.is_ne() {
            return by_weight;
        }
        let pairs = self.nodes.iter().zip(&other.nodes);
        let common = pairs.take_while(|(one, other)| one == other).count();
        // The greatest beginning after the common one.
        let full_at =
            |path: &Candidate| (common..path.sums.len()).find(|&at| path.sums[at] == path.weight());
        let (Some(mine), Some(others)) = (full_at(self), full_at(other)) else {
            // Of paths to one node none is the beginning of another: they are one.
            return Ordering::Equal;
        };
        others
            .cmp(&mine)
            .then_with(|| self.nodes[mine].cmp(&other.nodes[others]))
            .then_with(|| self.nodes[..=mine].cmp(&other.nodes[..=others]))
    }
}

/// The candidates of a request, and what it requests.
struct Candidates<'c, 'e> {
    meter: Meter<'c>,
    ends: &'e ShortestPath,
    frontier: Frontier,
    list: BTreeSet<Candidate>,
    /// The classes that were not searched, or not to their end.
    classes: BinaryHeap<Class>,
    /// The weight of the first path.
    lightest: f64,
    /// The candidates that are not too light to be shown.
    heavy: usize,
    /// The number of paths still to be returned.
    expected: usize,
}

impl Candidates<'_, '_> {
    fn is_heavy(&self, weight: f64) -> bool {
        self.ends.weight_min.is_none_or(|least| least <= weight)
    }

    /// Adds one, and drops the last if there are more than requested.
    fn add(&mut self, candidate: Candidate) -> Result<()> {
        self.meter.take(candidate.bytes())?;
        // Those that are too light to be shown do not count: they have to be computed before the
        // ones that are.
        self.heavy += usize::from(self.is_heavy(candidate.weight()));
        self.list.insert(candidate);
        while self.expected < self.heavy
            && let Some(last) = self.list.pop_last()
        {
            self.meter.give_back(last.bytes());
            self.heavy -= usize::from(self.is_heavy(last.weight()));
        }
        self.frontier.check(self.list.len() + self.classes.len())
    }

    fn first(&mut self) -> Option<Candidate> {
        let first = self.list.pop_first()?;
        self.meter.give_back(first.bytes());
        self.heavy -= usize::from(self.is_heavy(first.weight()));
        Some(first)
    }

    /// The weight that no path may have more than.
    fn requested(&self) -> f64 {
        self.ends.weight_max.filter(|most| !most.is_nan()).unwrap_or(f64::INFINITY)
    }

    /// How far a class is searched now.
    fn most(&self) -> Most {
        let first = self.list.first().map_or(f64::INFINITY, Candidate::weight);
        let further = self.lightest + FURTHER * (first - self.lightest);
        // None is requested that is heavier than the last of as many as are requested.
        let last = self.list.last().filter(|_| self.expected <= self.heavy);
        let existing = last.map_or(further, |last| further.min(last.weight()));
        // Rounded, it may be less than the first one, which is to be distinguished from what weighs
        // the same.
        Most { existing: existing.max(first), requested: self.requested() }
    }

    /// The next class that may have a path which comes before the first candidate.
    fn next_class(&mut self) -> Option<Class> {
        let first = self.list.first().map_or(f64::INFINITY, Candidate::weight);
        let class = self.classes.peek().filter(|class| class.least <= first)?;
        self.meter.give_back(class.bytes());
        self.classes.pop()
    }

    fn put_class(&mut self, class: Class) -> Result<()> {
        if self.requested() < class.least {
            return Ok(());
        }
        self.meter.take(class.bytes())?;
        self.classes.push(class);
        self.frontier.check(self.list.len() + self.classes.len())
    }
}

/// Returns up to as many paths as are requested between two different nodes.
///
/// # Errors
///
/// [`hexgraph_base::types::Error::Limit`] past the frontier, which bounds the candidates with the
/// classes that wait, or the root paths where these have to be distinguished one by one.
pub(super) fn several(
    edges: &mut PathEdges<'_>,
    ends: &ShortestPath,
    frontier: Frontier,
    from: u32,
    to: u32,
) -> Result<Vec<Path>> {
    // Its weight bounds the first search below, and its search from the end is gone on with.
    let Lightest { path: Some(path), behind, cost } = lightest(edges, from, to)? else {
        // That there is no path was decided by reading each edge once.
        return Ok(Vec::new());
    };
    if edges.has_negative()? {
        return by_root_paths(edges, ends, frontier, from, to);
    }
    let control = edges.context().control;
    let nodes_max = edges.nodes_max();
    let mut deviations = Deviations::new(Rest::new(to, behind), nodes_max, cost);
    let mut candidates = Candidates {
        meter: Meter::new(control),
        ends,
        frontier,
        list: BTreeSet::new(),
        classes: BinaryHeap::new(),
        lightest: path.weight,
        heavy: 0,
        expected: ends.paths.max(0) as usize,
    };
    let (nodes, fields, sums) = (vec![from], Vec::new(), vec![0.0]);
    let none = Rc::new(Candidate { nodes, fields, sums, leaves_at: 0, banned: Vec::new() });
    let full = Class { least: 0.0, path: none, at: 0, banned: Vec::new() };
    let most = Most { existing: path.weight, requested: candidates.requested() };
    let is_decided = candidates.search(edges, &mut deviations, full, most, to)?;
    let paths = if is_decided { candidates.paths(edges, &mut deviations, to)? } else { None };
    drop((candidates, deviations));
    match paths {
        Some(paths) => Ok(paths),
        None => by_root_paths(edges, ends, frontier, from, to),
    }
}

impl Candidates<'_, '_> {
    /// The paths in their order. `None` when the order of equal ones is not decided.
    fn paths<'c>(
        &mut self,
        edges: &mut PathEdges<'c>,
        deviations: &mut Deviations<'c>,
        to: u32,
    ) -> Result<Option<Vec<Path>>> {
        let mut paths = Vec::new();
        while self.expected != 0 {
            while let Some(class) = self.next_class() {
                let most = self.most();
                if !self.search(edges, deviations, class, most, to)? {
                    return Ok(None);
                }
            }
            let Some(path) = self.first() else { break };
            if self.is_heavy(path.weight()) {
                self.expected -= 1;
                paths.push(path.to_path());
            }
            if self.expected != 0 {
                self.split(edges, deviations, path)?;
            }
        }
        Ok(Some(paths))
    }

    /// Adds the classes that what is left of a path's class falls into.
    fn split<'c>(
        &mut self,
        edges: &mut PathEdges<'c>,
        deviations: &mut Deviations<'c>,
        path: Candidate,
    ) -> Result<()> {
        // All of its classes have it as long as they live.
        self.meter.take(path.bytes() + NUMBER_ENTRY_BYTES * path.nodes.len())?;
        let mut before: FxHashSet<u32> = path.nodes.iter().copied().collect();
        let path = Rc::new(path);
        for at in (path.leaves_at..path.fields.len()).rev() {
            before.remove(&path.nodes[at + 1]);
            // Lawler's change: there the class of this path has left out some already, and after it
            // no path was split off yet.
            let mut banned = if at == path.leaves_at { path.banned.clone() } else { Vec::new() };
            banned.push(path.nodes[at + 1]);
            let class = Class { least: 0.0, path: Rc::clone(&path), at, banned };
            let bound = deviations.bound(edges, class.start(), |node| before.contains(&node))?;
            if let Some(least) = bound {
                self.put_class(Class { least, ..class })?;
            }
        }
        self.meter.give_back(NUMBER_ENTRY_BYTES * path.nodes.len());
        Ok(())
    }

    /// Adds the first path of a class, or the class again if it has none within the limit. False
    /// when the order of its equal paths is not decided.
    fn search<'c>(
        &mut self,
        edges: &mut PathEdges<'c>,
        deviations: &mut Deviations<'c>,
        class: Class,
        most: Most,
        to: u32,
    ) -> Result<bool> {
        let tie = match deviations.find(edges, class.start(), to, most)? {
            Deviation::Nothing => return Ok(true),
            Deviation::Beyond if most.existing < most.requested => {
                self.put_class(Class { least: most.existing.next_up(), ..class })?;
                return Ok(true);
            }
            Deviation::Beyond => return Ok(true),
            Deviation::Undecided => return Ok(false),
            Deviation::Path(tie) => tie,
        };
        let Class { path, at, banned, .. } = class;
        self.add(Candidate {
            nodes: [&path.nodes[..at], &tie.nodes].concat(),
            fields: [&path.fields[..at], &tie.fields].concat(),
            sums: [&path.sums[..at], &tie.sums].concat(),
            leaves_at: at,
            banned,
        })?;
        Ok(true)
    }
}

/// The paths by their root paths, whatever edges weigh.
fn by_root_paths(
    edges: &mut PathEdges<'_>,
    ends: &ShortestPath,
    frontier: Frontier,
    from: u32,
    to: u32,
) -> Result<Vec<Path>> {
    let mut root_paths = RootPaths::new(edges.context().control, frontier, from, 0.0)?;
    let mut paths = Vec::new();
    let mut read = |node, hops, list: &mut Vec<_>| match edges.leaves(node, hops)? {
        true => edges.forth(node, list),
        false => Ok(()),
    };
    let expects = |_, weight: f64| ends.weight_max.is_none_or(|most| weight <= most);
    while (paths.len() as i64) < ends.paths
        && let Some(path) = root_paths.next(to, &mut read, &expects)?
    {
        if ends.weight_min.is_none_or(|least| least <= path.weight) {
            paths.push(path);
        }
    }
    Ok(paths)
}
