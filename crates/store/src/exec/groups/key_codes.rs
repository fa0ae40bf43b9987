//! Reads a key of `@groupby` as dense numbers, its codes: two nodes have the same code when they
//! have the same value of the key. So groups are counted in arrays instead of by comparing values.
//!
//! A column of few distinct texts has codes already. The code of a bool, an int or an instant is
//! its distance from the least one, where the range is narrow. The code of a text with a complete
//! index is the position of its token there. All other values are numbered by a hash table as they
//! come. A batch is read as it is stored in the column; the codes of the nodes that changed since
//! the column was built are made beforehand, and replace those that were read.

mod numbering;

use super::partition::INDEX_RATIO;
use crate::exec::choose::column_test::DAY;
use crate::exec::columns::batches::{Members, Overlay, RowFinder, Rows, rows_between};
use crate::exec::columns::number_columns::LIST_RATIO;
use crate::exec::columns::read::{Typed, typed_or_none};
use crate::exec::control::pending::VALUE_ENTRY_BYTES;
use crate::exec::cost;
use crate::exec::cost::is_dense;
use crate::graph::{ChangedNumbers, ChangedTexts, IndexView, LangValues, NO_TEXT, Row, TokenNodes};
use crate::storage::{Array, Values, text_of};
use hexgraph_base::types::{Content, DateTime, ValueRef, ValueType, ordered_bits};
use numbering::{KeyNumbers, mixed};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;
use std::sync::Arc;

/// The code of a node that has no value.
pub(crate) const MISSING: u32 = 0;

/// This many distinct values may have codes without a hash table even where fewer nodes are
/// grouped: a counter for each of them costs less than the hash table.
pub(super) const RANGE_MIN: usize = cost::SETUP.times(2).per(cost::ROW);

/// The least value of a column is looked for where it has at most this many rows for each node,
const ROWS_RATIO: usize = cost::ENTRY.per(cost::SCAN);

/// and that of all rows, which is looked for once for all queries, where it has at most this many.
const ALL_ROWS_SHARE: usize = 1024;

/// The end offsets of all rows are read instead of those of some if there are at most this many
/// times as many rows.
const FULL_RATIO: usize = 2;

/// A key of `@groupby`, read batch by batch.
pub(crate) struct KeyCodes<'a> {
    part: &'a LangValues,
    codes: Codes<'a>,
    /// A number that is greater than all codes, those to come included.
    limit: u64,
    /// The codes of the nodes that changed since the column was built.
    changes: Overlay<u32>,
    finder: RowFinder,
}

