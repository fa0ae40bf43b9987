//! What is sent back: the envelopes, the headers, and gzip.

use super::go_values;
use crate::db::ExplainedStep;
use crate::db::Latency;
use crate::types::Error;
use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::StatusCode;
use axum::http::header;
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;

/// The headers that scripts may send.
pub const ALLOWED_HEADERS: &str = "X-Dgraph-AccessToken, X-Dgraph-AuthToken, Content-Type, \
     Content-Length, Accept-Encoding, Cache-Control, X-CSRF-Token, X-Auth-Token, X-Requested-With";

/// Nearly all that is wrong with a query or a mutation.
const INVALID_REQUEST: &str = "ErrorInvalidRequest";

/// A reply before it is packed. All are sent with status 200, errors too, but for a few.
pub struct Reply {
    status: StatusCode,
    content_type: &'static str,
    body: Vec<u8>,
    touched: Option<u64>,
    /// What stands in place of the usual headers, and beside them; `None` leaves one out.
    headers: Vec<(&'static str, Option<String>)>,
}

/// What stands beside the data.
pub struct Extensions {
    /// The times it took.
    pub latency: Latency,
    /// The version that was read, or made.
    pub txn: Txn,
    /// For each predicate the number of uids that it was asked of; `None` for mutations.
    pub touched: Option<BTreeMap<String, u64>>,
    /// The steps of a query, where they were asked for.
    pub explain: Option<Vec<ExplainedStep>>,
}

/// The transaction of a reply.
#[derive(Default)]
pub struct Txn {
    /// The number of the moment that it reads.
    pub start: u64,
    /// The number of its commit, where it is committed.
    pub commit: Option<u64>,
    /// The conflict keys of what the request changed, where it is not committed.
    pub keys: Vec<u64>,
    /// The names of the predicates that the request changed.
    pub predicates: Vec<String>,
}

impl Txn {
    /// Members without a value are left out.
    fn to_json(&self) -> Value {
        let mut members = Map::new();
        members.insert("start_ts".to_owned(), json!(self.start));
        if let Some(commit) = self.commit {
            members.insert("commit_ts".to_owned(), json!(commit));
        }
        if !self.keys.is_empty() {
            let keys = self.keys.iter().map(|&key| go_values::to_base36(key));
            members.insert("keys".to_owned(), keys.collect());
        }
        if !self.predicates.is_empty() {
            // There is one group of servers, the first, and one namespace, 0.
            let predicates = self.predicates.iter().map(|name| format!("1-0-{name}"));
            members.insert("preds".to_owned(), predicates.collect());
        }
        Value::Object(members)
    }
}

impl Reply {
    /// `{"data":…}` with what stands beside it. The data are JSON text and not looked into.
    pub fn data(data: &[u8], extensions: &Extensions) -> Reply {
        let beside = extensions.to_json();
        let parts = [b"{\"data\":", data, b",\"extensions\":", beside.as_bytes(), b"}"];
        Reply { touched: extensions.total(), ..Reply::json(parts.concat()) }
    }

