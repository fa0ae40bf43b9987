//! The plan of a load: which predicate, facet or id each column of a table is. Batches of rows are
//! converted to [`Parts`] by several threads at once; the parts are added to the load one after the
//! other.

use super::ids::{IdColumn, SLOTS};
use super::other_types::SharedPredicates;
use super::parts::{ColumnName, FacetColumn, Fault, ValueColumn, facet_part, value_part};
use super::rivals::{rival_facets, rival_values, without_rivals};
use crate::db::Canceller;
use arrow_array::{ArrayRef, RecordBatch};
use hexgraph_base::schema::PredicateDef;
use hexgraph_base::types::{Result, ValueType};
use hexgraph_store::graph::{ColumnLoad, EdgePart, Interner, NamedUids, ValuePart};
use hexgraph_store::storage::Values;

/// The plan of one table, whose rows are nodes or edges.
pub(in crate::tables) enum Plan {
    /// Nodes.
    Nodes(NodePlan),
    /// Edges.
    Edges(EdgePlan),
}

/// Rows that are nodes.
pub(in crate::tables) struct NodePlan {
    /// The column of ids; `None` when each row is a new node.
    pub id: Option<IdColumn>,
    /// The columns that are predicates.
    pub values: Vec<ValueColumn>,
    /// The columns whose cells name nodes to which edges lead.
    pub edges: Vec<EdgeColumn>,
    /// The predicate that holds types, and the types that all nodes get.
    pub node_types: Option<(PredicateDef, Vec<String>)>,
    /// The predicates that other types have as well.
    pub shared: Option<SharedPredicates>,
    /// The names that were made of those of columns, and what other types have as well, as
    /// sentences.
    pub notes: Vec<String>,
}

/// A column whose cells name the nodes to which edges lead from the nodes of the rows.
pub(in crate::tables) struct EdgeColumn {
    /// The predicate of the edges.
    pub def: PredicateDef,
    /// The column.
    pub target: IdColumn,
}

/// Rows that are edges.
pub(in crate::tables) struct EdgePlan {
    /// The predicate.
    pub def: PredicateDef,
    /// Where an edge starts.
    pub source: IdColumn,
    /// The target.
    pub target: IdColumn,
    /// The columns that are facets, and their keys.
    pub facets: Vec<FacetColumn>,
    /// Which columns are not loaded, as a sentence.
    pub notes: Vec<String>,
}

/// The parts of predicates that one batch of rows was converted to.
pub(in crate::tables) struct Parts {
    /// Values, by position in [`NodePlan::values`].
    values: Vec<ValuePart>,
    /// The types of each node, by position in [`NodePlan::node_types`].
    types: Vec<ValuePart>,
    /// The index of the first row, and the node that the id of each names, 0 for none.
    row_nodes: Option<(u64, Vec<u32>)>,
    /// The edges of a table of edges, or those of [`NodePlan::edges`].
    edges: Vec<EdgePart>,
    /// The uids that the rows name themselves, which the load must not give to new nodes.
    named: NamedUids,
    /// The cells that can't be stored.
    pub faults: Vec<Fault>,
    /// The rows that are no edges since an end is missing.
    pub gaps: Gaps,
    /// The number of rows.
    pub rows: u64,
}

/// Rows of a table of edges that have no source or no target.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::tables) struct Gaps {
    /// The number of such rows.
    pub rows: u64,
    /// The first of them, counted as those of batches are.
    pub first: Option<u64>,
}

impl Gaps {
    /// Adds those of rows that follow.
    pub(in crate::tables) fn add(&mut self, next: Gaps) {
        self.rows += next.rows;
        self.first = self.first.or(next.first);
    }
}

impl Plan {
    /// What was made of the names of columns, and which columns are not loaded, as sentences.
    pub(in crate::tables) fn notes(&self) -> &[String] {
        match self {
            Plan::Nodes(plan) => &plan.notes,
            Plan::Edges(plan) => &plan.notes,
        }
    }

