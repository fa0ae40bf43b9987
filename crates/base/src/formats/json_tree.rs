//! Parses a value of JSON (RFC 8259) into a tree. Strings without escapes are borrowed from the
//! text, those with escapes from an arena.
//!
//! A tree is needed because the keys of an object may come in any order: `uid` after the predicates
//! of the node, a facet before the value that it belongs to. Integers are read as integers and
//! never pass through a float, which would round those above 2^53.
//!
//! A tree is up to a hundred times as large as its text, so its memory is reserved as it grows. One
//! tree is needed at a time: the next one uses the same reservation.

use crate::formats::Admission;
use crate::types::{Error, JsonError, JsonReader, Result as EngineResult, stack};
use std::borrow::Cow;
use typed_arena::Arena;

/// The greatest depth of nested objects and arrays.
const DEPTH_MAX: usize = 250;

/// Objects with at least this many members are searched for repeated keys by sorting; in a smaller
/// one each pair of members is compared.
const SCANNED_MAX: usize = 16;

/// The reservation of trees grows by at least this many bytes.
const RESERVED_STEP: usize = 16 << 10;

/// The capacity of a list with its first item.
const FIRST_CAPACITY: usize = 4;

/// What a list takes for each further item: it doubles, and is copied while it grows.
const GROWTH: usize = 2;

/// The additional bytes per member while repeated keys and facets are looked for.
const MEMBER_EXTRA: usize = 64;

/// A value of JSON.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without fraction and exponent.
    Int(i64),
    /// Any other number, finite.
    Float(f64),
    /// A text, without its escapes.
    Text(&'a str),
    /// A string that the caller says is a time.
    Time(&'a str),
    /// The elements of an array.
    Array(Vec<Json<'a>>),
    /// An object.
    Object(JsonObject<'a>),
}

/// An object. Each key occurs once: of a repeated key only the last value is retained.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JsonObject<'a> {
    /// The members in the order of the text.
    pub(super) members: Vec<Member<'a>>,
    /// The text of the object, brackets included.
    pub(super) text: &'a str,
    /// The offset where it starts.
    pub(super) at: usize,
}

/// A key of an object with its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member<'a> {
    /// The key, without its escapes.
    pub(super) key: &'a str,
    /// The offset where the value starts.
    pub(super) at: usize,
    /// The value.
    pub(super) value: Json<'a>,
}

impl<'a> JsonObject<'a> {
    /// Returns the member with a key. Takes time linear in the number of members.
    pub(super) fn get(&self, key: &str) -> Option<&Member<'a>> {
        self.members.iter().find(|member| member.key == key)
    }
}

/// Why a text can't be parsed into a tree.
#[derive(Debug, thiserror::Error)]
pub(super) enum TreeFault {
    /// There is no memory for it.
    #[error(transparent)]
    Refused(#[from] Error),
    /// It is no JSON.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// It is nested deeper than a tree may be.
    #[error("objects and arrays nest deeper than {DEPTH_MAX} levels")]
    TooDeep,
    /// An integer does not fit into 64 bits, and a float would round it.
    #[error("the integer {text} has more than 64 bits (write it as a text)")]
    WideInteger {
        /// The integer as it is written.
        text: String,
    },
}

/// Reads trees of one text.
pub(super) struct TreeReader<'t, 'r> {
    /// The ascending offsets of the strings that are times.
    times: &'t [usize],
    /// Owns the strings with escapes.
    unescaped: &'t Arena<String>,
    admission: &'r dyn Admission,
    /// The bytes of the tree that is being read.
    used: usize,
    /// The bytes that are reserved for trees.
    reserved: usize,
}

impl<'t, 'r> TreeReader<'t, 'r> {
    /// A reader of trees in a text with these times.
    pub(super) fn new(
        times: &'t [usize],
        unescaped: &'t Arena<String>,
        admission: &'r dyn Admission,
    ) -> TreeReader<'t, 'r> {
        TreeReader { times, unescaped, admission, used: 0, reserved: 0 }
    }

    /// Reads the next value, which stands inside of `depth` others. The tree before it must have
    /// been dropped.
    pub(super) fn value(
        &mut self,
        reader: &mut JsonReader<'t>,
        depth: usize,
    ) -> Result<Json<'t>, TreeFault> {
        self.used = 0;
        self.nested(reader, depth)
    }

