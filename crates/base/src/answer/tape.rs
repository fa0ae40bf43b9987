//! An answer that is independent of the data that it was read from.
//!
//! A tape records the calls of a writer to a [`Sink`], with the types of all values, and plays it
//! to any other sink later. All texts are in one buffer, and a key that repeats is retained once.

use crate::types::{DateTime, Sink, Uid, ValueRef};

/// The number of different keys that are searched for an existing one. An answer whose objects have
/// more keys stores some of them repeatedly.
const KEYS_LOOKED: usize = 64;

/// Records an answer, and plays it. See the module.
#[derive(Debug, Default)]
pub struct Tape {
    events: Vec<Event>,
    /// All texts, keys included.
    texts: String,
    /// The bytes of binary values.
    bytes: Vec<u8>,
    /// The numbers of vectors.
    numbers: Vec<f32>,
    /// Where the different keys are in `texts`, in the order of their first use.
    keys: Vec<Span>,
    /// The position in `keys` after the last one that was used: objects of a list mostly have the
    /// same keys in the same order.
    next_key: usize,
    /// The objects and arrays that are not closed yet.
    open: Vec<Open>,
    /// Whether the last event is a key that waits for its value.
    has_key: bool,
}

/// A part of one of the buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    start: u32,
    end: u32,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    /// The number of events before it and its key.
    before: usize,
    /// The number of events before its content.
    content: usize,
}

#[derive(Debug, Clone, Copy)]
enum Event {
    BeginObject,
    EndObject,
    BeginArray,
    EndArray,
    Null,
    /// A key, by its index in the list of keys.
    Key(u32),
    /// A text that is no value, such as the name of a type.
    Text(Span),
    Uid(Uid),
    /// A number that is no value, such as a count.
    Count(i64),
    Int(i64),
    Float(f64),
    Bool(bool),
    Time(DateTime),
    Default(Span),
    String(Span),
    Geo(Span),
    BigFloat(Span),
    Vector(Span),
    Binary(Span),
}

impl Tape {
    /// Returns an empty tape.
    pub fn new() -> Tape {
        Tape::default()
    }

    /// Gives back the memory that was reserved for more.
    pub fn shrink(&mut self) {
        self.events.shrink_to_fit();
        self.texts.shrink_to_fit();
        self.bytes.shrink_to_fit();
        self.numbers.shrink_to_fit();
        self.keys.shrink_to_fit();
        self.open = Vec::new();
    }

    /// Returns the bytes of memory that the tape holds.
    pub fn byte_len(&self) -> usize {
        self.events.capacity() * size_of::<Event>()
            + self.texts.capacity()
            + self.bytes.capacity()
            + self.numbers.capacity() * size_of::<f32>()
            + self.keys.capacity() * size_of::<Span>()
    }

    /// Plays what was recorded to a sink: of each array no more than `items_max` items, but for
    /// those of the arrays in the outermost object whose key `is_complete` names. Costs a step for
    /// each event that was recorded, with those that are left out.
    pub fn play(&self, items_max: usize, is_complete: impl Fn(&str) -> bool, sink: &mut dyn Sink) {
        // The number of items so far of each open array; `None` for an object.
        let mut open: Vec<Option<usize>> = Vec::new();
        let (mut full, mut left_out) = (false, 0_usize);
        for event in &self.events {
            let begins = matches!(event, Event::BeginObject | Event::BeginArray);
            let closes = matches!(event, Event::EndObject | Event::EndArray);
            // The number of brackets that are open of the item that is left out: where all are
            // closed, the item has ended.
            if 0 < left_out {
                left_out = left_out + usize::from(begins) - usize::from(closes);
                continue;
            }
            if closes {
                open.pop();
            } else if let Some(Some(items)) = open.last_mut() {
                *items += 1;
                if items_max < *items && !full {
                    left_out = usize::from(begins);
                    continue;
                }
            }
            if let Event::Key(key) = event
                && open.len() == 1
            {
                full = is_complete(self.key_text(*key));
            }
            match event {
                Event::BeginArray => open.push(Some(0)),
                Event::BeginObject => open.push(None),
                _ => {}
            }
            self.play_event(*event, sink);
        }
    }

