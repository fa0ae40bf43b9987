//! `/graphql` and `/admin`: which method does what, and what every answer carries.

use crate::db::Control;
use crate::db::graphql::Fault;
use crate::db::graphql::OperationKind;
use crate::db::graphql::Request as GraphqlRequest;
use crate::db::graphql::Response as GraphqlResponse;
use crate::http::admin;
use crate::http::graphql::body;
use crate::http::graphql::extensions::extensions;
use crate::http::graphql::schema;
use crate::http::graphql::subscribe;
use crate::http::graphql::subscribe::Wanted;
use crate::http::incoming;
use crate::http::incoming::BODY_LEN_MAX;
use crate::http::incoming::Incoming;
use crate::http::peer::Peer;
use crate::http::reply::ALLOWED_HEADERS;
use crate::http::reply::Reply;
use crate::http::router::Answerer;
use crate::http::router::App;
use crate::http::router::address_of;
use crate::http::router::receive_any;
use crate::http::router::run;
use axum::Router;
use axum::body::to_bytes;
use axum::extract::ConnectInfo;
use axum::extract::FromRequestParts;
use axum::extract::Request;
use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::http::HeaderMap;
use axum::http::Method;
use axum::http::StatusCode;
use axum::http::header;
use axum::response::Response;
use axum::routing::any;
use std::sync::Arc;
use std::time::Instant;
use tokio::task::block_in_place;

/// The routes of GraphQL.
pub fn routes() -> Router<Arc<App>> {
    let to = |answer: Answerer| {
        any(move |State(app): State<Arc<App>>, request: Request| receive(app, request, answer))
    };
    let text = |answer: Answerer| {
        any(move |State(app): State<Arc<App>>, request: Request| receive_text(app, request, answer))
    };
    Router::new()
        .route("/graphql", any(receive_graphql))
        .route("/admin", to(administer))
        .route("/admin/schema", text(schema::set))
        .route("/admin/schema/validate", text(schema::validate))
        .route("/probe/graphql", text(schema::probe))
}

/// Takes what comes to `/graphql`: a request, or one that goes on.
async fn receive_graphql(State(app): State<Arc<App>>, request: Request) -> Response {
    if subscribe::is_subscriber(request.headers()) {
        let headers = body::headers(request.headers());
        let (mut parts, body) = request.into_parts();
        return match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
            Ok(upgrade) => subscribe::accept(app, upgrade, headers),
            // Not a whole handshake: as any other request.
            Err(_) => receive(app, Request::from_parts(parts, body), answer).await,
        };
    }
    let can_ask = matches!(*request.method(), Method::GET | Method::POST);
    match subscribe::wants_events(request.headers()) {
        Wanted::Always if can_ask => receive_for_events(app, request).await,
        Wanted::ForSubscriptions if can_ask => {
            let (request, goes_on) = look_into(&app, request).await;
            match goes_on {
                true => receive_for_events(app, request).await,
                false => receive(app, request, answer).await,
            }
        }
        _ => receive(app, request, answer).await,
    }
}

/// A request as it came, and whether it is a subscription.
async fn look_into(app: &App, request: Request) -> (Request, bool) {
    let (parts, body) = request.into_parts();
    // One whose body can't be read is answered as one without any.
    let body = to_bytes(body, BODY_LEN_MAX).await.unwrap_or_default();
    let incoming = Incoming::new(parts.headers.clone(), parts.uri.query(), body.clone());
    let asked = incoming.and_then(|incoming| read(&incoming.with_method(parts.method.clone())));
    let goes_on = asked.is_ok_and(|asked| {
        let kind = block_in_place(|| app.database.graphql_kind(&asked));
        kind.is_ok_and(|kind| kind == OperationKind::Subscription)
    });
    (Request::from_parts(parts, body.into()), goes_on)
}

/// Takes a request that wants its answers as events. One that can't be read is refused as `graphql-sse` has it.
async fn receive_for_events(app: Arc<App>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let origin = origin(&parts.headers);
    let read = match to_bytes(body, BODY_LEN_MAX).await {
        Ok(body) => Incoming::new(parts.headers, parts.uri.query(), body)
            .map(|incoming| incoming.with_method(parts.method))
            .and_then(|incoming| Ok((read(&incoming)?, body::headers(incoming.headers())))),
        Err(error) => Err(format!("while reading the body: {error}")),
    };
    let frame = |reply| with_access(reply, &app, origin.as_deref()).into_response(false);
    match read {
        Ok((request, headers)) => {
            subscribe::answer_with_events(&app, request, headers, frame(Reply::empty()))
        }
        Err(message) => frame(refused(&message).with_status(StatusCode::BAD_REQUEST)),
    }
}

