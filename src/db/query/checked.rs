//! Writing an answer under limits: it can be cancelled, and its length and memory are bounded. An
//! answer can be far larger than the levels that it is written from, since nodes repeat.

use hexgraph_base::types::{Error, FragmentSink, Objects, Result, Sink, Uid, ValueRef};
use hexgraph_store::exec::RequestContext;
use std::panic::resume_unwind;
use std::sync::OnceLock;

/// How many objects are written between two checks of the context.
const OBJECTS_INTERVAL: u32 = 1 << 12;

/// Hands everything on to another sink, and unwinds with the error of its context when the request
/// has to stop: a sink has no other means to stop its writer.
pub(in crate::db) struct CheckedSink<'a, S> {
    sink: S,
    context: &'a RequestContext,
    objects: u32,
    /// The approximate number of bytes written so far.
    bytes: u64,
    bytes_max: u64,
    /// Memory is reserved for this many written bytes; more is reserved when [`CheckedSink::bytes`]
    /// reaches it.
    reserved: u64,
    /// The bytes of memory reserved per written byte; 0 for a sink that retains nothing in memory.
    factor: u64,
    /// Set when the answer exceeds `bytes_max`.
    is_long: Option<&'a OnceLock<()>>,
    /// The largest memory that the inner sink has used in addition to its output, in bytes; it is
    /// reserved already.
    side_bytes: u64,
}

/// The smallest amount of memory that is reserved at once, in bytes.
const RESERVE_MIN: u64 = 64 << 10;

impl<'a, S: Sink> CheckedSink<'a, S> {
    /// Wraps `sink`; it stops when `context` says so, or after about `bytes_max` bytes.
    pub(in crate::db) fn new(
        sink: S,
        context: &'a RequestContext,
        bytes_max: u64,
    ) -> CheckedSink<'a, S> {
        // A buffer doubles, and is copied then.
        CheckedSink {
            sink,
            context,
            objects: 0,
            bytes: 0,
            bytes_max,
            reserved: 0,
            factor: 3,
            is_long: None,
            side_bytes: 0,
        }
    }

    /// Has `is_long` set when the sink unwinds because the answer is too long, and for no other
    /// reason.
    pub(super) fn report_when_too_long(&mut self, is_long: &'a OnceLock<()>) {
        self.is_long = Some(is_long);
    }

    /// Declares that the inner sink retains nothing in memory, so none is reserved for its output.
    pub(super) fn passing_on(self) -> CheckedSink<'a, S> {
        CheckedSink { factor: 0, ..self }
    }

    fn count(&mut self, bytes: usize) {
        // Characters that are escaped need more than they are counted as.
        let before = self.bytes.max(self.sink.written() as u64);
        self.bytes = before.saturating_add(bytes as u64);
        if self.reserved < self.bytes {
            self.reserve();
        }
    }

    /// Reserves memory for what is written, and the same again in advance.
    #[cold]
    fn reserve(&mut self) {
        if self.bytes_max < self.bytes {
            if let Some(is_long) = self.is_long {
                is_long.get_or_init(|| ());
            }
            resume_unwind(Box::new(too_long(self.bytes_max)));
        }
        let expected = (2 * self.bytes).max(RESERVE_MIN).min(self.bytes_max);
        if let Err(error) = self.context.reserve((expected - self.reserved) * self.factor) {
            resume_unwind(Box::new(error));
        }
        self.reserved = expected;
    }

    /// Returns the inner sink.
    pub(in crate::db) fn into_inner(self) -> S {
        self.sink
    }
}

/// Texts of at least so many bytes are looked at for characters that are escaped.
const LONG: usize = 1 << 12;

/// The bytes that a text takes as it is written; of a short one those that it has.
fn written_len(text: &str) -> usize {
    if text.len() < LONG {
        return text.len();
    }
    // `\u003c` has five bytes more than `<`. A line separator begins with 0xe2.
    let is_escaped =
        |byte: &&u8| matches!(byte, 0..0x20 | b'<' | b'>' | b'&' | b'"' | b'\\' | 0xe2);
    text.len() + 5 * text.as_bytes().iter().filter(is_escaped).count()
}

/// The memory reserved for a buffer that an answer is written to directly. A copy goes on from
/// where it was made.
#[derive(Clone, Copy)]
pub(in crate::db) struct Capacity<'a> {
    context: &'a RequestContext,
    bytes_max: u64,
    /// The length up to which memory is reserved and the context was checked, in bytes.
    looked: usize,
}

