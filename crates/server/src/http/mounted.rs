//! [`Mounted`]: a service behind the guards of the server, instead of the table of routes.
//!
//! `Host`, `Origin` and keys are checked as for all routes. A key may also come as `Authorization:
//! Bearer`, which clients of other protocols send.

use super::answering::address_of;
use super::app::App;
use super::audit::Slot;
use super::effect::Effect;
use super::observed::Observed;
use super::router::without_the_body;
use crate::http::guard::keys::{KEY_HEADER, Role};
use crate::http::guard::origins;
use crate::http::message::reply::{Failed, Reply};
use crate::http::metrics::{CountedRequest, NO_ROUTE, Refused};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use hexgraph::db::Database;
use hexgraph_base::types::Error;
use std::sync::{Arc, OnceLock};
use tokio::sync::Semaphore;

/// The maximal number of running requests to a mounted service; further ones are refused with
/// status 503.
const REQUESTS_MAX: usize = 64;

/// A service at a path.
#[derive(Debug, Clone)]
pub struct Mounted {
    /// The path.
    pub path: &'static str,
    /// What answers there; all other paths get status 404.
    pub router: Router,
}

/// The sender of a request to a mounted service, as an extension of the request.
#[derive(Clone)]
pub struct MountedCaller {
    /// The database as the sender sees it.
    pub database: Database,
    text: Option<Slot>,
    failure: Arc<OnceLock<Option<Refused>>>,
}

impl MountedCaller {
    /// Reports the text of the request, which is called where the log has texts.
    pub fn report_text(&self, text: impl FnOnce() -> String) {
        let _ = self.text.as_ref().map(|slot| slot.set(text()));
    }

    /// Reports that the request failed, though its answer has status 200.
    pub fn report_failure(&self, error: &Error) {
        let _ = self.failure.set(Refused::of(error));
    }
}

/// Makes the router of a mounted service.
pub(super) fn mounted(app: &Arc<App>, service: &Mounted) -> Router {
    let requests = Arc::new(Semaphore::new(REQUESTS_MAX));
    let path = service.path;
    let cors = (path, &[Method::POST][..]);
    let cors = origins::layer(&app.security.origins, &app.unguarded, cors);
    let nothing = |request: Request| async move {
        without_the_body(Reply::not_found(request.uri().path()), &request)
    };
    let router = service.router.clone().fallback(nothing);
    let router = router.layer(from_fn_with_state((Arc::clone(app), requests), admit)).layer(cors);
    router.layer(from_fn_with_state((Arc::clone(app), path), guard))
}

/// Counts and logs requests, and refuses those from pages of external origins. Preflight requests
/// of browsers, which have no key, are answered after this.
async fn guard(
    State((app, path)): State<(Arc<App>, &'static str)>,
    mut request: Request,
    next: Next,
) -> Response {
    let (route, kind) = match request.uri().path() == path {
        true => (path, Effect::AsTextSays.kind()),
        false => (NO_ROUTE, NO_ROUTE),
    };
    let counted = CountedRequest { route, kind, is_call: false };
    let observed = Observed::begin(&app, counted, &mut request);
    let parts = (request.headers(), request.uri());
    let mut response = match app.security.origins.refusal(&app.unguarded, parts) {
        Some(refusal) => without_the_body(refusal, &request),
        None => next.run(request).await,
    };
    observed.answered(&mut response);
    response
}

/// Requests a key, and runs the service for its sender.
async fn admit(
    State((app, requests)): State<(Arc<App>, Arc<Semaphore>)>,
    mut request: Request,
    next: Next,
) -> Response {
    name_key(request.headers_mut());
    // What a request does is in its body: the database of the caller refuses what its key does not
    // allow.
    let needed = (Role::Client, Effect::AsTextSays);
    if let Some(refusal) = app.security.keys.refusal(needed, &app.unguarded, request.headers()) {
        return without_the_body(refusal.with_header("www-authenticate", "Bearer"), &request);
    }
    let Ok(_permit) = requests.try_acquire() else {
        return without_the_body(Reply::overloaded(), &request);
    };
    let address = address_of(request.extensions().get());
    let database = app.database_at(request.headers(), address);
    let text = request.extensions().get::<Slot>().cloned();
    let caller = MountedCaller { database, text, failure: Arc::default() };
    let failure = Arc::clone(&caller.failure);
    request.extensions_mut().insert(caller);
    let mut response = next.run(request).await;
    if let Some(refused) = failure.get() {
        response.extensions_mut().insert(Failed);
        refused.map(|refused| response.extensions_mut().insert(refused));
    }
    response
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
