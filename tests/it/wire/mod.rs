//! What a client sees over the wire: requests as they are typed, and all that comes back.

mod admin;
mod console;
mod cypher;
mod lines;
mod memory;
mod metrics;
mod requests;
pub mod site;
#[cfg(unix)]
mod socket_file;
mod sockets;
#[cfg(feature = "otlp")]
mod spans;
