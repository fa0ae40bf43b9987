//! Loads generated graphs.

use super::batches::table;
use super::kinds::{called, followed, quartered, step, step_count};
use super::random_stream::RandomStream;
use crate::db::{Database, LoadProgress, LoadReport, RequestContext};
use crate::tables::load::Rows;
use crate::tables::{EdgeOptions, IdSpace, NodeOptions, Table, TableOptions};
use arrow_array::{ArrayRef, Int64Array, StringArray, TimestampMicrosecondArray, UInt64Array};
use arrow_schema::{DataType, TimeUnit};
use hexgraph_base::types::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// A generated graph: its kind, and the numbers that decide it. The nodes of all kinds have
/// consecutive uids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Generated {
    /// People who follow others, and rather those whom many follow: in-degrees follow a power law.
    /// `name` and `born` of type `Person`, edges `follows`.
    Social {
        /// The number of people.
        people: u64,
        /// The number of earlier persons that each one follows; duplicates count once, and the
        /// first person follows nobody.
        follows: u64,
        /// The seed.
        seed: u64,
    },
    /// A Kronecker graph as Graph 500 has it: skewed, with a small diameter. Edges `links` of nodes
    /// without values; duplicates are there once.
    Kronecker {
        /// The number of nodes is two to the power of this.
        scale: u32,
        /// The number of edges that are generated per node.
        edges: u64,
        /// The seed.
        seed: u64,
    },
    /// Crossings and the roads between neighbours, in both directions: `x` and `y` of type
    /// `Crossing`, edges `road` with the facet `metres`, from 50 to 149, the same in both
    /// directions.
    Grid {
        /// The number of crossings in a row.
        width: u64,
        /// The number of rows.
        height: u64,
        /// What decides the lengths of roads.
        seed: u64,
    },
    /// People who call each other in the course of time: `name` of type `Person`, edges `called`
    /// with the facet `at`, a second after the event before. Of several calls between two people
    /// the last one counts.
    Temporal {
        /// The number of people.
        people: u64,
        /// The number of calls.
        events: u64,
        /// The seed.
        seed: u64,
    },
}

/// The most nodes of a graph: a database numbers its nodes by 32 bits.
const NODES_MAX: u64 = 1 << 31;

/// The most edges that are generated.
const EDGES_MAX: u64 = 1 << 40;

/// The largest scale of a Kronecker graph.
const SCALE_MAX: u32 = 31;

/// The first call, in microseconds since 1970: 2024-01-01T00:00:00Z.
const FIRST_CALL: i64 = 1_704_067_200_000_000;

const UID: &str = "uid";
const ENDPOINTS: [&str; 2] = ["source", "target"];

/// # Random graphs
impl Database {
    /// Adds a random graph of new nodes.
    ///
    /// ```
    /// use hexgraph::{db::Database, tables::Generated};
    ///
    /// let db = Database::in_memory();
    /// let report = db.generate(&Generated::Grid { width: 4, height: 3, seed: 1 })?;
    /// assert_eq!(report.nodes, 12);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::generate_with`].
    pub fn generate(&self, graph: &Generated) -> Result<LoadReport> {
        self.generate_with(graph, LoadProgress::default(), &RequestContext::new())
    }

    /// Adds a generated graph in one commit; its nodes are new ones. Costs some 10 ns an edge in
    /// addition to the load itself.
    ///
    /// ```
    /// use hexgraph::db::{Database, LoadProgress, RequestContext};
    /// use hexgraph::tables::Generated;
    ///
    /// let db = Database::in_memory();
    /// let graph = Generated::Kronecker { scale: 5, edges: 8, seed: 1 };
    /// db.generate_with(&graph, LoadProgress::default(), &RequestContext::new())?;
    /// assert!(db.query("{ q(func: has(links)) { uid } }")?.has_rows()?);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for invalid numbers; as [`Database::load_nodes`].
    pub fn generate_with(
        &self,
        graph: &Generated,
        progress: LoadProgress,
        context: &RequestContext,
    ) -> Result<LoadReport> {
        graph.check()?;
        let first = self.allocate_uids(graph.nodes())?.0;
        let options =
            TableOptions { schema: Some(graph.schema()), progress, ..TableOptions::default() };
        self.load_tables(graph.tables(first, &options), options, context)
    }
}

