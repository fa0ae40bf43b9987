//! The groups of a `@groupby` as columns: a list of values for each key and for each field of the
//! body. A million groups are a few large lists so, instead of a million small objects.

use crate::exec::cost::BATCH;
use hexgraph_base::types::{DateTime, ObjectCells, Objects, Sink, Value, ValueRef};
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::mem;
use std::ops::Range;

/// The groups that are handed to a sink at once.
const ROWS: usize = BATCH;

/// Groups as columns. All columns have a cell for each group, in the order of the groups.
pub struct GroupColumns {
    /// The number of groups.
    len: usize,
    keys: Vec<KeyCells>,
    results: Vec<ResultCells>,
}

/// The values of one key for all groups.
pub(in crate::exec) enum KeyCells {
    /// Texts, one after the other, and the byte offset where each ends. `are_default` distinguishes
    /// texts of type `default` from strings.
    Texts {
        text: String,
        ends: Vec<usize>,
        are_default: bool,
    },
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Bools(Vec<bool>),
    Times(Vec<DateTime>),
    /// Values of any other type.
    Values(Vec<Value>),
}

/// The results of a field for all groups.
#[derive(Default)]
pub(in crate::exec) struct ResultCells {
    numbers: Numbers,
    /// Whether each group has a number; empty where all have one. The number of a group without one
    /// is 0 and means nothing.
    has: Vec<bool>,
}

enum Numbers {
    Ints(Vec<i64>),
    Floats(Vec<f64>),
}

impl Default for Numbers {
    fn default() -> Numbers {
        Numbers::Ints(Vec::new())
    }
}

impl Numbers {
    /// So many zeros of the same kind.
    fn zeros(&self, count: usize) -> Numbers {
        match self {
            Numbers::Ints(_) => Numbers::Ints(vec![0; count]),
            Numbers::Floats(_) => Numbers::Floats(vec![0.0; count]),
        }
    }
}

impl KeyCells {
    /// Creates an empty column for values of the type of `first`, which is not added.
    pub(in crate::exec) fn new(first: ValueRef<'_>) -> KeyCells {
        match first {
            ValueRef::Default(_) | ValueRef::String(_) => {
                let are_default = matches!(first, ValueRef::Default(_));
                KeyCells::Texts { text: String::new(), ends: Vec::new(), are_default }
            }
            ValueRef::Int(_) => KeyCells::Ints(Vec::new()),
            ValueRef::Float(_) => KeyCells::Floats(Vec::new()),
            ValueRef::Bool(_) => KeyCells::Bools(Vec::new()),
            ValueRef::DateTime(_) => KeyCells::Times(Vec::new()),
            ValueRef::Geo(_)
            | ValueRef::Password(_)
            | ValueRef::BigFloat(_)
            | ValueRef::Vector(_)
            | ValueRef::Binary(_) => KeyCells::Values(Vec::new()),
        }
    }

    /// Adds a value. All values of a key have one type.
    #[inline]
    pub(in crate::exec) fn push(&mut self, value: ValueRef<'_>) {
        match (self, value) {
            (
                KeyCells::Texts { text, ends, .. },
                ValueRef::String(more) | ValueRef::Default(more),
            ) => {
                text.push_str(more);
                ends.push(text.len());
            }
            (KeyCells::Ints(ints), ValueRef::Int(int)) => ints.push(int),
            (KeyCells::Floats(floats), ValueRef::Float(float)) => floats.push(float),
            (KeyCells::Bools(truths), ValueRef::Bool(truth)) => truths.push(truth),
            (KeyCells::Times(times), ValueRef::DateTime(time)) => times.push(time),
            (KeyCells::Values(values), value) => values.push(value.to_value()),
            (cells, value) => {
                let values = (0..cells.len()).map(|position| cells.get(position).to_value());
                *cells = KeyCells::Values(values.chain([value.to_value()]).collect());
            }
        }
    }

