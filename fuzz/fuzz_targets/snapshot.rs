//! Any bytes are opened as a snapshot, or refused; a damaged block unwinds with an error.
#![no_main]

use hexgraph::internals::storage::SnapshotFile;
use hexgraph::types::Error;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let read = std::panic::catch_unwind(|| {
        let Ok(file) = SnapshotFile::from_bytes(bytes::Bytes::copy_from_slice(data), "fuzz") else {
            return;
        };
        let _ = file.verify_all();
    });
    if let Err(payload) = read {
        assert!(payload.is::<Error>(), "a panic that is no damaged block");
    }
});
