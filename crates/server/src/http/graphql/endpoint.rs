//! `/graphql` and `/admin`: how requests are read, and what every answer carries.

use crate::http::answering::{address_of, looked_into, packed, received, run};
use crate::http::app::App;
use crate::http::connections::Peer;
use crate::http::endpoints::admin;
use crate::http::graphql::body::BodyError;
use crate::http::graphql::extensions::extensions;
use crate::http::graphql::subscribe::{Asker, Requested, hold};
use crate::http::graphql::{body, subscribe};
use crate::http::guard::keys::KEY_HEADER;
use crate::http::guard::users::TOKEN_HEADERS;
use crate::http::message::coding::Coding;
use crate::http::message::incoming::{Incoming, Unreadable};
use crate::http::message::reply::{Reply, schema_extensions};
use crate::http::metrics::Refused;
use crate::http::route::{Answerer, Route};
use axum::body::Body;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{ConnectInfo, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::Response;
use hexgraph::db::RequestContext;
use hexgraph::db::graphql::{
    GraphqlError, OperationKind, Request as GraphqlRequest, Response as GraphqlResponse,
};
use hexgraph_base::budget::Held;
use hexgraph_base::types::Error;
use std::sync::Arc;
use std::time::Instant;
use tokio::task::block_in_place;

/// Answers a request to `/graphql`, which may be a subscription.
pub(crate) async fn receive(app: Arc<App>, route: &'static Route, request: Request) -> Response {
    if subscribe::is_subscriber(request.headers()) {
        let headers = body::headers(request.headers());
        let (mut parts, body) = request.into_parts();
        return match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
            Ok(upgrade) => {
                let asker = asker(&app, &parts.headers, parts.extensions.get());
                let line = parts.extensions.remove();
                subscribe::accept(app, upgrade, (headers, asker), line)
            }
            // Not an entire handshake: as any other request.
            Err(_) => respond(app, route, Request::from_parts(parts, body), answer).await,
        };
    }
    match subscribe::expects_events(request.headers()) {
        Requested::Always => receive_for_events(app, route, request).await,
        Requested::ForSubscriptions => {
            let coding = Coding::accepted(request.headers());
            match look_into(&app, route, request).await {
                Ok((request, true)) => receive_for_events(app, route, request).await,
                Ok((request, false)) => respond(app, route, request, answer).await,
                Err(why) => packed(unreadable(why), coding),
            }
        }
        Requested::Never => respond(app, route, request, answer).await,
    }
}

/// The caller of a connection.
fn asker(app: &App, headers: &HeaderMap, peer: Option<&ConnectInfo<Peer>>) -> Asker {
    let address = address_of(peer);
    let client = app.security.client_at(&app.unguarded, headers, address);
    Asker { client, address, role: app.security.role_at(&app.unguarded, headers, address) }
}

/// Answers a request to `/admin`.
pub(crate) async fn receive_admin(
    app: Arc<App>,
    route: &'static Route,
    request: Request,
) -> Response {
    respond(app, route, request, administer).await
}

/// Answers a request whose HTTP method is neither GET nor POST.
pub(crate) fn wrong_method() -> Reply {
    refused("Unrecognised request method.  Please use GET or POST for GraphQL requests")
}

/// Receives the body of a request. Returns the request with the body, decompressed, and whether it
/// is a subscription; one that can't be parsed is none.
async fn look_into(
    app: &Arc<App>,
    route: &Route,
    request: Request,
) -> Result<(Request, bool), Unreadable> {
    let (mut parts, body) = request.into_parts();
    let peer = parts.extensions.get::<ConnectInfo<Peer>>().cloned();
    let incoming = received(app, route, (parts.clone(), body), &peer).await?;
    reserve(&incoming).map_err(Unreadable::Starved)?;
    let is_subscription = |app: &App, incoming: &Incoming| {
        let requested = read(incoming).ok();
        let kind = requested
            .and_then(|requested| app.database_for(incoming).graphql_kind(&requested).ok());
        kind == Some(OperationKind::Subscription)
    };
    let (incoming, is_subscription) = looked_into(app, &peer, incoming, is_subscription).await?;
    // The body is decompressed by now.
    parts.headers.remove(header::CONTENT_ENCODING);
    Ok((Request::from_parts(parts, Body::from(incoming.into_body())), is_subscription))
}

