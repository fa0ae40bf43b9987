//! One query in one call for a table of the values of its variables.
//!
//! All are answered from one version. The rows of arguments are partitioned in chunks to the
//! threads of the database's pool; each chunk writes its answers, one after the other, into a table
//! of its own, and the tables are joined in the order of the chunks. A row reserves memory of its
//! own and releases it; the table is charged to the request as it grows.

use super::each::in_row;
use super::plans::Variables;
use super::prepared::PreparedQuery;
use crate::db::database::Database;
use crate::db::guard::guarded;
use hexgraph_base::answer::{Cells, Column, Form, Key, Shape, Table, TableSink, Values};
use hexgraph_base::types::{Error, Result};
use hexgraph_store::exec::RequestContext;
use rayon::prelude::*;

/// From this many rows of arguments on they are shared out to threads.
const PARALLEL_MIN: usize = 8;

/// The number of chunks for each thread, so a chunk of slow rows does not hold up others.
const CHUNKS_PER_THREAD: usize = 8;

/// The most rows of arguments in a chunk.
const CHUNK_MAX: usize = 256;

/// A query that is answered many times.
#[derive(Debug, Clone, Default)]
pub struct ManyRequest {
    /// The text in DQL.
    pub text: String,
    /// The values of its variables, for each time.
    pub rows: Vec<Variables>,
    /// The block whose objects are the rows of the answer; `None` for the only one.
    pub block: Option<String>,
    /// The name of the column that has the number of the row of arguments, from 0.
    pub number: String,
}

/// The answers of a chunk: the table without the column of numbers, the numbers, and the keys of
/// the block.
struct Chunk {
    table: Table,
    numbers: Vec<i64>,
    keys: Vec<Key>,
    shapes: Vec<Shape>,
}

