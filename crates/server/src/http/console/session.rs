//! `POST /console/session`: exchanges the token of the URL that `hexgraph console` opens for a
//! cookie.

use crate::http::app::App;
use crate::http::guard::session::Exchange;
use crate::http::message::reply::Reply;
use crate::http::metrics::Refused;
use crate::http::route::Bare;
use axum::http::StatusCode;

/// Answers with the cookie of the session, for the browser alone: no script can read it, and no
/// page of another site has it sent. The token comes in the header `X-Auth-Token`. A server that
/// was started without a session has no such path.
pub(in crate::http) fn open_session(app: &App, request: &Bare<'_>) -> Reply {
    let (name, value) = match app.security.keys.exchange(request.headers) {
        Ok(Some((name, Exchange::Opened(value)))) => (name, value),
        Ok(Some((_, Exchange::Used))) => {
            return refused(
                "The token was used before, and works once: start `hexgraph console` again for another one",
            );
        }
        Ok(Some((_, Exchange::Wrong))) => {
            return refused(
                "The token in X-Auth-Token is not that of this console: open the URL that it printed, to its end",
            );
        }
        Ok(None) => return Reply::not_found("/console/session"),
        Err(error) => return Reply::internal_error(&error.to_string()),
    };
    let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict");
    Reply::json("{}").with_header("set-cookie", cookie).with_header("cache-control", "no-store")
}

fn refused(message: &str) -> Reply {
    let reply = Reply::unauthorized(message).with_status(StatusCode::UNAUTHORIZED);
    reply.counted_as(Refused::KEY)
}
