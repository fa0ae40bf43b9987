//! The slow twin of GraphQL: a naive model of schemas, mutations and queries, written from the
//! specification with plain maps and loops, that has to agree with the engine on generated requests
//! over generated schemas; and what happens to schemas and requests that were damaged.

mod lit;
mod schema;
mod family;
mod graph;
mod store;
mod filter;
mod request;
mod answer;
mod shape;
mod naming;
mod mutate;
mod change;
mod words;
mod ask;
mod input;
mod changes;
mod shrink;
mod session;
mod run;
mod api;
mod damage;
