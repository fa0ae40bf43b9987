//! What a block found, as a tree of columns: one level for each selection.
//!
//! Values are not copied into it. A level knows its nodes, an edge field knows the list of targets
//! of each node of its level; values are read from the version when the answer is written.

use crate::graph::Predicate;
use crate::plan::Block;
use crate::plan::Field;
use crate::types::Value;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The result of one block.
pub(crate) struct BlockResult {
    /// The block's place in the plan.
    pub(crate) block: usize,
    /// The nodes in the order of the answer; a node may be there more than once.
    pub(crate) roots: Vec<u32>,
    /// The number of nodes, where they are counted and not listed.
    pub(crate) count: Option<usize>,
    /// The nodes and their fields.
    pub(crate) level: Level,
    /// The groups, with `@groupby` at the root.
    pub(crate) groups: Option<Vec<Group>>,
    /// The paths of a `shortest` block.
    pub(crate) paths: Vec<Path>,
}

/// The nodes of one selection.
#[derive(Default)]
pub(crate) struct Level {
    /// The nodes, ascending, each once.
    pub(crate) nodes: Vec<u32>,
    /// The fields in the order of the answer, `expand` replaced by what it stands for.
    pub(crate) fields: Vec<FieldResult>,
    /// With `@cascade`: whether the node at each place stays.
    pub(crate) alive: Option<Vec<bool>>,
}

/// One field over all nodes of its level.
pub(crate) struct FieldResult {
    /// What was asked for.
    pub(crate) field: Arc<Field>,
    /// What was found.
    pub(crate) data: FieldData,
}

/// What a field found.
pub(crate) enum FieldData {
    /// Nothing, or nothing that shows.
    Nothing,
    /// The uid of each node.
    Uid,
    /// Values, read when they are written.
    Values(ValueField),
    /// Edges with the level below.
    Edges(Box<EdgeField>),
    /// A number for each node of the level.
    Counts(Vec<u64>),
    /// `count(uid)`.
    CountUid,
    /// A value for some nodes.
    Column(Arc<ValueMap>),
    /// Like [`FieldData::Column`], but not shown where the result is normalised without alias.
    Passwords(Vec<bool>),
}

/// A field of values.
pub(crate) struct ValueField {
    /// The predicate.
    pub(crate) predicate: Arc<Predicate>,
    /// With a facet filter: the places of the values that pass, of each node that has any.
    pub(crate) shown: Option<FxHashMap<u32, Vec<usize>>>,
}

impl ValueField {
    /// Whether a facet filter hides all values of a node.
    pub(crate) fn is_hidden(&self, node: u32) -> bool {
        self.shown.as_ref().is_some_and(|shown| !shown.contains_key(&node))
    }

    /// The places of a node's values that are shown.
    pub(crate) fn places(
        &self,
        node: u32,
        count: usize,
    ) -> impl Iterator<Item = usize> + Clone + '_ {
        let shown = self.shown.as_ref();
        let shown = shown.map(|shown| shown.get(&node).map_or(&[][..], Vec::as_slice));
        let count = shown.map_or(count, <[usize]>::len);
        (0..count).map(move |place| shown.map_or(place, |shown| shown[place]))
    }
}

/// A field of edges.
pub(crate) struct EdgeField {
    /// The predicate.
    pub(crate) predicate: Arc<Predicate>,
    /// True when the edges are walked backwards.
    pub(crate) reverse: bool,
    /// Where the targets of each node of the level above start.
    pub(crate) offsets: Vec<u32>,
    /// The targets, in the order of the answer within each node.
    pub(crate) targets: Vec<u32>,
    /// The level below: all targets, each once.
    pub(crate) level: Level,
    /// The groups of each node above, with `@groupby`.
    pub(crate) groups: Option<Vec<Vec<Group>>>,
}

/// One group of `@groupby`.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// The values of the keys, in the order of the text.
    pub(crate) keys: Vec<GroupValue>,
    /// What the body asks for, in the order of the text; `None` where there is none.
    pub(crate) results: Vec<Option<Value>>,
}

/// The value of a group's key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GroupValue {
    /// A node.
    Node(u32),
    /// A value.
    Value(Value),
}

/// One path of `shortest`.
pub(crate) struct Path {
    /// The nodes from start to end.
    pub(crate) nodes: Vec<u32>,
    /// For each hop: the field that it took, as a place in the block's fields.
    pub(crate) hops: Vec<usize>,
    /// The total weight.
    pub(crate) weight: f64,
}

/// About the bytes of a node with its value.
pub(crate) const VALUE_BYTES: usize = size_of::<u32>() + size_of::<Value>();

