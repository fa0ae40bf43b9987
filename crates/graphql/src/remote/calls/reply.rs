//! Reads the answers of other servers: a value, and the errors of the server.

use serde_json::Value;

use crate::remote::message::call_error::AnswerError;
use crate::remote::message::exchange::Incoming;
use crate::request::PathStep;
use hexgraph_base::types::stack;

/// The most errors of one answer that are passed on. This and [`MESSAGE_MAX`] bound what another
/// server can add to an answer.
const ERRORS_MAX: usize = 100;

/// The most characters of an error's message that are passed on.
const MESSAGE_MAX: usize = 2_000;

/// What another server answers about a field: a value, and the errors that it reports.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// The value; null when there is none.
    pub value: Value,
    /// The errors, in the order of the answer.
    pub reported: Vec<Report>,
}

/// An error that another server reports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The message, cut after 2,000 characters.
    pub message: String,
    /// The path to the value at fault, from the value of the reply on.
    pub path: Vec<PathStep>,
}

impl Reply {
    /// Makes the reply for a field that got no answer: null, and this message as the only error.
    pub fn failed(message: impl Into<String>) -> Reply {
        let reported = Report { message: shortened(&message.into()), path: Vec::new() };
        Reply { value: Value::Null, reported: vec![reported] }
    }
}

/// Reads the answer to a plain request: JSON, or nothing at all. Where the status says failure, the
/// entries of `errors` in the body are the reason.
///
/// # Errors
///
/// [`AnswerError::Status`] for a failure without such entries, [`AnswerError::NotJson`].
pub(in crate::remote) fn plain(incoming: &Incoming) -> Result<Reply, AnswerError> {
    if !incoming.is_success() {
        let reported = json(&incoming.body).ok();
        let reported = reported.map_or_else(Vec::new, |body| errors(&body, ""));
        if reported.is_empty() {
            return Err(AnswerError::Status(incoming.status));
        }
        return Ok(Reply { value: Value::Null, reported });
    }
    // A mutation may have no result: 204 has no body.
    if incoming.body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Reply::default());
    }
    Ok(Reply { value: json(&incoming.body)?, reported: Vec::new() })
}

/// Reads the answer of another GraphQL server about its field `name`. Its errors stand next to the
/// value, whatever the status is.
///
/// # Errors
///
/// [`AnswerError::Status`] for a failure without errors, [`AnswerError::NotJson`], and
/// [`AnswerError::NoField`] for an answer that has neither the field nor errors.
pub(in crate::remote) fn graphql(incoming: &Incoming, name: &str) -> Result<Reply, AnswerError> {
    let body = json(&incoming.body);
    let reported = body.as_ref().map_or_else(|_| Vec::new(), |body| errors(body, name));
    if !incoming.is_success() && reported.is_empty() {
        return Err(AnswerError::Status(incoming.status));
    }
    let mut body = body?;
    let data = body.get_mut("data").and_then(|data| data.get_mut(name));
    match data.map(Value::take) {
        Some(value) => Ok(Reply { value, reported }),
        None if !reported.is_empty() => Ok(Reply { value: Value::Null, reported }),
        None => Err(AnswerError::NoField { name: name.to_owned() }),
    }
}

/// Takes the list that answers several objects apart: one reply for each, by position, with the
/// errors whose path begins with its index. Errors that name no object of the list go to the first
/// one, so that none is lost.
///
/// # Errors
///
/// [`AnswerError::NoList`] and [`AnswerError::Length`] when the value is no list of `count` items.
pub(in crate::remote) fn parted(reply: Reply, count: usize) -> Result<Vec<Reply>, AnswerError> {
    let Value::Array(items) = reply.value else {
        return Err(AnswerError::NoList { expected: count });
    };
    if items.len() != count {
        return Err(AnswerError::Length { expected: count, result: items.len() });
    }
    let items = items.into_iter();
    let mut replies: Vec<Reply> =
        items.map(|value| Reply { value, reported: Vec::new() }).collect();
    for Report { message, mut path } in reply.reported {
        let position = match path.first() {
            Some(PathStep::Index(position)) if *position < count => *position,
            _ => 0,
        };
        // The index is the reply's own: what is left leads on from its value.
        path.drain(..path.len().min(1));
        if let Some(reply) = replies.get_mut(position) {
            reply.reported.push(Report { message, path });
        }
    }
    Ok(replies)
}

/// Reads a body. JSON may nest deeply, so the stack is grown for it.
fn json(body: &[u8]) -> Result<Value, AnswerError> {
    stack::with_space(|| serde_json::from_slice(body))
        .map_err(|error| AnswerError::NotJson { reason: error.to_string() })
}

