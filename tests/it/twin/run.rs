//! The test: sessions of a random database each, until the time is up.
//!
//! `HEXGRAPH_TWIN_SECONDS` says how long (60), `HEXGRAPH_TWIN_SEED` which session to begin with (a
//! random one); the seed is printed, and with a difference the smallest case that shows it.

use super::case::Case;
use super::case::Pair;
use super::case::Step;
use super::case::Verdict;
use super::compare::shows_anything;
use super::data;
use super::generate::Generator;
use super::shrink::shrink;
use fastrand::Rng;
use std::collections::BTreeMap;
use std::time::Duration;
use std::time::Instant;

/// How many queries each state of a database is asked.
const QUERIES: usize = 40;

/// What came of all queries.
#[derive(Debug, Default)]
struct Tally {
    queries: usize,
    /// Those whose answer shows something.
    full: usize,
    refused: usize,
    undecided: usize,
    /// By feature, those that both answered with something to show.
    features: BTreeMap<&'static str, usize>,
    differences: Vec<String>,
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a whole number"))
}

#[test]
fn engine_and_twin_agree() {
    let seconds = from_environment("HEXGRAPH_TWIN_SECONDS").unwrap_or(60);
    let first = from_environment("HEXGRAPH_TWIN_SEED").unwrap_or_else(|| fastrand::u64(..1 << 32));
    let most = from_environment("HEXGRAPH_TWIN_DIFFERENCES").unwrap_or(1) as usize;
    println!("HEXGRAPH_TWIN_SEED={first}");
    let started = Instant::now();
    let mut tally = Tally::default();
    let mut seed = first;
    while started.elapsed() < Duration::from_secs(seconds) && tally.differences.len() < most {
        session(seed, &mut tally, most);
        seed += 1;
    }
    println!("{} sessions: {tally:#?}", seed - first);
    assert!(tally.differences.is_empty(), "{}", tally.differences.join("\n----\n"));
    // Few sessions say nothing about shares.
    if 1000 < tally.queries {
        assert!(tally.queries < 3 * tally.full, "two thirds of the answers show nothing");
        assert!(tally.queries < 50 * tally.refused, "almost nothing is refused");
        assert!(tally.refused * 4 < tally.queries, "too much is refused");
        assert!(tally.undecided * 10 < tally.queries, "too much is undecided");
    }
}

/// One database: built, asked, changed, asked again.
fn session(seed: u64, tally: &mut Tally, most: usize) {
    let mut rng = Rng::with_seed(seed);
    let uids = data::uids(&mut rng);
    let mut steps = vec![Step::Alter(data::schema(&mut rng))];
    let mut pair = Pair::new();
    take(&mut pair, &steps[0], seed);
    let count = rng.usize(2..6);
    for stage in 0..count {
        let step = next_step(&mut rng, &pair, &uids, stage);
        take(&mut pair, &step, seed);
        steps.push(step);
        for _ in 0..QUERIES {
            if tally.differences.len() < most {
                ask(&mut rng, &pair, &steps, &uids, seed, tally);
            }
        }
    }
}

fn take(pair: &mut Pair, step: &Step, seed: u64) {
    if let Err(error) = pair.take(step) {
        panic!("session {seed}: a step is refused: {error}\n{step:?}");
    }
}

fn next_step(rng: &mut Rng, pair: &Pair, uids: &[u64], stage: usize) -> Step {
    let schema = &pair.graph.schema;
    match (stage, rng.u32(..10)) {
        (0, 0..5) => Step::Load(data::first_triples(rng, schema, uids)),
        (0, _) => {
            let set = data::first_triples(rng, schema, uids);
            Step::Change(super::graph::Change { delete: Vec::new(), set })
        }
        (_, 0..2) => Step::Alter(data::altered(rng, schema)),
        (_, 2..4) => Step::Reopen,
        (_, 4) if rng.u32(..3) == 0 => {
            let names: Vec<&String> = schema.predicates.keys().collect();
            match *super::words::one_of(rng, &names) {
                name if name == "dgraph.type" => Step::Reopen,
                name => Step::Drop(name.clone()),
            }
        }
        _ => Step::Change(data::change(rng, &pair.graph, uids)),
    }
}

fn ask(rng: &mut Rng, pair: &Pair, steps: &[Step], uids: &[u64], seed: u64, tally: &mut Tally) {
    let mut generator = Generator::new(rng.u64(..), &pair.graph, uids);
    let query = generator.query();
    tally.queries += 1;
    match pair.ask(&query.to_string()) {
        Verdict::Same(answer) => {
            if shows_anything(&answer) {
                tally.full += 1;
                for feature in generator.features {
                    *tally.features.entry(feature).or_default() += 1;
                }
            }
        }
        Verdict::Refused(_) => tally.refused += 1,
        Verdict::Undecided => tally.undecided += 1,
        Verdict::Differs(how) => {
            let case = Case { steps: steps.to_vec(), query };
            let small = shrink(&case);
            let now = match small.verdict() {
                Verdict::Differs(how) => how,
                _ => format!("not when the database is built anew; at first {how}"),
            };
            tally.differences.push(format!("session {seed}\n{small}\n{now}\n"));
        }
    }
}
