//! Blocks of a request, and fields of a level, that are executed concurrently.
//!
//! What does not wait for anything else is a branch. Where two branches at least are large by
//! estimate, threads of the database that are idle execute some of them, each with a copy of the
//! variables so far. A branch divides its own work into morsels, as far as threads are left.
//! Results and variables are merged in the order in which one thread would have made them; so
//! answers are the same bytes, and of several errors the first one is reported.
//!
//! Estimates come from the lengths of sets and from indexes, and cost no more than a search in
//! these. A request whose steps are traced does one branch after the other, so that its steps are
//! reported in order.

use crate::exec::control::context::{Context, Var};
use crate::exec::control::tree::{BlockResult, FieldData};
use crate::exec::cost::{self, Cost};
use crate::exec::select::by_index::ASKED_PER_NODE;
use hexgraph_base::plan::{Block, BlockKind, Call, Field, FieldKind, Function, VarId};
use hexgraph_base::types::Result;
use std::cmp::Reverse;
use std::sync::Arc;

/// The number of edges that a node is taken to have before one was looked at, and the number of
/// nodes that are looked at then.
const MEAN_DEGREE: usize = 4;
const LOOKED_AT: usize = 16;

/// A block that was executed, and the variables that it has set.
pub(super) struct BranchResult {
    result: BlockResult,
    vars: Vec<(VarId, Option<Var>)>,
}

