//! Values from text, and of one type into another.

use super::bigfloat::BigFloatError;
use super::parse::{self, ParseError};
use crate::compat::go_numbers;
use crate::types::values::datetime::TimeError;
use crate::types::values::geo::{self, Geometry, GeometryError};
use crate::types::values::password_error::PasswordError;
use crate::types::{BigFloat, DateTime, Value, ValueRef, ValueType};
use std::borrow::Cow;
use std::fmt::Write;

/// Why a text or a value is no value of the type that was requested.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConvertError {
    /// No value of the one type becomes one of the other, or not this one.
    #[error("a value of type {} can't become one of type {}", from.name(), to.name())]
    Types {
        /// The type of the value.
        from: ValueType,
        /// The type that was requested.
        to: ValueType,
    },
    /// The float has no integer part of 64 bits.
    #[error("the float is too large for an int")]
    FloatTooLarge,
    /// The bytes are no stored form of the type.
    #[error("the bytes {bytes} are no {expected}")]
    Bytes {
        /// The first 16 of them, as numbers in brackets.
        bytes: String,
        /// What was requested: `int`, `float` or `vector`.
        expected: &'static str,
    },
    /// The byte is neither 0 nor 1.
    #[error("the byte {byte} is no bool")]
    BoolByte {
        /// The byte.
        byte: u8,
    },
    /// The text is no bool, int, float or vector.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The text or the bytes are no time, or the time can't be written.
    #[error(transparent)]
    Time(#[from] TimeError),
    /// The text or the bytes are no geometry.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// The text is no bigfloat.
    #[error(transparent)]
    BigFloat(#[from] BigFloatError),
    /// The text can't be a password, or its hash is not computed.
    #[error(transparent)]
    Password(#[from] PasswordError),
}

impl Value {
    /// Reads a text as a value of a type. The text of a password is hashed, which takes tens of
    /// milliseconds.
    ///
    /// # Errors
    ///
    /// [`ConvertError`], which names the text and what is wrong with it.
    pub fn parse(text: &str, kind: ValueType) -> Result<Value, ConvertError> {
        Ok(match kind {
            ValueType::Default => Value::Default(text.to_string()),
            ValueType::String => Value::String(text.to_string()),
            ValueType::Int => Value::Int(parse::parse_int(text)?),
            ValueType::Float => Value::Float(parse::parse_float(text)?),
            ValueType::Bool => Value::Bool(parse::parse_bool(text)?),
            ValueType::DateTime => Value::DateTime(DateTime::parse(text)?),
            ValueType::Geo => Value::Geo(geo::canonical_text(text)?),
            ValueType::Password => Value::hash_password(text)?,
            ValueType::BigFloat => Value::BigFloat(BigFloat::parse(text)?),
            ValueType::Vector => Value::Vector(parse::parse_vector(text)?),
            ValueType::Binary => Value::Binary(text.as_bytes().to_vec()),
            ValueType::Uid => return Err(refusal(ValueType::String, kind)),
        })
    }
}

impl ValueRef<'_> {
    /// Returns the value as one of another type. Where a password is requested, a password stays as
    /// it is and a text is hashed, which takes tens of milliseconds.
    ///
    /// # Errors
    ///
    /// [`ConvertError::Types`] for types that do not go together, else what is wrong with this
    /// value.
    pub fn convert(self, to: ValueType) -> Result<Value, ConvertError> {
        if self.value_type() == to {
            return Ok(self.to_value());
        }
        match self {
            ValueRef::Default(text) | ValueRef::String(text) => {
                Value::parse(text, to).map_err(|reason| match to {
                    ValueType::Uid => refusal(self.value_type(), to),
                    _ => reason,
                })
            }
            ValueRef::Int(number) => convert_int(number, to),
            ValueRef::Float(number) => convert_float(number, to),
            ValueRef::Bool(truth) => convert_bool(truth, to),
            ValueRef::DateTime(time) => convert_time(time, to),
            ValueRef::BigFloat(text) => convert_big_float(&BigFloat::from_canonical(text), to),
            ValueRef::Geo(text) => convert_geo(text, to),
            ValueRef::Password(hash) => match to {
                ValueType::String => Ok(Value::String(hash.to_string())),
                ValueType::Binary => Ok(Value::Binary(hash.as_bytes().to_vec())),
                _ => Err(refusal(ValueType::Password, to)),
            },
            ValueRef::Vector(numbers) => convert_vector(numbers, to),
            ValueRef::Binary(bytes) => convert_binary(bytes, to),
        }
    }
}

impl<'a> ValueRef<'a> {
    /// Returns the text that a literal of the value has. Texts, geometries, hashes and big floats
    /// are borrowed. A float has the fewest digits that are read as the same number, and bytes that
    /// are not UTF-8 are replaced.
    pub fn to_text(self) -> Cow<'a, str> {
        match self {
            ValueRef::Default(text)
            | ValueRef::String(text)
            | ValueRef::Geo(text)
            | ValueRef::Password(text)
            | ValueRef::BigFloat(text) => Cow::Borrowed(text),
            ValueRef::Int(number) => Cow::Owned(number.to_string()),
            ValueRef::Float(number) => Cow::Owned(number.to_string()),
            ValueRef::Bool(truth) => Cow::Borrowed(if truth { "true" } else { "false" }),
            ValueRef::DateTime(time) => Cow::Owned(time.to_string()),
            ValueRef::Vector(numbers) => {
                let mut text = String::from("[");
                for (at, number) in numbers.iter().enumerate() {
                    text.push_str(if at == 0 { "" } else { "," });
                    write!(text, "{number}").expect("memory takes all that is written");
                }
                text.push(']');
                Cow::Owned(text)
            }
            ValueRef::Binary(bytes) => String::from_utf8_lossy(bytes),
        }
    }
}

