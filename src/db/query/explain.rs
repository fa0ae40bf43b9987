//! Explanations: the operators of a query, as they are planned or as they were executed.

use super::plans::QueryRequest;
use super::shown::shown_blocks;
use super::slow::SlowQuery;
use crate::db::database::Database;
use crate::db::guard::guarded;
use crate::db::operation::Latency;
use hexgraph_base::types::{Position, Result};
use hexgraph_store::exec::{AccessPath, RequestContext, Step, Trace};
use hexgraph_store::graph::Version;
use hexgraph_store::planner::{PlannedStep, plan_steps};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A step without a name is shown by a chunk of the query text of at most this many characters.
const CHUNK_MAX: usize = 48;

/// The operators of a query in the order in which they run. `Display` prints them as a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The operators, each before those that are part of it.
    pub steps: Vec<ExplainedStep>,
    /// The times of the entire query; `None` if it did not run.
    pub latency: Option<Latency>,
}

/// One operator of an [`Explanation`].
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainedStep {
    /// The nesting depth: the number of operators that this one is part of.
    pub depth: usize,
    /// The operator, such as `IndexSeek`, `Filter` or `Expand`.
    pub operator: &'static str,
    /// The name that the operator is about, or its text in the query.
    pub detail: String,
    /// The strategy of the operator, if it has several; else empty.
    pub strategy: &'static str,
    /// The expected number of rows; `None` if no index has it.
    pub estimate: Option<u64>,
    /// True if the choice of the strategy depends on an estimate.
    pub is_estimated: bool,
    /// True if the operator runs only instead of another one, or after that was abandoned.
    pub is_fallback: bool,
    /// What is chosen instead of the operator, and when.
    pub alternatives: Vec<Alternative>,
    /// What happened when it was executed; `None` if the query did not run.
    pub actual: Option<Actual>,
}

/// An operator or a strategy that may be chosen instead of a planned one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alternative {
    /// The operator.
    pub operator: &'static str,
    /// The strategy of the operator, if it has several; else empty.
    pub strategy: &'static str,
    /// The condition, such as `from 500 rows`.
    pub when: String,
}

/// What happened when an operator was executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Actual {
    /// The actual number of nodes, edges or values.
    pub rows: u64,
    /// The number of threads that worked on it.
    pub threads: usize,
    /// The time of the operator, including those inside it.
    pub time: Duration,
}

/// # How a query runs
impl Database {
    /// Plans a query without running it: the operators that would run, with their expected rows.
    ///
    /// What depends on numbers of rows that only the execution has is estimated, and
    /// has alternatives.
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

    /// As [`Database::explain`], with variables and a context.
    ///
    /// ```
    /// use hexgraph::db::{Database, QueryRequest, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// let request = QueryRequest::from("{ q(func: has(name)) { name } }");
    /// let explanation = db.explain_with(&request, &RequestContext::new())?;
    /// assert!(explanation.latency.is_none() && explanation.steps[0].actual.is_none());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// What is wrong with the text or the variables, and what the schema does not allow, as far as
    /// it is seen before values are read.
    pub fn explain_with(
        &self,
        request: &QueryRequest,
        context: &RequestContext,
    ) -> Result<Explanation> {
        let steps = self.planned_steps(request, context)?;
        Ok(Explanation::planned(&request.text, steps))
    }

    /// As [`Database::explain_with`], for the version that [`Database::query_at`] would read.
    ///
    /// ```
    /// use hexgraph::db::{Database, QueryRequest, RequestContext};
    ///
    /// let (db, context) = (Database::in_memory(), RequestContext::new());
    /// let request = QueryRequest::from("{ q(func: has(name)) { name } }");
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let (_, number) = db.query_at(0, &request, &context)?;
    /// db.mutate("<2> <name> \"Bob\" .", "")?;
    /// let expected = |number| db.explain_at(number, &request, &context).map(|it| it.steps[1].estimate);
    /// assert_eq!((expected(number)?, expected(0)?), (Some(1), Some(2)));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::explain_with`] and [`Database::resume`].
    pub fn explain_at(
        &self,
        number: u64,
        request: &QueryRequest,
        context: &RequestContext,
    ) -> Result<Explanation> {
        let version = match number {
            0 => self.version()?,
            number => self.version_at(number)?.0,
        };
        let steps = self.steps_of(version, request, context)?;
        Ok(Explanation::planned(&request.text, steps))
    }

    /// Runs a query, and returns its operators with their actual rows and times.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let explanation = db.profile("{ q(func: has(name)) { name } }")?;
    /// assert_eq!(explanation.steps[1].actual.map(|actual| actual.rows), Some(1));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::query`].
    pub fn profile(&self, request: impl Into<QueryRequest>) -> Result<Explanation> {
        self.profile_with(&request.into(), &RequestContext::new())
    }

    /// As [`Database::profile`], with variables and a context.
    ///
    /// ```
    /// use hexgraph::db::{Database, QueryRequest, RequestContext};
    /// use std::time::Duration;
    ///
    /// let db = Database::in_memory();
    /// let request = QueryRequest::from("{ q(func: has(name)) { name } }");
    /// let context = RequestContext::new().with_timeout(Duration::from_secs(10));
    /// let explanation = db.profile_with(&request, &context)?;
    /// assert!(explanation.latency.is_some());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::query`].
    pub fn profile_with(
        &self,
        request: &QueryRequest,
        context: &RequestContext,
    ) -> Result<Explanation> {
        context.start_trace();
        let answer = self.query_with(request, context)?;
        let steps = context.trace().map(Trace::steps).unwrap_or_default();
        Ok(Explanation::new(&request.text, steps, answer.latency()))
    }

