//! `POST /mutate`.

use crate::http::app::App;
use crate::http::compat::go_json;
use crate::http::message::incoming::{Incoming, Unreadable};
use crate::http::message::reply::{Extensions, Reply, Txn};
use crate::http::message::request_error::RequestError;
use hexgraph::db::{
    Database, Mutation, MutationAnswer, MutationRequest, RequestContext, Statements, TxnOptions,
};
use hexgraph_base::types::{Error, JsonError, JsonReader, Position, Result as EngineResult};
use serde_json::json;
use std::borrow::Cow;
use std::net::IpAddr;

/// Runs a mutation: in the transaction that it names, in a new one, or as one of its own.
pub(in crate::http) fn answer(app: &App, incoming: &Incoming, control: &RequestContext) -> Reply {
    if let Some(refusal) = app.switches.refusal() {
        return Reply::failed(&refusal);
    }
    let request = match read(incoming) {
        Ok(request) => request,
        Err(Unreadable::Wrong(error)) => {
            return Reply::invalid_request(&error).counted_as(error.refused());
        }
        Err(Unreadable::Starved(error)) => {
            control.note_starved();
            return Reply::failed(&error);
        }
    };
    let database = app.database_within(incoming, request.start, incoming.parameter("hash"));
    let database = match database {
        Ok(database) => database,
        Err(message) => return Reply::invalid_request(&message),
    };
    let done = run(&database, &request, incoming.client(), control);
    done.and_then(|done| reply(&database, done, control))
        .unwrap_or_else(|error| Reply::failed(&error))
}

/// Runs a change as it says.
///
/// # Errors
///
/// Those of [`Txn::mutate`](hexgraph::db::Txn::mutate) and
/// [`Txn::commit`](hexgraph::db::Txn::commit).
pub(in crate::http) fn run(
    database: &Database,
    request: &Change<'_>,
    client: Option<IpAddr>,
    control: &RequestContext,
) -> EngineResult<MutationAnswer> {
    let Change { body, commits_now, start } = request;
    if *commits_now && *start == 0 {
        return match body {
            Body::Text(text) => database.mutate_text_with(text, control),
            Body::Request(request) => database.mutate_with(request, control),
        };
    }
    let txn = match *start {
        0 => database.begin(TxnOptions { client, ..TxnOptions::default() })?,
        start => database.resume_for(start, client)?,
    };
    let mut done = match body {
        Body::Text(text) => txn.mutate_text_with(text, control)?,
        Body::Request(request) => txn.mutate_with(request, control)?,
    };
    if *commits_now {
        done.commit = Some(txn.commit()?);
        (done.keys, done.predicates) = (Vec::new(), Vec::new());
    }
    txn.leave_open();
    Ok(done)
}

fn reply(
    database: &Database,
    done: MutationAnswer,
    control: &RequestContext,
) -> EngineResult<Reply> {
    let mut latency = done.latency;
    let queries = match &done.queries {
        None => "null".to_owned(),
        Some(answer) => {
            let (json, encoding) = answer.to_json_with(control)?;
            latency.encoding = encoding;
            json
        }
    };
    let uids = match done.is_query {
        true => "null".to_owned(),
        false => json!(done.uids).to_string(),
    };
    let data = format!(
        "{{\"code\":\"Success\",\"message\":\"Done\",\"queries\":{queries},\"uids\":{uids}}}"
    );
    let txn = Txn {
        mark: database.transaction_mark(done.start),
        start: done.start,
        commit: done.commit,
        keys: done.keys,
        predicates: done.predicates,
        namespace: database.namespace_id(),
    };
    let extensions = Extensions { latency, txn, ..Extensions::default() };
    Ok(Reply::data(&data, &extensions))
}

/// A request to change something.
pub(in crate::http) struct Change<'a> {
    /// What it is to change.
    pub body: Body<'a>,
    /// Whether the transaction is committed with it.
    pub commits_now: bool,
    /// The number of the transaction; 0 means a new one.
    pub start: u64,
}

