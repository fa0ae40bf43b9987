//! The graph algorithms: their names, arguments and results. One table, which every query language
//! and API reads.
//!
//! The table defines the calls; `hexgraph_store::algo` has the code, one file for each algorithm.

use super::VarId;

/// One algorithm on graphs.
#[derive(Debug, PartialEq)]
pub struct Algorithm {
    /// The name of its block in a query.
    pub name: &'static str,
    /// What it computes, in a sentence.
    pub summary: &'static str,
    /// The arguments that it has in addition to the common ones ([`COMMON_ARGUMENTS`]).
    pub arguments: &'static [ArgumentDef],
    /// The directions in which edges can be followed, the default one first.
    pub directions: &'static [Direction],
    /// Whether edges have weights for it.
    pub takes_weights: bool,
    /// The kind of its result.
    pub gives: Gives,
    /// What its numbers are: the name of their column where a call has columns. Empty without one.
    pub column: &'static str,
    /// The paper or the book that it is from.
    pub source: &'static str,
}

/// An argument of an algorithm.
#[derive(Debug, PartialEq)]
pub struct ArgumentDef {
    /// The name before the colon.
    pub name: &'static str,
    /// Its values.
    pub kind: ArgumentKind,
    /// What it does, in a sentence.
    pub summary: &'static str,
}

/// The values that an argument can have, and its default.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ArgumentKind {
    /// An integer between two, both included.
    Int {
        /// The least.
        least: i64,
        /// The greatest.
        most: i64,
        /// The default; `None` for no such bound.
        default: Option<i64>,
    },
    /// A number between two, both included.
    Float {
        /// The least.
        least: f64,
        /// The greatest.
        most: f64,
        /// The default.
        default: f64,
    },
    /// True or false.
    Bool {
        /// The default.
        default: bool,
    },
    /// One of some words, the default one first.
    Choice(&'static [&'static str]),
    /// A list of at most [`NUMBERS_MAX`] numbers between two, both included.
    Numbers {
        /// The least.
        least: f64,
        /// The greatest.
        most: f64,
        /// True for integers.
        is_integer: bool,
        /// The default.
        default: &'static [f64],
    },
    /// Nodes: uids or variables.
    Nodes {
        /// True for one that has to be given.
        is_required: bool,
    },
    /// The group of each node: a predicate or a variable, whose values identify groups. It has to
    /// be given.
    Groups,
}

/// The most numbers in a list of them.
pub const NUMBERS_MAX: usize = 64;

/// How the edges of a graph are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// As they are written.
    Out,
    /// Reversed.
    In,
    /// Without a direction: one edge between two nodes, whose weight is the sum of both directions.
    Both,
}

impl Direction {
    /// The word in a query.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Out => "out",
            Direction::In => "in",
            Direction::Both => "both",
        }
    }
}

/// The kind of result of an algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gives {
    /// A number for nodes.
    Floats,
    /// An integer for nodes.
    Ints,
    /// One number for the entire graph.
    Float,
    /// Some of the nodes.
    Nodes,
    /// Pairs of nodes, with a number for each.
    Pairs,
    /// Paths: lists of nodes, with a number for each node of a path.
    Paths,
    /// A list of floats for nodes, of the same length for all.
    Vectors,
}

impl Gives {
    /// The word in the table of all algorithms.
    pub fn name(self) -> &'static str {
        match self {
            Gives::Floats => "a float for nodes",
            Gives::Ints => "an int for nodes",
            Gives::Float => "one float",
            Gives::Nodes => "nodes",
            Gives::Pairs => "pairs of nodes with a float",
            Gives::Paths => "paths with a number for each node",
            Gives::Vectors => "a vector for nodes",
        }
    }
}

/// A column of the result of an algorithm, where a call has columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultColumn {
    /// The name.
    pub name: &'static str,
    /// Its values.
    pub kind: ResultKind,
}

/// The values of a column of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultKind {
    /// A node.
    Node,
    /// A list of nodes.
    Nodes,
    /// An integer.
    Int,
    /// A float.
    Float,
    /// A list of floats.
    Floats,
}

impl Gives {
    /// The kind of result and a hint, if a variable of a query cannot hold it.
    pub fn fits_no_variable(self) -> Option<(&'static str, &'static str)> {
        let what = match self {
            Gives::Floats | Gives::Ints | Gives::Float | Gives::Nodes => return None,
            Gives::Pairs => (
                "pairs of nodes, which fit into no variable",
                "remove `... as`: the pairs are in the answer then",
            ),
            Gives::Paths => (
                "paths, which a variable cannot hold",
                "remove `... as`: the answer then contains the paths",
            ),
            Gives::Vectors => (
                "vectors, which fit into no variable",
                "remove `... as`: the vectors are in the answer then",
            ),
        };
        Some(what)
    }
}

