//! [`SnapshotLists`]: the edges of one version as lists, for joins.

use super::names::{NamedProperty, PropertyNames, parts_in};
use super::stored_values::to_cypher;
use hexgraph_base::schema::{NODE_TYPE, is_reserved};
use hexgraph_base::types::{Result, Uid, ValueRef, ValueType};
use hexgraph_cypher::{
    Adjacency, Bits, Cell, Dictionary, Lists, PropertyColumn, Truths, TypedCells, Vector,
};
use hexgraph_store::exec::{EdgeTargets, RequestContext};
use hexgraph_store::graph::{Direction, LangValues, Predicate, Version};
use hexgraph_store::storage::{NodeSet, NodeValues, TypedValues, text_of};
use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The visible part of one version, for one request. All threads of the request read it.
pub(super) struct SnapshotLists<'a> {
    version: Arc<Version>,
    context: &'a RequestContext,
    /// By the id of the type: from subjects to objects, and back.
    types: Vec<[StoredLists; 2]>,
    value_predicates: Vec<Arc<Predicate>>,
    names: Arc<PropertyNames>,
    all: OnceLock<NodeSet>,
}

/// One direction of a predicate.
struct StoredLists {
    predicate: Arc<Predicate>,
    is_inverse: bool,
}

impl<'a> SnapshotLists<'a> {
    /// `edges` are the predicates of the types in the order of their ids, `values` those with
    /// values.
    pub(super) fn new(
        version: &Arc<Version>,
        context: &'a RequestContext,
        edges: &[(Arc<str>, Arc<Predicate>)],
        values: &[(Arc<str>, Arc<Predicate>)],
        names: &Arc<PropertyNames>,
    ) -> SnapshotLists<'a> {
        let lists = |(_, predicate): &(_, Arc<Predicate>)| {
            [false, true]
                .map(|is_inverse| StoredLists { predicate: Arc::clone(predicate), is_inverse })
        };
        SnapshotLists {
            version: Arc::clone(version),
            context,
            types: edges.iter().map(lists).collect(),
            value_predicates: values.iter().map(|(_, it)| Arc::clone(it)).collect(),
            names: Arc::clone(names),
            all: OnceLock::new(),
        }
    }

    /// Whether a node has a label, a value or an edge that is visible. Only a node that has nothing
    /// but incoming edges of predicates without `@reverse` costs more than a look into each
    /// predicate.
    pub(super) fn has_node(&self, node: u32, has_label: impl FnOnce() -> bool) -> Result<bool> {
        if let Some(nodes) = self.all.get() {
            return Ok(nodes.contains(node));
        }
        let has_target = |predicate: &Predicate| {
            predicate.direction(true).is_some_and(|inverse| inverse.has(node))
        };
        let is_visible = has_label()
            || self.value_predicates.iter().any(|it| it.has(node))
            || self.types.iter().any(|[it, _]| it.predicate.has(node) || has_target(&it.predicate));
        let has_unsorted =
            || self.types.iter().any(|[it, _]| it.predicate.direction(true).is_none());
        Ok(is_visible || has_unsorted() && self.all_nodes()?.contains(node))
    }

    /// All nodes that have a label, a value or an edge that is visible.
    pub(super) fn all_nodes(&self) -> Result<&NodeSet> {
        if let Some(nodes) = self.all.get() {
            return Ok(nodes);
        }
        let mut nodes = RoaringBitmap::new();
        let edges = self.types.iter().map(|[forward, _]| &forward.predicate);
        for predicate in self.value_predicates.iter().chain(edges) {
            self.context.check()?;
            let scanned =
                predicate.direction(false).filter(|_| predicate.direction(true).is_none());
            let scanned = scanned.map_or(0, |edges| edges.total() as usize * size_of::<u32>());
            let _while_scanned = self.context.charge_while(scanned)?;
            predicate.nodes_into(&mut nodes);
        }
        for name in self.version.schema.types.keys().filter(|name| !is_reserved(name)) {
            nodes_of_type(&self.version, name).or_into(&mut nodes);
        }
        // Types that the schema does not define.
        if let Some(types) = node_types(&self.version) {
            let mut others = types.subjects().to_bitmap();
            others -= &nodes;
            for node in others {
                let is_label = |value| text_of(value).is_some_and(|name| !is_reserved(name));
                if types.values(node).iter().any(is_label) {
                    nodes.insert(node);
                }
            }
        }
        self.context.charge(nodes.serialized_size())?;
        Ok(self.all.get_or_init(|| NodeSet::from(nodes)))
    }
}

