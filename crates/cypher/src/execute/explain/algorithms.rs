//! Calls of algorithms as lines of a plan.

use super::outline::Outline;
use crate::execute::plan::{AlgorithmPlan, Expression, Operation};
use crate::procedures::names_of;
use hexgraph_base::plan::Gives;
use hexgraph_base::types::Result;
use hexgraph_scalar::Value;

impl Outline<'_, '_> {
    /// Adds a call: its name, its types, and its options.
    pub(super) fn algorithm(&mut self, plan: &AlgorithmPlan, id: Option<usize>) -> Result<()> {
        let rows = self.rows_of_call(plan)?;
        self.rows = self.rows.zip(rows).map(|(before, rows)| before * rows);
        let arguments = [Some(&plan.types), plan.options.as_ref()].into_iter().flatten();
        let arguments: Vec<String> = arguments.map(|it| self.expression(it)).collect();
        let name = plan.signature.algorithm.name;
        self.add("Algorithm", format!("{name}({})", arguments.join(", ")), id);
        Ok(())
    }

    /// About how many rows a call gives: one for the graph, or one for each node with an edge.
    fn rows_of_call(&self, plan: &AlgorithmPlan) -> Result<Option<f64>> {
        match plan.signature.algorithm.gives {
            Gives::Float => return Ok(Some(1.0)),
            Gives::Floats | Gives::Ints | Gives::Vectors => {}
            Gives::Nodes | Gives::Pairs | Gives::Paths => return Ok(None),
        }
        let graph = self.execution.graph;
        let names = constant(&plan.types).and_then(|it| names_of(&it));
        let (Some(names), Some(lists)) = (names, graph.adjacency()) else { return Ok(None) };
        if plan.options.as_ref().is_some_and(selects_nodes) {
            return Ok(None);
        }
        let (mut nodes, mut types) = (0, Vec::new());
        for name in names {
            types.extend(graph.types_named(&name)?);
        }
        for type_id in types {
            let count = |inverse| lists.lists(type_id, inverse).map(|it| it.count() as u64);
            let subjects = count(false).unwrap_or_default();
            // Where objects are not listed, they count as if they were as many.
            nodes += subjects + count(true).unwrap_or(subjects);
        }
        Ok(Some(nodes.min(graph.node_count()?) as f64))
    }
}

/// The value of an expression that reads no row: a constant, or a list of constants.
fn constant(expression: &Expression) -> Option<Value> {
    match &expression.operation {
        Operation::Constant(value) => Some(value.clone()),
        Operation::List(items) => {
            Value::list(items.iter().map(constant).collect::<Option<_>>()?).ok()
        }
        _ => None,
    }
}

/// Whether options may restrict the nodes, or the nodes that have a row.
fn selects_nodes(options: &Expression) -> bool {
    let is_one = |name: &str| matches!(name, "nodes" | "labels" | "source" | "top" | "depth");
    match &options.operation {
        Operation::Map(entries) => entries.iter().any(|(name, _)| is_one(name)),
        _ => true,
    }
}
