//! Where an answer is written to: JSON text, Python objects.

use super::{Uid, ValueRef};

/// Takes an answer as a stream of events, depth first.
///
/// Every `begin_*` is closed by its `end_*` or dropped by `discard_*`: a node whose fields turn out
/// to be all empty is taken back, so a writer need not know beforehand.
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
    /// True when nothing stands in the innermost open object or array.
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
    /// Is told how much memory the writer is about to hold beside what it writes: a sink that counts memory may refuse it,
    /// by unwinding with an error.
    fn beside(&mut self, _bytes: usize) {}
}