/// The arguments of all algorithms.
pub const COMMON_ARGUMENTS: &[ArgumentDef] = &[
    ArgumentDef {
        name: "nodes",
        kind: ArgumentKind::Nodes { is_required: false },
        summary: "The nodes of the graph, those without edges included; else all that the edges join.",
    },
    ArgumentDef {
        name: "direction",
        kind: ArgumentKind::Choice(&["out", "in", "both"]),
        summary: "The direction of edges: as written, reversed, or both.",
    },
    ArgumentDef {
        name: "threads",
        kind: ArgumentKind::Int { least: 1, most: 4096, default: None },
        summary: "The most threads that work on it; else all of the database. The result is the same.",
    },
    ArgumentDef {
        name: "seed",
        kind: ArgumentKind::Int { least: 0, most: i64::MAX, default: Some(0) },
        summary: "The seed of the random generator: the same seed gives the same result.",
    },
];

/// A call of an algorithm, checked as far as the text alone allows.
#[derive(Debug, Clone, PartialEq)]
pub struct AlgorithmCall {
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// The values of its own arguments, in the order of the table; `None` for the default.
    pub given: Vec<Option<ArgumentValue>>,
    /// The nodes of the graph; `None` for all that the edges join.
    pub nodes: Option<NodeList>,
    /// How edges are followed.
    pub direction: Direction,
    /// The most threads that work on it; `None` for all.
    pub threads: Option<usize>,
    /// The seed of random numbers.
    pub seed: u64,
}

/// The value of an argument.
#[derive(Debug, Clone, PartialEq)]
pub enum ArgumentValue {
    /// An integer.
    Int(i64),
    /// A number.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// One of the words of a choice.
    Word(&'static str),
    /// Numbers.
    Numbers(Vec<f64>),
    /// Nodes.
    Nodes(NodeList),
    /// Groups of nodes.
    Groups(GroupsBy),
}

/// What identifies the groups of nodes.
#[derive(Debug, Clone, PartialEq)]
pub enum GroupsBy {
    /// The values of a predicate, in the first of some languages.
    Predicate(String, Vec<String>),
    /// The values of a variable.
    Var(VarId),
}

/// Nodes as a query names them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeList {
    /// Uids, ascending.
    pub uids: Vec<u64>,
    /// Variables, whose nodes are added.
    pub vars: Vec<VarId>,
}

impl ArgumentKind {
    /// Whether a call without it is an error.
    pub fn is_required(self) -> bool {
        matches!(self, ArgumentKind::Nodes { is_required: true } | ArgumentKind::Groups)
    }
}

impl Algorithm {
    /// The index of an argument of its own, by its name.
    pub fn argument(&self, name: &str) -> Option<usize> {
        self.arguments.iter().position(|argument| argument.name == name)
    }

    /// The columns of its result, in order: a row is a node, a pair of nodes, or a path.
    ///
    /// ```
    /// let algorithm = hexgraph_base::plan::algorithm("pagerank").unwrap();
    /// let columns = algorithm.columns();
    /// assert_eq!(columns.iter().map(|it| it.name).collect::<Vec<_>>(), ["node", "score"]);
    /// ```
    pub fn columns(&self) -> Vec<ResultColumn> {
        use ResultKind::{Float, Floats, Int, Node, Nodes};
        let (first, number): (&[(&str, ResultKind)], ResultKind) = match self.gives {
            Gives::Floats => (&[("node", Node)], Float),
            Gives::Ints => (&[("node", Node)], Int),
            Gives::Float => (&[], Float),
            Gives::Nodes => (&[("node", Node)], Float),
            Gives::Pairs => (&[("node", Node), ("to", Node)], Float),
            Gives::Paths => (&[("path", Int), ("nodes", Nodes)], Floats),
            Gives::Vectors => (&[("node", Node)], Floats),
        };
        let last = (!self.column.is_empty()).then_some((self.column, number));
        let columns = first.iter().copied().chain(last);
        columns.map(|(name, kind)| ResultColumn { name, kind }).collect()
    }

    /// The names of all arguments, its own first.
    pub fn argument_names(&self) -> impl Iterator<Item = &'static str> {
        self.arguments.iter().chain(COMMON_ARGUMENTS).map(|argument| argument.name)
    }
}

