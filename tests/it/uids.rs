//! Uids can't be used up: whatever uids data names, and however many programs take, new nodes get
//! cheap ones.

use hexgraph::db::{
    Database, LoadOptions, OpenOptions, QueryRequest, RequestContext, Source, TxnOptions,
};
use hexgraph::types::Error;
use std::path::Path;
use std::time::{Duration, Instant};

/// Uids from here on stand in a table that a commit copies; those below cost nothing.
const TABLE: u64 = 1 << 31;

/// The lower half of the others ends here: rows of uids are handed out below.
const UPPER: u64 = 1 << 30;

fn new_node(db: &Database) -> u64 {
    let answer = db.mutate("_:new <n> \"new\" .", "").unwrap();
    u64::from_str_radix(answer.uids["new"].trim_start_matches("0x"), 16).unwrap()
}

fn name_of(db: &Database, uid: u64) -> String {
    let text = format!("{{ q(func: uid({uid:#x})) {{ n }} }}");
    let request = QueryRequest { text, ..QueryRequest::default() };
    db.query_with(&request, &RequestContext::new()).unwrap().to_json().unwrap().0
}

fn limit_of<T>(done: Result<T, Error>) -> String {
    match done {
        Err(Error::Limit { message }) => message,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it was done"),
    }
}

/// The uids that are written by hand: at the edges of the halves, the last of the cheap ones, and
/// great ones.
const WRITTEN: [u64; 8] = [
    TABLE - 1,
    TABLE - 2,
    UPPER,
    UPPER + 2,
    UPPER - 1,
    TABLE,
    0xffff_ffff_ffff_fffe,
    0x7fff_ffff_ffff_ffff,
];

/// New nodes get the next cheap uids that nobody has written.
fn check_new_nodes(db: &Database) {
    for uid in WRITTEN {
        assert_eq!(name_of(db, uid), r#"{"q":[{"n":"old"}]}"#, "{uid:#x}");
    }
    let last = new_node(db);
    for _ in 0..4 {
        let uid = new_node(db);
        assert!(!WRITTEN.contains(&uid) && uid < TABLE, "{uid:#x}");
        assert!(last < uid, "{uid:#x} after {last:#x}");
    }
}

fn write_all(db: &Database) {
    for uid in WRITTEN {
        db.mutate(&format!("<{uid:#x}> <n> \"old\" ."), "").unwrap();
        let new = new_node(db);
        assert!(new < TABLE && !WRITTEN.contains(&new), "{new:#x} after {uid:#x}");
    }
    check_new_nodes(db);
}

#[test]
fn great_uids_that_are_written_use_up_none() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("db");
    let open = |path: &Path| Database::open(path, OpenOptions::default()).unwrap();
    let db = open(&path);
    write_all(&db);
    // From the log, from a snapshot, from a log upon a snapshot, from a copy.
    db.close().unwrap();
    check_new_nodes(&open(&path));
    let db = open(&path);
    db.checkpoint().unwrap();
    check_new_nodes(&db);
    db.mutate(&format!("<{:#x}> <n> \"old\" .", UPPER + 100), "").unwrap();
    db.close().unwrap();
    let db = open(&path);
    check_new_nodes(&db);
    db.save(&root.path().join("copy")).unwrap();
    drop(db);
    let copy = open(&root.path().join("copy"));
    check_new_nodes(&copy);
    let mut given = (0..200).map(|_| new_node(&copy));
    assert!(given.all(|uid| uid != UPPER + 100 && uid < TABLE));
}

