//! Makes the router from the table of routes, with the checks that all requests go through.

use super::answering::{address_of, receive};
use super::app::App;
use super::audit::{Noted, Slot};
use super::console;
use super::effect::Effect;
use super::graphql;
use super::grpc;
use super::observed::Observed;
use super::route::{Bare, Route, Work};
use super::routes::ROUTES;
use crate::http::endpoints::metrics;
use crate::http::endpoints::query_many;
use crate::http::guard::keys::Role;
use crate::http::guard::origins;
use crate::http::guard::users;
use crate::http::message::reply::Reply;
use crate::http::metrics::{CountedRequest, NO_ROUTE};
use axum::Router;
use axum::body::HttpBody;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, Version, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{any, get};
use std::convert::Infallible;
use std::sync::Arc;
use tokio::task;
use tower::{Layer, ServiceExt, service_fn};
use tower_http::cors::CorsLayer;

/// The port that a router answers on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Port {
    /// That of HTTP: all routes but the methods of gRPC.
    Http,
    /// That of gRPC: its methods alone.
    Grpc,
    /// No port but a file: all routes.
    File,
    /// That of metrics: these alone, and without a key.
    Metrics,
}

impl Port {
    /// Whether a route is answered there.
    fn has(self, route: &Route) -> bool {
        match self {
            Port::Http => !route.is_call(),
            Port::Grpc => route.is_call(),
            Port::File => true,
            Port::Metrics => false,
        }
    }
}

/// Makes the router for exactly the paths that the table of routes has for a port; all others get
/// status 404, or that of gRPC for methods that there are not.
pub(super) fn router(app: &Arc<App>, port: Port) -> Router {
    let mut router = Router::new();
    if port == Port::Metrics {
        let serve = |State(app): State<Arc<App>>| async move {
            task::block_in_place(|| metrics::of_all(&app).into_response(None))
        };
        for path in metrics::PATHS {
            router = router.route(path, get(serve));
        }
    }
    for route in ROUTES.iter().filter(|route| port.has(route)) {
        let (origins, requested) = (&app.security.origins, (route.path, route.methods));
        let cors = Arc::new(origins::layer(origins, &app.unguarded, requested));
        let serve = move |State(app): State<Arc<App>>, request: Request| {
            reported_browsers(app, route, Arc::clone(&cors), request)
        };
        router = router.route(route.path, any(serve));
    }
    let nothing = |State(app): State<Arc<App>>, request: Request| async move {
        let keys = &app.security.keys;
        let requested = (Role::Client, Effect::Reads);
        let refusal = keys.refusal(requested, &app.unguarded, request.headers());
        let reply = refusal.unwrap_or_else(|| Reply::not_found(request.uri().path()));
        without_the_body(reply, &request)
    };
    let guard = from_fn_with_state(Arc::clone(app), guard);
    router.fallback(nothing).layer(guard).with_state(Arc::clone(app))
}

/// Counts requests, refuses those from pages of external origins, and answers OPTIONS. The
/// preflight requests of browsers go on to [`origins::layer`], which answers them, so no OPTIONS
/// request reaches a route.
async fn guard(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let route = Route::of(request.uri().path());
    let observed = Observed::begin(&app, counted(route), &mut request);
    let mut response = guarded(&app, route, request, next).await;
    observed.answered(&mut response);
    response
}

fn counted(route: Option<&'static Route>) -> CountedRequest {
    match route {
        Some(route) => {
            CountedRequest { route: route.path, kind: route.kind(), is_call: route.is_call() }
        }
        None => CountedRequest { route: NO_ROUTE, kind: NO_ROUTE, is_call: false },
    }
}

async fn guarded(app: &App, route: Option<&Route>, request: Request, next: Next) -> Response {
    let (headers, method) = (request.headers(), request.method());
    if let Some(refusal) = app.security.origins.refusal(&app.unguarded, (headers, request.uri())) {
        return without_the_body(refusal, &request);
    }
    // Keys are requested after this, by the route: a preflight request can't have any.
    if method != Method::OPTIONS || origins::is_preflight(method, headers) {
        return next.run(request).await;
    }
    let requested = (route.map_or(Role::Client, |route| route.role), Effect::Reads);
    let reply = match (app.security.keys.refusal(requested, &app.unguarded, headers), route) {
        (Some(refusal), _) => refusal,
        (None, None) => Reply::not_found(request.uri().path()),
        (None, Some(route)) => Reply::empty().with_header("allow", route.allow()),
    };
    without_the_body(reply, &request)
}