    /// The value of a group.
    pub(in crate::exec) fn get(&self, position: usize) -> ValueRef<'_> {
        match self {
            KeyCells::Texts { text, ends, are_default } => {
                let start = if position == 0 { 0 } else { ends[position - 1] };
                let text = &text[start..ends[position]];
                if *are_default { ValueRef::Default(text) } else { ValueRef::String(text) }
            }
            KeyCells::Ints(ints) => ValueRef::Int(ints[position]),
            KeyCells::Floats(floats) => ValueRef::Float(floats[position]),
            KeyCells::Bools(truths) => ValueRef::Bool(truths[position]),
            KeyCells::Times(times) => ValueRef::DateTime(times[position]),
            KeyCells::Values(values) => values[position].as_ref(),
        }
    }

    /// Whether the values are texts, which have no common width.
    pub(in crate::exec) fn are_texts(&self) -> bool {
        matches!(self, KeyCells::Texts { .. })
    }

    /// All values as a sink takes them; `None` for values of other types.
    fn all(&self) -> Option<ObjectCells<'_>> {
        match self {
            KeyCells::Texts { text, ends, .. } => Some(ObjectCells::Texts(text, ends, &[])),
            cells => cells.numbers(0..cells.len()),
        }
    }

    /// The values of some groups as a sink takes them, if they are of one width.
    fn numbers(&self, range: Range<usize>) -> Option<ObjectCells<'_>> {
        Some(match self {
            KeyCells::Ints(ints) => ObjectCells::Ints(&ints[range], &[]),
            KeyCells::Floats(floats) => ObjectCells::Floats(&floats[range], &[]),
            KeyCells::Bools(truths) => ObjectCells::Bools(&truths[range], &[]),
            KeyCells::Times(times) => ObjectCells::Times(&times[range], &[]),
            KeyCells::Texts { .. } | KeyCells::Values(_) => return None,
        })
    }

    /// The texts of some groups; none for other values.
    fn texts(&self, range: Range<usize>) -> Vec<Option<&str>> {
        let KeyCells::Texts { text, ends, .. } = self else { return Vec::new() };
        let mut start = if range.start == 0 { 0 } else { ends[range.start - 1] };
        ends[range].iter().map(|end| Some(&text[mem::replace(&mut start, *end)..*end])).collect()
    }

    /// The number of cells, which is that of the groups when all were added.
    pub(in crate::exec) fn len(&self) -> usize {
        match self {
            KeyCells::Texts { ends, .. } => ends.len(),
            KeyCells::Ints(ints) => ints.len(),
            KeyCells::Floats(floats) => floats.len(),
            KeyCells::Bools(truths) => truths.len(),
            KeyCells::Times(times) => times.len(),
            KeyCells::Values(values) => values.len(),
        }
    }

    /// Puts other cells after these.
    pub(in crate::exec) fn append(&mut self, other: KeyCells) {
        match (self, other) {
            (KeyCells::Ints(ints), KeyCells::Ints(more)) => ints.extend(more),
            (KeyCells::Floats(floats), KeyCells::Floats(more)) => floats.extend(more),
            (KeyCells::Values(values), KeyCells::Values(more)) => values.extend(more),
            (
                KeyCells::Texts { text, ends, .. },
                KeyCells::Texts { text: more, ends: other, .. },
            ) => {
                let start = text.len();
                text.push_str(&more);
                ends.extend(other.iter().map(|end| start + end));
            }
            (cells, other) => (0..other.len()).for_each(|position| cells.push(other.get(position))),
        }
    }

    /// The bytes that the cells take, for the budget of the request.
    pub(in crate::exec) fn heap_size(&self) -> usize {
        match self {
            KeyCells::Texts { text, ends, .. } => text.len() + size_of::<usize>() * ends.len(),
            KeyCells::Values(values) => {
                size_of_val(values.as_slice()) + values.iter().map(Value::heap_size).sum::<usize>()
            }
            KeyCells::Ints(ints) => size_of_val(ints.as_slice()),
            KeyCells::Floats(floats) => size_of_val(floats.as_slice()),
            KeyCells::Bools(truths) => size_of_val(truths.as_slice()),
            KeyCells::Times(times) => size_of_val(times.as_slice()),
        }
    }

    /// The bytes that a cell takes, likewise.
    pub(in crate::exec) fn cell_len(&self, position: usize) -> usize {
        match self {
            KeyCells::Texts { ends, .. } => {
                let start = if position == 0 { 0 } else { ends[position - 1] };
                size_of::<usize>() + ends[position] - start
            }
            KeyCells::Ints(_) => size_of::<i64>(),
            KeyCells::Floats(_) => size_of::<f64>(),
            KeyCells::Bools(_) => size_of::<bool>(),
            KeyCells::Times(_) => size_of::<DateTime>(),
            KeyCells::Values(values) => size_of::<Value>() + values[position].heap_size(),
        }
    }

    /// The same cells in another order: those at the given positions.
    pub(in crate::exec) fn in_order(&self, order: &[u32]) -> KeyCells {
        match self {
            KeyCells::Ints(ints) => KeyCells::Ints(at(ints, order)),
            KeyCells::Floats(floats) => KeyCells::Floats(at(floats, order)),
            KeyCells::Bools(truths) => KeyCells::Bools(at(truths, order)),
            KeyCells::Times(times) => KeyCells::Times(at(times, order)),
            KeyCells::Values(values) => {
                let values = order.iter().map(|position| values[*position as usize].clone());
                KeyCells::Values(values.collect())
            }
            KeyCells::Texts { text, ends, are_default } => {
                let mut cells = KeyCells::Texts {
                    text: String::with_capacity(text.len() / ends.len().max(1) * order.len()),
                    ends: Vec::with_capacity(order.len()),
                    are_default: *are_default,
                };
                order.iter().for_each(|&position| cells.push(self.get(position as usize)));
                cells
            }
        }
    }
}