fn refusal(from: ValueType, to: ValueType) -> ConvertError {
    ConvertError::Types { from, to }
}

/// Text for either of the two types that hold any text.
fn textual(text: String, from: ValueType, to: ValueType) -> Result<Value, ConvertError> {
    match to {
        ValueType::String => Ok(Value::String(text)),
        ValueType::Default => Ok(Value::Default(text)),
        _ => Err(refusal(from, to)),
    }
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::with_capacity(24);
    write(&mut out);
    String::from_utf8(out).expect("numbers and times are written in ASCII")
}

fn in_four_digit_years(time: DateTime) -> Result<Value, ConvertError> {
    if time.is_writable() { Ok(Value::DateTime(time)) } else { Err(TimeError::Year.into()) }
}

fn convert_int(number: i64, to: ValueType) -> Result<Value, ConvertError> {
    match to {
        ValueType::Float => Ok(Value::Float(number as f64)),
        ValueType::BigFloat => Ok(Value::BigFloat(BigFloat::from_i64(number))),
        ValueType::Bool => Ok(Value::Bool(number != 0)),
        ValueType::DateTime => in_four_digit_years(DateTime::from_unix(number, 0)),
        ValueType::Vector => Ok(Value::Vector(vec![number as f32])),
        ValueType::Binary => Ok(Value::Binary(number.to_le_bytes().to_vec())),
        _ => textual(written(|out| go_numbers::write_int(number, out)), ValueType::Int, to),
    }
}

fn convert_float(number: f64, to: ValueType) -> Result<Value, ConvertError> {
    let refuse = || refusal(ValueType::Float, to);
    match to {
        ValueType::Int if (-TWO_TO_63..TWO_TO_63).contains(&number) => {
            Ok(Value::Int(number as i64))
        }
        ValueType::Int => Err(ConvertError::FloatTooLarge),
        ValueType::BigFloat => BigFloat::from_f64(number).map(Value::BigFloat).ok_or_else(refuse),
        ValueType::Bool => Ok(Value::Bool(number != 0.0)),
        ValueType::DateTime => in_four_digit_years(DateTime::from_unix_float(number)),
        ValueType::Vector => {
            let element = number as f32;
            element.is_finite().then(|| Value::Vector(vec![element])).ok_or_else(refuse)
        }
        ValueType::Binary => Ok(Value::Binary(number.to_le_bytes().to_vec())),
        _ => textual(go_numbers::float_text(number), ValueType::Float, to),
    }
}

/// The least float that is too large for an int. Its opposite is the least int exactly.
const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

fn convert_bool(truth: bool, to: ValueType) -> Result<Value, ConvertError> {
    match to {
        ValueType::Int => Ok(Value::Int(i64::from(truth))),
        ValueType::Float => Ok(Value::Float(f64::from(truth))),
        ValueType::BigFloat => Ok(Value::BigFloat(BigFloat::from_i64(i64::from(truth)))),
        ValueType::Vector => Ok(Value::Vector(vec![f32::from(truth)])),
        ValueType::Binary => Ok(Value::Binary(vec![u8::from(truth)])),
        _ => textual(truth.to_string(), ValueType::Bool, to),
    }
}

