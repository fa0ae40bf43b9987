//! Answers as Python's own objects, equal to what `json.loads` makes of the JSON.

use super::json::Keys;
use hexgraph::db::{Canceller, RequestContext};
use hexgraph_base::answer::NamePositions;
use hexgraph_base::types::{
    DateTime, ObjectCells, ObjectLists, Objects, ShowValues, Sink, Uid, ValueRef, stack,
};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyModule, PyString, PyTuple};
use std::cell::Cell;
use std::collections::BTreeMap;

/// The number of values that are created between two looks at Python's signals, and before its
/// collector is stopped.
const SIGNALS_INTERVAL: usize = 1 << 16;

/// A sink that builds dicts and lists.
pub(crate) struct DictSink<'a, 'py> {
    py: Python<'py>,
    open: Vec<Open<'py>>,
    keys: Keys<'py>,
    maker: Maker<'py>,
    values: usize,
    collector: Option<StoppedCollector<'py>>,
    root: Option<Bound<'py, PyAny>>,
    rows: Option<Rows<'py>>,
    fault: &'a Fault,
}

/// The block whose objects become tuples.
struct Rows<'py> {
    block: String,
    columns: Vec<String>,
    positions: NamePositions,
    /// The cells of the row at hand, by column.
    cells: Vec<Option<Bound<'py, PyAny>>>,
    /// The column of the next value.
    column: usize,
    /// Whether the writer is in the block.
    is_here: bool,
    /// Whether a later row has brought a new key.
    has_grown: bool,
}

/// Makes objects of the values of columns.
#[derive(Default)]
struct Maker<'py> {
    /// Whether uids are ints, and not texts.
    int_uids: bool,
    /// Whether the first instant of the year 1 is written as others are, and not as JSON has it: as
    /// an empty text.
    all_times: bool,
    /// The texts that columns of a block say by their positions in a list, by selection and column,
    /// and then by their positions.
    texts: BTreeMap<(usize, usize), Vec<Option<Bound<'py, PyAny>>>>,
    /// The text of a time.
    time: Vec<u8>,
}

/// Objects whose values are made.
struct MadeObjects<'o, 'py> {
    columns: Vec<(Bound<'py, PyString>, MadeColumn<'o, 'py>)>,
}

enum MadeColumn<'o, 'py> {
    /// The value of each object, `None` for one that has none.
    Values(Vec<Option<Bound<'py, PyAny>>>),
    Lists(&'o ObjectLists<'o>, MadeObjects<'o, 'py>),
}

impl<'py> Maker<'py> {
    fn objects<'o>(
        &mut self,
        py: Python<'py>,
        keys: &mut Keys<'py>,
        objects: &'o Objects<'o>,
    ) -> PyResult<MadeObjects<'o, 'py>> {
        stack::require();
        let columns = objects.columns.iter().enumerate().map(|(position, (name, cells))| {
            let column = match cells {
                ObjectCells::Lists(lists) => {
                    MadeColumn::Lists(lists, self.objects(py, keys, &lists.objects)?)
                }
                _ => {
                    let column = (objects.selection, position);
                    MadeColumn::Values(self.column(py, column, cells, objects.len)?)
                }
            };
            Ok((keys.find(py, name), column))
        });
        Ok(MadeObjects { columns: columns.collect::<PyResult<_>>()? })
    }

    /// The value of each object, `None` for one that has none. `column` is identified by its
    /// selection and its index.
    fn column(
        &mut self,
        py: Python<'py>,
        column: (usize, usize),
        cells: &ObjectCells<'_>,
        len: usize,
    ) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
        let mut made = Vec::with_capacity(len);
        let Maker { int_uids, all_times, texts, time } = self;
        match cells {
            ObjectCells::Coded(codes, all) => {
                let existing = texts.entry(column).or_default();
                existing.resize(all.len(), None);
                made.extend(codes[..len].iter().map(|&code| {
                    // The code of an object without a text is beyond any list, so it finds none
                    // here.
                    let text = existing.get_mut(code as usize)?;
                    let make = || PyString::new(py, all[code as usize]).into_any();
                    Some(text.get_or_insert_with(make).clone())
                }));
            }
            ObjectCells::Uids(uids) => {
                for uid in &uids[..len] {
                    made.push(Some(uid_of(py, *uid, *int_uids)?));
                }
            }
            ObjectCells::Texts(all, offsets, []) => {
                let mut start = 0;
                made.extend(offsets[..len].iter().map(|&end| {
                    let text = &all[std::mem::replace(&mut start, end)..end];
                    Some(PyString::new(py, text).into_any())
                }));
            }
            ObjectCells::Ints(ints, []) => {
                made.extend(ints[..len].iter().map(|&int| Some(PyInt::new(py, int).into_any())));
            }
            _ => made.extend((0..len).map(|position| one(py, cells, position, *all_times, time))),
        }
        Ok(made)
    }
}

