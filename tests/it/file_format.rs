//! The files are read by `docs/file-format.md` alone, as a stranger would read them: by offsets,
//! with the standard library and nothing of hexgraph. Quoted words in comments are the sections of
//! that page.

mod bytes;
mod catalog;
mod log;
mod snapshot;

use bytes::{crc, number, usize_at};
use catalog::Walk;
use hexgraph::db::Database;
use log::{records, statements};
use snapshot::Snapshot;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// "CURRENT": the lines by their words, of a file that has its checksum.
fn current(directory: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(directory.join("CURRENT")).unwrap();
    let (lines, sum) = text.rsplit_once("sum ").unwrap();
    assert_eq!(format!("{:08x}\n", crc(lines.as_bytes())), sum);
    assert!(text.starts_with("hexgraph 2\n"));
    let pair =
        |line: &str| line.split_once(' ').map(|(word, rest)| (word.to_owned(), rest.to_owned()));
    lines.lines().map(|line| pair(line).unwrap()).collect()
}

/// The bytes of the snapshot that `CURRENT` names, and the identity that it says.
fn snapshot_of(directory: &Path) -> (Vec<u8>, u128) {
    let current = current(directory);
    let identity = u128::from_str_radix(&current["identity"], 16).unwrap();
    (fs::read(directory.join(&current["snapshot"])).unwrap(), identity)
}

fn saved(schema: &str, data: &str) -> (Vec<u8>, u128) {
    let home = tempfile::tempdir().unwrap();
    let db = Database::in_memory();
    db.alter(schema).unwrap();
    db.mutate(data, "").unwrap();
    let path = home.path().join("db");
    db.save(&path).unwrap();
    snapshot_of(&path)
}

fn fixture(format: &str) -> PathBuf {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    root.join("tests/fixtures").join(format).join("db")
}

const SCHEMA: &str = r#"
    name: string @index(exact) @lang .
    age: int @index(int) .
    big: int .
    height: float .
    alive: bool .
    born: datetime .
    seen: datetime .
    day: datetime .
    tags: [string] @index(exact) .
    anything: default .
    vector: float32vector @index(hnsw(metric: "cosine")) .
    friend: [uid] @reverse .
    boss: uid .
"#;

const DATA: &str = r#"
    <0x1> <name> "Ada" (since=1815, sure=true) .
    <0x1> <name> "Áda"@cs .
    <0x2> <name> "Bob" .
    <0x10000000001> <name> "Ada" .
    <0x1> <age> "36" .
    <0x2> <age> "-7" .
    <0x2> <big> "5000000000" .
    <0x1> <height> "1.65" .
    <0x1> <alive> "true" .
    <0x2> <alive> "false" .
    <0x1> <born> "2001-02-03T04:05:06.25+01:00" .
    <0x1> <seen> "2020-01-02T03:04:05Z" .
    <0x2> <day> "2020-01-02" .
    <0x2> <tags> "y" .
    <0x2> <tags> "x" (weight=1.5) .
    <0x3> <tags> "y" .
    <0x1> <anything> "5"^^<xs:int> .
    <0x2> <anything> "text" .
    <0x1> <vector> "[3.0, 4.0]" .
    <0x1> <friend> <0x3> .
    <0x1> <friend> <0x2> (close=true, score=0.5) .
    <0x10000000001> <friend> <0x1> (close=false) .
    <0x1> <boss> <0x3> .
"#;

/// All that [`DATA`] comes to, by the names of predicates, with the entries of the indexes.
const LINES: &[&str] = &[
    "0x1 age 36",
    "0x2 age -7",
    "index age -7: 0x2",
    "index age 36: 0x1",
    "0x1 alive true",
    "0x2 alive false",
    "0x1 anything 5",
    "0x2 anything 0:\"text\"",
    "0x2 big 5000000000",
    "0x1 born 981169506s250000000n+60",
    "0x1 boss 0x3",
    "0x2 day 1577923200s0n+0",
    "0x1 friend 0x2 close=true score=0.5",
    "0x1 friend 0x3",
    "0x10000000001 friend 0x1 close=false",
    "0x1 ~friend 0x10000000001",
    "0x2 ~friend 0x1",
    "0x3 ~friend 0x1",
    "0x1 height 1.65",
    "0x1 name \"Ada\" since=1815 sure=true",
    "0x2 name \"Bob\"",
    "0x10000000001 name \"Ada\"",
    "index name \"Ada\": 0x1 0x10000000001",
    "index name \"Bob\": 0x2",
    "0x1 name@cs \"Áda\"",
    "index name@cs \"Áda\": 0x1",
    "0x1 seen 1577934245s0n+0",
    "0x2 tags \"x\" weight=1.5",
    "0x2 tags \"y\"",
    "0x3 tags \"y\"",
    "index tags \"x\": 0x2",
    "index tags \"y\": 0x2 0x3",
    "0x1 vector [3.0, 4.0]",
    "near vector 2 [0.2] 0 0",
];

#[test]
fn the_checksum_is_that_of_the_page() {
    assert_eq!(crc(b"123456789"), 0xcbf4_3926);
}

#[test]
fn a_snapshot_has_what_was_written() {
    let (bytes, identity) = saved(SCHEMA, DATA);
    let file = Snapshot::open(bytes).unwrap();
    assert_eq!(file.identity, identity);
    let walk = Walk::of(&file).unwrap();
    assert_eq!(walk.lines, LINES);
    assert_eq!(walk.kinds, (0..=9).collect());
}

