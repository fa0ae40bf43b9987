//! Reads the fields of many nodes a batch at a time.
//!
//! A field is read as a column where it has at most one value for a node, which all are in one
//! stored column and of the type that the schema says, so that none has to be converted. Others,
//! lists and choices among languages, are read node by node.

use super::checked_texts::{CheckedTexts, all_texts};
use super::texts::TextChunk;
use crate::exec::columns::batches::{Members, Overlay, RowFinder, Rows};
use crate::exec::columns::number_columns::{NumberColumn, NumberSlice};
use crate::exec::columns::read::{Langs, typed};
use crate::exec::control::limits::COMMON_LEVELS;
use crate::exec::control::pending::CHARGED_BYTES;
use crate::exec::control::stop::RequestContext;
use crate::exec::control::tree::{
    Column, FieldData, FieldResult, Finder, Level, ValueField, ValueMap,
};
use crate::graph::{LangValues, Predicate, Version};
use crate::storage::{Array, FrozenBitmap, TextArray, Values};
use hexgraph_base::answer::{Cell, Cells};
use hexgraph_base::plan::{Field, FieldKind};
use hexgraph_base::types::{DateTime, ObjectCells, Result, Uid, ValueRef, ValueType, stack};
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::sync::Arc;

/// What the values of a field are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueKind {
    Int,
    Float,
    Bool,
    Time,
    Text,
    /// Anything that is read node by node.
    Other,
}

impl ValueKind {
    /// The bytes that a column takes for each node, in addition to the bytes of texts.
    pub(super) fn node_bytes(self) -> usize {
        match self {
            ValueKind::Int | ValueKind::Float | ValueKind::Time => 9,
            ValueKind::Bool => 2,
            ValueKind::Text => 1 + TextChunk::NODE_BYTES,
            ValueKind::Other => 0,
        }
    }
}

/// Where the values of a field are read from.
pub(super) struct Source<'a> {
    from: Origin<'a>,
    buffers: Buffers<'a>,
}

