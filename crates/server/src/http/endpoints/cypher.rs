//! `POST /cypher`: a query in openCypher, answered with columns and rows.

use super::query::{json_error, repeated_key, stream_slot};
use crate::http::app::App;
use crate::http::message::incoming::Incoming;
use crate::http::message::reply::{Extensions, Reply, Txn};
use crate::http::message::request_error::{RequestError, ShapeError};
use crate::http::message::streamed_answer::{CHUNK_LEN, Chunks, STREAM_MIN, StreamedAnswer};
use hexgraph::db::{CypherAnswer, Database, Latency, RequestContext, cypher_params};
use hexgraph_base::types::{Result as EngineResult, bounded};
use serde_json::{Map, Value};
use std::time::{Duration, Instant};

/// A query with its parameters as they come.
#[derive(Debug, Default, PartialEq)]
struct Statement {
    text: String,
    params: Map<String, Value>,
}

/// Answers a query.
pub(in crate::http) fn answer(app: &App, incoming: &Incoming, control: &RequestContext) -> Reply {
    if let Some(refusal) = app.switches.refusal() {
        return Reply::failed(&refusal);
    }
    if incoming.media_type() == "application/json"
        && let Err(error) = incoming.reserve_json(1)
    {
        control.note_starved();
        return Reply::failed(&error);
    }
    let read = read(incoming).and_then(|(statement, start)| {
        let database = app.database_within(incoming, start, incoming.parameter("hash"))?;
        Ok((database, statement, start))
    });
    match read {
        Ok((database, statement, start)) => {
            let client = app.security.client_of(&app.unguarded, incoming);
            run((app, database, client), &statement, start, control)
                .unwrap_or_else(|error| Reply::failed(&error))
        }
        Err(message) => Reply::invalid_request(&message),
    }
}

fn run(
    (app, database, client): (&App, Database, u64),
    statement: &Statement,
    start: u64,
    control: &RequestContext,
) -> EngineResult<Reply> {
    let params = cypher_params(&statement.params)?;
    let (answer, start) = database.cypher_at(start, &statement.text, &params, control)?;
    if let Some((data, encoding)) = answer.to_short_json(STREAM_MIN, control)? {
        return Ok(Reply::data(&data, &extensions((&database, start), &answer, encoding)));
    }
    let slot = stream_slot(app, client, control)?;
    let write = move |control: &RequestContext, chunks: &mut Chunks<'_>| {
        let started = Instant::now();
        chunks.send(b"{\"data\":".to_vec())?;
        answer.write_chunks(CHUNK_LEN, control, |chunk| chunks.send(chunk))?;
        let mut after = b",\"extensions\":".to_vec();
        extensions((&database, start), &answer, started.elapsed()).write_json(&mut after);
        after.push(b'}');
        chunks.send(after)
    };
    Ok(Reply::stream(StreamedAnswer::new(slot, control.successor(), write), None))
}

/// What stands next to the answer.
fn extensions(
    (database, start): (&Database, u64),
    answer: &CypherAnswer,
    encoding: Duration,
) -> Extensions {
    let txn = Txn { start, mark: database.transaction_mark(start), ..Txn::default() };
    let latency = Latency { encoding, ..answer.latency() };
    let warnings = Some(answer.warnings().to_vec()).filter(|it| !it.is_empty());
    Extensions { latency, txn, warnings, ..Extensions::default() }
}

/// Reads the query, and the number of the version or transaction to read from; 0 means the newest
/// version.
fn read(incoming: &Incoming) -> Result<(Statement, u64), RequestError> {
    let start = incoming.number("startTs")?;
    let statement = match incoming.content_type()?.as_str() {
        "application/json" => read_json(incoming.text()?)?,
        "application/cypher" => {
            Statement { text: incoming.text()?.to_owned(), ..Statement::default() }
        }
        _ => {
            let supported = "application/json, application/cypher";
            return Err(RequestError::ContentType { supported });
        }
    };
    Ok((statement, start))
}

fn read_json(body: &str) -> Result<Statement, RequestError> {
    if let Some(key) = repeated_key(body, "params") {
        return Err(RequestError::RepeatedKey { key: bounded(key) });
    }
    let mut body: Map<String, Value> =
        serde_json::from_str(body).map_err(|error| json_error(body, &error))?;
    let text = match body.remove("query") {
        Some(Value::String(text)) => text,
        None | Some(Value::Null) => String::new(),
        Some(other) => return Err(ShapeError::Query { result: bounded(other) }.into()),
    };
    let params = match body.remove("params") {
        Some(Value::Object(params)) => params,
        None | Some(Value::Null) => Map::new(),
        Some(other) => return Err(ShapeError::Params { result: bounded(other) }.into()),
    };
    // A query that lacks its values for a misspelt member would report missing parameters.
    match body.into_iter().next() {
        Some((name, _)) => Err(ShapeError::Member { name: bounded(name) }.into()),
        None => Ok(Statement { text, params }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_have_a_query_and_params() {
        let read = |body| read_json(body).map_err(|error| error.to_string());
        let statement = read(r#"{"query":"RETURN $n","params":{"n":1}}"#).unwrap();
        assert_eq!((statement.text.as_str(), &statement.params["n"]), ("RETURN $n", &1.into()));
        assert_eq!(read(r#"{"query":null,"params":null}"#), Ok(Statement::default()));
        for (body, fault) in [
            ("{", "at line 1, character 1"),
            ("[1]", "Error parsing JSON"),
            (r#"{"query":1}"#, "`query` must be a text, not 1"),
            (r#"{"params":[]}"#, "`params` must be an object, not []"),
            (r#"{"query":"a","variables":{}}"#, "`variables`"),
            (r#"{"query":"a","query":"b"}"#, "`query` is there twice"),
            (r#"{"params":{"n":1,"n":2}}"#, "`n` is there twice"),
        ] {
            let error = read(body).unwrap_err();
            assert!(error.contains(fault), "{body}: {error}");
        }
    }
}
