//! Logs that are cut, damaged, and written while they are read.

use crate::storage::files::log::*;
use crate::storage::{Disk, Identity};
use hexgraph_base::types::Error;
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

fn path(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("log-1.hxl")
}

/// A log of records of these payloads, each of which was durable when the next was written.
fn write(path: &Path, payloads: &[Vec<u8>]) -> Vec<u64> {
    let header = Header { number: 1, identity: Identity(7), ..Header::default() };
    let mut writer = LogWriter::create(&Disk, path, &header).unwrap();
    let mut bounds = vec![writer.end()];
    for (commit, payload) in payloads.iter().enumerate() {
        let synced = writer.end();
        assert!(writer.append(commit as u64, payload, synced).is_ok());
        bounds.push(writer.end());
    }
    bounds
}

fn read(path: &Path) -> (Vec<Vec<u8>>, Result<u64, Error>) {
    let Some(mut reader) = LogReader::open(path).unwrap() else { return (Vec::new(), Ok(0)) };
    let mut payloads = Vec::new();
    while let Some(record) = reader.read_next().unwrap() {
        assert_eq!(record.commit, payloads.len() as u64);
        payloads.push(record.payload.to_vec());
    }
    (payloads, reader.check_tail())
}

fn payloads() -> impl Strategy<Value = Vec<Vec<u8>>> {
    proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 1..6)
}

proptest! {
    #[test]
    fn a_log_reads_back(payloads in payloads()) {
        let folder = tempfile::tempdir().unwrap();
        write(&path(&folder), &payloads);
        let (read, tail) = read(&path(&folder));
        prop_assert_eq!(read, payloads);
        prop_assert_eq!(tail.unwrap(), 0);
    }

    #[test]
    fn a_truncated_log_retains_its_complete_records(payloads in payloads(), cut: prop::sample::Index) {
        let folder = tempfile::tempdir().unwrap();
        let bounds = write(&path(&folder), &payloads);
        let len = cut.index(*bounds.last().unwrap() as usize + 1) as u64;
        fs::File::options().write(true).open(path(&folder)).unwrap().set_len(len).unwrap();
        let (read, tail) = read(&path(&folder));
        let full = bounds.iter().filter(|end| **end <= len).count().saturating_sub(1);
        prop_assert_eq!(&read[..], &payloads[..full]);
        prop_assert_eq!(tail.unwrap(), if len < HEADER_LEN { 0 } else { len - bounds[full] });
    }

    #[test]
    fn a_byte_that_is_damaged_is_never_skipped(payloads in payloads(), at: prop::sample::Index, flip in 1u8..) {
        let folder = tempfile::tempdir().unwrap();
        let bounds = write(&path(&folder), &payloads);
        let mut bytes = fs::read(path(&folder)).unwrap();
        let at = HEADER_LEN as usize + at.index(bytes.len() - HEADER_LEN as usize);
        bytes[at] ^= flip;
        fs::write(path(&folder), bytes).unwrap();
        let (read, tail) = read(&path(&folder));
        let full = bounds.iter().filter(|end| **end <= at as u64).count() - 1;
        prop_assert_eq!(&read[..], &payloads[..full]);
        // Damage before a record that was written after a sync is detected; the last record may be
        // one that was never complete.
        prop_assert_eq!(tail.is_err(), full + 1 < payloads.len());
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), with_header: bool) {
        let folder = tempfile::tempdir().unwrap();
        if with_header {
            write(&path(&folder), &[]);
        }
        let mut file = if with_header { fs::read(path(&folder)).unwrap() } else { Vec::new() };
        file.extend(bytes);
        fs::write(path(&folder), file).unwrap();
        if let Ok(Some(mut reader)) = LogReader::open(&path(&folder)) {
            while reader.read_next().unwrap().is_some() {}
            let _ = reader.check_tail();
        }
    }
}

#[test]
fn records_after_a_hole_that_nobody_synced_are_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = LogWriter::create(&Disk, &path(&folder), &Header::default()).unwrap();
    let start = writer.end();
    for commit in 0..3 {
        assert!(writer.append(commit, b"payload", start).is_ok());
    }
    let mut bytes = fs::read(path(&folder)).unwrap();
    bytes[start as usize + 30] ^= 1;
    fs::write(path(&folder), &bytes).unwrap();
    let (payloads, tail) = read(&path(&folder));
    assert_eq!((payloads.len(), tail.unwrap()), (0, bytes.len() as u64 - start));
}

#[test]
fn a_log_is_read_while_it_grows() {
    let folder = tempfile::tempdir().unwrap();
    let identity = Identity(u128::MAX - 5);
    let header = Header { number: 7, previous: 5, identity, previous_end: 99, commit: 12 };
    let mut writer = LogWriter::create(&Disk, &path(&folder), &header).unwrap();
    let mut reader = LogReader::open(&path(&folder)).unwrap().unwrap();
    assert_eq!(*reader.header(), header);
    for commit in 1..4 {
        assert!(reader.read_next().unwrap().is_none());
        assert!(writer.append(commit, &[9; 3], 0).is_ok());
        assert_eq!(reader.read_next().unwrap().unwrap().commit, commit);
    }
    assert!(writer.append(4, b"x", reader.end()).is_ok());
    // Behind what was read there is a record now: that is no damage.
    assert!(0 < reader.check_tail().unwrap());
    assert_eq!(
        LogReader::open(&path(&folder)).unwrap().unwrap().read_next().unwrap().unwrap().commit,
        1
    );
}
