//! What is checked against the schemas of other servers when a schema is set.

use super::data;
use super::server::{Answer, RequestedQuery, Server};
use hexgraph::db::graphql::{Headers, Request};
use hexgraph::db::{Database, RequestContext};
use serde_json::json;

/// What the other server declares.
const THEIRS: &str = r#"
    type Land @remote { code: ID! cities(first: Int): [City!]! size: Float }
    type City @remote { name: String! }
    input Key { code: ID! year: Int }
    type Query {
        land(key: Key!): Land @custom(http: { url: "http://x/", method: GET })
        lands(keys: [Key!]!): [Land] @custom(http: { url: "http://x/", method: GET })
    }
"#;

/// Answers introspection as a database with that schema does.
fn start() -> Server {
    let theirs = Database::in_memory();
    theirs.set_graphql_schema(THEIRS).unwrap();
    Server::start(move |requested: &RequestedQuery| {
        if requested.header("x-key") != Some("s3cret") {
            return Answer::text("no").status(401);
        }
        let body = requested.json();
        let request = Request::new(body["query"].as_str().unwrap());
        let response = theirs.graphql_with(&request, &Headers::new(), &RequestContext::new());
        Answer::text(String::from_utf8(response.to_json("")).unwrap())
    })
}

const OURS: &str = r#"
    type Land @remote { code: ID! cities(first: Int): [City] size: Int }
    type City @remote { name: String }
    input Key { code: ID! }
    type User { id: ID! name: String!
        land: Land @custom(http: { url: "URL", method: POST, mode: BATCH, introspectionHeaders: ["X-Key:key"],
            graphql: "query ($k: [Key!]!) { lands(keys: $k) }", body: "{ code: $id }" })
    }
    type Query {
        get(key: Key!): Land @custom(http: { url: "URL", method: POST, introspectionHeaders: ["X-Key:key"],
            graphql: "query ($key: Key!) { land(key: $key) }" })
    }
    # Dgraph.Secret key "s3cret"
"#;

fn reported(server: &Server, from: &str, to: &str) -> Vec<String> {
    let text = OURS.replacen(from, to, 1).replace("URL", &server.url);
    assert!(from.is_empty() || OURS.contains(from), "{from}");
    let db = Database::in_memory();
    db.check_graphql_schema_with(&text, &RequestContext::new()).err().unwrap_or_default()
}

#[test]
fn what_fits_is_accepted_and_each_server_is_asked_once() {
    let server = start();
    assert_eq!(reported(&server, "", ""), Vec::<String>::new());
    assert_eq!(server.take().len(), 1);
}

#[test]
fn what_does_not_fit_is_told_with_its_place() {
    let server = start();
    let cases = [
        (
            "{ land(key: $key) }",
            "{ nowhere(key: $key) }",
            "query `nowhere` is not present in remote schema.",
        ),
        (
            "{ land(key: $key) }",
            "{ land(lock: $key) }",
            "argument `lock` is not present in remote query `land`.",
        ),
        (
            "query ($key: Key!)",
            "query ($key: Key)",
            "variable `$key` of type `Key` is given for argument `key` of type `Key!` in remote query `land`.",
        ),
        (
            "{ code: ID! }",
            "{ code: ID! other: Int }",
            "input `Key` has field `other`, which remote input `Key` lacks.",
        ),
        (
            "{ code: ID! }",
            "{ year: Int }",
            "input `Key` lacks field `code`, which remote input `Key` requires.",
        ),
        (
            "size: Int",
            "size: [Int]",
            "field `size` of type `Land` returns `Float` in remote schema, but `[Int]` is declared.",
        ),
        (
            "size: Int",
            "height: Int",
            "field `height` of type `Land` is not present in remote type `Land`.",
        ),
        (
            "cities(first: Int)",
            "cities(last: Int)",
            "argument `last` of field `cities` is not present in remote type `Land`.",
        ),
        (
            "get(key: Key!): Land",
            "get(key: Key!): [Land]",
            "query `land` returns `Land` in remote schema, but `[Land]` is declared.",
        ),
        ("{ lands(keys: $k) }", "{ land(key: $k) }", "in remote query `land`."),
        ("{ code: $id }", "{ name: $id }", "body has key `name`, which remote input `Key` lacks."),
    ];
    for (from, to, want) in cases {
        let reported = reported(&server, from, to);
        assert!(reported.iter().any(|reported| reported.ends_with(want)), "{want}: {reported:?}");
        assert!(
            reported.iter().all(|reported| reported.starts_with("input:7: Type User; Field land")
                || reported.starts_with("input:11: Type Query; Field get")),
            "{reported:?}"
        );
    }
    let both = reported(&server, "{ land(key: $key) }", "{ a(key: $key) }");
    assert_eq!(both.len(), 1);
}

#[test]
fn a_server_that_says_nothing_leaves_the_old_schema() {
    let server = start();
    let db = Database::in_memory();
    db.set_graphql_schema("type Old { name: String }").unwrap();
    let refused = OURS.replace("X-Key:key", "X-No:key").replace("URL", &server.url);
    let error = db.set_graphql_schema(&refused).unwrap_err().to_string();
    assert!(error.contains("can't be had: unexpected error with: 401"), "{error}");
    assert!(error.contains("skipIntrospection"), "{error}");
    let error = db.set_graphql_schema(&OURS.replace("URL", "http://127.0.0.1:1")).unwrap_err();
    assert!(error.to_string().contains("can't be had"), "{error}");
    assert_eq!(data(&db, "{ queryOld { name } }"), json!({"queryOld": []}));
}
