//! The table of all algorithms on graphs.

use super::algorithm::ArgumentKind::{Float, Int, Nodes};
use super::algorithm::Direction::{Both, In, Out};
use super::algorithm::{Algorithm, ArgumentDef, Direction, Gives};

/// Both directions and none, as they are written by default.
const DIRECTED: &[Direction] = &[Out, In, Both];

/// The algorithm of a name.
pub fn algorithm(name: &str) -> Option<&'static Algorithm> {
    ALGORITHMS.iter().find(|algorithm| algorithm.name == name)
}

const fn argument(
    name: &'static str,
    kind: super::algorithm::ArgumentKind,
    summary: &'static str,
) -> ArgumentDef {
    ArgumentDef { name, kind, summary }
}

const SOURCE: ArgumentDef = argument(
    "source",
    Nodes { is_required: true },
    "The nodes to start from; of several the nearest counts.",
);

/// The algorithms, by topic: importance, components, distances, communities, triangles, similarity.
pub const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "pagerank",
        summary: "How often a walk that follows edges at random, and now and then starts anew, is at a node.",
        arguments: &[
            argument(
                "damping",
                Float { least: 0.0, most: 1.0, default: 0.85 },
                "The share of steps that follow an edge.",
            ),
            argument(
                "iterations",
                Int { least: 1, most: 1_000_000, default: Some(100) },
                "The most rounds.",
            ),
            argument(
                "tolerance",
                Float { least: 0.0, most: 1.0, default: 1e-6 },
                "It stops when a round changes the rank of a node by less than this on average; 0 for all rounds.",
            ),
            argument(
                "from",
                Nodes { is_required: false },
                "The nodes where walks start; else all. Also called personalisation.",
            ),
        ],
        directions: DIRECTED,
        takes_weights: true,
        gives: Gives::Floats,
        source: "L. Page, S. Brin, R. Motwani, T. Winograd: The PageRank Citation Ranking. Stanford, 1999",
    },
    Algorithm {
        name: "components",
        summary: "The number of the part of the graph that a node is in: parts are joined by no edge, whatever its direction.",
        arguments: &[],
        directions: DIRECTED,
        takes_weights: false,
        gives: Gives::Ints,
        source: "R. E. Tarjan: Efficiency of a Good But Not Linear Set Union Algorithm. JACM 22, 1975",
    },
    Algorithm {
        name: "strong_components",
        summary: "The number of the part that a node is in, within which each node reaches each along edges.",
        arguments: &[],
        directions: DIRECTED,
        takes_weights: false,
        gives: Gives::Ints,
        source: "R. E. Tarjan: Depth-First Search and Linear Graph Algorithms. SIAM J. Comput. 1, 1972",
    },
    Algorithm {
        name: "bfs",
        summary: "The number of edges on the shortest way from a source to a node.",
        arguments: &[
            SOURCE,
            argument(
                "depth",
                Int { least: 0, most: u32::MAX as i64, default: None },
                "The most edges; nodes that are farther have no number.",
            ),
        ],
        directions: DIRECTED,
        takes_weights: false,
        gives: Gives::Ints,
        source: "S. Beamer, K. Asanović, D. Patterson: Direction-Optimizing Breadth-First Search. SC, 2012",
    },
    Algorithm {
        name: "distances",
        summary: "The least sum of weights on a way from a source to a node.",
        arguments: &[SOURCE],
        directions: DIRECTED,
        takes_weights: true,
        gives: Gives::Floats,
        source: "U. Meyer, P. Sanders: Δ-stepping: a parallelizable shortest path algorithm. J. Algorithms 49, 2003",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{ArgumentKind, COMMON_ARGUMENTS, algorithm};
    use std::collections::BTreeSet;

    #[test]
    fn names_are_distinct_and_defaults_in_range() {
        let mut names = BTreeSet::new();
        for row in ALGORITHMS {
            assert!(names.insert(row.name), "{} stands twice", row.name);
            assert_eq!(algorithm(row.name), Some(row));
            assert!(!row.directions.is_empty() && row.summary.ends_with('.'), "{}", row.name);
            let all: Vec<_> = row.argument_names().collect();
            let distinct: BTreeSet<_> = all.iter().collect();
            assert_eq!(all.len(), distinct.len(), "{}: {all:?}", row.name);
            for argument in row.arguments.iter().chain(COMMON_ARGUMENTS) {
                let is_fine = match argument.kind {
                    Int { least, most, default } => {
                        default.is_none_or(|it| (least..=most).contains(&it))
                    }
                    Float { least, most, default } => (least..=most).contains(&default),
                    ArgumentKind::Choice(words) => !words.is_empty(),
                    ArgumentKind::Bool { .. } | Nodes { .. } => true,
                };
                assert!(is_fine, "{} {}", row.name, argument.name);
            }
        }
        assert_eq!(algorithm("PageRank"), None);
    }
}
