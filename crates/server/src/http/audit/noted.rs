//! [`Noted`]: a request that is reported in the audit log when it is over.

use super::audit_log::{AuditLog, Slot};
use crate::http::logs::now;
use crate::http::message::reply::Failed;
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use hexgraph::db::Database;
use serde_json::{Value, json};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

/// A running request. If it is dropped before it is answered, since its client left, that is
/// reported.
pub(in crate::http) struct Noted {
    log: Arc<AuditLog>,
    line: Value,
    begun: Instant,
    slot: Slot,
}

impl Noted {
    /// A request of whoever `database` is the handle of. It begins when there is space for a
    /// line: while a disk is stuck, clients that come and leave would leave a task behind each,
    /// which waits for one.
    pub(in crate::http) async fn begin(
        log: &Arc<AuditLog>,
        database: &Database,
        client: Option<IpAddr>,
        (method, path): (&Method, &str),
    ) -> Noted {
        log.has_position().await;
        let (user, key) = database.requested_by();
        let line = json!({
            "time": now(), "client": client.map(|client| client.to_canonical().to_string()),
            "user": user, "key": key, "namespace": database.namespace_id(),
            "method": method.as_str(), "path": path,
        });
        Noted { log: Arc::clone(log), line, begun: Instant::now(), slot: Slot::default() }
    }

    /// Where what is requested is noted, once it is read.
    pub(in crate::http) fn slot(&self) -> &Slot {
        &self.slot
    }

    /// Has what is requested read from a slot, where it is noted once it is read.
    pub(in crate::http) fn with_slot(self, slot: Slot) -> Noted {
        // What is dropped would be reported.
        let mut noted = self;
        noted.slot = slot;
        noted
    }

    /// Logs how it was answered, as soon as there is space for the line.
    pub(in crate::http) fn answered(
        mut self,
        response: &Response,
    ) -> impl Future<Output = ()> + Send + use<> {
        self.line["status"] = json!(response.status().as_u16());
        let failed = response.extensions().get::<Failed>().is_some()
            || has_failed(response.headers())
            || response.status().as_u16() >= 400;
        let (log, line) = (Arc::clone(&self.log), self.finished(failed));
        async move { log.note(&line).await }
    }

    fn finished(&mut self, failed: bool) -> Value {
        let mut line = self.line.take();
        line["failed"] = json!(failed);
        line["ms"] = json!(self.begun.elapsed().as_micros() as f64 / 1000.0);
        if let Some(text) = self.slot.get() {
            line["text"] = json!(text);
        }
        line
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        // What was answered has given its line away.
        if self.line.is_null() {
            return;
        }
        self.line["left"] = json!(true);
        let (log, line) = (Arc::clone(&self.log), self.finished(true));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { log.note(&line).await });
        }
    }
}

/// The status of gRPC, where it is in the head: it does for what failed.
fn has_failed(headers: &HeaderMap) -> bool {
    headers.get("grpc-status").is_some_and(|status| status != "0")
}
