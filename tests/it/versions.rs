//! Readers see entire versions: while one writer commits without pause, every query finds what one
//! commit wrote, all of it, and commits never seem to go backwards.

use hexgraph::db::{Database, QueryRequest, RequestContext};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const NODES: u64 = 50;

/// Each commit writes its own number to every node, so one version holds one number.
fn commit(db: &Database, number: u64) {
    let lines = (1..=NODES).map(|uid| format!("<{uid}> <stamp> \"{number}\"^^<xs:int> .\n"));
    db.mutate(&lines.collect::<String>(), "").expect("a valid mutation");
}

/// The distinct numbers that a query finds, by two ways: from an index, and through edges.
fn stamps(db: &Database) -> Vec<u64> {
    let text = "{ var(func: has(stamp)) { s as stamp } low() { min(val(s)) } high() { max(val(s)) } \
                all(func: ge(stamp, 0)) { count(uid) } }";
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    let answer = db.query_with(&request, &RequestContext::new()).expect("a valid query");
    let (json, _) = answer.to_json().expect("ints can be written");
    assert!(json.contains(&format!("\"count\":{NODES}")), "{json}");
    let number = |key: &str| {
        let (_, rest) = json.split_once(&format!("\"{key}(val(s))\":")).expect("the key is there");
        rest.split(['}', ',']).next().and_then(|text| text.parse().ok()).expect("a number")
    };
    vec![number("min"), number("max")]
}

#[test]
fn readers_see_whole_versions() {
    let db = Database::in_memory();
    db.alter("stamp: int @index(int) .").expect("a valid schema");
    commit(&db, 0);
    let stop = AtomicBool::new(false);
    let reads = AtomicU64::new(0);
    let mut commits = 0;
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut newest = 0;
                while !stop.load(Ordering::Relaxed) {
                    let result = stamps(&db);
                    assert_eq!(result[0], result[1], "one query saw two commits");
                    assert!(newest <= result[0], "a later query saw an earlier commit");
                    newest = result[0];
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(2) {
            commits += 1;
            commit(&db, commits);
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(commits > 10, "the writer made {commits} commits");
    assert!(reads.load(Ordering::Relaxed) > 10, "the readers made {reads:?} queries");
    assert_eq!(stamps(&db), vec![commits, commits]);
}
