//! Do readers wait for a writer? The p50 and p99 of a read, without and with one that commits
//! without pause.

use hexgraph::db::Database;
use hexgraph_benches::{ask, load_lines};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const NODES: u64 = 100_000;
const READ: &str = "{ q(func: ge(score, 90), first: 20) { uid name score } }";

fn build() -> Database {
    let db = Database::in_memory();
    db.alter("name: string @index(exact) .\nscore: int @index(int) .").expect("a valid schema");
    let dir = tempfile::tempdir().expect("a directory for temporary files");
    load_lines(&db, dir.path(), |out| {
        for uid in 1..=NODES {
            writeln!(out, "<{uid}> <name> \"node {uid}\" .").expect("room");
            writeln!(out, "<{uid}> <score> \"{}\"^^<xs:int> .", uid % 100).expect("room");
        }
    });
    db
}

/// The sorted times of reads during `span`.
fn read_for(db: &Database, span: Duration) -> Vec<Duration> {
    let started = Instant::now();
    let mut times = Vec::new();
    while started.elapsed() < span {
        let one = Instant::now();
        ask(db, READ);
        times.push(one.elapsed());
    }
    times.sort_unstable();
    times
}

fn report(name: &str, times: &[Duration]) {
    let at = |fraction: usize| times[(times.len() - 1) * fraction / 100];
    println!("{name:24} {:8} reads  p50 {:?}  p99 {:?}", times.len(), at(50), at(99));
}

fn main() {
    let db = build();
    let span = Duration::from_secs(3);
    read_for(&db, Duration::from_millis(300));
    report("reads alone", &read_for(&db, span));
    let stop = AtomicBool::new(false);
    let commits = AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0;
            while !stop.load(Ordering::Relaxed) {
                let uid = number % NODES + 1;
                let set = format!("<{uid}> <score> \"{}\"^^<xs:int> .", number % 100);
                db.mutate(&set, "").expect("a valid mutation");
                number += 1;
            }
            commits.store(number, Ordering::Relaxed);
        });
        report("reads beside a writer", &read_for(&db, span));
        stop.store(true, Ordering::Relaxed);
    });
    let count = commits.load(Ordering::Relaxed) as f64;
    println!("commits meanwhile: {:.0} per second", count / span.as_secs_f64());
}
