//! `Query`: queries, mutations and upserts.

use super::mutations;
use super::parameters::{check_best_effort, check_writable, expects_debug, expects_rdf, variables};
use super::replies::{check_open, response, status, with_data};
use crate::http::app::App;
use crate::http::endpoints::query::QueryFacts;
use crate::http::grpc::call::{CallAnswer, decode};
use crate::http::grpc::messages::{Mutation, Request};
use crate::http::grpc::status::{Code, Status};
use crate::http::message::incoming::Incoming;
use hexgraph::db::{Database, QueryRequest, RequestContext};

/// Answers a query, or executes a mutation or an upsert.
pub(in crate::http) fn answer(
    app: &App,
    incoming: &Incoming,
    control: &RequestContext,
) -> Result<CallAnswer, Status> {
    check_open(app)?;
    let request: Request = decode(incoming)?;
    let best_effort = request.best_effort && !request.read_only;
    check_best_effort(best_effort)?;
    let rdf = expects_rdf(request.resp_format)?;
    if request.mutations.iter().any(|mutation| !is_empty(mutation)) {
        check_writable(request.read_only)?;
        let database = marked(app, incoming, request.start_ts, &request.hash)?;
        return mutations::execute(&database, (&request, rdf), incoming.client(), control);
    }
    if request.query.is_empty() {
        // In the words of Dgraph, which its clients compare.
        return Err(Status::new(Code::Unknown, "empty request"));
    }
    let database = marked(app, incoming, request.start_ts, &request.hash)?;
    let requested = QueryRequest {
        text: request.query,
        variables: variables(request.vars),
        debug: expects_debug(incoming.headers()),
    };
    answer_query(&database, &requested, (request.start_ts, rdf), control)
}

/// The database as the caller sees it, after a look at the mark of the transaction.
///
/// # Errors
///
/// [`Code::Unknown`] when it is not the mark that was reported.
pub(super) fn marked(
    app: &App,
    incoming: &Incoming,
    start: u64,
    mark: &str,
) -> Result<Database, Status> {
    let database = app.database_within(incoming, start, mark);
    database.map_err(|error| Status::new(Code::Unknown, error.to_string()))
}

/// Answers a query at the start timestamp `start`; 0 is the newest version.
pub(super) fn answer_query(
    database: &Database,
    request: &QueryRequest,
    (start, rdf): (u64, bool),
    control: &RequestContext,
) -> Result<CallAnswer, Status> {
    let (answer, start) = database.query_at(start, request, control).map_err(status)?;
    let written = match rdf {
        false => answer.to_json_with(control),
        true => answer.to_rdf_with(control),
    };
    let (text, encoding) = written.map_err(status)?;
    let about = QueryFacts { start, steps: None, warnings: None };
    let extensions = about.extensions(database, &answer, encoding);
    let touched = extensions.total();
    let data = with_data(&response(&extensions), rdf, text)?;
    Ok(CallAnswer { touched, ..data })
}

fn is_empty(mutation: &Mutation) -> bool {
    let texts =
        [&mutation.set_json, &mutation.delete_json, &mutation.set_nquads, &mutation.del_nquads];
    texts.iter().all(|text| text.is_empty()) && mutation.set.is_empty() && mutation.del.is_empty()
}
