//! `POST /query`.

use crate::http::app::App;
use crate::http::compat::go_json;
use crate::http::message::incoming::Incoming;
use crate::http::message::reply::{Extensions, Reply, Txn};
use crate::http::message::request_error::{RequestError, ShapeError};
use crate::http::message::stream_slots::{NoSlot, StreamSlot};
use crate::http::message::streamed_answer::{
    CHUNK_LEN, Chunks, STREAM_MIN, STREAMS_MAX, StreamedAnswer,
};
use hexgraph::db::{
    Database, ExplainedStep, Explanation, Latency, ParameterValue, QueryAnswer, QueryRequest,
    RequestContext, Variables, Warning,
};
use hexgraph_base::answer::write_plain_text;
use hexgraph_base::types::{Error, JsonError, JsonReader, Result as EngineResult, bounded};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::time::{Duration, Instant};

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
    let read = read(incoming).and_then(|(request, start)| {
        let database = app.database_within(incoming, start, incoming.parameter("hash"))?;
        Ok((database, request, start, expected(incoming)?))
    });
    match read {
        Ok((database, request, start, expected)) => {
            let client = app.security.client_of(&app.unguarded, incoming);
            run((app, database, client), &request, start, expected, control)
                .unwrap_or_else(|error| Reply::failed(&error))
        }
        Err(message) => Reply::invalid_request(&message),
    }
}

fn run(
    (app, database, client): (&App, Database, u64),
    request: &QueryRequest,
    start: u64,
    Requested { rdf, explain, strict, warnings }: Requested,
    control: &RequestContext,
) -> EngineResult<Reply> {
    match explain {
        Explains::No => {}
        Explains::Plan => return planned(&database, start, request, control),
        Explains::Executed => control.start_trace(),
    }
    let (answer, start) = database.query_at(start, request, control)?;
    if strict && let Some(Warning { message, at, hint, .. }) = answer.unknown().first() {
        return Err(Error::query_at(*at, message).with_hint(hint));
    }
    let warnings = match warnings {
        true => Some(answer.warnings()),
        false => Some(answer.depth_warnings()).filter(|warnings| !warnings.is_empty()),
    };
    let written = match rdf {
        false => answer.to_short_json(STREAM_MIN, control)?,
        true => {
            let (lines, time) = answer.to_rdf_with(control)?;
            let mut text = Vec::with_capacity(lines.len() + 2);
            write_plain_text(&lines, &mut text);
            Some((String::from_utf8(text).expect("a quoted text is text"), time))
        }
    };
    let steps = control
        .trace()
        .map(|trace| Explanation::new(&request.text, trace.steps(), answer.latency()).steps);
    let about = QueryFacts { start, steps, warnings };
    match written {
        Some((data, encoding)) => {
            let extensions = about.extensions(&database, &answer, encoding);
            Ok(Reply::data(&data, &extensions))
        }
        None => stream((app, database, client), answer, about, control),
    }
}

/// Answers with the plan of a query, which does not run.
fn planned(
    database: &Database,
    start: u64,
    request: &QueryRequest,
    control: &RequestContext,
) -> EngineResult<Reply> {
    let explanation = database.explain_at(start, request, control)?;
    let extensions = Extensions {
        latency: Latency::default(),
        txn: Txn::default(),
        touched: None,
        explain: Some(explanation.steps),
        warnings: None,
    };
    Ok(Reply::data("{}", &extensions))
}

/// The facts about a query in `extensions` of its reply.
pub(in crate::http) struct QueryFacts {
    /// The start timestamp of the answer.
    pub start: u64,
    /// Its steps, if they were requested.
    pub steps: Option<Vec<ExplainedStep>>,
    /// What is likely a mistake in it, if that was requested.
    pub warnings: Option<Vec<Warning>>,
}

impl QueryFacts {
    /// What stands next to the answer.
    pub(in crate::http) fn extensions(
        self,
        database: &Database,
        answer: &QueryAnswer,
        encoding: Duration,
    ) -> Extensions {
        let latency = Latency { encoding, ..answer.latency() };
        let mark = database.transaction_mark(self.start);
        let txn = Txn { start: self.start, mark, ..Txn::default() };
        let touched = answer.touched().into_iter().map(|(name, count)| (name.to_owned(), count));
        Extensions {
            latency,
            txn,
            touched: Some(touched.collect()),
            explain: self.steps,
            warnings: self.warnings,
        }
    }
}

