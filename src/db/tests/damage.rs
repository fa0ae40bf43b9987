//! Logs that are damaged, cut, missing, or somebody else's: opening them gives all commits up to a
//! complete record, or an error with the position. Durable commits are never missing silently.

use super::power_loss::commits_of;
use super::small;
use crate::db::{
    Database, Mutation, MutationRequest, OpenOptions, RequestContext, Statements, TxnOptions, check,
};
use hexgraph_base::types::Error;
use hexgraph_store::storage::LogReader;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const SCHEMA: &str = "number: int @index(int) .\nname: string .\nnext: uid @reverse .";

const COMMITS: u64 = 4;

fn statements(n: u64) -> String {
    let node = 0x1000 + n;
    format!(
        "<{node:#x}> <number> \"{n}\" .\n<{node:#x}> <name> \"n {n}\" .\n<{node:#x}> <next> <{:#x}> .",
        node + 1
    )
}

fn open(path: &Path, read_only: bool) -> Result<Database, Error> {
    Database::open(path, OpenOptions { read_only, threads: 1, ..small() })
}

/// The files of a directory, by name.
type Files = Vec<(String, Vec<u8>)>;

fn files_of(folder: &Path) -> Files {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let file = |entry: fs::DirEntry| {
        (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())
    };
    entries.filter(|entry| entry.file_name() != "LOCK").map(file).collect()
}

fn put(files: &Files, folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    files.iter().for_each(|(name, bytes)| fs::write(folder.join(name), bytes).unwrap());
}

/// A directory with commits in `log-2.hxl`, after a snapshot, as it is when the process dies, and
/// when it is closed.
fn crashed_and_closed() -> [Files; 2] {
    let root = tempfile::tempdir().unwrap();
    let db = open(root.path(), false).unwrap();
    db.alter(SCHEMA).unwrap();
    db.checkpoint().unwrap();
    (1..=COMMITS).for_each(|n| drop(db.mutate(&statements(n), "").unwrap()));
    let crashed = files_of(root.path());
    db.close().unwrap();
    [crashed, files_of(root.path())]
}

fn log_of(files: &mut Files) -> &mut (String, Vec<u8>) {
    files.iter_mut().find(|(name, _)| name.ends_with(".hxl")).unwrap()
}

/// The end offsets of the records, the header first.
fn end_offsets(files: &Files) -> Vec<u64> {
    let root = tempfile::tempdir().unwrap();
    put(files, root.path());
    let mut reader = LogReader::open(&root.path().join("log-2.hxl")).unwrap().unwrap();
    let mut offsets = vec![reader.end()];
    while reader.read_next().unwrap().is_some() {
        offsets.push(reader.end());
    }
    offsets
}

/// What opening finds: the commits, and how many bytes it says are no entire record.
fn result(files: &Files, folder: &Path, read_only: bool) -> Result<(u64, u64), String> {
    put(files, folder);
    let db = match open(folder, read_only) {
        Ok(db) => db,
        Err(error) => {
            assert!(matches!(error, Error::Corrupt { .. }), "{error}");
            return Err(error.to_string());
        }
    };
    let commits = commits_of(&db);
    assert_eq!(commits, (1..=commits.len() as u64).collect::<Vec<_>>());
    Ok((commits.len() as u64, db.recovery().unwrap().cut))
}

/// Opens the directory with something done to the log, to read and to write.
fn each_mode(files: &Files, folder: &Path, mut look: impl FnMut(Result<(u64, u64), String>)) {
    for read_only in [true, false] {
        look(result(files, folder, read_only));
    }
}

