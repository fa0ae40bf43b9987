//! Explanations: the steps that a query was executed in, with their counts and times.

use crate::db::operation::Latency;
use hexgraph_base::types::Position;
use hexgraph_store::exec::Step;
use std::fmt;
use std::time::Duration;

/// A step without a name is shown by a piece of the query text of at most this many characters.
const PIECE_MAX: usize = 48;

/// The steps of a query in the order in which they were executed. `Display` prints them as a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The steps, each before those that are part of it.
    pub steps: Vec<ExplainedStep>,
    /// The times of the whole query.
    pub latency: Latency,
}

/// One step of an [`Explanation`].
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainedStep {
    /// The nesting depth: the number of steps that this one is part of.
    pub depth: usize,
    /// The kind of the step: block, root, filter, order, page, field, level, group, cascade or variables.
    pub action: &'static str,
    /// The name that the step is about, or the piece of the query text that asked for it.
    pub detail: String,
    /// The method that was chosen, for steps that have several; else empty.
    pub way: &'static str,
    /// The number of rows that an index promised before the step; `None` without an index.
    pub estimate: Option<u64>,
    /// The number of nodes, edges or values that the step produced.
    pub rows: u64,
    /// The time of the step, including the steps that are part of it.
    pub time: Duration,
}

impl Explanation {
    /// Combines the steps of a trace with the pieces of `text` that they come from.
    pub fn new(text: &str, steps: Vec<Step>, latency: Latency) -> Explanation {
        let explained = |step: Step| {
            let detail = match step.at {
                Some(at) if step.name.is_empty() => piece(text, at),
                _ => step.name,
            };
            let Step { depth, action, way, estimate, rows, time, .. } = step;
            ExplainedStep { depth, action, detail, way, estimate, rows, time }
        };
        Explanation { steps: steps.into_iter().map(explained).collect(), latency }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<56} {:>10} {:>10} {:>10}", "step", "expected", "rows", "ms")?;
        for step in &self.steps {
            let indent = "  ".repeat(step.depth);
            let what = format!("{indent}{} {}", step.action, step.detail);
            let what = if step.way.is_empty() { what } else { format!("{what} ({})", step.way) };
            let estimate = step.estimate.map_or_else(|| "-".to_owned(), |rows| rows.to_string());
            let time = step.time.as_secs_f64() * 1e3;
            writeln!(f, "{:<56} {estimate:>10} {:>10} {time:>10.3}", what.trim_end(), step.rows)?;
        }
        let parsing = self.latency.parsing.as_secs_f64() * 1e3;
        let processing = self.latency.processing.as_secs_f64() * 1e3;
        write!(f, "parsing {parsing:.3} ms, processing {processing:.3} ms")
    }
}

/// Returns the call that begins at a position of a text, up to its closing parenthesis.
fn piece(text: &str, at: Position) -> String {
    let line = text.split('\n').nth(at.line as usize - 1).unwrap_or_default();
    let rest = line.get(at.column as usize..).unwrap_or_default();
    let mut depth = 0;
    let mut end = rest.len();
    for (place, letter) in rest.char_indices() {
        match letter {
            '(' => depth += 1,
            // Depth 0 is the parenthesis around the piece, as in a filter: it belongs to the text before.
            ')' if depth <= 1 => {
                end = place + usize::from(depth == 1);
                break;
            }
            ')' => depth -= 1,
            '{' if depth == 0 => {
                end = place;
                break;
            }
            _ => {}
        }
    }
    let call = rest[..end].trim_end();
    match call.char_indices().nth(PIECE_MAX) {
        Some((cut, _)) => format!("{}…", &call[..cut]),
        None => call.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_with_their_call() {
        let text =
            "{ q(func: eq(name, \"a\"), first: 2)\n  @filter(ge(count(friend), 1) AND has(x)) }";
        let at = |line, column| piece(text, Position { line, column });
        assert_eq!(at(1, 10), "eq(name, \"a\")");
        assert_eq!(at(2, 10), "ge(count(friend), 1)");
        assert_eq!(at(2, 35), "has(x)");
        assert_eq!(at(9, 0), "");
        let long = format!("eq(name, {:?})", "é".repeat(100));
        assert_eq!(piece(&long, Position { line: 1, column: 0 }).chars().count(), PIECE_MAX + 1);
    }
}