/// A value for each of some nodes.
#[derive(Debug, Clone, Default)]
pub(crate) struct ValueMap {
    /// The nodes, ascending, each once.
    pub(crate) nodes: Vec<u32>,
    /// Their values.
    pub(crate) values: Column,
    /// A value that every node has, for `count(uid)` and single aggregates.
    pub(crate) constant: Option<Value>,
}

/// Values in plain arrays where their type allows.
#[derive(Debug, Clone)]
pub(crate) enum Column {
    /// Ints.
    Int(Vec<i64>),
    /// Floats.
    Float(Vec<f64>),
    /// Anything.
    Any(Vec<Value>),
}

impl Default for Column {
    fn default() -> Column {
        Column::Any(Vec::new())
    }
}

impl Column {
    /// The number of values.
    pub(crate) fn len(&self) -> usize {
        match self {
            Column::Int(numbers) => numbers.len(),
            Column::Float(numbers) => numbers.len(),
            Column::Any(values) => values.len(),
        }
    }

    /// The value at a place.
    pub(crate) fn get(&self, place: usize) -> crate::types::ValueRef<'_> {
        match self {
            Column::Int(numbers) => crate::types::ValueRef::Int(numbers[place]),
            Column::Float(numbers) => crate::types::ValueRef::Float(numbers[place]),
            Column::Any(values) => values[place].as_ref(),
        }
    }

    /// Adds a value, giving up the plain array when its type is another.
    pub(crate) fn push(&mut self, value: Value) {
        match (&mut *self, value) {
            (Column::Int(numbers), Value::Int(number)) => numbers.push(number),
            (Column::Float(numbers), Value::Float(number)) => numbers.push(number),
            (Column::Any(values), Value::Int(number)) if values.is_empty() => {
                *self = Column::Int(vec![number]);
            }
            (Column::Any(values), Value::Float(number)) if values.is_empty() => {
                *self = Column::Float(vec![number]);
            }
            (Column::Any(values), value) => values.push(value),
            (_, value) => {
                let mut values: Vec<Value> =
                    (0..self.len()).map(|place| self.get(place).to_value()).collect();
                values.push(value);
                *self = Column::Any(values);
            }
        }
    }
}

impl ValueMap {
    /// A value that every node has.
    pub(crate) fn constant(value: Value) -> ValueMap {
        ValueMap { constant: Some(value), ..ValueMap::default() }
    }

    /// Collects pairs that come in ascending order of their nodes.
    pub(crate) fn from_sorted(pairs: impl IntoIterator<Item = (u32, Value)>) -> ValueMap {
        let mut map = ValueMap::default();
        for (node, value) in pairs {
            map.nodes.push(node);
            map.values.push(value);
        }
        map
    }

    /// The value of a node.
    pub(crate) fn get(&self, node: u32) -> Option<crate::types::ValueRef<'_>> {
        if let Some(value) = &self.constant {
            return Some(value.as_ref());
        }
        self.nodes.binary_search(&node).ok().map(|place| self.values.get(place))
    }

    /// True when no node has a value.
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.constant.is_none()
    }

    /// The pairs, ascending by node.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, crate::types::ValueRef<'_>)> {
        self.nodes.iter().enumerate().map(|(place, &node)| (node, self.values.get(place)))
    }
}

impl Level {
    /// Whether the node at a place stays.
    pub(crate) fn is_alive(&self, place: usize) -> bool {
        self.alive.as_ref().is_none_or(|alive| alive[place])
    }

    /// The place of a node that is probably at `guess`: lists are mostly in the level's order.
    pub(crate) fn place_near(&self, node: u32, guess: usize) -> Option<usize> {
        if self.nodes.get(guess) == Some(&node) { Some(guess) } else { self.place(node) }
    }

    /// The place of a node.
    pub(crate) fn place(&self, node: u32) -> Option<usize> {
        // Roots and edges lists often cover a dense level: try the straight guess first.
        let first = *self.nodes.first()?;
        let guess = node.wrapping_sub(first) as usize;
        if self.nodes.get(guess) == Some(&node) {
            return Some(guess);
        }
        self.nodes.binary_search(&node).ok()
    }
}

impl EdgeField {
    /// The targets of the node at a place of the level above.
    pub(crate) fn targets_of(&self, place: usize) -> &[u32] {
        &self.targets[self.offsets[place] as usize..self.offsets[place + 1] as usize]
    }
}

/// True for a block whose result shows under its name.
pub(crate) fn is_visible(block: &Block) -> bool {
    let hidden =
        matches!(block.kind, crate::plan::BlockKind::Hidden | crate::plan::BlockKind::Shortest(_));
    !hidden && block.name != "var"
}
