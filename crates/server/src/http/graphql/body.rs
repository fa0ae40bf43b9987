//! From an HTTP request to a GraphQL request. Messages are those of the reference.

use crate::http::message::go_json;
use crate::http::message::incoming::Incoming;
use axum::http::HeaderMap;
use hexgraph::db::graphql::{Headers, Request};
use serde_json::{Deserializer, Map, Value};

/// The type of the variables in messages.
const VARIABLES: &str = "map[string]interface {}";

/// The type of the extensions in messages.
const EXTENSIONS: &str = "schema.RequestExtensions";

/// What a GET asks for: everything is a parameter.
pub(super) fn of_parameters(incoming: &Incoming) -> Result<Request, String> {
    let request = Request {
        query: incoming.parameter("query").to_owned(),
        operation: named(incoming.parameter("operationName")),
        variables: object(incoming.parameter("variables"), VARIABLES)?,
        extensions: object(incoming.parameter("extensions"), EXTENSIONS)?,
        is_served: true,
    };
    check_extensions(&request.extensions)?;
    Ok(request)
}

/// What a POST asks for.
pub(super) fn of_body(incoming: &Incoming) -> Result<Request, String> {
    match incoming.media_type().as_str() {
        "" => Err("unable to parse media type: mime: no media type".to_owned()),
        "application/json" => match incoming.text() {
            Ok(text) => of_json(text),
            Err(message) => Err(not_valid(syntax_fault(incoming.bytes()).unwrap_or(message))),
        },
        "application/graphql" => {
            Ok(Request { is_served: true, ..Request::new(incoming.text()?) })
        }
        _ => Err("Unrecognised Content-Type.  Please use application/json or application/graphql for GraphQL requests".to_owned()),
    }
}

/// All headers that are text.
pub(super) fn headers(headers: &HeaderMap) -> Headers {
    headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))).collect()
}

fn of_json(body: &str) -> Result<Request, String> {
    of_members(first_object(body, "schema.Request").map_err(not_valid)?)
}

/// What an object asks for.
pub(super) fn of_members(members: Map<String, Value>) -> Result<Request, String> {
    let mut request = Request { is_served: true, ..Request::default() };
    for (key, value) in members {
        // The reference does not mind the case of keys, nor others than these.
        match (key.to_ascii_lowercase().as_str(), value) {
            (_, Value::Null) => {}
            ("query", Value::String(text)) => request.query = text,
            ("operationname", Value::String(name)) => request.operation = named(&name),
            ("variables", Value::Object(variables)) => request.variables = variables,
            ("extensions", Value::Object(extensions)) => request.extensions = extensions,
            ("query", other) => return Err(wrong_kind(&other, "query", "string")),
            ("operationname", other) => return Err(wrong_kind(&other, "operationName", "string")),
            ("variables", other) => return Err(wrong_kind(&other, "variables", VARIABLES)),
            ("extensions", other) => return Err(wrong_kind(&other, "extensions", EXTENSIONS)),
            _ => {}
        }
    }
    check_extensions(&request.extensions)?;
    Ok(request)
}

/// What stands beside the text may be anything but what names a text.
fn check_extensions(extensions: &Map<String, Value>) -> Result<(), String> {
    let member = |members: &Map<String, Value>, name: &str| {
        let found = members.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let place = "extensions.persistedQuery";
    match member(extensions, "persistedQuery") {
        Value::Null => Ok(()),
        Value::Object(query) => match member(&query, "sha256Hash") {
            Value::Null | Value::String(_) => Ok(()),
            other => Err(wrong_kind(&other, &format!("{place}.sha256Hash"), "string")),
        },
        other => Err(wrong_kind(&other, place, "schema.PersistedQuery")),
    }
}

fn wrong_kind(value: &Value, place: &str, wanted: &str) -> String {
    let kind = kind_of(value);
    not_valid(format!(
        "json: cannot unmarshal {kind} into Go struct field Request.{place} of type {wanted}"
    ))
}

/// The kind of a value in messages.
fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The object that a text begins with; what follows does not matter.
fn first_object(text: &str, wanted: &str) -> Result<Map<String, Value>, String> {
    match Deserializer::from_str(text).into_iter::<Value>().next() {
        None => Err("EOF".to_owned()),
        Some(Ok(Value::Object(members))) => Ok(members),
        Some(Ok(Value::Null)) => Ok(Map::new()),
        Some(Ok(other)) => {
            let kind = kind_of(&other);
            Err(format!("json: cannot unmarshal {kind} into Go value of type {wanted}"))
        }
        Some(Err(error)) => Err(syntax_fault(text.as_bytes()).unwrap_or_else(|| error.to_string())),
    }
}

/// What is wrong with what is no JSON.
fn syntax_fault(text: &[u8]) -> Option<String> {
    let fault = go_json::fault(text)?;
    Some(fault.message.unwrap_or_else(|| "unexpected EOF".to_owned()))
}

fn object(text: &str, wanted: &str) -> Result<Map<String, Value>, String> {
    if text.is_empty() {
        return Ok(Map::new());
    }
    first_object(text, wanted).map_err(not_valid)
}

fn named(name: &str) -> Option<String> {
    (!name.is_empty()).then(|| name.to_owned())
}

fn not_valid(reason: String) -> String {
    format!("Not a valid GraphQL request body: {reason}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies() {
        let request =
            of_json(r#"{"Query":"{ q }","variables":{"a":1},"operationName":null,"more":[]} rest"#);
        let request = request.unwrap();
        assert_eq!((request.query.as_str(), request.operation), ("{ q }", None));
        assert_eq!(request.variables["a"], 1);
        assert_eq!(of_json("null").unwrap().query, "");
        let bad = r#"{"operationName":5}"#;
        let field = "json: cannot unmarshal number into Go struct field Request.operationName of type string";
        assert_eq!(of_json(bad).unwrap_err(), format!("Not a valid GraphQL request body: {field}"));
        for bad in [
            "",
            "[]",
            "{",
            "7",
            r#"{"query":1}"#,
            r#"{"variables":[]}"#,
            r#"{"extensions":{"persistedQuery":5}}"#,
            r#"{"extensions":{"PersistedQuery":{"sha256hash":5}}}"#,
        ] {
            let message = of_json(bad).unwrap_err();
            assert!(message.starts_with("Not a valid GraphQL request body: "), "{message}");
        }
        assert_eq!(of_json("").unwrap_err(), "Not a valid GraphQL request body: EOF");
        let wrong = "invalid character 'q' looking for beginning of value";
        let want = format!("Not a valid GraphQL request body: {wrong}");
        assert_eq!(of_json("query { q }").unwrap_err(), want);
        assert!(of_json("{\"query\":\"").unwrap_err().ends_with("unexpected EOF"));
    }
}
