//! `GET /health` and `GET /state`.

use crate::http::app::App;
use crate::http::effect::Effect;
use crate::http::guard::keys::Role;
use crate::http::message::reply::Reply;
use crate::http::route::Bare;
use axum::http::StatusCode;
use hexgraph::db::graphql::VERSION_TAG;
use serde_json::json;
use std::time::{SystemTime, UNIX_EPOCH};

/// Answers `/state`: the state of a cluster of one server.
pub(in crate::http) fn state(app: &App, requested: &Bare<'_>) -> Reply {
    let database = app.database_at(requested.headers, requested.client);
    if let Err(error) = database.check_guardian() {
        return Reply::error(&error);
    }
    match database.membership(&app.address, started(app)) {
        Ok(state) => Reply::json(state.to_string()),
        Err(error) => Reply::internal_error(&error.to_string()),
    }
}

/// The time when the server started, in seconds since 1970.
fn started(app: &App) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    now.saturating_sub(app.started.elapsed().as_secs())
}

/// Says that the server is there, in the form that clients and consoles of Dgraph read. One that
/// drains is there, but not for clients: that is reported except for a liveness check.
pub(in crate::http) fn answer(
    app: &App,
    &Bare { headers, parameters, client }: &Bare<'_>,
) -> Reply {
    let has_flag = |what: &str| {
        let mut names = parameters.unwrap_or_default().split('&');
        names.any(|name| name.strip_suffix('=').unwrap_or(name) == what)
    };
    let is_only_live = has_flag("live");
    if has_flag("all") {
        // The path needs no key, this does.
        let requested = (Role::Client, Effect::Reads);
        if let Some(refusal) = app.security.keys.refusal(requested, &app.unguarded, headers) {
            return refusal;
        }
        let database = app.database_at(headers, client);
        if let Err(error) = database.check_guardian() {
            return Reply::error(&error);
        }
    }
    if let Some(refusal) = app.switches.refusal().filter(|_| !is_only_live) {
        return Reply::text(refusal.to_string()).with_status(StatusCode::SERVICE_UNAVAILABLE);
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (status, commit) = match app.unguarded.commit() {
        Ok(commit) => (StatusCode::OK, commit),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, 0),
    };
    let health = json!([{
        "instance": "alpha",
        "address": app.address,
        "status": if status == StatusCode::OK { "healthy" } else { "unhealthy" },
        "group": "1",
        "version": VERSION_TAG,
        "uptime": app.started.elapsed().as_secs(),
        "lastEcho": now,
        "ongoing": [],
        "indexing": [],
        "ee_features": [],
        "max_assigned": commit,
    }]);
    Reply::json(health.to_string()).with_status(status)
}
