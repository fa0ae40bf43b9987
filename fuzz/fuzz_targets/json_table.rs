//! Any file is read as a table of JSON, or refused with a line of it; its rows are those of
//! `serde_json`.
#![no_main]

use hexgraph::tables::check_json_table;
use libfuzzer_sys::fuzz_target;
use std::cell::LazyCell;
use std::path::PathBuf;

thread_local! {
    static FILE: LazyCell<PathBuf> = LazyCell::new(|| {
        std::env::temp_dir().join(format!("fuzz-table-{}.json", std::process::id()))
    });
}

fuzz_target!(|bytes: &[u8]| {
    FILE.with(|path| {
        std::fs::write(&**path, bytes).expect("the folder for temporary files is there");
        check_json_table(path);
    });
});
