//! Loads a graph, its nodes and its edges at once.

use super::batches::{ElementBatches, Seen};
use crate::db::{Database, LoadReport, RequestContext};
use crate::tables::load::{NO_FACET_KEY, Rows};
use crate::tables::read::source::{WORKBOOK_ENDS, no_table};
use crate::tables::shape::names::NameChooser;
use crate::tables::shape::options::{
    EdgeOptions, Missing, Names, NodeOptions, Table, TableOptions,
};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{Field, Schema};
use hexgraph_base::types::{Error, Result};
use hexgraph_store::graph::IdSpace;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The columns of the ends of edges.
const ENDS: [&str; 2] = ["source", "target"];

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
    /// What becomes of edges whose ends are no nodes of the graph: nodes are made, or the load fails.
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
pub fn is_graph_name(name: &str) -> bool {
    let name = name.to_lowercase();
    let plain = name.trim_end_matches(".gz").trim_end_matches(".zst");
    plain.ends_with(".graphml")
}

/// Refuses files of graphs and workbooks where triples are loaded, by the end of their names.
///
/// # Errors
///
/// [`Error::Query`] that says how such a file is loaded.
pub fn refuse_other_names(name: &str) -> Result<()> {
    let lower = name.to_lowercase();
    let plain = lower.trim_end_matches(".gz").trim_end_matches(".zst");
    let has_end = |ends: &[&str]| ends.iter().any(|end| plain.ends_with(end));
    if is_graph_name(plain) || has_end(&[".gml"]) {
        let fault = Error::query(format!("{name}: a graph is loaded as a whole"));
        return Err(
            fault.with_hint("db.load_graph(path) in Python; `hexgraph load` takes .graphml")
        );
    }
    if has_end(&WORKBOOK_ENDS) {
        return Err(no_table(name, true));
    }
    Ok(())
}

impl Database {
    /// Adds the graph of a file of GraphML.
    ///
    /// # Errors
    ///
    /// As [`Database::load_graph_with`].
    pub fn load_graph(&self, path: &Path, options: GraphOptions) -> Result<LoadReport> {
        self.load_graph_with(path, options, &RequestContext::new())
    }

    /// Adds the graph of a file of GraphML: nodes with their ids and attributes, edges with theirs as facets, in the types that the
    /// file declares. All becomes visible at once. The file is read twice, and never as a whole.
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
        let seen = Arc::new(Mutex::new(Seen::new(self.budget().share())));
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

    /// Adds a graph from a table of nodes, whose first column has their ids, and one of edges, whose first two columns have the ids
    /// of their ends. Other columns are predicates and facets; where their names can't be, names are made of them.
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
        let (edges, facets) = renamed(edges, &ENDS, &mut |column, name| {
            notes.push(format!("attribute {column:?} of edges is the facet {name}"));
        })?;
        let space = Some(IdSpace::Predicate(ids.clone()));
        let of_nodes = NodeOptions {
            id: Some(ids),
            ids: space.clone(),
            node_types,
            table: table.clone(),
            ..NodeOptions::default()
        };
        let of_edges = EdgeOptions {
            source_ids: space.clone(),
            target_ids: space,
            facets: facets.into_iter().map(|name| (name.clone(), name)).collect(),
            table: table.clone(),
            ..EdgeOptions::new(&predicate, ENDS[0], ENDS[1])
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

/// A table whose first columns are called as `ids` says, and the others by names that predicates and facets can have. Returns these.
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
    for (place, (name, plain)) in own.iter().zip(&plain).enumerate() {
        let chosen = chooser.choose(plain, place)?.into_owned();
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
