//! What a client sees over the wire: requests as they are typed, and all that comes back.

mod admin;
mod memory;
mod requests;
pub mod site;
mod sockets;