impl AlgorithmCall {
    /// A call with all defaults.
    pub fn new(algorithm: &'static Algorithm) -> AlgorithmCall {
        AlgorithmCall {
            algorithm,
            given: vec![None; algorithm.arguments.len()],
            nodes: None,
            direction: algorithm.directions[0],
            threads: None,
            seed: 0,
        }
    }

    fn value(&self, name: &str) -> (Option<&ArgumentValue>, Option<ArgumentKind>) {
        match self.algorithm.argument(name) {
            Some(position) => {
                (self.given[position].as_ref(), Some(self.algorithm.arguments[position].kind))
            }
            None => (None, None),
        }
    }

    /// Whether a number or a word differs from its default.
    pub fn differs(&self, name: &str) -> bool {
        match self.value(name) {
            (Some(ArgumentValue::Int(number)), Some(ArgumentKind::Int { default, .. })) => {
                Some(*number) != default
            }
            (Some(ArgumentValue::Float(number)), Some(ArgumentKind::Float { default, .. })) => {
                *number != default
            }
            (Some(ArgumentValue::Word(word)), Some(ArgumentKind::Choice(words))) => {
                *word != words[0]
            }
            _ => false,
        }
    }

    /// The integer of an argument; `None` if neither the query nor the table has one.
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.value(name) {
            (Some(ArgumentValue::Int(number)), _) => Some(*number),
            (_, Some(ArgumentKind::Int { default, .. })) => default,
            _ => None,
        }
    }

    /// The number of an argument; 0 for a name that the algorithm does not have.
    pub fn float(&self, name: &str) -> f64 {
        match self.value(name) {
            (Some(ArgumentValue::Float(number)), _) => *number,
            (_, Some(ArgumentKind::Float { default, .. })) => default,
            _ => 0.0,
        }
    }

    /// Whether an argument is true; false for a name that the algorithm does not have.
    pub fn is(&self, name: &str) -> bool {
        match self.value(name) {
            (Some(ArgumentValue::Bool(truth)), _) => *truth,
            (_, Some(ArgumentKind::Bool { default })) => default,
            _ => false,
        }
    }

    /// The word of an argument; empty for a name that the algorithm does not have.
    pub fn word(&self, name: &str) -> &'static str {
        match self.value(name) {
            (Some(ArgumentValue::Word(word)), _) => word,
            (_, Some(ArgumentKind::Choice(words))) => words[0],
            _ => "",
        }
    }

    /// The numbers of an argument; none for a name that the algorithm does not have.
    pub fn numbers(&self, name: &str) -> &[f64] {
        match self.value(name) {
            (Some(ArgumentValue::Numbers(numbers)), _) => numbers,
            (_, Some(ArgumentKind::Numbers { default, .. })) => default,
            _ => &[],
        }
    }

    /// What identifies the groups of an argument; `None` if the query does not have it.
    pub fn groups(&self, name: &str) -> Option<&GroupsBy> {
        match self.value(name) {
            (Some(ArgumentValue::Groups(groups)), _) => Some(groups),
            _ => None,
        }
    }

    /// The predicates whose values it reads.
    pub fn predicates(&self) -> impl Iterator<Item = &str> {
        self.given.iter().flatten().filter_map(|value| match value {
            ArgumentValue::Groups(GroupsBy::Predicate(name, _)) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The nodes that an argument names; `None` if the query does not have it.
    pub fn nodes(&self, name: &str) -> Option<&NodeList> {
        match self.value(name) {
            (Some(ArgumentValue::Nodes(list)), _) => Some(list),
            _ => None,
        }
    }

    /// All lists of nodes in it.
    pub fn node_lists(&self) -> impl Iterator<Item = &NodeList> {
        let given = self.given.iter().flatten().filter_map(|value| match value {
            ArgumentValue::Nodes(list) => Some(list),
            _ => None,
        });
        self.nodes.iter().chain(given)
    }

    /// All lists of nodes in it, to be changed.
    pub fn node_lists_mut(&mut self) -> impl Iterator<Item = &mut NodeList> {
        let given = self.given.iter_mut().flatten().filter_map(|value| match value {
            ArgumentValue::Nodes(list) => Some(list),
            _ => None,
        });
        self.nodes.iter_mut().chain(given)
    }

    /// Sets an argument of its own.
    ///
    /// # Panics
    ///
    /// When the algorithm has none of this name.
    pub fn with(mut self, name: &str, value: ArgumentValue) -> AlgorithmCall {
        let position = self.algorithm.argument(name).expect("an argument of the table");
        self.given[position] = Some(value);
        self
    }
}
