//! Whatever another server answers, the request is answered: with values of the declared types, or
//! with null and an error.

use super::{add_users, ask};
use hexgraph::db::graphql::{Fetch, Incoming, Outgoing, Unanswered};
use hexgraph::db::{Database, RequestContext};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

const SCHEMA: &str = r#"
    enum Mood { GOOD BAD }
    interface Thing @remote { a: Int! b: [String!] }
    type Deep implements Thing @remote { mood: Mood, more: [Deep], at: DateTime, far: Deep }
    type User {
        id: ID! name: String! age: Int
        one: Deep @custom(http: { url: "http://h/$name", method: GET })
        all: [Int!]! @custom(http: { url: "http://h/", method: POST, mode: BATCH, body: "{ i: $id }" })
        theirs: Thing @custom(http: { url: "http://h/", method: POST, mode: SINGLE, skipIntrospection: true,
            graphql: "query ($id: ID!) { thing(id: $id) }" })
    }
    type Query {
        list: [Thing!] @custom(http: { url: "http://h/", method: GET })
        must: Deep! @custom(http: { url: "http://h/", method: GET })
    }
"#;
/// The same without `skipIntrospection`, and with keys.
const CHECKED: &str = r#"
    type Deep @remote { a: Int! more: [Deep] }
    type Query {
        deep(a: Int!): Deep @custom(http: { url: "http://h/", method: POST,
            graphql: "query ($a: Int!) { deep(a: $a) }" })
    }
    type X { id: ID! y: Int }
    # Dgraph.Authorization {"Header":"X-Auth","Namespace":"ns","JWKUrl":"http://h/keys"}
"#;
const REQUESTED: &str = "{
    list { __typename a b ... on Deep { mood far { a } } }
    queryUser { name all one { a mood more { at more { a } } } theirs { a ... on Deep { at b } } }
}";

/// Always answers the same.
#[derive(Default)]
struct Parrot(Mutex<Incoming>);

impl Fetch for Parrot {
    fn fetch(&self, _: &Outgoing) -> Result<Incoming, Unanswered> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

static PARROT: LazyLock<(Database, Arc<Parrot>)> = LazyLock::new(|| {
    let (db, parrot) = (Database::in_memory(), Arc::new(Parrot::default()));
    db.set_graphql_client(Arc::clone(&parrot) as Arc<dyn Fetch>);
    db.set_graphql_schema(SCHEMA).unwrap();
    add_users(&db);
    (db, parrot)
});

fn any_json() -> impl Strategy<Value = Value> {
    let key = "a|b|mood|more|at|far|data|errors|message|path|__typename|thing|__schema|types|kind|name|ofType|keys|kty|k|n|e";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "GOOD|Deep|Thing|LIST|NON_NULL|2020-01-01|oct|RSA|\\PC{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map(key, inner.clone(), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
            inner.clone().prop_map(|value| json!([value.clone(), value.clone(), value])),
            inner.clone().prop_map(|value| json!({"data": {"thing": value}})),
            inner.prop_map(|value| json!({"data": {"__schema": {"queryType": {"name": "Q"}, "types": [value]}}})),
        ]
    })
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => any_json().prop_map(|json| json.to_string().into_bytes()),
        1 => (any_json(), any::<prop::sample::Index>(), any::<u8>()).prop_map(|(json, at, byte)| {
            let mut text = json.to_string().into_bytes();
            let at = at.index(text.len());
            text[at] = byte;
            text
        }),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
    ]
}

/// Whether a value is one of `Thing`, as it was asked for.
fn is_thing(value: &Value) -> bool {
    let is_text = |value: &Value| value.is_string();
    value.is_null()
        || value["a"].is_i64()
            && (value["b"].is_null()
                || value["b"].as_array().is_some_and(|list| list.iter().all(is_text)))
}

proptest! {
    #[test]
    fn answers_have_the_declared_types(body in body(), status in prop_oneof![4 => Just(200_u16), 1 => any::<u16>()]) {
        let (db, parrot) = &*PARROT;
        *parrot.0.lock().unwrap() = Incoming { status, cache_control: None, body };
        let answer = ask(db, REQUESTED);
        let data = &answer["data"];
        let reported = answer["errors"].as_array().map_or(0, Vec::len);
        let list = &data["list"];
        prop_assert!(list.is_null() && reported > 0 || list.is_null() || list.is_array(), "{answer}");
        prop_assert!(list.as_array().is_none_or(|list| list.iter().all(|it| !it.is_null() && is_thing(it))));
        for user in data["queryUser"].as_array().into_iter().flatten() {
            prop_assert!(user.is_null() && reported > 0 || user["name"].is_string(), "{answer}");
            prop_assert!(is_thing(&user["theirs"]), "{answer}");
            let all = user["all"].as_array();
            prop_assert!(user.is_null() || all.is_some_and(|all| all.iter().all(Value::is_i64)));
        }
        let must = ask(db, "{ must { a } }");
        prop_assert!(must["data"].is_null() && !must["errors"].is_null() || must["data"]["must"]["a"].is_i64());
        let _ = db.check_graphql_schema_with(CHECKED, &RequestContext::new());
    }
}
