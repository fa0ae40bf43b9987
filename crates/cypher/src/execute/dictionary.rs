//! [`Dictionary`]: each distinct value has a code.

use hexgraph_scalar::Value;
use rustc_hash::FxHashMap;

/// Integers from 0 up to this have a table; others are hashed. The table has at most 256 kB.
const TABLE_LEN: i64 = 1 << 16;

/// The code of an integer that has none yet.
const NONE: u32 = u32::MAX;

/// The bytes of an entry of a hash table with its value. Estimate.
const ENTRY_BYTES: usize = 64;

/// Distinct values by codes, which are assigned in the order in which the values come. Null has the
/// code 0. Values that are equal have one code, and the first of them represents the others: 1 and
/// 1.0, or one instant with two offsets. An exact dictionary has a code for each of them.
#[derive(Debug)]
pub struct Dictionary {
    is_exact: bool,
    has_merged: bool,
    values: Vec<Value>,
    small: Vec<u32>,
    ints: FxHashMap<i64, u32>,
    floats: FxHashMap<u64, u32>,
    texts: FxHashMap<Box<str>, u32>,
    others: FxHashMap<Value, u32>,
    /// The instants of an exact dictionary, in nanoseconds, with their offsets.
    times: FxHashMap<(i128, i32), u32>,
    text_bytes: usize,
}

impl Dictionary {
    /// Creates a dictionary with null.
    pub fn new() -> Dictionary {
        Dictionary {
            is_exact: false,
            has_merged: false,
            values: vec![Value::Null],
            small: Vec::new(),
            ints: FxHashMap::default(),
            floats: FxHashMap::default(),
            texts: FxHashMap::default(),
            others: FxHashMap::default(),
            times: FxHashMap::default(),
            text_bytes: 0,
        }
    }

    /// Creates a dictionary in which equal values with different representations have
    /// codes of their own.
    pub(super) fn exact() -> Dictionary {
        Dictionary { is_exact: true, ..Dictionary::new() }
    }

    /// Returns the code of an integer.
    #[inline]
    pub fn int(&mut self, number: i64) -> u32 {
        self.integer(number, Value::Int(number))
    }

    /// Returns the code of a float. A float without a fraction has that of the integer, unless the
    /// dictionary is exact.
    #[inline]
    pub fn float(&mut self, number: f64) -> u32 {
        let integer = number as i64;
        if integer as f64 == number && integer != i64::MAX && !self.is_exact {
            return self.integer(integer, Value::Float(number));
        }
        // Equal floats have the same bits: one NaN.
        let number = if number.is_nan() { f64::NAN } else { number };
        let values = &mut self.values;
        *self.floats.entry(number.to_bits()).or_insert_with(|| push(values, Value::Float(number)))
    }

    #[inline]
    fn integer(&mut self, number: i64, value: Value) -> u32 {
        let values = &mut self.values;
        let code = if (0..TABLE_LEN).contains(&number) {
            let at = number as usize;
            if self.small.len() <= at {
                self.small.resize((at + 1).next_power_of_two(), NONE);
            }
            &mut self.small[at]
        } else {
            self.ints.entry(number).or_insert(NONE)
        };
        if *code == NONE {
            *code = push(values, value);
        } else {
            self.has_merged |= match (&values[*code as usize], &value) {
                (Value::Int(_), Value::Int(_)) => false,
                // 0.0 and -0.0 are equal.
                (Value::Float(one), Value::Float(other)) => one.to_bits() != other.to_bits(),
                _ => true,
            };
        }
        *code
    }

    /// Returns the code of a text.
    pub fn text(&mut self, text: &str) -> u32 {
        if let Some(code) = self.texts.get(text) {
            return *code;
        }
        self.text_bytes += 2 * text.len();
        let code = push(&mut self.values, Value::from(text));
        self.texts.insert(text.into(), code);
        code
    }

