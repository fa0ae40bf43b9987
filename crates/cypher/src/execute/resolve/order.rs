//! The order of the steps of a match: a condition runs as soon as its variables are bound; a hop
//! runs when one of its nodes is bound, those between two bound nodes first; else a node is
//! scanned, the one with the fewest candidates.

use crate::ast::Direction;
use crate::execute::plan::{
    Expression, Hop, IndexSeek, MatchStep, NodeAccess, Operation, PathElement, Selection,
    Shortness, SlotIndex, UidSeek, ValueStep, Walk,
};
use crate::execute::run::Execution;
use crate::execute::seeks::Candidacy;
use crate::execute::seeks::add_seek;
use hexgraph_base::types::{Result, stack};
use rustc_hash::FxHashSet;
use std::mem;
use std::sync::Arc;

/// The expected length of a list of uids that a row has.
const LIST_LEN_EXPECTED: u64 = 16;

/// About how many nodes a scan by cells tests in the time of one row, and how many rows are cheap
/// in any case. Estimates: a cell needs about 20 ns, a row 600 ns.
const CELLS_PER_ROW: u64 = 32;
const ROWS_FEW: u64 = 1024;

/// The patterns of a match before they have an order.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// Slots that are bound before the match.
    pub(super) bound: Vec<SlotIndex>,
    /// Slots that the match assigns.
    pub(super) assigned: Vec<SlotIndex>,
    pub(super) nodes: Vec<SlotIndex>,
    pub(super) hops: Vec<DraftHop>,
    pub(super) paths: Vec<DraftPath>,
    pub(super) selections: Vec<DraftSelection>,
    pub(super) conditions: Vec<Condition>,
    /// Labels that a node must have.
    pub(super) labels: Vec<(SlotIndex, Arc<str>)>,
    pub(super) index_seeks: Vec<IndexDraft>,
    pub(super) uid_seeks: Vec<UidDraft>,
    /// All slots that something reads.
    pub(super) used: Vec<SlotIndex>,
    /// The first and the last node of the path that was added last.
    pub(super) endpoints: (SlotIndex, SlotIndex),
}

#[derive(Debug, Clone)]
pub(super) struct DraftHop {
    pub(super) left: SlotIndex,
    pub(super) right: SlotIndex,
    pub(super) relationship: SlotIndex,
    pub(super) direction: Direction,
    pub(super) types: Option<Vec<u32>>,
    /// The fewest and the most relationships in a row; `None` for one.
    pub(super) bounds: Option<(u64, u64)>,
    pub(super) each: SlotIndex,
    pub(super) conditions: Vec<Expression>,
    pub(super) shortest: Option<Shortness>,
    pub(super) is_listed: bool,
}

#[derive(Debug)]
pub(super) struct DraftPath {
    pub(super) slot: SlotIndex,
    pub(super) start: SlotIndex,
    pub(super) elements: Vec<PathElement>,
}

#[derive(Debug)]
pub(super) struct DraftSelection {
    pub(super) draft: Draft,
    pub(super) selection: Selection,
}

/// A condition and the slots that it reads.
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) expression: Expression,
    pub(super) needs: Vec<SlotIndex>,
}

/// A node that the index of a property may have, and the slots that the values read.
#[derive(Debug)]
pub(super) struct IndexDraft {
    pub(super) slot: SlotIndex,
    pub(super) seek: IndexSeek,
    pub(super) needs: Vec<SlotIndex>,
}

/// A node whose uids a value has.
#[derive(Debug)]
pub(super) struct UidDraft {
    pub(super) slot: SlotIndex,
    pub(super) seek: UidSeek,
    pub(super) needs: Vec<SlotIndex>,
}

/// What is bound so far, and the steps that bind it.
struct Progress {
    bound: FxHashSet<SlotIndex>,
    /// Slots that the match assigns: a condition waits for these only.
    assigned: FxHashSet<SlotIndex>,
    steps: Vec<MatchStep>,
}

