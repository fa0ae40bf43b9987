//! Any bytes are read as a log file, or refused; the first byte says in which of the formats it
//! begins well.
#![no_main]

use hexgraph::internals::storage::{Identity, LogHeader, LogReader};
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;

thread_local! {
    static FOLDER: RefCell<Option<std::path::PathBuf>> = const { RefCell::new(None) };
}

fuzz_target!(|data: &[u8]| {
    let Some((&first, rest)) = data.split_first() else { return };
    let header = LogHeader { number: 1, identity: Identity(7), ..LogHeader::default() };
    let mut bytes = if first & 1 == 1 { header.to_bytes().to_vec() } else { Vec::new() };
    bytes.extend_from_slice(rest);
    let path = FOLDER.with_borrow_mut(|folder| {
        folder.get_or_insert_with(|| std::env::temp_dir().join(format!("fuzz-log-{}", std::process::id()))).clone()
    });
    std::fs::write(&path, &bytes).expect("the folder for temporary files is there");
    if let Ok(Some(mut reader)) = LogReader::open(&path) {
        while let Ok(Some(record)) = reader.read_next() {
            assert!(record.payload.len() <= bytes.len());
        }
        let _ = reader.check_tail();
    }
});
