//! The one table of what can be asked for: the router is made of it, the guard and OPTIONS read it, and so does
//! the table in docs/http.md, which a test compares with this one. What is not in it does not exist.

use super::graphql;
use super::router::{Answerer, log_in};
use crate::http::endpoints::admin;
use crate::http::endpoints::alter;
use crate::http::endpoints::commit;
use crate::http::endpoints::health;
use crate::http::endpoints::mutate;
use crate::http::endpoints::query;
use crate::http::message::incoming::BODY_LEN_MAX;
use axum::http::{Method, StatusCode};

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

/// Whose key a request has to name, where keys are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Nobody's: it tells whether the server is there.
    Anyone,
    /// A client's or an administrator's.
    Client,
    /// An administrator's.
    Admin,
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
    AtOnce(fn(&super::router::App, Option<&str>) -> crate::http::message::reply::Reply),
    /// GraphQL, subscriptions among it.
    Graphql,
    /// The GraphQL that administers.
    Admin,
}

impl Route {
    /// The route of a path.
    pub fn of(path: &str) -> Option<&'static Route> {
        ROUTES.iter().find(|route| route.path == path)
    }

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

const GET: &[Method] = &[Method::GET, Method::HEAD];
const POST: &[Method] = &[Method::POST, Method::PUT];
const GET_OR_POST: &[Method] = &[Method::GET, Method::POST];

/// What nobody sends a long body to.
const SHORT: usize = 1 << 20;

/// A path that changes data and takes any body.
const CHANGE: Route = Route {
    path: "",
    methods: POST,
    role: Role::Client,
    effect: Effect::Changes,
    content_types: &[],
    body_len_max: BODY_LEN_MAX,
    wrong_method: StatusCode::BAD_REQUEST,
    work: Work::Answer(commit::answer),
};

/// A path that tells something.
const READ: Route = Route {
    methods: GET,
    effect: Effect::Reads,
    body_len_max: SHORT,
    wrong_method: StatusCode::METHOD_NOT_ALLOWED,
    ..CHANGE
};

/// A path of GraphQL.
const TEXT: Route = Route {
    methods: GET_OR_POST,
    effect: Effect::AsTextSays,
    content_types: &["application/json", "application/graphql"],
    wrong_method: StatusCode::OK,
    ..CHANGE
};

/// A path of those who administer.
const ADMIN: Route = Route { role: Role::Admin, body_len_max: SHORT, ..CHANGE };

/// All routes.
pub static ROUTES: &[Route] = &[
    Route {
        path: "/query",
        effect: Effect::Reads,
        content_types: &["application/json", "application/dql", "application/graphql+-"],
        work: Work::Answer(query::answer),
        ..CHANGE
    },
    Route {
        path: "/mutate",
        content_types: &["application/json", "application/rdf"],
        work: Work::Answer(mutate::answer),
        ..CHANGE
    },
    Route { path: "/commit", work: Work::Answer(commit::answer), ..CHANGE },
    Route {
        path: "/assign",
        methods: GET_OR_POST,
        body_len_max: SHORT,
        wrong_method: StatusCode::METHOD_NOT_ALLOWED,
        work: Work::Answer(commit::assign),
        ..CHANGE
    },
    Route { path: "/alter", role: Role::Admin, work: Work::Answer(alter::answer), ..CHANGE },
    Route {
        path: "/login",
        effect: Effect::Reads,
        body_len_max: SHORT,
        work: Work::Answer(log_in),
        ..CHANGE
    },
    Route { path: "/health", role: Role::Anyone, work: Work::AtOnce(health::answer), ..READ },
    Route { path: "/state", work: Work::AtOnce(health::state), ..READ },
    Route { path: "/graphql", work: Work::Graphql, ..TEXT },
    Route {
        path: "/probe/graphql",
        role: Role::Anyone,
        work: Work::Answer(graphql::probe),
        ..READ
    },
    Route { path: "/admin", role: Role::Admin, work: Work::Admin, ..TEXT },
    Route {
        path: "/admin/schema",
        body_len_max: BODY_LEN_MAX,
        work: Work::Answer(graphql::set_schema),
        ..ADMIN
    },
    Route {
        path: "/admin/schema/validate",
        effect: Effect::Reads,
        body_len_max: BODY_LEN_MAX,
        work: Work::Answer(graphql::validate_schema),
        ..ADMIN
    },
    Route {
        path: "/admin/shutdown",
        methods: GET_OR_POST,
        work: Work::Answer(admin::shut_down),
        ..ADMIN
    },
    Route { path: "/admin/draining", work: Work::Answer(admin::drain), ..ADMIN },
    Route {
        path: "/admin/config/cache_mb",
        methods: &[Method::GET, Method::PUT],
        // There is no cache: the size is looked at, and nothing is set.
        effect: Effect::Reads,
        work: Work::Answer(admin::configure_cache),
        ..ADMIN
    },
];
