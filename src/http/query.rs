//! `POST /query`.

use super::go_json;
use super::incoming::Incoming;
use super::reply::Extensions;
use super::reply::Reply;
use super::reply::Txn;
use super::router::App;
use crate::answer::write_plain_text;
use crate::db::Control;
use crate::db::Explanation;
use crate::db::QueryRequest;
use crate::db::Variables;
use crate::types::Result as EngineResult;
use serde_json::Map;
use serde_json::Value;

/// Answers a query.
pub fn answer(app: &App, incoming: &Incoming, control: &Control) -> Reply {
    if let Some(refusal) = app.switches.refusal() {
        return Reply::failed(&refusal);
    }
    match read(incoming).and_then(|request| Ok((request, wanted(incoming)?))) {
        Ok(((request, start), wanted)) => {
            run(app, &request, start, wanted, control).unwrap_or_else(|error| Reply::failed(&error))
        }
        Err(message) => Reply::invalid_request(&message),
    }
}

fn run(
    app: &App,
    request: &QueryRequest,
    start: u64,
    Wanted { rdf, explain }: Wanted,
    control: &Control,
) -> EngineResult<Reply> {
    if explain {
        control.start_trace();
    }
    let (answer, start) = app.database.query_at(start, request, control)?;
    let (data, encoding) = match rdf {
        false => answer.to_json_within(control)?,
        true => {
            let (lines, time) = answer.to_rdf()?;
            let mut text = Vec::with_capacity(lines.len() + 2);
            write_plain_text(&lines, &mut text);
            (String::from_utf8(text).expect("a quoted text is text"), time)
        }
    };
    let mut latency = answer.latency();
    latency.encoding = encoding;
    if app.prints_slow && app.database.limits().slow <= latency.total() {
        let text = request.text.split_whitespace().collect::<Vec<_>>().join(" ");
        eprintln!("slow query, {:.3} s: {text}", latency.total().as_secs_f64());
    }
    let txn = Txn { start, ..Txn::default() };
    let steps =
        control.trace().map(|trace| Explanation::new(&request.text, trace.steps(), latency));
    let touched = answer.touched().into_iter().map(|(name, count)| (name.to_owned(), count));
    let extensions = Extensions {
        latency,
        txn,
        touched: Some(touched.collect()),
        explain: steps.map(|explanation| explanation.steps),
    };
    Ok(Reply::data(data.as_bytes(), &extensions))
}

/// How the answer is to be written.
struct Wanted {
    /// As N-Quads.
    rdf: bool,
    /// With the steps of the query.
    explain: bool,
}

fn wanted(incoming: &Incoming) -> Result<Wanted, String> {
    let explain = incoming.flag("explain")?;
    match incoming.parameter("respFormat") {
        "" | "json" => Ok(Wanted { rdf: false, explain }),
        "rdf" => Ok(Wanted { rdf: true, explain }),
        other => Err(format!("invalid value [{other}] for parameter respFormat")),
    }
}

/// The query, and the number of the moment that it is about; 0 for now.
fn read(incoming: &Incoming) -> Result<(QueryRequest, u64), String> {
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
            return Err("Unsupported Content-Type. Supported content types are \
                        application/json, application/graphql+-,application/dql"
                .to_owned());
        }
    };
    Ok((QueryRequest { text, variables, debug }, start))
}

fn read_json(body: &str) -> Result<(String, Variables), String> {
    let mut body: Map<String, Value> =
        serde_json::from_str(body).map_err(|error| json_error(body, &error))?;
    let text = match body.remove("query") {
        Some(Value::String(text)) => text,
        None | Some(Value::Null) => String::new(),
        Some(other) => {
            return Err(format!("Error parsing JSON: `query` must be a text, not {other}"));
        }
    };
    let mut variables = Variables::new();
    let given = match body.remove("variables") {
        Some(Value::Object(given)) => given,
        None | Some(Value::Null) => return Ok((text, variables)),
        Some(other) => {
            return Err(format!("Error parsing JSON: `variables` is no object but {other}"));
        }
    };
    for (name, value) in given {
        let Value::String(value) = value else {
            return Err(format!("Error parsing JSON: variable {name} must be a text, not {value}"));
        };
        variables.insert(name, value);
    }
    Ok((text, variables))
}

/// What is wrong with a body that should be JSON.
pub fn json_error(body: &str, error: &serde_json::Error) -> String {
    go_json::message(body).unwrap_or_else(|| {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let reason = message.split(" at line ").next().unwrap_or(&message);
        format!("Error parsing JSON at line {line}, character {column}: {reason}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_bodies() {
        let (text, variables) =
            read_json(r#"{"query":"{ q }","variables":{"$a":"1"},"more":1}"#).unwrap();
        assert_eq!((text.as_str(), variables["$a"].as_str()), ("{ q }", "1"));
        assert_eq!(read_json("{}").unwrap().0, "");
        for bad in ["{", "[]x", r#"{"query":1}"#, r#"{"variables":{"$a":1}}"#, "[1]", "7"] {
            assert!(read_json(bad).unwrap_err().starts_with("Error parsing JSON"), "{bad}");
        }
        let wrong = |body| read_json(body).unwrap_err();
        let end = "unexpected end of JSON input\n";
        assert_eq!(wrong("{"), format!("Error parsing JSON at line 1, character 1: {end}"));
        assert_eq!(wrong("{\n \n"), format!("Error parsing JSON at line 3, character 1: {end}"));
        let want = "Error parsing JSON at line 1, character 4: \
                    invalid character 'b' looking for beginning of value\n";
        assert_eq!(wrong("{\"\":b}").replace("character 6", "character 4"), want);
    }
}
