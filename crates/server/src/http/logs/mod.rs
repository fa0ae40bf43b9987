//! What a server reports to standard error, as text or as lines of JSON: its own state, and
//! requests with their ids and traces.

mod log_line;
mod trace;
mod spans;
mod request_log;

pub(super) use log_line::now;
pub use log_line::{Level, LogFormat, log, set_log_format};
pub use request_log::LogOptions;
pub(super) use request_log::{ID, LoggedOperation, LoggedRequest, RequestLog};
pub use spans::SpanOptions;
pub(super) use spans::{SpanCounters, SpanResult};
