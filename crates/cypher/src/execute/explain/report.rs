//! The lines of a plan as rows.

use super::line::Line;
use crate::execute::profile::{Measured, Profile};
use crate::execute::table::Table;
use hexgraph_scalar::Value;

/// The rows of a plan: operator, detail and expected rows, and with a profile the actual rows and
/// the milliseconds.
pub(in crate::execute) fn report(lines: &[Line], profile: Option<&Profile>) -> Table {
    let mut columns = vec!["operator", "detail", "expected"];
    if profile.is_some() {
        columns.extend(["actual", "ms"]);
    }
    let row = |line: &Line| {
        let operator = format!("{}{}", "  ".repeat(line.depth), line.operator);
        let expected = line.estimate.map_or(Value::Null, |it| Value::Int(it.round() as i64));
        let mut row = vec![Value::from(operator), Value::from(&*line.detail), expected];
        if let Some(profile) = profile {
            let measured = line.measured.map(|it| profile.measured(it));
            row.extend(match measured {
                Some(Measured { rows, time }) => {
                    [Value::Int(rows as i64), Value::Float(time.as_micros() as f64 / 1e3)]
                }
                None => [Value::Null, Value::Null],
            });
        }
        row
    };
    let columns = columns.into_iter().map(Into::into).collect();
    Table { columns, rows: lines.iter().map(row).collect() }
}
