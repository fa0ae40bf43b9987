//! Any text is a GraphQL schema that the store can hold, or refused with faults.
#![no_main]

use hexgraph::internals::graphql::sdl::{Settings, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let settings = Settings { lambda_url: Some("http://localhost".to_owned()) };
    match read(text, &settings) {
        Ok(model) => drop(model.to_dql_schema()),
        Err(faults) => assert!(!faults.is_empty()),
    }
});
