//! The methods of the gRPC service `api.Dgraph`, by what they do.

pub(in crate::http) mod query;
pub(in crate::http) mod run_dql;
pub(in crate::http) mod alter;
pub(in crate::http) mod commit;
pub(in crate::http) mod simple;
pub(in crate::http) mod namespaces;
mod mutations;
mod statements;
pub(in crate::http::grpc) mod weight;
mod parameters;
mod replies;
