//! The measures of similarity of two nodes, by the sets of their targets. A loop does not count.

use crate::algo::compact::rows::Rows;
use hexgraph_base::plan::AlgorithmCall;

/// A measure.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Measure {
    /// The common nodes by those of either.
    Jaccard,
    /// The common nodes by those of the node that has fewer.
    Overlap,
    /// The common nodes by the geometric mean of those of both.
    Cosine,
    /// The number of common nodes.
    CommonNeighbours,
    /// The sum over the common targets of one by the logarithm of their in-degree.
    AdamicAdar,
}

impl Measure {
    pub(super) fn of(call: &AlgorithmCall) -> Measure {
        match call.word("measure") {
            "overlap" => Measure::Overlap,
            "cosine" => Measure::Cosine,
            "common_neighbours" => Measure::CommonNeighbours,
            "adamic_adar" => Measure::AdamicAdar,
            _ => Measure::Jaccard,
        }
    }

    /// What a common node counts, to which `leading` nodes lead.
    #[inline]
    pub(super) fn part(self, leading: usize) -> f64 {
        // Of nodes that have it in common there are two at least, but for those with loops.
        if self == Measure::AdamicAdar { 1.0 / (leading.max(2) as f64).ln() } else { 1.0 }
    }

    /// The likeness of two nodes with so many nodes each; `common` is the sum of the parts of those
    /// in common.
    pub(super) fn full(self, common: f64, one: usize, other: usize) -> f64 {
        let unit = match self {
            Measure::Jaccard => (one + other) as f64 - common,
            Measure::Overlap => one.min(other) as f64,
            Measure::Cosine => (one as f64 * other as f64).sqrt(),
            Measure::CommonNeighbours | Measure::AdamicAdar => 1.0,
        };
        if 0.0 < unit { common / unit } else { 0.0 }
    }
}

/// The number of targets of a node, itself not counted.
pub(super) fn size(rows: &Rows, node: u32) -> usize {
    rows.degree(node) - usize::from(rows.has(node, node))
}