#[test]
fn every_byte_of_a_log_counts() {
    let [crashed, closed] = crashed_and_closed();
    let offsets = end_offsets(&crashed);
    assert_eq!(offsets.len() as u64, COMMITS + 1);
    let folder = tempfile::tempdir().unwrap();
    let last = offsets[offsets.len() - 2];
    for at in 0..*offsets.last().unwrap() {
        for (files, is_closed) in [(&crashed, false), (&closed, true)] {
            let mut files = files.clone();
            log_of(&mut files).1[at as usize] ^= 1 << (at % 8);
            each_mode(&files, folder.path(), |result| match result {
                Ok(result) => {
                    // The last commit alone: nothing in the log says that it was durable.
                    assert!(last <= at && !is_closed, "byte {at} was not noticed");
                    assert_eq!(
                        result,
                        (COMMITS - 1, offsets[offsets.len() - 1] - last),
                        "byte {at}"
                    );
                }
                Err(error) => {
                    assert!(error.contains("log-2.hxl") && error.contains("byte "), "{error}");
                    assert!(at < last || is_closed, "byte {at}: {error}");
                }
            });
        }
    }
}

#[test]
fn every_length_of_a_log_counts() {
    let [crashed, closed] = crashed_and_closed();
    let offsets = end_offsets(&crashed);
    let folder = tempfile::tempdir().unwrap();
    for len in 0..*offsets.last().unwrap() {
        let mut files = crashed.clone();
        log_of(&mut files).1.truncate(len as usize);
        let full = offsets.iter().filter(|end| **end <= len).count() as u64;
        each_mode(&files, folder.path(), |result| match result {
            Ok(result) => assert_eq!(result, (full - 1, len - offsets[full as usize - 1]), "{len}"),
            Err(error) => assert!(full == 0 && error.contains("no header"), "{len}: {error}"),
        });
        // It is longer: each length is refused in the same way.
        if len % 8 != 0 {
            continue;
        }
        let mut files = closed.clone();
        log_of(&mut files).1.truncate(len as usize);
        each_mode(&files, folder.path(), |result| {
            let error = result.unwrap_err();
            assert!(error.contains("log-2.hxl") && error.contains("byte "), "{len}: {error}");
        });
    }
}

#[test]
fn every_byte_of_current_counts() {
    let [_, closed] = crashed_and_closed();
    let folder = tempfile::tempdir().unwrap();
    let position = closed.iter().position(|(name, _)| name == "CURRENT").unwrap();
    for at in 0..closed[position].1.len() {
        let mut files = closed.clone();
        files[position].1[at] ^= 1 << (at % 7);
        // The letters of the checksum may be capitals.
        each_mode(&files, folder.path(), |result| match result {
            Ok(result) => assert_eq!(result, (COMMITS, 0), "byte {at}"),
            Err(error) => assert!(error.contains("CURRENT"), "{error}"),
        });
    }
}

#[test]
fn missing_and_external_logs_are_reported() {
    let [crashed, closed] = crashed_and_closed();
    let [other, _] = crashed_and_closed();
    let external = other.iter().find(|(name, _)| name.ends_with(".hxl")).unwrap().1.clone();
    let folder = tempfile::tempdir().unwrap();
    for files in [crashed, closed] {
        let damaged = |name: &str, bytes: Option<&[u8]>| {
            let mut files: Files = files.iter().filter(|(it, _)| it != name).cloned().collect();
            files.extend(bytes.map(|bytes| (name.to_owned(), bytes.to_vec())));
            files
        };
        let snapshot = &other.iter().find(|(name, _)| name.ends_with(".hxs")).unwrap().1;
        let cases = [
            (damaged("log-2.hxl", None), "log-2.hxl: it is missing, and CURRENT names it"),
            (damaged("log-2.hxl", Some(&[])), "log-2.hxl: byte 0: there is no header of a log"),
            (damaged("log-2.hxl", Some(&[0; 4096])), "log-2.hxl: byte 0: there is no header"),
            (damaged("log-2.hxl", Some(b"a photo")), "log-2.hxl: byte 0: there is no header"),
            (damaged("log-2.hxl", Some(&external)), "log-2.hxl: byte 0: it belongs to another"),
            (damaged("snapshot-2.hxs", Some(snapshot)), "snapshot-2.hxs: it belongs to another"),
        ];
        for (files, part) in cases {
            each_mode(&files, folder.path(), |result| {
                let error = result.unwrap_err();
                assert!(error.contains(part), "{error}");
            });
            assert!(check(folder.path()).unwrap_err().to_string().contains(part));
        }
    }
}

