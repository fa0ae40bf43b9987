//! Does opening a snapshot cost the same whatever its size?
//!
//! Writes one of about `HEXGRAPH_BENCH_NODES` (twenty million) nodes beside a small one.

use hexgraph::db::{Database, OpenOptions};
use hexgraph_benches::{ask, load_lines};
use std::path::Path;
use std::time::{Duration, Instant};

fn write(dir: &Path, nodes: u64) {
    let db = Database::in_memory();
    db.alter("name: string @index(exact) .\nscore: int @index(int) .\nlink: [uid] @reverse .")
        .expect("a valid schema");
    load_lines(&db, dir, |out| {
        for uid in 1..=nodes {
            writeln!(out, "<{uid}> <name> \"the node with the number {uid}\" .").expect("room");
            writeln!(out, "<{uid}> <score> \"{}\"^^<xs:int> .", uid % 1000).expect("room");
            let target = uid.wrapping_mul(2_654_435_761) % nodes + 1;
            writeln!(out, "<{uid}> <link> <{target}> .").expect("room");
        }
    });
    db.save(&dir.join("saved")).expect("the disk has room");
}

fn size(dir: &Path) -> u64 {
    let files = std::fs::read_dir(dir).expect("the directory was just written");
    files.filter_map(|file| file.ok()?.metadata().ok()).map(|data| data.len()).sum()
}

fn main() {
    let large = std::env::var("HEXGRAPH_BENCH_NODES").ok().and_then(|text| text.parse().ok());
    for nodes in [10_000, large.unwrap_or(20_000_000)] {
        let dir = tempfile::tempdir().expect("a directory for temporary files");
        write(dir.path(), nodes);
        let path = dir.path().join("saved");
        for read_only in [true, false] {
            let mut times: Vec<Duration> = (0..20).map(|_| reopen(&path, read_only)).collect();
            times.sort_unstable();
            println!(
                "{nodes} nodes, {} MB: open to {} {:?} (median), {:?} (worst)",
                size(&path) / 1_000_000,
                if read_only { "read" } else { "write" },
                times[times.len() / 2],
                times[times.len() - 1]
            );
        }
    }
}

/// How long opening takes.
fn reopen(path: &Path, read_only: bool) -> Duration {
    let started = Instant::now();
    let options = OpenOptions { read_only, ..OpenOptions::default() };
    let db = Database::open(path, options).expect("the snapshot was just written");
    let time = started.elapsed();
    assert!(ask(&db, "{ q(func: eq(score, 7), first: 1) { name } }").contains("number"));
    db.close().expect("nothing is to be written");
    time
}
