//! Counters and histograms of the server, and the text in which they are exported.

mod metrics_text;
mod refused;
mod server_metrics;

pub(super) use metrics_text::MetricsText;
pub(super) use refused::Refused;
pub(super) use server_metrics::{
    CANCELLED, CLIENT_CLOSED_REQUEST, CountedRequest, NO_ROUTE, RequestTimer, ServerMetrics,
};
