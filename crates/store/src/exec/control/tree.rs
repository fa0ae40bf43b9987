//! The result of a block as a tree of columns: one level for each selection.
//!
//! Values are not copied into it. A level knows its nodes, an edge field knows the list of targets
//! of each node of its level; values are read from the version when the answer is written.

use super::group_cells::GroupColumns;
use crate::algo::{Graph, Outcome};
use crate::exec::columns::number_columns::Number;
use crate::exec::cost::is_dense;
use crate::graph::{LangValues, Predicate, ValueList};
use crate::storage::{NodeSet, Values};
use hexgraph_base::plan::{Block, BlockKind, Field, FieldKind};
use hexgraph_base::types::{Value, ValueType};
use rustc_hash::FxHashMap;
use std::mem;
use std::sync::Arc;

/// The result of one block.
pub struct BlockResult {
    /// The block's position in the plan.
    pub block: usize,
    /// The nodes in the order of the answer; a node may be there more than once.
    pub roots: Arc<Vec<u32>>,
    /// The number of nodes, where they are counted and not listed.
    pub count: Option<usize>,
    /// The number of nodes that the fields were read of, where they only set variables and the
    /// nodes are not listed.
    pub unlisted: usize,
    /// These nodes, where their values are aggregated by the caller.
    pub set: Option<NodeSet>,
    /// The nodes and their fields.
    pub level: Level,
    /// The groups, with `@groupby` at the root.
    pub groups: Option<RootGroups>,
    /// The paths of a `shortest` block.
    pub paths: Vec<Path>,
    /// The result of an algorithm, where its block has no variable.
    pub algorithm: Option<AlgorithmResult>,
}

/// The result of an algorithm, and the graph to whose node numbers it refers.
pub struct AlgorithmResult {
    /// The graph.
    pub graph: Arc<Graph>,
    /// The result.
    pub result: Outcome,
}

/// The nodes of one selection.
#[derive(Default)]
pub struct Level {
    /// The nodes, ascending, each once; variables have them in common.
    pub nodes: Arc<Vec<u32>>,
    /// The fields in the order of the answer, `expand` replaced by its fields.
    pub fields: Vec<FieldResult>,
    /// With `@cascade`, true at the positions of the nodes that remain.
    pub alive: Option<Vec<bool>>,
}

/// One field over all nodes of its level.
pub struct FieldResult {
    /// The field of the plan.
    pub field: Arc<Field>,
    /// The result of the field.
    pub data: FieldData,
}

/// The result of a field for all nodes of its level.
pub enum FieldData {
    /// The field has no result, or none that is shown.
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
    /// A value for some of the nodes.
    Column(Arc<ValueMap>),
    /// For each node whether the password agrees. Unlike a [`FieldData::Column`] it is not shown
    /// where the result is normalised and the field has no alias.
    Passwords(Vec<bool>),
}

impl FieldData {
    /// The edges of a field of edges.
    pub(in crate::exec) fn edges(&self) -> Option<&EdgeField> {
        if let FieldData::Edges(edges) = self { Some(edges) } else { None }
    }
}

/// A field of values.
pub struct ValueField {
    /// The predicate.
    pub predicate: Arc<Predicate>,
    /// With a facet filter, the positions of the values that pass it, by node; a node without any
    /// is missing. With `@*`, where a node has one value in each language, the positions of the
    /// languages.
    pub shown: Option<FxHashMap<u32, Vec<usize>>>,
    /// True for `l@*` and for `l@en` next to it, which have a key in common.
    pub shares_key: bool,
}

impl Drop for EdgeField {
    /// Drops the levels below one after the other: there may be more of them than a stack has space
    /// for.
    fn drop(&mut self) {
        let is_edges = |result: &FieldResult| matches!(result.data, FieldData::Edges(_));
        if !self.level.fields.iter().any(is_edges) {
            return;
        }
        let mut fields = mem::take(&mut self.level.fields);
        while let Some(mut result) = fields.pop() {
            if let FieldData::Edges(edges) = &mut result.data {
                fields.append(&mut edges.level.fields);
            }
        }
    }
}

