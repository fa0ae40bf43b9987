//! Runs the scripts of `tests/graphql`: a GraphQL schema, then requests with their answers.
//!
//! A script is text, its parts stand between blank lines. `#` starts a comment. A part is `schema`
//! with the lines of a schema below, or `alter` with those of a schema in DQL; or lines that begin
//! with `>`, a GraphQL request, after it perhaps a line that begins with `$`, the variables as
//! JSON, or with `@`, what the token of the caller says, and then the answer; or lines that begin
//! with `?`, a request in DQL, and the answer. `HEXGRAPH_UPDATE_GOLDEN=1` writes the answers as
//! they are now.

use hexgraph::db::graphql::{Headers, Request};
use hexgraph::db::{Database, QueryRequest, RequestContext};
use std::path::{Path, PathBuf};

fn scripts() -> Vec<PathBuf> {
    let dir = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/graphql");
    let entries = std::fs::read_dir(dir).expect("the folder is there");
    let mut result: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    result.sort();
    result
}

fn marked(part: &str, mark: char) -> String {
    let lines = part.lines().filter_map(|line| line.strip_prefix(mark));
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn graphql(db: &Database, part: &str) -> String {
    let mut request = Request::new(marked(part, '>'));
    let variables = marked(part, '$');
    if !variables.is_empty() {
        request.variables = serde_json::from_str(&variables).expect("variables are JSON");
    }
    let claims = marked(part, '@');
    let headers = if claims.is_empty() { Headers::new() } else { signed(&claims) };
    let response = db.graphql_with(&request, &headers, &RequestContext::new());
    String::from_utf8(response.to_json("")).unwrap()
}

/// The token that says this, as schemas with `a secret of the test` check it.
fn signed(claims: &str) -> Headers {
    let claims: serde_json::Value = serde_json::from_str(claims).expect("claims are JSON");
    let header = jsonwebtoken::Header::default();
    let key = jsonwebtoken::EncodingKey::from_secret(b"a secret of the test");
    let token = crate::tokens::sign(&header, &claims, &key);
    Headers::from_iter([("X-Auth", token)])
}

fn dql(db: &Database, part: &str) -> String {
    let request = QueryRequest { text: marked(part, '?'), ..QueryRequest::default() };
    let result =
        db.query_with(&request, &RequestContext::new()).and_then(|answer| answer.to_json());
    result.map_or_else(|error| format!("error: {error}"), |(json, _)| json)
}

/// The part with its answer as it is now.
fn carried_out(db: &Database, part: &str) -> String {
    let requested = part.lines().filter(|line| line.starts_with(['#', '>', '$', '@', '?']));
    let requested = requested.collect::<Vec<_>>().join("\n");
    let start = part.lines().find(|line| !line.starts_with('#')).unwrap_or_default();
    match start.chars().next() {
        Some('>') => format!("{requested}\n{}", graphql(db, part)),
        Some('?') => format!("{requested}\n{}", dql(db, part)),
        _ => {
            if let Some((_, schema)) = part.split_once("alter\n").filter(|_| start == "alter") {
                db.alter(schema).unwrap();
            } else if let Some((_, schema)) = part.split_once("schema\n") {
                db.set_graphql_schema(schema).unwrap();
            }
            part.to_owned()
        }
    }
}

#[test]
fn graphql_scripts() {
    let update = std::env::var_os("HEXGRAPH_UPDATE_GOLDEN").is_some();
    for path in scripts() {
        let script = std::fs::read_to_string(&path).unwrap();
        let db = Database::in_memory();
        let parts = script.trim_end().split("\n\n");
        let now = parts.map(|part| carried_out(&db, part)).collect::<Vec<_>>().join("\n\n") + "\n";
        if update {
            std::fs::write(&path, now).unwrap();
        } else {
            assert_eq!(now, script, "{}", path.display());
        }
    }
}
