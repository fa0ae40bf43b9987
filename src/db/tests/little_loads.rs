//! Loads that are little beside the graph are committed as mutations are: with the same result, and found again.

use super::beside::exported;
use crate::db::{
    Control, Database, LoadOptions, LoadReport, OpenOptions, Source, Thresholds, TxnOptions,
};
use fastrand::Rng;
use hexgraph_base::types::Result;
use std::fmt::Write;
use std::fs;
use std::path::Path;

const SCHEMA: &str = "name: string @index(exact, term) @lang .\nage: int @index(int) .\nnick: [string] @index(exact) .\n\
    knows: [uid] @reverse @count .\nboss: uid @reverse .\nkey: string @index(hash) @upsert @unique .\nsecret: password .\n";

/// Graphs in which every load is little, or none.
fn options(is_little: bool) -> OpenOptions {
    let usual = Thresholds::default();
    let little_rows = if is_little { 0 } else { usize::MAX };
    let thresholds = Thresholds { little_rows, little_share: 0, ..usual };
    OpenOptions { thresholds, ..OpenOptions::default() }
}

fn load(db: &Database, lines: &str) -> Result<LoadReport> {
    let source = Source::Bytes(lines.to_owned().into());
    db.load(source, None, LoadOptions::default(), &Control::new())
}

/// A few statements of all kinds, some of them twice, of nodes that are there, new ones, and one of a great uid.
fn lines(rng: &mut Rng) -> String {
    let mut lines = String::new();
    for _ in 0..rng.usize(1..12) {
        let mut node = || match rng.usize(0..8) {
            0 => format!("_:b{}", rng.usize(0..3)),
            1 => format!("<{:#x}>", 0x1_0000_0000_u64 + rng.u64(0..3)),
            _ => format!("<{:#x}>", rng.u64(1..9)),
        };
        let (one, other) = (node(), node());
        let number = rng.usize(0..5);
        let facet = if rng.bool() {
            format!("(since={number}, w={}.5)", 9 - number)
        } else {
            String::new()
        };
        let line = match rng.usize(0..7) {
            0 => format!("{one} <name> \"n{number} x\" {facet} ."),
            1 => format!("{one} <name> \"d{number}\"@de {facet} ."),
            2 => format!("{one} <age> \"{number}\" ."),
            3 => format!("{one} <nick> \"k{number}\" ."),
            4 => format!("{one} <boss> {other} {facet} ."),
            5 => format!("{one} <key> \"{}\" .", rng.u32(..)),
            _ => format!("{one} <knows> {other} {facet} ."),
        };
        writeln!(lines, "{line}").unwrap();
    }
    lines
}

fn told(report: &LoadReport) -> [u64; 5] {
    [report.triples, report.nodes, report.new_nodes, report.merged, report.repeated]
}

#[test]
fn as_commits_they_come_to_what_columns_come_to() {
    for seed in 0..40 {
        let mut rng = Rng::with_seed(seed);
        let [little, whole] = [true, false].map(|is_little| {
            let db = Database::in_memory_with(options(is_little));
            db.alter(SCHEMA).unwrap();
            db
        });
        for round in 0..8 {
            let lines = lines(&mut rng);
            let reports = [&little, &whole].map(|db| told(&load(db, &lines).unwrap()));
            assert_eq!(reports[0], reports[1], "seed {seed}, round {round}\n{lines}");
            assert_eq!(exported(&little), exported(&whole), "seed {seed}, round {round}\n{lines}");
        }
    }
}

fn snapshots(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name());
    let mut names: Vec<String> = names.map(|it| it.to_str().unwrap().to_owned()).collect();
    names.retain(|name| name.starts_with("snapshot"));
    names.sort();
    names
}

#[test]
fn in_a_directory_they_are_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let open = |is_little| Database::open(folder.path(), options(is_little)).unwrap();
    let db = open(true);
    db.alter(SCHEMA).unwrap();
    let before = snapshots(folder.path());
    let mut rng = Rng::with_seed(7);
    for _ in 0..20 {
        load(&db, &lines(&mut rng)).unwrap();
    }
    assert_eq!(snapshots(folder.path()), before, "a record is enough");
    let wanted = exported(&db);
    drop(db);
    let db = open(true);
    assert_eq!(exported(&db), wanted);
    // The next new node is none of those that were there.
    let report = load(&db, "_:new <name> \"new\" .").unwrap();
    assert_eq!((report.new_nodes, report.nodes), (1, 1));
    assert_eq!(exported(&db).len(), wanted.len() + 1);
}

#[test]
fn what_is_new_to_the_schema_and_what_is_wrong_is_told_as_before() {
    for is_little in [true, false] {
        let db = Database::in_memory_with(options(is_little));
        db.alter(SCHEMA).unwrap();
        load(&db, "<1> <key> \"a\" .\n<1> <other> \"b\" .").unwrap();
        assert!(db.schema_text().unwrap().contains("other: "));
        let fault = load(&db, "<2> <age> \"old\" .").unwrap_err().to_string();
        assert!(fault.contains("`old` is no int"), "{fault}");
        let fault = load(&db, "<2> <key> \"a\" .").unwrap_err().to_string();
        assert!(fault.contains("@unique") && fault.contains('a'), "{fault}");
        assert_eq!(exported(&db).len(), 3);
    }
}

#[test]
fn a_transaction_that_writes_the_same_conflicts() {
    let db = Database::in_memory_with(options(true));
    db.alter(SCHEMA).unwrap();
    let [same, other] = ["<1>", "<2>"].map(|node| {
        let txn = db.begin(TxnOptions::default()).unwrap();
        let text = format!("{{ set {{ {node} <age> \"3\" . }} }}");
        txn.mutate_text(&text, &Control::new()).unwrap();
        txn
    });
    load(&db, "<1> <age> \"4\" .").unwrap();
    assert!(same.commit().is_err());
    assert!(other.commit().is_ok());
}
