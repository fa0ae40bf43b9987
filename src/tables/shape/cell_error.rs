//! Why a cell of a table can't be stored.

use crate::tables::read::cells::ColumnError;
use hexgraph_base::types::{ConvertError, Loss, ParseError, PasswordError, ValueType};
use hexgraph_store::graph::Refusal;

/// Why a cell, or an entire column, can't be stored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(in crate::tables) enum CellError {
    /// The column has no values.
    #[error(transparent)]
    Column(#[from] ColumnError),
    /// The predicate rejects the value.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The text is no value of the type that the options give the column.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// The text begins as a geometry in WKT does, and is none.
    #[error("no geometry in WKT: {0}")]
    Wkt(String),
    /// The hash of a password is not computed.
    #[error(transparent)]
    Password(#[from] PasswordError),
    /// The options give the column another type than the predicate has.
    #[error("it is not of the type of `{predicate}`")]
    OtherType {
        /// The predicate.
        predicate: String,
    },
    /// The text of a file is no value of the type detected for the column.
    #[error("it is no {}", expected.name())]
    Untyped {
        /// The type.
        expected: ValueType,
    },
    /// A facet has one value, and the cell is a list.
    #[error("a list can be no facet")]
    ListFacet,
    /// The row is a node, and the cell that names it is empty.
    #[error("a row of nodes has no id")]
    NoId,
    /// The row is an edge, the cell of an endpoint is empty, and endpoints must not be missing.
    #[error("a row of edges has no end here")]
    NoEnd,
    /// The type of the predicate does not hold the cell in full.
    #[error(
        "{}: alter the predicate to {}, or give the column another one with `columns`", .0.about("it"), .0.needed().name()
    )]
    Lossy(Loss),
    /// The row has a cell in another column of the same predicate or facet.
    #[error(
        "the row has a cell in column {other:?}, too, and both are `{name}`, of which there is one"
    )]
    Rival {
        /// The other column.
        other: String,
        /// The predicate or the key of the facet.
        name: String,
    },
    /// The cell is a number with a fraction, a truth value or a time.
    #[error("an id is a whole number or a text")]
    NotAnId,
    /// The text is no integer, and the other ids are.
    #[error("the ids are of type int")]
    NotAnInt,
    /// The number is beyond those of 64 bits, and the other ids are ints.
    #[error("the ids are of type int, which has 64 bits: use texts for such ids")]
    LargeId,
    /// The float is so large that it may represent several integers.
    #[error("a float from 2^53 on may have lost digits: an id is an int or a text")]
    LargeFloat,
    /// The text is no number of a node.
    #[error("it is no uid")]
    NotAUid,
    /// The number is below zero.
    #[error("a uid is not negative")]
    NegativeUid,
    /// The number is 0 or the greatest there is, which stand for no node.
    #[error("it is the uid of no node")]
    NoNode,
    /// Any of these, with a hint what the cell should hold instead.
    #[error("{reason}; a value of type {} is expected, {}", expected.name(), such_as(*expected))]
    Expected {
        /// What is wrong with the cell.
        reason: Box<CellError>,
        /// The type that was expected: one that [`CellError::expecting`] has an example of.
        expected: ValueType,
    },
    /// Any of these, about an integer beyond those of 64 bits with a sign.
    #[error("{reason}: give the column the type string with `types`, as {{column: \"string\"}}")]
    LargeInt {
        /// What is wrong with the cell.
        reason: Box<CellError>,
    },
    /// Any of these, about a column whose predicate has another name.
    #[error("{reason}; the predicate is `{predicate}`")]
    OfPredicate {
        /// What is wrong with the cell.
        reason: Box<CellError>,
        /// The predicate.
        predicate: String,
    },
    /// Any of these, about a value that the message shows.
    #[error("{value}: {reason}")]
    Value {
        /// The value as it is shown.
        value: String,
        /// What is wrong with it.
        reason: Box<CellError>,
    },
    /// Any of these, about a text that represents a missing value in many tables.
    #[error(
        "{reason}; it looks like a missing value: leave the cell empty, or leave such cells out with on_error=\"skip\""
    )]
    Missing {
        /// What is wrong with the cell.
        reason: Box<CellError>,
    },
}

/// What is in tables where there is no value, in lower case.
const GAPS: [&str; 12] =
    ["n/a", "na", "#n/a", "nan", "null", "none", "nil", "-", "--", "?", "unknown", "missing"];

/// Whether a text represents a missing value in many tables.
pub(in crate::tables) fn is_gap(text: &str) -> bool {
    let text = text.trim();
    GAPS.iter().any(|gap| gap.eq_ignore_ascii_case(text))
}

/// An example of a value of a type; empty for types that hold any text.
fn such_as(expected: ValueType) -> &'static str {
    match expected {
        ValueType::Int => "such as 42",
        ValueType::Float => "such as 2.5",
        ValueType::Bool => "true or false",
        ValueType::DateTime => "such as 2006-01-02 or 2006-01-02T15:04:05Z",
        ValueType::Geo => "a GeoJSON geometry",
        ValueType::Vector => "such as [0.1, 0.2]",
        _ => "",
    }
}

impl CellError {
    /// Adds what the cell should hold instead, if there is an example of that type.
    pub(in crate::tables) fn expecting(self, expected: ValueType) -> CellError {
        match such_as(expected) {
            // Another number is no remedy for a column of hashes or of unsigned keys.
            _ if self.is_large_int() => CellError::LargeInt { reason: Box::new(self) },
            "" => self,
            // That of a datetime says so itself.
            _ if self.to_string().contains("which looks like") => self,
            _ => CellError::Expected { reason: Box::new(self), expected },
        }
    }

    /// Whether the cell is an integer beyond those of 64 bits with a sign.
    fn is_large_int(&self) -> bool {
        matches!(
            self,
            CellError::Convert(ConvertError::Parse(ParseError::IntTooLarge { .. }))
                | CellError::Refused(Refusal::Convert(ConvertError::Parse(
                    ParseError::IntTooLarge { .. }
                )))
        )
    }

    /// Adds the predicate, where the column has another name, and the message does not say it yet.
    pub(in crate::tables) fn of_predicate(self, predicate: &str, column: &str) -> CellError {
        if predicate == column || self.to_string().contains(&format!("`{predicate}`")) {
            return self;
        }
        CellError::OfPredicate { reason: Box::new(self), predicate: predicate.to_owned() }
    }

    /// Adds the value, as it is shown, and what to do where many write such a text for no value.
    pub(in crate::tables) fn of_value(self, value: String) -> CellError {
        let is_gap = is_gap(value.trim_matches('"'));
        let reason = Box::new(CellError::Value { value, reason: Box::new(self) });
        if is_gap { CellError::Missing { reason } } else { *reason }
    }
}
