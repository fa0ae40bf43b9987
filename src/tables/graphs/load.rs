//! Loads a graph, its nodes and its edges at once.

use super::batches::{ElementBatches, Seen};
use crate::db::{Database, LoadReport, RequestContext};
use crate::tables::load::{NO_FACET_KEY, Rows};
use crate::tables::read::table_format::{WORKBOOK_EXTENSIONS, no_table};
use crate::tables::shape::names::NameChooser;
use crate::tables::shape::options::{
    EdgeOptions, Missing, Names, NodeOptions, Table, TableOptions,
};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{Field, Schema};
use hexgraph_base::types::{Error, Result, ValueType};
use hexgraph_store::graph::IdSpace;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The columns of the endpoints of edges.
const ENDPOINTS: [&str; 2] = ["source", "target"];

/// The predicate of edges that have no name.
pub const EDGE_PREDICATE: &str = "edge";

/// Batches of Arrow columns.
pub type Batches = Box<dyn RecordBatchReader + Send>;

/// How a graph is loaded.
#[derive(Clone)]
pub struct GraphOptions {
    /// The types of all nodes.
    pub node_types: Vec<String>,
    /// The predicate of the edges.
    pub predicate: String,
    /// The predicate whose values the ids of nodes are.
    pub ids: String,
    /// What happens to edges whose endpoints are no nodes of the graph: nodes are made, or the load
    /// fails.
    pub missing: Missing,
    /// The options that graphs and tables have in common.
    pub table: TableOptions,
}

impl Default for GraphOptions {
    fn default() -> GraphOptions {
        GraphOptions {
            node_types: Vec::new(),
            predicate: EDGE_PREDICATE.to_owned(),
            ids: "id".to_owned(),
            missing: Missing::default(),
            table: TableOptions::default(),
        }
    }
}

/// Returns true if a file is GraphML, by the end of its name.
///
/// ```
/// use hexgraph::tables::is_graph_name;
///
/// assert!(is_graph_name("airports.graphml"));
/// assert!(!is_graph_name("airports.csv"));
/// ```
pub fn is_graph_name(name: &str) -> bool {
    let name = name.to_lowercase();
    let plain = name.trim_end_matches(".gz").trim_end_matches(".zst");
    plain.ends_with(".graphml")
}

/// Refuses files of graphs and workbooks where triples are loaded, by the end of their names.
///
/// ```
/// use hexgraph::tables::refuse_other_names;
///
/// assert!(refuse_other_names("airports.graphml").is_err());
/// assert!(refuse_other_names("airports.rdf").is_ok());
/// ```
///
/// # Errors
///
/// [`Error::Query`] that says how such a file is loaded.
pub fn refuse_other_names(name: &str) -> Result<()> {
    let lower = name.to_lowercase();
    let plain = lower.trim_end_matches(".gz").trim_end_matches(".zst");
    let has_end = |extensions: &[&str]| extensions.iter().any(|end| plain.ends_with(end));
    if is_graph_name(plain) || has_end(&[".gml"]) {
        let fault = Error::query(format!("{name}: a graph is loaded as a whole"));
        return Err(
            fault.with_hint("db.load_graph(path) in Python; `hexgraph load` takes .graphml")
        );
    }
    if has_end(&WORKBOOK_EXTENSIONS) {
        return Err(no_table(name, true));
    }
    Ok(())
}

/// # Loading graphs
impl Database {
    /// Adds the graph of a file of GraphML.
    ///
    /// ```
    /// use hexgraph::{db::Database, tables::GraphOptions};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("friends.graphml");
    /// std::fs::write(&path, r#"<graphml><graph edgedefault="directed">
    ///     <node id="ada"/><node id="bob"/><edge source="ada" target="bob"/>
    /// </graph></graphml>"#).unwrap();
    /// let db = Database::in_memory();
    /// db.load_graph(&path, GraphOptions::default())?;
    /// let answer = db.query("{ q(func: eq(id, \"ada\")) { edge { id } } }")?;
    /// assert_eq!(answer.to_json()?.0, r#"{"q":[{"edge":[{"id":"bob"}]}]}"#);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::load_graph_with`].
    pub fn load_graph(&self, path: &Path, options: GraphOptions) -> Result<LoadReport> {
        self.load_graph_with(path, options, &RequestContext::new())
    }

