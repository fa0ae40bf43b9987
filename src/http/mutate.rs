//! `POST /mutate` and `POST /commit`.

use super::incoming::Incoming;
use super::reply::Extensions;
use super::reply::Reply;
use super::reply::Txn;
use super::router::App;
use crate::db::Control;
use serde_json::json;

/// Carries out a mutation.
pub fn answer(app: &App, incoming: &Incoming, _control: &Control) -> Reply {
    let text = match read(incoming) {
        Ok(text) => text,
        Err(message) => return Reply::invalid_request(&message),
    };
    let done = match app.database.mutate_text(text) {
        Ok(done) => done,
        Err(error) => return Reply::failed(&error),
    };
    let data = json!({ "code": "Success", "message": "Done", "queries": null, "uids": done.uids });
    let txn = Txn::Commit(done.commit);
    let extensions = Extensions { latency: done.latency, txn, touched: None };
    Reply::data(data.to_string().as_bytes(), &extensions)
}

/// Ends a transaction: there are none that stay open.
pub fn commit(_app: &App, incoming: &Incoming, _control: &Control) -> Reply {
    match incoming.number("startTs") {
        Ok(0) => Reply::invalid_request("startTs parameter is mandatory while trying to commit"),
        Ok(_) => Reply::invalid_request("not supported yet: open transactions, use commitNow=true"),
        Err(message) => Reply::invalid_request(&message),
    }
}

fn read(incoming: &Incoming) -> Result<&str, String> {
    let commits_now = incoming.flag("commitNow")?;
    let transaction = incoming.number("startTs")?;
    match incoming.content_type()?.as_str() {
        "application/rdf" => {}
        "application/json" => return Err("not supported yet: JSON mutations".to_owned()),
        _ => {
            return Err("Unsupported Content-Type. Supported content types are \
                        application/json, application/rdf"
                .to_owned());
        }
    }
    if !commits_now || transaction != 0 {
        return Err("not supported yet: open transactions, use commitNow=true".to_owned());
    }
    incoming.text()
}
