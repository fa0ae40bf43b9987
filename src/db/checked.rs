//! Lets the writing of an answer be stopped: a tree can be far larger than the levels it comes from.

use crate::exec::Control;
use crate::types::Error;
use crate::types::Sink;
use crate::types::Uid;
use crate::types::ValueRef;
use std::panic::resume_unwind;

/// How many objects are written between two looks at the control.
const OBJECTS_INTERVAL: u32 = 1 << 12;

/// Hands everything on to another sink, and unwinds with the error of its control when the
/// request has to stop: a sink can't refuse what it is given in any other way.
pub struct Checked<'a, S> {
    sink: S,
    control: &'a Control,
    objects: u32,
    /// About the bytes that were written.
    bytes: u64,
    bytes_max: u64,
}

impl<'a, S: Sink> Checked<'a, S> {
    /// A sink that stops when `control` says so, and behind about `bytes_max` bytes.
    pub fn new(sink: S, control: &'a Control, bytes_max: u64) -> Checked<'a, S> {
        Checked { sink, control, objects: 0, bytes: 0, bytes_max }
    }

    fn count(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        if self.bytes_max < self.bytes {
            resume_unwind(Box::new(too_long(self.bytes_max)));
        }
    }

    /// The sink inside.
    pub fn into_inner(self) -> S {
        self.sink
    }
}

/// That an answer is longer than it may be.
pub(in crate::db) fn too_long(bytes_max: u64) -> Error {
    let message = format!(
        "the answer has more than {bytes_max} bytes: ask for less, or raise the limit `result`"
    );
    Error::Limit { message }
}

impl<S: Sink> Sink for Checked<'_, S> {
    fn begin_object(&mut self) {
        self.objects = self.objects.wrapping_add(1);
        if self.objects.is_multiple_of(OBJECTS_INTERVAL)
            && let Err(error) = self.control.check()
        {
            resume_unwind(Box::new(error));
        }
        self.sink.begin_object();
    }

    fn end_object(&mut self) {
        self.sink.end_object();
    }

    fn discard_object(&mut self) {
        self.sink.discard_object();
    }

    fn begin_array(&mut self) {
        self.sink.begin_array();
    }

    fn end_array(&mut self) {
        self.sink.end_array();
    }

    fn discard_array(&mut self) {
        self.sink.discard_array();
    }

    fn is_empty(&self) -> bool {
        self.sink.is_empty()
    }

    fn key(&mut self, key: &str) {
        self.count(key.len() + 4);
        self.sink.key(key);
    }

    fn value(&mut self, value: ValueRef<'_>) {
        self.count(match value {
            ValueRef::String(text) | ValueRef::Default(text) | ValueRef::Geo(text) => text.len(),
            ValueRef::Vector(numbers) => 12 * numbers.len(),
            _ => 8,
        });
        self.sink.value(value);
    }

    fn uid(&mut self, uid: Uid) {
        self.count(8);
        self.sink.uid(uid);
    }

    fn int(&mut self, number: i64) {
        self.sink.int(number);
    }

    fn null(&mut self) {
        self.sink.null();
    }

    fn text(&mut self, text: &str) {
        self.count(text.len() + 2);
        self.sink.text(text);
    }
}
