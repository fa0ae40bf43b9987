//! TLS on both ports: who is answered, who is not, and what the operator is told.

mod authority;
mod site;
mod answers;
mod clients;
mod renewal;
mod strangers;
mod settings;
