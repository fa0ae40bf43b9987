//! Any text is read as what `CURRENT` says, or refused; what is read is written as it was.
#![no_main]

use hexgraph::internals::durability::{Current, LastLog};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(current) = Current::of_text(text)
        && current.log != LastLog::Unknown
    {
        assert_eq!(Current::of_text(&current.to_text()), Ok(current));
    }
});