    /// What to do about a column that has a value which the predicate rejects because of its type.
    pub(in crate::tables) fn advice(&self, column: &str) -> Option<String> {
        match self {
            Plan::Nodes(plan) => plan.shared.as_ref()?.advice(column),
            Plan::Edges(_) => None,
        }
    }

    /// The positions of the columns that are read, ascending.
    pub(in crate::tables) fn positions(&self) -> Vec<usize> {
        let mut positions: Vec<usize> = match self {
            Plan::Nodes(NodePlan { id, values, edges, .. }) => {
                let facets = values.iter().flat_map(|value| &value.facets);
                let facets = facets.map(|facet| facet.column.position);
                let pairs = values.iter().filter_map(|value| value.longitude.as_ref());
                let pairs = pairs.map(|column| column.position);
                let values = values.iter().map(|value| value.column.position).chain(facets);
                let edges = edges.iter().map(|edge| edge.target.column.position);
                let values = values.chain(pairs).chain(edges);
                values.chain(id.iter().map(|id| id.column.position)).collect()
            }
            Plan::Edges(EdgePlan { source, target, facets, .. }) => {
                let facets = facets.iter().map(|facet| facet.column.position);
                facets.chain([source.column.position, target.column.position]).collect()
            }
        };
        positions.sort_unstable();
        positions.dedup();
        positions
    }

    /// Makes parts of a batch that has the columns of [`Plan::positions`] and starts at row
    /// `first_row` of the table. `interner` numbers the nodes, and serves all batches. Once
    /// `canceller` stops the load the parts may be incomplete; they are not added then.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Limit`] when there is no memory for the ids.
    pub(in crate::tables) fn parts(
        &self,
        batch: &RecordBatch,
        first_row: u64,
        interner: &Interner,
        canceller: &Canceller,
    ) -> Result<Parts> {
        let rows = batch.num_rows();
        let mut parts = Parts {
            values: Vec::new(),
            types: Vec::new(),
            row_nodes: None,
            edges: Vec::new(),
            named: NamedUids::default(),
            faults: Vec::new(),
            gaps: Gaps::default(),
            rows: rows as u64,
        };
        let positions = self.positions();
        let column = |column: &ColumnName| {
            let at = positions
                .binary_search(&column.position)
                .expect("all positions of the plan are read");
            batch.column(at)
        };
        match self {
            Plan::Nodes(plan) => {
                parts.add_nodes(plan, column, (rows, first_row), interner, canceller)?;
            }
            Plan::Edges(plan) => parts.add_edges(plan, column, first_row, interner)?,
        }
        Ok(parts)
    }

    /// Adds parts to a load.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Io`] when a temporary file can't be written.
    pub(in crate::tables) fn add(&self, parts: Parts, load: &mut ColumnLoad) -> Result<()> {
        load.use_uids(&parts.named);
        match self {
            Plan::Nodes(plan) => {
                if let Some((first_row, nodes)) = &parts.row_nodes {
                    load.note_rows(*first_row, nodes)?;
                }
                for (part, value) in parts.values.into_iter().zip(&plan.values) {
                    load.add_values(&value.def, &value.lang, part)?;
                }
                for (part, edge) in parts.edges.into_iter().zip(&plan.edges) {
                    load.add_edges(&edge.def, part)?;
                }
                if let Some((def, _)) = &plan.node_types {
                    for part in parts.types {
                        load.add_values(def, "", part)?;
                    }
                }
            }
            Plan::Edges(plan) => {
                for part in parts.edges {
                    load.add_edges(&plan.def, part)?;
                }
            }
        }
        Ok(())
    }
}

