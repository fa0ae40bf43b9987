//! [`SpanQueue`]: spans that wait to be exported.
//!
//! ```text
//! request ──push──> queue of SPANS_MAX ──thread──> OTLP/HTTP ──> collector
//!             └── full: counted as lost
//! ```
//!
//! Each span holds a permit from `push` until its export has ended, so `push` neither blocks nor
//! allocates without bound, whatever the collector does.

use super::collector::CollectorClient;
use super::finished_span::{FinishedSpan, SpanResult};
use super::span_counters::SpanCounters;
use super::span_loss::SpanLoss;
use super::span_options::SpanOptions;
use hexgraph_base::types::{Error, Result};
use opentelemetry::trace::{
    SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::{RetryPolicy, SpanExporter as OtlpExporter};
use opentelemetry_otlp::{WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, SpanData, SpanEvents, SpanExporter, SpanLinks,
    SpanProcessor,
};
use std::env;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// The spans that wait or are being sent; further ones are lost.
const SPANS_MAX: usize = 2048;

/// The spans of one request to the collector.
const BATCH_MAX: usize = 512;

/// The longest time that a span waits for others.
const DELAY: Duration = Duration::from_secs(1);

/// The name of the service, where the environment has none.
const SERVICE_NAME: &str = "hexgraph";

/// The methods whose names are exported, which a client could make up without end.
const METHODS: [&str; 8] =
    ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "WEBSOCKET"];

/// The queue, with the thread that empties it.
#[derive(Debug)]
pub(in crate::http::logs) struct SpanQueue {
    processor: BatchSpanProcessor,
    scope: InstrumentationScope,
    loss: Arc<SpanLoss>,
    permits: Arc<Semaphore>,
}

impl SpanQueue {
    /// Starts the thread that exports spans. There is always a queue in a build with the feature.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for what the exporter refuses: a standard variable that is wrong.
    pub(in crate::http::logs) fn start(
        options: &SpanOptions,
        counters: SpanCounters,
    ) -> Result<Option<SpanQueue>> {
        let loss = Arc::new(SpanLoss::new(counters, options.url()));
        let exporter = OtlpExporter::builder()
            .with_http()
            .with_http_client(CollectorClient::new(Arc::clone(&loss)))
            // A request that is repeated holds up those behind it: what is lost is counted instead.
            .with_retry_policy(RetryPolicy::disabled())
            .with_endpoint(options.url())
            .build()
            .map_err(|error| {
                let named = if options.is_ambient() {
                    "variables of OpenTelemetry"
                } else {
                    "--otlp-endpoint"
                };
                Error::query(format!("{named}: {error}"))
            })?;
        let permits = Arc::new(Semaphore::new(SPANS_MAX));
        let exporter =
            CountingExporter { exporter, loss: Arc::clone(&loss), permits: Arc::clone(&permits) };
        let config = BatchConfigBuilder::default()
            .with_max_queue_size(SPANS_MAX)
            .with_max_export_batch_size(BATCH_MAX)
            .with_scheduled_delay(DELAY);
        let mut processor =
            BatchSpanProcessor::builder(exporter).with_batch_config(config.build()).build();
        processor.set_resource(&resource());
        let scope = InstrumentationScope::builder(SERVICE_NAME);
        let scope = scope.with_version(env!("CARGO_PKG_VERSION")).build();
        Ok(Some(SpanQueue { processor, scope, loss, permits }))
    }

    /// Queues a span, or counts it as lost.
    pub(in crate::http::logs) fn push(&self, span: FinishedSpan) {
        match self.permits.try_acquire() {
            Ok(permit) => permit.forget(),
            Err(_) => return self.loss.lost(1, "the queue is full"),
        }
        self.processor.on_end(span_data(span, self.scope.clone()));
    }

    /// Exports what waits, within a time.
    pub(in crate::http::logs) fn stop(&self, timeout: Duration) {
        let _ = self.processor.shutdown_with_timeout(timeout);
        let left = SPANS_MAX - self.permits.available_permits();
        self.loss.lost(left, "the server stopped before the collector accepted them");
    }
}

/// Passes spans on to the exporter, and counts what happens to them.
#[derive(Debug)]
struct CountingExporter {
    exporter: OtlpExporter,
    loss: Arc<SpanLoss>,
    permits: Arc<Semaphore>,
}

impl SpanExporter for CountingExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        let done = self.exporter.export(batch).await;
        self.loss.sent(spans, done.as_ref().err().map(ToString::to_string));
        self.permits.add_permits(spans);
        done
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

/// What all spans have in common: `OTEL_RESOURCE_ATTRIBUTES`, and a name that `OTEL_SERVICE_NAME`
/// replaces.
fn resource() -> Resource {
    let has_name = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let in_list = env::var("OTEL_RESOURCE_ATTRIBUTES").is_ok_and(|list| {
        list.split(',')
            .any(|entry| entry.split('=').next().is_some_and(|it| it.trim() == "service.name"))
    });
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let builder = Resource::builder().with_attribute(version);
    match has_name("OTEL_SERVICE_NAME") || in_list {
        true => builder.build(),
        false => builder.with_service_name(SERVICE_NAME).build(),
    }
}

fn span_data(span: FinishedSpan, instrumentation_scope: InstrumentationScope) -> SpanData {
    let trace_id = TraceId::from_hex(&span.trace_id).unwrap_or(TraceId::INVALID);
    let span_of = |id: &str| SpanId::from_hex(id).unwrap_or(SpanId::INVALID);
    let (flags, state) = (TraceFlags::SAMPLED, TraceState::default());
    let span_context = SpanContext::new(trace_id, span_of(&span.span_id), flags, false, state);
    let parent_span_id = span.parent_id.as_deref().map_or(SpanId::INVALID, span_of);
    let SpanResult { code, is_call, outcome } = span.result;
    // Faults of the caller are none of the server.
    let is_error = outcome == "failed" && (is_call || !(400..500).contains(&code));
    let name = match is_call {
        true => span.route.trim_start_matches('/').to_owned(),
        false => format!("{} {}", method(&span.method), span.route),
    };
    SpanData {
        span_context,
        parent_span_id,
        parent_span_is_remote: span.parent_id.is_some(),
        span_kind: SpanKind::Server,
        name: name.into(),
        start_time: span.started,
        end_time: span.started + span.elapsed,
        attributes: attributes(span),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: if is_error { Status::error("") } else { Status::Unset },
        instrumentation_scope,
    }
}

/// The attributes, by the semantic conventions of OpenTelemetry where these have one.
fn attributes(span: FinishedSpan) -> Vec<KeyValue> {
    let SpanResult { code, is_call, outcome } = span.result;
    let code = i64::from(code);
    let mut attributes = match is_call {
        true => vec![
            KeyValue::new("rpc.system", "grpc"),
            KeyValue::new("rpc.method", span.route.trim_start_matches('/')),
            KeyValue::new("rpc.grpc.status_code", code),
        ],
        false => vec![
            KeyValue::new("http.request.method", method(&span.method)),
            KeyValue::new("http.route", span.route),
            KeyValue::new("http.response.status_code", code),
        ],
    };
    attributes.extend([
        KeyValue::new("db.system.name", "hexgraph"),
        KeyValue::new("hexgraph.kind", span.kind),
        KeyValue::new("hexgraph.outcome", outcome),
        KeyValue::new("hexgraph.request.id", span.id),
    ]);
    attributes.extend(span.text.map(|text| KeyValue::new("db.query.text", text)));
    attributes
}

fn method(method: &str) -> &'static str {
    METHODS.into_iter().find(|it| *it == method).unwrap_or("_OTHER")
}