/// Where codes come from. All add 1, since 0 is [`MISSING`].
enum Codes<'a> {
    /// The distance of a number from this one, plus 1.
    Narrow(i64),
    /// The codes of the column, plus 1, and the number of its distinct texts.
    Coded(&'a Array<u16>, u32),
    /// Numbers of values by their order of appearance, and whether these are texts. The keys of
    /// other values are those of [`number_of`].
    Numbered(ValueNumbers<'a>, bool),
    /// Codes by node id, from this id on.
    Table(u32, Arc<Vec<u32>>),
}

/// The keys of a batch as they lie in the column, which makes them codes in one step.
#[derive(Clone, Copy)]
pub(crate) enum PlainKeys<'a> {
    /// Numbers of 32 bits, and the one whose code would be 0.
    Small(&'a [i32], i32),
    /// Days, and the one whose code would be 0.
    Days(&'a [i16], i32),
    /// Codes of texts, and how many texts there are: see [`code_of_text`].
    Coded(&'a [u16], u32),
}

/// The code of a text by its code in a column of so many texts. One of a damaged file may be
/// invalid. It stays a group of its own, whose value is then read and refused.
#[inline]
pub(crate) fn code_of_text(code: u16, count: u32) -> u32 {
    u32::from(code).min(count) + 1
}

/// The number of a code in a column whose least number has code 1.
#[inline]
fn number_of_code(least: i64, code: u32) -> i64 {
    least.wrapping_add(i64::from(code)).wrapping_sub(1)
}

/// Distinct values, numbered from 1 on. A short text is the key itself, so that it is not compared
/// where it lies, and so is the number of a value that is no text.
#[derive(Clone, Default)]
struct ValueNumbers<'a> {
    short: KeyNumbers,
    long: FxHashMap<&'a [u8], u32>,
    /// The number of long texts when [`ValueNumbers::growth`] was last called.
    charged: usize,
}

impl<'a> ValueNumbers<'a> {
    fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }

    fn code(&mut self, text: &'a [u8]) -> u32 {
        match packed(text) {
            Some(short) => self.short.number(short, self.long.len()),
            None => self.long_code(text),
        }
    }

    fn long_code(&mut self, text: &'a [u8]) -> u32 {
        let next = self.len() as u32 + 1;
        *self.long.entry(text).or_insert(next)
    }

    /// As [`KeyNumbers::probe`].
    #[inline]
    fn probe(&mut self, text: &'a [u8], out: &mut Vec<u32>) {
        match packed(text) {
            Some(short) => self.short.probe(short, self.long.len(), out),
            None => out.push(self.long_code(text)),
        }
    }

    /// As [`KeyNumbers::growth`].
    fn growth(&mut self) -> usize {
        let grown = self.long.len() - self.charged;
        self.charged += grown;
        self.short.growth() + VALUE_ENTRY_BYTES * grown
    }
}

/// A text of less than 16 bytes as a number that no other text has.
#[inline]
fn packed(text: &[u8]) -> Option<u128> {
    let len = text.len();
    let rest = match len {
        // Both ends are read, which may overlap; together with the length they identify the text.
        8..16 => {
            let (_, last) = text.split_last_chunk::<8>()?;
            let first = u64::from_le_bytes(*text.first_chunk::<8>()?);
            // What follows the first eight bytes, and nothing where that is all.
            let behind = u128::from(u64::from_le_bytes(*last)) >> (8 * (16 - len));
            u128::from(first) | behind << 64
        }
        4..8 => {
            let (_, last) = text.split_last_chunk::<4>()?;
            let first = u32::from_le_bytes(*text.first_chunk::<4>()?);
            u128::from(first) | u128::from(u32::from_le_bytes(*last)) << 32
        }
        1..4 => {
            let at = |position: usize| u128::from(text[position]);
            at(0) | at(len / 2) << 8 | at(len - 1) << 16
        }
        0 => 0,
        _ => return None,
    };
    Some(rest | (len as u128) << 120)
}

/// The first value of a changed node.
enum Changed<'a> {
    Missing,
    Value(ValueRef<'a>),
    /// A value that has another type than the schema says.
    External,
}

impl<'a> Changed<'a> {
    fn of(row: Option<&'a Row>, expected: ValueType) -> Changed<'a> {
        match row.and_then(|row| typed_or_none(row.first(), expected)) {
            None => Changed::Missing,
            Some(Typed::Stored(value)) => Changed::Value(value),
            Some(Typed::Converted(_)) => Changed::External,
        }
    }
}

impl<'a> KeyCodes<'a> {
    /// The codes of some nodes, for values that the schema says are of type `expected`; `None` for
    /// lists, for values of other types, and for types that are compared otherwise. O(changes
    /// between the first and the last node), and at most a walk over the rows between them or over
    /// the index.
    pub(crate) fn new(
        part: &'a LangValues,
        expected: ValueType,
        nodes: Members<'_>,
    ) -> Option<KeyCodes<'a>> {
        let column = part.stored();
        let stored = column.values.value_type()?;
        if column.rows.is_some() || !(stored == expected || stored.is_text() && expected.is_text())
        {
            return None;
        }
        let (codes, limit, changes) = match &column.values {
            Values::Coded { codes, texts, .. }
                if stored.is_text() && texts.len() <= nodes.len().max(RANGE_MIN) =>
            {
                let texts = (0..texts.len()).map(|position| texts.get_bytes(position));
                coded(part, expected, nodes, codes, texts)?
            }
            Values::Text { .. } | Values::Coded { .. } => {
                if !stored.is_text() {
                    return None;
                }
                let by_index = part.complete_index().and_then(|view| by_tokens(part, view, nodes));
                match by_index {
                    Some((codes, limit)) => (codes, limit, Vec::new()),
                    None => interned_texts(part, expected, nodes)?,
                }
            }
            Values::Float(_) | Values::DateTime { .. } => interned_numbers(part, expected, nodes)?,
            Values::Bool(_)
            | Values::SmallInt(_)
            | Values::Int(_)
            | Values::Days(_)
            | Values::SmallTime(_) => match narrow(part, expected, nodes) {
                Some(result) => result,
                None => interned_numbers(part, expected, nodes)?,
            },
            Values::Vector { .. } | Values::Mixed { .. } => return None,
        };
        let changes = Overlay::new(Arc::new(changes));
        let finder = RowFinder::of(&column.subjects, nodes);
        Some(KeyCodes { part, codes, limit, changes, finder })
    }

    /// The same key for another thread, which reads batches of `count` nodes in all, none below
    /// `first`. The thread numbers values by a table of its own, so its codes mean something else
    /// than those of this key beyond the values that have one now.
    pub(crate) fn fork(&self, first: u32, count: usize) -> KeyCodes<'a> {
        let mut limit = self.limit;
        let codes = match &self.codes {
            Codes::Narrow(least) => Codes::Narrow(*least),
            Codes::Coded(codes, count) => Codes::Coded(codes, *count),
            Codes::Numbered(existing, are_texts) => {
                limit = limit.min((existing.len() + count) as u64 + 1);
                Codes::Numbered(existing.clone(), *are_texts)
            }
            Codes::Table(first, codes) => Codes::Table(*first, Arc::clone(codes)),
        };
        let part = self.part;
        KeyCodes {
            part,
            codes,
            limit,
            changes: self.changes.fork(first),
            finder: self.finder.fork(),
        }
    }

    /// True where values are numbered as they come.
    pub(crate) fn numbers_values(&self) -> bool {
        matches!(self.codes, Codes::Numbered(..))
    }

    /// True where values with the same code are the same: instants may have several spellings.
    pub(crate) fn are_values(&self) -> bool {
        !matches!(self.part.stored().values, Values::Days(_) | Values::SmallTime(_))
    }

    /// The value of a code. `None` for values that are numbered as they come, for texts that
    /// changes brought, and for instants of which some changed, since these may have several
    /// spellings.
    pub(crate) fn value_of(&self, code: u32) -> Option<ValueRef<'a>> {
        let (values, is_clean) = (&self.part.stored().values, self.changes.is_empty());
        let unit = match &self.codes {
            Codes::Narrow(least) => number_of_code(*least, code),
            Codes::Coded(_, count) => {
                let is_stored = (1..=*count).contains(&code);
                return is_stored.then(|| values.text_of_code(code as usize - 1))?;
            }
            Codes::Numbered(..) | Codes::Table(..) => return None,
        };
        let instant =
            |seconds| Some(ValueRef::DateTime(DateTime { seconds, nanos: 0, offset_minutes: 0 }));
        match values {
            Values::Bool(_) => Some(ValueRef::Bool(unit != 0)),
            Values::SmallInt(_) | Values::Int(_) => Some(ValueRef::Int(unit)),
            Values::Days(_) => instant(unit.saturating_mul(DAY)).filter(|_| is_clean),
            Values::SmallTime(_) => instant(unit).filter(|_| is_clean),
            Values::Float(_)
            | Values::DateTime { .. }
            | Values::Text { .. }
            | Values::Coded { .. }
            | Values::Vector { .. }
            | Values::Mixed { .. } => None,
        }
    }

    /// Whether one of the codes is that of a [invalid text](code_of_text).
    pub(crate) fn has_invalid(&self) -> bool {
        matches!(self.codes, Codes::Coded(..))
    }

    /// True where a greater value has a greater code.
    pub(crate) fn ascend(&self) -> bool {
        matches!(self.codes, Codes::Narrow(_)) && !self.are_truths()
    }

    /// The ints of some codes; `None` for keys of other types, and where values are numbered as
    /// they come.
    pub(crate) fn ints_of(&self, codes: &[u32]) -> Option<Vec<i64>> {
        let are_ints = matches!(self.part.stored().values, Values::SmallInt(_) | Values::Int(_));
        let Codes::Narrow(least) = &self.codes else { return None };
        are_ints.then(|| codes.iter().map(|code| number_of_code(*least, *code)).collect())
    }

    /// True where [`KeyCodes::ints_of`] has the values.
    pub(crate) fn are_ints(&self) -> bool {
        self.ints_of(&[]).is_some()
    }

    /// True for a key that has no order.
    pub(crate) fn are_truths(&self) -> bool {
        matches!(self.part.stored().values, Values::Bool(_))
    }

    /// A number that is greater than all codes.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// The bytes that the changes and a table of codes take.
    pub(crate) fn byte_len(&self) -> usize {
        let table = if let Codes::Table(_, codes) = &self.codes { codes.len() } else { 0 };
        self.changes.byte_len() + size_of::<u32>() * table
    }

    /// The bytes by which a hash table has grown since the last call.
    pub(crate) fn growth(&mut self) -> usize {
        if let Codes::Numbered(existing, _) = &mut self.codes { existing.growth() } else { 0 }
    }

    /// The keys of a batch as they lie in the column, where they do contiguous, and none has
    /// changed. Then the batch need not be read, or it may be.
    pub(crate) fn plain(&mut self, nodes: &[u32]) -> Option<PlainKeys<'a>> {
        let column = self.part.stored();
        let run = self.finder.run(&column.subjects, nodes)?;
        if !self.changes.is_clean(nodes) {
            return None;
        }
        // The code of the least number is 1. Numbers are as narrow as it, so the distance is right
        // though it wraps.
        Some(match (&self.codes, &column.values) {
            (Codes::Narrow(least), Values::SmallInt(numbers) | Values::SmallTime(numbers)) => {
                PlainKeys::Small(numbers.slice(run), (*least as i32).wrapping_sub(1))
            }
            (Codes::Narrow(least), Values::Days(days)) => {
                PlainKeys::Days(days.slice(run), (*least as i32).wrapping_sub(1))
            }
            (Codes::Coded(codes, count), _) => PlainKeys::Coded(codes.slice(run), *count),
            _ => return None,
        })
    }

    /// Reads the codes of a batch, which comes after those before it, into `out`: one for each
    /// node.
    pub(crate) fn read(&mut self, nodes: &[u32], out: &mut Vec<u32>) {
        out.clear();
        if let Codes::Table(first, codes) = &self.codes {
            out.extend(nodes.iter().map(|node| codes[(node - first) as usize]));
            return;
        }
        let column = self.part.stored();
        let codes = &mut self.codes;
        self.finder.for_each_chunk(&column.subjects, nodes, |rows| {
            match (&mut *codes, &column.values) {
                (Codes::Narrow(least), values) => read_narrow(values, &rows, *least, out),
                (Codes::Coded(codes, count), _) => {
                    rows.read(codes, MISSING, |code| code_of_text(code, *count), out);
                }
                (Codes::Numbered(existing, false), values) => {
                    rows.for_each(|row| match row.and_then(|row| number_of(values.get(row))) {
                        Some(number) => existing.short.probe(number, 0, out),
                        None => out.push(MISSING),
                    })
                }
                (Codes::Numbered(existing, true), values) => {
                    each_text(values, &rows, |text| match text {
                        Some(text) => existing.probe(text, out),
                        None => out.push(MISSING),
                    });
                }
                (Codes::Table(..), _) => {}
            }
        });
        if let Codes::Numbered(existing, _) = &mut self.codes {
            existing.short.settle(existing.long.len(), out);
        }
        self.changes.for_each(nodes, |position, code| out[position] = code);
    }
}

