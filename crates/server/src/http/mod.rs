//! The database over HTTP: `/query`, `/cypher`, `/mutate`, `/alter`, `/commit`, `/assign`,
//! `/health`, `/graphql` and `/admin`, and over gRPC, as Dgraph has them. For browsers there is a
//! console.

mod server;
mod listeners;
mod socket_file;
mod service_manager;
mod routes;
mod router;
mod mounted;
mod observed;
mod route;
mod effect;
mod answering;
mod app;
mod outgoing;
mod logs;
mod audit;
mod tls;
mod metrics;
mod connections;
mod admission;
mod compat;
mod message;
mod guard;
mod endpoints;
mod console;
mod graphql;
mod grpc;

pub use admission::AdmissionOptions;
pub use audit::AuditOptions;
pub use connections::ConnectionOptions;
pub use effect::Effect;
pub use graphql::SubscribeOptions;
pub use guard::access_settings::{access_options, default_password_warning, read_secret};
pub use guard::keys::Role;
pub use guard::origins::Origins;
pub use guard::security::{Secret, Security};
pub use listeners::GrpcPort;
pub use logs::{Level, LogFormat, LogOptions, SpanOptions, log, set_log_format};
pub(crate) use message::reply::{alternatives_json, warning_json};
pub use mounted::{Mounted, MountedCaller};
pub(crate) use outgoing::agent_config;
pub use route::Route;
pub use routes::ROUTES;
pub use server::{Ended, ServeOptions, Server};
pub use service_manager::ServiceManager;
pub use socket_file::SocketFileOptions;
pub use tls::{Certificates, TlsFiles};
