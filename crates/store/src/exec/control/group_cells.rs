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
    Texts { text: String, ends: Vec<usize>, are_default: bool },
    /// Any other values.
    Values(Vec<Value>),
}

/// The values of a key for some groups, as a sink takes them.
enum KeyRows<'k> {
    Texts(Vec<Option<&'k str>>),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Bools(Vec<bool>),
    Times(Vec<DateTime>),
}

impl KeyRows<'_> {
    fn cells(&self) -> ObjectCells<'_> {
        match self {
            KeyRows::Texts(texts) => ObjectCells::Some(texts),
            KeyRows::Ints(ints) => ObjectCells::Ints(ints, &[]),
            KeyRows::Floats(floats) => ObjectCells::Floats(floats, &[]),
            KeyRows::Bools(truths) => ObjectCells::Bools(truths, &[]),
            KeyRows::Times(times) => ObjectCells::Times(times, &[]),
        }
    }
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
        let are_default = matches!(first, ValueRef::Default(_));
        match are_default || matches!(first, ValueRef::String(_)) {
            true => KeyCells::Texts { text: String::new(), ends: Vec::new(), are_default },
            false => KeyCells::Values(Vec::new()),
        }
    }

    /// Adds a value, which is of the type of the first one.
    pub(in crate::exec) fn push(&mut self, value: ValueRef<'_>) {
        match (self, value) {
            (
                KeyCells::Texts { text, ends, .. },
                ValueRef::String(more) | ValueRef::Default(more),
            ) => {
                text.push_str(more);
                ends.push(text.len());
            }
            // All values of a key have one type; another value would be an empty text, so that the
            // cells stay in step.
            (KeyCells::Texts { ends, text, .. }, _) => ends.push(text.len()),
            (KeyCells::Values(values), value) => values.push(value.to_value()),
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
            KeyCells::Values(values) => values[position].as_ref(),
        }
    }

    /// The values of some groups as a column; `None` for values of other types, and where not all
    /// are of one.
    fn rows(&self, range: Range<usize>) -> Option<KeyRows<'_>> {
        fn all<'v, T>(values: &'v [Value], of: impl Fn(&'v Value) -> Option<T>) -> Option<Vec<T>> {
            values.iter().map(of).collect()
        }
        let values = match self {
            KeyCells::Texts { text, ends, .. } => {
                let mut start = if range.start == 0 { 0 } else { ends[range.start - 1] };
                let text_to = |end: &usize| Some(&text[mem::replace(&mut start, *end)..*end]);
                return Some(KeyRows::Texts(ends[range].iter().map(text_to).collect()));
            }
            KeyCells::Values(values) => &values[range],
        };
        match values.first()? {
            Value::Int(_) => {
                all(values, |it| if let Value::Int(int) = it { Some(*int) } else { None })
                    .map(KeyRows::Ints)
            }
            Value::Float(_) => {
                all(values, |it| if let Value::Float(float) = it { Some(*float) } else { None })
                    .map(KeyRows::Floats)
            }
            Value::Bool(_) => {
                all(values, |it| if let Value::Bool(truth) = it { Some(*truth) } else { None })
                    .map(KeyRows::Bools)
            }
            Value::DateTime(_) => {
                all(values, |it| if let Value::DateTime(time) = it { Some(*time) } else { None })
                    .map(KeyRows::Times)
            }
            Value::Default(_)
            | Value::String(_)
            | Value::Geo(_)
            | Value::Password(_)
            | Value::BigFloat(_)
            | Value::Vector(_)
            | Value::Binary(_) => None,
        }
    }

    /// The number of cells, which is that of the groups when all were added.
    pub(in crate::exec) fn len(&self) -> usize {
        match self {
            KeyCells::Texts { ends, .. } => ends.len(),
            KeyCells::Values(values) => values.len(),
        }
    }

    /// Puts other cells after these.
    pub(in crate::exec) fn append(&mut self, other: KeyCells) {
        match (self, other) {
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
        }
    }

    /// The bytes that a cell takes, likewise.
    pub(in crate::exec) fn cell_len(&self, position: usize) -> usize {
        match self {
            KeyCells::Texts { ends, .. } => {
                let start = if position == 0 { 0 } else { ends[position - 1] };
                size_of::<usize>() + ends[position] - start
            }
            KeyCells::Values(values) => size_of::<Value>() + values[position].heap_size(),
        }
    }

    /// The same cells in another order: those at the given positions.
    pub(in crate::exec) fn in_order(&self, order: &[u32]) -> KeyCells {
        let Some(&first) = order.first() else { return KeyCells::Values(Vec::new()) };
        let mut cells = KeyCells::new(self.get(first as usize));
        if let (KeyCells::Texts { text, ends, .. }, KeyCells::Texts { text: all, .. }) =
            (&mut cells, self)
        {
            text.reserve(all.len() / self.len() * order.len());
            ends.reserve_exact(order.len());
        }
        order.iter().for_each(|&position| cells.push(self.get(position as usize)));
        cells
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
        let positions = order.iter().map(|&position| position as usize);
        let numbers = match &self.numbers {
            Numbers::Ints(ints) => {
                Numbers::Ints(positions.clone().map(|position| ints[position]).collect())
            }
            Numbers::Floats(floats) => {
                Numbers::Floats(positions.clone().map(|position| floats[position]).collect())
            }
        };
        let has = match self.has.is_empty() {
            true => Vec::new(),
            false => positions.map(|position| self.has[position]).collect(),
        };
        ResultCells { numbers, has }
    }
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

    /// All groups as columns under the labels of their keys and results; `None` where a key is no
    /// text, or two have one label.
    pub(in crate::exec) fn objects<'o>(&'o self, labels: &'o [String]) -> Option<Objects<'o>> {
        if has_twice(labels) {
            return None;
        }
        let (of_keys, of_results) = labels.split_at(self.keys.len());
        let mut columns = Vec::with_capacity(labels.len());
        for (label, cells) in of_keys.iter().zip(&self.keys) {
            let KeyCells::Texts { text, ends, .. } = cells else { return None };
            columns.push((label.as_str(), ObjectCells::Texts(text, ends, &[])));
        }
        for (label, ResultCells { numbers, has }) in of_results.iter().zip(&self.results) {
            let cells = match numbers {
                Numbers::Ints(ints) => ObjectCells::Ints(ints, has),
                Numbers::Floats(floats) => ObjectCells::Floats(floats, has),
            };
            columns.push((label.as_str(), cells));
        }
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
        let keys: Option<Vec<KeyRows<'_>>> =
            self.keys.iter().map(|cells| cells.rows(rows.clone())).collect();
        let Some(keys) = keys else { return false };
        let results = self.results.iter().map(|cells| cells.cells(rows.clone()));
        let cells = keys.iter().map(KeyRows::cells).chain(results);
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
        let values = [Value::Int(1), Value::String("ab".to_owned())];
        for (value, of_one) in values.iter().zip([size_of::<Value>(), 2 + size_of::<usize>()]) {
            let mut cells = KeyCells::new(value.as_ref());
            (0..100).for_each(|_| cells.push(value.as_ref()));
            assert_eq!((cells.len(), cells.heap_size()), (100, 100 * of_one), "{value:?}");
        }
    }
}
