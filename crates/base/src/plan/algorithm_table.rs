//! The table of all algorithms on graphs: the languages, the Python package and the documentation
//! read their names, arguments and summaries here.

use super::algorithm::ArgumentKind::{Bool, Choice, Float, Groups, Int, Nodes, Numbers};
use super::algorithm::Direction::{Both, In, Out};
use super::algorithm::{Algorithm, ArgumentDef, Direction, Gives};
use crate::types::nearest;

/// Any direction; edges are followed as they are written by default.
const DIRECTED: &[Direction] = &[Out, In, Both];

/// Without directions alone: the algorithm is defined on undirected graphs.
const UNDIRECTED: &[Direction] = &[Both];

/// Any direction; without one by default.
const MOSTLY_UNDIRECTED: &[Direction] = &[Both, Out, In];

/// Along edges or against them, never without a direction: the result is about the directions.
const OUT_OR_IN: &[Direction] = &[Out, In];

/// The algorithm of a name, in its exact spelling; `None` if there is none.
pub fn algorithm(name: &str) -> Option<&'static Algorithm> {
    ALGORITHMS.iter().find(|algorithm| algorithm.name == name)
}

/// The name of an algorithm that another name is probably meant for, in whichever case; `None`
/// where none is near.
pub fn nearest_algorithm(name: &str) -> Option<&'static str> {
    nearest(&name.to_lowercase(), ALGORITHMS.iter().map(|algorithm| algorithm.name))
}

const fn argument(
    name: &'static str,
    kind: super::algorithm::ArgumentKind,
    summary: &'static str,
) -> ArgumentDef {
    ArgumentDef { name, kind, summary }
}

/// Several nodes; each node uses the nearest of them.
const SOURCE: ArgumentDef = argument(
    "source",
    Nodes { is_required: true },
    "The nodes to start from; of several the nearest counts.",
);

/// The nodes that have a result; it is computed for each of them on its own.
const SOME: ArgumentDef =
    argument("source", Nodes { is_required: false }, "The nodes to compute; all by default.");

/// The bound on the rounds of an algorithm that may stop before.
const fn iterations(default: i64) -> ArgumentDef {
    let kind = Int { least: 1, most: 1_000_000, default: Some(default) };
    argument("iterations", kind, "The most rounds.")
}

const NORMALIZED: ArgumentDef = argument(
    "normalized",
    Bool { default: false },
    "Whether numbers are divided by the greatest that they could be in a graph of as many nodes.",
);

const RESOLUTION: ArgumentDef = argument(
    "resolution",
    Float { least: 0.0, most: 1e9, default: 1.0 },
    "The greater, the smaller the communities.",
);

const TOP: ArgumentDef = argument(
    "top",
    Int { least: 1, most: u32::MAX as i64, default: None },
    "The number of nodes to return, greatest values first; all by default.",
);

const VARIANT: ArgumentDef = argument(
    "variant",
    Choice(&["standard", "graphalytics"]),
    "The rules: those described here, or those of LDBC Graphalytics.",
);

const ONE_SOURCE: ArgumentDef = argument("source", Nodes { is_required: true }, "The start node.");

const STARTS: ArgumentDef =
    argument("source", Nodes { is_required: false }, "The nodes to start from; else all.");

const MEASURE: ArgumentDef = argument(
    "measure",
    Choice(&["jaccard", "overlap", "cosine", "common_neighbours", "adamic_adar"]),
    "How two sets of nodes are compared.",
);

