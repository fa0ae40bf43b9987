//! Queries in Cypher: from the query text to rows.

use super::plain::{AnswerRows, columns_of};
use super::snapshot_graph::SnapshotGraph;
use crate::db::change::txn::Txn;
use crate::db::database::Database;
use crate::db::guard::guarded;
use crate::db::operation::Latency;
use crate::db::query::plans::Variables;
use crate::db::query::warnings::Warning;
use hexgraph_base::budget::Reservation;
use hexgraph_base::types::{Error, Result};
use hexgraph_cypher::ast::Mode;
use hexgraph_cypher::{AnswerColumn, Table, execute_each, explain, profile};
use hexgraph_scalar::{Context, Fault, Map, ScalarError, Value};
use hexgraph_store::exec::RequestContext;
use hexgraph_store::graph::Version;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The rows of a query in Cypher. A node is a map with `uid`, `labels` and `properties`, a
/// relationship one with `type`, `start`, `end` and `properties`, a path one with `nodes` and
/// `relationships`.
pub struct CypherAnswer {
    /// The names of the columns: aliases, or expressions as they are written.
    pub columns: Vec<Box<str>>,
    /// The values of each column.
    pub(super) values: Vec<AnswerColumn>,
    /// The size limit of the answer as text, in bytes: the setting `result`.
    pub(super) bytes_max: u64,
    latency: Latency,
    warnings: Vec<Warning>,
    /// The memory of the rows, reserved while the answer exists.
    reservation: Option<Arc<Reservation>>,
}

impl CypherAnswer {
    /// The number of rows.
    ///
    /// ```
    /// let answer = hexgraph::db::Database::in_memory().cypher("UNWIND [1, 2] AS n RETURN n")?;
    /// assert_eq!(answer.row_count(), 2);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn row_count(&self) -> usize {
        self.values.first().map_or(0, AnswerColumn::len)
    }

    /// The value of a row in a column, by their positions from 0.
    ///
    /// ```
    /// let answer = hexgraph::db::Database::in_memory().cypher("RETURN 1 AS one, 'a' AS text")?;
    /// assert_eq!(answer.value(0, 1).to_string(), "a");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// When there is no such row or column.
    pub fn value(&self, row: usize, column: usize) -> Value {
        self.values[column].value(row)
    }

    /// The rows, each with a value for each column.
    ///
    /// ```
    /// let answer = hexgraph::db::Database::in_memory().cypher("UNWIND [1, 2] AS n RETURN n, -n")?;
    /// let sums = answer.rows().map(|row| format!("{} {}", row[0], row[1]));
    /// assert_eq!(sums.collect::<Vec<String>>(), ["1 -1", "2 -2"]);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn rows(&self) -> impl Iterator<Item = Vec<Value>> {
        (0..self.row_count()).map(|row| self.values.iter().map(|it| it.value(row)).collect())
    }

    /// The time for parsing and for processing.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// assert!(!db.cypher("RETURN 1 AS one")?.latency().total().is_zero());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn latency(&self) -> Latency {
        self.latency
    }

    /// What is answered, and was likely meant otherwise: a label, a relationship type or a property
    /// of a node that nothing has, and an algorithm whose rounds ended before its numbers
    /// converged.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<1> <knows> <2> .", "")?;
    /// let answer = db.cypher("CALL algo.degree('know') YIELD node, degree RETURN node, degree")?;
    /// assert_eq!(answer.row_count(), 0);
    /// assert!(answer.warnings()[0].to_string().contains("did you mean `knows`?"));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Gives a request that converts the answer a reservation in the memory of the database, where
    /// it has none.
    pub(super) fn prepare(&self, context: &RequestContext) {
        if let Some(reservation) = &self.reservation {
            context.set_budget(reservation.budget());
        }
    }
}

