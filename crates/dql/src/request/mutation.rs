//! Requests that change data: mutation blocks `{ set {...} delete {...} }` and upserts `upsert
//! {...}`.

use crate::lexer::Lexer;
use crate::lower::upsert::UpsertCondition;
use crate::request::document::Document;
use crate::request::parse::{QUERY_LENGTH_MAX, parse_request};
use crate::syntax::ast::{Operation, Rdf, UpsertPart};
use crate::syntax::source::Source;
use crate::syntax::token::{RdfKind, Token};
use hexgraph_base::types::{Error, Position, Result};
use std::sync::Arc;

/// The parts of a request that changes data.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MutationRequest {
    /// The query of the upsert, or the entire text when it is a plain query.
    pub query: Option<Document>,
    /// The mutations in the order of the text.
    pub mutations: Vec<Mutation>,
}

/// One mutation: statements to set and statements to delete, under a condition.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mutation {
    /// The condition; `None` when the mutation always runs.
    pub condition: Option<UpsertCondition>,
    /// The `set` blocks in the order of the text.
    pub set: Vec<RdfBlock>,
    /// The `delete` blocks in the order of the text.
    pub delete: Vec<RdfBlock>,
}

/// A `set` or `delete` block.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RdfBlock {
    /// Its statements, as RDF.
    pub text: String,
    /// The position in the request where [`RdfBlock::text`] begins.
    pub at: Position,
}

/// Parses a request that changes data: a mutation block, an upsert block, or a plain query. The RDF
/// inside is not parsed.
///
/// # Errors
/// [`Error::Syntax`] where it is none of these.
pub fn parse_mutation(text: &str) -> Result<MutationRequest> {
    let Document { source, mut operations } = parse_request(text)?;
    let mut mutates = operations
        .iter()
        .filter(|operation| matches!(operation, Operation::Mutation(_) | Operation::Upsert(_)));
    if mutates.next().is_none() {
        let query = Some(Document { source, operations });
        return Ok(MutationRequest { query, mutations: Vec::new() });
    }
    match (operations.pop(), operations.is_empty()) {
        (Some(Operation::Mutation(rdf)), true) => {
            let mutations = vec![mutation(&source, None, rdf)];
            Ok(MutationRequest { query: None, mutations })
        }
        (Some(Operation::Upsert(parts)), true) => upsert(source, parts),
        _ => {
            let message = "a mutation must be the only block of its text";
            let error = Error::syntax(Position { line: 1, column: 0 }, message);
            Err(error.with_hint("several mutations belong into one `upsert { ... }`"))
        }
    }
}

fn upsert(source: Arc<Source>, parts: Vec<UpsertPart>) -> Result<MutationRequest> {
    let mut operations = Vec::new();
    let mut mutations = Vec::new();
    let mut queries = 0;
    for part in parts {
        match part {
            UpsertPart::Query(query) => {
                queries += 1;
                if queries == 2 {
                    let at = source.position(query.at);
                    let error = Error::syntax(at, "a second `query` in an upsert block");
                    return Err(error.with_hint("write all blocks into one"));
                }
                operations.push(Operation::Query(query));
            }
            UpsertPart::Fragment(fragment) => operations.push(Operation::Fragment(fragment)),
            UpsertPart::Mutation(condition, rdf) => {
                mutations.push(mutation(&source, condition.flatten(), rdf));
            }
        }
    }
    let start = Position { line: 1, column: 0 };
    if mutations.is_empty() {
        let error = Error::syntax(start, "an upsert block without a `mutation`");
        return Err(error.with_hint("add `mutation { set { ... } }`, or send it as a query"));
    }
    if queries == 0 {
        let error = Error::syntax(start, "an upsert block without a `query`");
        return Err(error.with_hint("add `query { ... }`, or write `{ set { ... } }` alone"));
    }
    Ok(MutationRequest { query: Some(Document { source, operations }), mutations })
}

/// The bytes of RDF in a request that changes data, which is not parsed with it. All of a text that
/// is too long to be parsed counts. O(text), without a tree.
pub fn rdf_len(text: &str) -> usize {
    if QUERY_LENGTH_MAX < text.len() {
        return text.len();
    }
    let tokens = Lexer::new(text).map_while(Result::ok);
    let rdf = tokens.map(|(_, token, _)| match token {
        Token::Rdf(_, body) => body.of(text).len(),
        _ => 0,
    });
    rdf.sum()
}

/// Makes one mutation of its blocks. All of them count: in Dgraph the last `set` replaces the
/// others.
fn mutation(
    source: &Arc<Source>,
    filter: Option<crate::syntax::ast::Condition>,
    blocks: Vec<Rdf>,
) -> Mutation {
    let condition =
        filter.map(|filter| UpsertCondition { source: Arc::clone(source), filter: Some(filter) });
    let mut mutation = Mutation { condition, ..Mutation::default() };
    for Rdf { kind, body } in blocks {
        let text = body.of(source.text()).to_owned();
        let at = source.position(body.start);
        match kind {
            RdfKind::Set => mutation.set.push(RdfBlock { text, at }),
            RdfKind::Delete => mutation.delete.push(RdfBlock { text, at }),
        }
    }
    mutation
}
