//! Logs, checkpoints, and readers during writes, on real files.

use super::power_loss::commits_of;
use super::small;
use crate::db::{
    Database, Drop, OpenOptions, QueryRequest, RequestContext, SyncPolicy, TxnOptions, check,
};
use hexgraph_base::types::Error;
use std::fs;
use std::path::Path;
use std::time::Duration;

fn statements(n: u64) -> String {
    let node = 0x1000 + n;
    format!(
        "<{node:#x}> <number> \"{n}\" .\n<{node:#x}> <name> \"n {n}\" .\n<{node:#x}> <next> <{:#x}> .",
        node + 1
    )
}

fn commit(db: &Database, numbers: std::ops::RangeInclusive<u64>) {
    numbers.for_each(|n| drop(db.mutate(&statements(n), "").unwrap()));
}

fn open(path: &Path) -> Database {
    Database::open(path, small()).unwrap()
}

fn to_read() -> OpenOptions {
    OpenOptions { read_only: true, ..small() }
}

fn logs(path: &Path) -> Vec<String> {
    files(path, ".hxl")
}

fn snapshots(path: &Path) -> Vec<String> {
    files(path, ".hxs")
}

fn files(path: &Path, ending: &str) -> Vec<String> {
    let names =
        fs::read_dir(path).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.ends_with(ending)).collect();
    names.sort();
    names
}

/// What a database answers.
pub(super) fn json(db: &Database, query: &str) -> String {
    let request = QueryRequest { text: query.to_owned(), ..QueryRequest::default() };
    db.query_with(&request, &RequestContext::new()).unwrap().to_json().unwrap().0
}

/// The counter of uids starts anew when everything is dropped and many were handed out, so that new
/// nodes have small ones. It goes on when data alone are dropped, and as long as it is far from its
/// end.
#[test]
fn dropping_everything_gives_uids_back() {
    let root = tempfile::tempdir().unwrap();
    let db = open(root.path());
    let uid = |db: &Database| {
        let done = db.mutate("_:a <name> \"x\" .", "").unwrap();
        u64::from_str_radix(done.uids["a"].to_string().trim_start_matches("0x"), 16).unwrap()
    };
    let first = uid(&db);
    db.drop(&Drop::All).unwrap();
    assert_eq!(uid(&db), first + 1);
    db.mutate("<0x20000000> <name> \"x\" .", "").unwrap();
    db.drop(&Drop::Data).unwrap();
    assert!(0x2000_0000 < uid(&db));
    // What a transaction was given before is not committed afterwards, and not lost for others.
    let txn = db.begin(TxnOptions::default()).unwrap();
    txn.mutate_text_with("{ set { _:b <name> \"y\" . } }", &RequestContext::new()).unwrap();
    db.drop(&Drop::All).unwrap();
    assert_eq!(uid(&db), first);
    assert!(matches!(txn.commit(), Err(Error::Conflict)));
    assert_eq!(uid(&db), first + 1);
    let crashed = crashed(root.path());
    let again = open(crashed.path());
    assert_eq!(uid(&again), first + 2);
    drop(again);
    assert_eq!(uid(&open(crashed.path())), first + 3);
}

/// A directory as it is when the process dies now.
fn crashed(path: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(path).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    copy
}

#[test]
fn what_a_log_has_is_there_again() {
    let root = tempfile::tempdir().unwrap();
    let db = open(root.path());
    db.alter("number: int @index(int) .").unwrap();
    commit(&db, 1..=3);
    let number = db.commit().unwrap();
    db.assign_uids(1000).unwrap();
    let next = db.assign_uids(1).unwrap();
    db.close().unwrap();
    assert_eq!(logs(root.path()).len(), 1);
    let db = open(root.path());
    assert_eq!(commits_of(&db), [1, 2, 3]);
    assert_eq!(db.recovery().unwrap().commits, 6);
    assert!(number < db.commit().unwrap());
    assert!(next < db.assign_uids(1).unwrap());
}

