//! Floats of 200 bits, stored as text.
//!
//! The text is the shortest that reads back as the same 200 bits. So two values are equal when
//! their texts are, and the order of values is that of the decimal numbers: storing, comparing and
//! grouping need no arithmetic. Calculating takes the text apart into mantissa and exponent.

use std::cmp::Ordering;

use num_bigint::BigUint;

use crate::compat::go_numbers::{self, Digits};
use crate::types::quoted_text;

/// The bits of a mantissa.
const PRECISION: u64 = 200;
/// No number has more bits before or after the point; ten to the 6,000 still fits.
const EXPONENT_MAX: i64 = 20_000;
/// Digits of a text beyond these only say whether there is anything more.
const TEXT_DIGITS_MAX: usize = 2_000;

/// A 200-bit binary float in its canonical text form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BigFloat {
    text: String,
}

/// Why a text is no bigfloat.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text} is no bigfloat: {fault}")]
pub struct BigFloatError {
    /// The text as messages show it: between backquotes, on one line, cut to 60 letters.
    pub text: String,
    /// What is wrong with it.
    pub fault: BigFloatFault,
}

/// What is wrong with the text of a bigfloat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BigFloatFault {
    /// The text is empty.
    #[error("it is empty")]
    Empty,
    /// The text means an infinite number.
    #[error("it is infinite")]
    Infinite,
    /// The mantissa or the exponent has no digits.
    #[error("it has no digits")]
    NoDigits,
    /// A `_` stands elsewhere than between two digits.
    #[error("`_` stands between digits only")]
    Underscore,
    /// A byte is no part of a number.
    #[error("unexpected {:?}", *byte as char)]
    Unexpected {
        /// The byte.
        byte: u8,
    },
    /// The number or its reciprocal is greater than ten to the 6,000.
    #[error("its exponent is too large")]
    Range,
}

impl BigFloat {
    /// Returns the canonical text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Reads a decimal, hexadecimal, octal or binary number, with an exponent after `e` or `p`.
    ///
    /// # Errors
    ///
    /// [`BigFloatError`] for a text that is no number, that is infinite, or of a size beyond ten to
    /// the 6,000.
    pub fn parse(text: &str) -> Result<BigFloat, BigFloatError> {
        let parts =
            scan(text).map_err(|fault| BigFloatError { text: quoted_text::shown(text), fault })?;
        Ok(parts.into_big_float())
    }

    /// The text itself, which must be that of a [`BigFloat`].
    pub fn from_canonical(text: &str) -> BigFloat {
        BigFloat { text: text.to_string() }
    }

    /// The integer, exactly.
    pub fn from_i64(number: i64) -> BigFloat {
        let parts = Binary {
            negative: number < 0,
            mantissa: BigUint::from(number.unsigned_abs()),
            exponent: 0,
        };
        parts.into_big_float()
    }

    /// The float, exactly; `None` for infinities and NaN.
    pub fn from_f64(number: f64) -> Option<BigFloat> {
        if !number.is_finite() {
            return None;
        }
        let bits = number.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as i64;
        let fraction = bits & ((1 << 52) - 1);
        // IEEE 754: 1075 is the bias of the exponent, 1023, and the 52 bits of the fraction.
        // Subnormal numbers have no implicit first bit, and the exponent of the least normal one.
        let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
        let parts = Binary {
            negative: number.is_sign_negative(),
            mantissa: BigUint::from(mantissa),
            exponent: exponent.max(1) - 1075,
        };
        Some(parts.into_big_float())
    }

    /// The number that the float's shortest text says, which may differ from the float's in digits
    /// beyond those of a float; `None` for infinities and NaN.
    pub fn from_f64_digits(number: f64) -> Option<BigFloat> {
        // This text is canonical: 200 bits distinguish numbers of 60 digits, and it has at most 17,
        // so no other text that is as short reads back as the same bits.
        let mut out = Vec::with_capacity(24);
        go_numbers::write_float(number, &mut out);
        let text = String::from_utf8(out).expect("numbers are written in ASCII");
        number.is_finite().then_some(BigFloat { text })
    }

    /// The nearest float; infinite when there is none.
    pub fn to_f64(&self) -> f64 {
        self.text.parse().unwrap_or(f64::NAN)
    }

