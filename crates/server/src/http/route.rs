//! [`Route`]: what holds for all requests to a path, and the function that answers them.

use super::app::App;
use super::effect::Effect;
use super::grpc::call::Call;
use crate::http::guard::keys::Role;
use crate::http::message::incoming::Incoming;
use crate::http::message::reply::Reply;
use axum::http::{HeaderMap, Method, StatusCode};
use hexgraph::db::RequestContext;
use std::net::IpAddr;

/// A path, and what holds for all requests to it.
pub struct Route {
    /// The path.
    pub path: &'static str,
    /// The methods. OPTIONS is answered for each path and not among them.
    pub methods: &'static [Method],
    /// The role whose key a request needs, if keys are set.
    pub role: Role,
    /// Whether requests to the path change data.
    pub effect: Effect,
    /// The media types that a body may have; empty where it does not matter.
    pub content_types: &'static [&'static str],
    /// The longest body, in bytes.
    pub body_len_max: usize,
    /// The status of the answer to a method that is not among [`Route::methods`], as Dgraph has it
    /// for its paths.
    pub wrong_method: StatusCode,
    pub(super) work: Work,
}

/// The kind of function that answers a request.
pub(super) enum Work {
    /// A function that runs under admission on a thread that may block.
    Answer(Answerer),
    /// A function that is quick, needs no body, and runs without admission.
    AtOnce(fn(&App, &Bare<'_>) -> Reply),
    /// One query for each line of a body.
    Lines,
    /// GraphQL requests, including subscriptions.
    Graphql,
    /// GraphQL requests to the administration API.
    Admin,
    /// A method of gRPC.
    Call(Call, Scheduling),
    /// A method of gRPC that there is not, for the reason that stands here.
    NoCall(&'static str),
}

/// A request without its body.
pub(super) struct Bare<'a> {
    pub headers: &'a HeaderMap,
    /// What follows `?` in its address.
    pub parameters: Option<&'a str>,
    /// The address that it comes from, if available.
    pub client: Option<IpAddr>,
}

/// When a call is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheduling {
    /// When admission lets it in.
    Admitted,
    /// At once: it is quick, and a liveness check.
    AtOnce,
}

/// A function that answers one request. It may block, and has to check its control.
pub(super) type Answerer = fn(&App, &Incoming, &RequestContext) -> Reply;

impl Route {
    /// Whether the path accepts a method.
    pub fn has(&self, method: &Method) -> bool {
        self.methods.contains(method)
    }

    /// Whether the path is a method of gRPC. These are on the port of gRPC, and all others on that
    /// of HTTP.
    pub fn is_call(&self) -> bool {
        matches!(self.work, Work::Call(..) | Work::NoCall(_))
    }

    /// What requests to the path do, as a label of metrics.
    pub(super) fn kind(&self) -> &'static str {
        match self.role {
            Role::Admin => "admin",
            _ => self.effect.kind(),
        }
    }

    /// The accepted methods as the value of the header `Allow`.
    pub fn allow(&self) -> String {
        let names = self.methods.iter().map(Method::as_str).chain(["OPTIONS"]);
        names.collect::<Vec<_>>().join(", ")
    }

    /// Whether a request by this method is a GET that changes something. Browsers send GET requests
    /// for links and images of any page, so such a request needs a setting. For
    /// [`Effect::AsTextSays`] this is decided later, from the text.
    pub fn changes_by_get(&self, method: &Method) -> bool {
        self.effect == Effect::Changes && method == Method::GET
    }
}
