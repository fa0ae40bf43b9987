//! [`ServerMetrics`]: what the server counts as requests and connections come and go.

use super::metrics_text::{MetricsText, registry};
use super::refused::Refused;
use crate::http::logs::{SpanCounters, SpanResult};
use crate::http::message::reply::Failed;
use axum::response::Response;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// The upper bounds of the buckets of times, in seconds: from point queries of 50 µs to scans of a
/// minute, about three for each power of ten.
const BUCKETS: [f64; 19] = [
    0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
    1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
];

/// The route of requests to paths that do not exist: a label per path would let clients fill the
/// memory.
pub(in crate::http) const NO_ROUTE: &str = "none";

/// The code of a request whose client left before it was answered, as nginx writes it.
pub(in crate::http) const CLIENT_CLOSED_REQUEST: u16 = 499;

/// The outcome of such a request.
pub(in crate::http) const CANCELLED: &str = "cancelled";

/// What the server counts. No label has a text that comes from a request.
pub(in crate::http) struct ServerMetrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<RouteLabel, Histogram, fn() -> Histogram>,
    refusals: Family<RefusalLabels, Counter>,
    running: Gauge,
    connections: Gauge,
    accepted: Counter,
    connections_refused: Counter,
    spans: SpanCounters,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    route: &'static str,
    kind: &'static str,
    code: u16,
    outcome: &'static str,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RouteLabel {
    route: &'static str,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RefusalLabels {
    reason: &'static str,
}

impl ServerMetrics {
    /// Nothing is counted yet.
    pub(in crate::http) fn new() -> ServerMetrics {
        let mut metrics = ServerMetrics {
            registry: registry(),
            requests: Family::default(),
            seconds: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            refusals: Family::default(),
            running: Gauge::default(),
            connections: Gauge::default(),
            accepted: Counter::default(),
            connections_refused: Counter::default(),
            spans: SpanCounters::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "requests",
            "Requests that were answered, by route, by what the route does, by the status of HTTP (of gRPC for its methods), and by outcome: many failures have status 200",
            self.requests.clone(),
        );
        registry.register_with_unit(
            "request_duration",
            "Time from the head of a request to the head of its response, by route; a streamed body goes on after that",
            Unit::Seconds,
            self.seconds.clone(),
        );
        registry.register(
            "refusals",
            "Requests that were refused, by the limit or the rule that refused them",
            self.refusals.clone(),
        );
        registry.register("requests_running", "Requests that are running", self.running.clone());
        registry.register("connections_open", "Open connections", self.connections.clone());
        registry.register("connections", "Connections that were accepted", self.accepted.clone());
        registry.register(
            "connections_refused",
            "Connections that were refused because too many are open",
            self.connections_refused.clone(),
        );
        let (exported, lost) = (self.spans.exported.clone(), self.spans.lost.clone());
        registry.register(
            "spans_exported",
            "Spans of requests that a collector accepted",
            exported,
        );
        registry.register(
            "spans_lost",
            "Spans of requests that no collector got: it was away or too slow",
            lost,
        );
    }

    /// The counters of spans.
    pub(in crate::http) fn spans(&self) -> SpanCounters {
        self.spans.clone()
    }

    /// Begins to count a request. What is returned counts it as cancelled when it is dropped
    /// without [`RequestTimer::answered`]: its client has left.
    pub(in crate::http) fn begin(self: &Arc<Self>, request: CountedRequest) -> RequestTimer {
        self.running.inc();
        let metrics = Arc::clone(self);
        RequestTimer { metrics, started: Instant::now(), request, is_counted: false }
    }

    /// Counts a connection as open until what is returned is dropped.
    pub(in crate::http) fn connected(self: &Arc<Self>) -> OpenConnection {
        self.accepted.inc();
        self.connections.inc();
        OpenConnection(Arc::clone(self))
    }

    /// Counts a connection that is refused.
    pub(in crate::http) fn connections_refused(&self) {
        self.connections_refused.inc();
    }

    /// All that was counted, and what `now` adds.
    ///
    /// # Errors
    ///
    /// A text takes everything, so there are none.
    pub(in crate::http) fn write(&self, now: MetricsText) -> Result<String, fmt::Error> {
        now.write(&self.registry)
    }
}

/// The labels of a request.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct CountedRequest {
    /// The path of its route, or [`NO_ROUTE`].
    pub route: &'static str,
    /// What requests to the route do.
    pub kind: &'static str,
    /// Whether it is a call of gRPC, which has a status of its own.
    pub is_call: bool,
}

/// A request that is counted as running until this is dropped.
pub(in crate::http) struct RequestTimer {
    metrics: Arc<ServerMetrics>,
    started: Instant,
    request: CountedRequest,
    is_counted: bool,
}

impl RequestTimer {
    /// Counts how the request was answered, and returns it.
    pub(in crate::http) fn answered(&mut self, response: &Response) -> SpanResult {
        let (extensions, headers) = (response.extensions(), response.headers());
        let is_call = self.request.is_call;
        // A call that succeeds has its status after the body.
        let status =
            headers.get("grpc-status").and_then(|status| status.to_str().ok()?.parse().ok());
        let code = match is_call {
            true => status.unwrap_or(0),
            false => response.status().as_u16(),
        };
        let is_failure = extensions.get::<Failed>().is_some()
            || status.is_some_and(|status| status != 0)
            || 400 <= response.status().as_u16();
        if let Some(&Refused(reason)) = extensions.get() {
            self.metrics.refusals.get_or_create(&RefusalLabels { reason }).inc();
        }
        let outcome = if is_failure { "failed" } else { "ok" };
        self.count(code, outcome);
        let seconds = self.started.elapsed().as_secs_f64();
        self.metrics
            .seconds
            .get_or_create(&RouteLabel { route: self.request.route })
            .observe(seconds);
        SpanResult { code, is_call, outcome }
    }

    fn count(&mut self, code: u16, outcome: &'static str) {
        self.is_counted = true;
        let CountedRequest { route, kind, .. } = self.request;
        let labels = RequestLabels { route, kind, code, outcome };
        self.metrics.requests.get_or_create(&labels).inc();
    }
}

impl Drop for RequestTimer {
    fn drop(&mut self) {
        self.metrics.running.dec();
        if !self.is_counted {
            self.count(CLIENT_CLOSED_REQUEST, CANCELLED);
        }
    }
}

/// A connection that is counted as open until this is dropped.
pub(in crate::http) struct OpenConnection(Arc<ServerMetrics>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.connections.dec();
    }
}