/// The nodes of a type.
pub(super) fn nodes_of_type(version: &Version, label: &str) -> NodeSet {
    let types = node_types(version).filter(|_| !is_reserved(label));
    types.and_then(|types| types.nodes_equal(ValueRef::String(label))).unwrap_or_default()
}

/// The names of the types of nodes.
pub(super) fn node_types(version: &Version) -> Option<&LangValues> {
    version.predicate(NODE_TYPE)?.values("")
}

impl StoredLists {
    fn direction(&self) -> Option<&Direction> {
        self.predicate.direction(self.is_inverse)
    }
}

impl Lists for StoredLists {
    fn list(&self, node: u32) -> Cow<'_, [u32]> {
        self.direction().map(|edges| edges.targets(node)).unwrap_or_default()
    }

    fn each(&self, nodes: &[u32], visit: &mut dyn FnMut(usize, &[u32])) {
        if let Some(edges) = self.direction() {
            EdgeTargets::new(edges).for_each_list(nodes, visit);
        }
    }

    fn nodes(&self) -> Vec<u32> {
        self.direction().map(|edges| edges.subjects().to_vec()).unwrap_or_default()
    }

    fn count(&self) -> usize {
        self.direction().map_or(0, Direction::subjects_max)
    }

    fn total(&self) -> u64 {
        self.direction().map_or(0, Direction::total)
    }
}

const SECONDS_A_DAY: i64 = 86_400;

/// What has no code yet.
const NONE: u32 = u32::MAX;

/// A property that a query names, resolved once.
struct StoredProperty<'a> {
    context: &'a RequestContext,
    lang: Box<str>,
    exact: Option<Arc<Predicate>>,
    /// The nodes of the types with fields of this name, and these fields.
    owners: Vec<(NodeSet, Vec<Arc<Predicate>>)>,
    by_day: bool,
    /// For each predicate that was read the codes in the dictionary of the codes of its column.
    codes: Vec<(Arc<Predicate>, Vec<u32>)>,
    /// The code of an instant of each day, with an offset.
    days: FxHashMap<(i64, i16), u32>,
}

impl StoredProperty<'_> {
    /// The predicate that has the values of all of some nodes, if they have any. `None` where these
    /// are several, or it has lists.
    fn predicate_of(&self, nodes: &[u32]) -> Option<Option<&Arc<Predicate>>> {
        let mut owner = None;
        for (members, predicates) in &self.owners {
            let with_label = members.count_among(nodes);
            match (with_label, &predicates[..], &owner) {
                (0, ..) => {}
                // All of them have the field of this type, and none that of another.
                (all, [predicate], None) if all == nodes.len() => {
                    owner = Some(predicate);
                }
                _ => return None,
            }
        }
        let predicate = match (owner, &self.exact) {
            (Some(owner), Some(exact)) if owner.def.name != exact.def.name => return None,
            (owner, exact) => owner.or(exact.as_ref()),
        };
        let is_single =
            predicate.is_none_or(|it| !it.def.list && parts_in(it, &self.lang).len() < 2);
        is_single.then_some(predicate)
    }

    /// The index of the codes of a predicate.
    fn codes_of(&mut self, predicate: &Arc<Predicate>, code_count: usize) -> Result<usize> {
        let is_read = |it: &(Arc<Predicate>, _)| Arc::ptr_eq(&it.0, predicate);
        if let Some(index) = self.codes.iter().position(is_read) {
            return Ok(index);
        }
        self.context.charge(code_count * size_of::<u32>())?;
        self.codes.push((Arc::clone(predicate), vec![NONE; code_count]));
        Ok(self.codes.len() - 1)
    }
}

