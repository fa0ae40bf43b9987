//! Makes the requests for one custom field of one client's request, and reads their answers.

use std::fmt;
use std::time::Duration;

use apollo_compiler::ast;
use serde_json::{Map, Value, json};

use crate::model::{Custom, CustomHttp, Field, HttpMethod, Mode, Model};
use crate::remote::calls::reply::Reply;
use crate::remote::calls::{declared_operation, operation, reply};
use crate::remote::message::call_error::{AnswerError, CallError};
use crate::remote::message::exchange::{Incoming, Outgoing};
use crate::remote::message::headers::HeaderOf;
use crate::remote::message::interpolation::{Values, filled, json_of};
use crate::remote::message::{address, headers};
use crate::request;
use crate::request::Arguments;
use crate::sdl::parse_template;

/// What is the same for all custom fields of a client's request.
#[derive(Clone, Copy)]
pub struct Sender<'a> {
    /// The schema.
    pub model: &'a Model,
    /// The headers of the client's request.
    pub came: HeaderOf<'a>,
    /// The address of the lambda server.
    pub lambda_url: Option<&'a str>,
    /// The longest time for a request.
    pub timeout: Duration,
    /// The most bytes that an answer may have.
    pub bytes_max: u64,
}

/// A custom field that a client requests, prepared for as many requests as it needs.
pub struct Call<'a> {
    /// The field as the client requests it.
    pub requested: &'a request::Field,
    /// The type that has the field.
    type_name: &'a str,
    protocol: Protocol<'a>,
    headers: Vec<(String, String)>,
    timeout: Duration,
    bytes_max: u64,
}

/// How the server of a custom field is called.
enum Protocol<'a> {
    /// By a request of HTTP whose body is a template.
    Plain { http: &'a CustomHttp, body: Option<ast::Value> },
    /// By an operation of GraphQL.
    Graphql {
        http: &'a CustomHttp,
        /// The template of the objects of a batch.
        body: Option<ast::Value>,
        /// The text of the operation, with the selection that the client requests.
        text: String,
        /// The names of the variables that are sent.
        variables: Vec<String>,
        /// The name of the operation's one field.
        name: String,
    },
    /// By the name of a function of the lambda server.
    Lambda(Lambda<'a>),
}

/// A function of the lambda server.
struct Lambda<'a> {
    url: &'a str,
    /// The name of the function: `Type.field`.
    resolver: String,
    /// The header with the caller's token, as JSON.
    auth_header: Option<Value>,
}

impl<'a> Sender<'a> {
    /// Prepares the requests for a field of a type, which may be `Query` or `Mutation`.
    ///
    /// # Errors
    ///
    /// When no request can be made, whatever the values are.
    pub fn call(
        &self,
        type_name: &'a str,
        field: &'a Field,
        requested: &'a request::Field,
    ) -> Result<Call<'a>, CallError> {
        let (protocol, headers) = match &field.custom {
            Some(Custom::Http(http)) => {
                let protocol = self.http(http, field, requested)?;
                (protocol, headers::of_field(self.model, http, self.came))
            }
            _ if field.lambda => {
                (self.lambda(type_name, requested)?, headers::of_lambda(self.came))
            }
            _ => return Err(CallError::NoRequest),
        };
        let Sender { timeout, bytes_max, .. } = *self;
        Ok(Call { requested, type_name, protocol, headers: headers.0, timeout, bytes_max })
    }

    /// Prepares a field with `@custom(http:)`.
    fn http(
        &self,
        http: &'a CustomHttp,
        field: &Field,
        requested: &request::Field,
    ) -> Result<Protocol<'a>, CallError> {
        let body = http.body.as_deref().map(parse_template).transpose()?.flatten();
        let Some(text) = &http.graphql else { return Ok(Protocol::Plain { http, body }) };
        let parsed = declared_operation::parse(text).ok_or(CallError::Operation)?;
        let name = declared_operation::field_of(&parsed)
            .ok_or(CallError::OperationField)?
            .name
            .to_string();
        let variables = match http.mode {
            Mode::Single => parsed.variables.iter().map(|it| it.name.to_string()).collect(),
            // The objects of a batch are the value of one variable.
            Mode::Batch => declared_operation::variable_of(&parsed).into_iter().collect(),
        };
        let text = operation::text(self.model, &parsed, field.ty.name(), requested);
        Ok(Protocol::Graphql { http, body, text, variables, name })
    }

    /// Prepares a field with `@lambda`.
    fn lambda(
        &self,
        type_name: &str,
        requested: &request::Field,
    ) -> Result<Protocol<'a>, CallError> {
        let url = self.lambda_url.filter(|url| !url.is_empty());
        let url = url.ok_or(CallError::NoLambda)?;
        let resolver = format!("{type_name}.{}", requested.shape.name);
        Ok(Protocol::Lambda(Lambda { url, resolver, auth_header: self.auth_header() }))
    }

    /// Returns the header with the caller's token in the form that lambda servers read; `None` when
    /// there is no token.
    pub(in crate::remote) fn auth_header(&self) -> Option<Value> {
        let header = &self.model.authorization.as_ref()?.header;
        let value = (self.came)(header)?;
        Some(json!({ "key": header, "value": value }))
    }
}

