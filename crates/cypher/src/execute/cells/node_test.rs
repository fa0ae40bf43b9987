//! [`NodeTest`]: what cells compute of nodes themselves: labels, identity, the uid, and the number
//! of relationships of one node or between two, which a subquery counts.

use super::bits::{Bits, Truths};
use super::cell::{Decided, Undecided};
use super::chunk::Chunk;
use super::vector::{TypedCells, Vector};
use crate::ast::{CompareOp, Direction, LabelExpr, SubqueryKind};
use crate::execute::adjacency::{Adjacency, Lists};
use crate::execute::join::{labels_of, not_null};
use crate::execute::plan::{
    Callee, EntityFunction, Expression, Hop, MatchPlan, MatchStep, Operation, QueryPlan, SlotIndex,
    Stage, ValueStep,
};
use crate::execute::run::{Execution, LabelSet, Row};
use hexgraph_scalar::Value;
use std::sync::Arc;

/// A test or a number of nodes.
#[derive(Debug)]
pub(super) enum NodeTest {
    /// Whether a node has all of some labels.
    Labels(Endpoint, Vec<Arc<LabelSet>>),
    /// Whether two nodes are the same, or with false whether they differ.
    Same(Endpoint, Endpoint, bool),
    /// The uid of a node.
    Uid(Endpoint),
    /// A number of relationships.
    Edges(EdgeCount),
}

/// A node of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// That of a variable.
    Variable(usize),
    /// The same one in all rows.
    Node(u32),
}

/// What a subquery counts.
#[derive(Debug)]
pub(super) struct EdgeCount {
    from: Endpoint,
    /// `None` for any node with the labels.
    to: Option<Endpoint>,
    labels: Vec<Arc<LabelSet>>,
    direction: Direction,
    types: Vec<u32>,
    /// Whether the value is that there are any.
    is_exists: bool,
}

/// The lists of a type: from subjects, and from objects.
type BothLists<'g> = [Option<&'g dyn Lists>; 2];

/// Where expressions have the nodes of rows.
pub(super) struct NodeSlots<'n> {
    /// The slots of the variables.
    pub(super) slots: &'n [SlotIndex],
    /// The values of other slots.
    pub(super) row: &'n Row,
}

impl NodeSlots<'_> {
    fn endpoint(&self, slot: SlotIndex, graph: &dyn Adjacency) -> Option<Endpoint> {
        match self.slots.iter().position(|it| *it == slot) {
            Some(variable) => Some(Endpoint::Variable(variable)),
            None => match self.row.get(slot)? {
                Value::Node(node) => graph.number(*node).map(Endpoint::Node),
                _ => None,
            },
        }
    }
}

impl NodeTest {
    /// The test that an expression is; `None` for any other expression.
    pub(super) fn of(
        execution: &Execution<'_>,
        expression: &Expression,
        nodes: &NodeSlots<'_>,
    ) -> Option<NodeTest> {
        let graph = execution.graph.adjacency()?;
        let node = |it: &Expression| match it.operation {
            Operation::Slot(slot) => nodes.endpoint(slot, graph),
            _ => None,
        };
        match &expression.operation {
            Operation::Steps(first, steps) => {
                let [ValueStep::HasLabels(test)] = &steps[..] else { return None };
                let node = node(first)?;
                Some(NodeTest::Labels(node, sets_of(execution, &test.labels, graph)?))
            }
            Operation::Compare(one, rest) => {
                let [(op @ (CompareOp::Equal | CompareOp::Unequal), other)] = &rest[..] else {
                    return None;
                };
                Some(NodeTest::Same(node(one)?, node(other)?, *op == CompareOp::Equal))
            }
            Operation::Call(Callee { entity: Some(EntityFunction::Id), .. }, arguments) => {
                let [argument] = &arguments[..] else { return None };
                node(argument).map(NodeTest::Uid)
            }
            Operation::Subquery { kind, plan, .. } => {
                EdgeCount::of((execution, graph), (*kind, plan), nodes).map(NodeTest::Edges)
            }
            _ => None,
        }
    }

