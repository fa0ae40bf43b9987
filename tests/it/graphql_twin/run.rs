//! The test: sessions of a random schema each, until the time is up.
//!
//! `HEXGRAPH_GRAPHQL_TWIN_SECONDS` says how long (5), `HEXGRAPH_GRAPHQL_TWIN_SEED` which session
//! comes first (0, or `random`), `HEXGRAPH_GRAPHQL_TWIN_DIFFERENCES` how many to look for (1). With
//! a difference comes the number of its session, which is the seed to repeat it.

use super::session::{Session, Tally};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// From so many queries on their shares say something.
const MEANINGFUL: usize = 1000;

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a whole number"))
}

/// The seed of the first session, which is told.
pub fn first_seed() -> u64 {
    let given = std::env::var("HEXGRAPH_GRAPHQL_TWIN_SEED").unwrap_or_else(|_| "0".to_owned());
    let first = match given.as_str() {
        "random" => fastrand::u64(..1 << 32),
        number => number.parse().expect("a whole number, or `random`"),
    };
    println!("HEXGRAPH_GRAPHQL_TWIN_SEED={first}");
    first
}

/// How long a test goes on.
pub fn seconds(usual: u64) -> Duration {
    Duration::from_secs(from_environment("HEXGRAPH_GRAPHQL_TWIN_SECONDS").unwrap_or(usual))
}

#[test]
fn engine_and_model_agree() {
    let (first, length) = (first_seed(), seconds(5));
    let most = from_environment("HEXGRAPH_GRAPHQL_TWIN_DIFFERENCES").unwrap_or(1) as usize;
    let (started, next) = (Instant::now(), AtomicU64::new(first));
    let (tally, differences) = (Mutex::new(Tally::default()), Mutex::new(Vec::new()));
    let is_over = || length < started.elapsed() || most <= differences.lock().unwrap().len();
    let work = || {
        while !is_over() {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            let mut own = Tally::default();
            let result = Session::new(seed).and_then(|mut session| session.run(is_over, &mut own));
            tally.lock().unwrap().add(own);
            if let Err(reported) = result {
                differences.lock().unwrap().push(format!("session {seed}\n{reported}"));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let differences = differences.into_inner().unwrap();
    assert!(differences.is_empty(), "{}", differences.join("\n----\n"));
    let tally = tally.into_inner().unwrap();
    println!("{} sessions {tally:#?}", next.into_inner() - first);
    if MEANINGFUL < tally.queries {
        check_shares(&tally);
    }
}

/// A test that asks nothing of interest would agree, too.
fn check_shares(tally: &Tally) {
    let requested = tally.queries + tally.mutations;
    assert!(requested < 3 * tally.full, "two thirds of the answers show nothing");
    assert!(10 * tally.undecided < requested, "too much is undecided");
    assert!(2 * tally.refused < tally.mutations, "too much is refused");
    assert!(tally.mutations < 50 * tally.refused, "almost nothing is refused");
    for (feature, (requested, full)) in &tally.features {
        assert!(*requested < 50 || 0 < *full, "`{feature}` never shows anything");
    }
}