fn convert_time(time: DateTime, to: ValueType) -> Result<Value, ConvertError> {
    match to {
        ValueType::Int => Ok(Value::Int(time.seconds)),
        ValueType::Float => Ok(Value::Float(time.unix_float())),
        ValueType::BigFloat => BigFloat::from_f64_digits(time.unix_float())
            .map(Value::BigFloat)
            .ok_or_else(|| refusal(ValueType::DateTime, to)),
        ValueType::Binary => Ok(Value::Binary(time.to_binary())),
        _ => textual(written(|out| time.write(out)), ValueType::DateTime, to),
    }
}

fn convert_big_float(number: &BigFloat, to: ValueType) -> Result<Value, ConvertError> {
    match to {
        ValueType::Int => Ok(Value::Int(number.to_i64())),
        ValueType::Float => Ok(Value::Float(number.to_f64())),
        ValueType::Bool => Ok(Value::Bool(!number.is_zero())),
        ValueType::DateTime => in_four_digit_years(DateTime::from_unix_float(number.to_f64())),
        ValueType::Binary => Ok(Value::Binary(number.as_str().as_bytes().to_vec())),
        _ => textual(number.to_short_text(), ValueType::BigFloat, to),
    }
}

fn convert_geo(canonical: &str, to: ValueType) -> Result<Value, ConvertError> {
    match to {
        ValueType::Binary => Ok(Value::Binary(Geometry::parse(canonical)?.to_wkb())),
        _ => textual(geo::single_quoted(canonical), ValueType::Geo, to),
    }
}

fn convert_vector(numbers: &[f32], to: ValueType) -> Result<Value, ConvertError> {
    match to {
        ValueType::Binary => {
            Ok(Value::Binary(numbers.iter().flat_map(|number| number.to_le_bytes()).collect()))
        }
        ValueType::String => Ok(Value::String(vector_text(numbers))),
        _ => Err(refusal(ValueType::Vector, to)),
    }
}

fn vector_text(numbers: &[f32]) -> String {
    written(|out| {
        out.push(b'[');
        for (at, number) in numbers.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            go_numbers::write_float32_plain(*number, out);
        }
        out.push(b']');
    })
}

/// Bytes are read as the stored form of the type.
fn convert_binary(bytes: &[u8], to: ValueType) -> Result<Value, ConvertError> {
    let eight = || bytes.first_chunk::<8>().copied();
    let text = || String::from_utf8_lossy(bytes);
    let refuse = |expected| ConvertError::Bytes { bytes: listed(bytes), expected };
    match to {
        ValueType::Int => {
            eight().map(|bytes| Value::Int(i64::from_le_bytes(bytes))).ok_or_else(|| refuse("int"))
        }
        ValueType::Float => eight()
            .map(f64::from_le_bytes)
            .filter(|number| !number.is_nan())
            .map(Value::Float)
            .ok_or_else(|| refuse("float")),
        ValueType::Bool => match bytes.first() {
            None | Some(0) => Ok(Value::Bool(false)),
            Some(1) => Ok(Value::Bool(true)),
            Some(&byte) => Err(ConvertError::BoolByte { byte }),
        },
        ValueType::DateTime => in_four_digit_years(DateTime::from_binary(bytes)?),
        ValueType::Geo => Ok(Value::Geo(Geometry::from_wkb(bytes)?.to_text())),
        ValueType::BigFloat => Ok(Value::BigFloat(BigFloat::parse(&text())?)),
        ValueType::Password => Ok(Value::Password(text().into_owned())),
        ValueType::Vector => floats(bytes).map(Value::Vector).ok_or_else(|| refuse("vector")),
        _ => textual(text().into_owned(), ValueType::Binary, to),
    }
}

fn floats(bytes: &[u8]) -> Option<Vec<f32>> {
    let (chunks, rest) = bytes.as_chunks::<4>();
    let numbers: Vec<f32> = chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect();
    (rest.is_empty() && numbers.iter().all(|number| number.is_finite())).then_some(numbers)
}