#[test]
fn an_older_log_does_not_follow() {
    // Three sessions, each with a log of its own.
    let root = tempfile::tempdir().unwrap();
    let mut copies = Vec::new();
    for n in 1..=3 {
        let db = open(root.path(), false).unwrap();
        if n == 1 {
            db.alter(SCHEMA).unwrap();
        }
        db.mutate(&statements(n), "").unwrap();
        copies.push(files_of(root.path()));
    }
    let mut files = files_of(root.path());
    let file =
        |files: &Files, name: &str| files.iter().find(|(it, _)| it == name).unwrap().1.clone();
    let log_1 = file(&files, "log-1.hxl");
    let position = files.iter().position(|(name, _)| name == "log-1.hxl").unwrap();
    // The first log as it was before its last record.
    let folder = tempfile::tempdir().unwrap();
    let len = start_of_last(&log_1, folder.path());
    files[position].1.truncate(len);
    each_mode(&files, folder.path(), |result| {
        let error = result.unwrap_err();
        assert!(
            error.contains("log-1.hxl: the record at byte") && error.contains("missing"),
            "{error}"
        );
    });
}

fn start_of_last(log: &[u8], folder: &Path) -> usize {
    let path = folder.join("log-1.hxl");
    fs::write(&path, log).unwrap();
    let mut reader = LogReader::open(&path).unwrap().unwrap();
    let mut offsets = vec![reader.end()];
    while reader.read_next().unwrap().is_some() {
        offsets.push(reader.end());
    }
    offsets[offsets.len() - 2] as usize
}

#[test]
fn fifty_gigabytes_of_zeros_are_reported_at_once() {
    const LEN: u64 = 50_000_000_000;
    let [crashed, _] = crashed_and_closed();
    let folder = tempfile::tempdir().unwrap();
    for (len, part) in [(0, "no header of a log at byte 0"), (300, "more than a crash leaves")] {
        let mut files = crashed.clone();
        log_of(&mut files).1.truncate(len);
        for read_only in [true, false] {
            put(&files, folder.path());
            let log =
                fs::File::options().write(true).open(folder.path().join("log-2.hxl")).unwrap();
            log.set_len(LEN).unwrap();
            let started = Instant::now();
            let error = open(folder.path(), read_only).err().unwrap().to_string();
            assert!(error.contains("log-2.hxl") && error.contains(part), "{error}");
            assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
        }
    }
}

#[test]
fn files_of_a_later_version_are_reported() {
    let [crashed, _] = crashed_and_closed();
    let folder = tempfile::tempdir().unwrap();
    for (name, at) in [("log-2.hxl", 7), ("snapshot-2.hxs", 8), ("CURRENT", 9)] {
        let mut files = crashed.clone();
        let file = files.iter_mut().find(|(it, _)| it == name).unwrap();
        file.1[at] += 1;
        each_mode(&files, folder.path(), |result| {
            let error = result.unwrap_err();
            assert!(error.contains(name) && error.contains("later version of hexgraph"), "{error}");
        });
    }
}