/// # One query for many rows of arguments, as a table
impl Database {
    /// Answers one query for each row of arguments, as one table.
    ///
    /// ```
    /// use hexgraph::db::{Database, ParameterValue, ManyRequest, Variables};
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .\n<2> <name> \"Bob\" .", "")?;
    /// let row = |uid: &str| Variables::from([("$a".to_owned(), ParameterValue::from(uid))]);
    /// let request = ManyRequest {
    ///     text: "query q($a: string) { q(func: uid($a)) { name } }".to_owned(),
    ///     rows: vec![row("0x2"), row("0x1"), row("0x2")],
    ///     number: "row".to_owned(),
    ///     ..ManyRequest::default()
    /// };
    /// let table = db.query_many(&request)?;
    /// assert_eq!((table.rows, table.columns.len()), (3, 2));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::query_many_with`].
    pub fn query_many(&self, request: &ManyRequest) -> Result<Table> {
        self.query_many_with(request, &RequestContext::new())
    }

    /// Answers one query for each row of arguments, from the newest version and on all threads of
    /// the database. Returns the objects of a block as one table, in the order of the arguments and
    /// then of each answer; its first column has the number of the row of arguments. A row of
    /// arguments whose answer is empty has no row.
    ///
    /// ```
    /// use hexgraph::db::{Database, ManyRequest, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// let request = ManyRequest {
    ///     text: "query q($a: string) { q(func: uid($a)) { name } }".to_owned(),
    ///     number: "row".to_owned(),
    ///     ..ManyRequest::default()
    /// };
    /// let table = db.query_many_with(&request, &RequestContext::new())?;
    /// assert_eq!(table.rows, 0, "there was no row of arguments");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Database::query`], with the number of the row of arguments that it met first in
    /// its chunk, and of [`super::answer::QueryAnswer::table`]; `Query` when the block has the key
    /// `number` already.
    pub fn query_many_with(
        &self,
        request: &ManyRequest,
        context: &RequestContext,
    ) -> Result<Table> {
        guarded(|| {
            self.prepare(context);
            let prepared = self.prepare_query_with(&request.text, context)?;
            let rows = &request.rows;
            let chunks: Vec<Chunk> = match rows.len() < PARALLEL_MIN || self.threads() < 2 {
                true => vec![self.chunk(&prepared, request, 0..rows.len(), context, true)?],
                false => {
                    context.check_spreading()?;
                    let pool = self.pool()?;
                    let count = CHUNKS_PER_THREAD * pool.current_num_threads();
                    let len = rows.len().div_ceil(count).clamp(1, CHUNK_MAX);
                    let starts: Vec<usize> = (0..rows.len()).step_by(len).collect();
                    let answer = |start: usize| {
                        let end = rows.len().min(start + len);
                        self.chunk(&prepared, request, start..end, context, false)
                    };
                    let all = || starts.into_par_iter().map(answer).collect::<Result<_>>();
                    context.install(&pool, all)?
                }
            };
            joined(chunks, &request.number)
        })
    }

    /// Answers the query for some rows of arguments. `polls` says whether to call the request's own
    /// poll, which another thread does for a request on several threads.
    fn chunk(
        &self,
        prepared: &PreparedQuery,
        request: &ManyRequest,
        positions: std::ops::Range<usize>,
        context: &RequestContext,
        polls: bool,
    ) -> Result<Chunk> {
        let mut sink = TableSink::new(request.block.clone());
        let (mut numbers, mut keys, mut charged) = (Vec::new(), Vec::new(), 0);
        let mut shapes = Vec::new();
        let first = positions.start;
        for position in positions {
            if polls {
                context.check()?;
            }
            let part = context.part();
            part.check()?;
            let answer = prepared.query_row(&request.rows[position], &part);
            let answer = answer.map_err(|error| in_row(error, position))?;
            if position == first {
                keys = answer.block_keys(request.block.as_deref())?;
                shapes = flat(answer.block_shapes(request.block.as_deref())?, "");
            } else {
                sink.begin_answer()?;
            }
            let before = sink.rows();
            sink = answer.write(sink, &part).map_err(|error| in_row(error, position))?;
            numbers.resize(numbers.len() + sink.rows() - before, position as i64);
            let bytes = sink.byte_len() + size_of::<i64>() * numbers.len();
            context.charge(bytes.saturating_sub(charged))?;
            charged = bytes.max(charged);
        }
        let table =
            if numbers.is_empty() && keys.is_empty() { Table::default() } else { sink.finish()? };
        Ok(Chunk { table, numbers, keys, shapes })
    }
}

/// The columns of flat rows: those of an object for itself, named as [`TableSink`] does. Lists of
/// objects are no columns of such rows.
fn flat(shapes: Vec<Shape>, above: &str) -> Vec<Shape> {
    let columns = shapes.into_iter().flat_map(|Shape { key, form }| {
        let key = format!("{above}{key}");
        match form {
            Form::Object(inner) => flat(inner, &format!("{key}.")),
            Form::List(item) if matches!(*item, Form::Object(_)) => Vec::new(),
            form => vec![Shape { key, form }],
        }
    });
    columns.collect()
}

