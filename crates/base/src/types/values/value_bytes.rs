//! Values as bytes: to be stored, and to be grouped and sorted by.

use crate::types::forms::bigfloat;
use crate::types::{DateTime, Value, ValueRef, ValueType};
use std::hash::{Hash, Hasher};

/// Inverting it makes the bytes of signed numbers, the highest first, order as the numbers do.
const SIGN: u64 = 1 << 63;

impl Value {
    /// Appends the value, its type first, as bytes that [`Value::decode`] reads.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.as_ref().encode(out);
    }

    /// Reads one value and returns its number of bytes. `None` when they are damaged.
    pub fn decode(bytes: &[u8]) -> Option<(Value, usize)> {
        if let Some((value, used)) = ValueRef::decode(bytes) {
            return Some((value.to_value(), used));
        }
        let (&tag, rest) = bytes.split_first()?;
        if ValueType::from_tag(tag) != Some(ValueType::Vector) {
            return None;
        }
        let (content, used) = split_content(rest)?;
        let (chunks, odd) = content.as_chunks::<4>();
        let numbers = chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect();
        odd.is_empty().then_some((Value::Vector(numbers), 1 + used))
    }
}

impl<'a> ValueRef<'a> {
    /// Appends the value, its type first, as bytes that [`Value::decode`] reads.
    pub fn encode(self, out: &mut Vec<u8>) {
        out.push(self.value_type() as u8);
        match self {
            ValueRef::Int(number) => out.extend_from_slice(&number.to_le_bytes()),
            ValueRef::Float(number) => out.extend_from_slice(&number.to_le_bytes()),
            ValueRef::Bool(truth) => out.push(u8::from(truth)),
            ValueRef::DateTime(time) => {
                out.extend_from_slice(&time.seconds.to_le_bytes());
                out.extend_from_slice(&time.nanos.to_le_bytes());
                out.extend_from_slice(&time.offset_minutes.to_le_bytes());
            }
            ValueRef::Default(text)
            | ValueRef::String(text)
            | ValueRef::Geo(text)
            | ValueRef::Password(text)
            | ValueRef::BigFloat(text) => write_content(text.as_bytes(), out),
            ValueRef::Binary(bytes) => write_content(bytes, out),
            ValueRef::Vector(numbers) => {
                write_length(numbers.len() * 4, out);
                numbers.iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
            }
        }
    }

    /// Reads one value without copying it, and returns its number of bytes. `None` when they are
    /// damaged, and for a vector, whose bytes lie anywhere: [`Value::decode`] reads those too.
    pub fn decode(bytes: &'a [u8]) -> Option<(ValueRef<'a>, usize)> {
        let (&tag, rest) = bytes.split_first()?;
        let (value, used) = match ValueType::from_tag(tag)? {
            ValueType::Int => (ValueRef::Int(i64::from_le_bytes(*rest.first_chunk()?)), 8),
            ValueType::Float => (ValueRef::Float(f64::from_le_bytes(*rest.first_chunk()?)), 8),
            ValueType::Bool => (ValueRef::Bool(*rest.first()? != 0), 1),
            ValueType::DateTime => (ValueRef::DateTime(decode_time(rest)?), 14),
            ValueType::Binary => {
                let (content, used) = split_content(rest)?;
                (ValueRef::Binary(content), used)
            }
            ValueType::Uid | ValueType::Vector => return None,
            kind => {
                let (content, used) = split_content(rest)?;
                (textual(kind, std::str::from_utf8(content).ok()?), used)
            }
        };
        Some((value, 1 + used))
    }

    /// Feeds the content of the value to a hasher, and not its type: a text has one hash whatever
    /// textual type it has, an instant one in all zones, and so have 0 and -0.
    pub fn hash_content(&self, hasher: &mut impl Hasher) {
        match *self {
            ValueRef::Int(number) => number.hash(hasher),
            // The sum of -0 and 0 is 0.
            ValueRef::Float(number) => (number + 0.0).to_bits().hash(hasher),
            ValueRef::Bool(truth) => truth.hash(hasher),
            ValueRef::DateTime(time) => (time.seconds, time.nanos).hash(hasher),
            ValueRef::Vector(numbers) => {
                numbers.iter().for_each(|number| number.to_bits().hash(hasher));
            }
            ValueRef::Binary(bytes) => bytes.hash(hasher),
            ValueRef::Default(text)
            | ValueRef::String(text)
            | ValueRef::Geo(text)
            | ValueRef::Password(text) => text.hash(hasher),
            ValueRef::BigFloat(_) => {
                let mut key = Vec::new();
                self.group_key(&mut key);
                key.hash(hasher);
            }
        }
    }