impl Level {
    /// Whether there are more than so many levels, this one included. O(levels).
    pub fn is_deeper_than(&self, most: usize) -> bool {
        let mut levels = vec![(self, 1)];
        while let Some((level, depth)) = levels.pop() {
            if most < depth {
                return true;
            }
            let edges = level.fields.iter().filter_map(|result| result.data.edges());
            let below = edges.map(|edges| (&edges.level, depth + 1));
            levels.extend(below.filter(|(level, _)| !level.fields.is_empty()));
        }
        false
    }
}

impl ValueField {
    /// True when a facet filter hides all values of a node.
    pub fn is_hidden(&self, node: u32) -> bool {
        self.shown.as_ref().is_some_and(|shown| !shown.contains_key(&node))
    }

    /// The value of a node in each language in which it has one that is shown, untagged ones
    /// included.
    pub fn in_all_langs(&self, node: u32) -> impl Iterator<Item = (&LangValues, ValueList<'_>)> {
        let shown =
            self.shown.as_ref().map(|shown| shown.get(&node).map_or(&[][..], Vec::as_slice));
        let parts = self.predicate.langs().iter().enumerate();
        let parts = parts.filter(move |(lang, _)| shown.is_none_or(|shown| shown.contains(lang)));
        parts.map(move |(_, part)| (part, part.values(node))).filter(|(_, list)| !list.is_empty())
    }

    /// The positions of a node's values that are shown.
    pub fn positions(&self, node: u32, count: usize) -> impl Iterator<Item = usize> + Clone + '_ {
        let shown = self.shown.as_ref();
        let shown = shown.map(|shown| shown.get(&node).map_or(&[][..], Vec::as_slice));
        let count = shown.map_or(count, <[usize]>::len);
        (0..count).map(move |position| shown.map_or(position, |shown| shown[position]))
    }
}

/// The key of untagged values with which the keys of `@*` begin; `None` for other fields.
pub(crate) fn all_langs_key(field: &Field) -> Option<&str> {
    let FieldKind::Predicate { name, langs, .. } = &field.kind else { return None };
    let is_all = langs.iter().any(|lang| lang == "*");
    is_all.then(|| field.alias.as_deref().unwrap_or(name))
}

/// A field of edges.
pub struct EdgeField {
    /// The predicate.
    pub predicate: Arc<Predicate>,
    /// True when the edges are walked backwards.
    pub reverse: bool,
    /// The position at which the targets of each node of the level above start.
    pub offsets: Vec<u32>,
    /// The targets, in the order of the answer within each node.
    pub targets: Vec<u32>,
    /// The level below: all targets, each once.
    pub level: Level,
    /// The groups of each node above, with `@groupby`.
    pub groups: Option<Vec<Vec<Group>>>,
    /// True where `@cascade` was executed here and below, and the pages are cut.
    pub is_cascaded: bool,
}

/// The groups of the root of a block, in the order of the answer.
pub enum RootGroups {
    /// An object for each group.
    Rows(Vec<Group>),
    /// A list for each key and each result.
    Columns(GroupColumns),
}

impl RootGroups {
    /// The number of groups.
    pub fn len(&self) -> usize {
        match self {
            RootGroups::Rows(groups) => groups.len(),
            RootGroups::Columns(groups) => groups.len(),
        }
    }

    /// True where there is no group.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One group of `@groupby`.
#[derive(Clone, Debug)]
pub struct Group {
    /// The values of the keys, in the order of the text.
    pub keys: Vec<GroupValue>,
    /// The results of the fields in the body, in the order of the text; `None` for one without a
    /// value.
    pub results: Vec<Option<Value>>,
}

/// The value of a group's key.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupValue {
    /// A node.
    Node(u32),
    /// A value.
    Value(Value),
}

/// One path of `shortest`.
pub struct Path {
    /// The nodes from start to end.
    pub nodes: Vec<u32>,
    /// For each hop: the field that it took, as a position in the block's fields.
    pub hops: Vec<usize>,
    /// The total weight.
    pub weight: f64,
}

/// The bytes that are charged for a node with its value.
pub(in crate::exec) const VALUE_BYTES: usize = size_of::<u32>() + size_of::<Value>();

/// The values of some nodes, or one value for all.
#[derive(Debug, Clone, Default)]
pub struct ValueMap {
    /// The nodes, ascending, each once.
    pub nodes: Vec<u32>,
    /// The values, by the position of their node in `nodes`.
    pub values: Column,
    /// A value that every node has, for `count(uid)` and single aggregates.
    pub constant: Option<Value>,
}

