//! Detects uses of variables that are answered, and likely mean something else, for the warnings of
//! an answer.
//!
//! - **None of the nodes has a value**: mostly the variable is one of other nodes, above or below.
//!   The first node that has a value ends the search, which is mostly the first one that is looked
//!   at; where there is none, it costs O(the fewer · log the others).
//! - **Some nodes have none**, which counts as 0. They are counted only where an operator has met
//!   operands of different nodes, and mostly follow from the number of its results.
//! - **Sums over all paths to a node**, which are mistaken for those of one path. An edge field has
//!   more targets than there are nodes below exactly if a node has more than one path to it.
//! - **Types that an operator has no result for**, as two datetimes: where it is computed value by
//!   value, the first ones are looked at.

use super::evaluate::Mismatch;
use crate::exec::control::column_var::{ColumnVar, Input};
use crate::exec::control::context::{Context, Var};
use crate::exec::control::trace::{Doubt, Doubtful};
use crate::exec::control::tree::{EdgeField, ValueMap};
use crate::storage::{NodeSet, bit_of, gallop, is_run};
use hexgraph_base::plan::{Aggregate, Argument, Call, Filter, Operand as PlanOperand, VarId};
use hexgraph_base::types::{Position, stack};

impl Context<'_> {
    /// Notes the variables of a filter that have no value at any of its candidates.
    pub(crate) fn note_unresolved_in(&self, filter: &Filter, candidates: &NodeSet) {
        stack::require();
        match filter {
            Filter::And(parts) | Filter::Or(parts) => {
                parts.iter().for_each(|part| self.note_unresolved_in(part, candidates));
            }
            Filter::Not(part) => self.note_unresolved_in(part, candidates),
            Filter::SemiJoin(_) => {}
            Filter::Function(function) => {
                if let Some((PlanOperand::Val(var), ..)) = self.comparison(&function.call) {
                    self.note_unresolved(*var, candidates, function.at, true);
                }
                let Call::Compare { arguments, .. } = &function.call else { return };
                for argument in arguments {
                    if let Argument::Val(var) = argument {
                        self.note_unresolved(*var, candidates, function.at, true);
                    }
                }
            }
        }
    }

    /// Notes the variables of a column's expression that have no value at any node of a block, or
    /// at some. `of_block` says of a variable whether the block defines it.
    pub(crate) fn note_doubts_of_columns(
        &self,
        column: &ColumnVar,
        nodes: &NodeSet,
        of_block: impl Fn(VarId) -> bool,
        at: Position,
    ) {
        let Some((inputs, united)) = column.inputs() else { return };
        let is_within = |input: &Input| !input.is_computed() && of_block(input.var);
        for input in inputs {
            match is_within(input) {
                true if 0 < input.len || nodes.is_empty() => {}
                true => self.note(input.var, at, false),
                false => self.note_unresolved(input.var, nodes, at, false),
            }
        }
        let lacks_none = |input: &Input| {
            input.len == united.len() || is_within(input) && input.len == nodes.len()
        };
        if inputs.iter().all(lacks_none) {
            return;
        }
        let are_within = inputs.iter().all(is_within) || nodes.is_sure_superset(united);
        let computed = if are_within { united.len() } else { nodes.and_len(united) };
        for input in inputs {
            let having = match are_within || is_within(input) {
                true => input.len,
                false => nodes.and_len(&input.subjects()),
            };
            self.note_lacking(input.var, computed - having, computed, at);
        }
    }

    /// Notes a variable if none of its values is one of the nodes, which ascend, of a level.
    pub(super) fn note_unresolved_at(
        &self,
        var: VarId,
        map: &ValueMap,
        nodes: &[u32],
        at: Position,
    ) {
        let (fewer, more) = match map.nodes.len() < nodes.len() {
            true => (map.nodes.as_slice(), nodes),
            false => (nodes, map.nodes.as_slice()),
        };
        let is_met = || fewer.iter().any(|node| more.binary_search(node).is_ok());
        if map.constant.is_none() && !nodes.is_empty() && !is_met() {
            self.note(var, at, false);
        }
    }

    fn note_unresolved(&self, var: VarId, nodes: &NodeSet, at: Position, is_filter: bool) {
        let meets = |existing: &NodeSet| {
            let (fewer, more) =
                if existing.len() < nodes.len() { (existing, nodes) } else { (nodes, existing) };
            fewer.iter().any(|node| more.contains(node))
        };
        let is_met = match &self.vars[var.0 as usize] {
            Some(Var::Values(map)) if map.constant.is_none() => {
                let is_known = |node: u32| map.nodes.binary_search(&node).is_ok();
                match map.nodes.len() < nodes.len() {
                    true => map.nodes.iter().any(|node| nodes.contains(*node)),
                    false => nodes.iter().any(is_known),
                }
            }
            Some(Var::Column(column)) => meets(&column.subjects()),
            // One value for all nodes, what holds nodes, and what is not resolved yet.
            Some(Var::Values(_) | Var::Uids(_)) | None => true,
        };
        if !is_met && !nodes.is_empty() {
            self.note(var, at, is_filter);
        }
    }

    fn note(&self, var: VarId, at: Position, is_filter: bool) {
        let what = match is_filter {
            true => Doubtful::NoneToFilter(var),
            false => Doubtful::NoneToCompute(var),
        };
        self.control.note_doubt(Doubt { at, what });
    }

    /// Notes the variables that some nodes of a level lack though they have another one of the same
    /// expression. `united` is the number of nodes that have any of them, if it is available. O(1)
    /// where each variable has all these nodes or all of the level, and where all are variables of
    /// the level; else O(members).
    pub(super) fn note_missing(
        &self,
        operands: &[Operand<'_>],
        nodes: &[u32],
        united: Option<usize>,
        at: Position,
    ) {
        let lacks_none = |operand: &Operand<'_>| {
            let len = operand.nodes.len();
            united == Some(len) || operand.is_among(nodes) && len == nodes.len()
        };
        if operands.iter().all(lacks_none) {
            return;
        }
        let are_among = operands.iter().all(|operand| operand.is_among(nodes));
        let lists = operands.iter().map(|operand| operand.nodes);
        let (computed, having) = match united.filter(|_| are_among) {
            Some(united) => (united, lists.map(<[u32]>::len).collect()),
            None => count_among(&lists.collect::<Vec<_>>(), nodes),
        };
        for (operand, having) in operands.iter().zip(having) {
            self.note_lacking(operand.var, computed - having, computed, at);
        }
    }

    fn note_lacking(&self, var: VarId, lacking: usize, nodes: usize, at: Position) {
        // A variable that no node has is reported as such.
        if 0 < lacking && lacking < nodes {
            let what = Doubtful::SomeMissing { var, lacking, nodes };
            self.control.note_doubt(Doubt { at, what });
        }
    }

    /// Notes that a variable of the level below is aggregated though its values are sums over all
    /// paths to a node.
    pub(super) fn note_shared_below(
        &self,
        var: VarId,
        op: Aggregate,
        edges: &EdgeField,
        at: Position,
    ) {
        let mut seen = edges.targets.clone();
        seen.sort_unstable();
        let twice = seen.windows(2).find(|pair| pair[0] == pair[1]);
        if let Some(pair) = twice {
            let uid = self.version.nodes.uid(pair[0]);
            self.control.note_doubt(Doubt { at, what: Doubtful::SharedBelow { var, op, uid } });
        }
    }

    /// Notes that a variable of a level above is computed with as the sum over all sources of a
    /// node.
    pub(super) fn note_shared_above(&self, var: VarId, node: u32, at: Position) {
        let uid = self.version.nodes.uid(node);
        self.control.note_doubt(Doubt { at, what: Doubtful::SharedAbove { var, uid } });
    }

    /// Notes that an operator has no result for the types of its operands.
    pub(super) fn note_mismatch(&self, mismatch: Mismatch, at: Position) {
        let Mismatch { function, operands } = mismatch;
        self.control.note_doubt(Doubt { at, what: Doubtful::NoResult { function, operands } });
    }
}