    /// Adds the graph of a file of GraphML: nodes with their ids and attributes, edges with theirs
    /// as facets, in the types that the file declares. All becomes visible at once. The file is
    /// read twice, and never held in full.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    /// use hexgraph::tables::GraphOptions;
    /// use std::path::Path;
    ///
    /// let db = Database::in_memory();
    /// let path = Path::new("missing.graphml");
    /// let error = db.load_graph_with(path, GraphOptions::default(), &RequestContext::new()).unwrap_err();
    /// assert!(error.to_string().contains("missing.graphml"));
    /// ```
    ///
    /// # Errors
    ///
    /// `Load` with the line of what can't be read; as [`Database::load_nodes`].
    pub fn load_graph_with(
        &self,
        path: &Path,
        options: GraphOptions,
        context: &RequestContext,
    ) -> Result<LoadReport> {
        let refuses_missing = options.missing == Missing::Raise;
        let seen = Arc::new(Mutex::new(Seen::new(self.budget().reservation())));
        let rules = (refuses_missing, options.table.skip_errors);
        let nodes = ElementBatches::open(path, false, rules, &seen)?;
        let edges = ElementBatches::open(path, true, rules, &seen)?;
        let is_directed = nodes.is_directed();
        let tables = [Box::new(nodes) as Batches, Box::new(edges)];
        let mut report = self.load_graph_tables(tables, options, context)?;
        let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        note(&mut report, &seen, &path.display().to_string(), is_directed);
        Ok(report)
    }

    /// Adds a graph from a table of nodes, whose first column has their ids, and one of edges,
    /// whose first two columns have the ids of their endpoints. Other columns are predicates and
    /// facets; where their names can't be, names are made of them.
    ///
    /// ```
    /// use arrow_array::{RecordBatch, RecordBatchIterator, StringArray};
    /// use hexgraph::db::{Database, RequestContext};
    /// use hexgraph::tables::{Batches, GraphOptions};
    /// use std::sync::Arc;
    ///
    /// let texts = |values: Vec<&str>| Arc::new(StringArray::from(values)) as _;
    /// let reader = |batch: RecordBatch| -> Batches {
    ///     let schema = batch.schema();
    ///     Box::new(RecordBatchIterator::new([Ok(batch)], schema))
    /// };
    /// let nodes = RecordBatch::try_from_iter([("id", texts(vec!["ada", "bob"]))]).unwrap();
    /// let columns = [("source", texts(vec!["ada"])), ("target", texts(vec!["bob"]))];
    /// let edges = RecordBatch::try_from_iter(columns).unwrap();
    /// let db = Database::in_memory();
    /// let tables = [reader(nodes), reader(edges)];
    /// db.load_graph_tables(tables, GraphOptions::default(), &RequestContext::new())?;
    /// assert_eq!(db.query("{ q(func: has(edge)) { uid } }")?.row_count()?, 1);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::load_nodes`].
    pub fn load_graph_tables(
        &self,
        [nodes, edges]: [Batches; 2],
        options: GraphOptions,
        context: &RequestContext,
    ) -> Result<LoadReport> {
        let GraphOptions { node_types, predicate, ids, table, missing } = options;
        if missing == Missing::Skip {
            return Err(Error::query("missing is \"make\" or \"raise\" for a graph, not \"skip\""));
        }
        let mut notes = Vec::new();
        let (nodes, _) = renamed(nodes, &[&ids], &mut |column, name| {
            notes.push(format!("attribute {column:?} of nodes is the predicate {name}"));
        })?;
        let (edges, facets) = renamed(edges, &ENDPOINTS, &mut |column, name| {
            notes.push(format!("attribute {column:?} of edges is the facet {name}"));
        })?;
        let [types_of_nodes, types_of_edges] = split_types(&table.types, [&nodes, &edges])?;
        let space = Some(IdSpace::Predicate(ids.clone()));
        let of_nodes = NodeOptions {
            id: Some(ids),
            ids: space.clone(),
            node_types,
            table: TableOptions { types: types_of_nodes, ..table.clone() },
            ..NodeOptions::default()
        };
        let of_edges = EdgeOptions {
            source_ids: space.clone(),
            target_ids: space,
            facets: facets.into_iter().map(|name| (name.clone(), name)).collect(),
            table: TableOptions { types: types_of_edges, ..table.clone() },
            ..EdgeOptions::new(&predicate, ENDPOINTS[0], ENDPOINTS[1])
        };
        let jobs = vec![
            (Table::Batches(nodes), Rows::Nodes(of_nodes)),
            (Table::Batches(edges), Rows::Edges(of_edges)),
        ];
        let mut report = self.load_tables(jobs, table, context)?;
        report.notes.extend(notes);
        Ok(report)
    }
}

