//! Parses JSON (RFC 8259) into a tree. Strings without escapes are borrowed from the text.
//!
//! A tree is needed because the keys of an object may come in any order: `uid` after the predicates of the node, a facet
//! before the value that it belongs to. Integers are read as integers and never pass through a float, which would round
//! those above 2^53.

use crate::types::{JsonError, JsonReader, stack};
use std::borrow::Cow;

/// The greatest depth of nested objects and arrays.
const DEPTH_MAX: usize = 250;

/// Objects with at least this many members have their repeated keys found by sorting; in a smaller one each
/// pair of members is compared.
const SCANNED_MAX: usize = 16;

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
    Text(Cow<'a, str>),
    /// A string that the caller says is a time.
    Time(Cow<'a, str>),
    /// The elements of an array.
    Array(Vec<Json<'a>>),
    /// An object.
    Object(JsonObject<'a>),
}

/// An object. Each key occurs once: of a repeated key only the last value is kept.
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
    pub(super) key: Cow<'a, str>,
    /// The offset where the value starts.
    pub(super) at: usize,
    /// The value.
    pub(super) value: Json<'a>,
}

impl JsonObject<'_> {
    /// Returns the member with a key. Takes time linear in the number of members.
    pub(super) fn get(&self, key: &str) -> Option<&Member<'_>> {
        self.members.iter().find(|member| member.key == key)
    }
}

/// Why a text can't be parsed into a tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum TreeFault {
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

/// Why a text can't be parsed into a tree, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TreeError {
    /// The offset of the first byte that does not fit.
    pub(super) at: usize,
    /// The reason.
    pub(super) fault: TreeFault,
}

/// Parses a text that holds one value. The strings that begin at the offsets `times`, which ascend, are times.
pub(super) fn read_json<'a>(text: &'a str, times: &[usize]) -> Result<Json<'a>, TreeError> {
    let mut reader = JsonReader::strict(text);
    let read = value(&mut reader, times, 0).and_then(|json| {
        reader.end()?;
        Ok(json)
    });
    read.map_err(|fault| TreeError { at: reader.offset(), fault })
}

fn value<'a>(
    reader: &mut JsonReader<'a>,
    times: &[usize],
    depth: usize,
) -> Result<Json<'a>, TreeFault> {
    stack::require();
    if DEPTH_MAX < depth {
        return Err(TreeFault::TooDeep);
    }
    Ok(match reader.peek()? {
        b'{' => Json::Object(object(reader, times, depth)?),
        b'[' => {
            let mut elements = Vec::new();
            reader.array(|element| -> Result<(), TreeFault> {
                elements.push(value(element, times, depth + 1)?);
                Ok(())
            })?;
            Json::Array(elements)
        }
        b'"' if !times.is_empty() && times.binary_search(&reader.offset()).is_ok() => {
            Json::Time(reader.string()?)
        }
        b'"' => Json::Text(reader.string()?),
        b'-' | b'0'..=b'9' => number(reader)?,
        _ => reader.word()?.map_or(Json::Null, Json::Bool),
    })
}

fn object<'a>(
    reader: &mut JsonReader<'a>,
    times: &[usize],
    depth: usize,
) -> Result<JsonObject<'a>, TreeFault> {
    let at = reader.offset();
    let mut members = Vec::new();
    reader.object(|key, reader| -> Result<(), TreeFault> {
        reader.peek()?;
        let at = reader.offset();
        members.push(Member { key, at, value: value(reader, times, depth + 1)? });
        Ok(())
    })?;
    drop_repeated(&mut members);
    Ok(JsonObject { members, text: reader.since(at), at })
}

fn number<'a>(reader: &mut JsonReader<'a>) -> Result<Json<'a>, TreeFault> {
    // The reader stays before an integer until that is known to fit: an error points at its first digit.
    let mut ahead = reader.clone();
    let text = ahead.number_text()?;
    if text.contains(['.', 'e', 'E']) {
        return Ok(Json::Float(reader.number()?));
    }
    let Ok(number) = text.parse() else {
        return Err(TreeFault::WideInteger { text: text.to_owned() });
    };
    *reader = ahead;
    Ok(Json::Int(number))
}

/// Removes all members of a key except for the last.
fn drop_repeated(members: &mut Vec<Member<'_>>) {
    let mut repeated: Vec<bool>;
    if members.len() < SCANNED_MAX {
        let again = |place: usize| {
            let (member, behind) = (&members[place], &members[place + 1..]);
            behind.iter().any(|other| other.key == member.key)
        };
        repeated = (0..members.len()).map(again).collect();
    } else {
        let mut places: Vec<usize> = (0..members.len()).collect();
        places.sort_by_key(|&place| &members[place].key);
        repeated = vec![false; members.len()];
        for pair in places.windows(2) {
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

    fn fault(text: &str) -> (usize, String) {
        let TreeError { at, fault } = read_json(text, &[]).expect_err(text);
        (at, fault.to_string())
    }

    #[test]
    fn numbers_keep_what_they_are() {
        let numbers = "[9223372036854775299, 9223372036854775299.0, -0, 0E-0, -1e10, 58.7]";
        let Json::Array(numbers) = read_json(numbers, &[]).unwrap() else { panic!("no array") };
        let want = [
            Json::Int(9_223_372_036_854_775_299),
            Json::Float(9_223_372_036_854_775_299.0),
            Json::Int(0),
            Json::Float(0.0),
            Json::Float(-1e10),
            Json::Float(58.7),
        ];
        assert_eq!(numbers, want);
        assert_eq!(fault("[27670116110564327426]").0, 1);
        assert!(fault("-9223372036854775809").1.contains("64 bits"));
        assert!(fault("1e999").1.contains("1e999"));
    }

    #[test]
    fn the_last_of_repeated_keys_counts() {
        for count in [0, 40] {
            let more: String = (0..count).map(|n| format!("\"k{n}\":1,")).collect();
            let text = format!("{{{more}\"a\":1,\"\\u0061\":2,\"b\":3,\"a\":4}}");
            let Json::Object(object) = read_json(&text, &[]).unwrap() else { panic!("no object") };
            assert_eq!(object.members.len(), count + 2);
            assert_eq!(object.get("a").unwrap().value, Json::Int(4));
            assert_eq!(object.text, text);
        }
    }

    #[test]
    fn texts_at_their_places_are_times() {
        let text = r#"{"a": "2020-01-02", "b": ["2020-01-02", "2020-01-02"]}"#;
        let Json::Object(object) = read_json(text, &[6, 40]).unwrap() else { panic!("no object") };
        let (text, time) = (Cow::Borrowed("2020-01-02"), Cow::Borrowed("2020-01-02"));
        assert_eq!(object.members[0].value, Json::Time(time.clone()));
        assert_eq!(object.members[1].value, Json::Array(vec![Json::Text(text), Json::Time(time)]));
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read_json(&nested(DEPTH_MAX), &[]).is_ok());
        assert!(fault(&nested(DEPTH_MAX + 1)).1.contains("deeper"));
        assert!(fault(&"{\"a\":".repeat(100_000)).1.contains("deeper"));
    }
}
