//! [`FinishedSpan`]: what is exported of a request.

use std::time::{Duration, SystemTime};

/// A request as a span. Nothing in it comes from the body of the request but `text`.
#[derive(Debug)]
pub(in crate::http) struct FinishedSpan {
    /// The trace, 32 hexadecimal digits.
    pub trace_id: String,
    /// The caller's span, 16 digits; `None` where the trace begins here.
    pub parent_id: Option<String>,
    /// The span, 16 digits.
    pub span_id: String,
    /// When the request began.
    pub started: SystemTime,
    /// How long it ran until the head of its response.
    pub elapsed: Duration,
    /// The method of HTTP, or WEBSOCKET.
    pub method: String,
    /// The path of the route.
    pub route: &'static str,
    /// What the request does.
    pub kind: &'static str,
    /// The id of the request.
    pub id: String,
    /// How it ended.
    pub result: SpanResult,
    /// The text of the query, where texts are logged.
    pub text: Option<String>,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) struct SpanResult {
    /// The status of HTTP, or of gRPC for its methods.
    pub code: u16,
    /// Whether the request is a call of gRPC.
    pub is_call: bool,
    /// `ok`, `failed` or `cancelled`, as in metrics.
    pub outcome: &'static str,
}