/// Partitions nodes by their values of a key that are numbered as they come: all nodes with the
/// same value are in one partition.
pub(crate) struct Partitioner<'a, 's> {
    part: &'a LangValues,
    are_texts: bool,
    /// The buckets of the existing codes, which changed nodes have; see [`KeyCodes::buckets`].
    buckets: &'s [u16],
    changes: Overlay<u32>,
    finder: RowFinder,
    /// The buckets of a batch.
    batch: Vec<u16>,
}

/// The bucket of a node without a value, which is in none.
const NO_BUCKET: u16 = u16::MAX;

/// The bucket of a number among so many.
fn bucket_of(number: u128, count: usize) -> u16 {
    /// Numbers without a pattern, the fractions of pi.
    const SEEDS: [u64; 2] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344];
    let hash = mixed(number, SEEDS) >> 32;
    ((hash * count as u64) >> 32) as u16
}

/// As [`bucket_of`], of a text.
fn bucket_of_text(text: &[u8], count: usize) -> u16 {
    let number = packed(text).unwrap_or_else(|| FxBuildHasher.hash_one(text).into());
    bucket_of(number, count)
}

impl<'a> KeyCodes<'a> {
    /// The buckets of the values that are numbered by now, by their codes, where there are `count`
    /// buckets.
    pub(crate) fn buckets(&self, count: usize) -> Vec<u16> {
        let mut codes: Vec<(u32, u16)> = Vec::new();
        if let Codes::Numbered(existing, _) = &self.codes {
            codes.extend(existing.short.iter().map(|(it, code)| (code, bucket_of(it, count))));
            let long = existing.long.iter();
            codes.extend(long.map(|(it, code)| (*code, bucket_of_text(it, count))));
        }
        codes.sort_unstable();
        let buckets = codes.into_iter().map(|(_, bucket)| bucket);
        [NO_BUCKET].into_iter().chain(buckets).collect()
    }

