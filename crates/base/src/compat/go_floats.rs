//! The notation of floats that Go's `strconv.ParseFloat` reads: decimal or hexadecimal, with `_`
//! between digits, and the names of what is no number.

/// Returns a decimal float without its underscores.
pub(crate) fn plain(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains('_') { text.replace('_', "").into() } else { text.into() }
}

/// The notation in which a float is written.
pub(crate) enum FloatText {
    /// Decimal digits, with underscores perhaps.
    Decimal,
    /// Hexadecimal digits.
    Hex(HexFloat),
    /// `inf` or `infinity`, in any case and with any sign.
    Infinity,
    /// `nan`, in any case.
    NotANumber,
}

/// A hexadecimal float: `mantissa` times two to the `exponent`, and slightly more if `sticky`.
pub(crate) struct HexFloat {
    negative: bool,
    mantissa: u64,
    exponent: i64,
    sticky: bool,
}

impl FloatText {
    /// Returns the notation of a text; `None` for a text that is no float.
    pub(crate) fn scan(text: &str) -> Option<FloatText> {
        let bytes = text.as_bytes();
        let unsigned = bytes.strip_prefix(b"+").or(bytes.strip_prefix(b"-")).unwrap_or(bytes);
        if [&b"inf"[..], b"infinity"].iter().any(|name| unsigned.eq_ignore_ascii_case(name)) {
            return Some(FloatText::Infinity);
        }
        // With a sign it is no number to Go, unlike the infinities.
        if bytes.eq_ignore_ascii_case(b"nan") {
            return Some(FloatText::NotANumber);
        }
        if !underscores_are_well_placed(unsigned) {
            return None;
        }
        if let [b'0', b'x' | b'X', digits @ ..] = unsigned {
            return HexFloat::scan(digits, bytes[0] == b'-').map(FloatText::Hex);
        }
        is_decimal(unsigned).then_some(FloatText::Decimal)
    }
}

fn is_decimal(text: &[u8]) -> bool {
    let is_mark = |byte: &u8| matches!(byte, b'e' | b'E');
    let (mantissa, exponent) = match text.iter().position(is_mark) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let points = mantissa.iter().filter(|&&byte| byte == b'.').count();
    let digits = mantissa.iter().filter(|byte| byte.is_ascii_digit()).count();
    let others = mantissa.iter().any(|&byte| !matches!(byte, b'0'..=b'9' | b'.' | b'_'));
    points <= 1 && digits > 0 && !others && exponent.is_none_or(|text| exponent_of(text).is_some())
}

/// Reads the integer after `e` or `p`; `None` when there is none. What is beyond a million is
/// returned as a million, which is infinite or zero in any float.
fn exponent_of(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'+', digits @ ..] => (false, digits),
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    digits.first().filter(|byte| byte.is_ascii_digit())?;
    let mut exponent = 0i64;
    for &byte in digits.iter().filter(|&&byte| byte != b'_') {
        if !byte.is_ascii_digit() {
            return None;
        }
        exponent = (exponent * 10 + i64::from(byte - b'0')).min(1_000_000);
    }
    Some(if negative { -exponent } else { exponent })
}

/// True when every `_` stands between two digits, or between a prefix such as `0x` and a digit.
fn underscores_are_well_placed(unsigned: &[u8]) -> bool {
    if !unsigned.contains(&b'_') {
        return true;
    }
    let (is_hex, digits) = match unsigned {
        [b'0', b'x' | b'X', digits @ ..] => (true, digits),
        [b'0', b'b' | b'B' | b'o' | b'O', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let is_digit = |byte: u8| byte.is_ascii_digit() || (is_hex && byte.is_ascii_hexdigit());
    let has_prefix = digits.len() < unsigned.len();
    digits.iter().enumerate().filter(|(_, byte)| **byte == b'_').all(|(at, _)| {
        let before = if at == 0 { has_prefix } else { is_digit(digits[at - 1]) };
        before && digits.get(at + 1).is_some_and(|&byte| is_digit(byte))
    })
}

impl HexFloat {
    /// Reads what follows `0x`: digits with at most one point, then `p` and an exponent.
    fn scan(text: &[u8], negative: bool) -> Option<HexFloat> {
        let mark = text.iter().position(|byte| matches!(byte, b'p' | b'P'))?;
        let mut hex = HexFloat { negative, mantissa: 0, exponent: 0, sticky: false };
        let (mut has_point, mut has_digits) = (false, false);
        for &byte in text[..mark].iter().filter(|&&byte| byte != b'_') {
            if byte == b'.' && !has_point {
                has_point = true;
                continue;
            }
            hex.push((byte as char).to_digit(16)?, has_point);
            has_digits = true;
        }
        hex.exponent += exponent_of(&text[mark + 1..])?;
        has_digits.then_some(hex)
    }

    fn push(&mut self, digit: u32, is_fraction: bool) {
        // The highest digit of the 64 bits is still 0, so another one fits; `sticky` notes what
        // comes later.
        if self.mantissa >> 60 == 0 {
            self.mantissa = self.mantissa << 4 | u64::from(digit);
            self.exponent -= if is_fraction { 4 } else { 0 };
        } else {
            self.sticky |= digit != 0;
            self.exponent += if is_fraction { 0 } else { 4 };
        }
    }

    /// The nearest float with `bits` of mantissa and no bit below two to the `least`; ties to even.
    pub(crate) fn round(&self, bits: i64, least: i64) -> f64 {
        let sign = if self.negative { -1.0 } else { 1.0 };
        if self.mantissa == 0 {
            return 0.0 * sign;
        }
        let length = 64 - i64::from(self.mantissa.leading_zeros());
        let dropped = (length - bits).max(least - self.exponent).max(0);
        // All bits are cut off, and they are less than half of the first position that is retained.
        if dropped > 64 {
            return 0.0 * sign;
        }
        // Both are doubled: `rest` is twice what is cut off, `half` twice half a unit of the last
        // bit that is retained. So what `sticky` represents counts as more than nothing and less
        // than a bit.
        let wide = u128::from(self.mantissa);
        let retained = wide >> dropped;
        let rest = (wide - (retained << dropped)) * 2 + u128::from(self.sticky);
        let half = 1u128 << dropped;
        let up = dropped > 0 && (rest > half || (rest == half && retained % 2 == 1));
        let exponent = self.exponent + dropped;
        // Beyond this the result is infinite or was shifted out above; within it the two steps are
        // exact, as `retained` has no more bits than fit.
        let exponent = exponent.clamp(-1100, 1100) as i32;
        let number = (retained + u128::from(up)) as f64;
        let number = number * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
        // A float of 32 bits, which is returned as one of 64, has a smaller range than the
        // multiplication above knows.
        let is_too_large = bits == 24 && number > f64::from(f32::MAX);
        if is_too_large { f64::INFINITY * sign } else { number * sign }
    }
}