#[test]
fn a_checkpoint_replaces_the_log() {
    let root = tempfile::tempdir().unwrap();
    let db = open(root.path());
    commit(&db, 1..=2);
    db.checkpoint().unwrap();
    assert!(logs(root.path()).is_empty());
    commit(&db, 3..=3);
    assert_eq!(logs(root.path()).len(), 1);
    db.compact().unwrap();
    assert!(logs(root.path()).is_empty());
    drop(db);
    let db = open(root.path());
    assert_eq!((commits_of(&db).len(), db.recovery().unwrap().commits), (3, 0));
}

#[test]
fn a_long_log_is_replaced_by_a_snapshot() {
    let root = tempfile::tempdir().unwrap();
    let options = OpenOptions { checkpoint: 2000, sync: SyncPolicy::Never, ..small() };
    let db = Database::open(root.path(), options).unwrap();
    let snapshot = || snapshots(root.path());
    let first = snapshot();
    for n in 1.. {
        commit(&db, n..=n);
        if snapshot() != first {
            break;
        }
        assert!(n < 100_000, "no snapshot came");
    }
    let commits = commits_of(&db);
    db.close().unwrap();
    check(root.path()).unwrap();
    assert_eq!(commits_of(&open(root.path())), commits);
}

#[test]
fn a_reader_follows_a_writer() {
    let root = tempfile::tempdir().unwrap();
    let db = open(root.path());
    commit(&db, 1..=1);
    let reader = Database::open(root.path(), to_read()).unwrap();
    assert_eq!(commits_of(&reader), [1]);
    for n in 2..10 {
        commit(&db, n..=n);
        if n % 3 == 0 {
            db.checkpoint().unwrap();
        }
        assert_eq!(commits_of(&reader).len() as u64, n - 1);
        assert_eq!(reader.refresh().unwrap(), db.commit().unwrap());
        assert_eq!(commits_of(&reader).len() as u64, n);
    }
    assert!(reader.mutate(&statements(11), "").err().unwrap().to_string().contains("read-only"));
}

#[test]
fn a_tail_that_is_torn_is_cut_off() {
    let root = tempfile::tempdir().unwrap();
    let db = open(root.path());
    commit(&db, 1..=3);
    let root = crashed(root.path());
    drop(db);
    let log = root.path().join(&logs(root.path())[0]);
    let bytes = fs::read(&log).unwrap();
    fs::write(&log, &bytes[..bytes.len() - 5]).unwrap();
    assert!(0 < check(root.path()).unwrap().tail);
    assert_eq!(commits_of(&Database::open(root.path(), to_read()).unwrap()), [1, 2]);
    let db = open(root.path());
    assert!(0 < db.recovery().unwrap().cut);
    commit(&db, 4..=4);
    drop(db);
    assert_eq!(check(root.path()).unwrap().tail, 0);
    assert_eq!(commits_of(&open(root.path())), [1, 2, 4]);
}

#[test]
fn damage_in_the_middle_of_a_log_is_an_error() {
    let root = tempfile::tempdir().unwrap();
    let db = open(root.path());
    commit(&db, 1..=3);
    drop(db);
    let log = root.path().join(&logs(root.path())[0]);
    let mut bytes = fs::read(&log).unwrap();
    bytes[170] ^= 1;
    fs::write(&log, &bytes).unwrap();
    let error = Database::open(root.path(), small()).err().unwrap();
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("log-1.hxl: the record at byte 128"), "{error}");
    let error = check(root.path()).err().unwrap();
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("log-1.hxl: the record at byte 128"), "{error}");
    // Nothing was cut off.
    assert_eq!(fs::read(&log).unwrap(), bytes);
}

#[test]
fn a_log_that_is_missing_is_an_error() {
    let root = tempfile::tempdir().unwrap();
    for n in 1..4 {
        commit(&open(root.path()), n..=n);
    }
    assert_eq!(logs(root.path()), ["log-1.hxl", "log-2.hxl", "log-3.hxl"]);
    fs::remove_file(root.path().join("log-2.hxl")).unwrap();
    let error = Database::open(root.path(), small()).err().unwrap().to_string();
    assert!(
        error.contains("log-2.hxl: it is missing") && error.contains("log-3.hxl names it"),
        "{error}"
    );
}

