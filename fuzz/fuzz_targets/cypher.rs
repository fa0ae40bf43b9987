//! Any text is parsed and analysed, or refused with an error that has a position; what is parsed is
//! printed to a text that means the same.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match hexgraph_cypher::parse(text) {
        Ok(parsed) => {
            let printed = parsed.statement().to_string();
            let again = hexgraph_cypher::parse(&printed).expect("what is printed is parsed");
            assert_eq!(parsed.statement(), again.statement(), "{printed}");
            if let Err(error) = hexgraph_cypher::analyse(&parsed) {
                drop(error.report(text));
            }
        }
        Err(error) => drop(error.report(text)),
    }
});