    /// Whether its value is a condition, and no number.
    pub(super) fn is_condition(&self) -> bool {
        match self {
            NodeTest::Labels(..) | NodeTest::Same(..) => true,
            NodeTest::Uid(_) => false,
            NodeTest::Edges(count) => count.is_exists,
        }
    }

    /// Evaluates it for all rows of a chunk.
    pub(super) fn evaluate<'c>(&self, chunk: &Chunk<'_, '_>) -> Decided<Vector<'c>> {
        Ok(match self {
            NodeTest::Edges(count) if !count.is_exists => {
                let values = count.counts(chunk)?.map(|it| it as i64).collect();
                Vector::Ints(TypedCells { values, valid: None })
            }
            NodeTest::Uid(node) => {
                let graph = chunk.graph();
                // Rows have the error of a uid that is no integer.
                let uid = |row| i64::try_from(graph.node(node.of(row))).ok();
                let uids = chunk.rows().chunks(chunk.width()).map(uid);
                let values = uids.collect::<Option<_>>().ok_or(Undecided::Rows)?;
                Vector::Ints(TypedCells { values, valid: None })
            }
            NodeTest::Edges(_) | NodeTest::Labels(..) | NodeTest::Same(..) => {
                Vector::Bools(self.truths(chunk)?)
            }
        })
    }

    /// Evaluates a condition for all rows of a chunk.
    pub(super) fn truths(&self, chunk: &Chunk<'_, '_>) -> Decided<Truths> {
        let rows: Vec<&[u32]> = chunk.rows().chunks(chunk.width()).collect();
        let bits = match self {
            NodeTest::Labels(node, sets) => Bits::of(&rows, |row| has_all(sets, node.of(row))),
            NodeTest::Same(one, other, is_same) => {
                Bits::of(&rows, |row| (one.of(row) == other.of(row)) == *is_same)
            }
            NodeTest::Edges(count) if count.is_exists => {
                let exists: Vec<bool> = count.counts(chunk)?.map(|it| it != 0).collect();
                Bits::of(&exists, |it| *it)
            }
            NodeTest::Uid(_) | NodeTest::Edges(_) => return Err(Undecided::Rows),
        };
        Ok(Truths::new(bits, None))
    }
}

impl Endpoint {
    #[inline]
    fn of(self, row: &[u32]) -> u32 {
        match self {
            Endpoint::Variable(variable) => row[variable],
            Endpoint::Node(node) => node,
        }
    }
}

