//! Methods that look at no data.

use super::replies::status;
use crate::http::app::App;
use crate::http::grpc::call::{CallAnswer, decode};
use crate::http::grpc::messages::{Jwt, LoginRequest, Response, Version};
use crate::http::grpc::status::{Code, Status};
use crate::http::message::incoming::Incoming;
use hexgraph::db::graphql::VERSION_TAG;
use hexgraph::db::{RequestContext, access};
use prost::Message;

/// `CheckVersion`.
pub(in crate::http) fn version(
    _app: &App,
    _incoming: &Incoming,
    _control: &RequestContext,
) -> Result<CallAnswer, Status> {
    CallAnswer::new(&Version { tag: VERSION_TAG.to_owned() })
}

/// `Login`: logs a user in, by a password or by the token of an earlier login. The tokens are a
/// message within the field for JSON.
pub(in crate::http) fn login(
    app: &App,
    incoming: &Incoming,
    control: &RequestContext,
) -> Result<CallAnswer, Status> {
    let requested: LoginRequest = decode(incoming)?;
    if !app.security.knows_token(incoming) {
        return Err(Status::new(Code::Unauthenticated, "Invalid X-Dgraph-AuthToken"));
    }
    let request = access::LoginRequest {
        user: requested.userid,
        password: requested.password,
        refresh_token: requested.refresh_token,
        namespace: requested.namespace,
        address: incoming.client(),
    };
    let tokens = app.unguarded.login_with(&request, control).map_err(status)?;
    let tokens = Jwt { access_jwt: tokens.access, refresh_jwt: tokens.refresh };
    CallAnswer::new(&Response { json: tokens.encode_to_vec().into(), ..Response::default() })
}

/// The request and the answer of `grpc.health.v1.Health`.
#[derive(Clone, PartialEq, prost::Message)]
struct HealthCheckRequest {
    /// The service; empty for the entire server.
    #[prost(string, tag = "1")]
    service: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct HealthCheckResponse {
    /// 1 when it answers, 2 when it does not.
    #[prost(int32, tag = "1")]
    status: i32,
}

/// `Check` of the health service for proxies and orchestrators.
pub(in crate::http) fn health(
    app: &App,
    incoming: &Incoming,
    _control: &RequestContext,
) -> Result<CallAnswer, Status> {
    let request: HealthCheckRequest = decode(incoming)?;
    if !["", "api.Dgraph"].contains(&request.service.as_str()) {
        let message = format!("there is no service `{}`, only api.Dgraph", request.service);
        return Err(Status::new(Code::NotFound, message));
    }
    let serves = app.switches.refusal().is_none() && app.unguarded.commit().is_ok();
    CallAnswer::new(&HealthCheckResponse { status: if serves { 1 } else { 2 } })
}
