//! Algorithms that queries in Cypher call: on the edges that the request sees, with the compact
//! graphs and the limits of DQL.

use super::snapshot_graph::SnapshotGraph;
use super::snapshot_lists::nodes_of_type;
use crate::db::query::warnings::not_converged;
use hexgraph_base::plan::{ArgumentKind, NodeList};
use hexgraph_base::types::{Result, Uid};
use hexgraph_cypher::{AlgorithmColumn, AlgorithmRequest, AlgorithmRows, Graph as _, NodeGroups};
use hexgraph_scalar::Value;
use hexgraph_store::algo::{EdgeSelection, Graph, Outcome, Output, Paths, Report, Requested};
use hexgraph_store::exec::{call_graph, run_algorithm};
use hexgraph_store::graph::NodeIds;
use hexgraph_store::storage::NodeSet;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The nodes that are read between two looks at the clock.
const NODES_PER_CHECK: usize = 1 << 10;

/// The bytes of a group that is looked up by its value.
const GROUP_BYTES: usize = size_of::<Value>() + size_of::<u64>() + size_of::<u32>();

impl SnapshotGraph<'_> {
    /// Runs an algorithm. The bytes of the rows are charged.
    pub(super) fn run_algorithm(&self, request: &AlgorithmRequest) -> Result<AlgorithmRows> {
        let call = &request.call;
        let ids = &self.version().nodes;
        let uid = |node| ids.uid(node);
        let parts = request.types.iter().filter_map(|id| {
            let predicate = self.edges_of_type(*id)?;
            let weight = request.weight.as_deref();
            Some(EdgeSelection { predicate, reverse: false, weight, far: None })
        });
        let requested = Requested {
            parts: parts.collect(),
            nodes: self.selected_nodes(request)?,
            direction: call.direction,
            uid: &uid,
        };
        let prepared = call_graph(self.context(), call, &requested)?;
        let graph = Arc::clone(&prepared.graph);
        let lists = self.lists(request, &graph)?;
        let outcome = run_algorithm(self.context(), call, prepared, lists)?;
        self.note_unconverged(request, &outcome);
        self.rows(&graph, outcome.output)
    }

    /// Warns of an algorithm whose rounds ended before the result was within the tolerance.
    fn note_unconverged(&self, request: &AlgorithmRequest, outcome: &Outcome) {
        let Report { converged: Some(false), iterations, residual, .. } = outcome.report else {
            return;
        };
        let residual = format!("{:.1e}", residual.unwrap_or_default());
        let name = request.call.algorithm.name;
        self.warn(not_converged(name, iterations, &residual, request.at));
    }

    /// The nodes of the graph, ascending; `None` where all are requested that the edges join.
    fn selected_nodes(&self, request: &AlgorithmRequest) -> Result<Option<Vec<u32>>> {
        let given = request.call.nodes.as_ref().map(|list| NodeSet::from(self.nodes_of(list)));
        let labelled = request.labels.as_ref().map(|labels| {
            let sets = labels.iter().map(|label| nodes_of_type(self.version(), label));
            sets.reduce(|one, other| one.or(&other)).unwrap_or_default()
        });
        let selected = match (given, labelled) {
            (Some(given), Some(labelled)) => given.and(&labelled),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => return Ok(None),
        };
        self.context().charge(size_of::<u32>() * selected.len())?;
        Ok(Some(selected.to_vec()))
    }

    /// The nodes of a list that have an id, ascending.
    fn nodes_of(&self, list: &NodeList) -> Vec<u32> {
        let ids = &self.version().nodes;
        let mut nodes: Vec<u32> = list.uids.iter().filter_map(|uid| ids.node(Uid(*uid))).collect();
        nodes.sort_unstable();
        nodes
    }

    /// The nodes and groups of the arguments, by the numbers of the graph.
    fn lists(&self, request: &AlgorithmRequest, graph: &Graph) -> Result<Vec<Option<Vec<u32>>>> {
        let call = &request.call;
        let list = |name: &str, kind| match (kind, &request.groups) {
            (ArgumentKind::Groups, Some(groups)) => self.numbered_groups(groups, graph).map(Some),
            _ => Ok(call.nodes(name).map(|list| {
                let nodes = self.nodes_of(list).into_iter();
                nodes.filter_map(|node| graph.number(node)).collect()
            })),
        };
        call.algorithm.arguments.iter().map(|it| list(it.name, it.kind)).collect()
    }

    /// The group of each node of a graph, numbered from 0 on as they come. A node without a value
    /// is a group of its own.
    fn numbered_groups(&self, groups: &NodeGroups, graph: &Graph) -> Result<Vec<u32>> {
        let ids = &self.version().nodes;
        self.context().charge(graph.len() * (size_of::<u32>() + GROUP_BYTES))?;
        let given: FxHashMap<u64, &Value> = match groups {
            NodeGroups::Property(_) => FxHashMap::default(),
            NodeGroups::Pairs(pairs) => pairs.iter().map(|(node, value)| (*node, value)).collect(),
        };
        let mut existing: FxHashMap<Value, u32> = FxHashMap::default();
        let mut numbered = Vec::with_capacity(graph.len());
        let mut count = 0;
        for (index, node) in graph.nodes().iter().enumerate() {
            if index.is_multiple_of(NODES_PER_CHECK) {
                self.context().check()?;
            }
            let uid = ids.uid(*node).0;
            let value = match groups {
                NodeGroups::Property(name) => self.property(uid, name)?,
                NodeGroups::Pairs(_) => given.get(&uid).map_or(Value::Null, |it| (*it).clone()),
            };
            let group =
                if value.is_null() { count } else { *existing.entry(value).or_insert(count) };
            count += u32::from(group == count);
            numbered.push(group);
        }
        Ok(numbered)
    }

    /// The columns of a result. Nodes without a number have no row.
    fn rows(&self, graph: &Graph, output: Output) -> Result<AlgorithmRows> {
        let charged = bytes_max(&output);
        self.context().charge(charged)?;
        let nodes = Nodes { nodes: graph.nodes(), ids: &self.version().nodes };
        let columns = match output {
            Output::Floats(numbers) => {
                let there = (0..).zip(numbers).filter(|(_, number)| !number.is_nan());
                let (rows, numbers): (Vec<u64>, Vec<f64>) =
                    there.map(|(node, number)| (nodes.uid(node), number)).unzip();
                vec![AlgorithmColumn::Nodes(rows), AlgorithmColumn::Floats(numbers)]
            }
            Output::Ints(numbers) => {
                let there = (0..).zip(numbers).filter(|(_, number)| !Output::is_missing(*number));
                let (rows, numbers): (Vec<u64>, Vec<i64>) =
                    there.map(|(node, number)| (nodes.uid(node), number)).unzip();
                vec![AlgorithmColumn::Nodes(rows), AlgorithmColumn::Ints(numbers)]
            }
            Output::Some(some) => {
                let (rows, numbers): (Vec<u64>, Vec<f64>) =
                    some.into_iter().map(|(node, number)| (nodes.uid(node), number)).unzip();
                vec![AlgorithmColumn::Nodes(rows), AlgorithmColumn::Floats(numbers)]
            }
            Output::Float(number) => vec![AlgorithmColumn::Floats(vec![number])],
            Output::Nodes(some) => vec![AlgorithmColumn::Nodes(nodes.uids(&some))],
            Output::Pairs(pairs) => vec![
                AlgorithmColumn::Nodes(pairs.iter().map(|(from, ..)| nodes.uid(*from)).collect()),
                AlgorithmColumn::Nodes(pairs.iter().map(|(_, to, _)| nodes.uid(*to)).collect()),
                AlgorithmColumn::Floats(pairs.iter().map(|(.., number)| *number).collect()),
            ],
            Output::Paths(Paths { bounds, nodes: visited, distances }) => {
                let path = AlgorithmColumn::Ints((0..bounds.len() as i64).collect());
                let lists = AlgorithmColumn::NodeLists(bounds.clone(), nodes.uids(&visited));
                let distances = distances.map(|all| AlgorithmColumn::FloatLists(bounds, all));
                [path, lists].into_iter().chain(distances).collect()
            }
            Output::Vectors(vectors) => {
                let all: Vec<u32> = (0..graph.len() as u32).collect();
                let numbers = AlgorithmColumn::Vectors(vectors.dimensions, vectors.values);
                vec![AlgorithmColumn::Nodes(nodes.uids(&all)), numbers]
            }
        };
        let rows = AlgorithmRows { columns };
        self.context().uncharge(charged - rows.byte_len());
        Ok(rows)
    }
}

