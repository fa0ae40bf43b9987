//! What administers and is not GraphQL: `/admin/shutdown`, `/admin/draining` and
//! `/admin/config/cache_mb`; and who may.

use crate::http::app::App;
use crate::http::compat::go_values;
use crate::http::message::incoming::Incoming;
use crate::http::message::reply::Reply;
use axum::http::Method;
use hexgraph::db::RequestContext;
use hexgraph::db::graphql::{Act, Instance};
use serde_json::json;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the refusal of a request that may not administer; `None` if it may.
pub(in crate::http) fn refusal(app: &App, incoming: &Incoming) -> Option<Reply> {
    let refused = token_refusal(app, incoming).or_else(|| {
        let refusal = app.security.address_refusal(incoming)?;
        Some(Reply::unauthorized(&refusal))
    });
    refused.or_else(|| {
        let refusal = app.database_for(incoming).check_administrator().err()?;
        Some(Reply::unauthorized(&refusal.to_string()))
    })
}

/// As [`refusal`], for what concerns the entire server.
fn owner_refusal(app: &App, incoming: &Incoming) -> Option<Reply> {
    refusal(app, incoming).or_else(|| {
        let refusal = app.database_for(incoming).check_superadmin().err()?;
        Some(Reply::unauthorized(&refusal.to_string()))
    })
}

/// Returns the refusal of a request whose token is missing or wrong; `None` if it is right or none
/// is set.
pub(in crate::http) fn token_refusal(app: &App, incoming: &Incoming) -> Option<Reply> {
    let refusal = || Reply::unauthorized("Invalid X-Dgraph-AuthToken");
    (!app.security.knows_token(incoming)).then(refusal)
}

/// Runs `work` with the parts of the server that administration requests may use.
pub(in crate::http) fn with_instance<T>(
    app: &App,
    incoming: &Incoming,
    control: &RequestContext,
    work: impl FnOnce(&Instance<'_>) -> T,
) -> T {
    let act = |act| match act {
        Act::Drain(enable) => app.switches.drain(enable),
        Act::ShutDown => app.switches.shut_down(),
    };
    work(&Instance {
        address: app.address.clone(),
        uptime: app.started.elapsed().as_secs(),
        now: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        refusal: app.security.address_refusal(incoming),
        client: incoming.client(),
        folder: app.exports.as_ref(),
        tasks: &app.tasks,
        context: control,
        act: &act,
    })
}

/// Answers `/admin/shutdown`: stops the server after the running requests.
pub(in crate::http) fn shut_down(
    app: &App,
    incoming: &Incoming,
    _control: &RequestContext,
) -> Reply {
    if let Some(refusal) = owner_refusal(app, incoming) {
        return refusal;
    }
    app.switches.shut_down();
    done("Server is shutting down")
}

/// Answers `/admin/draining`: sets whether requests of clients are refused.
pub(in crate::http) fn drain(app: &App, incoming: &Incoming, _control: &RequestContext) -> Reply {
    if let Some(refusal) = owner_refusal(app, incoming) {
        return refusal;
    }
    match go_values::parse_bool(incoming.parameter("enable")) {
        Ok(enable) => {
            app.switches.drain(enable);
            done(&format!("draining mode has been set to {enable}"))
        }
        Err(_) => Reply::invalid_request("Found invalid value for the enable parameter"),
    }
}

/// There is no cache whose size could be set: data is read where it lies.
pub(in crate::http) fn configure_cache(
    app: &App,
    incoming: &Incoming,
    _control: &RequestContext,
) -> Reply {
    if let Some(refusal) = owner_refusal(app, incoming) {
        return refusal;
    }
    if *incoming.method() == Method::GET {
        return Reply::json("0");
    }
    let megabytes = incoming.text().ok().and_then(|text| text.trim().parse::<f64>().ok());
    match megabytes.filter(|megabytes| 0.0 <= *megabytes) {
        Some(_) => done("cache_mb has been accepted"),
        None => Reply::internal_error("the body is no number of megabytes from 0 on"),
    }
}

fn done(message: &str) -> Reply {
    Reply::json(json!({ "code": "Success", "message": message }).to_string())
}
