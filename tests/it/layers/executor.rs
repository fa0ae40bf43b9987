//! Counts what makes the executor hard to change: readers of columns, dispatch by catch-all arms,
//! constants that tune, rooms that use each other. `tests/lint/executor.txt` has a ceiling for
//! each; ceilings only shrink. `HEXGRAPH_UPDATE=1` lowers them to the counts.

use super::{firsts, is_word, numbered_code, rust_files, test_modules};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The types and functions that a more general one replaces. Each is counted by its uses in `exec`
/// and `graph`.
const REPLACED: &[(&str, &[&str])] = &[
    ("of CostModel", &["Costs"]),
    ("of RequestContext", &["Control"]),
    ("of Batch", &["NumberSlice", "Cells", "KeyColumn", "Ranks", "Codes", "passing_bits"]),
    ("of Predicate", &["PreparedFilter", "Tester", "count_passing", "filter_tester", "ColumnTest"]),
    ("of Op", &["AccessPath", "RootsPlan", "BlockPath", "took"]),
    (
        "of ColumnCursor",
        &[
            "ColumnVar",
            "ColumnNumbers",
            "NodeNumbers",
            "PatchedFloats",
            "RankedRows",
            "NumberColumn",
        ],
    ),
];

/// Words by which a file shows that it knows how a version is stored.
const STORAGE_WORDS: &[&str] = &["base", "delta", "Delta", "patch", "patched", "is_patched"];

/// A file without its tests.
struct Source {
    /// Its path below `crates/store/src`.
    name: String,
    code: String,
}

fn sources(folder: &str) -> Vec<Source> {
    let src = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/store/src"));
    let tests = test_modules(src);
    let is_test = |path: &Path| {
        tests.iter().any(|it| path.starts_with(it) || path == it.with_extension("rs"))
    };
    let paths = rust_files(&src.join(folder)).into_iter().filter(|path| !is_test(path));
    let source = |path: std::path::PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap().to_owned();
        Source { name: path.strip_prefix(src).unwrap().to_str().unwrap().to_owned(), code }
    };
    paths.map(source).collect()
}

impl Source {
    fn lines(&self) -> impl Iterator<Item = &str> {
        numbered_code(&self.code).map(|(_, line)| line)
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.lines().flat_map(|line| line.split(|c| !is_word(c)))
    }

    fn has_word(&self, words: &[&str]) -> bool {
        self.words().any(|word| words.contains(&word))
    }

    /// The first part of its path below `exec`.
    fn room(&self) -> &str {
        self.name.split('/').nth(1).unwrap().trim_end_matches(".rs")
    }
}

/// What a line defines, where it begins with one of some keywords, after its visibility.
fn defines(line: &str, keywords: &[&str]) -> bool {
    let mut text = line.trim_start();
    if let Some(rest) = text.strip_prefix("pub") {
        text = rest.trim_start();
        if text.starts_with('(') {
            text = text.split_once(')').map_or("", |(_, rest)| rest).trim_start();
        }
    }
    keywords.iter().any(|keyword| {
        text.strip_prefix(keyword).is_some_and(|rest| rest.starts_with(char::is_whitespace))
    })
}

/// A constant whose value begins with a number.
fn is_number(line: &str) -> bool {
    let value = line.split_once(" = ").map_or("", |(_, value)| value);
    defines(line, &["const"]) && value.starts_with(|c: char| c.is_ascii_digit() || c == '-')
}

/// The pairs of rooms of `exec` of which each uses the other.
fn mutual_rooms(exec: &[Source]) -> Vec<(String, String)> {
    let mut used: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for source in exec.iter().filter(|source| source.name != "exec/mod.rs") {
        let code: Vec<&str> = source.lines().collect();
        let code = code.join("\n");
        let rooms = used.entry(source.room()).or_default();
        for (at, prefix) in code.match_indices("crate::exec::") {
            rooms.extend(firsts(&code[at + prefix.len()..]));
        }
    }
    let uses = |one: &str, other: &str| used.get(one).is_some_and(|it| it.contains(other));
    let pairs = used.keys().flat_map(|one| used.keys().map(move |other| (*one, *other)));
    pairs
        .filter(|(one, other)| one < other && uses(one, other) && uses(other, one))
        .map(|(one, other)| (one.to_owned(), other.to_owned()))
        .collect()
}