enum Origin<'a> {
    /// The uid of each node.
    Uids(&'a Version),
    /// A number for each node of the level.
    Counts(&'a [u64]),
    /// A truth value for each node of the level.
    Truths(&'a [bool]),
    /// Numbers of nodes that were computed.
    Computed(Arc<Finder<'a>>, ValueKind),
    /// A column of numbers.
    Numbers(NumberColumn<'a>),
    /// A column of texts, truth values or instants.
    Stored(Stored<'a>),
    /// Values that are read node by node.
    Each(Each<'a>),
}

/// The most bytes that a text takes while a batch is read: where it lies, where it ends, and a copy
/// of a short one.
const TEXT_BYTES: usize = 3 * size_of::<usize>() + super::checked_texts::LEN_MAX;

/// Longer texts are not said by their codes.
const CODED_LEN_MAX: usize = 256;

/// The most bytes of a cell, in addition to those of a text.
const CELL_BYTES: usize = 17;

/// How values are read node by node.
#[derive(Clone)]
enum Each<'a> {
    /// The first value, or list of values, in these languages.
    Values(&'a Predicate, &'a [String]),
    /// Values that were computed.
    Computed(Arc<Finder<'a>>),
}

/// What was read of a batch.
#[derive(Default)]
struct Buffers<'a> {
    has: Vec<bool>,
    ints: Vec<i64>,
    floats: Vec<f64>,
    bools: Vec<bool>,
    times: Vec<DateTime>,
    uids: Vec<Uid>,
    texts: Vec<Option<&'a str>>,
    checked: CheckedTexts,
    codes: Vec<u32>,
}

/// A column of texts, truth values or instants.
struct Stored<'a> {
    subjects: &'a FrozenBitmap,
    values: &'a Values,
    kind: ValueKind,
    /// The texts by their codes, those of changed nodes after them; `None` where texts are read one
    /// by one.
    texts: Option<Arc<Vec<&'a str>>>,
    /// What changed nodes have now, and the code of its text.
    changes: Overlay<Option<(ValueRef<'a>, u32)>>,
    finder: RowFinder,
}

/// Whether the objects of a level can be written as columns, as far as can be decided without data:
/// each field gives one value at most, or edges to such a level.
pub(super) fn qualifies(level: &Level) -> bool {
    qualifies_below(level, 1)
}

fn qualifies_below<'l>(level: &'l Level, depth: usize) -> bool {
    stack::require();
    // Deeper ones are written object by object, which needs no call for each.
    if COMMON_LEVELS < depth {
        return false;
    }
    let mut reported = FxHashSet::with_capacity_and_hasher(level.fields.len(), FxBuildHasher);
    let of_field = |result: &'l FieldResult| {
        let field = &*result.field;
        reported.insert(field.key.as_str())
            && match &result.data {
                FieldData::CountUid => false,
                FieldData::Values(values) => is_plain(field, values),
                FieldData::Edges(edges) => {
                    edges.groups.is_none()
                        && field.facets.is_none()
                        && !field.normalize
                        && qualifies_below(&edges.level, depth + 1)
                }
                FieldData::Nothing
                | FieldData::Uid
                | FieldData::Counts(_)
                | FieldData::Column(_)
                | FieldData::Passwords(_) => true,
            }
    };
    level.fields.iter().all(of_field)
}

/// The bytes of a cell in its column, in addition to those of its texts.
fn cell_bytes(cell: &Cell) -> usize {
    let items = if let Cell::List(items) = cell { items.len() } else { 0 };
    CELL_BYTES * (1 + items)
}

fn is_plain(field: &Field, values: &ValueField) -> bool {
    let FieldKind::Predicate { langs, .. } = &field.kind else { return false };
    field.facets.is_none() && values.shown.is_none() && langs.iter().all(|lang| lang != "*")
}

impl<'a> Source<'a> {
    /// The values of a field for the nodes of its level; `Ok(None)` for one without any, and `Err`
    /// for one whose values do not qualify. O(changes between the first and the last node).
    pub(super) fn of(
        version: &'a Version,
        level: &'a Level,
        result: &'a FieldResult,
    ) -> std::result::Result<Option<Source<'a>>, NoColumn> {
        let from = match &result.data {
            FieldData::Uid => Origin::Uids(version),
            FieldData::Counts(counts) => Origin::Counts(counts),
            FieldData::Passwords(answers) => Origin::Truths(answers),
            FieldData::Column(map) => {
                let of_none = level.nodes.last() == Some(&u32::MAX);
                match (&map.constant, &map.values, &result.field.kind) {
                    // One value for all is shown at the node that represents it.
                    (Some(_), _, FieldKind::Val(_)) if !of_none => return Ok(None),
                    (Some(_), ..) => return Err(NoColumn),
                    _ if map.nodes.is_empty() => return Ok(None),
                    (_, Column::Any(_), _) => {
                        let finder = Finder::new(map, level.nodes.len());
                        Origin::Each(Each::Computed(Arc::new(finder)))
                    }
                    (_, Column::Int(_), _) => Origin::computed(map, level, ValueKind::Int),
                    (_, Column::Float(_), _) => Origin::computed(map, level, ValueKind::Float),
                }
            }
            FieldData::Values(values) => match Origin::values(&result.field, values, level)? {
                Some(from) => from,
                None => return Ok(None),
            },
            FieldData::Nothing => return Ok(None),
            FieldData::Edges(_) | FieldData::CountUid => return Err(NoColumn),
        };
        Ok(Some(Source { from, buffers: Buffers::default() }))
    }

    /// The untagged values of a predicate for some nodes, ascending, as [`Source::of`] has those of
    /// a field.
    pub(super) fn untagged(
        predicate: &'a Predicate,
        nodes: &[u32],
    ) -> std::result::Result<Option<Source<'a>>, NoColumn> {
        let from = Origin::of_predicate(predicate, &[], nodes)?;
        Ok(from.map(|from| Source { from, buffers: Buffers::default() }))
    }

    /// The same for the nodes from one on, to be read concurrently with others.
    pub(super) fn fork(&self, first: u32) -> Source<'a> {
        let from = match &self.from {
            Origin::Uids(version) => Origin::Uids(version),
            Origin::Counts(counts) => Origin::Counts(counts),
            Origin::Truths(truths) => Origin::Truths(truths),
            Origin::Computed(finder, kind) => Origin::Computed(Arc::clone(finder), *kind),
            Origin::Numbers(numbers) => Origin::Numbers(numbers.fork(first)),
            Origin::Stored(stored) => Origin::Stored(Stored {
                texts: stored.texts.clone(),
                changes: stored.changes.fork(first),
                finder: RowFinder::default(),
                ..*stored
            }),
            Origin::Each(each) => Origin::Each(each.clone()),
        };
        Source { from, buffers: Buffers::default() }
    }

    /// What the values are.
    pub(super) fn kind(&self) -> ValueKind {
        match &self.from {
            Origin::Uids(_) => ValueKind::Text,
            Origin::Counts(_) => ValueKind::Int,
            Origin::Truths(_) => ValueKind::Bool,
            Origin::Computed(_, kind) => *kind,
            Origin::Numbers(NumberColumn::Int(_)) => ValueKind::Int,
            Origin::Numbers(NumberColumn::Float(_)) => ValueKind::Float,
            Origin::Stored(stored) => stored.kind,
            Origin::Each(_) => ValueKind::Other,
        }
    }

    /// The most bytes that a value takes while a batch is read, on average.
    pub(super) fn cell_len(&self) -> usize {
        let are_texts = matches!(&self.from, Origin::Stored(stored)
            if stored.kind == ValueKind::Text && stored.texts.is_none());
        if are_texts { TEXT_BYTES } else { size_of::<DateTime>() + 1 }
    }

    /// Whether the values can be given to a sink as columns. Geometries are texts in a table alone.
    pub(super) fn is_for_sinks(&self) -> bool {
        match &self.from {
            Origin::Stored(stored) => stored.values.value_type() != Some(ValueType::Geo),
            Origin::Each(_) => false,
            Origin::Uids(_)
            | Origin::Counts(_)
            | Origin::Truths(_)
            | Origin::Computed(..)
            | Origin::Numbers(_) => true,
        }
    }

    /// Adds a cell for each of some nodes: a value of [`ValueKind::Other`]. Returns false where
    /// they make no column. Memory is reserved for some values at a time.
    ///
    /// # Errors
    ///
    /// Those of [`RequestContext::reserve`].
    pub(super) fn push_each(
        &self,
        control: &RequestContext,
        nodes: &[u32],
        cells: &mut Cells,
    ) -> Result<bool> {
        let Origin::Each(each) = &self.from else { return Ok(false) };
        let (mut texts, mut pending) = (String::new(), 0);
        for &node in nodes {
            texts.clear();
            let Ok(cell) = each.cell(node, &mut texts) else { return Ok(false) };
            let cell = cell.unwrap_or(Cell::Null);
            // A growing column doubles.
            pending += 2 * (cell_bytes(&cell) + texts.len());
            if CHARGED_BYTES < pending {
                control.reserve(std::mem::take(&mut pending) as u64)?;
            }
            if cells.push(cell, &texts).is_err() {
                return Ok(false);
            }
        }
        control.reserve(pending as u64)?;
        Ok(true)
    }

    /// Adds the texts of some nodes, as [`Source::read`] reads them, to a chunk, and says which
    /// nodes have one. Returns false where the chunk can't take them. Memory is reserved for texts
    /// before they are copied.
    ///
    /// # Errors
    ///
    /// Those of [`RequestContext::reserve`].
    pub(super) fn push_texts(
        &mut self,
        control: &RequestContext,
        nodes: &[u32],
        position: usize,
        chunk: &mut TextChunk,
        valid: &mut [bool],
    ) -> Result<bool> {
        if let Origin::Stored(stored) = &mut self.from
            && let Values::Text { texts, .. } = stored.values
        {
            return stored.push_texts(control, texts, nodes, chunk, valid);
        }
        chunk.fill(control, valid, self.read(nodes, position))
    }

    /// The bytes that are held in addition to what is read.
    pub(super) fn byte_len(&self) -> usize {
        match &self.from {
            Origin::Computed(finder, _) => finder.byte_len(),
            Origin::Numbers(numbers) => numbers.byte_len(),
            Origin::Stored(stored) => {
                let texts = stored.texts.as_ref().map_or(0, |texts| size_of_val(&texts[..]));
                texts + stored.changes.byte_len()
            }
            Origin::Uids(_) | Origin::Counts(_) | Origin::Truths(_) | Origin::Each(_) => 0,
        }
    }

    /// The values of some nodes, ascending, which come after all that were read before. `position`
    /// is that of the first of them in their level.
    pub(super) fn read(&mut self, nodes: &[u32], position: usize) -> ObjectCells<'_> {
        let Source { from, buffers } = self;
        buffers.has.clear();
        match from {
            Origin::Uids(version) => {
                buffers.uids.clear();
                buffers.uids.extend(nodes.iter().map(|&node| version.nodes.uid(node)));
                ObjectCells::Uids(&buffers.uids)
            }
            Origin::Counts(counts) => {
                let counts = &counts[position..position + nodes.len()];
                buffers.ints.clear();
                buffers.ints.extend(counts.iter().map(|&count| count as i64));
                ObjectCells::Ints(&buffers.ints, &[])
            }
            Origin::Truths(truths) => {
                ObjectCells::Bools(&truths[position..position + nodes.len()], &[])
            }
            Origin::Computed(finder, kind) => read_computed(finder, *kind, nodes, buffers),
            Origin::Numbers(numbers) => match numbers.read(nodes) {
                (NumberSlice::Ints(ints), has) => ObjectCells::Ints(ints, has),
                (NumberSlice::Floats(floats), has) => ObjectCells::Floats(floats, has),
                // Numbers are read as such of 64 bits.
                (NumberSlice::Narrow(_), has) => ObjectCells::Ints(&[], has),
            },
            Origin::Stored(stored) => stored.read(nodes, buffers),
            Origin::Each(_) => ObjectCells::Some(&[]),
        }
    }

    /// As [`Source::read`], of nodes that stand anywhere in their level: at these positions.
    pub(super) fn read_scattered(&mut self, nodes: &[u32], positions: &[u32]) -> ObjectCells<'_> {
        match self.from {
            Origin::Counts(counts) => {
                let ints = &mut self.buffers.ints;
                ints.clear();
                ints.extend(positions.iter().map(|position| counts[*position as usize] as i64));
                ObjectCells::Ints(ints, &[])
            }
            Origin::Truths(truths) => {
                let bools = &mut self.buffers.bools;
                bools.clear();
                bools.extend(positions.iter().map(|position| truths[*position as usize]));
                ObjectCells::Bools(bools, &[])
            }
            Origin::Uids(_)
            | Origin::Computed(..)
            | Origin::Numbers(_)
            | Origin::Stored(_)
            | Origin::Each(_) => self.read(nodes, 0),
        }
    }
}

