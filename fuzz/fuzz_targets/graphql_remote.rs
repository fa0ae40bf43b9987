//! Whatever another server answers to a custom field, to the question for its schema, or for its
//! keys, is a value or a fault.
#![no_main]

use hexgraph::db::graphql::{Headers, Request};
use hexgraph::db::{RequestContext, Database};
use hexgraph::db::graphql::{Fetch, Incoming, Outgoing, Unanswered};
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock, Mutex};

const SCHEMA: &str = r#"
    interface Thing @remote { a: Int! b: [String!] }
    type Deep implements Thing @remote { more: [Deep] at: DateTime far: Deep }
    type User {
        id: ID! name: String!
        all: [Int!] @custom(http: { url: "http://h/", method: POST, mode: BATCH, body: "{ i: $id }" })
        theirs: Thing @custom(http: { url: "http://h/", method: POST, skipIntrospection: true,
            graphql: "query ($id: ID!) { thing(id: $id) }" })
    }
    type Query { list: [Thing!] @custom(http: { url: "http://h/", method: GET }) }
"#;
const CHECKED: &str = r#"
    type Deep @remote { a: Int! more: [Deep] }
    type Query {
        deep(a: Int!): Deep @custom(http: { url: "http://h/", method: POST, graphql: "query ($a: Int!) { deep(a: $a) }" })
    }
    type X { id: ID! y: Int }
    # Dgraph.Authorization {"Header":"X-Auth","Namespace":"ns","JWKUrl":"http://h/keys"}
"#;
const REQUESTED: &str = "{ list { __typename a b ... on Deep { far { a } } }
    queryUser { all theirs { a ... on Deep { at more { at } } } } }";

#[derive(Default)]
struct Parrot(Mutex<Vec<u8>>);

impl Fetch for Parrot {
    fn fetch(&self, _: &Outgoing) -> Result<Incoming, Unanswered> {
        let body = self.0.lock().expect("nobody panics with it").clone();
        Ok(Incoming { status: 200, body, ..Incoming::default() })
    }
}

static WORLD: LazyLock<(Database, Arc<Parrot>)> = LazyLock::new(|| {
    let (db, parrot) = (Database::in_memory(), Arc::new(Parrot::default()));
    db.set_graphql_client(Arc::clone(&parrot) as Arc<dyn Fetch>);
    db.set_graphql_schema(SCHEMA).expect("the schema is valid");
    let add = Request::new("mutation { addUser(input: [{name: \"a\"}, {name: \"b\"}]) { numUids } }");
    db.graphql_with(&add, &Headers::new(), &RequestContext::new());
    (db, parrot)
});

fuzz_target!(|body: &[u8]| {
    let (db, parrot) = &*WORLD;
    *parrot.0.lock().expect("nobody panics with it") = body.to_vec();
    let response = db.graphql_with(&Request::new(REQUESTED), &Headers::new(), &RequestContext::new());
    assert!(response.data.is_some());
    let _ = db.check_graphql_schema(CHECKED);
});