/// Reads the entries of `errors`: objects with a `message`, or texts. Entries without a message are
/// left out. The path of an error is retained if it begins with the name of the field, without the
/// name; else the error has an empty path.
fn errors(body: &Value, name: &str) -> Vec<Report> {
    let result = body.get("errors").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let message = |error: &Value| match error {
        Value::String(text) => Some(text.clone()),
        error => Some(error.get("message")?.as_str()?.to_owned()),
    };
    let reported = result.iter().take(ERRORS_MAX).filter_map(|error| {
        let path = error.get("path").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let path = match path {
            [Value::String(first), rest @ ..] if first == name => {
                rest.iter().map_while(step).collect()
            }
            _ => Vec::new(),
        };
        Some(Report { message: shortened(&message(error)?), path })
    });
    reported.collect()
}

/// Reads a step of a path; `None` for what is none.
fn step(step: &Value) -> Option<PathStep> {
    match step {
        Value::String(key) => Some(PathStep::Key(key.as_str().into())),
        Value::Number(index) => Some(PathStep::Index(usize::try_from(index.as_u64()?).ok()?)),
        _ => None,
    }
}

/// Cuts a message after [`MESSAGE_MAX`] characters.
fn shortened(message: &str) -> String {
    match message.char_indices().nth(MESSAGE_MAX) {
        Some((end, _)) => format!("{} ...", &message[..end]),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn incoming(status: u16, body: &str) -> Incoming {
        Incoming { status, body: body.as_bytes().to_vec(), cache_control: None }
    }

    #[test]
    fn answers_to_plain_requests() {
        assert_eq!(plain(&incoming(200, "[1]")).unwrap().value, json!([1]));
        assert_eq!(plain(&incoming(204, "")).unwrap(), Reply::default());
        let reported = plain(&incoming(200, "<html>")).unwrap_err().to_string();
        assert!(reported.starts_with("the answer is not JSON: "), "{reported}");
        let reported = plain(&incoming(500, "x")).unwrap_err().to_string();
        assert_eq!(reported, "unexpected error with: 500");
        let reported =
            plain(&incoming(400, r#"{"errors": [{"message": "no"}]}"#)).unwrap().reported;
        assert_eq!(reported, [Report { message: "no".into(), path: vec![] }]);
    }

    #[test]
    fn lists_are_split() {
        let text = r#"{"data": {"a": [1, null]}, "errors": [
            {"message": "x", "path": ["a", 1, "b"]}, {"message": "y"}, {"message": "z", "path": ["a", 9]}]}"#;
        let replies = parted(graphql(&incoming(200, text), "a").unwrap(), 2).unwrap();
        let reported =
            |at: usize| replies[at].reported.iter().map(|reported| reported.message.as_str());
        assert_eq!(reported(0).collect::<String>(), "yz");
        assert_eq!(reported(1).collect::<String>(), "x");
        assert_eq!(replies[1].reported[0].path, [PathStep::Key("b".into())]);
        let reported =
            parted(Reply { value: json!([1]), reported: vec![] }, 2).unwrap_err().to_string();
        assert_eq!(reported, "a list of 2 items was expected for as many objects, not of 1");
        let none = Reply { value: json!(1), reported: vec![] };
        let reported = parted(none, 1).unwrap_err().to_string();
        assert_eq!(reported, "a list of 1 items was expected for as many objects");
    }

    #[test]
    fn answers_of_graphql_servers() {
        let result = graphql(&incoming(200, r#"{"data": {"a": {"b": 1}}}"#), "a").unwrap();
        assert_eq!(result, Reply { value: json!({"b": 1}), reported: vec![] });
        let text = r#"{"data": {"a": null}, "errors": [{"message": "no", "path": ["a", 0, "b"]}]}"#;
        let result = graphql(&incoming(200, text), "a").unwrap();
        let path = vec![PathStep::Index(0), PathStep::Key("b".into())];
        assert_eq!(result.reported, [Report { message: "no".into(), path }]);
        let reported = graphql(&incoming(200, "{}"), "a").unwrap_err().to_string();
        assert_eq!(reported, "`data` has no key `a`");
        assert_eq!(graphql(&incoming(502, "{}"), "a").unwrap_err(), AnswerError::Status(502));
        let long = format!(r#"{{"errors": [{{"message": "{}"}}]}}"#, "x".repeat(9_000));
        assert!(graphql(&incoming(200, &long), "a").unwrap().reported[0].message.len() < 2_010);
    }
}