impl Each<'_> {
    /// What a node has; `None` for nothing. `texts` takes the bytes of texts.
    fn cell(&self, node: u32, texts: &mut String) -> Result<Option<Cell>> {
        let (predicate, langs) = match self {
            Each::Computed(finder) => {
                return Ok(finder.get(node).and_then(|value| Cell::of(value, texts)));
            }
            Each::Values(predicate, langs) => (predicate, langs),
        };
        let expected = predicate.def.value_type;
        if !predicate.def.list {
            let Some(value) = predicate.first_in(langs, node) else { return Ok(None) };
            return Ok(Cell::of(typed(value, expected)?.as_ref(), texts));
        }
        let Some((_, list)) = predicate.values_in(Langs::First(langs), node) else {
            return Ok(None);
        };
        let mut items = Vec::with_capacity(list.len());
        for value in list.iter() {
            items.extend(Cell::of(typed(value, expected)?.as_ref(), texts));
        }
        Ok(Some(Cell::List(items)))
    }
}

/// Says that the values of a field are not read as a column.
pub(super) struct NoColumn;

impl<'a> Origin<'a> {
    fn computed(map: &'a ValueMap, level: &Level, kind: ValueKind) -> Origin<'a> {
        Origin::Computed(Arc::new(Finder::new(map, level.nodes.len())), kind)
    }

    fn values(
        field: &'a Field,
        values: &'a ValueField,
        level: &Level,
    ) -> std::result::Result<Option<Origin<'a>>, NoColumn> {
        let FieldKind::Predicate { langs, .. } = &field.kind else { return Err(NoColumn) };
        Origin::of_predicate(&values.predicate, langs, &level.nodes)
    }

