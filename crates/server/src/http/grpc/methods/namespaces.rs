//! `CreateNamespace`, `DropNamespace` and `ListNamespaces`.

use super::replies::{check_open, status};
use crate::http::app::App;
use crate::http::grpc::call::{CallAnswer, decode};
use crate::http::grpc::messages::{
    CreateNamespaceRequest, CreateNamespaceResponse, DropNamespaceRequest, DropNamespaceResponse,
    ListNamespacesRequest, ListNamespacesResponse, Namespace,
};
use crate::http::grpc::status::{Code, Status};
use crate::http::message::incoming::Incoming;
use hexgraph::db::{Database, RequestContext};

/// Makes a namespace.
///
/// # Errors
///
/// As the method of Dgraph.
pub(in crate::http) fn create(
    app: &App,
    incoming: &Incoming,
    _control: &RequestContext,
) -> Result<CallAnswer, Status> {
    let _: CreateNamespaceRequest = decode(incoming)?;
    let namespace = administered(app, incoming)?.create_namespace(None).map_err(status)?;
    CallAnswer::new(&CreateNamespaceResponse { namespace })
}

/// Drops a namespace.
///
/// # Errors
///
/// As the method of Dgraph.
pub(in crate::http) fn drop_one(
    app: &App,
    incoming: &Incoming,
    _control: &RequestContext,
) -> Result<CallAnswer, Status> {
    let request: DropNamespaceRequest = decode(incoming)?;
    administered(app, incoming)?.drop_namespace(request.namespace).map_err(status)?;
    CallAnswer::new(&DropNamespaceResponse {})
}

/// Lists the namespaces.
///
/// # Errors
///
/// As the method of Dgraph.
pub(in crate::http) fn list(
    app: &App,
    incoming: &Incoming,
    _control: &RequestContext,
) -> Result<CallAnswer, Status> {
    let _: ListNamespacesRequest = decode(incoming)?;
    let ids = administered(app, incoming)?.namespaces().map_err(status)?;
    let namespaces = ids.into_iter().map(|id| (id, Namespace { id })).collect();
    CallAnswer::new(&ListNamespacesResponse { namespaces })
}

/// The database, for who may administer the server.
fn administered(app: &App, incoming: &Incoming) -> Result<Database, Status> {
    check_open(app)?;
    if let Some(refusal) = app.security.address_refusal(incoming) {
        return Err(Status::new(Code::PermissionDenied, refusal));
    }
    if let Some(refusal) = app.security.refusal(incoming) {
        return Err(Status::new(Code::Unauthenticated, refusal));
    }
    Ok(app.database_for(incoming))
}
