//! Aggregates of the numbers that listed nodes have, for answers that are made of lists of nodes: by the column, without a value for each node.

use super::sums::Sum;
use super::totals::Totals;
use crate::exec::control::stop::Control;
use crate::exec::select::column_var::ColumnVar;
use crate::graph::Predicate;
use crate::storage::NodeSet;
use hexgraph_base::plan::Aggregate;
use hexgraph_base::types::{Result, Value};
use std::sync::Arc;

/// The numbers of fewer nodes are read one by one.
const NODES_MIN: usize = 256;

/// The numbers that some nodes have.
pub struct ColumnNumbers(ColumnVar);

impl ColumnNumbers {
    /// The numbers of a predicate without languages that some nodes have; `None` where what is stored or changed is no number of the
    /// predicate's type, and for few nodes, or some in another order than theirs. O(nodes + changes).
    pub fn new(predicate: &Arc<Predicate>, nodes: &[u32]) -> Option<ColumnNumbers> {
        if nodes.len() < NODES_MIN || !nodes.is_sorted_by(|one, other| one < other) {
            return None;
        }
        ColumnVar::of_values(predicate, &NodeSet::from(nodes.to_vec())).map(ColumnNumbers)
    }

    /// Their sum; `None` where no node has one. One pass over the column, which threads share.
    ///
    /// # Errors
    ///
    /// Those of [`Control::check`].
    pub fn sum(&self, control: &Control) -> Result<Option<Sum>> {
        Ok(self.totals(Aggregate::Sum, control)?.into_sum())
    }

    /// The least of them, or the greatest, for `Aggregate::Max`; `None` where no node has one. As [`ColumnNumbers::sum`].
    ///
    /// # Errors
    ///
    /// Those of [`Control::check`].
    pub fn extreme(&self, op: Aggregate, control: &Control) -> Result<Option<Value>> {
        self.totals(op, control)?.finish()
    }

    fn totals(&self, op: Aggregate, control: &Control) -> Result<Totals> {
        let mut totals = self.0.aggregate(&[op], control)?;
        Ok(totals.pop().expect("one was asked for"))
    }
}
