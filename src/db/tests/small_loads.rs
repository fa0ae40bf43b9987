//! Loads that are small compared with the graph are committed like mutations: with the same result,
//! also after recovery.

use super::concurrent::exported;
use crate::db::{
    Database, LoadOptions, LoadReport, OpenOptions, RequestContext, Source, Thresholds, TxnOptions,
};
use fastrand::Rng;
use hexgraph_base::types::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

const SCHEMA: &str = "name: string @index(exact, term) @lang .\nage: int @index(int) .\nnick: [string] @index(exact) .\n\
    knows: [uid] @reverse @count .\nboss: uid @reverse .\nkey: string @index(hash) @upsert @unique .\nsecret: password .\n";

/// Graphs in which every load is small, or none.
fn options(is_small: bool) -> OpenOptions {
    let usual = Thresholds::default();
    let small_rows = if is_small { 0 } else { usize::MAX };
    let thresholds = Thresholds { small_rows, small_ratio: 0, ..usual };
    OpenOptions { thresholds, ..OpenOptions::default() }
}

fn load(db: &Database, lines: &str) -> Result<LoadReport> {
    let source = Source::Bytes(lines.to_owned().into());
    db.load_with(source, None, LoadOptions::default(), &RequestContext::new())
}

/// A few statements of all kinds, some of them twice, of nodes that are there, new ones, and one of
/// a great uid.
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

fn reported(report: &LoadReport) -> ([u64; 7], &[String]) {
    let LoadReport { triples, nodes, new_nodes, merged, repeated, replaced, overridden, .. } =
        report;
    let counts = [triples, nodes, new_nodes, merged, repeated, replaced, overridden].map(|it| *it);
    (counts, &report.warnings)
}

/// A value or edge with its facets, as an export has them.
type Facts = BTreeMap<String, String>;

/// The statements of lines or of an export: subject, predicate with its language and, where a node
/// has several, the object, as keys.
fn facts(lines: &str) -> Vec<(String, String)> {
    let line = |line: &str| {
        let (start, facets) = match line.rfind(" (") {
            Some(at) => (&line[..at], line[at..].trim_end_matches(" .").trim().to_owned()),
            None => (line.trim_end_matches(" ."), String::new()),
        };
        (start.trim().to_owned(), facets)
    };
    lines.lines().map(line).collect()
}

/// What lines replace of facts that are there, by plain maps: stored values, values of the lines,
/// facets.
fn plainly_superseded(before: &Facts, lines: &str) -> [u64; 3] {
    let key = |fact: &str| {
        let mut words = fact.splitn(3, ' ');
        let (node, predicate) = (words.next().unwrap(), words.next().unwrap());
        let object = words.next().unwrap();
        let lang = if object.ends_with("@de") { "@de" } else { "" };
        let is_list = ["<nick>", "<knows>"].contains(&predicate);
        format!("{node} {predicate}{lang} {}", if is_list { object } else { "" })
    };
    let object = |fact: &str| fact.splitn(3, ' ').nth(2).unwrap().to_owned();
    // All values of each key, in order, and whether it was stored.
    let mut all: BTreeMap<String, Vec<(bool, String, String)>> = BTreeMap::new();
    let stored = before.iter().map(|(fact, facets)| (true, fact.clone(), facets.clone()));
    let own = facts(lines).into_iter().map(|(fact, facets)| (false, fact, facets));
    for (is_stored, fact, facets) in stored.chain(own) {
        all.entry(key(&fact)).or_default().push((is_stored, object(&fact), facets));
    }
    let parts = |facets: &str| -> BTreeSet<String> {
        let facets = facets.trim_matches(['(', ')']);
        facets.split(',').map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect()
    };
    let mut counts = [0; 3];
    for came in all.values() {
        let (last, gone) = came.split_last().unwrap();
        for (is_stored, object, facets) in gone {
            match *object == last.1 {
                true => counts[2] += u64::from(!parts(facets).is_subset(&parts(&last.2))),
                false => counts[usize::from(!is_stored)] += 1,
            }
        }
    }
    counts
}

#[test]
fn what_is_superseded_is_what_plain_maps_say() {
    for seed in 0..40 {
        let mut rng = Rng::with_seed(seed);
        for is_small in [true, false] {
            let db = Database::in_memory_with(options(is_small));
            db.alter(SCHEMA).unwrap();
            for round in 0..6 {
                // Without labels, whose nodes an export calls otherwise, and without keys, which
                // the lines have once.
                let text = lines(&mut rng);
                let text = text.lines().filter(|it| !it.contains("_:") && !it.contains("<key>"));
                let text = text.collect::<Vec<_>>().join("\n");
                let before = plain_facts(&db);
                let report = load(&db, &text).unwrap();
                let counts = [report.replaced, report.overridden, report.merged];
                let plain = plainly_superseded(&before, &text);
                assert_eq!(counts, plain, "seed {seed}, round {round}, {before:?}\n{text}");
                // Changes since the columns were built count as what is stored.
                db.mutate("<0x1> <boss> <0x2> (since=1) .\n<0x3> <age> \"1\" .", "").unwrap();
            }
        }
    }
}

