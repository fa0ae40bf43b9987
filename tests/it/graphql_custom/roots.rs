//! Fields of `Query` and `Mutation`.

use super::server::{Answer, Server};
use super::{ask_with, data, database};
use hexgraph::db::graphql::Headers;
use serde_json::json;
use std::time::Instant;

const SCHEMA: &str = r#"
    type Film @remote { id: ID! title: String! year: Int made: DateTime kind: Kind next: [Film] }
    enum Kind { LONG SHORT }
    input FilmInput { title: String! kind: Kind tags: [String] }
    type Query {
        film(id: ID!, lang: String, tags: [String]): Film @custom(http: {
            url: "URL/films/$id?l=$lang&fixed=1&t=$tags", method: GET,
            forwardHeaders: ["X-Token:Authorization", "X-None"], secretHeaders: ["X-Key:key"] })
        films: [Film!]! @custom(http: { url: "URL/films", method: GET })
        named: [Named] @custom(http: { url: "URL/named", method: GET })
    }
    type Named @remote { title: String @remoteResponse(name: "the-title") }
    type Mutation {
        addOne(film: FilmInput!, note: String, size: Float): Film @custom(http: {
            url: "URL/add", method: POST, body: "{ new: $film, more: { note: $note, size: $size, by: \"us\" } }" })
        drop(id: ID!): String @custom(http: { url: "URL/films/$id", method: DELETE })
        change(id: ID!, title: String): Film @custom(http: {
            url: "URL/films/$id", method: PATCH, body: "{ title: $title }" })
    }
    type Local { id: ID! name: String }
    # Dgraph.Secret key "s3cret"
"#;

fn films(requested: &super::server::RequestedQuery) -> Answer {
    match (requested.method.as_str(), requested.path.as_str()) {
        ("DELETE", _) => Answer::text("\"gone\""),
        (_, "/named") => Answer::text(r#"[{"the-title": "N", "title": "no"}]"#),
        (_, "/films") => {
            Answer::text(r#"[{"id": 1, "title": "A"}, {"id": "2", "title": "B"}]"#).after(300)
        }
        _ => Answer::text(
            r#"{"id": 7, "title": "T", "year": "1927", "made": "1927-01-10T00:00:00Z", "kind": "LONG",
                "more": {"x": 1}, "next": [{"id": "8", "title": "U", "kind": "NO"}]}"#,
        ),
    }
}

#[test]
fn queries_fill_their_address_and_headers() {
    let server = Server::start(films);
    let db = database(SCHEMA, &server.url);
    let headers: Headers = [("authorization", "tok"), ("X-Other", "no")].into_iter().collect();
    let text = r#"{ f: film(id: "a/b", lang: null, tags: ["x y", "z"]) { t: title id year made kind __typename } }"#;
    let result = ask_with(&db, text, &headers);
    let want = json!({"t": "T", "id": "7", "year": 1927, "made": "1927-01-10T00:00:00Z", "kind": "LONG", "__typename": "Film"});
    assert_eq!(result, json!({"data": {"f": want}}));
    let requested = server.take().remove(0);
    assert_eq!((requested.method.as_str(), requested.body.as_str()), ("GET", ""));
    assert_eq!(requested.path, "/films/a%2Fb?l=&fixed=1&t=x%20y&t=z");
    assert_eq!(requested.header("x-token"), Some("tok"));
    assert_eq!(requested.header("x-key"), Some("s3cret"));
    assert_eq!((requested.header("x-none"), requested.header("x-other")), (None, None));
    assert_eq!(data(&db, "{ named { title } }"), json!({"named": [{"title": "N"}]}));
}

#[test]
fn mutations_fill_their_body() {
    let server = Server::start(films);
    let db = database(SCHEMA, &server.url);
    let text = r#"mutation {
        addOne(film: {title: "N", kind: SHORT, tags: []}, size: 1.5) { id }
        drop(id: "3")
        change(id: "4", title: null) { title }
    }"#;
    let want = json!({"addOne": {"id": "7"}, "drop": "gone", "change": {"title": "T"}});
    assert_eq!(data(&db, text), want);
    let requested = server.take();
    let body = json!({"new": {"title": "N", "kind": "SHORT", "tags": []}, "more": {"size": 1.5, "by": "us"}});
    assert_eq!((requested[0].path.as_str(), requested[0].json()), ("/add", body));
    assert_eq!(requested[0].header("content-type"), Some("application/json"));
    assert_eq!((requested[1].method.as_str(), requested[1].path.as_str()), ("DELETE", "/films/3"));
    assert_eq!(
        (requested[2].method.as_str(), requested[2].json()),
        ("PATCH", json!({"title": null}))
    );
}

#[test]
fn root_fields_wait_side_by_side() {
    let server = Server::start(films);
    let db = database(SCHEMA, &server.url);
    let started = Instant::now();
    let roots: Vec<String> = (0..8).map(|n| format!("f{n}: films {{ id title }}")).collect();
    let result = data(&db, &format!("{{ {} queryLocal {{ name }} }}", roots.join(" ")));
    assert_eq!(result["f7"], json!([{"id": "1", "title": "A"}, {"id": "2", "title": "B"}]));
    assert_eq!(result["queryLocal"], json!([]));
    assert!(started.elapsed().as_millis() < 1_500, "{:?}", started.elapsed());
    assert_eq!(server.take().len(), 8);
}

#[test]
fn values_of_the_wrong_type_are_told() {
    let server = Server::start(films);
    let db = database(SCHEMA, &server.url);
    let result = ask_with(&db, r#"{ film(id: "1") { next { id kind } } }"#, &Headers::new());
    assert_eq!(result["data"], json!({"film": {"next": [{"id": "8", "kind": null}]}}));
    assert_eq!(result["errors"][0]["path"], json!(["film", "next", 0, "kind"]));
}
