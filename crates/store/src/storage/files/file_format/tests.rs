use crate::storage::files::blocks::catch_corrupt;
use crate::storage::files::disk::Disk;
use crate::storage::files::file_format::*;
use crate::storage::{Array, FrozenBitmap, Offsets};
use bytes::Bytes;
use hexgraph_base::types::{Error, Result};
use std::path::Path;

/// All that the sample snapshot holds, as plain values.
#[derive(Debug, PartialEq)]
struct Content {
    numbers: Vec<u64>,
    bytes: Vec<u8>,
    empty: Vec<u32>,
    members: Vec<u32>,
    rows: Vec<usize>,
    texts: Vec<String>,
}

fn sample(count: u32) -> Content {
    Content {
        numbers: (0..u64::from(count)).map(|n| n * n).collect(),
        bytes: b"some bytes".to_vec(),
        empty: Vec::new(),
        members: (0..count).map(|n| n * 3).chain(1_000_000..1_000_000 + count).collect(),
        rows: (0..count as usize).map(|n| n % 5).collect(),
        texts: (0..count).map(|n| format!("text {n} ž")).collect(),
    }
}

fn write(path: &Path, content: &Content) {
    let mut writer = SnapshotWriter::create_in(&Disk, path).unwrap();
    writer.array("numbers", &Array::from_vec(content.numbers.clone())).unwrap();
    writer.bytes("bytes", &content.bytes).unwrap();
    writer.array("empty", &Array::<u32>::empty()).unwrap();
    writer.bitmap("members", &FrozenBitmap::from_sorted(&content.members)).unwrap();
    writer.offsets("rows", &Offsets::from_lens(content.rows.iter().copied())).unwrap();
    writer.text("texts", &content.texts.iter().collect()).unwrap();
    writer.finish().unwrap();
}

fn read(snapshot: &SnapshotFile) -> Result<Content> {
    let rows = snapshot.offsets("rows")?;
    let texts = snapshot.text("texts")?;
    Ok(Content {
        numbers: snapshot.array("numbers")?.as_slice().to_vec(),
        bytes: snapshot.bytes("bytes")?.as_slice().to_vec(),
        empty: snapshot.array("empty")?.as_slice().to_vec(),
        members: snapshot.bitmap("members")?.iter().collect(),
        rows: (0..rows.rows()).map(|row| rows.range(row).len()).collect(),
        texts: (0..texts.len()).map(|index| texts.get(index).to_owned()).collect(),
    })
}

fn sample_file(count: u32) -> (Vec<u8>, Content) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sample.hxs");
    let content = sample(count);
    write(&path, &content);
    (std::fs::read(path).unwrap(), content)
}

/// The content, or the first corruption.
fn read_bytes(bytes: &[u8]) -> Result<Content> {
    let snapshot = SnapshotFile::from_bytes(Bytes::copy_from_slice(bytes), "sample")?;
    catch_corrupt(|| read(&snapshot))?
}

#[test]
fn what_was_written_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sample.hxs");
    // Small ones have a common block, large ones have several and cross their borders.
    for count in [0, 1, 1000, 50_000] {
        let content = sample(count);
        write(&path, &content);
        let snapshot = SnapshotFile::open(&path).unwrap();
        snapshot.verify_all().unwrap();
        assert_eq!(snapshot.path(), path);
        assert_eq!(read(&snapshot).unwrap(), content);
        assert_eq!(read_bytes(&std::fs::read(&path).unwrap()).unwrap(), content);
        let numbers = snapshot.array::<u64>("numbers").unwrap();
        assert!(numbers.iter_from(3).eq(content.numbers.iter().skip(3).copied()));
        let squares = numbers.partition_point(0..numbers.len(), |n| n < 900);
        assert_eq!(squares, numbers.len().min(30));
    }
}

#[test]
fn sections_have_names() {
    let (bytes, _) = sample_file(3);
    let snapshot = SnapshotFile::from_bytes(Bytes::from(bytes), "sample").unwrap();
    let names: Vec<&str> = snapshot.section_names().collect();
    let parts = ["members.dir", "members.words", "numbers", "rows.narrow"];
    assert_eq!(names[..2], ["bytes", "empty"]);
    assert_eq!(names[2..6], parts);
    assert_eq!(names[6..], ["texts.narrow", "texts.text"]);
    assert!(["members", "numbers", "rows", "texts"].iter().all(|name| snapshot.has(name)));
    assert!(!snapshot.has("number") && !snapshot.has(""));
    let missing = snapshot.array::<u64>("nothing").unwrap_err().to_string();
    assert_eq!(missing, "sample: section `nothing` is missing");
    let other = snapshot.array::<u32>("numbers").unwrap_err().to_string();
    assert!(other.contains("section `numbers` at offset 128: items of 8 bytes, not 4"), "{other}");
}

#[test]
fn a_snapshot_is_copied_from_its_map() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    write(&one, &sample(50_000));
    let old = SnapshotFile::open(&one).unwrap();
    let mut writer = SnapshotWriter::create_in(&Disk, &two).unwrap();
    writer.array("numbers", &old.array::<u64>("numbers").unwrap()).unwrap();
    writer.bitmap("members", &old.bitmap("members").unwrap()).unwrap();
    writer.text("texts", &old.text("texts").unwrap()).unwrap();
    writer.finish().unwrap();
    let new = SnapshotFile::open(&two).unwrap();
    assert!(new.bitmap("members").unwrap().iter().eq(sample(50_000).members));
    assert_eq!(new.text("texts").unwrap().get(49_999), "text 49999 ž");
}

#[test]
fn what_is_mapped_stays_when_the_file_is_written_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sample.hxs");
    write(&path, &sample(1000));
    let old = SnapshotFile::open(&path).unwrap();
    write(&path, &sample(1));
    assert_eq!(read(&old).unwrap(), sample(1000));
}