/// A variable that an operator reads, which has values of other nodes than another operand.
pub(super) struct Operand<'a> {
    pub(super) var: VarId,
    /// The nodes that have a value, ascending.
    pub(super) nodes: &'a [u32],
    /// True where they are certainly nodes of the level that computes.
    pub(super) is_within: bool,
}

impl Operand<'_> {
    /// True where all nodes are seen to be among some of a level. O(1).
    fn is_among(&self, level: &[u32]) -> bool {
        let ends = level.first().zip(level.last());
        let is_between =
            |node: &u32| ends.is_some_and(|(first, last)| (first..=last).contains(&node));
        self.is_within
            || is_run(level)
                && self.nodes.first().into_iter().chain(self.nodes.last()).all(is_between)
    }
}

/// The ids that are counted at a time: their bits stay in the nearest cache, and few of them are
/// empty of a level with gaps.
const WINDOW: u32 = 64 * 64;

/// The number of nodes of a level that are in any of some lists, and how many are in each. All
/// lists ascend. It goes over windows of ids, each as bits. O(members).
fn count_among(lists: &[&[u32]], level: &[u32]) -> (usize, Vec<usize>) {
    let count = |bits: &[u64]| bits.iter().map(|word| word.count_ones() as usize).sum::<usize>();
    let (mut united, mut counts) = (0, vec![0; lists.len()]);
    let (mut lists, mut level) = (lists.to_vec(), level);
    while let Some(first) = level.first() {
        let start = first - first % WINDOW;
        let members = window(&mut level, start);
        let mut all = [0; WINDOW as usize / 64];
        for (list, existing) in lists.iter_mut().zip(&mut counts) {
            *list = &list[gallop(list, |node| *node < start)..];
            let mut bits = window(list, start);
            for ((bits, members), all) in bits.iter_mut().zip(&members).zip(&mut all) {
                *bits &= members;
                *all |= *bits;
            }
            *existing += count(&bits);
        }
        united += count(&all);
    }
    (united, counts)
}

