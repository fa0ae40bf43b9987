//! Bodies and messages that are packed: those that unpack to far more than they are, that end
//! early, or that lie about what they need.

use super::door::{QUICK, Yard};
use super::request::{Carrier, Reply, RequestedQuery, call, framed, message_of, send, web_call};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;

/// What the servers may take beside what they have at their beginning: a body may have 4 MiB, and
/// is read while it grows.
const CAPACITY: u64 = 128 * MIB;

const POINT: &str = "{ q(func: uid(1)) { uid } }";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

/// 16 MiB of one byte, in some kilobytes: four times as much as a body may have here.
fn bomb(mut packer: impl std::io::Write) {
    let part = vec![b' '; 1 << 20];
    (0..16).for_each(|_| packer.write_all(&part).unwrap());
    packer.flush().unwrap();
}

fn gzip_bomb() -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    bomb(&mut packer);
    packer.finish().unwrap()
}

fn zstd_bomb() -> Vec<u8> {
    let mut packer = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    bomb(&mut packer);
    packer.finish().unwrap()
}

/// A frame of zstd that wants a window of 2 GiB for what it says are a few bytes.
fn wide_window() -> Vec<u8> {
    // The magic number, no length of the content, a window of 2^(10 + 21) bytes; a last block of
    // one byte that repeats.
    let block = (100_u32 << 3 | 0b011).to_le_bytes();
    [&[0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3][..], &block[..3], b" "].concat()
}

/// A frame of zstd that says its content has 2^63 bytes.
fn great_content() -> Vec<u8> {
    let block = (100_u32 << 3 | 0b011).to_le_bytes();
    [&[0x28, 0xb5, 0x2f, 0xfd, 0b1110_0000][..], &(1_u64 << 63).to_le_bytes(), &block[..3], b" "]
        .concat()
}

/// How a body is packed, the body, and whether it is refused.
fn bodies() -> Vec<(&'static str, Vec<u8>, bool)> {
    let full = gzip(POINT.as_bytes());
    let frame = zstd::encode_all(POINT.as_bytes(), 3).unwrap();
    let bomb = gzip_bomb();
    vec![
        ("gzip", full.clone(), false),
        ("zstd", frame.clone(), false),
        ("gzip", bomb.clone(), true),
        ("gzip", gzip(&bomb), true),
        ("gzip", [&full[..], &bomb].concat(), true),
        ("zstd", zstd_bomb(), true),
        ("zstd", [&frame[..], &zstd_bomb()].concat(), true),
        ("zstd", wide_window(), true),
        ("zstd", great_content(), true),
        ("zstd", b"\x28\xb5\x2f\xfd".repeat(1 << 18), true),
        // Frames that are to be skipped, a million of them.
        ("zstd", [&frame[..], &b"\x50\x2a\x4d\x18\0\0\0\0".repeat(1 << 17)].concat(), false),
        ("gzip", full[..full.len() - 9].to_vec(), true),
        ("gzip", b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\xff\xff".to_vec(), true),
        ("gzip", [b"\x1f\x8b\x08\x08\0\0\0\0\0\xff".to_vec(), vec![b'x'; 1 << 20]].concat(), true),
        ("gzip", Vec::new(), true),
        ("gzip, gzip", gzip(&full), true),
        ("deflate", vec![0x78, 0x9c, 3, 0, 0, 0, 0, 1], true),
        ("br", b"\x8b\x01\x80".to_vec(), true),
    ]
}

/// Each message that is packed as calls have it, and whether it is refused.
fn messages() -> Vec<(&'static str, Vec<u8>, bool)> {
    let (message, bomb) = (message_of(POINT), gzip_bomb());
    vec![
        ("gzip", gzip(&message), false),
        ("gzip", bomb.clone(), true),
        ("gzip", gzip(&bomb), true),
        ("gzip", gzip(&message)[..20].to_vec(), true),
        ("gzip", b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\xff\xff".to_vec(), true),
        ("gzip", Vec::new(), true),
        ("zstd", zstd_bomb(), true),
        ("deflate", vec![0x78, 0x9c, 3, 0, 0, 0, 0, 1], true),
    ]
}

#[test]
fn bodies_that_unpack_to_more_are_refused_in_time() {
    let _turn = crate::hostile::turn();
    let mut yard = Yard::new(&["--limit", "body=4MiB"]);
    let (before, mut faults) = (yard.anonymous(), String::new());
    let watches = yard.watch("{ q(func: uid(1)) { uid } }");
    let mut check =
        |yard: &mut Yard, what: &str, is_refused: bool, ask: &dyn Fn(&Yard) -> Reply| {
            let started = Instant::now();
            let reported = ask(yard);
            let (took, now) = (started.elapsed(), yard.anonymous());
            let is_quick = took < QUICK;
            if reported.is_refused != is_refused || !is_quick || before + CAPACITY < now {
                let reported: String = format!("{reported:?}").chars().take(300).collect();
                writeln!(faults, "{what}: {took:?}, {} MiB: {reported}", now / MIB).unwrap();
            }
        };
    for (position, (coding, body, is_refused)) in bodies().into_iter().enumerate() {
        let requested = RequestedQuery::dql(body).with("content-encoding", coding);
        for carrier in [Carrier::Http1, Carrier::Http2] {
            for listener in carrier.listeners() {
                let what = format!("body {position} {carrier:?} {listener:?}");
                check(&mut yard, &what, is_refused, &|yard: &Yard| {
                    send(yard, (carrier, listener), &requested)
                });
            }
        }
        yard.is_well();
    }
    for (position, (coding, packed, is_refused)) in messages().into_iter().enumerate() {
        let (requested, message) =
            (RequestedQuery::default().with("grpc-encoding", coding), framed(1, &packed));
        for listener in Carrier::Call.listeners() {
            let what = format!("message {position} {listener:?}");
            check(&mut yard, &what, is_refused, &|yard: &Yard| {
                call(yard, listener, (&requested, message.clone()))
            });
            check(&mut yard, &what, is_refused, &|yard: &Yard| {
                web_call(yard, listener, (&requested, message.clone()))
            });
        }
        yard.is_well();
    }
    assert!(faults.is_empty(), "{faults}");
    for seen in watches.map(|watch| watch.stop()) {
        seen.check("what is packed", Duration::from_secs(2));
    }
}
