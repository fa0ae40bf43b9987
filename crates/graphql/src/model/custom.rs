//! Fields that are resolved elsewhere: `@custom`.

use crate::syntax::Place;

/// How a custom field gets its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Custom {
    /// By a DQL text, whose block of the field's name is the answer.
    Dql(String),
    /// By an HTTP request.
    Http(Box<CustomHttp>),
}

/// An HTTP request to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomHttp {
    /// The address, with `$name` in its path or query.
    pub url: String,
    /// The method.
    pub method: HttpMethod,
    /// A template of the body, as it was written.
    pub body: Option<String>,
    /// A GraphQL operation that is sent instead of a body.
    pub graphql: Option<String>,
    /// Where the operation stands in the text of the schema.
    pub graphql_at: Option<Place>,
    /// One request for each object or one for all.
    pub mode: Mode,
    /// Headers that are passed on: (name to send, name in the request that came).
    pub forward_headers: Vec<(String, String)>,
    /// Headers from secrets: (name to send, name of the secret).
    pub secret_headers: Vec<(String, String)>,
    /// Headers for introspection: (name to send, name of the secret).
    pub introspection_headers: Vec<(String, String)>,
    /// The remote schema is not asked for.
    pub skip_introspection: bool,
}

/// A method of HTTP.
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
    /// The method of an upper-case name.
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

    /// The upper-case name.
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

/// How many objects a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// One.
    #[default]
    Single,
    /// All of an answer, as a list.
    Batch,
}
