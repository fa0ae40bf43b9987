//! Requests the schemas of the servers of custom fields, when a schema is set, and compares the
//! fields with them.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::model::{Custom, CustomHttp, Field, HttpMethod, Model};
use crate::remote::message::call_error::AnswerError;
use crate::remote::message::exchange::{Fetch, Outgoing};
use crate::remote::message::headers;
use crate::remote::schema_check::fit;
use crate::remote::schema_check::introspection::{QUESTION, RemoteSchema};
use crate::syntax::GraphqlError;

/// The number of servers that are called at once.
const PARALLEL: usize = 8;

/// The most faults that are returned.
const FAULTS_MAX: usize = 200;

/// A custom field that is compared with the schema of its server.
struct RequestedQuery<'a> {
    type_name: &'a str,
    field: &'a Field,
    http: &'a CustomHttp,
}

/// Requests the schema of each server once, and compares the custom fields that send operations to
/// it. Returns the faults in the order of their positions. Waits for the servers, eight at a time,
/// each at most `timeout` long.
pub fn survey(
    model: &Model,
    fetch: &dyn Fetch,
    timeout: Duration,
    bytes_max: u64,
) -> Vec<GraphqlError> {
    // Fields with other headers may see another schema, so each pair of address and headers is
    // requested.
    let mut servers: BTreeMap<(String, Vec<(String, String)>), Vec<RequestedQuery<'_>>> =
        BTreeMap::new();
    for requested in fields(model) {
        let headers = headers::of_introspection(model, requested.http).0;
        servers.entry((requested.http.url.clone(), headers)).or_default().push(requested);
    }
    let requests: Vec<Outgoing> =
        servers.keys().map(|(url, headers)| question(url, headers, timeout, bytes_max)).collect();
    let schemas: Vec<Result<RemoteSchema, AnswerError>> =
        requests.chunks(PARALLEL).flat_map(|chunk| fetch_schemas(fetch, chunk)).collect();
    let mut faults = Vec::new();
    for (requested, schema) in servers.values().zip(&schemas) {
        for requested in requested {
            faults.extend(compare(model, requested, schema));
        }
    }
    faults.sort_by(|one: &GraphqlError, other| one.positions.cmp(&other.positions));
    // A server that is down has a fault for each field.
    faults.truncate(FAULTS_MAX);
    faults
}

/// Returns the fields whose server is called. A field of an interface represents its copies in the
/// types that implement it.
fn fields(model: &Model) -> Vec<RequestedQuery<'_>> {
    let types = model.types.iter().map(|def| (def.name.as_str(), &def.fields));
    let roots = [("Query", &model.queries), ("Mutation", &model.mutations)];
    let all = types.chain(roots);
    let fields = all.flat_map(|(name, fields)| fields.iter().map(move |field| (name, field)));
    let requested = fields.filter_map(|(type_name, field)| match &field.custom {
        Some(Custom::Http(http))
            if http.graphql.is_some()
                && !http.skip_introspection
                && field.inherited_from.is_none() =>
        {
            Some(RequestedQuery { type_name, field, http })
        }
        _ => None,
    });
    requested.collect()
}

/// Makes the request for a server's schema.
fn question(
    url: &str,
    headers: &[(String, String)],
    timeout: Duration,
    bytes_max: u64,
) -> Outgoing {
    Outgoing {
        method: HttpMethod::Post,
        url: url.to_owned(),
        headers: headers.to_vec(),
        body: Some(json!({ "query": QUESTION }).to_string().into_bytes()),
        timeout,
        bytes_max,
    }
}

/// Calls several servers at once, each on a thread of its own, and returns their schemas in the
/// order of the requests.
fn fetch_schemas(
    fetch: &dyn Fetch,
    requests: &[Outgoing],
) -> Vec<Result<RemoteSchema, AnswerError>> {
    thread::scope(|scope| {
        let threads: Vec<_> =
            requests.iter().map(|request| scope.spawn(|| fetch_schema(fetch, request))).collect();
        let reason = "it could not be called";
        let failed = |_| Err(AnswerError::Unanswered { reason: reason.to_owned() });
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(failed)).collect()
    })
}

/// Requests the schema of a server.
fn fetch_schema(fetch: &dyn Fetch, request: &Outgoing) -> Result<RemoteSchema, AnswerError> {
    let incoming =
        fetch.fetch(request).map_err(|error| AnswerError::Unanswered { reason: error.message })?;
    if !incoming.is_success() {
        return Err(AnswerError::Status(incoming.status));
    }
    RemoteSchema::read(&incoming.body)
}

/// Returns the faults of a field, or the one fault that its server's schema is unavailable.
fn compare(
    model: &Model,
    requested: &RequestedQuery<'_>,
    schema: &Result<RemoteSchema, AnswerError>,
) -> Vec<GraphqlError> {
    let RequestedQuery { type_name, field, http } = requested;
    let whats = match schema {
        Ok(schema) => fit::faults(model, schema, field, http),
        Err(why) => {
            let hint = "skipIntrospection: true goes without it";
            vec![format!("the schema of {} can't be had: {why} ({hint}).", http.url)]
        }
    };
    let reported = whats.into_iter().map(|what| {
        let message = format!(
            "Type {type_name}; Field {}; inside graphql in @custom directive, {what}",
            field.name
        );
        GraphqlError::at(http.graphql_at, message)
    });
    reported.collect()
}