impl<'a> Context<'a> {
    /// The same request with variables of its own.
    fn branch(&self) -> Context<'a> {
        let Context { version, query, control, vars } = self;
        Context { version, query, control, vars: vars.clone() }
    }

    /// Whether there may be other threads for branches at all.
    pub(super) fn shares_branches(&self) -> bool {
        self.control.trace().is_none() && self.control.sharing_pool().is_some()
    }

    /// Whether a branch of an estimated cost is worth another thread.
    pub(super) fn is_large(&self, cost: Cost) -> bool {
        self.control.costs().spread <= cost.as_nanos()
    }

    /// Which of some branches are executed concurrently, by their estimated costs: those that are
    /// large, where these are two at least and there are threads for them. The largest ones come
    /// first: what is begun last should not be what takes longest.
    pub(super) fn large_branches(
        &self,
        count: usize,
        mut cost: impl FnMut(usize) -> Cost,
    ) -> Vec<usize> {
        if count < 2 || !self.shares_branches() {
            return Vec::new();
        }
        let mut large: Vec<(Reverse<Cost>, usize)> = (0..count)
            .map(|position| (Reverse(cost(position)), position))
            .filter(|(cost, _)| self.is_large(cost.0))
            .collect();
        large.sort_unstable();
        let positions = large.into_iter().map(|(_, position)| position).collect::<Vec<_>>();
        if positions.len() < 2 { Vec::new() } else { positions }
    }

    /// Executes blocks concurrently, each as `run` does it.
    pub(super) fn blocks_concurrently(
        &self,
        positions: &[usize],
        run: impl Fn(&mut Context<'a>, usize) -> Result<BlockResult> + Sync,
    ) -> Result<Vec<Result<BranchResult>>> {
        self.control.branches(positions.len(), |branch| {
            let mut context = self.branch();
            let result = run(&mut context, positions[branch])?;
            let defines = &self.query.blocks[positions[branch]].defines;
            let vars = defines.iter().map(|&var| (var, context.vars[var.0 as usize].take()));
            Ok(BranchResult { result, vars: vars.collect() })
        })
    }

    /// Stores the variables that a block has set, and returns its result.
    pub(super) fn merge_branch(&mut self, branch: BranchResult) -> BlockResult {
        for (var, value) in branch.vars {
            self.vars[var.0 as usize] = value;
        }
        branch.result
    }

    /// What a block costs, about; nothing where there is no estimate.
    pub(super) fn block_cost(&self, block: &Block) -> Cost {
        match block.kind {
            BlockKind::Empty => block.fields.iter().map(|field| self.total_cost(field)).sum(),
            // A search divides its own work.
            BlockKind::Shortest(_) | BlockKind::Algorithm(_) => Cost::NOTHING,
            BlockKind::Visible | BlockKind::Hidden => self.nodes_cost(block),
        }
    }

    fn nodes_cost(&self, block: &Block) -> Cost {
        let Some(roots) = block.root.as_ref().and_then(|root| self.root_estimate(root)) else {
            return Cost::NOTHING;
        };
        let expected = block.page.expected().unwrap_or(usize::MAX);
        let is_requested = block.filter.is_some() || !block.order.is_empty();
        let requested =
            if is_requested { expected.saturating_mul(ASKED_PER_NODE) } else { expected };
        let keys = block.group_by.as_ref().map_or(0, |group_by| group_by.keys.len());
        let steps = usize::from(block.filter.is_some()) + block.order.len() + keys;
        let shown = roots.min(expected);
        let fields = block.fields.iter().map(|field| self.field_cost(field, shown, MEAN_DEGREE));
        cost::LOOKUP.times(steps).times(roots.min(requested)).and(fields.sum())
    }

    fn root_estimate(&self, root: &Function) -> Option<usize> {
        // Only its index has an estimate, which is read when the block begins.
        let is_of_index = matches!(root.call, Call::Terms { .. } | Call::SimilarTo { .. });
        if is_of_index { None } else { self.estimate(root) }
    }

    /// Executes those fields of some nodes that are large concurrently, each as `run` does it.
    /// Returns their results at their positions; an empty list where there are none.
    ///
    /// # Errors
    ///
    /// None but those of the fields, each at its position.
    pub(super) fn fields_concurrently(
        &self,
        fields: &[Arc<Field>],
        nodes: &[u32],
        run: impl Fn(&mut Context<'a>, &Arc<Field>) -> Result<FieldData> + Sync,
    ) -> Result<Vec<Option<Result<FieldData>>>> {
        let large = self.large_branches(fields.len(), |position| {
            let degree = self.mean_degree(&fields[position], nodes);
            self.field_cost(&fields[position], nodes.len(), degree)
        });
        if large.is_empty() {
            return Ok(Vec::new());
        }
        let run = |branch: usize| run(&mut self.branch(), &fields[large[branch]]);
        let done = self.control.branches(large.len(), run)?;
        let mut ahead: Vec<Option<Result<FieldData>>> = fields.iter().map(|_| None).collect();
        large.into_iter().zip(done).for_each(|(position, done)| ahead[position] = Some(done));
        Ok(ahead)
    }

    /// What a field of `nodes` nodes costs, about, where each has `degree` edges. Plain values are
    /// read when they are written, and the level below an edge has another look at its own fields.
    fn field_cost(&self, field: &Field, nodes: usize, degree: usize) -> Cost {
        match &field.kind {
            FieldKind::Predicate { name, .. } => {
                if !self.predicate(name).is_some_and(|predicate| predicate.is_edges()) {
                    return Cost::NOTHING;
                }
                let tests = 1 + usize::from(field.filter.is_some()) + field.order.len();
                cost::LOOKUP.and(cost::ENTRY.times(tests * degree)).times(nodes)
            }
            FieldKind::Count { .. } | FieldKind::Math(_) | FieldKind::AggregateVar(..) => {
                cost::LOOKUP.times(nodes)
            }
            FieldKind::AggregatePredicate { .. } => cost::ENTRY.times(nodes),
            FieldKind::Uid
            | FieldKind::CountUid
            | FieldKind::Val(_)
            | FieldKind::Expand(_)
            | FieldKind::CheckPassword { .. } => Cost::NOTHING,
        }
    }

    /// The mean number of edges of some nodes, by a look at a few of them.
    fn mean_degree(&self, field: &Field, nodes: &[u32]) -> usize {
        let FieldKind::Predicate { name, reverse, .. } = &field.kind else { return 0 };
        let edges = self.predicate(name).and_then(|predicate| predicate.direction(*reverse));
        let Some(edges) = edges else { return 0 };
        let step = nodes.len().div_ceil(LOOKED_AT).max(1);
        let (mut looked, mut result) = (0, 0);
        for &node in nodes.iter().step_by(step) {
            looked += 1;
            result += edges.targets(node).len();
        }
        result.div_ceil(looked.max(1))
    }

    /// What an aggregate over all values of a variable costs.
    fn total_cost(&self, field: &Field) -> Cost {
        let FieldKind::AggregateVar(_, var) = &field.kind else { return Cost::NOTHING };
        let values = match &self.vars[var.0 as usize] {
            Some(Var::Column(column)) => column.len(),
            Some(Var::Values(map)) => map.nodes.len(),
            Some(Var::Uids(_)) | None => 0,
        };
        cost::ROW.times(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::control::morsels::tests::sharing;
    use crate::graph::Version;
    use hexgraph_base::plan::Query;

    #[test]
    fn large_branches_begin_with_the_largest() {
        let (version, query, control) = (Version::empty(), Query::default(), sharing(2, 1));
        let context =
            Context { version: &version, query: &query, control: &control, vars: Vec::new() };
        let nanos = [5, 70, 0, 9];
        let cost = |position: usize| Cost::nanos(nanos[position]);
        assert_eq!(context.large_branches(4, cost), [1, 3, 0]);
        assert!(context.large_branches(2, |branch| cost(2 + branch)).is_empty(), "one is no two");
    }
}
