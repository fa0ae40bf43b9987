//! The trace of a request (`traceparent`, `tracestate`) goes on to the servers of custom fields,
//! with a span of our server as the parent.

use super::server::{Answer, RequestedQuery, Server};
use hexgraph::db::Database;
use hexgraph::db::graphql::GraphqlOptions;
use hexgraph_server::http::{ServeOptions, Server as Site};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;

const SCHEMA: &str = r#"
    type Human @lambdaOnMutate(add: true) { id: ID! name: String! bio: String @lambda }
    type Query {
        plain: String @custom(http: { url: "URL/plain", method: GET })
        chosen: String @custom(http: { url: "URL/chosen", method: GET, forwardHeaders: ["traceparent", "tracestate"] })
        queried: String @custom(http: { url: "URL/queried", method: POST, skipIntrospection: true, graphql: "query { queried }" })
        greet: String @lambda
    }
"#;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// Both servers: ours, and the one that it asks.
fn start() -> (Site, Server) {
    let server = Server::start(|requested: &RequestedQuery| match requested.path.as_str() {
        "/queried" => Answer::json(&json!({ "data": { "queried": "q" } })),
        _ => Answer::json(&json!("x")),
    });
    let db = Database::in_memory();
    let lambda_url = Some(format!("{}/lambda", server.url));
    db.set_graphql_options(GraphqlOptions { lambda_url, ..GraphqlOptions::default() });
    db.set_graphql_schema(&SCHEMA.replace("URL", &server.url)).unwrap();
    let site = Site::start(db, ServeOptions { port: Some(0), ..ServeOptions::default() });
    (site.unwrap(), server)
}

/// Sends a request with these headers, and returns the whole response.
fn send(site: &Site, query: &str, headers: &[&str]) -> String {
    let mut stream = TcpStream::connect(site.address().unwrap()).unwrap();
    let body = json!({ "query": query }).to_string();
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let head = format!(
        "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n{headers}\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    assert!(!response.contains("\"errors\""), "{response}");
    response
}

#[test]
fn each_server_is_told_the_trace() {
    let (site, server) = start();
    let parent = format!("traceparent: 00-{TRACE}-{CALLER}-01");
    let headers = [&parent, "tracestate: a=1", "tracestate: b=2"];
    let response = send(&site, "{ plain chosen queried greet }", &headers);
    let reported = response.lines().find_map(|line| line.strip_prefix("traceresponse: ")).unwrap();
    assert!(
        reported.starts_with(&format!("00-{TRACE}-")) && !reported.contains(CALLER),
        "{reported}"
    );
    let requested = server.take();
    let mut paths: Vec<&str> = requested.iter().map(|requested| requested.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["/chosen", "/lambda", "/plain", "/queried"]);
    for requested in requested {
        let parents = requested.headers.iter().filter(|(name, _)| name == "traceparent");
        assert_eq!(parents.count(), 1, "{requested:?}");
        assert_eq!(requested.header("traceparent"), Some(reported), "{requested:?}");
        assert_eq!(requested.header("tracestate"), Some("a=1,b=2"), "{requested:?}");
    }
}

#[test]
fn events_of_mutations_are_of_the_trace() {
    let (site, server) = start();
    let parent = format!("traceparent: 00-{TRACE}-{CALLER}-00");
    let response =
        send(&site, "mutation { addHuman(input: [{name: \"a\"}]) { numUids } }", &[&parent]);
    let reported = response.lines().find_map(|line| line.strip_prefix("traceresponse: ")).unwrap();
    let event = server.wait();
    assert_eq!(event.json()["resolver"], "$webhook");
    assert_eq!(event.header("traceparent"), Some(reported));
    assert_eq!(event.header("tracestate"), None);
}

/// A parent that is not valid is ignored, as the recommendation has it, and the state with it.
#[test]
fn without_a_trace_none_is_told() {
    let (site, server) = start();
    let (state, wrong) = ("tracestate: a=1", format!("traceparent: 00-{TRACE}-{CALLER}"));
    for headers in [vec![], vec![state], vec![state, &wrong]] {
        send(&site, "{ plain queried greet }", &headers);
        let requested = server.take();
        assert_eq!(requested.len(), 3);
        for requested in requested {
            let reported = [requested.header("traceparent"), requested.header("tracestate")];
            assert_eq!(reported, [None, None], "{headers:?} {requested:?}");
        }
    }
}

/// A program that has the database inside passes its own span.
#[test]
fn an_embedded_caller_is_the_parent() {
    let (_site, server) = start();
    let db = super::database(
        &SCHEMA[SCHEMA.find("type Query").unwrap()..].replace("greet: String @lambda", ""),
        &server.url,
    );
    let parent = format!("00-{TRACE}-{CALLER}-01");
    let headers = [("TraceParent", parent.as_str()), ("tracestate", "a=\n1")].into_iter().collect();
    let answer = super::ask_with(&db, "{ plain }", &headers);
    assert_eq!(answer["errors"], Value::Null, "{answer}");
    let requested = server.take().remove(0);
    assert_eq!(requested.header("traceparent"), Some(parent.as_str()));
    assert_eq!(requested.header("tracestate"), None);
}
