//! The audit log: who asked what over HTTP, GraphQL and gRPC, and what became of it, without
//! secrets.

use super::site::{PASSWORD, SECRET};
use crate::grpc::client::Client;
use crate::grpc::messages::{Mutation, Operation, Payload, Request, Response};
use crate::wire::site::send;
use hexgraph::db::Database;
use hexgraph::db::access::{AccessOptions, KeyRole, LoginRequest, NewKey};
use hexgraph_server::http::{AuditOptions, GrpcPort, ServeOptions, Server};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The lines, once there are so many.
fn lines(path: &Path, count: usize) -> Vec<Value> {
    let begun = Instant::now();
    loop {
        let text = fs::read_to_string(path).unwrap_or_default();
        let lines: Vec<Value> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if count <= lines.len() {
            return lines;
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "{text}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn server(database: &Database, path: &Path) -> Server {
    let audit = Some(AuditOptions::new(path.to_owned()));
    let options =
        ServeOptions { port: Some(0), grpc: GrpcPort::Beside, audit, ..Default::default() };
    Server::start(database.clone(), options).unwrap()
}

#[test]
fn who_asked_what() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let database = Database::in_memory();
    database.set_graphql_schema("type Note { id: ID! text: String! }").unwrap();
    database.enable_access(AccessOptions::new(SECRET.to_vec())).unwrap();
    let login = LoginRequest {
        user: "groot".to_owned(),
        password: "password".to_owned(),
        ..LoginRequest::default()
    };
    let token = database.login_with(&login, &hexgraph::db::RequestContext::new()).unwrap().access;
    let server = server(&database, &path);
    let header = format!("X-Service-AccessToken: {token}");
    let ask = |path: &str, kind: &str, body: &str| {
        let kind = format!("Content-Type: {kind}");
        send(server.address().unwrap(), ("POST", path), &[&kind, &header], body.as_bytes())
    };
    ask("/query", "application/dql", "{ q(func: eq(name, \"Ada\")) { name } }");
    ask("/mutate?commitNow=true", "application/rdf", "{ set { _:a <name> \"hunter2\" . } }");
    ask("/alter", "application/dql", "born: datetime .");
    let add = format!(
        "mutation {{ addUser(input: [{{ name: \"ada\", password: \"{PASSWORD}\" }}]) {{ user {{ name }} }} }}"
    );
    ask("/admin", "application/json", &json!({ "query": add }).to_string());
    ask(
        "/graphql",
        "application/json",
        &json!({ "query": "{ queryNote { nothing } }" }).to_string(),
    );
    let wrong = json!({ "userid": "groot", "password": "hunter2" }).to_string();
    let reported = send(
        server.address().unwrap(),
        ("POST", "/login"),
        &["Content-Type: application/json"],
        wrong.as_bytes(),
    );
    assert!(reported.text().contains("invalid username or password"));
    send(server.address().unwrap(), ("GET", "/state"), &[], b"");
    let client = Client::new(server.grpc_address().unwrap());
    let metadata = [("accessjwt", token.as_str())];
    let mutation =
        Mutation { set_nquads: b"_:a <pw> \"hunter2\" .".to_vec().into(), ..Mutation::default() };
    let request = Request {
        query: "{ q(func: uid(1)) { uid } }".to_owned(),
        mutations: vec![mutation],
        commit_now: true,
        ..Request::default()
    };
    client.call_with::<_, Response>("Query", request, &metadata).unwrap();
    let operation = Operation { schema: "age: int .".to_owned(), ..Operation::default() };
    client.call_with::<_, Payload>("Alter", operation, &metadata).unwrap();
    let lines = lines(&path, 9);
    let shown: Vec<String> = lines
        .iter()
        .map(|line| {
            assert!(
                line["time"].as_str().unwrap().ends_with('Z') && 0.0 < line["ms"].as_f64().unwrap()
            );
            assert_eq!((&line["client"], &line["namespace"]), (&json!("127.0.0.1"), &json!(0)));
            let (user, text) =
                (line["user"].as_str().unwrap_or("-"), line["text"].as_str().unwrap_or("-"));
            let outcome = if line["failed"] == json!(true) { "failed" } else { "done" };
            format!("{} {user} {outcome}: {text}", line["path"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        shown,
        [
            "/query groot done: { q(func: eq(name, \"Ada\")) { name } }",
            "/mutate groot done: { set { _:a <name> \"…\" . } }",
            "/alter groot done: born: datetime .",
            "/admin groot done: mutation { addUser(input: [{ name: \"…\", password: \"…\" }]) { user { name } } }",
            "/graphql groot done: { queryNote { nothing } }",
            "/login - failed: -",
            "/state - failed: -",
            "/api.Dgraph/Query groot done: { q(func: uid(1)) { uid } } (1 mutations)",
            "/api.Dgraph/Alter groot done: age: int .",
        ]
    );
    let full = fs::read_to_string(&path).unwrap();
    assert!(!full.contains("hunter2") && !full.contains(PASSWORD) && !full.contains(&token));
}

#[test]
fn keys_and_namespaces_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let database = Database::in_memory();
    let other = database.namespace(database.create_namespace(None).unwrap()).unwrap();
    let key = NewKey { name: "app", role: KeyRole::ReadOnly, lifetime: None };
    let (key, secret) = other.create_key(&key).unwrap();
    let server = server(&database, &path);
    let header = format!("X-Auth-Token: {}", secret.reveal());
    for headers in [
        &[header.as_str(), "Content-Type: application/dql"][..],
        &["Content-Type: application/dql"],
    ] {
        send(
            server.address().unwrap(),
            ("POST", "/query"),
            headers,
            b"{ q(func: uid(1)) { uid } }",
        );
    }
    let lines = lines(&path, 2);
    let shown =
        |line: &Value| json!([line["key"], line["namespace"], line["status"], line["failed"]]);
    assert_eq!(shown(&lines[0]), json!([key.id, 1, 200, false]));
    assert_eq!(shown(&lines[1]), json!([null, 0, 401, true]));
    assert!(!fs::read_to_string(&path).unwrap().contains(secret.reveal()));
}

#[test]
fn passwords_are_told_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let database = Database::in_memory();
    let schema = "type User @secret(field: \"pwd\") { name: String! @id }";
    database.set_graphql_schema(schema).unwrap();
    let server = server(&database, &path);
    let variables = "query q($p: string = \"geheim\") { q(func: uid(1)) { checkpwd(pw, $p) } }";
    let add = "mutation { addUser(input: [{ name: \"a\", pwd: \"geheim\" }]) { numUids } }";
    let check = "query($n: String!) { checkUserPassword(name: $n, pwd: \"geheim\") { name } }";
    let requests = [
        // The text of what is wrong is told, too.
        (
            "/query",
            "application/dql",
            "query q($x: string) { q(func: uid(1)) { checkpwd(p, $x = \"geheim\") } }".to_owned(),
        ),
        (
            "/query",
            "application/dql",
            "{ q(func: uid(1)) { checkpwd(p, val(x), \"geheim\") } }".to_owned(),
        ),
        (
            "/query",
            "application/json",
            json!({ "query": variables, "variables": { "$p": "geheim" } }).to_string(),
        ),
        ("/alter", "application/dql", "pw: password .".to_owned()),
        (
            "/mutate?commitNow=true",
            "application/rdf",
            "{ set { _:a <pw> \"geheim\" . } }".to_owned(),
        ),
        (
            "/mutate?commitNow=true",
            "application/json",
            json!({ "set": { "pw": "geheim" } }).to_string(),
        ),
        ("/graphql", "application/json", json!({ "Query": add }).to_string()),
        (
            "/graphql",
            "application/json",
            json!({ "query": check, "variables": { "n": "geheim" } }).to_string(),
        ),
        ("/login", "application/json", json!({ "userid": "a", "password": "geheim" }).to_string()),
    ];
    for (path, kind, body) in &requests {
        let kind = format!("Content-Type: {kind}");
        send(server.address().unwrap(), ("POST", path), &[&kind], body.as_bytes());
    }
    let lines = lines(&path, requests.len());
    assert!(!fs::read_to_string(&path).unwrap().contains("geheim"));
    for (line, (path, _, _)) in lines.iter().zip(&requests) {
        assert!(path.starts_with(line["path"].as_str().unwrap()), "{line}");
        assert_eq!(line["text"].is_string(), *path != "/login", "{line}");
    }
}