/// What a database has, as the lines of these tests write it.
fn plain_facts(db: &Database) -> Facts {
    let mut text = exported(db);
    // The schema.
    text.pop();
    let text = text.join("\n").replace("\"^^<xs:int>", "\"").replace("\"^^<xs:string>", "\"");
    facts(&text).into_iter().collect()
}

#[test]
fn small_loads_equal_column_loads() {
    for seed in 0..40 {
        let mut rng = Rng::with_seed(seed);
        let [small, full] = [true, false].map(|is_small| {
            let db = Database::in_memory_with(options(is_small));
            db.alter(SCHEMA).unwrap();
            db
        });
        for round in 0..8 {
            let lines = lines(&mut rng);
            let reports = [&small, &full].map(|db| load(db, &lines).unwrap());
            assert_eq!(
                reported(&reports[0]),
                reported(&reports[1]),
                "seed {seed}, round {round}\n{lines}"
            );
            assert_eq!(exported(&small), exported(&full), "seed {seed}, round {round}\n{lines}");
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
    let open = |is_small| Database::open(folder.path(), options(is_small)).unwrap();
    let db = open(true);
    db.alter(SCHEMA).unwrap();
    let before = snapshots(folder.path());
    let mut rng = Rng::with_seed(7);
    for _ in 0..20 {
        load(&db, &lines(&mut rng)).unwrap();
    }
    assert_eq!(snapshots(folder.path()), before, "a record is enough");
    let expected = exported(&db);
    drop(db);
    let db = open(true);
    assert_eq!(exported(&db), expected);
    // The next new node is none of those that were there.
    let report = load(&db, "_:new <name> \"new\" .").unwrap();
    assert_eq!((report.new_nodes, report.nodes), (1, 1));
    assert_eq!(exported(&db).len(), expected.len() + 1);
}

#[test]
fn new_predicates_and_errors_are_reported_as_before() {
    for is_small in [true, false] {
        let db = Database::in_memory_with(options(is_small));
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
        txn.mutate_text_with(&text, &RequestContext::new()).unwrap();
        txn
    });
    load(&db, "<1> <age> \"4\" .").unwrap();
    assert!(same.commit().is_err());
    assert!(other.commit().is_ok());
}

#[test]
fn no_fraction_is_lost_by_a_load() {
    for is_small in [true, false] {
        let db = Database::in_memory_with(options(is_small));
        db.alter(SCHEMA).unwrap();
        for line in ["{\"uid\": \"0x2\", \"age\": 2.75}", "<2> <age> \"2.75\"^^<xs:float> ."] {
            let fault = load(&db, line).unwrap_err().to_string();
            let want =
                "2.75 has a fraction, which an int cannot hold (alter the predicate to float";
            assert!(fault.contains(want) && fault.contains("age"), "{fault}");
        }
        // Integral floats are ints.
        load(&db, "{\"uid\": \"0x2\", \"age\": 2.0}").unwrap();
        // A mutation does as Dgraph does.
        db.mutate("<0x3> <age> \"2.75\"^^<xs:float> .", "").unwrap();
        let ages: Vec<String> =
            exported(&db).into_iter().filter(|it| it.contains("<age>")).collect();
        assert_eq!(ages.len(), 2);
        assert!(ages.iter().all(|it| it.contains("\"2\"")), "{ages:?}");
    }
}

/// Of a predicate that is new all numbers are floats where one is, in whatever chunk of the file it
/// comes.
#[test]
fn numbers_of_a_new_predicate_widen() {
    let many: String =
        (1..40_000).map(|node| format!("{{\"uid\": \"{node}\", \"size\": {node}}}\n")).collect();
    let last = "{\"uid\": \"50000\", \"size\": 2.75}\n";
    for memory in [0, 16 << 20] {
        for lines in [format!("{last}{many}"), format!("{many}{last}")] {
            let db = Database::in_memory();
            let source = Source::Bytes(lines.into_bytes().into());
            let options = LoadOptions { memory, ..LoadOptions::default() };
            db.load_with(source, None, options, &RequestContext::new()).unwrap();
            let lines = exported(&db);
            assert!(lines.last().unwrap().contains("size: float"), "{:?}", lines.last());
            let has = |text: &str| lines.iter().any(|line| line.contains(text));
            assert!(has("<0xc350> <size> \"2.75\"") && has("<0x1> <size> \"1\""));
            assert_eq!(lines.len(), 40_001);
        }
    }
    // In one object a list of both.
    let db = Database::in_memory();
    load(&db, "{\"uid\": \"1\", \"sizes\": [1, 2.5]}").unwrap();
    assert!(exported(&db).last().unwrap().contains("sizes: [float]"));
}
