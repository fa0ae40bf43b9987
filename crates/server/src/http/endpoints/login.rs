//! `POST /login`.

use super::admin;
use super::query::json_error;
use crate::http::app::App;
use crate::http::message::incoming::Incoming;
use crate::http::message::reply::Reply;
use crate::http::message::request_error::RequestError;
use hexgraph::db::RequestContext;
use hexgraph::db::access::LoginRequest;
use serde_json::{Map, Value, json};

/// Logs a user in, by a password or by the token of an earlier login.
pub(in crate::http) fn answer(app: &App, incoming: &Incoming, control: &RequestContext) -> Reply {
    if let Some(refusal) = admin::token_refusal(app, incoming) {
        return refusal;
    }
    let request = match read(incoming) {
        Ok(request) => request,
        Err(message) => return Reply::invalid_request(&message),
    };
    match app.unguarded.login_with(&request, control) {
        Ok(tokens) => {
            let tokens = json!({ "accessJWT": tokens.access, "refreshJWT": tokens.refresh });
            Reply::json(json!({ "data": tokens }).to_string())
        }
        Err(error) => Reply::error(&error),
    }
}

/// Reads `{"userid": …, "password": …, "namespace": …}` or `{"refresh_token": …}`. As Dgraph
/// reads it, the case of names does not matter, nor whether words in them are parted.
fn read(incoming: &Incoming) -> Result<LoginRequest, RequestError> {
    let body = incoming.text()?;
    let members: Map<String, Value> = match body.trim() {
        "" => Map::new(),
        body => serde_json::from_str(body).map_err(|error| json_error(body, &error))?,
    };
    let mut request = LoginRequest { address: incoming.client(), ..LoginRequest::default() };
    for (name, value) in members {
        let text = value.as_str().unwrap_or_default().to_owned();
        match name.to_ascii_lowercase().replace('_', "").as_str() {
            "userid" => request.user = text,
            "password" => request.password = text,
            "refreshtoken" => request.refresh_token = text,
            "namespace" => request.namespace = value.as_u64().unwrap_or(u64::MAX),
            _ => {}
        }
    }
    Ok(request)
}
