//! What an index of a property may be searched for.

use hexgraph_scalar::{Comparison, Point, TextTest, Value};
use std::sync::Arc;

/// A test of the values of a property. An index has the nodes that pass, and perhaps others.
#[derive(Debug, Clone)]
pub enum IndexTest {
    /// Equal to one of these values.
    AnyOf(Vec<Value>),
    /// On the given side of each of these values.
    Range(Vec<(Comparison, Value)>),
    /// A text that has this one at its start, at its end or anywhere.
    Text(TextTest, Arc<str>),
    /// A text that this regular expression matches.
    Matches(Arc<str>),
    /// A point at most so many metres away from this one.
    Near(Arc<Point>, f64),
}

/// How an index answers a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexAccess {
    /// By single values.
    Values,
    /// By a range of values in their order.
    Range,
    /// By the trigrams of a text.
    Trigrams,
    /// By cells of the earth.
    Cells,
}

/// The candidates of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexEstimate {
    /// How the index has them.
    pub access: IndexAccess,
    /// About how many they are, rather more than fewer.
    pub nodes: u64,
}

impl IndexAccess {
    /// The name of the operator in a plan.
    pub(in crate::execute) fn operator(self) -> &'static str {
        match self {
            IndexAccess::Values => "IndexSeek",
            IndexAccess::Range => "IndexRangeScan",
            IndexAccess::Trigrams => "TrigramSeek",
            IndexAccess::Cells => "GeoSeek",
        }
    }
}
