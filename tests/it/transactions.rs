//! Transactions keep apart what they promise to keep apart: the history of many that overlap is
//! one that snapshot isolation allows, and what one sees is what it would see alone.

use hexgraph::db::{
    Database, Mutation, MutationRequest, OpenOptions, QueryAnswer, QueryRequest, RequestContext,
    Statements, SyncPolicy, Txn, TxnLimits, TxnOptions,
};
use hexgraph::types::{Error, Result};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

const NODES: u64 = 5;
const THREADS: u8 = 4;
const ROUNDS: usize = 120;

fn request(text: &str) -> QueryRequest {
    QueryRequest { text: text.to_owned(), ..QueryRequest::default() }
}

fn json(answer: Result<QueryAnswer>) -> String {
    answer.and_then(|answer| answer.to_json()).unwrap().0
}

fn mutate(txn: &Txn, set: &str, delete: &str) -> Result<()> {
    let mutation = Mutation {
        set: vec![Statements::NQuads(set)],
        delete: vec![Statements::NQuads(delete)],
        ..Mutation::default()
    };
    let request = MutationRequest { mutations: vec![mutation], ..MutationRequest::default() };
    txn.mutate_with(&request, &RequestContext::new()).map(drop)
}

/// What one transaction did, as it saw it.
struct Done {
    start: u64,
    /// `None` when it was not committed.
    commit: Option<u64>,
    /// What each node had, before the transaction wrote it.
    read: BTreeMap<u64, u64>,
    /// What it wrote.
    wrote: BTreeMap<u64, u64>,
}

fn stamps(txn: &Txn) -> BTreeMap<u64, u64> {
    let text = "{ q(func: has(stamp)) { uid stamp } }";
    let all = json(txn.query_with(&request(text), &RequestContext::new()));
    let objects = all.split('{').skip(2);
    let pair = |object: &str| {
        let mut parts = object.split(['"', ':', '}', ',']).filter(|part| !part.is_empty());
        let uid = parts.nth(1)?.trim_start_matches("0x");
        Some((u64::from_str_radix(uid, 16).ok()?, parts.nth(1)?.parse().ok()?))
    };
    objects.map(|object| pair(object).unwrap()).collect()
}

/// Reads all, writes some, reads again, and commits or not.
fn one_transaction(db: &Database, rng: &mut TestRng, next: &AtomicU64) -> Done {
    let txn = db.begin(TxnOptions::default()).unwrap();
    let read = stamps(&txn);
    let mut seen = read.clone();
    let mut wrote = BTreeMap::new();
    for _ in 0..rng.random_range(0..3) {
        let node = rng.random_range(1..=NODES);
        let value = next.fetch_add(1, Ordering::Relaxed);
        mutate(&txn, &format!("<{node}> <stamp> \"{value}\" ."), "").unwrap();
        wrote.insert(node, value);
        seen.insert(node, value);
        assert_eq!(stamps(&txn), seen, "a transaction sees its snapshot and its own writes");
    }
    std::thread::yield_now();
    assert_eq!(stamps(&txn), seen, "reads are repeatable");
    let start = txn.number();
    let commit = match rng.random_range(0..5) {
        0 => None,
        _ => match txn.commit() {
            Ok(commit) => Some(commit),
            Err(Error::Conflict) => None,
            Err(other) => panic!("{other}"),
        },
    };
    Done { start, commit, read, wrote }
}

/// Checks a history of which every start and commit has a number from one clock.
fn check(history: &[Done]) {
    let commits = history.iter().filter_map(|done| Some((done.commit?, &done.wrote)));
    let commits: BTreeMap<u64, _> = commits.filter(|(_, wrote)| !wrote.is_empty()).collect();
    let at = |moment: u64| {
        let mut values: BTreeMap<u64, u64> = (1..=NODES).map(|node| (node, 0)).collect();
        commits.range(..moment).for_each(|(_, wrote)| values.extend(wrote.iter()));
        values
    };
    for done in history {
        // No dirty read, no read skew: all of the newest commits before the start, and no others.
        assert_eq!(done.read, at(done.start), "start {}", done.start);
        let Some(commit) = done.commit else { continue };
        assert!(done.start < commit);
        // No lost update: nobody else wrote the same node meanwhile.
        for (other, wrote) in commits.range(done.start..commit) {
            let mut both = done.wrote.keys().filter(|node| wrote.contains_key(node));
            assert!(both.next().is_none(), "{commit} overwrites {other}");
        }
    }
}

#[test]
fn histories_are_isolated() {
    check_histories(&Database::in_memory());
}

