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
    let next = next.to_ascii_uppercase();
    let message = match word.as_str() {
        "LOAD" => "`LOAD CSV` loads data".to_owned(),
        "DETACH" => "`DETACH DELETE` changes data".to_owned(),
        "ALTER" | "DROP" => format!("`{word} {next}` changes the schema"),
        "CREATE" if is_schema => format!("`{word} {next}` changes the schema"),
        _ => format!("`{word}` changes data"),
    };
    Some(Fault::new(Code::Writes, span, message).with_hint(hint))
}

/// Returns what to write instead of a word that other languages have where a clause or an operator
/// may be.
pub(super) fn instead_of(word: &str) -> Option<&'static str> {
    let instead = match word {
        "GROUP" => "groups are made of the items without an aggregate: `RETURN n.city, count(*)`",
        "HAVING" => {
            "conditions on groups follow `WITH`: `WITH n.city AS city, count(*) AS c WHERE c > 1`"
        }
        "SELECT" => "rows are given by `RETURN`",
        "FROM" => "nodes are matched by `MATCH (n:Label)`",
        "BETWEEN" => "write `least <= x AND x <= most`",
        "IS" => "equality is `=`; `IS NULL` and `IS NOT NULL` are tests for null",
        "NULLS" => {
            "write `NULLS FIRST` or `NULLS LAST`; otherwise null is last, and first with `DESC`"
        }
        "LIKE" => "write `STARTS WITH`, `ENDS WITH`, `CONTAINS` or `=~`",
        "ORDER" => "write `ORDER BY`",
        "LET" => "a value is named by `LET name = value`",
        "FOR" => "rows are made of a list by `FOR x IN list`",
        "NEXT" => "rows are passed on by `WITH`",
        "FINISH" => "the last clause is `RETURN`",
        "USING" => "the engine chooses the indexes: leave out `USING`",
        "USE" => "a query reads the database that it is sent to: leave out `USE`",
        "CYPHER" => "a query has no options: leave out `CYPHER`",
        "SHOW" => {
            "names are listed by `CALL db.labels()`; the schema with its indexes is in `schema()`, what is in the graph in `describe()`"
        }
        "BEGIN" | "COMMIT" | "ROLLBACK" => {
            "a query reads one version of the data; transactions are made by `txn()`"
        }
        "GRANT" | "DENY" | "REVOKE" => "rights are not part of Cypher here",
        _ => return None,
    };
    Some(instead)
}
