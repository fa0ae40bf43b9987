//! Names in backticks where they could be read as something else, and literals.

use crate::syntax::ast::Name;
use std::fmt::{self, Display, Formatter, Write};

/// Words that are keywords somewhere.
const WORDS: [&str; 63] = [
    "ALL",
    "ALLSHORTESTPATHS",
    "AND",
    "ANY",
    "AS",
    "ASC",
    "ASCENDING",
    "CALL",
    "CASE",
    "COLLECT",
    "CONTAINS",
    "COUNT",
    "DESC",
    "DESCENDING",
    "DISTINCT",
    "ELSE",
    "END",
    "ENDS",
    "EXISTS",
    "EXPLAIN",
    "FALSE",
    "FILTER",
    "FOR",
    "IN",
    "IS",
    "LET",
    "LIMIT",
    "LIST",
    "MATCH",
    "NONE",
    "NOT",
    "NULL",
    "NULLS",
    "OFFSET",
    "OPTIONAL",
    "OR",
    "ORDER",
    "PROFILE",
    "REDUCE",
    "RETURN",
    "SHORTEST",
    "SHORTESTPATH",
    "SINGLE",
    "SKIP",
    "STARTS",
    "THEN",
    "TRUE",
    "UNION",
    "UNWIND",
    "WHEN",
    "WHERE",
    "WITH",
    "XOR",
    "YIELD",
    "BY",
    "TYPED",
    "GROUP",
    "GROUPS",
    "ON",
    "SET",
    "CREATE",
    "MERGE",
    "DELETE",
];
/// Words that are keywords before `{` alone, so that calls need no backticks.
const CALLABLE: [&str; 3] = ["COLLECT", "COUNT", "EXISTS"];

/// A name, in backticks where it needs them.
pub(crate) struct Quoted<'a>(pub &'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = self.0;
        let is_plain = name.starts_with(|c: char| c == '_' || c.is_alphabetic())
            && name.chars().all(|c| c == '_' || c.is_alphanumeric());
        if is_plain && !WORDS.iter().any(|word| word.eq_ignore_ascii_case(name)) {
            return f.write_str(name);
        }
        write!(f, "`{}`", name.replace('`', "``"))
    }
}

impl Display for Name {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Quoted(&self.text).fmt(f)
    }
}

/// The name of a function or procedure with its dots.
pub(super) struct Dotted<'a>(pub &'a str);

impl Display for Dotted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if CALLABLE.iter().any(|word| word.eq_ignore_ascii_case(self.0)) {
            return f.write_str(self.0);
        }
        for (index, part) in self.0.split('.').enumerate() {
            f.write_str(if index == 0 { "" } else { "." })?;
            Quoted(part).fmt(f)?;
        }
        Ok(())
    }
}

/// A string in quotes.
pub(crate) struct Text<'a>(pub &'a str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('\'')?;
        for letter in self.0.chars() {
            match letter {
                '\'' => f.write_str("\\'"),
                '\\' => f.write_str("\\\\"),
                '\n' => f.write_str("\\n"),
                '\r' => f.write_str("\\r"),
                '\t' => f.write_str("\\t"),
                other => f.write_char(other),
            }?;
        }
        f.write_char('\'')
    }
}

/// A list with commas.
pub(super) struct Commas<'a, T>(pub &'a [T]);

impl<T: Display> Display for Commas<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, item) in self.0.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            item.fmt(f)?;
        }
        Ok(())
    }
}
