//! Any text is read as JSON statements, or refused with an error that has a position.
#![no_main]

use hexgraph::internals::formats::{MutationKind, JsonText};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for change in [MutationKind::Set, MutationKind::Delete] {
        let _ = JsonText::new(text).statements(change, &mut 0);
    }
});