/// Answers a request with events. One that can't be read is refused with the status 400, as the
/// protocol `graphql-sse` has it, except for one that there is no memory for now.
async fn receive_for_events(app: Arc<App>, route: &Route, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let peer = parts.extensions.remove::<ConnectInfo<Peer>>();
    let read = match received_and_read(&app, route, (parts, body), &peer).await {
        Ok(read) => read,
        Err(why @ Unreadable::Starved(_)) => return unreadable(why).into_response(None),
        Err(Unreadable::Wrong(error)) => Err(error.to_string()),
    };
    match read {
        Ok((request, incoming, held)) => {
            // By GET the request is in the address, which is short.
            let kind =
                || block_in_place(|| app.database_for(&incoming).graphql_kind(&request)).ok();
            if let Some(refusal) = refusal_of_get(&app, &incoming, kind) {
                return refusal.into_response(None);
            }
            let headers = body::headers(incoming.headers());
            let asker = asker(&app, incoming.headers(), peer.as_ref());
            subscribe::answer_with_events(
                &app,
                request,
                (headers, asker),
                (Reply::empty().into_response(None), held),
            )
        }
        Err(message) => refused(&message).with_status(StatusCode::BAD_REQUEST).into_response(None),
    }
}

/// Receives the body of a request that is to be answered with events, and reads it; with the memory
/// that is held for it. The inner error says errors of the body.
async fn received_and_read(
    app: &Arc<App>,
    route: &Route,
    (parts, body): (Parts, Body),
    peer: &Option<ConnectInfo<Peer>>,
) -> Result<Result<(GraphqlRequest, Incoming, Held), String>, Unreadable> {
    let incoming = received(app, route, (parts, body), peer).await?;
    let held = hold(app, incoming.bytes()).map_err(Unreadable::Starved)?;
    let (incoming, request) =
        looked_into(app, peer, incoming, |_, incoming: &Incoming| read(incoming)).await?;
    Ok(request.map(|request| (request, incoming, held)).map_err(|error| error.to_string()))
}

/// Answers a GraphQL request by `answer`. The status is 200 even when the request is wrong; it is
/// 503 where the server has no memory or no time for it now.
async fn respond(
    app: Arc<App>,
    route: &'static Route,
    request: Request,
    answer: Answerer,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let peer = parts.extensions.remove::<ConnectInfo<Peer>>();
    let coding = Coding::accepted(&parts.headers);
    let reply = match received(&app, route, (parts, body), &peer).await {
        Ok(incoming) => run(&app, peer, incoming, answer).await,
        Err(why) => unreadable(why),
    };
    packed(reply, coding)
}

/// Makes the reply to a request whose body can't be read.
fn unreadable(why: Unreadable) -> Reply {
    match why {
        Unreadable::Wrong(error) if error.is_gzip() => {
            refused(format!("Unable to parse gzip: {error}"))
        }
        Unreadable::Wrong(error) => refused(error),
        Unreadable::Starved(error) => refused(error).failing().later(),
    }
}

/// Refuses a mutation that came by GET, where that is not allowed: any page can have a browser send
/// a GET. `kind` is called only where it matters, since it parses the request.
fn refusal_of_get(
    app: &App,
    incoming: &Incoming,
    kind: impl FnOnce() -> Option<OperationKind>,
) -> Option<Reply> {
    let refusal = app.security.origins.refusal_of_get()?;
    let changes = *incoming.method() == Method::GET && kind() == Some(OperationKind::Mutation);
    let reply = || refused(refusal).with_status(StatusCode::METHOD_NOT_ALLOWED);
    changes.then(|| reply().with_header("allow", "POST, OPTIONS"))
}

