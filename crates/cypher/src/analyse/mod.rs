//! The semantic analysis: resolves variables and functions, and checks the rules that the grammar
//! can't.

mod kinds;
mod functions;
mod scope;
mod walk;
mod analysed;
mod analyser;
mod grouping;
mod bindings;
mod operators;
mod resolve;
mod projection;
mod procedures;
mod clauses;

use crate::error::Result;
use crate::parse::Parsed;
use analyser::Analyser;

pub use analysed::{Analysed, Column};
pub use kinds::Kind;

/// Analyses a query. O(text), and for items with aggregates O(text × nesting).
///
/// ```
/// let parsed = hexgraph_cypher::parse("MATCH (n:Person)-->(m) RETURN n, count(m) AS c").unwrap();
/// let analysed = hexgraph_cypher::analyse(&parsed).unwrap();
/// let columns: Vec<&str> = analysed.columns().iter().map(|it| &*it.name).collect();
/// assert_eq!(columns, ["n", "c"]);
/// ```
///
/// # Errors
/// A name or a function does not exist, a value is of a kind that is not possible where it is, or
/// clauses do not fit. The first fault is reported.
pub fn analyse(parsed: &Parsed) -> Result<Analysed> {
    let mut analyser = Analyser::new(parsed.text());
    match analyser.statement(&parsed.statement().query) {
        Err(fault) => Err(fault.locate(parsed.text())),
        Ok(columns) => {
            let parameters = analyser.parameters.iter().map(|&name| name.into()).collect();
            Ok(Analysed { columns, parameters })
        }
    }
}