    /// Appends a key for grouping and sorting: the type, then bytes whose order is that of
    /// [`ValueRef::compare`] within the type. No key is the beginning of another, so keys may stand
    /// one after the other. Times of one instant have one key, and so have 0 and -0.
    pub fn group_key(&self, out: &mut Vec<u8>) {
        out.push(self.value_type() as u8);
        match *self {
            ValueRef::Int(number) => {
                out.extend_from_slice(&(number as u64 ^ SIGN).to_be_bytes());
            }
            ValueRef::Float(number) => out.extend_from_slice(&ordered_bits(number).to_be_bytes()),
            ValueRef::Bool(truth) => out.push(u8::from(truth)),
            ValueRef::DateTime(time) => {
                out.extend_from_slice(&(time.seconds as u64 ^ SIGN).to_be_bytes());
                out.extend_from_slice(&time.nanos.to_be_bytes());
            }
            ValueRef::BigFloat(text) => bigfloat::write_key(text, out),
            ValueRef::Default(text)
            | ValueRef::String(text)
            | ValueRef::Geo(text)
            | ValueRef::Password(text) => write_terminated(text.as_bytes(), out),
            ValueRef::Binary(bytes) => write_terminated(bytes, out),
            ValueRef::Vector(numbers) => {
                out.extend_from_slice(&(numbers.len() as u64).to_be_bytes());
                for number in numbers {
                    out.extend_from_slice(&ordered_bits(f64::from(*number)).to_be_bytes());
                }
            }
        }
    }
}

fn textual(kind: ValueType, text: &str) -> ValueRef<'_> {
    match kind {
        ValueType::String => ValueRef::String(text),
        ValueType::Geo => ValueRef::Geo(text),
        ValueType::Password => ValueRef::Password(text),
        ValueType::BigFloat => ValueRef::BigFloat(text),
        _ => ValueRef::Default(text),
    }
}

fn decode_time(bytes: &[u8]) -> Option<DateTime> {
    let (seconds, rest) = bytes.split_first_chunk()?;
    let (nanos, rest) = rest.split_first_chunk()?;
    Some(DateTime {
        seconds: i64::from_le_bytes(*seconds),
        nanos: u32::from_le_bytes(*nanos),
        offset_minutes: i16::from_le_bytes(*rest.first_chunk()?),
    })
    .filter(|time| time.nanos < 1_000_000_000)
}

fn write_content(content: &[u8], out: &mut Vec<u8>) {
    write_length(content.len(), out);
    out.extend_from_slice(content);
}

/// Seven bits a byte, the lowest first; all but the last byte have the eighth bit set.
fn write_length(mut length: usize, out: &mut Vec<u8>) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

/// The content after a length, and the number of bytes of both.
fn split_content(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let mut length = 0usize;
    // Nine bytes have 63 bits; a length of more is damage.
    for (at, &byte) in bytes.iter().enumerate().take(9) {
        length |= usize::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            let end = (at + 1).checked_add(length)?;
            return Some((bytes.get(at + 1..end)?, end));
        }
    }
    None
}

/// Terminated by two zeros; a zero in the text is followed by 255.
fn write_terminated(bytes: &[u8], out: &mut Vec<u8>) {
    // 0 255 is above the end, 0 0, so a text comes before those that it is the beginning of.
    for (at, chunk) in bytes.split(|&byte| byte == 0).enumerate() {
        if at > 0 {
            out.extend_from_slice(&[0, 255]);
        }
        out.extend_from_slice(chunk);
    }
    out.extend_from_slice(&[0, 0]);
}

