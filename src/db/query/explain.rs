//! Explanations: the steps that a query was executed in, with their counts and times.

use super::plans::QueryRequest;
use super::slow::SlowQuery;
use crate::db::database::Database;
use crate::db::operation::Latency;
use hexgraph_base::types::{Position, Result};
use hexgraph_store::exec::{AccessPath, RequestContext, Step, Trace};
use std::fmt;
use std::time::Duration;

/// A step without a name is shown by a chunk of the query text of at most this many characters.
const CHUNK_MAX: usize = 48;

/// The steps of a query in the order in which they were executed. `Display` prints them as a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The steps, each before those that are part of it.
    pub steps: Vec<ExplainedStep>,
    /// The times of the entire query.
    pub latency: Latency,
}

/// One step of an [`Explanation`].
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainedStep {
    /// The nesting depth: the number of steps that this one is part of.
    pub depth: usize,
    /// The operator, such as `IndexSeek`, `Filter` or `Expand`.
    pub operator: &'static str,
    /// The name that the operator is about, or its text in the query.
    pub detail: String,
    /// The strategy of the operator, if it has several; else empty.
    pub strategy: &'static str,
    /// The expected number of rows, by an index; `None` without an index.
    pub estimate: Option<u64>,
    /// The actual number of nodes, edges or values.
    pub rows: u64,
    /// The number of threads that worked on the step.
    pub threads: usize,
    /// The time of the step, including the steps inside it.
    pub time: Duration,
}

/// # How a query runs
impl Database {
    /// Answers a query, and reports the steps of its plan.
    ///
    /// ```
    /// use hexgraph::db::Database;
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .\n<1> <knows> <2> .\n<2> <name> \"Bob\" .", "")?;
    /// let explanation = db.explain("{ q(func: has(name)) { name } }")?;
    /// assert!(explanation.to_string().contains("has(name)"));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::explain_with`].
    pub fn explain(&self, request: impl Into<QueryRequest>) -> Result<Explanation> {
        self.explain_with(&request.into(), &RequestContext::new())
    }

    /// Answers a query and returns the executed steps with expected and actual rows.
    ///
    /// ```
    /// use hexgraph::db::{Database, QueryRequest, RequestContext};
    /// use std::time::Duration;
    ///
    /// let db = Database::in_memory();
    /// let request = QueryRequest::from("{ q(func: has(name)) { name } }");
    /// let context = RequestContext::new().with_timeout(Duration::from_secs(10));
    /// let explanation = db.explain_with(&request, &context)?;
    /// assert!(!explanation.steps.is_empty());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::query`].
    pub fn explain_with(
        &self,
        request: &QueryRequest,
        context: &RequestContext,
    ) -> Result<Explanation> {
        context.start_trace();
        let answer = self.query_with(request, context)?;
        let steps = context.trace().map(Trace::steps).unwrap_or_default();
        Ok(Explanation::new(&request.text, steps, answer.latency()))
    }

    /// The last queries that exceeded the limit `slow`, the newest last.
    ///
    /// ```
    /// use hexgraph::db::{Database, Limits, OpenOptions};
    /// use std::time::Duration;
    ///
    /// let limits = Limits { slow: Duration::ZERO, ..Limits::default() };
    /// let db = Database::in_memory_with(OpenOptions { limits, ..OpenOptions::default() });
    /// db.query("{ q(func: has(name)) { name } }")?;
    /// assert!(db.slow_queries()[0].text.contains("has(name)"));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn slow_queries(&self) -> Vec<SlowQuery> {
        self.slow_log().queries()
    }
}

impl Explanation {
    /// Combines the steps of a trace with the chunks of `text` that they come from.
    ///
    /// ```
    /// use hexgraph::db::{Database, Explanation, QueryRequest, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// let request = QueryRequest::from("{ q(func: has(name)) { name } }");
    /// let context = RequestContext::new();
    /// context.start_trace();
    /// let answer = db.query_with(&request, &context)?;
    /// let steps = context.trace().expect("it was started").steps();
    /// let explanation = Explanation::new(&request.text, steps, answer.latency());
    /// assert_eq!(explanation.plan(), db.explain(request)?.plan());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn new(text: &str, steps: Vec<Step>, latency: Latency) -> Explanation {
        let explained = |step: Step| {
            let detail = match step.at {
                Some(at) if step.name.is_empty() => chunk(text, at),
                _ => step.name,
            };
            let Step { depth, action, path, estimate, rows, threads, time, .. } = step;
            let operator = path.map_or_else(|| operator_of(action), AccessPath::operator);
            let strategy = path.map_or("", AccessPath::strategy);
            ExplainedStep { depth, operator, detail, strategy, estimate, rows, threads, time }
        };
        Explanation { steps: steps.into_iter().map(explained).collect(), latency }
    }
}

