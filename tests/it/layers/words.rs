//! Counts the words of a private dialect, for which databases have terms of their own, in sources
//! and documents. `tests/lint/words.txt` has a ceiling for each word in each area. Ceilings only
//! shrink: a count above its ceiling is a fault. `HEXGRAPH_UPDATE=1` lowers the ceilings to the
//! counts.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The areas, each with its folders or files and the folders that belong to another area.
const AREAS: &[(&str, &[&str], &[&str])] = &[
    ("base", &["crates/base/src"], &[]),
    ("dql", &["crates/dql/src"], &[]),
    ("graphql", &["crates/graphql/src"], &[]),
    ("store", &["crates/store/src"], &["crates/store/src/exec"]),
    ("exec", &["crates/store/src/exec"], &[]),
    ("src", &["src"], &[]),
    ("server", &["crates/server/src"], &[]),
    ("python", &["crates/python/src"], &[]),
    ("py", &["python/hexgraph"], &[]),
    (
        "docs",
        &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "STYLE.md", "docs"],
        &["docs/internals"],
    ),
    ("internals", &["docs/internals"], &[]),
    ("cypher", &["crates/cypher/src"], &[]),
    ("scalar", &["crates/scalar/src"], &[]),
];

/// The endings of the files that are read.
const ENDINGS: &[&str] = &["rs", "py", "pyi", "md"];
/// Names of the standard library, and an operator of Cypher, that contain one of the words. They
/// are not counted.
const STD_NAMES: &[&str] = &[
    "ends_with",
    "EndsWith",
    "ENDS WITH",
    ".take_while(",
    ".take(",
    "mem::take",
    "Option::take",
    ".try_fold(",
    ".fold(",
];
/// How far a count may lie below its ceiling without a remark.
const SLACK: usize = 20;

/// How often each word stands in a text, and each pair of neighbours, joined by `_`.
type Counts = HashMap<String, usize>;

#[test]
fn words_stay_below_their_ceilings() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let list = root.join("tests/lint/words.txt");
    let text = fs::read_to_string(&list).unwrap();
    let areas: Vec<Counts> = AREAS.iter().map(|(_, paths, not)| area(root, paths, not)).collect();
    let (lowered, faults, slack) = compare(&text, &areas);
    if std::env::var_os("HEXGRAPH_UPDATE").is_some() {
        fs::write(&list, &lowered).unwrap();
    } else if 0 < slack {
        eprintln!("{slack} counts are far below their ceilings: run again with HEXGRAPH_UPDATE=1");
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// The list with its ceilings lowered to the counts, the counts above a ceiling, and how many are
/// far below one. A row without ceilings gets the counts.
fn compare(list: &str, areas: &[Counts]) -> (String, Vec<String>, usize) {
    let (mut lowered, mut faults, mut slack) = (String::new(), Vec::new(), 0);
    for line in list.lines() {
        let mut columns = line.split_whitespace();
        let words = columns.next().unwrap_or_default();
        if words.is_empty() || words.starts_with('#') {
            lowered += &format!("{line}\n");
            continue;
        }
        let ceilings: Vec<usize> = columns.map(|number| number.parse().unwrap()).collect();
        assert!(ceilings.is_empty() || ceilings.len() == areas.len(), "columns of `{line}`");
        write!(lowered, "{words:<36}").unwrap();
        for (index, counts) in areas.iter().enumerate() {
            let count: usize = words.split('|').filter_map(|word| counts.get(word)).sum();
            let ceiling = ceilings.get(index).copied().unwrap_or(count);
            if ceiling < count {
                let area = AREAS[index].0;
                faults.push(format!("{area}: {count} times `{words}`, most {ceiling}"));
            }
            slack += usize::from(count + SLACK < ceiling);
            write!(lowered, " {:>5}", ceiling.min(count)).unwrap();
        }
        lowered += "\n";
    }
    (lowered, faults, slack)
}

#[test]
fn ceilings_only_shrink() {
    let mut counts = Counts::new();
    count("let readAhead = far_ends; // The ENDS of which `end`", &mut counts);
    assert_eq!((counts["ends"], counts["end"], counts["ahead"]), (2, 1, 1));
    assert_eq!(counts["of_which"], 1);
    count("a.take(1).ends_with(b) && mem::take(&mut c).take_while(d)", &mut counts);
    assert_eq!((counts.get("take"), counts["ends"]), (None, 2), "names of std");
    let areas = [counts];
    let (lowered, faults, slack) = compare("# Words\nend|ends 40\nof_which 1\nahead\n", &areas);
    assert_eq!(lowered.split_whitespace().collect::<Vec<_>>().join(" "), {
        "# Words end|ends 3 of_which 1 ahead 1"
    });
    assert_eq!((faults.len(), slack), (0, 1));
    let (lowered, faults, _) = compare("end|ends 2\n", &areas);
    assert_eq!(faults, ["base: 3 times `end|ends`, most 2"]);
    assert!(lowered.ends_with(" 2\n"), "a ceiling never rises");
}

/// The counts of all files of an area.
fn area(root: &Path, paths: &[&str], not: &[&str]) -> Counts {
    let not: Vec<PathBuf> = not.iter().map(|path| root.join(path)).collect();
    let mut open: Vec<PathBuf> = paths.iter().map(|path| root.join(path)).collect();
    let mut counts = Counts::new();
    while let Some(path) = open.pop() {
        if not.contains(&path) {
            continue;
        }
        if path.is_dir() {
            open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|it| ENDINGS.iter().any(|ending| it == *ending)) {
            count(&fs::read_to_string(path).unwrap(), &mut counts);
        }
    }
    counts
}

/// Adds the words of a text in lower case, apart from names of the standard library. A word ends
/// before a character that is no letter, and where a capital follows a small letter.
fn count(text: &str, counts: &mut Counts) {
    let text = STD_NAMES.iter().fold(text.to_owned(), |text, name| text.replace(name, " "));
    let mut last = String::new();
    for run in text.split(|c: char| !c.is_alphabetic()).filter(|run| !run.is_empty()) {
        let mut start = 0;
        let mut small = false;
        let ends = run.char_indices().map(|(at, c)| (at, c.is_uppercase()));
        for (at, is_capital) in ends.chain([(run.len(), true)]) {
            if is_capital && small || at == run.len() {
                let word = run[start..at].to_lowercase();
                *counts.entry(format!("{last}_{word}")).or_default() += 1;
                *counts.entry(word.clone()).or_default() += 1;
                (last, start) = (word, at);
            }
            small = !is_capital;
        }
    }
}
