//! [`SpanCounters`]: how many spans were exported, and how many were lost.

use prometheus_client::metrics::counter::Counter;

/// How many spans were exported, and how many were lost. Clones have the same numbers.
#[derive(Debug, Clone, Default)]
pub(in crate::http) struct SpanCounters {
    /// The collector has accepted them.
    pub exported: Counter,
    /// The queue was full, or the collector did not accept them.
    pub lost: Counter,
}
