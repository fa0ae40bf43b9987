//! Hops that are restricted to a range of values of a property. The relationships of a node are
//! sorted by the property when the node comes a second time: each further time a binary search is
//! enough. They stay in the order in which the graph has them.

use super::cache::{CachedRange, Neighbour, SortedNeighbours};
use super::execution::{Execution, Row};
use crate::ast::CompareOp;
use crate::execute::plan::{Hop, HopRange};
use hexgraph_base::types::{Error, Result};
use hexgraph_scalar::Value;
use std::rc::Rc;

/// The fewest relationships that are sorted: fewer are tested one by one.
const SORTED_MIN: usize = if cfg!(test) { 2 } else { 32 };

impl Execution<'_> {
    /// Appends the relationships of a hop from a node, perhaps without those that no later
    /// condition lets pass.
    pub(super) fn neighbours(
        &self,
        hop: &Hop,
        from: u64,
        row: &mut Row,
        into: &mut Vec<Neighbour>,
    ) -> Result<()> {
        let expand = |into: &mut Vec<Neighbour>| {
            self.graph.expand(from, hop.direction, hop.types.as_deref(), into)
        };
        let Some(range) = &hop.range else { return expand(into) };
        let key = (range.own, from);
        let sorted = match self.ranges.get(key) {
            Some(CachedRange::Sorted(sorted)) => sorted,
            Some(CachedRange::Refused) => return expand(into),
            Some(CachedRange::Once) => {
                expand(into)?;
                let Some(sorted) = self.sorted_neighbours(range, into)? else {
                    self.ranges.set(key, CachedRange::Refused);
                    return Ok(());
                };
                into.clear();
                self.ranges.set(key, CachedRange::Sorted(Rc::clone(&sorted)));
                sorted
            }
            None => {
                expand(into)?;
                return if into.len() < SORTED_MIN { Ok(()) } else { self.ranges.add(key) };
            }
        };
        match self.bounds_of(range, row)? {
            Some(bounds) => sorted.choose(&bounds, into),
            None => into.extend_from_slice(&sorted.neighbours),
        }
        Ok(())
    }

    /// The values of a range for a row; `None` where one cannot be computed.
    fn bounds_of(
        &self,
        range: &HopRange,
        row: &mut Row,
    ) -> Result<Option<Vec<(CompareOp, Value)>>> {
        let mut bounds = Vec::with_capacity(range.bounds.len());
        for (op, bound) in &range.bounds {
            match self.value(bound, row) {
                Ok(value) => bounds.push((*op, value)),
                // The condition fails where it is tested.
                Err(Error::Query { .. }) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(Some(bounds))
    }

    /// Sorts relationships; `None` where a value cannot be read, or where there is no memory.
    fn sorted_neighbours(
        &self,
        range: &HopRange,
        neighbours: &[Neighbour],
    ) -> Result<Option<Rc<SortedNeighbours>>> {
        let mut values = Vec::with_capacity(neighbours.len());
        for (relationship, node) in neighbours {
            self.tick()?;
            let element = if range.is_of_node {
                Value::Node(*node)
            } else {
                Value::Relationship(*relationship)
            };
            match self.property(&element, &range.property, Default::default()) {
                Ok(value) => values.push(value),
                Err(Error::Query { .. }) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        self.ranges.sorted(neighbours, values)
    }
}
