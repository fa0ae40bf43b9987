//! [`CollectorClient`]: requests to a collector, sent with ureq, as the rest of hexgraph sends
//! requests.

use super::span_loss::{ExportReport, SpanLoss};
use crate::http::agent_config;
use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;
use std::sync::Arc;
use std::time::Duration;
use ureq::Agent;

/// The longest time of a request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The longest answer that is read, in bytes.
const ANSWER_LEN_MAX: u64 = 64 << 10;

/// A client that blocks: the exporter has a thread of its own.
#[derive(Debug)]
pub(super) struct CollectorClient {
    agent: Agent,
    loss: Arc<SpanLoss>,
}

impl CollectorClient {
    /// Creates a client that notes why a request fails, and which spans the collector rejects.
    pub(super) fn new(loss: Arc<SpanLoss>) -> CollectorClient {
        CollectorClient { agent: agent_config(TIMEOUT).build().into(), loss }
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, ureq::Error> {
        let (parts, body) = request.into_parts();
        let response = self.agent.run(Request::from_parts(parts, &body[..]))?;
        let (parts, mut body) = response.into_parts();
        let body = body.with_config().limit(ANSWER_LEN_MAX).read_to_vec()?;
        Ok(Response::from_parts(parts, Bytes::from(body)))
    }
}

#[async_trait]
impl HttpClient for CollectorClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let response = self.send(request);
        let mut report = ExportReport::default();
        match &response {
            Err(error) => report.fault = Some(error.to_string()),
            Ok(response) => {
                let answer = ExportTraceServiceResponse::decode(&response.body()[..]);
                let partial = answer.ok().and_then(|answer| answer.partial_success);
                let rejected = partial.map_or(0, |partial| partial.rejected_spans);
                report.rejected = usize::try_from(rejected).unwrap_or(0);
            }
        }
        self.loss.note(report);
        Ok(response?)
    }
}