    /// The integer part; the least or greatest integer when it does not fit.
    pub fn to_i64(&self) -> i64 {
        let parts = self.binary();
        let full = shifted(&parts.mantissa, parts.exponent);
        // What has more than 64 bits is beyond an i64 too, so the clamp below sees to it.
        let size = i128::from(u64::try_from(&full).unwrap_or(u64::MAX));
        let signed = if parts.negative { -size } else { size };
        signed.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }

    /// The text that it has as a string: rounded to ten digits.
    pub fn to_short_text(&self) -> String {
        let parts = self.binary();
        let (digits, point) = parts.decimal();
        // As `big.Float.String` of Go, which is format `g` with ten digits.
        let (retained, point) = round_decimal(&digits, point, 10);
        let mut out = Vec::with_capacity(24);
        Digits::new(parts.negative, &retained, point).write(10, b'e', &mut out);
        String::from_utf8(out).expect("numbers are written in ASCII")
    }

    /// True for 0 and -0.
    pub fn is_zero(&self) -> bool {
        matches!(self.text.as_str(), "0" | "-0")
    }

    /// True for numbers below 0 and for -0.
    pub fn is_negative(&self) -> bool {
        self.text.starts_with('-')
    }

    /// Compares by value.
    pub fn compare(&self, other: &BigFloat) -> Ordering {
        compare_text(&self.text, &other.text)
    }

    /// The sum; `None` when it is too large.
    pub fn add(&self, other: &BigFloat) -> Option<BigFloat> {
        self.binary().add(&other.binary()).checked()
    }

    /// The difference; `None` when it is too large.
    pub fn sub(&self, other: &BigFloat) -> Option<BigFloat> {
        let mut negated = other.binary();
        negated.negative = !negated.negative;
        self.binary().add(&negated).checked()
    }

    /// The product; `None` when it is too large or too small.
    pub fn mul(&self, other: &BigFloat) -> Option<BigFloat> {
        let (a, b) = (self.binary(), other.binary());
        let product = Binary {
            negative: a.negative != b.negative,
            mantissa: a.mantissa * b.mantissa,
            exponent: a.exponent + b.exponent,
        };
        product.checked()
    }

    /// The quotient; `None` when dividing by 0 and when it is too large or too small.
    pub fn div(&self, other: &BigFloat) -> Option<BigFloat> {
        let (a, b) = (self.binary(), other.binary());
        if b.mantissa == BigUint::ZERO {
            return None;
        }
        let mut quotient = divided(&a.mantissa, &b.mantissa);
        quotient.exponent += a.exponent - b.exponent;
        quotient.negative = a.negative != b.negative;
        quotient.checked()
    }

    /// The square root; `None` below 0.
    pub fn sqrt(&self) -> Option<BigFloat> {
        let parts = self.binary();
        if parts.mantissa == BigUint::ZERO {
            // As IEEE 754 has it: the root of -0 is -0.
            return Some(self.clone());
        }
        if parts.negative {
            return None;
        }
        // The root has half the bits; an even exponent can be halved. The root of 408 bits has 204:
        // four more than are retained, so that rounding sees whether they are about half.
        let shift = (2 * PRECISION + 8).saturating_sub(parts.mantissa.bits()) as i64;
        let shift = shift + (parts.exponent - shift).rem_euclid(2);
        let square = parts.mantissa << shift;
        let root = square.sqrt();
        // One bit after the root represents all that follows it: rounding only needs to detect it.
        let is_exact = &root * &root == square;
        let sticky = BigUint::from(u8::from(!is_exact));
        let halved = (parts.exponent - shift) / 2;
        Binary { negative: false, mantissa: (root << 1u8) | sticky, exponent: halved - 1 }.checked()
    }

    /// The greatest integer that is not above it.
    pub fn floor(&self) -> BigFloat {
        self.to_integer(self.is_negative())
    }

    /// The least integer that is not below it.
    pub fn ceil(&self) -> BigFloat {
        self.to_integer(!self.is_negative())
    }

