//! `@lambda` and `@lambdaOnMutate`.

use super::server::{Answer, RequestedQuery, Server};
use super::{ask_with, data, error};
use hexgraph::db::Database;
use hexgraph::db::graphql::{GraphqlOptions, Headers};
use serde_json::{Value, json};

const SCHEMA: &str = r#"
    enum Mood { GOOD BAD }
    interface Being { id: ID! name: String! mood: Mood friend: Being bio: String @lambda }
    type Human implements Being @lambdaOnMutate(add: true, update: true, delete: true) { age: Int tags: [String] }
    type Robot implements Being { model: String }
    type Query { greet(name: String!, often: Int): String @lambda }
    type Mutation { make(name: String): [Being] @lambda }
    # Dgraph.Authorization X-Auth ns HS256 "secret"
"#;

fn answer(requested: &RequestedQuery) -> Answer {
    let body = requested.json();
    let names = |start: &str| {
        let parents = body["parents"].as_array().unwrap().iter();
        parents
            .map(|parent| json!(format!("{start} {}", parent["name"].as_str().unwrap())))
            .collect()
    };
    Answer::json(&match body["resolver"].as_str().unwrap() {
        "Query.greet" => json!(format!("hi {}", body["args"]["name"].as_str().unwrap())),
        "Mutation.make" => json!([{"__typename": "Robot", "name": "r", "model": "m"}]),
        "Being.bio" => Value::Array(names("being")),
        "Human.bio" => Value::Array(names("human")),
        "Robot.bio" => Value::Array(names("robot")),
        other => return Answer::text(format!("no {other}")).status(404),
    })
}

fn start() -> (Server, Database) {
    let server = Server::start(answer);
    let db = Database::in_memory();
    let lambda_url = Some(format!("{}/graphql-worker", server.url));
    db.set_graphql_options(GraphqlOptions { lambda_url, ..GraphqlOptions::default() });
    db.set_graphql_schema(SCHEMA).unwrap();
    (server, db)
}

const ADD: &str = r#"mutation {
    addHuman(input: [{name: "ann", age: 3, mood: GOOD, tags: ["x"]}]) { human { name bio } }
    addRobot(input: [{name: "rob", model: "m"}]) { numUids }
}"#;

#[test]
fn without_a_server_they_are_refused() {
    let reported = Database::in_memory().set_graphql_schema(SCHEMA).unwrap_err().to_string();
    assert!(reported.contains("flag wasn't specified during alpha startup"), "{reported}");
    let (_server, db) = start();
    db.set_graphql_options(GraphqlOptions::default());
    let (message, _) = error(&ask_with(&db, r#"{ greet(name: "x") }"#, &Headers::new()));
    assert!(message.contains("--graphql-lambda-url"), "{message}");
}

#[test]
fn functions_are_given_arguments_or_parents() {
    let (server, db) = start();
    assert_eq!(data(&db, r#"{ greet(name: "you", often: 2) }"#), json!({"greet": "hi you"}));
    let requested = server.take().remove(0);
    assert_eq!((requested.method.as_str(), requested.path.as_str()), ("POST", "/graphql-worker"));
    let want = json!({"resolver": "Query.greet", "args": {"name": "you", "often": 2}});
    assert_eq!(requested.json(), want);
    let added = data(&db, ADD);
    assert_eq!(added["addHuman"]["human"], json!([{"name": "ann", "bio": "human ann"}]));
    let requested = server.take();
    let bio = requested
        .iter()
        .find(|requested| requested.json()["resolver"] == "Human.bio")
        .unwrap()
        .json();
    let parent = &bio["parents"][0];
    assert!(parent["id"].as_str().unwrap().starts_with("0x"));
    let want = json!({"id": parent["id"], "name": "ann", "age": 3, "mood": "GOOD", "tags": ["x"]});
    assert_eq!(*parent, want, "all plain fields, and only those");
}

#[test]
fn fields_of_interfaces_are_those_that_are_asked_for() {
    let (server, db) = start();
    data(&db, ADD);
    server.take();
    let result = data(&db, "{ queryBeing { name bio } }");
    assert_eq!(
        result["queryBeing"],
        json!([{"name": "ann", "bio": "being ann"}, {"name": "rob", "bio": "being rob"}])
    );
    // What is told of mutations comes when it comes.
    let requested = server.take();
    let requested = requested.iter().filter(|requested| requested.json()["resolver"] != "$webhook");
    assert_eq!(requested.count(), 1);
    let result = data(&db, "{ queryBeing { ... on Human { bio } ... on Robot { bio } } }");
    assert_eq!(result["queryBeing"], json!([{"bio": "human ann"}, {"bio": "robot rob"}]));
    let made = data(&db, "mutation { make { name bio ... on Robot { model } } }");
    assert_eq!(made["make"], json!([{"name": "r", "bio": "robot r", "model": "m"}]));
}

#[test]
fn the_token_goes_along() {
    let (server, db) = start();
    let key = jsonwebtoken::EncodingKey::from_secret(b"secret");
    let token = crate::tokens::sign(&Default::default(), &json!({"ns": {}}), &key);
    let headers: Headers = [("x-auth", token.as_str())].into_iter().collect();
    ask_with(&db, r#"{ greet(name: "you") }"#, &headers);
    assert_eq!(server.take()[0].json()["authHeader"], json!({"key": "X-Auth", "value": token}));
}

#[test]
fn mutations_are_told() {
    let (server, db) = start();
    data(&db, r#"mutation { addHuman(input: [{name: "ann"}]) { numUids } }"#);
    let mut event = server.wait().json();
    let uids = event["event"]["add"]["rootUIDs"].clone();
    assert!(event["event"]["commitTs"].take().is_u64());
    let details = json!({"rootUIDs": uids, "input": [{"name": "ann"}]});
    let want = json!({"__typename": "Human", "operation": "add", "commitTs": null, "add": details});
    assert_eq!(event, json!({"resolver": "$webhook", "event": want}));
    server.take();
    data(&db, r#"mutation { updateHuman(input: {filter: {}, set: {age: 4}}) { numUids } }"#);
    let event = server.wait().json();
    let want = json!({"rootUIDs": uids, "setPatch": {"age": 4}, "removePatch": null});
    assert_eq!(event["event"]["update"], want);
    server.take();
    data(
        &db,
        "mutation { deleteHuman(filter: {}) { msg } deleteHuman2: deleteHuman(filter: {}) { msg } addRobot(input: [{name: \"r\"}]) { numUids } }",
    );
    assert_eq!(server.wait().json()["event"]["delete"], json!({"rootUIDs": uids}));
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert_eq!(server.take().len(), 1, "nothing that changed nothing, and nothing of robots");
}
