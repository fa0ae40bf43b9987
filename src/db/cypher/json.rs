//! Answers as JSON text, and parameters from JSON values.
//!
//! An answer is an object with `columns` and `rows`. Ints have all their digits, floats a point or
//! an exponent; `NaN`, `Infinity` and `-Infinity`, which JSON has no numbers for, are texts.
//! Temporal values are texts of ISO 8601, and a point is an object with `srid`, `x`, `y` and
//! perhaps `z`.

use super::run::CypherAnswer;
use crate::db::guard::guarded;
use crate::db::query::checked::{Capacity, too_long};
use hexgraph_base::answer::write_json_text;
use hexgraph_base::types::{Error, Result, bounded};
use hexgraph_scalar::{Map, Point, Value};
use hexgraph_store::exec::RequestContext;
use serde_json::Value as Json;
use std::fmt;
use std::io::Write;
use std::mem;
use std::time::{Duration, Instant};

/// The context is checked once for so many rows.
const ROWS_INTERVAL: usize = 1 << 10;

/// The length of the chunks that a short text is made of, in bytes.
const CHUNK_LEN: usize = 64 << 10;

/// # Forms of an answer
impl CypherAnswer {
    /// The answer as JSON text, an object with `columns` and `rows`, and the time of writing it.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let answer = db.cypher("MATCH (n) RETURN n.name AS name, 1.0 AS one")?;
    /// let (json, _) = answer.to_json(&RequestContext::new())?;
    /// assert_eq!(json, r#"{"columns":["name","one"],"rows":[["Ada",1.0]]}"#);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Limit` when the text is longer than the limit `result`, there is no memory for it, or
    /// `context` stops it.
    pub fn to_json(&self, context: &RequestContext) -> Result<(String, Duration)> {
        let written = self.to_short_json(u64::MAX, context)?;
        Ok(written.expect("a text beyond the limit `result` is an error"))
    }

    /// As [`CypherAnswer::to_json`]; `None` for a text of more than `bytes_max` bytes.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let answer = Database::in_memory().cypher("RETURN 'a long text' AS text")?;
    /// assert!(answer.to_short_json(1 << 10, &RequestContext::new())?.is_some());
    /// assert!(answer.to_short_json(8, &RequestContext::new())?.is_none());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`CypherAnswer::to_json`].
    pub fn to_short_json(
        &self,
        bytes_max: u64,
        context: &RequestContext,
    ) -> Result<Option<(String, Duration)>> {
        let started = Instant::now();
        self.prepare(context);
        let before = context.reservation().map_or(0, |reservation| reservation.used());
        let (mut text, mut is_long) = (Vec::new(), false);
        let mut capacity = Capacity::new(context, self.bytes_max);
        let written = self.write_chunks(CHUNK_LEN, context, |chunk| {
            let length = text.len() + chunk.len();
            is_long = bytes_max < length as u64;
            if is_long {
                return Err(too_long(bytes_max));
            }
            capacity.look(length)?;
            text.extend(chunk);
            Ok(())
        });
        if is_long {
            if let Some(reservation) = context.reservation() {
                reservation.retain_only(before);
            }
            return Ok(None);
        }
        written?;
        let text = String::from_utf8(text).expect("JSON is written from texts");
        Ok(Some((text, started.elapsed())))
    }

    /// Writes the answer as JSON text in chunks of at least so many bytes, except for the last one.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let answer = Database::in_memory().cypher("UNWIND [1, 2] AS n RETURN n")?;
    /// let mut json = Vec::new();
    /// answer.write_chunks(16, &RequestContext::new(), |chunk| {
    ///     json.extend(chunk);
    ///     Ok(())
    /// })?;
    /// assert_eq!(json, br#"{"columns":["n"],"rows":[[1],[2]]}"#);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`CypherAnswer::to_json`], and those of `send`.
    pub fn write_chunks(
        &self,
        chunk_len: usize,
        context: &RequestContext,
        mut send: impl FnMut(Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        guarded(|| {
            self.prepare(context);
            let mut text = JsonWriter::new(context, self.bytes_max);
            text.out.extend_from_slice(b"{\"columns\":[");
            text.items(self.columns.iter(), |text, name| text.text(name))?;
            text.out.extend_from_slice(b"],\"rows\":[");
            for index in 0..self.row_count() {
                if index.is_multiple_of(ROWS_INTERVAL) {
                    context.check()?;
                }
                text.out.extend_from_slice(if index == 0 { b"[" } else { b",[" });
                text.items(self.values.iter(), |text, column| text.value(&column.value(index)))?;
                text.out.push(b']');
                if chunk_len <= text.out.len() {
                    text.sent += text.out.len() as u64;
                    send(mem::take(&mut text.out))?;
                }
            }
            text.out.extend_from_slice(b"]}");
            send(text.out)
        })
    }
}

/// Values as JSON text, with a bound on memory and length: lists in lists may have their items in
/// common, so that the text is far longer than the memory of the value.
pub(super) struct JsonWriter<'a> {
    out: Vec<u8>,
    /// The bytes that are sent already.
    sent: u64,
    bytes_max: u64,
    capacity: Capacity<'a>,
}

