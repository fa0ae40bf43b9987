//! Namespaces: what one has the others have not, over restarts, copies, concurrent readers, and
//! files that fail.

use super::durability::json;
use super::simulated::{Fault, SimulatedFiles};
use super::small;
use crate::db::{Database, Drop, LoadOptions, OpenOptions, RequestContext, Source, check};
use hexgraph_base::types::Error;
use std::path::Path;
use std::sync::{Arc, OnceLock};

const NAMES: &str = "{ q(func: has(name)) { name } }";

fn open(path: &Path) -> Database {
    Database::open(path, small()).unwrap()
}

fn read(path: &Path) -> Database {
    Database::open(path, OpenOptions { read_only: true, ..small() }).unwrap()
}

fn add(db: &Database, name: &str) {
    db.mutate(&format!("_:a <name> \"{name}\" ."), "").unwrap();
}

fn names(db: &Database) -> String {
    json(db, NAMES).replace(r#"{"q":["#, "").replace("]}", "").replace(r#""name":"#, "")
}

fn text(error: Error) -> String {
    error.to_string()
}

#[test]
fn what_one_has_the_others_have_not() {
    let db = Database::in_memory();
    let ids = [db.create_namespace(None).unwrap(), db.create_namespace(None).unwrap()];
    assert_eq!((ids, db.namespaces().unwrap()), ([1, 2], vec![0, 1, 2]));
    let [one, two] = ids.map(|id| db.namespace(id).unwrap());
    one.alter("name: string @index(exact) .\ntype A {\n name\n}").unwrap();
    two.alter("name: int .").unwrap();
    for (handle, name) in [(&db, "zero"), (&one, "one"), (&two, "2")] {
        add(handle, name);
    }
    assert_eq!(names(&db), r#"{"zero"}"#);
    assert_eq!(names(&one), r#"{"one"}"#);
    assert_eq!(names(&two), "{2}");
    assert!(one.schema_text().unwrap().contains("exact"));
    assert!(!db.schema_text().unwrap().contains("exact"));
    assert_eq!(json(&one, r#"{ q(func: eq(name, "zero")) { name } }"#), r#"{"q":[]}"#);
    // What drops everything drops one of them, transactions and numbers are their own.
    let txn = two.begin(crate::db::TxnOptions::default()).unwrap();
    one.drop(&Drop::All).unwrap();
    assert_eq!((names(&one), names(&db)), (String::new(), r#"{"zero"}"#.to_owned()));
    assert!(txn.commit().is_ok());
    assert_eq!(text(db.drop_namespace(0).unwrap_err()), "namespace [0] cannot be deleted");
    db.drop_namespace(1).unwrap();
    assert_eq!(text(one.stats().unwrap_err()), "the namespace 1 was dropped");
    assert!(text(db.namespace(1).err().unwrap()).starts_with("there is no namespace 1"));
    assert!(text(db.namespace(u64::MAX).err().unwrap()).starts_with("there is no namespace"));
    assert_eq!(db.create_namespace(None).unwrap(), 3, "no number is used twice");
    assert_eq!(db.namespaces().unwrap(), [0, 2, 3]);
    db.close().unwrap();
    assert!(matches!(two.stats(), Err(Error::Closed)));
    assert!(matches!(db.create_namespace(None), Err(Error::Closed)));
}

#[test]
fn they_are_there_again() {
    let root = tempfile::tempdir().unwrap();
    let db = open(root.path());
    let id = db.create_namespace(None).unwrap();
    add(&db, "zero");
    add(&db.namespace(id).unwrap(), "one");
    // A crash: nothing is closed, the files are as they are.
    std::mem::forget(db);
    let copy = copy_of(root.path());
    let db = open(copy.path());
    let one = db.namespace(id).unwrap();
    assert_eq!((names(&db), names(&one)), (r#"{"zero"}"#.to_owned(), r#"{"one"}"#.to_owned()));
    drop(db);
    // A handle of one holds all open, and the lock.
    assert!(Database::open(copy.path(), small()).is_err());
    add(&one, "more");
    one.close().unwrap();
    let db = open(copy.path());
    assert_eq!(db.namespace(id).unwrap().stats().unwrap().nodes, 2);
    db.drop_namespace(id).unwrap();
    assert!(!copy.path().join("namespaces/1").exists());
    db.close().unwrap();
    let db = open(copy.path());
    assert_eq!(db.namespaces().unwrap(), [0]);
    assert_eq!(db.create_namespace(None).unwrap(), 2);
}

/// A directory with its folders as it is when the process dies now.
fn copy_of(path: &Path) -> tempfile::TempDir {
    fn copy(from: &Path, to: &Path) {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let target = to.join(entry.file_name());
            match entry.file_type().unwrap().is_dir() {
                true => copy(&entry.path(), &target),
                false => drop(std::fs::copy(entry.path(), target).unwrap()),
            }
        }
    }
    let target = tempfile::tempdir().unwrap();
    copy(path, target.path());
    target
}

#[test]
fn no_uid_is_of_two_namespaces() {
    let root = tempfile::tempdir().unwrap();
    let db = open(root.path());
    let id = db.create_namespace(None).unwrap();
    let uid = |db: &Database| {
        let done = db.mutate("_:a <name> \"x\" .", "").unwrap();
        u64::from_str_radix(done.uids["a"].to_string().trim_start_matches("0x"), 16).unwrap()
    };
    let one = db.namespace(id).unwrap();
    let first = [uid(&db), uid(&one), uid(&db), uid(&one)];
    assert!(first.is_sorted_by(|a, b| a < b), "{first:?}");
    drop((db, one));
    // The namespace 1 is not opened first, and yet what it has is left out.
    let db = open(root.path());
    let second = [uid(&db), uid(&db), uid(&db), uid(&db.namespace(id).unwrap())];
    assert!(first.iter().chain(&second).is_sorted_by(|a, b| a < b), "{first:?} {second:?}");
    assert!(second[0] < first[3] + 5000);
    // What is dropped gives back no uid while others have some.
    let one = db.namespace(id).unwrap();
    let third = [&db, &one].map(|it| {
        it.drop(&Drop::All).unwrap();
        uid(it)
    });
    assert!(second.iter().chain(&third).is_sorted_by(|a, b| a < b), "{second:?} {third:?}");
}

/// One commit may allocate far more uids than are recorded in advance, and so may a load.
#[test]
fn no_uid_is_of_two_namespaces_after_much_at_once() {
    for is_load in [false, true] {
        let root = tempfile::tempdir().unwrap();
        let db = open(root.path());
        let one = db.namespace(db.create_namespace(None).unwrap()).unwrap();
        let lines: String = (0..10_000).map(|at| format!("_:n{at} <name> \"x\" .\n")).collect();
        match is_load {
            true => {
                let source = Source::Bytes(lines.into());
                one.load_with(source, None, LoadOptions::default(), &RequestContext::new())
                    .map(drop)
                    .unwrap();
            }
            false => one.mutate(&lines, "").map(drop).unwrap(),
        }
        // As after a crash: nothing is closed.
        std::mem::forget((db, one));
        let copy = copy_of(root.path());
        let db = open(copy.path());
        let lines: String = (0..10).map(|at| format!("_:n{at} <name> \"x\" .\n")).collect();
        let made = db.mutate(&lines, "").unwrap().uids;
        let one = db.namespace(1).unwrap();
        let uids = made.values().map(String::as_str).collect::<Vec<_>>().join(", ");
        let both = format!("{{ q(func: uid({uids})) @filter(has(name)) {{ uid }} }}");
        assert_eq!(json(&one, &both), r#"{"q":[]}"#, "{is_load}");
    }
}

/// The number 0 represents the directory itself and the greatest one for the reserved database:
/// neither goes since a folder is called so.
#[test]
fn what_is_no_namespace_is_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let db = open(root.path());
    let id = db.create_namespace(None).unwrap();
    add(&db, "zero");
    add(&db.namespace(id).unwrap(), "one");
    drop(db);
    for name in ["0", "00", "+1", "01", "18446744073709551615", "notes", "7"] {
        std::fs::create_dir(root.path().join("namespaces").join(name)).unwrap();
    }
    let db = open(root.path());
    let one = db.namespace(id).unwrap();
    assert_eq!((names(&db), names(&one)), (r#"{"zero"}"#.to_owned(), r#"{"one"}"#.to_owned()));
    assert!(root.path().join("namespaces/01").exists());
    assert!(!root.path().join("namespaces/7").exists(), "it could be one that was being made");
    check(root.path()).unwrap();
    let copy = tempfile::tempdir().unwrap();
    db.save(copy.path()).unwrap();
    std::fs::create_dir_all(copy.path().join("namespaces/0")).unwrap();
    db.save(copy.path()).unwrap();
    assert_eq!(names(&read(copy.path())), r#"{"zero"}"#);
}

/// A copy without the reserved database loses nothing by being opened, and a lost folder is no
/// empty namespace.
#[test]
fn what_was_not_copied_is_reported() {
    let root = tempfile::tempdir().unwrap();
    let db = open(root.path());
    let id = db.create_namespace(None).unwrap();
    add(&db.namespace(id).unwrap(), "one");
    drop(db);
    let reserved = root.path().join("reserved");
    let aside = root.path().join("aside");
    std::fs::rename(&reserved, &aside).unwrap();
    let db = open(root.path());
    assert_eq!(db.namespaces().unwrap(), [0]);
    let reported = text(db.create_namespace(None).unwrap_err());
    assert!(reported.contains("namespaces/1 is there, and"), "{reported}");
    drop(db);
    std::fs::rename(&aside, &reserved).unwrap();
    let db = open(root.path());
    assert_eq!(names(&db.namespace(id).unwrap()), r#"{"one"}"#);
    drop(db);
    std::fs::rename(root.path().join("namespaces/1"), &aside).unwrap();
    let db = open(root.path());
    assert!(matches!(db.namespace(id).err(), Some(Error::Io { .. })));
    assert!(!root.path().join("namespaces/1").exists());
}

#[test]
fn copies_have_what_is_made_and_dropped_meanwhile() {
    let (root, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let db = open(root.path());
    (0..2).for_each(|_| _ = db.create_namespace(None).unwrap());
    let has_begun = OnceLock::new();
    let meanwhile = || {
        has_begun.get_or_init(|| {
            let added = db.create_namespace(None).unwrap();
            add(&db.namespace(added).unwrap(), "added");
            db.drop_namespace(2).unwrap();
        });
        Ok(())
    };
    db.save_while(copy.path(), &meanwhile).unwrap();
    let copy = read(copy.path());
    assert_eq!(copy.namespaces().unwrap(), [0, 1, 3]);
    assert_eq!(names(&copy.namespace(3).unwrap()), r#"{"added"}"#);
}

#[test]
fn copies_have_all_of_them() {
    let (root, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let db = open(root.path());
    let ids = [(); 2].map(|()| db.create_namespace(None).unwrap());
    ids.iter().for_each(|id| add(&db.namespace(*id).unwrap(), &format!("n{id}")));
    let target = copy.path().join("all");
    db.save(&target).unwrap();
    assert_eq!(names(&read(&target).namespace(2).unwrap()), r#"{"n2"}"#);
    check(&target).unwrap();
    // Of one alone: it is the namespace 0 there.
    let alone = copy.path().join("alone");
    db.namespace(1).unwrap().save(&alone).unwrap();
    let alone = read(&alone);
    assert_eq!((names(&alone), alone.namespaces().unwrap()), (r#"{"n1"}"#.to_owned(), vec![0]));
    // A copy over an older one has none that was dropped meanwhile.
    db.drop_namespace(1).unwrap();
    db.save(&target).unwrap();
    let again = read(&target);
    assert_eq!(again.namespaces().unwrap(), [0, 2]);
    assert!(!target.join("namespaces/1").exists());
    // Damage in one of them is detected.
    let folder = target.join("namespaces/2");
    let snapshot = std::fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path());
    let snapshot = snapshot.filter(|path| path.extension().is_some_and(|e| e == "hxs")).max();
    let mut bytes = std::fs::read(snapshot.as_ref().unwrap()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(snapshot.unwrap(), bytes).unwrap();
    assert!(matches!(check(&target), Err(Error::Corrupt { .. })));
}

#[test]
fn a_reader_follows_what_is_made_and_dropped() {
    let root = tempfile::tempdir().unwrap();
    let db = open(root.path());
    let reader = read(root.path());
    assert_eq!(reader.namespaces().unwrap(), [0]);
    let id = db.create_namespace(None).unwrap();
    add(&db.namespace(id).unwrap(), "one");
    assert!(reader.namespace(id).is_err(), "it has not looked yet");
    reader.refresh().unwrap();
    let one = reader.namespace(id).unwrap();
    assert_eq!(names(&one), r#"{"one"}"#);
    add(&db.namespace(id).unwrap(), "two");
    one.refresh().unwrap();
    assert_eq!(one.stats().unwrap().nodes, 2);
    assert!(matches!(reader.create_namespace(None), Err(Error::ReadOnly { .. })));
    assert!(matches!(reader.drop_namespace(id), Err(Error::ReadOnly { .. })));
    db.drop_namespace(id).unwrap();
    reader.refresh().unwrap();
    assert_eq!(reader.namespaces().unwrap(), [0]);
    // What it reads is unlinked, and read to its end.
    assert_eq!(one.stats().unwrap().nodes, 2);
}

/// Each operation of the disk fails once while one is made, changed and another dropped. What was
/// reported is there afterwards.
#[test]
fn files_that_fail() {
    for at in 0.. {
        let root = tempfile::tempdir().unwrap();
        let first = open(root.path());
        let old = first.create_namespace(None).unwrap();
        first.close().unwrap();
        let files = SimulatedFiles::default();
        files.fail(Fault { at, lasts: at % 2 == 0 });
        let Ok(db) = Database::open_with(root.path(), small(), Arc::new(files.clone())) else {
            assert!(files.has_failed());
            continue;
        };
        let made = db.create_namespace(None);
        let added = made.as_ref().ok().and_then(|id| {
            db.namespace(*id).and_then(|db| db.mutate("_:a <name> \"x\" .", "")).ok()
        });
        let dropped = db.drop_namespace(old);
        let failed = files.has_failed();
        let _ = db.close();
        drop(db);
        check(root.path()).unwrap();
        let db = open(root.path());
        let result = db.namespaces().unwrap();
        if let Ok(id) = made {
            assert!(result.contains(&id), "{at}: {result:?}");
            let nodes = db.namespace(id).unwrap().stats().unwrap().nodes;
            assert!(added.is_none() || nodes == 1, "{at}");
        }
        assert!(dropped.is_err() || !result.contains(&old), "{at}: {result:?}");
        for id in result {
            assert!(db.namespace(id).unwrap().stats().is_ok(), "{at}: {id}");
        }
        let next = db.create_namespace(None).unwrap();
        assert!(old < next, "{at}");
        if !failed {
            return;
        }
    }
}

#[test]
fn many_at_once() {
    let db = Database::in_memory();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let id = db.create_namespace(None).unwrap();
                    add(&db.namespace(id).unwrap(), "x");
                    if id.is_multiple_of(3) {
                        db.drop_namespace(id).unwrap();
                    }
                }
            });
        }
    });
    let left = db.namespaces().unwrap();
    assert_eq!(left.len(), 21 - 6);
    assert!(left[1..].iter().all(|id| db.namespace(*id).unwrap().stats().unwrap().nodes == 1));
}
