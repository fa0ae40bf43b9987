//! Options that say which column of a table means what.

use crate::db::LoadProgress;
use arrow_array::RecordBatchReader;
use hexgraph_base::types::ValueType;
use hexgraph_store::graph::IdSpace;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A table to load.
pub enum Table {
    /// Batches of Arrow columns.
    Batches(Box<dyn RecordBatchReader + Send>),
    /// A file: .parquet, .csv or .tsv by the end of its name, the latter perhaps behind .gz or
    /// .zst. Columns of a CSV file have the names in its first line.
    File(PathBuf),
}

/// What tables of nodes and of edges have in common.
#[derive(Clone, Default)]
pub struct TableOptions {
    /// Definitions that are added to the schema first.
    pub schema: Option<String>,
    /// The types of columns of a CSV file, where its first lines would mislead.
    pub types: BTreeMap<String, ValueType>,
    /// True to leave out values that can't be stored, and to report them.
    pub skip_errors: bool,
    /// The progress of the load, which other threads may read.
    pub progress: LoadProgress,
    /// The bytes that the load may take in memory beside its largest predicate; 0 for no bound.
    pub memory: u64,
}

impl From<Table> for Vec<Table> {
    fn from(table: Table) -> Vec<Table> {
        vec![table]
    }
}

/// How a table of nodes is loaded: a row is a node, its columns are predicates.
#[derive(Clone)]
pub struct NodeOptions {
    /// The column that names the node of a row; without one each row is a new node.
    pub id: Option<String>,
    /// What that column holds.
    pub ids: IdSpace,
    /// The type of all the nodes.
    pub node_type: Option<String>,
    /// The predicates of columns that are not called as they are; `None` leaves a column out.
    pub columns: BTreeMap<String, Option<String>>,
    /// The options that nodes and edges have in common.
    pub table: TableOptions,
}

/// How a table of edges is loaded: a row is an edge.
#[derive(Clone)]
pub struct EdgeOptions {
    /// The predicate of the edges.
    pub predicate: String,
    /// The column that names the node where an edge starts.
    pub source: String,
    /// The column that names the node where an edge ends.
    pub target: String,
    /// What the column of sources holds.
    pub source_ids: IdSpace,
    /// What the column of targets holds.
    pub target_ids: IdSpace,
    /// The columns that are facets of the edges, and the keys of these.
    pub facets: Vec<(String, String)>,
    /// The options that nodes and edges have in common.
    pub table: TableOptions,
}

/// The predicate that keeps external ids unless another one is named.
pub const ID_PREDICATE: &str = "xid";

impl Default for NodeOptions {
    fn default() -> NodeOptions {
        NodeOptions {
            id: Some("id".to_owned()),
            ids: IdSpace::Predicate(ID_PREDICATE.to_owned()),
            node_type: None,
            columns: BTreeMap::new(),
            table: TableOptions::default(),
        }
    }
}

impl EdgeOptions {
    /// Edges of a predicate from the nodes in column `source` to those in column `target`.
    pub fn new(predicate: &str, source: &str, target: &str) -> EdgeOptions {
        EdgeOptions {
            predicate: predicate.to_owned(),
            source: source.to_owned(),
            target: target.to_owned(),
            source_ids: IdSpace::Predicate(ID_PREDICATE.to_owned()),
            target_ids: IdSpace::Predicate(ID_PREDICATE.to_owned()),
            facets: Vec::new(),
            table: TableOptions::default(),
        }
    }
}