impl<'a> JsonWriter<'a> {
    pub(super) fn new(context: &'a RequestContext, bytes_max: u64) -> JsonWriter<'a> {
        let capacity = Capacity::new(context, bytes_max);
        JsonWriter { out: Vec::new(), sent: 0, bytes_max, capacity }
    }

    /// A value of an answer as JSON text; its buffer is used again for the next one.
    ///
    /// # Errors
    ///
    /// `Limit` as [`CypherAnswer::to_json`].
    pub(super) fn text_of(&mut self, value: &Value) -> Result<&str> {
        self.out.clear();
        self.value(value)?;
        Ok(str::from_utf8(&self.out).expect("JSON is written from texts"))
    }

    fn items<T>(
        &mut self,
        items: impl Iterator<Item = T>,
        mut write: impl FnMut(&mut Self, T) -> Result<()>,
    ) -> Result<()> {
        for (index, item) in items.enumerate() {
            if 0 < index {
                self.out.push(b',');
            }
            write(self, item)?;
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<()> {
        write_json_text(text, &mut self.out);
        self.look()
    }

    fn value(&mut self, value: &Value) -> Result<()> {
        match value {
            Value::Null => self.out.extend_from_slice(b"null"),
            Value::Bool(truth) => add(&mut self.out, format_args!("{truth}")),
            Value::Int(number) => add(&mut self.out, format_args!("{number}")),
            Value::Float(number) => write_float(*number, &mut self.out),
            Value::String(text) => write_json_text(text, &mut self.out),
            Value::List(items) => {
                self.out.push(b'[');
                self.items(items.iter(), |text, item| text.value(item))?;
                self.out.push(b']');
            }
            Value::Map(map) => {
                self.out.push(b'{');
                self.items(map.entries().iter(), |text, (key, value)| {
                    write_json_text(key, &mut text.out);
                    text.out.push(b':');
                    text.value(value)
                })?;
                self.out.push(b'}');
            }
            Value::Point(point) => write_point(point, &mut self.out),
            // Temporal values; nodes, relationships and paths are maps in an answer.
            other => write_json_text(&other.to_string(), &mut self.out),
        }
        self.look()
    }

    fn look(&mut self) -> Result<()> {
        if self.bytes_max < self.sent + self.out.len() as u64 {
            return Err(too_long(self.bytes_max));
        }
        self.capacity.look(self.out.len())
    }
}

/// The shortest digits that read as the same float, with a point or an exponent.
fn write_float(number: f64, out: &mut Vec<u8>) {
    match number.is_finite() {
        true => add(out, format_args!("{number:?}")),
        false => write_json_text(&Value::Float(number).to_string(), out),
    }
}

fn write_point(point: &Point, out: &mut Vec<u8>) {
    add(out, format_args!("{{\"srid\":{}", point.srid() as i64));
    for (name, coordinate) in ["x", "y", "z"].iter().zip(point.coordinates()) {
        add(out, format_args!(",\"{name}\":"));
        write_float(*coordinate, out);
    }
    out.push(b'}');
}

fn add(out: &mut Vec<u8>, text: fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a vector accepts all bytes");
}

/// The parameters of a query from an object of JSON. A `$` before a name is optional. A number with
/// a point or an exponent is a float, any other one an int.
///
/// ```
/// use hexgraph::db::{Database, RequestContext, cypher_params};
///
/// let json = serde_json::json!({ "least": 2, "names": ["a"] });
/// let params = cypher_params(json.as_object().unwrap())?;
/// let text = "RETURN $least + size($names) AS n";
/// let answer = Database::in_memory().cypher_with(text, &params, &RequestContext::new())?;
/// assert_eq!(answer.value(0, 0).to_string(), "3");
/// # Ok::<(), hexgraph::types::Error>(())
/// ```
///
/// # Errors
///
/// `Query` for a number beyond 64 bits, and for values that are nested too deeply; it names the
/// parameter.
pub fn cypher_params(given: &serde_json::Map<String, Json>) -> Result<Map> {
    let mut entries = Vec::with_capacity(given.len());
    for (name, value) in given {
        let name = name.strip_prefix('$').unwrap_or(name);
        let value = from_json(value)
            .map_err(|error| Error::query(format!("parameter ${}: {error}", bounded(name))))?;
        entries.push((name.into(), value));
    }
    Ok(Map::new(entries)?)
}

fn from_json(given: &Json) -> Result<Value> {
    Ok(match given {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(int), _) => Value::Int(int),
            (None, Some(float)) if !number.is_u64() => Value::Float(float),
            _ => {
                let fault = format!("{number} is an int beyond 64 bits");
                return Err(Error::query(format!("{fault}: give it as a float or a text")));
            }
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => {
            Value::list(items.iter().map(from_json).collect::<Result<Vec<Value>>>()?)?
        }
        Json::Object(members) => {
            let entry =
                |(key, value): (&String, &Json)| Ok((key.as_str().into(), from_json(value)?));
            Value::map(members.iter().map(entry).collect::<Result<Vec<_>>>()?)?
        }
    })
}