    /// A partitioner for batches of nodes from `first` on; `buckets` are those that
    /// [`KeyCodes::buckets`] returned.
    pub(crate) fn partitioner<'s>(&self, first: u32, buckets: &'s [u16]) -> Partitioner<'a, 's> {
        Partitioner {
            part: self.part,
            are_texts: matches!(self.codes, Codes::Numbered(_, true)),
            buckets,
            changes: self.changes.fork(first),
            finder: self.finder.fork(),
            batch: Vec::new(),
        }
    }
}

impl Partitioner<'_, '_> {
    /// Adds the nodes of a batch, which comes after those before it, each to the list of its
    /// bucket. Nodes without a value are left out.
    pub(crate) fn partition(&mut self, nodes: &[u32], partitioned: &mut [Vec<u32>]) {
        let Partitioner { part, are_texts, buckets, changes, finder, batch } = self;
        let column = part.stored();
        let count = partitioned.len();
        batch.clear();
        finder.for_each_chunk(&column.subjects, nodes, |rows| match are_texts {
            true => each_text(&column.values, &rows, |text| {
                batch.push(text.map_or(NO_BUCKET, |text| bucket_of_text(text, count)));
            }),
            false => rows.for_each(|row| {
                let number = row.and_then(|row| number_of(column.values.get(row)));
                batch.push(number.map_or(NO_BUCKET, |number| bucket_of(number, count)));
            }),
        });
        changes.for_each(nodes, |position, code| batch[position] = buckets[code as usize]);
        for (&node, &bucket) in nodes.iter().zip(&*batch) {
            if let Some(list) = partitioned.get_mut(usize::from(bucket)) {
                list.push(node);
            }
        }
    }
}

