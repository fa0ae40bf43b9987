//! Files that fail: at each operation, once and permanently. Nothing that was acknowledged is lost,
//! what was refused is not half there, and a database goes on where it can.

use super::power_loss::commits_of;
use super::simulated::{Fault, SimulatedFiles};
use super::small;
use crate::db::{Database, check};
use hexgraph_base::types::Error;
use std::path::Path;
use std::sync::Arc;

const SCHEMA: &str = "number: int @index(int) .\nname: string .\nnext: uid @reverse .";

fn open(folder: &Path, files: &SimulatedFiles) -> Result<Database, Error> {
    Database::open_with(folder, small(), Arc::new(files.clone()))
}

fn statements(n: u64) -> String {
    let node = 0x1000 + n;
    format!(
        "<{node:#x}> <number> \"{n}\" .\n<{node:#x}> <name> \"n {n}\" .\n<{node:#x}> <next> <{:#x}> .",
        node + 1
    )
}

/// Works on files that fail as configured. Returns what was acknowledged, and false when the fault
/// never came.
fn work(folder: &Path, fault: Fault) -> (Vec<u64>, bool) {
    Database::open(folder, small()).unwrap().alter(SCHEMA).unwrap();
    let files = SimulatedFiles::over(folder);
    files.fail(fault);
    let mut acked = Vec::new();
    let Ok(db) = open(folder, &files) else { return (acked, true) };
    for n in 1..10 {
        let done = db.mutate(&statements(n), "");
        if done.is_ok() {
            acked.push(n);
        }
        let error = done.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.is_empty() || error.contains("log"), "{error}");
        // What was acknowledged is seen, what was refused is not.
        assert_eq!(commits_of(&db), acked, "after {error}");
        if n % 4 == 0 {
            let _ = db.checkpoint();
        }
    }
    let failed = files.has_failed();
    if db.close().is_err() {
        assert!(failed);
    }
    (acked, failed)
}

fn every_operation_fails(lasts: bool) {
    for at in 0.. {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("db");
        let (acked, failed) = work(&folder, Fault { at, lasts });
        check(&folder).unwrap();
        let result = commits_of(&Database::open(&folder, small()).unwrap());
        let lost: Vec<_> = acked.iter().filter(|n| !result.contains(n)).collect();
        assert!(lost.is_empty(), "operation {at}: {lost:?} are lost");
        if !failed {
            assert_eq!(acked.len(), 9);
            assert!(20 < at, "there are few operations: {at}");
            return;
        }
    }
}

#[test]
fn an_operation_that_fails_once_loses_nothing() {
    every_operation_fails(false);
}

#[test]
fn operations_that_fail_for_good_lose_nothing() {
    every_operation_fails(true);
}

#[test]
fn a_full_disk_refuses_a_commit_and_takes_the_next() {
    let root = tempfile::tempdir().unwrap();
    let files = SimulatedFiles::over(root.path());
    let db = open(root.path(), &files).unwrap();
    db.mutate(&statements(1), "").unwrap();
    let count = files.ops().len();
    files.fail(Fault { at: count, lasts: false });
    let error = db.mutate(&statements(2), "").err().unwrap().to_string();
    assert!(error.contains("writing") && error.contains("No space left"), "{error}");
    db.mutate(&statements(3), "").unwrap();
    assert_eq!(commits_of(&db), [1, 3]);
}

#[test]
fn a_failed_sync_refuses_commits_until_reopening() {
    let root = tempfile::tempdir().unwrap();
    let files = SimulatedFiles::over(root.path());
    let db = open(root.path(), &files).unwrap();
    db.mutate(&statements(1), "").unwrap();
    let count = files.ops().len();
    files.fail(Fault { at: count + 1, lasts: false });
    let error = db.mutate(&statements(2), "").err().unwrap();
    assert!(
        matches!(&error, Error::Io { context, .. } if context.contains("can't be trusted")),
        "{error}"
    );
    let error = db.mutate(&statements(3), "").err().unwrap().to_string();
    assert!(error.contains("open it again"), "{error}");
    assert_eq!(commits_of(&db), [1]);
    db.close().unwrap();
    let db = open(root.path(), &files).unwrap();
    db.mutate(&statements(4), "").unwrap();
    assert_eq!(commits_of(&db).last(), Some(&4));
}