/// What is counted, by name.
fn counts() -> Vec<(String, usize)> {
    let (exec, graph) = (sources("exec"), sources("graph"));
    let both = || exec.iter().chain(&graph);
    let lines = |keep: &dyn Fn(&str) -> bool| {
        exec.iter().flat_map(Source::lines).filter(|line| keep(line)).count()
    };
    let is_context = |line: &str| line.starts_with("impl") && line.contains(" Context");
    let files = |keep: &dyn Fn(&Source) -> bool| exec.iter().filter(|it| keep(it)).count();
    let types = |line: &&str| defines(line, &["struct", "enum", "trait"]);
    let nanos = exec.iter().filter(|source| source.name != "exec/cost.rs");
    let nanos = nanos.flat_map(Source::words).filter(|word| word.ends_with("_NANOS")).count();
    let mut counts = vec![
        (
            "types of exec and graph".to_owned(),
            both().flat_map(Source::lines).filter(types).count(),
        ),
        ("files of exec with impl Context".to_owned(), files(&|it| it.lines().any(is_context))),
        (
            "files of exec that name base or delta".to_owned(),
            files(&|it| it.has_word(STORAGE_WORDS)),
        ),
        ("uses of _NANOS outside of cost.rs".to_owned(), nanos),
        ("numeric constants of exec".to_owned(), lines(&is_number)),
        ("catch-all arms of exec".to_owned(), lines(&|line| line.trim_start().starts_with("_ =>"))),
        ("pairs of rooms that use each other".to_owned(), mutual_rooms(&exec).len()),
    ];
    for (instead, names) in REPLACED {
        let uses = both().flat_map(Source::words).filter(|word| names.contains(word)).count();
        counts.push((format!("uses {instead}: {}", names.join(" ")), uses));
    }
    counts
}

#[test]
fn the_executor_stays_below_its_ceilings() {
    let list = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/lint/executor.txt"));
    let text = fs::read_to_string(list).unwrap();
    let ceilings: BTreeMap<&str, usize> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once(' ').unwrap())
        .map(|(number, name)| (name.trim(), number.parse().unwrap()))
        .collect();
    let counts = counts();
    let is_update = std::env::var_os("HEXGRAPH_UPDATE").is_some();
    if is_update {
        let mut lowered: String = text
            .lines()
            .filter(|line| line.starts_with('#'))
            .map(|line| format!("{line}\n"))
            .collect();
        for (name, count) in &counts {
            let ceiling = ceilings.get(name.as_str()).map_or(*count, |it| (*it).min(*count));
            writeln!(lowered, "{ceiling:<6} {name}").unwrap();
        }
        fs::write(list, lowered).unwrap();
    }
    let exceeds = |(name, count): &&(String, usize)| {
        ceilings.get(name.as_str()).map_or(!is_update, |ceiling| ceiling < count)
    };
    let faults: Vec<_> = counts.iter().filter(exceeds).collect();
    assert!(faults.is_empty(), "above the ceilings of tests/lint/executor.txt: {faults:?}");
}

#[test]
fn definitions_and_constants_are_recognised() {
    assert!(defines("pub(in crate::exec) struct Totals {", &["struct"]));
    assert!(defines("    enum Node {", &["struct", "enum"]));
    assert!(!defines("structure.push(1);", &["struct"]));
    assert!(is_number("const NODES_MIN: usize = 256;"));
    assert!(is_number("pub const SPREAD: f64 = -0.5;"));
    assert!(!is_number("const NAME: &str = \"x\";"));
}
