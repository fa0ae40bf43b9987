//! Requests that Dgraph is known to send, and what it makes of their answers.

use super::ask_with;
use hexgraph::db::graphql::{Fetch, Headers, Incoming, Outgoing, Request, Unanswered};
use hexgraph::db::{Database, RequestContext};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

const SCHEMA: &str = r#"
    type Movie @remote { id: ID! name: String! director: [Director] }
    type Director @remote { id: ID! name: String! }
    input DirectorInput { id: ID name: String directed: [MovieInput] }
    input MovieInput { id: ID name: String director: [DirectorInput] }
    type Query {
        myFavoriteMovies(id: ID!, name: String!, num: Int): [Movie] @custom(http: {
            url: "http://myapi.com/favMovies/$id?name=$name&num=$num", method: "GET" })
        myFavoriteMoviesPart2(id: ID!, name: String!, num: Int): [Movie] @custom(http: {
            url: "http://myapi.com/favMovies/$id?name=$name&num=$num", method: "POST",
            body: "{ id: $id, name: $name, director: { number: $num }}",
            forwardHeaders: ["X-App-Token", "Auth0-token"] })
    }
    type Mutation {
        createMyFavouriteMovies(input: [MovieInput!]): [Movie] @custom(http: {
            url: "http://myapi.com/favMovies", method: "POST", body: "{ movies: $input}",
            forwardHeaders: ["X-App-Token", "Auth0-token"] })
        updateMyFavouriteMovie(id: ID!, input: MovieInput!): Movie @custom(http: {
            url: "http://myapi.com/favMovies/$id", method: "PATCH", body: "{ movie: $input}" })
        deleteMyFavouriteMovie(id: ID!): Movie @custom(http: {
            url: "http://myapi.com/favMovies/$id", method: "DELETE" })
    }
"#;

/// Answers one thing, without any network, and keeps what was sent.
#[derive(Default)]
struct Fixed {
    answer: String,
    sent: Mutex<Vec<Outgoing>>,
}

impl Fetch for Fixed {
    fn fetch(&self, outgoing: &Outgoing) -> Result<Incoming, Unanswered> {
        self.sent.lock().unwrap().push(outgoing.clone());
        let body = self.answer.clone().into_bytes();
        Ok(Incoming { status: 200, body, cache_control: None })
    }
}

fn text<'c>(case: &'c Value, key: &str) -> &'c str {
    case[key].as_str().unwrap_or_default()
}

fn check(case: &Value) {
    let name = text(case, "name");
    let client =
        Arc::new(Fixed { answer: text(case, "httpresponse").to_owned(), ..Fixed::default() });
    let db = Database::in_memory();
    db.set_graphql_client(Arc::clone(&client) as Arc<dyn Fetch>);
    db.set_graphql_schema(SCHEMA).unwrap();
    let mut request = Request::new(text(case, "gqlquery"));
    request.variables = case["variables"].as_object().cloned().unwrap_or_default();
    let headers: Headers = [("X-App-Token", "val"), ("Auth0-Token", "tok")].into_iter().collect();
    let response = db.graphql_with(&request, &headers, &RequestContext::new());
    let answer: Value = serde_json::from_slice(&response.to_json("")).unwrap();
    let want: Value = serde_json::from_str(text(case, "resolvedresponse")).unwrap();
    assert_eq!(answer["data"], want, "{name}");
    let sent = client.sent.lock().unwrap().pop().unwrap();
    assert_eq!(
        (sent.method.name(), sent.url.as_str()),
        (text(case, "method"), text(case, "url")),
        "{name}"
    );
    let body = sent.body.map(|body| serde_json::from_slice::<Value>(&body).unwrap());
    let want = case["body"].as_str().map(|body| serde_json::from_str(body).unwrap());
    assert_eq!(body, want, "{name}");
    for (key, values) in case["headers"].as_object().unwrap() {
        let result = sent.headers.iter().find(|(existing, _)| existing.eq_ignore_ascii_case(key));
        assert_eq!(result.map(|(_, value)| json!([value])).as_ref(), Some(values), "{name}: {key}");
    }
    let forwarded = sent.headers.iter().any(|(existing, _)| existing == "X-App-Token");
    assert_eq!(forwarded, case["headers"]["X-App-Token"].is_array(), "{name}");
}

#[test]
fn recorded_requests_are_the_same() {
    let shared = std::env::var_os("HEXGRAPH_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("../shared"),
        PathBuf::from,
    );
    let folder = shared.join("conformance/graphql/resolve");
    for file in ["resolve_custom_query.jsonl", "resolve_custom_mutation.jsonl"] {
        let Ok(cases) = fs::read_to_string(folder.join(file)) else {
            return println!("skipped: there is no {}", folder.display());
        };
        cases.lines().for_each(|case| check(&serde_json::from_str(case).unwrap()));
    }
}

#[test]
fn a_client_that_panics_fails_one_request() {
    struct Wild;
    impl Fetch for Wild {
        fn fetch(&self, _: &Outgoing) -> Result<Incoming, Unanswered> {
            panic!("wild")
        }
    }
    let db = Database::in_memory();
    db.set_graphql_client(Arc::new(Wild));
    db.set_graphql_schema(SCHEMA).unwrap();
    let result =
        ask_with(&db, r#"{ myFavoriteMovies(id: "1", name: "x") { id } }"#, &Headers::new());
    assert!(
        result["errors"][0]["message"].as_str().unwrap().contains("it could not be sent"),
        "{result}"
    );
}
