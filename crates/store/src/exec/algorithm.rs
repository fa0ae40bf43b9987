//! Executes the block of an algorithm: selects its edges and nodes, gets their compact graph, and
//! has the algorithm computed on it.

use crate::algo::{CallGraph, EdgeSelection, Graph, Lookup, Outcome, Output, Report, Requested};
use crate::exec::access_path::GraphPath;
use crate::exec::algorithm_run::{call_graph, run_algorithm};
use crate::exec::control::context::{Context, Var};
use crate::exec::control::trace::{Doubt, Doubtful};
use crate::exec::control::tree::{AlgorithmResult, Column, ValueMap};
use crate::exec::walk::lists::distinct;
use crate::graph::{Predicate, union_of};
use crate::storage::NodeSet;
use hexgraph_base::plan::{AlgorithmCall, Block, Field, FieldKind, NodeList};
use hexgraph_base::types::{Error, Result, Uid, Value, nearest};
use std::sync::Arc;

/// The bytes that are charged for the number of a node in a variable.
const NUMBER_BYTES: usize = size_of::<u32>() + size_of::<f64>();

impl<'a> Context<'a> {
    /// Runs the algorithm of a block. Sets the variable of the block to the result; if it has none,
    /// the result is returned.
    ///
    /// # Errors
    ///
    /// `Query` for predicates that are not there or have no edges, and for arguments that do not
    /// fit them; `Limit`.
    pub(crate) fn algorithm(
        &mut self,
        block: &Block,
        call: &AlgorithmCall,
    ) -> Result<Option<AlgorithmResult>> {
        let prepared = self.compact_graph(block, call)?;
        let graph = Arc::clone(&prepared.graph);
        let node_of = |uid: &u64| self.version.nodes.node(Uid(*uid));
        let mut lists = Vec::with_capacity(call.given.len());
        for argument in call.algorithm.arguments {
            if let Some(by) = call.groups(argument.name) {
                lists.push(Some(
                    self.node_groups(&graph, by).map_err(|error| error.or_at(block.at))?,
                ));
                continue;
            }
            let nodes = call.nodes(argument.name).map(|list| self.node_list(list, node_of));
            let numbers = |nodes: Vec<u32>| -> Vec<u32> {
                nodes.into_iter().filter_map(|node| graph.number(node)).collect()
            };
            lists.push(nodes.map(numbers));
        }
        let step = self.begin("compute", "", None, None);
        let result = run_algorithm(self.control, call, prepared, lists)?;
        self.describe(&step, &reported(&result));
        self.end(&step, result.report.edges);
        self.note_unconverged(block, call.algorithm.name, &result.report);
        match block.var {
            None => Ok(Some(AlgorithmResult { graph, result })),
            Some(var) => {
                let value = self
                    .variable_of(&graph, result.output)
                    .map_err(|error| error.or_at(block.at))?;
                self.set_var(var, value);
                Ok(None)
            }
        }
    }

    /// Notes an algorithm whose rounds ended before the result was within the tolerance.
    fn note_unconverged(&self, block: &Block, name: &'static str, report: &Report) {
        if report.converged == Some(false) {
            let (rounds, residual) = (report.iterations, report.residual.unwrap_or_default());
            let residual = format!("{residual:.1e}");
            let what = Doubtful::NotConverged { name, rounds, residual };
            self.control.note_doubt(Doubt { at: block.at, what });
        }
    }

    /// The compact graph of a block: one that was made before, or a new one.
    fn compact_graph(&self, block: &Block, call: &AlgorithmCall) -> Result<CallGraph> {
        let step = self.begin("graph", &edges_text(block), None, None);
        let uid = |node| self.version.nodes.uid(node);
        let edges = self.algorithm_edges(block)?;
        let nodes = self.graph_nodes(block, call, &edges)?;
        let mut parts = Vec::with_capacity(edges.len());
        for (field, predicate, reverse) in edges {
            let far = self.passing_ends(field, predicate, reverse, nodes.as_deref())?;
            let weight = field.facets.as_ref().and_then(|facets| facets.items.first());
            let weight = weight.map(|item| item.facet.as_str());
            parts.push(EdgeSelection { predicate, reverse, weight, far });
        }
        let expected = Requested { parts, nodes, direction: call.direction, uid: &uid };
        let prepared = call_graph(self.control, call, &expected)?;
        let path = match prepared.lookup {
            Lookup::Made => GraphPath::Made,
            Lookup::Cached => GraphPath::Cached,
            Lookup::Patched => GraphPath::Patched,
        };
        self.record_path_of(&step, path);
        self.end(&step, prepared.graph.outgoing().edges());
        Ok(prepared)
    }