impl<'py> MadeObjects<'_, 'py> {
    /// The dict of an object; `None` where it has none of the values, so that it is left out, as in
    /// JSON.
    fn dict(&self, py: Python<'py>, position: usize) -> PyResult<Option<Bound<'py, PyDict>>> {
        let mut dict = None;
        for (name, column) in &self.columns {
            let value = match column {
                MadeColumn::Values(values) => values[position].clone(),
                MadeColumn::Lists(lists, below) => list_of(py, lists, below, position)?,
            };
            if let Some(value) = value {
                dict.get_or_insert_with(|| PyDict::new(py)).set_item(name, value)?;
            }
        }
        Ok(dict)
    }
}

impl<'py> MadeColumn<'_, 'py> {
    /// What each object has, in their order.
    fn in_order(
        self,
        py: Python<'py>,
        objects: &Objects<'_>,
    ) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
        match (self, objects.order) {
            (MadeColumn::Values(values), None) => Ok(values),
            (MadeColumn::Values(values), Some(order)) => {
                Ok(order.iter().map(|position| values[*position as usize].clone()).collect())
            }
            (MadeColumn::Lists(lists, below), _) => {
                objects.positions().map(|position| list_of(py, lists, &below, position)).collect()
            }
        }
    }
}

/// The list of an object, or the only object in it; `None` where nothing is left.
fn list_of<'py>(
    py: Python<'py>,
    lists: &ObjectLists<'_>,
    below: &MadeObjects<'_, 'py>,
    position: usize,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    stack::require();
    let mut list = None;
    for &item in lists.of(position) {
        let Some(dict) = below.dict(py, item as usize)? else { continue };
        if !lists.is_list {
            return Ok(Some(dict.into_any()));
        }
        // Each position gets a dict of its own: whoever changes one changes no other.
        list.get_or_insert_with(|| PyList::empty(py)).append(dict)?;
    }
    Ok(list.map(Bound::into_any))
}

/// A uid as Python has it.
fn uid_of(py: Python<'_>, uid: Uid, is_int: bool) -> PyResult<Bound<'_, PyAny>> {
    if is_int {
        return Ok(uid.0.into_pyobject(py)?.into_any());
    }
    Ok(PyString::from_bytes(py, uid.text().as_bytes())?.into_any())
}

/// The value of an object as an object of Python. `buffer` is for the text of a time.
fn one<'py>(
    py: Python<'py>,
    cells: &ObjectCells<'_>,
    position: usize,
    all_times: bool,
    buffer: &mut Vec<u8>,
) -> Option<Bound<'py, PyAny>> {
    if !cells.has(position) {
        return None;
    }
    Some(match cells {
        ObjectCells::Ints(ints, _) => PyInt::new(py, ints[position]).into_any(),
        ObjectCells::Floats(floats, _) => PyFloat::new(py, floats[position]).into_any(),
        ObjectCells::Bools(truths, _) => PyBool::new(py, truths[position]).to_owned().into_any(),
        ObjectCells::Times(times, _) => {
            buffer.clear();
            write_time(times[position], all_times, buffer);
            PyString::new(py, &String::from_utf8_lossy(buffer)).into_any()
        }
        _ => PyString::new(py, cells.text(position)?).into_any(),
    })
}

/// Writes an instant as answers have it: the first of the year 1 as an empty text unless
/// `all_times` is true.
fn write_time(time: DateTime, all_times: bool, text: &mut Vec<u8>) {
    if all_times || !time.is_zero() {
        time.write(text);
    }
}

/// What Python raised while an answer was written: no memory, or a signal. Raising it stops the
/// request of the control.
pub(crate) struct Fault {
    raised: Cell<Option<PyErr>>,
    canceller: Canceller,
}

impl Fault {
    /// Creates the state in which nothing has been raised.
    pub(crate) fn new(control: &RequestContext) -> Fault {
        Fault { raised: Cell::new(None), canceller: control.canceller() }
    }

    /// Takes out the exception that was raised.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.raised.take()
    }

    fn raise(&self, error: PyErr) {
        self.raised.set(Some(error));
        self.canceller.cancel();
    }
}