/// # Cypher
impl Database {
    /// Answers a query in openCypher from the newest version. Queries only read.
    ///
    /// ```
    /// use hexgraph::db::Database;
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .\n<1> <knows> <2> .\n<2> <name> \"Bob\" .", "")?;
    /// let answer = db.cypher("MATCH (a)-[:knows]->(b) RETURN a.name AS a, b.name")?;
    /// assert_eq!(answer.columns.join(" "), "a b.name");
    /// assert_eq!(answer.value(0, 1).to_string(), "Bob");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::cypher_with`].
    pub fn cypher(&self, text: &str) -> Result<CypherAnswer> {
        self.cypher_with(text, &Map::new(Vec::new())?, &RequestContext::new())
    }

    /// Answers a query in openCypher from the newest version, with values of its parameters. Scans,
    /// joins and groups run on all threads, what remains on the calling thread. After `EXPLAIN` the
    /// answer is the plan of the query; after `PROFILE` it runs, and the plan has the rows and the
    /// milliseconds of each operator.
    ///
    /// ```
    /// use hexgraph::cypher::{Map, Value};
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// let params = Map::new(vec![("most".into(), Value::Int(3))])?;
    /// let text = "UNWIND range(1, $most) AS n RETURN sum(n)";
    /// let answer = db.cypher_with(text, &params, &RequestContext::new())?;
    /// assert_eq!(answer.value(0, 0), Value::Int(6));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Syntax` for a text that is no query of openCypher, or that would write; `Query` for an
    /// expression without a value; `Limit` when `context` stops it; `Corrupt` when it meets a
    /// damaged part of the file.
    pub fn cypher_with(
        &self,
        text: &str,
        params: &Map,
        context: &RequestContext,
    ) -> Result<CypherAnswer> {
        self.cypher_version(self.version()?, text, None, params, context)
    }

    /// Returns the plan of a query in openCypher, which does not run: the operators in the order in
    /// which rows pass through them, as `EXPLAIN` before the query does.
    ///
    /// ```
    /// use hexgraph::cypher::Map;
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let (db, none) = (Database::in_memory(), Map::new(Vec::new())?);
    /// let plan = db.explain_cypher("MATCH (n) RETURN n.name", &none, &RequestContext::new())?;
    /// assert_eq!(plan.columns.join(" "), "operator detail expected");
    /// assert_eq!(plan.value(1, 1).to_string(), "n.name");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::cypher_with`], except for those of running.
    pub fn explain_cypher(
        &self,
        text: &str,
        params: &Map,
        context: &RequestContext,
    ) -> Result<CypherAnswer> {
        self.cypher_version(self.version()?, text, Some(Mode::Explain), params, context)
    }

    /// Runs a query in openCypher, and returns its plan with the rows and the milliseconds of each
    /// operator, as `PROFILE` before the query does.
    ///
    /// ```
    /// use hexgraph::cypher::{Map, Value};
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let (db, none) = (Database::in_memory(), Map::new(Vec::new())?);
    /// let text = "UNWIND [1, 2] AS n RETURN n";
    /// let plan = db.profile_cypher(text, &none, &RequestContext::new())?;
    /// assert_eq!((plan.columns[3].as_ref(), plan.value(0, 3)), ("actual", Value::Int(2)));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::cypher_with`].
    pub fn profile_cypher(
        &self,
        text: &str,
        params: &Map,
        context: &RequestContext,
    ) -> Result<CypherAnswer> {
        self.cypher_version(self.version()?, text, Some(Mode::Profile), params, context)
    }

    /// Answers a query in openCypher at a start timestamp: from the version that it names, or from
    /// the view of its open transaction; 0 is the newest version. Returns the timestamp, too.
    ///
    /// ```
    /// use hexgraph::cypher::Map;
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let (db, none) = (Database::in_memory(), Map::new(Vec::new())?);
    /// let (text, context) = ("MATCH (n) RETURN count(n)", RequestContext::new());
    /// let (_, number) = db.cypher_at(0, text, &none, &context)?;
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let (answer, _) = db.cypher_at(number, text, &none, &context)?;
    /// assert_eq!(answer.value(0, 0).to_string(), "0", "the timestamp was before the commit");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::cypher_with`] and [`Database::resume`].
    pub fn cypher_at(
        &self,
        number: u64,
        text: &str,
        params: &Map,
        context: &RequestContext,
    ) -> Result<(CypherAnswer, u64)> {
        let (version, number) = self.version_at(number)?;
        Ok((self.cypher_version(version, text, None, params, context)?, number))
    }

    /// Answers a query from a version. Without a mode, the first word of the text decides.
    fn cypher_version(
        &self,
        version: Arc<Version>,
        text: &str,
        mode: Option<Mode>,
        params: &Map,
        context: &RequestContext,
    ) -> Result<CypherAnswer> {
        guarded(|| {
            let started = Instant::now();
            self.prepare(context);
            self.check_length(text)?;
            let parsed = self.own.plans.cypher(text, context)?;
            let parsing = started.elapsed();
            let names = self.own.names.of(&version.schema);
            let graph = SnapshotGraph::new(version, names, context);
            let (now, evaluation) = (Timestamp::now(), context.reservation().cloned());
            let evaluation = evaluation_context(now, evaluation);
            let plan = match mode.unwrap_or(parsed.statement().mode) {
                Mode::Run => None,
                Mode::Explain => Some(explain(&parsed, params, &graph, &evaluation)?),
                Mode::Profile => Some(profile(&parsed, params, &graph, &evaluation)?),
            };
            let answer = match plan {
                Some(Table { columns, rows }) => {
                    let values = columns_of(rows, columns.len());
                    (columns, values)
                }
                None => {
                    let mut rows = AnswerRows::new(&graph, context);
                    let columns = execute_each(&parsed, params, &graph, &evaluation, &mut rows)?;
                    let mut values = rows.columns;
                    values.resize_with(columns.len(), AnswerColumn::default);
                    (columns, values)
                }
            };
            let variables = || variables_of(params);
            let times = (started, parsing);
            Ok(self.cypher_answer(answer, (text, &variables), times, graph))
        })
    }

    /// The answer to a text that was begun and parsed in some time. A slow one is logged with its
    /// variables.
    pub(super) fn cypher_answer(
        &self,
        (columns, values): (Vec<Box<str>>, Vec<AnswerColumn>),
        (text, variables): (&str, &dyn Fn() -> Variables),
        (started, parsing): (Instant, Duration),
        graph: SnapshotGraph<'_>,
    ) -> CypherAnswer {
        let processing = started.elapsed() - parsing;
        let latency = Latency { parsing, processing, ..Latency::default() };
        if self.limits().slow <= latency.total() {
            self.slow_log().note(text, &variables(), latency);
        }
        let (bytes_max, reservation) =
            (self.limits().result, graph.context().reservation().cloned());
        let warnings = graph.into_warnings();
        CypherAnswer { columns, values, bytes_max, latency, warnings, reservation }
    }
}