    fn nested(&mut self, reader: &mut JsonReader<'t>, depth: usize) -> Result<Json<'t>, TreeFault> {
        stack::require();
        if DEPTH_MAX < depth {
            return Err(TreeFault::TooDeep);
        }
        Ok(match reader.peek()? {
            b'{' => Json::Object(self.object(reader, depth)?),
            b'[' => {
                let mut elements = Vec::new();
                reader.array(|element| -> Result<(), TreeFault> {
                    self.grow(elements.len(), size_of::<Json<'_>>())?;
                    elements.push(self.nested(element, depth + 1)?);
                    Ok(())
                })?;
                Json::Array(elements)
            }
            b'"' if !self.times.is_empty()
                && self.times.binary_search(&reader.offset()).is_ok() =>
            {
                Json::Time(self.text(reader.string()?)?)
            }
            b'"' => Json::Text(self.text(reader.string()?)?),
            b'-' | b'0'..=b'9' => number(reader)?,
            _ => reader.word()?.map_or(Json::Null, Json::Bool),
        })
    }

    fn object(
        &mut self,
        reader: &mut JsonReader<'t>,
        depth: usize,
    ) -> Result<JsonObject<'t>, TreeFault> {
        let at = reader.offset();
        let mut members = Vec::new();
        reader.object(|key, reader| -> Result<(), TreeFault> {
            self.grow(members.len(), size_of::<Member<'_>>() + MEMBER_EXTRA)?;
            let key = self.text(key)?;
            reader.peek()?;
            let at = reader.offset();
            members.push(Member { key, at, value: self.nested(reader, depth + 1)? });
            Ok(())
        })?;
        drop_repeated(&mut members);
        Ok(JsonObject { members, text: reader.since(at), at })
    }

    /// Reserves memory for the next item of a list of `len` items, of `size` bytes each.
    fn grow(&mut self, len: usize, size: usize) -> EngineResult<()> {
        self.used += if len == 0 { FIRST_CAPACITY * size } else { GROWTH * size };
        if self.reserved < self.used {
            let more = (self.used - self.reserved).max(RESERVED_STEP);
            self.admission.reserve(more)?;
            self.reserved += more;
        }
        Ok(())
    }

    /// Retains a string for as long as the statements that are made of it.
    fn text(&mut self, text: Cow<'t, str>) -> EngineResult<&'t str> {
        match text {
            Cow::Borrowed(text) => Ok(text),
            Cow::Owned(text) => {
                self.admission.reserve(text.capacity() + GROWTH * size_of::<String>())?;
                Ok(self.unescaped.alloc(text).as_str())
            }
        }
    }
}

fn number<'a>(reader: &mut JsonReader<'a>) -> Result<Json<'a>, TreeFault> {
    // The reader stays before an integer until that surely fits: an error points at its first
    // digit.
    let mut lookahead = reader.clone();
    let text = lookahead.number_text()?;
    if text.contains(['.', 'e', 'E']) {
        return Ok(Json::Float(reader.number()?));
    }
    let Ok(number) = text.parse() else {
        return Err(TreeFault::WideInteger { text: text.to_owned() });
    };
    *reader = lookahead;
    Ok(Json::Int(number))
}

/// Removes all members of a key except for the last.
fn drop_repeated(members: &mut Vec<Member<'_>>) {
    let mut repeated: Vec<bool>;
    if members.len() < SCANNED_MAX {
        let again = |position: usize| {
            let (member, behind) = (&members[position], &members[position + 1..]);
            behind.iter().any(|other| other.key == member.key)
        };
        repeated = (0..members.len()).map(again).collect();
    } else {
        let mut positions: Vec<usize> = (0..members.len()).collect();
        positions.sort_by_key(|&position| &members[position].key);
        repeated = vec![false; members.len()];
        for pair in positions.windows(2) {
            repeated[pair[0]] = members[pair[0]].key == members[pair[1]].key;
        }
    }
    if repeated.contains(&true) {
        let mut repeated = repeated.into_iter();
        members.retain(|_| repeated.next() == Some(false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a text with one value, and hands it on; or the fault with its offset.
    fn read<T>(
        text: &str,
        times: &[usize],
        check: impl FnOnce(Json<'_>) -> T,
    ) -> Result<T, (usize, String)> {
        let unescaped = Arena::new();
        let mut reader = JsonReader::strict(text);
        let read = TreeReader::new(times, &unescaped, &()).value(&mut reader, 0);
        let read = read.and_then(|json| {
            reader.end()?;
            Ok(json)
        });
        read.map(check).map_err(|fault| (reader.offset(), fault.to_string()))
    }

    fn fault(text: &str) -> (usize, String) {
        read(text, &[], |_| ()).expect_err(text)
    }

    #[test]
    fn numbers_retain_their_type() {
        let numbers = "[9223372036854775299, 9223372036854775299.0, -0, 0E-0, -1e10, 58.7]";
        let want = [
            Json::Int(9_223_372_036_854_775_299),
            Json::Float(9_223_372_036_854_775_299.0),
            Json::Int(0),
            Json::Float(0.0),
            Json::Float(-1e10),
            Json::Float(58.7),
        ];
        read(numbers, &[], |read| assert_eq!(read, Json::Array(want.to_vec()))).unwrap();
        assert_eq!(fault("[27670116110564327426]").0, 1);
        assert!(fault("-9223372036854775809").1.contains("64 bits"));
        assert!(fault("1e999").1.contains("1e999"));
    }

    #[test]
    fn the_last_of_repeated_keys_counts() {
        for count in [0, 40] {
            let more: String = (0..count).map(|n| format!("\"k{n}\":1,")).collect();
            let text = format!("{{{more}\"a\":1,\"\\u0061\":2,\"b\":3,\"a\":4}}");
            let check = |json: Json<'_>| {
                let Json::Object(object) = json else { panic!("no object") };
                assert_eq!(object.members.len(), count + 2);
                assert_eq!(object.get("a").unwrap().value, Json::Int(4));
                assert_eq!(object.text, text);
            };
            read(&text, &[], check).unwrap();
        }
    }

    #[test]
    fn texts_at_their_positions_are_times() {
        let text = r#"{"a": "2020-01-02", "b": ["2020-01-02", "2020-01-02"]}"#;
        let check = |json: Json<'_>| {
            let Json::Object(object) = json else { panic!("no object") };
            let (text, time) = (Json::Text("2020-01-02"), Json::Time("2020-01-02"));
            assert_eq!(object.members[0].value, time);
            assert_eq!(object.members[1].value, Json::Array(vec![text, time]));
        };
        read(text, &[6, 40], check).unwrap();
    }

    /// Counts what is reserved, and refuses beyond a bound.
    struct Bounded(std::cell::Cell<usize>, usize);

    impl Admission for Bounded {
        fn reserve(&self, bytes: usize) -> EngineResult<()> {
            self.0.set(self.0.get() + bytes);
            match self.0.get() <= self.1 {
                true => Ok(()),
                false => Err(Error::Limit { message: "no more".to_owned() }),
            }
        }
    }

    #[test]
    fn memory_is_reserved_as_a_tree_grows() {
        let text = format!("[{}{{}}]", r#"{"a":{"b":{"c":{}}}},"#.repeat(1_000));
        let read = |most: usize| {
            let (unescaped, bounded) = (Arena::new(), Bounded(std::cell::Cell::new(0), most));
            let mut trees = TreeReader::new(&[], &unescaped, &bounded);
            let mut reader = JsonReader::strict(&text);
            let json = trees.value(&mut reader, 0).map(drop);
            // The next tree uses the same reservation.
            let used = bounded.0.get();
            let again = trees.value(&mut JsonReader::strict(&text), 0);
            assert!(json.is_err() || again.is_ok() && used == bounded.0.get());
            (json, reader.offset(), used)
        };
        let (json, _, used) = read(usize::MAX);
        // Three lists of one member each, and the objects themselves.
        let least = 1_000 * (3 * FIRST_CAPACITY * size_of::<Member<'_>>() + size_of::<Json<'_>>());
        assert!(json.is_ok() && least < used, "{used}");
        let (json, offset, _) = read(used / 10);
        assert!(matches!(json, Err(TreeFault::Refused(_))), "{json:?}");
        assert!(offset < text.len() / 5, "{offset}");
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&nested(DEPTH_MAX), &[], |_| ()).is_ok());
        assert!(fault(&nested(DEPTH_MAX + 1)).1.contains("deeper"));
        assert!(fault(&"{\"a\":".repeat(100_000)).1.contains("deeper"));
    }
}
