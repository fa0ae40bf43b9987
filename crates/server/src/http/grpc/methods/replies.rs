//! What is next to an answer: transaction, times, counts.

use crate::http::app::App;
use crate::http::grpc::call::CallAnswer;
use crate::http::grpc::messages::{Latency, Metrics, Response, TxnContext};
use crate::http::grpc::status::{Code, Status};
use crate::http::message::reply::{Extensions, Txn};
use bytes::Bytes;
use hexgraph_base::types::Error;
use std::time::Duration;

/// The fields of a response that hold its data.
const JSON_FIELD: u32 = 1;
const RDF_FIELD: u32 = 13;

/// A response with `extensions`, and no data.
pub(super) fn response(extensions: &Extensions) -> Response {
    let latency = &extensions.latency;
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let num_uids = extensions.counts().into_iter().flatten().collect();
    Response {
        txn: Some(context(&extensions.txn)),
        latency: Some(Latency {
            parsing_ns: nanos(latency.parsing),
            processing_ns: nanos(latency.processing),
            encoding_ns: nanos(latency.encoding),
            assign_timestamp_ns: 0,
            total_ns: nanos(latency.total()),
        }),
        metrics: Some(Metrics { num_uids }),
        ..Response::default()
    }
}

/// An answer with the text that a query is answered with.
pub(super) fn with_data(
    response: &Response,
    rdf: bool,
    text: String,
) -> Result<CallAnswer, Status> {
    let field = if rdf { RDF_FIELD } else { JSON_FIELD };
    CallAnswer::with_data(response, field, Bytes::from(text))
}

/// A transaction in the form of clients.
fn context(txn: &Txn) -> TxnContext {
    TxnContext {
        start_ts: txn.start,
        commit_ts: txn.commit.unwrap_or_default(),
        keys: txn.shown_keys().collect(),
        preds: txn.shown_predicates().collect(),
        hash: txn.mark.clone().unwrap_or_default(),
        ..TxnContext::default()
    }
}

/// Why clients are not answered now.
///
/// # Errors
///
/// [`Code::Unavailable`] while the server drains.
pub(super) fn check_open(app: &App) -> Result<(), Status> {
    match app.switches.refusal() {
        Some(refusal) => Err(Status { code: Code::Unavailable, ..Status::of(&refusal) }),
        None => Ok(()),
    }
}

/// The status of an error of the engine.
pub(super) fn status(error: Error) -> Status {
    Status::of(&error)
}
