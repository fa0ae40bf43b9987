use super::*;
use crate::graph::{Replay, SchemaChange, encode_changes, encode_next_uid, resolve};
use crate::storage::LogReader;
use hexgraph_base::types::fields::{optional, put_field, required};
use proptest::prelude::*;

const SCHEMA: &str = "name: string @index(exact) @lang .\ntag: [string] @index(exact) @count .\n\
     friend: [uid] @reverse @count .\nbest: uid @reverse .\nkey: string @index(hash) @unique .\n\
     v: float32vector .\n";

/// A line about one of few nodes, some of great uids.
fn line() -> impl Strategy<Value = String> {
    let node = prop_oneof![Just(1u64), Just(2), Just(3), Just(1 << 40), Just((1 << 40) + 7)];
    let what = prop_oneof![
        Just("<name> \"a\"".to_owned()),
        Just("<name> \"b\"@de".to_owned()),
        (0..9u8).prop_map(|n| format!("<tag> \"t{n}\" (f={n})")),
        (1..4u8).prop_map(|n| format!("<friend> <{n}>")),
        (1..4u8).prop_map(|n| format!("<best> <{n}> (since=\"2020-01-0{n}\")")),
        Just("<best> <0x10000000001>".to_owned()),
        Just("<v> \"[1.0, 2.5]\"".to_owned()),
        Just("<never> \"7\"^^<xs:int>".to_owned()),
    ];
    (node, what).prop_map(|(node, what)| format!("<{node:#x}> {what} ."))
}

fn deletion() -> impl Strategy<Value = String> {
    let what = prop_oneof![
        Just("<name> *"),
        Just("* *"),
        Just("<tag> \"t1\""),
        Just("<friend> <2>"),
        Just("<best> *"),
    ];
    (1..4u8, what).prop_map(|(node, what)| format!("<{node}> {what} ."))
}

fn request() -> impl Strategy<Value = (String, String)> {
    let sets = proptest::collection::vec(line(), 0..6).prop_map(|lines| lines.join("\n"));
    let deletes = proptest::collection::vec(deletion(), 0..2).prop_map(|lines| lines.join("\n"));
    (sets, deletes)
}

/// Carries requests out one by one. Returns the version after each, and the records.
fn committed(requests: &[(String, String)]) -> (Vec<Version>, Vec<Vec<u8>>) {
    let (mut versions, mut records) = (vec![with_schema(SCHEMA)], Vec::new());
    for (number, (set, delete)) in requests.iter().enumerate() {
        let version = versions.last().unwrap();
        let tree = MutationTexts::new(&[Statements::NQuads(set)], &[Statements::NQuads(delete)]);
        let statements = vec![tree.statements(&mut 0, &()).unwrap()];
        let Ok((changes, _)) = stage(version, statements, &Bindings::default(), stager()) else {
            continue;
        };
        let mut record = Vec::new();
        encode_changes(std::slice::from_ref(&changes), &mut record);
        let Ok(mut next) = changes.apply(version) else { continue };
        next.commit = number as u64 + 1;
        versions.push(next);
        records.push(record);
    }
    (versions, records)
}

proptest! {
    #[test]
    fn records_make_the_same_graph_again(requests in proptest::collection::vec(request(), 0..12)) {
        let (versions, records) = committed(&requests);
        let mut replay = Replay::new(with_schema(SCHEMA));
        for (version, record) in versions[1..].iter().zip(&records) {
            replay.record(version.commit, record).unwrap();
        }
        let (last, again) = (versions.last().unwrap(), replay.version().unwrap());
        prop_assert_eq!(contents(last), contents(&again));
        prop_assert_eq!(last.schema.to_text(), again.schema.to_text());
        prop_assert_eq!((last.commit, last.uids.next()), (again.commit, again.uids.next()));
    }

    #[test]
    fn damaged_records_are_refused_or_replayed(
        requests in proptest::collection::vec(request(), 1..4),
        at: prop::sample::Index,
        byte: u8,
        cut: bool,
    ) {
        let (_, records) = committed(&requests);
        let mut replay = Replay::new(with_schema(SCHEMA));
        for (commit, mut record) in records.into_iter().enumerate() {
            let at = at.index(record.len());
            record[at] = byte;
            if cut {
                record.truncate(at);
            }
            let _ = replay.record(commit as u64 + 1, &record);
        }
        let _ = replay.version();
    }
}

/// The snapshot of the fixture of the first format, and the records of the logs after it.
fn first_format() -> (Version, Vec<(u64, Vec<u8>)>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/format-1/db");
    let version = opened(&folder.join("snapshot-2.hxs")).unwrap();
    let mut records = Vec::new();
    for log in ["log-2.hxl", "log-3.hxl"] {
        let mut reader = LogReader::open(&folder.join(log)).unwrap().unwrap();
        while let Some(record) = reader.read_next().unwrap() {
            records.push((record.commit, record.payload.to_vec()));
        }
    }
    (version, records)
}

#[test]
fn damaged_records_of_the_first_format_are_refused_or_replayed() {
    let (version, records) = first_format();
    assert!(20 < records.len());
    let mut random = fastrand::Rng::with_seed(7);
    for position in 0..records.len() {
        for _ in 0..8 {
            let mut replay = Replay::new(version.clone());
            for (number, (commit, record)) in records[..=position].iter().enumerate() {
                let mut record = record.clone();
                if number == position {
                    let at = random.usize(..record.len());
                    match random.u8(..3) {
                        0 => record.truncate(at),
                        1 => record[at] = random.u8(..),
                        _ => record[at] ^= 1 << random.u8(..8),
                    }
                }
                let _ = replay.record(*commit, &record);
            }
            let _ = replay.version();
        }
    }
}

#[test]
fn what_a_later_release_adds_is_skipped_or_refused() {
    let mut changes = Vec::new();
    encode_next_uid(0x20000, &mut changes);
    let with = |tag: u64| {
        let mut record = changes.clone();
        put_field(tag, &mut record, |out| out.extend_from_slice(b"news"));
        let mut replay = Replay::new(empty());
        let read = replay.record(1, &record);
        read.map(|()| replay.version().unwrap().uids.next()).map_err(|error| error.to_string())
    };
    assert_eq!(with(optional(50)), Ok(0x20000));
    assert!(with(required(50)).unwrap_err().contains("later version of hexgraph"));
    let unknown = Replay::new(empty()).record(1, &[77]).unwrap_err().to_string();
    assert!(unknown.contains("commit 1") && unknown.contains("later version"), "{unknown}");
}

#[test]
fn schema_changes_and_uids_are_records_too() {
    let mut replay = Replay::new(empty());
    let mut record = Vec::new();
    let definitions = resolve(&empty(), SCHEMA).unwrap();
    SchemaChange::Define(definitions).encode(&mut record);
    replay.record(3, &record).unwrap();
    record.clear();
    encode_next_uid(0x20000, &mut record);
    replay.record(4, &record).unwrap();
    // One that the version has is left out.
    record.clear();
    SchemaChange::DropAll.encode(&mut record);
    replay.record(4, &record).unwrap();
    let version = replay.version().unwrap();
    assert_eq!((version.commit, version.uids.next()), (4, 0x20000));
    assert_eq!(version.schema.to_text(), with_schema(SCHEMA).schema.to_text());
    replay.record(5, &record).unwrap();
    assert!(!replay.version().unwrap().schema.to_text().contains("best"));
    let error = replay.record(6, &[9, 9]).unwrap_err().to_string();
    let later = "it was written by a later version of hexgraph: open it with that one";
    assert_eq!(error, format!("the record of commit 6: {later}"));
}
