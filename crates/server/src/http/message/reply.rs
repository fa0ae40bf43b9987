//! What is sent back: the envelopes, the headers, and how it is compressed.

use super::coding::Coding;
use super::streamed_answer::StreamedAnswer;
use crate::http::admission::OVERLOADED;
use crate::http::compat::go_values;
use crate::http::metrics::Refused;
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use hexgraph::db::{ExplainedStep, Latency, SchemaReport, Warning};
use hexgraph_base::answer::write_plain_text;
use hexgraph_base::budget::Reservation;
use hexgraph_base::types::{Error, bounded};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::sync::Arc;

/// Nearly all that is wrong with a query or a mutation.
const INVALID_REQUEST: &str = "ErrorInvalidRequest";

/// A mark of responses that report a failure, whatever their status.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct Failed;

/// A reply before it is compressed. All are sent with status 200, errors too, but for a few.
pub(in crate::http) struct Reply {
    status: StatusCode,
    content_type: &'static str,
    body: Content,
    /// Whether the reply reports a failure and has no data.
    is_failure: bool,
    /// The limit or the rule that refused the request.
    refused: Option<Refused>,
    /// The memory reserved for the body, until it is sent.
    reservation: Option<Arc<Reservation>>,
    touched: Option<u64>,
    /// The message of a failure, for clients that read it elsewhere than in the body.
    message: String,
    /// Headers that replace the usual ones or are added; `None` leaves one out.
    headers: Vec<(&'static str, Option<String>)>,
}

/// The body of a reply.
enum Content {
    Full(Vec<u8>),
    /// Bytes that are part of the program, compressed or not: they are sent as they are.
    Fixed(Bytes),
    /// A body that is written while it is sent.
    Stream(Box<StreamedAnswer>),
}

/// The member `extensions` of a reply.
#[derive(Default)]
pub(in crate::http) struct Extensions {
    /// The times of the request.
    pub latency: Latency,
    /// The version that was read, or made.
    pub txn: Txn,
    /// For each predicate the number of uids that were read; `None` for mutations.
    pub touched: Option<BTreeMap<String, u64>>,
    /// The steps of a query, where they were requested.
    pub explain: Option<Vec<ExplainedStep>>,
    /// The names in a query that the schema does not know, where they were requested.
    pub warnings: Option<Vec<Warning>>,
}

/// The transaction of a reply.
#[derive(Default)]
pub(in crate::http) struct Txn {
    /// The start timestamp.
    pub start: u64,
    /// The number of its commit, where it is committed.
    pub commit: Option<u64>,
    /// The conflict keys of what the request changed, where it is not committed.
    pub keys: Vec<u64>,
    /// The names of the predicates that the request changed.
    pub predicates: Vec<String>,
    /// The namespace that they are in.
    pub namespace: u64,
    /// What its client has to send back with each request of it, where there are users.
    pub mark: Option<String>,
}

impl Txn {
    /// Writes it as JSON text. Members without a value are left out.
    fn write_json(&self, text: &mut Vec<u8>) {
        text.push(b'{');
        if let Some(commit) = self.commit {
            add(text, format_args!("\"commit_ts\":{commit},"));
        }
        if let Some(mark) = &self.mark {
            add(text, format_args!("\"hash\":{},", json!(mark)));
        }
        if !self.keys.is_empty() {
            let keys: Vec<String> = self.shown_keys().collect();
            add(text, format_args!("\"keys\":{},", json!(keys)));
        }
        if !self.predicates.is_empty() {
            let predicates: Vec<String> = self.shown_predicates().collect();
            add(text, format_args!("\"preds\":{},", json!(predicates)));
        }
        add(text, format_args!("\"start_ts\":{}}}", self.start));
    }

    /// The keys as clients send them back.
    pub(in crate::http) fn shown_keys(&self) -> impl Iterator<Item = String> {
        self.keys.iter().map(|&key| go_values::to_base36(key))
    }

