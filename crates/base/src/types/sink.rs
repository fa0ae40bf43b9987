//! Where an answer is written to: JSON text, Python objects.

use super::{DateTime, Uid, ValueRef};

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
    /// Whether [`Sink::objects`] takes the flat objects of a block, in pieces.
    fn takes_rows(&self) -> bool {
        false
    }
    /// Takes the next objects of the innermost array at once, as columns. Returns false, with nothing done, where it wants them one by
    /// one: a sink that makes columns of objects, or objects without asking for each of their keys, takes them.
    fn objects(&mut self, _objects: &Objects<'_>) -> bool {
        false
    }
}

/// Objects as columns: flat, and with no two values of one key. One that has no value at all is none, and left out.
pub struct Objects<'o> {
    /// The number of objects.
    pub len: usize,
    /// The keys in their order, each with its values.
    pub columns: Vec<(&'o str, ObjectCells<'o>)>,
}

/// The values that objects have of a key.
#[derive(Clone, Copy)]
pub enum ObjectCells<'o> {
    /// Texts: all of them one behind the other, and where each ends.
    Texts(&'o str, &'o [usize]),
    /// Ints, and which objects have one; an empty list says that all have.
    Ints(&'o [i64], &'o [bool]),
    /// Floats, likewise; one that is not finite is no value.
    Floats(&'o [f64], &'o [bool]),
    /// Truth values, likewise.
    Bools(&'o [bool], &'o [bool]),
    /// Instants, likewise.
    Times(&'o [DateTime], &'o [bool]),
    /// Uids, which all objects have.
    Uids(&'o [Uid]),
    /// Texts of some of the objects.
    Some(&'o [Option<&'o str>]),
    /// Texts by their places in a list, which is the same for all objects of a block; [`ObjectCells::NONE`] for an object without one.
    Coded(&'o [u32], &'o [&'o str]),
}

impl<'o> ObjectCells<'o> {
    /// The place of the text that an object does not have.
    pub const NONE: u32 = u32::MAX;

    /// Whether an object has a value.
    #[inline]
    pub fn has(&self, place: usize) -> bool {
        match self {
            ObjectCells::Texts(..) | ObjectCells::Uids(_) => true,
            ObjectCells::Ints(_, has) | ObjectCells::Bools(_, has) | ObjectCells::Times(_, has) => {
                has.is_empty() || has[place]
            }
            ObjectCells::Floats(floats, has) => {
                (has.is_empty() || has[place]) && floats[place].is_finite()
            }
            ObjectCells::Some(texts) => texts[place].is_some(),
            ObjectCells::Coded(codes, _) => codes[place] != ObjectCells::NONE,
        }
    }

    /// The text of an object; `None` where it has none, and for cells that are no texts.
    #[inline]
    pub fn text(&self, place: usize) -> Option<&'o str> {
        match self {
            ObjectCells::Texts(text, ends) => {
                let start = if place == 0 { 0 } else { ends[place - 1] };
                Some(&text[start..ends[place]])
            }
            ObjectCells::Some(texts) => texts[place],
            ObjectCells::Coded(codes, texts) => texts.get(codes[place] as usize).copied(),
            _ => None,
        }
    }

    /// The bytes of the values as they are counted one by one: those of a text, and eight for any other value.
    pub fn byte_len(&self, objects: usize) -> usize {
        match self {
            ObjectCells::Texts(text, _) => text.len(),
            ObjectCells::Some(_) | ObjectCells::Coded(..) => {
                (0..objects).filter_map(|place| self.text(place)).map(str::len).sum()
            }
            _ => 8 * objects,
        }
    }
}

/// A sink that takes elements of an array also from other threads, each of which writes some to a piece.
pub trait PieceSink: Sink {
    /// What a piece has to know of the sink.
    type Form: Sync;
    /// What elements are written to.
    type Piece: Sink + Send;

    /// The form of pieces of the innermost open array.
    fn form(&self) -> Self::Form;
    /// An empty piece.
    fn piece(form: &Self::Form) -> Self::Piece;
    /// Adds the elements of a piece behind those that the innermost open array has.
    fn append(&mut self, piece: Self::Piece);
    /// Makes room for so many more pieces of the size of what was written since this array was opened.
    fn expect(&mut self, pieces: usize);
    /// Whether [`Sink::objects`] takes objects as columns, so that there is no need of pieces.
    fn takes_objects(&self) -> bool {
        false
    }
}

/// A sink that shows values. An answer has fewer forms of values than there are types, and [`ShowValues::show`] is the one
/// table that says in which form a type is shown.
pub trait ShowValues: Sink {
    /// Writes a float; omits one that is not finite.
    fn float(&mut self, number: f64);
    /// Writes a truth value.
    fn bool(&mut self, truth: bool);
    /// Writes an instant as text, and the instant that stands for none as an empty text.
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
            ValueRef::Geo(json) | ValueRef::BigFloat(json) => self.json(json),
            ValueRef::Password(_) => self.omit(),
            ValueRef::Vector(numbers) => self.vector(numbers),
            ValueRef::Binary(bytes) => self.text(&String::from_utf8_lossy(bytes)),
        }
    }
}
