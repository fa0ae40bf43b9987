//! Several loop-free paths in ascending weight.
//!
//! Yen's algorithm ("Finding the k shortest loopless paths in a network", 1971) with Lawler's change (1972): all paths but those
//! that were found fall into classes by where they leave the last one that was found, and of each class the first path is a
//! candidate ([`super::detour`]). The first candidate is the next path, and what is left of its class falls apart in turn.
//! No more candidates are kept than paths are wanted, and a class is searched no further than the last of them: memory is
//! O(paths · length) beside what one search has reached.
//!
//! The order of equal paths is that in which [`Beginnings`] finds them, which takes the lightest beginning first, of equal ones
//! the one with the most edges, then the one whose last node is the least, then that whose nodes are. Of two paths the one
//! comes first whose greatest beginning behind their common one is taken first. Weights do not fall along a path, and more
//! edges come first, so that is the beginning at which a path has its whole weight first ([`Candidate`]).

use super::beginnings::{Beginnings, Frontier};
use super::detour::{Detour, Detours, Most, Rest, Start};
use super::front::{Front, Meter};
use super::lightest::{Lightest, lightest};
use super::path_edges::PathEdges;
use crate::exec::control::tree::Path;
use hexgraph_base::plan::ShortestPath;
use hexgraph_base::types::Result;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// A path that may be the next: the first of its class.
struct Candidate {
    nodes: Vec<u32>,
    fields: Vec<u32>,
    /// The weight of the beginning that ends at each node.
    sums: Vec<f64>,
    /// The place of the node at which the class leaves the path that it was split from.
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

    fn into_path(self) -> Path {
        let weight = self.weight();
        let hops = self.fields.into_iter().map(|field| field as usize).collect();
        Path { nodes: self.nodes, hops, weight }
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Candidate) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Candidate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Candidate) -> Ordering {
        let by_weight = self.weight().total_cmp(&other.weight());
        if by_weight.is_ne() {
            return by_weight;
        }
        let pairs = self.nodes.iter().zip(&other.nodes);
        let common = pairs.take_while(|(one, other)| one == other).count();
        // The greatest beginning behind the common one.
        let whole_at =
            |path: &Candidate| (common..path.sums.len()).find(|&at| path.sums[at] == path.weight());
        let (Some(mine), Some(others)) = (whole_at(self), whole_at(other)) else {
            // Of paths to one node none is the beginning of another: they are one.
            return Ordering::Equal;
        };
        others
            .cmp(&mine)
            .then_with(|| self.nodes[mine].cmp(&other.nodes[others]))
            .then_with(|| self.nodes[..=mine].cmp(&other.nodes[..=others]))
    }
}

/// The candidates of a request, and what it asks for.
struct Candidates<'c, 'e> {
    meter: Meter<'c>,
    ends: &'e ShortestPath,
    frontier: Frontier,
    list: BTreeSet<Candidate>,
    /// The candidates that are not too light to be shown.
    heavy: usize,
    /// The paths that are still wanted.
    wanted: usize,
}

impl Candidates<'_, '_> {
    fn is_heavy(&self, weight: f64) -> bool {
        self.ends.weight_min.is_none_or(|least| least <= weight)
    }

    /// Adds one, and drops the last where there are more than wanted.
    fn add(&mut self, candidate: Candidate) -> Result<()> {
        self.meter.take(candidate.bytes())?;
        // Those that are too light to be shown do not count: they have to be found before the ones that are.
        self.heavy += usize::from(self.is_heavy(candidate.weight()));
        self.list.insert(candidate);
        while self.wanted < self.heavy
            && let Some(last) = self.list.pop_last()
        {
            self.meter.give_back(last.bytes());
            self.heavy -= usize::from(self.is_heavy(last.weight()));
        }
        self.frontier.check(self.list.len())
    }

    fn first(&mut self) -> Option<Candidate> {
        let first = self.list.pop_first()?;
        self.meter.give_back(first.bytes());
        self.heavy -= usize::from(self.is_heavy(first.weight()));
        Some(first)
    }

    /// The weight that no further candidate may have more than.
    fn most(&self) -> Most {
        let last = self.list.last().filter(|_| self.wanted <= self.heavy);
        let known = last.map_or(f64::INFINITY, Candidate::weight);
        Most {
            known,
            asked: self.ends.weight_max.filter(|most| !most.is_nan()).unwrap_or(f64::INFINITY),
        }
    }
}