    /// The predicates as clients send them back. There is one group of servers, the first.
    pub(in crate::http) fn shown_predicates(&self) -> impl Iterator<Item = String> {
        self.predicates.iter().map(|name| format!("1-{}-{name}", self.namespace))
    }
}

impl Reply {
    /// `{"data":…}` with what is next to it. The data are JSON text and not looked into.
    pub(in crate::http) fn data(data: &str, extensions: &Extensions) -> Reply {
        let mut text = Vec::with_capacity(data.len() + EXTENSIONS_LEN);
        text.extend_from_slice(b"{\"data\":");
        text.extend_from_slice(data.as_bytes());
        text.extend_from_slice(b",\"extensions\":");
        extensions.write_json(&mut text);
        text.push(b'}');
        Reply { touched: extensions.total(), ..Reply::json(text) }
    }

    /// What `/alter` answers.
    pub(in crate::http) fn done() -> Reply {
        Reply::json(r#"{"data":{"code":"Success","message":"Done"}}"#)
    }

    /// What `/alter` answers; where something is no more as it was, with all other changes.
    pub(in crate::http) fn altered(report: &SchemaReport) -> Reply {
        match schema_extensions(report) {
            None => Reply::done(),
            Some(reported) => {
                let done = r#"{"data":{"code":"Success","message":"Done"},"extensions":"#;
                Reply::json(format!("{done}{reported}}}"))
            }
        }
    }

    /// An array or object that is the entire reply.
    pub(in crate::http) fn json(body: impl Into<Vec<u8>>) -> Reply {
        let content_type = "application/json";
        Reply {
            status: StatusCode::OK,
            content_type,
            body: Content::Full(body.into()),
            is_failure: false,
            refused: None,
            reservation: None,
            touched: None,
            message: String::new(),
            headers: Vec::new(),
        }
    }

    /// A request that was understood and could not be executed.
    pub(in crate::http) fn failed(error: &Error) -> Reply {
        let errors = errors(&message_of(error), INVALID_REQUEST);
        Reply::json(format!(r#"{{"errors":{errors},"data":null}}"#)).failing().about(error)
    }

    /// `{"data":…}` whose data are written while they are sent, with what is next to them.
    pub(in crate::http) fn stream(stream: StreamedAnswer, touched: Option<u64>) -> Reply {
        Reply { body: Content::Stream(Box::new(stream)), touched, ..Reply::json(Vec::new()) }
    }

    /// The same, marked as a failure.
    pub(in crate::http) fn failing(self) -> Reply {
        Reply { is_failure: true, ..self }
    }

    /// Marks a failure as temporary: the same request may succeed in a moment.
    pub(in crate::http) fn later(mut self) -> Reply {
        if !self.is_failure {
            return self;
        }
        self.set_header("retry-after", Some("1".to_owned()));
        let refused = self.refused.or(Some(Refused::MEMORY));
        Reply { refused, ..self }.with_status(StatusCode::SERVICE_UNAVAILABLE)
    }

    /// The same, counted as a refusal for this reason.
    pub(in crate::http) fn counted_as(self, refused: impl Into<Option<Refused>>) -> Reply {
        Reply { refused: refused.into(), ..self }
    }

    /// The same with the reservation of its request; the body holds its part until it is sent.
    pub(in crate::http) fn with_reservation(
        mut self,
        reservation: Option<&Arc<Reservation>>,
    ) -> Reply {
        self.reservation = reservation.cloned();
        self
    }

    /// A request about a transaction that could not be executed.
    pub(in crate::http) fn refused(error: &Error) -> Reply {
        Reply::invalid_request(message_of(error)).about(error)
    }

    /// Any other request that could not be executed.
    pub(in crate::http) fn error(error: &Error) -> Reply {
        Reply::internal_error(&message_of(error)).about(error)
    }

    /// The status says whether the fault is the client's or ours.
    pub(in crate::http) fn about(self, error: &Error) -> Reply {
        let reply = self.counted_as(Refused::of(error));
        match error {
            Error::Internal { .. } => reply.with_status(StatusCode::INTERNAL_SERVER_ERROR),
            Error::Closed => reply.with_status(StatusCode::SERVICE_UNAVAILABLE),
            _ => reply,
        }
    }

    /// Answers a request that could not be read.
    pub(in crate::http) fn invalid_request(message: impl std::fmt::Display) -> Reply {
        Reply::errors(&bounded(message), INVALID_REQUEST)
    }

    /// Answers a request that failed for another reason.
    pub(in crate::http) fn internal_error(message: &str) -> Reply {
        Reply::errors(message, "Error")
    }

    /// Answers a request with a method that the path does not accept.
    pub(in crate::http) fn invalid_method() -> Reply {
        let reply = Reply::errors("Invalid method", "ErrorInvalidMethod");
        Reply { status: StatusCode::BAD_REQUEST, ..reply }
    }

    /// Answers a request to a path that does not exist.
    pub(in crate::http) fn not_found(path: &str) -> Reply {
        let message = format!("there is no {path} on this port");
        let reply = Reply::text("404 page not found\n").with_status(StatusCode::NOT_FOUND);
        Reply { message, ..reply }
    }

    /// Answers a request for something that there is not here.
    pub(in crate::http) fn not_implemented(message: &str) -> Reply {
        Reply::internal_error(message).with_status(StatusCode::NOT_IMPLEMENTED)
    }

    /// The status that it is sent with.
    pub(in crate::http) fn status(&self) -> StatusCode {
        self.status
    }

    /// The limit or the rule that refused the request.
    pub(in crate::http) fn refusal(&self) -> Option<Refused> {
        self.refused
    }

    /// The message of a failure; empty where there is none.
    pub(in crate::http) fn message(&self) -> &str {
        &self.message
    }

    /// A reply to be read by people.
    pub(in crate::http) fn text(body: impl Into<String>) -> Reply {
        Reply::of_type("text/plain; charset=utf-8", body.into())
    }

    /// A reply of another media type.
    pub(in crate::http) fn of_type(content_type: &'static str, body: impl Into<Vec<u8>>) -> Reply {
        Reply { content_type, ..Reply::json(body) }
    }

    /// A file that is part of the program.
    pub(in crate::http) fn fixed(content_type: &'static str, body: Bytes) -> Reply {
        Reply { content_type, body: Content::Fixed(body), ..Reply::empty() }
    }

    /// Answers a request that its sender may not make.
    pub(in crate::http) fn unauthorized(message: &str) -> Reply {
        Reply::errors(message, "ErrorUnauthorized")
    }

    /// A reply without a body.
    pub(in crate::http) fn empty() -> Reply {
        Reply::json(Vec::new())
    }

    /// Answers a request that was refused because the server has too much to do.
    pub(in crate::http) fn overloaded() -> Reply {
        let mut reply = Reply::errors(OVERLOADED, "ErrorUnavailable");
        reply.set_header("retry-after", Some("1".to_owned()));
        reply.with_status(StatusCode::SERVICE_UNAVAILABLE).counted_as(Refused::ADMISSION)
    }

    /// Sets the status.
    pub(in crate::http) fn with_status(self, status: StatusCode) -> Reply {
        Reply { status, ..self }
    }

    /// Adds a header.
    pub(in crate::http) fn with_header(
        mut self,
        name: &'static str,
        value: impl Into<String>,
    ) -> Reply {
        self.set_header(name, Some(value.into()));
        self
    }

    /// Gives a header another value than it has in other replies; without one it is left out.
    pub(in crate::http) fn set_header(&mut self, name: &'static str, value: Option<String>) {
        self.headers.push((name, value));
    }

    /// Says that the reply depends on a header of the request.
    pub(in crate::http) fn add_vary(&mut self, name: &str) {
        let existing = self.headers.iter_mut().find(|(header, _)| *header == "vary");
        match existing {
            Some((_, Some(names))) => *names = format!("{names}, {name}"),
            _ => self.set_header("vary", Some(name.to_owned())),
        }
    }

    /// The reply as it is sent.
    pub(in crate::http) fn into_response(self, coding: Option<Coding>) -> Response {
        let (body, coding) = match self.body {
            Content::Full(body) => {
                let packed = coding.and_then(|coding| pack(coding, &body));
                let coding = coding.filter(|_| packed.is_some());
                (full_body(packed.unwrap_or(body), self.reservation), coding)
            }
            Content::Fixed(body) => (Body::from(body), None),
            Content::Stream(stream) => (stream.start(coding), coding),
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        if self.is_failure {
            response.extensions_mut().insert(Failed);
        }
        if let Some(refused) = self.refused {
            response.extensions_mut().insert(refused);
        }
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        if let Some(coding) = coding {
            headers.insert(header::CONTENT_ENCODING, coding.name());
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

    /// A reply with an error.
    pub(in crate::http) fn errors(message: &str, code: &str) -> Reply {
        let message = bounded(message);
        let reply = Reply::json(format!(r#"{{"errors":{}}}"#, errors(&message, code))).failing();
        Reply { message, ..reply }
    }
}

impl Extensions {
    /// Writes it as JSON text. It is in each answer, and a small one takes a few microseconds in
    /// all: so what each has is written without a value of JSON that is made of it.
    pub(in crate::http) fn write_json(&self, text: &mut Vec<u8>) {
        let Latency { parsing, processing, encoding } = self.latency;
        let total = self.latency.total();
        let times = [
            ("parsing_ns", parsing),
            ("processing_ns", processing),
            ("encoding_ns", encoding),
            ("total_ns", total),
        ];
        text.extend_from_slice(b"{\"server_latency\":");
        let existing = times.iter().filter(|(_, time)| !time.is_zero());
        add_members(text, existing.map(|(name, time)| (*name, time.as_nanos())));
        text.extend_from_slice(b",\"txn\":");
        self.txn.write_json(text);
        if let Some(touched) = &self.touched {
            let mut counts: BTreeMap<&str, u64> =
                touched.iter().map(|(name, count)| (&**name, *count)).collect();
            counts.insert(TOTAL, touched.values().sum());
            text.extend_from_slice(b",\"metrics\":{\"num_uids\":");
            add_members(text, counts.into_iter().map(|(name, count)| (name, count.into())));
            text.push(b'}');
        }
        if let Some(steps) = &self.explain {
            let steps: Vec<_> = steps.iter().map(step_json).collect();
            add(text, format_args!(",\"explain\":{}", json!(steps)));
        }
        if let Some(warnings) = &self.warnings {
            let warnings: Vec<_> = warnings.iter().map(warning_json).collect();
            add(text, format_args!(",\"warnings\":{}", json!(warnings)));
        }
        text.push(b'}');
    }

    /// The number of uids that were read of each predicate, and their sum as `_total`.
    pub(in crate::http) fn counts(&self) -> Option<BTreeMap<String, u64>> {
        let mut counts = self.touched.clone()?;
        counts.insert(TOTAL.to_owned(), self.total()?);
        Some(counts)
    }

    /// The number of uids that were read in all.
    pub(in crate::http) fn total(&self) -> Option<u64> {
        self.touched.as_ref().map(|touched| touched.values().sum())
    }
}

/// The bytes of most extensions.
const EXTENSIONS_LEN: usize = 320;

/// The name of the sum of all counts.
const TOTAL: &str = "_total";

/// Adds to a text, which takes everything.
fn add(text: &mut Vec<u8>, more: fmt::Arguments<'_>) {
    text.write_fmt(more).expect("a vector takes everything");
}

/// Adds an object of numbers.
fn add_members<'a>(text: &mut Vec<u8>, members: impl Iterator<Item = (&'a str, u128)>) {
    let mut before = b'{';
    for (name, number) in members {
        text.push(before);
        write_plain_text(name, text);
        add(text, format_args!(":{number}"));
        before = b',';
    }
    text.extend_from_slice(if before == b'{' { b"{}" } else { b"}" });
}

/// A warning, with its position in the text of the query; members without a value are left out.
pub(crate) fn warning_json(warning: &Warning) -> Value {
    let Warning { kind, message, at, hint } = warning;
    let (line, column) = (at.line, at.shown_column());
    let mut json = json!({"kind": kind.name(), "message": message, "line": line, "column": column});
    if !hint.is_empty() {
        json["hint"] = hint.as_str().into();
    }
    json
}

/// What is next to an answer, as JSON text, where a change of the schema has removed or replaced
/// something: all that was changed.
pub(in crate::http) fn schema_extensions(report: &SchemaReport) -> Option<String> {
    if report.dropped.is_empty() && report.changed.is_empty() {
        return None;
    }
    let parts = report.parts().into_iter().filter(|(_, items)| !items.is_empty());
    let parts: Map<String, Value> = parts
        .map(|(name, items)| (name.to_owned(), items.iter().map(ToString::to_string).collect()))
        .collect();
    Some(json!({ "schema": parts }).to_string())
}

/// What may be chosen instead of an operator, and when.
pub(crate) fn alternatives_json(step: &ExplainedStep) -> Value {
    let alternatives = step.alternatives.iter().map(|other| {
        json!({ "operator": other.operator, "strategy": other.strategy, "when": other.when })
    });
    alternatives.collect()
}

fn step_json(step: &ExplainedStep) -> Value {
    json!({
        "depth": step.depth,
        "operator": step.operator,
        "detail": step.detail,
        "strategy": step.strategy,
        "estimate": step.estimate,
        "estimated": step.is_estimated,
        "fallback": step.is_fallback,
        "alternatives": alternatives_json(step),
        "rows": step.actual.map(|actual| actual.rows),
        "threads": step.actual.map(|actual| actual.threads),
        "ns": step.actual.map(|actual| actual.time.as_nanos() as u64),
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

/// Bodies shorter than this release their reservation.
const RESERVED_BODY_MIN: usize = 64 << 10;

/// A body that holds its reservation until it is sent.
fn full_body(body: Vec<u8>, reservation: Option<Arc<Reservation>>) -> Body {
    struct Reserved {
        body: Vec<u8>,
        _reservation: Arc<Reservation>,
    }
    impl AsRef<[u8]> for Reserved {
        fn as_ref(&self) -> &[u8] {
            &self.body
        }
    }
    match reservation {
        Some(reservation) if RESERVED_BODY_MIN < body.len() => {
            reservation.retain_only(body.capacity() as u64);
            Body::from(Bytes::from_owner(Reserved { body, _reservation: reservation }))
        }
        _ => Body::from(body),
    }
}

/// A body, compressed; `None` when there is no memory for that.
fn pack(coding: Coding, body: &[u8]) -> Option<Vec<u8>> {
    let mut packer = coding.packer()?;
    packer.write(body).ok()?;
    packer.finish().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_says_whose_fault_it_is() {
        let ours = Error::Internal { message: "no row".into(), position: "src/a.rs:1:2".into() };
        let theirs = Error::query("no such thing");
        let replies = [Reply::failed, Reply::refused, Reply::error];
        for reply in replies {
            assert_eq!(reply(&theirs).into_response(None).status(), StatusCode::OK);
            let reported = reply(&ours);
            let Content::Full(body) = &reported.body else { panic!("it is short") };
            let body: Value = serde_json::from_slice(body).unwrap();
            let message = "a fault of hexgraph, please report it: no row (src/a.rs:1:2)";
            assert_eq!(body["errors"][0]["message"], message);
            assert_eq!(reported.into_response(None).status(), StatusCode::INTERNAL_SERVER_ERROR);
        }
    }
}
