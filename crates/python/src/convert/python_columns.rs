//! Columns of Python's own objects as Arrow: what a list of dicts, or a dict of lists, is loaded
//! as.

use crate::convert::arrow::ArrowTable;
use crate::convert::decimals::decimals;
use crate::convert::encoding::text_of;
use crate::convert::errors::to_python;
use hexgraph_base::answer::{Cell, Cells, Column, Table};
use hexgraph_base::types::{DateTime, shown};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString,
    PyTuple,
};
use std::collections::BTreeMap;

/// The position of a value, for error messages.
#[derive(Clone, Copy)]
struct Position<'a> {
    column: &'a str,
    row: usize,
}

impl Position<'_> {
    fn fault(self, reason: &str) -> String {
        format!("column {:?}, row {}: {reason}", self.column, self.row + 1)
    }
}

/// The most times that a value may give another one instead. An array gives a list and a scalar a
/// number, so two suffice for common types; an object that returns itself stops here instead of
/// exhausting the stack.
const CONVERSIONS_MAX: usize = 8;

/// The state of reading one column.
struct Reader<'a> {
    name: &'a str,
    /// The texts of the cell that is read now; the cell refers to them by their ranges.
    texts: String,
    /// Whether a value of the column was a geometry.
    has_geometries: bool,
    /// The number of conversions that the value that is read now came out of.
    conversions: usize,
}