/// Converts the arguments of a field to the values of a template's variables.
fn values_of(arguments: &Arguments) -> Values {
    arguments.iter().map(|(name, value)| (name.to_string(), json_of(value))).collect()
}

/// Words the reason why a custom field has no value, as the answer to the client says it.
pub fn worded(type_name: &str, field: &str, why: impl fmt::Display) -> String {
    format!(
        "Evaluation of custom field failed because {why} for field: {field} within type: {type_name}."
    )
}

impl<'a> Call<'a> {
    /// Returns true if one request is about all objects of a level.
    pub fn is_batch(&self) -> bool {
        match &self.protocol {
            Protocol::Plain { http, .. } | Protocol::Graphql { http, .. } => {
                http.mode == Mode::Batch
            }
            Protocol::Lambda(_) => true,
        }
    }

    /// Returns true if the keys of the answer are those of the client's request, and not names of
    /// fields.
    pub fn is_by_key(&self) -> bool {
        matches!(self.protocol, Protocol::Graphql { .. })
    }

    /// Makes the request for a field of `Query` or `Mutation`.
    ///
    /// # Errors
    ///
    /// When a value is missing that the address needs, or the address is none of HTTP.
    pub fn of_root(&self) -> Result<Outgoing, CallError> {
        let values = values_of(&self.requested.arguments);
        match &self.protocol {
            Protocol::Lambda(lambda) => Ok(self.post(lambda, "args", Value::Object(values))),
            _ => self.of_object(&values),
        }
    }

    /// Makes the request about one object, whose fields are `values`.
    ///
    /// # Errors
    ///
    /// When a value is missing that the address needs, or the address is none of HTTP.
    pub fn of_object(&self, values: &Values) -> Result<Outgoing, CallError> {
        match &self.protocol {
            Protocol::Plain { http, body } => {
                let body = body.as_ref().map(|body| filled(body, values).unwrap_or_default());
                self.outgoing(http, address::filled(&http.url, values)?, body)
            }
            Protocol::Graphql { http, text, variables, .. } => {
                let given = variables.iter().filter_map(|name| Some((name, values.get(name)?)));
                let given: Map<String, Value> =
                    given.map(|(name, value)| (name.clone(), value.clone())).collect();
                let body = json!({ "query": text, "variables": given });
                self.outgoing(http, http.url.clone(), Some(body))
            }
            Protocol::Lambda(_) => self.of_objects(std::slice::from_ref(values)),
        }
    }

