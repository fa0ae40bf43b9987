//! Loads, changes of the schema and compactions, and what is committed while they are built.
//!
//! The commits are made on the thread that builds, from within: if writers had to wait for it,
//! these tests would not end.

use super::small;
use crate::db::change::txn::TxnOptions;
use crate::db::{
    Database, Drop, LoadOptions, OpenOptions, QueryRequest, RequestContext, Source, SyncPolicy,
    Thresholds,
};
use hexgraph_base::types::Error;
use hexgraph_store::graph;
use hexgraph_store::graph::{LoadSource, Version};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const SCHEMA: &str = "name: string @lang .\nemail: string @index(exact) @unique .\nage: int .\n\
                      tags: [string] .\nknows: [uid] .\nboss: uid @reverse .";

/// What all tests begin with.
const FIRST: &str = "<1> <name> \"one\" .\n<2> <name> \"two\" .\n<1> <age> \"10\" .\n\
                     <2> <age> \"20\" .\n<1> <tags> \"a\" .\n<1> <knows> <2> .\n\
                     <2> <knows> <1> .\n<2> <boss> <1> .\n<1> <email> \"1@x\" .";

fn json(db: &Database, text: &str) -> String {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    db.query_with(&request, &RequestContext::new()).unwrap().to_json().unwrap().0
}

fn set_up(db: &Database) {
    db.alter(SCHEMA).unwrap();
    db.mutate(FIRST, "").unwrap();
    db.compact().unwrap();
}

/// All statements and the schema, in a fixed order.
pub(super) fn exported(db: &Database) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.rdf");
    db.export_with(&path, &RequestContext::new()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines.push(db.schema_text().unwrap());
    lines
}

/// Alters, with a commit that comes after the building has begun.
fn alter_concurrently(db: &Database, schema: &str, meanwhile: (&str, &str)) {
    let (is_done, other) = (AtomicBool::new(false), db.clone());
    let check = || {
        if !is_done.swap(true, Ordering::Relaxed) {
            other.mutate(meanwhile.0, meanwhile.1).unwrap();
        }
        Ok(())
    };
    db.define_while(|version: &Version| graph::resolve(version, schema), &check).unwrap();
}

/// Loads lines, with something that is done after they were read and before they are seen.
fn load_concurrently(
    db: &Database,
    lines: &str,
    meanwhile: impl FnOnce() + Send + 'static,
) -> hexgraph_base::types::Result<()> {
    let lines = lines.to_owned();
    let load = move |version: &Version, _: &_| {
        let reader = Box::new(std::io::Cursor::new(lines.into_bytes()));
        let source = LoadSource { name: "lines".to_owned(), reader };
        let loaded = graph::load(version, vec![source], &graph::LoadOptions::default());
        meanwhile();
        loaded
    };
    db.publish_load(&RequestContext::new(), load).map(drop)
}

/// A schema, what is set and deleted while it is being set, and a question about it.
type Case = (&'static str, &'static str, &'static str, &'static str);

