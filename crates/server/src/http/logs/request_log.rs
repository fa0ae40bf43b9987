//! [`RequestLog`]: ids of requests, and a line for each request that is slow, or for all. An
//! operation over a WebSocket has a line as well, with the id of the connection's request and a
//! number.

use super::log_line::{Level, log};
use super::spans::{FinishedSpan, SpanCounters, SpanOptions, SpanQueue, SpanResult};
use super::trace::Trace;
use crate::http::audit::{Slot, audited_text};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use hexgraph::db::graphql::{Headers, OperationKind};
use hexgraph_base::types::Result;
use serde_json::{Value, json};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// The header with the id of a request, in requests and responses.
pub(in crate::http) const ID: HeaderName = HeaderName::from_static("x-request-id");

/// The header with the span of this server, for the caller's trace.
const TRACE_RESPONSE: HeaderName = HeaderName::from_static("traceresponse");

/// The longest id that is accepted.
const ID_LEN_MAX: usize = 64;

/// Which requests are logged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogOptions {
    /// Log requests that last at least this long.
    pub slow: Option<Duration>,
    /// Log the text of each logged request, without secrets; and all requests, unless
    /// there is a `slow`.
    pub queries: bool,
}

impl LogOptions {
    fn is_on(self) -> bool {
        self.queries || self.slow.is_some()
    }
}

/// The log of requests.
#[derive(Debug)]
pub(in crate::http) struct RequestLog {
    options: LogOptions,
    /// Where spans are exported.
    spans: Option<Arc<SpanQueue>>,
    /// Random, so that ids of two processes differ.
    seed: RandomState,
    requests: Mutex<u64>,
}

impl RequestLog {
    /// Creates the log of a server.
    pub(in crate::http) fn new(options: LogOptions) -> RequestLog {
        RequestLog { options, spans: None, seed: RandomState::new(), requests: Mutex::new(0) }
    }

    /// Has spans exported as well.
    ///
    /// # Errors
    ///
    /// As [`SpanQueue::start`].
    pub(in crate::http) fn with_spans(
        self,
        options: Option<SpanOptions>,
        counters: SpanCounters,
    ) -> Result<RequestLog> {
        let Some(options) = options else { return Ok(self) };
        let spans = SpanQueue::start(&options, counters)?.map(Arc::new);
        Ok(RequestLog { spans, ..self })
    }

    /// Exports the spans that wait, within a time.
    pub(in crate::http) fn stop(&self, timeout: Duration) {
        if let Some(spans) = &self.spans {
            spans.stop(timeout);
        }
    }

    fn is_on(&self) -> bool {
        self.options.is_on() || self.spans.is_some()
    }

    /// Begins the line and the span of a request. `None`, at the cost of two look-ups, if nothing
    /// is logged or exported and the client sends neither an id nor a trace.
    pub(in crate::http) fn begin(&self, request: &mut Request) -> Option<LoggedRequest> {
        let headers = request.headers();
        let is_named = headers.contains_key(ID) || headers.contains_key("traceparent");
        if !self.is_on() && !is_named {
            return None;
        }
        let (number, own) = self.number();
        let id = id_of(headers).unwrap_or_else(|| {
            // The number makes it unique in this process.
            HeaderValue::from_str(&format!("{own}-{number:x}")).expect("hexadecimal digits")
        });
        let method = request.method().as_str().to_owned();
        let trace = Trace::continue_in(request.headers_mut(), &own, || self.new_trace(number));
        // Operations over its connection are logged by this id.
        request.headers_mut().insert(ID, id.clone());
        let text = self.options.queries.then(Slot::default);
        if let Some(text) = &text {
            request.extensions_mut().insert(Slot::clone(text));
        }
        Some(LoggedRequest { line: self.line(trace, own), id, method, text })
    }

    /// Begins the line and the span of an operation over a connection whose request has these
    /// headers. `None` if nothing is logged or exported.
    pub(in crate::http) fn begin_operation(
        &self,
        headers: &mut Headers,
        serial: u64,
        query: &str,
    ) -> Option<LoggedOperation> {
        if !self.is_on() {
            Trace::drop_invalid(headers);
            return None;
        }
        let (number, span) = self.number();
        let id = format!("{}.{serial}", headers.get(ID.as_str()).unwrap_or_default());
        let trace = Trace::continue_operation(headers, &span, || self.new_trace(number));
        let text = self.options.queries.then(|| {
            audited_text("/graphql", "application/graphql", query.as_bytes()).unwrap_or_default()
        });
        Some(LoggedOperation { kind: None, line: self.line(trace, span), id, text })
    }

