//! Any bytes are executed as the records of a log, or refused. A record begins with its length.
#![no_main]

use hexgraph::internals::graph::{Replay, Version, alter};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static START: LazyLock<Version> = LazyLock::new(|| {
    let schema = "name: string @index(term) @lang .\nage: int @index(int) .\nfriend: [uid] @reverse @count .";
    alter(&Version::empty(), schema).expect("the schema is sound")
});

fuzz_target!(|data: &[u8]| {
    let mut replay = Replay::new(START.clone());
    let (mut rest, mut commit) = (data, 0);
    while let Some((&len, bytes)) = rest.split_first() {
        let (record, later) = bytes.split_at(usize::from(len).min(bytes.len()));
        (rest, commit) = (later, commit + 1);
        if replay.record(commit, record).is_err() {
            return;
        }
    }
    let _ = replay.version();
});
