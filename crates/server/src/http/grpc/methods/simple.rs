//! Methods that look at no data.

use crate::http::app::App;
use crate::http::grpc::call::{CallAnswer, decode};
use crate::http::grpc::messages::{LoginRequest, Version};
use crate::http::grpc::status::{Code, Status};
use crate::http::message::incoming::Incoming;
use hexgraph::db::Control;

/// `CheckVersion`.
pub(in crate::http) fn version(
    _app: &App,
    _incoming: &Incoming,
    _control: &Control,
) -> Result<CallAnswer, Status> {
    CallAnswer::new(&Version { tag: concat!("hexgraph-v", env!("CARGO_PKG_VERSION")).to_owned() })
}

/// `Login`: refuses every one, since there are no users.
pub(in crate::http) fn login(
    _app: &App,
    incoming: &Incoming,
    _control: &Control,
) -> Result<CallAnswer, Status> {
    let _: LoginRequest = decode(incoming)?;
    Err(Status::new(Code::Unknown, "invalid username or password"))
}

/// The request and the answer of `grpc.health.v1.Health`.
#[derive(Clone, PartialEq, prost::Message)]
struct HealthCheckRequest {
    /// The service; empty for the whole server.
    #[prost(string, tag = "1")]
    service: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct HealthCheckResponse {
    /// 1 when it answers, 2 when it does not.
    #[prost(int32, tag = "1")]
    status: i32,
}

/// `Check` of the health service that proxies and orchestrators ask.
pub(in crate::http) fn health(
    app: &App,
    incoming: &Incoming,
    _control: &Control,
) -> Result<CallAnswer, Status> {
    let request: HealthCheckRequest = decode(incoming)?;
    if !["", "api.Dgraph"].contains(&request.service.as_str()) {
        let message = format!("there is no service `{}`, only api.Dgraph", request.service);
        return Err(Status::new(Code::NotFound, message));
    }
    let serves = app.switches.refusal().is_none() && app.database.commit().is_ok();
    CallAnswer::new(&HealthCheckResponse { status: if serves { 1 } else { 2 } })
}
