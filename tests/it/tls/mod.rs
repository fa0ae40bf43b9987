//! TLS on both ports: who is answered, who is not, and what the operator is told.

pub mod authority;
pub mod site;
mod answers;
mod clients;
mod renewal;
mod strangers;
mod settings;
