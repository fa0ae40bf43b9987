//! Answers as JSON text, as Dgraph writes it.
//!
//! Everything is appended to one buffer. Each open object or array remembers the offset where it
//! began, its comma and key included, so discarding it truncates the buffer. Omitting a value
//! truncates the buffer to the offset of its key.

use super::json_rows::Rows;
use super::json_text::{write_json_text, write_plain_text, write_uid};
use crate::types::{
    DateTime, FragmentSink, Objects, ShowValues, Sink, Uid, ValueRef, write_float, write_float32,
    write_int,
};

/// A sink that writes an answer as JSON into a buffer. [`JsonSink::clear`] lets the buffer be used
/// for another answer.
#[derive(Debug, Default)]
pub struct JsonSink {
    out: Vec<u8>,
    open: Vec<Open>,
    /// The offset of the comma and key of the next value, between a key and its value.
    key_start: Option<usize>,
}

/// An object or array that is not closed yet.
#[derive(Debug, Clone, Copy)]
struct Open {
    /// The offset of its comma and key.
    start: usize,
    /// The offset after its opening bracket.
    content: usize,
}

impl JsonSink {
    /// Creates a sink with an empty buffer.
    pub fn new() -> JsonSink {
        JsonSink::default()
    }

    /// Creates a sink whose buffer has space for this many bytes.
    pub fn with_capacity(bytes: usize) -> JsonSink {
        JsonSink { out: Vec::with_capacity(bytes), ..JsonSink::default() }
    }

    /// Returns the text that is written so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.out
    }

    /// Returns the written text as bytes. It is UTF-8.
    pub fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    /// Returns the written text.
    pub fn into_string(self) -> String {
        String::from_utf8(self.out).expect("only valid UTF-8 are written")
    }

    /// Returns the text that is written so far except for its last byte, and forgets it. To be
    /// called right after the end of an object: then every open object and array has content, so
    /// none of them can be discarded any more. The last byte stays because commas depend on it.
    pub(super) fn drain(&mut self) -> Vec<u8> {
        let last = self.out.len() - 1;
        let rest = self.out.split_off(last);
        for open in &mut self.open {
            (open.start, open.content) = (0, 0);
        }
        std::mem::replace(&mut self.out, rest)
    }

    /// Writes an object as the next element of the innermost array, if it has a value.
    pub(super) fn write_row(&mut self, rows: &Rows<'_>, position: usize) {
        let content = self.open.last().map_or(0, |open| open.content);
        rows.write_one(position, content, &mut self.out);
    }

    /// Empties the buffer and retains its capacity.
    pub fn clear(&mut self) {
        self.out.clear();
        self.open.clear();
        self.key_start = None;
    }

    /// Writes a comma if the next item is an element of an array and not its first. Returns the
    /// offset where the item begins, with its comma and key.
    fn begin_item(&mut self) -> usize {
        if let Some(start) = self.key_start.take() {
            return start;
        }
        let start = self.out.len();
        self.separate();
        start
    }

    fn separate(&mut self) {
        if self.open.last().is_some_and(|open| self.out.len() > open.content) {
            self.out.push(b',');
        }
    }

    fn begin(&mut self, bracket: u8) {
        let start = self.begin_item();
        self.out.push(bracket);
        self.open.push(Open { start, content: self.out.len() });
    }

    fn end(&mut self, bracket: u8) {
        debug_assert!(!self.open.is_empty(), "closed more than was opened");
        self.open.pop();
        self.out.push(bracket);
    }

    fn discard(&mut self) {
        debug_assert!(!self.open.is_empty(), "discarded more than was opened");
        if let Some(open) = self.open.pop() {
            self.out.truncate(open.start);
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.begin_item();
        self.out.extend_from_slice(bytes);
    }
}

impl Sink for JsonSink {
    fn begin_object(&mut self) {
        self.begin(b'{');
    }

    fn end_object(&mut self) {
        self.end(b'}');
    }

    fn discard_object(&mut self) {
        self.discard();
    }

    fn begin_array(&mut self) {
        self.begin(b'[');
    }

    fn end_array(&mut self) {
        self.end(b']');
    }

    fn discard_array(&mut self) {
        self.discard();
    }

    fn is_empty(&self) -> bool {
        self.out.len() == self.open.last().map_or(0, |open| open.content)
    }

    fn key(&mut self, key: &str) {
        debug_assert!(self.key_start.is_none(), "a key without a value");
        self.key_start = Some(self.out.len());
        self.separate();
        write_plain_text(key, &mut self.out);
        self.out.push(b':');
    }

    fn value(&mut self, value: ValueRef<'_>) {
        self.show(value);
    }

    fn uid(&mut self, uid: Uid) {
        self.begin_item();
        write_uid(uid, &mut self.out);
    }

    fn int(&mut self, number: i64) {
        self.begin_item();
        write_int(number, &mut self.out);
    }

    fn null(&mut self) {
        self.bytes(b"null");
    }