    fn play_event(&self, event: Event, sink: &mut dyn Sink) {
        match event {
            Event::BeginObject => sink.begin_object(),
            Event::EndObject => sink.end_object(),
            Event::BeginArray => sink.begin_array(),
            Event::EndArray => sink.end_array(),
            Event::Null => sink.null(),
            Event::Key(key) => sink.key(self.key_text(key)),
            Event::Text(span) => sink.text(self.text_at(span)),
            Event::Uid(uid) => sink.uid(uid),
            Event::Count(number) => sink.int(number),
            Event::Int(number) => sink.value(ValueRef::Int(number)),
            Event::Float(number) => sink.value(ValueRef::Float(number)),
            Event::Bool(truth) => sink.value(ValueRef::Bool(truth)),
            Event::Time(time) => sink.value(ValueRef::DateTime(time)),
            Event::Default(span) => sink.value(ValueRef::Default(self.text_at(span))),
            Event::String(span) => sink.value(ValueRef::String(self.text_at(span))),
            Event::Geo(span) => sink.value(ValueRef::Geo(self.text_at(span))),
            Event::BigFloat(span) => sink.value(ValueRef::BigFloat(self.text_at(span))),
            Event::Vector(span) => sink.value(ValueRef::Vector(&self.numbers[span.range()])),
            Event::Binary(span) => sink.value(ValueRef::Binary(&self.bytes[span.range()])),
        }
    }

    fn text_at(&self, span: Span) -> &str {
        &self.texts[span.range()]
    }

    fn key_text(&self, key: u32) -> &str {
        self.text_at(self.keys[key as usize])
    }

    fn item(&mut self, event: Event) {
        self.has_key = false;
        self.events.push(event);
    }

    fn begin(&mut self, event: Event) {
        let before = self.events.len() - usize::from(self.has_key);
        self.item(event);
        self.open.push(Open { before, content: self.events.len() });
    }

    fn end(&mut self, event: Event) {
        self.open.pop();
        self.item(event);
    }

    /// The texts of what is discarded stay: a writer takes back only what is empty.
    fn discard(&mut self) {
        if let Some(open) = self.open.pop() {
            self.events.truncate(open.before);
            self.has_key = false;
        }
    }

    fn retain_text(&mut self, text: &str) -> Span {
        let start = self.texts.len();
        self.texts.push_str(text);
        Span::new(start, self.texts.len())
    }
}

impl Span {
    fn new(start: usize, end: usize) -> Span {
        let position = |at: usize| u32::try_from(at).expect("a tape is far shorter than 4 GiB");
        Span { start: position(start), end: position(end) }
    }

    fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl Sink for Tape {
    fn begin_object(&mut self) {
        self.begin(Event::BeginObject);
    }

    fn end_object(&mut self) {
        self.end(Event::EndObject);
    }

    fn discard_object(&mut self) {
        self.discard();
    }

    fn begin_array(&mut self) {
        self.begin(Event::BeginArray);
    }

    fn end_array(&mut self) {
        self.end(Event::EndArray);
    }

    fn discard_array(&mut self) {
        self.discard();
    }

    fn is_empty(&self) -> bool {
        self.events.len() == self.open.last().map_or(0, |open| open.content)
    }

    fn key(&mut self, key: &str) {
        let is_at =
            |position: &usize| self.keys.get(*position).is_some_and(|it| self.text_at(*it) == key);
        // Behind the last key the search goes on at the first: the next object of a list begins
        // with it.
        let guess = if self.next_key < self.keys.len() { self.next_key } else { 0 };
        let existing = Some(guess)
            .filter(is_at)
            .or_else(|| (0..self.keys.len().min(KEYS_LOOKED)).find(|position| is_at(position)));
        let position = existing.unwrap_or_else(|| {
            let span = self.retain_text(key);
            self.keys.push(span);
            self.keys.len() - 1
        });
        self.next_key = position + 1;
        self.item(Event::Key(position as u32));
        self.has_key = true;
    }

    fn value(&mut self, value: ValueRef<'_>) {
        let event = match value {
            // As every sink that shows values: what has no form is omitted, with its key.
            ValueRef::Password(_) => return self.omit(),
            ValueRef::Float(number) if !number.is_finite() => return self.omit(),
            ValueRef::Float(number) => Event::Float(number),
            ValueRef::Int(number) => Event::Int(number),
            ValueRef::Bool(truth) => Event::Bool(truth),
            ValueRef::DateTime(time) => Event::Time(time),
            ValueRef::Default(text) => Event::Default(self.retain_text(text)),
            ValueRef::String(text) => Event::String(self.retain_text(text)),
            ValueRef::Geo(text) => Event::Geo(self.retain_text(text)),
            ValueRef::BigFloat(text) => Event::BigFloat(self.retain_text(text)),
            ValueRef::Vector(numbers) => {
                let start = self.numbers.len();
                self.numbers.extend_from_slice(numbers);
                Event::Vector(Span::new(start, self.numbers.len()))
            }
            ValueRef::Binary(bytes) => {
                let start = self.bytes.len();
                self.bytes.extend_from_slice(bytes);
                Event::Binary(Span::new(start, self.bytes.len()))
            }
        };
        self.item(event);
    }

    fn uid(&mut self, uid: Uid) {
        self.item(Event::Uid(uid));
    }

    fn int(&mut self, number: i64) {
        self.item(Event::Count(number));
    }

    fn null(&mut self) {
        self.item(Event::Null);
    }

    fn text(&mut self, text: &str) {
        let span = self.retain_text(text);
        self.item(Event::Text(span));
    }
}

impl Tape {
    fn omit(&mut self) {
        if std::mem::take(&mut self.has_key) {
            self.events.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::JsonSink;

    /// Writes something of everything, with parts that are removed.
    fn write(sink: &mut dyn Sink) {
        sink.begin_object();
        sink.key("q");
        sink.begin_array();
        for row in 0..3 {
            sink.begin_object();
            sink.key("uid");
            sink.uid(Uid(row));
            sink.key("name");
            sink.value(ValueRef::String("Ada"));
            sink.key("nothing");
            sink.value(ValueRef::Float(f64::NAN));
            sink.key("secret");
            sink.value(ValueRef::Password("hash"));
            sink.key("empty");
            sink.begin_array();
            assert!(sink.is_empty());
            sink.discard_array();
            sink.key("tags");
            sink.begin_array();
            (0..4).for_each(|tag| sink.int(tag));
            sink.end_array();
            sink.key("vector");
            sink.value(ValueRef::Vector(&[1.0, 0.5]));
            sink.key("position");
            sink.value(ValueRef::Geo(r#"{"type":"Point","coordinates":[1,2]}"#));
            sink.key("none");
            sink.null();
            sink.end_object();
        }
        sink.begin_object();
        sink.key("nothing");
        sink.value(ValueRef::Float(f64::INFINITY));
        assert!(sink.is_empty());
        sink.discard_object();
        sink.end_array();
        sink.key("sums");
        sink.begin_array();
        for number in [1.5, 2.5] {
            sink.begin_object();
            sink.key("sum");
            sink.value(ValueRef::Float(number));
            sink.end_object();
        }
        sink.end_array();
        sink.end_object();
    }

    fn played(tape: &Tape, items_max: usize) -> String {
        let mut json = JsonSink::new();
        tape.play(items_max, |key| key == "sums", &mut json);
        json.into_string()
    }

    #[test]
    fn a_tape_plays_what_it_recorded() {
        let (mut tape, mut direct) = (Tape::new(), JsonSink::new());
        write(&mut tape);
        write(&mut direct);
        tape.shrink();
        assert_eq!(played(&tape, usize::MAX), direct.into_string());
    }

    #[test]
    fn the_beginning_of_each_array_is_played() {
        let mut tape = Tape::new();
        write(&mut tape);
        let row = r#"{"uid":"0x0","name":"Ada","tags":[0],"vector":[1E+00,5E-01],"position":{"type":"Point","coordinates":[1,2]},"none":null}"#;
        let sums = r#""sums":[{"sum":1.5},{"sum":2.5}]"#;
        assert_eq!(played(&tape, 1), format!(r#"{{"q":[{row}],{sums}}}"#));
    }

    #[test]
    fn a_key_is_stored_once() {
        let mut tape = Tape::new();
        write(&mut tape);
        assert_eq!(tape.texts.matches("name").count(), 1);
        assert_eq!(tape.texts.matches("Ada").count(), 3);
    }
}