/// Codes, a number greater than all of them, and those of the nodes that changed.
type Outcome<'a> = (Codes<'a>, u64, Vec<(u32, u32)>);

/// The codes of numbers in a narrow range; `None` where the range is wide or a change does not fit
/// the form of the column.
fn narrow<'a>(
    part: &'a LangValues,
    expected: ValueType,
    nodes: Members<'_>,
) -> Option<Outcome<'a>> {
    let column = part.stored();
    let rows = rows_between(&column.subjects, nodes);
    let is_within = |ratio: usize, rows: usize| rows <= nodes.len().saturating_mul(ratio);
    let mut ends = match &column.values {
        Values::Bool(_) => Some((0, 1)),
        // They are read once for all queries, and for most of the nodes they are hardly less.
        _ if column.values.len() <= FULL_RATIO * rows.len()
            && is_within(ALL_ROWS_SHARE, column.values.len()) =>
        {
            column.min_max()
        }
        values if is_within(ROWS_RATIO, rows.len()) => values.min_max(rows),
        _ => return None,
    };
    let (changes, fits) = changed_units(part, expected, nodes);
    let (first, last) = nodes.ends().unwrap_or((u32::MAX, 0));
    let lies_between = |changed: &&(u32, _)| first <= changed.0 && changed.0 <= last;
    for unit in changes.iter().filter(lies_between).filter_map(|(_, unit)| *unit) {
        let (least, greatest) = ends.unwrap_or((unit, unit));
        ends = Some((least.min(unit), greatest.max(unit)));
    }
    let (least, greatest) = ends.unwrap_or_default();
    let count = usize::try_from(i128::from(greatest) - i128::from(least) + 1).ok()?;
    if !fits || nodes.len().max(RANGE_MIN) < count {
        return None;
    }
    // What others have may lie beyond the range, and is not read.
    let code = |unit: i64| (unit.wrapping_sub(least) as u32).wrapping_add(1);
    let changes = changes.iter().map(|(node, unit)| (*node, unit.map_or(MISSING, code)));
    Some((Codes::Narrow(least), count as u64 + 1, changes.collect()))
}