/// The reply with a long answer, which is written while it is sent.
fn stream(
    (app, database, client): (&App, Database, u64),
    answer: QueryAnswer,
    about: QueryFacts,
    control: &RequestContext,
) -> EngineResult<Reply> {
    let slot = stream_slot(app, client, control)?;
    let touched = answer.touched().values().sum();
    let write = move |control: &RequestContext, chunks: &mut Chunks<'_>| {
        let started = Instant::now();
        chunks.send(b"{\"data\":".to_vec())?;
        answer.write_chunks(CHUNK_LEN, control, |chunk| chunks.send(chunk))?;
        let extensions = about.extensions(&database, &answer, started.elapsed());
        let mut extension_bytes = b",\"extensions\":".to_vec();
        extensions.write_json(&mut extension_bytes);
        extension_bytes.push(b'}');
        chunks.send(extension_bytes)
    };
    Ok(Reply::stream(StreamedAnswer::new(slot, control.successor(), write), Some(touched)))
}

/// The slot of a long answer among those that are written while they are sent. Memory for the
/// fragments that wait for the client is reserved.
pub(super) fn stream_slot(
    app: &App,
    client: u64,
    control: &RequestContext,
) -> EngineResult<StreamSlot> {
    let slot = app.streams.acquire(client).map_err(|why| {
        control.note_starved();
        let which = match why {
            NoSlot::Full => format!("{STREAMS_MAX} answers"),
            NoSlot::Reservation(own) => format!("{own} answers to you"),
        };
        let message = format!(
            "{which} of more than {STREAM_MIN} bytes are being sent, which is the most: read them, \
             try again later, or ask for less"
        );
        Error::Limit { message }
    })?;
    control.reserve(8 * CHUNK_LEN as u64)?;
    Ok(slot)
}

/// Which operators of a query are requested.
#[derive(Clone, Copy)]
enum Explains {
    /// None.
    No,
    /// The planned ones instead of the answer.
    Plan,
    /// The executed ones in addition to the answer.
    Executed,
}

/// The requested form of the answer.
struct Requested {
    /// Write N-Quads instead of JSON.
    rdf: bool,
    /// Which operators of the query `extensions` has.
    explain: Explains,
    /// Refuse names that the schema does not know.
    strict: bool,
    /// Add such names to `extensions`.
    warnings: bool,
}

fn expected(incoming: &Incoming) -> Result<Requested, RequestError> {
    let explain = match incoming.parameter("explain") {
        "analyze" => Explains::Executed,
        _ if incoming.flag("explain")? => Explains::Plan,
        _ => Explains::No,
    };
    let strict = incoming.flag("strict")?;
    let warnings = incoming.flag("warnings")?;
    match incoming.parameter("respFormat") {
        "" | "json" => Ok(Requested { rdf: false, explain, strict, warnings }),
        "rdf" => Ok(Requested { rdf: true, explain, strict, warnings }),
        other => Err(RequestError::Choice { name: "respFormat", value: other.to_owned() }),
    }
}

/// Reads the query, and the number of the version or transaction to read from; 0 means the
/// newest version.
fn read(incoming: &Incoming) -> Result<(QueryRequest, u64), RequestError> {
    let debug = incoming.flag("debug")?;
    let start = incoming.number("startTs")?;
    // A query costs the same whether a mutation may follow it or not, and the newest version is
    // always at hand, so these two change nothing.
    incoming.flag("ro")?;
    incoming.flag("be")?;
    let (text, variables) = match incoming.content_type()?.as_str() {
        "application/json" => read_json(incoming.text()?)?,
        "application/dql" | "application/graphql+-" => {
            (incoming.text()?.to_owned(), Variables::new())
        }
        _ => {
            return Err(RequestError::ContentType {
                supported: "application/json, application/graphql+-,application/dql",
            });
        }
    };
    Ok((QueryRequest { text, variables, debug }, start))
}

fn read_json(body: &str) -> Result<(String, Variables), RequestError> {
    if let Some(key) = repeated_key(body, "variables") {
        return Err(RequestError::RepeatedKey { key: bounded(key) });
    }
    let mut body: Map<String, Value> =
        serde_json::from_str(body).map_err(|error| json_error(body, &error))?;
    let text = match body.remove("query") {
        Some(Value::String(text)) => text,
        None | Some(Value::Null) => String::new(),
        Some(other) => {
            return Err(ShapeError::Query { result: bounded(other) }.into());
        }
    };
    let mut variables = Variables::new();
    let given = match body.remove("variables") {
        Some(Value::Object(given)) => given,
        None | Some(Value::Null) => return Ok((text, variables)),
        Some(other) => {
            return Err(ShapeError::Variables { result: bounded(other) }.into());
        }
    };
    for (name, value) in given {
        let given = match value {
            Value::String(value) => ParameterValue::from(value),
            // As an empty text, so that the default in the query counts.
            Value::Null => ParameterValue::from(String::new()),
            Value::Array(values) if values.iter().all(Value::is_string) => {
                let texts = values.iter().filter_map(Value::as_str);
                ParameterValue::list(texts.map(str::to_owned).collect())
            }
            value => {
                let (name, result) = (bounded(name), bounded(value));
                return Err(ShapeError::Variable { name, result }.into());
            }
        };
        variables.insert(name, given);
    }
    Ok((text, variables))
}

