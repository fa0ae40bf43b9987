//! What Cypher has and this engine has not: each word with the remedy.

use crate::error::{Code, Fault};
use crate::span::Span;

/// How data is changed.
const WRITE: &str = "Cypher only reads here: add and change data with `mutate`, nodes by their keys with `upsert`, and \
                     tables with `load_nodes` and `load_edges`";
const DELETE: &str = "Cypher only reads here: delete with `mutate(delete=...)`";
const SCHEMA: &str = "Cypher only reads here: indexes and types are set with `alter`";

/// Returns the error for a clause that is not part of what is read here, by the words at its
/// beginning.
pub(super) fn refused(word: &str, next: &str, span: Span) -> Option<Fault> {
    let is_schema =
        ["INDEX", "CONSTRAINT", "UNIQUE", "RANGE", "TEXT", "FULLTEXT", "VECTOR", "POINT", "LOOKUP"]
            .iter()
            .any(|it| it.eq_ignore_ascii_case(next));
    let word = word.to_ascii_uppercase();
    let hint = match word.as_str() {
        "CREATE" | "DROP" if is_schema => SCHEMA,
        "DROP" | "ALTER" => SCHEMA,
        "CREATE" | "MERGE" | "SET" | "INSERT" => WRITE,
        "DELETE" | "DETACH" | "REMOVE" | "NODETACH" => DELETE,
        "FOREACH" => "Cypher only reads here: write a list of changes with one call of `mutate`",
        "LOAD" => "Cypher only reads here: load files with `load_nodes` and `load_edges`",
        _ => return None,
    };
    let shown = match word.as_str() {
        "LOAD" => "LOAD CSV",
        "DETACH" => "DETACH DELETE",
        other => other,
    };
    Some(Fault::new(Code::Writes, span, format!("`{shown}` changes data")).with_hint(hint))
}
