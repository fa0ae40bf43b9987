//! Why a custom field, whose value another server provides, has none: its request can't be made, or
//! the answer can't be used. The messages become part of errors of the GraphQL answer, where the
//! name of the field stands before them.

use thiserror::Error;

use crate::sdl::TemplateError;

/// Why the request of a custom field can't be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CallError {
    /// The field has neither `@custom(http:)` nor `@lambda`.
    #[error("it is not resolved by a request")]
    NoRequest,
    /// The template of the body can't be read.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// The operation of `graphql:` can't be read.
    #[error("its operation can't be read")]
    Operation,
    /// The operation of `graphql:` requests no field.
    #[error("its operation has no field")]
    OperationField,
    /// The operation of `graphql:` has no variable that a batch could go into.
    #[error("its operation has no variable")]
    OperationVariable,
    /// `@lambda` needs a server, and none was named when the process was started.
    #[error("there is no lambda server: start with --graphql-lambda-url")]
    NoLambda,
    /// A variable of the address is `null` or absent.
    #[error("`{name}`, which is part of the path of the url, has no value")]
    PathVariable {
        /// The name of the variable.
        name: String,
    },
    /// The address is not one of HTTP.
    #[error("its url begins with neither http:// nor https://")]
    Scheme,
}

/// Why the answer of another server can't be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(in crate::remote) enum AnswerError {
    /// There is no answer; the reason is that of [`Unanswered`](super::exchange::Unanswered).
    #[error("{reason}")]
    Unanswered { reason: String },
    /// The status says that the request failed, and the body does not say why.
    #[error("unexpected error with: {0}")]
    Status(u16),
    /// The body is no JSON.
    #[error("the answer is not JSON: {reason}")]
    NotJson { reason: String },
    /// An answer of GraphQL lacks the field that was requested.
    #[error("`data` has no key `{name}`")]
    NoField { name: String },
    /// The answer about several objects is no list.
    #[error("a list of {expected} items was expected for as many objects")]
    NoList { expected: usize },
    /// The answer about several objects is a list of another length.
    #[error("a list of {expected} items was expected for as many objects, not of {result}")]
    Length { expected: usize, result: usize },
    /// The answer to an introspection has errors and no schema: the first of its messages.
    #[error("{message}")]
    Refused { message: String },
    /// The answer to an introspection has no schema.
    #[error("the answer has no schema")]
    NoSchema,
}
