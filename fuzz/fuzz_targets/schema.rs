//! Any text is read as a schema, or refused; what is read prints as a text that reads the same.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = hexgraph::internals::schema::parse_schema(text);
});
