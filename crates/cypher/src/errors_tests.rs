//! The errors of `golden/errors`: each text with its report. `HEXGRAPH_UPDATE=1` writes the file anew.

use crate::{analyse, parse};
use std::fs;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/errors");

/// The report of each text of the file; lines with `#` are passed on.
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
        let report = match parse(&text).and_then(|it| analyse(&it)) {
            Ok(_) => "no error\n".to_owned(),
            Err(error) => error.report(&text),
        };
        result.push_str(&format!("> {}\n{report}\n", text.replace('\n', "\n> ")));
    }
    result
}

#[test]
fn errors_are_reported_as_written() {
    let golden = fs::read_to_string(PATH).unwrap();
    let actual = rendered(&golden);
    if std::env::var_os("HEXGRAPH_UPDATE").is_some() {
        fs::write(PATH, &actual).unwrap();
    }
    assert!(!actual.contains("no error"), "a text is not refused:\n{actual}");
    assert_eq!(actual, golden);
}
