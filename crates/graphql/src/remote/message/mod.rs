//! A request to another server and its answer, and the parts of a request: body, address, headers.

pub(super) mod call_error;
pub(super) mod exchange;
pub(super) mod interpolation;
pub(super) mod address;
pub(super) mod headers;
