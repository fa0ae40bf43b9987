//! GraphQL requests and responses.

use crate::db::graphql::reply::span::Span;
use hexgraph_base::answer::write_json_text;
use hexgraph_base::schema::SchemaReport;
use hexgraph_base::types::write_int;
use hexgraph_graphql::request::{GraphqlError, PathStep};
use serde_json::{Map, Value};

/// A GraphQL request: the document, the operation in it, and its variables.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The text of the document.
    pub query: String,
    /// The name of the operation to execute; needed only if the document has several.
    pub operation: Option<String>,
    /// The values of the variables, by name without `$`.
    pub variables: Map<String, Value>,
    /// The member `extensions` of the request, such as the hash of a persisted query.
    pub extensions: Map<String, Value>,
    /// True if the request came over HTTP: messages then point to `/admin` for setting a schema.
    pub is_served: bool,
}

impl Request {
    /// Creates a request of a text without variables.
    ///
    /// ```
    /// use hexgraph::db::Database;
    /// use hexgraph::db::graphql::{Headers, Request};
    ///
    /// let db = Database::in_memory();
    /// db.set_graphql_schema("type Person { name: String! @search(by: [hash]) }")?;
    /// let mut request = Request::new(
    ///     "query q($name: String) { queryPerson(filter: { name: { eq: $name } }) { name } }",
    /// );
    /// request.variables.insert("name".to_owned(), "Ada".into());
    /// assert!(db.graphql(request).errors.is_empty());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn new(query: impl Into<String>) -> Request {
        Request { query: query.into(), ..Request::default() }
    }
}

impl From<&str> for Request {
    fn from(query: &str) -> Request {
        Request::new(query)
    }
}