/// Converts columns, all of one length, to a table. Also returns the types of the columns that
/// Arrow has no type for, by the name of the column: `geo` for geometries, which are texts in the
/// table.
///
/// # Errors
///
/// `TypeError` or `ValueError` with column, row and reason for a value that no predicate can have.
#[pyfunction]
pub(crate) fn columns_table(
    columns: Vec<(String, Bound<'_, PyList>)>,
) -> PyResult<(ArrowTable, BTreeMap<String, String>)> {
    let rows = columns.first().map_or(0, |(_, values)| values.len());
    let mut table = Table { columns: Vec::with_capacity(columns.len()), rows };
    let mut types = BTreeMap::new();
    let mut exact = BTreeMap::new();
    for (name, values) in columns {
        if values.len() != rows {
            let message =
                format!("column {name:?} has {} values, the first has {rows}", values.len());
            return Err(PyValueError::new_err(message));
        }
        let cells = match decimals(&values)? {
            Some(array) => {
                exact.insert(table.columns.len(), array);
                // Nulls represent them until the table is converted to Arrow.
                let mut cells = Cells::default();
                cells.pad_to(rows);
                cells
            }
            None => cells_of(&name, &values, &mut types)?,
        };
        table.columns.push(Column { name, cells });
    }
    let table = ArrowTable::new(table).map_err(to_python)?;
    Ok((table.with_columns(exact).map_err(to_python)?, types))
}

/// Reads the cells of a column, and notes its type if Arrow has none for it.
fn cells_of(
    name: &str,
    values: &Bound<'_, PyList>,
    types: &mut BTreeMap<String, String>,
) -> PyResult<Cells> {
    let mut reader = Reader { name, texts: String::new(), has_geometries: false, conversions: 0 };
    let mut cells = Cells::default();
    for (row, value) in values.iter().enumerate() {
        let position = Position { column: reader.name, row };
        reader.texts.clear();
        let cell = reader.cell(&value, position, true)?;
        cells.push(cell, &reader.texts).map_err(|kinds| {
            let hint = "a column has values of one kind: convert them, to str for instance";
            PyTypeError::new_err(position.fault(&format!("it holds {kinds}; {hint}")))
        })?;
    }
    if reader.has_geometries {
        types.insert(name.to_owned(), "geo".to_owned());
    }
    Ok(cells)
}

impl Reader<'_> {
    /// Converts a value; None and NaN become null. `may_list` says whether the value may be a list:
    /// an item of a list may not.
    fn cell(
        &mut self,
        value: &Bound<'_, PyAny>,
        position: Position<'_>,
        may_list: bool,
    ) -> PyResult<Cell> {
        if value.is_none() {
            return Ok(Cell::Null);
        }
        if let Ok(text) = value.cast::<PyString>() {
            let text = text_of(text, || position.fault("the text"))?;
            return Ok(Cell::text(text, &mut self.texts));
        }
        // This comes before the ints, which truth values are in Python.
        if let Ok(truth) = value.cast::<PyBool>() {
            return Ok(Cell::Bool(truth.is_true()));
        }
        if value.is_instance_of::<PyInt>() {
            let number = value.extract::<i64>().map_err(|_| {
                PyValueError::new_err(
                    position.fault("an int has 64 bits: use str for larger numbers"),
                )
            });
            return number.map(Cell::Int);
        }
        if let Ok(number) = value.cast::<PyFloat>() {
            let number = number.value();
            return Ok(if number.is_nan() { Cell::Null } else { Cell::Float(number) });
        }
        self.other(value, position, may_list)
    }

    /// Converts a value of one of the rarer types. The tests for attributes come last and in this
    /// order, since many types have more than one of them: a time of pandas has `isoformat` and
    /// `tolist`.
    fn other(
        &mut self,
        value: &Bound<'_, PyAny>,
        position: Position<'_>,
        may_list: bool,
    ) -> PyResult<Cell> {
        let kind = value.get_type().name()?.to_string();
        if is_list(value) {
            return self.list(value.try_iter()?.collect::<PyResult<Vec<_>>>()?, position, may_list);
        }
        if value.is_instance_of::<PyDict>() || value.hasattr("__geo_interface__")? {
            return self.geometry(value, position);
        }
        if value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>() {
            let reason = "bytes are no value: decode them to str, or encode them as base64";
            return Err(PyTypeError::new_err(position.fault(reason)));
        }
        if matches!(kind.as_str(), "NAType" | "NaTType") || value.ne(value).unwrap_or(false) {
            return Ok(Cell::Null);
        }
        // Arrays and scalars of numpy and similar libraries; an array without dimensions is a
        // scalar. Times have `isoformat`.
        let is_time = value.hasattr("isoformat")?;
        if !is_time && value.hasattr("dtype")? {
            return self.of_numpy(value, position, may_list);
        }
        if is_time {
            return time(&value.call_method0("isoformat")?.extract::<String>()?, position);
        }
        match kind.as_str() {
            // Among other numbers; digits beyond those of a float are lost.
            "Decimal" | "Fraction" => Ok(Cell::Float(value.call_method0("__float__")?.extract()?)),
            "UUID" => Ok(Cell::text(&value.str()?.to_cow()?, &mut self.texts)),
            _ if value.hasattr("tolist")? => {
                self.converted(&value.call_method0("tolist")?, position, may_list)
            }
            // A member of an enum counts as its value.
            _ if value.hasattr("_member_map_")? || value.hasattr("_value_")? => {
                self.converted(&value.getattr("value")?, position, may_list)
            }
            _ => Err(no_type(&kind, position)),
        }
    }

    /// Converts what a value gave instead. One that gives itself, or values that give one another,
    /// have no type here.
    fn converted(
        &mut self,
        value: &Bound<'_, PyAny>,
        position: Position<'_>,
        may_list: bool,
    ) -> PyResult<Cell> {
        if self.conversions == CONVERSIONS_MAX {
            return Err(no_type(&value.get_type().name()?.to_string(), position));
        }
        self.conversions += 1;
        let cell = self.cell(value, position, may_list);
        self.conversions -= 1;
        cell
    }

    /// Converts an array or a scalar that has a `dtype`. That of other libraries than numpy may
    /// have no `kind`.
    fn of_numpy(
        &mut self,
        value: &Bound<'_, PyAny>,
        position: Position<'_>,
        may_list: bool,
    ) -> PyResult<Cell> {
        let kind = value.getattr("dtype").and_then(|dtype| dtype.getattr("kind"));
        let kind = kind.and_then(|kind| kind.extract::<String>()).unwrap_or_default();
        let dimensions = value.getattr("ndim").and_then(|it| it.extract::<usize>()).unwrap_or(0);
        if kind == "M" && dimensions == 0 {
            return time(&value.str()?.to_cow()?, position);
        }
        // `tolist` would give times in nanoseconds as ints.
        if kind == "M" {
            return self.list(value.try_iter()?.collect::<PyResult<Vec<_>>>()?, position, may_list);
        }
        // `tolist` of a `longdouble` is the `longdouble` itself; a float is as near as a predicate
        // can hold.
        if kind == "f" && dimensions == 0 {
            return self.converted(&value.call_method0("__float__")?, position, may_list);
        }
        self.converted(&value.call_method0("tolist")?, position, may_list)
    }

    fn list(
        &mut self,
        values: Vec<Bound<'_, PyAny>>,
        position: Position<'_>,
        may_list: bool,
    ) -> PyResult<Cell> {
        if !may_list {
            return Err(PyTypeError::new_err(position.fault("a list of lists is no value")));
        }
        let items = values.iter().map(|value| self.cell(value, position, false));
        Ok(Cell::List(items.collect::<PyResult<_>>()?))
    }

    /// A geometry as GeoJSON: a dict that is one, or an object that makes one, as those of shapely
    /// do.
    fn geometry(&mut self, value: &Bound<'_, PyAny>, position: Position<'_>) -> PyResult<Cell> {
        let given = match value.cast::<PyDict>() {
            Ok(_) => value.clone(),
            Err(_) => value.getattr("__geo_interface__")?,
        };
        let is_geometry = given.cast::<PyDict>().is_ok_and(|dict| {
            dict.contains("type").unwrap_or(false) && dict.contains("coordinates").unwrap_or(false)
        });
        if !is_geometry {
            let reason = "a dict is no value, unless it is a geometry in GeoJSON, with type and coordinates: nodes \
                          within nodes go to mutate(set_json=...)";
            return Err(PyTypeError::new_err(position.fault(reason)));
        }
        self.has_geometries = true;
        let json = value.py().import("json")?.call_method1("dumps", (given,))?;
        Ok(Cell::text(json.cast::<PyString>()?.to_str()?, &mut self.texts))
    }
}

/// The error for a value of a type that no predicate can have.
fn no_type(kind: &str, position: Position<'_>) -> PyErr {
    let reason = format!(
        "a value of type {kind} has no type here: it is text, a number, a boolean, a date or time, \
         a list of them, or a geometry"
    );
    PyTypeError::new_err(position.fault(&reason))
}

fn is_list(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyTuple>()
        || value.is_instance_of::<PySet>()
        || value.is_instance_of::<PyFrozenSet>()
}

/// A date or a time as Python, pandas and numpy write it; without a zone it is in UTC.
fn time(text: &str, position: Position<'_>) -> PyResult<Cell> {
    if text == "NaT" {
        return Ok(Cell::Null);
    }
    let time = DateTime::parse(text).map_err(|fault| {
        let fault = format!("{} is no date and no time: {fault}", shown(text));
        PyValueError::new_err(position.fault(&fault))
    })?;
    let (seconds, nanos) = time.instant();
    Ok(Cell::Time(seconds, nanos))
}
