//! Integers and floats are compared by what they mean, not by what remains of an integer as a
//! float.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// 2^63, the first float beyond the integers.
const BEYOND: f64 = 9_223_372_036_854_775_808.0;

/// Compares two floats; `None` with NaN.
pub(super) fn compare_int_float(int: i64, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    if BEYOND <= float {
        return Some(Ordering::Less);
    }
    if float < -BEYOND {
        return Some(Ordering::Greater);
    }
    let truncated = float.trunc();
    let order = int.cmp(&(truncated as i64));
    Some(order.then_with(|| truncated.partial_cmp(&float).expect("neither is NaN")))
}

/// Orders floats with NaN last; 0.0 and -0.0 are one.
pub(crate) fn order_floats(one: f64, other: f64) -> Ordering {
    one.partial_cmp(&other).unwrap_or_else(|| one.is_nan().cmp(&other.is_nan()))
}

/// Hashes a float like the integer that it equals, if there is one.
pub(super) fn hash_float<H: Hasher>(float: f64, state: &mut H) {
    if float.is_nan() {
        f64::NAN.to_bits().hash(state);
    } else if float.trunc() == float && (-BEYOND..BEYOND).contains(&float) {
        (float as i64).hash(state);
    } else {
        float.to_bits().hash(state);
    }
}