#[test]
fn histories_are_isolated_while_commits_wait_to_be_durable() {
    let folder = tempfile::tempdir().unwrap();
    let options = OpenOptions { sync: SyncPolicy::Always, ..OpenOptions::default() };
    check_histories(&Database::open(folder.path(), options).unwrap());
}

fn check_histories(db: &Database) {
    db.alter("stamp: int @index(int) .").unwrap();
    let lines: String = (1..=NODES).map(|node| format!("<{node}> <stamp> \"0\" .\n")).collect();
    db.mutate(&lines, "").unwrap();
    let next = AtomicU64::new(1);
    let history: Vec<Done> = std::thread::scope(|scope| {
        let work = |seed: u8| {
            let next = &next;
            move || {
                let mut rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
                let done = (0..ROUNDS).map(|_| one_transaction(db, &mut rng, next));
                done.collect::<Vec<Done>>()
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|seed| scope.spawn(work(seed))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let committed = history.iter().filter(|done| done.commit.is_some()).count();
    assert!(committed > history.len() / 4, "{committed} of {}", history.len());
    check(&history);
}

#[test]
fn what_is_only_read_does_not_conflict() {
    // Each is content with the other's value as it was: snapshot isolation allows that.
    let db = Database::in_memory();
    db.mutate("<1> <on> \"1\" .\n<2> <on> \"1\" .", "").unwrap();
    let begin = || db.begin(TxnOptions::default()).unwrap();
    let (one, other) = (begin(), begin());
    for (txn, node) in [(&one, 1), (&other, 2)] {
        let seen =
            json(txn.query_with(&request("{ q(func: has(on)) { on } }"), &RequestContext::new()));
        assert_eq!(seen.matches("\"on\"").count(), 2);
        mutate(txn, &format!("<{node}> <on> \"0\" ."), "").unwrap();
    }
    one.commit().unwrap();
    other.commit().unwrap();
}

#[test]
fn transactions_are_limited() {
    let transactions = TxnLimits { open: 2, statements: 3, ..TxnLimits::default() };
    let db = Database::in_memory_with(OpenOptions { transactions, ..OpenOptions::default() });
    let begin = || db.begin(TxnOptions::default());
    let (one, other) = (begin().unwrap(), begin().unwrap());
    assert!(matches!(begin(), Err(Error::Limit { .. })));
    mutate(&one, "<1> <a> \"1\" .\n<2> <a> \"1\" .", "").unwrap();
    let more = "<3> <a> \"1\" .\n<4> <a> \"1\" .";
    assert!(matches!(mutate(&other, more, ""), Err(Error::Limit { .. })));
    one.commit().unwrap();
    mutate(&other, more, "").unwrap();
    drop(other);
    let best_effort = TxnOptions { best_effort: true, ..TxnOptions::default() };
    let error = db.begin(best_effort).map(drop).unwrap_err().to_string();
    assert_eq!(error, "A best effort query must be read-only.");
    let read_only = TxnOptions { best_effort: true, read_only: true, client: None };
    let error = mutate(&db.begin(read_only).unwrap(), more, "").unwrap_err();
    assert_eq!(error.to_string(), "Readonly transaction cannot run mutations or be committed");
    assert_eq!(
        json(db.query_with(&request("{ q(func: has(a)) { uid } }"), &RequestContext::new())).len(),
        35
    );
}

#[test]
fn starts_are_kept_while_they_may_be_needed() {
    let db = Database::in_memory();
    let text = request("{ q(func: has(a)) { uid } }");
    let ask = |start| db.query_at(start, &text, &RequestContext::new()).map(|(_, start)| start);
    let starts: BTreeSet<u64> = (0..100).map(|_| ask(0).unwrap()).collect();
    assert_eq!(starts.len(), 100, "each has a number of its own");
    let first = *starts.first().unwrap();
    for number in 1..5000 {
        db.mutate(&format!("<{number}> <a> \"1\" ."), "").unwrap();
        ask(0).unwrap();
    }
    let newest = ask(0).unwrap();
    assert_eq!(ask(newest).unwrap(), newest);
    assert!(ask(first).unwrap_err().to_string().contains("too old"));
    assert!(ask(newest + 100).unwrap_err().to_string().contains("deadline exceeded"));
}

/// A client over the network does not know that the database was opened anew: what he goes on with
/// must not become half a transaction, nor part of somebody else's.
#[test]
fn transactions_of_before_are_lost_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Database::open(folder.path(), OpenOptions::default()).unwrap();
    let begin = |db: &Database, set: &str| {
        let txn = db.begin(TxnOptions::default()).unwrap();
        mutate(&txn, set, "").unwrap();
        let number = txn.number();
        txn.leave_open();
        number
    };
    let has = |db: &Database| {
        json(db.query_with(&request("{ q(func: has(a)) { a } }"), &RequestContext::new()))
    };
    let db = open();
    let numbers = [begin(&db, "<1> <a> \"1\" ."), begin(&db, "<2> <a> \"1\" .")];
    let (_, read) =
        db.query_at(0, &request("{ q(func: has(a)) { a } }"), &RequestContext::new()).unwrap();
    drop(db);
    let db = open();
    let other = begin(&db, "<3> <a> \"other\" .");
    assert!(numbers.iter().all(|number| *number < other), "{numbers:?} {other}");
    assert!(matches!(db.commit_txn(numbers[0], Some(&[7])), Err(Error::Conflict)));
    // One that changed nothing may be ended, and a lost one may not be gone on with.
    db.commit_txn(read, Some(&[])).unwrap();
    let txn = db.resume(numbers[1]).unwrap();
    mutate(&txn, "<2> <a> \"half\" .", "").unwrap();
    assert!(matches!(txn.commit(), Err(Error::Conflict)));
    assert_eq!(has(&db), "{\"q\":[]}");
    db.commit_txn(other, None).unwrap();
    assert_eq!(has(&db), "{\"q\":[{\"a\":\"other\"}]}");
}

/// Statements about few nodes, so that they meet.
fn statements() -> impl Strategy<Value = (String, String)> {
    let node = || 1..5_u64;
    let value = (node(), 0..3_usize, 0..3_u64).prop_map(|(node, predicate, value)| {
        format!("<{node}> <{}> \"{value}\" .\n", ["single", "list", "upsert"][predicate])
    });
    let edge = (node(), any::<bool>(), node()).prop_map(|(node, single, target)| {
        format!("<{node}> <{}> <{target}> .\n", if single { "one" } else { "many" })
    });
    let all = (node(), 0..5_usize).prop_map(|(node, predicate)| {
        let name = ["single", "list", "upsert", "one", "many"][predicate];
        format!("<{node}> <{name}> * .\n")
    });
    let set = prop_oneof![value.clone(), edge.clone()];
    let delete = prop_oneof![2 => value, 2 => edge, 1 => all];
    let text = |lines: Vec<String>| lines.concat();
    (prop::collection::vec(set, 0..5), prop::collection::vec(delete, 0..3))
        .prop_map(move |(set, delete)| (text(set), text(delete)))
}

const SCHEMA: &str = "single: string @index(exact) .\nlist: [string] @index(exact) .\n\
    upsert: string @index(exact) @upsert .\none: uid @reverse .\nmany: [uid] @reverse @count .";

const EVERYTHING: &str = "{ q(func: uid(1, 2, 3, 4)) { uid single list upsert one { uid } \
    many { uid } ~one { uid } ~many { uid } count(many) } s(func: eq(single, \"1\")) { uid } \
    l(func: eq(list, \"1\")) { uid } c(func: eq(count(many), 1)) { uid } }";

fn database() -> Database {
    let db = Database::in_memory();
    db.alter(SCHEMA).unwrap();
    db
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// A transaction reads what its changes alone would make of the data. When it is committed
    /// after others, the outcome is as if it had come after them as a whole.
    #[test]
    fn a_transaction_reads_as_if_it_were_alone(
        before in prop::collection::vec(statements(), 0..3),
        inside in prop::collection::vec(statements(), 0..4),
        outside in prop::collection::vec(statements(), 0..2),
    ) {
        let (db, alone, serial) = (database(), database(), database());
        let all = |db: &Database| json(db.query_with(&request(EVERYTHING), &RequestContext::new()));
        for (set, delete) in &before {
            for db in [&db, &alone, &serial] {
                db.mutate(set, delete).unwrap();
            }
        }
        let txn = db.begin(TxnOptions::default()).unwrap();
        for (set, delete) in &outside {
            db.mutate(set, delete).unwrap();
            serial.mutate(set, delete).unwrap();
        }
        for (set, delete) in &inside {
            mutate(&txn, set, delete).unwrap();
            alone.mutate(set, delete).unwrap();
            let seen = json(txn.query_with(&request(EVERYTHING), &RequestContext::new()));
            prop_assert_eq!(seen, all(&alone));
        }
        prop_assert_eq!(all(&db), all(&serial));
        match txn.commit() {
            Ok(_) => {
                for (set, delete) in &inside {
                    serial.mutate(set, delete).unwrap();
                }
            }
            Err(Error::Conflict) => prop_assert!(!outside.is_empty()),
            Err(other) => panic!("{other}"),
        }
        prop_assert_eq!(all(&db), all(&serial));
    }
}
