//! From an HTTP request to a GraphQL request. Messages are those of Dgraph.

use crate::http::compat::go_json;
use crate::http::message::incoming::Incoming;
use crate::http::message::request_error::RequestError;
use axum::http::HeaderMap;
use hexgraph::db::graphql::{Headers, Request};
use serde_json::{Deserializer, Map, Value};

/// Why an HTTP request is no request of GraphQL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum BodyError {
    /// The headers do not say the media type of the body.
    #[error("unable to parse media type: mime: no media type")]
    NoMediaType,
    /// The body is of a media type that has no request in it.
    #[error(
        "Unrecognised Content-Type.  Please use application/json or application/graphql for GraphQL requests"
    )]
    ContentType,
    /// The body can't be read at all.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The body, or a parameter, is no JSON or of another shape.
    #[error("Not a valid GraphQL request body: {0}")]
    NotValid(#[from] JsonFault),
    /// The payload of a message has no text of a query.
    #[error("the payload has no query")]
    NoQuery,
    /// The payload of a message is no object.
    #[error("the payload is not an object")]
    NoObject,
}

/// Errors of the JSON of a request. The messages are those of Go's `encoding/json`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum JsonFault {
    /// The text has no JSON in it.
    #[error("EOF")]
    Empty,
    /// The text is not valid JSON.
    #[error("{reason}")]
    Syntax {
        /// Errors of the text.
        reason: String,
    },
    /// The JSON has another kind than expected.
    #[error("json: cannot unmarshal {result} into Go value of type {expected}")]
    WrongValue {
        /// The kind that was read.
        result: &'static str,
        /// The type that was expected.
        expected: &'static str,
    },
    /// A member of the JSON has another kind than expected.
    #[error(
        "json: cannot unmarshal {result} into Go struct field Request.{position} of type {expected}"
    )]
    WrongMember {
        /// The kind that was read.
        result: &'static str,
        /// The path to the member.
        position: &'static str,
        /// The type that was expected.
        expected: &'static str,
    },
}

/// The type of the variables in messages.
const VARIABLES: &str = "map[string]interface {}";

/// The type of the extensions in messages.
const EXTENSIONS: &str = "schema.RequestExtensions";

/// Reads the request of a GET, all of whose parts are parameters of the query string.
pub(super) fn of_parameters(incoming: &Incoming) -> Result<Request, BodyError> {
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

/// Reads the request of a POST.
pub(super) fn of_body(incoming: &Incoming) -> Result<Request, BodyError> {
    match incoming.media_type().as_str() {
        "" => Err(BodyError::NoMediaType),
        "application/json" => match incoming.text() {
            Ok(text) => of_json(text),
            Err(error) => Err(syntax_fault(incoming.bytes(), &error).into()),
        },
        "application/graphql" => Ok(Request { is_served: true, ..Request::new(incoming.text()?) }),
        _ => Err(BodyError::ContentType),
    }
}

/// Returns all headers whose values are text.
pub(super) fn headers(headers: &HeaderMap) -> Headers {
    headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))).collect()
}

fn of_json(body: &str) -> Result<Request, BodyError> {
    of_members(first_object(body, "schema.Request")?)
}

/// Reads a request from a JSON object.
pub(super) fn of_members(members: Map<String, Value>) -> Result<Request, BodyError> {
    let mut request = Request { is_served: true, ..Request::default() };
    for (key, value) in members {
        // Dgraph does not mind the case of keys, nor others than these.
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

/// Checks that the part of the extensions that names a stored text is of the right shape; the rest
/// may be anything.
fn check_extensions(extensions: &Map<String, Value>) -> Result<(), BodyError> {
    let member = |members: &Map<String, Value>, name: &str| {
        let result = members.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        result.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    match member(extensions, "persistedQuery") {
        Value::Null => Ok(()),
        Value::Object(query) => match member(&query, "sha256Hash") {
            Value::Null | Value::String(_) => Ok(()),
            other => Err(wrong_kind(&other, "extensions.persistedQuery.sha256Hash", "string")),
        },
        other => Err(wrong_kind(&other, "extensions.persistedQuery", "schema.PersistedQuery")),
    }
}

fn wrong_kind(value: &Value, position: &'static str, expected: &'static str) -> BodyError {
    JsonFault::WrongMember { result: kind_of(value), position, expected }.into()
}

/// Returns the name that messages use for the kind of a value.
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

/// Returns the object that a text begins with; what follows does not matter.
fn first_object(text: &str, expected: &'static str) -> Result<Map<String, Value>, JsonFault> {
    match Deserializer::from_str(text).into_iter::<Value>().next() {
        None => Err(JsonFault::Empty),
        Some(Ok(Value::Object(members))) => Ok(members),
        Some(Ok(Value::Null)) => Ok(Map::new()),
        Some(Ok(other)) => Err(JsonFault::WrongValue { result: kind_of(&other), expected }),
        Some(Err(error)) => Err(syntax_fault(text.as_bytes(), &error)),
    }
}

/// Returns the fault of a text that is no JSON: in the words of Go, or in those of the reader that
/// refused it where Go would not have.
fn syntax_fault(text: &[u8], refused: &impl std::fmt::Display) -> JsonFault {
    let reason = match go_json::fault(text) {
        Some(fault) => fault.message.unwrap_or_else(|| "unexpected EOF".to_owned()),
        None => refused.to_string(),
    };
    JsonFault::Syntax { reason }
}

fn object(text: &str, expected: &'static str) -> Result<Map<String, Value>, BodyError> {
    if text.is_empty() {
        return Ok(Map::new());
    }
    Ok(first_object(text, expected)?)
}

fn named(name: &str) -> Option<String> {
    (!name.is_empty()).then(|| name.to_owned())
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
        let reported = |body| of_json(body).unwrap_err().to_string();
        assert_eq!(reported(bad), format!("Not a valid GraphQL request body: {field}"));
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
            let message = reported(bad);
            assert!(message.starts_with("Not a valid GraphQL request body: "), "{message}");
        }
        assert_eq!(reported(""), "Not a valid GraphQL request body: EOF");
        let wrong = "invalid character 'q' looking for beginning of value";
        let want = format!("Not a valid GraphQL request body: {wrong}");
        assert_eq!(reported("query { q }"), want);
        assert!(reported("{\"query\":\"").ends_with("unexpected EOF"));
    }
}
