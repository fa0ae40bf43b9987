//! Where an answer is written to: JSON text, Python objects.

use super::{DateTime, Error, JsonReader, Objects, Uid, ValueRef, shown};
use std::panic::resume_unwind;

/// Takes an answer as a stream of events, depth first.
///
/// Every `begin_*` is closed by its `end_*` or dropped by `discard_*`: a node whose fields are all
/// empty is removed, so a writer need not check that before.
pub trait Sink {
    /// Opens an object, in an array or after a key.
    fn begin_object(&mut self);
    /// Closes the innermost object.
    fn end_object(&mut self);
    /// Takes back the innermost object and all in it, with the key before it if there was one.
    fn discard_object(&mut self);
    /// Opens an array, in an array or after a key.
    fn begin_array(&mut self);
    /// Closes the innermost array.
    fn end_array(&mut self);
    /// Takes back the innermost array and all in it, with the key before it if there was one.
    fn discard_array(&mut self);
    /// True when nothing is in the innermost open object or array.
    fn is_empty(&self) -> bool;
    /// Names the next value of the innermost object.
    fn key(&mut self, key: &str);
    /// Writes a value.
    fn value(&mut self, value: ValueRef<'_>);
    /// Writes a uid, as text.
    fn uid(&mut self, uid: Uid);
    /// Writes a count.
    fn int(&mut self, number: i64);
    /// Writes the absence of a value.
    fn null(&mut self);
    /// Writes a text.
    fn text(&mut self, text: &str);
    /// Announces how much memory the writer is about to hold in addition to its output: a sink that
    /// counts memory may refuse it, by unwinding with an error.
    fn announce(&mut self, _bytes: usize) {}
    /// The bytes of the text that it has in memory; 0 for a sink that has none, or does not know.
    fn written(&self) -> usize {
        0
    }
    /// Whether [`Sink::objects`] takes the objects of the innermost array, in chunks.
    fn takes_rows(&self) -> bool {
        false
    }
    /// Takes the next objects of the innermost array at once, as columns. Returns false, with
    /// nothing done, where it needs them one by one: a sink that builds columns, or objects without
    /// a look-up per key, accepts them.
    fn objects(&mut self, _objects: &Objects<'_>) -> bool {
        false
    }
}

/// A sink that takes elements of an array also from other threads, which write to a chunk each.
pub trait FragmentSink: Sink {
    /// What a chunk has to know of the sink.
    type Form: Sync;
    /// What elements are written to.
    type Chunk: Sink + Send;

    /// The form of chunks of the innermost open array.
    fn form(&self) -> Self::Form;
    /// An empty chunk.
    fn chunk(form: &Self::Form) -> Self::Chunk;
    /// Adds the elements of a chunk after those that the innermost open array has.
    fn append(&mut self, chunk: Self::Chunk);
    /// Makes space for so many more chunks of the size of what was written since this array was
    /// opened.
    fn expect(&mut self, chunks: usize);
    /// Whether [`Sink::objects`] takes objects as columns, so that there is no need of chunks.
    fn takes_objects(&self) -> bool {
        false
    }
}

/// A sink that shows values. An answer has fewer forms of values than there are types, and
/// [`ShowValues::show`] is the one table that says in which form a type is shown.
pub trait ShowValues: Sink {
    /// Writes a float; omits one that is not finite.
    fn float(&mut self, number: f64);
    /// Writes a truth value.
    fn bool(&mut self, truth: bool);
    /// Writes an instant as text, and the instant that represents none as an empty text.
    fn time(&mut self, time: DateTime);
    /// Writes what is JSON already.
    fn json(&mut self, json: &str);
    /// Writes a list of floats, each with the fewest digits that are read as the same number.
    fn vector(&mut self, numbers: &[f32]);
    /// Omits the value, with its key.
    fn omit(&mut self);

    /// Writes a value in the form of its type.
    #[inline]
    fn show(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Default(text) | ValueRef::String(text) => self.text(text),
            ValueRef::Int(number) => self.int(number),
            ValueRef::Float(number) => self.float(number),
            ValueRef::Bool(truth) => self.bool(truth),
            ValueRef::DateTime(time) => self.time(time),
            ValueRef::Geo(json) | ValueRef::BigFloat(json) => self.json(checked_json(json)),
            ValueRef::Password(_) => self.omit(),
            ValueRef::Vector(numbers) => self.vector(numbers),
            ValueRef::Binary(bytes) => self.text(&String::from_utf8_lossy(bytes)),
        }
    }
}

/// A stored text that is JSON. Files may be damaged, or made by others: anything else would become
/// part of the answer.
///
/// # Panics
///
/// Unwinds with [`Error::Corrupt`] for any other text, since the methods of a sink return nothing.
fn checked_json(text: &str) -> &str {
    let mut reader = JsonReader::new(text);
    if reader.skip().and_then(|()| reader.end()).is_err() {
        let message = format!(
            "a stored geometry or number, {}, is no JSON: restore the database from a backup",
            shown(text)
        );
        resume_unwind(Box::new(Error::Corrupt { path: "the database".to_owned(), message }));
    }
    text
}