#[test]
fn uids_of_files_and_transactions_are_left_out() {
    let db = Database::in_memory();
    let triples: String = WRITTEN.map(|uid| format!("<{uid:#x}> <n> \"old\" .\n")).concat();
    let source = Source::Bytes(triples.into_bytes().into());
    db.load_with(source, None, LoadOptions::default(), &RequestContext::new()).unwrap();
    check_new_nodes(&db);
    // What an open transaction names is left out as well, and what it was given.
    let txn = db.begin(TxnOptions::default()).unwrap();
    let next = new_node(&db) + 1;
    let set =
        format!("<{next:#x}> <n> \"old\" .\n<{:#x}> <n> \"old\" .\n_:a <n> \"a\" .", next + 2);
    let own =
        txn.mutate_text_with(&format!("{{ set {{ {set} }} }}"), &RequestContext::new()).unwrap();
    let own = u64::from_str_radix(own.uids["a"].trim_start_matches("0x"), 16).unwrap();
    assert!(own != next && own != next + 2, "{own:#x}");
    let others: Vec<u64> = (0..5).map(|_| new_node(&db)).collect();
    assert!(others.iter().all(|uid| ![own, next, next + 2].contains(uid)), "{others:?}");
    txn.commit().unwrap();
    assert_eq!(name_of(&db, own), r#"{"q":[{"n":"a"}]}"#);
    assert_eq!(name_of(&db, others[0]), r#"{"q":[{"n":"new"}]}"#);
}

#[test]
fn programs_take_so_many_at_once_and_never_what_new_nodes_need() {
    let mut options = OpenOptions::default();
    let db = Database::in_memory_with(options);
    for count in [1_000_001, u64::MAX] {
        let message = limit_of(db.assign_uids(count));
        let want =
            "uids in one call are more than 1000000: request less, or raise the limit `uids`";
        assert!(message.ends_with(want), "{message}");
    }
    db.assign_uids(1_000_000).unwrap();
    options.limits.set("uids", "1_000_000_000").unwrap();
    let db = Database::in_memory_with(options);
    // The lower half is as good as used up: many small calls get what is left of it, and no more.
    db.assign_uids(1_000_000_000).unwrap();
    db.mutate(&format!("<{:#x}> <n> \"old\" .", UPPER - 11), "").unwrap();
    for _ in 0..5 {
        db.assign_uids(2).unwrap();
    }
    for count in [1, 2, 1000] {
        let message = limit_of(db.assign_uids(count));
        assert!(message.contains("0 are left, the others are reserved for new nodes"), "{message}");
    }
    assert_eq!(new_node(&db), UPPER);
}

#[test]
fn what_is_refused_takes_no_uids() {
    let db = Database::in_memory();
    db.alter("age: int .").unwrap();
    let first = new_node(&db);
    for _ in 0..3 {
        let refused = db.mutate("_:a <n> \"a\" .\n_:b <n> \"b\" .\n_:a <age> \"old\" .", "");
        assert!(matches!(&refused, Err(Error::Query { .. })), "{:?}", refused.err());
    }
    assert_eq!(new_node(&db), first + 1);
}

/// In turns with a database where nobody wrote great uids, so that what else the machine does
/// strikes both alike.
#[test]
fn new_nodes_cost_no_more_than_before() {
    let (plain, other) = (Database::in_memory(), Database::in_memory());
    // Enough of them that copying a table of theirs at each commit would show.
    let triples = |first: u64| -> String {
        (0..20_000).map(|at| format!("<{:#x}> <n> \"old\" .\n", first + 3 * at)).collect()
    };
    for (db, triples) in [(&plain, triples(1 << 28)), (&other, triples(1 << 63))] {
        let source = Source::Bytes(triples.into_bytes().into());
        db.load_with(source, None, LoadOptions::default(), &RequestContext::new()).unwrap();
    }
    for uid in WRITTEN {
        other.mutate(&format!("<{uid:#x}> <n> \"old\" ."), "").unwrap();
        plain.mutate("<0x1> <n> \"old\" .", "").unwrap();
    }
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for _ in 0..150 {
        for (db, times) in [(&plain, &mut before), (&other, &mut after)] {
            let started = Instant::now();
            new_node(db);
            times.push(started.elapsed());
        }
    }
    let median = |mut times: Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2]
    };
    let (before, after) = (median(before), median(after));
    assert!(after < 2 * before, "{after:?}, and {before:?} without great uids");
}
