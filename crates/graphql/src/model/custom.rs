//! `@custom`: fields whose values come from another server or from a query in DQL.

use crate::syntax::Position;

/// How a custom field gets its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Custom {
    /// By a query in DQL. The value is what its block of the field's name answers.
    Dql(String),
    /// By a request to another server.
    Http(Box<CustomHttp>),
}

/// The request of a custom field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomHttp {
    /// The address. A segment of its path, or a value of its query, may be `$name`: an argument of
    /// the field, or a sibling field.
    pub url: String,
    /// The method of the request.
    pub method: HttpMethod,
    /// The template of the body, as the schema has it: GraphQL with `$name` where values go.
    pub body: Option<String>,
    /// The GraphQL operation that is sent instead of a body; its one field has no selection, which
    /// comes from the request.
    pub graphql: Option<String>,
    /// The position of the operation in the text of the schema.
    pub graphql_at: Option<Position>,
    /// Whether there is one request for each object or one for all.
    pub mode: Mode,
    /// The headers that are passed on, as pairs: the name that is sent, and the name in the
    /// client's request.
    pub forward_headers: Vec<(String, String)>,
    /// The headers whose values are secrets of the schema, as pairs: the name that is sent, and the
    /// name of the secret.
    pub secret_headers: Vec<(String, String)>,
    /// The headers of the introspection when the schema is set, as pairs: the name that is sent,
    /// and the name of the secret.
    pub introspection_headers: Vec<(String, String)>,
    /// True if the field is not checked against the schema of its server.
    pub skip_introspection: bool,
}

/// A method of HTTP that `@custom` may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum HttpMethod {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl HttpMethod {
    /// Returns the method of a name in upper case.
    pub fn from_name(name: &str) -> Option<HttpMethod> {
        Some(match name {
            "GET" => HttpMethod::Get,
            "POST" => HttpMethod::Post,
            "PUT" => HttpMethod::Put,
            "PATCH" => HttpMethod::Patch,
            "DELETE" => HttpMethod::Delete,
            _ => return None,
        })
    }

    /// Returns the name in upper case.
    pub fn name(self) -> &'static str {
        match self {
            HttpMethod::Get => "GET",
            HttpMethod::Post => "POST",
            HttpMethod::Put => "PUT",
            HttpMethod::Patch => "PATCH",
            HttpMethod::Delete => "DELETE",
        }
    }
}

/// The number of objects that one request of a custom field is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// One object.
    #[default]
    Single,
    /// All objects of a level of the answer: the body is a list, and so is what the server answers.
    Batch,
}
