//! A pattern as a join: variables for nodes, edges between them, and constraints on both.

use crate::execute::plan::{Expression, NodeAccess, SlotIndex, Stage};
use std::sync::Arc;

/// The index of a variable of a pattern.
pub(super) type VarIndex = usize;

/// Patterns whose matches are joined. Each row is a binding of the retained variables, with the number of matches that
/// have it.
#[derive(Debug, Clone)]
pub(in crate::execute) struct JoinPlan {
    pub(super) pattern: Pattern,
    /// The variables that later stages read, with their slots.
    pub(super) retained: Vec<(VarIndex, SlotIndex)>,
    /// The slot of the number of matches.
    pub(super) count: SlotIndex,
    /// The same as stages, one row for each match: what runs where a condition fails for a node that has no match.
    pub(super) rows: Vec<Stage>,
}

/// Variables, edges and constraints.
#[derive(Debug, Clone, Default)]
pub(super) struct Pattern {
    pub(super) variables: Vec<Variable>,
    pub(super) edges: Vec<Edge>,
    pub(super) constraints: Vec<Constraint>,
}

/// A node of a pattern.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    /// Where conditions read the node.
    pub(super) slot: SlotIndex,
    pub(super) labels: Vec<Arc<str>>,
    /// An index that has the candidates, perhaps with others.
    pub(super) access: Option<NodeAccess>,
    /// Conditions that read no other variable.
    pub(super) conditions: Vec<Expression>,
    pub(super) attached: Vec<Attached>,
}

/// A pattern that has one variable in common with the pattern around it.
#[derive(Debug, Clone)]
pub(super) struct Attached {
    pub(super) pattern: Pattern,
    /// The common variable in the inner pattern.
    pub(super) variable: VarIndex,
    pub(super) kind: AttachedKind,
}

/// What the number of matches of an attached pattern means for a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AttachedKind {
    /// The node counts once for each match, and once without any.
    Optional,
    /// The node has to have a match.
    Exists,
    /// The node must not have a match.
    NotExists,
}

/// A relationship of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) from: VarIndex,
    pub(super) to: VarIndex,
    /// The types, in ascending order.
    pub(super) types: Arc<[u32]>,
    /// Whether it is matched against its direction, too.
    pub(super) either: bool,
    /// Whether several relationships between two nodes count as one.
    pub(super) once: bool,
}

/// A condition on more than one variable.
#[derive(Debug, Clone)]
pub(super) enum Constraint {
    /// Two relationships of one clause, which may not be the same one: indexes of edges.
    Unique(usize, usize),
    /// Two variables that are different nodes.
    Differ(VarIndex, VarIndex),
    /// There is no such relationship.
    NoEdge(Edge),
}

impl Edge {
    /// The variable at the other end.
    pub(super) fn other(&self, variable: VarIndex) -> VarIndex {
        if self.from == variable { self.to } else { self.from }
    }

    pub(super) fn has(&self, variable: VarIndex) -> bool {
        self.from == variable || self.to == variable
    }

    pub(super) fn is_loop(&self) -> bool {
        self.from == self.to
    }
}