impl EdgeCount {
    /// The count that a subquery is; `None` where it is anything else, or the lists are not stored.
    fn of(
        (execution, graph): (&Execution<'_>, &dyn Adjacency),
        (kind, plan): (SubqueryKind, &QueryPlan),
        nodes: &NodeSlots<'_>,
    ) -> Option<EdgeCount> {
        let is_exists = match kind {
            SubqueryKind::Exists => true,
            SubqueryKind::Count => false,
            SubqueryKind::Collect => return None,
        };
        let (hop, labels) = only_hop(plan, nodes.slots)?;
        let from = nodes.endpoint(hop.from, graph)?;
        let to = if hop.to_bound { Some(nodes.endpoint(hop.to, graph)?) } else { None };
        let types = match &hop.types {
            Some(types) => types.clone(),
            None => (0..execution.graph.relationship_types().ok()?.len() as u32).collect(),
        };
        let is_stored = |type_id: &u32| {
            let has = |inverse| graph.lists(*type_id, inverse).is_some();
            match (to, hop.direction) {
                (Some(_), _) => has(false) || has(true),
                (None, Direction::Out) => has(false),
                (None, Direction::In) => has(true),
                (None, Direction::Either) => has(false) && has(true),
            }
        };
        if !types.iter().all(is_stored) {
            return None;
        }
        let sets = labels.into_iter().map(|it| sets_of(execution, it, graph));
        let labels = sets.collect::<Option<Vec<_>>>()?.concat();
        Some(EdgeCount { from, to, labels, direction: hop.direction, types, is_exists })
    }

    /// The number of relationships of each row.
    fn counts<'s>(&'s self, chunk: &'s Chunk<'_, '_>) -> Decided<impl Iterator<Item = usize> + 's> {
        let graph = chunk.graph();
        graph.check().map_err(Undecided::Failed)?;
        let of_type = |it: &u32| [false, true].map(|inverse| graph.lists(*it, inverse));
        let lists: Vec<BothLists<'_>> = self.types.iter().map(of_type).collect();
        Ok(chunk.rows().chunks(chunk.width()).map(move |row| {
            let from = self.from.of(row);
            match self.to {
                Some(to) => self.between(&lists, from, to.of(row)),
                None => lists.iter().map(|it| self.degree(it, from)).sum(),
            }
        }))
    }

    /// The number of relationships between two nodes.
    fn between(&self, lists: &[BothLists<'_>], from: u32, to: u32) -> usize {
        let count = |from: u32, to: u32| {
            let has = |lists: &&BothLists<'_>| match lists {
                [Some(outgoing), _] => outgoing.list(from).binary_search(&to).is_ok(),
                [None, Some(incoming)] => incoming.list(to).binary_search(&from).is_ok(),
                [None, None] => false,
            };
            lists.iter().filter(has).count()
        };
        match self.direction {
            Direction::Out => count(from, to),
            Direction::In => count(to, from),
            // A loop is one relationship.
            Direction::Either if from == to => count(from, to),
            Direction::Either => count(from, to) + count(to, from),
        }
    }

    /// The number of relationships of a type that a node has.
    fn degree(&self, [outgoing, incoming]: &BothLists<'_>, node: u32) -> usize {
        let count = |lists: &Option<&dyn Lists>, has_loop: bool| {
            let Some(lists) = lists else { return 0 };
            let list = lists.list(node);
            let passing = match self.labels.is_empty() {
                true => list.len(),
                false => list.iter().filter(|it| has_all(&self.labels, **it)).count(),
            };
            let is_loop = || list.binary_search(&node).is_ok() && has_all(&self.labels, node);
            passing - usize::from(!has_loop && is_loop())
        };
        match self.direction {
            Direction::Out => count(outgoing, true),
            Direction::In => count(incoming, true),
            Direction::Either => count(outgoing, true) + count(incoming, false),
        }
    }
}

fn has_all(sets: &[Arc<LabelSet>], node: u32) -> bool {
    sets.iter().all(|it| it.has(node))
}

/// The nodes with each label of an expression that needs them all.
fn sets_of(
    execution: &Execution<'_>,
    labels: &LabelExpr,
    graph: &dyn Adjacency,
) -> Option<Vec<Arc<LabelSet>>> {
    labels_of(labels)?.iter().map(|it| execution.label_set(it, graph).ok()).collect()
}

/// The only relationship of a subquery, and the labels of its other node.
fn only_hop<'p>(plan: &'p QueryPlan, slots: &[SlotIndex]) -> Option<(&'p Hop, Vec<&'p LabelExpr>)> {
    let [branch] = &plan.branches[..] else { return None };
    let [Stage::Match { plan: MatchPlan { steps, .. }, optional: false }] = &branch.stages[..]
    else {
        return None;
    };
    let (mut only, mut labels) = (None, Vec::new());
    // Nodes of a batch are not null.
    let has_value = |condition| not_null(condition).is_some_and(|slot| slots.contains(&slot));
    for step in steps {
        match (step, only) {
            (MatchStep::Filter(condition), _) if has_value(condition) => {}
            (MatchStep::Expand(hop), None) if hop.range.is_none() => only = Some(hop),
            (MatchStep::Filter(condition), Some(hop)) if !hop.to_bound => {
                labels.push(labels_required(condition, hop.to)?);
            }
            _ => return None,
        }
    }
    only.map(|hop| (hop, labels))
}

/// The labels of a condition that is about nothing else of a node.
pub(super) fn labels_required(condition: &Expression, slot: SlotIndex) -> Option<&LabelExpr> {
    let Operation::Steps(node, steps) = &condition.operation else { return None };
    let [ValueStep::HasLabels(test)] = &steps[..] else { return None };
    matches!(node.operation, Operation::Slot(it) if it == slot).then_some(&test.labels)
}