/// All algorithms. The order is that of the documentation; [`algorithm`] finds one by its name.
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
            iterations(100),
            argument(
                "tolerance",
                Float { least: 0.0, most: 1e9, default: 1e-6 },
                "It stops when a round changes all ranks, whose sum is 1, by less than this together; 0 for all rounds.",
            ),
            argument(
                "from",
                Nodes { is_required: false },
                "The nodes where walks start; else all. Also called personalisation.",
            ),
            TOP,
            argument(
                "method",
                Choice(&["auto", "power", "push"]),
                "By rounds over all edges, or from the starts outward; by itself the latter where `from` and `top` are given.",
            ),
            VARIANT,
        ],
        directions: DIRECTED,
        takes_weights: true,
        gives: Gives::Floats,
        column: "score",
        source: "L. Page, S. Brin, R. Motwani, T. Winograd: The PageRank Citation Ranking. Stanford, 1999",
    },
    Algorithm {
        name: "components",
        summary: "The number of the part of the graph that a node is in: parts are joined by no edge, whatever its direction.",
        arguments: &[],
        directions: DIRECTED,
        takes_weights: false,
        gives: Gives::Ints,
        column: "component",
        source: "R. E. Tarjan: Efficiency of a Good But Not Linear Set Union Algorithm. JACM 22, 1975",
    },
    Algorithm {
        name: "strong_components",
        summary: "The number of the part that a node is in, within which each node reaches each along edges.",
        arguments: &[],
        directions: DIRECTED,
        takes_weights: false,
        gives: Gives::Ints,
        column: "component",
        source: "R. E. Tarjan: Depth-First Search and Linear Graph Algorithms. SIAM J. Comput. 1, 1972",
    },
    Algorithm {
        name: "bfs",
        summary: "The number of edges of the shortest path from a source to a node.",
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
        column: "distance",
        source: "S. Beamer, K. Asanović, D. Patterson: Direction-Optimizing Breadth-First Search. SC, 2012",
    },
    Algorithm {
        name: "distances",
        summary: "The least sum of weights of a path from a source to a node.",
        arguments: &[SOURCE],
        directions: DIRECTED,
        takes_weights: true,
        gives: Gives::Floats,
        column: "distance",
        source: "U. Meyer, P. Sanders: Δ-stepping: a parallelizable shortest path algorithm. J. Algorithms 49, 2003",
    },
    Algorithm {
        name: "degree",
        summary: "The number of edges of a node, or what they weigh together.",
        arguments: &[NORMALIZED],
        directions: DIRECTED,
        takes_weights: true,
        gives: Gives::Floats,
        column: "degree",
        source: "M. Newman: Networks. Oxford, 2nd edition 2018, section 6.10",
    },
    Algorithm {
        name: "hits",
        summary: "The score of a node as a hub, by the authorities that it points to, or as an authority, by the hubs that point to it.",
        arguments: &[
            argument("score", Choice(&["authority", "hub"]), "Which of the two scores."),
            iterations(100),
            argument(
                "tolerance",
                Float { least: 0.0, most: 1.0, default: 1e-8 },
                "It stops when a round changes the hubs by less than this together.",
            ),
        ],
        directions: DIRECTED,
        takes_weights: true,
        gives: Gives::Floats,
        column: "score",
        source: "J. Kleinberg: Authoritative Sources in a Hyperlinked Environment. JACM 46, 1999",
    },
    Algorithm {
        name: "closeness",
        summary: "One divided by the sum of the distances from the nodes that reach a node.",
        arguments: &[SOME, NORMALIZED],
        directions: DIRECTED,
        takes_weights: false,
        gives: Gives::Floats,
        column: "score",
        source: "L. Freeman: Centrality in Social Networks. Social Networks 1, 1979",
    },
    Algorithm {
        name: "harmonic",
        summary: "The sum of one divided by the distance, over the nodes that reach a node.",
        arguments: &[SOME, NORMALIZED],
        directions: DIRECTED,
        takes_weights: false,
        gives: Gives::Floats,
        column: "score",
        source: "P. Boldi, S. Vigna: Axioms for Centrality. Internet Mathematics 10, 2014",
    },
    Algorithm {
        name: "betweenness",
        summary: "How many of the shortest paths between other nodes contain a node.",
        arguments: &[
            argument(
                "samples",
                Int { least: 1, most: u32::MAX as i64, default: None },
                "The number of sampled start nodes; all by default. The result is scaled.",
            ),
            argument(
                "source",
                Nodes { is_required: false },
                "The start nodes; all by default. The result is not scaled.",
            ),
            NORMALIZED,
        ],
        directions: DIRECTED,
        takes_weights: false,
        gives: Gives::Floats,
        column: "score",
        source: "U. Brandes: A Faster Algorithm for Betweenness Centrality. J. Math. Sociology 25, 2001",
    },
    Algorithm {
        name: "label_propagation",
        summary: "The community of a node, by labels that nodes adopt from most of their neighbours.",
        arguments: &[iterations(10)],
        directions: MOSTLY_UNDIRECTED,
        takes_weights: false,
        gives: Gives::Ints,
        column: "community",
        source: "A. Iosup et al.: LDBC Graphalytics. VLDB, 2016",
    },
    Algorithm {
        name: "louvain",
        summary: "The community of a node, where as many edges as can be lie within communities.",
        arguments: &[RESOLUTION],
        directions: UNDIRECTED,
        takes_weights: true,
        gives: Gives::Ints,
        column: "community",
        source: "V. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre: Fast unfolding of communities. J. Stat. Mech., 2008",
    },
    Algorithm {
        name: "leiden",
        summary: "The community of a node, as by louvain, but connected and mostly better.",
        arguments: &[
            RESOLUTION,
            argument(
                "iterations",
                Int { least: 1, most: 1_000_000, default: Some(2) },
                "The maximum number of passes. Each starts from the communities of the previous one.",
            ),
        ],
        directions: UNDIRECTED,
        takes_weights: true,
        gives: Gives::Ints,
        column: "community",
        source: "V. Traag, L. Waltman, N. J. van Eck: From Louvain to Leiden. Scientific Reports 9, 2019",
    },
    Algorithm {
        name: "core_numbers",
        summary: "The greatest k for which a node is in a part of the graph where each node has k neighbours.",
        arguments: &[],
        directions: UNDIRECTED,
        takes_weights: false,
        gives: Gives::Ints,
        column: "core",
        source: "V. Batagelj, M. Zaveršnik: An O(m) Algorithm for Cores Decomposition of Networks. 2003",
    },
    Algorithm {
        name: "triangles",
        summary: "The number of pairs of neighbours of a node that are neighbours themselves.",
        arguments: &[],
        directions: UNDIRECTED,
        takes_weights: false,
        gives: Gives::Ints,
        column: "triangles",
        source: "N. Chiba, T. Nishizeki: Arboricity and Subgraph Listing Algorithms. SIAM J. Comput. 14, 1985",
    },
    Algorithm {
        name: "clustering",
        summary: "The share of the pairs of neighbours of a node that are neighbours themselves.",
        arguments: &[VARIANT],
        directions: MOSTLY_UNDIRECTED,
        takes_weights: false,
        gives: Gives::Floats,
        column: "coefficient",
        source: "D. Watts, S. Strogatz: Collective dynamics of small-world networks. Nature 393, 1998",
    },
    Algorithm {
        name: "transitivity",
        summary: "The share of all pairs of neighbours of a node that are neighbours themselves, over all nodes together.",
        arguments: &[],
        directions: UNDIRECTED,
        takes_weights: false,
        gives: Gives::Float,
        column: "coefficient",
        source: "M. Newman: Networks. Oxford, 2nd edition 2018, section 7.3",
    },
    Algorithm {
        name: "similarity",
        summary: "The similarity of pairs of nodes, by the nodes that they point to.",
        arguments: &[
            argument("source", Nodes { is_required: true }, "The first nodes of the pairs."),
            argument(
                "target",
                Nodes { is_required: false },
                "The second nodes of the pairs; else all pairs of sources, each once.",
            ),
            MEASURE,
        ],
        directions: MOSTLY_UNDIRECTED,
        takes_weights: false,
        gives: Gives::Pairs,
        column: "similarity",
        source: "D. Liben-Nowell, J. Kleinberg: The Link-Prediction Problem for Social Networks. JASIST 58, 2007",
    },
    Algorithm {
        name: "similar_nodes",
        summary: "The most similar nodes of each node, by the nodes that they point to.",
        arguments: &[
            SOME,
            argument(
                "k",
                Int { least: 1, most: 1_000_000, default: Some(10) },
                "The maximum number for each node.",
            ),
            MEASURE,
        ],
        directions: MOSTLY_UNDIRECTED,
        takes_weights: false,
        gives: Gives::Pairs,
        column: "similarity",
        source: "D. Liben-Nowell, J. Kleinberg: The Link-Prediction Problem for Social Networks. JASIST 58, 2007",
    },
    Algorithm {
        name: "eigenvector",
        summary: "A score in proportion to the scores of the nodes that point to a node.",
        arguments: &[
            iterations(1000),
            argument(
                "tolerance",
                Float { least: 0.0, most: 1.0, default: 1e-6 },
                "It stops when a round changes all scores by less than this together.",
            ),
        ],
        directions: DIRECTED,
        takes_weights: true,
        gives: Gives::Floats,
        column: "score",
        source: "P. Bonacich: Power and Centrality. American Journal of Sociology 92, 1987",
    },
    Algorithm {
        name: "katz",
        summary: "The number of walks to a node, where each step counts less than the previous one.",
        arguments: &[
            argument(
                "alpha",
                Float { least: 0.0, most: 1e9, default: 0.1 },
                "What a step is worth; less than one divided by the greatest eigenvalue of the graph.",
            ),
            argument(
                "beta",
                Float { least: 0.0, most: 1e9, default: 1.0 },
                "The score that each node begins with.",
            ),
            iterations(1000),
            argument(
                "tolerance",
                Float { least: 0.0, most: 1.0, default: 1e-6 },
                "It stops when a round changes the score of a node by less than this on average.",
            ),
            argument(
                "normalized",
                Bool { default: true },
                "Whether the squares of all scores add up to 1.",
            ),
        ],
        directions: DIRECTED,
        takes_weights: true,
        gives: Gives::Floats,
        column: "score",
        source: "L. Katz: A New Status Index Derived from Sociometric Analysis. Psychometrika 18, 1953",
    },
    Algorithm {
        name: "articulation_points",
        summary: "The nodes without which a part of the graph falls apart.",
        arguments: &[],
        directions: UNDIRECTED,
        takes_weights: false,
        gives: Gives::Nodes,
        column: "",
        source: "J. Hopcroft, R. Tarjan: Algorithm 447: Efficient Algorithms for Graph Manipulation. CACM 16, 1973",
    },
    Algorithm {
        name: "bridges",
        summary: "The edges without which a part of the graph falls apart, and how many nodes are on the smaller side.",
        arguments: &[],
        directions: UNDIRECTED,
        takes_weights: false,
        gives: Gives::Pairs,
        column: "size",
        source: "J. Hopcroft, R. Tarjan: Algorithm 447: Efficient Algorithms for Graph Manipulation. CACM 16, 1973",
    },
    Algorithm {
        name: "topological_order",
        summary: "The position of a node in a topological order; none for nodes in cycles and those reachable from them.",
        arguments: &[],
        directions: OUT_OR_IN,
        takes_weights: false,
        gives: Gives::Ints,
        column: "position",
        source: "A. Kahn: Topological sorting of large networks. CACM 5, 1962",
    },
    Algorithm {
        name: "spanning_forest",
        summary: "The edges that join all that edges join, and weigh the least together.",
        arguments: &[],
        directions: UNDIRECTED,
        takes_weights: true,
        gives: Gives::Pairs,
        column: "weight",
        source: "J. Kruskal: On the Shortest Spanning Subtree of a Graph. Proc. AMS 7, 1956",
    },
    Algorithm {
        name: "distances_among",
        summary: "The least sum of weights of a path from each of some nodes to each of the others.",
        arguments: &[argument(
            "source",
            Nodes { is_required: true },
            "The nodes between which distances are computed.",
        )],
        directions: DIRECTED,
        takes_weights: true,
        gives: Gives::Pairs,
        column: "distance",
        source: "U. Meyer, P. Sanders: Δ-stepping: a parallelizable shortest path algorithm. J. Algorithms 49, 2003",
    },
    Algorithm {
        name: "diameter",
        summary: "The greatest number of edges of a shortest path: a lower bound from a few searches.",
        arguments: &[argument(
            "sweeps",
            Int { least: 1, most: 1_000_000, default: Some(10) },
            "The number of searches.",
        )],
        directions: MOSTLY_UNDIRECTED,
        takes_weights: false,
        gives: Gives::Float,
        column: "diameter",
        source: "C. Magnien, M. Latapy, M. Habib: Fast computation of empirically tight bounds for the diameter. JEA 13, 2009",
    },
    Algorithm {
        name: "truss_numbers",
        summary: "The greatest k for which an edge is in a part of the graph where each edge is in k - 2 triangles.",
        arguments: &[],
        directions: UNDIRECTED,
        takes_weights: false,
        gives: Gives::Pairs,
        column: "truss",
        source: "J. Cohen: Trusses: Cohesive Subgraphs for Social Network Analysis. NSA, 2008",
    },
    Algorithm {
        name: "modularity",
        summary: "By how much more of the edges lie within groups than would by chance.",
        arguments: &[
            argument(
                "groups",
                Groups,
                "The group of each node: a predicate or `val(x)`; a node without a value is a group of its own.",
            ),
            RESOLUTION,
        ],
        directions: MOSTLY_UNDIRECTED,
        takes_weights: true,
        gives: Gives::Float,
        column: "modularity",
        source: "M. Newman: Modularity and community structure in networks. PNAS 103, 2006",
    },
    Algorithm {
        name: "k_shortest",
        summary: "The paths of least weight from one node to another that visit no node twice.",
        arguments: &[
            ONE_SOURCE,
            argument("target", Nodes { is_required: true }, "The end node."),
            argument(
                "k",
                Int { least: 1, most: 1_000_000, default: Some(3) },
                "The maximum number of paths.",
            ),
        ],
        directions: DIRECTED,
        takes_weights: true,
        gives: Gives::Paths,
        column: "distances",
        source: "J. Y. Yen: Finding the K Shortest Loopless Paths in a Network. Management Science 17, 1971",
    },
    Algorithm {
        name: "sample",
        summary: "Some neighbours of nodes, of these neighbours some again, and so on by layers.",
        arguments: &[
            argument("source", Nodes { is_required: true }, "The nodes of the first layer."),
            argument(
                "fanouts",
                Numbers { least: 1.0, most: 1e6, is_integer: true, default: &[10.0, 5.0] },
                "The number of sampled neighbours of a node in each layer; all if it has fewer.",
            ),
            argument(
                "replace",
                Bool { default: false },
                "Whether a neighbour can be sampled more than once.",
            ),
        ],
        directions: DIRECTED,
        takes_weights: true,
        gives: Gives::Pairs,
        column: "layer",
        source: "W. Hamilton, R. Ying, J. Leskovec: Inductive Representation Learning on Large Graphs. NeurIPS, 2017",
    },
    Algorithm {
        name: "walks",
        summary: "Walks that follow edges at random.",
        arguments: &[
            STARTS,
            argument(
                "length",
                Int { least: 1, most: 1_000_000, default: Some(80) },
                "The most edges of a walk; it ends before where no edge leads on.",
            ),
            argument(
                "per_node",
                Int { least: 1, most: 1_000_000, default: Some(1) },
                "The number of walks from each node.",
            ),
            argument(
                "p",
                Float { least: 1e-6, most: 1e6, default: 1.0 },
                "The greater, the less often a walk goes straight back.",
            ),
            argument(
                "q",
                Float { least: 1e-6, most: 1e6, default: 1.0 },
                "The greater, the more a walk stays near to where it has been.",
            ),
        ],
        directions: DIRECTED,
        takes_weights: true,
        gives: Gives::Paths,
        column: "",
        source: "A. Grover, J. Leskovec: node2vec: Scalable Feature Learning for Networks. KDD, 2016",
    },
    Algorithm {
        name: "fastrp",
        summary: "A vector for each node, alike for nodes with alike surroundings.",
        arguments: &[
            argument(
                "dimensions",
                Int { least: 1, most: 4096, default: Some(128) },
                "The length of the vectors.",
            ),
            argument(
                "iteration_weights",
                Numbers { least: -1e6, most: 1e6, is_integer: false, default: &[0.0, 1.0, 1.0] },
                "What those count that are one step away, two steps, and so on.",
            ),
            argument(
                "normalization_strength",
                Float { least: -10.0, most: 10.0, default: 0.0 },
                "The power of its number of edges that a node counts with; below 0 those with many count less.",
            ),
        ],
        directions: MOSTLY_UNDIRECTED,
        takes_weights: true,
        gives: Gives::Vectors,
        column: "embedding",
        source: "H. Chen, S. F. Sultan, Y. Tian, M. Chen, S. Skiena: Fast and Accurate Network Embeddings via Very Sparse Random Projection. CIKM, 2019",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{COMMON_ARGUMENTS, algorithm};
    use std::collections::BTreeSet;

    #[test]
    fn names_are_distinct_and_defaults_in_range() {
        let mut names = BTreeSet::new();
        for row in ALGORITHMS {
            assert!(names.insert(row.name), "{} stands twice", row.name);
            assert_eq!(algorithm(row.name), Some(row));
            assert!(!row.directions.is_empty() && row.summary.ends_with('.'), "{}", row.name);
            let columns = row.columns();
            let names: BTreeSet<_> = columns.iter().map(|it| it.name).collect();
            assert_eq!(columns.len(), names.len(), "{}: {columns:?}", row.name);
            let all: Vec<_> = row.argument_names().collect();
            let distinct: BTreeSet<_> = all.iter().collect();
            assert_eq!(all.len(), distinct.len(), "{}: {all:?}", row.name);
            for argument in row.arguments.iter().chain(COMMON_ARGUMENTS) {
                let is_fine = match argument.kind {
                    Int { least, most, default } => {
                        default.is_none_or(|it| (least..=most).contains(&it))
                    }
                    Float { least, most, default } => (least..=most).contains(&default),
                    Choice(words) => !words.is_empty(),
                    Numbers { least, most, default, .. } => {
                        !default.is_empty() && default.iter().all(|it| (least..=most).contains(it))
                    }
                    Bool { .. } | Nodes { .. } | Groups => true,
                };
                assert!(is_fine, "{} {}", row.name, argument.name);
            }
        }
        assert_eq!(algorithm("PageRank"), None);
    }
}
