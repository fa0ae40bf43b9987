//! Which of the lightest paths comes first.
//!
//! Paths of equal weight are ordered by their number of edges, the most first, then by their nodes.
//! Weights are sums of floats, so whether two paths are equal depends on the order in which they
//! were added up, and a path may visit a node a little heavier than another and still end with the
//! same weight. So what is followed are pairs of a node and an exact weight there. They come from
//! edges that miss the least weight of their end by less than sums can err; without edges of weight
//! 0 weights grow along each path, and the greatest number of edges from a pair to the end follows
//! from those of the heavier pairs. Cost: O(edges noted · log), and as much memory, however many
//! paths there are.

use super::front::Meter;
use super::path_edges::Hop;
use crate::exec::control::stop::RequestContext;
use hexgraph_base::types::Result;
use rustc_hash::{FxHashMap, FxHashSet};

/// The bytes that are charged for a pair of a node and a weight: entries of a map, two lists and an
/// order.
const PAIR_BYTES: usize = 96;

/// The most pairs for each edge that was noted. A position has one on nearly all graphs; edges that
/// weigh next to nothing compared with the path would make a great many.
const PAIRS_AN_EDGE: usize = 64;

/// The end of the list of incoming edges of a position.
const NONE: u32 = u32::MAX;

/// What a search knows of a node.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    pub(super) node: u32,
    pub(super) hops: u32,
    pub(super) weight: f64,
}

/// A path from the last node of a beginning, which comes first.
pub(super) struct Tie {
    pub(super) nodes: Vec<u32>,
    pub(super) fields: Vec<u32>,
    /// The weight of the entire path at each of the nodes.
    pub(super) sums: Vec<f64>,
}

/// An edge that may be on a lightest path, between positions of a search.
#[derive(Clone, Copy)]
struct Step {
    from: u32,
    to: u32,
    field: u32,
    weight: f64,
    /// The edge to the same position that was noted before.
    before: u32,
}

/// The edges that may be on a lightest path.
pub(super) struct Steps {
    steps: Vec<Step>,
    /// The last edge that was noted, by the position of its target.
    last: Vec<u32>,
    /// How much heavier than the lightest path to a node another one may be to be noted.
    tolerance: f64,
}

impl Steps {
    pub(super) fn new(tolerance: f64) -> Steps {
        Steps { steps: Vec::new(), last: Vec::new(), tolerance }
    }

    /// Notes an edge between two positions, the first of which has the weight `from_weight`, unless
    /// there is a path to the second that is lighter. True when it was noted.
    pub(super) fn note(
        &mut self,
        from: u32,
        to: u32,
        hop: &Hop,
        from_weight: f64,
        existing: f64,
    ) -> bool {
        let weight = from_weight + hop.weight;
        // Not `known - tolerance`, which infinities would make no number.
        if existing + self.tolerance < weight {
            return false;
        }
        let position = to as usize;
        if self.last.len() <= position {
            self.last.resize(position + 1, NONE);
        }
        // All that was noted is too heavy now.
        let is_first = weight + self.tolerance < existing;
        let before = if is_first { NONE } else { self.last[position] };
        self.last[position] = self.steps.len() as u32;
        self.steps.push(Step { from, to, field: hop.field, weight: hop.weight, before });
        true
    }

    /// The first of the paths from position 0 to the position `end`, which have its weight; `None`
    /// when these edges do not decide which that is.
    pub(super) fn first_path(
        &self,
        control: &RequestContext,
        spots: &[Spot],
        end: u32,
    ) -> Result<Option<Tie>> {
        let steps = self.steps_to(spots, end);
        let path = match is_chain(&steps) {
            true => Some(chain(&steps, end)),
            false => self.most_edges(control, spots, &steps, end)?,
        };
        Ok(path.map(|path| tie(spots, &path)))
    }

