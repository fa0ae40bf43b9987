//! `Alter`: changes of the schema, and drops.

use super::replies::{check_open, status};
use crate::http::app::App;
use crate::http::endpoints::alter::{self, DropOp};
use crate::http::grpc::call::{CallAnswer, decode};
use crate::http::grpc::messages::operation;
use crate::http::grpc::messages::{Operation, Payload};
use crate::http::grpc::status::{Code, Status};
use crate::http::message::incoming::Incoming;
use hexgraph::db::RequestContext;

/// Changes the schema, or drops something.
pub(in crate::http) fn answer(
    app: &App,
    incoming: &Incoming,
    control: &RequestContext,
) -> Result<CallAnswer, Status> {
    if let Some(refusal) = app.security.address_refusal(incoming) {
        return Err(Status::new(Code::PermissionDenied, refusal));
    }
    if let Some(refusal) = app.security.refusal(incoming) {
        return Err(Status::new(Code::Unauthenticated, refusal));
    }
    check_open(app)?;
    let operation: Operation = decode(incoming)?;
    let Ok(drop_op) = operation::DropOp::try_from(operation.drop_op) else {
        let message = format!("drop_op is {}, of 0 to 4", operation.drop_op);
        return Err(Status::new(Code::InvalidArgument, message));
    };
    let operation = alter::Operation {
        schema: operation.schema,
        drop_attr: operation.drop_attr,
        drop_all: operation.drop_all,
        drop_op: match drop_op {
            operation::DropOp::None => DropOp::None,
            operation::DropOp::All => DropOp::All,
            operation::DropOp::Data => DropOp::Data,
            operation::DropOp::Attr => DropOp::Attr,
            operation::DropOp::Type => DropOp::Type,
        },
        drop_value: operation.drop_value,
    };
    operation.execute(&app.database_for(incoming), control).map_err(status)?;
    CallAnswer::new(&Payload::default())
}