/// The nodes that changed since a column of narrow numbers was built, some of them perhaps none of
/// these, with the numbers that encode what they have now; and whether all of them fit the form of
/// the column.
fn changed_units(
    part: &LangValues,
    expected: ValueType,
    nodes: Members<'_>,
) -> (ChangedNumbers<i64>, bool) {
    let is_list = expected == ValueType::Int && reads_list(part, nodes);
    if let Some(changes) = part.changed_ints().filter(|_| is_list) {
        return (changes, true);
    }
    let values = &part.stored().values;
    let (mut changes, mut fits) = (Vec::new(), true);
    nodes.changes(part, |node, row| match Changed::of(row, expected) {
        Changed::Missing => changes.push((node, None)),
        Changed::External => fits = false,
        Changed::Value(value) => match unit_of(values, value) {
            Some(unit) => changes.push((node, Some(unit))),
            None => fits = false,
        },
    });
    (Arc::new(changes), fits)
}

/// Whether all changes are read as a list, and not those between some nodes alone off the map.
fn reads_list(part: &LangValues, nodes: Members<'_>) -> bool {
    part.changes_len() < nodes.len().saturating_mul(LIST_RATIO)
}

/// The number as which a column of narrow numbers would store a value; `None` for one that does not
/// fit.
fn unit_of(values: &Values, value: ValueRef<'_>) -> Option<i64> {
    let full = |time: DateTime| (time.nanos == 0).then_some(time.seconds);
    match (values, value) {
        (Values::Bool(_), ValueRef::Bool(truth)) => Some(i64::from(truth)),
        (Values::SmallInt(_) | Values::Int(_), ValueRef::Int(number)) => Some(number),
        (Values::SmallTime(_), ValueRef::DateTime(time)) => full(time),
        (Values::Days(_), ValueRef::DateTime(time)) => {
            let seconds = full(time).filter(|seconds| seconds % DAY == 0)?;
            Some(seconds / DAY)
        }
        _ => None,
    }
}

fn read_narrow(values: &Values, rows: &Rows<'_>, least: i64, out: &mut Vec<u32>) {
    // The least number of a narrow column is as narrow, so the distance is right though it wraps.
    let narrow = least as i32;
    match values {
        Values::Bool(bools) => rows.read(bools, MISSING, |it| u32::from(it != 0) + 1, out),
        Values::Days(days) => {
            let code = |day| i32::from(day).wrapping_sub(narrow) as u32 + 1;
            rows.read(days, MISSING, code, out);
        }
        Values::SmallInt(numbers) | Values::SmallTime(numbers) => {
            rows.read(numbers, MISSING, |it| it.wrapping_sub(narrow) as u32 + 1, out);
        }
        Values::Int(numbers) => {
            rows.read(numbers, MISSING, |it| it.wrapping_sub(least) as u32 + 1, out);
        }
        Values::Float(_)
        | Values::DateTime { .. }
        | Values::Text { .. }
        | Values::Coded { .. }
        | Values::Vector { .. }
        | Values::Mixed { .. } => unreachable!("only the others are read as narrow numbers"),
    }
}