#[test]
fn writers_have_common_syncs_before_acknowledgement() {
    let root = tempfile::tempdir().unwrap();
    for sync in [SyncPolicy::Always, SyncPolicy::Every(Duration::from_millis(1)), SyncPolicy::Never]
    {
        let folder = root.path().join(format!("{sync:?}"));
        let options = OpenOptions { sync, checkpoint: 5000, ..small() };
        let db = Database::open(&folder, options).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let db = &db;
                scope.spawn(move || {
                    for n in 0..25 {
                        let n = 100 * thread + n;
                        commit(db, n..=n);
                        assert!(commits_of(db).contains(&n));
                    }
                });
            }
        });
        db.close().unwrap();
        assert_eq!(commits_of(&open(&folder)).len(), 100);
    }
}

#[test]
fn a_directory_can_be_opened_again_at_once() {
    let root = tempfile::tempdir().unwrap();
    let sync = SyncPolicy::Every(Duration::from_micros(100));
    let options = OpenOptions { sync, checkpoint: 500, ..small() };
    for round in 1..=60 {
        let db = Database::open(root.path(), options).unwrap();
        commit(&db, 10 * round..=10 * round + 9);
        match round % 2 {
            0 => drop(db),
            _ => db.close().unwrap(),
        }
    }
    assert_eq!(commits_of(&open(root.path())).len(), 600);
}

#[test]
fn a_backup_is_a_database() {
    let root = tempfile::tempdir().unwrap();
    let (home, copy) = (root.path().join("home"), root.path().join("copy"));
    let db = open(&home);
    commit(&db, 1..=2);
    db.save(&copy).unwrap();
    commit(&db, 3..=3);
    assert_eq!(commits_of(&Database::open(&copy, to_read()).unwrap()), [1, 2]);
    // Over a database that has logs of its own.
    commit(&open(&copy), 7..=7);
    db.save(&copy).unwrap();
    assert_eq!(commits_of(&open(&copy)), [1, 2, 3]);
    check(&copy).unwrap();
}

/// A text that makes a snapshot larger than what is always read.
fn large(db: &Database) {
    let text: String = (0..120_000).map(|n| format!("{n:x} letters, ")).collect();
    db.mutate(&format!("<0x1> <text> \"{text}\" .\n<0x1> <name> \"Ada\" ."), "").unwrap();
    db.checkpoint().unwrap();
}