    /// The edges on paths to `end` that are within the tolerance of the lightest, each once, sorted
    /// by the position of their targets.
    fn steps_to(&self, spots: &[Spot], end: u32) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut seen = FxHashSet::from_iter([end]);
        let mut positions = vec![end];
        while let Some(position) = positions.pop() {
            let mut at = self.last.get(position as usize).copied().unwrap_or(NONE);
            while let Some(step) = self.steps.get(at as usize) {
                let weight = spots[step.from as usize].weight + step.weight;
                if weight <= spots[position as usize].weight + self.tolerance {
                    steps.push(*step);
                    if seen.insert(step.from) {
                        positions.push(step.from);
                    }
                }
                at = step.before;
            }
        }
        // A position that became lighter after its edges were read had them read again.
        steps.sort_unstable_by_key(|step| (step.to, step.from));
        steps.dedup_by_key(|step| (step.to, step.from));
        steps
    }

    /// Of the paths to `end` that have exactly its weight the one with the most edges, of these the
    /// one whose nodes are the least; `None` when edges that do not add to the weight, or a path
    /// through a node twice, leave that open.
    fn most_edges(
        &self,
        control: &RequestContext,
        spots: &[Spot],
        steps: &[Step],
        end: u32,
    ) -> Result<Option<Vec<Step>>> {
        let mut meter = Meter::new(control);
        let mut out = steps.to_vec();
        out.sort_unstable_by_key(|step| (step.from, spots[step.to as usize].node));
        let of = |position: u32| steps_from(&out, position);
        let Some(Pairs { pairs, numbers }) = self.pairs(control, &mut meter, spots, &out, end)?
        else {
            return Ok(None);
        };
        // The most edges from each pair to the end: from the heaviest on, since weights grow.
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_unstable_by(|&one, &other| pairs[other].0.total_cmp(&pairs[one].0));
        let mut most: Vec<Option<u32>> = vec![None; pairs.len()];
        let number = |weight: f64, step: &Step| {
            numbers.get(&((weight + step.weight).to_bits(), step.to)).copied()
        };
        for at in order {
            let (weight, position) = pairs[at];
            most[at] = match position == end {
                true => Some(0),
                false => {
                    let onward = of(position).iter().filter_map(|step| most[number(weight, step)?]);
                    onward.max().map(|edges| edges + 1)
                }
            };
        }
        let mut path = Vec::new();
        let mut at = 0;
        while let Some(left) = most[at].filter(|&left| 0 < left) {
            let (weight, position) = pairs[at];
            // By node, so the first that is as far from the end is the least.
            let leads = |step: &&Step| {
                number(weight, step).is_some_and(|number| most[number] == Some(left - 1))
            };
            let Some(step) = of(position).iter().find(leads) else { break };
            path.push(*step);
            at = number(weight, step).unwrap_or(at);
        }
        let mut positions = FxHashSet::from_iter([0]);
        let is_simple = path.iter().all(|step| positions.insert(step.to));
        Ok((is_simple && pairs[at].1 == end).then_some(path))
    }
    /// All pairs of a position and a weight there that lie on a path to `end`, and some that lie on
    /// none. `None` when an edge does not add to the weight, or there are too many.
    fn pairs(
        &self,
        control: &RequestContext,
        meter: &mut Meter<'_>,
        spots: &[Spot],
        out: &[Step],
        end: u32,
    ) -> Result<Option<Pairs>> {
        let target = spots[end as usize].weight;
        let retain = |position: u32, weight: f64| match position == end {
            true => weight == target,
            false => weight <= spots[position as usize].weight + self.tolerance,
        };
        let mut pairs: Vec<(f64, u32)> = vec![(spots[0].weight, 0)];
        let mut numbers = FxHashMap::from_iter([((spots[0].weight.to_bits(), 0), 0_usize)]);
        let mut next = 0;
        while let Some(&(weight, position)) = pairs.get(next) {
            next += 1;
            if next.is_multiple_of(1024) {
                control.check()?;
            }
            for step in steps_from(out, position).iter().filter(|_| position != end) {
                let sum = weight + step.weight;
                if sum == weight {
                    return Ok(None);
                }
                if retain(step.to, sum) && !numbers.contains_key(&(sum.to_bits(), step.to)) {
                    if PAIRS_AN_EDGE * out.len() < pairs.len() {
                        return Ok(None);
                    }
                    meter.take(PAIR_BYTES)?;
                    numbers.insert((sum.to_bits(), step.to), pairs.len());
                    pairs.push((sum, step.to));
                }
            }
        }
        Ok(Some(Pairs { pairs, numbers }))
    }
}

/// Positions, each with a weight that a path to it has there, and the number of each pair.
struct Pairs {
    pairs: Vec<(f64, u32)>,
    numbers: FxHashMap<(u64, u32), usize>,
}

/// Those of some edges, sorted by where they begin, that leave a position.
fn steps_from(out: &[Step], position: u32) -> &[Step] {
    let start = out.partition_point(|step| step.from < position);
    let count = out[start..].partition_point(|step| step.from == position);
    &out[start..start + count]
}

/// True when no position is led to by two edges.
fn is_chain(steps: &[Step]) -> bool {
    steps.windows(2).all(|pair| pair[0].to != pair[1].to)
}

/// The only path to `end`.
fn chain(steps: &[Step], end: u32) -> Vec<Step> {
    let mut path = Vec::new();
    let mut position = end;
    while let Ok(at) = steps.binary_search_by_key(&position, |step| step.to) {
        path.push(steps[at]);
        position = steps[at].from;
    }
    path.reverse();
    path
}

fn tie(spots: &[Spot], path: &[Step]) -> Tie {
    let mut nodes = vec![spots[0].node];
    let mut sums = vec![spots[0].weight];
    let mut sum = spots[0].weight;
    for step in path {
        sum += step.weight;
        nodes.push(spots[step.to as usize].node);
        sums.push(sum);
    }
    Tie { nodes, fields: path.iter().map(|step| step.field).collect(), sums }
}
