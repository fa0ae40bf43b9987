//! Converts the result of an algorithm to a table: a row for each node of its graph, for each pair,
//! or for each node of a path.

use super::answer::QueryAnswer;
use super::retained::algorithm_table::{AlgorithmNumbers, AlgorithmTable};
use hexgraph_base::answer::Texts;
use hexgraph_base::types::{Error, Result};
use hexgraph_store::algo::{Graph, Outcome, Output, Paths};
use hexgraph_store::exec::{RequestContext, names_of};
use hexgraph_store::graph::Version;

/// The predicate of external ids, which loads store.
const XID: &str = "xid";

/// # As the result of an algorithm
impl QueryAnswer {
    /// The result of the first algorithm block without a variable.
    ///
    /// ```
    /// use hexgraph::db::{AlgorithmNumbers, Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <knows> <2> .\n<2> <knows> <3> .\n<9> <knows> <8> .", "")?;
    /// let answer = db.query("{ components() { knows } }")?;
    /// let table = answer.algorithm(&RequestContext::new())?;
    /// assert_eq!(table.uids, [1, 2, 3, 8, 9]);
    /// let AlgorithmNumbers::Ints(parts) = table.numbers else { unreachable!("parts have numbers") };
    /// assert!(parts[0] == parts[2] && parts[0] != parts[3]);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Query` when the query has no such block; those of `context`.
    pub fn algorithm(&self, context: &RequestContext) -> Result<AlgorithmTable> {
        if let Some(copied) = self.copied_answer() {
            return copied.algorithm().cloned().ok_or_else(missing);
        }
        let answer = self.held_answer().ok_or_else(missing)?;
        let (name, result) = answer.algorithm().ok_or_else(missing)?;
        let output = &result.result.output;
        context.charge(byte_len(output))?;
        let hit = Outcome { output: output.clone(), report: result.result.report };
        table(name.to_owned(), &result.graph, hit, answer.version(), context)
    }

    /// As [`QueryAnswer::algorithm`], of an answer that nobody needs any more: the numbers are
    /// those of the kernel, not a copy.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <knows> <2> .\n<2> <knows> <3> .", "")?;
    /// let answer = db.query("{ pagerank() { knows } }")?;
    /// assert_eq!(answer.into_algorithm(&RequestContext::new())?.rows(), 3);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::algorithm`].
    pub fn into_algorithm(mut self, context: &RequestContext) -> Result<AlgorithmTable> {
        let Some(answer) = self.held_answer_mut() else { return self.algorithm(context) };
        let (name, result) = answer.take_algorithm().ok_or_else(missing)?;
        table(name, &result.graph, result.result, answer.version(), context)
    }
}

#[cold]
fn missing() -> Error {
    Error::query("the query has no block of an algorithm without a variable")
        .with_hint("write `pagerank(...) { follows }`")
}

/// The bytes of an algorithm's result.
fn byte_len(output: &Output) -> usize {
    match output {
        Output::Float(_) => 0,
        Output::Floats(numbers) => size_of_val(numbers.as_slice()),
        Output::Ints(numbers) => size_of_val(numbers.as_slice()),
        Output::Nodes(nodes) => size_of_val(nodes.as_slice()),
        Output::Pairs(pairs) => size_of_val(pairs.as_slice()),
        Output::Some(result) => size_of_val(result.as_slice()),
        Output::Paths(paths) => (size_of::<u32>() + size_of::<f64>()) * paths.nodes.len(),
        Output::Vectors(vectors) => size_of_val(vectors.values.as_slice()),
    }
}

/// The table of an algorithm's result on a graph. Numbers and vectors of all nodes are moved, not
/// copied.
fn table(
    name: String,
    graph: &Graph,
    result: Outcome,
    version: &Version,
    context: &RequestContext,
) -> Result<AlgorithmTable> {
    let nodes = graph.nodes();
    let Outcome { output, report } = result;
    let rows = match &output {
        Output::Floats(_) | Output::Ints(_) | Output::Vectors(_) => nodes.len(),
        other => other.len(),
    };
    let node_of = |number: &u32| nodes[*number as usize];
    // The nodes of the rows where these are not all, and what else is next to them.
    let (mut some, mut to, mut path) = (None, None, None);
    context.charge(size_of::<u64>() * rows)?;
    let numbers = match output {
        Output::Floats(numbers) => AlgorithmNumbers::Floats(numbers),
        Output::Ints(numbers) => AlgorithmNumbers::Ints(numbers),
        Output::Vectors(vectors) => AlgorithmNumbers::Vectors(vectors.dimensions, vectors.values),
        Output::Float(number) => {
            some = Some(Vec::new());
            AlgorithmNumbers::Floats(vec![number])
        }
        Output::Nodes(result) => {
            some = Some(result.iter().map(node_of).collect());
            AlgorithmNumbers::Nothing
        }
        Output::Pairs(pairs) => {
            context.charge(2 * size_of::<u64>() * rows)?;
            some = Some(pairs.iter().map(|(from, ..)| node_of(from)).collect());
            let uid_of = |(_, to, _): &(u32, u32, f64)| version.nodes.uid(node_of(to)).0;
            to = Some(pairs.iter().map(uid_of).collect());
            AlgorithmNumbers::Floats(pairs.iter().map(|(.., number)| *number).collect())
        }
        Output::Some(result) => {
            context.charge(size_of::<u64>() * rows)?;
            some = Some(result.iter().map(|(node, _)| node_of(node)).collect());
            AlgorithmNumbers::Floats(result.iter().map(|(_, number)| *number).collect())
        }
        Output::Paths(paths) => {
            context.charge(2 * size_of::<u64>() * rows)?;
            path = Some(paths.steps().map(|(path, ..)| path as u64).collect());
            some = Some(paths.nodes.iter().map(node_of).collect());
            numbers_along(paths)
        }
    };
    let nodes: &[u32] = some.as_deref().unwrap_or(nodes);
    Ok(AlgorithmTable {
        name,
        path,
        xids: if to.is_none() { xids_of(version, nodes, context)? } else { None },
        uids: match &some {
            None => version.nodes.uids(nodes),
            Some(some) => some.iter().map(|node| version.nodes.uid(*node).0).collect(),
        },
        to,
        report,
        numbers,
    })
}

/// The values of the nodes of paths: distances, or positions.
fn numbers_along(paths: Paths) -> AlgorithmNumbers {
    match paths.distances {
        Some(all) => AlgorithmNumbers::Floats(all),
        None => {
            AlgorithmNumbers::Ints(paths.steps().map(|(.., position)| position as i64).collect())
        }
    }
}

/// The values of `xid`, where a node has one that is a text.
fn xids_of(version: &Version, nodes: &[u32], context: &RequestContext) -> Result<Option<Texts>> {
    match version.predicate(XID).filter(|it| !it.is_edges() && !it.def.list) {
        Some(predicate) => names_of(context, predicate, nodes),
        None => Ok(None),
    }
}
