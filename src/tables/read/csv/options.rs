//! What is said of a file before it is looked at.

use super::kinds::MissingTexts;
use crate::tables::shape::options::Ragged;

/// The options that the caller gives. `None` is detected.
#[derive(Debug, Clone, Default)]
pub(in crate::tables) struct CsvOptions {
    /// The byte between fields.
    pub separator: Option<u8>,
    /// The byte around fields; `Some(None)` where quotes are literal.
    pub quote: Option<Option<u8>>,
    /// The byte that makes the next one literal.
    pub escape: Option<u8>,
    /// The byte that begins a comment; `Some(None)` where there is none.
    pub comment: Option<Option<u8>>,
    /// Whether the first record has the names of the columns.
    pub header: Option<bool>,
    /// The number of lines before the first record.
    pub skip: Option<u64>,
    /// Whether the columns have names that the file does not give them.
    pub is_named: bool,
    /// The texts that stand for no value.
    pub missing: MissingTexts,
    /// What happens to records with more or fewer fields than there are columns.
    pub ragged: Ragged,
    /// Whether the name of the file is that of a list of edges, `.txt` or `.edges`.
    pub is_list: bool,
    /// Whether the name of the file is that of edges, which have no header where all cells are
    /// texts.
    pub is_edges: bool,
}