    fn line(&self, trace: Option<Trace>, span: String) -> LineFacts {
        let spans = self.spans.clone();
        let (begun, started) = (Instant::now(), SystemTime::now());
        LineFacts { options: self.options, spans, trace, span, begun, started }
    }

    /// A trace that begins with a request; `None` where nothing is exported.
    fn new_trace(&self, request: u64) -> Option<Trace> {
        self.spans.as_ref()?;
        let half = |half: u64| self.seed.hash_one((request, half)).max(1);
        Some(Trace::new(format!("{:016x}{:016x}", half(0), half(1))))
    }

    /// The next number of a request, and the name of its span.
    fn number(&self) -> (u64, String) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests += 1;
        // A span of zeros is none.
        (*requests, format!("{:016x}", self.seed.hash_one(*requests).max(1)))
    }
}

/// The id that a client has sent, where it is short and has only letters, digits and `-_.:`.
fn id_of(headers: &HeaderMap) -> Option<HeaderValue> {
    let id = headers.get(ID)?;
    let is_safe = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte);
    let is_id = (1..=ID_LEN_MAX).contains(&id.len()) && id.as_bytes().iter().all(is_safe);
    is_id.then(|| id.clone())
}

/// The facts that lines of requests and of operations have in common.
#[derive(Debug)]
struct LineFacts {
    options: LogOptions,
    spans: Option<Arc<SpanQueue>>,
    trace: Option<Trace>,
    span: String,
    begun: Instant,
    started: SystemTime,
}

impl LineFacts {
    /// Writes the line if there is to be one: these fields, the time, the trace and the text.
    fn write(&self, mut fields: Vec<(&str, Value)>, text: Option<&str>) {
        let elapsed = self.begun.elapsed();
        let is_slow = self.options.slow.is_some_and(|slow| slow <= elapsed);
        if !self.options.is_on() || self.options.slow.is_some() && !is_slow {
            return;
        }
        fields.push(("seconds", json!(elapsed.as_micros() as f64 / 1e6)));
        if let Some(trace) = &self.trace {
            fields.push(("trace_id", json!(trace.trace_id)));
            if let Some(parent_id) = &trace.parent_id {
                fields.push(("parent_id", json!(parent_id)));
            }
            fields.push(("span_id", json!(self.span)));
        }
        if let Some(text) = text {
            fields.push(("query", json!(text)));
        }
        log(Level::Info, if is_slow { "slow request" } else { "request" }, &fields);
    }

    /// Exports the span, if the caller has its trace recorded.
    fn export(
        &self,
        (method, id): (&str, &str),
        (route, kind): (&'static str, &'static str),
        result: SpanResult,
        text: Option<&str>,
    ) {
        let (Some(spans), Some(trace)) = (&self.spans, &self.trace) else { return };
        if !trace.is_recorded() {
            return;
        }
        spans.push(FinishedSpan {
            trace_id: trace.trace_id.clone(),
            parent_id: trace.parent_id.clone(),
            span_id: self.span.clone(),
            started: self.started,
            elapsed: self.begun.elapsed(),
            method: method.to_owned(),
            route,
            kind,
            id: id.to_owned(),
            result,
            text: text.map(str::to_owned),
        });
    }
}

/// A running request.
#[derive(Debug)]
pub(in crate::http) struct LoggedRequest {
    line: LineFacts,
    id: HeaderValue,
    method: String,
    /// Its text, once it is read.
    text: Option<Slot>,
}

impl LoggedRequest {
    /// Sends the id back, writes the line if there is to be one, and exports the span. `route` is
    /// the name of the route, never the path that the client sent.
    pub(in crate::http) fn answered(
        &self,
        (route, kind): (&'static str, &'static str),
        result: SpanResult,
        response: &mut Response,
    ) {
        response.headers_mut().insert(ID, self.id.clone());
        if let Some(trace) = &self.line.trace
            && let Ok(value) = HeaderValue::from_str(&trace.header(&self.line.span))
        {
            response.headers_mut().insert(TRACE_RESPONSE, value);
        }
        let fields = vec![
            ("id", json!(self.id.to_str().unwrap_or_default())),
            ("method", json!(self.method)),
            ("route", json!(route)),
            ("status", json!(response.status().as_u16())),
        ];
        self.line.write(fields, self.text());
        self.cancelled((route, kind), result);
    }

