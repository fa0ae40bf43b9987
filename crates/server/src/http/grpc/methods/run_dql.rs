//! `RunDQL`: one text in DQL, whatever it requests.

use super::mutations;
use super::parameters::{check_best_effort, check_writable, expects_debug, expects_rdf, variables};
use super::query::answer_query;
use super::replies::{check_open, status};
use crate::http::app::App;
use crate::http::endpoints::mutate;
use crate::http::endpoints::mutate::Change;
use crate::http::grpc::call::{CallAnswer, decode};
use crate::http::grpc::messages::RunDqlRequest;
use crate::http::grpc::status::{Code, Status};
use crate::http::message::incoming::Incoming;
use hexgraph::db::{QueryRequest, RequestContext, is_mutation};
use hexgraph_base::types::Error;

/// Answers a query, or executes a mutation or an upsert in a commit of its own.
pub(in crate::http) fn answer(
    app: &App,
    incoming: &Incoming,
    control: &RequestContext,
) -> Result<CallAnswer, Status> {
    check_open(app)?;
    let request: RunDqlRequest = decode(incoming)?;
    check_best_effort(request.best_effort && !request.read_only)?;
    let rdf = expects_rdf(request.resp_format)?;
    let database = app.database_for(incoming);
    let text = request.dql_query;
    if !is_mutation(&text) {
        let debug = expects_debug(incoming.headers());
        let requested = QueryRequest { text, variables: variables(request.vars), debug };
        return answer_query(&database, &requested, (0, rdf), control).map_err(reported);
    }
    check_writable(request.read_only)?;
    let change = Change { body: mutate::Body::Text(&text), commits_now: true, start: 0 };
    let done = mutate::run(&database, &change, incoming.client(), control);
    let done = done.map_err(|error| match error {
        Error::Syntax { .. } => reported(status(error)),
        _ => status(error),
    })?;
    mutations::answer(&database, done, rdf, control)
}

/// As Dgraph says of texts that it can't read.
fn reported(status: Status) -> Status {
    match status.code {
        Code::Unknown => {
            let message = format!("error parsing DQL query: {}", status.message);
            Status { message, ..status }
        }
        _ => status,
    }
}
