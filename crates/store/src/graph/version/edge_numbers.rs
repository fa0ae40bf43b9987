//! One facet of a predicate's edges as numbers, such as the weights of paths.
//!
//! Facets are stored in the order of the forward edges. The edges of a node have adjacent
//! positions, so one lookup finds all their numbers: O(log containers) for the row, then O(1) for
//! each unchanged edge. From the target of an edge, its position is looked up in the row of its
//! source: O(log edges of the source). Edges set after the base was built have their facets in the
//! changed row.

use super::edges::Direction;
use super::predicate::Predicate;
use super::values::facet_in;
use crate::storage::{FacetColumn, Values};
use hexgraph_base::types::{Result, ValueRef, ValueType};
use std::ops::Range;

/// The numbers in one facet of the edges of a predicate. Edges without the facet, or with another
/// kind of value, have none.
pub(crate) struct EdgeNumbers<'a> {
    forward: &'a Direction,
    key: &'a str,
    /// The columns of the facet; several when its values are of several types.
    columns: Vec<&'a FacetColumn>,
    /// True if there is one column with each stored edge in it, so that the position is the row.
    is_dense: bool,
    /// True when some column has values that are no numbers.
    has_others: bool,
}

impl<'a> EdgeNumbers<'a> {
    /// The numbers of the facet `key`; `None` for a predicate without edges.
    pub(crate) fn new(predicate: &'a Predicate, key: &'a str) -> Option<EdgeNumbers<'a>> {
        let forward = predicate.direction(false)?;
        let columns = forward.base.facets.iter().filter(|facet| facet.key == key);
        let columns: Vec<_> = columns.collect();
        let is_dense = matches!(columns.as_slice(), [column] if column.values.len() == forward.base.targets.len());
        let has_others = columns.iter().any(|column| !are_numbers(&column.values));
        Some(EdgeNumbers { forward, key, columns, is_dense, has_others })
    }

    /// The number of the edge from `from` to `to`, which has to be there.
    pub(crate) fn of(&self, from: u32, to: u32) -> Option<f64> {
        if let Some(row) = self.forward.delta.row(from)
            && let Some(facets) = row.added.get(&to)
        {
            return facet_in(facets, self.key).and_then(number_of);
        }
        if self.columns.is_empty() {
            return None;
        }
        self.at(self.forward.base.position_of(from, to)?)
    }

    /// The type of a non-numeric facet of the edge from `from` to `to`; `None` for an edge without
    /// the facet, and for one with a number.
    pub(crate) fn other_type(&self, from: u32, to: u32) -> Option<ValueType> {
        let value = match self.forward.delta.row(from).and_then(|row| row.added.get(&to)) {
            Some(facets) => facet_in(facets, self.key)?,
            None if !self.has_others => return None,
            None => {
                let position = self.forward.base.position_of(from, to)?;
                self.columns.iter().find_map(|column| column.get(position))?
            }
        };
        number_of(value).is_none().then(|| value.value_type())
    }

    /// Calls `visit` with the target and the number of each edge of `node` that has a number, in
    /// ascending order of targets.
    pub(crate) fn leaving(&self, node: u32, mut visit: impl FnMut(u32, f64)) {
        if self.forward.delta.row(node).is_some() {
            for &target in self.forward.targets(node).iter() {
                if let Some(number) = self.of(node, target) {
                    visit(target, number);
                }
            }
            return;
        }
        let positions = self.forward.base.positions(node);
        let targets = self.forward.base.targets.slice(positions.clone());
        if self.is_dense && self.visit_dense(targets, positions.clone(), &mut visit) {
            return;
        }
        for (&target, position) in targets.iter().zip(positions) {
            if let Some(number) = self.at(position) {
                visit(target, number);
            }
        }
    }

    /// As [`EdgeNumbers::leaving`], if each edge has a number in one plain array. Returns false
    /// otherwise.
    fn visit_dense(
        &self,
        targets: &[u32],
        positions: Range<usize>,
        visit: &mut impl FnMut(u32, f64),
    ) -> bool {
        match &self.columns[0].values {
            Values::Float(numbers) => {
                let numbers = numbers.slice(positions);
                targets.iter().zip(numbers).for_each(|(&target, &number)| visit(target, number));
            }
            Values::SmallInt(numbers) => {
                let numbers = numbers.slice(positions).iter().map(|&number| f64::from(number));
                targets.iter().zip(numbers).for_each(|(&target, number)| visit(target, number));
            }
            Values::Int(numbers) => {
                let numbers = numbers.slice(positions).iter().map(|&number| number as f64);
                targets.iter().zip(numbers).for_each(|(&target, number)| visit(target, number));
            }
            _ => return false,
        }
        true
    }

    fn at(&self, position: usize) -> Option<f64> {
        if self.is_dense {
            return number_of(self.columns[0].values.get(position));
        }
        number_of(self.columns.iter().find_map(|column| column.get(position))?)
    }

    /// True when some number may be below 0: O(1) but for the first call after the columns were
    /// built or opened, which reads [`EdgeNumbers::unread`] numbers. A change of any facet to a
    /// number below 0 counts until it is compacted.
    ///
    /// # Errors
    ///
    /// Those of `check`, which is called for each million numbers.
    pub(crate) fn has_negative(&self, check: &dyn Fn() -> Result<()>) -> Result<bool> {
        if self.forward.delta.has_negative {
            return Ok(true);
        }
        for column in &self.columns {
            if column.has_negative(check)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How many numbers [`EdgeNumbers::has_negative`] has to read.
    pub(crate) fn unread(&self) -> usize {
        self.columns.iter().map(|column| column.unread()).sum()
    }
}

/// Whether all values of a column are numbers.
fn are_numbers(values: &Values) -> bool {
    matches!(values, Values::Float(_) | Values::SmallInt(_) | Values::Int(_))
}

/// The number that a facet is as a weight.
fn number_of(value: ValueRef<'_>) -> Option<f64> {
    match value {
        ValueRef::Int(number) => Some(number as f64),
        ValueRef::Float(number) => Some(number),
        _ => None,
    }
}