/// Python's collector of cycles, stopped until this is dropped. It looks at all containers again
/// and again while their number grows, which takes twice as long as to make them, and nothing of an
/// answer that is being made is garbage.
struct StoppedCollector<'py>(Bound<'py, PyModule>);

impl<'py> StoppedCollector<'py> {
    /// Stops it; `None` where it was stopped by somebody else.
    fn new(py: Python<'py>) -> Option<StoppedCollector<'py>> {
        let gc = py.import("gc").ok()?;
        let is_enabled = gc.call_method0("isenabled").and_then(|it| it.is_truthy());
        if !is_enabled.unwrap_or(false) || gc.call_method0("disable").is_err() {
            return None;
        }
        Some(StoppedCollector(gc))
    }
}

impl Drop for StoppedCollector<'_> {
    fn drop(&mut self) {
        // It takes no arguments and does not fail; an error has no receiver here.
        let _ = self.0.call_method0("enable");
    }
}

struct Open<'py> {
    container: Container<'py>,
    /// The key that the container itself has where it stands.
    key: Option<Bound<'py, PyString>>,
    /// The key of the next value in it.
    next_key: Option<Bound<'py, PyString>>,
    is_empty: bool,
}

enum Container<'py> {
    Dict(Bound<'py, PyDict>),
    List(Bound<'py, PyList>),
    /// The cells are those of [`Rows`].
    Row,
}

impl<'a, 'py> DictSink<'a, 'py> {
    /// Creates an empty sink.
    pub(crate) fn new(py: Python<'py>, fault: &'a Fault) -> DictSink<'a, 'py> {
        DictSink {
            py,
            open: Vec::new(),
            keys: Keys::default(),
            maker: Maker::default(),
            values: 0,
            collector: None,
            root: None,
            rows: None,
            fault,
        }
    }

    /// A sink that makes a tuple of each object of a block: its values in the order of `columns`,
    /// and those of other keys after them.
    pub(crate) fn of_rows(
        py: Python<'py>,
        fault: &'a Fault,
        block: String,
        columns: Vec<String>,
    ) -> DictSink<'a, 'py> {
        let cells = vec![None; columns.len()];
        let positions = NamePositions::default();
        let (column, is_here, has_grown) = (0, false, false);
        let rows = Rows { block, columns, positions, cells, column, is_here, has_grown };
        DictSink { rows: Some(rows), ..DictSink::new(py, fault) }
    }

    /// The same with uids as ints where `int_uids` is true.
    pub(crate) fn with_int_uids(mut self, int_uids: bool) -> DictSink<'a, 'py> {
        self.maker.int_uids = int_uids;
        self
    }

    /// The same with all times as rows and tables have them, where `all_times` is true.
    pub(crate) fn with_all_times(mut self, all_times: bool) -> DictSink<'a, 'py> {
        self.maker.all_times = all_times;
        self
    }

    /// Returns the tuples that were written, all of one length.
    pub(crate) fn finish_rows(self) -> PyResult<Bound<'py, PyList>> {
        let py = self.py;
        let Some(rows) = &self.rows else { return Ok(PyList::empty(py)) };
        let (block, width, has_grown) = (rows.block.clone(), rows.columns.len(), rows.has_grown);
        let result = self.finish().cast_into::<PyDict>()?.get_item(block)?;
        let Some(result) = result else { return Ok(PyList::empty(py)) };
        let list = result.cast_into::<PyList>()?;
        if !has_grown {
            return Ok(list);
        }
        for (position, row) in list.iter().enumerate() {
            let row = row.cast_into::<PyTuple>()?;
            // A row that was written before some later one brought a new key is too short.
            if row.len() < width {
                let missing = (row.len()..width).map(|_| py.None().into_bound(py));
                let cells: Vec<_> = row.iter().chain(missing).collect();
                list.set_item(position, PyTuple::new(py, cells)?)?;
            }
        }
        Ok(list)
    }

    /// Returns the object that was written.
    pub(crate) fn finish(self) -> Bound<'py, PyAny> {
        self.root.unwrap_or_else(|| PyDict::new(self.py).into_any())
    }

    fn begin(&mut self, container: Container<'py>) {
        let key = self.open.last_mut().and_then(|open| open.next_key.take());
        self.open.push(Open { container, key, next_key: None, is_empty: true });
    }

    fn end(&mut self) {
        let Some(Open { container, key, .. }) = self.open.pop() else { return };
        let value = match container {
            Container::Dict(dict) => dict.into_any(),
            Container::List(list) => list.into_any(),
            Container::Row => match self.row() {
                Ok(row) => row.into_any(),
                Err(error) => return self.fault.raise(error),
            },
        };
        match self.open.last_mut() {
            // `begin` consumed the key, and `put` needs it to put the container instead.
            Some(parent) => parent.next_key = key,
            None => {
                self.root = Some(value);
                return;
            }
        }
        self.put(value);
    }

    fn put(&mut self, value: Bound<'py, PyAny>) {
        let Some(open) = self.open.last_mut() else { return };
        open.is_empty = false;
        if let (Container::Row, Some(rows)) = (&open.container, &mut self.rows) {
            rows.cells[rows.column] = Some(value);
            self.values += 1;
            return;
        }
        let done = match (&open.container, open.next_key.take()) {
            (Container::Dict(dict), Some(key)) => dict.set_item(key, value),
            (Container::List(list), _) => list.append(value),
            (Container::Dict(_) | Container::Row, _) => Ok(()),
        };
        self.values += 1;
        let done = match self.values % SIGNALS_INTERVAL {
            0 => done.and_then(|()| self.look()),
            _ => done,
        };
        if let Err(error) = done {
            self.fault.raise(error);
        }
    }

    /// Looks at Python's signals, and stops its collector when many values were created.
    fn look(&mut self) -> PyResult<()> {
        if self.collector.is_none() && SIGNALS_INTERVAL <= self.values {
            self.collector = StoppedCollector::new(self.py);
        }
        self.py.check_signals()
    }

    /// Returns the current row as a tuple, and clears its cells for the next one.
    fn row(&mut self) -> PyResult<Bound<'py, PyTuple>> {
        let py = self.py;
        let Some(rows) = &mut self.rows else { return Ok(PyTuple::empty(py)) };
        let value_of =
            |cell: &mut Option<_>| cell.take().unwrap_or_else(|| py.None().into_bound(py));
        PyTuple::new(py, rows.cells.iter_mut().map(value_of))
    }

    /// Finds the column for the next value of a row by its key. An unknown key becomes a new
    /// column.
    fn find_column(&mut self, key: &str) {
        let Some(rows) = &mut self.rows else { return };
        // Behind the last column there is no next one; the first key of another row needs the
        // search.
        let next = rows.column + 1;
        // Objects of a block mostly have the same keys in the same order, so the next column is
        // looked at first.
        let columns = &rows.columns;
        let existing = rows.positions.find(key, next, columns.len(), |position| &columns[position]);
        rows.column = existing.unwrap_or_else(|| {
            rows.has_grown = true;
            rows.columns.push(key.to_owned());
            rows.cells.push(None);
            rows.columns.len() - 1
        });
    }

    /// Whether the next object is a row. Two are open then: the object of all blocks and the array
    /// of this one.
    fn is_row_next(&self) -> bool {
        self.open.len() == 2 && self.rows.as_ref().is_some_and(|rows| rows.is_here)
    }

    fn is_in_row(&self) -> bool {
        matches!(self.open.last(), Some(Open { container: Container::Row, .. }))
    }

    /// Adds a dict for each of some objects to a list. Each key is looked up once.
    fn add_objects(&mut self, list: &Bound<'py, PyList>, objects: &Objects<'_>) -> PyResult<()> {
        let py = self.py;
        let mut columns = Vec::with_capacity(objects.columns.len());
        for (name, column) in self.maker.objects(py, &mut self.keys, objects)?.columns {
            columns.push((name, column.in_order(py, objects)?));
        }
        for position in 0..objects.count() {
            let dict = PyDict::new(py);
            for (name, values) in &mut columns {
                if let Some(value) = values[position].take() {
                    dict.set_item(&*name, value)?;
                }
            }
            if !dict.is_empty() {
                // An object that has none of the values is left out, as in JSON.
                list.append(dict)?;
            }
        }
        Ok(())
    }

    /// Adds a tuple for each of some objects to a list.
    fn add_rows(&mut self, list: &Bound<'py, PyList>, objects: &Objects<'_>) -> PyResult<()> {
        let py = self.py;
        let mut slots = Vec::with_capacity(objects.columns.len());
        for (name, _) in &objects.columns {
            self.find_column(name);
            slots.push(self.rows.as_ref().map_or(0, |rows| rows.column));
        }
        let width = self.rows.as_ref().map_or(0, |rows| rows.columns.len());
        let made = self.maker.objects(py, &mut self.keys, objects)?;
        let mut columns = vec![Vec::new().into_iter(); width];
        for (slot, (_, column)) in slots.into_iter().zip(made.columns) {
            columns[slot] = column.in_order(py, objects)?.into_iter();
        }
        for _ in 0..objects.count() {
            let Some(rows) = &mut self.rows else { break };
            let mut is_empty = true;
            for (cell, column) in rows.cells.iter_mut().zip(&mut columns) {
                *cell = column.next().flatten();
                is_empty &= cell.is_none();
            }
            if !is_empty {
                list.append(self.row()?)?;
            }
        }
        Ok(())
    }

    /// Adds the object that a call has returned, or records the exception that it has raised.
    fn put_made(&mut self, made: PyResult<Bound<'py, PyAny>>) {
        match made {
            Ok(value) => self.put(value),
            Err(error) => self.fault.raise(error),
        }
    }
}

