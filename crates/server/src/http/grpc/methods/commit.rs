//! `CommitOrAbort`, and `AllocateIDs`.

use super::query::marked;
use super::replies::{check_open, status};
use crate::http::app::App;
use crate::http::compat::go_values;
use crate::http::grpc::call::{CallAnswer, decode};
use crate::http::grpc::messages::{AllocateIDsRequest, AllocateIDsResponse, TxnContext};
use crate::http::grpc::status::{Code, Status};
use crate::http::message::incoming::Incoming;
use hexgraph::db::RequestContext;

/// Commits a transaction, or discards it. Of the keys only those count that the client sends back.
pub(in crate::http) fn answer(
    app: &App,
    incoming: &Incoming,
    _control: &RequestContext,
) -> Result<CallAnswer, Status> {
    check_open(app)?;
    let txn: TxnContext = decode(incoming)?;
    let start = txn.start_ts;
    if start == 0 {
        let message = "StartTs cannot be zero while committing a transaction";
        return Err(Status::new(Code::Unknown, message));
    }
    let database = marked(app, incoming, start, &txn.hash)?;
    if txn.aborted {
        database.discard_txn(start).map_err(status)?;
        let reported = TxnContext { start_ts: start, aborted: true, ..TxnContext::default() };
        return CallAnswer::new(&reported);
    }
    // A key that can't be read is none of ours: leaving it out only checks less, as the client
    // requested.
    let keys: Vec<u64> = txn.keys.iter().filter_map(|key| go_values::parse_base36(key)).collect();
    let commit_ts = database.commit_txn(start, Some(&keys)).map_err(status)?;
    CallAnswer::new(&TxnContext { start_ts: start, commit_ts, ..TxnContext::default() })
}

/// Reserves uids, whatever they are said to be for.
pub(in crate::http) fn allocate(
    app: &App,
    incoming: &Incoming,
    _control: &RequestContext,
) -> Result<CallAnswer, Status> {
    check_open(app)?;
    let request: AllocateIDsRequest = decode(incoming)?;
    let first = app.database_for(incoming).assign_uids(request.how_many).map_err(|error| {
        let status = status(error);
        Status { message: format!("Failed to allocate IDs: {}", status.message), ..status }
    })?;
    let (start, end) = (first.0, first.0 + request.how_many - 1);
    CallAnswer::new(&AllocateIDsResponse { start, end })
}