#[test]
fn every_damaged_byte_is_detected_or_harmless() {
    let (mut bytes, content) = sample_file(40);
    for index in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            bytes[index] ^= flip;
            match read_bytes(&bytes) {
                Ok(result) => assert_eq!(result, content, "byte {index}"),
                Err(error) => assert!(matches!(error, Error::Corrupt { .. }), "{error}"),
            }
            let full = SnapshotFile::from_bytes(Bytes::copy_from_slice(&bytes), "sample")
                .and_then(|snapshot| snapshot.verify_all());
            assert!(matches!(full, Err(Error::Corrupt { .. })), "byte {index}");
            bytes[index] ^= flip;
        }
    }
}

#[test]
fn every_truncated_file_is_refused() {
    let (mut bytes, _) = sample_file(40);
    for len in 0..bytes.len() {
        let part = Bytes::copy_from_slice(&bytes[..len]);
        let error = SnapshotFile::from_bytes(part, "sample").err().expect("it was cut");
        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    }
    bytes.push(0);
    let error = SnapshotFile::from_bytes(Bytes::from(bytes), "sample").err().unwrap();
    assert!(error.to_string().contains("bytes long"), "{error}");
}

#[test]
fn only_damaged_blocks_are_refused() {
    let (mut bytes, content) = sample_file(50_000);
    // The numbers come first and fill six blocks.
    bytes[128 + 3 * 65536 + 17] ^= 4;
    let snapshot = SnapshotFile::from_bytes(Bytes::from(bytes), "sample").unwrap();
    let numbers = snapshot.array::<u64>("numbers").unwrap();
    assert_eq!(numbers.get(3 * 8192 - 1), content.numbers[3 * 8192 - 1]);
    assert_eq!(numbers.slice(4 * 8192..50_000), &content.numbers[4 * 8192..]);
    let reads: [&dyn Fn() -> u64; 4] = [
        &|| numbers.get(4 * 8192 - 1),
        &|| numbers.as_slice()[0],
        &|| numbers.iter_from(0).sum(),
        &|| numbers.bytes()[0].into(),
    ];
    for (index, read) in reads.iter().enumerate() {
        let error = catch_corrupt(read).expect_err("the block is damaged").to_string();
        let start = "sample: section `numbers`: the block at offset 196736 has checksum ";
        assert!(error.starts_with(start), "{index}: {error}");
    }
    assert!(snapshot.verify_all().unwrap_err().to_string().contains("offset 196736"));
    let outside = catch_corrupt(|| numbers.get(50_000)).unwrap_err().to_string();
    assert!(
        outside.contains("positions 50000..50001 are out of bounds for 50000 items"),
        "{outside}"
    );
}

/// Right checksums, invalid content: each row is a section and what is said of it.
#[test]
fn invalid_sections_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("invalid.hxs");
    let mut writer = SnapshotWriter::create_in(&Disk, &path).unwrap();
    writer.array("none.narrow", &Array::<u32>::empty()).unwrap();
    writer.array("set.dir", &Array::from_vec(vec![[7_u64, 7]])).unwrap();
    writer.array("set.words", &Array::from_vec(vec![1_u64])).unwrap();
    writer.array("long.narrow", &Array::from_vec(vec![0_u32, 9])).unwrap();
    writer.array("long.text", &Array::from_vec(vec![b'a'; 8])).unwrap();
    writer.array("back.wide", &Array::from_vec(vec![5_u64, 3])).unwrap();
    writer.array("half.narrow", &Array::from_vec(vec![0_u32, 1])).unwrap();
    writer.array("half.text", &Array::from_vec("ž".as_bytes().to_vec())).unwrap();
    writer.finish().unwrap();
    let snapshot = SnapshotFile::open(&path).unwrap();
    snapshot.verify_all().unwrap();
    let cases: [(Result<()>, &str); 5] = [
        (snapshot.offsets("none").map(drop), "section `none.narrow`: no offsets"),
        (snapshot.bitmap("set").map(drop), "section `set.dir`: container 0 is invalid"),
        (snapshot.text("long").map(drop), "section `long.text`: 8 bytes, 9 are needed"),
        (
            catch_corrupt(|| snapshot.offsets("back").unwrap().range(0)).map(drop),
            "section `back.wide`: row 0 has the reversed offsets 5..3",
        ),
        (
            catch_corrupt(|| snapshot.text("half").unwrap().get(0).to_owned()).map(drop),
            "section `half.text`: text 0: incomplete utf-8",
        ),
    ];
    for (outcome, want) in cases {
        let error = outcome.expect_err(want).to_string();
        assert!(error.contains(want), "{error}");
    }
}

#[test]
fn names_must_differ() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = SnapshotWriter::create_in(&Disk, &dir.path().join("twice")).unwrap();
    writer.bytes("twice", b"1").unwrap();
    writer.bytes("twice", b"2").unwrap();
    let error = writer.finish().unwrap_err().to_string();
    assert!(error.contains("two sections are named `twice`"), "{error}");
}

#[test]
fn what_is_no_snapshot_is_said_to_be_none() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("other");
    assert!(matches!(SnapshotFile::open(&path), Err(Error::Io { .. })));
    for (content, want) in [
        (Vec::new(), "0 bytes are too few for a snapshot"),
        (vec![b'x'; 4096], "not a snapshot of hexgraph"),
    ] {
        std::fs::write(&path, content).unwrap();
        let error = SnapshotFile::open(&path).err().unwrap().to_string();
        assert!(error.contains(want) && error.contains("other"), "{error}");
    }
    assert!(matches!(SnapshotFile::open(dir.path()), Err(Error::Io { .. })));
}