    /// The fields of a block, with the predicate of each and whether its edges are reversed.
    fn algorithm_edges<'b>(
        &self,
        block: &'b Block,
    ) -> Result<Vec<(&'b Field, &'a Arc<Predicate>, bool)>> {
        let mut edges = Vec::with_capacity(block.fields.len());
        for field in &block.fields {
            let FieldKind::Predicate { name, reverse, .. } = &field.kind else { continue };
            let predicate = self.predicate(name).ok_or_else(|| self.no_predicate(name, field))?;
            if !predicate.is_edges() {
                let message = format!("`{name}` has values, and an algorithm follows edges");
                let hint = "name a predicate of type uid";
                return Err(Error::query_at(field.at, message).with_hint(hint));
            }
            edges.push((&**field, predicate, *reverse));
        }
        Ok(edges)
    }

    #[cold]
    fn no_predicate(&self, name: &str, field: &Field) -> Error {
        let existing = self.version.predicates().filter(|(_, predicate)| predicate.is_edges());
        let mut existing: Vec<&str> = existing.map(|(name, _)| &**name).collect();
        existing.sort_unstable();
        let hint = match nearest(name, existing.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "name a predicate of type uid".to_owned(),
        };
        Error::query_at(field.at, format!("there is no predicate `{name}`")).with_hint(hint)
    }

    /// The nodes of the graph, ascending; `None` where all are requested that the edges join.
    fn graph_nodes(
        &self,
        block: &Block,
        call: &AlgorithmCall,
        edges: &[(&Field, &Arc<Predicate>, bool)],
    ) -> Result<Option<Vec<u32>>> {
        let node_of = |uid: &u64| self.version.nodes.node(Uid(*uid));
        let given = call.nodes.as_ref().map(|list| self.node_list(list, node_of));
        let Some(filter) = &block.filter else { return Ok(given) };
        let candidates = match given {
            Some(nodes) => NodeSet::from(nodes),
            None => {
                let ends = edges.iter().flat_map(|(_, predicate, _)| {
                    let of = |reverse| ends_of(predicate, reverse);
                    [of(false), of(true)]
                });
                ends.reduce(|one, other| one.or(&other)).unwrap_or_default()
            }
        };
        self.control.charge(size_of::<u32>() * candidates.len())?;
        Ok(Some(self.filter(filter, candidates)?.to_vec()))
    }

    /// The nodes to which edges of a field may lead, ascending; `None` for all.
    fn passing_ends(
        &self,
        field: &Field,
        predicate: &Predicate,
        reverse: bool,
        nodes: Option<&[u32]>,
    ) -> Result<Option<Vec<u32>>> {
        let Some(filter) = &field.filter else { return Ok(None) };
        let candidates = match nodes {
            Some(nodes) => NodeSet::from(nodes.to_vec()),
            None => ends_of(predicate, !reverse),
        };
        self.control.charge(size_of::<u32>() * candidates.len())?;
        let passing = self.filter(filter, candidates).map_err(|error| error.or_at(field.at))?;
        Ok(Some(passing.to_vec()))
    }

    /// The nodes of a list, ascending and distinct.
    fn node_list(&self, list: &NodeList, node_of: impl Fn(&u64) -> Option<u32>) -> Vec<u32> {
        let mut nodes = distinct(&list.uids.iter().filter_map(node_of).collect::<Vec<u32>>());
        for var in &list.vars {
            let more = self.uid_var(*var);
            nodes = if nodes.is_empty() {
                more.to_vec()
            } else {
                more.or(&NodeSet::from(nodes)).to_vec()
            };
        }
        nodes
    }

    /// The result as a variable: nodes without a number have none in it, either.
    fn variable_of(&self, graph: &Graph, output: Output) -> Result<Var> {
        let nodes = graph.nodes();
        let is_map = matches!(output, Output::Floats(_) | Output::Ints(_) | Output::Some(_));
        self.control.charge(if is_map { NUMBER_BYTES * output.len() } else { 0 })?;
        let value_map =
            |present: Vec<u32>, values| ValueMap { nodes: present, values, constant: None };
        let map = match output {
            Output::Floats(mut numbers) => {
                let is_there = |(_, number): &(&u32, &f64)| !number.is_nan();
                let there = nodes.iter().zip(&numbers).filter(is_there).map(|(node, _)| *node);
                let there = there.collect();
                numbers.retain(|number| !number.is_nan());
                value_map(there, Column::Float(numbers))
            }
            Output::Ints(mut numbers) => {
                let is_there = |(_, number): &(&u32, &i64)| !Output::is_missing(**number);
                let there = nodes.iter().zip(&numbers).filter(is_there).map(|(node, _)| *node);
                let there = there.collect();
                numbers.retain(|number| !Output::is_missing(*number));
                value_map(there, Column::Int(numbers))
            }
            Output::Float(number) => ValueMap::constant(Value::Float(number)),
            Output::Nodes(result) => {
                let result = result.iter().map(|node| nodes[*node as usize]);
                return Ok(Var::uids(NodeSet::from(result.collect::<Vec<u32>>())));
            }
            Output::Some(result) => {
                let (there, numbers) =
                    result.into_iter().map(|(node, number)| (nodes[node as usize], number)).unzip();
                value_map(there, Column::Float(numbers))
            }
            Output::Pairs(_) | Output::Paths(_) | Output::Vectors(_) => {
                return Err(Error::query("a variable can't hold the result")
                    .with_hint("remove `... as`: the answer then contains it"));
            }
        };
        Ok(Var::Values(Arc::new(map)))
    }
}

/// The sources of stored edges, or with `is_far` their targets.
fn ends_of(predicate: &Predicate, is_far: bool) -> NodeSet {
    match (predicate.direction(false), predicate.direction(true)) {
        (Some(forward), _) if !is_far => forward.subjects(),
        (_, Some(reverse)) => reverse.subjects(),
        (Some(forward), None) => union_of(forward.all_targets().iter().collect()),
        (None, None) => NodeSet::default(),
    }
}

/// The edges of a block as its text has them.
pub(crate) fn edges_text(block: &Block) -> String {
    let names = block.fields.iter().filter_map(|field| {
        let FieldKind::Predicate { name, reverse, .. } = &field.kind else { return None };
        Some(format!("{}{name}", if *reverse { "~" } else { "" }))
    });
    names.collect::<Vec<String>>().join(" ")
}

/// How a result was computed, in words.
fn reported(result: &Outcome) -> String {
    let report = result.report;
    let rounds = match report.iterations {
        0 => String::new(),
        1 => "1 round".to_owned(),
        many => format!("{many} rounds"),
    };
    match report.residual {
        Some(residual) => format!("{rounds}, residual {residual:.1e}"),
        None => rounds,
    }
}
