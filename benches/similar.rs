//! How many `similar_to` queries a second, and how many of the nearest do they find?
//!
//! Over `HEXGRAPH_BENCH_VECTORS` (100,000) vectors of 128 dimensions, with each metric: without
//! any structure, which is the hard case, and in a thousand clusters.

use hexgraph::db::Database;
use hexgraph_benches::{ask, load_lines};
use std::fmt::Write;
use std::time::Instant;

const DIMENSION: usize = 128;
const CLUSTERS: usize = 1000;
const QUERIES: usize = 200;
const EXPECTED: usize = 10;

/// Numbers with a bell curve, the same each time (xorshift, then Box and Muller).
struct Numbers(u64);

impl Numbers {
    fn even(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn bell(&mut self) -> f32 {
        let length = (-2.0 * self.even().max(1e-300).ln()).sqrt();
        (length * (std::f64::consts::TAU * self.even()).cos()) as f32
    }

    fn vector(&mut self) -> Vec<f32> {
        (0..DIMENSION).map(|_| self.bell()).collect()
    }
}

/// Makes vectors, `spread` around centres or, without any, around 0.
fn vectors(count: usize, centres: &[Vec<f32>], numbers: &mut Numbers) -> Vec<Vec<f32>> {
    let one = |numbers: &mut Numbers| {
        let mut vector = numbers.vector();
        if !centres.is_empty() {
            let centre = &centres[(numbers.even() * centres.len() as f64) as usize];
            vector.iter_mut().zip(centre).for_each(|(number, at)| *number = *number / 5.0 + at);
        }
        vector
    };
    (0..count).map(|_| one(numbers)).collect()
}

fn distance(metric: &str, one: &[f32], other: &[f32]) -> f64 {
    let dot = |one: &[f32], other: &[f32]| -> f64 {
        one.iter().zip(other).map(|(one, other)| f64::from(*one) * f64::from(*other)).sum()
    };
    match metric {
        "euclidean" => dot(one, one) + dot(other, other) - 2.0 * dot(one, other),
        "cosine" => -dot(one, other) / (dot(one, one) * dot(other, other)).sqrt(),
        _ => -dot(one, other),
    }
}

/// The uids of the nearest of all, by comparison.
fn nearest(metric: &str, data: &[Vec<f32>], query: &[f32]) -> Vec<usize> {
    let mut all: Vec<(f64, usize)> =
        data.iter().enumerate().map(|(at, it)| (distance(metric, it, query), at + 1)).collect();
    all.select_nth_unstable_by(EXPECTED - 1, |one, other| one.0.total_cmp(&other.0));
    all.truncate(EXPECTED);
    all.into_iter().map(|(_, uid)| uid).collect()
}

fn measure(db: &Database, title: &str, metric: &str, data: &[Vec<f32>], queries: &[Vec<f32>]) {
    let started = Instant::now();
    db.alter(&format!("v: float32vector @index(hnsw(metric: \"{metric}\")) ."))
        .expect("a valid schema");
    let build = started.elapsed();
    let texts: Vec<String> = queries
        .iter()
        .map(|query| format!("{{ q(func: similar_to(v, {EXPECTED}, \"{query:?}\")) {{ uid }} }}"))
        .collect();
    let started = Instant::now();
    let answers: Vec<String> = texts.iter().map(|text| ask(db, text)).collect();
    let each = started.elapsed() / QUERIES as u32;
    let mut hits = 0;
    for (query, answer) in queries.iter().zip(&answers) {
        let mut uid = String::new();
        for near in nearest(metric, data, query) {
            uid.clear();
            write!(uid, "\"{near:#x}\"").expect("a string grows");
            hits += usize::from(answer.contains(&uid));
        }
    }
    println!(
        "{title}, {metric}: built in {:.1} s, {:.0} queries/s, recall@{EXPECTED} {:.3}",
        build.as_secs_f64(),
        1.0 / each.as_secs_f64(),
        hits as f64 / (EXPECTED * QUERIES) as f64
    );
}

fn main() {
    let count = std::env::var("HEXGRAPH_BENCH_VECTORS").ok().and_then(|text| text.parse().ok());
    let count = count.unwrap_or(100_000);
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    let centres: Vec<Vec<f32>> = (0..CLUSTERS).map(|_| numbers.vector()).collect();
    for (title, centres) in [("no structure", &[][..]), ("clusters", &centres[..])] {
        let data = vectors(count, centres, &mut numbers);
        let queries = vectors(QUERIES, centres, &mut numbers);
        let db = Database::in_memory();
        let dir = tempfile::tempdir().expect("a directory for temporary files");
        db.alter("v: float32vector .").expect("a valid schema");
        load_lines(&db, dir.path(), |out| {
            for (at, vector) in data.iter().enumerate() {
                writeln!(out, "<{}> <v> \"{vector:?}\" .", at + 1).expect("room");
            }
        });
        for metric in ["euclidean", "cosine", "dotproduct"] {
            measure(&db, title, metric, &data, &queries);
        }
    }
}