/// Bytes as Go prints them: `[1 2 3]`.
fn listed(bytes: &[u8]) -> String {
    let numbers: Vec<String> = bytes.iter().take(16).map(u8::to_string).collect();
    format!("[{}]", numbers.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn convert(value: ValueRef<'_>, to: ValueType) -> Result<Value, ConvertError> {
        value.convert(to)
    }

    /// One value of every type but password, whose conversion from text is slow.
    fn samples() -> Vec<Value> {
        let point = r#"{"type":"Point","coordinates":[1,2]}"#;
        [
            (ValueType::Default, "5"),
            (ValueType::Int, "5"),
            (ValueType::Float, "5.5"),
            (ValueType::String, "5"),
            (ValueType::Bool, "true"),
            (ValueType::DateTime, "2006-01-02T15:04:05.5+01:00"),
            (ValueType::Geo, point),
            (ValueType::BigFloat, "5.25"),
            (ValueType::Vector, "[1, 2.5]"),
            (ValueType::Binary, "12345678"),
        ]
        .map(|(kind, text)| Value::parse(text, kind).unwrap())
        .to_vec()
    }

    #[test]
    fn the_matrix() {
        use ValueType::{
            BigFloat, Bool, DateTime, Default, Float, Geo, Int, Password, String, Uid, Vector,
        };
        let columns =
            [Int, Float, Bool, DateTime, String, Default, BigFloat, Geo, Password, Vector, Uid];
        // One row a type: `+` where the conversion exists.
        for (from, row) in [
            (Int, "+++++++--+-"),
            (Float, "+++++++--+-"),
            (Bool, "+++-+++--+-"),
            (DateTime, "++-++++----"),
            (BigFloat, "+++++++----"),
            (Geo, "----++-+---"),
            (Vector, "----+----+-"),
        ] {
            let value = samples().into_iter().find(|value| value.value_type() == from).unwrap();
            for (to, mark) in columns.into_iter().zip(row.chars()) {
                let result = value.as_ref().convert(to);
                assert_eq!(result.is_ok(), mark == '+', "{from:?} to {to:?}: {result:?}");
                match result {
                    Ok(value) => assert_eq!(value.value_type(), to),
                    Err(error) => assert_eq!(
                        error.to_string(),
                        format!(
                            "a value of type {} can't become one of type {}",
                            from.name(),
                            to.name()
                        )
                    ),
                }
            }
        }
        let hash = ValueRef::Password("hash");
        assert_eq!(convert(hash, String), Ok(Value::String("hash".into())));
        assert_eq!(convert(hash, Password), Ok(Value::Password("hash".into())));
        assert_eq!(
            convert(hash, Default),
            Err(ConvertError::Types { from: Password, to: Default })
        );
    }

    #[test]
    fn texts_of_values() {
        for (value, expected) in samples().iter().zip([
            "5",
            "5",
            "5.5",
            "5",
            "true",
            "2006-01-02T15:04:05.5+01:00",
            "{'type':'Point','coordinates':[1,2]}",
            "5.25",
            "[1,2.5]",
            "12345678",
        ]) {
            let text = value.as_ref().convert(ValueType::String);
            assert_eq!(text, Ok(Value::String(expected.to_string())));
        }
        let million = convert(ValueRef::Float(1e6), ValueType::String);
        assert_eq!(million, Ok(Value::String("1E+06".into())));
    }

    #[test]
    fn limits() {
        let int = |number| convert(ValueRef::Float(number), ValueType::Int);
        assert_eq!(int(-TWO_TO_63), Ok(Value::Int(i64::MIN)));
        assert_eq!(int(-5.9), Ok(Value::Int(-5)));
        for number in [TWO_TO_63, f64::INFINITY, f64::NAN] {
            assert_eq!(int(number), Err(ConvertError::FloatTooLarge));
        }
        let out_of_range = Err(ConvertError::Time(TimeError::Year));
        assert_eq!(convert(ValueRef::Int(i64::MAX), ValueType::DateTime), out_of_range);
        assert_eq!(convert(ValueRef::Float(1e300), ValueType::DateTime), out_of_range);
        for (number, expected) in [(f64::INFINITY, ValueType::BigFloat), (1e300, ValueType::Vector)]
        {
            let why = ConvertError::Types { from: ValueType::Float, to: expected };
            assert_eq!(convert(ValueRef::Float(number), expected), Err(why));
        }
    }

    #[test]
    fn bytes_and_back() {
        for value in samples() {
            let kind = value.value_type();
            let bytes = value.as_ref().convert(ValueType::Binary).unwrap();
            assert_eq!(bytes.as_ref().convert(kind), Ok(value));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "\\PC*") {
            for kind in ValueType::ALL {
                if kind != ValueType::Password {
                    let _ = Value::parse(&text, kind);
                }
            }
        }

        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            for kind in ValueType::ALL {
                let _ = ValueRef::Binary(&bytes).convert(kind);
            }
        }

        #[test]
        fn numbers_become_any_type(int in any::<i64>(), float in any::<f64>()) {
            for kind in ValueType::ALL {
                let _ = ValueRef::Int(int).convert(kind);
                if let Ok(value) = ValueRef::Float(float).convert(kind) {
                    prop_assert_eq!(value.value_type(), kind);
                }
            }
        }
    }
}