impl Parts {
    fn add_nodes<'b>(
        &mut self,
        plan: &NodePlan,
        column: impl Fn(&ColumnName) -> &'b ArrayRef,
        (rows, first_row): (usize, u64),
        interner: &Interner,
        canceller: &Canceller,
    ) -> Result<()> {
        let nodes = match &plan.id {
            None => {
                // Each row has `SLOTS` positions; nodes are put in their order in the end,
                // whichever thread numbered them first.
                let first = interner.new_nodes(first_row * SLOTS, rows as u32);
                (first..first + rows as u32).collect()
            }
            Some(id) => {
                let array = column(&id.column);
                let numbers = id.numbers(array, first_row, interner, &mut self.faults)?;
                self.named = numbers.named;
                numbers.nodes
            }
        };
        let rivals = rival_values(&plan.values);
        let rows_of = (|row: usize| nodes[row] != 0, first_row);
        let changed = without_rivals(&rivals, &column, rows_of, &mut self.faults);
        let column = |it: &ColumnName| changed.get(&it.position).unwrap_or_else(|| column(it));
        for value in &plan.values {
            let (rows, faults) = ((&nodes[..], first_row), &mut self.faults);
            let part = value_part(value, column, rows, canceller, faults);
            self.values.push(part);
        }
        for edge in &plan.edges {
            let array = column(&edge.target.column);
            let numbers = edge.target.numbers(array, first_row, interner, &mut self.faults)?;
            self.named.merge(&numbers.named);
            let pairs = numbers.pairs().map(|(row, target)| (nodes[row], target));
            let (nodes, targets) = pairs.filter(|(node, _)| *node != 0).unzip();
            self.edges.push(EdgePart { nodes, targets, facets: Vec::new() });
        }
        if let Some((def, names)) = &plan.node_types {
            // 0 represents a row without a node: its id is missing or wrong.
            let nodes: Vec<u32> = nodes.iter().copied().filter(|&node| node != 0).collect();
            for name in names {
                let values = Values::of_one_text(def.value_type, name, nodes.len());
                self.types.push(ValuePart { nodes: nodes.clone(), values, facets: Vec::new() });
            }
        }
        self.row_nodes = plan.id.as_ref().map(|_| (first_row, nodes));
        Ok(())
    }

    fn add_edges<'b>(
        &mut self,
        plan: &EdgePlan,
        column: impl Fn(&ColumnName) -> &'b ArrayRef,
        first_row: u64,
        interner: &Interner,
    ) -> Result<()> {
        let mut gaps = Vec::new();
        let mut side = |id: &IdColumn| -> Result<Vec<u32>> {
            let array = column(&id.column);
            let numbers = id.numbers(array, first_row, interner, &mut self.faults)?;
            self.named.merge(&numbers.named);
            gaps.extend(numbers.gaps);
            Ok(numbers.nodes)
        };
        let (mut nodes, mut targets) = (side(&plan.source)?, side(&plan.target)?);
        gaps.sort_unstable();
        gaps.dedup();
        let first = gaps.first().map(|&row| first_row + u64::from(row));
        self.gaps = Gaps { rows: gaps.len() as u64, first };
        let both = |row: usize| nodes[row] != 0 && targets[row] != 0;
        // A row that lacks an end, which is 0, is no edge.
        let retained: Vec<u32> =
            (0..nodes.len() as u32).filter(|&row| both(row as usize)).collect();
        if retained.len() < nodes.len() {
            nodes = retained.iter().map(|&row| nodes[row as usize]).collect();
            targets = retained.iter().map(|&row| targets[row as usize]).collect();
        }
        let rivals = rival_facets(&plan.facets);
        let rows_of = (|row: usize| retained.binary_search(&(row as u32)).is_ok(), first_row);
        let changed = without_rivals(&rivals, &column, rows_of, &mut self.faults);
        let column = |it: &ColumnName| changed.get(&it.position).unwrap_or_else(|| column(it));
        let mut facets = Vec::new();
        for facet in &plan.facets {
            let (array, rows) = (column(&facet.column), (&retained[..], first_row));
            facets.extend(facet_part(array, rows, facet, &mut self.faults));
        }
        self.edges.push(EdgePart { nodes, targets, facets });
        Ok(())
    }
}

/// The type of the ids in a column whose values have the type `natural`: integers stay ints (a
/// fractional float is a fault of its row), everything else is text.
pub(in crate::tables) fn id_type(natural: ValueType) -> ValueType {
    match natural {
        ValueType::Int | ValueType::Float => ValueType::Int,
        _ => ValueType::String,
    }
}