impl ResultCells {
    /// The numbers of members as results.
    pub(in crate::exec) fn of_counts(counts: &[u32]) -> ResultCells {
        let numbers = Numbers::Ints(counts.iter().map(|count| i64::from(*count)).collect());
        ResultCells { numbers, has: Vec::new() }
    }

    /// Ints that all groups have.
    pub(in crate::exec) fn of_ints(ints: Vec<i64>) -> ResultCells {
        ResultCells { numbers: Numbers::Ints(ints), has: Vec::new() }
    }

    /// Floats that all groups have.
    pub(in crate::exec) fn of_floats(floats: Vec<f64>) -> ResultCells {
        ResultCells { numbers: Numbers::Floats(floats), has: Vec::new() }
    }

    /// Puts the results of other groups after these. Returns false for numbers of another kind.
    pub(in crate::exec) fn append(&mut self, mut more: ResultCells) -> bool {
        // Without any number a column is of either kind.
        if self.has_none() {
            self.numbers = more.numbers.zeros(self.len());
        } else if more.has_none() {
            more.numbers = self.numbers.zeros(more.len());
        }
        if !self.has.is_empty() || !more.has.is_empty() {
            let (before, all) = (self.len(), self.len() + more.len());
            self.has.resize(before, true);
            self.has.append(&mut more.has);
            self.has.resize(all, true);
        }
        match (&mut self.numbers, more.numbers) {
            (Numbers::Ints(ints), Numbers::Ints(mut more)) => ints.append(&mut more),
            (Numbers::Floats(floats), Numbers::Floats(mut more)) => floats.append(&mut more),
            _ => return false,
        }
        true
    }

    /// Adds the result of the next group. Returns false, with nothing done, for a value that is no
    /// number, or no number of the kind of those before it: then the caller makes rows of the
    /// groups.
    pub(in crate::exec) fn push(&mut self, value: Option<Value>) -> bool {
        let before = self.len();
        if before == 0 && matches!(value, Some(Value::Float(_))) {
            self.numbers = Numbers::Floats(Vec::new());
        }
        match (&mut self.numbers, &value) {
            (Numbers::Ints(ints), Some(Value::Int(int))) => ints.push(*int),
            (Numbers::Floats(floats), Some(Value::Float(float))) => floats.push(*float),
            (Numbers::Ints(ints), None) => ints.push(0),
            (Numbers::Floats(floats), None) => floats.push(0.0),
            // The groups before had no number at all, so the column can still become one of floats.
            (Numbers::Ints(_), Some(Value::Float(float)))
                if self.has.len() == before && !self.has.contains(&true) =>
            {
                let mut floats = vec![0.0; before];
                floats.push(*float);
                self.numbers = Numbers::Floats(floats);
            }
            _ => return false,
        }
        if value.is_none() || !self.has.is_empty() {
            self.has.resize(before, true);
            self.has.push(value.is_some());
        }
        true
    }

