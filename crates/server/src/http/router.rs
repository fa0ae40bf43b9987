//! Makes the router from the table of routes, with the checks that all requests go through.

use super::answering::receive;
use super::app::App;
use super::graphql;
use super::route::{Route, Work};
use super::routes::ROUTES;
use crate::http::guard::keys::Role;
use crate::http::guard::origins;
use crate::http::message::reply::Reply;
use axum::Router;
use axum::body::HttpBody;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::any;
use std::sync::Arc;

/// Makes the router for exactly the paths in the table of routes; all others get status 404.
pub(super) fn router(app: App) -> Router {
    let app = Arc::new(app);
    let mut router = Router::new();
    for route in ROUTES {
        let serve = move |State(app): State<Arc<App>>, request: Request| serve(app, route, request);
        router = router.route(
            route.path,
            any(serve).layer(origins::layer(
                &app.security.origins,
                &app.database,
                (route.path, route.methods),
            )),
        );
    }
    let nothing = |State(app): State<Arc<App>>, request: Request| async move {
        let keys = &app.security.keys;
        let refusal = keys.refusal(Role::Client, request.headers());
        let reply = refusal.unwrap_or_else(Reply::not_found);
        without_the_body(reply, &request)
    };
    let guard = from_fn_with_state(Arc::clone(&app), guard);
    router.fallback(nothing).layer(guard).with_state(app)
}

/// Refuses requests from pages of foreign origins, and answers OPTIONS. The preflight requests of browsers go on to
/// [`origins::layer`], which answers them, so no OPTIONS request reaches a route.
async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let (headers, method) = (request.headers(), request.method());
    if let Some(refusal) = app.security.origins.refusal(&app.database, (headers, request.uri())) {
        return without_the_body(refusal, &request);
    }
    // Keys are asked for behind this, by the route: a preflight request can't have any.
    if method != Method::OPTIONS || origins::is_preflight(method, headers) {
        return next.run(request).await;
    }
    let route = Route::of(request.uri().path());
    let role = route.map_or(Role::Client, |route| route.role);
    let reply = match (app.security.keys.refusal(role, headers), route) {
        (Some(refusal), _) => refusal,
        (None, None) => Reply::not_found(),
        (None, Some(route)) => Reply::empty().with_header("allow", route.allow()),
    };
    without_the_body(reply, &request)
}

/// Answers a request without reading its body. The connection is closed then, since the rest of the body may still come on
/// it.
fn without_the_body(reply: Reply, request: &Request) -> Response {
    match request.body().is_end_stream() {
        true => reply.into_response(false),
        false => reply.with_header("connection", "close").into_response(false),
    }
}

/// Answers a request as its route says, unless it is refused.
async fn serve(app: Arc<App>, route: &'static Route, request: Request) -> Response {
    if let Some(refusal) = refusal(&app, route, &request) {
        return without_the_body(refusal, &request);
    }
    match route.work {
        Work::Answer(answer) => receive(app, route, request, answer).await,
        Work::AtOnce(answer) => answer(&app, request.uri().query()).into_response(false),
        Work::Graphql => graphql::receive(app, route, request).await,
        Work::Admin => graphql::receive_admin(app, route, request).await,
    }
}

/// Returns the refusal of a request for its key or its method; `None` if it may be carried out.
fn refusal(app: &App, route: &Route, request: &Request) -> Option<Reply> {
    let method = request.method();
    if let Some(refusal) = app.security.keys.refusal(route.role, request.headers()) {
        return Some(refusal);
    }
    if !route.has(method) {
        let reply = match route.work {
            Work::Graphql => graphql::wrong_method(),
            _ => Reply::invalid_method(),
        };
        return Some(reply.with_status(route.wrong_method).with_header("allow", route.allow()));
    }
    let refusal = app.security.origins.get_refusal().filter(|_| route.changes_by_get(method))?;
    let reply = Reply::errors(refusal, "ErrorInvalidMethod");
    Some(reply.with_status(StatusCode::METHOD_NOT_ALLOWED).with_header("allow", "POST, OPTIONS"))
}