    /// What `/alter` answers.
    pub fn done() -> Reply {
        Reply::json(r#"{"data":{"code":"Success","message":"Done"}}"#)
    }

    /// An array or object that is the whole reply.
    pub fn json(body: impl Into<Vec<u8>>) -> Reply {
        let content_type = "application/json";
        Reply {
            status: StatusCode::OK,
            content_type,
            body: body.into(),
            touched: None,
            headers: Vec::new(),
        }
    }

    /// A request that was understood and could not be carried out.
    pub fn failed(error: &Error) -> Reply {
        let errors = errors(&message_of(error), INVALID_REQUEST);
        Reply::json(format!(r#"{{"errors":{errors},"data":null}}"#))
    }

    /// A request about a transaction that could not be carried out.
    pub fn refused(error: &Error) -> Reply {
        Reply::invalid_request(&message_of(error))
    }

    /// A request that was not understood.
    pub fn invalid_request(message: &str) -> Reply {
        Reply::errors(message, INVALID_REQUEST)
    }

    /// Any other failure.
    pub fn internal_error(message: &str) -> Reply {
        Reply::errors(message, "Error")
    }

    /// A method that the path does not have.
    pub fn invalid_method() -> Reply {
        let reply = Reply::errors("Invalid method", "ErrorInvalidMethod");
        Reply { status: StatusCode::BAD_REQUEST, ..reply }
    }

    /// A path that there is not.
    pub fn not_found() -> Reply {
        Reply::text("404 page not found\n").with_status(StatusCode::NOT_FOUND)
    }

    /// A reply to be read by people.
    pub fn text(body: impl Into<String>) -> Reply {
        let content_type = "text/plain; charset=utf-8";
        Reply { content_type, ..Reply::json(body.into()) }
    }

    /// A request of somebody who may not.
    pub fn unauthorized(message: &str) -> Reply {
        Reply::errors(message, "ErrorUnauthorized")
    }

    /// Nothing but headers.
    pub fn empty() -> Reply {
        Reply::json(Vec::new())
    }

    /// The same with another status.
    pub fn with_status(self, status: StatusCode) -> Reply {
        Reply { status, ..self }
    }

    /// Gives a header another value than it has in other replies; without one it is left out.
    pub fn set_header(&mut self, name: &'static str, value: Option<String>) {
        self.headers.push((name, value));
    }

    /// Says that the reply depends on a header of the request.
    pub fn add_vary(&mut self, name: &str) {
        let known = self.headers.iter_mut().find(|(header, _)| *header == "vary");
        match known {
            Some((_, Some(names))) => *names = format!("{names}, {name}"),
            _ => self.set_header("vary", Some(name.to_owned())),
        }
    }

    /// The reply as it is sent.
    pub fn into_response(self, wants_gzip: bool) -> Response {
        let body = if wants_gzip { pack(&self.body) } else { self.body };
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        let cors = [
            (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
            (header::ACCESS_CONTROL_ALLOW_METHODS, "POST, OPTIONS"),
            (header::ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS),
            (header::ACCESS_CONTROL_ALLOW_CREDENTIALS, "true"),
        ];
        for (name, value) in cors {
            headers.insert(name, HeaderValue::from_static(value));
        }
        if wants_gzip {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        if let Some(touched) = self.touched {
            headers.insert("dgraph-toucheduids", HeaderValue::from(touched));
        }
        for (name, value) in self.headers {
            headers.remove(name);
            if let Some(value) = value.and_then(|value| HeaderValue::from_str(&value).ok()) {
                headers.insert(name, value);
            }
        }
        response
    }

    fn errors(message: &str, code: &str) -> Reply {
        Reply::json(format!(r#"{{"errors":{}}}"#, errors(message, code)))
    }
}

impl Extensions {
    fn to_json(&self) -> String {
        let Latency { parsing, processing, encoding } = self.latency;
        let total = self.latency.total();
        let times = [
            ("parsing_ns", parsing),
            ("processing_ns", processing),
            ("encoding_ns", encoding),
            ("total_ns", total),
        ];
        let times = times.iter().filter(|(_, time)| !time.is_zero());
        let times: Vec<String> =
            times.map(|(name, time)| format!("\"{name}\":{}", time.as_nanos())).collect();
        let txn = self.txn.to_json();
        let mut metrics = String::new();
        if let (Some(touched), Some(total)) = (&self.touched, self.total()) {
            let mut counts = touched.clone();
            counts.insert("_total".to_owned(), total);
            metrics = format!(",\"metrics\":{{\"num_uids\":{}}}", json!(counts));
        }
        if let Some(steps) = &self.explain {
            let steps: Vec<_> = steps.iter().map(step_json).collect();
            metrics.push_str(&format!(",\"explain\":{}", json!(steps)));
        }
        format!("{{\"server_latency\":{{{}}},\"txn\":{txn}{metrics}}}", times.join(","))
    }

    fn total(&self) -> Option<u64> {
        self.touched.as_ref().map(|touched| touched.values().sum())
    }
}

fn step_json(step: &ExplainedStep) -> Value {
    json!({
        "depth": step.depth,
        "action": step.action,
        "detail": step.detail,
        "way": step.way,
        "estimate": step.estimate,
        "rows": step.rows,
        "ns": step.time.as_nanos() as u64,
    })
}

/// The message of an error; that of a conflict is what clients look for.
fn message_of(error: &Error) -> String {
    match error {
        Error::Conflict => format!("rpc error: code = Aborted desc = {error}"),
        _ => error.to_string(),
    }
}

fn errors(message: &str, code: &str) -> String {
    json!([{ "message": message, "extensions": { "code": code } }]).to_string()
}

fn pack(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::fast());
    encoder.write_all(body).expect("a vector takes what is written to it");
    encoder.finish().expect("a vector takes what is written to it")
}
