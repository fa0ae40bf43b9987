//! How long does a small write wait beside work on entire predicates? One thread writes one value
//! after the other, with a short pause between two, while another alters the schema, loads,
//! compacts or drops. Prints the waits during each chunk of work.

use hexgraph::db::{Database, Drop, LoadOptions, OpenOptions, RequestContext, Source, SyncPolicy};
use hexgraph_benches::load_lines;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const NODES: u64 = 1_000_000;

/// Between two writes, so that the writer takes little of the processor's time.
const PAUSE: Duration = Duration::from_micros(200);

/// One million people with a text, a number and an edge each.
fn fill(db: &Database, folder: &Path) {
    db.alter("name: string .\nage: int .\nscore: int @index(int) .\nfollows: [uid] .")
        .expect("a valid schema");
    load_lines(db, folder, |out| {
        for uid in 1..=NODES {
            let other = uid.wrapping_mul(2_654_435_761) % NODES + 1;
            writeln!(out, "<{uid:#x}> <name> \"person {} of {}\" .", uid % 50_000, uid % 1000)
                .expect("room");
            writeln!(out, "<{uid:#x}> <age> \"{}\"^^<xs:int> .", uid % 90).expect("room");
            writeln!(out, "<{uid:#x}> <score> \"{uid}\"^^<xs:int> .").expect("room");
            writeln!(out, "<{uid:#x}> <follows> <{other:#x}> .").expect("room");
        }
    });
}

/// New nodes as N-Quads: a text and a number each.
fn more_people() -> Vec<u8> {
    let mut text = String::new();
    for number in 0..NODES {
        writeln!(text, "_:p{number} <name> \"newcomer {number}\" .").expect("a string has room");
        writeln!(text, "_:p{number} <age> \"{}\"^^<xs:int> .", number % 90)
            .expect("a string has room");
    }
    text.into_bytes()
}

/// The sorted times of writes of one value to one of `predicates`, while `work` is done.
fn beside(db: &Database, predicates: &[&str], work: impl FnOnce()) -> (Duration, Vec<Duration>) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let (mut number, mut times) = (0u64, Vec::new());
            while !is_over.load(Ordering::Relaxed) {
                let uid = number.wrapping_mul(2_654_435_761) % NODES + 1;
                let predicate = predicates[number as usize % predicates.len()];
                let set = format!("<{uid:#x}> <{predicate}> \"{}\" .", number % 90);
                let started = Instant::now();
                db.mutate(&set, "").expect("a valid mutation");
                times.push(started.elapsed());
                number += 1;
                std::thread::sleep(PAUSE);
            }
            times.sort_unstable();
            times
        });
        // It writes already when the work begins.
        std::thread::sleep(Duration::from_millis(50));
        let started = Instant::now();
        work();
        let took = started.elapsed();
        is_over.store(true, Ordering::Relaxed);
        (took, writer.join().expect("the writer does not panic"))
    })
}

fn report(name: &str, (took, times): (Duration, Vec<Duration>)) {
    let at = |fraction: usize| times[(times.len() - 1) * fraction / 1000].as_secs_f64() * 1e3;
    println!(
        "{name:44} took {:7.0} ms  {:6} writes  p50 {:7.3}  p99 {:8.3}  longest {:8.2} ms",
        took.as_secs_f64() * 1e3,
        times.len(),
        at(500),
        at(990),
        at(1000),
    );
}

fn run(db: &Database, folder: &Path) {
    fill(db, folder);
    let alter = |text: &'static str| move || drop(db.alter(text).expect("a valid schema"));
    let all = ["name", "age", "score"];
    report("nothing", beside(db, &all, || std::thread::sleep(Duration::from_secs(1))));
    for (what, text) in [
        ("alter: index of words over texts", "name: string @index(term) ."),
        ("alter: another index over texts", "name: string @index(term, exact) ."),
        ("alter: index taken away", "name: string @index(exact) ."),
        ("alter: index over ints", "age: int @index(int) ."),
        ("alter: ints become texts", "age: string @index(exact) ."),
        ("alter: back to ints", "age: int @index(int) ."),
        ("alter: @reverse over edges", "follows: [uid] @reverse ."),
    ] {
        report(what, beside(db, &all, alter(text)));
    }
    let people = more_people();
    let load = || {
        let source = Source::Bytes(people.clone().into());
        db.load_with(source, None, LoadOptions::default(), &RequestContext::new())
            .expect("valid lines");
    };
    report("load of 1 M nodes, writes to the same", beside(db, &all, load));
    report("load of 1 M nodes, writes to another", beside(db, &["score"], load));
    report("compact", beside(db, &all, || db.compact().expect("there is room")));
    let dropped = |name: &str| Drop::Predicate(name.to_owned());
    report(
        "drop of a predicate",
        beside(db, &["age"], || db.drop(&dropped("name")).expect("it may be dropped")),
    );
    report("drop of the data", beside(db, &["age"], || db.drop(&Drop::Data).expect("it may")));
}

fn main() {
    let folder =
        tempfile::tempdir_in(std::env::var("HEXGRAPH_BENCH_DIR").unwrap_or(".".to_owned()))
            .expect("a directory on a disk");
    println!("in memory");
    run(&Database::in_memory(), folder.path());
    println!("in a directory");
    let options = OpenOptions { sync: SyncPolicy::Never, ..OpenOptions::default() };
    let db = Database::open(&folder.path().join("db"), options).expect("it is writable");
    run(&db, folder.path());
}