/// # Cypher
impl Txn {
    /// Answers a query in openCypher from the view of the transaction.
    ///
    /// ```
    /// use hexgraph::cypher::Map;
    /// use hexgraph::db::{Database, RequestContext, TxnOptions};
    ///
    /// let db = Database::in_memory();
    /// let txn = db.begin(TxnOptions::default())?;
    /// txn.mutate("<1> <name> \"Ada\" .", "")?;
    /// let (text, none) = ("MATCH (n) RETURN count(n)", Map::new(Vec::new())?);
    /// let inside = txn.cypher_with(text, &none, &RequestContext::new())?;
    /// let outside = db.cypher(text)?;
    /// assert_eq!([inside, outside].map(|it| it.value(0, 0).to_string()), ["1", "0"]);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::cypher_with`]; `Conflict` when the transaction was aborted, `Query` when it
    /// has ended.
    pub fn cypher_with(
        &self,
        text: &str,
        params: &Map,
        context: &RequestContext,
    ) -> Result<CypherAnswer> {
        let (database, version) = self.seen_version()?;
        database.cypher_version(version, text, None, params, context)
    }
}

/// Parameters as strings, for the log of slow queries.
fn variables_of(params: &Map) -> Variables {
    let text = |(name, value): &(Arc<str>, Value)| (format!("${name}"), value.to_string().into());
    params.entries().iter().map(text).collect()
}

/// The time of a query, the seed of its random numbers, and the reservation for its large values.
pub(super) fn evaluation_context(now: Timestamp, reservation: Option<Arc<Reservation>>) -> Context {
    let seed = now.as_nanosecond() as u64;
    let context = Context::new(now.to_zoned(TimeZone::UTC), seed);
    let Some(reservation) = reservation else { return context };
    context.with_reserve(Arc::new(move |bytes| {
        let fault = |error: Error| {
            let (message, hint) = (error.to_string(), String::new());
            Box::new(ScalarError { fault: Fault::Limit, message, hint })
        };
        reservation.reserve(bytes).map_err(fault)
    }))
}