impl Sink for DictSink<'_, '_> {
    fn begin_object(&mut self) {
        let is_row = self.is_row_next();
        self.begin(match is_row {
            true => Container::Row,
            false => Container::Dict(PyDict::new(self.py)),
        });
    }

    fn end_object(&mut self) {
        self.end();
    }

    fn discard_object(&mut self) {
        if self.is_in_row()
            && let Some(rows) = &mut self.rows
        {
            rows.cells.fill(None);
        }
        self.open.pop();
    }

    fn begin_array(&mut self) {
        self.begin(Container::List(PyList::empty(self.py)));
    }

    fn end_array(&mut self) {
        self.end();
    }

    fn discard_array(&mut self) {
        self.open.pop();
    }

    fn is_empty(&self) -> bool {
        self.open.last().is_none_or(|open| open.is_empty)
    }

    fn key(&mut self, key: &str) {
        if self.is_in_row() {
            return self.find_column(key);
        }
        // In the outermost object the keys are the names of blocks.
        if self.open.len() == 1 {
            self.maker.texts.clear();
            if let Some(rows) = &mut self.rows {
                rows.is_here = rows.block == key;
            }
        }
        let key = self.keys.find(self.py, key);
        if let Some(open) = self.open.last_mut() {
            open.next_key = Some(key);
        }
    }

