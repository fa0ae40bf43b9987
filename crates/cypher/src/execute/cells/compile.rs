//! Expressions become operators over cells.

use super::cell::Cell;
use super::chunk::Endpoints;
use super::node_test::{NodeSlots, NodeTest};
use super::set::CellSet;
use crate::ast::{ArithmeticOp, CompareOp};
use crate::execute::plan::{
    Expression, JoinPlan, JoinedRelationship, Operation, SlotIndex, ValueStep,
};
use crate::execute::run::{Execution, Row};
use crate::execute::slots::Uses;
use hexgraph_scalar::{TextTest, Value};
use std::sync::Arc;

/// Deeper expressions are left to rows: threads evaluate cells on small stacks.
const DEPTH_MAX: usize = 64;

/// An expression over the properties of some nodes.
#[derive(Debug)]
pub(super) enum CellOperator {
    Constant(Value),
    /// A property, by its position among those of the compiler.
    Property(usize),
    Or(Vec<CellOperator>),
    And(Vec<CellOperator>),
    Not(Box<CellOperator>),
    Compare(Box<CellOperator>, Vec<(CompareOp, CellOperator)>),
    Arithmetic(Box<CellOperator>, Vec<(ArithmeticOp, CellOperator)>),
    Negative(Box<CellOperator>),
    Text(Box<CellOperator>, TextTest, Box<CellOperator>),
    In(Box<CellOperator>, CellSet),
    /// Whether it is null, or with false whether it has a value.
    IsNull(Box<CellOperator>, bool),
    /// What is computed of nodes themselves.
    Node(NodeTest),
    /// A component of an instant.
    Component(Box<CellOperator>, Arc<str>),
    Case {
        subject: Option<Box<CellOperator>>,
        branches: Vec<(CellOperator, CellOperator)>,
        otherwise: Box<CellOperator>,
    },
}

/// What has a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PropertyOwner {
    /// The variable at a position.
    Node(usize),
    Relationship(Endpoints),
}

/// A property of a node or of a relationship.
pub(super) type CellProperty = (PropertyOwner, Arc<str>);

/// What each row of cells has. Other slots have one value in all rows.
#[derive(Debug, Clone, Copy)]
pub(in crate::execute) struct BoundSlots<'p> {
    /// The slots of nodes, in the order of a row.
    nodes: &'p [SlotIndex],
    /// Relationships between these nodes.
    relationships: &'p [JoinedRelationship],
}

impl<'p> BoundSlots<'p> {
    pub(in crate::execute) fn of(plan: &'p JoinPlan) -> BoundSlots<'p> {
        BoundSlots { nodes: &plan.retained, relationships: &plan.relationships }
    }

    pub(in crate::execute) fn of_nodes(nodes: &'p [SlotIndex]) -> BoundSlots<'p> {
        BoundSlots { nodes, relationships: &[] }
    }

    fn has(&self, slot: SlotIndex) -> bool {
        self.nodes.contains(&slot) || self.relationship(slot).is_some()
    }

    fn node(&self, slot: SlotIndex) -> Option<usize> {
        self.nodes.iter().position(|it| *it == slot)
    }

    fn relationship(&self, slot: SlotIndex) -> Option<&'p JoinedRelationship> {
        self.relationships.iter().find(|it| it.slot == slot)
    }

    fn owner(&self, slot: SlotIndex) -> Option<PropertyOwner> {
        if let Some(variable) = self.node(slot) {
            return Some(PropertyOwner::Node(variable));
        }
        let JoinedRelationship { type_id, subject, object, .. } = *self.relationship(slot)?;
        let (subject, object) = (self.node(subject)?, self.node(object)?);
        Some(PropertyOwner::Relationship(Endpoints { type_id, subject, object }))
    }
}

/// Compiles expressions of some nodes, and collects the properties that they read.
pub(in crate::execute) struct Compiler<'c, 'a> {
    execution: &'c Execution<'a>,
    bound: BoundSlots<'c>,
    row: &'c mut Row,
    depth: usize,
    pub(super) properties: Vec<CellProperty>,
}

impl<'c, 'a> Compiler<'c, 'a> {
    pub(in crate::execute) fn new(
        execution: &'c Execution<'a>,
        bound: BoundSlots<'c>,
        row: &'c mut Row,
    ) -> Compiler<'c, 'a> {
        Compiler { execution, bound, row, depth: 0, properties: Vec::new() }
    }

    /// `None` for what needs rows.
    pub(super) fn compile(&mut self, expression: &Expression) -> Option<CellOperator> {
        if self.depth == DEPTH_MAX {
            return None;
        }
        self.depth += 1;
        let reads = Uses::of(expression).outer();
        let operator = match reads.iter().any(|it| self.bound.has(*it)) {
            true => self.operator(expression),
            false => self.constant(expression),
        };
        self.depth -= 1;
        operator
    }