impl PropertyColumn for StoredProperty<'_> {
    fn vector(&self, nodes: &[u32]) -> Result<Option<Vector<'_>>> {
        let Some(predicate) = self.predicate_of(nodes) else { return Ok(None) };
        let part = predicate.and_then(|it| Some((it, parts_in(it, &self.lang).first()?)));
        let Some((predicate, part)) = part else {
            return Ok(Some(Vector::Constant(Cell::Null, nodes.len())));
        };
        Ok(vector_of(part.first_values(nodes), predicate.def.value_type, nodes.len()))
    }

    fn codes(
        &mut self,
        nodes: &[u32],
        dictionary: &mut Dictionary,
        into: &mut Vec<u32>,
    ) -> Result<bool> {
        let Some(predicate) = self.predicate_of(nodes).map(|it| it.cloned()) else {
            return Ok(false);
        };
        let start = into.len();
        into.resize(start + nodes.len(), 0);
        let Some(predicate) = predicate else { return Ok(true) };
        let Some(part) = parts_in(&predicate, &self.lang).first() else { return Ok(true) };
        let index = self.codes_of(&predicate, part.base.column.values.code_count())?;
        let value_type = predicate.def.value_type;
        let by_day = self.by_day && value_type == ValueType::DateTime;
        let StoredProperty { codes, days, .. } = self;
        let of_codes = &mut codes[index].1;
        let mut result = Ok(());
        part.for_each_first(nodes, |at, value, code| {
            let existing = code.and_then(|code| of_codes.get(code)).filter(|it| **it != NONE);
            let new = match existing {
                Some(existing) => Ok(*existing),
                None => match value() {
                    ValueRef::DateTime(time) if by_day => {
                        let seconds = time.seconds + i64::from(time.offset_minutes) * 60;
                        let day = (seconds.div_euclid(SECONDS_A_DAY), time.offset_minutes);
                        match days.get(&day).copied() {
                            Some(code) => Ok(code),
                            None => code_of(value(), value_type, dictionary).inspect(|code| {
                                days.insert(day, *code);
                            }),
                        }
                    }
                    value => code_of(value, value_type, dictionary),
                },
            };
            match new {
                Ok(new) => {
                    into[start + at] = new;
                    if let Some(of_code) = code.and_then(|code| of_codes.get_mut(code)) {
                        *of_code = new;
                    }
                }
                Err(error) => result = Err(error),
            }
        });
        result.map(|()| true)
    }
}

/// The values of so many nodes; `None` where one is converted first.
fn vector_of(
    NodeValues { values, present }: NodeValues<'_>,
    value_type: ValueType,
    len: usize,
) -> Option<Vector<'_>> {
    let valid = present.map(|words| Bits::new(words, len));
    if valid.as_ref().is_some_and(|it| it.count() == 0) {
        return Some(Vector::Constant(Cell::Null, len));
    }
    let is = |stored| value_type == stored || value_type == ValueType::Default;
    Some(match values {
        TypedValues::Ints(values) if is(ValueType::Int) => {
            Vector::Ints(TypedCells { values, valid })
        }
        TypedValues::Floats(values) if is(ValueType::Float) => {
            Vector::Floats(TypedCells { values, valid })
        }
        TypedValues::Bools(values) if is(ValueType::Bool) => {
            Vector::Bools(Truths::new(Bits::of(&values, |it| *it), valid))
        }
        TypedValues::Times(values) if value_type == ValueType::DateTime => {
            Vector::Times(TypedCells { values, valid })
        }
        TypedValues::Texts(ValueType::String, values) if is(ValueType::String) => {
            Vector::Texts(TypedCells { values, valid })
        }
        TypedValues::Texts(ValueType::Default, values) if is(ValueType::Default) => {
            Vector::Texts(TypedCells { values, valid })
        }
        TypedValues::Any(values) => {
            let is_valid = |at| valid.as_ref().is_none_or(|it| it.get(at));
            let cell = |(at, value)| match is_valid(at) {
                true => cell_of(value, value_type),
                false => Some(Cell::Null),
            };
            Vector::of_cells(values.into_iter().enumerate().map(cell).collect::<Option<_>>()?)
        }
        TypedValues::Ints(_)
        | TypedValues::Floats(_)
        | TypedValues::Bools(_)
        | TypedValues::Times(_)
        | TypedValues::Texts(..) => return None,
    })
}

