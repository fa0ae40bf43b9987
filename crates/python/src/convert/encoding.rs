//! Python's own objects as the JSON of mutations.
//!
//! JSON has fewer kinds of values than Python: dates and times are written as texts, and recorded
//! separately; vectors and decimals are texts. What JSON has no form for is refused with its path,
//! as `set_json[3]["born"]`, and what represents a missing value is left out.

use hexgraph_base::answer::write_plain_text;
use hexgraph_base::types::{Coordinate, Geometry};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PyMapping, PySet,
    PyString, PyTuple,
};
use std::fmt::Write;

/// How deep objects may nest: as deep as the engine reads them.
const DEPTH_MAX: usize = 250;

/// How deep the coordinates of points nest: those of a multipoint are in one list.
const COORDINATES_DEPTH: usize = 1;

/// The names of methods that give the elements of an array, or the value of a scalar.
const TO_PYTHON: [&str; 4] = ["tolist", "to_list", "to_pylist", "as_py"];

/// A JSON text, with what JSON itself can't express.
#[derive(Debug, Default)]
pub(crate) struct Encoded {
    /// The JSON text.
    pub json: String,
    /// The offsets in the JSON at which strings begin that are times, in ascending order.
    pub times: Vec<usize>,
}

/// Converts the value of the argument `name` to JSON, in one pass over it.
///
/// # Errors
///
/// `TypeError` for an object that JSON has no form for, `ValueError` for a number or text that it
/// has none for; both with the path of the value.
pub(crate) fn encode(name: &'static str, value: &Bound<'_, PyAny>) -> PyResult<Encoded> {
    let mut encoder = Encoder { name, path: Vec::new(), out: Vec::new(), times: Vec::new() };
    encoder.value(value)?;
    let json = String::from_utf8(encoder.out).expect("texts and signs were written");
    Ok(Encoded { json, times: encoder.times })
}

/// The text of a string.
///
/// # Errors
///
/// `ValueError` for one with a surrogate, which is no text: `of` says whose it is.
pub(crate) fn text_of<'a>(
    text: &'a Bound<'_, PyString>,
    of: impl FnOnce() -> String,
) -> PyResult<&'a str> {
    text.to_str().map_err(|_| {
        let points = text.call_method1("encode", ("utf-32-le", "surrogatepass"));
        let points: Vec<u8> = points.and_then(|bytes| bytes.extract()).unwrap_or_default();
        let points =
            points.chunks_exact(4).map(|it| u32::from_le_bytes([it[0], it[1], it[2], it[3]]));
        let mut lone = points.enumerate().filter(|(_, point)| (0xd800..0xe000).contains(point));
        let (at, point) = lone.next().unwrap_or_default();
        PyValueError::new_err(format!(
            "{}: character {} is the surrogate \\u{point:04x}, which is half of a character and \
             no text: decode the bytes that it comes from with the right encoding, or replace it \
             by text.encode(\"utf-8\", \"replace\").decode()",
            of(),
            at + 1
        ))
    })
}

/// A key and its value.
type Member<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// The members of a dict, each looked at before the next one is requested. What is done with one
/// may run code of Python, and that of other threads: where it changes the dict, Python's own
/// iterators raise this, and the one below would panic.
pub(crate) fn members_of<'a, 'py>(
    dict: &'a Bound<'py, PyDict>,
) -> impl Iterator<Item = PyResult<Member<'py>>> + 'a {
    let (mut members, len) = (dict.iter(), dict.len());
    std::iter::from_fn(move || match dict.len() == len {
        true => members.next().map(Ok),
        false => Some(Err(PyRuntimeError::new_err("dictionary changed size during iteration"))),
    })
}

enum Step<'py> {
    Key(Bound<'py, PyString>),
    Index(usize),
}

struct Encoder<'py> {
    name: &'static str,
    path: Vec<Step<'py>>,
    out: Vec<u8>,
    times: Vec<usize>,
}

impl<'py> Encoder<'py> {
    /// Returns the path of the value that is being written, for messages.
    fn position(&self) -> String {
        let mut position = self.name.to_owned();
        for step in &self.path {
            let _ = match step {
                Step::Key(key) => write!(position, "[{:?}]", key.to_string_lossy()),
                Step::Index(index) => write!(position, "[{index}]"),
            };
        }
        position
    }

    fn type_error(&self, fault: impl std::fmt::Display) -> PyErr {
        PyTypeError::new_err(format!("{}: {fault}", self.position()))
    }

    fn value_error(&self, fault: impl std::fmt::Display) -> PyErr {
        PyValueError::new_err(format!("{}: {fault}", self.position()))
    }

    fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn value(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        // In the order of how often they come; but bool before int, since to Python a bool is an
        // int.
        if let Ok(text) = value.cast::<PyString>() {
            self.text(text)
        } else if let Ok(truth) = value.cast::<PyBool>() {
            self.raw(if truth.is_true() { "true" } else { "false" });
            Ok(())
        } else if value.is_instance_of::<PyInt>() {
            self.int(value)
        } else if let Ok(number) = value.cast::<PyFloat>() {
            self.float(number.value())
        } else if value.is_none() {
            self.raw("null");
            Ok(())
        } else if let Ok(object) = value.cast::<PyDict>() {
            self.dict(object)
        } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            self.list(value)
        } else {
            self.other(value)
        }
    }

    fn text(&mut self, text: &Bound<'py, PyString>) -> PyResult<()> {
        let text = text_of(text, || self.position())?;
        write_plain_text(text, &mut self.out);
        Ok(())
    }

    fn int(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let Ok(number) = value.extract::<i64>() else {
            let fault = "the int has more than 64 bits: pass it as str, to a predicate of type \
                         bigfloat or string";
            return Err(self.value_error(fault));
        };
        self.raw(itoa::Buffer::new().format(number));
        Ok(())
    }

    fn float(&mut self, number: f64) -> PyResult<()> {
        if !number.is_finite() {
            return Err(self.not_finite(number.is_nan()));
        }
        self.raw(zmij::Buffer::new().format_finite(number));
        Ok(())
    }

    fn not_finite(&self, is_nan: bool) -> PyErr {
        match is_nan {
            true => self.value_error("NaN is no number: leave the key out, or pass None"),
            false => self.value_error("an infinite number can't be stored: leave the key out"),
        }
    }

    fn object(&mut self, members: impl Iterator<Item = PyResult<Member<'py>>>) -> PyResult<()> {
        self.check_depth()?;
        self.raw("{");
        for (index, member) in members.enumerate() {
            let (key, value) = member?;
            let Ok(key) = key.cast_into::<PyString>() else {
                let fault = "a key is no str: keys are the names of predicates, or \"uid\"";
                return Err(self.type_error(fault));
            };
            self.raw(if index == 0 { "" } else { ", " });
            write_plain_text(text_of(&key, || self.position())?, &mut self.out);
            self.raw(": ");
            self.path.push(Step::Key(key));
            self.value(&value)?;
            self.path.pop();
        }
        self.raw("}");
        Ok(())
    }

    fn list(&mut self, values: &Bound<'py, PyAny>) -> PyResult<()> {
        self.check_depth()?;
        self.raw("[");
        for (index, value) in values.try_iter()?.enumerate() {
            self.raw(if index == 0 { "" } else { ", " });
            self.path.push(Step::Index(index));
            self.value(&value?)?;
            self.path.pop();
        }
        self.raw("]");
        Ok(())
    }

    fn check_depth(&self) -> PyResult<()> {
        // A recursive container stops here too, before a stack overflow.
        if self.path.len() < DEPTH_MAX {
            return Ok(());
        }
        let fault = format!("nested deeper than {DEPTH_MAX} levels, or holds itself");
        Err(PyValueError::new_err(format!("{}: {fault}", self.name)))
    }

    /// Writes a value that is of none of Python's plain types.
    fn other(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        // pandas has a missing value of its own, of this type.
        if value.get_type().name()? == "NAType" {
            return self.missing();
        }
        if value.hasattr("isoformat")? {
            return self.time(value);
        }
        if value.hasattr("__geo_interface__")? {
            return self.geometry(&value.getattr("__geo_interface__")?);
        }
        // A column of a frame has `to_list` and a stream, a table has not.
        if value.hasattr("__arrow_c_stream__")? && !value.hasattr("to_list")? {
            let fault = "a table is loaded by load_nodes, or load_edges";
            return Err(self.type_error(fault));
        }
        for method in TO_PYTHON {
            if value.hasattr(method)? {
                return self.array(value, method);
            }
        }
        if let Ok(mapping) = value.cast::<PyMapping>() {
            let items = mapping.items()?;
            let pairs = items.iter().map(|pair| pair.extract()).collect::<PyResult<Vec<_>>>()?;
            return self.object(pairs.into_iter().map(Ok));
        }
        if value.hasattr("__float__")? {
            return self.number(value);
        }
        Err(self.no_form(value))
    }

    /// A value that represents none: nothing is set. Of a delete it would mean all values.
    fn missing(&mut self) -> PyResult<()> {
        if self.name == "delete_json" {
            let fault = "the value is missing: None deletes all values, a value only that one";
            return Err(self.value_error(fault));
        }
        self.raw("null");
        Ok(())
    }

    /// A date, or a date with a time, is a time; a time of day is a text.
    fn time(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        // The missing time of pandas differs from itself.
        if value.ne(value)? {
            return self.missing();
        }
        let dates = value.py().import("datetime")?.getattr("date")?;
        if value.is_instance(&dates)? {
            self.times.push(self.out.len());
        }
        let text = value.call_method0("isoformat")?;
        self.text(&text.cast_into()?)
    }

    fn geometry(&mut self, shape: &Bound<'py, PyAny>) -> PyResult<()> {
        let geometry = PyDict::new(shape.py());
        for key in ["type", "coordinates"] {
            geometry.set_item(key, shape.get_item(key)?)?;
        }
        self.dict(&geometry)
    }

    fn dict(&mut self, object: &Bound<'py, PyDict>) -> PyResult<()> {
        if object.len() == 2
            && object.contains("type")?
            && let Some(coordinates) = object.get_item("coordinates")?
            && let Ok(name) = object.as_any().get_item("type")?.extract::<PyBackedStr>()
            && matches!(&*name, "Point" | "MultiPoint")
        {
            self.check_coordinates(&coordinates, 0)?;
        }
        self.object(members_of(object))
    }

    /// Refuses a position that is not on the globe, as the engine does: here the key is available.
    fn check_coordinates(&self, position: &Bound<'py, PyAny>, depth: usize) -> PyResult<()> {
        let is_list = position.is_instance_of::<PyList>() || position.is_instance_of::<PyTuple>();
        if !is_list || COORDINATES_DEPTH < depth {
            return Ok(());
        }
        if let Ok((longitude, latitude)) = position.get_item(0).and_then(|first| {
            Ok((first.extract::<f64>()?, position.get_item(1)?.extract::<f64>()?))
        }) {
            let position = Coordinate::new(&[longitude, latitude]).map(Geometry::Point);
            if let Some(Err(reason)) = position.map(|position| position.check_positions()) {
                return Err(self.value_error(reason));
            }
            return Ok(());
        }
        position.try_iter()?.try_for_each(|inner| self.check_coordinates(&inner?, depth + 1))
    }

    /// Writes an array or a scalar of numpy or of a library like it.
    fn array(&mut self, value: &Bound<'py, PyAny>, method: &str) -> PyResult<()> {
        let kind = value.getattr("dtype").and_then(|dtype| dtype.getattr("kind"));
        let is_time = kind.is_ok_and(|kind| kind.eq("M").unwrap_or(false));
        // Python has no nanoseconds: with them, a time would come out as a number.
        let inner = match is_time && value.hasattr("astype")? {
            true => value.call_method1("astype", ("datetime64[us]",))?.call_method0(method)?,
            false => value.call_method0(method)?,
        };
        if is_time && inner.is_none() {
            return self.missing();
        }
        let Ok(elements) = inner.cast::<PyList>() else { return self.plain(&inner) };
        let is_number = |element: Bound<'_, PyAny>| {
            (element.is_instance_of::<PyFloat>() || element.is_instance_of::<PyInt>())
                && !element.is_instance_of::<PyBool>()
        };
        if elements.is_empty() || !elements.iter().all(is_number) {
            return self.list(elements);
        }
        // Numbers in a row are a vector, which is a text.
        self.raw("\"");
        // All elements are numbers, so nothing between the quotes needs an escape.
        self.list(elements)?;
        self.raw("\"");
        Ok(())
    }

    /// Writes the value inside of a scalar object, which must not be a scalar object itself.
    fn plain(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        for method in TO_PYTHON {
            if value.hasattr(method)? {
                return Err(self.no_form(value));
            }
        }
        self.value(value)
    }

    /// Writes a number of another type, such as `Decimal`, as a text.
    fn number(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        // A Decimal can be finite and beyond all floats, so its own method is called.
        let is_finite = match value.hasattr("is_finite")? {
            true => value.call_method0("is_finite")?.is_truthy()?,
            false => value.extract::<f64>()?.is_finite(),
        };
        if !is_finite {
            let is_nan = value.extract::<f64>()?.is_nan();
            return Err(self.not_finite(is_nan));
        }
        let text = value.str()?;
        self.text(&text)
    }

    fn no_form(&self, value: &Bound<'py, PyAny>) -> PyErr {
        let kind = value.get_type().name().map(|name| name.to_string()).unwrap_or_default();
        let advice = if value.is_instance_of::<PySet>() || value.is_instance_of::<PyFrozenSet>() {
            "it has no order: pass a list, such as sorted(values)"
        } else if value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>() {
            "pass it as str: value.decode()"
        } else if value.hasattr("__next__").unwrap_or(false) {
            "pass a list: list(values)"
        } else {
            "pass it as str, int or float"
        };
        self.type_error(format!("a value of type {kind} has no form in JSON: {advice}"))
    }
}
