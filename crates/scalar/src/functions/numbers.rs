//! Functions of numbers.

use super::call::Call;
use crate::error::Result;
use crate::values::Value;

pub(super) fn abs(call: &Call<'_>) -> Result<Value> {
    match call.get(0) {
        Value::Int(number) => number.checked_abs().map(Value::Int).ok_or_else(|| call.overflow()),
        _ => Ok(Value::Float(call.float(0)?.abs())),
    }
}

pub(super) fn sign(call: &Call<'_>) -> Result<Value> {
    match call.get(0) {
        Value::Int(number) => Ok(Value::Int(number.signum())),
        _ => {
            let number = call.float(0)?;
            Ok(Value::Int(i64::from(0.0 < number) - i64::from(number < 0.0)))
        }
    }
}

pub(super) fn is_nan(call: &Call<'_>) -> Result<Value> {
    Ok(Value::Bool(call.float(0)?.is_nan()))
}

macro_rules! of_float {
    ($($name:ident: $map:expr;)*) => {
        $(pub(super) fn $name(call: &Call<'_>) -> Result<Value> {
            let map: fn(f64) -> f64 = $map;
            Ok(Value::Float(map(call.float(0)?)))
        })*
    };
}

of_float! {
    ceil: f64::ceil;
    floor: f64::floor;
    sqrt: f64::sqrt;
    exp: f64::exp;
    log: f64::ln;
    log10: f64::log10;
    sin: f64::sin;
    cos: f64::cos;
    tan: f64::tan;
    cot: |angle| 1.0 / angle.tan();
    asin: f64::asin;
    acos: f64::acos;
    atan: f64::atan;
    sinh: f64::sinh;
    cosh: f64::cosh;
    tanh: f64::tanh;
    coth: |angle| 1.0 / angle.tanh();
    degrees: f64::to_degrees;
    radians: f64::to_radians;
    haversin: |angle| (angle / 2.0).sin().powi(2);
}

pub(super) fn atan2(call: &Call<'_>) -> Result<Value> {
    Ok(Value::Float(call.float(0)?.atan2(call.float(1)?)))
}

pub(super) fn pi(_: &Call<'_>) -> Result<Value> {
    Ok(Value::Float(std::f64::consts::PI))
}

pub(super) fn e(_: &Call<'_>) -> Result<Value> {
    Ok(Value::Float(std::f64::consts::E))
}

pub(super) fn rand(call: &Call<'_>) -> Result<Value> {
    Ok(Value::Float(call.context.random()))
}

/// The most digits after the point; a float has no more.
const PRECISION_MAX: i64 = 300;

pub(super) fn round(call: &Call<'_>) -> Result<Value> {
    let number = call.float(0)?;
    if !call.has(1) {
        // Halves are rounded up, as everywhere in Cypher without a mode.
        return Ok(Value::Float(rounded_up_at_half(number)));
    }
    let precision = call.int(1)?;
    if !(0..=PRECISION_MAX).contains(&precision) {
        return Err(call.wrong_value(1, "a number of digits from 0 to 300"));
    }
    let mode = if call.has(2) { &**call.text(2)? } else { "HALF_UP" };
    let round = mode_of(mode).ok_or_else(|| {
        let modes = "one of UP, DOWN, CEILING, FLOOR, HALF_UP, HALF_DOWN, HALF_EVEN";
        call.wrong_value(2, modes)
    })?;
    Ok(Value::Float(round_digits(number, precision as usize, round)))
}

fn rounded_up_at_half(number: f64) -> f64 {
    let floor = number.floor();
    if 0.5 <= number - floor { floor + 1.0 } else { floor }
}

type Rounding = fn(f64) -> f64;

fn mode_of(name: &str) -> Option<Rounding> {
    let half_down = |number: f64| {
        let truncated = number.trunc();
        if 0.5 < (number - truncated).abs() { truncated + number.signum() } else { truncated }
    };
    let up = |number: f64| if number < 0.0 { number.floor() } else { number.ceil() };
    let modes: [(&str, Rounding); 7] = [
        ("UP", up),
        ("DOWN", f64::trunc),
        ("CEILING", f64::ceil),
        ("FLOOR", f64::floor),
        ("HALF_UP", f64::round),
        ("HALF_DOWN", half_down),
        ("HALF_EVEN", f64::round_ties_even),
    ];
    modes.into_iter().find(|(mode, _)| mode.eq_ignore_ascii_case(name)).map(|(_, round)| round)
}

/// Rounds the decimal text of a float, so that 1.005 is rounded as it is written.
fn round_digits(number: f64, precision: usize, round: Rounding) -> f64 {
    let text = number.abs().to_string();
    // Infinity, NaN and integers have no point.
    let Some((integer, fraction)) = text.split_once('.') else { return number };
    if fraction.len() <= precision {
        return number;
    }
    let (digits, rest) = fraction.split_at(precision);
    let mut decimal = format!("{integer}{digits}").into_bytes();
    let last = decimal.last().map_or(0, |digit| digit - b'0');
    // Only the last digit and what is after it decide.
    let decisive: f64 = format!("{last}.{rest}").parse().expect("digits around a point");
    if f64::from(last) < round(decisive.copysign(number)).abs() {
        increment(&mut decimal);
    }
    decimal.splice(decimal.len() - precision..decimal.len() - precision, [b'.']);
    let text = String::from_utf8(decimal).expect("digits");
    text.parse::<f64>().expect("digits around a point").copysign(number)
}

/// Adds one to a number of decimal digits.
fn increment(digits: &mut Vec<u8>) {
    for digit in digits.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return;
        }
        *digit = b'0';
    }
    digits.insert(0, b'1');
}
