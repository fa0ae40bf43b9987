//! The entry: a parsed text becomes a plan, the plan rows.

use super::answer::{AnswerColumn, AnswerSink};
use super::cells::answer_row;
use super::explain::{Outline, report};
use super::graph::Graph;
use super::resolve::Resolver;
use super::run::Execution;
use super::table::Table;
use crate::parse::Parsed;
use hexgraph_base::types::Result;
use hexgraph_scalar::{Context, Map, Value};
use std::mem;
use std::ops::ControlFlow;

/// Executes a query over a graph. `EXPLAIN` and `PROFILE` are the caller's ([`explain`],
/// [`profile`]); the query runs.
///
/// # Errors
///
/// Any error of the graph, unchanged; [`Error::Query`](hexgraph_base::types::Error::Query) with its
/// position where an expression has no value, a parameter is missing, or the text is not one that
/// the analysis accepts.
pub fn execute(
    parsed: &Parsed,
    params: &Map,
    graph: &dyn Graph,
    context: &Context,
) -> Result<Table> {
    let mut list = RowList(Vec::new());
    let columns = execute_each(parsed, params, graph, context, &mut list)?;
    Ok(Table { columns, rows: list.0 })
}

/// The rows of an answer, one by one.
struct RowList(Vec<Vec<Value>>);

impl AnswerSink for RowList {
    fn row(&mut self, values: &mut Vec<Value>) -> Result<ControlFlow<()>> {
        self.0.push(mem::take(values));
        Ok(ControlFlow::Continue(()))
    }

    fn rows(&mut self, columns: Vec<AnswerColumn>) -> Result<ControlFlow<()>> {
        let count = columns.first().map_or(0, AnswerColumn::len);
        self.0.extend((0..count).map(|row| columns.iter().map(|it| it.value(row)).collect()));
        Ok(ControlFlow::Continue(()))
    }
}

/// As [`execute`], and gives each row to a sink, until that breaks off. A query that is one
/// projection of a scan or of a join gives its columns. Returns the names of the columns.
///
/// # Errors
///
/// As [`execute`], and those of the sink.
pub fn execute_each(
    parsed: &Parsed,
    params: &Map,
    graph: &dyn Graph,
    context: &Context,
    sink: &mut dyn AnswerSink,
) -> Result<Vec<Box<str>>> {
    let mut resolver = Resolver::new(graph, parsed.text(), params, context);
    let (plan, shape) = resolver.statement(&parsed.statement().query)?;
    let execution = Execution::new(graph, parsed.text(), context)?;
    let mut row = vec![Value::Null; shape.width];
    let mut reserved = execution.reservation();
    let by_columns = match execution.answer_scan(&plan, &mut row, (&mut *sink, &mut reserved))? {
        None => execution.answer_join(&plan, &mut row, (&mut *sink, &mut reserved))?,
        flow => flow,
    };
    if by_columns.is_none() {
        let _ = execution.query(&plan, &mut row, &mut |row| {
            answer_row(&plan.columns, row, sink, &mut reserved)
        })?;
    }
    Ok(shape.columns)
}

/// The plan of a query: its operators in the order in which rows pass through them, what each works
/// on, and the expected rows.
///
/// # Errors
///
/// As [`execute`], except for those of running.
pub fn explain(
    parsed: &Parsed,
    params: &Map,
    graph: &dyn Graph,
    context: &Context,
) -> Result<Table> {
    outline(parsed, params, graph, context, false)
}

/// As [`explain`], of a query that runs. Its rows are dropped; the plan has the rows that each
/// operator gave, and the milliseconds of its own.
///
/// # Errors
///
/// As [`execute`].
pub fn profile(
    parsed: &Parsed,
    params: &Map,
    graph: &dyn Graph,
    context: &Context,
) -> Result<Table> {
    outline(parsed, params, graph, context, true)
}

/// The plan of a query, which runs where it `is_profiled`.
fn outline(
    parsed: &Parsed,
    params: &Map,
    graph: &dyn Graph,
    context: &Context,
    is_profiled: bool,
) -> Result<Table> {
    let mut resolver = Resolver::new(graph, parsed.text(), params, context);
    let (plan, shape) = resolver.statement(&parsed.statement().query)?;
    let mut execution = Execution::new(graph, parsed.text(), context)?;
    if is_profiled {
        execution = execution.profiled();
        let mut row = vec![Value::Null; shape.width];
        let _ = execution.query(&plan, &mut row, &mut |_| Ok(ControlFlow::Continue(())))?;
    }
    let lines = Outline::of(&plan, &execution, (resolver.into_slot_names(), shape.width))?;
    Ok(report(&lines, execution.profile.as_ref()))
}
