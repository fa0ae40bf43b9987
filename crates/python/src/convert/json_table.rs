//! An answer that came as JSON from elsewhere, as a table: what an embedded answer is in a data
//! frame, this is too.
//!
//! JSON has fewer types than the engine, and the schema has some. A geometry is an object there and
//! becomes its text; a float may be without a point; an instant is a text, so a column of texts
//! that are all instants, as engines write them, becomes one of times where the schema does not say
//! otherwise.

use hexgraph_base::answer::{
    Cell, Cells, Column, Form, Key, NestedSink, Shape, Table, Texts, Values,
};
use hexgraph_base::types::{DateTime, Error, Result, Sink, ValueRef};
use serde::de;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::collections::HashMap;
use std::{fmt, mem};

/// The names of geometries in GeoJSON (RFC 7946, section 1.4).
const GEOMETRIES: [&str; 6] =
    ["Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon"];

/// The shortest text of an instant: `2006-01-02T15:04:05Z`.
const INSTANT_LEN_MIN: usize = 20;

/// The first second of the year 1, in seconds since 1970.
const YEAR_ONE: i64 = -62_135_596_800;

/// Reads the rows of a block. The columns that `order` names come first. `types` has the types of
/// predicates in the schema, by the keys that they have in the answer. O(length of the JSON).
///
/// # Errors
///
/// [`Error::Query`] for what is no table, for a block that is not there, and for a text that is no
/// JSON.
pub(crate) fn table_of(
    json: &[u8],
    block: String,
    order: Vec<String>,
    types: &HashMap<String, String>,
) -> Result<Table> {
    let mut sink = NestedSink::new(block, false);
    let mut reader = serde_json::Deserializer::from_slice(json);
    let read = Walk(&mut sink).deserialize(&mut reader).and_then(|()| reader.end());
    read.map_err(|error| Error::query(format!("the answer is no JSON: {error}")))?;
    let mut table = sink.finish()?;
    // What no row has is a column, too.
    let shape = |key: &String| Shape { key: key.clone(), form: form_of(types.get(key)) };
    table.shape(&order.iter().map(shape).collect::<Vec<Shape>>());
    let keys: Vec<Key> = order.into_iter().map(Key::Always).collect();
    table.put_in_order(&keys);
    to_types(&mut table.columns, types);
    Ok(table)
}

/// The cells of a predicate of a type, where the type alone determines it.
fn form_of(value_type: Option<&String>) -> Form {
    match value_type.map(String::as_str) {
        Some("int") => Form::Int,
        Some("float" | "bigfloat") => Form::Float,
        Some("bool") => Form::Bool,
        Some("datetime") => Form::Time,
        Some("string" | "geo") => Form::Text,
        _ => Form::Unknown,
    }
}

/// Gives columns the types of the schema, those of objects within them, too.
fn to_types(columns: &mut [Column], types: &HashMap<String, String>) {
    for Column { name: key, cells } in columns {
        let inner = match cells {
            Cells::Struct(structs) => Some(&mut structs.columns),
            Cells::List(lists) => match &mut lists.items {
                Cells::Struct(structs) => Some(&mut structs.columns),
                _ => None,
            },
            _ => None,
        };
        if let Some(inner) = inner {
            to_types(inner, types);
            continue;
        }
        match types.get(key).map(String::as_str) {
            Some("float" | "bigfloat" | "float32vector") => to_floats(cells),
            Some("datetime") => to_times(cells, true),
            Some(_) => {}
            // Only texts have a language.
            None if key.contains('@') && !key.contains('|') => {}
            None => to_times(cells, false),
        }
    }
}

/// Converts integers to floats, which are the same in JSON; so the items of lists.
fn to_floats(cells: &mut Cells) {
    match cells {
        Cells::Int(Values { values, valid }) => {
            let values = values.iter().map(|number| *number as f64).collect();
            *cells = Cells::Float(Values { values, valid: mem::take(valid) });
        }
        Cells::List(lists) => to_floats(&mut lists.items),
        _ => {}
    }
}

