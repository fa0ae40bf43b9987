//! Any text is read as JSON statements, or refused with an error that has a place.
#![no_main]

use hexgraph::internals::formats::{Change, JsonTree};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(tree) = JsonTree::parse(text) {
        for change in [Change::Set, Change::Delete] {
            let _ = tree.statements(change, &mut 0);
        }
    }
});
