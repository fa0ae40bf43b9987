//! What is computed for subscriptions: by a worker while it is quick, and else queued with other
//! requests. So a slow subscription delays only its own client, like a slow request.

use crate::http::admission::{self, Overloaded, RequestedQuery, busy_time, likeness};
use crate::http::app::App;
use hexgraph::db::access::KeyRole;
use hexgraph::db::{Onward, RequestContext};
use hexgraph_base::types::Error;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

/// The caller of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asker {
    /// The key of the client in the queues of a busy server.
    pub client: u64,
    /// The address, if available.
    pub address: Option<IpAddr>,
    /// What may be done at most.
    pub role: KeyRole,
}

impl Asker {
    /// A requested text.
    pub(super) fn request(self, text: &str) -> RequestedQuery {
        RequestedQuery {
            client: self.client,
            kind: likeness(0, "", text.as_bytes()),
            body_len: text.len(),
        }
    }
}

/// Runs `work`: by a worker up to the time of the fast pool, and slower work once more, in a queue.
/// So it must change nothing.
///
/// # Errors
///
/// [`Overloaded`] where it would have to wait for too long.
pub(super) async fn run_scheduled<T: Send + 'static>(
    app: &Arc<App>,
    requested: RequestedQuery,
    is_expected: impl Fn() -> bool + Send + Sync + Clone + 'static,
    work: impl Fn(&RequestContext) -> T + Send + Sync + 'static,
) -> Result<T, Overloaded> {
    let work = Arc::new(work);
    if !app.admission.was_slow(requested.kind) {
        let (here, expected, quick) =
            (Arc::clone(&work), is_expected.clone(), app.admission.options.quick);
        let at_worker = move || {
            let (started, is_long) = (busy_time(), Arc::new(OnceLock::new()));
            let noted = Arc::clone(&is_long);
            let admission_hook =
                move |must: bool| match quick.checked_sub(busy_time().saturating_sub(started)) {
                    Some(rest) if !must && !rest.is_zero() => Ok(Onward::For(rest)),
                    _ => {
                        noted.get_or_init(|| ());
                        Err(Error::Limit {
                            message: "the evaluation takes longer than a worker is reserved for"
                                .to_owned(),
                        })
                    }
                };
            let control = RequestContext::new()
                .with_poll(move || !expected())
                .with_admission_hook(quick, admission_hook);
            let done = here(&control);
            is_long.get().is_none().then_some(done)
        };
        if let Some(done) = app.feeds.workers.execute(at_worker).await {
            return Ok(done);
        }
        app.admission.note(requested.kind, true);
    }
    admission::execute(&app.admission, requested, is_expected, move |control| work(&control)).await
}