/// The headers of a request, in their order; access tokens are among them.
#[derive(Debug, Clone, Default)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// No headers.
    ///
    /// ```
    /// use hexgraph::db::graphql::Headers;
    ///
    /// assert_eq!(Headers::new().byte_len(), 0);
    /// ```
    pub fn new() -> Headers {
        Headers::default()
    }

    /// Adds a header.
    ///
    /// ```
    /// use hexgraph::db::graphql::Headers;
    ///
    /// let mut headers = Headers::new();
    /// headers.add("X-Request-Id", "17");
    /// assert_eq!(headers.get("x-request-id"), Some("17"));
    /// ```
    pub fn add(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.push((name.into(), value.into()));
    }

    /// Appends all headers of `others`.
    ///
    /// ```
    /// use hexgraph::db::graphql::Headers;
    ///
    /// let mut headers = Headers::from_iter([("a", "1")]);
    /// headers.extend(&Headers::from_iter([("b", "2")]));
    /// assert_eq!((headers.get("a"), headers.get("b")), (Some("1"), Some("2")));
    /// ```
    pub fn extend(&mut self, others: &Headers) {
        self.0.extend_from_slice(&others.0);
    }

    /// The bytes of all names and values.
    ///
    /// ```
    /// use hexgraph::db::graphql::Headers;
    ///
    /// assert_eq!(Headers::from_iter([("name", "value")]).byte_len(), 9);
    /// ```
    pub fn byte_len(&self) -> usize {
        self.0.iter().map(|(name, value)| name.len() + value.len()).sum()
    }

    /// Takes away all headers with a name, whatever its case.
    ///
    /// ```
    /// use hexgraph::db::graphql::Headers;
    ///
    /// let mut headers = Headers::from_iter([("X-Auth", "1"), ("x-auth", "2"), ("other", "3")]);
    /// headers.remove("X-AUTH");
    /// assert_eq!((headers.get("x-auth"), headers.get("other")), (None, Some("3")));
    /// ```
    pub fn remove(&mut self, name: &str) {
        self.0.retain(|(existing, _)| !existing.eq_ignore_ascii_case(name));
    }

    /// Returns the first header with a name, whatever its case.
    ///
    /// ```
    /// use hexgraph::db::graphql::Headers;
    ///
    /// let headers = Headers::from_iter([("Authorization", "Bearer a")]);
    /// assert_eq!(headers.get("authorization"), Some("Bearer a"));
    /// ```
    pub fn get(&self, name: &str) -> Option<&str> {
        let result = self.0.iter().find(|(existing, _)| existing.eq_ignore_ascii_case(name));
        result.map(|(_, value)| value.as_str())
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Headers {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(headers: I) -> Headers {
        Headers(headers.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// The response to a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Response {
    /// The value of `data` as JSON text; `None` if the request was refused completely.
    pub data: Option<Vec<u8>>,
    /// The faults, in the order of the fields of the request.
    pub errors: Vec<GraphqlError>,
    /// The number of values and edges that were read.
    pub touched: u64,
    /// The times of the root fields; names of types and introspection have none.
    pub spans: Vec<Span>,
    /// The value of `@cacheControl(maxAge:)` in seconds, if the operation has one.
    pub max_age: Option<i64>,
    /// The header that says the caller, by the GraphQL schema; present only with `max_age`.
    pub token_header: Option<Box<str>>,
    /// The changes of the store's schema, if the request set a GraphQL schema. Few do, so it is
    /// boxed.
    pub report: Option<Box<SchemaReport>>,
}

impl Response {
    /// Creates the response to a request that is not executed.
    ///
    /// ```
    /// use hexgraph::db::graphql::{GraphqlError, Response};
    ///
    /// let response = Response::refused(vec![GraphqlError::new("too many requests")]);
    /// assert_eq!(response.data, None);
    /// ```
    pub fn refused(errors: Vec<GraphqlError>) -> Response {
        Response { errors, ..Response::default() }
    }

    /// The response as JSON: `errors` where there are any, `data` unless nothing was executed, then
    /// what `extensions` holds, an object as JSON text or nothing.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.set_graphql_schema("type Person { name: String! }")?;
    /// let response = db.graphql("{ queryPerson { name } }");
    /// assert_eq!(response.to_json(""), br#"{"data":{"queryPerson":[]}}"#);
    /// assert_eq!(response.to_json("{}"), br#"{"data":{"queryPerson":[]},"extensions":{}}"#);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn to_json(&self, extensions: &str) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.data.as_ref().map_or(0, Vec::len) + 256);
        out.push(b'{');
        if !self.errors.is_empty() {
            out.extend_from_slice(b"\"errors\":");
            write_faults(&self.errors, &mut out);
        }
        let rest = [("data", self.data.as_deref()), ("extensions", Some(extensions.as_bytes()))];
        for (key, value) in rest {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                out.extend_from_slice(if out.len() > 1 { b",\"" } else { b"\"" });
                out.extend_from_slice(key.as_bytes());
                out.extend_from_slice(b"\":");
                out.extend_from_slice(value);
            }
        }
        out.push(b'}');
        out
    }
}

/// Writes faults as JSON: the value of `errors` in a response.
///
/// ```
/// use hexgraph::db::graphql::{GraphqlError, errors_to_json};
///
/// assert_eq!(errors_to_json(&[GraphqlError::new("no")]), br#"[{"message":"no"}]"#);
/// ```
pub fn errors_to_json(faults: &[GraphqlError]) -> Vec<u8> {
    let mut out = Vec::new();
    write_faults(faults, &mut out);
    out
}

fn write_faults(faults: &[GraphqlError], out: &mut Vec<u8>) {
    out.push(b'[');
    for (at, fault) in faults.iter().enumerate() {
        out.extend_from_slice(if at > 0 { b",{\"message\":" } else { b"{\"message\":" });
        write_json_text(&fault.message, out);
        if !fault.positions.is_empty() {
            out.extend_from_slice(b",\"locations\":[");
            for (at, location) in fault.positions.iter().enumerate() {
                out.extend_from_slice(if at > 0 { b",{\"line\":" } else { b"{\"line\":" });
                write_int(i64::from(location.line), out);
                out.extend_from_slice(b",\"column\":");
                write_int(i64::from(location.column), out);
                out.push(b'}');
            }
            out.push(b']');
        }
        if !fault.path.is_empty() {
            out.extend_from_slice(b",\"path\":[");
            for (at, step) in fault.path.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                match step {
                    PathStep::Key(key) => write_json_text(key, out),
                    PathStep::Index(index) => write_int(*index as i64, out),
                }
            }
            out.push(b']');
        }
        out.push(b'}');
    }
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use super::*;
    use hexgraph_graphql::request::Position;

    #[test]
    fn answers_as_json() {
        assert_eq!(Response::default().to_json(""), b"{}");
        let mut fault = GraphqlError::at(Position { line: 1, column: 3 }, "no \"x\"");
        fault.path = vec![PathStep::Key("q".into()), PathStep::Index(2)];
        let data = Some(b"{\"q\":1}".to_vec());
        let response = Response { data, errors: vec![fault], ..Response::default() };
        let want = r#"{"errors":[{"message":"no \"x\"","locations":[{"line":1,"column":3}],"path":["q",2]}],"data":{"q":1},"extensions":{}}"#;
        assert_eq!(String::from_utf8(response.to_json("{}")).unwrap(), want);
    }
}
