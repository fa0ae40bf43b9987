//! From an HTTP request to a GraphQL request. Messages are those of the reference.

use crate::db::graphql::Headers;
use crate::db::graphql::Request;
use crate::http::go_json;
use crate::http::incoming::Incoming;
use axum::http::HeaderMap;
use serde_json::Deserializer;
use serde_json::Map;
use serde_json::Value;

/// What a GET asks for: everything is a parameter.
pub fn of_parameters(incoming: &Incoming) -> Result<Request, String> {
    Ok(Request {
        query: incoming.parameter("query").to_owned(),
        operation: named(incoming.parameter("operationName")),
        variables: object(incoming.parameter("variables"))?,
        extensions: object(incoming.parameter("extensions"))?,
    })
}

/// What a POST asks for.
pub fn of_body(incoming: &Incoming) -> Result<Request, String> {
    match incoming.content_type()?.as_str() {
        "" => Err("unable to parse media type: mime: no media type".to_owned()),
        "application/json" => match incoming.text() {
            Ok(text) => of_json(text),
            Err(message) => Err(syntax_fault(incoming.bytes()).map_or(message, not_valid)),
        },
        "application/graphql" => Ok(Request::new(incoming.text()?)),
        _ => Err("Unrecognised Content-Type.  Please use application/json or application/graphql for GraphQL requests".to_owned()),
    }
}

/// All headers that are text.
pub fn headers(headers: &HeaderMap) -> Headers {
    headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))).collect()
}

fn of_json(body: &str) -> Result<Request, String> {
    of_members(first_object(body).map_err(not_valid)?)
}

/// What an object asks for.
pub fn of_members(members: Map<String, Value>) -> Result<Request, String> {
    let mut request = Request::default();
    for (key, value) in members {
        // The reference does not mind the case of keys, nor others than these.
        match (key.to_ascii_lowercase().as_str(), value) {
            (_, Value::Null) => {}
            ("query", Value::String(text)) => request.query = text,
            ("operationname", Value::String(name)) => request.operation = named(&name),
            ("variables", Value::Object(variables)) => request.variables = variables,
            ("extensions", Value::Object(extensions)) => request.extensions = extensions,
            (known @ ("query" | "operationname" | "variables" | "extensions"), other) => {
                return Err(not_valid(format!("{known} can't be {other}")));
            }
            _ => {}
        }
    }
    Ok(request)
}

/// The object that a text begins with; what follows does not matter.
fn first_object(text: &str) -> Result<Map<String, Value>, String> {
    match Deserializer::from_str(text).into_iter::<Value>().next() {
        None => Err("EOF".to_owned()),
        Some(Ok(Value::Object(members))) => Ok(members),
        Some(Ok(Value::Array(_))) => {
            Err("json: cannot unmarshal array into Go value of type schema.Request".to_owned())
        }
        Some(Ok(other)) => Err(format!("expected an object, found {other}")),
        Some(Err(error)) => Err(syntax_fault(text.as_bytes()).unwrap_or_else(|| error.to_string())),
    }
}

/// What is wrong with what is no JSON.
fn syntax_fault(text: &[u8]) -> Option<String> {
    let fault = go_json::fault(text)?;
    Some(fault.message.unwrap_or_else(|| "unexpected EOF".to_owned()))
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    if text.is_empty() || text.trim() == "null" {
        return Ok(Map::new());
    }
    first_object(text).map_err(not_valid)
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
        for bad in ["", "[]", "{", "7", r#"{"query":1}"#, r#"{"variables":[]}"#] {
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
