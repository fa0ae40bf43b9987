//! What is missing, and what can't be: nulls, paths and messages.

use super::record::{Record, ask, schema};
use hexgraph::db::graphql::Headers;
use hexgraph::db::{Database, Mutation, MutationRequest, RequestContext, Statements};
use serde_json::{Map, Value, json};

const SCHEMA: &str = "
    type Author {
        id: ID!
        name: String!
        dob: DateTime
        postsRequired: [Post!]!
        postsElmntRequired: [Post!]
        postsNullable: [Post]
        postsNullableListRequired: [Post]!
    }
    type Post { id: ID! title: String! text: String author: Author! }
";

/// The records that suppose what a store never answers.
const IMPOSSIBLE: [&str; 2] = [
    "Sensible error when expecting single but multiple items returned",
    "Sensible error when un-processable Dgraph result",
];

/// An object of the answer that is supposed, as data: the order of the nodes is that of the text.
fn data(ty: &str, object: &Map<String, Value>, next: &mut u64) -> Value {
    let mut node = json!({"dgraph.type": ty, "uid": format!("{next:#x}")});
    *next += 1;
    for (key, value) in object.iter().filter(|(key, _)| *key != "uid") {
        let value = match value {
            Value::Array(posts) => {
                let posts = posts.iter().map(|post| data("Post", post.as_object().unwrap(), next));
                posts.collect()
            }
            value => value.clone(),
        };
        node[format!("{ty}.{key}")] = value;
    }
    node
}

/// A database that answers as supposed, and the author.
fn database(response: &Value) -> (Database, String) {
    let db = Database::in_memory();
    db.set_graphql_schema(SCHEMA).unwrap();
    let first = db.assign_uids(10).unwrap().0;
    if let Some(author) = response["getAuthor"][0].as_object() {
        let text = data("Author", author, &mut first.clone()).to_string();
        let set = vec![Statements::Json(&text)];
        let mutations = vec![Mutation { set, ..Mutation::default() }];
        let request = MutationRequest { mutations, ..MutationRequest::default() };
        db.mutate_with(&request, &RequestContext::new()).unwrap();
    }
    (db, format!("{first:#x}"))
}

#[test]
fn what_is_missing_is_null_or_nothing() {
    let Some(records) = Record::all("resolve_resolver_error.jsonl") else { return };
    let records = records.iter().filter(|record| !IMPOSSIBLE.contains(&record.text("name")));
    for record in records {
        let (db, author) = database(&Value::Object(record.json("response")));
        let mut request = record.request();
        request.query = request.query.replace("getPost(id: \"0x2\")", "getPost(id: \"0x1fe\")");
        request.query = request.query.replace("\"0x1\"", &format!("\"{author}\""));
        let answer = ask(&db, &request, &Headers::new());
        assert_eq!(
            answer["data"],
            Value::Object(record.json("expected")),
            "{}",
            record.text("name")
        );
        assert_eq!(answer["errors"], record.0["errors"], "{}", record.text("name"));
    }
}

#[test]
fn what_can_not_be_is_refused_before_it_is_tried() {
    let Some(records) = Record::all("resolve_validate_mutation.jsonl") else { return };
    let Some(schema) = schema("resolve_schema.graphql", false) else { return };
    let db = Database::in_memory();
    db.set_graphql_schema(&schema).unwrap();
    for record in records {
        let answer = ask(&db, &record.request(), &Headers::new());
        let errors = answer["errors"].as_array().unwrap().iter().map(reported);
        let want = record.0["validationerror"]["message"].as_str().unwrap();
        let have = errors.collect::<Vec<_>>().join("\n");
        assert_eq!(have, want.trim_end(), "{}: {answer}", record.text("name"));
        assert!(answer["data"].is_null());
    }
}

/// An error as the records write it: its place or its path before its message.
fn reported(error: &Value) -> String {
    let message = error["message"].as_str().unwrap();
    if let Some(line) = error["locations"][0]["line"].as_u64() {
        return format!("input:{line}: {message}");
    }
    let mut path = String::new();
    for step in error["path"].as_array().unwrap() {
        match step {
            Value::String(name) if path.is_empty() => path += name,
            Value::String(name) => path += &format!(".{name}"),
            index => path += &format!("[{index}]"),
        }
    }
    format!("input: {path} {message}")
}