/// The codes of a column that has some, and more for texts that came later; `None` where a change
/// is no text.
fn coded<'a>(
    part: &'a LangValues,
    expected: ValueType,
    nodes: Members<'_>,
    codes: &'a Array<u16>,
    texts: impl ExactSizeIterator<Item = &'a [u8]>,
) -> Option<Outcome<'a>> {
    let count = texts.len() as u32;
    let is_many = expected == ValueType::String && reads_list(part, nodes);
    if let Some(changed) = part.changed_texts().filter(|_| is_many) {
        let (limit, changes) = coded_changes(changed, texts);
        return Some((Codes::Coded(codes, count), limit, changes));
    }
    let changed = changed_texts(part, expected, nodes)?;
    let mut existing: FxHashMap<&[u8], u32> = FxHashMap::default();
    existing.extend(changed.iter().filter_map(|(_, text)| Some(((*text)?, MISSING))));
    let limit = code_all(&mut existing, texts);
    let code =
        |text: Option<&[u8]>| text.and_then(|text| existing.get(text)).map_or(MISSING, |it| *it);
    let changes = changed.into_iter().map(|(node, text)| (node, code(text))).collect();
    Some((Codes::Coded(codes, count), limit, changes))
}

/// A number greater than all codes, and the codes of changes that are numbered texts.
fn coded_changes<'a>(
    changed: ChangedTexts<'_>,
    texts: impl ExactSizeIterator<Item = &'a [u8]>,
) -> (u64, Vec<(u32, u32)>) {
    let mut existing: FxHashMap<&[u8], u32> = FxHashMap::default();
    existing.extend(changed.numbers.keys().map(|text| (text.as_bytes(), MISSING)));
    let limit = code_all(&mut existing, texts);
    let mut codes = vec![MISSING; existing.len()];
    for (text, number) in changed.numbers {
        codes[*number as usize] = existing[text.as_bytes()];
    }
    let code = |number: u32| if number == NO_TEXT { MISSING } else { codes[number as usize] };
    (limit, changed.list.iter().map(|(node, number)| (*node, code(*number))).collect())
}

/// Gives texts their codes: those of the column, and others after these. Returns a number that is
/// greater than all codes.
fn code_all<'t, 'a>(
    existing: &mut FxHashMap<&'t [u8], u32>,
    texts: impl ExactSizeIterator<Item = &'a [u8]>,
) -> u64 {
    // Behind the texts stands the code of invalid ones.
    let mut next = texts.len() as u32 + 2;
    if !existing.is_empty() {
        for (text, code) in texts.zip(1..) {
            if let Some(existing) = existing.get_mut(text) {
                *existing = code;
            }
        }
    }
    for code in existing.values_mut().filter(|code| **code == MISSING) {
        *code = next;
        next += 1;
    }
    next.into()
}

/// The texts of changed nodes; `None` where one has something else.
fn changed_texts<'a>(
    part: &'a LangValues,
    expected: ValueType,
    nodes: Members<'_>,
) -> Option<Vec<(u32, Option<&'a [u8]>)>> {
    let (mut changes, mut are_texts) = (Vec::new(), true);
    nodes.changes(part, |node, row| match Changed::of(row, expected) {
        Changed::Missing => changes.push((node, None)),
        Changed::External => are_texts = false,
        Changed::Value(value) => changes.push((node, text_of(value).map(str::as_bytes))),
    });
    are_texts.then_some(changes)
}

/// Calls `visit` with the text of each of some rows, or `None` where there is none.
#[inline]
fn each_text<'a>(values: &'a Values, rows: &Rows<'_>, mut visit: impl FnMut(Option<&'a [u8]>)) {
    match (values, rows) {
        (Values::Text { texts, .. }, Rows::Run(rows)) => {
            texts.for_each(rows.clone(), |text| visit(Some(text)));
        }
        _ => rows.for_each(|row| visit(row.and_then(|row| bytes_of(values, row)))),
    }
}