    /// Whether no group has a number.
    fn has_none(&self) -> bool {
        self.has.len() == self.len() && !self.has.contains(&true)
    }

    fn len(&self) -> usize {
        match &self.numbers {
            Numbers::Ints(ints) => ints.len(),
            Numbers::Floats(floats) => floats.len(),
        }
    }

    /// Whether no group lacks a number.
    pub(in crate::exec) fn are_all(&self) -> bool {
        self.has.is_empty()
    }

    /// Whether a group has a number.
    pub(in crate::exec) fn has(&self, position: usize) -> bool {
        self.has.get(position).copied().unwrap_or(true)
    }

    /// The numbers of some groups, as a sink takes them.
    fn cells(&self, range: Range<usize>) -> ObjectCells<'_> {
        let has = if self.has.is_empty() { &[][..] } else { &self.has[range.clone()] };
        match &self.numbers {
            Numbers::Ints(ints) => ObjectCells::Ints(&ints[range], has),
            Numbers::Floats(floats) => ObjectCells::Floats(&floats[range], has),
        }
    }

    /// The number of a group.
    fn get(&self, position: usize) -> Option<ValueRef<'_>> {
        self.has(position).then(|| match &self.numbers {
            Numbers::Ints(ints) => ValueRef::Int(ints[position]),
            Numbers::Floats(floats) => ValueRef::Float(floats[position]),
        })
    }

    /// The same cells in another order: those at the given positions.
    pub(in crate::exec) fn in_order(&self, order: &[u32]) -> ResultCells {
        let numbers = match &self.numbers {
            Numbers::Ints(ints) => Numbers::Ints(at(ints, order)),
            Numbers::Floats(floats) => Numbers::Floats(at(floats, order)),
        };
        let has = if self.has.is_empty() { Vec::new() } else { at(&self.has, order) };
        ResultCells { numbers, has }
    }
}

/// The items at some positions.
pub(in crate::exec) fn at<T: Copy>(items: &[T], positions: &[u32]) -> Vec<T> {
    positions.iter().map(|position| items[*position as usize]).collect()
}

/// True where two labels are the same.
fn has_twice(labels: &[String]) -> bool {
    let mut existing = FxHashSet::with_capacity_and_hasher(labels.len(), FxBuildHasher);
    !labels.iter().all(|label| existing.insert(label))
}

