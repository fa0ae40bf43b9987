//! The grammar of the queries that one schema allows, as text for constrained decoding: a language
//! model that is held to it writes only queries that parse and that a database with this schema
//! plans.
//!
//! It is a subset of the language. Names are those of the schema, functions are those that
//! [`PredicateUse`](hexgraph_base::plan::PredicateUse) allows, literals have the type of their
//! predicate, and nothing nests without bound: the only loops are lists. Each selection has a key
//! at most once, which `trees` does in linear size.

mod rules;
mod trees;
mod names;
mod tokens;
mod functions;
mod selections;
mod requests;
mod print;
mod gbnf;
mod lark;

pub use names::Omitted;
pub use requests::query_grammar;
pub use rules::{CharSet, Expr, Grammar, Rule};