    fn of_predicate(
        predicate: &'a Predicate,
        langs: &'a [String],
        nodes: &[u32],
    ) -> std::result::Result<Option<Origin<'a>>, NoColumn> {
        let part = match langs {
            [] => match predicate.untagged() {
                [] => return Ok(None),
                [part] => Some(part),
                // All languages of a predicate that has lost its `@lang`.
                _ => return Err(NoColumn),
            },
            [lang] if lang != "." => match predicate.values(lang) {
                Some(part) => Some(part),
                None => return Ok(None),
            },
            _ => None,
        };
        let members = Members::List(nodes);
        let expected = predicate.def.value_type;
        if let Some(part) = part.filter(|_| !predicate.def.list) {
            if let Some(numbers) = NumberColumn::new(part, expected, members) {
                return Ok(Some(Origin::Numbers(numbers)));
            }
            if let Some(stored) = Stored::new(part, expected, members) {
                return Ok(Some(Origin::Stored(stored)));
            }
        }
        Ok(Some(Origin::Each(Each::Values(predicate, langs))))
    }
}

fn read_computed<'b>(
    finder: &Finder<'_>,
    kind: ValueKind,
    nodes: &[u32],
    buffers: &'b mut Buffers<'_>,
) -> ObjectCells<'b> {
    let Buffers { has, ints, floats, .. } = buffers;
    let are_floats = kind == ValueKind::Float;
    ints.clear();
    floats.clear();
    for &node in nodes {
        let value = finder.get(node);
        has.push(value.is_some());
        match are_floats {
            true => floats.push(if let Some(ValueRef::Float(it)) = value { it } else { 0.0 }),
            false => ints.push(if let Some(ValueRef::Int(it)) = value { it } else { 0 }),
        }
    }
    if are_floats { ObjectCells::Floats(floats, has) } else { ObjectCells::Ints(ints, has) }
}

