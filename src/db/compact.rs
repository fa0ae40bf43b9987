//! A compact graph in the caller's hands: the edges of some predicates as arrays, and algorithms on
//! just these edges, whatever is committed meanwhile.

use super::database::Database;
use super::guard::guarded;
use super::query::answer::QueryAnswer;
use hexgraph_base::budget::Reservation;
use hexgraph_base::plan::{
    AlgorithmCall, ArgumentDef, ArgumentKind, ArgumentValue, NUMBERS_MAX, algorithm,
};
use hexgraph_base::types::{Error, Result, did_you_mean};
use hexgraph_store::algo::{EdgeArrays, Graph, Outcome, Run, Task, compute};
use hexgraph_store::exec::RequestContext;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The edges of some predicates between some nodes, as they were when a query requested them. Nodes
/// are numbered from 0 on in the order of their uids.
pub struct CompactGraph {
    graph: Arc<Graph>,
    uids: Vec<u64>,
    /// The targets, where the graph does not have them in one list: some of its rows were patched
    /// after a commit.
    targets: Option<Vec<u32>>,
    /// The weights, where the graph does not have them in one list of eight bytes each.
    weights: Option<Vec<f64>>,
    /// The memory of the uids, reserved in the budget while this exists.
    _reservation: Option<Arc<Reservation>>,
}

/// A call of an algorithm on a compact graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CompactCall {
    /// The name of the algorithm.
    pub name: String,
    /// The arguments that are no nodes, as a query would have them after the colon.
    pub arguments: Vec<(String, String)>,
    /// The arguments that are nodes, by their numbers; for one that is groups, the group of each
    /// node.
    pub nodes: Vec<(String, Vec<u32>)>,
    /// The most threads that work on it; `None` for all.
    pub threads: Option<usize>,
    /// The seed of random numbers.
    pub seed: u64,
}

/// # As the graph of an algorithm
impl QueryAnswer {
    /// The compact graph that the first block of an algorithm without a variable has run on.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<1> <knows> <2> .\n<2> <knows> <3> .", "")?;
    /// let answer = db.query("{ degree() { knows } }")?;
    /// let graph = answer.compact_graph()?;
    /// assert_eq!((graph.uids(), graph.targets().len()), ([1, 2, 3].as_slice(), 2));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::compact_graph_with`].
    pub fn compact_graph(&self) -> Result<CompactGraph> {
        self.compact_graph_with(&RequestContext::new())
    }

    /// The compact graph that the first block of an algorithm without a variable has run on.
    /// O(nodes), and O(edges) where the graph was patched after a commit or has its weights in four
    /// bytes each.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// let answer = db.query("{ q(func: has(name)) { uid } }")?;
    /// assert!(answer.compact_graph_with(&RequestContext::new()).is_err(), "there is no algorithm");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Query` when the query has no such block; those of `context`.
    pub fn compact_graph_with(&self, context: &RequestContext) -> Result<CompactGraph> {
        self.prepare(context);
        let missing = || {
            Error::query("the query has no block of an algorithm without a variable")
                .with_hint("write `degree { follows }`")
        };
        let answer = self.held_answer().ok_or_else(missing)?;
        let (_, result) = answer.algorithm().ok_or_else(missing)?;
        let graph = Arc::clone(&result.graph);
        context.charge(size_of::<u64>() * graph.len())?;
        let version = answer.version();
        let uids = graph.nodes().iter().map(|node| version.nodes.uid(*node).0).collect();
        let (targets, weights) = in_one_list(&graph, context)?;
        let reservation = context.reservation().cloned();
        Ok(CompactGraph { graph, uids, targets, weights, _reservation: reservation })
    }
}

/// The targets and the weights of a graph, where it does not have them in one list each.
type Listed = (Option<Vec<u32>>, Option<Vec<f64>>);

fn in_one_list(graph: &Graph, context: &RequestContext) -> Result<Listed> {
    let rows = graph.outgoing();
    let nodes = 0..rows.nodes() as u32;
    let targets = match rows.targets() {
        Some(_) => None,
        None => {
            context.charge(size_of::<u32>() * rows.edges())?;
            Some(nodes.clone().flat_map(|node| rows.of(node)).copied().collect())
        }
    };
    let weights = match rows.is_weighted() && rows.wide_weights().is_none() {
        false => None,
        true => {
            context.charge(size_of::<f64>() * rows.edges())?;
            Some(nodes.flat_map(|node| rows.weighted(node)).map(|(_, weight)| weight).collect())
        }
    };
    Ok((targets, weights))
}

