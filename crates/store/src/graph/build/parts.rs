//! Data on its way into a predicate: columns in order of arrival.
//!
//! A load makes a part of each chunk of a file, and the stored data is a part too.
//! [`crate::graph::build`] merges the parts of a predicate.

use crate::graph::version::edges::Direction;
use crate::graph::version::values::LangValues;
use crate::storage::{FacetColumn, Values, ValuesBuilder};
use hexgraph_base::types::{ValueRef, ValueType};
use std::ops::Range;

/// Values of one predicate in one language.
#[derive(Clone)]
pub struct ValuePart {
    /// The node of each row.
    pub nodes: Vec<u32>,
    /// The value of each row.
    pub values: Values,
    /// Facets of some of the rows.
    pub facets: Vec<FacetPart>,
}

/// Edges of one predicate.
#[derive(Clone)]
pub struct EdgePart {
    /// The node at which each edge starts.
    pub nodes: Vec<u32>,
    /// The target node of each edge.
    pub targets: Vec<u32>,
    /// Facets of some of the edges.
    pub facets: Vec<FacetPart>,
}

/// One facet of some rows; values of another type are another facet.
#[derive(Clone)]
pub struct FacetPart {
    /// The facet's name.
    pub key: String,
    /// The rows that have it.
    pub rows: FacetRows,
    /// The facet of each of these rows.
    pub values: Values,
}

/// Rows that have a facet, ascending.
#[derive(Clone)]
pub enum FacetRows {
    /// Rows without a gap, as most facets have them.
    Range(Range<u32>),
    /// Rows with gaps.
    List(Vec<u32>),
}

impl FacetRows {
    /// Rows in their smaller form.
    pub fn new(rows: Vec<u32>) -> FacetRows {
        match (rows.first(), rows.last()) {
            (Some(&first), Some(&last)) if (last - first) as usize + 1 == rows.len() => {
                FacetRows::Range(first..last + 1)
            }
            _ => FacetRows::List(rows),
        }
    }

    /// The rows.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let (range, list) = match self {
            FacetRows::Range(range) => (range.clone(), &[][..]),
            FacetRows::List(rows) => (0..0, &rows[..]),
        };
        range.chain(list.iter().copied())
    }

    /// Counts the rows from `first` on.
    pub fn shift(&mut self, first: u32) {
        match self {
            FacetRows::Range(range) => *range = range.start + first..range.end + first,
            FacetRows::List(rows) => rows.iter_mut().for_each(|row| *row += first),
        }
    }
}

/// Collects the facets of a part.
#[derive(Default)]
pub struct FacetsBuilder {
    columns: Vec<FacetBuilder>,
}

struct FacetBuilder {
    key: String,
    value_type: ValueType,
    rows: Vec<u32>,
    values: ValuesBuilder,
}

impl FacetsBuilder {
    /// Adds a facet of a row, after those of the rows before.
    pub fn push(&mut self, row: u32, key: &str, value: ValueRef<'_>) {
        let value_type = value.value_type();
        let same = |column: &FacetBuilder| column.value_type == value_type && column.key == key;
        let position = self.columns.iter().position(same).unwrap_or_else(|| {
            let values = ValuesBuilder::new(value_type);
            let key = key.to_owned();
            self.columns.push(FacetBuilder { key, value_type, rows: Vec::new(), values });
            self.columns.len() - 1
        });
        let column = &mut self.columns[position];
        column.rows.push(row);
        column.values.push(value);
    }

    /// The collected facets.
    pub fn finish(self) -> Vec<FacetPart> {
        let columns = self.columns.into_iter();
        columns
            .map(|column| FacetPart {
                key: column.key,
                rows: FacetRows::new(column.rows),
                values: column.values.finish(),
            })
            .collect()
    }
}

impl ValuePart {
    /// All that a language holds now.
    pub fn of(stored: &LangValues) -> ValuePart {
        let column = &stored.base.column;
        if !stored.is_clean() {
            let nodes: Vec<u32> = stored.subjects().iter().collect();
            return ValuePart::of_nodes(stored, &nodes);
        }
        let mut nodes = Vec::with_capacity(column.values.len());
        for (row, node) in column.subjects.iter().enumerate() {
            nodes.extend(column.row_positions(row).map(|_| node));
        }
        let facets = facets_of(&column.facets);
        ValuePart { nodes, values: column.values.clone(), facets }
    }

    /// What a language holds now of some nodes, which ascend.
    pub(in crate::graph) fn of_nodes(stored: &LangValues, of: &[u32]) -> ValuePart {
        let value_type = stored.base.column.values.value_type().unwrap_or(ValueType::Default);
        let mut values = ValuesBuilder::new(value_type);
        let mut facets = FacetsBuilder::default();
        let mut nodes = Vec::new();
        for &node in of {
            let list = stored.values(node);
            for position in 0..list.len() {
                for (key, value) in list.facets(position) {
                    facets.push(nodes.len() as u32, key, value);
                }
                nodes.push(node);
                values.push(list.get(position));
            }
        }
        ValuePart { nodes, values: values.finish(), facets: facets.finish() }
    }
}

impl EdgePart {
    /// All that a direction holds now.
    pub fn of(stored: &Direction) -> EdgePart {
        let base = &stored.base;
        if stored.is_clean() {
            let mut part = EdgePart { nodes: Vec::new(), targets: Vec::new(), facets: Vec::new() };
            for (row, node) in base.subjects.iter().enumerate() {
                part.nodes.extend(base.offsets.range(row).map(|_| node));
            }
            part.targets = base.targets.as_slice().to_vec();
            part.facets = facets_of(&base.facets);
            return part;
        }
        EdgePart::of_nodes(stored, stored.subjects().iter())
    }

    /// The edges of some nodes, which ascend.
    pub(in crate::graph) fn of_nodes(
        stored: &Direction,
        nodes: impl Iterator<Item = u32>,
    ) -> EdgePart {
        let mut part = EdgePart { nodes: Vec::new(), targets: Vec::new(), facets: Vec::new() };
        let mut facets = FacetsBuilder::default();
        for node in nodes {
            for &target in stored.targets(node).iter() {
                for (key, value) in stored.facets(node, target) {
                    facets.push(part.nodes.len() as u32, key, value);
                }
                part.nodes.push(node);
                part.targets.push(target);
            }
        }
        part.facets = facets.finish();
        part
    }
}

fn facets_of(columns: &[FacetColumn]) -> Vec<FacetPart> {
    let columns = columns.iter();
    columns
        .map(|column| FacetPart {
            key: column.key.clone(),
            rows: rows_at(column),
            values: column.values.clone(),
        })
        .collect()
}

fn rows_at(column: &FacetColumn) -> FacetRows {
    let count = column.positions.len() as u32;
    // As many positions below their number as there are at all: they are the first ones, without
    // a gap.
    match column.positions.rank(count) == count as usize {
        true => FacetRows::Range(0..count),
        false => FacetRows::List(column.positions.iter().collect()),
    }
}