#[rustfmt::skip]
const CASES: &[Case] = &[
    ("name: string @index(term, exact) @lang .", "<3> <name> \"new one\" .\n<1> <name> \"changed\" .", "<2> <name> * .",
     "{ q(func: anyofterms(name, \"new two changed\")) { uid name } r(func: ge(name, \"a\"), orderasc: name) { uid } }"),
    ("name: string @index(term) @lang .", "<3> <name@de> \"neu eins\" .\n<1> <name@de> \"eins\" .", "",
     "{ q(func: anyofterms(name@de, \"eins\")) { uid name@de } r(func: anyofterms(name, \"one\")) { uid } }"),
    ("age: int @index(int) .", "<1> <age> \"11\" .\n<3> <age> \"30\" .", "<2> <age> * .",
     "{ q(func: ge(age, 0), orderasc: age) { uid age } }"),
    ("age: float @index(float) .", "<1> <age> \"11\" .\n<3> <age> \"30\" .", "",
     "{ q(func: ge(age, 0), orderasc: age) { uid age } }"),
    ("age: [int] @index(int) .", "<1> <age> \"11\" .\n<3> <age> \"30\" .", "",
     "{ q(func: ge(age, 0)) { uid age } r(func: eq(age, 10)) { uid } }"),
    ("tags: [string] @index(exact) @count .", "<1> <tags> \"b\" .\n<2> <tags> \"a\" .", "<1> <tags> \"a\" .",
     "{ q(func: eq(tags, \"a\")) { uid tags } r(func: eq(count(tags), 1)) { uid } }"),
    ("knows: [uid] @reverse @count .", "<1> <knows> <3> .\n<3> <knows> <1> .", "<2> <knows> * .",
     "{ q(func: has(~knows)) { uid ~knows { uid } count(~knows) } r(func: eq(count(~knows), 2)) { uid } }"),
    ("knows: [uid] @reverse .", "<1> <knows> <2> (since=4) .\n<2> <knows> <3> .", "<1> <knows> * .",
     "{ q(func: has(~knows)) { uid ~knows { uid } } r(func: has(knows)) { uid knows @facets { uid } } }"),
    ("boss: uid .", "<2> <boss> <3> .\n<1> <boss> <3> .", "", "{ q(func: has(boss)) { uid boss { uid } } }"),
    ("boss: [uid] @reverse .", "<2> <boss> <3> .\n<1> <boss> <3> .", "", "{ q(func: has(~boss)) { uid ~boss { uid } } }"),
    ("fresh: string @index(exact) .", "<1> <other> \"unknown\" .", "", "{ q(func: has(other)) { uid other } }"),
    ("fresh: string @index(exact) .", "<1> <fresh> \"x\" .", "", "{ q(func: eq(fresh, \"x\")) { uid fresh } }"),
    ("email: string @index(exact, trigram) @unique .", "<2> <email> \"2@x\" .", "<1> <email> * .",
     "{ q(func: regexp(email, /2@x/)) { uid email } r(func: eq(email, \"1@x\")) { uid } }"),
];

/// Everything is as if the schema had been set afterwards, in the graph that goes on and in one
/// that is opened again.
#[test]
fn commits_during_an_alter_are_in_its_indexes() {
    for (schema, set, delete, question) in CASES {
        let folder = tempfile::tempdir().unwrap();
        let db = Database::open(folder.path(), OpenOptions::default()).unwrap();
        set_up(&db);
        alter_concurrently(&db, schema, (set, delete));
        let expected = Database::in_memory();
        set_up(&expected);
        expected.mutate(set, delete).unwrap();
        expected.alter(schema).unwrap();
        assert_eq!(exported(&db), exported(&expected), "{schema}");
        assert_eq!(json(&db, question), json(&expected, question), "{schema}");
        db.close().unwrap();
        let again = Database::open(folder.path(), OpenOptions::default()).unwrap();
        assert_eq!(exported(&again), exported(&expected), "{schema}, opened again");
        assert_eq!(json(&again, question), json(&expected, question), "{schema}, opened again");
    }
}

