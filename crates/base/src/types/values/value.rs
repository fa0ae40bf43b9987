//! Values of predicates: their types, and the one order of them.

use std::cmp::Ordering;

use crate::types::forms::bigfloat;
use crate::types::nearest::did_you_mean;
use crate::types::{BigFloat, DateTime};

/// The type of a predicate's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum ValueType {
    /// Whatever typed literal came in, else text.
    Default = 0,
    /// 64-bit signed integer.
    Int = 1,
    /// 64-bit binary float, never NaN.
    Float = 2,
    /// UTF-8 text.
    String = 3,
    /// True or false.
    Bool = 4,
    /// An instant with its zone offset, to the nanosecond.
    DateTime = 5,
    /// A geometry, as GeoJSON text.
    Geo = 6,
    /// An edge to another node.
    Uid = 7,
    /// A bcrypt hash.
    Password = 8,
    /// A 200-bit binary float.
    BigFloat = 9,
    /// A list of 32-bit floats.
    Vector = 10,
    /// Bytes.
    Binary = 11,
}

/// A value that represents itself.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Text of no particular type.
    Default(String),
    /// See [`ValueType::Int`].
    Int(i64),
    /// See [`ValueType::Float`].
    Float(f64),
    /// See [`ValueType::String`].
    String(String),
    /// See [`ValueType::Bool`].
    Bool(bool),
    /// See [`ValueType::DateTime`].
    DateTime(DateTime),
    /// Canonical GeoJSON text.
    Geo(String),
    /// The hash, not the password.
    Password(String),
    /// See [`ValueType::BigFloat`].
    BigFloat(BigFloat),
    /// See [`ValueType::Vector`].
    Vector(Vec<f32>),
    /// See [`ValueType::Binary`].
    Binary(Vec<u8>),
}

