//! Compactions concurrent with readers and writers.

use crate::db::{Database, Folding, Memory, OpenOptions, QueryRequest, RequestContext, Thresholds};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const ACCOUNTS: usize = 40;

fn options() -> OpenOptions {
    OpenOptions { thresholds: Thresholds::small_background(), ..OpenOptions::default() }
}

/// Waits for background compactions.
fn wait_for_compactions(db: &Database) {
    let begin = Instant::now();
    while db.open_state().unwrap().store.is_compaction_due() {
        assert!(begin.elapsed() < Duration::from_secs(20), "no compaction");
        thread::sleep(Duration::from_millis(1));
    }
}

/// The changed rows of the amounts that are not yet in their column.
fn changed_rows(db: &Database) -> usize {
    let version = db.open_state().unwrap().store.version();
    version.predicate("amount").unwrap().values("").unwrap().delta.rows.len()
}

fn json(db: &Database, text: &str) -> String {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    db.query_with(&request, &RequestContext::new()).unwrap().to_json().unwrap().0
}

fn set_up(db: &Database) {
    db.alter("amount: int @index(int) .\nowner: uid @reverse .").unwrap();
    let rows = (1..=ACCOUNTS)
        .map(|n| format!("<{n}> <amount> \"100\" .\n<{n}> <owner> <{}> .\n", 100 + n % 5));
    db.mutate(&rows.collect::<String>(), "").unwrap();
    db.compact().unwrap();
}

/// Moves some of an amount to another account, and both accounts to other owners, in one commit.
fn transfer(db: &Database, amounts: &mut [i64; ACCOUNTS], number: usize) {
    let (from, to) = (number * 7 % ACCOUNTS, (number * 7 + 3) % ACCOUNTS);
    amounts[from] -= number as i64 % 9;
    amounts[to] += number as i64 % 9;
    let line = |position: usize| {
        let (node, amount, owner) =
            (position + 1, amounts[position], 100 + (position + number) % 5);
        format!("<{node}> <amount> \"{amount}\" .\n<{node}> <owner> <{owner}> .\n")
    };
    db.mutate(&(line(from) + &line(to)), "").unwrap();
}

/// A database without automatic compaction, after some transfers.
fn compacted_manually(transfers: usize) -> Database {
    let thresholds = Thresholds { folding: Folding::Manual, ..Thresholds::small() };
    let db = Database::in_memory_with(OpenOptions { thresholds, ..options() });
    set_up(&db);
    let mut amounts = [100; ACCOUNTS];
    (0..transfers).for_each(|number| transfer(&db, &mut amounts, number));
    db
}

/// Asserts that the amounts have their sum and everything its number, by columns, indexes and
/// reverse edges.
fn check_full(db: &Database) {
    let text = "{ var(func: has(amount)) { a as amount } q() { sum(val(a)) } \
                n(func: ge(amount, -100000)) { count(uid) } \
                var(func: uid(100, 101, 102, 103, 104)) { c as count(~owner) } \
                o() { sum(val(c)) } }";
    let full = r#"{"q":[{"sum(val(a))":4000}],"n":[{"count":40}],"o":[{"sum(val(c))":40}]}"#;
    assert_eq!(json(db, text), full);
}

#[test]
fn commits_are_compacted_automatically() {
    let db = Database::in_memory_with(options());
    set_up(&db);
    let mut amounts = [100; ACCOUNTS];
    (0..3).for_each(|number| transfer(&db, &mut amounts, number));
    wait_for_compactions(&db);
    assert!(changed_rows(&db) <= Thresholds::small().changes_min);
    check_full(&db);
}

/// An idle database compacts also fewer changes than are due during commits, so it gets fast again
/// by itself.
#[test]
fn an_idle_graph_is_compacted_further() {
    let db = Database::in_memory_with(options());
    db.alter("amount: int .").unwrap();
    let row = |node: usize| format!("<{node}> <amount> \"{node}\" .\n");
    db.mutate(&(1..=2000).map(row).collect::<String>(), "").unwrap();
    db.compact().unwrap();
    db.mutate(&(1..=20).map(|node| row(node * 3)).collect::<String>(), "").unwrap();
    let store = Arc::clone(&db.open_state().unwrap().store);
    assert!(!store.compact_next(false).unwrap(), "20 rows of 2,000 wait while there are commits");
    wait_for_compactions(&db);
    assert_eq!(changed_rows(&db), 0);
}