impl<'a> Stored<'a> {
    fn new(part: &'a LangValues, expected: ValueType, nodes: Members<'_>) -> Option<Stored<'a>> {
        let column = part.stored();
        let kind = match expected {
            ValueType::Bool => ValueKind::Bool,
            ValueType::DateTime => ValueKind::Time,
            ValueType::String | ValueType::Default | ValueType::Geo => ValueKind::Text,
            ValueType::Int
            | ValueType::Float
            | ValueType::Uid
            | ValueType::Password
            | ValueType::BigFloat
            | ValueType::Vector
            | ValueType::Binary => return None,
        };
        // A text of one of these types is shown as one of the other.
        let fits = |it: ValueType| it == expected || it.is_text() && expected.is_text();
        if column.rows.is_some() || !column.values.value_type().is_some_and(fits) {
            return None;
        }
        let distinct =
            if let Values::Coded { texts, .. } = &column.values { Some(texts) } else { None };
        // A list of more texts than there are nodes costs more than to read those of the nodes.
        let mut texts = distinct.filter(|texts| texts.len() <= nodes.len()).map(all_texts);
        // A batch of long ones is looked at before it is taken.
        texts = texts.filter(|texts| texts.iter().all(|text| text.len() <= CODED_LEN_MAX));
        let (mut changes, mut all_fit) = (Vec::new(), true);
        nodes.changes(part, |node, row| {
            let value = row.map(|row| row.first());
            all_fit &= value.is_none_or(|value| fits(value.value_type()));
            let code = texts.as_ref().map_or(0, |texts| texts.len() as u32);
            if let (Some(texts), Some(value)) = (&mut texts, value.and_then(text_of)) {
                texts.push(value);
            }
            changes.push((node, value.map(|value| (value, code))));
        });
        let changes = Overlay::new(Arc::new(changes));
        let texts = texts.map(Arc::new);
        let (subjects, values) = (&column.subjects, &column.values);
        let stored =
            Stored { subjects, values, kind, texts, changes, finder: RowFinder::default() };
        all_fit.then_some(stored)
    }

    /// Adds texts without a look at them: those that lie contiguously as they are.
    fn push_texts(
        &mut self,
        control: &RequestContext,
        texts: &'a TextArray,
        nodes: &[u32],
        chunk: &mut TextChunk,
        valid: &mut [bool],
    ) -> Result<bool> {
        let rows = self.finder.find(self.subjects, nodes);
        if let Rows::Run(run) = &rows
            && self.changes.is_clean(nodes)
        {
            valid.fill(true);
            return Ok(run.is_empty() || chunk.push_run(control, texts, run.clone())?);
        }
        let result = result_bytes(&rows, |row| texts.get_bytes(row), &mut self.changes, nodes);
        chunk.push(control, valid, result.into_iter())
    }

    fn read<'b>(&'b mut self, nodes: &[u32], buffers: &'b mut Buffers<'a>) -> ObjectCells<'b> {
        match self.values {
            Values::Coded { codes, .. } if self.texts.is_some() => {
                self.read_codes(codes, nodes, buffers)
            }
            Values::Coded { .. } | Values::Text { .. } => self.read_texts(nodes, buffers),
            Values::Bool(_) | Values::Days(_) | Values::SmallTime(_) | Values::DateTime { .. } => {
                self.read_fixed(nodes, buffers)
            }
            Values::SmallInt(_)
            | Values::Int(_)
            | Values::Float(_)
            | Values::Vector { .. }
            | Values::Mixed { .. } => unreachable!("these are no origin of this kind"),
        }
    }

    /// Texts that are said by their positions in the list.
    fn read_codes<'b>(
        &'b mut self,
        stored: &Array<u16>,
        nodes: &[u32],
        buffers: &'b mut Buffers<'a>,
    ) -> ObjectCells<'b> {
        let codes = &mut buffers.codes;
        codes.clear();
        self.finder.find(self.subjects, nodes).read(stored, ObjectCells::NONE, u32::from, codes);
        self.changes.for_each(nodes, |position, change| {
            codes[position] = change.map_or(ObjectCells::NONE, |(_, code)| code);
        });
        ObjectCells::Coded(codes, self.texts.as_ref().map_or(&[], |texts| texts))
    }

    /// Texts as they are: where they are stored, or a copy of short ones, whichever is read and
    /// checked sooner.
    fn read_texts<'b>(
        &'b mut self,
        nodes: &[u32],
        buffers: &'b mut Buffers<'a>,
    ) -> ObjectCells<'b> {
        let Buffers { checked, texts: plain, .. } = buffers;
        let values = self.values;
        let rows = self.finder.find(self.subjects, nodes);
        let before = self.changes.position();
        let result = match values {
            Values::Text { texts, .. } => {
                if let Rows::Run(run) = &rows
                    && self.changes.is_clean(nodes)
                {
                    return checked.of_run(texts, run.clone());
                }
                result_bytes(&rows, |row| texts.get_bytes(row), &mut self.changes, nodes)
            }
            Values::Coded { codes, texts, .. } => {
                let of_row = |row| texts.get_bytes(usize::from(codes.get(row)));
                result_bytes(&rows, of_row, &mut self.changes, nodes)
            }
            Values::SmallInt(_)
            | Values::Int(_)
            | Values::Float(_)
            | Values::Bool(_)
            | Values::Days(_)
            | Values::SmallTime(_)
            | Values::DateTime { .. }
            | Values::Vector { .. }
            | Values::Mixed { .. } => unreachable!("only texts are read here"),
        };
        if checked.fill(&result) {
            return checked.cells();
        }
        plain.clear();
        rows.for_each(|row| plain.push(row.and_then(|row| text_of(values.get(row)))));
        // They were passed over with the bytes.
        self.changes.go_back(before);
        self.changes.for_each(nodes, |position, change| {
            plain[position] = change.and_then(|(value, _)| text_of(value));
        });
        ObjectCells::Some(plain)
    }

    /// Truth values and instants.
    fn read_fixed<'b>(
        &'b mut self,
        nodes: &[u32],
        buffers: &'b mut Buffers<'a>,
    ) -> ObjectCells<'b> {
        let values = self.values;
        let Stored { subjects, changes, finder, .. } = self;
        let Buffers { has, bools, times, .. } = buffers;
        let rows = finder.find(subjects, nodes);
        let is_run = matches!(rows, Rows::Run(_));
        if !is_run {
            rows.for_each(|row| has.push(row.is_some()));
        }
        let changes = |visit: &mut dyn FnMut(usize, ValueRef<'a>)| {
            changes.for_each(nodes, |position, change| {
                if has.is_empty() && change.is_none() {
                    has.resize(nodes.len(), true);
                }
                if let Some(has) = has.get_mut(position) {
                    *has = change.is_some();
                }
                if let Some((value, _)) = change {
                    visit(position, value);
                }
            });
        };
        if let Values::Bool(stored) = values {
            bools.clear();
            rows.read(stored, false, |truth| truth != 0, bools);
            let mut changes = changes;
            changes(&mut |position, value| bools[position] = value == ValueRef::Bool(true));
            return ObjectCells::Bools(bools, has);
        }
        read_times(values, &rows, times);
        let mut changes = changes;
        changes(&mut |position, value| {
            if let ValueRef::DateTime(time) = value {
                times[position] = time;
            }
        });
        ObjectCells::Times(times, has)
    }
}

