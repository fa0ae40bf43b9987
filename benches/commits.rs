//! What does a commit cost? Commits of one N-Quad by how durable they are and how many write at
//! once, N-Quads in batches of a thousand, and how fast a log is read again.

use hexgraph::db::{Database, OpenOptions, SyncPolicy};
use hexgraph_benches::shared;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::time::{Duration, Instant};

const NODES: u64 = 100_000;
const SCHEMA: &str = "score: int .\nrank: int .\nnext: [uid] .";

fn open(path: &Path, sync: SyncPolicy) -> Database {
    let options = OpenOptions { sync, ..OpenOptions::default() };
    let db = Database::open(path, options).expect("the directory is writable");
    db.alter(SCHEMA).expect("a valid schema");
    db
}

/// Commits of one N-Quad a second, from so many threads.
fn singles(db: &Database, threads: u64, span: Duration) -> f64 {
    let started = Instant::now();
    let count: u64 = std::thread::scope(|scope| {
        let work = |thread: u64| {
            move || {
                let mut number = thread;
                while started.elapsed() < span {
                    let uid = number.wrapping_mul(2_654_435_761) % NODES + 1;
                    let set = format!("<{uid:#x}> <score> \"{number}\" .");
                    db.mutate(&set, "").expect("a valid mutation");
                    number += threads;
                }
                number / threads
            }
        };
        let writers: Vec<_> = (0..threads).map(|thread| scope.spawn(work(thread))).collect();
        writers.into_iter().map(|writer| writer.join().expect("no writer panics")).sum()
    });
    count as f64 / started.elapsed().as_secs_f64()
}

/// A thousand N-Quads: two numbers and an edge of each node.
fn batch(number: u64) -> String {
    let mut set = String::new();
    for line in 0..333 {
        let uid = (number * 333 + line) % NODES + 1;
        let target = uid.wrapping_mul(2_654_435_761) % NODES + 1;
        writeln!(set, "<{uid:#x}> <score> \"{number}\" .\n<{uid:#x}> <rank> \"{line}\" .\n<{uid:#x}> <next> <{target:#x}> .")
            .expect("a string has room");
    }
    writeln!(set, "<0x1> <score> \"{number}\" .").expect("a string has room");
    set
}

fn batches(db: &Database, span: Duration) -> f64 {
    let started = Instant::now();
    let mut number = 0;
    while started.elapsed() < span {
        db.mutate(&batch(number), "").expect("a valid mutation");
        number += 1;
    }
    (number * 1000) as f64 / started.elapsed().as_secs_f64()
}

/// The film data in batches of a thousand N-Quads, with all its indexes.
fn film(root: &Path, path: &Path) -> f64 {
    let db =
        Database::open(path, OpenOptions { sync: SyncPolicy::Never, ..OpenOptions::default() })
            .expect("the directory is writable");
    let schema = std::fs::read_to_string(root.join("data/film.schema")).expect("it is there");
    db.alter(&schema).expect("a valid schema");
    let packed = File::open(root.join("data/film.rdf.gz")).expect("it is there");
    let lines = BufReader::new(flate2::read::MultiGzDecoder::new(packed)).lines();
    let lines: Vec<String> = lines.map(|line| line.expect("text")).take(300_000).collect();
    let batches: Vec<String> = lines.chunks(1000).map(|chunk| chunk.join("\n")).collect();
    let started = Instant::now();
    for batch in &batches {
        db.mutate(batch, "").expect("valid lines");
    }
    lines.len() as f64 / started.elapsed().as_secs_f64()
}

/// Syncs a second of a file that grows by a page each: what one writer can't exceed.
fn raw_syncs(path: &Path, span: Duration) -> f64 {
    let mut file = File::create(path.join("raw")).expect("the directory is writable");
    let started = Instant::now();
    let mut count = 0;
    while started.elapsed() < span {
        file.write_all(&[1; 64]).expect("the disk has room");
        file.sync_data().expect("the disk works");
        count += 1;
    }
    f64::from(count) / started.elapsed().as_secs_f64()
}

/// N-Quads a second that are read from a log of `commits`, which `write` makes.
fn recovery(path: &Path, write: impl Fn(&Database) -> f64) -> f64 {
    let options =
        OpenOptions { sync: SyncPolicy::Never, checkpoint: 1 << 40, ..OpenOptions::default() };
    let db = Database::open(path, options).expect("the directory is writable");
    db.alter(SCHEMA).expect("a valid schema");
    let quads = write(&db);
    // Not closed: what a crash leaves is copied.
    let copy = path.join("crashed");
    std::fs::create_dir(&copy).expect("the disk has room");
    for entry in std::fs::read_dir(path).expect("it is there") {
        let entry = entry.expect("it is there");
        if entry.file_type().expect("it has one").is_file() {
            std::fs::copy(entry.path(), copy.join(entry.file_name())).expect("the disk has room");
        }
    }
    let started = Instant::now();
    let again = Database::open(&copy, OpenOptions { read_only: true, ..OpenOptions::default() });
    let took = started.elapsed().as_secs_f64();
    let result = again.expect("the log is whole").recovery().expect("it is open");
    println!(
        "recovery of {} commits, {} MB of log: {:.2} s",
        result.commits,
        result.bytes / 1_000_000,
        took
    );
    quads / took
}

fn main() {
    let span = Duration::from_secs(3);
    let root = tempfile::tempdir_in(std::env::var("HEXGRAPH_BENCH_DIR").unwrap_or(".".to_owned()))
        .expect("a directory on a disk");
    let folder = |name: &str| {
        let path = root.path().join(name);
        std::fs::create_dir_all(&path).expect("the disk has room");
        path
    };
    let report = |what: &str, rate: f64| println!("{what:48} {rate:>10.0} /s");
    // `cargo bench --bench commits -- recovery` runs the last part only, and so on.
    let expected: Vec<String> =
        std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let runs = |part: &str| expected.is_empty() || expected.iter().any(|it| it == part);
    if runs("singles") {
        report("syncs of a growing file", raw_syncs(&folder("raw"), span));
        for threads in [1, 8] {
            let db = open(&folder(&format!("always-{threads}")), SyncPolicy::Always);
            report(&format!("commits, always, {threads} writers"), singles(&db, threads, span));
        }
        let every = SyncPolicy::Every(Duration::from_millis(100));
        report("commits, every=100ms", singles(&open(&folder("every"), every), 1, span));
        report("commits, never", singles(&open(&folder("never"), SyncPolicy::Never), 1, span));
        let memory = Database::in_memory();
        memory.alter(SCHEMA).expect("a valid schema");
        report("commits, in memory", singles(&memory, 1, span));
    }
    if runs("batches") {
        let db = open(&folder("batch"), SyncPolicy::Never);
        report("N-Quads in batches of 1,000, never", batches(&db, span));
        if let Some(shared) = shared() {
            let rate = film(&shared, &folder("film"));
            report("N-Quads in batches of 1,000, film schema", rate);
        }
    }
    if runs("recovery") {
        let one = |db: &Database| singles(db, 1, span) * span.as_secs_f64();
        report("N-Quads recovered, commits of one", recovery(&folder("recover-1"), one));
        let many = |db: &Database| {
            (0..1000).for_each(|number| drop(db.mutate(&batch(number), "").expect("valid")));
            1e6
        };
        report("N-Quads recovered, commits of 1,000", recovery(&folder("recover-1000"), many));
    }
}
