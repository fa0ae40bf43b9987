//! Custom fields: what other servers are asked, and what happens to their answers.

mod anything;
mod errors;
mod fields;
mod introspection;
mod keys;
mod lambda;
mod recorded;
mod remote;
mod roots;
mod server;
mod traces;

use hexgraph::db::graphql::{Headers, Request};
use hexgraph::db::{Database, RequestContext};
use serde_json::{Value, json};

/// A database with a schema in which `URL` stands for the address of a server.
fn database(schema: &str, url: &str) -> Database {
    let db = Database::in_memory();
    db.set_graphql_schema(&schema.replace("URL", url)).unwrap();
    db
}

fn ask_with(db: &Database, text: &str, headers: &Headers) -> Value {
    let response = db.graphql_with(&Request::new(text), headers, &RequestContext::new());
    serde_json::from_slice(&response.to_json("")).unwrap()
}

fn ask(db: &Database, text: &str) -> Value {
    ask_with(db, text, &Headers::new())
}

/// The data of an answer without errors.
fn data(db: &Database, text: &str) -> Value {
    let answer = ask(db, text);
    assert_eq!(answer["errors"], Value::Null, "{answer}");
    answer["data"].clone()
}

/// The first error of an answer, with its path.
fn error(answer: &Value) -> (String, Value) {
    let error = &answer["errors"][0];
    (error["message"].as_str().unwrap_or_default().to_owned(), error["path"].clone())
}

/// Three users, added.
fn add_users(db: &Database) {
    let added = data(
        db,
        r#"mutation { addUser(input: [{name: "ann", age: 30}, {name: "bob"}, {name: "cyd", age: 50}]) { numUids } }"#,
    );
    assert_eq!(added, json!({"addUser": {"numUids": 3}}));
}