    /// Returns the code of any value.
    pub fn value(&mut self, value: Value) -> u32 {
        match &value {
            Value::Null => return 0,
            Value::Int(number) => return self.int(*number),
            Value::Float(number) => return self.float(*number),
            Value::String(text) => return self.text(text),
            Value::DateTime(time) if self.is_exact => {
                // A named zone has texts of its own.
                if time.time_zone().iana_name().is_some() {
                    return self.unique(value);
                }
                let instant = (time.timestamp().as_nanosecond(), time.offset().seconds());
                let values = &mut self.values;
                return *self.times.entry(instant).or_insert_with(|| push(values, value));
            }
            Value::List(_) | Value::Map(_) | Value::Time(_) if self.is_exact => {
                return self.unique(value);
            }
            _ => {}
        }
        if let Some(&code) = self.others.get(&value) {
            self.has_merged |= !is_same(&self.values[code as usize], &value);
            return code;
        }
        let code = push(&mut self.values, value.clone());
        self.others.insert(value, code);
        code
    }

    /// Returns the code of a value that has not come before and will not come again.
    pub(super) fn unique(&mut self, value: Value) -> u32 {
        push(&mut self.values, value)
    }

    /// Whether a value has the code of an equal one with another representation.
    pub(super) fn has_merged(&self) -> bool {
        self.has_merged
    }

    /// Returns the values by their codes.
    pub(super) fn values(&self) -> &[Value] {
        &self.values
    }

    /// Returns about how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        ENTRY_BYTES * self.values.len() + 4 * self.small.len() + self.text_bytes
    }
}

impl Default for Dictionary {
    fn default() -> Dictionary {
        Dictionary::new()
    }
}

/// Whether equal values have the same representation.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::DateTime(one), Value::DateTime(other)) => {
            one.offset() == other.offset() && one.time_zone() == other.time_zone()
        }
        (Value::List(_) | Value::Map(_) | Value::Time(_), _) => {
            format!("{one:?}") == format!("{other:?}")
        }
        _ => true,
    }
}

fn push(values: &mut Vec<Value>, value: Value) -> u32 {
    values.push(value);
    (values.len() - 1) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_code() {
        let mut dictionary = Dictionary::new();
        assert_eq!(dictionary.value(Value::Null), 0);
        let ints = [3, -1, TABLE_LEN, 3, -1, TABLE_LEN, 0].map(|it| dictionary.int(it));
        assert_eq!(ints, [1, 2, 3, 1, 2, 3, 4]);
        let floats = [0.0, -0.0, f64::NAN, -f64::NAN, 1.5, 3.0].map(|it| dictionary.float(it));
        assert_eq!(floats, [4, 4, 5, 5, 6, 1]);
        assert_eq!(dictionary.text("a"), dictionary.value(Value::from("a")));
        let mut other = Dictionary::new();
        let values = [1 << 60, i64::MAX, i64::MIN].map(Value::Int).into_iter();
        let floats = [1.0, 2_f64.powi(60), 2_f64.powi(63), -2_f64.powi(63), f64::INFINITY];
        let values = values.chain(floats.map(Value::Float));
        let values = values.chain([Value::Int(1), Value::Bool(true), Value::from("1")]);
        let codes: Vec<u32> = values.map(|it| other.value(it)).collect();
        assert_eq!(codes, [1, 2, 3, 4, 1, 5, 3, 6, 4, 7, 8]);
        for (code, value) in other.values().iter().enumerate() {
            assert_eq!(other.values().iter().position(|it| it == value), Some(code));
        }
        let mut exact = Dictionary::exact();
        let values = [1.0, 0.0, -0.0].map(Value::Float).into_iter().chain([Value::Int(1)]);
        let codes: Vec<u32> = values.map(|it| exact.value(it)).collect();
        assert_eq!(codes, [1, 2, 3, 4]);
        assert_eq!((exact.value(Value::Float(1.0)), exact.value(Value::Int(1))), (1, 4));
        let before = other.bytes();
        other.text(&"x".repeat(1_000));
        assert!(before + 2_000 <= other.bytes());
    }
}