impl CompactGraph {
    /// The uids of the nodes, ascending; a node's number is its index.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<7> <knows> <5> .", "")?;
    /// let answer = db.query("{ degree() { knows } }")?;
    /// assert_eq!(answer.compact_graph()?.uids(), [5, 7]);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn uids(&self) -> &[u64] {
        &self.uids
    }

    /// True when edges have no direction: then the rows have each edge in both directions, and a
    /// loop once.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<7> <knows> <5> .", "")?;
    /// let answer = db.query("{ degree(direction: both) { knows } }")?;
    /// assert!(answer.compact_graph()?.is_undirected());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn is_undirected(&self) -> bool {
        self.graph.is_undirected()
    }

    /// The numbers of the nodes that edges point to, row after row, ascending in each.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<7> <knows> <5> .", "")?;
    /// let answer = db.query("{ degree() { knows } }")?;
    /// assert_eq!(answer.compact_graph()?.targets(), [0], "node 0 is <5>");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn targets(&self) -> &[u32] {
        self.targets.as_deref().or(self.graph.outgoing().targets()).unwrap_or_default()
    }

    /// The weights of the edges, parallel to the targets; `None` where each weighs 1.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<7> <knows> <5> (since=2.5) .", "")?;
    /// let query = "{ pagerank() { knows @facets(since) } }";
    /// let graph = db.query(query)?.compact_graph()?;
    /// assert_eq!(graph.weights(), Some([2.5].as_slice()));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref().or(self.graph.outgoing().wide_weights())
    }

    /// The start of the row of each node among the targets, and the end of the last one. O(nodes).
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<1> <knows> <2> .\n<1> <knows> <3> .", "")?;
    /// let answer = db.query("{ degree() { knows } }")?;
    /// let starts: Vec<usize> = answer.compact_graph()?.starts().collect();
    /// assert_eq!(starts, [0, 2, 2, 2]);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn starts(&self) -> impl Iterator<Item = usize> {
        let rows = self.graph.outgoing();
        let mut end = 0;
        std::iter::once(0).chain((0..rows.nodes() as u32).map(move |node| {
            end += rows.degree(node);
            end
        }))
    }
}

/// # Algorithms on arrays
impl Database {
    /// Makes a compact graph of edges that are given as arrays, with the threads and the limits of
    /// this database, whose data it has nothing to do with. `uids` are what its nodes are called,
    /// ascending: as many as there are nodes.
    ///
    /// ```
    /// use hexgraph::db::{Database, EdgeArrays, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// let edges = EdgeArrays {
    ///     nodes: 3,
    ///     sources: &[0, 1],
    ///     targets: &[1, 2],
    ///     weights: None,
    ///     is_undirected: false,
    /// };
    /// let graph = db.graph_of_arrays(&edges, vec![10, 20, 30], &RequestContext::new())?;
    /// assert_eq!(graph.targets(), [1, 2]);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Query` for arrays that make no edges, and for weights that are negative or no numbers;
    /// those of `context`.
    pub fn graph_of_arrays(
        &self,
        edges: &EdgeArrays<'_>,
        uids: Vec<u64>,
        context: &RequestContext,
    ) -> Result<CompactGraph> {
        guarded(|| {
            self.prepare(context);
            if uids.len() != edges.nodes {
                let message = format!("{} names for {} nodes", uids.len(), edges.nodes);
                return Err(Error::query(message).with_hint("give one for each node"));
            }
            let graph = Arc::new(Graph::of_arrays(edges, &Task::new(context, None))?);
            context.charge(graph.byte_len() + size_of_val(uids.as_slice()))?;
            let (targets, weights) = in_one_list(&graph, context)?;
            Ok(CompactGraph {
                graph,
                uids,
                targets,
                weights,
                _reservation: context.reservation().cloned(),
            })
        })
    }

    /// Runs an algorithm on a compact graph, with the threads, the memory and the limits of this
    /// database.
    ///
    /// ```
    /// use hexgraph::db::{AlgorithmOutput, CompactCall, Database, EdgeArrays, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// let edges = EdgeArrays {
    ///     nodes: 3,
    ///     sources: &[0, 1],
    ///     targets: &[1, 0],
    ///     weights: None,
    ///     is_undirected: false,
    /// };
    /// let graph = db.graph_of_arrays(&edges, vec![10, 20, 30], &RequestContext::new())?;
    /// let call = CompactCall { name: "components".to_owned(), ..CompactCall::default() };
    /// let result = db.compute_on(&graph, &call, &RequestContext::new())?;
    /// let AlgorithmOutput::Ints(parts) = result.output else { unreachable!("parts have numbers") };
    /// assert!(parts[0] == parts[1] && parts[1] != parts[2]);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Query` for a name or an argument that there is not, for a value out of range, and for nodes
    /// that the graph does not have; `Limit` when `context` stops it, or there is no memory.
    pub fn compute_on(
        &self,
        graph: &CompactGraph,
        call: &CompactCall,
        context: &RequestContext,
    ) -> Result<Outcome> {
        guarded(|| {
            self.prepare(context);
            let Some(algorithm) = algorithm(&call.name) else {
                return Err(Error::query(format!("there is no algorithm `{}`", call.name)));
            };
            let mut checked = AlgorithmCall { seed: call.seed, ..AlgorithmCall::new(algorithm) };
            checked.threads = call.threads;
            let mut lists = vec![None; algorithm.arguments.len()];
            let position_of = |name: &str| {
                algorithm
                    .argument(name)
                    .ok_or_else(|| no_argument(name, algorithm.argument_names()))
            };
            for (name, value) in &call.arguments {
                let position = position_of(name)?;
                checked.given[position] = Some(value_of(&algorithm.arguments[position], value)?);
            }
            for (name, numbers) in &call.nodes {
                let position = position_of(name)?;
                lists[position] = Some(match algorithm.arguments[position].kind {
                    ArgumentKind::Groups => one_a_node(name, numbers, graph.uids.len())?,
                    _ => distinct_numbers(numbers, graph.uids.len())?,
                });
            }
            for (argument, list) in algorithm.arguments.iter().zip(&lists) {
                if argument.kind.is_required() && list.is_none() {
                    let message = format!("`{}` without `{}`", algorithm.name, argument.name);
                    return Err(Error::query(message));
                }
            }
            let task = Task::new(context, checked.threads);
            compute(&Run { graph: &graph.graph, call: &checked, lists, weights: "of edges", task })
        })
    }
}