/// Converts texts that are all instants to times; so the items of lists. Where the schema does not
/// say so, some text has to be more than empty.
fn to_times(cells: &mut Cells, are_existing: bool) {
    match cells {
        Cells::Text(texts) => {
            if let Some(times) = times_of(texts)
                && (are_existing || !texts.bytes.is_empty())
            {
                *cells = times;
            }
        }
        Cells::List(lists) => to_times(&mut lists.items, are_existing),
        _ => {}
    }
}

/// Reads texts as instants; `None` when one is none. An empty text represents the first instant of
/// the year 1, which engines write so.
fn times_of(texts: &Texts) -> Option<Cells> {
    let mut times = Cells::Time(Values::default());
    for cell in 0..texts.offsets.len() {
        let time = match texts.get(cell) {
            None => Cell::Null,
            Some("") => Cell::Time(YEAR_ONE, 0),
            Some(text) => {
                let (seconds, nanos) = instant(text)?;
                Cell::Time(seconds, nanos)
            }
        };
        times.push(time, "").ok()?;
    }
    Some(times)
}

/// Reads an instant in the one form that engines write: date, `T`, time, and a zone.
fn instant(text: &str) -> Option<(i64, u32)> {
    let bytes = text.as_bytes();
    let is_mark = |at: usize, mark: u8| bytes.get(at) == Some(&mark);
    let has_form = INSTANT_LEN_MIN <= bytes.len()
        && bytes.is_ascii()
        && is_mark(4, b'-')
        && is_mark(7, b'-')
        && is_mark(10, b'T')
        && is_mark(13, b':')
        && is_mark(16, b':');
    let has_zone = text.ends_with('Z') || text.get(19..).is_some_and(|it| it.contains(['+', '-']));
    let time = (has_form && has_zone).then(|| DateTime::parse(text).ok()).flatten()?;
    Some(time.instant())
}

/// Passes a value of JSON on to a sink.
struct Walk<'a>(&'a mut NestedSink);

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> std::result::Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> std::result::Result<(), E> {
        self.0.null();
        Ok(())
    }

    fn visit_bool<E>(self, truth: bool) -> std::result::Result<(), E> {
        self.0.value(ValueRef::Bool(truth));
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> std::result::Result<(), E> {
        self.0.int(number);
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> std::result::Result<(), E> {
        match i64::try_from(number) {
            Ok(number) => self.0.int(number),
            Err(_) => self.0.value(ValueRef::Float(number as f64)),
        }
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> std::result::Result<(), E> {
        self.0.value(ValueRef::Float(number));
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<(), E> {
        self.0.text(text);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<(), A::Error> {
        self.0.begin_array();
        while items.next_element_seed(Walk(self.0))?.is_some() {}
        self.0.end_array();
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> std::result::Result<(), A::Error> {
        let mut key: Option<String> = members.next_key()?;
        let mut begun = false;
        if key.as_deref() == Some("type") {
            let value: serde_json::Value = members.next_value()?;
            key = members.next_key()?;
            let name = value.as_str().filter(|name| GEOMETRIES.contains(name));
            // A geometry has these two members in this order and no others, as engines write it.
            if let (Some(name), Some("coordinates")) = (name, key.as_deref()) {
                let coordinates: serde_json::Value = members.next_value()?;
                self.0.text(&format!("{{\"type\":\"{name}\",\"coordinates\":{coordinates}}}"));
                return Ok(());
            }
            self.0.begin_object();
            begun = true;
            self.0.key("type");
            Walk(self.0).deserialize(value).map_err(de::Error::custom)?;
        }
        if !begun {
            self.0.begin_object();
        }
        while let Some(name) = key {
            self.0.key(&name);
            members.next_value_seed(Walk(self.0))?;
            key = members.next_key()?;
        }
        self.0.end_object();
        Ok(())
    }
}