impl GroupColumns {
    /// Columns of `len` groups.
    pub(in crate::exec) fn new(
        len: usize,
        keys: Vec<KeyCells>,
        results: Vec<ResultCells>,
    ) -> GroupColumns {
        GroupColumns { len, keys, results }
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True where there is no group.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All groups as columns under the labels of their keys and results; `None` where a key makes
    /// none, or two have one label.
    pub(in crate::exec) fn objects<'o>(&'o self, labels: &'o [String]) -> Option<Objects<'o>> {
        if has_twice(labels) {
            return None;
        }
        let keys: Option<Vec<ObjectCells<'_>>> = self.keys.iter().map(KeyCells::all).collect();
        let results = self.results.iter().map(|cells| cells.cells(0..self.len));
        let cells = keys?.into_iter().chain(results);
        let columns = labels.iter().map(String::as_str).zip(cells).collect();
        Some(Objects { len: self.len, selection: 0, order: None, columns })
    }

    /// Writes some of the groups under the labels of their keys and results: as columns where the
    /// sink takes rows, or else one by one.
    pub(in crate::exec) fn write(
        &self,
        range: Range<usize>,
        labels: &[String],
        sink: &mut dyn Sink,
    ) {
        let takes_rows = sink.takes_rows() && !has_twice(labels);
        for start in range.clone().step_by(ROWS) {
            let rows = start..range.end.min(start + ROWS);
            let is_done = takes_rows && self.write_rows(rows.clone(), labels, sink);
            if !is_done {
                self.write_each(rows, labels, sink);
            }
        }
    }

    /// Hands some of the groups to a sink as columns. Returns false, with nothing done, if a key
    /// makes none, or the sink accepts none.
    fn write_rows(&self, rows: Range<usize>, labels: &[String], sink: &mut dyn Sink) -> bool {
        let texts: Vec<Vec<Option<&str>>> =
            self.keys.iter().map(|cells| cells.texts(rows.clone())).collect();
        let keys = self.keys.iter().zip(&texts).map(|(cells, texts)| {
            if cells.are_texts() {
                Some(ObjectCells::Some(texts))
            } else {
                cells.numbers(rows.clone())
            }
        });
        let keys: Option<Vec<ObjectCells<'_>>> = keys.collect();
        let Some(keys) = keys else { return false };
        let results = self.results.iter().map(|cells| cells.cells(rows.clone()));
        let cells = keys.into_iter().chain(results);
        let columns = labels.iter().map(String::as_str).zip(cells).collect();
        sink.objects(&Objects { len: rows.len(), selection: 0, order: None, columns })
    }

    fn write_each(&self, range: Range<usize>, labels: &[String], sink: &mut dyn Sink) {
        let (of_keys, of_results) = labels.split_at(self.keys.len());
        for position in range {
            sink.begin_object();
            for (label, cells) in of_keys.iter().zip(&self.keys) {
                sink.key(label);
                sink.value(cells.get(position));
            }
            for (label, cells) in of_results.iter().zip(&self.results) {
                if let Some(value) = cells.get(position) {
                    sink.key(label);
                    sink.value(value);
                }
            }
            sink.end_object();
        }
    }

    /// The values of a group: those of its keys, and its results.
    #[cfg(test)]
    pub(in crate::exec) fn row(&self, position: usize) -> (Vec<Value>, Vec<Option<Value>>) {
        let keys = self.keys.iter().map(|cells| cells.get(position).to_value()).collect();
        let result = |cells: &ResultCells| cells.get(position).map(|value| value.to_value());
        (keys, self.results.iter().map(result).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hexgraph_base::types::BigFloat;

    /// Results in parts are those that were pushed one by one, whatever numbers are missing.
    #[test]
    fn parts_are_put_together() {
        let some = [None, Some(Value::Int(3)), Some(Value::Float(0.5)), None];
        for cut in 0..3 * 3 * 3 {
            // Lists of the same kind, with and without numbers, also empty ones.
            let list = |digit: usize| -> Vec<Option<Value>> {
                [&some[..0], &some[..1], &[some[1].clone(), None]][digit % 3].to_vec()
            };
            let parts = [list(cut), list(cut / 3), list(cut / 9)];
            let of = |values: &[Option<Value>]| {
                let mut cells = ResultCells::default();
                values.iter().for_each(|value| assert!(cells.push(value.clone())));
                cells
            };
            let mut together = ResultCells::default();
            parts.iter().for_each(|part| assert!(together.append(of(part))));
            let one_by_one = of(&parts.concat());
            let shown = |cells: &ResultCells| {
                (0..cells.len()).map(|it| format!("{:?}", cells.get(it))).collect::<Vec<_>>()
            };
            assert_eq!(shown(&together), shown(&one_by_one));
            assert_eq!(together.are_all(), one_by_one.are_all());
        }
        let mut ints = ResultCells::of_counts(&[1, 2]);
        let mut floats = ResultCells::default();
        assert!(floats.push(some[2].clone()) && floats.push(None));
        assert!(!ints.append(floats), "ints and floats are no column");
    }

    /// A value without a heap of its own uses memory all the same.
    #[test]
    fn all_cells_take_capacity() {
        let values = [
            Value::Int(1),
            Value::String("ab".to_owned()),
            Value::BigFloat(BigFloat::from_f64(1.0).unwrap()),
        ];
        for (value, of_one) in values.iter().zip([size_of::<i64>(), 2 + size_of::<usize>()]) {
            let mut cells = KeyCells::new(value.as_ref());
            (0..100).for_each(|_| cells.push(value.as_ref()));
            assert_eq!((cells.len(), cells.heap_size()), (100, 100 * of_one), "{value:?}");
        }
    }
}