    fn text(&mut self, text: &str) {
        self.begin_item();
        write_json_text(text, &mut self.out);
    }

    fn written(&self) -> usize {
        self.out.len()
    }

    fn takes_rows(&self) -> bool {
        true
    }

    fn objects(&mut self, objects: &Objects<'_>) -> bool {
        debug_assert!(self.key_start.is_none(), "several objects are in an array");
        let rows = Rows::new(objects);
        let content = self.open.last().map_or(0, |open| open.content);
        rows.write(objects, content, &mut self.out);
        true
    }
}

impl FragmentSink for JsonSink {
    type Form = ();
    type Chunk = JsonSink;

    fn form(&self) {}

    fn chunk((): &()) -> JsonSink {
        // It represents an open array that the sink has written: commas come between items, and
        // none before the first.
        JsonSink { open: vec![Open { start: 0, content: 0 }], ..JsonSink::default() }
    }

    fn append(&mut self, chunk: JsonSink) {
        if !chunk.out.is_empty() {
            self.bytes(&chunk.out);
        }
    }

    fn expect(&mut self, chunks: usize) {
        let written = self.out.len() - self.open.last().map_or(0, |open| open.content);
        // An eighth more, since chunks differ. Where memory is short the buffer grows as it has to.
        let _ = self.out.try_reserve_exact(written.saturating_mul(chunks + chunks / 8 + 1));
    }
}

impl ShowValues for JsonSink {
    fn float(&mut self, number: f64) {
        if number.is_finite() {
            self.begin_item();
            write_float(number, &mut self.out);
        } else {
            self.omit();
        }
    }

    fn vector(&mut self, numbers: &[f32]) {
        self.begin_item();
        self.out.push(b'[');
        for (at, number) in numbers.iter().enumerate() {
            if at > 0 {
                self.out.push(b',');
            }
            write_float32(*number, &mut self.out);
        }
        self.out.push(b']');
    }

    fn bool(&mut self, truth: bool) {
        self.bytes(if truth { b"true" } else { b"false" });
    }

    fn time(&mut self, time: DateTime) {
        self.begin_item();
        self.out.push(b'"');
        if !time.is_zero() {
            time.write(&mut self.out);
        }
        self.out.push(b'"');
    }

    fn json(&mut self, json: &str) {
        self.bytes(json.as_bytes());
    }