/// One table of all chunks, with the numbers as its first column.
fn joined(chunks: Vec<Chunk>, number: &str) -> Result<Table> {
    let mut all = Table::default();
    let (mut numbers, mut order, mut shape) = (Vec::new(), Vec::new(), Vec::new());
    for Chunk { table, numbers: more, keys, shapes } in chunks {
        all.append(table)?;
        numbers.extend(more);
        (order, shape) = (keys, shapes);
    }
    all.shape(&shape);
    all.put_in_order(&order);
    if all.columns.iter().any(|column| column.name == number) {
        let message =
            format!("the block has a key {number:?}, and so has the column of the numbers");
        return Err(Error::query(message).with_hint("give the numbers, or the key, another name"));
    }
    let cells = Cells::Int(Values { values: numbers, valid: Vec::new() });
    all.columns.insert(0, Column { name: number.to_owned(), cells });
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::super::plans::QueryRequest;
    use super::*;
    use hexgraph_dql::ParameterValue;

    const TEXT: &str =
        "query q($n: string, $most: int = 9) { q(func: eq(n, $n), first: $most) { uid n m } }";

    fn database() -> Database {
        let db = Database::in_memory();
        db.alter("n: string @index(exact) .\nm: float .").unwrap();
        let lines: Vec<String> = (1..200)
            .map(|uid| match uid % 7 {
                0 => format!("<{uid}> <n> \"{}\" .", uid % 20),
                _ => format!("<{uid}> <n> \"{}\" .\n<{uid}> <m> \"{uid}.5\" .", uid % 20),
            })
            .collect();
        db.mutate(&lines.join("\n"), "").unwrap();
        db
    }

    fn request(names: impl Iterator<Item = usize>) -> ManyRequest {
        let row = |name: usize| {
            Variables::from([("$n".to_owned(), ParameterValue::from(name.to_string()))])
        };
        let rows = names.map(row).collect();
        ManyRequest { text: TEXT.to_owned(), rows, block: None, number: "row".to_owned() }
    }

    /// The cells of a row as they are shown.
    fn shown(table: &Table) -> Vec<String> {
        table.columns.iter().map(|column| format!("{}: {:?}", column.name, column.cells)).collect()
    }

    #[test]
    fn many_answers_are_those_of_one_after_the_other() {
        let db = database();
        for count in [0, 1, 3, 8, 300, 3000] {
            // Some names nobody has.
            let request = request((0..count).map(|row| row * 13 % 23));
            let together = db.query_many_with(&request, &RequestContext::new()).unwrap();
            let mut apart = Table::default();
            let mut numbers = Vec::new();
            for (position, variables) in request.rows.iter().enumerate() {
                let one = QueryRequest {
                    text: TEXT.to_owned(),
                    variables: variables.clone(),
                    debug: false,
                };
                let answer = db.query_with(&one, &RequestContext::new()).unwrap();
                let table = answer.table_with(None, &RequestContext::new()).unwrap();
                numbers.resize(numbers.len() + table.rows, position as i64);
                apart.append(table).unwrap();
            }
            assert_eq!(together.rows, numbers.len());
            let Cells::Int(result) = &together.columns[0].cells else { panic!("no numbers") };
            assert_eq!((together.columns[0].name.as_str(), &result.values), ("row", &numbers));
            assert_eq!(shown(&together)[1..], shown(&apart));
        }
    }

    #[test]
    fn what_is_wrong_names_its_row() {
        let db = database();
        let mut request = request(0..20);
        request.rows[13].insert("$most".to_owned(), ParameterValue::from("many".to_owned()));
        let message = db.query_many_with(&request, &RequestContext::new()).unwrap_err().to_string();
        assert!(message.contains("row 13") || message.contains("$most"), "{message}");
        request.rows.truncate(13);
        request.number = "n".to_owned();
        let message = db.query_many_with(&request, &RequestContext::new()).unwrap_err().to_string();
        assert!(message.contains("has a key \"n\""), "{message}");
        let context = RequestContext::new();
        context.canceller().cancel();
        assert!(matches!(db.query_many_with(&request, &context), Err(Error::Limit { .. })));
    }

    #[test]
    fn memory_is_that_of_the_table() {
        let db = database();
        let limits = hexgraph_store::exec::Limits { memory: 200 << 10, ..Default::default() };
        let context = RequestContext::new();
        context.set_limits(limits);
        // Each row takes far less than that, and all of them together far more.
        let mut request = request((0..5_000).map(|_| 100));
        assert_eq!(db.query_many_with(&request, &context).unwrap().rows, 0);
        request.rows = self::request((0..5_000).map(|row| row % 20)).rows;
        let context = RequestContext::new();
        context.set_limits(limits);
        let error = db.query_many_with(&request, &context).unwrap_err();
        assert!(
            matches!(&error, Error::Limit { message } if message.contains("memory")),
            "{error}"
        );
    }
}
