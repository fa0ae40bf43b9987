//! Data on its way into a predicate: columns in order of arrival.
//!
//! A load makes a part of each chunk of a file, and the data that is stored already makes a part
//! too. [`super::build`] puts the parts of a predicate together.

use super::edges::Direction;
use super::values::LangValues;
use crate::storage::FacetColumn;
use crate::storage::Values;
use crate::storage::ValuesBuilder;
use crate::types::ValueRef;
use crate::types::ValueType;

/// Values of one predicate in one language.
pub struct ValuePart {
    /// The node of each row.
    pub nodes: Vec<u32>,
    /// The value of each row.
    pub values: Values,
    /// Facets of some of the rows.
    pub facets: Vec<FacetPart>,
}

/// Edges of one predicate.
pub struct EdgePart {
    /// Where each edge starts.
    pub nodes: Vec<u32>,
    /// Where each edge ends.
    pub targets: Vec<u32>,
    /// Facets of some of the edges.
    pub facets: Vec<FacetPart>,
}

/// One facet of some rows; values of another type are another facet.
pub struct FacetPart {
    /// The facet's name.
    pub key: String,
    /// The rows that have it, ascending.
    pub rows: Vec<u32>,
    /// The facet of each of these rows.
    pub values: Values,
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
    /// Adds a facet of a row, behind those of the rows before.
    pub fn push(&mut self, row: u32, key: &str, value: ValueRef<'_>) {
        let value_type = value.value_type();
        let same = |column: &FacetBuilder| column.value_type == value_type && column.key == key;
        let place = self.columns.iter().position(same).unwrap_or_else(|| {
            let values = ValuesBuilder::new(value_type);
            let key = key.to_owned();
            self.columns.push(FacetBuilder { key, value_type, rows: Vec::new(), values });
            self.columns.len() - 1
        });
        let column = &mut self.columns[place];
        column.rows.push(row);
        column.values.push(value);
    }

    /// The collected facets.
    pub fn finish(self) -> Vec<FacetPart> {
        let columns = self.columns.into_iter();
        columns
            .map(|column| FacetPart {
                key: column.key,
                rows: column.rows,
                values: column.values.finish(),
            })
            .collect()
    }
}

impl ValuePart {
    /// All that a language holds now.
    pub fn of(stored: &LangValues) -> ValuePart {
        let column = &stored.base.column;
        if !stored.is_settled() {
            return ValuePart::of_changed(stored);
        }
        let mut nodes = Vec::with_capacity(column.values.len());
        for (row, node) in column.subjects.iter().enumerate() {
            nodes.extend(column.row_positions(row).map(|_| node));
        }
        let facets = facets_of(&column.facets);
        ValuePart { nodes, values: column.values.clone(), facets }
    }

    fn of_changed(stored: &LangValues) -> ValuePart {
        let value_type = stored.base.column.values.value_type().unwrap_or(ValueType::Default);
        let mut values = ValuesBuilder::new(value_type);
        let mut facets = FacetsBuilder::default();
        let mut nodes = Vec::new();
        for node in stored.subjects().iter() {
            let list = stored.values(node);
            for place in 0..list.len() {
                for (key, value) in list.facets(place) {
                    facets.push(nodes.len() as u32, key, value);
                }
                nodes.push(node);
                values.push(list.get(place));
            }
        }
        ValuePart { nodes, values: values.finish(), facets: facets.finish() }
    }
}

impl EdgePart {
    /// All that a direction holds now.
    pub fn of(stored: &Direction) -> EdgePart {
        let base = &stored.base;
        let mut part = EdgePart { nodes: Vec::new(), targets: Vec::new(), facets: Vec::new() };
        if stored.is_settled() {
            for (row, node) in base.subjects.iter().enumerate() {
                part.nodes.extend(base.offsets.range(row).map(|_| node));
            }
            part.targets = base.targets.as_slice().to_vec();
            part.facets = facets_of(&base.facets);
            return part;
        }
        let mut facets = FacetsBuilder::default();
        for node in stored.subjects().iter() {
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
            rows: column.positions.iter().collect(),
            values: column.values.clone(),
        })
        .collect()
}
