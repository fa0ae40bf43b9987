//! `POST /commit`, and `GET /assign` as the coordinator of Dgraph has it.

use super::query::json_error;
use crate::http::app::App;
use crate::http::compat::go_values;
use crate::http::message::incoming::Incoming;
use crate::http::message::reply::Reply;
use crate::http::message::request_error::{RequestError, ShapeError};
use hexgraph::db::RequestContext;
use serde_json::{Value, json};

/// Commits a transaction, or discards it.
pub(in crate::http) fn answer(app: &App, incoming: &Incoming, control: &RequestContext) -> Reply {
    if let Some(refusal) = app.switches.refusal() {
        return Reply::refused(&refusal);
    }
    if let Err(error) = incoming.reserve_json(1) {
        control.note_starved();
        return Reply::refused(&error);
    }
    let Request { start, is_abort, keys } = match read(incoming) {
        Ok(request) => request,
        Err(message) => return Reply::invalid_request(&message),
    };
    let database = match app.database_within(incoming, start, incoming.parameter("hash")) {
        Ok(database) => database,
        Err(message) => return Reply::invalid_request(&message),
    };
    if is_abort {
        return match database.discard_txn(start) {
            Ok(()) => Reply::json(r#"{"code":"Success","message":"Done"}"#),
            Err(error) => Reply::refused(&error),
        };
    }
    match database.commit_txn(start, Some(&keys)) {
        Ok(commit) => {
            let txn = json!({ "start_ts": start, "commit_ts": commit });
            let data = json!({ "code": "Success", "message": "Done" });
            Reply::json(json!({ "data": data, "extensions": { "txn": txn } }).to_string())
        }
        Err(error) => Reply::refused(&error),
    }
}

/// Answers `/assign`: reserves uids, for `what=uids` and their number in `num`.
pub(in crate::http) fn assign(app: &App, incoming: &Incoming, _control: &RequestContext) -> Reply {
    let count = match (incoming.parameter("what"), incoming.number("num")) {
        ("uids", Ok(count)) => count,
        ("uids", Err(message)) => return Reply::invalid_request(&message),
        (other, _) => {
            let message = format!("Invalid what: [{other}]. Must be one of uids");
            return Reply::invalid_request(&message);
        }
    };
    match app.database_for(incoming).assign_uids(count) {
        Ok(first) => {
            let (first, last) = (first.0.to_string(), (first.0 + count - 1).to_string());
            Reply::json(json!({ "startId": first, "endId": last, "readOnly": "0" }).to_string())
        }
        Err(error) => Reply::refused(&error),
    }
}

struct Request {
    start: u64,
    /// True if the transaction is discarded and not committed.
    is_abort: bool,
    keys: Vec<u64>,
}

fn read(incoming: &Incoming) -> Result<Request, RequestError> {
    let start = incoming.number("startTs")?;
    if start == 0 {
        return Err(RequestError::NoStart);
    }
    let is_abort = incoming.flag("abort")?;
    let keys = if is_abort { Vec::new() } else { read_keys(incoming.text()?)? };
    Ok(Request { start, is_abort, keys })
}

/// Reads `{"keys": [...], "preds": [...]}`, or the keys alone. What is no key is left out.
fn read_keys(body: &str) -> Result<Vec<u64>, RequestError> {
    let body: Value = serde_json::from_str(body).map_err(|error| json_error(body, &error))?;
    let keys = match &body {
        Value::Array(keys) => Some(keys),
        Value::Object(members) => match members.get("keys") {
            None | Some(Value::Null) => None,
            Some(Value::Array(keys)) => Some(keys),
            Some(_) => return Err(ShapeError::Keys.into()),
        },
        _ => return Err(ShapeError::NoKeys.into()),
    };
    // A key that can't be read is none of ours: leaving it out only checks less, as the client
    // requested.
    let keys = keys.into_iter().flatten().filter_map(Value::as_str);
    Ok(keys.filter_map(go_values::parse_base36).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_a_commit() {
        let cases: [(&str, Result<Vec<u64>, ()>); 7] = [
            (r#"{"keys": ["z", "10", "!", ""], "preds": ["1-0-name"]}"#, Ok(vec![35, 36])),
            (r#"["3w5e11264sgsf"]"#, Ok(vec![u64::MAX])),
            (r#"["3w5e11264sgsg"]"#, Ok(vec![])),
            (r#"{"keys": null}"#, Ok(vec![])),
            ("{}", Ok(vec![])),
            ("", Err(())),
            (r#"{"keys": 1}"#, Err(())),
        ];
        for (body, want) in cases {
            assert_eq!(read_keys(body).map_err(drop), want, "{body}");
        }
    }
}