/// The numbers of nodes in a graph as uids.
struct Nodes<'g> {
    nodes: &'g [u32],
    ids: &'g NodeIds,
}

impl Nodes<'_> {
    fn uid(&self, number: u32) -> u64 {
        self.ids.uid(self.nodes[number as usize]).0
    }

    fn uids(&self, numbers: &[u32]) -> Vec<u64> {
        numbers.iter().map(|number| self.uid(*number)).collect()
    }
}

/// The most bytes of the columns of a result.
fn bytes_max(output: &Output) -> usize {
    const NUMBER: usize = size_of::<u64>();
    match output {
        Output::Float(_) => NUMBER,
        Output::Floats(numbers) => 2 * NUMBER * numbers.len(),
        Output::Ints(numbers) => 2 * NUMBER * numbers.len(),
        Output::Some(some) => 2 * NUMBER * some.len(),
        Output::Nodes(nodes) => NUMBER * nodes.len(),
        Output::Pairs(pairs) => 3 * NUMBER * pairs.len(),
        Output::Paths(paths) => NUMBER * (3 * paths.bounds.len() + 2 * paths.nodes.len()),
        Output::Vectors(vectors) => {
            let rows = vectors.values.len() / vectors.dimensions.max(1);
            NUMBER * rows + size_of_val(&vectors.values[..])
        }
    }
}
