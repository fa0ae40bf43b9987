//! Users and rights: who may do what, over HTTP and gRPC, and what those see who may see a part.

mod audit;
mod cypher;
mod grammar;
mod hidden;
mod matrix;
mod people;
mod site;
mod subscribers;