/// A value borrowed from where it is stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueRef<'a> {
    /// Text of no particular type.
    Default(&'a str),
    /// See [`ValueType::Int`].
    Int(i64),
    /// See [`ValueType::Float`].
    Float(f64),
    /// See [`ValueType::String`].
    String(&'a str),
    /// See [`ValueType::Bool`].
    Bool(bool),
    /// See [`ValueType::DateTime`].
    DateTime(DateTime),
    /// Canonical GeoJSON text.
    Geo(&'a str),
    /// The hash, not the password.
    Password(&'a str),
    /// The canonical text of a [`BigFloat`].
    BigFloat(&'a str),
    /// See [`ValueType::Vector`].
    Vector(&'a [f32]),
    /// See [`ValueType::Binary`].
    Binary(&'a [u8]),
}

/// What a value consists of, whatever its type means: who hashes, sorts or packs values looks at
/// it, and need not know each type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Content<'a> {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// An instant.
    Time(DateTime),
    /// Text: of a string, of JSON, of a number, or of a hash.
    Text(&'a str),
    /// Floats.
    Numbers(&'a [f32]),
    /// Bytes.
    Bytes(&'a [u8]),
}

impl ValueType {
    /// Every type, in the order of their numbers.
    pub const ALL: [ValueType; 12] = [
        ValueType::Default,
        ValueType::Int,
        ValueType::Float,
        ValueType::String,
        ValueType::Bool,
        ValueType::DateTime,
        ValueType::Geo,
        ValueType::Uid,
        ValueType::Password,
        ValueType::BigFloat,
        ValueType::Vector,
        ValueType::Binary,
    ];

    /// The name in schemas and messages.
    pub fn name(self) -> &'static str {
        match self {
            ValueType::Default => "default",
            ValueType::Int => "int",
            ValueType::Float => "float",
            ValueType::String => "string",
            ValueType::Bool => "bool",
            ValueType::DateTime => "datetime",
            ValueType::Geo => "geo",
            ValueType::Uid => "uid",
            ValueType::Password => "password",
            ValueType::BigFloat => "bigfloat",
            ValueType::Vector => "float32vector",
            ValueType::Binary => "binary",
        }
    }

    /// The type of that name, in any case.
    pub fn from_name(name: &str) -> Option<ValueType> {
        ValueType::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name))
    }

    /// What to write instead of a name that no type has: the type that goes by it in other
    /// languages, one that is spelled nearly so, or all that there are.
    pub fn hint_for(name: &str) -> String {
        let meant = match name.to_ascii_lowercase().as_str() {
            "integer" | "int32" | "int64" | "long" | "bigint" | "number" => "int",
            "str" | "text" | "varchar" | "utf8" | "id" => "string",
            "double" | "real" | "float32" | "float64" => "float",
            "boolean" => "bool",
            "date" | "time" | "timestamp" => "datetime",
            "decimal" | "numeric" => "bigfloat",
            "point" | "polygon" | "geometry" => "geo",
            "vector" | "embedding" => "float32vector",
            "node" | "edge" => "uid",
            other => {
                let names = ValueType::ALL.map(ValueType::name);
                let near = did_you_mean(other, names.into_iter());
                let all = || format!("valid are {}", names.join(", "));
                return if near.is_empty() { all() } else { near };
            }
        };
        format!("did you mean `{meant}`?")
    }

    /// The type of that number, as `kind as u8` gave it.
    pub fn from_tag(tag: u8) -> Option<ValueType> {
        ValueType::ALL.get(usize::from(tag)).copied()
    }

    /// True for the types that a node can have several values of. A type of edges has lists, too.
    pub fn has_lists(self) -> bool {
        !matches!(self, ValueType::Password | ValueType::Bool)
    }

    /// True for the types whose values are texts that are shown as they are. A value of one is
    /// read as one of the other without a conversion.
    pub fn is_text(self) -> bool {
        matches!(self, ValueType::String | ValueType::Default)
    }

    /// True for the types that `orderasc`, `lt`, `min` and the like work on.
    pub fn is_ordered(self) -> bool {
        use ValueType::{BigFloat, DateTime, Default, Float, Int, String};
        matches!(self, Int | Float | String | Default | DateTime | BigFloat)
    }
}

impl Value {
    /// The bytes that it has on the heap.
    pub fn heap_size(&self) -> usize {
        match self {
            Value::Default(text)
            | Value::String(text)
            | Value::Geo(text)
            | Value::Password(text) => text.len(),
            Value::BigFloat(number) => number.as_str().len(),
            Value::Vector(numbers) => size_of_val(numbers.as_slice()),
            Value::Binary(bytes) => bytes.len(),
            Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::DateTime(_) => 0,
        }
    }

    /// Borrows the value.
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Value::Default(text) => ValueRef::Default(text),
            Value::Int(number) => ValueRef::Int(*number),
            Value::Float(number) => ValueRef::Float(*number),
            Value::String(text) => ValueRef::String(text),
            Value::Bool(truth) => ValueRef::Bool(*truth),
            Value::DateTime(time) => ValueRef::DateTime(*time),
            Value::Geo(text) => ValueRef::Geo(text),
            Value::Password(hash) => ValueRef::Password(hash),
            Value::BigFloat(number) => ValueRef::BigFloat(number.as_str()),
            Value::Vector(numbers) => ValueRef::Vector(numbers),
            Value::Binary(bytes) => ValueRef::Binary(bytes),
        }
    }

    /// The type of the value.
    pub fn value_type(&self) -> ValueType {
        self.as_ref().value_type()
    }
}

impl<'a> ValueRef<'a> {
    /// The content of the value.
    #[inline]
    pub fn content(self) -> Content<'a> {
        match self {
            ValueRef::Int(number) => Content::Int(number),
            ValueRef::Float(number) => Content::Float(number),
            ValueRef::Bool(truth) => Content::Bool(truth),
            ValueRef::DateTime(time) => Content::Time(time),
            ValueRef::Default(text)
            | ValueRef::String(text)
            | ValueRef::Geo(text)
            | ValueRef::Password(text)
            | ValueRef::BigFloat(text) => Content::Text(text),
            ValueRef::Vector(numbers) => Content::Numbers(numbers),
            ValueRef::Binary(bytes) => Content::Bytes(bytes),
        }
    }

    /// A number of any type as a float; `None` for a value that is no number.
    pub fn to_f64(self) -> Option<f64> {
        match self {
            ValueRef::Int(number) => Some(number as f64),
            ValueRef::Float(number) => Some(number),
            ValueRef::BigFloat(_) => Some(self.to_big_float()?.to_f64()),
            _ => None,
        }
    }

    /// A number of any type as a big float; `None` for a value that is no number.
    pub fn to_big_float(self) -> Option<BigFloat> {
        match self {
            ValueRef::Int(number) => Some(BigFloat::from_i64(number)),
            ValueRef::Float(number) => BigFloat::from_f64(number),
            ValueRef::BigFloat(text) => BigFloat::parse(text).ok(),
            _ => None,
        }
    }
}

impl ValueRef<'_> {
    /// The type of the value.
    pub fn value_type(self) -> ValueType {
        match self {
            ValueRef::Default(_) => ValueType::Default,
            ValueRef::Int(_) => ValueType::Int,
            ValueRef::Float(_) => ValueType::Float,
            ValueRef::String(_) => ValueType::String,
            ValueRef::Bool(_) => ValueType::Bool,
            ValueRef::DateTime(_) => ValueType::DateTime,
            ValueRef::Geo(_) => ValueType::Geo,
            ValueRef::Password(_) => ValueType::Password,
            ValueRef::BigFloat(_) => ValueType::BigFloat,
            ValueRef::Vector(_) => ValueType::Vector,
            ValueRef::Binary(_) => ValueType::Binary,
        }
    }

    /// A value of its own, copied.
    pub fn to_value(self) -> Value {
        match self {
            ValueRef::Default(text) => Value::Default(text.to_string()),
            ValueRef::Int(number) => Value::Int(number),
            ValueRef::Float(number) => Value::Float(number),
            ValueRef::String(text) => Value::String(text.to_string()),
            ValueRef::Bool(truth) => Value::Bool(truth),
            ValueRef::DateTime(time) => Value::DateTime(time),
            ValueRef::Geo(text) => Value::Geo(text.to_string()),
            ValueRef::Password(hash) => Value::Password(hash.to_string()),
            ValueRef::BigFloat(text) => Value::BigFloat(BigFloat::from_canonical(text)),
            ValueRef::Vector(numbers) => Value::Vector(numbers.to_vec()),
            ValueRef::Binary(bytes) => Value::Binary(bytes.to_vec()),
        }
    }

    /// The order of two values: numbers by size, texts by their bytes, times by the instant.
    ///
    /// `None` when either type has no order (see [`ValueType::is_ordered`]), and for two types but
    /// int with float and string with default.
    pub fn compare(self, other: ValueRef<'_>) -> Option<Ordering> {
        match (self, other) {
            (ValueRef::Int(a), ValueRef::Int(b)) => Some(a.cmp(&b)),
            (ValueRef::Float(a), ValueRef::Float(b)) => a.partial_cmp(&b),
            (ValueRef::Int(a), ValueRef::Float(b)) => (a as f64).partial_cmp(&b),
            (ValueRef::Float(a), ValueRef::Int(b)) => a.partial_cmp(&(b as f64)),
            (ValueRef::DateTime(a), ValueRef::DateTime(b)) => Some(a.instant().cmp(&b.instant())),
            (ValueRef::BigFloat(a), ValueRef::BigFloat(b)) => Some(bigfloat::compare_text(a, b)),
            (
                ValueRef::String(a) | ValueRef::Default(a),
                ValueRef::String(b) | ValueRef::Default(b),
            ) => Some(a.as_bytes().cmp(b.as_bytes())),
            _ => None,
        }
    }

    /// Whether DQL's `eq` holds: the order says equal, or both are the same bool. Geometries,
    /// passwords, vectors and bytes equal nothing.
    pub fn equals(self, other: ValueRef<'_>) -> bool {
        match (self, other) {
            (ValueRef::Bool(a), ValueRef::Bool(b)) => a == b,
            _ => self.compare(other) == Some(Ordering::Equal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_tags() {
        for (tag, kind) in ValueType::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, tag);
            assert_eq!(ValueType::from_tag(tag as u8), Some(kind));
            assert_eq!(ValueType::from_name(&kind.name().to_uppercase()), Some(kind));
        }
        assert_eq!(ValueType::from_name("dateTime"), Some(ValueType::DateTime));
        assert_eq!(ValueType::from_name("foo"), None);
        assert_eq!(ValueType::from_tag(12), None);
    }

    #[test]
    fn order() {
        use ValueRef::{Bool, Float, Geo, Int, String};
        assert_eq!(String("Z").compare(String("a")), Some(Ordering::Less));
        assert_eq!(String("a").compare(ValueRef::Default("a")), Some(Ordering::Equal));
        assert_eq!(Int(3).compare(Float(2.5)), Some(Ordering::Greater));
        assert_eq!(Float(0.0).compare(Float(-0.0)), Some(Ordering::Equal));
        assert_eq!(Bool(false).compare(Bool(true)), None);
        assert_eq!(Int(1).compare(String("1")), None);
        assert!(Bool(true).equals(Bool(true)));
        assert!(!Geo("{}").equals(Geo("{}")));
        let [a, b] = ["2006-01-02T15:04:05+02:00", "2006-01-02T13:04:05Z"]
            .map(|text| ValueRef::DateTime(DateTime::parse(text).unwrap()));
        assert!(a.equals(b) && a != b);
    }
}
