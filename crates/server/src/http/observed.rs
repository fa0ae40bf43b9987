//! [`Observed`]: a running request as it is counted, logged and exported.

use super::app::App;
use super::logs::{LoggedRequest, SpanResult};
use super::metrics::{CANCELLED, CLIENT_CLOSED_REQUEST, CountedRequest, RequestTimer};
use axum::extract::Request;
use axum::response::Response;

/// A running request. If it is dropped before it is answered, its client has left.
pub(super) struct Observed {
    counted: CountedRequest,
    running: RequestTimer,
    logged: Option<LoggedRequest>,
    is_answered: bool,
}

impl Observed {
    /// Begins to count and to log a request.
    pub(super) fn begin(app: &App, counted: CountedRequest, request: &mut Request) -> Observed {
        let running = app.metrics.begin(counted);
        Observed { counted, running, logged: app.logs.begin(request), is_answered: false }
    }

    /// Counts and logs how the request was answered.
    pub(super) fn answered(mut self, response: &mut Response) {
        self.is_answered = true;
        let result = self.running.answered(response);
        if let Some(logged) = &self.logged {
            logged.answered((self.counted.route, self.counted.kind), result, response);
        }
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        let CountedRequest { route, kind, is_call } = self.counted;
        let result = SpanResult { code: CLIENT_CLOSED_REQUEST, is_call, outcome: CANCELLED };
        if let Some(logged) = self.logged.as_ref().filter(|_| !self.is_answered) {
            logged.cancelled((route, kind), result);
        }
    }
}
