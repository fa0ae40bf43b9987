//! The texts of `golden`: those of `errors` with their reports, those of `columns` with the kinds
//! of their columns. `HEXGRAPH_UPDATE=1` writes the files anew.

use crate::{Result, analyse, parse};
use std::fs;

/// The columns of a text, or its error.
fn outcome(text: &str) -> Result<String> {
    let analysed = analyse(&parse(text)?)?;
    let columns = analysed.columns().iter();
    Ok(columns.map(|column| format!("{}: {:?}\n", column.name, column.kind)).collect())
}

/// A file with the outcome of each of its texts; lines with `#` are passed on.
fn rendered(golden: &str) -> String {
    let mut result = String::new();
    for block in golden.split("\n\n").filter(|it| !it.trim().is_empty()) {
        let block = block.trim_start_matches('\n');
        if block.starts_with('#') {
            result.push_str(&format!("{}\n\n", block.trim_end()));
            continue;
        }
        let text: Vec<&str> = block.lines().map_while(|line| line.strip_prefix("> ")).collect();
        let text = text.join("\n");
        let shown = outcome(&text).unwrap_or_else(|error| error.report(&text));
        result.push_str(&format!("> {}\n{shown}\n", text.replace('\n', "\n> ")));
    }
    result
}

fn check(name: &str) -> String {
    let path = format!("{}/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    let golden = fs::read_to_string(&path).unwrap();
    let actual = rendered(&golden);
    if std::env::var_os("HEXGRAPH_UPDATE").is_some() {
        fs::write(&path, &actual).unwrap();
    }
    assert_eq!(actual, golden, "{path}");
    actual
}

/// How many blocks of a file have a text, and how many a report of an error.
fn counts(actual: &str) -> (usize, usize) {
    let texts = actual.split("\n\n").filter(|block| block.starts_with("> ")).count();
    (texts, actual.matches("\n  line ").count())
}

#[test]
fn errors_are_reported_as_written() {
    let (texts, errors) = counts(&check("errors"));
    assert_eq!(texts, errors);
}

#[test]
fn columns_have_the_kinds_that_are_written() {
    let (texts, errors) = counts(&check("columns"));
    assert!(0 < texts && errors == 0);
}
