//! Any text is a GraphQL schema that the store can hold, or refused with faults.
#![no_main]

use hexgraph::internals::graphql::sdl::{Settings, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let lambda_url = Some("http://localhost".to_owned());
    let settings = Settings { lambda_url, ..Settings::default() };
    match read(text, &settings) {
        Ok(model) => drop(model.to_dql_schema()),
        Err(faults) => assert!(!faults.is_empty()),
    }
});
