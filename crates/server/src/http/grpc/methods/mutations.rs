//! Mutations and upserts inside of a request.

use super::parameters::variables;
use super::statements::text_of;
use super::told::{response, status, with_data};
use crate::http::endpoints::mutate;
use crate::http::endpoints::mutate::Change;
use crate::http::grpc::call::CallAnswer;
use crate::http::grpc::messages::{self, NQuad, Request};
use crate::http::grpc::status::{Code, Status};
use crate::http::message::reply::{Extensions, Txn};
use hexgraph::db::{Control, Database, Mutation, MutationAnswer, MutationRequest, Statements};
use std::net::IpAddr;

/// Carries out the mutations of a request, and its query before them.
///
/// # Errors
///
/// Those of the engine; [`Code::InvalidArgument`] for texts that are no UTF-8.
pub(super) fn carry_out(
    database: &Database,
    (request, rdf): (&Request, bool),
    client: Option<IpAddr>,
    control: &Control,
) -> Result<CallAnswer, Status> {
    let texts = request.mutations.iter().map(|mutation| Texts::read(mutation, control));
    let texts = texts.collect::<Result<Vec<Texts<'_>>, Status>>()?;
    let wanted = MutationRequest {
        query: request.query.as_str().into(),
        variables: variables(request.vars.clone()),
        mutations: texts.iter().map(Texts::mutation).collect(),
    };
    let change = Change {
        body: mutate::Body::Request(wanted),
        commits_now: request.commit_now,
        start: request.start_ts,
    };
    let done = mutate::run(database, &change, client, control).map_err(status)?;
    answer(database, done, rdf, control)
}

/// The answer to a mutation that was carried out.
pub(super) fn answer(
    database: &Database,
    done: MutationAnswer,
    rdf: bool,
    control: &Control,
) -> Result<CallAnswer, Status> {
    let (mut latency, mut touched) = (done.latency, None);
    let mut text = String::new();
    if let Some(answer) = &done.queries {
        let written = match rdf {
            false => answer.to_json_within(control),
            true => answer.to_rdf_within(control),
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

/// The texts of one mutation, statements that came as messages among them.
struct Texts<'a> {
    condition: &'a str,
    set_json: &'a str,
    delete_json: &'a str,
    set: [String; 1],
    delete: [String; 1],
    set_nquads: &'a str,
    delete_nquads: &'a str,
}

impl<'a> Texts<'a> {
    fn read(mutation: &'a messages::Mutation, control: &Control) -> Result<Texts<'a>, Status> {
        let statements = |quads: &[NQuad]| -> Result<[String; 1], Status> {
            let text = text_of(quads)?;
            control.draw(text.len() as u64).map_err(status)?;
            Ok([text])
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

fn statements<'a>(json: &'a str, nquads: &'a str, quads: &'a [String]) -> Vec<Statements<'a>> {
    let json = (!json.is_empty()).then_some(Statements::Json(json));
    let texts = [nquads].into_iter().chain(quads.iter().map(String::as_str));
    let texts = texts.filter(|text| !text.is_empty()).map(Statements::NQuads);
    json.into_iter().chain(texts).collect()
}

fn text<'a>(field: &str, bytes: &'a [u8]) -> Result<&'a str, Status> {
    str::from_utf8(bytes).map_err(|error| {
        Status::new(Code::InvalidArgument, format!("{field} of a mutation is not UTF-8: {error}"))
    })
}