    /// The steps of a query without running it, with all access paths that the executor may choose.
    ///
    /// ```
    /// use hexgraph::db::{Database, QueryRequest, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// let request = QueryRequest::from("{ q(func: has(name)) { name } }");
    /// let steps = db.planned_steps(&request, &RequestContext::new())?;
    /// assert!(!steps.is_empty());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// What is wrong with the text or the variables, and what the schema does not allow, as far as
    /// it is seen before values are read.
    #[doc(hidden)]
    pub fn planned_steps(
        &self,
        request: &QueryRequest,
        context: &RequestContext,
    ) -> Result<Vec<PlannedStep>> {
        self.steps_of(self.version()?, request, context)
    }

    fn steps_of(
        &self,
        version: Arc<Version>,
        request: &QueryRequest,
        context: &RequestContext,
    ) -> Result<Vec<PlannedStep>> {
        guarded(|| {
            self.prepare(context);
            let plan = self.plan(&request.text, &request.variables, context)?;
            let plan = match version.view() {
                Some(view) => shown_blocks(plan, view),
                None => plan,
            };
            plan_steps(version, &plan, context)
        })
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
    /// assert_eq!(explanation.plan(), db.profile(request)?.plan());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn new(text: &str, steps: Vec<Step>, latency: Latency) -> Explanation {
        let explained = |step: Step| {
            let Step { depth, action, path, estimate, rows, threads, time, .. } = step;
            ExplainedStep {
                depth,
                operator: path.map_or_else(|| operator_of(action), AccessPath::operator),
                detail: detail_of(text, step.name, step.at),
                strategy: path.map_or("", AccessPath::strategy),
                estimate,
                is_estimated: false,
                is_fallback: false,
                alternatives: Vec::new(),
                actual: Some(Actual { rows, threads, time }),
            }
        };
        let steps = steps.into_iter().map(explained).collect();
        Explanation { steps, latency: Some(latency) }
    }

    /// Combines the steps of a plan with the chunks of `text` that they come from.
    fn planned(text: &str, steps: Vec<PlannedStep>) -> Explanation {
        let explained = |step: PlannedStep| {
            let PlannedStep { depth, action, estimate, is_estimated, is_fallback, .. } = step;
            let path = step.paths.first().map(|planned| planned.path);
            let alternatives = step.paths.iter().skip(1).map(|planned| Alternative {
                operator: planned.path.operator(),
                strategy: planned.path.strategy(),
                when: planned.condition(),
            });
            ExplainedStep {
                depth,
                operator: path.map_or_else(|| operator_of(action), AccessPath::operator),
                strategy: path.map_or("", AccessPath::strategy),
                estimate,
                is_estimated,
                is_fallback,
                alternatives: alternatives.collect(),
                actual: None,
                detail: detail_of(text, step.name, step.at),
            }
        };
        Explanation { steps: steps.into_iter().map(explained).collect(), latency: None }
    }
}

impl Explanation {
    /// The table of the operators, without times: the same text each time for the same query on the
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
        let mut table = format!("{}\n", self.head());
        for step in &self.steps {
            table.push_str(&format!("{step}\n"));
        }
        table
    }

    /// The titles of the columns, but for that of the times.
    fn head(&self) -> String {
        match self.latency {
            Some(_) => format!("{:<72} {:>10} {:>10}", "operator", "expected", "actual"),
            None => format!("{:<72} {:>10}", "operator", "expected"),
        }
    }
}

/// The text of a step: its name, or the chunk of the query that it comes from.
fn detail_of(text: &str, name: String, at: Option<Position>) -> String {
    match at {
        Some(at) if name.is_empty() => chunk(text, at),
        _ => name,
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
        "refuse" => "Refuse",
        "variables" => "Variable",
        "graph" | "compute" => "Algorithm",
        other => other,
    }
}

/// A line of the table, without the time, and a line below it for each alternative.
impl fmt::Display for ExplainedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indent = "  ".repeat(self.depth);
        let fallback = if self.is_fallback { "or " } else { "" };
        let what = format!("{indent}{fallback}{} {}", self.operator, self.detail);
        let mut what = what.trim_end().to_owned();
        match (self.strategy, self.actual.map_or(1, |actual| actual.threads)) {
            ("", 0 | 1) => {}
            ("", threads) => what.push_str(&format!(" ({threads} threads)")),
            (strategy, 0 | 1) => what.push_str(&format!(" ({strategy})")),
            (strategy, threads) => {
                what.push_str(&format!(" ({strategy}, {threads} threads)"));
            }
        }
        let estimate = self.estimate.map_or_else(|| "-".to_owned(), |rows| rows.to_string());
        write!(f, "{what:<72} {estimate:>10}")?;
        if let Some(actual) = self.actual {
            write!(f, " {:>10}", actual.rows)?;
        }
        if self.is_estimated {
            write!(f, "  estimated")?;
        }
        for Alternative { operator, strategy, when } in &self.alternatives {
            let strategy = match *strategy {
                "" => String::new(),
                strategy => format!(" ({strategy})"),
            };
            let line = format!("{indent}    or {operator}{strategy} {when}");
            write!(f, "\n{}", line.trim_end())?;
        }
        Ok(())
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(latency) = &self.latency else { return write!(f, "{}", self.plan().trim_end()) };
        writeln!(f, "{} {:>10}", self.head(), "ms")?;
        for step in &self.steps {
            let time = step.actual.map_or(Duration::ZERO, |actual| actual.time);
            writeln!(f, "{step} {:>10.3}", time.as_secs_f64() * 1e3)?;
        }
        let parsing = latency.parsing.as_secs_f64() * 1e3;
        let processing = latency.processing.as_secs_f64() * 1e3;
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