/// Values in plain arrays where their type allows.
#[derive(Debug, Clone)]
pub enum Column {
    /// Ints.
    Int(Vec<i64>),
    /// Floats.
    Float(Vec<f64>),
    /// Values of any type.
    Any(Vec<Value>),
}

impl Default for Column {
    fn default() -> Column {
        Column::Any(Vec::new())
    }
}

impl Column {
    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Column::Int(numbers) => numbers.len(),
            Column::Float(numbers) => numbers.len(),
            Column::Any(values) => values.len(),
        }
    }

    /// The value at a position.
    pub fn get(&self, position: usize) -> hexgraph_base::types::ValueRef<'_> {
        match self {
            Column::Int(numbers) => hexgraph_base::types::ValueRef::Int(numbers[position]),
            Column::Float(numbers) => hexgraph_base::types::ValueRef::Float(numbers[position]),
            Column::Any(values) => values[position].as_ref(),
        }
    }

    /// Adds the values of another column, giving up the plain array when their type is another.
    pub fn append(&mut self, other: Column) {
        match (&mut *self, other) {
            // An empty column has no type of its own yet, and takes over the array as it is.
            (Column::Any(values), other) if values.is_empty() => *self = other,
            (Column::Int(numbers), Column::Int(more)) => numbers.extend(more),
            (Column::Float(numbers), Column::Float(more)) => numbers.extend(more),
            (Column::Any(values), Column::Any(more)) => values.extend(more),
            (_, other) => {
                (0..other.len()).for_each(|position| self.push(other.get(position).to_value()));
            }
        }
    }

    /// Adds a value, giving up the plain array when its type is another.
    pub fn push(&mut self, value: Value) {
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
                    (0..self.len()).map(|position| self.get(position).to_value()).collect();
                values.push(value);
                *self = Column::Any(values);
            }
        }
    }
}

/// Looks up many values of a map by their nodes.
pub(in crate::exec) struct Finder<'m> {
    map: &'m ValueMap,
    positions: Positions,
}

/// A lookup of the positions of nodes in a list.
enum Positions {
    /// All ids from the first node on.
    Run(u32),
    /// By the distance from the first node; [`NOWHERE`] for an id that is not in the list.
    Table(u32, Vec<u32>),
    /// By search.
    Search,
}

const NOWHERE: u32 = u32::MAX;

impl<'m> Finder<'m> {
    /// For about so many questions. O(nodes) where there are many.
    pub(in crate::exec) fn new(map: &'m ValueMap, questions: usize) -> Finder<'m> {
        let nodes = &map.nodes;
        let positions = match (nodes.first(), nodes.last()) {
            (Some(&first), Some(&last)) if (last - first) as usize == nodes.len() - 1 => {
                Positions::Run(first)
            }
            (Some(&first), Some(&last))
                // The table costs a pass over its span, which only pays for more lookups than it
                // has nodes.
                if nodes.len() < questions
                    && is_dense((last - first) as usize, nodes.len()) =>
            {
                let mut table = vec![NOWHERE; (last - first) as usize + 1];
                for (node, position) in nodes.iter().zip(0..) {
                    table[(node - first) as usize] = position;
                }
                Positions::Table(first, table)
            }
            _ => Positions::Search,
        };
        Finder { map, positions }
    }

    /// The bytes that are used in addition to the map.
    pub(in crate::exec) fn byte_len(&self) -> usize {
        if let Positions::Table(_, table) = &self.positions {
            size_of_val(table.as_slice())
        } else {
            0
        }
    }

    /// As [`ValueMap::get`].
    #[inline]
    pub(in crate::exec) fn get(&self, node: u32) -> Option<hexgraph_base::types::ValueRef<'m>> {
        let map = self.map;
        // A node before the first one wraps to a position after all others.
        let position = match &self.positions {
            Positions::Search => return map.get(node),
            _ if map.constant.is_some() => return map.get(node),
            Positions::Run(first) => node.wrapping_sub(*first) as usize,
            Positions::Table(first, table) => match table.get(node.wrapping_sub(*first) as usize) {
                None | Some(&NOWHERE) => return None,
                Some(position) => *position as usize,
            },
        };
        (position < map.nodes.len()).then(|| map.values.get(position))
    }
}

