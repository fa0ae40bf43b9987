//! One query in Cypher for a table of the values of its parameters.

use super::plain::AnswerRows;
use super::run::{CypherAnswer, evaluation_context};
use super::snapshot_graph::SnapshotGraph;
use crate::db::database::Database;
use crate::db::guard::guarded;
use crate::db::query::each::in_row;
use hexgraph_base::types::{Error, Result};
use hexgraph_cypher::ast::Mode;
use hexgraph_cypher::{AnswerColumn, analyse, execute_each};
use hexgraph_scalar::{Map, Value};
use hexgraph_store::exec::RequestContext;
use jiff::Timestamp;
use std::time::Instant;

/// # Cypher
impl Database {
    /// Answers one query in openCypher for each row of parameters, from the newest version, as one
    /// answer: its rows in the order of the parameters. Its first column, which is named `number`,
    /// has the number of the row of parameters, from 0. The text is parsed once, and the edges that
    /// the query sorts are sorted once.
    ///
    /// ```
    /// use hexgraph::cypher::{Map, Value};
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// let row = |most| Map::new(vec![("most".into(), Value::Int(most))]);
    /// let (rows, text) = ([row(2)?, row(0)?, row(1)?], "UNWIND range(1, $most) AS n RETURN n");
    /// let answer = db.cypher_many(text, &rows, "row", &RequestContext::new())?;
    /// let cells = answer.rows().map(|row| format!("{} {}", row[0], row[1]));
    /// assert_eq!(cells.collect::<Vec<String>>(), ["0 1", "0 2", "2 1"]);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Database::cypher_with`], with the number of the row of parameters; `Query` for
    /// `EXPLAIN` and `PROFILE`, and when the query has a column `number` already.
    pub fn cypher_many(
        &self,
        text: &str,
        rows: &[Map],
        number: &str,
        context: &RequestContext,
    ) -> Result<CypherAnswer> {
        guarded(|| {
            let started = Instant::now();
            self.prepare(context);
            self.check_length(text)?;
            let parsed = self.own.plans.cypher(text, context)?;
            if parsed.statement().mode != Mode::Run {
                let fault = Error::query("EXPLAIN and PROFILE are for one row of parameters");
                return Err(fault.with_hint("run the query without a table"));
            }
            let own = analyse(&parsed)?;
            if own.columns().iter().any(|column| *column.name == *number) {
                let message = format!(
                    "the query has a column {number:?}, and so has the column of the numbers"
                );
                let hint = "give the numbers, or the column, another name";
                return Err(Error::query(message).with_hint(hint));
            }
            let parsing = started.elapsed();
            let version = self.version()?;
            let names = self.own.names.of(&version.schema);
            let graph = SnapshotGraph::new(version, names, context);
            let evaluation = evaluation_context(Timestamp::now(), context.reservation().cloned());
            let mut all = AnswerRows::new(&graph, context);
            for (position, params) in rows.iter().enumerate() {
                context.check()?;
                all.first = Some(Value::Int(position as i64));
                execute_each(&parsed, params, &graph, &evaluation, &mut all)
                    .map_err(|error| in_row(error, position))?;
            }
            let mut columns = vec![number.into()];
            columns.extend(own.columns().iter().map(|column| column.name.clone()));
            let times = (started, parsing);
            let mut values = all.columns;
            values.resize_with(columns.len(), AnswerColumn::default);
            Ok(self.cypher_answer((columns, values), (text, &Default::default), times, graph))
        })
    }
}