impl Generated {
    /// The number of nodes.
    ///
    /// ```
    /// use hexgraph::tables::Generated;
    ///
    /// assert_eq!(Generated::Kronecker { scale: 5, edges: 8, seed: 1 }.nodes(), 32);
    /// ```
    pub fn nodes(&self) -> u64 {
        match *self {
            Generated::Social { people, .. } | Generated::Temporal { people, .. } => people,
            Generated::Kronecker { scale, .. } => 1 << scale,
            Generated::Grid { width, height, .. } => width * height,
        }
    }

    /// The number of edges that are generated.
    ///
    /// ```
    /// use hexgraph::tables::Generated;
    ///
    /// assert_eq!(Generated::Kronecker { scale: 5, edges: 8, seed: 1 }.edges(), 256);
    /// ```
    pub fn edges(&self) -> u64 {
        match *self {
            Generated::Social { people, follows, .. } => people.saturating_sub(1) * follows,
            Generated::Kronecker { scale, edges, .. } => edges << scale,
            Generated::Grid { width, height, .. } => step_count(width, height),
            Generated::Temporal { events, .. } => events,
        }
    }

    /// The definitions that the graph brings.
    fn schema(&self) -> String {
        match self {
            Generated::Social { .. } => {
                "name: string .\nborn: int .\nfollows: [uid] @reverse .\ntype Person {\nname\nborn\nfollows\n}"
            }
            Generated::Kronecker { .. } => "links: [uid] @reverse .",
            Generated::Grid { .. } => {
                "x: int .\ny: int .\nroad: [uid] .\ntype Crossing {\nx\ny\nroad\n}"
            }
            Generated::Temporal { .. } => {
                "name: string .\ncalled: [uid] @reverse .\ntype Person {\nname\ncalled\n}"
            }
        }
        .to_owned()
    }

    fn check(&self) -> Result<()> {
        let at_least = |what: &str, given: u64, least: u64| match given < least {
            true => Err(Error::query(format!("{what} is {given}, and at least {least}"))),
            false => Ok(()),
        };
        let counts = match *self {
            Generated::Social { people, follows, .. } => {
                at_least("people", people, 1)?;
                (Some(people), people.checked_mul(follows))
            }
            Generated::Kronecker { scale, .. } if SCALE_MAX < scale => {
                let fault = format!("scale is {scale}, and at most {SCALE_MAX}: 2^scale nodes");
                return Err(Error::query(fault));
            }
            Generated::Kronecker { scale, edges, .. } => {
                (Some(1 << scale), edges.checked_mul(1 << scale))
            }
            Generated::Grid { width, height, .. } => {
                at_least("width", width, 1)?;
                at_least("height", height, 1)?;
                let nodes = width.checked_mul(height);
                (nodes, nodes.and_then(|nodes| nodes.checked_mul(4)))
            }
            Generated::Temporal { people, events, .. } => {
                at_least("people", people, 2)?;
                (Some(people), Some(events))
            }
        };
        let within = |what: &str, count: Option<u64>, most: u64| match count {
            Some(count) if count <= most => Ok(()),
            Some(count) => {
                Err(Error::query(format!("{count} {what} are too many, of at most {most}")))
            }
            None => Err(Error::query(format!("there are too many {what}, of at most {most}"))),
        };
        within("nodes", counts.0, NODES_MAX)?;
        within("edges", counts.1, EDGES_MAX)
    }

    /// The tables of nodes and edges; the first node has uid `first`.
    fn tables(&self, first: u64, options: &TableOptions) -> Vec<(Table, Rows)> {
        let count = self.edges();
        let mut tables = Vec::new();
        let (predicate, facet, edges) = match *self {
            Generated::Social { people, follows, seed } => {
                tables
                    .push((people_table(people, first, seed, true), node_rows("Person", options)));
                let random = RandomStream::new(seed, 0);
                let endpoints = move |edge| (edge / follows + 1, followed(edge, follows, random));
                ("follows", None, edge_table(count, first, None, endpoints))
            }
            Generated::Kronecker { scale, seed, .. } => {
                let random = RandomStream::new(seed, 1);
                let endpoints = move |edge| quartered(edge, scale, random);
                ("links", None, edge_table(count, first, None, endpoints))
            }
            Generated::Grid { width, height, seed } => {
                let nodes = crossings_table(width, height, first);
                tables.push((nodes, node_rows("Crossing", options)));
                let random = RandomStream::new(seed, 2);
                let metres: Facet = Box::new(move |edges| {
                    let metres = edges.map(|edge| 50 + random.below(edge / 2, 100) as i64);
                    Arc::new(metres.collect::<Int64Array>())
                });
                let facet = Some(("metres", DataType::Int64, metres));
                let endpoints = move |edge| step(edge, width, height);
                ("road", Some("metres"), edge_table(count, first, facet, endpoints))
            }
            Generated::Temporal { people, seed, .. } => {
                tables
                    .push((people_table(people, first, seed, false), node_rows("Person", options)));
                let random = RandomStream::new(seed, 3);
                let times: Facet = Box::new(|events| {
                    let times = events.map(|event| FIRST_CALL + event as i64 * 1_000_000);
                    let times = TimestampMicrosecondArray::from_iter_values(times);
                    Arc::new(times.with_timezone("UTC"))
                });
                let kind = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
                let endpoints = move |event| called(event, people, random);
                (
                    "called",
                    Some("at"),
                    edge_table(count, first, Some(("at", kind, times)), endpoints),
                )
            }
        };
        tables.push((edges, edge_rows(predicate, facet, options)));
        tables
    }
}

