//! Any text is a GraphQL request that can be resolved, or refused with faults.
#![no_main]

use hexgraph::internals::graphql::generate::Api;
use hexgraph::internals::graphql::request::{RequestLimits, Request};
use hexgraph::internals::graphql::sdl::{Settings, read};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

const SCHEMA: &str = "interface Being { id: ID!  name: String! @search(by: [hash]) }
    type Person implements Being { age: Int @search  friends: [Person]  pet: Pet  mood: Mood @search }
    type Dog implements Being { breed: String @id }  union Pet = Dog  enum Mood { GOOD BAD }";

static API: LazyLock<Api> = LazyLock::new(|| {
    let model = read(SCHEMA, &Settings::default()).expect("the schema is valid");
    Api::new(&model).expect("so is what is made from it")
});

fuzz_target!(|text: &str| {
    match Request::parse(&API, text, &RequestLimits::default()) {
        Ok(request) => drop(request.resolve(&API, None, &Default::default())),
        Err(faults) => assert!(!faults.is_empty()),
    }
});