#[test]
fn a_record_that_is_half_written_is_no_fault() {
    let [crashed, _] = crashed_and_closed();
    let offsets = end_offsets(&crashed);
    let root = tempfile::tempdir().unwrap();
    let [start, end] =
        [offsets[offsets.len() - 2], offsets[offsets.len() - 1]].map(|end| end as usize);
    let mut files = crashed.clone();
    let log = log_of(&mut files);
    let record = log.1.split_off(start);
    put(&files, root.path());
    let reader = open(root.path(), true).unwrap();
    assert_eq!(commits_of(&reader).len() as u64, COMMITS - 1);
    for len in [1, 20, 33, end - start - 1] {
        log_of(&mut files).1.truncate(start);
        log_of(&mut files).1.extend(&record[..len]);
        fs::write(root.path().join("log-2.hxl"), &log_of(&mut files).1).unwrap();
        reader.refresh().unwrap();
        assert_eq!(commits_of(&reader).len() as u64, COMMITS - 1);
        let reader = open(root.path(), true).unwrap();
        assert_eq!(reader.recovery().unwrap().cut, len as u64);
    }
    fs::write(root.path().join("log-2.hxl"), &log_of(&mut crashed.clone()).1).unwrap();
    reader.refresh().unwrap();
    assert_eq!(commits_of(&reader).len() as u64, COMMITS);
}

#[test]
fn readers_open_during_writes() {
    let root = tempfile::tempdir().unwrap();
    let db = open(root.path(), false).unwrap();
    db.alter(SCHEMA).unwrap();
    let end = Instant::now() + Duration::from_millis(800);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 1.. {
                db.mutate(&statements(n), "").unwrap();
                if n % 40 == 0 {
                    db.checkpoint().unwrap();
                }
                if end < Instant::now() {
                    break;
                }
            }
        });
        for _ in 0..2 {
            scope.spawn(|| {
                let follower = open(root.path(), true).unwrap();
                while Instant::now() < end {
                    let acked = commits_of(&db).len();
                    let opened = commits_of(&open(root.path(), true).unwrap()).len();
                    follower.refresh().unwrap();
                    let followed = commits_of(&follower).len();
                    assert!(acked <= opened && opened <= followed, "{acked} {opened} {followed}");
                }
            });
        }
    });
}

/// Where in a directory a text stands.
fn positions_of(folder: &Path, text: &str) -> Vec<PathBuf> {
    let has = |bytes: &[u8]| bytes.windows(text.len()).any(|result| result == text.as_bytes());
    let files = files_of(folder).into_iter().filter(|(_, bytes)| has(bytes));
    files.map(|(name, _)| folder.join(name)).collect()
}

#[test]
fn no_text_of_a_password_is_in_a_directory() {
    let texts = ["open sesame", "correct horse", "battery staple", "hunter2-hunter2"];
    let root = tempfile::tempdir().unwrap();
    let db = open(root.path(), false).unwrap();
    db.alter("secret: password .\nname: string @index(exact) .").unwrap();
    for (n, text) in texts.iter().enumerate() {
        let node = n + 1;
        db.mutate(&format!("<{node}> <secret> \"{text}\" .\n<{node}> <name> \"{node}\" ."), "")
            .unwrap();
    }
    // By its text: alone, in an upsert, and in a transaction; and one that is not right.
    db.mutate("", &format!("<1> <secret> \"{}\" .", texts[0])).unwrap();
    db.mutate("", &format!("<2> <secret> \"{}\" .", texts[0])).unwrap();
    let upsert = format!(
        "upsert {{ query {{ v as var(func: eq(name, \"3\")) }} mutation {{ delete {{ uid(v) <secret> \"{}\" .\n }} }} }}",
        texts[2]
    );
    db.mutate_text_with(&upsert, &RequestContext::new()).unwrap();
    let txn = db.begin(TxnOptions::default()).unwrap();
    let again = "another-one";
    let [set, delete] = [again, again].map(|text| format!("<4> <secret> \"{text}\" ."));
    let first = format!("<4> <secret> \"{}\" .", texts[3]);
    let steps = [("", first.as_str()), (set.as_str(), ""), ("", delete.as_str())];
    let mutation = |(set, delete)| Mutation {
        set: vec![Statements::NQuads(set)],
        delete: vec![Statements::NQuads(delete)],
        ..Mutation::default()
    };
    let mutations = steps.map(mutation).to_vec();
    txn.mutate_with(
        &MutationRequest { mutations, ..MutationRequest::default() },
        &RequestContext::new(),
    )
    .unwrap();
    txn.commit().unwrap();
    drop(txn);
    let has = |db: &Database| {
        let query = "{ q(func: has(secret)) { uid checkpwd(secret, \"correct horse\") } }";
        super::durability::json(db, query)
    };
    let expected = "{\"q\":[{\"uid\":\"0x2\",\"checkpwd(secret)\":true}]}";
    assert_eq!(has(&db), expected);
    for text in texts.iter().chain([&again]) {
        assert_eq!(positions_of(root.path(), text), Vec::<PathBuf>::new(), "{text}");
    }
    drop(db);
    let db = open(root.path(), false).unwrap();
    assert!(8 <= db.recovery().unwrap().commits);
    assert_eq!(has(&db), expected);
    db.compact().unwrap();
    for text in texts.iter().chain([&again]) {
        assert_eq!(positions_of(root.path(), text), Vec::<PathBuf>::new(), "{text}");
    }
}

