//! The grammar of the queries that a database can plan, for constrained decoding.

use crate::db::database::Database;
use crate::db::guard::guarded;
use hexgraph_base::types::{Error, Result, bounded};
use hexgraph_dql::{Omitted, query_grammar};
use hexgraph_store::exec::RequestContext;
use std::fmt;
use std::str::FromStr;

/// The most names that a comment lists as left out.
const OMITTED_MAX: usize = 100;

/// An upper estimate of the memory for the rules and the text: for the forms of requests, and for
/// each predicate in addition to 32 times its name.
const BYTES: u64 = 1 << 20;
const BYTES_PER_PREDICATE: u64 = 16 << 10;

/// The language of a grammar's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GrammarFormat {
    /// GBNF, for llama.cpp.
    Gbnf,
    /// The language of lark, for outlines, guidance and llguidance.
    Lark,
}

impl GrammarFormat {
    /// All formats.
    pub const ALL: [GrammarFormat; 2] = [GrammarFormat::Gbnf, GrammarFormat::Lark];

    /// Returns the name, as the command line and Python write it.
    ///
    /// ```
    /// use hexgraph::db::GrammarFormat;
    ///
    /// assert_eq!(GrammarFormat::Gbnf.name(), "gbnf");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            GrammarFormat::Gbnf => "gbnf",
            GrammarFormat::Lark => "lark",
        }
    }
}

impl fmt::Display for GrammarFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for GrammarFormat {
    type Err = Error;

    /// Parses a name.
    ///
    /// # Errors
    ///
    /// `Query` for another name.
    fn from_str(name: &str) -> Result<GrammarFormat> {
        GrammarFormat::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            let message = bounded(format!("a grammar has no format {name:?}"));
            Error::query(message).with_hint("expected gbnf or lark")
        })
    }
}

/// # A grammar for language models
impl Database {
    /// Returns the grammar of DQL for the schema of this database, for constrained decoding: what
    /// it produces parses, and is planned on this database.
    ///
    /// It has the predicates and types that the caller may read. Those that have no form in it are
    /// listed in its first lines, which are comments. Costs O(length of the schema).
    ///
    /// ```
    /// use hexgraph::db::{Database, GrammarFormat};
    ///
    /// let db = Database::in_memory();
    /// db.alter("name: string @index(exact) .")?;
    /// let grammar = db.grammar(GrammarFormat::Gbnf)?;
    /// assert!(grammar.contains("root ::= ") && grammar.contains("\"name\""));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Limit` when there is no memory for it, `Closed`.
    pub fn grammar(&self, format: GrammarFormat) -> Result<String> {
        let version = self.version()?;
        guarded(|| {
            let context = RequestContext::new();
            self.prepare(&context);
            let names = version.schema.predicates.keys().map(|name| 32 * name.len() as u64);
            context.reserve(names.map(|bytes| bytes + BYTES_PER_PREDICATE).sum::<u64>() + BYTES)?;
            let (grammar, omitted) = query_grammar(&version.schema);
            let notes = notes(&omitted);
            Ok(match format {
                GrammarFormat::Gbnf => grammar.to_gbnf(&notes),
                GrammarFormat::Lark => grammar.to_lark(&notes),
            })
        })
    }
}

/// The comments of a grammar: what it is, and what it leaves out.
fn notes(omitted: &[Omitted]) -> Vec<String> {
    let version = env!("CARGO_PKG_VERSION");
    let mut notes = vec![format!("DQL for the schema of one database, by hexgraph {version}")];
    for Omitted { name, reason } in &omitted[..omitted.len().min(OMITTED_MAX)] {
        notes.push(bounded(format!("left out: {name:?}, since {reason}")));
    }
    if OMITTED_MAX < omitted.len() {
        notes.push(format!("left out: {} more names", omitted.len() - OMITTED_MAX));
    }
    notes
}