/// The time that stands where there is none.
const NO_TIME: DateTime = DateTime { seconds: 0, nanos: 0, offset_minutes: 0 };

fn read_times(values: &Values, rows: &Rows<'_>, times: &mut Vec<DateTime>) {
    times.clear();
    if let Values::SmallTime(stored) = values {
        let of = |seconds: i32| DateTime { seconds: seconds.into(), ..NO_TIME };
        return rows.read(stored, NO_TIME, of, times);
    }
    rows.for_each(|row| {
        let value = row.map(|row| values.get(row));
        times.push(if let Some(ValueRef::DateTime(time)) = value { time } else { NO_TIME });
    });
}

/// The bytes of the text of each node, none of which is looked at here: so the positions of many
/// are fetched from memory at once.
fn result_bytes<'a>(
    rows: &Rows<'_>,
    of_row: impl Fn(usize) -> &'a [u8],
    changes: &mut Overlay<Option<(ValueRef<'a>, u32)>>,
    nodes: &[u32],
) -> Vec<Option<&'a [u8]>> {
    let mut result = Vec::with_capacity(nodes.len());
    rows.for_each(|row| result.push(row.map(&of_row)));
    changes.for_each(nodes, |position, change| {
        result[position] = change.and_then(|(value, _)| text_of(value)).map(str::as_bytes);
    });
    result
}

/// The text that a value is.
fn text_of(value: ValueRef<'_>) -> Option<&str> {
    match value {
        ValueRef::String(text) | ValueRef::Default(text) | ValueRef::Geo(text) => Some(text),
        ValueRef::Int(_)
        | ValueRef::Float(_)
        | ValueRef::Bool(_)
        | ValueRef::DateTime(_)
        | ValueRef::Password(_)
        | ValueRef::BigFloat(_)
        | ValueRef::Vector(_)
        | ValueRef::Binary(_) => None,
    }
}
