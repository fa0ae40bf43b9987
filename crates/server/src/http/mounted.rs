//! [`Mounted`]: a service behind the guards of the server, instead of the table of routes.
//!
//! `Host`, `Origin` and keys are checked as for all routes. A key may also come as `Authorization: Bearer`, which
//! clients of other protocols send.

use super::answering::address_of;
use super::app::App;
use super::effect::Effect;
use super::router::without_the_body;
use crate::http::guard::keys::{KEY_HEADER, Role};
use crate::http::message::reply::Reply;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use hexgraph::db::Database;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// The requests to a mounted service that are under way; further ones are refused with status 503.
const REQUESTS_MAX: usize = 64;

/// A service with its paths.
#[derive(Debug, Clone)]
pub struct Mounted {
    /// What answers; all other paths get status 404.
    pub router: Router,
}

/// The database as the sender of a request sees it: an extension of requests to mounted services.
#[derive(Clone)]
pub struct CallerDatabase(pub Database);

/// Makes the router of a mounted service.
pub(super) fn mounted(app: &Arc<App>, service: &Mounted) -> Router {
    let state = (Arc::clone(app), Arc::new(Semaphore::new(REQUESTS_MAX)));
    let nothing = |request: Request| async move {
        without_the_body(Reply::not_found(request.uri().path()), &request)
    };
    let router = service.router.clone().fallback(nothing);
    router.layer(from_fn_with_state(state, guard))
}

async fn guard(
    State((app, requests)): State<(Arc<App>, Arc<Semaphore>)>,
    mut request: Request,
    next: Next,
) -> Response {
    let parts = (request.headers(), request.uri());
    if let Some(refusal) = app.security.origins.refusal(&app.unguarded, parts) {
        return without_the_body(refusal, &request);
    }
    name_key(request.headers_mut());
    // What a request does is in its body: the database of the caller refuses what its key does not allow.
    let needed = (Role::Client, Effect::AsTextSays);
    if let Some(refusal) = app.security.keys.refusal(needed, &app.unguarded, request.headers()) {
        return without_the_body(refusal.with_header("www-authenticate", "Bearer"), &request);
    }
    let Ok(_permit) = requests.try_acquire() else {
        return without_the_body(Reply::overloaded(), &request);
    };
    let address = address_of(request.extensions().get());
    let database = app.database_at(request.headers(), address);
    request.extensions_mut().insert(CallerDatabase(database));
    next.run(request).await
}

/// Has a key that comes as `Authorization: Bearer` in the header of keys, too.
fn name_key(headers: &mut HeaderMap) {
    if headers.contains_key(KEY_HEADER) {
        return;
    }
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let Some((scheme, key)) = given.and_then(|given| given.split_once(' ')) else { return };
    if scheme.eq_ignore_ascii_case("bearer")
        && let Ok(key) = HeaderValue::from_str(key.trim())
    {
        headers.insert(KEY_HEADER, key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_in_either_header() {
        for (given, expected) in [
            (&[("authorization", "Bearer abc")][..], Some("abc")),
            (&[("authorization", "bearer  abc ")], Some("abc")),
            (&[("authorization", "Basic abc")], None),
            (&[("authorization", "Bearer")], None),
            (&[("authorization", "Bearer abc"), ("x-auth-token", "def")], Some("def")),
        ] {
            let mut headers = HeaderMap::new();
            for (name, value) in given {
                headers.insert(*name, value.parse().unwrap());
            }
            name_key(&mut headers);
            let key = headers.get(KEY_HEADER).map(|key| key.to_str().unwrap());
            assert_eq!(key, expected, "{given:?}");
        }
    }
}
