//! [`LookUp`]: what an index is searched for by a language that tests values itself.

use crate::types::Value;
use std::ops::Bound;

/// A test of values that an index can answer. The nodes of an index are those that pass, and
/// perhaps others: the caller tests each.
#[derive(Debug, Clone)]
pub enum LookUp {
    /// Equal to one of these values, which are of the predicate's type.
    AnyOf(Vec<Value>),
    /// Between two values of the predicate's type.
    Between(Bound<Value>, Bound<Value>),
    /// A text that contains this one.
    Containing(Box<str>),
    /// A text that this regular expression matches, over characters.
    Matching(Box<str>),
    /// A geometry that has a part at most so many metres away from a point.
    Near {
        /// Degrees.
        longitude: f64,
        /// Degrees.
        latitude: f64,
        /// At least 1, and less than a quarter of the equator.
        metres: f64,
    },
}

/// An index that answers look-ups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookUpIndex {
    /// Entire values, in their order.
    Values,
    /// Trigrams of texts.
    Trigrams,
    /// Cells of geometries.
    Geo,
}

impl LookUp {
    /// Returns the index that answers it.
    pub fn index(&self) -> LookUpIndex {
        match self {
            LookUp::AnyOf(_) | LookUp::Between(..) => LookUpIndex::Values,
            LookUp::Containing(_) | LookUp::Matching(_) => LookUpIndex::Trigrams,
            LookUp::Near { .. } => LookUpIndex::Geo,
        }
    }
}
