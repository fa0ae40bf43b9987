//! Mutations and upserts: requests to the method `Query` that have mutations, with a query or
//! without.

use super::parameters::variables;
use super::replies::{response, status, with_data};
use super::statements::text_of;
use crate::http::endpoints::mutate;
use crate::http::endpoints::mutate::Change;
use crate::http::grpc::call::CallAnswer;
use crate::http::grpc::messages::{self, NQuad, Request};
use crate::http::grpc::status::{Code, Status};
use crate::http::message::reply::{Extensions, Txn};
use hexgraph::db::{
    Database, Mutation, MutationAnswer, MutationRequest, RequestContext, Statements,
};
use std::net::IpAddr;

/// Runs the mutations of a request, and its query before them. `rdf` says that the query's answer
/// is requested as N-Quads instead of JSON.
///
/// # Errors
///
/// Those of the engine; [`Code::InvalidArgument`] for texts that are no UTF-8. Texts are checked
/// before anything is executed.
pub(super) fn execute(
    database: &Database,
    (request, rdf): (&Request, bool),
    client: Option<IpAddr>,
    control: &RequestContext,
) -> Result<CallAnswer, Status> {
    let texts = request.mutations.iter().map(|mutation| Texts::read(mutation, control));
    let texts = texts.collect::<Result<Vec<Texts<'_>>, Status>>()?;
    let expected = MutationRequest {
        query: request.query.as_str().into(),
        variables: variables(request.vars.clone()),
        mutations: texts.iter().map(Texts::mutation).collect(),
    };
    let change = Change {
        body: mutate::Body::Request(expected),
        commits_now: request.commit_now,
        start: request.start_ts,
    };
    let done = mutate::run(database, &change, client, control).map_err(status)?;
    answer(database, done, rdf, control)
}

/// Writes the answer to a mutation that was executed, with the answer to its query.
pub(super) fn answer(
    database: &Database,
    done: MutationAnswer,
    rdf: bool,
    control: &RequestContext,
) -> Result<CallAnswer, Status> {
    let (mut latency, mut touched) = (done.latency, None);
    let mut text = String::new();
    if let Some(answer) = &done.queries {
        let written = match rdf {
            false => answer.to_json_with(control),
            true => answer.to_rdf_with(control),
        };
        (text, latency.encoding) = written.map_err(status)?;
        let counts = answer.touched().into_iter();
        touched = Some(counts.map(|(name, count)| (name.to_owned(), count)).collect());
    }
    let txn = Txn {
        mark: database.transaction_mark(done.start),
        start: done.start,
        commit: done.commit,
        keys: done.keys,
        predicates: done.predicates,
        namespace: database.namespace_id(),
    };
    let extensions = Extensions { latency, txn, touched, ..Extensions::default() };
    let response =
        messages::Response { uids: done.uids.into_iter().collect(), ..response(&extensions) };
    Ok(CallAnswer { touched: extensions.total(), ..with_data(&response, rdf, text)? })
}

/// The texts of one mutation. It owns those that its statements in the form of messages are written
/// to; all others are parts of the request.
struct Texts<'a> {
    condition: &'a str,
    set_json: &'a str,
    delete_json: &'a str,
    /// The statements that came as messages, as N-Quads.
    set: String,
    delete: String,
    set_nquads: &'a str,
    delete_nquads: &'a str,
}

impl<'a> Texts<'a> {
    fn read(
        mutation: &'a messages::Mutation,
        control: &RequestContext,
    ) -> Result<Texts<'a>, Status> {
        let statements = |quads: &[NQuad]| -> Result<String, Status> {
            let text = text_of(quads)?;
            // The copy counts for the memory of the request.
            control.reserve(text.len() as u64).map_err(status)?;
            Ok(text)
        };
        Ok(Texts {
            condition: &mutation.cond,
            set_json: text("set_json", &mutation.set_json)?,
            delete_json: text("delete_json", &mutation.delete_json)?,
            set: statements(&mutation.set)?,
            delete: statements(&mutation.del)?,
            set_nquads: text("set_nquads", &mutation.set_nquads)?,
            delete_nquads: text("del_nquads", &mutation.del_nquads)?,
        })
    }

    fn mutation(&self) -> Mutation<'_> {
        Mutation {
            condition: self.condition.into(),
            set: statements(self.set_json, self.set_nquads, &self.set),
            delete: statements(self.delete_json, self.delete_nquads, &self.delete),
        }
    }
}

/// Lists the statements that are there: JSON, N-Quads, and those that came as messages.
fn statements<'a>(json: &'a str, nquads: &'a str, messages: &'a str) -> Vec<Statements<'a>> {
    let all = [Statements::Json(json), Statements::NQuads(nquads), Statements::NQuads(messages)];
    let texts = [json, nquads, messages];
    all.into_iter().zip(texts).filter(|(_, text)| !text.is_empty()).map(|(it, _)| it).collect()
}

/// Reads the bytes of a field as text; `field` is its name for the error.
fn text<'a>(field: &str, bytes: &'a [u8]) -> Result<&'a str, Status> {
    str::from_utf8(bytes).map_err(|error| {
        Status::new(Code::InvalidArgument, format!("{field} of a mutation is not UTF-8: {error}"))
    })
}