/// What is to be changed.
pub(in crate::http) enum Body<'a> {
    /// A request in DQL, with N-Quads inside.
    Text(&'a str),
    /// A request in parts: it came in JSON or as a message.
    Request(MutationRequest<'a>),
}

fn read(incoming: &Incoming) -> Result<Change<'_>, Unreadable> {
    let wrong = Unreadable::Wrong;
    let commits_now = incoming.flag("commitNow").map_err(wrong)?;
    let start = incoming.number("startTs").map_err(wrong)?;
    let is_json = match incoming.content_type().map_err(wrong)?.as_str() {
        "application/rdf" => false,
        "application/json" => true,
        _ => {
            let supported = "application/json, application/rdf";
            return Err(wrong(RequestError::ContentType { supported }));
        }
    };
    let text = incoming.text().map_err(wrong)?;
    let reserve =
        |bytes| incoming.reservation().map_or(Ok(()), |reservation| reservation.reserve(bytes));
    let body = match is_json {
        true => Body::Request(read_json(text, &reserve)?),
        false => Body::Text(text),
    };
    Ok(Change { body, commits_now, start })
}

/// Reads `{"query": …, "cond": …, "set": …, "delete": …, "mutations": [{…}, …]}`. What is set and
/// deleted next to the mutations is a mutation before them. A key that is repeated adds statements
/// or mutations; `query` and `cond` have one value.
fn read_json<'a>(body: &'a str, reserve: Reserve<'_>) -> Result<MutationRequest<'a>, Unreadable> {
    let mut reader = JsonReader::new(body);
    read_members(&mut reader, reserve).map_err(|stop| match stop {
        Stop::Starved(error) => Unreadable::Starved(error),
        Stop::Repeated(key) => Unreadable::Wrong(RequestError::Repeated { key }),
        Stop::Json(reason) => {
            Unreadable::Wrong(go_json::request_error(body).unwrap_or_else(|| {
                let at = Position::of(body, reader.offset());
                let (line, column) = (at.line as usize, at.shown_column() as usize);
                RequestError::NoJson { line, column, reason: reason.to_string() }
            }))
        }
    })
}

/// Reserves bytes before they are allocated.
type Reserve<'r> = &'r dyn Fn(u64) -> EngineResult<()>;

/// The memory of a mutation in addition to its statements: in the request, which is a list that
/// doubles, and when it runs.
const MUTATION_BYTES: u64 = 2 << 10;

/// Why reading a body stops early.
enum Stop {
    Json(JsonError),
    Repeated(&'static str),
    Starved(Error),
}

impl From<JsonError> for Stop {
    fn from(error: JsonError) -> Stop {
        Stop::Json(error)
    }
}

fn read_members<'a>(
    reader: &mut JsonReader<'a>,
    reserve: Reserve<'_>,
) -> Result<MutationRequest<'a>, Stop> {
    let mut request = MutationRequest::default();
    let mut first = Mutation::default();
    let mut mutations = Vec::new();
    reader.object(|key, value| -> Result<(), Stop> {
        match &*key {
            "query" => set_once("query", &mut request.query, text(value)?)?,
            "mutations" if value.peek()? != b'n' => {
                value.array(|element| -> Result<(), Stop> {
                    let mut mutation = Mutation::default();
                    element.object(|key, value| read_part(&key, value, &mut mutation))?;
                    if changes(&mutation) {
                        reserve(MUTATION_BYTES).map_err(Stop::Starved)?;
                        mutations.push(mutation);
                    }
                    Ok(())
                })?;
            }
            key => read_part(key, value, &mut first)?,
        }
        Ok(())
    })?;
    reader.end()?;
    if changes(&first) {
        mutations.insert(0, first);
    }
    Ok(MutationRequest { mutations, ..request })
}

/// Whether a mutation sets or deletes anything.
fn changes(mutation: &Mutation<'_>) -> bool {
    !mutation.set.is_empty() || !mutation.delete.is_empty()
}

/// Reads a member of a mutation. Members of other names mean nothing.
fn read_part<'a>(
    key: &str,
    value: &mut JsonReader<'a>,
    mutation: &mut Mutation<'a>,
) -> Result<(), Stop> {
    match key {
        "cond" => set_once("cond", &mut mutation.condition, text(value)?)?,
        "set" => mutation.set.extend(statements(value)?),
        "delete" => mutation.delete.extend(statements(value)?),
        _ => value.skip()?,
    }
    Ok(())
}