/// The bytes of a stored text.
fn bytes_of(values: &Values, row: usize) -> Option<&[u8]> {
    match values {
        Values::Text { texts, .. } => Some(texts.get_bytes(row)),
        Values::Coded { codes, texts, .. } => Some(texts.get_bytes(usize::from(codes.get(row)))),
        Values::SmallInt(_)
        | Values::Int(_)
        | Values::Float(_)
        | Values::Bool(_)
        | Values::Days(_)
        | Values::SmallTime(_)
        | Values::DateTime { .. }
        | Values::Vector { .. }
        | Values::Mixed { .. } => None,
    }
}

fn interned_texts<'a>(
    part: &'a LangValues,
    expected: ValueType,
    nodes: Members<'_>,
) -> Option<Outcome<'a>> {
    let mut existing = ValueNumbers::default();
    let changed = changed_texts(part, expected, nodes)?.into_iter();
    let changes: Vec<_> = changed
        .map(|(node, text)| (node, text.map_or(MISSING, |text| existing.code(text))))
        .collect();
    let limit = (nodes.len() + changes.len()) as u64 + 1;
    Some((Codes::Numbered(existing, true), limit, changes))
}

fn interned_numbers<'a>(
    part: &'a LangValues,
    expected: ValueType,
    nodes: Members<'_>,
) -> Option<Outcome<'a>> {
    let (mut existing, mut changes, mut are_numbers) = (ValueNumbers::default(), Vec::new(), true);
    nodes.changes(part, |node, row| match Changed::of(row, expected) {
        Changed::Missing => changes.push((node, MISSING)),
        Changed::External => are_numbers = false,
        Changed::Value(value) => match number_of(value) {
            Some(number) => changes.push((node, existing.short.number(number, 0))),
            None => are_numbers = false,
        },
    });
    let limit = (nodes.len() + changes.len()) as u64 + 1;
    are_numbers.then_some((Codes::Numbered(existing, false), limit, changes))
}

/// A number that two values have in common if they are of one type and group together.
fn number_of(value: ValueRef<'_>) -> Option<u128> {
    Some(match value.content() {
        Content::Int(number) => u128::from(number as u64),
        Content::Bool(truth) => u128::from(truth),
        Content::Float(number) => u128::from(ordered_bits(number)),
        Content::Time(time) => u128::from(time.seconds as u64) << 32 | u128::from(time.nanos),
        Content::Text(_) | Content::Numbers(_) | Content::Bytes(_) => return None,
    })
}

/// The codes of texts as positions of their tokens, changes included; `None` where few of the nodes
/// with a value are requested, or their ids lie far apart. O(nodes with a value).
fn by_tokens<'a>(
    part: &LangValues,
    view: IndexView<'_>,
    nodes: Members<'_>,
) -> Option<(Codes<'a>, u64)> {
    let (first, last) = nodes.ends()?;
    let span = (last - first) as usize + 1;
    if !is_dense(span, nodes.len())
        || nodes.len().saturating_mul(INDEX_RATIO) < part.subjects().len()
    {
        return None;
    }
    let (mut codes, mut count) = (vec![MISSING; span], 0);
    for token in view.tokens(false) {
        count += 1;
        let mut set = |node: u32| {
            // A node before the first wraps to a position after all others.
            if let Some(code) = codes.get_mut(node.wrapping_sub(first) as usize) {
                *code = count;
            }
        };
        match token {
            TokenNodes::Stored(postings, range) => {
                postings.slice(range).iter().for_each(|node| set(*node));
            }
            TokenNodes::Changed(nodes) => nodes.to_set().iter().for_each(set),
        }
    }
    Some((Codes::Table(first, Arc::new(codes)), u64::from(count) + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        /// Short texts are distinguished by the numbers that encode them, and long ones have none.
        #[test]
        fn short_texts_are_told_apart(texts in prop::collection::vec(prop_oneof!["[ab\0]{0,17}", "\0{0,17}"], 0..300)) {
            let mut existing = HashMap::new();
            for text in &texts {
                let bytes = text.as_bytes();
                let number = packed(bytes);
                prop_assert_eq!(number.is_none(), 16 <= bytes.len());
                if let Some(number) = number {
                    prop_assert_eq!(*existing.entry(number).or_insert(text), text);
                }
            }
        }
    }
}