/// Answers a request without reading its body. The connection is closed then, since the rest of the
/// body may still come on it; where it has several streams, only this one is.
pub(super) fn without_the_body(reply: Reply, request: &Request) -> Response {
    let refusal = grpc::refused(&reply, request.headers());
    let mut response = refusal.unwrap_or_else(|| reply.into_response(None));
    if !request.body().is_end_stream() && request.version() < Version::HTTP_2 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Answers a request, and adds the CORS headers. Programs that are no browsers send no `Origin`, so
/// nothing of it is for them but that the answer to another request may differ.
async fn reported_browsers(
    app: Arc<App>,
    route: &'static Route,
    cors: Arc<CorsLayer>,
    request: Request,
) -> Response {
    if request.method() != Method::OPTIONS && !request.headers().contains_key(header::ORIGIN) {
        let mut response = serve(app, route, request).await;
        response.headers_mut().append(header::VARY, HeaderValue::from_static(origins::VARY));
        return response;
    }
    let answer = service_fn(move |request| {
        let app = Arc::clone(&app);
        async move { Ok::<_, Infallible>(serve(app, route, request).await) }
    });
    let Ok(response) = Box::pin(cors.layer(answer).oneshot(request)).await;
    response
}

/// Answers a request as its route says, unless it is refused, and writes the audit log, if there is
/// one.
async fn serve(app: Arc<App>, route: &'static Route, mut request: Request) -> Response {
    let Some(log) = &app.audit else { return answer(app, route, request).await };
    let client = address_of(request.extensions().get());
    let database = users::database_for(&app.unguarded, request.headers());
    let noted = Noted::begin(log, &database, client, (request.method(), route.path)).await;
    drop(database);
    // The log of requests may have a slot there, and both read one.
    let slot = request.extensions_mut().get_or_insert_default::<Slot>();
    let noted = noted.with_slot(Slot::clone(slot));
    let response = answer(app, route, request).await;
    noted.answered(&response).await;
    response
}

async fn answer(app: Arc<App>, route: &'static Route, request: Request) -> Response {
    // The page needs no key: it has no data, and is where a key is typed.
    if matches!(route.work, Work::Graphql) && console::is_for_graphiql(&request) {
        return console::graphiql(request.headers()).into_response(None);
    }
    if let Some(refusal) = refusal(&app, route, &request) {
        return without_the_body(refusal, &request);
    }
    match route.work {
        Work::Answer(answer) => receive(app, route, request, answer).await,
        Work::AtOnce(answer) => {
            let client = address_of(request.extensions().get());
            let (headers, parameters) = (request.headers(), request.uri().query());
            answer(&app, &Bare { headers, parameters, client }).into_response(None)
        }
        Work::Lines => query_many::receive(app, route, request).await,
        Work::Graphql => graphql::receive(app, route, request).await,
        Work::Admin => graphql::receive_admin(app, route, request).await,
        Work::Call(call, scheduling) => {
            grpc::receive(app, route, request, (call, scheduling)).await
        }
        Work::NoCall(why) => without_the_body(Reply::not_implemented(why), &request),
    }
}

/// Returns the refusal of a request for its key or its method; `None` if it may be executed.
fn refusal(app: &App, route: &Route, request: &Request) -> Option<Reply> {
    let method = request.method();
    let requested = (route.role, route.effect);
    let refusal = app.security.keys.refusal(requested, &app.unguarded, request.headers());
    if refusal.is_some() {
        return refusal;
    }
    if !route.has(method) {
        let reply = match route.work {
            Work::Graphql => graphql::wrong_method(),
            _ => Reply::invalid_method(),
        };
        return Some(reply.with_status(route.wrong_method).with_header("allow", route.allow()));
    }
    let refusal = app.security.origins.refusal_of_get().filter(|_| route.changes_by_get(method))?;
    let reply = Reply::errors(refusal, "ErrorInvalidMethod");
    Some(reply.with_status(StatusCode::METHOD_NOT_ALLOWED).with_header("allow", "POST, OPTIONS"))
}