/// Takes the nodes of a window, which begins at an id, from the front of a list. Gives them as
/// bits.
fn window(list: &mut &[u32], start: u32) -> [u64; WINDOW as usize / 64] {
    let mut bits = [0; WINDOW as usize / 64];
    let within = list.iter().take_while(|node| **node - start < WINDOW);
    let mut taken = 0;
    for node in within {
        let (position, bit) = bit_of(start, *node);
        bits[position] |= bit;
        taken += 1;
    }
    *list = &list[taken..];
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use std::collections::BTreeSet;

    /// Counts over windows are those of sets.
    #[test]
    fn members_are_counted_among_the_nodes_of_a_level() {
        let mut rng = Rng::with_seed(3);
        for round in 0..200 {
            let span = [70, 9_000, u32::MAX][rng.usize(..3)];
            let mut sample = || {
                let first = [0, u32::MAX - span][rng.usize(..2)];
                let nodes = (0..rng.usize(..300)).map(|_| first + rng.u32(..=span));
                nodes.collect::<BTreeSet<u32>>().into_iter().collect::<Vec<u32>>()
            };
            let (level, lists) = (sample(), [sample(), sample(), sample()]);
            let (united, counts) = count_among(&lists.each_ref().map(Vec::as_slice), &level);
            let has = |list: &Vec<u32>, node: &u32| list.binary_search(node).is_ok();
            let expected = level.iter().filter(|node| lists.iter().any(|list| has(list, node)));
            assert_eq!(united, expected.count(), "round {round}");
            for (list, count) in lists.iter().zip(counts) {
                let expected = level.iter().filter(|node| has(list, node)).count();
                assert_eq!(count, expected, "round {round}");
            }
        }
    }
}
