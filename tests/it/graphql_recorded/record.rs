//! The records, and the caller.

use hexgraph::db::graphql::{Headers, Request};
use hexgraph::db::{Database, ParameterValue, QueryRequest, RequestContext, Variables};
use regex::Regex;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::PathBuf;

const KEY: &str = "a key that is long enough";

/// What tokens are checked by, to be appended to a schema.
fn authorization(closed: bool) -> String {
    let setting = json!({
        "Header": "X-Auth", "Namespace": "claims", "Algo": "HS256", "VerificationKey": KEY,
        "ClosedByDefault": closed,
    });
    format!("\n# Dgraph.Authorization {setting}\n")
}

/// A file of the folder of records; none, and a word about it, where there is none.
fn file(name: &str) -> Option<String> {
    let shared = std::env::var_os("HEXGRAPH_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("../shared"),
        PathBuf::from,
    );
    let path = shared.join("conformance/graphql/resolve").join(name);
    let text = fs::read_to_string(&path);
    if text.is_err() {
        println!("skipped: there is no {}", path.display());
    }
    text.ok()
}

/// A schema of the folder, with tokens. What Dgraph no longer knows is taken away, and what
/// is asked for gets an index.
pub fn schema(name: &str, closed: bool) -> Option<String> {
    let text = file(name)?;
    let text = text.replace("operation: \"batch\",", "").replace("operation: \"single\",", "");
    let vector = "productVector: [Float!] @embedding";
    let index = r#" @search(by: ["hnsw(metric: euclidean, exponent: 4)"])"#;
    Some(text.replace(vector, &format!("{vector}{index}")) + &authorization(closed))
}

/// A schema without its rules.
pub fn without_rules(schema: &str) -> String {
    let (mut free, mut rest) = (String::new(), schema);
    while let Some((before, rule)) = rest.split_once("@auth") {
        free += before;
        let (mut depth, mut is_text) = (0, false);
        let end = rule.char_indices().find(|(_, c)| {
            is_text ^= *c == '"';
            depth += i32::from(!is_text && *c == '(') - i32::from(!is_text && *c == ')');
            *c == ')' && !is_text && depth == 0
        });
        rest = &rule[end.unwrap().0 + 1..];
    }
    free + rest
}

/// An operation with what is known of it.
#[derive(Clone)]
pub struct Record(pub Value);

impl Record {
    /// The records of a file.
    pub fn all(name: &str) -> Option<Vec<Record>> {
        let text = file(name)?;
        let record = |line: &str| Record(serde_json::from_str(&closed(line)).unwrap());
        Some(text.lines().map(record).collect())
    }

    /// A text of it; empty where there is none.
    pub fn text(&self, key: &str) -> &str {
        self.0[key].as_str().unwrap_or_default()
    }

    pub fn has(&self, key: &str) -> bool {
        !self.0[key].is_null()
    }

    /// JSON that is written as text or as it is; empty where there is none.
    pub fn json(&self, key: &str) -> Map<String, Value> {
        let value = match &self.0[key] {
            Value::String(text) => serde_json::from_str(text).unwrap(),
            value => value.clone(),
        };
        value.as_object().cloned().unwrap_or_default()
    }

    /// All the DQL of it.
    pub fn dql(&self) -> String {
        ["dgquery", "dgquerysec", "authquery"].map(|key| self.text(key)).join("\n")
    }

    /// The message of the error that it is refused with.
    pub fn error(&self) -> Option<&str> {
        [&self.0["error"], &self.0["error2"]].iter().find_map(|error| error["message"].as_str())
    }

    pub fn request(&self) -> Request {
        let mut request = Request::new(self.text("gqlquery"));
        request.variables = self.json("variables");
        request
    }

    /// The token of the caller, where there is one.
    pub fn headers(&self) -> Headers {
        match self.has("jwtvar") {
            true => headers(&self.0["jwtvar"]),
            false => Headers::new(),
        }
    }
}

/// The headers of somebody with claims.
fn headers(claims: &Value) -> Headers {
    let key = jsonwebtoken::EncodingKey::from_secret(KEY.as_bytes());
    let payload = json!({ "claims": claims });
    let token = crate::tokens::sign(&jsonwebtoken::Header::default(), &payload, &key);
    Headers::from_iter([("X-Auth", token)])
}

/// A record with rings that are closed and on the earth, and with a moment that is one.
fn closed(line: &str) -> String {
    let line = line.replace("\"timestamp\": \"0\"", "\"timestamp\": \"2020\"");
    let mut line = line.replace("91.11", "11.11").replace("92.22", "22.22");
    let ends = [("21.21", "20.20?", "22.22", "11.11"), ("21.28", "20.28", "22.28", "11.18")];
    for (x, y, to_x, to_y) in ends {
        if !line.contains(x) {
            continue;
        }
        let pair = Regex::new(&format!(r"(\[{x},{y}\])\]")).unwrap();
        line = pair.replace_all(&line, format!("$1,[{to_x},{to_y}]]")).into_owned();
        let space = r"(?:\s|\\n)*";
        let quoted = Regex::new(&format!(r#""latitude": {y}, "longitude": {x}\}}"#)).unwrap();
        let more = format!("$0, {{\"latitude\": {to_y}, \"longitude\": {to_x}}}");
        line = quoted.replace_all(&line, more).into_owned();
        let end = format!(r"latitude: {y},{space}longitude: {x}{space}\}}");
        let end = Regex::new(&end).unwrap();
        let more = format!("$0, {{ latitude: {to_y}, longitude: {to_x} }}");
        line = end.replace_all(&line, more).into_owned();
    }
    line
}

/// The answer to a request.
pub fn ask(db: &Database, request: &Request, headers: &Headers) -> Value {
    let response = db.graphql_with(request, headers, &RequestContext::new());
    serde_json::from_slice(&response.to_json("")).unwrap()
}

/// The answer to a query in DQL.
pub fn dql(db: &Database, text: &str, variables: &Map<String, Value>) -> Result<Value, String> {
    let variables = variables.iter().map(|(name, value)| (name.clone(), plain(value)));
    let variables: Variables = variables.collect();
    let request = QueryRequest { text: text.to_owned(), variables, debug: false };
    let answer =
        db.query_with(&request, &RequestContext::new()).and_then(|answer| answer.to_json());
    let (json, _) = answer.map_err(|error| error.to_string())?;
    Ok(serde_json::from_str(&json).unwrap())
}

fn plain(value: &Value) -> ParameterValue {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned).into()
}

/// A text as N-Quads and JSON write it.
pub fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
