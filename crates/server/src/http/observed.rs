//! [`Observed`]: a running request as it is counted and logged.

use super::app::App;
use super::logs::LoggedRequest;
use super::metrics::{CountedRequest, RequestTimer};
use axum::extract::Request;
use axum::response::Response;

/// A running request.
pub(super) struct Observed {
    route: &'static str,
    running: RequestTimer,
    logged: Option<LoggedRequest>,
}

impl Observed {
    /// Begins to count and to log a request.
    pub(super) fn begin(app: &App, counted: CountedRequest, request: &mut Request) -> Observed {
        let running = app.metrics.begin(counted);
        Observed { route: counted.route, running, logged: app.logs.begin(request) }
    }

    /// Counts and logs how the request was answered.
    pub(super) fn answered(self, response: &mut Response) {
        self.running.answered(response);
        if let Some(logged) = self.logged {
            logged.answered(self.route, response);
        }
    }
}
