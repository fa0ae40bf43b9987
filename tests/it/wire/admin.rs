//! The API that administers, against the recorded introspection of Dgraph's.

use super::site::{Site, message};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

const INTROSPECTION: &str = "
query { __schema {
    __typename queryType { name __typename } mutationType { name __typename }
    subscriptionType { name __typename }
    types { ...Definition } directives { __typename name locations args { ...Input } }
} }
fragment Definition on __Type {
    kind name __typename interfaces { ...Reference } possibleTypes { ...Reference }
    fields(includeDeprecated: true) {
        __typename name args { ...Input } type { ...Reference } isDeprecated deprecationReason
    }
    inputFields { ...Input }
    enumValues(includeDeprecated: true) { __typename name isDeprecated deprecationReason }
}
fragment Input on __InputValue { __typename name type { ...Reference } defaultValue }
fragment Reference on __Type {
    __typename kind name ofType { __typename kind name ofType { __typename kind name ofType {
        __typename kind name ofType { __typename kind name } } } }
}";

/// What is here and not there: an export is told with the files that it made, since a request waits
/// for a short one.
const MORE: [&str; 1] = ["types ExportPayload fields exportedFiles"];

/// What of ours is about keys, which Dgraph has not.
const ABOUT_KEYS: [&str; 7] = [
    "types ApiKey",
    "types CreateKeyInput",
    "types CreateKeyPayload",
    "types RevokeKeyPayload",
    "types Query fields queryKeys",
    "types Mutation fields createKey",
    "types Mutation fields revokeKey",
];

/// The same without an order of what stands side by side, and without nulls, which depend on how
/// deep one asked.
fn unordered(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(unordered).collect();
            items.sort_by_key(Value::to_string);
            Value::Array(items)
        }
        Value::Object(members) => {
            let existing = members.iter().filter(|(_, value)| !value.is_null());
            existing.map(|(name, value)| (name.clone(), unordered(value))).collect()
        }
        other => other.clone(),
    }
}

/// All that a schema has, each with the position where it stands. What introspection itself is made
/// of may be newer.
fn contents(schema: &Value) -> BTreeMap<String, Value> {
    let mut result = BTreeMap::new();
    for part in ["types", "directives"] {
        for item in schema[part].as_array().unwrap() {
            let name = item["name"].as_str().unwrap();
            if name.starts_with("__") {
                continue;
            }
            let mut item = item.clone();
            for list in ["fields", "inputFields", "enumValues", "args"] {
                let Some(members) = item.get_mut(list).and_then(Value::as_array_mut) else {
                    continue;
                };
                for member in members.drain(..) {
                    let position =
                        format!("{part} {name} {list} {}", member["name"].as_str().unwrap());
                    result.insert(position, unordered(&member));
                }
            }
            result.insert(format!("{part} {name}"), unordered(&item));
        }
    }
    let roots = ["__typename", "queryType", "mutationType", "subscriptionType"];
    result.extend(roots.map(|root| (root.to_owned(), unordered(&schema[root]))));
    result
}

#[test]
fn the_api_is_the_recorded_one() {
    let shared = std::env::var_os("HEXGRAPH_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    let path = shared.join("conformance/graphql/admin_introspection.json");
    let Ok(text) = fs::read_to_string(&path) else {
        println!("skipped: {} is not there", path.display());
        return;
    };
    let recorded: Value = serde_json::from_str(&text).unwrap();
    let recorded = contents(&recorded["data"]["__schema"]);
    let answer = Site::new("").admin(INTROSPECTION);
    let mut ours = contents(&answer["data"]["__schema"]);
    for position in MORE {
        assert!(ours.remove(position).is_some() && !recorded.contains_key(position), "{position}");
    }
    for (position, value) in &recorded {
        assert_eq!(ours.get(position), Some(value), "{position}");
    }
    ours.retain(|position, _| !ABOUT_KEYS.iter().any(|existing| position.starts_with(existing)));
    let more: Vec<&String> =
        ours.keys().filter(|position| !recorded.contains_key(*position)).collect();
    assert!(more.is_empty(), "{more:?}");
}

#[test]
fn mutations_behind_one_that_failed() {
    let site = Site::new("");
    let set = |schema: &str| {
        format!(
            "updateGQLSchema(input: {{set: {{schema: \"{schema}\"}}}}) {{ gqlSchema {{ schema }} }}"
        )
    };
    let text = format!(
        "mutation {{ a: {} {} b: draining(enable: true) {{ __typename }} __typename }}",
        set("type A { a: Int }"),
        set("type")
    );
    let answer = site.admin(&text);
    assert!(message(&answer).starts_with("resolving updateGQLSchema failed because "), "{answer}");
    let why = "Mutation b was not executed because of a previous error.";
    assert_eq!(answer["errors"][1]["message"], why);
    assert_eq!(answer["errors"][1]["path"], json!(["b"]));
    let schema = json!({ "gqlSchema": { "schema": "type A { a: Int }" } });
    let want = json!({ "a": schema, "updateGQLSchema": null, "__typename": "Mutation" });
    assert_eq!(answer["data"], want);
    assert_eq!(site.ask("{ queryA { a } }"), json!({ "data": { "queryA": [] } }));
}

#[test]
fn introspection_is_in_the_order_of_the_request() {
    let answer = Site::new("").post("/admin", r#"{"query":"{ __type(name: \"Config\") { name kind fields { type { name kind } name } } }"}"#);
    let want = r#"{"data":{"__type":{"name":"Config","kind":"OBJECT","fields":[{"type":{"name":"Float","kind":"SCALAR"},"name":"cacheMb"}]}}}"#;
    assert_eq!(answer.text(), want);
}