#[test]
fn a_snapshot_that_is_read_may_be_shortened() {
    // A large one is read where that is requested, a small one always is.
    for is_large in [true, false] {
        let root = tempfile::tempdir().unwrap();
        let db = open(root.path());
        match is_large {
            true => large(&db),
            false => drop(db.mutate("<0x1> <name> \"Ada\" .", "").unwrap()),
        }
        db.compact().unwrap();
        db.close().unwrap();
        let snapshot = root.path().join(&snapshots(root.path())[0]);
        let len = fs::metadata(&snapshot).unwrap().len();
        assert_eq!(1 << 20 < len, is_large, "{len}");
        for read_only in [true, false] {
            let options = OpenOptions { read_only, no_map: is_large, ..small() };
            let db = Database::open(root.path(), options).unwrap();
            let bytes = fs::read(&snapshot).unwrap();
            fs::File::options().write(true).open(&snapshot).unwrap().set_len(0).unwrap();
            assert_eq!(json(&db, "{ q(func: has(name)) { name } }"), r#"{"q":[{"name":"Ada"}]}"#);
            // In position, as whoever copies over it does.
            fs::write(&snapshot, bytes).unwrap();
        }
    }
}

#[test]
fn long_work_stops_within_a_moment() {
    let root = tempfile::tempdir().unwrap();
    let db = open(root.path());
    db.alter("number: int .").unwrap();
    commit(&db, 1..=3);
    let schema = db.schema_text().unwrap();
    let (begun, wait) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        // A writer holds the lock like an index build that can't be interrupted.
        let busy = &db;
        scope.spawn(move || {
            busy.change(None, |version, commit| {
                begun.send(()).unwrap();
                std::thread::sleep(Duration::from_millis(1500));
                if let Some(record) = &mut commit.record {
                    hexgraph_store::graph::encode_next_uid(version.uids.next(), record);
                }
                Ok((hexgraph_store::graph::Version::clone(version), ()))
            })
            .unwrap();
        });
        wait.recv().unwrap();
        type Work = fn(&Database, &RequestContext) -> Result<(), Error>;
        let work: [Work; 4] = [
            |db, context| db.alter_with("number: int @index(int) .", context).map(drop),
            |db, context| {
                db.set_graphql_schema_with("type A { b: Int @search }", context).map(drop)
            },
            |db, context| db.compact_with(context),
            |db, context| db.checkpoint_with(context),
        ];
        for work in work {
            let started = std::time::Instant::now();
            let context = RequestContext::new()
                .with_poll(move || Duration::from_millis(60) < started.elapsed());
            let error = work(&db, &context).unwrap_err();
            assert!(matches!(error, Error::Limit { .. }), "{error}");
            assert_eq!(error.to_string(), "the request was interrupted");
            // 110 ms on a busy machine; the lock is free after 1,500.
            assert!(started.elapsed() < Duration::from_millis(400), "{:?}", started.elapsed());
        }
    });
    // The running operation stopped without a change.
    commit(&db, 4..=4);
    assert_eq!(db.schema_text().unwrap(), schema);
    assert_eq!(commits_of(&db), [1, 2, 3, 4]);
    db.close().unwrap();
    // The threads of what was interrupted may have their handles still, and yet the directory is
    // free.
    assert_eq!(commits_of(&open(root.path())), [1, 2, 3, 4]);
}

#[test]
fn a_writer_that_waits_while_the_database_is_closed_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let db = open(root.path());
    commit(&db, 1..=1);
    let (begun, wait) = std::sync::mpsc::channel();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let held = &db;
        let delayed = scope.spawn(move || {
            held.change(None, |version, commit| {
                begun.send(()).unwrap();
                ended.recv().unwrap();
                if let Some(record) = &mut commit.record {
                    hexgraph_store::graph::encode_next_uid(version.uids.next() + 1, record);
                }
                Ok((hexgraph_store::graph::Version::clone(version), ()))
            })
        });
        wait.recv().unwrap();
        db.close().unwrap();
        // Somebody else writes already when the delayed one is done.
        let other = open(root.path());
        commit(&other, 2..=2);
        end.send(()).unwrap();
        assert!(matches!(delayed.join().unwrap(), Err(Error::Closed)));
        commit(&other, 3..=3);
    });
    assert_eq!(commits_of(&Database::open(root.path(), to_read()).unwrap()), [1, 2, 3]);
}

#[test]
fn declarations_have_their_source_after_a_crash() {
    let root = tempfile::tempdir().unwrap();
    let db = open(root.path());
    db.alter("iata: string @index(term) @lang .\nflights: [uid] @reverse .\ntype Port {\n iata\n}")
        .unwrap();
    let by_hand = db.schema_text().unwrap();
    let schema = "type Port { id: ID! iata: String @id @dgraph(pred: \"iata\") note: String @search(by: [exact]) flights: [Port] @dgraph(pred: \"flights\") }";
    db.set_graphql_schema(schema).unwrap();
    let over = db.schema_text().unwrap();
    assert!(over.contains("@index(term, hash)") && over.contains("Port.note"), "{over}");
    let died = crashed(root.path());
    // In the log, and in a snapshot.
    for compacts in [false, true] {
        let db = open(died.path());
        assert_eq!(db.schema_text().unwrap(), over);
        assert_eq!(db.graphql_schema().unwrap().unwrap().schema, schema);
        if compacts {
            db.compact().unwrap();
        }
        let again = crashed(died.path());
        drop(db);
        let db = open(again.path());
        db.set_graphql_schema("type Other { id: ID! name: String }").unwrap();
        assert!(open_as(&again, &db).contains("iata: string @index(term) @lang ."));
        let left = db.schema_text().unwrap();
        let lines: Vec<&str> = by_hand.lines().filter(|line| !left.contains(line)).collect();
        assert_eq!(lines, Vec::<&str>::new(), "{left}");
        assert!(!left.contains("hash"), "{left}");
    }
}

