//! [`SpanLoss`]: counts what happens to spans, and says once that some are lost.

use super::span_counters::SpanCounters;
use crate::http::logs::log_line::{Level, log};
use serde_json::json;
use std::sync::{Mutex, Once, PoisonError};

/// Counts what happens to spans.
#[derive(Debug)]
pub(super) struct SpanLoss {
    counters: SpanCounters,
    url: String,
    reported: Once,
    report: Mutex<ExportReport>,
}

/// What the client learned from the request that it sent last; there is one at a time.
#[derive(Debug, Default)]
pub(super) struct ExportReport {
    /// The spans that the collector rejected.
    pub rejected: usize,
    /// Why there was no answer, which the exporter does not pass on.
    pub fault: Option<String>,
}

impl SpanLoss {
    /// Nothing is lost yet.
    pub(super) fn new(counters: SpanCounters, url: &str) -> SpanLoss {
        let (reported, report) = (Once::new(), Mutex::default());
        SpanLoss { counters, url: url.to_owned(), reported, report }
    }

    /// Notes what the client learned.
    pub(super) fn note(&self, report: ExportReport) {
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = report;
    }

    /// Counts the spans of a request that has ended, `failed` if the exporter has an error.
    pub(super) fn sent(&self, spans: usize, failed: Option<String>) {
        let report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        match failed {
            Some(error) => self.lost(spans, report.fault.as_ref().unwrap_or(&error)),
            None => {
                let rejected = report.rejected.min(spans);
                self.counters.exported.inc_by((spans - rejected) as u64);
                self.lost(rejected, "the collector rejected them");
            }
        }
    }

    /// Counts spans that are lost.
    pub(super) fn lost(&self, spans: usize, why: &str) {
        if spans == 0 {
            return;
        }
        self.counters.lost.inc_by(spans as u64);
        self.reported.call_once(|| {
            let message =
                "spans are lost: hexgraph_spans_lost_total counts them, and this is said once";
            let fields = [("collector", json!(self.url)), ("reason", json!(why))];
            log(Level::Warning, message, &fields);
        });
    }
}