#[cold]
fn no_argument(name: &str, existing: impl Iterator<Item = &'static str>) -> Error {
    let existing: Vec<&str> = existing.collect();
    let hint = did_you_mean(name, existing.iter().copied());
    Error::query(format!("there is no argument `{name}`")).with_hint(hint)
}

/// The value that a text is, if it is one of its kind and in range.
fn value_of(argument: &ArgumentDef, text: &str) -> Result<ArgumentValue> {
    let value = match argument.kind {
        ArgumentKind::Int { least, most, .. } => text
            .parse()
            .ok()
            .filter(|number| (least..=most).contains(number))
            .map(ArgumentValue::Int),
        ArgumentKind::Float { least, most, .. } => text
            .parse()
            .ok()
            // NaN is in no range, so it is refused as well.
            .filter(|number| (least..=most).contains(number))
            .map(ArgumentValue::Float),
        ArgumentKind::Bool { .. } => text.parse().ok().map(ArgumentValue::Bool),
        ArgumentKind::Choice(words) => {
            words.iter().find(|word| **word == text).map(|word| ArgumentValue::Word(word))
        }
        ArgumentKind::Numbers { least, most, is_integer, .. } => {
            let number = |text: &str| text.trim().parse::<f64>().ok();
            let numbers: Option<Vec<f64>> = text.split(',').map(number).collect();
            let is_fine = |number: &f64| {
                (least..=most).contains(number) && (!is_integer || number.fract() == 0.0)
            };
            // An empty text is one number that can't be read, so at least one is there.
            numbers
                .filter(|all| all.len() <= NUMBERS_MAX && all.iter().all(is_fine))
                .map(ArgumentValue::Numbers)
        }
        ArgumentKind::Nodes { .. } | ArgumentKind::Groups => None,
    };
    value.ok_or_else(|| {
        let message = format!("`{}` can't be `{text}`", argument.name);
        Error::query(message).with_hint(match argument.kind {
            ArgumentKind::Int { least, most, .. } => {
                format!("an integer from {least} to {most}")
            }
            ArgumentKind::Float { least, most, .. } => format!("a number from {least} to {most}"),
            ArgumentKind::Bool { .. } => "true or false".to_owned(),
            ArgumentKind::Choice(words) => format!("one of {}", words.join(", ")),
            ArgumentKind::Numbers { least, most, .. } => {
                format!(
                    "1 to {NUMBERS_MAX} numbers from {least} to {most}, with commas between them"
                )
            }
            ArgumentKind::Nodes { .. } => "nodes are given by their numbers".to_owned(),
            ArgumentKind::Groups => "groups are given as a number for each node".to_owned(),
        })
    })
}

/// Numbers of groups, one for each node.
fn one_a_node(name: &str, numbers: &[u32], nodes: usize) -> Result<Vec<u32>> {
    if numbers.len() != nodes {
        let message =
            format!("`{name}` has {} numbers, and the graph {nodes} nodes", numbers.len());
        return Err(Error::query(message).with_hint("give the group of each node, in their order"));
    }
    // Sums are retained for each number up to the greatest: they are numbered anew as they come.
    let mut existing: FxHashMap<u32, u32> = FxHashMap::default();
    let number = |group: &u32| {
        let next = existing.len() as u32;
        *existing.entry(*group).or_insert(next)
    };
    Ok(numbers.iter().map(number).collect())
}

/// Numbers of nodes, ascending and distinct.
fn distinct_numbers(numbers: &[u32], nodes: usize) -> Result<Vec<u32>> {
    if let Some(number) = numbers.iter().find(|number| nodes <= **number as usize) {
        return Err(Error::query(format!("the graph has {nodes} nodes, and no number {number}")));
    }
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}
