//! DQL, the query language of Dgraph, for texts of queries, mutations and upserts. A lexer and a
//! grammar turn a text into a syntax tree; lowering resolves its names, checks the rules of the
//! language and produces a plan, a [`Query`](hexgraph_base::plan::Query), that the executor
//! executes. No step reads data or the schema.

mod compat;
mod syntax;
mod lexer;
mod lower;
mod request;
mod keywords;
mod grammar;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod language_tests;

pub use grammar::{CharSet, Expr, Grammar, Omitted, Rule, query_grammar};
pub use keywords::{Keyword, keyword_table};
pub use lexer::GROUPS_UNFILTERED;
pub use lower::parameter_value::ParameterValue;
pub use lower::upsert::UpsertCondition;
pub use request::document::Document;
pub use request::kind::is_mutation;
pub use request::mutation::{Mutation, MutationRequest, RdfBlock, parse_mutation, rdf_len};
pub use request::parse::{parse, parse_condition};
pub use request::passwords::{BLANKED, without_passwords, without_strings};
pub use syntax::keyword_kind::KeywordKind;