/// A compaction of an idle database is not urgent: it leaves most of what is free to requests,
/// which would be refused otherwise.
#[test]
fn an_idle_compaction_leaves_memory_to_requests() {
    let thresholds = Thresholds { folding: Folding::Manual, ..Thresholds::small() };
    let memory = Memory::Work(64 << 20);
    let db = Database::in_memory_with(OpenOptions { thresholds, memory, ..options() });
    db.alter("amount: int .").unwrap();
    let rows = |step: usize| {
        (1..=40_000).step_by(step).map(move |n| format!("<{n}> <amount> \"{step}\" .\n"))
    };
    db.mutate(&rows(1).collect::<String>(), "").unwrap();
    db.compact().unwrap();
    db.mutate(&rows(20).collect::<String>(), "").unwrap();
    let store = Arc::clone(&db.open_state().unwrap().store);
    let others = db.budget().reservation();
    others.reserve(55 << 20).unwrap();
    let refused = store.compact_next(true).unwrap_err().to_string();
    assert!(refused.contains("there is no memory for another"), "{refused}");
    assert_eq!(changed_rows(&db), 2_000);
    assert!(store.compact_next(false).unwrap(), "during commits there is memory for it");
    assert_eq!(changed_rows(&db), 0);
}

/// What changes all the time is due again before everything after it in the map was compacted: it
/// must not go before what waits longer.
#[test]
fn the_oldest_change_is_compacted_first_and_alone() {
    let db = compacted_manually(3);
    let extra = "<30> <amount> \"100\" .\n<31> <amount> \"100\" .\n<32> <amount> \"100\" .\n\
                 <33> <owner> <102> .\n<34> <owner> <100> .";
    db.mutate(extra, "").unwrap();
    let sizes = || {
        let version = db.open_state().unwrap().store.version();
        let owners = version.predicate("owner").unwrap();
        let changes = |reverse| owners.direction(reverse).unwrap().delta.rows.len();
        [changed_rows(&db), changes(false), changes(true)]
    };
    let compact_next = || db.open_state().unwrap().store.compact_next(false).unwrap();
    assert_eq!(sizes(), [9, 8, 5]);
    for compacted in [[0, 8, 5], [0, 0, 5], [0, 0, 0]] {
        assert!(compact_next());
        assert_eq!(sizes(), compacted);
        check_full(&db);
    }
    assert!(!compact_next());
}

#[test]
fn manual_compaction_has_no_thread() {
    let db = compacted_manually(200);
    assert_eq!(changed_rows(&db), ACCOUNTS);
    check_full(&db);
    db.compact().unwrap();
    assert_eq!(changed_rows(&db), 0);
    check_full(&db);
}

/// Readers see complete commits while compactions replace columns, and so does recovery afterwards.
#[test]
fn readers_and_writers_go_on_during_compaction() {
    let root = tempfile::tempdir().unwrap();
    let open = |path: &Path| Database::open(path, options()).unwrap();
    let db = open(root.path());
    set_up(&db);
    let mut amounts = [100; ACCOUNTS];
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = || {
            while !is_over.load(Ordering::Relaxed) {
                check_full(&db);
            }
        };
        scope.spawn(reader);
        (0..600).for_each(|number| transfer(&db, &mut amounts, number));
        is_over.store(true, Ordering::Relaxed);
    });
    wait_for_compactions(&db);
    let one_by_one = "{ q(func: has(amount)) { amount } }";
    let last = json(&db, one_by_one);
    let values = amounts.map(|amount| format!("{{\"amount\":{amount}}}"));
    assert_eq!(last, format!("{{\"q\":[{}]}}", values.join(",")));
    db.close().unwrap();
    let db = open(root.path());
    check_full(&db);
    assert_eq!(json(&db, one_by_one), last);
}

/// A compaction is discarded when its predicate was rebuilt meanwhile, and the remaining changes
/// are compacted afterwards.
#[test]
fn an_altered_predicate_is_compacted_again() {
    let db = Database::in_memory_with(options());
    set_up(&db);
    let mut amounts = [100; ACCOUNTS];
    for number in 0..300 {
        transfer(&db, &mut amounts, number);
        if number % 10 == 0 {
            let index = ["", "@index(int)"][number / 10 % 2];
            db.alter(&format!("amount: int {index} .")).unwrap();
        }
    }
    db.alter("amount: int @index(int) .").unwrap();
    wait_for_compactions(&db);
    check_full(&db);
}

/// The changes of a replayed log are compacted without a commit.
#[test]
fn a_long_log_is_compacted_after_recovery() {
    let root = tempfile::tempdir().unwrap();
    let thresholds = Thresholds { folding: Folding::Manual, ..Thresholds::small() };
    let db = Database::open(root.path(), OpenOptions { thresholds, ..options() }).unwrap();
    set_up(&db);
    let mut amounts = [100; ACCOUNTS];
    (0..3).for_each(|number| transfer(&db, &mut amounts, number));
    assert_eq!(changed_rows(&db), 6);
    drop(db);
    let thresholds = Thresholds { replayed_max: 1, ..Thresholds::small_background() };
    let db = Database::open(root.path(), OpenOptions { thresholds, ..options() }).unwrap();
    wait_for_compactions(&db);
    assert!(changed_rows(&db) <= thresholds.changes_min);
    check_full(&db);
}