    /// Makes the one request about several objects, in their order.
    ///
    /// # Errors
    ///
    /// When the operation has no variable for them, or the address is none of HTTP.
    pub fn of_objects(&self, objects: &[Values]) -> Result<Outgoing, CallError> {
        let all = |body: &Option<ast::Value>| -> Value {
            let one = |values| body.as_ref().and_then(|body| filled(body, values));
            objects.iter().map(|values| one(values).unwrap_or_default()).collect()
        };
        match &self.protocol {
            Protocol::Plain { http, body } => {
                self.outgoing(http, http.url.clone(), Some(all(body)))
            }
            Protocol::Graphql { http, body, text, variables, .. } => {
                let name = variables.first().ok_or(CallError::OperationVariable)?;
                let given: Map<String, Value> = [(name.clone(), all(body))].into_iter().collect();
                let body = json!({ "query": text, "variables": given });
                self.outgoing(http, http.url.clone(), Some(body))
            }
            Protocol::Lambda(lambda) => {
                let parents = objects.iter().cloned().map(Value::Object).collect();
                Ok(self.post(lambda, "parents", parents))
            }
        }
    }

    /// Reads the answer to [`Call::of_root`] or [`Call::of_object`]. A reply has the errors next to
    /// the value, or instead of it.
    pub fn read(&self, incoming: &Incoming) -> Reply {
        self.read_full(incoming).unwrap_or_else(|why| Reply::failed(self.worded(why)))
    }

    /// Reads the answer to [`Call::of_objects`]: one reply for each of `count` objects, in their
    /// order. Errors that are about no object in particular are reported with the first.
    ///
    /// # Errors
    ///
    /// A reply without a value when the request failed completely.
    pub fn read_all(&self, incoming: &Incoming, count: usize) -> Result<Vec<Reply>, Reply> {
        let mut reply = self.read_full(incoming).map_err(|why| Reply::failed(self.worded(why)))?;
        // Errors of the entire answer have no index of an object to begin their paths with.
        if reply.value.is_null() && !reply.reported.is_empty() {
            reply.reported.iter_mut().for_each(|reported| reported.path.clear());
            return Err(reply);
        }
        reply::parted(reply, count).map_err(|why| Reply::failed(self.worded(why)))
    }

    /// Words a reason as the answer to the client says it.
    pub fn worded(&self, why: impl fmt::Display) -> String {
        worded(self.type_name, &self.requested.shape.name, why)
    }

    /// Reads an answer without taking it apart.
    fn read_full(&self, incoming: &Incoming) -> Result<Reply, AnswerError> {
        match &self.protocol {
            Protocol::Graphql { name, .. } => reply::graphql(incoming, name),
            _ => reply::plain(incoming),
        }
    }

    /// Makes a request to the field's server.
    fn outgoing(
        &self,
        http: &CustomHttp,
        url: String,
        body: Option<Value>,
    ) -> Result<Outgoing, CallError> {
        // A client of HTTP may know other schemes too, such as that of files.
        let is_http = ["http://", "https://"].iter().any(|start| {
            url.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
        });
        if !is_http {
            return Err(CallError::Scheme);
        }
        let body = body.map(|body| body.to_string().into_bytes());
        let (headers, timeout, bytes_max) = (self.headers.clone(), self.timeout, self.bytes_max);
        Ok(Outgoing { method: http.method, url, headers, body, timeout, bytes_max })
    }

    /// Makes a request to the lambda server, with a value under a key of its body.
    fn post(&self, lambda: &Lambda<'_>, key: &str, value: Value) -> Outgoing {
        let mut body = json!({ "resolver": lambda.resolver, key: value });
        if let Some(header) = &lambda.auth_header {
            body["authHeader"] = header.clone();
        }
        Outgoing {
            method: HttpMethod::Post,
            url: lambda.url.to_owned(),
            headers: self.headers.clone(),
            body: Some(body.to_string().into_bytes()),
            timeout: self.timeout,
            bytes_max: self.bytes_max,
        }
    }
}
