//! JSON text as Python's own objects, as `json.loads` makes them and faster: the keys of objects,
//! which come again and again, are made once.

use hexgraph_base::types::stack;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::HashMap;
use std::fmt;

/// Reads a text that the engine wrote. O(length).
///
/// # Errors
///
/// What Python raises: when there is no memory.
pub(crate) fn loads<'py>(py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let mut keys = Keys::default();
    let mut reader = serde_json::Deserializer::from_slice(text);
    match (Seed { py, keys: &mut keys }).deserialize(&mut reader) {
        Ok(value) => Ok(value),
        // Deeper than the reader goes, or Python raised something, which it does again.
        Err(_) => py.import("json")?.call_method1("loads", (text,)),
    }
}

/// The keys that came by. They come in the same order in most objects, so each is looked for after
/// the one before, and then in a table: there may be as many as aliases in a request.
#[derive(Default)]
pub(crate) struct Keys<'py> {
    list: Vec<(Box<str>, Bound<'py, PyString>)>,
    positions: HashMap<Box<str>, usize>,
    next: usize,
}

impl<'py> Keys<'py> {
    /// The string of a key.
    pub(crate) fn find(&mut self, py: Python<'py>, key: &str) -> Bound<'py, PyString> {
        let position = match self.list.get(self.next) {
            Some((existing, _)) if **existing == *key => self.next,
            _ => match self.positions.get(key) {
                Some(position) => *position,
                None => {
                    self.positions.insert(key.into(), self.list.len());
                    self.list.push((key.into(), PyString::new(py, key)));
                    self.list.len() - 1
                }
            },
        };
        // The key is in the list, so the list is not empty.
        self.next = (position + 1) % self.list.len();
        self.list[position].1.clone()
    }
}

struct Seed<'k, 'py> {
    py: Python<'py>,
    keys: &'k mut Keys<'py>,
}

impl<'de, 'py> DeserializeSeed<'de> for Seed<'_, 'py> {
    type Value = Bound<'py, PyAny>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        stack::check().map_err(D::Error::custom)?;
        reader.deserialize_any(self)
    }
}

fn made<'py, E: Error>(
    object: impl IntoPyObject<'py>,
    py: Python<'py>,
) -> Result<Bound<'py, PyAny>, E> {
    object.into_bound_py_any(py).map_err(E::custom)
}

impl<'de, 'py> Visitor<'de> for Seed<'_, 'py> {
    type Value = Bound<'py, PyAny>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(self.py.None().into_bound(self.py))
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<Self::Value, E> {
        made(truth, self.py)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        made(number, self.py)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        made(number, self.py)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        made(number, self.py)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(PyString::new(self.py, text).into_any())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let Seed { py, keys } = self;
        let list = PyList::empty(py);
        while let Some(item) = items.next_element_seed(Seed { py, keys })? {
            list.append(item).map_err(A::Error::custom)?;
        }
        Ok(list.into_any())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let Seed { py, keys } = self;
        let dict = PyDict::new(py);
        while let Some(key) = members.next_key_seed(KeySeed { py, keys })? {
            let value = members.next_value_seed(Seed { py, keys })?;
            dict.set_item(key, value).map_err(A::Error::custom)?;
        }
        Ok(dict.into_any())
    }
}

struct KeySeed<'k, 'py> {
    py: Python<'py>,
    keys: &'k mut Keys<'py>,
}

impl<'de, 'py> DeserializeSeed<'de> for KeySeed<'_, 'py> {
    type Value = Bound<'py, PyString>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'py> Visitor<'_> for KeySeed<'_, 'py> {
    type Value = Bound<'py, PyString>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.keys.find(self.py, key))
    }
}
