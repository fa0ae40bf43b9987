//! The queue of spans in a build without the feature `otlp`: there is none.

use super::finished_span::FinishedSpan;
use super::span_counters::SpanCounters;
use super::span_options::SpanOptions;
use hexgraph_base::types::{Error, Result};
use std::convert::Infallible;
use std::time::Duration;

/// There is none.
#[derive(Debug)]
pub(in crate::http::logs) struct SpanQueue(Infallible);

impl SpanQueue {
    /// Refuses a collector that was named for this program; the standard variables are ignored.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for such a collector.
    pub(in crate::http::logs) fn start(
        options: &SpanOptions,
        _: SpanCounters,
    ) -> Result<Option<SpanQueue>> {
        if options.is_ambient() {
            return Ok(None);
        }
        let fault = format!("no spans for {}: this build has no OpenTelemetry", options.url());
        Err(Error::query(fault).with_hint("build hexgraph-server with the feature `otlp`"))
    }

    pub(in crate::http::logs) fn push(&self, _: FinishedSpan) {
        match self.0 {}
    }

    pub(in crate::http::logs) fn stop(&self, _: Duration) {
        match self.0 {}
    }
}
