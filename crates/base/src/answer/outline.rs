//! Sinks that look at the objects, arrays and keys of an answer, and at none of its values.

use crate::types::{Sink, Uid, ValueRef};

/// What a sink that drops all values has to know of them. Each is a [`Sink`].
pub trait Outline {
    /// An object or an array begins.
    fn begin(&mut self);
    /// The innermost object or array closes.
    fn end(&mut self);
    /// The innermost object or array is discarded, with the key before it.
    fn discard(&mut self);
    /// The key of the next element.
    fn next_key(&mut self, _key: &str) {}
    /// A value.
    fn item(&mut self);
    /// A value that answers omit, with the key before it.
    fn omit(&mut self) {}
    /// True when the innermost object or array has an element.
    fn has_element(&self) -> bool;
}

impl<T: Outline> Sink for T {
    fn begin_object(&mut self) {
        self.begin();
    }

    fn end_object(&mut self) {
        self.end();
    }

    fn discard_object(&mut self) {
        self.discard();
    }

    fn begin_array(&mut self) {
        self.begin();
    }

    fn end_array(&mut self) {
        self.end();
    }

    fn discard_array(&mut self) {
        self.discard();
    }

    fn is_empty(&self) -> bool {
        !self.has_element()
    }

    fn key(&mut self, key: &str) {
        self.next_key(key);
    }

    fn value(&mut self, value: ValueRef<'_>) {
        // As in `JsonSink`.
        match value {
            ValueRef::Password(_) => self.omit(),
            ValueRef::Float(number) if !number.is_finite() => self.omit(),
            _ => self.item(),
        }
    }

    fn uid(&mut self, _uid: Uid) {
        self.item();
    }

    fn int(&mut self, _number: i64) {
        self.item();
    }

    fn null(&mut self) {
        self.item();
    }

    fn text(&mut self, _text: &str) {
        self.item();
    }
}