    /// Cuts off the fraction; goes on to the next integer away from 0 if there was one and `away`.
    fn to_integer(&self, away: bool) -> BigFloat {
        let parts = self.binary();
        if parts.exponent >= 0 {
            return self.clone();
        }
        let full = shifted(&parts.mantissa, parts.exponent);
        let has_fraction = (&full << -parts.exponent) != parts.mantissa;
        let mantissa = full + u8::from(away && has_fraction);
        Binary { negative: parts.negative, mantissa, exponent: 0 }.into_big_float()
    }

    fn binary(&self) -> Binary {
        // Only a text that no `BigFloat` has, given to `from_canonical`, fails here: others were
        // made of numbers in range.
        scan(&self.text).unwrap_or(Binary { negative: false, mantissa: BigUint::ZERO, exponent: 0 })
    }
}

/// Compares the canonical texts of two [`BigFloat`]s by value, without calculating.
pub(in crate::types) fn compare_text(left: &str, right: &str) -> Ordering {
    let (a, b) = (Decimal::of(left), Decimal::of(right));
    match (a.sign(), b.sign()) {
        (-1, -1) => b.compare_size(&a),
        (1, 1) => a.compare_size(&b),
        (a, b) => a.cmp(&b),
    }
}

/// Appends bytes that are ordered as the values of canonical texts are: sign, power of ten, digits,
/// and an end. Those of negative numbers are inverted.
pub(in crate::types) fn write_key(text: &str, out: &mut Vec<u8>) {
    let decimal = Decimal::of(text);
    let sign = decimal.sign();
    // The first byte is 0, 1 or 2: below zero, zero and -0, above zero.
    out.push((sign + 1) as u8);
    if sign == 0 {
        return;
    }
    let start = out.len();
    // No power of ten is negative after the addition, so big-endian bytes order as the numbers do.
    out.extend_from_slice(&((decimal.point + (1 << 30)) as u32).to_be_bytes());
    out.extend(decimal.digits());
    // The end is below any digit: 0.12 comes before 0.123.
    out.push(0);
    if sign < 0 {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

/// A canonical text seen as 0.ddd… times ten to the `point`.
struct Decimal<'a> {
    negative: bool,
    /// The digits from the first that is not 0, with a point among them perhaps.
    mantissa: &'a [u8],
    point: i32,
}

impl<'a> Decimal<'a> {
    fn of(text: &'a str) -> Decimal<'a> {
        let negative = text.starts_with('-');
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let (digits, exponent) = unsigned.split_once('e').unwrap_or((unsigned, "0"));
        let before = digits.find('.').unwrap_or(digits.len()) as i32;
        let first = digits.find(|letter| matches!(letter, '1'..='9')).unwrap_or(digits.len());
        // The point itself stands among the digits and is none.
        let skipped = if first as i32 > before { first as i32 - 1 } else { first as i32 };
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let point = before - skipped + exponent;
        Decimal { negative, mantissa: &digits.as_bytes()[first..], point }
    }

    fn sign(&self) -> i8 {
        match (self.mantissa.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    fn digits(&self) -> impl Iterator<Item = u8> + 'a {
        let last = self.mantissa.iter().rposition(|byte| matches!(byte, b'1'..=b'9'));
        let significant = &self.mantissa[..last.map_or(0, |at| at + 1)];
        significant.iter().copied().filter(u8::is_ascii_digit)
    }

    fn compare_size(&self, other: &Decimal<'_>) -> Ordering {
        self.point.cmp(&other.point).then_with(|| self.digits().cmp(other.digits()))
    }
}

/// `mantissa` times two to the `exponent`.
struct Binary {
    negative: bool,
    mantissa: BigUint,
    exponent: i64,
}

impl Binary {
    /// Rounds to 200 bits, ties to even.
    fn rounded(mut self) -> Binary {
        let excess = self.mantissa.bits().saturating_sub(PRECISION);
        if excess > 0 {
            let is_half_set = self.mantissa.bit(excess - 1);
            let zeros = self.mantissa.trailing_zeros().unwrap_or(0);
            let is_odd = self.mantissa.bit(excess);
            self.mantissa >>= excess;
            self.exponent += excess as i64;
            // Beyond half when a bit below the highest one that is cut off
            // is set; at half exactly, the even neighbour.
            if is_half_set && (zeros < excess - 1 || is_odd) {
                self.mantissa += 1u8;
            }
        }
        self
    }

    /// True when the size is beyond what is calculated with.
    fn is_out_of_range(&self) -> bool {
        let is_zero = self.mantissa == BigUint::ZERO;
        // The index of the highest bit is the binary logarithm of the size, rounded up.
        !is_zero && (self.mantissa.bits() as i64 + self.exponent).abs() > EXPONENT_MAX
    }

    fn checked(self) -> Option<BigFloat> {
        let rounded = self.rounded();
        if rounded.is_out_of_range() { None } else { Some(rounded.into_big_float()) }
    }

    fn into_big_float(self) -> BigFloat {
        // Rounding may carry into a 201st bit. The mantissa is then a
        // power of two, and rounding it again loses nothing.
        let rounded = self.rounded();
        let mut out = Vec::with_capacity(32);
        rounded.shortest().write(6, b'e', &mut out);
        BigFloat { text: String::from_utf8(out).expect("numbers are written in ASCII") }
    }

    fn add(&self, other: &Binary) -> Binary {
        let exponent = self.exponent.min(other.exponent);
        let a = &self.mantissa << (self.exponent - exponent);
        let b = &other.mantissa << (other.exponent - exponent);
        let (negative, mantissa) = match (self.negative == other.negative, a.cmp(&b)) {
            (true, _) => (self.negative, a + b),
            (false, Ordering::Greater) => (self.negative, a - b),
            (false, Ordering::Less) => (other.negative, b - a),
            (false, Ordering::Equal) => (false, BigUint::ZERO),
        };
        Binary { negative, mantissa, exponent }
    }

    /// All decimal digits, and where the point is: 0.ddd… times ten to that.
    fn decimal(&self) -> (Vec<u8>, i32) {
        let digits = scaled(&self.mantissa, self.exponent).to_str_radix(10).into_bytes();
        let point = digits.len() as i64 + self.exponent.min(0);
        (digits, point as i32)
    }

    /// The fewest digits between the two numbers midway to the neighbours.
    fn shortest(&self) -> Digits {
        if self.mantissa == BigUint::ZERO {
            return Digits::new(self.negative, b"", 1);
        }
        // `into_big_float` has rounded, so there are at most 200 bits, and the difference is not
        // negative.
        let shift = PRECISION - self.mantissa.bits();
        let mantissa = &self.mantissa << shift;
        let exponent = self.exponent - shift as i64;
        // Numbers are nearer to each other below a power of two than above it.
        let is_power = mantissa.trailing_zeros() == Some(PRECISION - 1);
        // Reading rounds ties to even, so a number midway to a neighbour reads back as this one if
        // its last bit is 0.
        let is_even = !mantissa.bit(0);
        // In quarters of the last bit the numbers midway to both neighbours are integers.
        let middle = mantissa << 2u8;
        let low = &middle - if is_power { 1u8 } else { 2u8 };
        let high = &middle + 2u8;
        let [low, middle, high] =
            [low, middle, high].map(|bound| scaled(&bound, exponent - 2).to_str_radix(10));
        // The zero in front leaves space for a carry.
        let length = high.len() + 1;
        let point = length as i64 + (exponent - 2).min(0);
        let [low, middle, high] = [low, middle, high].map(|bound| padded(&bound, length));
        let retained = between(&low, &middle, &high, is_even);
        let zeros = retained.iter().take_while(|&&digit| digit == b'0').count();
        Digits::new(self.negative, &retained[zeros..], (point - zeros as i64) as i32)
    }
}

fn padded(digits: &str, length: usize) -> Vec<u8> {
    let mut out = vec![b'0'; length - digits.len()];
    out.extend_from_slice(digits.as_bytes());
    out
}

/// The shortest number between `low` and `high`, bounds included if `inclusive`; of two the nearer
/// to `middle`. All have as many digits, the first being 0.
fn between(low: &[u8], middle: &[u8], high: &[u8], inclusive: bool) -> Vec<u8> {
    let same = low.iter().zip(high).take_while(|(a, b)| a == b).count();
    let fits = |candidate: &[u8]| {
        let filled = |bound: &[u8]| {
            let (head, tail) = bound.split_at(candidate.len());
            // A candidate represents itself with zeros after it, so what the bound has there
            // decides between equal and less.
            let rest = if tail.iter().all(|&digit| digit == b'0') {
                Ordering::Equal
            } else {
                Ordering::Less
            };
            candidate.cmp(head).then(rest)
        };
        match (filled(low), filled(high)) {
            (Ordering::Greater, Ordering::Less) => true,
            (Ordering::Equal, _) | (_, Ordering::Equal) => inclusive,
            _ => false,
        }
    };
    // A bound that is itself a short number is cut before the first different digit.
    let trimmed =
        |bound: &[u8]| bound.iter().rposition(|&digit| digit != b'0').map_or(1, |at| at + 1);
    let cut = if inclusive { trimmed(low).min(trimmed(high)) } else { usize::MAX };
    for length in (same + 1).min(cut)..middle.len() {
        let down = middle[..length].to_vec();
        let up = incremented(&down);
        match (fits(&down), fits(&up)) {
            (true, true) => return if rounds_up(middle, length) { up } else { down },
            (true, false) => return down,
            (false, true) => return up,
            (false, false) => {}
        }
    }
    middle.to_vec()
}

/// Adds one to the last digit; the first is below 9.
fn incremented(digits: &[u8]) -> Vec<u8> {
    let mut out = digits.to_vec();
    for digit in out.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            break;
        }
        *digit = b'0';
    }
    out
}

/// True when the digits from `length` on are more than half, or half after an odd digit.
fn rounds_up(digits: &[u8], length: usize) -> bool {
    let Some((&next, rest)) = digits[length..].split_first() else { return false };
    let is_half = next == b'5' && rest.iter().all(|&digit| digit == b'0');
    if is_half { length > 0 && digits[length - 1] % 2 == 1 } else { next >= b'5' }
}

/// Rounds to so many digits.
fn round_decimal(digits: &[u8], point: i32, length: usize) -> (Vec<u8>, i32) {
    if digits.len() <= length {
        return (digits.to_vec(), point);
    }
    if !rounds_up(digits, length) {
        return (digits[..length].to_vec(), point);
    }
    let mut carried = vec![b'0'];
    carried.extend_from_slice(&digits[..length]);
    let carried = incremented(&carried);
    if carried[0] == b'0' { (carried[1..].to_vec(), point) } else { (carried, point + 1) }
}

/// The mantissa times two to the exponent, times ten to minus the exponent if that is negative:
/// an integer with the same digits.
fn scaled(mantissa: &BigUint, exponent: i64) -> BigUint {
    if exponent >= 0 { mantissa << exponent } else { mantissa * power_of_five(-exponent) }
}

/// The integer part of the mantissa times two to the exponent.
fn shifted(mantissa: &BigUint, exponent: i64) -> BigUint {
    if exponent >= 0 { mantissa << exponent } else { mantissa >> -exponent }
}

fn power_of_five(exponent: i64) -> BigUint {
    // Of numbers in range no exponent comes near the bound; it only makes the cast safe.
    BigUint::from(5u8).pow(exponent.clamp(0, 4 * EXPONENT_MAX) as u32)
}

/// A quotient of more than 200 bits whose last bit is set if there is a remainder.
fn divided(numerator: &BigUint, divisor: &BigUint) -> Binary {
    let shift = (PRECISION + 2 + divisor.bits()).saturating_sub(numerator.bits());
    let wide = numerator << shift;
    let quotient = &wide / divisor;
    let sticky = BigUint::from(u8::from(&quotient * divisor != wide));
    let mantissa = (quotient << 1u8) | sticky;
    Binary { negative: false, mantissa, exponent: -(shift as i64) - 1 }
}

/// Reads a number.
fn scan(text: &str) -> Result<Binary, BigFloatFault> {
    let bytes = text.as_bytes();
    if bytes.is_empty() {
        return Err(BigFloatFault::Empty);
    }
    let unsigned = bytes.strip_prefix(b"+").or(bytes.strip_prefix(b"-")).unwrap_or(bytes);
    if matches!(unsigned, b"Inf" | b"inf") {
        return Err(BigFloatFault::Infinite);
    }
    let (radix, rest, has_prefix) = match unsigned {
        [b'0', b'x' | b'X', rest @ ..] => (16, rest, true),
        [b'0', b'o' | b'O', rest @ ..] => (8, rest, true),
        [b'0', b'b' | b'B', rest @ ..] => (2, rest, true),
        rest => (10, rest, false),
    };
    let mut mantissa = Mantissa::scan(rest, radix, has_prefix)?;
    let (mark, exponent) = scan_exponent(&rest[mantissa.read..])?;
    // For 16, 8 and 2 this is the binary logarithm of the radix; radix 10 does not use it.
    let bits_a_digit = i64::from(radix.trailing_zeros());
    let (mut twos, mut tens) = (0i64, 0i64);
    match radix {
        10 => tens = mantissa.exponent,
        _ => twos = mantissa.exponent * bits_a_digit,
    }
    // In hexadecimal `e` is a digit, so only `p` gets here; `0b1e3` is a binary number times a
    // thousand.
    match mark {
        Some(b'p' | b'P') => twos += exponent,
        _ => tens += exponent,
    }
    let digits = std::mem::take(&mut mantissa.digits);
    let number = BigUint::from_radix_be(&digits, radix).unwrap_or(BigUint::ZERO);
    let mut binary = with_power_of_ten(number, tens, twos)?;
    binary.negative = bytes[0] == b'-';
    Ok(binary)
}

/// The digits of a number's text.
struct Mantissa {
    /// The values of the digits, without zeros in front.
    digits: Vec<u8>,
    /// How many digits the point is after the last.
    exponent: i64,
    /// The number of bytes read.
    read: usize,
}

impl Mantissa {
    fn scan(text: &[u8], radix: u32, has_prefix: bool) -> Result<Mantissa, BigFloatFault> {
        let mut mantissa = Mantissa { digits: Vec::new(), exponent: 0, read: 0 };
        let (mut has_point, mut has_digits) = (false, false);
        // A prefix counts as a digit here, since `0x_1` is a number.
        let mut after_digit = has_prefix;
        for (at, &byte) in text.iter().enumerate() {
            let digit = (byte as char).to_digit(radix);
            match (byte, digit) {
                (_, Some(digit)) => {
                    mantissa.push(digit as u8, has_point);
                    has_digits = true;
                }
                (b'_', _) if after_digit && followed_by_digit(text, at, radix) => {}
                (b'_', _) => return Err(BigFloatFault::Underscore),
                (b'.', _) if !has_point => has_point = true,
                _ => break,
            }
            after_digit = digit.is_some();
            mantissa.read = at + 1;
        }
        if has_digits { Ok(mantissa) } else { Err(BigFloatFault::NoDigits) }
    }

    fn push(&mut self, digit: u8, is_fraction: bool) {
        if self.digits.len() < TEXT_DIGITS_MAX {
            if digit != 0 || !self.digits.is_empty() {
                self.digits.push(digit);
            }
            self.exponent -= i64::from(is_fraction);
        } else {
            // A digit too many still distinguishes a tie from what is above it.
            if let Some(last) = self.digits.last_mut() {
                *last |= u8::from(digit != 0);
            }
            self.exponent += i64::from(!is_fraction);
        }
    }
}

fn followed_by_digit(text: &[u8], at: usize, radix: u32) -> bool {
    text.get(at + 1).is_some_and(|&byte| (byte as char).is_digit(radix))
}

/// Reads what follows the digits: nothing, or `e` or `p` with an integer.
fn scan_exponent(text: &[u8]) -> Result<(Option<u8>, i64), BigFloatFault> {
    let Some((&mark, rest)) = text.split_first() else { return Ok((None, 0)) };
    if !matches!(mark, b'e' | b'E' | b'p' | b'P') {
        return Err(BigFloatFault::Unexpected { byte: mark });
    }
    let digits = rest.strip_prefix(b"+").or(rest.strip_prefix(b"-")).unwrap_or(rest);
    if !digits.first().is_some_and(u8::is_ascii_digit) {
        return Err(BigFloatFault::NoDigits);
    }
    let mut exponent = 0i64;
    for &byte in digits {
        match byte {
            // Far beyond the range, which is refused later, and far below where the multiplication
            // would overflow.
            b'0'..=b'9' => exponent = (exponent * 10 + i64::from(byte - b'0')).min(1 << 40),
            _ => return Err(BigFloatFault::Unexpected { byte }),
        }
    }
    Ok((Some(mark), if rest.first() == Some(&b'-') { -exponent } else { exponent }))
}

/// A number times a power of ten and one of two, rounded.
fn with_power_of_ten(number: BigUint, tens: i64, twos: i64) -> Result<Binary, BigFloatFault> {
    if number == BigUint::ZERO {
        return Ok(Binary { negative: false, mantissa: number, exponent: 0 });
    }
    // Checked roughly before calculating and exactly afterwards; a third of a digit is a bit.
    if tens.abs() > EXPONENT_MAX || twos.abs() > 4 * EXPONENT_MAX {
        return Err(BigFloatFault::Range);
    }
    let mut binary = if tens >= 0 {
        Binary { negative: false, mantissa: number * power_of_five(tens), exponent: 0 }
    } else {
        divided(&number, &power_of_five(-tens))
    };
    // Ten to the n is five to the n times two to the n, and twos only move the exponent.
    binary.exponent += tens + twos;
    let rounded = binary.rounded();
    if rounded.is_out_of_range() { Err(BigFloatFault::Range) } else { Ok(rounded) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn big(text: &str) -> BigFloat {
        BigFloat::parse(text).unwrap()
    }

    #[test]
    fn text_is_the_shortest() {
        for (text, expected) in [
            ("100", "100"),
            ("1.1", "1.1"),
            ("0", "0"),
            ("-0", "-0"),
            ("1e-30", "1e-30"),
            ("1234567890.1234567890123456789", "1.2345678901234567890123456789e+09"),
            ("10.0000000000000000000124", "10.0000000000000000000124"),
            ("123123.123123123132", "123123.123123123132"),
            ("99.0000000000000000000001", "99.0000000000000000000001"),
            ("999999", "999999"),
            ("1000000", "1e+06"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("0x1p-2", "0.25"),
            ("0x_ffp0", "255"),
            ("0b101", "5"),
            ("0o17", "15"),
            ("1_000.5", "1000.5"),
            ("1.5p3", "12"),
            ("007", "7"),
            ("1e300", "1e+300"),
            ("1e-5000", "1e-5000"),
            (
                "1606938044258990275541962092341162602522202993782792835301376",
                "1.606938044258990275541962092341162602522202993782792835301376e+60",
            ),
        ] {
            assert_eq!(big(text).as_str(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_number() {
        for text in [
            "",
            "abc",
            "-",
            "1e",
            "1ee",
            "Inf",
            "-inf",
            "nan",
            "0x",
            "1__0",
            "_1",
            "1_",
            "1 ",
            "1.2.3",
            "1e7000",
            "1e-7000",
            "0x1p99999",
            "1e99999999999999999999",
        ] {
            let error = BigFloat::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{text}` is no bigfloat: ")), "{error}");
        }
        let error = BigFloat::parse("abc").unwrap_err();
        assert_eq!(error.to_string(), "`abc` is no bigfloat: it has no digits");
    }

    #[test]
    fn calculates_with_200_bits() {
        let two = big("2");
        assert_eq!(
            two.sqrt().unwrap().as_str(),
            "1.41421356237309504880168872420969807856967187537694807317668"
        );
        let sum =
            ["100", "99.1231231233", "99", "99.0000000000000000000001", "123123.123123123132"]
                .iter()
                .fold(big("0"), |sum, text| sum.add(&big(text)).unwrap());
        assert_eq!(sum.as_str(), "123520.2462462464320000000001");
        assert_eq!(sum.div(&big("5")).unwrap().as_str(), "24704.04924924928640000000002");
        assert_eq!(big("2.1").ceil().as_str(), "3");
        assert_eq!(big("2.1").floor().as_str(), "2");
        assert_eq!(big("-2.1").floor().as_str(), "-3");
        assert_eq!(big("-2.1").ceil().as_str(), "-2");
        assert_eq!(big("1").div(&big("0")), None);
        assert_eq!(big("-4").sqrt(), None);
        assert_eq!(big("4").sqrt().unwrap().as_str(), "2");
        assert_eq!(big("0.25").sqrt().unwrap().as_str(), "0.5");
        assert_eq!(big("3").sub(&big("3")).unwrap().as_str(), "0");
        assert_eq!(big("1.5").mul(&big("-1.5")).unwrap().as_str(), "-2.25");
        assert_eq!(big("1").div(&big("3")).unwrap().mul(&big("3")).unwrap().as_str(), "1");
        assert_eq!(big("1e5000").mul(&big("1e5000")), None);
        assert_eq!(big("1e5000").add(&big("1e-5000")).unwrap(), big("1e5000"));
    }

    #[test]
    fn converts() {
        assert_eq!(big("2.9").to_i64(), 2);
        assert_eq!(big("-2.9").to_i64(), -2);
        assert_eq!(big("1e30").to_i64(), i64::MAX);
        assert_eq!(big("-1e30").to_i64(), i64::MIN);
        assert_eq!(big("0.1").to_f64(), 0.1);
        assert_eq!(BigFloat::from_f64(0.5).unwrap().as_str(), "0.5");
        assert_eq!(
            BigFloat::from_f64(0.1).unwrap().as_str(),
            "0.1000000000000000055511151231257827021181583404541015625"
        );
        assert_eq!(BigFloat::from_i64(i64::MIN).as_str(), "-9.223372036854775808e+18");
        assert_eq!(big("1234567890.1234567890123").to_short_text(), "1234567890");
        assert_eq!(big("9999999999.5").to_short_text(), "1e+10");
        assert_eq!(big("1.1").to_short_text(), "1.1");
        assert_eq!(big("100").to_short_text(), "100");
    }

    #[test]
    fn order_is_by_value() {
        let ordered = [
            "-1e+10",
            "-123.5",
            "-123",
            "-0.001",
            "0",
            "1e-30",
            "0.001",
            "0.01",
            "0.5",
            "1",
            "1.5",
            "9",
            "10",
            "10.0000000000000000000123",
            "10.0000000000000000000124",
            "100",
            "1e+06",
            "1.1e+06",
        ];
        let key = |text: &str| {
            let mut out = Vec::new();
            write_key(text, &mut out);
            out
        };
        for (i, left) in ordered.iter().enumerate() {
            for (j, right) in ordered.iter().enumerate() {
                assert_eq!(compare_text(left, right), i.cmp(&j), "{left} {right}");
                assert_eq!(key(left).cmp(&key(right)), i.cmp(&j), "{left} {right}");
            }
        }
        assert_eq!(compare_text("-0", "0"), Ordering::Equal);
    }

    proptest! {
        #[test]
        fn text_reads_back_the_same(bits in any::<u64>()) {
            let number = f64::from_bits(bits);
            prop_assume!(number.is_finite());
            let exact = BigFloat::from_f64(number).unwrap();
            prop_assert_eq!(&big(exact.as_str()), &exact);
            prop_assert_eq!(exact.to_f64(), number);
        }

        #[test]
        fn digits_survive(text in "-?[1-9]\\.[0-9]{0,57}[1-9]e[+-][1-9][0-9]") {
            prop_assert!(!big(&text).to_short_text().is_empty());
            let again = big(big(&text).as_str());
            prop_assert_eq!(&again, &big(&text));
            let exponent: i32 = text.split_once('e').unwrap().1.parse().unwrap();
            if !(-4..6).contains(&exponent) {
                prop_assert_eq!(again.as_str(), text);
            }
        }

        #[test]
        fn division_undoes_multiplication(a in 1i64..1 << 60, b in 1i64..1 << 60) {
            let (a, b) = (BigFloat::from_i64(a), BigFloat::from_i64(b));
            prop_assert_eq!(a.mul(&b).unwrap().div(&b).unwrap(), a);
        }

        #[test]
        fn comparison_agrees_with_floats(a in any::<f64>(), b in any::<f64>()) {
            prop_assume!(a.is_finite() && b.is_finite());
            let (x, y) = (BigFloat::from_f64(a).unwrap(), BigFloat::from_f64(b).unwrap());
            prop_assert_eq!(Some(x.compare(&y)), a.partial_cmp(&b));
        }

        #[test]
        fn any_text_is_survived(text in "[-+0-9a-fxpobe_.]{0,40}|\\PC*") {
            if let Ok(number) = BigFloat::parse(&text) {
                let _ = (number.floor(), number.to_i64(), number.to_short_text(), number.sqrt());
            }
        }
    }
}