impl Draft {
    /// Brings all parts into an order.
    pub(super) fn steps(mut self, execution: &Execution<'_>) -> Result<Vec<MatchStep>> {
        stack::check()?;
        let mut progress = Progress {
            bound: mem::take(&mut self.bound).into_iter().collect(),
            assigned: self.assigned.iter().copied().collect(),
            steps: Vec::new(),
        };
        let before: Vec<SlotIndex> =
            self.nodes.iter().copied().filter(|it| progress.is_bound(*it)).collect();
        for node in before {
            // A node that an optional match did not have matches nothing.
            let value = Box::new(Operation::Slot(node).at(Default::default()));
            let test = Operation::Steps(value, vec![ValueStep::IsNull(true)]);
            progress.steps.push(MatchStep::Filter(test.at(Default::default())));
        }
        loop {
            execution.graph.check()?;
            self.advance(&mut progress);
            if let Some(hop) = self.next_hop(&progress) {
                let hop = self.hops.swap_remove(hop);
                progress.add_hop(hop);
            } else if let Some((node, access)) = self.next_scan(&progress, execution)? {
                progress.steps.push(MatchStep::Scan { slot: node, access });
                progress.bound.insert(node);
            } else if let Some(DraftSelection { mut draft, selection }) = self.selections.pop() {
                draft.bound.extend(&progress.bound);
                draft.assigned.retain(|it| !progress.bound.contains(it));
                progress.bound.extend(&selection.retained);
                let steps = draft.steps(execution)?;
                progress.steps.push(MatchStep::Shortest { steps, selection });
            } else {
                self.advance(&mut progress);
                return Ok(progress.steps);
            }
        }
    }

    /// Adds conditions and paths whose parts are bound.
    fn advance(&mut self, progress: &mut Progress) {
        let paths = mem::take(&mut self.paths);
        for path in paths {
            let parts = path.elements.iter().map(|it| match it {
                PathElement::One(slot) | PathElement::List(slot) => *slot,
            });
            if parts.chain([path.start]).all(|it| progress.is_bound(it)) {
                let DraftPath { slot, start, elements } = path;
                progress.steps.push(MatchStep::Path { slot, start, elements });
                progress.bound.insert(slot);
            } else {
                self.paths.push(path);
            }
        }
        let conditions = mem::take(&mut self.conditions);
        for condition in conditions {
            if progress.has_all(&condition.needs) {
                progress.steps.push(MatchStep::Filter(condition.expression));
            } else {
                self.conditions.push(condition);
            }
        }
    }

    /// The hop with the lowest rank of those with a bound node or relationship.
    fn next_hop(&self, progress: &Progress) -> Option<usize> {
        let rank = |hop: &DraftHop| {
            let endpoints = [hop.left, hop.right].into_iter().filter(|it| progress.is_bound(*it));
            let conditions = hop.bounds.is_some();
            match (endpoints.count(), conditions, hop.shortest) {
                _ if progress.is_bound(hop.relationship) => Some(0),
                (0, ..) => None,
                (2, false, _) => Some(1),
                (_, false, _) => Some(2),
                (2, true, None) => Some(3),
                (_, true, None) => Some(4),
                (2, true, Some(_)) => Some(5),
                (_, true, Some(_)) => Some(6),
            }
        };
        let ranked =
            self.hops.iter().enumerate().filter_map(|(index, it)| Some((rank(it)?, index)));
        ranked.min().map(|(_, index)| index)
    }

    /// The node with the fewest candidates, and how these are listed.
    fn next_scan(
        &self,
        progress: &Progress,
        execution: &Execution<'_>,
    ) -> Result<Option<(SlotIndex, NodeAccess)>> {
        let mut best: Option<(u64, SlotIndex, NodeAccess)> = None;
        for node in self.nodes.iter().filter(|it| !progress.is_bound(**it)) {
            let (count, access) = self.access(*node, progress, execution)?;
            if best.as_ref().is_none_or(|(least, ..)| count < *least) {
                best = Some((count, *node, access));
            }
        }
        Ok(best.map(|(_, node, access)| (node, access)))
    }

    fn access(
        &self,
        node: SlotIndex,
        progress: &Progress,
        execution: &Execution<'_>,
    ) -> Result<(u64, NodeAccess)> {
        let graph = execution.graph;
        // All nodes are counted only where nothing has fewer of them: that reads the nodes of all
        // predicates.
        let (mut count, mut access, mut rarest) = (u64::MAX, NodeAccess::All, None);
        for (_, label) in self.labels.iter().filter(|(slot, _)| *slot == node) {
            let nodes = graph.label_count(label)?;
            if rarest.is_none() || nodes < count {
                (count, access) = (nodes, NodeAccess::Label(label.clone()));
                rarest = Some(label.clone());
            }
        }
        let scanned = rarest.is_some().then_some(count);
        if let Some((nodes, seeks)) = self.indexed(node, scanned, progress, execution)?
            && nodes < count
        {
            count = nodes;
            access = NodeAccess::Index { label: rarest, seeks };
        }
        for it in self.uid_seeks.iter().filter(|it| it.slot == node && progress.has_all(&it.needs))
        {
            let uids = it.seek.count().unwrap_or(LIST_LEN_EXPECTED);
            if uids <= count {
                count = uids;
                access = NodeAccess::Uids(it.seek.clone());
            }
        }
        if matches!(access, NodeAccess::All) {
            count = graph.node_count()?;
        }
        Ok((count, access))
    }
}

