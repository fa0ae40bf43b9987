//! What a client sees over the wire: requests as they are typed, and all that comes back.

mod admin;
mod requests;
mod site;
mod sockets;