/// A database without its `CURRENT` was treated as a new one, and its snapshot and log were
/// removed.
#[test]
fn a_database_that_lost_its_current_is_not_a_new_one() {
    type Damage = fn(&Path);
    #[rustfmt::skip]
    let cases: [(&str, bool, Damage); 7] = [
        ("no CURRENT, data in the log", false, |path| fs::remove_file(path.join("CURRENT")).unwrap()),
        ("no CURRENT, data in the snapshot", true, |path| fs::remove_file(path.join("CURRENT")).unwrap()),
        ("an empty CURRENT", true, |path| fs::write(path.join("CURRENT"), "").unwrap()),
        ("no log", false, |path| each(path, ".hxl", |file| fs::remove_file(file).unwrap())),
        ("no snapshot", true, |path| each(path, ".hxs", |file| fs::remove_file(file).unwrap())),
        ("no CURRENT, a damaged snapshot", true, |path| {
            fs::remove_file(path.join("CURRENT")).unwrap();
            each(path, ".hxs", |file| fs::write(file, vec![7; 1 << 17]).unwrap());
        }),
        ("no CURRENT, a small snapshot that is damaged", true, |path| {
            fs::remove_file(path.join("CURRENT")).unwrap();
            each(path, ".hxs", |file| fs::write(file, vec![7; 5000]).unwrap());
        }),
    ];
    for (name, is_saved, damage) in cases {
        let root = tempfile::tempdir().unwrap();
        let db = Database::open(root.path(), small()).unwrap();
        db.mutate("_:a <name> \"x\" .", "").unwrap();
        if is_saved {
            db.checkpoint().unwrap();
        }
        db.close().unwrap();
        damage(root.path());
        let before = sorted(files_of(root.path()));
        for read_only in [false, true] {
            let opened = Database::open(root.path(), OpenOptions { read_only, ..small() });
            let error = opened.err().unwrap();
            assert!(
                matches!(error, Error::Corrupt { .. }),
                "{name}, read_only: {read_only}: {error}"
            );
        }
        let other = Database::in_memory();
        if name != "no log" && name != "no snapshot" && name != "an empty CURRENT" {
            let error = other.save(root.path()).unwrap_err().to_string();
            assert!(error.contains("CURRENT: it is missing"), "{name}: {error}");
        }
        assert_eq!(sorted(files_of(root.path())), before, "{name}");
    }
}

