//! Spans of requests for an OpenTelemetry collector: what a span says, where it is sent, and the
//! bounded queue between.
//!
//! The queue and the exporter are in builds with the feature `otlp`. In others
//! `span_queue_missing.rs` has their names.

mod span_counters;
#[cfg_attr(not(feature = "otlp"), expect(dead_code, reason = "nothing is exported"))]
mod finished_span;
mod span_options;
#[cfg(feature = "otlp")]
mod span_loss;
#[cfg(feature = "otlp")]
mod collector;
#[cfg(feature = "otlp")]
mod span_queue;
#[cfg(not(feature = "otlp"))]
#[path = "span_queue_missing.rs"]
mod span_queue;

pub(super) use finished_span::FinishedSpan;
pub(in crate::http) use finished_span::SpanResult;
pub(in crate::http) use span_counters::SpanCounters;
pub use span_options::SpanOptions;
pub(super) use span_queue::SpanQueue;
