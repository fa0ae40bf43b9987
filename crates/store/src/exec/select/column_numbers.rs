//! Aggregates of the values that listed nodes have, for answers that are made of lists of nodes: by
//! the column, without a value for each node.

use super::top::Scan;
use crate::exec::control::column_var::ColumnVar;
use crate::exec::control::stop::RequestContext;
use crate::exec::control::tree::BlockResult;
use crate::exec::cost;
use crate::exec::math::sums::Sum;
use crate::exec::math::totals::Totals;
use crate::graph::Predicate;
use crate::storage::NodeSet;
use hexgraph_base::plan::Algebraic;
use hexgraph_base::types::{Result, Value};
use std::sync::Arc;

/// The numbers of fewer nodes are read one by one.
const NODES_MIN: usize = cost::SETUP.per(cost::GATHER);

/// Nodes that are so many that a pass over a column is worth while.
pub struct ManyNodes(NodeSet);

impl ManyNodes {
    /// A set of some nodes; `None` where they are few, or do not ascend. O(nodes).
    pub fn of(nodes: &[u32]) -> Option<ManyNodes> {
        let are_many = NODES_MIN <= nodes.len() && nodes.is_sorted_by(|one, other| one < other);
        are_many.then(|| ManyNodes(NodeSet::from(nodes.to_vec())))
    }

    /// The nodes of a block that were retained as a set. O(1).
    pub fn of_block(block: &BlockResult) -> Option<ManyNodes> {
        block.set.clone().map(ManyNodes)
    }

    /// The nodes, ascending.
    pub fn list(&self) -> Vec<u32> {
        self.0.to_vec()
    }
}

/// The numbers that some nodes have.
pub struct ColumnNumbers(ColumnVar);

impl ColumnNumbers {
    /// The numbers of a predicate without languages that some nodes have; `None` where what is
    /// stored or changed is no number of the predicate's type. O(changes).
    pub fn new(predicate: &Arc<Predicate>, nodes: &ManyNodes) -> Option<ColumnNumbers> {
        ColumnVar::of_values(predicate, &nodes.0).map(ColumnNumbers)
    }

    /// Their sum; `None` where no node has one. One pass over the column, divided among threads.
    ///
    /// # Errors
    ///
    /// Those of [`RequestContext::check`].
    pub fn sum(&self, control: &RequestContext) -> Result<Option<Sum>> {
        Ok(self.totals(Algebraic::Sum, control)?.into_sum())
    }

    /// The least of them, or the greatest, for `Algebraic::Max`; `None` where no node has one. As
    /// [`ColumnNumbers::sum`].
    ///
    /// # Errors
    ///
    /// Those of [`RequestContext::check`].
    pub fn extreme(&self, op: Algebraic, control: &RequestContext) -> Result<Option<Value>> {
        self.totals(op, control)?.finish()
    }

    fn totals(&self, op: Algebraic, control: &RequestContext) -> Result<Totals> {
        let mut totals = self.0.aggregate(&[op], control)?;
        Ok(totals.pop().expect("one was asked for"))
    }
}

/// Those of some nodes that may have the least value of a predicate without languages, or for
/// `Algebraic::Max` the greatest: the node that has it is one of them. `None` where the values have
/// no order in which they are stored. Two passes over the column, divided among threads.
///
/// # Errors
///
/// Those of [`RequestContext::check`].
pub fn nodes_of_extreme(
    predicate: &Predicate,
    nodes: &ManyNodes,
    op: Algebraic,
    control: &RequestContext,
) -> Result<Option<Vec<u32>>> {
    let Some(part) = predicate.only_untagged() else { return Ok(None) };
    let scan = Scan::new(control, part, predicate.def.value_type, &nodes.0, None);
    scan.map_or(Ok(None), |scan| scan.leading(1, op == Algebraic::Max))
}