impl Draft {
    /// The conditions that an index answers for a node, the one with the fewest nodes first, and
    /// how many these are. Those with a value for all rows have to have few of the nodes that a
    /// scan reads.
    fn indexed(
        &self,
        node: SlotIndex,
        scanned: Option<u64>,
        progress: &Progress,
        execution: &Execution<'_>,
    ) -> Result<Option<(u64, Vec<IndexSeek>)>> {
        let mut seeks = Vec::new();
        let drafts = self.index_seeks.iter().filter(|it| it.slot == node);
        for it in drafts.filter(|it| progress.has_all(&it.needs)) {
            add_seek(&mut seeks, it.seek.clone());
        }
        // A scan of one node evaluates its conditions by cells, behind a batch of rows.
        let is_by_cells = self.hops.is_empty() && self.nodes.len() == 1;
        let most = scanned.filter(|_| is_by_cells).map(|all| (all / CELLS_PER_ROW).max(ROWS_FEW));
        let mut indexed: Vec<(u64, IndexSeek)> = Vec::new();
        for seek in seeks {
            let nodes = match seek.is_constant() {
                true => {
                    let one = std::slice::from_ref(&seek);
                    match execution.cheapest(one, scanned, &mut Vec::new())? {
                        Candidacy::Nothing => Some(0),
                        Candidacy::Index { estimate, .. } => {
                            Some(estimate.nodes).filter(|it| most.is_none_or(|most| *it <= most))
                        }
                        Candidacy::Scan => None,
                    }
                }
                false => execution.expected(&seek)?.map(|it| it.nodes),
            };
            indexed.extend(nodes.map(|nodes| (nodes, seek)));
        }
        indexed.sort_by_key(|(nodes, _)| *nodes);
        let least = indexed.first().map(|(nodes, _)| *nodes);
        Ok(least.map(|least| (least, indexed.into_iter().map(|(_, seek)| seek).collect())))
    }
}

impl Progress {
    fn is_bound(&self, slot: SlotIndex) -> bool {
        self.bound.contains(&slot)
    }

    /// Whether all of these slots are bound that the match assigns.
    fn has_all(&self, needs: &[SlotIndex]) -> bool {
        needs.iter().all(|it| self.is_bound(*it) || !self.assigned.contains(it))
    }

    fn add_hop(&mut self, hop: DraftHop) {
        let (left, right) = (self.is_bound(hop.left), self.is_bound(hop.right));
        let relationship_bound = self.is_bound(hop.relationship);
        let is_reversed = !left && !relationship_bound;
        let (from, to, direction) = match is_reversed {
            false => (hop.left, hop.right, hop.direction),
            true => (hop.right, hop.left, flipped(hop.direction)),
        };
        let to_bound = self.is_bound(to) || from == to;
        let types = hop.types;
        let relationship = hop.relationship;
        let step = Hop { from, relationship, to, to_bound, direction, types, range: None };
        self.bound.extend([from, to, relationship]);
        let DraftHop { bounds, each, conditions, shortest, is_listed, .. } = hop;
        self.steps.push(match bounds {
            None if relationship_bound => {
                MatchStep::Bound { hop: Hop { to_bound: right, ..step }, from_bound: left }
            }
            None => MatchStep::Expand(step),
            Some((min, max)) => MatchStep::Walk(Walk {
                hop: step,
                min,
                max,
                each,
                conditions,
                is_reversed,
                is_listed,
                shortest,
                is_distinct: false,
            }),
        });
    }
}

/// The direction as seen from the other end.
fn flipped(direction: Direction) -> Direction {
    match direction {
        Direction::Out => Direction::In,
        Direction::In => Direction::Out,
        Direction::Either => Direction::Either,
    }
}
