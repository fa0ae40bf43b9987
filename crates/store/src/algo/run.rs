//! What a kernel is given, and what it gives.

use super::compact::graph::Graph;
use super::task::Task;
use hexgraph_base::plan::AlgorithmCall;
use hexgraph_base::types::{Error, Result};

/// One run of an algorithm.
pub struct Run<'r> {
    /// The graph.
    pub graph: &'r Graph,
    /// The algorithm and its arguments.
    pub call: &'r AlgorithmCall,
    /// The nodes, by their numbers, that each argument names which is a list of nodes; in the order
    /// of the arguments in the table. `None` for one that was not given. Nodes that are not in the
    /// graph are left out. For one that is groups it is the group of each node of the graph.
    pub lists: Vec<Option<Vec<u32>>>,
    /// What the weights of edges are called, for errors: the names of facets.
    pub weights: &'r str,
    /// Threads, memory, and when to stop.
    pub task: Task<'r>,
}

impl Run<'_> {
    /// The numbers of the nodes that an argument names, ascending and distinct.
    pub(super) fn list(&self, name: &str) -> Option<&[u32]> {
        let position = self.call.algorithm.argument(name)?;
        self.lists[position].as_deref()
    }

    /// The error of weights whose sum is more than a float holds. `sum` says which one.
    #[cold]
    pub(super) fn too_heavy(&self, sum: &str) -> Error {
        too_heavy(self.weights, sum)
    }

    /// Counts the memory of so many bytes for each node, until what is returned is dropped.
    pub(super) fn capacity_per_node(&self, bytes: usize) -> Result<super::task::TaskMemory<'_>> {
        self.task.capacity(self.graph.len(), bytes)
    }
}

/// The error of weights whose sum is more than a float holds: their name, and which sum it is.
#[cold]
pub(super) fn too_heavy(weights: &str, sum: &str) -> Error {
    let message = format!("the weights {weights} are too large: {sum} is more than a float holds");
    Error::query(message).with_hint("divide them by a number, or filter the edges out")
}

/// The result of an algorithm, by the numbers of nodes.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// A number for each node; NaN for a node without one.
    Floats(Vec<f64>),
    /// An integer for each node; `NO_INT` for a node without one.
    Ints(Vec<i64>),
    /// One number for the graph.
    Float(f64),
    /// Some nodes, ascending.
    Nodes(Vec<u32>),
    /// Pairs of nodes with a number each.
    Pairs(Vec<(u32, u32, f64)>),
    /// A number for some of the nodes, ascending by node: computed without visiting all of them.
    Some(Vec<(u32, f64)>),
    /// Paths.
    Paths(Paths),
    /// A vector for each node.
    Vectors(Vectors),
}

/// Paths as sequences of nodes, one after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Paths {
    /// The end of each path among the nodes.
    pub bounds: Vec<usize>,
    /// The nodes of all paths.
    pub nodes: Vec<u32>,
    /// The distance of each node from the start of its path; `None` if only its position is
    /// reported.
    pub distances: Option<Vec<f64>>,
}

/// Vectors of one length.
#[derive(Debug, Clone, PartialEq)]
pub struct Vectors {
    /// The length of each.
    pub dimensions: usize,
    /// Node after node.
    pub values: Vec<f32>,
}

impl Paths {
    /// The number of the path, the node, and its position in the path, of all nodes of all paths in
    /// order.
    pub fn steps(&self) -> impl Iterator<Item = (usize, u32, usize)> + '_ {
        let starts = std::iter::once(0).chain(self.bounds.iter().copied());
        let ranges = starts.zip(&self.bounds).enumerate();
        ranges.flat_map(|(path, (start, end))| {
            let nodes = self.nodes[start..*end].iter().enumerate();
            nodes.map(move |(position, node)| (path, *node, position))
        })
    }
}

/// The value for no integer.
pub(super) const NO_INT: i64 = i64::MIN;

/// The statistics of a run, for `explain`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Report {
    /// The rounds; 0 where there are none.
    pub iterations: usize,
    /// By how much the last round changed the result; `None` where that is not measured.
    pub residual: Option<f64>,
    /// Whether the last round changed the result by less than the tolerance; `None` where nothing
    /// is waited for.
    pub converged: Option<bool>,
    /// The edges that were looked at.
    pub edges: usize,
}

impl Report {
    /// Notes a round that looked at edges and changed the result; returns whether it is the last.
    /// With a tolerance of 0 all rounds are made, and nothing is waited for.
    pub(super) fn end_round(&mut self, edges: usize, change: f64, tolerance: f64) -> bool {
        let is_within = change < tolerance;
        self.iterations += 1;
        self.edges += edges;
        self.residual = Some(change);
        self.converged = (tolerance != 0.0).then_some(is_within);
        is_within
    }
}

/// A result and its statistics.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The result.
    pub output: Output,
    /// The statistics.
    pub report: Report,
}

impl Outcome {
    /// A result for which each edge was looked at once.
    pub(super) fn once(output: Output, edges: usize) -> Outcome {
        Outcome { output, report: Report { edges, ..Report::default() } }
    }
}

impl Output {
    /// The number of rows of its table.
    pub fn len(&self) -> usize {
        match self {
            Output::Floats(numbers) => numbers.iter().filter(|it| !it.is_nan()).count(),
            Output::Ints(numbers) => numbers.iter().filter(|it| **it != NO_INT).count(),
            Output::Float(_) => 1,
            Output::Nodes(nodes) => nodes.len(),
            Output::Pairs(pairs) => pairs.len(),
            Output::Some(numbers) => numbers.len(),
            Output::Paths(paths) => paths.nodes.len(),
            Output::Vectors(vectors) => vectors.values.len() / vectors.dimensions,
        }
    }

    /// True for an empty result.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True for the number of a node that has none.
    pub fn is_missing(number: i64) -> bool {
        number == NO_INT
    }
}
