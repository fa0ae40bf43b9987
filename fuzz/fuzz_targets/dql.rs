//! Any text is parsed and planned, or refused with an error that has a position.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(document) = hexgraph::internals::dql::parse(text) {
        let _ = document.plan(&Default::default());
    }
    let _ = hexgraph::internals::dql::parse_mutation(text);
});
