//! Requests as they come in: bodies, headers, methods, keys.

use super::site::{Answer, Site, message};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use hexgraph::db::Database;
use hexgraph::db::graphql::{Fetch, Incoming, Outgoing, Unanswered};
use hexgraph_server::http::{AdmissionOptions, Security, ServeOptions};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const SCHEMA: &str = "
type Note @withSubscription { id: ID! text: String! @search(by: [exact]) rank: Int weight: Float links: [Note] }
";

const JSON: &str = "Content-Type: application/json";

const BODY: &str = r#"{"query":"{ queryNote { text } }"}"#;

fn site() -> Site {
    let site = Site::new(SCHEMA);
    let notes = r#"{text: "a"}, {text: "b"}, {text: "c"}"#;
    site.ask(&format!("mutation {{ addNote(input: [{notes}]) {{ numUids }} }}"));
    site
}

fn result() -> Value {
    json!({ "data": { "queryNote": [{ "text": "a" }, { "text": "b" }, { "text": "c" }] } })
}

fn pack(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn content_types() {
    let site = site();
    let send = |line: &str, body: &str| site.send("POST", "/graphql", &[line], body.as_bytes());
    for line in [
        JSON,
        "Content-Type: Application/JSON; charset=\"UTF-8\"",
        "content-type: application/json;charset=latin1",
        "content-type: application/json;",
    ] {
        assert_eq!(send(line, BODY).json(), result(), "{line}");
    }
    let text = "{ queryNote { text } }";
    assert_eq!(send("Content-Type: application/graphql", text).json(), result());
    for (line, why) in [
        ("X-Nothing: 1", "unable to parse media type: mime: no media type"),
        ("Content-Type: ", "unable to parse media type: mime: no media type"),
        ("Content-Type: text/plain", "Unrecognised Content-Type.  Please use application/json"),
        ("Content-Type: application/graphql+json", "Unrecognised Content-Type.  Please use"),
    ] {
        let answer = send(line, BODY);
        assert_eq!(answer.status, 200);
        assert!(message(&answer.json()).starts_with(why), "{line}: {}", answer.text());
    }
}

#[test]
fn bodies() {
    let site = site();
    for body in [
        r#"{"Query":"{ queryNote { text } }","VARIABLES":null,"operationName":null} and more"#,
        r#"{"query":"{ queryNote { text } }","variables":{},"other":[1],"extensions":{"a":1}}"#,
        r#"{"query":"{ no }","query":"{ queryNote { text } }","operationName":""}"#,
    ] {
        assert_eq!(site.post("/graphql", body).json(), result(), "{body}");
    }
    for (body, why) in [
        ("", "EOF"),
        ("[]", "json: cannot unmarshal array into Go value of type schema.Request"),
        ("7", "json: cannot unmarshal number into Go value of type schema.Request"),
        ("\"a\"", "json: cannot unmarshal string into Go value of type schema.Request"),
        ("{", "unexpected EOF"),
        ("{'a':1}", "invalid character '\\'' looking for beginning of object key string"),
        (
            r#"{"query":{}}"#,
            "json: cannot unmarshal object into Go struct field Request.query of type string",
        ),
        (
            r#"{"query":"{ a }","variables":"{}"}"#,
            "json: cannot unmarshal string into Go struct field Request.variables of type map[string]interface {}",
        ),
        (
            r#"{"extensions":{"persistedQuery":{"sha256Hash":5}}}"#,
            "json: cannot unmarshal number into Go struct field Request.extensions.persistedQuery.sha256Hash of type string",
        ),
    ] {
        let answer = site.post("/graphql", body);
        let want = json!({ "errors": [{ "message": format!("Not a valid GraphQL request body: {why}") }] });
        // Not even `extensions` is beside it.
        assert_eq!((answer.status, serde_json::from_slice(&answer.body).unwrap()), (200, want));
    }
    for body in ["null", "{}", r#"{"query":null}"#, r#"{"query":""}"#] {
        let answer = site.post("/graphql", body).json();
        assert_eq!(message(&answer), "no query string supplied in request", "{body}");
    }
}

#[test]
fn variables_of_dql() {
    let site = site();
    let query = r#"query t($t: string = "b") { q(func: eq(Note.text, $t)) { Note.text } }"#;
    let ask = |variables: &str| {
        site.post("/query", &format!(r#"{{"query":{},"variables":{variables}}}"#, json!(query)))
            .json()
    };
    for (variables, text) in
        [(r#"{"$t":"c"}"#, "c"), (r#"{"$t":null}"#, "b"), ("null", "b"), ("{}", "b")]
    {
        assert_eq!(ask(variables)["data"], json!({ "q": [{ "Note.text": text }] }), "{variables}");
    }
    let refused = ask(r#"{"$t":5}"#);
    assert!(message(&refused).ends_with("must be a text or a list of texts, not 5"), "{refused}");
}

#[test]
fn packed_bodies() {
    let site = site();
    let send = |coding: &str, body: &[u8]| {
        let coding = format!("Content-Encoding: {coding}");
        site.send("POST", "/graphql", &[JSON, &coding], body).json()
    };
    assert_eq!(send("gzip", &pack(BODY)), result());
    assert_eq!(send("GZIP", &pack(BODY)), result());
    assert_eq!(send("identity", BODY.as_bytes()), result());
    // Files of gzip one after the other are one.
    let (begin, end) = BODY.split_at(BODY.len() / 2);
    assert_eq!(send("gzip", &[pack(begin), pack(end)].concat()), result());
    assert_eq!(
        message(&send("gzip", BODY.as_bytes())),
        "Unable to parse gzip: gzip: invalid header"
    );
    // Who takes events as well is told the same, and no fault of a body that was not sent.
    for accepted in ["application/json", "application/json, text/event-stream"] {
        let accepted = format!("Accept: {accepted}");
        let headers = [JSON, "Content-Encoding: gzip", &accepted];
        let answer = site.send("POST", "/graphql", &headers, BODY.as_bytes());
        assert_eq!(message(&answer.json()), "Unable to parse gzip: gzip: invalid header");
        assert_eq!(answer.status, 200, "{accepted}");
    }
    let packed = pack(BODY);
    let answer = send("gzip", &packed[..packed.len() - 4]);
    assert!(message(&answer).starts_with("Unable to parse gzip: gzip: "), "{answer}");
    assert_eq!(message(&send("br", BODY.as_bytes())), "Unsupported content encoding");
    let packed = zstd::encode_all(BODY.as_bytes(), 3).unwrap();
    assert_eq!(send("zstd", &packed), result());
    assert!(message(&send("zstd", BODY.as_bytes())).contains("zstd: invalid header"));
    assert!(message(&send("zstd", &packed[..packed.len() - 4])).contains("zstd: "));
    let bomb = zstd::encode_all(&vec![b' '; 300 << 20][..], 1).unwrap();
    assert!(bomb.len() < 1 << 20);
    let answer = send("zstd", &bomb);
    assert!(message(&answer).contains("more than"), "{answer}");
    let ask = |accepted: &str| {
        let accepted = format!("Accept-Encoding: {accepted}");
        site.send("POST", "/graphql", &[JSON, &accepted], BODY.as_bytes())
    };
    let answer = ask("br, gzip;q=0.8");
    assert_eq!(answer.header("content-encoding"), "gzip");
    let mut text = String::new();
    GzDecoder::new(&answer.body[..]).read_to_string(&mut text).unwrap();
    assert!(text.starts_with(r#"{"data":{"queryNote":[{"text":"a"}"#), "{text}");
    let answer = ask("gzip, zstd");
    assert_eq!(answer.header("content-encoding"), "zstd");
    let text = String::from_utf8(zstd::decode_all(&answer.body[..]).unwrap()).unwrap();
    assert!(text.starts_with(r#"{"data":{"queryNote":[{"text":"a"}"#), "{text}");
    let answer = ask("gzip;q=0");
    assert_eq!((answer.header("content-encoding"), answer.json()), ("", result()));
}

#[test]
fn methods() {
    let site = site();
    let get = |parameters: &str| site.send("GET", &format!("/graphql?{parameters}"), &[], b"");
    assert_eq!(get("query=%7B+queryNote+%7B+text+%7D+%7D").json(), result());
    let named = "query=query+A(%24n:Int)%7BqueryNote(first:%24n)%7Btext%7D%7D&operationName=A";
    let first = json!({ "data": { "queryNote": [{ "text": "a" }] } });
    assert_eq!(get(&format!("{named}&variables=%7B%22n%22:1%7D")).json(), first);
    assert_eq!(get(&format!("{named}&variables=null&extensions=%7B%7D")).json(), result());
    let answer = get(&format!("{named}&variables=[1]")).json();
    assert!(message(&answer).ends_with("array into Go value of type map[string]interface {}"));
    assert_eq!(message(&get("").json()), "no query string supplied in request");
    for method in ["PUT", "DELETE", "PATCH"] {
        let answer = site.send(method, "/graphql", &[JSON], BODY.as_bytes());
        let why = "Unrecognised request method.  Please use GET or POST for GraphQL requests";
        assert_eq!((answer.status, message(&answer.json())), (200, why));
        let answer = site.send(method, "/admin", &[JSON], BODY.as_bytes());
        let code = json!({ "code": "ErrorInvalidMethod" });
        let want = json!({ "errors": [{ "message": "Invalid method", "extensions": code }] });
        assert_eq!((answer.status, answer.json()), (200, want));
    }
    let answer = site.send("OPTIONS", "/graphql", &[], b"");
    assert_eq!((answer.status, answer.text()), (200, ""));
    assert_eq!(answer.header("allow"), "GET, POST, OPTIONS");
    // By GET nothing is changed, whatever else is asked of it.
    let add = "query=mutation%7BaddNote(input:%7Btext:%22d%22%7D)%7BnumUids%7D%7D";
    for accepted in ["Accept: application/json", "Accept: text/event-stream"] {
        let answer = site.send("GET", &format!("/graphql?{add}"), &[accepted], b"");
        assert_eq!((answer.status, answer.header("allow")), (405, "POST, OPTIONS"));
        let why = "by GET nothing is changed, since links and images of any page are fetched so: \
                   use POST, or start the server with --allow-get-changes";
        assert_eq!(message(&answer.json()), why);
    }
    assert_eq!(site.ask("{ queryNote { text } }"), result());
    assert_eq!(site.send("POST", "/graphql/", &[JSON], BODY.as_bytes()).status, 404);
}

#[test]
fn pages_by_after() {
    let site = site();
    let ids = site.ask("{ queryNote { id } }");
    let id = |at: usize| ids["data"]["queryNote"][at]["id"].as_str().unwrap().to_owned();
    let ask = |after: &str| site.ask(&format!("{{ queryNote(after: {after}) {{ text }} }}"));
    assert_eq!(
        ask(&format!("\"{}\"", id(1))),
        json!({ "data": { "queryNote": [{ "text": "c" }] } })
    );
    assert_eq!(ask("\"0x0\""), result());
    assert_eq!(ask("null"), result());
    for bad in ["zz", "", "0x", "-1", "1.5", "0x1ffffffffffffffff"] {
        let answer = ask(&format!("\"{bad}\""));
        let why = format!("ID argument ({bad}) of queryNote was not able to be parsed");
        let want = format!("couldn't rewrite query queryNote because {why}");
        assert_eq!(message(&answer), want);
        assert_eq!(answer["errors"][0]["path"], json!(["queryNote"]));
        assert_eq!(answer["errors"][0]["locations"], json!([{ "line": 1, "column": 3 }]));
        assert_eq!(answer["data"], json!({ "queryNote": [] }));
    }
    let answer = site.ask("{ queryNote { links(after: \"zz\") { text } } }");
    assert!(message(&answer).contains("ID argument (zz) of links"), "{answer}");
}

#[test]
fn numbers_that_are_too_great() {
    let site = site();
    let add =
        "mutation ($w: Float) { addNote(input: [{text: \"w\", weight: $w}]) { note { weight } } }";
    let ask = |weight: &str| {
        let body = format!(r#"{{"query":{},"variables":{{"w":{weight}}}}}"#, json!(add));
        site.post("/graphql", &body).json()
    };
    let want = json!({ "addNote": { "note": [{ "weight": 1e308 }] } });
    assert_eq!(ask("1e308")["data"], want);
    assert!(message(&ask("1e309")).contains("out of range"));
    let text = "mutation { addNote(input: [{text: \"w\", weight: 1e309}]) { numUids } }";
    let why = "Out of range value '1e309', for type `Float`";
    assert_eq!(message(&site.ask(text)), why);
}

#[test]
fn before_there_is_a_schema() {
    let site = Site::new("");
    assert_eq!(message(&site.ask("")), "no query string supplied in request");
    let answer = site.ask("query a { queryNote { text } }");
    let want = "Not resolving queryNote. There's no GraphQL schema in Dgraph. Use the /admin API to add a GraphQL schema";
    assert_eq!(message(&answer), want);
}

#[test]
fn state_and_login() {
    let site = site();
    let state = site.send("GET", "/state", &[], b"").json();
    let group = &state["groups"]["1"];
    assert_eq!(group["tablets"]["0-Note.text"]["predicate"], "0-Note.text");
    assert_eq!(group["members"]["1"]["addr"], site.server.address().unwrap().to_string());
    assert!(state["maxUID"].as_str().unwrap().parse::<u64>().unwrap() > 3, "{state}");
    let body = r#"{"userid":"groot","password":"password"}"#;
    assert_eq!(message(&site.post("/login", body).json()), "invalid username or password");
}

#[test]
fn keys() {
    let mut security = Security::default();
    security.set("admin-key=root; client-key=app; client-key=other").unwrap();
    security.origins.allow_origin("https://app.example").unwrap();
    let site = Site::with(SCHEMA, ServeOptions { security, ..ServeOptions::default() });
    let send = |method: &str, path: &str, key: &str, body: &str| {
        let key = format!("X-Auth-Token: {key}");
        let lines = if key.ends_with(": ") { vec![JSON] } else { vec![JSON, key.as_str()] };
        site.send(method, path, &lines, body.as_bytes())
    };
    let refused = |answer: Answer, status: u16| {
        let body = answer.json();
        assert_eq!(
            (answer.status, &body["errors"][0]["extensions"]["code"]),
            (status, &json!("ErrorUnauthorized")),
            "{body}"
        );
    };
    let health = r#"{"query":"{ health { status } }"}"#;
    for key in ["", "wrong", "ROOT"] {
        for (path, body) in
            [("/graphql", BODY), ("/query", ""), ("/mutate", ""), ("/admin", health), ("/x", "")]
        {
            refused(send("POST", path, key, body), 401);
        }
    }
    for key in ["app", "other", "root"] {
        assert_eq!(
            send("POST", "/graphql", key, BODY).json(),
            json!({ "data": { "queryNote": [] } })
        );
    }
    refused(send("POST", "/admin", "app", health), 403);
    refused(send("POST", "/alter", "app", "{}"), 403);
    refused(send("POST", "/admin/schema", "other", SCHEMA), 403);
    assert_eq!(
        send("POST", "/admin", "root", health).json()["data"]["health"][0]["status"],
        "healthy"
    );
    // Who asks whether the server is there, and browsers before they ask, need none.
    assert_eq!(send("GET", "/health", "", "").status, 200);
    assert_eq!(send("GET", "/probe/graphql", "", "").status, 200);
    let preflight = ["Origin: https://app.example", "Access-Control-Request-Method: POST"];
    let answer = site.send("OPTIONS", "/graphql", &preflight, b"");
    assert_eq!(
        (answer.status, answer.header("access-control-allow-origin")),
        (200, "https://app.example")
    );
    refused(send("OPTIONS", "/graphql", "", ""), 401);
    // A page that may ask may read why it is refused.
    let answer = site.send("POST", "/graphql", &[JSON, "Origin: https://app.example"], b"");
    assert_eq!(answer.header("access-control-allow-origin"), "https://app.example");
    refused(answer, 401);
    let handshake = [
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Protocol: graphql-ws",
    ];
    refused(site.send("GET", "/graphql", &handshake, b""), 401);
}

#[test]
fn who_may_read_answers() {
    let origins = "# Dgraph.Allow-Origin \"https://a.example\"\n# Dgraph.Allow-Origin \"https://b.example\"\n";
    let site = Site::new(&format!("{SCHEMA}{origins}"));
    let body = r#"{"query":"query @cacheControl(maxAge: 5) { queryNote { text } }"}"#;
    let send = |origin: &str| {
        let origin = format!("Origin: {origin}");
        site.send("POST", "/graphql", &[JSON, &origin], body.as_bytes())
    };
    for origin in ["https://a.example", "https://b.example"] {
        let answer = send(origin);
        assert_eq!(answer.json(), json!({ "data": { "queryNote": [] } }));
        assert_eq!(answer.header("access-control-allow-origin"), origin);
        assert_eq!(answer.header("access-control-allow-credentials"), "true");
        assert_eq!(answer.header("cache-control"), "public,max-age=5");
        let vary: Vec<&str> = answer.all("vary").collect();
        for name in ["Accept-Encoding", "origin"] {
            assert!(vary.iter().any(|value| value.contains(name)), "{vary:?}");
        }
    }
    for origin in ["https://evil.example", "https://a.example.evil", "null", "http://a.example"] {
        let answer = send(origin);
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (403, ""));
        assert!(message(&answer.json()).contains("--allow-origin"), "{}", answer.text());
    }
    // What keeps answers learns from those that no browser asked for, too, that others differ.
    let varied = |answer: Answer| -> Vec<String> {
        let names = answer.all("vary").flat_map(|names| names.split(", "));
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.sort();
        names
    };
    let plain = site.send("POST", "/graphql", &[JSON], body.as_bytes());
    assert_eq!(plain.header("access-control-allow-origin"), "");
    assert_eq!(varied(plain), varied(send("https://a.example")));
    // The schema speaks for /graphql alone.
    let answer = site.send("POST", "/query", &["Origin: https://a.example"], b"");
    assert_eq!(answer.status, 403);
}

#[test]
fn answers_to_who_is_known_are_kept_by_nobody_else() {
    let schema = format!(
        "{SCHEMA}\n# Dgraph.Authorization {{\"VerificationKey\":\"k\",\"Header\":\"X-App\",\"Namespace\":\"https://x\",\"Algo\":\"HS256\"}}\n"
    );
    let body = r#"{"query":"query @cacheControl(maxAge: 5) { queryNote { text } }"}"#;
    for (schema, header, scope, varies) in [
        (SCHEMA, "X-Other: a", "public", ""),
        (SCHEMA, "X-App: a", "public", ""),
        (SCHEMA, "X-Auth-Token: a", "private", "x-auth-token"),
        (SCHEMA, "X-Dgraph-AccessToken: a", "private", "x-dgraph-accesstoken"),
        (schema.as_str(), "X-Other: a", "public", "X-App"),
        (schema.as_str(), "X-App: a", "private", "X-App"),
    ] {
        let site = Site::new(schema);
        let answer = site.send("POST", "/graphql", &[JSON, header], body.as_bytes());
        let expected = format!("{scope},max-age=5");
        assert_eq!(answer.header("cache-control"), expected, "{header}: {}", answer.text());
        let vary: Vec<&str> = answer.all("vary").flat_map(|names| names.split(", ")).collect();
        for name in ["x-auth-token", "x-dgraph-accesstoken", "X-App"] {
            assert_eq!(vary.contains(&name), name == varies, "{header}: {vary:?}");
        }
    }
}

#[test]
fn who_takes_json_and_events() {
    let site = site();
    let ask = |accepted: &str, query: &str| {
        let accepted = format!("Accept: {accepted}");
        site.send(
            "POST",
            "/graphql",
            &[JSON, &accepted],
            json!({ "query": query }).to_string().as_bytes(),
        )
    };
    let both = "application/graphql-response+json, application/json, text/event-stream";
    let query = "{ queryNote { text } }";
    let answer = ask(both, query);
    assert_eq!((answer.header("content-type"), answer.json()), ("application/json", result()));
    let answer = ask(both, "{ what }");
    assert!(message(&answer.json()).starts_with("Cannot query field"), "{}", answer.text());
    let answer = ask("text/event-stream", query);
    assert_eq!(answer.header("content-type"), "text/event-stream; charset=utf-8");
    assert!(answer.text().contains("event: complete"));
}

#[test]
fn one_field_for_a_subscription() {
    let site = site();
    let why = "Subscription must select only one top level field.";
    for text in [
        "subscription { queryNote { text } aggregateNote { count } }",
        "subscription { queryNote { text } __typename }",
        "subscription { ...F } fragment F on Subscription { queryNote { text } a: queryNote { id } }",
        "subscription { ... { ...F } } fragment F on Subscription { ... on Subscription { queryNote { text } getNote(id: 1) { id } } }",
    ] {
        let answer = site.ask(text);
        assert_eq!(message(&answer), format!("Anonymous {why}"), "{text}");
    }
    let one = "subscription { ... { ...F } } fragment F on Subscription { queryNote { text } }";
    assert_eq!(site.ask(one), result());
    let circle = "subscription { ...F } fragment F on Subscription { ...G } fragment G on Subscription { ...F }";
    assert!(message(&site.ask(circle)).starts_with("Cannot spread fragment"));
}

#[test]
fn what_stands_beside_the_data() {
    let site = site();
    let ask = |text: &str| {
        let answer = site.post("/graphql", &json!({ "query": text }).to_string());
        let mut body: Value = serde_json::from_slice(&answer.body).unwrap();
        let beside = body["extensions"].take();
        assert_eq!(
            answer.header("graphql-toucheduids"),
            beside["touched_uids"].as_u64().unwrap_or(0).to_string()
        );
        beside
    };
    let reported = ask("{ a: queryNote { text } __typename getNote(id: \"0x1\") { id } }");
    assert!(reported["touched_uids"].as_u64().unwrap() > 0);
    let tracing = &reported["tracing"];
    assert_eq!(tracing["version"], 1);
    let full = tracing["duration"].as_u64().unwrap();
    let resolvers = tracing["execution"]["resolvers"].as_array().unwrap();
    assert_eq!(resolvers.len(), 2);
    let (first, second) = (&resolvers[0], &resolvers[1]);
    assert_eq!(first["path"], json!(["a"]));
    assert_eq!((&first["parentType"], &first["fieldName"]), (&json!("Query"), &json!("queryNote")));
    assert_eq!((&first["returnType"], &second["returnType"]), (&json!("[Note]"), &json!("Note")));
    for span in [first, second, &first["dgraph"][0]] {
        let offset = span["startOffset"].as_u64().unwrap();
        assert!(offset + span["duration"].as_u64().unwrap() <= full, "{reported}");
    }
    let reported = ask("mutation { addNote(input: []) { numUids } }");
    assert_eq!(reported["tracing"]["execution"]["resolvers"][0]["parentType"], "Mutation");
    // What is not executed is told without fields.
    assert!(ask("{ what }")["tracing"].get("execution").is_none());
}

/// Requests that are wrong where `LONG` stands, each with its path and its media type.
const LONG_BODIES: &[(&str, &str, &str)] = &[
    ("/query", JSON, r#"{"query": {"LONG": 1}}"#),
    ("/query", JSON, r#"{"query": ["a", "LONG"]}"#),
    ("/query", JSON, r#"{"query": "{ q(func: has(age)) { uid } }", "variables": "LONG"}"#),
    (
        "/query",
        JSON,
        r#"{"query": "{ q(func: has(age)) { uid } }", "variables": {"$a": {"LONG": 1}}}"#,
    ),
    ("/query", JSON, r#"{"query": "{ q(func: has(age)) { uid } }", "variables": {"$LONG": 1}}"#),
    ("/query", JSON, r#"{"query": "{ q(func: has(age)) { uid } }", "variables": {"$LONG": "1"}}"#),
    (
        "/query",
        JSON,
        r#"{"query": "query q($a: int) { q(func: eq(age, $a)) { uid } }", "variables": {"$a": "LONG"}}"#,
    ),
    ("/query", DQL, "{ q(func: LONG(age)) { uid } }"),
    ("/query", DQL, "{ q(func: has(age)) @LONG { uid } }"),
    ("/query", DQL, "{ q(func: eq(age, \"LONG\")) { uid } }"),
    ("/query", DQL, "{ q(func: eq(LONG, 1)) { uid } }"),
    ("/query", DQL, "{ q(func: uid(LONG)) { uid } }"),
    ("/query", DQL, "{ q(func: has(age)) { ...LONG } }"),
    ("/query", DQL, "{ LONG as var(func: has(age)) { uid } }"),
    ("/query", DQL, "{ q(func: has(age), orderasc: LONG) { uid } }"),
    ("/query", DQL, "{ q(func: has(age)) { LONG LONG } }"),
    ("/query", DQL, "query q($a: LONG) { q(func: eq(age, $a)) { uid } }"),
    ("/query", DQL, "{ q(func: has(age)) { uid \"LONG\" } }"),
    ("/query?strict=true", DQL, "{ q(func: has(LONG)) { uid } }"),
    ("/query?warnings=true", DQL, "{ q(func: has(LONG)) { a: LONG@en } }"),
    ("/cypher", JSON, r#"{"query": {"LONG": 1}}"#),
    ("/cypher", JSON, r#"{"query": "RETURN 1", "params": "LONG"}"#),
    ("/cypher", JSON, r#"{"query": "RETURN 1", "LONG": 1}"#),
    ("/cypher", JSON, r#"{"query": "RETURN 1", "params": {"LONG": 18446744073709551615}}"#),
    ("/cypher", CYPHER, "MATCH (n) RETURN LONG"),
    ("/cypher", CYPHER, "LONG (n) RETURN n"),
    ("/cypher", CYPHER, "RETURN LONG(1)"),
    ("/cypher", CYPHER, "RETURN $LONG"),
    ("/query_many", LINES, r#"{"LONG": 1}"#),
    (
        "/query_many",
        LINES,
        r#"{"query": "query q($a: int) { q(func: eq(age, $a)) { uid } }"}
{"a": "LONG"}"#,
    ),
    (
        "/query_many",
        LINES,
        r#"{"query": "query q($a: int) { q(func: eq(age, $a)) { uid } }"}
{"LONG": {}}"#,
    ),
    ("/mutate", JSON, r#"{"set": {"LONG": {"uid": 5}}}"#),
    ("/mutate", JSON, r#"{"set": {"uid": "LONG", "age": 1}}"#),
    ("/mutate", JSON, r#"{"set": {"age": "LONG"}}"#),
    ("/mutate", JSON, r#"{"set": {"LONG": {"uid": "no uid"}}}"#),
    ("/mutate", JSON, r#"{"set": {"dgraph.LONG": "x"}}"#),
    ("/mutate", JSON, r#"{"set": {"name": "x", "name|LONG": [{"a": [1]}]}}"#),
    ("/mutate", JSON, r#"{"query": "LONG", "set": {"age": 1}}"#),
    ("/mutate", JSON, r#"{"cond": "@if(LONG)", "set": {"age": 1}}"#),
    ("/mutate", RDF, "{ set { _:a <age> \"LONG\" . } }"),
    ("/mutate", RDF, "{ set { <LONG> <age> \"1\" . } }"),
    ("/mutate", RDF, "{ set { _:a <age> LONG . } }"),
    ("/mutate", RDF, "{ LONG { _:a <age> 1 . } }"),
    ("/mutate", RDF, "{ set { uid(LONG) <age> \"1\" . } }"),
    ("/mutate", RDF, "{ set { _:a <age> \"1\"^^<LONG> . } }"),
    ("/alter", JSON, "LONG: LONG ."),
    ("/alter", JSON, "age: int @LONG ."),
    ("/alter", JSON, "age: string @index(LONG) ."),
    ("/alter", JSON, "type LONG { age }"),
    ("/alter", JSON, "type A { LONG: LONG }"),
    ("/alter", JSON, "dgraph.LONG: int ."),
    ("/alter", JSON, r#"{"drop_attr": "dgraph.LONG"}"#),
    ("/alter", JSON, r#"{"drop_op": "LONG"}"#),
    ("/commit?startTs=5", JSON, r#"{"keys": "LONG"}"#),
    ("/assign?what=LONG", JSON, ""),
    ("/login", JSON, r#"{"userid": "LONG", "password": "LONG"}"#),
    ("/graphql", JSON, r#"{"query": {"LONG": 1}}"#),
    ("/graphql", JSON, r#"{"query": "{ LONG }"}"#),
    ("/graphql", JSON, r#"{"query": "{ queryNote(LONG: 1) { text } }"}"#),
    ("/graphql", JSON, r#"{"query": "{ queryNote(first: \"LONG\") { text } }"}"#),
    (
        "/graphql",
        JSON,
        r#"{"query": "query LONG { queryNote { text } }", "operationName": "xLONG"}"#,
    ),
    (
        "/graphql",
        JSON,
        r#"{"query": "query($a: Int) { queryNote(first: $a) { text } }", "variables": {"a": "LONG"}}"#,
    ),
    (
        "/graphql",
        JSON,
        r#"{"query": "query($a: Int) { queryNote(first: $a) { text } }", "variables": "LONG"}"#,
    ),
    ("/graphql", JSON, r#"{"query": "{ getNote(id: \"LONG\") { text } }"}"#),
    ("/admin", JSON, r#"{"query": "{ task(input: { id: \"LONG\" }) { status } }"}"#),
    (
        "/admin",
        JSON,
        r#"{"query": "mutation { deleteNamespace(input: { namespaceId: LONG }) { namespaceId } }"}"#,
    ),
    (
        "/admin",
        JSON,
        r#"{"query": "mutation { assign(input: { what: UID, num: \"LONG\" }) { response { startId } } }"}"#,
    ),
    ("/admin/schema", JSON, "type LONG { id: LONG }"),
    ("/admin/schema/validate", JSON, "type A { id: ID! text: String @LONG }"),
];

const DQL: &str = "Content-Type: application/dql";
const CYPHER: &str = "Content-Type: application/cypher";
const RDF: &str = "Content-Type: application/rdf";
const LINES: &str = "Content-Type: application/x-ndjson";

/// Whatever is wrong with a request, the answer does not send it back: each has a text of a third
/// of a megabyte where a message would quote it.
#[test]
fn no_message_repeats_a_long_text() {
    let database = Database::in_memory();
    database.set_graphql_schema(SCHEMA).unwrap();
    database.alter("age: int @index(int) .\nname: string @index(exact) .").unwrap();
    let site = Site::of(database, ServeOptions::default());
    let long = "Long".repeat(80_000);
    for &(path, kind, body) in LONG_BODIES {
        // An address has less room.
        let path_sent = path.replace("LONG", &"Long".repeat(10_000));
        let answer = site.send("POST", &path_sent, &[kind], body.replace("LONG", &long).as_bytes());
        let reported = answer.text();
        assert!(
            reported.len() < 32 << 10,
            "{path} {body}: {} bytes, {}",
            reported.len(),
            &reported[..300]
        );
    }
}

/// Another server, which says that it was asked and answers when the lock is free.
struct Waits {
    free: Mutex<()>,
    requested: Mutex<Sender<()>>,
}

impl Fetch for Waits {
    fn fetch(&self, _: &Outgoing) -> Result<Incoming, Unanswered> {
        self.requested.lock().unwrap().send(()).unwrap();
        drop(self.free.lock());
        Ok(Incoming { status: 200, body: b"\"done\"".to_vec(), ..Incoming::default() })
    }
}

/// What a long body asks for is found out when it is its turn, as any other work; a short one waits
/// for nobody.
#[test]
fn long_bodies_are_read_in_turn() {
    let (sender, requested) = channel();
    let waits = Arc::new(Waits { free: Mutex::new(()), requested: Mutex::new(sender) });
    let database = Database::in_memory();
    database.set_graphql_client(Arc::clone(&waits) as Arc<dyn Fetch>);
    let schema = "type Note @withSubscription { id: ID! text: String }
        type Query { other: String @custom(http: { url: \"http://other/\", method: GET }) }";
    database.set_graphql_schema(schema).unwrap();
    let admission = AdmissionOptions { running: 1, ..AdmissionOptions::default() };
    let site = Site::of(database, ServeOptions { admission, ..ServeOptions::default() });
    // The status of an answer with events, which does not end; empty where none comes in a while.
    let begins = |spaces: usize| {
        let mut stream = TcpStream::connect(site.server.address().unwrap()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let text = format!("subscription {{ queryNote {{ text }} }}{}", " ".repeat(spaces));
        let body = json!({ "query": text }).to_string();
        let head = "POST /graphql HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n";
        let length = body.len();
        write!(stream, "{head}{JSON}\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
        let mut line = String::new();
        let _ = BufReader::new(stream).read_line(&mut line);
        line.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!([begins(0), begins(100_000)], ["200", "200"]);
    let held = waits.free.lock().unwrap();
    thread::scope(|scope| {
        let answer = scope.spawn(|| site.ask("{ other }"));
        requested.recv_timeout(Duration::from_secs(20)).unwrap();
        let reported = [begins(0), begins(100_000)];
        drop(held);
        assert!(reported[0] == "200" && ["", "503"].contains(&&*reported[1]), "{reported:?}");
        assert_eq!(answer.join().unwrap(), json!({ "data": { "other": "done" } }));
    });
}
