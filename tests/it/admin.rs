//! What operators do over HTTP: draining, ending a server, exports, and who may.

use hexgraph::db::Database;
use hexgraph_server::http::{Security, ServeOptions, Server};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};
use tungstenite::Message;
use tungstenite::client::IntoClientRequest;

const QUERY: &str = "{ q(func: has(name)) { name } }";
const SCHEMA: &str = "type Note @withSubscription { id: ID! text: String! }";
const DRAINING: &str = "the server is in draining mode and client requests will only be allowed \
     after exiting the mode  by sending a GraphQL draining(enable: false) mutation to /admin";

/// How long something may take that has to happen.
const PATIENCE: Duration = Duration::from_secs(20);

struct Site {
    database: Database,
    server: Server,
    /// The header that each request has.
    header: &'static str,
}

impl Site {
    fn new() -> Site {
        Site::with(ServeOptions::default())
    }

    fn with(options: ServeOptions) -> Site {
        let database = Database::in_memory();
        database.mutate("<1> <name> \"Ada\" .", "").unwrap();
        let server =
            Server::start(database.clone(), ServeOptions { port: Some(0), ..options }).unwrap();
        Site { database, server, header: "X-Nothing: 1" }
    }

    /// The status and the body of the answer to a request.
    fn ask(&self, method: &str, path: &str, content_type: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.server.address().unwrap()).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{}\r\n\
             Content-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n{body}",
            self.header
        )
        .unwrap();
        read(stream)
    }

    fn query(&self) -> Value {
        parse(self.ask("POST", "/query", "application/dql", QUERY))
    }

    fn admin(&self, text: &str) -> Value {
        let body = json!({ "query": text }).to_string();
        parse(self.ask("POST", "/admin", "application/json", &body))
    }

    fn graphql(&self, text: &str) -> Value {
        let body = json!({ "query": text }).to_string();
        parse(self.ask("POST", "/graphql", "application/json", &body))
    }

    fn drain(&self, enable: bool) {
        let text = format!("mutation {{ draining(enable: {enable}) {{ response {{ code }} }} }}");
        let want = json!({ "data": { "draining": { "response": { "code": "Success" } } } });
        assert_eq!(self.admin(&text), want);
    }
}

fn read(stream: TcpStream) -> (u16, String) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).unwrap().parse().unwrap();
    while line != "\r\n" {
        line.clear();
        reader.read_line(&mut line).unwrap();
    }
    let mut body = String::new();
    reader.read_to_string(&mut body).unwrap();
    (status, body)
}

fn parse((_, body): (u16, String)) -> Value {
    let mut body: Value = serde_json::from_str(&body).unwrap_or_else(|_| panic!("{body}"));
    body.as_object_mut().unwrap().remove("extensions");
    body
}