/// Takes a request of GraphQL. Whatever is wrong with it, the status is 200.
async fn receive(app: Arc<App>, request: Request, answer: Answerer) -> Response {
    let (mut parts, body) = request.into_parts();
    let wants_gzip = incoming::accepts_gzip(&parts.headers);
    if parts.method == Method::OPTIONS {
        let origin = origin(&parts.headers);
        return with_access(Reply::empty(), &app, origin.as_deref()).into_response(false);
    }
    let origin = origin(&parts.headers);
    let peer = parts.extensions.remove::<ConnectInfo<Peer>>();
    let reply = match to_bytes(body, BODY_LEN_MAX).await {
        Ok(body) => match Incoming::new(parts.headers, parts.uri.query(), body) {
            Ok(incoming) => {
                let incoming = incoming.with_method(parts.method).with_client(address_of(&peer));
                run(&app, peer, &incoming, answer)
            }
            Err(message) if message.starts_with("gzip: ") => {
                refused(&format!("Unable to parse gzip: {message}"))
            }
            Err(message) => refused(&message),
        },
        Err(error) => refused(&format!("while reading the body: {error}")),
    };
    with_access(reply, &app, origin.as_deref()).into_response(wants_gzip)
}

fn origin(headers: &HeaderMap) -> Option<String> {
    headers.get(header::ORIGIN)?.to_str().ok().map(str::to_owned)
}

/// Tells browsers which scripts may send what: as the schema says.
fn with_access(mut reply: Reply, app: &App, origin: Option<&str>) -> Reply {
    let access = app.database.graphql_access();
    if !access.origins.is_empty() {
        let listed = origin.filter(|origin| access.origins.iter().any(|known| known == origin));
        reply.set_header("access-control-allow-origin", listed.map(str::to_owned));
        // Whoever keeps answers must not give that for one page to another.
        reply.add_vary("Origin");
    }
    let mut headers = format!("X-Service-AccessToken, {ALLOWED_HEADERS}");
    for name in &access.headers {
        headers.push_str(", ");
        headers.push_str(name);
    }
    reply.set_header("access-control-allow-headers", Some(headers));
    reply
}

/// Takes a request that is not GraphQL.
async fn receive_text(app: Arc<App>, request: Request, answer: Answerer) -> Response {
    if request.method() == Method::OPTIONS {
        return Reply::empty().into_response(false);
    }
    receive_any(app, request, answer).await
}

fn answer(app: &App, incoming: &Incoming, control: &Control) -> Reply {
    let started = Instant::now();
    let request = match read(incoming) {
        Ok(request) => request,
        Err(message) => return refused(&message),
    };
    if let Some(refusal) = app.switches.refusal() {
        return refused(&refusal.to_string());
    }
    let headers = body::headers(incoming.headers());
    let response = app.database.graphql(&request, &headers, control);
    let mut reply = Reply::json(response.to_json(&extensions(app, &response, started)));
    reply.set_header("graphql-toucheduids", Some(response.touched.to_string()));
    if let Some(seconds) = response.max_age {
        reply.set_header("cache-control", Some(format!("public,max-age={seconds}")));
        reply.add_vary("Accept-Encoding");
    }
    reply
}

fn administer(app: &App, incoming: &Incoming, _control: &Control) -> Reply {
    if !matches!(*incoming.method(), Method::GET | Method::POST) {
        return Reply::invalid_method().with_status(StatusCode::OK);
    }
    if let Some(refusal) = admin::token_refusal(app, incoming) {
        return refusal;
    }
    let request = match read(incoming) {
        Ok(request) => request,
        Err(message) => return refused(&message),
    };
    let response = admin::with_instance(app, incoming, |instance| {
        app.database.graphql_admin(&request, instance)
    });
    Reply::json(response.to_json(""))
}

fn read(incoming: &Incoming) -> Result<GraphqlRequest, String> {
    match *incoming.method() {
        Method::GET => body::of_parameters(incoming),
        Method::POST => body::of_body(incoming),
        _ => {
            Err("Unrecognised request method.  Please use GET or POST for GraphQL requests"
                .to_owned())
        }
    }
}

/// A request that was not understood.
fn refused(message: &str) -> Reply {
    Reply::json(GraphqlResponse::refused(vec![Fault::new(message)]).to_json(""))
}
