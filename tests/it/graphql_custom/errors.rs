//! Servers that answer with nonsense, too much, too late or not at all.

use super::server::{Answer, RequestedQuery, Server};
use super::{add_users, ask, database, error};
use hexgraph::db::RequestContext;
use hexgraph::db::graphql::{GraphqlOptions, Headers, Request};
use serde_json::json;
use std::time::{Duration, Instant};

const SCHEMA: &str = r#"
    type User {
        id: ID! name: String! age: Int
        all: Int @custom(http: { url: "URL/few", method: POST, mode: BATCH, body: "{ i: $id }" })
        must: Int! @custom(http: { url: "URL/some/$name", method: GET })
        may: Int @custom(http: { url: "URL/some/$name", method: GET })
        old: Int @custom(http: { url: "URL/old?i=$id", method: GET })
    }
    type Thing @remote { a: Int! b: String }
    type Query {
        get(path: String!): Thing @custom(http: { url: "URL/$path", method: GET, secretHeaders: ["X-Key:key"] })
        must(path: String!): Thing! @custom(http: { url: "URL/$path", method: GET })
        list(path: String!): [Thing] @custom(http: { url: "URL/$path", method: GET })
        dead: Thing @custom(http: { url: "http://127.0.0.1:1/", method: GET })
        strange: Thing @custom(http: { url: "mailto:x", method: GET })
    }
    type Mutation {
        bad(path: String!): Thing @custom(http: { url: "URL/$path", method: POST })
        good(path: String!): Thing @custom(http: { url: "URL/$path", method: POST })
    }
    # Dgraph.Secret key "s3cret"
"#;