/// Sets a text that has one value, unless it is the same again.
fn set_once<'a>(
    key: &'static str,
    current: &mut Cow<'a, str>,
    text: Cow<'a, str>,
) -> Result<(), Stop> {
    if current.is_empty() || *current == text {
        *current = text;
    } else if !text.is_empty() {
        return Err(Stop::Repeated(key));
    }
    Ok(())
}

fn text<'a>(value: &mut JsonReader<'a>) -> Result<Cow<'a, str>, JsonError> {
    match value.peek()? {
        b'n' => value.word().map(|_| Cow::Borrowed("")),
        _ => value.string(),
    }
}

fn statements<'a>(value: &mut JsonReader<'a>) -> Result<Vec<Statements<'a>>, JsonError> {
    if value.peek()? == b'n' {
        value.word()?;
        return Ok(Vec::new());
    }
    let start = value.offset();
    value.skip()?;
    Ok(vec![Statements::Json(value.since(start))])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free(_: u64) -> EngineResult<()> {
        Ok(())
    }

    #[test]
    fn bodies() {
        let text = r#"{"mutations": [{"set": [{"b": 2}], "cond": "@if(eq(len(v), 0))"}, {}],
            "query": "{ q(func: uid(1)) { v as uid\n } }", "delete": null, "set": {"a": {"c": 1}},
            "variables": {"$x": "1"}, "cond": null}"#;
        let request = read_json(text, &free).unwrap();
        assert_eq!(request.query, "{ q(func: uid(1)) { v as uid\n } }");
        let sets: Vec<_> = request.mutations.iter().map(|mutation| mutation.set.clone()).collect();
        let json = |text| vec![Statements::Json(text)];
        assert_eq!(sets, [json(r#"{"a": {"c": 1}}"#), json(r#"[{"b": 2}]"#)]);
        assert_eq!(request.mutations[1].condition, "@if(eq(len(v), 0))");
        assert!(read_json("{}", &free).unwrap().mutations.is_empty());
    }

    /// Nothing of a body is lost without a word.
    #[test]
    fn repeated_keys() {
        let json = Statements::Json;
        let text = r#"{"set": [1], "delete": [2], "set": [3], "delete": null, "delete": [4], "set": null,
            "mutations": [{"set": [5], "set": [6]}], "query": "{ }", "mutations": [{"delete": [7]}], "query": null}"#;
        let request = read_json(text, &free).unwrap();
        let sets: Vec<_> = request.mutations.iter().map(|it| it.set.clone()).collect();
        let deletes: Vec<_> = request.mutations.iter().map(|it| it.delete.clone()).collect();
        assert_eq!(sets, [vec![json("[1]"), json("[3]")], vec![json("[5]"), json("[6]")], vec![]]);
        assert_eq!(deletes, [vec![json("[2]"), json("[4]")], vec![], vec![json("[7]")]]);
        assert_eq!(request.query, "{ }");
        for (body, key) in [
            (r#"{"query": "a", "query": "b"}"#, "`query`"),
            (r#"{"set": {}, "cond": "@if(a)", "cond": "@if(b)"}"#, "`cond`"),
            (r#"{"mutations": [{"cond": "@if(a)", "set": {}, "cond": "@if(b)"}]}"#, "`cond`"),
        ] {
            let Err(Unreadable::Wrong(message)) = read_json(body, &free) else { panic!("{body}") };
            assert!(message.to_string().contains(key), "{message}");
        }
    }

    #[test]
    fn faulty_bodies() {
        let cases = [
            ("", "line 1, character 0: unexpected end of JSON input"),
            ("{\"set\": [}", "invalid character '}' looking for beginning of value"),
            ("{\"query\":\n 5}", "line 2, character 2: "),
            ("[]", "line 1, character 1: "),
            ("{\"mutations\": {}}", "line 1, character 15: "),
            ("{} x", "invalid character 'x' after top-level value"),
        ];
        for (body, part) in cases {
            let Err(Unreadable::Wrong(message)) = read_json(body, &free) else { panic!("{body}") };
            let message = message.to_string();
            assert!(message.starts_with("Error parsing JSON at "), "{message}");
            assert!(message.contains(part), "{message}");
        }
    }
}