/// Bits that compare as unsigned numbers the way floats compare; both zeros are one.
pub fn ordered_bits(number: f64) -> u64 {
    const SIGN: u64 = 1 << 63;
    // The bits of IEEE 754 order as the numbers of one sign do, those of negative ones in reverse.
    // Adding 0 makes 0 of -0.
    let bits = (number + 0.0).to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// The first eight bytes of a text as a number that compares as they do; a shorter text is followed
/// by zeros.
#[inline]
pub fn ordered_prefix(bytes: &[u8]) -> u64 {
    if let Some(head) = bytes.first_chunk() {
        return u64::from_be_bytes(*head);
    }
    let at = |position: usize| u64::from(bytes[position]) << (56 - 8 * position);
    match (bytes.first_chunk(), bytes.last_chunk()) {
        // Four bytes from either end, which may overlap: no copy of a variable length.
        (Some(first), Some(last)) => {
            let last = u64::from(u32::from_be_bytes(*last)) << (64 - 8 * bytes.len());
            u64::from(u32::from_be_bytes(*first)) << 32 | last
        }
        _ if bytes.is_empty() => 0,
        // The first, the middle and the last of one to three.
        _ => at(0) | at(bytes.len() / 2) | at(bytes.len() - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::BigFloat;
    use proptest::prelude::*;

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            any::<String>().prop_map(Value::Default),
            any::<String>().prop_map(Value::String),
            any::<String>().prop_map(Value::Geo),
            any::<String>().prop_map(Value::Password),
            any::<i64>().prop_map(Value::Int),
            any::<f64>().prop_map(Value::Float),
            any::<bool>().prop_map(Value::Bool),
            (any::<i64>(), 0u32..1_000_000_000, any::<i16>()).prop_map(
                |(seconds, nanos, offset)| {
                    Value::DateTime(DateTime { seconds, nanos, offset_minutes: offset })
                }
            ),
            "-?[0-9]{1,5}(\\.[0-9]{1,5})?"
                .prop_map(|text| { Value::BigFloat(BigFloat::parse(&text).unwrap()) }),
            proptest::collection::vec(any::<f32>(), 0..5).prop_map(Value::Vector),
            proptest::collection::vec(0u8..4, 0..5).prop_map(Value::Binary),
        ]
    }

    proptest! {
        #[test]
        fn a_prefix_is_the_first_eight_bytes(text in prop::collection::vec(any::<u8>(), 0..12)) {
            let mut head = [0; 8];
            let len = text.len().min(8);
            head[..len].copy_from_slice(&text[..len]);
            prop_assert_eq!(ordered_prefix(&text), u64::from_be_bytes(head));
        }

        #[test]
        fn values_round_trip(values in proptest::collection::vec(value(), 0..5)) {
            let mut bytes = Vec::new();
            values.iter().for_each(|value| value.encode(&mut bytes));
            let mut at = 0;
            for value in &values {
                let (read, used) = Value::decode(&bytes[at..]).unwrap();
                prop_assert_eq!(&read, value);
                at += used;
            }
            prop_assert_eq!(at, bytes.len());
        }

        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..40), tag in 0u8..12) {
            let _ = Value::decode(&bytes);
            let _ = Value::decode(&[&[tag], &bytes[..]].concat());
        }

        #[test]
        fn keys_are_ordered_as_values(a in value(), b in value()) {
            let key = |value: &Value| {
                let mut out = Vec::new();
                value.as_ref().group_key(&mut out);
                out
            };
            let (x, y) = (key(&a), key(&b));
            prop_assert!(x == y || !x.starts_with(&y));
            if a.value_type() == b.value_type()
                && let Some(order) = a.as_ref().compare(b.as_ref())
            {
                prop_assert_eq!(x.cmp(&y), order);
            }
        }
    }

    #[test]
    fn zero_has_one_key() {
        let [mut plus, mut minus] = [Vec::new(), Vec::new()];
        ValueRef::Float(0.0).group_key(&mut plus);
        ValueRef::Float(-0.0).group_key(&mut minus);
        assert_eq!(plus, minus);
    }

    #[test]
    fn lengths_beyond_the_bytes_are_refused() {
        assert_eq!(Value::decode(&[3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]), None);
        assert_eq!(Value::decode(&[3, 5, b'a']), None);
        assert_eq!(Value::decode(&[]), None);
    }
}