impl<'a> Capacity<'a> {
    /// Creates the space for a buffer of at most so many bytes, which is checked against `context`.
    pub(in crate::db) fn new(context: &'a RequestContext, bytes_max: u64) -> Capacity<'a> {
        Capacity { context, bytes_max, looked: 0 }
    }

    /// Records the current length of the buffer. Reserves memory for it, for the same again, and
    /// for a copy, since a growing buffer doubles and is copied.
    ///
    /// # Errors
    ///
    /// `Limit` when it is too long, there is no memory, or the request has to stop.
    pub(in crate::db) fn look(&mut self, length: usize) -> Result<()> {
        if length <= self.looked {
            return Ok(());
        }
        self.context.check()?;
        if self.bytes_max < length as u64 {
            return Err(too_long(self.bytes_max));
        }
        let expected = (length + length.min(LOOK_MAX)).max(RESERVE_MIN as usize);
        self.context.reserve(3 * (expected - self.looked) as u64)?;
        self.looked = expected;
        Ok(())
    }
}

/// The context is checked at least every so many written bytes.
const LOOK_MAX: usize = 4 << 20;

/// The error for an answer that is longer than the limit `result`.
pub(in crate::db) fn too_long(bytes_max: u64) -> Error {
    let message = format!(
        "the answer has more than {bytes_max} bytes: request less, or raise the limit `result`"
    );
    Error::Limit { message }
}

/// What a chunk of a checked answer has to know.
pub(in crate::db) struct CheckedForm<'a, F> {
    form: F,
    context: &'a RequestContext,
    bytes_max: u64,
    factor: u64,
    is_long: Option<&'a OnceLock<()>>,
}

impl<'a, S: FragmentSink> FragmentSink for CheckedSink<'a, S> {
    type Form = CheckedForm<'a, S::Form>;
    type Chunk = CheckedSink<'a, S::Chunk>;

    fn form(&self) -> Self::Form {
        let CheckedSink { context, bytes_max, is_long, .. } = *self;
        // A chunk is short, and does not double as an entire answer does.
        CheckedForm { form: self.sink.form(), context, bytes_max, factor: 1, is_long }
    }

    fn chunk(form: &Self::Form) -> Self::Chunk {
        let CheckedForm { context, bytes_max, factor, is_long, .. } = *form;
        let chunk = CheckedSink::new(S::chunk(&form.form), context, bytes_max);
        CheckedSink { factor, is_long, ..chunk }
    }

    fn append(&mut self, chunk: Self::Chunk) {
        // Reserved for the sum before the chunk's reservation is released, since the chunk is
        // copied.
        self.count(chunk.bytes as usize);
        self.announce(chunk.side_bytes as usize);
        self.sink.append(chunk.sink);
        self.context.give_back(chunk.reserved * chunk.factor + chunk.side_bytes);
    }

    fn takes_objects(&self) -> bool {
        self.sink.takes_objects()
    }

    fn expect(&mut self, chunks: usize) {
        // The capacity is what is reserved; where there is no memory for all of it, the answer may
        // still be shorter.
        let expected = self.bytes.saturating_mul(2 * chunks as u64);
        if expected <= self.reserved {
            return self.sink.expect(chunks);
        }
        if expected <= self.bytes_max
            && self.context.reserve((expected - self.reserved) * self.factor).is_ok()
        {
            self.reserved = expected;
            self.sink.expect(chunks);
        }
    }
}

impl<S: Sink> Sink for CheckedSink<'_, S> {
    fn begin_object(&mut self) {
        self.objects = self.objects.wrapping_add(1);
        if self.objects.is_multiple_of(OBJECTS_INTERVAL)
            && let Err(error) = self.context.check()
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
            ValueRef::String(text) | ValueRef::Default(text) => written_len(text),
            ValueRef::Geo(text) => text.len(),
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
        self.count(written_len(text) + 2);
        self.sink.text(text);
    }

    fn takes_rows(&self) -> bool {
        self.sink.takes_rows()
    }

    fn objects(&mut self, objects: &Objects<'_>) -> bool {
        if let Err(error) = self.context.check() {
            resume_unwind(Box::new(error));
        }
        // As if they came one by one.
        let before = self.bytes;
        self.count(usize::try_from(objects.byte_len()).unwrap_or(usize::MAX));
        if self.sink.objects(objects) {
            if let Err(error) = self.context.check() {
                resume_unwind(Box::new(error));
            }
            return true;
        }
        // They come one by one, and are counted then; the reservation serves them.
        self.bytes = before;
        false
    }

    fn announce(&mut self, bytes: usize) {
        let bytes = bytes as u64;
        if bytes <= self.side_bytes {
            return;
        }
        let reserved =
            self.context.check().and_then(|()| self.context.reserve(bytes - self.side_bytes));
        if let Err(error) = reserved {
            resume_unwind(Box::new(error));
        }
        self.side_bytes = bytes;
    }
}
