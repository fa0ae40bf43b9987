//! Any text is read as a delimited table, or refused; its records are those of a slow reader.
#![no_main]

use hexgraph::tables::check_text_table;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check_text_table(bytes));