/// A `CURRENT` that is older than the logs: the last log that it reaches was cut before the later
/// one was looked at.
#[test]
fn an_error_about_a_later_log_changes_nothing() {
    let root = tempfile::tempdir().unwrap();
    let mut old = Vec::new();
    for n in 1..=2 {
        let db = open(root.path(), false).unwrap();
        if n == 1 {
            db.alter(SCHEMA).unwrap();
        }
        db.mutate(&statements(n), "").unwrap();
        if n == 1 {
            old = fs::read(root.path().join("CURRENT")).unwrap();
        }
    }
    fs::write(root.path().join("CURRENT"), old).unwrap();
    let log = root.path().join("log-1.hxl");
    let half = [fs::read(&log).unwrap(), vec![1; 20]].concat();
    fs::write(&log, half).unwrap();
    let before = sorted(files_of(root.path()));
    let error = open(root.path(), false).err().unwrap().to_string();
    assert!(error.contains("CURRENT names only earlier logs"), "{error}");
    assert_eq!(sorted(files_of(root.path())), before);
}

fn sorted(mut files: Files) -> Files {
    files.sort();
    files
}

fn each(path: &Path, ending: &str, change: impl Fn(&Path)) {
    let files = fs::read_dir(path).unwrap().map(|it| it.unwrap().path());
    files.filter(|file| file.to_str().unwrap().ends_with(ending)).for_each(|file| change(&file));
}

/// What a crash leaves while a database is created.
#[test]
fn an_incompletely_created_database_is_new() {
    type Left = fn(&Path);
    #[rustfmt::skip]
    let cases: [(&str, Left); 5] = [
        ("a lock", |_| {}),
        ("a next CURRENT", |path| fs::write(path.join("CURRENT.next"), "hexgr").unwrap()),
        ("an empty snapshot", |path| fs::write(path.join("snapshot-1.hxs"), "").unwrap()),
        ("half a snapshot", |path| fs::write(path.join("snapshot-1.hxs"), vec![0; 5000]).unwrap()),
        ("a snapshot without data and a log without a record", |path| {
            drop(Database::open(path, small()).unwrap());
            fs::remove_file(path.join("CURRENT")).unwrap();
            fs::write(path.join("log-2.hxl"), "").unwrap();
        }),
    ];
    for (name, left) in cases {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("LOCK"), "").unwrap();
        left(root.path());
        let db =
            Database::open(root.path(), small()).unwrap_or_else(|error| panic!("{name}: {error}"));
        db.mutate("_:a <name> \"x\" .", "").unwrap();
        drop(db);
        let db = Database::open(root.path(), small()).unwrap();
        assert_eq!(db.stats().unwrap().nodes, 1, "{name}");
    }
}

/// A `CURRENT` that is older than its directory, as a restored backup may be, has nothing removed
/// that is newer.
#[test]
fn a_newer_snapshot_than_current_names_stays() {
    let root = tempfile::tempdir().unwrap();
    drop(Database::open(root.path(), small()).unwrap());
    fs::write(root.path().join("snapshot-9.hxs"), "newer").unwrap();
    let db = Database::open(root.path(), small()).unwrap();
    db.mutate("_:a <name> \"x\" .", "").unwrap();
    drop(db);
    assert_eq!(fs::read_to_string(root.path().join("snapshot-9.hxs")).unwrap(), "newer");
}

/// The reserved database has the keys: one that lost its `CURRENT` was treated as missing, and a
/// server required no keys.
#[test]
fn a_reserved_database_is_not_forgotten() {
    let root = tempfile::tempdir().unwrap();
    let db = open(root.path(), false).unwrap();
    db.create_namespace(None).unwrap();
    db.close().unwrap();
    let reserved = root.path().join("reserved");
    let files = files_of(&reserved);
    for current in [None, Some("")] {
        fs::remove_file(reserved.join("CURRENT")).unwrap();
        if let Some(text) = current {
            fs::write(reserved.join("CURRENT"), text).unwrap();
        }
        let before = sorted(files_of(&reserved));
        for read_only in [true, false] {
            let error = open(root.path(), read_only).err().expect("keys are lost");
            assert!(matches!(error, Error::Corrupt { .. }), "{error}");
        }
        assert!(check(root.path()).is_err());
        assert_eq!(sorted(files_of(&reserved)), before);
        put(&files, &reserved);
    }
    open(root.path(), false).unwrap().close().unwrap();
}