fn answer(requested: &RequestedQuery) -> Answer {
    match requested.path.as_str() {
        "/html" => Answer::text("<html>"),
        "/empty" => Answer::text(""),
        "/broken" => Answer::text("{}").status(500),
        "/told" => Answer::text(r#"{"errors": [{"message": "no such thing"}]}"#).status(404),
        "/list" | "/few" => Answer::text("[{\"a\": 1}, 2]"),
        "/scalar" => Answer::text("7"),
        "/lacks" => Answer::text(r#"{"b": "x"}"#),
        "/deep" => Answer::text("[".repeat(100_000)),
        "/huge" => Answer::text(format!("\"{}\"", "x".repeat(2_000_000))),
        "/slow" => Answer::text("{}").after(3_000),
        "/loop" => Answer::text("").status(302).header("Location", "/loop"),
        "/moved" => Answer::text("").status(308).header("Location", "good"),
        "/away" => Answer::text("").status(302).header(
            "Location",
            requested.header("host").map_or_else(String::new, |host| {
                format!("http://localhost:{}/seen", host.split(':').next_back().unwrap())
            }),
        ),
        "/good" | "/seen" => Answer::text(r#"{"a": 1}"#),
        "/some/bob" => Answer::text("no bob").status(503),
        _ => Answer::text("1"),
    }
}

fn start() -> (Server, hexgraph::db::Database) {
    let server = Server::start(answer);
    let db = database(SCHEMA, &server.url);
    add_users(&db);
    server.take();
    (server, db)
}

fn quick() -> GraphqlOptions {
    GraphqlOptions {
        remote_timeout: Duration::from_millis(300),
        remote_bytes_max: 1 << 20,
        ..GraphqlOptions::default()
    }
}

#[test]
fn bad_answers_are_null_with_an_error() {
    let (_server, db) = start();
    db.set_graphql_options(quick());
    let why = [
        ("html", "the answer is not JSON"),
        ("broken", "unexpected error with: 500"),
        ("told", "no such thing"),
        ("deep", "the answer is not JSON"),
        ("huge", "the answer has more than 1048576 bytes"),
        ("slow", "there was no answer within 0.3 seconds"),
        ("loop", "there were more than 5 redirects"),
        ("scalar", "Error coercing value '7'"),
        ("lacks", "Non-nullable field 'a'"),
        ("list", "A list was returned"),
    ];
    for (path, want) in why {
        let result = ask(&db, &format!("{{ get(path: \"{path}\") {{ a b }} }}"));
        let (message, at) = error(&result);
        assert!(message.contains(want), "{path}: {message}");
        assert_eq!(at[0], "get", "{path}");
        assert_eq!(result["data"], json!({"get": null}), "{path}");
    }
    assert_eq!(ask(&db, r#"{ get(path: "empty") { a } }"#), json!({"data": {"get": null}}));
    assert_eq!(ask(&db, r#"{ get(path: "moved") { a } }"#), json!({"data": {"get": {"a": 1}}}));
    let result = ask(&db, r#"{ list(path: "list") { a } }"#);
    assert_eq!(result["data"], json!({"list": [{"a": 1}, null]}));
    assert_eq!(ask(&db, r#"{ list(path: "told") { a } }"#)["data"], json!({"list": []}));
    assert_eq!(ask(&db, r#"{ must(path: "html") { a } }"#)["data"], json!(null));
    let (message, _) = error(&ask(&db, "{ strange { a } }"));
    assert!(message.contains("neither http:// nor https://"), "{message}");
}

#[test]
fn nobody_there() {
    let (_server, db) = start();
    let (message, at) = error(&ask(&db, "{ dead { a } }"));
    assert!(
        message.starts_with("Evaluation of custom field failed because external request"),
        "{message}"
    );
    assert!(message.ends_with("for field: dead within type: Query."), "{message}");
    assert_eq!(at, json!(["dead"]));
}

#[test]
fn secrets_do_not_follow_redirects_elsewhere() {
    let (server, db) = start();
    // The same server by another name is another server.
    assert_eq!(ask(&db, r#"{ get(path: "away") { a } }"#)["data"], json!({"get": {"a": 1}}));
    let requested = server.take();
    assert_eq!(requested[0].header("x-key"), Some("s3cret"));
    assert_eq!((requested[1].path.as_str(), requested[1].header("x-key")), ("/seen", None));
}

#[test]
fn errors_of_fields_stay_at_their_fields() {
    let (_server, db) = start();
    let result = ask(&db, "{ queryUser { name may } }");
    let want =
        json!([{"name": "ann", "may": 1}, {"name": "bob", "may": null}, {"name": "cyd", "may": 1}]);
    assert_eq!(result["data"]["queryUser"], want);
    let (message, at) = error(&result);
    let reason = "unexpected error with: 503 for field: may within type: User.";
    assert_eq!(
        (message, at),
        (
            format!("Evaluation of custom field failed because {reason}"),
            json!(["queryUser", 1, "may"])
        )
    );
    let result = ask(&db, "{ queryUser { name must } }");
    assert_eq!(result["data"]["queryUser"][1], json!(null), "null goes up to what may be null");
    assert_eq!(result["errors"].as_array().unwrap().len(), 1);
}

#[test]
fn a_batch_of_another_length_is_one_error() {
    let (_server, db) = start();
    let result = ask(&db, "{ queryUser { name all } }");
    assert_eq!(result["data"]["queryUser"][2], json!({"name": "cyd", "all": null}));
    assert_eq!(result["errors"].as_array().unwrap().len(), 1);
    let (message, at) = error(&result);
    assert!(
        message.contains("a list of 3 items was expected for as many objects, not of 2"),
        "{message}"
    );
    assert_eq!(at, json!(["queryUser", 0, "all"]));
}

#[test]
fn a_request_that_has_to_stop_does_not_wait() {
    let (_server, db) = start();
    let started = Instant::now();
    let control = RequestContext::new().with_timeout(Duration::from_millis(200));
    let request = Request::new(r#"{ get(path: "slow") { a } }"#);
    let response = db.graphql_with(&request, &Headers::new(), &control);
    assert!(started.elapsed() < Duration::from_millis(1_500), "{:?}", started.elapsed());
    assert_eq!(response.data.as_deref(), Some(&br#"{"get":null}"#[..]));
    assert_eq!(response.errors.len(), 1);
}

#[test]
fn mutations_behind_a_failed_one_are_not_carried_out() {
    let (server, db) = start();
    let result = ask(&db, r#"mutation { bad(path: "html") { a } good(path: "good") { a } }"#);
    assert_eq!(result["data"], json!({"bad": null}));
    assert_eq!(result["errors"].as_array().unwrap().len(), 2);
    assert_eq!(server.take().len(), 1);
}

#[test]
fn a_dead_server_costs_one_attempt_and_some_errors() {
    let schema = r#"
        type N { id: ID! dead: Int @custom(http: { url: "http://127.0.0.1:1/$id", method: GET }) }
        type M { id: ID! n: Int }
    "#;
    let db = database(&schema.replace("type N {", "type N { n: Int"), "");
    let nodes: Vec<String> = (0..3_000).map(|n| format!("{{n: {n}}}")).collect();
    ask(&db, &format!("mutation {{ addN(input: [{}]) {{ numUids }} }}", nodes.join(" ")));
    let started = Instant::now();
    let result = ask(&db, "{ queryN { n dead } }");
    assert_eq!(result["data"]["queryN"].as_array().unwrap().len(), 3_000);
    assert_eq!(result["errors"].as_array().unwrap().len(), 1_000);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}
