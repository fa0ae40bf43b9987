//! Bodies of requests with a time limit, and bodies of answers that report their end.

use super::connection_options::ConnectionOptions;
use super::pace::Pace;
use super::phase::Request;
use axum::body::Body as AnyBody;
use http_body::{Body, Frame, SizeHint};
use hyper::body::{Bytes, Incoming};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Sleep, sleep};

/// The reason why reading a body was given up, if it was.
pub(super) type Verdict = Arc<OnceLock<Overdue>>;

/// The body of a request, which fails when it comes too slowly.
pub(super) struct TimedBody {
    body: Incoming,
    pace: Pace,
    full: Duration,
    /// The timer, created only if the body does not come at once.
    end: Option<Pin<Box<Sleep>>>,
    verdict: Verdict,
}

/// A client that sends its body too slowly, with the setting that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Overdue(String);

impl fmt::Display for Overdue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Overdue {}

type Failure = Box<dyn std::error::Error + Send + Sync>;

impl TimedBody {
    /// The body of a request; `verdict` says afterwards whether it came.
    pub(super) fn new(body: Incoming, options: &ConnectionOptions, verdict: Verdict) -> TimedBody {
        TimedBody { body, pace: Pace::new(options), full: options.body, end: None, verdict }
    }

    fn overdue(&mut self, context: &mut Context<'_>) -> Option<Overdue> {
        // Both timers are polled, since each has to wake the task by itself.
        if self.pace.is_overdue(context) {
            return Some(Overdue("it comes too slowly (settings `stall` and `rate`)".to_owned()));
        }
        let end = self.end.get_or_insert_with(|| Box::pin(sleep(self.full)));
        let is_over = end.as_mut().poll(context).is_ready();
        is_over.then(|| Overdue(format!("it takes longer than {:?} (setting `body`)", self.full)))
    }
}

impl Body for TimedBody {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                self.pace.note(frame.data_ref().map_or(0, Bytes::len));
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(other) => Poll::Ready(other.map(|frame| frame.map_err(Failure::from))),
            Poll::Pending => match self.overdue(context) {
                None => Poll::Pending,
                Some(overdue) => {
                    let overdue = self.verdict.get_or_init(|| overdue).clone();
                    Poll::Ready(Some(Err(Box::new(overdue))))
                }
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of an answer; its request runs until it is dropped.
pub(super) struct Report {
    body: AnyBody,
    request: Option<Request>,
}

impl Report {
    /// The body of an answer to `request`.
    pub(super) fn new(body: AnyBody, request: Option<Request>) -> Report {
        Report { body, request }
    }
}

impl Body for Report {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let (Poll::Ready(Some(Ok(frame))), Some(request)) = (&polled, &self.request) {
            request.moved(frame.data_ref().map_or(0, Bytes::len));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
