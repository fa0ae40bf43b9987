//! Read-only openCypher. A lexer and a grammar turn a text into a syntax tree; the analysis
//! resolves its variables and functions and checks the rules of the language. No step reads data or
//! the schema.

mod span;
mod syntax;
mod lexer;
mod error;
mod parse;
mod print;
mod procedures;
mod analyse;
mod execute;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod golden_tests;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod limits_tests;

pub use analyse::{Analysed, Column, Kind, analyse};
pub use error::{Code, CypherError, Result};
pub use execute::{
    Adjacency, AnswerColumn, AnswerSink, Bits, Cell, Dictionary, Graph, IndexAccess, IndexEstimate,
    IndexTest, Lists, NameKind, PropertyColumn, Table, Truths, TypedCells, Vector, execute,
    execute_each, explain, profile,
};
pub use parse::{Parsed, parse};
pub use procedures::{AlgorithmColumn, AlgorithmRequest, AlgorithmRows, NameList, NodeGroups};
pub use span::Span;
pub use syntax::ast;
