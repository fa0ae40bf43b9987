//! Each public function of `hexgraph` has an example, which `cargo test --doc` runs.

use super::{is_word, rust_files, test_modules};
use std::fs;
use std::path::Path;

/// A public function, and what its documentation lacks.
type Gap = (String, &'static str);

/// The public functions of a source text whose documentation has no example that runs and asserts
/// something.
fn gaps(text: &str) -> Vec<Gap> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let lines: Vec<&str> = code.lines().map(str::trim_start).collect();
    let is_about_next = |line: &str| line.starts_with("///") || line.starts_with("#[");
    let mut gaps = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let Some(name) = public_function(line) else { continue };
        let start = lines[..number].iter().rposition(|line| !is_about_next(line));
        let docs = &lines[start.map_or(0, |at| at + 1)..number];
        if docs.contains(&"#[doc(hidden)]") {
            continue;
        }
        match example(docs) {
            None => gaps.push((name.to_owned(), "has no example that runs")),
            Some(code) if !code.contains("assert") => {
                gaps.push((name.to_owned(), "has an example that asserts nothing"));
            }
            Some(_) => {}
        }
    }
    gaps
}

/// The name of the function that a line declares for users of the crate.
fn public_function(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ")?;
    let rest = rest.trim_start_matches("const ").trim_start_matches("async ");
    rest.strip_prefix("fn ")?.split(|c| !is_word(c)).next()
}

/// The text of the blocks of code in a documentation that are compiled and run.
fn example(docs: &[&str]) -> Option<String> {
    let lines: Vec<&str> = docs.iter().filter_map(|line| line.strip_prefix("///")).collect();
    let text = lines.join("\n");
    let runs = |block: &&str| {
        let tags = block.lines().next().unwrap_or_default().split(',').map(str::trim);
        tags.into_iter().all(|tag| ["", "rust", "should_panic"].contains(&tag))
    };
    let blocks: Vec<&str> = text.split("```").skip(1).step_by(2).filter(runs).collect();
    (!blocks.is_empty()).then(|| blocks.concat())
}

#[test]
fn public_functions_have_examples_that_run() {
    let src = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../src"));
    let tests = test_modules(src);
    let mut faults = Vec::new();
    for path in rust_files(src) {
        let module = path.with_extension("");
        if tests.iter().any(|test| module.starts_with(test)) {
            continue;
        }
        let name = path.strip_prefix(src).unwrap().display();
        for (function, fault) in gaps(&fs::read_to_string(&path).unwrap()) {
            faults.push(format!("{name}: `{function}` {fault}"));
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn examples_that_do_not_run_do_not_count() {
    let text = "\
        /// ```\n/// assert!(one());\n/// ```\n#[must_use]\npub fn one() {}\n\
        /// ```no_run\n/// assert!(two());\n/// ```\npub fn two() {}\n\
        impl A {\n    /// ```rust,should_panic\n    /// three();\n    /// ```\n    pub const fn three() {}\n\n\
        #[doc(hidden)]\n    pub fn four() {}\n    pub(crate) fn five() {}\n    pub fn six() {}\n}\n";
    let result = gaps(text);
    let names: Vec<&str> = result.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["two", "three", "six"]);
}

/// The types with so many methods that their page needs an order.
const GROUPED: &[&str] = &["Database", "QueryAnswer", "Txn"];

/// The blocks of methods for users of the crate that have no heading, by the numbers of their
/// lines.
fn without_heading(text: &str) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let is_grouped = |line: &str| {
        let name = line.strip_prefix("impl ").and_then(|rest| rest.strip_suffix(" {"));
        name.is_some_and(|name| GROUPED.contains(&name))
    };
    let has_methods = |start: usize| {
        let inside = lines[start..].iter().take_while(|line| **line != "}");
        inside.map(|line| line.trim_start()).any(|line| public_function(line).is_some())
    };
    let has_heading = |start: usize| {
        let docs = lines[..start].iter().rev().take_while(|line| line.starts_with("///"));
        docs.last().is_some_and(|first| first.starts_with("/// # "))
    };
    let starts = (0..lines.len()).filter(|at| is_grouped(lines[*at]));
    starts.filter(|at| has_methods(*at) && !has_heading(*at)).map(|at| at + 1).collect()
}

#[test]
fn methods_are_grouped_under_headings() {
    let src = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../src"));
    let mut faults = Vec::new();
    for path in rust_files(src) {
        for line in without_heading(&fs::read_to_string(&path).unwrap()) {
            faults.push(format!("{}:{line}: `/// # Heading` in front", path.display()));
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
    let text = "/// # A\nimpl Txn {\n    pub fn a() {}\n}\nimpl Txn {\n    fn b() {}\n}\n\nimpl Txn {\n    pub fn c() {}\n}\n";
    assert_eq!(without_heading(text), [9]);
}
