//! Custom fields of types.

use super::server::{Answer, RequestedQuery, Server};
use super::{add_users, ask, data, database};
use serde_json::{Value, json};

const SCHEMA: &str = r#"
    interface Being { id: ID! name: String! @search(by: [hash]) }
    type User implements Being {
        age: Int
        friends: [User]
        one: String @custom(http: { url: "URL/one/$name?a=$age", method: GET })
        all: Int! @custom(http: { url: "URL/all", method: POST, mode: BATCH, body: "{ n: $name, i: $id }" })
        posts: [Post] @custom(http: { url: "URL/posts/$id", method: GET })
        pals: [User] @custom(http: { url: "URL/pals", method: POST, mode: BATCH, body: "{ n: $name, i: $id }" })
    }
    type Post @remote { title: String! tags: [String] }
    type Query { someone: User @custom(http: { url: "URL/someone", method: GET }) }
"#;

/// Counts names, greets, and knows whose pal is whose.
fn answer(requested: &RequestedQuery) -> Answer {
    let (path, query) = requested.path.split_once('?').unwrap_or((&requested.path, ""));
    match path.split('/').collect::<Vec<_>>()[..] {
        ["", "one", name] => Answer::json(&json!(format!("{name}!{query}"))),
        ["", "posts", id] => Answer::json(&json!([{"title": id, "tags": ["a"]}])),
        ["", "someone"] => Answer::text(r#"{"id": "0x99", "name": "zoe"}"#),
        ["", "all"] => each(requested, |name| json!(name.len())),
        ["", "pals"] => each(
            requested,
            |name| json!([{"id": "0x77", "name": format!("{name}-pal"), "age": 1}, {"id": "0x78", "name": "same"}]),
        ),
        _ => Answer::text("").status(404),
    }
}

fn each(requested: &RequestedQuery, value: impl Fn(&str) -> Value) -> Answer {
    let objects = requested.json();
    let objects = objects.as_array().unwrap().iter();
    Answer::json(&objects.map(|object| value(object["n"].as_str().unwrap())).collect())
}

fn start() -> (Server, hexgraph::db::Database) {
    let server = Server::start(answer);
    let db = database(SCHEMA, &server.url);
    add_users(&db);
    (server, db)
}

#[test]
fn single_fields_are_asked_one_by_one() {
    let (server, db) = start();
    let result = data(&db, "{ queryUser { one age } }");
    let want = json!([{"one": "ann!a=30", "age": 30}, {"one": "bob!", "age": null}, {"one": "cyd!a=50", "age": 50}]);
    assert_eq!(result["queryUser"], want);
    let mut paths: Vec<String> =
        server.take().into_iter().map(|requested| requested.path).collect();
    paths.sort();
    assert_eq!(paths, ["/one/ann?a=30", "/one/bob", "/one/cyd?a=50"]);
    let result =
        data(&db, r#"{ queryUser(filter: {name: {eq: "ann"}}) { posts { title tags } } }"#);
    let posts = &result["queryUser"][0]["posts"];
    assert!(posts[0]["title"].as_str().unwrap().starts_with("0x"), "{posts}");
    assert_eq!(posts[0]["tags"], json!(["a"]));
}

#[test]
fn batches_are_asked_once() {
    let (server, db) = start();
    let text = r#"mutation { updateUser(input: {filter: {name: {eq: "ann"}}, set: {friends: [{name: "dee"}]}}) { numUids } }"#;
    data(&db, text);
    server.take();
    let result = data(&db, "{ queryUser(first: 3) { all other: all friends { all } } }");
    let want = json!([
        {"all": 3, "other": 3, "friends": [{"all": 3}]},
        {"all": 3, "other": 3, "friends": []},
        {"all": 3, "other": 3, "friends": []}
    ]);
    assert_eq!(result["queryUser"], want);
    let requested = server.take();
    let mut counts: Vec<usize> =
        requested.iter().map(|requested| requested.json().as_array().unwrap().len()).collect();
    counts.sort_unstable();
    assert_eq!(counts, [1, 3, 3], "one request for each field and level");
    assert!(requested[0].json()[0]["i"].as_str().unwrap().starts_with("0x"));
}

#[test]
fn payloads_and_single_nodes_have_them_too() {
    let (_server, db) = start();
    let added = data(&db, r#"mutation { addUser(input: [{name: "eve"}]) { user { all one } } }"#);
    assert_eq!(added["addUser"]["user"], json!([{"all": 3, "one": "eve!"}]));
    let result =
        data(&db, r#"{ queryBeing(filter: {name: {eq: "bob"}}) { name ... on User { all } } }"#);
    assert_eq!(result["queryBeing"], json!([{"name": "bob", "all": 3}]));
    assert_eq!(
        data(&db, "{ queryUser(filter: {not: {has: name}}) { all } }")["queryUser"],
        json!([])
    );
}

#[test]
fn custom_fields_of_what_came_back_are_asked_next() {
    let (server, db) = start();
    assert_eq!(data(&db, "{ someone { one } }"), json!({"someone": {"one": "zoe!"}}));
    server.take();
    let result = data(&db, "{ queryUser { name pals { all pals { one } } } }");
    let ann = &result["queryUser"][0];
    let pals = json!([{"one": "ann-pal-pal!a=1"}, {"one": "same!"}]);
    assert_eq!(ann["pals"][0], json!({"all": 7, "pals": pals}));
    let requested = server.take();
    let count =
        |path: &str| requested.iter().filter(|requested| requested.path.starts_with(path)).count();
    assert_eq!((count("/pals"), count("/all")), (2, 1));
    // `same` is one object, however often it comes.
    assert_eq!(count("/one"), 3 + 1 + 1);
}

#[test]
fn cascade_does_not_ask_for_what_nobody_asked_for() {
    let (_server, db) = start();
    let result = data(&db, "{ queryUser @cascade { name one } }");
    assert_eq!(result["queryUser"].as_array().unwrap().len(), 3, "bob has no age");
    let result = data(&db, "{ queryUser @cascade { age one } }");
    assert_eq!(result["queryUser"].as_array().unwrap().len(), 2);
}

#[test]
fn subscriptions_refuse_them() {
    let text = SCHEMA
        .replace("type User implements Being", "type User implements Being @withSubscription");
    let db = database(&text, "http://localhost:1");
    let request = hexgraph::db::graphql::Request::new("subscription { queryUser { one } }");
    let refused = db.graphql_subscribe(&request, &Default::default(), || {}).err().unwrap();
    assert_eq!(refused[0].message, "Custom field `one` is not supported in graphql subscription");
    assert_eq!(ask(&db, "{ queryUser { one } }"), json!({"data": {"queryUser": []}}));
}