    fn operator(&mut self, expression: &Expression) -> Option<CellOperator> {
        let nodes = NodeSlots { slots: self.bound.nodes, row: self.row };
        if let Some(test) = NodeTest::of(self.execution, expression, &nodes) {
            return Some(CellOperator::Node(test));
        }
        match &expression.operation {
            Operation::Or(list) => Some(CellOperator::Or(self.all(list)?)),
            Operation::And(list) => Some(CellOperator::And(self.all(list)?)),
            Operation::Not(inside) => Some(CellOperator::Not(self.boxed(inside)?)),
            Operation::Negative(inside) => Some(CellOperator::Negative(self.boxed(inside)?)),
            Operation::Compare(first, rest) => {
                let first = self.boxed(first)?;
                let rest = rest.iter().map(|(op, it)| Some((*op, self.compile(it)?)));
                Some(CellOperator::Compare(first, rest.collect::<Option<_>>()?))
            }
            Operation::Arithmetic(first, rest) if rest.iter().all(|it| is_of_cells(it.0)) => {
                let first = self.boxed(first)?;
                let rest = rest.iter().map(|(op, it)| Some((*op, self.compile(it)?)));
                Some(CellOperator::Arithmetic(first, rest.collect::<Option<_>>()?))
            }
            Operation::Steps(first, steps) => self.steps(first, steps),
            Operation::Case { subject, branches, otherwise } => {
                let subject = match subject {
                    Some(it) => Some(self.boxed(it)?),
                    None => None,
                };
                let branches =
                    branches.iter().map(|(one, it)| Some((self.compile(one)?, self.compile(it)?)));
                let branches = branches.collect::<Option<_>>()?;
                Some(CellOperator::Case { subject, branches, otherwise: self.boxed(otherwise)? })
            }
            // A node itself has no cell.
            Operation::Constant(_)
            | Operation::Slot(_)
            | Operation::Arithmetic(..)
            | Operation::Call(..)
            | Operation::List(_)
            | Operation::Map(_)
            | Operation::Xor(_)
            | Operation::Comprehension { .. }
            | Operation::Quantifier(..)
            | Operation::Reduce { .. }
            | Operation::Subquery { .. }
            | Operation::Matches { .. }
            | Operation::Projection { .. } => None,
        }
    }

    fn boxed(&mut self, expression: &Expression) -> Option<Box<CellOperator>> {
        self.compile(expression).map(Box::new)
    }

    fn all(&mut self, list: &[Expression]) -> Option<Vec<CellOperator>> {
        list.iter().map(|it| self.compile(it)).collect()
    }

    fn steps(&mut self, first: &Expression, steps: &[ValueStep]) -> Option<CellOperator> {
        let owner = match first.operation {
            Operation::Slot(slot) => self.bound.owner(slot),
            _ => None,
        };
        let (mut value, rest) = match (owner, steps.split_first()) {
            (Some(owner), Some((ValueStep::Property(name), rest))) => {
                (CellOperator::Property(self.property(owner, name)), rest)
            }
            _ => (self.compile(first)?, steps),
        };
        for step in rest {
            let before = Box::new(value);
            value = match step {
                ValueStep::Text(test, it) => CellOperator::Text(before, *test, self.boxed(it)?),
                ValueStep::In(it) => {
                    let Value::List(items) = self.value(it)? else { return None };
                    CellOperator::In(before, CellSet::new(&items)?)
                }
                ValueStep::IsNull(negated) => CellOperator::IsNull(before, !negated),
                ValueStep::Property(name) => CellOperator::Component(before, Arc::clone(name)),
                ValueStep::Matches(_)
                | ValueStep::IsType(..)
                | ValueStep::Index(_)
                | ValueStep::Slice(..)
                | ValueStep::HasLabels(_) => return None,
            };
        }
        Some(value)
    }

    fn property(&mut self, owner: PropertyOwner, name: &Arc<str>) -> usize {
        let is_read = |it: &CellProperty| it.0 == owner && it.1 == *name;
        self.properties.iter().position(is_read).unwrap_or_else(|| {
            self.properties.push((owner, Arc::clone(name)));
            self.properties.len() - 1
        })
    }

    fn constant(&mut self, expression: &Expression) -> Option<CellOperator> {
        let value = self.value(expression)?;
        Cell::of(&value)?;
        Some(CellOperator::Constant(value))
    }

    /// The value of an expression that reads none of the nodes. An error is that of the first row.
    fn value(&mut self, expression: &Expression) -> Option<Value> {
        let uses = Uses::of(expression);
        if uses.is_random || uses.outer().iter().any(|it| self.bound.has(*it)) {
            return None;
        }
        self.execution.value(expression, self.row).ok()
    }
}

/// Whether two numbers give a cell.
fn is_of_cells(operator: ArithmeticOp) -> bool {
    match operator {
        ArithmeticOp::Add
        | ArithmeticOp::Subtract
        | ArithmeticOp::Multiply
        | ArithmeticOp::Divide
        | ArithmeticOp::Modulo => true,
        ArithmeticOp::Power | ArithmeticOp::Concatenate => false,
    }
}
