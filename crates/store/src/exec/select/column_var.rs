//! A variable that stands for the numbers of a predicate and some nodes, and is read when somebody asks.
//!
//! `s as score` over a million nodes would be two lists of a million items, where an aggregate over all of them is one pass over
//! the column. So the variable keeps the set of nodes, which is mostly that of all with the predicate, and what changed since the
//! column was built. Who looks values up, orders by them or computes with them reads them once, for all who come later.

use crate::exec::control::stop::Control;
use crate::exec::control::tree::{VALUE_BYTES, ValueMap};
use crate::exec::select::batches::{BATCH, NumberChanges, NumberColumn, NumberSlice};
use crate::exec::select::numbers::numbers;
use crate::graph::{LangValues, Predicate};
use crate::storage::NodeSet;
use hexgraph_base::types::{Error, Result};
use std::sync::{Arc, OnceLock};

/// Fewer nodes are listed with their numbers at once.
const NODES_MIN: usize = 256;

/// The number of changes for each node from which on the nodes are listed, too.
const CHANGES_SHARE: usize = 8;

/// The numbers of some nodes, read when they are asked for.
pub(crate) struct ColumnVar {
    predicate: Arc<Predicate>,
    /// The nodes that the numbers were asked of; some may have none.
    nodes: NodeSet,
    changes: NumberChanges,
    /// True when the nodes are those that have a number.
    is_whole: bool,
    values: OnceLock<Arc<ValueMap>>,
}

impl ColumnVar {
    /// The variable of some nodes; `None` where they are few, or what is stored or changed is no number of the predicate's
    /// type. O(changes).
    pub(crate) fn new(predicate: &Arc<Predicate>, nodes: &NodeSet) -> Option<ColumnVar> {
        if nodes.len() < NODES_MIN || predicate.def.list {
            return None;
        }
        let part = predicate.only_untagged()?;
        // All changes are walked over, and those of some nodes cost less to look up.
        if nodes.len().saturating_mul(CHANGES_SHARE) < part.changes_len() {
            return None;
        }
        let changes = NumberChanges::of_all(part, predicate.def.value_type)?;
        let is_whole = nodes.is_known_to_equal(&part.subjects());
        let (predicate, nodes) = (Arc::clone(predicate), nodes.clone());
        Some(ColumnVar { predicate, nodes, changes, is_whole, values: OnceLock::new() })
    }

    /// True when the numbers were read as a list.
    pub(crate) fn is_read(&self) -> bool {
        self.values.get().is_some()
    }

    /// The bytes that the changes take.
    pub(crate) fn byte_len(&self) -> usize {
        self.changes.byte_len()
    }

    fn part(&self) -> &LangValues {
        self.predicate.only_untagged().expect("the predicate has one part, as was checked")
    }

    /// The nodes that have a number.
    pub(crate) fn subjects(&self) -> NodeSet {
        if self.is_whole { self.nodes.clone() } else { self.nodes.and(&self.part().subjects()) }
    }

    /// All numbers with their nodes. They are read and charged the first time.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when the request is out of memory.
    pub(crate) fn values(&self, control: &Control) -> Result<Arc<ValueMap>> {
        if let Some(values) = self.values.get() {
            return Ok(Arc::clone(values));
        }
        control.charge(VALUE_BYTES * self.nodes.len())?;
        let found = numbers(self.part(), self.predicate.def.value_type, &self.nodes.as_list());
        let found = found.ok_or_else(|| Error::Internal {
            message: format!("`{}` has a value that is no number", self.predicate.def.name),
            place: String::new(),
        })?;
        Ok(Arc::clone(self.values.get_or_init(|| Arc::new(found))))
    }

    /// Calls `take` with all numbers in the order of their nodes, in slices. O(nodes), without a list of them; O(changes) on
    /// top of a pass over the column where all that have a number were asked.
    ///
    /// # Errors
    ///
    /// Those of `check`, which is called every few thousand nodes.
    pub(crate) fn for_each_slice(
        &self,
        check: impl Fn() -> Result<()>,
        mut take: impl FnMut(NumberSlice<'_>),
    ) -> Result<()> {
        let mut column = NumberColumn::with_changes(self.part(), &self.changes)
            .expect("the column has numbers, as was checked");
        if self.is_whole {
            return column.read_whole(check, take);
        }
        let mut going_on = Ok(());
        self.nodes.for_each_chunk(BATCH, |nodes| {
            if going_on.is_ok() {
                going_on = check();
                column.read_some(nodes, &mut take);
            }
        });
        going_on
    }
}

impl std::fmt::Debug for ColumnVar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ColumnVar({} of {} nodes)", self.predicate.def.name, self.nodes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::control::tree::Column;
    use crate::exec::random_graph::{NAMES, graph};
    use fastrand::Rng;
    use hexgraph_base::types::Value;

    /// The numbers in slices are those of the list, for all nodes of the predicate and for others.
    #[test]
    fn slices_are_the_list() {
        let mut rng = Rng::with_seed(3);
        let (mut whole, mut some) = (0, 0);
        for _ in 0..30 {
            let nodes = rng.u64(300..900);
            let version = graph(nodes, &mut rng);
            let predicates = NAMES.iter().filter_map(|name| version.predicate(name));
            for predicate in predicates {
                let asked = match rng.u8(..3) {
                    0 => NodeSet::from((0..nodes as u32 * 2).collect::<Vec<u32>>()),
                    1 => {
                        NodeSet::from((0..nodes as u32).filter(|_| rng.bool()).collect::<Vec<_>>())
                    }
                    _ => predicate.subjects(),
                };
                let Some(column) = ColumnVar::new(predicate, &asked) else { continue };
                *(if column.is_whole { &mut whole } else { &mut some }) += 1;
                let mut found = ValueMap::default().values;
                let push = |numbers: NumberSlice<'_>| match numbers {
                    NumberSlice::Narrow(ints) => {
                        ints.iter().for_each(|int| found.push(Value::Int(i64::from(*int))));
                    }
                    NumberSlice::Ints(ints) => {
                        ints.iter().for_each(|int| found.push(Value::Int(*int)));
                    }
                    NumberSlice::Floats(floats) => {
                        floats.iter().for_each(|float| found.push(Value::Float(*float)));
                    }
                };
                column.for_each_slice(|| Ok(()), push).unwrap();
                let list = column.values(&Control::new()).unwrap();
                assert_eq!(shown(&found), shown(&list.values), "{column:?}");
                assert_eq!(column.subjects().to_vec(), list.nodes, "{column:?}");
            }
        }
        assert!(30 < whole && 30 < some, "{whole} whole columns, {some} others");
    }

    fn shown(values: &Column) -> Vec<String> {
        (0..values.len()).map(|place| format!("{:?}", values.get(place))).collect()
    }
}
