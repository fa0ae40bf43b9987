//! The parameters of a request.

use crate::http::grpc::messages::request::RespFormat;
use crate::http::grpc::status::{Code, Status};
use axum::http::HeaderMap;
use hexgraph::db::{ParameterValue, Variables};
use std::collections::HashMap;

/// Whether the answer is to be N-Quads.
///
/// # Errors
///
/// [`Code::InvalidArgument`] for a number that means nothing.
pub(super) fn expects_rdf(format: i32) -> Result<bool, Status> {
    match RespFormat::try_from(format) {
        Ok(format) => Ok(format == RespFormat::Rdf),
        Err(_) => {
            let message = format!("resp_format is {format}: 0 stands for JSON, 1 for RDF");
            Err(Status::new(Code::InvalidArgument, message))
        }
    }
}

/// Refuses a request that may be answered out of date and is not said to only read.
pub(super) fn check_best_effort(is_wrong: bool) -> Result<(), Status> {
    match is_wrong {
        true => Err(Status::new(Code::Unknown, "A best effort query must be read-only.")),
        false => Ok(()),
    }
}

/// The values of variables, in the form of queries.
pub(super) fn variables(given: HashMap<String, String>) -> Variables {
    given.into_iter().map(|(name, value)| (name, ParameterValue::from(value))).collect()
}

/// Whether every object is to have its uid.
pub(super) fn expects_debug(headers: &HeaderMap) -> bool {
    headers.get("debug").is_some_and(|value| value == "true")
}

/// Refuses a change in a request that only reads.
pub(super) fn check_writable(read_only: bool) -> Result<(), Status> {
    let message = "Readonly transaction cannot run mutations or be committed";
    if read_only { Err(Status::new(Code::Unknown, message)) } else { Ok(()) }
}