/// Answers a request to `/graphql`.
fn answer(app: &App, incoming: &Incoming, control: &RequestContext) -> Reply {
    let started = Instant::now();
    if let Err(error) = reserve(incoming) {
        control.note_starved();
        return refused(error).failing();
    }
    let request = match read(incoming) {
        Ok(request) => request,
        Err(message) => return refused(&message),
    };
    if let Err(error) = reserve_document(&request, control) {
        return refused(error).failing();
    }
    if let Some(refusal) = app.switches.refusal() {
        return refused(refusal);
    }
    let database = app.database_for(incoming);
    let kind = || database.graphql_kind(&request).ok();
    if let Some(refusal) = refusal_of_get(app, incoming, kind) {
        return refusal;
    }
    let headers = body::headers(incoming.headers());
    let response = database.graphql_with(&request, &headers, control);
    let mut reply = Reply::json(response.to_json(&extensions(app, &response, started)));
    // A request that ran out of memory or time may succeed when it is sent again, and the status
    // says so. Not a mutation: its first fields may have been executed.
    if control.is_starved() && kind() != Some(OperationKind::Mutation) {
        reply = reply.failing();
    }
    let refused = response.errors.iter().find_map(|fault| Refused::of_text(&fault.message));
    reply = reply.counted_as(refused);
    reply.set_header("graphql-toucheduids", Some(response.touched.to_string()));
    if let Some(seconds) = response.max_age {
        let reported = asker_headers(incoming.headers(), response.token_header.as_deref());
        let is_for_all = reported.is_empty() && !database.has_access_list();
        let scope = if is_for_all { "public" } else { "private" };
        reply.set_header("cache-control", Some(format!("{scope},max-age={seconds}")));
        reply.add_vary("Accept-Encoding");
        // A response for a token must not be served from a cache to others, nor vice versa.
        let by_schema = response.token_header.as_deref();
        for name in
            reported.iter().copied().chain(by_schema.filter(|name| !reported.contains(name)))
        {
            reply.add_vary(name);
        }
    }
    reply
}

/// The headers of a request that identify the caller: an answer to them is not stored by shared
/// caches.
fn asker_headers<'n>(headers: &HeaderMap, by_schema: Option<&'n str>) -> Vec<&'n str> {
    let names = TOKEN_HEADERS.into_iter().chain([KEY_HEADER]).chain(by_schema);
    names.filter(|name| headers.contains_key(*name)).collect()
}

/// Answers a request to `/admin`.
fn administer(app: &App, incoming: &Incoming, control: &RequestContext) -> Reply {
    if let Some(refusal) = admin::token_refusal(app, incoming) {
        return refusal;
    }
    if let Err(error) = reserve(incoming) {
        control.note_starved();
        return refused(error).failing();
    }
    let request = match read(incoming) {
        Ok(request) => request,
        Err(message) => return refused(&message),
    };
    if let Err(error) = reserve_document(&request, control) {
        return refused(error).failing();
    }
    let kind = || app.unguarded.graphql_admin_kind(&request).ok();
    if let Some(refusal) = refusal_of_get(app, incoming, kind) {
        return refusal;
    }
    let database = app.database_for(incoming);
    let response = admin::with_instance(app, incoming, control, |instance| {
        database.graphql_admin(&request, instance)
    });
    let reported = response.report.as_deref().and_then(schema_extensions).unwrap_or_default();
    Reply::json(response.to_json(&reported))
}

/// Reserves the memory of a parsed request: its variables are in it once as they came and once as
/// its operation has them.
///
/// # Errors
///
/// As [`Incoming::reserve_json`].
fn reserve(incoming: &Incoming) -> Result<(), Error> {
    match incoming.media_type().as_str() {
        "application/json" => incoming.reserve_json(2),
        _ => Ok(()),
    }
}

/// What a document takes once it is parsed and checked, for each byte of its text: the shortest
/// field has two.
const DOCUMENT_BYTES_PER_BYTE: u64 = 100;

/// Reserves what the document of a request takes.
///
/// # Errors
///
/// As [`RequestContext::reserve`].
fn reserve_document(request: &GraphqlRequest, control: &RequestContext) -> Result<(), Error> {
    control.reserve(DOCUMENT_BYTES_PER_BYTE * request.query.len() as u64)
}

/// Reads the GraphQL request: from the parameters of the address for GET, else from the body. The
/// routes have no other method than GET and POST.
fn read(incoming: &Incoming) -> Result<GraphqlRequest, BodyError> {
    match *incoming.method() {
        Method::GET => body::of_parameters(incoming),
        _ => body::of_body(incoming),
    }
}

/// Makes the reply to a request that is not executed: one error and no data.
fn refused(reason: impl std::fmt::Display) -> Reply {
    let fault = GraphqlError::new(reason.to_string());
    let refused = Refused::of_text(&fault.message);
    Reply::json(GraphqlResponse::refused(vec![fault]).to_json("")).counted_as(refused)
}