/// A value that a new index rejects fails the `alter`, also where it was committed meanwhile.
#[test]
fn a_geometry_that_comes_meanwhile_is_refused_by_the_index() {
    let db = Database::in_memory();
    db.alter("loc: geo .").unwrap();
    db.mutate(r#"<1> <loc> "{'type':'Point','coordinates':[1,2]}"^^<geo:geojson> ."#, "").unwrap();
    let line = r#"<2> <loc> "{'type':'MultiPoint','coordinates':[[1,2],[3,4]]}"^^<geo:geojson> ."#;
    let (is_done, other) = (AtomicBool::new(false), db.clone());
    let check = || {
        if !is_done.swap(true, Ordering::Relaxed) {
            other.mutate(line, "").unwrap();
        }
        Ok(())
    };
    let define = |version: &Version| graph::resolve(version, "loc: geo @index(geo) .");
    let concurrent = db.define_while(define, &check).unwrap_err().to_string();
    let afterwards = db.alter("loc: geo @index(geo) .").unwrap_err().to_string();
    assert_eq!(concurrent, afterwards);
    assert!(!db.schema_text().unwrap().contains("geo @index"), "nothing is changed");
}

/// A schema that does not go with what was committed meanwhile is refused as it would have been
/// afterwards.
#[test]
fn an_alter_is_checked_against_what_came_meanwhile() {
    let db = Database::in_memory();
    db.alter("a: int .\nb: int .").unwrap();
    db.mutate("<1> <b> \"1\" .", "").unwrap();
    let (is_done, other) = (AtomicBool::new(false), db.clone());
    let check = || {
        if !is_done.swap(true, Ordering::Relaxed) {
            other.mutate("<1> <a> \"1\" .", "").unwrap();
        }
        Ok(())
    };
    let define = |version: &Version| graph::resolve(version, "a: uid .\nb: int @index(int) .");
    let concurrent = db.define_while(define, &check).unwrap_err().to_string();
    assert_eq!(concurrent, db.alter("a: uid .").unwrap_err().to_string());
    assert_eq!(json(&db, "{ q(func: has(a)) { a } }"), r#"{"q":[{"a":1}]}"#);
}

const LOADED: &str = "<1> <name> \"loaded\" .\n<4> <name> \"four\" .\n<4> <age> \"40\" .\n\
                      <1> <tags> \"l\" .\n<1> <knows> <4> .\n<2> <boss> <4> .\n_:new <new> \"yes\" .";
const MEANWHILE: (&str, &str) = (
    "<1> <name> \"meanwhile\" .\n<5> <name@de> \"fünf\" .\n<1> <tags> \"m\" .\n<2> <boss> <5> .\n\
     <5> <email> \"5@x\" .\n<3> <other> \"3\" .",
    "<1> <tags> \"a\" .\n<2> <knows> * .",
);

/// What is committed during a load comes after it: in the graph that goes on, for one that follows,
/// and in what a crash leaves before and after the load is published.
#[test]
fn commits_during_a_load_follow_it() {
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    for options in [OpenOptions::default(), small()] {
        let _ = std::fs::remove_dir_all(path("db"));
        let db = Database::open(&path("db"), options).unwrap();
        set_up(&db);
        let read_only = OpenOptions { read_only: true, ..options };
        let follower = Database::open(&path("db"), read_only).unwrap();
        let (writer, from, to) = (db.clone(), path("db"), path("crashed before"));
        load_concurrently(&db, LOADED, move || {
            writer.mutate(MEANWHILE.0, MEANWHILE.1).unwrap();
            copy(&from, &to);
        })
        .unwrap();
        copy(&path("db"), &path("crashed behind"));
        let expected = Database::in_memory_with(options);
        set_up(&expected);
        expected.mutate(MEANWHILE.0, MEANWHILE.1).unwrap();
        let opened = |name: &str| exported(&Database::open(&path(name), options).unwrap());
        assert_eq!(opened("crashed before"), exported(&expected));
        let expected = Database::in_memory_with(options);
        set_up(&expected);
        let source = Source::Bytes(LOADED.as_bytes().to_vec().into());
        expected.load_with(source, None, LoadOptions::default(), &RequestContext::new()).unwrap();
        expected.mutate(MEANWHILE.0, MEANWHILE.1).unwrap();
        assert_eq!(exported(&db), exported(&expected));
        assert_eq!(opened("crashed behind"), exported(&expected));
        follower.refresh().unwrap();
        assert_eq!(exported(&follower), exported(&expected));
        db.mutate("<9> <name> \"nine\" .", "").unwrap();
        follower.refresh().unwrap();
        assert_eq!(exported(&follower), exported(&db));
        db.close().unwrap();
        assert_eq!(opened("db"), exported(&follower));
        for left in ["crashed before", "crashed behind"] {
            std::fs::remove_dir_all(path(left)).unwrap();
        }
    }
}

/// A directory as a crash at this moment would leave it.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() && entry.file_name() != "LOCK" {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

/// Each row: what is committed during a load of `LOADED` and an email, and why the load is refused
/// then. Nothing of it is there, and the commit is.
#[test]
fn a_load_that_does_not_go_with_a_commit_is_refused() {
    let cases = [
        (
            "<7> <email> \"taken\" .",
            "another node has the value `taken` of `email`, which is `@unique`",
        ),
        (
            "<7> <new> <8> .",
            "predicate `new` is new: the load makes it default, and a commit while it ran made it [uid]; define it by `alter` and load again",
        ),
    ];
    for (line, reason) in cases {
        let folder = tempfile::tempdir().unwrap();
        let db = Database::open(folder.path(), OpenOptions::default()).unwrap();
        set_up(&db);
        let writer = db.clone();
        let lines = format!("{LOADED}\n<6> <email> \"taken\" .");
        let loaded = load_concurrently(&db, &lines, move || drop(writer.mutate(line, "").unwrap()));
        assert_eq!(loaded.unwrap_err().to_string(), reason);
        let expected = Database::in_memory();
        set_up(&expected);
        expected.mutate(line, "").unwrap();
        assert_eq!(exported(&db), exported(&expected));
        let names = std::fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name());
        let snapshots = names.filter(|name| name.to_string_lossy().ends_with(".hxs")).count();
        assert_eq!(snapshots, 1, "that of the load is removed");
        // It can be tried again.
        db.mutate("", "<7> <email> * .").unwrap();
        let loaded = load_concurrently(&db, &lines.replace("<new>", "<newer>"), || ());
        loaded.unwrap();
        drop(db);
        let again = Database::open(folder.path(), OpenOptions::default()).unwrap();
        assert_eq!(
            json(&again, "{ q(func: eq(email, \"taken\")) { uid } }"),
            r#"{"q":[{"uid":"0x6"}]}"#
        );
    }
}

/// A transaction that has read from before a load or an `alter` is in conflict when it writes what
/// that has changed, and only then.
#[test]
fn transactions_conflict_with_concurrent_builds() {
    let commits = |db: &Database, work: &dyn Fn(), line: &str| {
        let txn = db.begin(TxnOptions::default()).unwrap();
        work();
        txn.mutate_text_with(&format!("{{ set {{ {line} }} }}"), &RequestContext::new()).unwrap();
        match txn.commit() {
            Ok(_) => true,
            Err(Error::Conflict) => false,
            Err(other) => panic!("{other}"),
        }
    };
    let db = Database::in_memory();
    set_up(&db);
    let load = || {
        let other = db.clone();
        let meanwhile =
            move || drop(other.mutate("<1> <age> \"12\" .\n<3> <name> \"z\" .", "").unwrap());
        load_concurrently(&db, "<4> <name> \"four\" .", meanwhile).unwrap();
    };
    assert!(!commits(&db, &load, "<8> <name> \"eight\" ."), "the predicate was loaded");
    assert!(!commits(&db, &load, "<1> <age> \"13\" ."), "the value was written meanwhile");
    assert!(commits(&db, &load, "<2> <age> \"14\" ."), "only other values were written");
    let alter =
        || alter_concurrently(&db, "name: string @index(term) @lang .", ("<2> <age> \"7\" .", ""));
    assert!(!commits(&db, &alter, "<8> <name> \"eight\" ."), "the predicate was altered");
    assert!(!commits(&db, &alter, "<2> <age> \"15\" ."), "the value was written meanwhile");
    assert!(commits(&db, &alter, "<1> <age> \"15\" ."), "only other values were written");
}

/// What a writer of [`writers_are_never_blocked`] sets and deletes in its mutation of
/// that number.
fn written(writer: u64, number: u64) -> (String, String) {
    let node = 0x100 * (writer + 1) + number % 50;
    let delete = match number % 7 {
        0 => format!("<{node:#x}> <knows> * ."),
        _ => String::new(),
    };
    let set = format!(
        "<{node:#x}> <name> \"word{number} of {writer}\" .\n<{node:#x}> <age> \"{number}\" .\n\
         <{node:#x}> <tags> \"t{}\" .\n<{node:#x}> <knows> <{:#x}> .",
        number % 5,
        number % 90 + 1
    );
    (set, delete)
}

/// The facts of its load of that number.
fn loaded(number: u64) -> String {
    let (node, other) = (0x900 + number, 0x900 + number % 5);
    format!("<{node:#x}> <name> \"load\" .\n<{other:#x}> <knows> <0x90f> .")
}

/// Writers, loads, changes of the schema, and compactions in parallel give the same result as the
/// changes one after the other.
#[test]
fn writers_are_never_blocked() {
    const WRITERS: u64 = 2;
    const ROUNDS: u64 = 6;
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("db");
    for thresholds in [Thresholds::default(), Thresholds::small_background()] {
        let options = OpenOptions { thresholds, sync: SyncPolicy::Never, ..OpenOptions::default() };
        let db = Database::open(&folder, options).unwrap();
        set_up(&db);
        let is_over = AtomicBool::new(false);
        let counts: Vec<u64> = thread::scope(|scope| {
            let write = |writer: u64| {
                let (db, is_over) = (&db, &is_over);
                move || {
                    let mut number = 0;
                    // A failure elsewhere stops it, too.
                    while !is_over.load(Ordering::Relaxed) && number < 100_000 {
                        let (set, delete) = written(writer, number);
                        db.mutate(&set, &delete).unwrap();
                        number += 1;
                        // Builders have to get the lock on a machine with few cores, too.
                        thread::sleep(Duration::from_micros(300));
                    }
                    number
                }
            };
            let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(write(writer))).collect();
            for number in 0..ROUNDS {
                let index = ["", "@index(term)", "@index(exact, trigram)"][number as usize % 3];
                db.alter(&format!("name: string {index} @lang .")).unwrap();
                let source = Source::Bytes(loaded(number).into_bytes().into());
                db.load_with(source, None, LoadOptions::default(), &RequestContext::new()).unwrap();
                let reverse = ["", "@reverse"][number as usize % 2];
                db.alter(&format!("knows: [uid] {reverse} .")).unwrap();
                db.compact().unwrap();
            }
            is_over.store(true, Ordering::Relaxed);
            writers.into_iter().map(|writer| writer.join().unwrap()).collect()
        });
        let expected = Database::in_memory();
        set_up(&expected);
        for number in 0..ROUNDS {
            expected.mutate(&loaded(number), "").unwrap();
        }
        for (writer, count) in counts.into_iter().enumerate() {
            for number in 0..count {
                let (set, delete) = written(writer as u64, number);
                expected.mutate(&set, &delete).unwrap();
            }
        }
        for last in ["name: string @index(exact, trigram) @lang .", "knows: [uid] @reverse ."] {
            expected.alter(last).unwrap();
        }
        let question = "{ q(func: regexp(name, /word.*1/), orderasc: name) { uid } \
                        r(func: has(~knows)) { uid count(~knows) ~knows { uid } } }";
        assert_eq!(exported(&db), exported(&expected));
        assert_eq!(json(&db, question), json(&expected, question));
        drop(db);
        let again = Database::open(&folder, options).unwrap();
        assert_eq!(exported(&again), exported(&expected));
        assert_eq!(json(&again, question), json(&expected, question));
        again.drop(&Drop::All).unwrap();
    }
}
