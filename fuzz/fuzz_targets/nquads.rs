//! Any text is read as N-Quads, or refused with an error that has a position.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for line in text.lines() {
        let _ = hexgraph::internals::formats::parse_line(line);
        let _ = hexgraph::internals::formats::parse_file_line(line);
        let _ = hexgraph::internals::formats::name_text(line);
    }
    let _ = hexgraph::internals::formats::parse_text(text);
});
