//! The power goes at any moment: what was acknowledged is there, completely.

use super::simulated::{Op, SimulatedFiles};
use super::small;
use crate::db::{
    Database, Drop, LoadOptions, OpenOptions, QueryRequest, RequestContext, Source, SyncPolicy,
    check,
};
use bytes::Bytes;
use hexgraph_base::types::Result;
use std::fs;
use std::path::Path;
use std::sync::Arc;

const SCHEMA: &str = "number: int @index(int) .\nname: string .\nnext: uid @reverse .";

/// What commit `n` sets: two values and an edge of node `n`.
fn statements(n: u64) -> String {
    let node = 0x1000 + n;
    format!(
        "<{node:#x}> <number> \"{n}\" .\n<{node:#x}> <name> \"n {n}\" (since={n}) .\n\
         <{node:#x}> <next> <{:#x}> .",
        node + 1
    )
}

/// Commits `n` by some API, all of it or nothing.
fn commit(db: &Database, n: u64, random: &mut fastrand::Rng) -> Result<()> {
    let set = statements(n);
    match random.u8(..12) {
        0 => {
            let txn = db.begin(crate::db::TxnOptions::default())?;
            let mut request = crate::db::MutationRequest::default();
            let set = vec![crate::db::Statements::NQuads(&set)];
            request.mutations = vec![crate::db::Mutation { set, ..Default::default() }];
            txn.mutate_with(&request, &RequestContext::new())?;
            txn.commit()?;
        }
        1 => {
            let source = Source::Bytes(Bytes::from(set));
            db.load_with(source, None, LoadOptions::default(), &RequestContext::new())?;
        }
        2 => {
            db.alter("unused: int .")?;
            db.drop(&Drop::Predicate("unused".to_owned()))?;
            db.mutate(&set, "")?;
        }
        _ => drop(db.mutate(&set, "")?),
    }
    Ok(())
}

fn open(folder: &Path, files: &SimulatedFiles, sync: SyncPolicy) -> Result<Database> {
    Database::open_with(folder, OpenOptions { sync, ..small() }, Arc::new(files.clone()))
}

/// The numbers of the commits that are there; panics where one is incomplete.
pub(super) fn commits_of(db: &Database) -> Vec<u64> {
    let text = "{ q(func: has(number)) { number name @facets next { uid } }
                  names(func: has(name)) { count(uid) } edges(func: has(next)) { count(uid) } }";
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    let (json, _) = db.query_with(&request, &RequestContext::new()).unwrap().to_json().unwrap();
    let answer: serde_json::Value = serde_json::from_str(&json).unwrap();
    let commits = answer["q"].as_array().unwrap().iter().map(|node| {
        // Where no schema was set it is a text.
        let n = node["number"].as_u64().or_else(|| node["number"].as_str()?.parse().ok()).unwrap();
        assert_eq!(node["name"], format!("n {n}"), "{node}");
        assert!(node["next"].is_array() || node["next"].is_object(), "{node}");
        n
    });
    let mut commits: Vec<u64> = commits.collect();
    commits.sort_unstable();
    for block in ["names", "edges"] {
        assert_eq!(answer[block][0]["count"], commits.len(), "{block}");
    }
    commits
}

/// Works in a folder in some sessions, one after the other.
fn work(folder: &Path, random: &mut fastrand::Rng) -> SimulatedFiles {
    let files = SimulatedFiles::over(folder);
    for _ in 0..random.u8(1..4) {
        if random.bool() {
            files.die_after(random.usize(..60));
        }
        let done = session(folder, &files, random);
        assert!(done.is_ok() || files.has_failed(), "{done:?}");
        files.revive();
    }
    files
}

/// Works until it is done or the process dies, and records what must survive a power loss.
fn session(folder: &Path, files: &SimulatedFiles, random: &mut fastrand::Rng) -> Result<()> {
    let sync = if random.bool() { SyncPolicy::Always } else { SyncPolicy::Never };
    let db = open(folder, files, sync)?;
    let mut last = last_of(&result(&db));
    // What is read of a database that is open for writing is on the disk, whoever wrote it.
    files.ack(last);
    if !has_schema(&db) {
        db.alter(SCHEMA)?;
    }
    for _ in 0..random.u8(1..12) {
        commit(&db, last + 1, random)?;
        last += 1;
        if sync == SyncPolicy::Always {
            files.ack(last);
        }
        if random.u8(..5) == 0 {
            db.checkpoint()?;
            files.ack(last);
        }
    }
    if random.bool() {
        db.close()?;
        files.ack(last);
    }
    // Where it goes without that nothing is written: the log is short.
    Ok(())
}

