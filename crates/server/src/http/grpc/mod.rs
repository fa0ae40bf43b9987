//! The calls of Dgraph's clients over gRPC and gRPC-Web: messages, their framing, statuses, and the
//! methods of `api.Dgraph`.
//!
//! A call is a request to a route like any other: it passes the guards, its body is reserved from
//! the budget of memory while it comes, and it is decompressed, decoded and executed under
//! admission. All methods have one message as input and one as output.

pub(super) mod messages;
pub(super) mod status;
pub(super) mod dialect;
pub(super) mod deadline;
pub(super) mod frame;
mod sent_message;
pub(super) mod call;
pub(super) mod methods;
mod receive;
mod audited_call;

pub(super) use receive::{receive, refused};
