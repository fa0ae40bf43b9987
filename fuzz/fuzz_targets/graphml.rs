//! Any text is read as GraphML, or refused with a line of it; the first byte says whether wrong
//! values are left out.
#![no_main]

use hexgraph::tables::check_graphml;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check_graphml(bytes));
