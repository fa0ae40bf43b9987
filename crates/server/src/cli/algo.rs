//! `hexgraph algo`: runs a graph algorithm on a database, and prints the nodes with the greatest
//! numbers.

use super::arguments::AlgoArguments;
use super::interrupt::Interrupt;
use hexgraph::db::{
    ALGORITHMS, AlgorithmNumbers, AlgorithmReport, AlgorithmTable, Database, OpenOptions,
    QueryRequest, nearest_algorithm,
};
use hexgraph_base::types::{Error, Result, Uid};
use std::cmp::Ordering;

/// Runs an algorithm, and returns its table as text: a line of names, then the rows, with tabs
/// between cells.
///
/// # Errors
///
/// Those of opening the database and of the query; `Query` for a `--set` without `=`.
pub(super) fn algo(arguments: &AlgoArguments, interrupt: Interrupt) -> Result<String> {
    let text = dql(arguments)?;
    let options = OpenOptions { read_only: true, ..OpenOptions::default() };
    let database = Database::open(&arguments.path, options)?;
    let control = interrupt.control();
    let request = QueryRequest { text, ..QueryRequest::default() };
    let table = database.query_with(&request, &control)?.into_algorithm(&control)?;
    if table.report.converged == Some(false) {
        let AlgorithmReport { iterations, residual, .. } = table.report;
        eprintln!(
            "warning: {} did not converge: round {iterations} still changed all numbers by {:.1e} together; --set iterations={} makes more",
            table.name,
            residual.unwrap_or_default(),
            10 * iterations
        );
    }
    Ok(lines(table, arguments.top))
}

/// The query of the call.
pub(super) fn dql(arguments: &AlgoArguments) -> Result<String> {
    check_name(&arguments.name)?;
    let mut head = Vec::new();
    let mut before = String::new();
    if let Some(root) = &arguments.nodes {
        before = format!("nodes as var(func: {root}) ");
        head.push("nodes: uid(nodes)".to_owned());
    }
    if let Some(direction) = &arguments.direction {
        head.push(format!("direction: {direction}"));
    }
    for given in &arguments.set {
        let (name, value) = given.split_once('=').ok_or_else(|| {
            Error::query(format!("--set {given}: expected NAME=VALUE, such as damping=0.9"))
        })?;
        head.push(format!("{name}: {value}"));
    }
    let facet = arguments.weight.as_ref().map_or(String::new(), |key| format!(" @facets({key})"));
    let edges: Vec<String> = arguments.on.iter().map(|edges| format!("{edges}{facet}")).collect();
    let (name, head, edges) = (&arguments.name, head.join(", "), edges.join(" "));
    Ok(format!("{{ {before}{name}({head}) {{ {edges} }} }}"))
}

/// Refuses a name that no algorithm has: the query would be one of an ordinary block.
fn check_name(name: &str) -> Result<()> {
    if ALGORITHMS.iter().any(|existing| existing.name == name) {
        return Ok(());
    }
    let hint = match nearest_algorithm(name) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let existing: Vec<&str> = ALGORITHMS.iter().map(|it| it.name).collect();
            format!("there are {}", existing.join(", "))
        }
    };
    Err(Error::query(format!("there is no algorithm `{name}`")).with_hint(hint))
}

/// The rows that have a number, those with the greatest numbers first; pairs and paths stay in
/// their order. Of equal numbers the lesser uid comes first.
pub(super) fn ranked(table: &AlgorithmTable) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..table.rows()).collect();
    let number = |row: usize| match &table.numbers {
        AlgorithmNumbers::Floats(numbers) => Some(numbers[row]).filter(|it| !it.is_nan()),
        AlgorithmNumbers::Ints(numbers) => {
            let is_there = |number: &i64| !AlgorithmNumbers::is_missing(*number);
            Some(numbers[row]).filter(is_there).map(|number| number as f64)
        }
        AlgorithmNumbers::Vectors(..) | AlgorithmNumbers::Nothing => Some(0.0),
    };
    rows.retain(|row| number(*row).is_some());
    if table.to.is_none() && table.path.is_none() {
        let descending = |one: &usize, other: &usize| {
            number(*other).partial_cmp(&number(*one)).unwrap_or(Ordering::Equal)
        };
        rows.sort_by(descending);
    }
    rows
}

/// The first rows of [`ranked`], at most `top`.
fn lines(table: AlgorithmTable, top: usize) -> String {
    let positions = ranked(&table);
    let mut text = String::new();
    let mut line = |cells: Vec<String>| {
        text.push_str(&cells.join("\t"));
        text.push('\n');
    };
    let is_of_nodes = !table.uids.is_empty();
    let names = [
        table.path.as_ref().map(|_| "path".to_owned()),
        is_of_nodes.then(|| "uid".to_owned()),
        table.to.as_ref().map(|_| "to".to_owned()),
        table.xids.as_ref().map(|_| "xid".to_owned()),
        Some(table.name.clone()),
    ];
    line(names.into_iter().flatten().collect());
    for position in positions.into_iter().take(top) {
        let cells = [
            table.path.as_ref().map(|path| path[position].to_string()),
            is_of_nodes.then(|| Uid(table.uids[position]).to_string()),
            table.to.as_ref().map(|to| Uid(to[position]).to_string()),
            table.xids.as_ref().map(|_| table.xid(position).unwrap_or_default().to_owned()),
            match &table.numbers {
                AlgorithmNumbers::Floats(numbers) => Some(numbers[position].to_string()),
                AlgorithmNumbers::Ints(numbers) => Some(numbers[position].to_string()),
                AlgorithmNumbers::Vectors(length, all) => {
                    let vector = all.chunks_exact(*length).nth(position).unwrap_or_default();
                    let numbers: Vec<String> = vector.iter().map(f32::to_string).collect();
                    Some(numbers.join(" "))
                }
                AlgorithmNumbers::Nothing => None,
            },
        ];
        line(cells.into_iter().flatten().collect());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::check_name;

    #[test]
    fn a_name_that_no_algorithm_has_is_reported() {
        assert!(check_name("pagerank").is_ok());
        let reported = |name: &str| check_name(name).unwrap_err().to_string();
        assert_eq!(
            reported("PageRank"),
            "there is no algorithm `PageRank` (did you mean `pagerank`?)"
        );
        assert!(reported("foo").starts_with("there is no algorithm `foo` (there are pagerank, "));
    }
}