    /// Exports the span alone: there is nobody to answer any more, and no answer to log.
    pub(in crate::http) fn cancelled(
        &self,
        route: (&'static str, &'static str),
        result: SpanResult,
    ) {
        let id = self.id.to_str().unwrap_or_default();
        self.line.export((&self.method, id), route, result, self.text());
    }

    fn text(&self) -> Option<&str> {
        self.text.as_ref()?.get().map(String::as_str)
    }
}

/// A running operation over a WebSocket.
#[derive(Debug)]
pub(in crate::http) struct LoggedOperation {
    /// Its kind, once it is read.
    pub kind: Option<OperationKind>,
    line: LineFacts,
    id: String,
    text: Option<String>,
}

impl LoggedOperation {
    /// Writes the line if there is to be one, and exports the span. `status` is the one that the
    /// answer would have by HTTP, and for a subscription the first one.
    pub(in crate::http) fn answered(self, status: StatusCode) {
        let kind = self.kind.map(|kind| match kind {
            OperationKind::Query => "query",
            OperationKind::Mutation => "mutation",
            OperationKind::Subscription => "subscription",
        });
        let (method, code) = ("WEBSOCKET", status.as_u16());
        let fields = vec![
            ("id", json!(self.id)),
            ("method", json!(method)),
            ("route", json!("/graphql")),
            ("kind", json!(kind)),
            ("status", json!(code)),
        ];
        self.line.write(fields, self.text.as_deref());
        let outcome = if code < 400 { "ok" } else { "failed" };
        let result = SpanResult { code, is_call: false, outcome };
        let route = ("/graphql", kind.unwrap_or("none"));
        self.line.export((method, &self.id), route, result, self.text.as_deref());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use std::collections::HashSet;

    fn answered(log: &RequestLog, headers: &[(&str, &[u8])]) -> Option<HeaderMap> {
        let mut request = Request::new(Body::empty());
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            request.headers_mut().insert(name, HeaderValue::from_bytes(value).unwrap());
        }
        let mut response = Response::new(Body::empty());
        let result = SpanResult { code: 200, is_call: false, outcome: "ok" };
        log.begin(&mut request)?.answered(("/query", "read"), result, &mut response);
        Some(response.headers().clone())
    }

    #[test]
    fn ids_are_accepted_or_replaced() {
        let log = RequestLog::new(LogOptions::default());
        assert!(answered(&log, &[]).is_none());
        let id = |id: &[u8]| {
            let headers = answered(&log, &[("x-request-id", id)]).unwrap();
            headers[ID].to_str().unwrap().to_owned()
        };
        assert_eq!(id(b"a-B_3.4:5"), "a-B_3.4:5");
        assert_eq!(id(&[b'x'; 64]), "x".repeat(64));
        let wrong: [&[u8]; 6] = [b"", &[b'x'; 65], b"a b", b"a\tb", b"{\"a\"}", b"\xc3\xa9"];
        let made: HashSet<String> = wrong.iter().map(|wrong| id(wrong)).collect();
        assert_eq!(made.len(), wrong.len());
        let is_safe = |letter: char| letter.is_ascii_hexdigit() || letter == '-';
        assert!(made.iter().all(|id| id.chars().all(is_safe)), "{made:?}");
    }

    /// Without a log, too, what a connection says of its trace goes on only if it is valid.
    #[test]
    fn traces_of_connections_are_checked() {
        let log = RequestLog::new(LogOptions::default());
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        for (given, left) in [(parent, Some(parent)), ("00-none", None), ("a\nb", None)] {
            let mut headers: Headers =
                [("traceparent", given), ("tracestate", "a=1")].into_iter().collect();
            assert!(log.begin_operation(&mut headers, 1, "{ q }").is_none());
            assert_eq!(headers.get("traceparent"), left);
            assert_eq!(headers.get("tracestate").is_some(), left.is_some());
        }
    }

    #[test]
    fn a_trace_is_answered_with_a_span_of_its_own() {
        let log = RequestLog::new(LogOptions::default());
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let headers = answered(&log, &[("traceparent", parent.as_bytes())]).unwrap();
        let back = headers[TRACE_RESPONSE].to_str().unwrap();
        assert!(back.starts_with(&parent[..36]) && back.get(52..) == Some("-01"), "{back}");
        assert_ne!(&back[36..52], &parent[36..52]);
    }
}
