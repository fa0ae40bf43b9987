//! The one table of what can be requested: the router is made of it, the guard and OPTIONS read it,
//! and so does the table in docs/http.md, which a test compares with this one. What is not in it
//! does not exist.

use super::effect::Effect;
use super::graphql;
use super::grpc::dialect::GRPC_TYPES;
use super::grpc::methods;
use super::route::{Route, Scheduling, Work};
use crate::http::console;
use crate::http::endpoints::admin;
use crate::http::endpoints::alter;
use crate::http::endpoints::commit;
use crate::http::endpoints::cypher;
use crate::http::endpoints::health;
use crate::http::endpoints::keywords;
use crate::http::endpoints::login;
use crate::http::endpoints::metrics;
use crate::http::endpoints::mutate;
use crate::http::endpoints::query;
use crate::http::guard::keys::Role;
use crate::http::message::incoming::BODY_LEN_MAX;
use crate::http::message::json_lines::LINES;
use axum::http::{Method, StatusCode};

impl Route {
    /// The route of a path.
    pub fn of(path: &str) -> Option<&'static Route> {
        ROUTES.iter().find(|route| route.path == path)
    }
}

const GET: &[Method] = &[Method::GET, Method::HEAD];
const POST: &[Method] = &[Method::POST, Method::PUT];
const GET_OR_POST: &[Method] = &[Method::GET, Method::POST];

/// The longest body, in bytes, for paths that need no long ones.
const SHORT: usize = 1 << 20;

/// The defaults of a path that changes data and takes any body.
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

/// The defaults of a path that only reads.
const READ: Route = Route {
    methods: GET,
    effect: Effect::Reads,
    body_len_max: SHORT,
    wrong_method: StatusCode::METHOD_NOT_ALLOWED,
    ..CHANGE
};

/// The defaults of a path of metrics.
const METRICS: Route = Route { role: Role::Admin, work: Work::AtOnce(metrics::answer), ..READ };

/// The defaults of what the console loads before it authenticates.
const FILE: Route = Route { role: Role::Anyone, ..READ };

/// The defaults of a GraphQL path.
const TEXT: Route = Route {
    methods: GET_OR_POST,
    effect: Effect::AsTextSays,
    content_types: &["application/json", "application/graphql"],
    wrong_method: StatusCode::OK,
    ..CHANGE
};

/// The defaults of a path for administrators.
const ADMIN: Route = Route { role: Role::Admin, body_len_max: SHORT, ..CHANGE };

/// The defaults of a method of gRPC.
const CALL: Route = Route {
    methods: &[Method::POST],
    content_types: GRPC_TYPES,
    wrong_method: StatusCode::METHOD_NOT_ALLOWED,
    ..CHANGE
};

/// The defaults of a method of gRPC for administrators.
const ADMIN_CALL: Route = Route { role: Role::Admin, body_len_max: SHORT, ..CALL };

/// The defaults of a method of gRPC that there is not.
const NO_CALL: Route = Route { effect: Effect::Reads, body_len_max: SHORT, ..CALL };

const NO_SNAPSHOTS: &str =
    "snapshots of clusters are not supported: load triples or tables with `hexgraph load`";
const NO_WATCH: &str = "health is not available as a stream: call Check";

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
        path: "/cypher",
        effect: Effect::Reads,
        content_types: &["application/json", "application/cypher"],
        work: Work::Answer(cypher::answer),
        ..CHANGE
    },
    Route {
        path: "/query_many",
        effect: Effect::Reads,
        content_types: LINES,
        work: Work::Lines,
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
        work: Work::Answer(login::answer),
        ..CHANGE
    },
    Route { path: "/health", role: Role::Anyone, work: Work::AtOnce(health::answer), ..READ },
    Route { path: "/state", work: Work::AtOnce(health::state), ..READ },
    Route { path: metrics::PATHS[0], ..METRICS },
    Route { path: metrics::PATHS[1], ..METRICS },
    Route { path: "/ui/keywords", work: Work::AtOnce(keywords::answer), ..READ },
    Route { path: "/", work: Work::AtOnce(console::index), ..FILE },
    Route { path: "/console/console.js", work: Work::AtOnce(console::script), ..FILE },
    Route { path: "/console/console.css", work: Work::AtOnce(console::style), ..FILE },
    Route { path: "/console/graphiql.js", work: Work::AtOnce(console::graphiql_script), ..FILE },
    Route { path: "/console/graphiql.css", work: Work::AtOnce(console::graphiql_style), ..FILE },
    Route { path: "/console/licenses.txt", work: Work::AtOnce(console::licenses), ..FILE },
    Route { path: "/console/algorithms", work: Work::AtOnce(console::algorithms), ..FILE },
    Route {
        path: "/console/session",
        methods: &[Method::POST],
        work: Work::AtOnce(console::open_session),
        ..FILE
    },
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
    Route {
        path: "/api.Dgraph/Query",
        effect: Effect::AsTextSays,
        work: Work::Call(methods::query::answer, Scheduling::Admitted),
        ..CALL
    },
    Route {
        path: "/api.Dgraph/RunDQL",
        effect: Effect::AsTextSays,
        work: Work::Call(methods::run_dql::answer, Scheduling::Admitted),
        ..CALL
    },
    Route {
        path: "/api.Dgraph/CommitOrAbort",
        work: Work::Call(methods::commit::answer, Scheduling::Admitted),
        ..CALL
    },
    Route {
        path: "/api.Dgraph/AllocateIDs",
        body_len_max: SHORT,
        work: Work::Call(methods::commit::allocate, Scheduling::Admitted),
        ..CALL
    },
    Route {
        path: "/api.Dgraph/Alter",
        role: Role::Admin,
        work: Work::Call(methods::alter::answer, Scheduling::Admitted),
        ..CALL
    },
    Route {
        path: "/api.Dgraph/Login",
        effect: Effect::Reads,
        body_len_max: SHORT,
        work: Work::Call(methods::simple::login, Scheduling::Admitted),
        ..CALL
    },
    Route {
        path: "/api.Dgraph/CheckVersion",
        role: Role::Anyone,
        effect: Effect::Reads,
        body_len_max: SHORT,
        work: Work::Call(methods::simple::version, Scheduling::AtOnce),
        ..CALL
    },
    Route {
        path: "/grpc.health.v1.Health/Check",
        role: Role::Anyone,
        effect: Effect::Reads,
        body_len_max: SHORT,
        work: Work::Call(methods::simple::health, Scheduling::AtOnce),
        ..CALL
    },
    Route { path: "/grpc.health.v1.Health/Watch", work: Work::NoCall(NO_WATCH), ..NO_CALL },
    Route {
        path: "/api.Dgraph/CreateNamespace",
        work: Work::Call(methods::namespaces::create, Scheduling::Admitted),
        ..ADMIN_CALL
    },
    Route {
        path: "/api.Dgraph/DropNamespace",
        work: Work::Call(methods::namespaces::drop_one, Scheduling::Admitted),
        ..ADMIN_CALL
    },
    Route {
        path: "/api.Dgraph/ListNamespaces",
        effect: Effect::Reads,
        work: Work::Call(methods::namespaces::list, Scheduling::Admitted),
        ..ADMIN_CALL
    },
    Route {
        path: "/api.Dgraph/UpdateExtSnapshotStreamingState",
        work: Work::NoCall(NO_SNAPSHOTS),
        ..NO_CALL
    },
    Route { path: "/api.Dgraph/StreamExtSnapshot", work: Work::NoCall(NO_SNAPSHOTS), ..NO_CALL },
];