/// Several blocks, each kind of container, and texts that come often.
#[test]
fn a_larger_snapshot_has_what_was_written() {
    let (mut data, mut lines) = (String::new(), BTreeSet::new());
    let mut add = |node: u32, name: &str, value: String| {
        writeln!(data, "<{node:#x}> <{name}> \"{value}\" .").unwrap();
        let shown = if name == "few" { value } else { format!("{value:?}") };
        lines.insert(format!("{node:#x} {name} {shown}"));
    };
    for at in 0..6000 {
        add(1 + 3 * at, "word", format!("word {}", at % 7));
        add(1 + 3 * at, "text", format!("a text of its own, number {at}"));
    }
    (0..1000).for_each(|at| add(1 + 70 * at, "few", at.to_string()));
    (0..9000).filter(|at| at % 100 < 50).for_each(|at| add(1 + at, "runs", "x".to_owned()));
    (0..500).for_each(|at| add(0x2_fff0 + at, "range", "y".to_owned()));
    let schema = "word: string .\ntext: string .\nfew: int .\nruns: string .\nrange: string .";
    let (bytes, _) = saved(schema, &data);
    let file = Snapshot::open(bytes).unwrap();
    assert!(2 < file.data_len / 65536);
    let walk = Walk::of(&file).unwrap();
    assert_eq!(walk.lines.len(), lines.len());
    assert_eq!(walk.lines.iter().cloned().collect::<BTreeSet<String>>(), lines);
    assert!(walk.kinds.contains(&10), "{:?}", walk.kinds);
    assert_eq!(walk.containers, (0..=3).collect());
}

#[test]
fn a_changed_byte_is_told() {
    let (bytes, _) = saved(SCHEMA, DATA);
    let file = Snapshot::open(bytes.clone()).unwrap();
    for at in (0..bytes.len()).step_by(61) {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        let refused = Snapshot::open(changed).and_then(|file| file.check_all()).unwrap_err();
        if (128..file.sums).contains(&at) {
            assert_eq!(refused, "the checksum of block 0", "byte {at}");
        }
    }
}

#[test]
fn the_logs_have_what_was_written() {
    for (format, count) in [("format-1", [5, 16]), ("format-2", [5, 16])] {
        for (log, count) in ["log-2.hxl", "log-3.hxl"].iter().zip(count) {
            let bytes = fs::read(fixture(format).join(log)).unwrap();
            let commits: Vec<u64> =
                records(&bytes).unwrap().into_iter().map(|(commit, _)| commit).collect();
            assert_eq!(commits.len(), count, "{format}/{log}");
            assert!(commits.is_sorted_by(|one, next| one < next));
        }
    }
    let directory = fixture("format-2");
    let current = current(&directory);
    let (log, durable) = current["log"].split_once(' ').unwrap();
    let last = fs::read(directory.join(log)).unwrap();
    assert_eq!(durable, last.len().to_string());
    let first = fs::read(directory.join("log-2.hxl")).unwrap();
    // "Header of a log": the number of the log before, and its length.
    assert_eq!((usize_at(&last, 24, 8), usize_at(&last, 48, 8)), (2, first.len()));
    let mut lines = Vec::new();
    for (_, payload) in records(&first).unwrap().into_iter().chain(records(&last).unwrap()) {
        lines.extend(statements(payload).unwrap());
    }
    let expected = [
        "0x4 title@ \"a thing\" lang=\"none\" n=3",
        "0x4 day@ 1709292599s999999999n-690",
        "0x4 ratings@ -2.25 at=1704067200s0n+0 by=\"ada\"",
        "0x4 v2@ [0.5, 0.25]",
        "0x1 friend 0x4 close=true",
        "- 0x4 title *",
        "- 0x1 name @en",
        "- 0x1 scores @ 5000000000",
        "- 0x1 friend 0x3",
        "- 0x5 likes *",
    ];
    for expected in expected {
        assert!(lines.iter().any(|line| line == expected), "{expected}\n{}", lines.join("\n"));
    }
}

/// "Format 1": the version, and the identity that it has not.
#[test]
fn the_older_format_is_told_by_its_header() {
    let bytes = fs::read(fixture("format-1").join("snapshot-2.hxs")).unwrap();
    assert_eq!((usize_at(&bytes, 8, 4), number(&bytes[52..68])), (1, 0));
    assert_eq!(usize_at(&bytes, 124, 4) as u32, crc(&bytes[..124]));
    assert_eq!(fs::read_to_string(fixture("format-1").join("CURRENT")).unwrap(), "snapshot-2.hxs");
}

/// "Worked example": each of its lines is in the file that it is said to be in.
#[test]
fn the_example_of_the_page_is_true() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let page = fs::read_to_string(root.join("docs/file-format.md")).unwrap();
    let mut count = 0;
    for block in page.split("```hex ").skip(1) {
        let (name, lines) = block.split_once("```").unwrap().0.split_once('\n').unwrap();
        let file = fs::read(fixture("format-2").join(name)).unwrap();
        for line in lines.lines() {
            let (at, rest) = line.split_once("  ").unwrap();
            let at = usize::from_str_radix(at, 16).unwrap();
            let hex = rest.split("  ").next().unwrap().split(' ');
            let bytes: Vec<u8> = hex.map(|it| u8::from_str_radix(it, 16).unwrap()).collect();
            assert_eq!(bytes, file[at..at + bytes.len()], "{line}");
            count += 1;
        }
    }
    assert!(70 < count, "{count}");
    let (bytes, identity) = snapshot_of(&fixture("format-2"));
    let file = Snapshot::open(bytes).unwrap();
    assert_eq!(file.identity, identity);
    let lines = Walk::of(&file).unwrap().lines;
    for expected in ["0x2 name \"Bob\"", "0x1 friend 0x2 close=true score=0.5", "0x1 friend 0x3"] {
        assert!(lines.iter().any(|line| line == expected), "{expected}\n{}", lines.join("\n"));
    }
}