    /// Omits the next value: takes back its key and the comma before that. Nothing of an item of an
    /// array is written yet.
    fn omit(&mut self) {
        if let Some(start) = self.key_start.take() {
            self.out.truncate(start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{DateTime, Value, ValueType};
    use proptest::prelude::*;

    fn text(sink: JsonSink) -> String {
        assert!(sink.open.is_empty());
        sink.into_string()
    }

    fn quoted(text: &str) -> String {
        let mut out = Vec::new();
        write_json_text(text, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn nests_and_separates() {
        let mut sink = JsonSink::with_capacity(64);
        sink.begin_object();
        assert!(sink.is_empty());
        sink.key("q");
        sink.begin_array();
        for uid in [1, 0x1f, u64::MAX] {
            sink.begin_object();
            sink.key("uid");
            sink.uid(Uid(uid));
            sink.key("n");
            sink.int(-3);
            sink.end_object();
        }
        sink.null();
        sink.text("x");
        sink.end_array();
        assert!(!sink.is_empty());
        sink.key("e");
        sink.begin_object();
        sink.end_object();
        sink.end_object();
        assert_eq!(
            text(sink),
            "{\"q\":[{\"uid\":\"0x1\",\"n\":-3},{\"uid\":\"0x1f\",\"n\":-3},\
             {\"uid\":\"0xffffffffffffffff\",\"n\":-3},null,\"x\"],\"e\":{}}"
        );
    }

    #[test]
    fn takes_back() {
        let mut sink = JsonSink::new();
        sink.begin_object();
        sink.key("a");
        sink.begin_array();
        sink.begin_object();
        sink.key("x");
        sink.int(1);
        sink.discard_object();
        assert!(sink.is_empty());
        sink.discard_array();
        assert!(sink.is_empty());
        sink.key("b");
        sink.begin_array();
        sink.int(1);
        sink.begin_object();
        sink.discard_object();
        sink.int(2);
        sink.end_array();
        sink.key("c");
        sink.begin_object();
        sink.discard_object();
        sink.key("d");
        sink.int(3);
        sink.end_object();
        assert_eq!(text(sink), "{\"b\":[1,2],\"d\":3}");
    }

    #[test]
    fn writes_every_type() {
        let mut sink = JsonSink::new();
        sink.begin_array();
        for (kind, value) in [
            (ValueType::Default, "a"),
            (ValueType::Int, "5"),
            (ValueType::Float, "2.1e7"),
            (ValueType::String, "b\"<"),
            (ValueType::Bool, "true"),
            (ValueType::Bool, "0"),
            (ValueType::DateTime, "2006-01-02T15:04:05+05:30"),
            (ValueType::DateTime, "0001-01-01"),
            (ValueType::Geo, "{'type':'Point','coordinates':[1,2]}"),
            (ValueType::BigFloat, "1234567890.5"),
            (ValueType::Vector, "[1, -0.25, 1e10]"),
            (ValueType::Binary, "bytes"),
        ] {
            sink.value(Value::parse(value, kind).unwrap().as_ref());
        }
        sink.end_array();
        assert_eq!(
            text(sink),
            r#"["a",5,2.1e+07,"b\"\u003c",true,false,"2006-01-02T15:04:05+05:30","",{"type":"Point","coordinates":[1,2]},1.2345678905e+09,[1E+00,-2.5E-01,1E+10],"bytes"]"#
        );
    }

    #[test]
    fn omits_infinities_and_passwords_with_their_keys() {
        let mut sink = JsonSink::new();
        sink.begin_object();
        sink.key("a");
        sink.value(ValueRef::Float(f64::INFINITY));
        assert!(sink.is_empty());
        sink.key("b");
        sink.int(1);
        sink.key("c");
        sink.value(ValueRef::Password("hash"));
        sink.key("d");
        sink.begin_array();
        sink.value(ValueRef::Float(f64::NEG_INFINITY));
        sink.value(ValueRef::Float(1.0));
        sink.end_array();
        sink.end_object();
        assert_eq!(text(sink), "{\"b\":1,\"d\":[1]}");
    }

    #[test]
    fn what_is_no_json_is_no_part_of_an_answer() {
        for text in ["1},{\"admin\":true", "{\"type\":\"Point\"}]", "", "{", "[1,2", "nul", "1 2"] {
            for value in [ValueRef::Geo(text), ValueRef::BigFloat(text)] {
                let write = || {
                    let mut sink = JsonSink::new();
                    sink.begin_array();
                    sink.value(value);
                };
                let error = std::panic::catch_unwind(write).unwrap_err();
                let error = error.downcast_ref::<crate::types::Error>().unwrap().to_string();
                assert!(error.contains("is no JSON"), "{error}");
            }
        }
    }

    #[test]
    fn escapes_texts_and_keys() {
        assert_eq!(
            quoted("<a>&\u{2028}\u{2029}\u{2027}\n\r\t\u{1}\u{8}\u{7f}\"\\é日😀"),
            "\"\\u003ca\\u003e\\u0026\\u2028\\u2029\u{2027}\\n\\r\\t\\u0001\\u0008\u{7f}\\\"\\\\é日😀\""
        );
        let mut sink = JsonSink::new();
        sink.begin_object();
        sink.key("<a>&\"");
        sink.null();
        sink.end_object();
        assert_eq!(text(sink), "{\"<a>&\\\"\":null}");
    }

    #[test]
    fn chunks_are_elements() {
        let element = |sink: &mut JsonSink, number: i64| {
            sink.begin_object();
            sink.key("n");
            sink.int(number);
            match number % 3 {
                0 => sink.discard_object(),
                _ => sink.end_object(),
            }
        };
        for cut in 0..8 {
            let (mut full, mut pieced) = (JsonSink::new(), JsonSink::new());
            for sink in [&mut full, &mut pieced] {
                sink.begin_object();
                sink.key("a");
                sink.begin_array();
            }
            (0..8).for_each(|number| element(&mut full, number));
            for numbers in [0..cut, cut..cut, cut..8] {
                let mut chunk = JsonSink::chunk(&());
                numbers.for_each(|number| element(&mut chunk, number));
                pieced.append(chunk);
            }
            for sink in [&mut full, &mut pieced] {
                sink.end_array();
                sink.end_object();
            }
            assert_eq!(text(pieced), text(full));
        }
    }

    #[test]
    fn is_used_again() {
        let mut sink = JsonSink::new();
        sink.begin_object();
        sink.key("a");
        sink.clear();
        sink.value(ValueRef::DateTime(DateTime::parse("2006").unwrap()));
        assert_eq!(sink.as_bytes(), b"\"2006-01-01T00:00:00Z\"");
    }

    proptest! {
        #[test]
        fn texts_parse_back(text in any::<String>(), tail in "[ -~\u{2020}-\u{2030}]{0,40}") {
            let full = text + &tail;
            let json = quoted(&full);
            let is_escaped = !json.contains(['<', '>', '&', '\u{2028}', '\u{2029}']);
            prop_assert!(is_escaped);
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), full);
        }

        #[test]
        fn keys_parse_back(key in any::<String>()) {
            let mut sink = JsonSink::new();
            sink.begin_object();
            sink.key(&key);
            sink.null();
            sink.end_object();
            let json: serde_json::Map<String, serde_json::Value> =
                serde_json::from_slice(&sink.into_bytes()).unwrap();
            prop_assert_eq!(json.keys().next(), Some(&key));
        }
    }
}
