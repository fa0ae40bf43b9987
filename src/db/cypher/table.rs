//! Answers as columns of one type each.

use super::json::json_of;
use super::run::CypherAnswer;
use crate::db::guard::guarded;
use hexgraph_base::answer::{Cells, Column, Table, Texts, Values};
use hexgraph_base::types::Result;
use hexgraph_scalar::{Kind, Value};
use hexgraph_store::exec::RequestContext;

/// The largest int up to which every int is a float.
const EXACT_MAX: u64 = 1 << 53;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnType {
    /// All values are null.
    Null,
    Bool,
    Int,
    Float,
    /// Texts, and temporal values as texts of ISO 8601.
    Text,
    /// Lists, maps and points as text of JSON.
    Nested,
    /// Values of several types as text of JSON.
    Mixed,
}

/// # Tables
impl CypherAnswer {
    /// The answer as a table, and a warning for each column with values of several types. Ints and
    /// floats together are floats where no digit is lost. Temporal values are texts of ISO 8601;
    /// lists, maps and points are text of JSON, and so is each value of a column of several types.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let answer = Database::in_memory().cypher("UNWIND [1, 2.5] AS n RETURN n, [n] AS list")?;
    /// let (table, warnings) = answer.table(&RequestContext::new())?;
    /// assert_eq!((table.rows, table.columns.len()), (2, 2));
    /// assert!(warnings.is_empty());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Limit` when there is no memory for it, or `context` stops it.
    pub fn table(&self, context: &RequestContext) -> Result<(Table, Vec<String>)> {
        guarded(|| {
            let (mut columns, mut warnings) = (Vec::new(), Vec::new());
            for (index, name) in self.columns.iter().enumerate() {
                context.check()?;
                let values = || self.rows.iter().map(|row| &row[index]);
                let column_type = column_type(values());
                if column_type == ColumnType::Mixed {
                    warnings.push(format!(
                        "the column `{name}` has values of several types: each is text of JSON"
                    ));
                }
                let cells = self.cells(values(), column_type, context)?;
                columns.push(Column { name: name.to_string(), cells });
            }
            Ok((Table { columns, rows: self.rows.len() }, warnings))
        })
    }

    fn cells<'v>(
        &self,
        values: impl Iterator<Item = &'v Value> + Clone,
        column_type: ColumnType,
        context: &RequestContext,
    ) -> Result<Cells> {
        let fixed = |width| context.reserve((self.rows.len() * width) as u64);
        Ok(match column_type {
            ColumnType::Null => Cells::Null(self.rows.len()),
            ColumnType::Bool => {
                fixed(2)?;
                Cells::Bool(fixed_cells(values, |it| matches!(it, Value::Bool(true))))
            }
            ColumnType::Int => {
                fixed(9)?;
                Cells::Int(fixed_cells(values, |it| if let Value::Int(n) = it { *n } else { 0 }))
            }
            ColumnType::Float => {
                fixed(9)?;
                Cells::Float(fixed_cells(values, |it| match it {
                    Value::Float(number) => *number,
                    Value::Int(number) => *number as f64,
                    _ => 0.0,
                }))
            }
            ColumnType::Text | ColumnType::Nested | ColumnType::Mixed => {
                let is_json = column_type != ColumnType::Text;
                let mut texts = Texts::default();
                for value in values {
                    texts.valid.push(!value.is_null());
                    let before = texts.bytes.len();
                    match value {
                        Value::Null => {}
                        value if is_json => {
                            texts.bytes.extend(json_of(value, context, self.bytes_max)?.bytes());
                        }
                        value => texts.bytes.extend(value.to_string().bytes()),
                    }
                    // The buffer doubles, and is copied then.
                    context.reserve(3 * (texts.bytes.len() - before) as u64 + 5)?;
                    texts.offsets.push(texts.bytes.len());
                }
                Cells::Text(texts)
            }
        })
    }
}

fn fixed_cells<'v, T>(
    values: impl Iterator<Item = &'v Value> + Clone,
    cell: impl Fn(&Value) -> T,
) -> Values<T> {
    let valid = values.clone().map(|value| !value.is_null()).collect();
    Values { values: values.map(cell).collect(), valid }
}

fn column_type<'v>(values: impl Iterator<Item = &'v Value> + Clone) -> ColumnType {
    let is_exact = |value: &Value| match value {
        Value::Int(number) => number.unsigned_abs() <= EXACT_MAX,
        _ => true,
    };
    let mut result = ColumnType::Null;
    for value in values.clone().filter(|value| !value.is_null()) {
        let next = match value.kind() {
            Kind::Bool => ColumnType::Bool,
            Kind::Int => ColumnType::Int,
            Kind::Float => ColumnType::Float,
            Kind::List | Kind::Map | Kind::Point => ColumnType::Nested,
            _ => ColumnType::Text,
        };
        result = match (result, next) {
            (ColumnType::Null, next) => next,
            (ColumnType::Int, ColumnType::Float) | (ColumnType::Float, ColumnType::Int) => {
                ColumnType::Float
            }
            (before, next) if before == next => before,
            _ => return ColumnType::Mixed,
        };
    }
    match result {
        ColumnType::Float if !values.clone().all(is_exact) => ColumnType::Mixed,
        result => result,
    }
}