/// The schema after another crash.
fn open_as(folder: &tempfile::TempDir, db: &Database) -> String {
    let copy = crashed(folder.path());
    assert_eq!(open(copy.path()).schema_text().unwrap(), db.schema_text().unwrap());
    db.schema_text().unwrap()
}

#[test]
fn changes_of_the_schema_and_backups_can_be_stopped() {
    let db = Database::in_memory();
    commit(&db, 1..=3);
    let context = RequestContext::new();
    context.canceller().cancel();
    let stopped = |error: Error| assert!(error.to_string().contains("cancelled"), "{error}");
    let before = db.schema_text().unwrap();
    stopped(db.alter_with("name: string @index(term) .", &context).unwrap_err());
    stopped(db.set_graphql_schema_with("type A { b: Int }", &context).unwrap_err());
    assert_eq!(db.schema_text().unwrap(), before);
    assert_eq!(db.graphql_schema().unwrap(), None);
    let root = tempfile::tempdir().unwrap();
    db.save(root.path()).unwrap();
    commit(&db, 4..=5);
    stopped(db.save_with(root.path(), &context).unwrap_err());
    assert_eq!(commits_of(&open(root.path())), [1, 2, 3]);
    assert_eq!(snapshots(root.path()).len(), 1);
}

/// Columns of few distinct values are stored as codes when they are built; their indexes find the
/// same before and after.
#[test]
fn indexes_of_repeated_values_find_them_in_every_form() {
    let kinds = ["int", "float", "bigfloat", "bool", "datetime", "string"];
    let index = |kind: &str| {
        match kind {
            "string" => "exact",
            "datetime" => "hour",
            other => other,
        }
        .to_owned()
    };
    let value = |kind: &str, number: usize| match kind {
        "bool" => (number == 0).to_string(),
        "datetime" => format!("200{number}-03-04"),
        "string" => format!("text {number}"),
        "int" => number.to_string(),
        _ => format!("{number}.5"),
    };
    let root = tempfile::tempdir().unwrap();
    let db = Database::open(root.path(), OpenOptions::default()).unwrap();
    let schema = kinds.map(|kind| format!("a_{kind}: {kind} @index({}) .\n", index(kind)));
    db.alter(&schema.concat()).unwrap();
    let line = |node: usize, kind: &&str| {
        format!("<{}> <a_{kind}> \"{}\" .\n", 1 + node, value(kind, node % 5))
    };
    let lines = (0..3000).flat_map(|node| kinds.iter().map(move |kind| line(node, kind)));
    db.mutate(&lines.collect::<String>(), "").unwrap();
    let check = |db: &Database, when: &str| {
        for kind in kinds {
            let expected = value(kind, 3);
            let text = format!("{{ q(func: eq(a_{kind}, \"{expected}\")) {{ count(uid) }} }}");
            let request = QueryRequest { text, ..QueryRequest::default() };
            let answer =
                db.query_with(&request, &RequestContext::new()).unwrap().to_json().unwrap().0;
            let count = if kind == "bool" { 2400 } else { 600 };
            assert_eq!(answer, format!("{{\"q\":[{{\"count\":{count}}}]}}"), "{kind} {when}");
        }
    };
    check(&db, "committed");
    db.compact().unwrap();
    check(&db, "compacted");
    db.close().unwrap();
    let db = Database::open(root.path(), OpenOptions::default()).unwrap();
    check(&db, "opened");
    db.alter("a_bigfloat: bigfloat .").unwrap();
    db.alter("a_bigfloat: bigfloat @index(bigfloat) .").unwrap();
    check(&db, "indexed again");
}