impl Explanation {
    /// The table of the steps, without the times: the same text each time the query runs on the
    /// same data.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let query = "{ q(func: has(name)) { name } }";
    /// assert_eq!(db.explain(query)?.plan(), db.explain(query)?.plan());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn plan(&self) -> String {
        let mut table = format!("{}\n", head());
        for step in &self.steps {
            table.push_str(&format!("{step}\n"));
        }
        table
    }
}

/// The operator of a step that has no choice of access paths.
fn operator_of(action: &'static str) -> &'static str {
    match action {
        "block" | "field" => "Project",
        "filter" => "Filter",
        "page" => "Limit",
        "order" => "Sort",
        "expand" => "Expand",
        "level" => "Recurse",
        "group" => "HashAggregate",
        "cascade" => "Cascade",
        "variables" => "Variable",
        "graph" | "compute" => "Algorithm",
        other => other,
    }
}

/// The titles of the columns, but for that of the times.
fn head() -> String {
    format!("{:<72} {:>10} {:>10}", "operator", "expected", "actual")
}

/// A line of the table, without the time.
impl fmt::Display for ExplainedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indent = "  ".repeat(self.depth);
        let mut what = format!("{indent}{} {}", self.operator, self.detail).trim_end().to_owned();
        match (self.strategy, self.threads) {
            ("", 0 | 1) => {}
            ("", threads) => what.push_str(&format!(" ({threads} threads)")),
            (strategy, 0 | 1) => what.push_str(&format!(" ({strategy})")),
            (strategy, threads) => {
                what.push_str(&format!(" ({strategy}, {threads} threads)"));
            }
        }
        let estimate = self.estimate.map_or_else(|| "-".to_owned(), |rows| rows.to_string());
        write!(f, "{what:<72} {estimate:>10} {:>10}", self.rows)
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {:>10}", head(), "ms")?;
        for step in &self.steps {
            writeln!(f, "{step} {:>10.3}", step.time.as_secs_f64() * 1e3)?;
        }
        let parsing = self.latency.parsing.as_secs_f64() * 1e3;
        let processing = self.latency.processing.as_secs_f64() * 1e3;
        write!(f, "parsing {parsing:.3} ms, processing {processing:.3} ms")
    }
}

/// Returns the call that begins at a position of a text, up to its closing parenthesis.
fn chunk(text: &str, at: Position) -> String {
    let line = text.split('\n').nth(at.line as usize - 1).unwrap_or_default();
    let rest = line.get(at.column as usize..).unwrap_or_default();
    let mut depth = 0;
    let mut end = rest.len();
    for (position, letter) in rest.char_indices() {
        match letter {
            '(' => depth += 1,
            // Depth 0 is the parenthesis around the chunk, as in a filter: it belongs to the text
            // before.
            ')' if depth <= 1 => {
                end = position + usize::from(depth == 1);
                break;
            }
            ')' => depth -= 1,
            '{' if depth == 0 => {
                end = position;
                break;
            }
            _ => {}
        }
    }
    let call = rest[..end].trim_end();
    match call.char_indices().nth(CHUNK_MAX) {
        Some((cut, _)) => format!("{}…", &call[..cut]),
        None => call.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_end_with_their_call() {
        let text =
            "{ q(func: eq(name, \"a\"), first: 2)\n  @filter(ge(count(friend), 1) AND has(x)) }";
        let at = |line, column| chunk(text, Position { line, column });
        assert_eq!(at(1, 10), "eq(name, \"a\")");
        assert_eq!(at(2, 10), "ge(count(friend), 1)");
        assert_eq!(at(2, 35), "has(x)");
        assert_eq!(at(9, 0), "");
        let long = format!("eq(name, {:?})", "é".repeat(100));
        assert_eq!(chunk(&long, Position { line: 1, column: 0 }).chars().count(), CHUNK_MAX + 1);
    }
}
