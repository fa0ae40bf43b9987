//! What holds for all requests to a path.

use super::app::App;
use crate::http::guard::keys::Role;
use crate::http::message::incoming::Incoming;
use crate::http::message::reply::Reply;
use axum::http::{Method, StatusCode};
use hexgraph::db::Control;

/// A path, and what holds for all requests to it.
pub struct Route {
    /// The path.
    pub path: &'static str,
    /// The methods. OPTIONS is answered for each path and not among them.
    pub methods: &'static [Method],
    /// Whose key is asked for, where keys are set.
    pub role: Role,
    /// What requests to it do to data.
    pub effect: Effect,
    /// The media types that a body may have; empty where it does not matter.
    pub content_types: &'static [&'static str],
    /// The longest body, in bytes.
    pub body_len_max: usize,
    /// The status that tells of a method that is not among [`Route::methods`]: the reference's where it has the path.
    pub wrong_method: StatusCode,
    pub(super) work: Work,
}

/// What requests to a path do to data, or to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// They only read.
    Reads,
    /// They change something, by whatever method.
    Changes,
    /// The text says: a query reads, a mutation changes.
    AsTextSays,
}

/// Who carries a request out.
pub(super) enum Work {
    /// A function, where it may take its time.
    Answer(Answerer),
    /// A function, at once and without a body.
    AtOnce(fn(&App, Option<&str>) -> Reply),
    /// GraphQL, subscriptions among it.
    Graphql,
    /// The GraphQL that administers.
    Admin,
}

/// Answers one request. Runs where it may take its time.
pub(super) type Answerer = fn(&App, &Incoming, &Control) -> Reply;

impl Route {
    /// Whether it has a method.
    pub fn has(&self, method: &Method) -> bool {
        self.methods.contains(method)
    }

    /// The methods as the header `Allow` has them.
    pub fn allow(&self) -> String {
        let names = self.methods.iter().map(Method::as_str).chain(["OPTIONS"]);
        names.collect::<Vec<_>>().join(", ")
    }

    /// Whether a request by this method changes something although pages of browsers and links may cause it as if it
    /// only read. What the text says is not known yet.
    pub fn changes_by_get(&self, method: &Method) -> bool {
        self.effect == Effect::Changes && method == Method::GET
    }
}