/// Makes the values of a facet for some edges.
type Facet = Box<dyn Fn(Range<u64>) -> ArrayRef + Send>;

/// A table of `count` edges, whose endpoints, from 0, `endpoints` returns by their positions.
fn edge_table(
    count: u64,
    first: u64,
    facet: Option<(&'static str, DataType, Facet)>,
    endpoints: impl Fn(u64) -> (u64, u64) + Send + 'static,
) -> Table {
    let mut columns = ENDPOINTS.map(|name| (name, DataType::UInt64)).to_vec();
    let mut values = None;
    if let Some((name, kind, make)) = facet {
        columns.push((name, kind));
        values = Some(make);
    }
    table(&columns, count, move |edges| {
        let pairs = edges.clone().map(&endpoints).map(|(from, to)| (first + from, first + to));
        let (from, to): (Vec<u64>, Vec<u64>) = pairs.unzip();
        let mut arrays: Vec<ArrayRef> =
            vec![Arc::new(UInt64Array::from(from)), Arc::new(UInt64Array::from(to))];
        arrays.extend(values.as_ref().map(|make| make(edges)));
        arrays
    })
}

fn people_table(people: u64, first: u64, seed: u64, have_years: bool) -> Table {
    let mut columns = vec![(UID, DataType::UInt64), ("name", DataType::Utf8)];
    if have_years {
        columns.push(("born", DataType::Int64));
    }
    let random = RandomStream::new(seed, 4);
    table(&columns, people, move |rows| {
        let names = rows.clone().map(|row| format!("Person {}", row + 1));
        let mut arrays: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from_iter_values(rows.clone().map(|row| first + row))),
            Arc::new(StringArray::from_iter_values(names)),
        ];
        if have_years {
            let years = rows.map(|row| 1940 + random.below(row, 70) as i64);
            arrays.push(Arc::new(Int64Array::from_iter_values(years)));
        }
        arrays
    })
}

fn crossings_table(width: u64, height: u64, first: u64) -> Table {
    let columns = [(UID, DataType::UInt64), ("x", DataType::Int64), ("y", DataType::Int64)];
    table(&columns, width * height, move |rows| {
        let numbers = |of: &dyn Fn(u64) -> u64| -> ArrayRef {
            Arc::new(Int64Array::from_iter_values(rows.clone().map(|row| of(row) as i64)))
        };
        vec![
            Arc::new(UInt64Array::from_iter_values(rows.clone().map(|row| first + row))),
            numbers(&|row| row % width),
            numbers(&|row| row / width),
        ]
    })
}

fn node_rows(node_type: &str, options: &TableOptions) -> Rows {
    Rows::Nodes(NodeOptions {
        id: Some(UID.to_owned()),
        ids: Some(IdSpace::Uid),
        node_types: vec![node_type.to_owned()],
        table: options.clone(),
        ..NodeOptions::default()
    })
}

fn edge_rows(predicate: &str, facet: Option<&str>, options: &TableOptions) -> Rows {
    let facets = facet.map(|name| (name.to_owned(), name.to_owned()));
    Rows::Edges(EdgeOptions {
        source_ids: Some(IdSpace::Uid),
        target_ids: Some(IdSpace::Uid),
        facets: facets.into_iter().collect(),
        table: options.clone(),
        owned: false,
        ..EdgeOptions::new(predicate, ENDPOINTS[0], ENDPOINTS[1])
    })
}