/// Finds up to as many paths as are asked for between two different nodes.
///
/// # Errors
///
/// [`hexgraph_base::types::Error::Limit`] past the frontier, which bounds the candidates, or the beginnings of paths where these
/// have to be told apart one by one.
pub(super) fn several(
    edges: &mut PathEdges<'_>,
    ends: &ShortestPath,
    frontier: Frontier,
    from: u32,
    to: u32,
) -> Result<Vec<Path>> {
    // Its weight bounds the first search below, and its search from the end is gone on with.
    let Lightest { path: Some(path), behind } = lightest(edges, from, to)? else {
        // That no path leads there was found out by looking at each edge once.
        return Ok(Vec::new());
    };
    if edges.has_negative()? {
        return by_beginnings(edges, ends, frontier, from, to);
    }
    let control = edges.context().control;
    let behind = behind.or_else(|| edges.have_back().then(|| Front::new(control, to)));
    let mut detours = Detours::new(Rest::new(behind), edges.nodes_max());
    let wanted = ends.paths.max(0) as usize;
    let (list, meter) = (BTreeSet::new(), Meter::new(control));
    let mut candidates = Candidates { meter, ends, frontier, list, heavy: 0, wanted };
    let none = Candidate {
        nodes: vec![from],
        fields: Vec::new(),
        sums: vec![0.0],
        leaves_at: 0,
        banned: Vec::new(),
    };
    let most = Most { known: path.weight, ..candidates.most() };
    let class = Class { path: &none, at: 0, banned: Vec::new(), most };
    let mut is_decided = candidates.search(edges, &mut detours, class, to)?;
    let mut paths = Vec::new();
    while is_decided && let Some(path) = candidates.first() {
        let is_shown = candidates.is_heavy(path.weight());
        candidates.wanted -= usize::from(is_shown);
        if candidates.wanted != 0 {
            // From the end on, where the search from the end has been: what these find bounds the others.
            for at in (path.leaves_at..path.fields.len()).rev() {
                let mut banned = Vec::new();
                // Lawler's change: there the class of this path has left out
                // some already, and behind it no path was split off yet.
                if at == path.leaves_at {
                    banned.extend_from_slice(&path.banned);
                }
                banned.push(path.nodes[at + 1]);
                let class = Class { path: &path, at, banned, most: candidates.most() };
                is_decided &= candidates.search(edges, &mut detours, class, to)?;
                if !is_decided {
                    break;
                }
            }
        }
        if is_shown {
            paths.push(path.into_path());
        }
        if candidates.wanted == 0 {
            break;
        }
    }
    drop((candidates, detours));
    if is_decided { Ok(paths) } else { by_beginnings(edges, ends, frontier, from, to) }
}

/// The paths that begin as another does, up to one of its nodes, and go on otherwise.
struct Class<'p> {
    path: &'p Candidate,
    /// The place of that node.
    at: usize,
    /// The nodes that they do not go on to.
    banned: Vec<u32>,
    /// The weight above which none is wanted.
    most: Most,
}

impl Candidates<'_, '_> {
    /// Adds the first path of a class. False when the order of its equal paths is not decided.
    fn search<'c>(
        &mut self,
        edges: &mut PathEdges<'c>,
        detours: &mut Detours<'c>,
        class: Class<'_>,
        to: u32,
    ) -> Result<bool> {
        let Class { path, at, banned, most } = class;
        let nodes = &path.nodes[..=at];
        let start = Start { nodes, weight: path.sums[at], banned: &banned };
        let tie = match detours.find(edges, start, to, most)? {
            Detour::Nothing => return Ok(true),
            Detour::Undecided => return Ok(false),
            Detour::Path(tie) => tie,
        };
        self.add(Candidate {
            nodes: [&nodes[..at], &tie.nodes].concat(),
            fields: [&path.fields[..at], &tie.fields].concat(),
            sums: [&path.sums[..at], &tie.sums].concat(),
            leaves_at: at,
            banned,
        })?;
        Ok(true)
    }
}

/// The paths by their beginnings, whatever edges weigh.
fn by_beginnings(
    edges: &mut PathEdges<'_>,
    ends: &ShortestPath,
    frontier: Frontier,
    from: u32,
    to: u32,
) -> Result<Vec<Path>> {
    let mut beginnings = Beginnings::new(edges.context().control, frontier, from, 0.0)?;
    let mut paths = Vec::new();
    let mut read = |node, hops, list: &mut Vec<_>| match edges.leaves(node, hops)? {
        true => edges.forth(node, list),
        false => Ok(()),
    };
    let wants = |_, weight: f64| ends.weight_max.is_none_or(|most| weight <= most);
    while (paths.len() as i64) < ends.paths
        && let Some(path) = beginnings.next(to, &mut read, &wants)?
    {
        if ends.weight_min.is_none_or(|least| least <= path.weight) {
            paths.push(path);
        }
    }
    Ok(paths)
}