impl ValueMap {
    /// A value that every node has.
    pub fn constant(value: Value) -> ValueMap {
        ValueMap { constant: Some(value), ..ValueMap::default() }
    }

    /// The numbers of nodes, which ascend: `None` when the values are no numbers of the requested
    /// type. Those that changed since the column was built replace the stored ones: O(log) for
    /// each, and one pass over the list.
    pub(in crate::exec) fn of_numbers(
        part: &LangValues,
        expected: ValueType,
        nodes: &[u32],
    ) -> Option<ValueMap> {
        let column = part.stored();
        if column.rows.is_some() {
            return None;
        }
        let (nodes, values) = match (&column.values, expected) {
            (Values::SmallInt(ints), ValueType::Int) => {
                let (nodes, ints) =
                    part.numbers_among(nodes, ints.as_slice(), i64::from, i64::of)?;
                (nodes, Column::Int(ints))
            }
            (Values::Int(ints), ValueType::Int) => {
                let (nodes, ints) =
                    part.numbers_among(nodes, ints.as_slice(), |int| int, i64::of)?;
                (nodes, Column::Int(ints))
            }
            (Values::Float(floats), ValueType::Float) => {
                let (nodes, floats) =
                    part.numbers_among(nodes, floats.as_slice(), |float| float, f64::of)?;
                (nodes, Column::Float(floats))
            }
            _ => return None,
        };
        Some(ValueMap { nodes, values, constant: None })
    }

    /// Collects pairs that come in ascending order of their nodes.
    pub fn from_sorted(pairs: impl IntoIterator<Item = (u32, Value)>) -> ValueMap {
        let mut map = ValueMap::default();
        for (node, value) in pairs {
            map.nodes.push(node);
            map.values.push(value);
        }
        map
    }

    /// The value of a node.
    pub fn get(&self, node: u32) -> Option<hexgraph_base::types::ValueRef<'_>> {
        if let Some(value) = &self.constant {
            return Some(value.as_ref());
        }
        self.nodes.binary_search(&node).ok().map(|position| self.values.get(position))
    }

    /// The values of several maps, each with greater nodes than those before it.
    pub fn joined(maps: Vec<ValueMap>) -> ValueMap {
        let mut maps = maps.into_iter();
        let mut all = maps.next().unwrap_or_default();
        for map in maps {
            all.nodes.extend(map.nodes);
            all.values.append(map.values);
        }
        all
    }

    /// True when no node has a value.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.constant.is_none()
    }

    /// The pairs, ascending by node.
    pub fn iter(&self) -> impl Iterator<Item = (u32, hexgraph_base::types::ValueRef<'_>)> {
        self.nodes.iter().enumerate().map(|(position, &node)| (node, self.values.get(position)))
    }
}

impl Level {
    /// True when `@cascade` retains the node at a position.
    pub fn is_alive(&self, position: usize) -> bool {
        self.alive.as_ref().is_none_or(|alive| alive[position])
    }

    /// The position of a node that is probably at `guess`: lists are mostly in the level's order.
    pub fn position_near(&self, node: u32, guess: usize) -> Option<usize> {
        if self.nodes.get(guess) == Some(&node) { Some(guess) } else { self.position(node) }
    }

    /// The position of a node.
    pub fn position(&self, node: u32) -> Option<usize> {
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
    /// True where each node above shows one target at most, which is no list.
    pub fn is_single(&self) -> bool {
        !self.reverse && !self.predicate.def.list
    }

    /// The targets of the node at a position of the level above.
    pub fn targets_of(&self, position: usize) -> &[u32] {
        &self.targets[self.offsets[position] as usize..self.offsets[position + 1] as usize]
    }
}

/// True for a block whose result shows under its name.
pub(in crate::exec) fn is_visible(block: &Block) -> bool {
    let hidden = match block.kind {
        BlockKind::Hidden | BlockKind::Shortest(_) => true,
        BlockKind::Algorithm(_) => block.var.is_some(),
        BlockKind::Visible | BlockKind::Empty => false,
    };
    !hidden && block.name != "var"
}
