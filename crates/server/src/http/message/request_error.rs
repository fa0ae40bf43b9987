//! Why a request can't be read. Messages are those of Dgraph where it has one.

use crate::http::compat::go_values::GoValueError;
use crate::http::metrics::Refused;
use std::str::Utf8Error;

/// Why a request can't be read: its body, its headers or its parameters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The body is longer than the route and the limit `body` allow.
    #[error(
        "while reading the body: length limit exceeded: it has more than {most} bytes, the most here and by the limit `body`"
    )]
    LongBody {
        /// How many bytes it may have.
        most: usize,
    },
    /// The body is incomplete.
    #[error("while reading the body: {reason}")]
    BrokenBody {
        /// What the connection says.
        reason: String,
    },
    /// The headers say gzip, and the body does not begin like it.
    #[error("gzip: invalid header")]
    GzipHeader,
    /// The body is damaged gzip.
    #[error("gzip: {reason}")]
    Gzip {
        /// What the decoder says.
        reason: String,
    },
    /// The headers say zstd, and the body does not begin like it.
    #[error("zstd: invalid header")]
    ZstdHeader,
    /// The body is damaged zstd, or needs too much memory.
    #[error("zstd: {reason}")]
    Zstd {
        /// What the decoder says.
        reason: String,
    },
    /// The body is short when it comes, and too long decompressed.
    #[error("the body unpacks to more than {most} bytes, the most here and by the limit `body`")]
    LongUnpacked {
        /// How many bytes it may have.
        most: usize,
    },
    /// The body is compressed by another method than gzip.
    #[error("Unsupported content encoding")]
    Encoding,
    /// The body is no text.
    #[error("the body is not UTF-8: {0}")]
    NotUtf8(#[from] Utf8Error),
    /// The headers name another charset than UTF-8.
    #[error("the charset is not supported (only UTF-8 is)")]
    Charset,
    /// The body is of a media type that the path has no use for.
    #[error("Unsupported Content-Type. Supported content types are {supported}")]
    ContentType {
        /// Those that it takes.
        supported: &'static str,
    },
    /// The part of the address after `?` is no list of parameters.
    #[error("in the parameters: {reason}")]
    Parameters {
        /// What the reader of addresses says.
        reason: String,
    },
    /// A parameter is no value of its type.
    #[error("while parsing {name} as {kind}: {reason}")]
    Parameter {
        /// The name of the parameter.
        name: &'static str,
        /// The type, as Go calls it.
        kind: &'static str,
        /// Errors of the text.
        reason: GoValueError,
    },
    /// A parameter is none of the words that it may be.
    #[error("invalid value [{value}] for parameter {name}")]
    Choice {
        /// The name of the parameter.
        name: &'static str,
        /// What it is.
        value: String,
    },
    /// A commit does not name its transaction.
    #[error("startTs parameter is mandatory while trying to commit")]
    NoStart,
    /// A request of a transaction does not have the mark that its client was reported.
    #[error("hash mismatch the claimed startTs|namespace")]
    Mark,
    /// The body should be JSON and is none.
    #[error("Error parsing JSON at line {line}, character {column}: {reason}")]
    NoJson {
        /// The line, from 1.
        line: usize,
        /// The position within the line, as the reader counts that refused it.
        column: usize,
        /// What is wrong there. In the words of Go its last character is a line feed.
        reason: String,
    },
    /// A key that has one value is there with two.
    #[error(
        "Error parsing JSON: `{key}` is there twice, with different values: give it once, and further mutations as objects of the list `mutations`"
    )]
    Repeated {
        /// The key.
        key: &'static str,
    },
    /// A key or a variable of a query has two values.
    #[error("Error parsing JSON: `{key}` is there twice, with different values: give it once")]
    RepeatedKey {
        /// The key.
        key: String,
    },
    /// The body is JSON of another shape than is requested.
    #[error("Error parsing JSON: {0}")]
    Shape(#[from] ShapeError),
}

impl RequestError {
    /// Returns true if the body can't be decompressed since it is no gzip, or is damaged.
    pub(in crate::http) fn is_gzip(&self) -> bool {
        matches!(self, RequestError::GzipHeader | RequestError::Gzip { .. })
    }

    /// The limit that refuses the request, where one does.
    pub(in crate::http) fn refused(&self) -> Option<Refused> {
        let is_long =
            matches!(self, RequestError::LongBody { .. } | RequestError::LongUnpacked { .. });
        is_long.then_some(Refused::BODY)
    }
}

/// What of a body in JSON is of the wrong type. Values in messages are JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// The query is no text.
    #[error("`query` must be a text, not {result}")]
    Query {
        /// The value.
        result: String,
    },
    /// The variables are no object.
    #[error("`variables` must be an object, not {result}")]
    Variables {
        /// The value.
        result: String,
    },
    /// The parameters of Cypher are no object.
    #[error("`params` must be an object, not {result}")]
    Params {
        /// The value.
        result: String,
    },
    /// The body has a member that is not read.
    #[error("there is no member `{name}`: a body has `query` and `params`")]
    Member {
        /// Its name.
        name: String,
    },
    /// A variable is neither a text nor a list of texts.
    #[error("variable {name} must be a text or a list of texts, not {result}")]
    Variable {
        /// The name of the variable.
        name: String,
        /// The value.
        result: String,
    },
    /// The keys of a commit are no list.
    #[error("`keys` must be a list of texts")]
    Keys,
    /// The body of a commit is neither an object nor a list.
    #[error("it is no object and no list of keys")]
    NoKeys,
}
