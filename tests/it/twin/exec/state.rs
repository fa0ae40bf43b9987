//! What a request holds while it runs: variables, and a tree of levels for each block.

use crate::twin::graph::{Facets, Graph};
use crate::twin::schema::Definition;
use hexgraph::internals::plan::{Block, Field, VarId};
use hexgraph::types::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// The request is refused.
    Refused(String),
    /// The specification allows several answers, or it would take too long to find the one.
    Undecided,
}

/// A result, or why there is none.
pub type Outcome<T> = Result<T, Failure>;

/// A refusal.
pub fn refuse<T>(reason: impl Into<String>) -> Outcome<T> {
    Err(Failure::Refused(reason.into()))
}

/// A value for some nodes, or one for all.
#[derive(Debug, Clone, Default)]
pub struct ValueMap {
    pub of: BTreeMap<u64, Value>,
    pub constant: Option<Value>,
}

/// What a variable holds.
#[derive(Debug, Clone)]
pub enum Var {
    /// Nodes; for a `shortest` block in the order of its first path, too.
    Nodes(BTreeSet<u64>, Option<Vec<u64>>),
    /// Values.
    Values(ValueMap),
}

/// A request while it runs.
pub struct Twin<'a> {
    pub graph: &'a Graph,
    pub vars: BTreeMap<VarId, Var>,
}

/// The nodes of one selection.
#[derive(Default)]
pub struct Level {
    pub nodes: BTreeSet<u64>,
    pub fields: Vec<TwinOutcome>,
    /// What `@cascade` dropped.
    pub dead: BTreeSet<u64>,
}

/// One field and what it found.
pub struct TwinOutcome {
    pub field: Arc<Field>,
    pub data: Data,
}

/// Values of a node under one key: the language after the predicate's name where `@*` asks for
/// all, and the values with their facets.
pub type Shown = (Option<String>, Vec<(Value, Facets)>);

/// What a field found.
pub enum Data {
    Nothing,
    Uid,
    Values(BTreeMap<u64, Vec<Shown>>),
    Edges(Box<Edges>),
    Counts(BTreeMap<u64, i64>),
    CountUid,
    Computed(ValueMap),
}

/// What an edge field found.
pub struct Edges {
    pub name: String,
    pub reverse: bool,
    /// The targets of each node above, in the order of the answer.
    pub lists: BTreeMap<u64, Vec<u64>>,
    pub below: Level,
    pub groups: Option<BTreeMap<u64, Vec<Group>>>,
}

/// One group of `@groupby`.
#[derive(Clone)]
pub struct Group {
    pub keys: Vec<GroupKey>,
    /// One result for each field of the body.
    pub results: Vec<Option<Value>>,
    pub size: usize,
}

/// What a group has in common.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupKey {
    Node(u64),
    Value(Value),
}

/// One path of `shortest`.
#[derive(Clone)]
pub struct Path {
    pub nodes: Vec<u64>,
    /// For each hop the number of the field that it took.
    pub hops: Vec<usize>,
    pub weight: f64,
}

/// What a block found.
pub struct BlockResult<'a> {
    pub block: &'a Block,
    pub roots: Vec<u64>,
    pub level: Level,
    pub groups: Option<Vec<Group>>,
    pub paths: Vec<Path>,
}

impl ValueMap {
    /// The value of a node.
    pub fn get(&self, node: u64) -> Option<&Value> {
        self.constant.as_ref().or_else(|| self.of.get(&node))
    }
}

impl<'a> Twin<'a> {
    /// The definition of a predicate.
    pub fn definition(&self, name: &str) -> Option<&'a Definition> {
        self.graph.schema.get(name)
    }

    /// The nodes of a variable.
    pub fn nodes_of(&self, var: VarId) -> BTreeSet<u64> {
        match self.vars.get(&var) {
            Some(Var::Nodes(nodes, _)) => nodes.clone(),
            Some(Var::Values(map)) => map.of.keys().copied().collect(),
            None => BTreeSet::new(),
        }
    }

    /// The values of a variable; one of nodes is refused when it has any.
    pub fn values_of(&self, var: VarId) -> Outcome<ValueMap> {
        match self.vars.get(&var) {
            Some(Var::Values(map)) => Ok(map.clone()),
            Some(Var::Nodes(nodes, _)) if !nodes.is_empty() => refuse("nodes where values belong"),
            _ => Ok(ValueMap::default()),
        }
    }
}
