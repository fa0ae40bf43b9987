//! What of a call is reported in the audit log.

use super::call::decode;
use super::messages::{Operation, Request, RunDqlRequest};
use crate::http::audit::audited_text;
use crate::http::message::incoming::Incoming;
use prost::Message;

/// The text of a query or a definition, without what may be secret; `None` for calls that have
/// none.
pub(super) fn audited_call(path: &str, incoming: &Incoming) -> Option<String> {
    let reported = |path: &str, text: &str| audited_text(path, "application/dql", text.as_bytes());
    match path {
        "/api.Dgraph/Query" => {
            let request: Request = read(incoming)?;
            let query = reported("/query", &request.query).unwrap_or_default();
            Some(match request.mutations.len() {
                0 => query,
                count => format!("{query} ({count} mutations)").trim_start().to_owned(),
            })
        }
        "/api.Dgraph/RunDQL" => {
            let request: RunDqlRequest = read(incoming)?;
            reported("/mutate", &request.dql_query)
        }
        "/api.Dgraph/Alter" => {
            let operation: Operation = read(incoming)?;
            let dropped = match operation.drop_all {
                true => "all".to_owned(),
                false => format!(
                    "{:?} {}{}",
                    operation.drop_op(),
                    operation.drop_value,
                    operation.drop_attr
                ),
            };
            match operation.schema.is_empty() {
                true => Some(format!("drop {dropped}")),
                false => reported("/alter", &operation.schema),
            }
        }
        _ => None,
    }
}

fn read<M: Message + Default>(incoming: &Incoming) -> Option<M> {
    decode(incoming).ok()
}
