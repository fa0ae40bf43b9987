//! How long does a path by weight take, and how long do several?
//!
//! Over a random graph of `HEXGRAPH_BENCH_PATHS` (200,000) nodes with 15 weighted edges each, with
//! `@reverse` and without it; and over a graph of routes with miles, as large as that of American
//! airports (228 nodes, 3,354 edges). Twenty pairs of nodes each, medians and the longest, JSON
//! text included.

use hexgraph::db::Database;
use hexgraph_benches::{ask, load_lines};
use std::io::Write;
use std::time::{Duration, Instant};

const EDGES: u64 = 15;
const PAIRS: u64 = 20;

/// Numbers without order, the same each time (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

fn graph(schema: &str, lines: impl FnOnce(&mut dyn Write)) -> Database {
    let db = Database::in_memory();
    db.alter(schema).expect("the schema is valid");
    let dir = tempfile::tempdir().expect("there is room for a directory");
    load_lines(&db, dir.path(), lines);
    db
}

/// Nodes with edges to any others, whose weights are floats below 100.
fn random(schema: &str, nodes: u64) -> Database {
    graph(schema, |out| {
        let mut numbers = Numbers(7);
        for node in 1..=nodes {
            for _ in 0..EDGES {
                let (to, weight) =
                    (numbers.below(nodes) + 1, numbers.below(1_000_000) as f64 / 1e4);
                writeln!(out, "<{node}> <to> <{to}> (w={weight:?}) .").expect("the disk has room");
            }
        }
    })
}

/// Airports on a map, each with routes to others, by miles.
fn airports() -> Database {
    const AIRPORTS: u64 = 228;
    const ROUTES: u64 = 3354;
    graph("to: [uid] .", |out| {
        let mut numbers = Numbers(11);
        let mut positions = Vec::new();
        for _ in 0..AIRPORTS {
            positions.push((numbers.below(2800) as f64, numbers.below(1600) as f64));
        }
        for _ in 0..ROUTES / 2 {
            // Some airports have many routes and most have few.
            let from = numbers.below(AIRPORTS).min(numbers.below(AIRPORTS));
            let to = numbers.below(AIRPORTS);
            let (one, other) = (positions[from as usize], positions[to as usize]);
            let miles = (one.0 - other.0).hypot(one.1 - other.1).round();
            for (from, to) in [(from + 1, to + 1), (to + 1, from + 1)] {
                writeln!(out, "<{from}> <to> <{to}> (w={miles:?}) .").expect("the disk has room");
            }
        }
    })
}

/// Asks for paths between pairs of nodes, and prints how long that takes.
fn measure(name: &str, db: &Database, nodes: u64, arguments: &str, field: &str) {
    let mut numbers = Numbers(3);
    let mut times = Vec::new();
    let mut bytes = 0;
    for _ in 0..PAIRS {
        let (from, to) = (numbers.below(nodes) + 1, numbers.below(nodes) + 1);
        let text = format!("{{ shortest(from: {from}, to: {to}{arguments}) {{ {field} }} }}");
        let started = Instant::now();
        bytes += ask(db, &text).len();
        times.push(started.elapsed());
    }
    times.sort_unstable();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let (median, longest) = (ms(times[times.len() / 2]), ms(times[times.len() - 1]));
    println!("{name}: median {median:.2} ms, longest {longest:.2} ms ({bytes} bytes)");
}

fn main() {
    let nodes = std::env::var("HEXGRAPH_BENCH_PATHS");
    let nodes = nodes.ok().and_then(|text| text.parse().ok()).unwrap_or(200_000);
    let db = airports();
    for paths in [1, 2, 10] {
        let arguments = format!(", numpaths: {paths}");
        measure(&format!("airports, numpaths: {paths}"), &db, 228, &arguments, "to @facets(w)");
    }
    for (name, schema) in [("random, @reverse", "to: [uid] @reverse ."), ("random", "to: [uid] .")]
    {
        let db = random(schema, nodes);
        measure(&format!("{name}, first calls"), &db, nodes, "", "to @facets(w)");
        for paths in [1, 2, 3] {
            let arguments = format!(", numpaths: {paths}");
            measure(&format!("{name}, numpaths: {paths}"), &db, nodes, &arguments, "to @facets(w)");
        }
        measure(&format!("{name}, numpaths: 3, no weights"), &db, nodes, ", numpaths: 3", "to");
    }
}