/// The cell of a stored value; `None` of one that is converted first.
fn cell_of(value: ValueRef<'_>, value_type: ValueType) -> Option<Cell<'_>> {
    match (value, value_type) {
        (ValueRef::Int(number), ValueType::Int | ValueType::Default) => Some(Cell::Int(number)),
        (ValueRef::Float(number), ValueType::Float | ValueType::Default) => {
            Some(Cell::Float(number))
        }
        (ValueRef::String(text), ValueType::String | ValueType::Default)
        | (ValueRef::Default(text), ValueType::Default) => Some(Cell::Text(text)),
        (ValueRef::Bool(truth), ValueType::Bool | ValueType::Default) => Some(Cell::Bool(truth)),
        (ValueRef::DateTime(time), ValueType::DateTime) => Some(Cell::Time(time)),
        _ => None,
    }
}

/// The cell of a facet, whose type is its own.
fn facet_cell(value: Option<ValueRef<'_>>) -> Option<Cell<'_>> {
    value.map_or(Some(Cell::Null), |value| cell_of(value, value.value_type()))
}

/// The code of a stored value.
fn code_of(value: ValueRef<'_>, value_type: ValueType, dictionary: &mut Dictionary) -> Result<u32> {
    Ok(match (value, value_type) {
        (ValueRef::Int(number), ValueType::Int) => dictionary.int(number),
        (ValueRef::Float(number), ValueType::Float) => dictionary.float(number),
        (ValueRef::String(text), ValueType::String) => dictionary.text(text),
        (value, _) => dictionary.value(to_cypher(value, value_type)?),
    })
}

impl Adjacency for SnapshotLists<'_> {
    fn number(&self, node: u64) -> Option<u32> {
        self.version.nodes.node(Uid(node))
    }

    fn node(&self, number: u32) -> u64 {
        self.version.nodes.uid(number).0
    }

    fn all(&self) -> Result<Vec<u32>> {
        let nodes = self.all_nodes()?;
        self.context.charge(nodes.len() * size_of::<u32>())?;
        Ok(nodes.to_vec())
    }

    fn labelled(&self, label: &str) -> Result<Vec<u32>> {
        let nodes = nodes_of_type(&self.version, label);
        self.context.charge(nodes.len() * size_of::<u32>())?;
        Ok(nodes.to_vec())
    }

    fn lists(&self, type_id: u32, inverse: bool) -> Option<&dyn Lists> {
        let lists = &self.types.get(type_id as usize)?[usize::from(inverse)];
        lists.direction().map(|_| lists as &dyn Lists)
    }

    fn property<'g>(&'g self, name: &str, by_day: bool) -> Box<dyn PropertyColumn + 'g> {
        let NamedProperty { lang, exact, owned } = self.names.property(&self.version, name);
        let owners = owned
            .into_iter()
            .map(|(label, predicates)| (nodes_of_type(&self.version, &label), predicates))
            .collect();
        Box::new(StoredProperty {
            context: self.context,
            lang,
            exact,
            owners,
            by_day,
            codes: Vec::new(),
            days: FxHashMap::default(),
        })
    }

    fn relationship_values(
        &self,
        type_id: u32,
        name: &str,
        pairs: &[(u32, u32)],
    ) -> Result<Option<Vector<'_>>> {
        let lists = self.types.get(type_id as usize).and_then(|[lists, _]| lists.direction());
        let Some(edges) = lists.filter(|it| it.has_facets()) else {
            return Ok(Some(Vector::Constant(Cell::Null, pairs.len())));
        };
        let mut cells = Some(Vec::with_capacity(pairs.len()));
        edges.for_each_facet(pairs, name, |value| match (facet_cell(value), &mut cells) {
            (Some(cell), Some(cells)) => cells.push(cell),
            _ => cells = None,
        });
        Ok(cells.map(Vector::of_cells))
    }

    fn check(&self) -> Result<()> {
        self.context.check()
    }

    fn reserve(&self, bytes: usize) -> Result<()> {
        self.context.charge(bytes)
    }

    fn release(&self, bytes: usize) {
        self.context.uncharge(bytes);
    }

    fn threads(&self) -> usize {
        self.context.threads()
    }

    fn parts(
        &self,
        items: usize,
        nanos: usize,
        work: &(dyn Fn(Range<usize>) -> Result<()> + Sync),
    ) -> Result<()> {
        self.context.each_morsel(items, nanos, work)
    }
}
