//! A chunk of rows, whose properties are read when an operator needs them.

use super::cell::{Decided, Undecided};
use super::vector::Vector;
use crate::execute::adjacency::Adjacency;
use crate::execute::adjacency::PropertyColumn;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

/// A property of the rows of a chunk.
pub(super) enum ChunkProperty<'c> {
    /// Of the node at a position of each row.
    OfNode(usize, Box<dyn PropertyColumn + 'c>),
    /// Of a relationship of each row.
    OfRelationship(Endpoints, Arc<str>),
}

/// Where a row has the endpoints of a relationship of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Endpoints {
    pub(super) type_id: u32,
    pub(super) subject: usize,
    pub(super) object: usize,
}

/// Some rows, each with a node for each of `width` variables.
pub(super) struct Chunk<'r, 'c> {
    graph: &'c dyn Adjacency,
    properties: &'c [ChunkProperty<'c>],
    rows: Cow<'r, [u32]>,
    width: usize,
    /// The distinct nodes of each variable.
    distinct: Vec<OnceCell<Distinct>>,
    /// The properties that were read.
    columns: Vec<OnceCell<Rc<Vector<'c>>>>,
}

/// The distinct nodes of a variable in a chunk, in ascending order, and the index of each row's.
struct Distinct {
    nodes: Vec<u32>,
    /// `None` where each row has the next node.
    indexes: Option<Vec<u32>>,
}

impl Distinct {
    fn new(rows: &[u32], variable: usize, width: usize) -> Distinct {
        let nodes: Vec<u32> = rows.iter().skip(variable).step_by(width).copied().collect();
        if nodes.is_sorted_by(|one, other| one < other) {
            return Distinct { nodes, indexes: None };
        }
        let mut order: Vec<(u32, u32)> = nodes.iter().copied().zip(0..).collect();
        order.sort_unstable();
        let (mut distinct, mut indexes) = (Vec::new(), vec![0; nodes.len()]);
        for (node, at) in order {
            if distinct.last() != Some(&node) {
                distinct.push(node);
            }
            indexes[at as usize] = distinct.len() as u32 - 1;
        }
        Distinct { nodes: distinct, indexes: Some(indexes) }
    }
}

impl<'r, 'c> Chunk<'r, 'c> {
    pub(super) fn new(
        (graph, properties): (&'c dyn Adjacency, &'c [ChunkProperty<'c>]),
        rows: Cow<'r, [u32]>,
        width: usize,
    ) -> Chunk<'r, 'c> {
        let distinct = (0..width).map(|_| OnceCell::new()).collect();
        let columns = properties.iter().map(|_| OnceCell::new()).collect();
        Chunk { graph, properties, rows, width, distinct, columns }
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len() / self.width
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn graph(&self) -> &'c dyn Adjacency {
        self.graph
    }

    /// The nodes of all rows.
    pub(super) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The values of a property.
    pub(super) fn column(&self, property: usize) -> Decided<Rc<Vector<'c>>> {
        if let Some(existing) = self.columns[property].get() {
            return Ok(Rc::clone(existing));
        }
        let vector = match &self.properties[property] {
            ChunkProperty::OfNode(variable, column) => {
                let Distinct { nodes, indexes } = self.distinct[*variable]
                    .get_or_init(|| Distinct::new(&self.rows, *variable, self.width));
                let vector = column.vector(nodes)?.ok_or(Undecided::Rows)?;
                match indexes {
                    Some(indexes) => vector.gather(indexes),
                    None => vector,
                }
            }
            ChunkProperty::OfRelationship(Endpoints { type_id, subject, object }, name) => {
                let pair = |row: &[u32]| (row[*subject], row[*object]);
                let pairs: Vec<(u32, u32)> = self.rows.chunks(self.width).map(pair).collect();
                let vector = self.graph.relationship_values(*type_id, name, &pairs)?;
                vector.ok_or(Undecided::Rows)?
            }
        };
        Ok(Rc::clone(self.columns[property].get_or_init(|| Rc::new(vector))))
    }

    /// The rows at some ascending positions. What was read before is not read again.
    pub(super) fn narrowed(&self, positions: &[u32]) -> Chunk<'static, 'c> {
        let is_same = positions.len() == self.len();
        let rows = match (is_same, self.width) {
            (true, _) => self.rows.to_vec(),
            (false, 1) => positions.iter().map(|at| self.rows[*at as usize]).collect(),
            (false, width) => {
                let row = |at: &u32| &self.rows[*at as usize * width..][..width];
                positions.iter().flat_map(row).copied().collect()
            }
        };
        let narrowed = Chunk::new((self.graph, self.properties), Cow::Owned(rows), self.width);
        for (from, to) in self.columns.iter().zip(&narrowed.columns) {
            if let Some(vector) = from.get() {
                to.get_or_init(|| match is_same {
                    true => Rc::clone(vector),
                    false => Rc::new(vector.gather(positions)),
                });
            }
        }
        narrowed
    }
}
