//! Are entire columns read at the speed of memory, and does a second thread help? Numbers of many
//! nodes, more than the caches hold, are asked by a database of one thread and by one of two.
//! Beside each query stand the bytes of its columns, and what a loop over a plain array of as many
//! bytes takes on as many threads. The answers are compared.
//!
//! `HEXGRAPH_BENCH_NODES` is the number of nodes, 16,000,000; `HEXGRAPH_BENCH_GRAPH` names a
//! directory that keeps the graph from run to run.

use hexgraph::db::{Database, OpenOptions};
use hexgraph_benches::{ask, load_lines};
use std::hint::black_box;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Queries by name, with the bytes that they read of a node.
const SCANS: &[(&str, usize, &str)] = &[
    ("sum of ints", 4, "{ var(func: has(score)) { s as score } q() { sum(val(s)) } }"),
    (
        "least and greatest float",
        8,
        "{ var(func: has(weight)) { w as weight } q() { min(val(w)) max(val(w)) } }",
    ),
    ("sum of floats", 8, "{ var(func: has(weight)) { w as weight } q() { sum(val(w)) } }"),
    (
        "range of ints counted",
        4,
        "{ q(func: has(score)) @filter(ge(score, 750000)) { count(uid) } }",
    ),
    (
        "first ten of an order by floats",
        8,
        "{ q(func: has(weight), orderdesc: weight, first: 10) { weight } }",
    ),
    ("groups, sum of ints", 8, "{ q(func: has(score)) @groupby(kind) { sum(score) } }"),
];

/// A number that looks random and is the same in each run.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^= mixed >> 29;
    mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
}

fn build(path: &Path, nodes: u64) {
    let db = Database::in_memory();
    db.alter("score: int .\nkind: int .\nweight: float .").expect("a valid schema");
    let dir = tempfile::tempdir().expect("a directory for temporary files");
    load_lines(&db, dir.path(), |out| {
        for uid in 1..=nodes {
            let random = mixed(uid);
            let (score, kind) = (random % 1_000_000, random / 11 % 100);
            writeln!(out, "<{uid}> <score> \"{score}\" .\n<{uid}> <kind> \"{kind}\" .")
                .expect("room");
            writeln!(out, "<{uid}> <weight> \"{}\" .", random as f64 / 1e6).expect("room");
        }
    });
    db.save(path).expect("the disk has room");
}

/// The sum of an array by some threads, as fast as memory gives it.
fn sum(numbers: &[u64], threads: usize) -> u64 {
    let add = |numbers: &[u64]| numbers.iter().fold(0_u64, |sum, it| sum.wrapping_add(*it));
    if threads == 1 {
        return add(numbers);
    }
    thread::scope(|scope| {
        let parts = numbers.chunks(numbers.len().div_ceil(threads));
        let parts: Vec<_> = parts.map(|part| scope.spawn(move || add(part))).collect();
        parts.into_iter().map(|part| part.join().expect("it adds")).fold(0, u64::wrapping_add)
    })
}

/// The medians of some calls in milliseconds, which are made in turns.
fn medians<const N: usize>(calls: [&dyn Fn(); N]) -> [f64; N] {
    let mut times = [(); N].map(|()| Vec::new());
    let started = Instant::now();
    while times[0].len() < 9 || started.elapsed() < Duration::from_millis(1500) {
        for (call, times) in calls.iter().zip(&mut times) {
            let one = Instant::now();
            call();
            times.push(one.elapsed());
        }
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64() * 1e3
    })
}

fn main() {
    let nodes = std::env::var("HEXGRAPH_BENCH_NODES").ok();
    let nodes: u64 = nodes.map_or(16_000_000, |text| text.parse().expect("a number of nodes"));
    let dir = tempfile::tempdir().expect("a directory for temporary files");
    let retained = std::env::var_os("HEXGRAPH_BENCH_GRAPH");
    let saved = retained.map_or_else(|| dir.path().join("graph"), std::path::PathBuf::from);
    if !saved.exists() {
        build(&saved, nodes);
    }
    let open = |threads| {
        let options = OpenOptions { threads, read_only: true, ..OpenOptions::default() };
        Database::open(&saved, options).expect("it was written")
    };
    let (one, two) = (open(1), open(2));
    println!(
        "| {nodes} nodes | MB | 1 thread, ms | 2, ms | speed-up | a plain array: 1, 2 | share of its speed: 1, 2 |"
    );
    for (name, bytes, text) in SCANS {
        assert_eq!(ask(&one, text), ask(&two, text), "{name}");
        let bytes = bytes * nodes as usize;
        let plain: Vec<u64> = (0..bytes as u64 / 8).collect();
        let [alone, shared, array, by_two] = medians([
            &|| drop(black_box(ask(&one, text))),
            &|| drop(black_box(ask(&two, text))),
            &|| _ = black_box(sum(&plain, 1)),
            &|| _ = black_box(sum(&plain, 2)),
        ]);
        println!(
            "| {name} | {:.0} | {alone:.2} | {shared:.2} | {:.2} | {array:.2}, {by_two:.2} | {:.0} %, {:.0} % |",
            bytes as f64 / 1e6,
            alone / shared,
            100.0 * array / alone,
            100.0 * by_two / shared,
        );
    }
}