fn has_schema(db: &Database) -> bool {
    db.schema_text().unwrap().contains("number: int")
}

/// The numbers of the commits that are there, also where there is no schema yet.
fn result(db: &Database) -> Vec<u64> {
    if has_schema(db) { commits_of(db) } else { Vec::new() }
}

fn last_of(commits: &[u64]) -> u64 {
    commits.last().copied().unwrap_or(0)
}

/// Opens what a power loss left, and returns the last commit that is there.
fn examine(folder: &Path, acked: u64, context: &str) -> u64 {
    if !folder.join("CURRENT").exists() {
        assert_eq!(acked, 0, "{context}");
        return 0;
    }
    check(folder).unwrap_or_else(|error| panic!("{context}: {error}"));
    let db = Database::open(folder, small());
    let db = db.unwrap_or_else(|error| panic!("{context}: {error}"));
    let result = result(&db);
    let last = last_of(&result);
    assert_eq!(result, (1..=last).collect::<Vec<_>>(), "{context}");
    assert!(acked <= last, "{context}: {acked} were acknowledged, {last} are there");
    last
}

#[test]
fn what_was_acknowledged_survives_a_power_loss() {
    let seed = fastrand::u64(..);
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..40 {
        let root = tempfile::tempdir().unwrap();
        let live = root.path().join("live");
        fs::create_dir(&live).unwrap();
        let mut last = 0;
        // The disk that is left is worked on, and loses power, again.
        for step in 0..3 {
            let files = work(&live, &mut random);
            let ops = files.ops();
            let before = last;
            for trial in 0..10 {
                let count = random.usize(..=ops.len());
                let folder = root.path().join(format!("left-{step}-{trial}"));
                fs::create_dir(&folder).unwrap();
                files.lose_power(count, &mut random, &folder);
                let acks = ops[..count].iter().filter_map(|op| match op {
                    Op::Ack(n) => Some(*n),
                    _ => None,
                });
                let acked = acks.max().unwrap_or(before).max(before);
                let context = format!("seed {seed} round {round} step {step} ops {count}");
                last = examine(&folder, acked, &context);
                if trial == 9 {
                    fs::remove_dir_all(&live).unwrap();
                    fs::rename(&folder, &live).unwrap();
                }
            }
            if last == 0 {
                break;
            }
        }
    }
}

/// A process dies before it has synced what it wrote. The next one reads it completely, and its log
/// continues it.
#[test]
fn what_was_recovered_is_durable_before_more_is_acknowledged() {
    let mut random = fastrand::Rng::with_seed(7);
    let root = tempfile::tempdir().unwrap();
    let live = root.path().join("live");
    fs::create_dir(&live).unwrap();
    let files = SimulatedFiles::over(&live);
    let db = open(&live, &files, SyncPolicy::Never).unwrap();
    db.alter(SCHEMA).unwrap();
    db.mutate(&statements(1), "").unwrap();
    files.die_after(0);
    drop(db);
    files.revive();
    let db = open(&live, &files, SyncPolicy::Always).unwrap();
    db.mutate(&statements(2), "").unwrap();
    for trial in 0..10 {
        let folder = root.path().join(format!("left-{trial}"));
        fs::create_dir(&folder).unwrap();
        files.lose_power(files.ops().len(), &mut random, &folder);
        assert_eq!(examine(&folder, 2, &format!("trial {trial}")), 2);
    }
}

#[test]
fn a_commit_is_one_write_and_one_sync() {
    let root = tempfile::tempdir().unwrap();
    let files = SimulatedFiles::over(root.path());
    let db = open(root.path(), &files, SyncPolicy::Always).unwrap();
    let ops_of = |n: u64| {
        let before = files.ops().len();
        db.mutate(&format!("<{n}> <name> \"n {n}\" ."), "").unwrap();
        files.ops().split_off(before)
    };
    // The first one creates the log: both it and its name are on the disk before anything is in it.
    let first = ops_of(1);
    let synced = |op: &Op| matches!(op, Op::Sync(_) | Op::SyncDirectory);
    assert_eq!(first.iter().filter(|op| synced(op)).count(), 5, "{first:?}");
    assert!(matches!(
        first[..],
        [.., Op::Rename(..), Op::SyncDirectory, Op::Write(..), Op::Sync(_)]
    ));
    for n in 2..5 {
        let ops = ops_of(n);
        assert!(matches!(ops[..], [Op::Write(..), Op::Sync(_)]), "{ops:?}");
    }
}