/// The types of the columns that each table has.
///
/// # Errors
///
/// [`Error::Query`] for a type of a column that no table has.
fn split_types(
    types: &BTreeMap<String, ValueType>,
    tables: [&Batches; 2],
) -> Result<[BTreeMap<String, ValueType>; 2]> {
    let own = tables.map(|table| {
        let schema = table.schema();
        let mut own = types.clone();
        own.retain(|column, _| schema.column_with_name(column).is_some());
        own
    });
    match types.keys().find(|column| own.iter().all(|own| !own.contains_key(*column))) {
        Some(column) => Err(Error::query(format!("nodes and edges have no attribute {column:?}"))),
        None => Ok(own),
    }
}

/// A table whose first columns are called as `ids` says, and the others by names that predicates
/// and facets can have. Returns these.
fn renamed(
    table: Batches,
    ids: &[&str],
    note: &mut dyn FnMut(&str, &str),
) -> Result<(Batches, Vec<String>)> {
    let schema = table.schema();
    let own: Vec<String> =
        schema.fields()[ids.len()..].iter().map(|it| it.name().clone()).collect();
    let plain = own.iter().map(|name| name.replace(NO_FACET_KEY, "_").replace("^^", "_"));
    let plain: Vec<String> = plain.collect();
    let mut chooser = NameChooser::new(Names::Clean, plain.iter());
    ids.iter().for_each(|name| chooser.reserve(Some(&(*name).into())));
    let mut names = Vec::new();
    for (position, (name, plain)) in own.iter().zip(&plain).enumerate() {
        let chosen = chooser.choose(plain, position)?.into_owned();
        if chosen != *name {
            note(name, &chosen);
        }
        names.push(chosen);
    }
    let all = ids.iter().copied().chain(names.iter().map(String::as_str));
    let fields = all.zip(schema.fields()).map(|(name, field)| Field::clone(field).with_name(name));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<Field>>()));
    let of_batch = Arc::clone(&schema);
    let batches = table
        .map(move |batch| RecordBatch::try_new(Arc::clone(&of_batch), batch?.columns().to_vec()));
    Ok((Box::new(RecordBatchIterator::new(batches, schema)), names))
}

/// Notes what was in a file.
fn note(report: &mut LoadReport, seen: &Seen, file: &str, is_directed: bool) {
    let [nodes, edges] = seen.counts;
    let kind = match is_directed {
        true => "directed",
        false => "undirected, each edge leads from its source to its target",
    };
    report.notes.push(format!("{file}: GraphML, {kind}, {nodes} nodes, {edges} edges"));
    if !seen.left_out.is_empty() {
        report.warnings.push(format!("not stored: {}", seen.left_out.join(", ")));
    }
    let (count, first) = &seen.missing;
    if 0 < *count {
        report.warnings.push(format!(
            "ends of edges that are no nodes of the file: {count}, such as {first}; nodes were made (missing=\"raise\" refuses them)"
        ));
    }
    if let (count @ 1.., Some(first)) = &seen.wrong {
        report.warnings.push(format!("values left out: {count}, such as {first}"));
    }
}
