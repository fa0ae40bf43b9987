//! `POST /login`.

use crate::http::app::App;
use crate::http::message::incoming::Incoming;
use crate::http::message::reply::Reply;
use hexgraph::db::Control;

/// Refuses every login, since there are no users.
pub(in crate::http) fn answer(_app: &App, _incoming: &Incoming, _control: &Control) -> Reply {
    Reply::internal_error("invalid username or password")
}
