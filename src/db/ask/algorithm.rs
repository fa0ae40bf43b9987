//! Makes a table of what an algorithm found: a row for each node of its graph, for each pair, or for each node of a way.

use super::kept::algorithm_table::{AlgorithmNumbers, AlgorithmTable};
use super::query::QueryAnswer;
use hexgraph_base::types::{Error, Result, Value};
use hexgraph_store::algo::{Output, Paths};
use hexgraph_store::exec::{Control, first_value};
use hexgraph_store::graph::Version;

/// The predicate of the names that nodes have elsewhere, as loads keep them.
const XID: &str = "xid";

/// The rows that are read between two looks at the clock.
const ROWS_A_CHECK: usize = 1 << 16;

impl QueryAnswer {
    /// What the first block of an algorithm without a variable has found.
    ///
    /// # Errors
    ///
    /// `Query` when the query has no such block; those of `control`.
    pub fn algorithm(&self, control: &Control) -> Result<AlgorithmTable> {
        let missing = || {
            let hint = "write `pagerank(...) { follows }`";
            Error::query("the query has no block of an algorithm without a variable")
                .with_hint(hint)
        };
        if let Some(copied) = self.copied_answer() {
            return copied.algorithm().cloned().ok_or_else(missing);
        }
        let answer = self.held_answer().ok_or_else(missing)?;
        let (name, found) = answer.algorithm().ok_or_else(missing)?;
        let version = answer.version();
        let nodes = found.graph.nodes();
        let output = &found.found.output;
        control.charge(size_of::<u64>() * 2 * (nodes.len() + output.len()))?;
        let node_of = |number: &u32| nodes[*number as usize];
        let mut path = None;
        let (rows, to, numbers) = match output {
            Output::Floats(numbers) => {
                let number = |number: &f64| (!number.is_nan()).then_some(*number);
                let numbers = numbers.iter().map(number).collect();
                (nodes.to_vec(), None, AlgorithmNumbers::Floats(numbers))
            }
            Output::Ints(numbers) => {
                let number = |number: &i64| (!Output::is_missing(*number)).then_some(*number);
                let numbers = numbers.iter().map(number).collect();
                (nodes.to_vec(), None, AlgorithmNumbers::Ints(numbers))
            }
            Output::Float(number) => {
                (Vec::new(), None, AlgorithmNumbers::Floats(vec![Some(*number)]))
            }
            Output::Nodes(found) => {
                (found.iter().map(node_of).collect(), None, AlgorithmNumbers::Nothing)
            }
            Output::Pairs(pairs) => {
                let from = pairs.iter().map(|(from, _, _)| node_of(from)).collect();
                let to = pairs.iter().map(|(_, to, _)| node_of(to)).collect::<Vec<u32>>();
                let numbers = pairs.iter().map(|(_, _, number)| Some(*number)).collect();
                (from, Some(to), AlgorithmNumbers::Floats(numbers))
            }
            Output::Some(found) => {
                let numbers = found.iter().map(|(_, number)| Some(*number)).collect();
                let nodes = found.iter().map(|(node, _)| node_of(node)).collect();
                (nodes, None, AlgorithmNumbers::Floats(numbers))
            }
            Output::Paths(paths) => {
                control.charge(size_of::<u64>() * output.len())?;
                path = Some(paths.steps().map(|(way, ..)| way as u64).collect());
                (paths.nodes.iter().map(node_of).collect(), None, numbers_along(paths))
            }
            Output::Vectors(vectors) => {
                control.charge(size_of_val(vectors.values.as_slice()))?;
                let numbers = AlgorithmNumbers::Vectors(vectors.dimensions, vectors.values.clone());
                (nodes.to_vec(), None, numbers)
            }
        };
        let uid_of = |node: u32| version.nodes.uid(node).0;
        Ok(AlgorithmTable {
            name: name.to_owned(),
            path,
            xids: if to.is_none() { xids_of(version, &rows, control)? } else { None },
            uids: rows.into_iter().map(uid_of).collect(),
            to: to.map(|to| to.into_iter().map(uid_of).collect()),
            numbers,
        })
    }
}

/// What stands beside the nodes of ways: distances, or places.
fn numbers_along(paths: &Paths) -> AlgorithmNumbers {
    match &paths.distances {
        Some(all) => AlgorithmNumbers::Floats(all.iter().copied().map(Some).collect()),
        None => {
            let places = paths.steps().map(|(.., place)| Some(place as i64));
            AlgorithmNumbers::Ints(places.collect())
        }
    }
}

/// The values of `xid`, where a node has one that is a text.
fn xids_of(
    version: &Version,
    nodes: &[u32],
    control: &Control,
) -> Result<Option<Vec<Option<String>>>> {
    let Some(predicate) = version.predicate(XID).filter(|it| !it.is_edges() && !it.def.list) else {
        return Ok(None);
    };
    let mut xids = Vec::with_capacity(nodes.len());
    for nodes in nodes.chunks(ROWS_A_CHECK) {
        control.check()?;
        let before = xids.len();
        xids.extend(nodes.iter().map(|node| match first_value(predicate, &[], *node) {
            Some(Value::String(text) | Value::Default(text)) => Some(text),
            _ => None,
        }));
        let bytes = xids[before..].iter().flatten().map(String::len).sum::<usize>();
        control.charge(bytes + size_of::<Option<String>>() * nodes.len())?;
    }
    Ok(xids.iter().any(Option::is_some).then_some(xids))
}