fn message(answer: &Value) -> &str {
    answer["errors"][0]["message"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn plans_are_of_the_version_that_is_named() {
    let site = Site::new();
    let send = |parameters: &str| -> Value {
        let path = format!("/query?{parameters}");
        serde_json::from_str(&site.ask("POST", &path, "application/dql", QUERY).1).unwrap()
    };
    let before = send("debug=false")["extensions"]["txn"]["start_ts"].clone();
    site.database.mutate("<2> <name> \"Bob\" .", "").unwrap();
    let expected = |parameters: &str| {
        let reply = send(&format!("explain=true&{parameters}"));
        reply["extensions"]["explain"][1]["estimate"].clone()
    };
    assert_eq!(expected(&format!("startTs={before}")), 1);
    assert_eq!(expected("startTs=0"), 2);
}

#[test]
fn keywords_have_their_kinds() {
    let reply = parse(Site::new().ask("GET", "/ui/keywords", "", ""));
    let words = reply["keywords"].as_array().unwrap();
    let kinds = |name: &str| -> Vec<&Value> {
        words.iter().filter(|word| word["name"] == name).map(|word| &word["type"]).collect()
    };
    for (name, kind) in [
        ("anyofterms", "condition"),
        ("uid", "condition"),
        ("max", "aggregate"),
        ("@filter", "directive"),
    ] {
        assert_eq!(kinds(name), [kind], "{name}");
    }
}

#[test]
fn clients_of_a_draining_server_are_refused() {
    let site = Site::new();
    site.database.set_graphql_schema(SCHEMA).unwrap();
    let result = json!({ "data": { "q": [{ "name": "Ada" }] } });
    assert_eq!(site.query(), result);
    site.drain(true);
    let error = |code: &str| json!([{ "message": DRAINING, "extensions": { "code": code } }]);
    let refused = json!({ "errors": error("ErrorInvalidRequest"), "data": null });
    assert_eq!(site.query(), refused);
    let set = "{ set { <2> <name> \"Bob\" . } }";
    let answer = site.ask("POST", "/mutate?commitNow=true", "application/rdf", set);
    assert_eq!(parse(answer), refused);
    let answer = site.ask("POST", "/commit?startTs=1", "application/json", "{}");
    assert_eq!(message(&parse(answer)), DRAINING);
    let answer = site.ask("PUT", "/alter", "", "name: string @index(term) .");
    assert_eq!(parse(answer), json!({ "errors": error("Error") }));
    assert_eq!(
        site.graphql("{ queryNote { text } }"),
        json!({ "errors": [{ "message": DRAINING }] })
    );
    assert_eq!(site.ask("GET", "/health", "", ""), (503, DRAINING.to_owned()));
    assert_eq!(site.ask("GET", "/health?live", "", "").0, 200);
    assert!(site.admin("{ health { status } }")["data"]["health"][0]["status"] == "healthy");
    site.drain(false);
    assert_eq!(site.query(), result);
    let done = json!({ "code": "Success", "message": "draining mode has been set to true" });
    assert_eq!(parse(site.ask("PUT", "/admin/draining?enable=true", "", "")), done);
    assert_eq!(message(&site.query()), DRAINING);
    let answer = parse(site.ask("POST", "/admin/draining?enable=maybe", "", ""));
    assert_eq!(message(&answer), "Found invalid value for the enable parameter");
    assert_eq!(site.ask("GET", "/admin/draining?enable=false", "", "").0, 400);
    site.ask("POST", "/admin/draining?enable=0", "", "");
    assert_eq!(site.query(), result);
    // What is in the process is not a client.
    assert_eq!(site.database.stats().unwrap().nodes, 2);
}

#[test]
fn subscriptions_end_when_a_server_drains() {
    let site = Site::new();
    site.database.set_graphql_schema(SCHEMA).unwrap();
    let stream = TcpStream::connect(site.server.address().unwrap()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let address = format!("ws://{}/graphql", site.server.address().unwrap());
    let mut request = address.into_client_request().unwrap();
    let headers = request.headers_mut();
    headers.insert("sec-websocket-protocol", "graphql-transport-ws".parse().unwrap());
    let (mut socket, _) = tungstenite::client(request, stream).unwrap();
    let subscribe = |id: &str| {
        let payload = json!({ "query": "subscription { queryNote { text } }" });
        Message::text(json!({ "id": id, "type": "subscribe", "payload": payload }).to_string())
    };
    socket.send(Message::text(r#"{"type":"connection_init"}"#)).unwrap();
    socket.send(subscribe("1")).unwrap();
    let mut hear = || loop {
        if let Message::Text(text) = socket.read().unwrap() {
            let reported: Value = serde_json::from_str(&text).unwrap();
            let kind = reported["type"].as_str().unwrap().to_owned();
            if kind == "complete" {
                socket.send(subscribe("2")).unwrap();
            }
            return (kind, reported);
        }
    };
    assert_eq!(hear().0, "connection_ack");
    assert_eq!(hear().0, "next");
    site.drain(true);
    assert_eq!(hear().0, "complete");
    let (kind, reported) = hear();
    assert_eq!((kind.as_str(), &reported["payload"]), ("error", &json!([{ "message": DRAINING }])));
}

#[test]
fn a_server_is_ended_by_request() {
    for by_graphql in [true, false] {
        let mut site = Site::new();
        let end = site.server.ended().unwrap();
        if by_graphql {
            let answer = site.admin("mutation { shutdown { response { code message } } }");
            let response = &answer["data"]["shutdown"]["response"];
            assert_eq!(response["message"], "Server is shutting down", "{answer}");
        } else {
            let (status, body) = site.ask("GET", "/admin/shutdown", "", "");
            assert_eq!((status, body.contains("--allow-get-changes")), (405, true), "{body}");
            let text = "query=mutation%7Bshutdown%7Bresponse%7Bcode%7D%7D%7D";
            let (status, body) = site.ask("GET", &format!("/admin?{text}"), "", "");
            assert_eq!((status, body.contains("--allow-get-changes")), (405, true), "{body}");
            let done = json!({ "code": "Success", "message": "Server is shutting down" });
            assert_eq!(parse(site.ask("POST", "/admin/shutdown", "", "")), done);
        }
        let started = Instant::now();
        while !end.is_over() {
            assert!(started.elapsed() < PATIENCE, "it goes on");
            thread::sleep(Duration::from_millis(5));
        }
        assert!(!site.server.is_running());
        let error = TcpStream::connect(site.server.address().unwrap()).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
        site.server.stop();
        assert_eq!(site.database.stats().unwrap().nodes, 1);
    }
}

#[test]
fn what_is_under_way_is_answered_before_the_end() {
    let site = Site::new();
    let mut slow = TcpStream::connect(site.server.address().unwrap()).unwrap();
    let (head, tail) = QUERY.split_at(5);
    let length = QUERY.len();
    write!(
        slow,
        "POST /query HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/dql\r\n\
         Content-Length: {length}\r\n\r\n{head}"
    )
    .unwrap();
    // The server is to have begun to read it.
    thread::sleep(Duration::from_millis(100));
    site.ask("GET", "/admin/shutdown", "", "");
    thread::sleep(Duration::from_millis(100));
    slow.write_all(tail.as_bytes()).unwrap();
    let (status, body) = read(slow);
    assert_eq!(status, 200);
    assert!(body.contains("Ada"), "{body}");
}

#[test]
fn only_who_knows_the_token_administers() {
    let mut security = Security::default();
    security.set("whitelist=127.0.0.1; token=itIsSecret").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let exports = Some(folder.path().to_owned());
    let mut site = Site::with(ServeOptions { security, exports, ..ServeOptions::default() });
    let refused = |answer: &Value| {
        let code = json!({ "code": "ErrorUnauthorized" });
        let want = [json!({ "message": "Invalid X-Dgraph-AuthToken", "extensions": code })];
        assert_eq!(answer, &json!({ "errors": want }));
    };
    let alter = "age: int .";
    for (header, why) in [
        ("X-Nothing: 1", "No Auth Token found. Token needed for Admin operations."),
        ("X-Dgraph-AuthToken: wrong", "Provided auth token does not match. Permission denied."),
    ] {
        site.header = header;
        refused(&site.admin("{ health { status } }"));
        refused(&site.admin("mutation { shutdown { response { code } } }"));
        refused(&parse(site.ask("POST", "/admin/schema", "", SCHEMA)));
        refused(&parse(site.ask("POST", "/admin/shutdown", "", "")));
        refused(&parse(site.ask("PUT", "/admin/draining?enable=true", "", "")));
        refused(&parse(site.ask("PUT", "/admin/config/cache_mb", "", "1")));
        assert_eq!(message(&parse(site.ask("POST", "/alter", "", alter))), why);
        assert_eq!(site.query()["data"]["q"][0]["name"], "Ada");
    }
    site.header = "x-dgraph-authtoken: itIsSecret";
    assert!(site.admin("{ health { status } }").get("errors").is_none());
    let done = json!({ "data": { "code": "Success", "message": "Done" } });
    assert_eq!(parse(site.ask("POST", "/admin/schema", "", SCHEMA)), done);
    assert_eq!(parse(site.ask("POST", "/alter", "", alter)), done);
    assert_eq!(site.ask("GET", "/admin/config/cache_mb", "", ""), (200, "0".to_owned()));
    assert_eq!(parse(site.ask("PUT", "/admin/config/cache_mb", "", "64"))["code"], "Success");
    assert!(parse(site.ask("PUT", "/admin/config/cache_mb", "", "-1")).get("errors").is_some());
}

#[test]
fn what_a_schema_changes_is_told_and_can_be_given_up() {
    let site = Site::new();
    let set = |fields: &str| {
        let schema = json!(format!("type Note {{ {fields} }}"));
        let input = format!("input: {{set: {{schema: {schema}}}}}");
        let text = format!("mutation {{ updateGQLSchema({input}) {{ gqlSchema {{ schema }} }} }}");
        let body = json!({ "query": text }).to_string();
        let (_, reported) = site.ask("POST", "/admin", "application/json", &body);
        serde_json::from_str::<Value>(&reported).unwrap()
    };
    assert_eq!(set("id: ID! size: Int @search").get("extensions"), None);
    let reported = set("id: ID! size: Float");
    let schema = json!({ "changed": ["Note.size: float instead of int"], "dropped": ["Note.size: @index(int)"] });
    assert_eq!(reported["extensions"]["schema"], schema, "{reported}");
    for (path, body) in [
        ("/alter?timeout=1ns", "name: string @index(term) ."),
        ("/admin/schema?timeout=1ns", "type Other { id: ID! }"),
    ] {
        let answer = parse(site.ask("POST", path, "", body));
        assert!(message(&answer).contains("timeout"), "{answer}");
    }
    let text = site.database.schema_text().unwrap();
    assert!(!text.contains("@index(term)") && !text.contains("Other"), "{text}");
}

#[test]
fn a_check_of_a_schema_ends_at_its_timeout() {
    let site = Site::new();
    let schema: String = (0..20_000).map(|at| format!("type T{at} {{ a: Int }}\n")).collect();
    for path in ["/admin/schema", "/admin/schema/validate"] {
        let started = Instant::now();
        let answer = parse(site.ask("POST", &format!("{path}?timeout=200ms"), "", &schema));
        let elapsed = started.elapsed();
        assert!(message(&answer).contains("timeout of 0.2 s"), "{path}: {answer}");
        assert!(elapsed < Duration::from_secs(3), "{path}: {elapsed:?}");
    }
}

#[test]
fn exports_are_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let exports = Some(folder.path().join("exports"));
    let site = Site::with(ServeOptions { exports, ..ServeOptions::default() });
    let made = site.admin(
        "mutation { export(input: {format: \"rdf\"}) { response { code } exportedFiles taskId } }",
    );
    let made = &made["data"]["export"];
    assert_eq!(made["response"]["code"], "Success");
    for file in made["exportedFiles"].as_array().unwrap() {
        assert!(folder.path().join("exports").join(file.as_str().unwrap()).is_file());
    }
    let task = |id: &str| {
        let answer = site.admin(&format!("{{ task(input: {{id: \"{id}\"}}) {{ kind status }} }}"));
        answer["data"]["task"].clone()
    };
    let id = made["taskId"].as_str().unwrap();
    assert_eq!(task(id), json!({ "kind": "Export", "status": "Success" }));
    assert_eq!(task("0x1"), json!({ "kind": "Unknown", "status": "Unknown" }));
    assert_eq!(task("what"), Value::Null);
    let position = folder.path().join("elsewhere");
    for destination in ["..", "../elsewhere", "/tmp", position.to_str().unwrap(), "s3://a/b"] {
        let input = format!("{{destination: {}}}", json!(destination));
        let answer = site.admin(&format!("mutation {{ export(input: {input}) {{ taskId }} }}"));
        assert!(message(&answer).starts_with("resolving export failed because"), "{answer}");
        let answer = site.admin(&format!("mutation {{ backup(input: {input}) {{ taskId }} }}"));
        assert!(message(&answer).starts_with("resolving backup failed because"), "{answer}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
