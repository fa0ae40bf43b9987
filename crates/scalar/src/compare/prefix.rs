//! Prefixes by which most values are ordered without a look at them.

use crate::values::{Kind, Value};
use hexgraph_base::types::{ordered_bits, ordered_prefix};
use jiff::civil::{Date, Time};

/// The bits of a prefix behind those of the kind.
const BITS: u32 = 59;

/// The bits of a day and of a time of day.
const DATE_BITS: u32 = 24;
const TIME_BITS: u32 = 47;

/// Returns a number that orders values as `Ord` does: of two values with different prefixes the one
/// with the smaller prefix is smaller; those with equal prefixes have to be compared. Never 0 or
/// [`u64::MAX`]. O(1).
///
/// ```
/// use hexgraph_scalar::{Value, order_prefix};
///
/// assert!(order_prefix(&Value::from("Ada")) < order_prefix(&Value::from("Alan")));
/// assert_eq!(order_prefix(&Value::Int(1)), order_prefix(&Value::Float(1.0)));
/// ```
pub fn order_prefix(value: &Value) -> u64 {
    let kind = match value.kind() {
        // Integers and floats are compared with each other.
        Kind::Float => Kind::Int,
        kind => kind,
    };
    let bits = match value {
        Value::Bool(value) => u64::from(*value),
        Value::Int(value) => ordered_bits(*value as f64) >> (u64::BITS - BITS),
        // What is no number comes last, whatever its sign.
        Value::Float(value) if value.is_nan() => (1 << BITS) - 1,
        Value::Float(value) => ordered_bits(*value) >> (u64::BITS - BITS),
        Value::String(text) => ordered_prefix(text.as_bytes()) >> (u64::BITS - BITS),
        Value::Date(date) => u64::from(date_bits(*date)),
        Value::LocalTime(time) => time_bits(*time),
        Value::LocalDateTime(local) => {
            let bits = u128::from(date_bits(local.date())) << TIME_BITS;
            upper(bits | u128::from(time_bits(local.time())), DATE_BITS + TIME_BITS)
        }
        Value::DateTime(zoned) => {
            // Timestamps are in ±2^69 ns.
            let nanos = zoned.timestamp().as_nanosecond() + (1 << 69);
            upper(nanos.unsigned_abs(), 70)
        }
        Value::Node(uid) => (*uid).min((1 << BITS) - 1),
        Value::Null | Value::List(_) | Value::Map(_) | Value::Time(_) | Value::Duration(_) => 0,
        Value::Point(_) | Value::Relationship(_) | Value::Path(_) => 0,
    };
    (kind as u64 + 1) << BITS | bits
}

/// A day, from the year -9999 on.
fn date_bits(date: Date) -> u32 {
    let year = (i32::from(date.year()) + 9999).unsigned_abs();
    year << 9 | u32::from(date.month().unsigned_abs()) << 5 | u32::from(date.day().unsigned_abs())
}

fn time_bits(time: Time) -> u64 {
    let fields = [(5, time.hour()), (6, time.minute()), (6, time.second())];
    let seconds = fields
        .into_iter()
        .fold(0, |bits, (width, field)| bits << width | u64::from(field.unsigned_abs()));
    seconds << 30 | u64::from(time.subsec_nanosecond().unsigned_abs())
}

/// The upper bits of a number of so many bits.
fn upper(bits: u128, width: u32) -> u64 {
    (bits >> (width - BITS)) as u64
}