/// The key `query` or that of the values of variables, or the variable, that has two different
/// values: the reader of JSON takes the last one. `None` for what is no JSON, too.
pub(super) fn repeated_key(body: &str, values_key: &str) -> Option<String> {
    let mut members = FxHashMap::default();
    let mut variables = FxHashMap::default();
    let repeated = JsonReader::new(body).object(|key, value| {
        let start = value.offset();
        match &*key {
            key if key == values_key && value.peek()? == b'{' => value.object(|name, value| {
                let start = value.offset();
                value.skip()?;
                once(&mut variables, name, value.since(start))
            })?,
            key if key == "query" || key == values_key => value.skip()?,
            _ => return Ok(value.skip()?),
        }
        once(&mut members, key, value.since(start))
    });
    match repeated {
        Err(Stop::Repeated(key)) => Some(key),
        _ => None,
    }
}

/// Why the search for repeated keys stops early.
enum Stop {
    Json,
    Repeated(String),
}

impl From<JsonError> for Stop {
    fn from(_: JsonError) -> Stop {
        Stop::Json
    }
}

/// Notes the value of a key, which has the same one each time.
fn once<'a>(
    values: &mut FxHashMap<Cow<'a, str>, &'a str>,
    key: Cow<'a, str>,
    value: &'a str,
) -> Result<(), Stop> {
    match values.entry(key) {
        Entry::Occupied(entry) if *entry.get() != value => {
            Err(Stop::Repeated(entry.key().clone().into_owned()))
        }
        Entry::Occupied(_) => Ok(()),
        Entry::Vacant(entry) => {
            entry.insert(value);
            Ok(())
        }
    }
}

/// Returns the error for a body that should be JSON and that the reader of JSON refused.
pub(super) fn json_error(body: &str, error: &serde_json::Error) -> RequestError {
    go_json::request_error(body).unwrap_or_else(|| {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let reason = message.split(" at line ").next().unwrap_or(&message);
        RequestError::NoJson { line, column, reason: reason.to_owned() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_bodies() {
        let (text, variables) =
            read_json(r#"{"query":"{ q }","variables":{"$a":"1"},"more":1}"#).unwrap();
        assert_eq!((text.as_str(), variables["$a"].text()), ("{ q }", "1"));
        assert_eq!(read_json("{}").unwrap().0, "");
        for bad in ["{", "[]x", r#"{"query":1}"#, r#"{"variables":{"$a":1}}"#, "[1]", "7"] {
            let reported = read_json(bad).unwrap_err().to_string();
            assert!(reported.starts_with("Error parsing JSON"), "{bad}: {reported}");
        }
        let same = r#"{"query":"{ q }","variables":{"$a":"1","$a":"1"},"query":"{ q }"}"#;
        assert_eq!(read_json(same).unwrap().0, "{ q }");
        for (key, twice) in [
            ("query", r#"{"query":"{ q }","query":"{ r }"}"#),
            ("variables", r#"{"variables":{"$a":"1"},"query":"","variables":null}"#),
            ("$a", r#"{"variables":{"$a":"1","$b":"1","$\u0061":"2"}}"#),
        ] {
            let message = read_json(twice).unwrap_err().to_string();
            assert!(message.contains(&format!("`{key}` is there twice")), "{message}");
        }
        let wrong = |body| read_json(body).unwrap_err().to_string();
        let end = "unexpected end of JSON input\n";
        assert_eq!(wrong("{"), format!("Error parsing JSON at line 1, character 1: {end}"));
        assert_eq!(wrong("{\n \n"), format!("Error parsing JSON at line 3, character 1: {end}"));
        let want = "Error parsing JSON at line 1, character 4: \
                    invalid character 'b' looking for beginning of value\n";
        assert_eq!(wrong("{\"\":b}").replace("character 6", "character 4"), want);
    }
}