    fn value(&mut self, value: ValueRef<'_>) {
        self.show(value);
    }

    fn uid(&mut self, uid: Uid) {
        let made = uid_of(self.py, uid, self.maker.int_uids);
        self.put_made(made);
    }

    fn int(&mut self, number: i64) {
        self.put(PyInt::new(self.py, number).into_any());
    }

    fn null(&mut self) {
        let none = self.py.None().into_bound(self.py);
        self.put(none);
    }

    fn text(&mut self, text: &str) {
        self.put(PyString::new(self.py, text).into_any());
    }

    fn takes_rows(&self) -> bool {
        // An array in the object of all blocks.
        2 <= self.open.len()
    }

    fn objects(&mut self, objects: &Objects<'_>) -> bool {
        let is_rows = self.is_row_next();
        let Some(Open { container: Container::List(list), .. }) = self.open.last() else {
            return false;
        };
        let (list, before) = (list.clone(), list.len());
        let done = match is_rows {
            true => self.add_rows(&list, objects),
            false => self.add_objects(&list, objects),
        };
        if let Some(open) = self.open.last_mut() {
            open.is_empty &= list.len() == before;
        }
        self.values += objects.value_count();
        if let Err(error) = done.and_then(|()| self.look()) {
            self.fault.raise(error);
        }
        true
    }
}

impl ShowValues for DictSink<'_, '_> {
    /// Leaves out the next value together with its key.
    fn omit(&mut self) {
        if let Some(open) = self.open.last_mut() {
            open.next_key = None;
        }
    }

    fn float(&mut self, number: f64) {
        match number.is_finite() {
            true => self.put(PyFloat::new(self.py, number).into_any()),
            false => self.omit(),
        }
    }

    fn vector(&mut self, numbers: &[f32]) {
        // The shortest text of each is what the JSON has; the plain conversion has more digits.
        let numbers = numbers.iter().map(|number| number.to_string().parse().unwrap_or(f64::NAN));
        let numbers: Vec<f64> = numbers.collect();
        let list = PyList::new(self.py, numbers).map(Bound::into_any);
        self.put_made(list);
    }

    fn json(&mut self, text: &str) {
        let json = self.py.import("json");
        let value = json.and_then(|json| json.call_method1("loads", (text,)));
        self.put_made(value);
    }

    fn bool(&mut self, truth: bool) {
        let truth = PyBool::new(self.py, truth).to_owned();
        self.put(truth.into_any());
    }

    fn time(&mut self, time: DateTime) {
        let mut text = Vec::with_capacity(32);
        write_time(time, self.maker.all_times, &mut text);
        self.text(&String::from_utf8_lossy(&text));
    }
}
