//! Numbers as text, in the forms of Go: those of `strconv.FormatFloat` with the format `g`, which
//! Dgraph's answers have, and those of its `encoding/json`.

/// Writes a decimal integer.
pub fn write_int(number: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Writes a float with the fewest digits that read back the same, as `1.7`, `999999` or `1e+06`:
/// with an exponent below 0.0001 and from a million on. Infinities are `+Inf` and `-Inf`.
pub fn write_float(number: f64, out: &mut Vec<u8>) {
    let size = number.abs();
    // -0 is the only integral float without an integer of the same text.
    if size < 1e6 && number == number.trunc() && (number != 0.0 || number.is_sign_positive()) {
        write_int(number as i64, out);
    } else if (1e-4..1e6).contains(&size) {
        // The library writes no exponent in this range, as Go does not.
        out.extend_from_slice(zmij::Buffer::new().format_finite(number).as_bytes());
    } else {
        write_float_as(number, b'e', out);
    }
}

/// The text of a float that was converted to a string: as [`write_float`] with `E` for the
/// exponent.
pub fn float_text(number: f64) -> String {
    let mut out = Vec::with_capacity(24);
    write_float_as(number, b'E', &mut out);
    into_text(out)
}

/// Writes an element of a vector with the fewest digits of its 32 bits and always an exponent:
/// `1E+00`, `-2.5E-01`.
pub fn write_float32(number: f32, out: &mut Vec<u8>) {
    if write_special(f64::from(number), out) {
        return;
    }
    let mut buffer = zmij::Buffer::new();
    Digits::of(buffer.format_finite(number)).write_with_exponent(b'E', out);
}

/// Writes an element of a vector that was converted to a string: never an exponent.
pub(crate) fn write_float32_plain(number: f32, out: &mut Vec<u8>) {
    if write_special(f64::from(number), out) {
        return;
    }
    let mut buffer = zmij::Buffer::new();
    Digits::of(buffer.format_finite(number)).write_plain(out);
}

/// Writes a coordinate as Go's JSON does: an exponent only below 1e-6 and from 1e21 on, and of as
/// few digits as it needs.
pub(crate) fn write_json_float(number: f64, out: &mut Vec<u8>) {
    let mut buffer = zmij::Buffer::new();
    let digits = Digits::of(buffer.format_finite(number));
    let size = number.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return digits.write_plain(out);
    }
    digits.write_with_exponent(b'e', out);
    // Go's `encoding/json` writes 1e-7 where its `strconv` has 1e-07.
    if let [.., b'-', b'0', last] = **out {
        out.truncate(out.len() - 2);
        out.push(last);
    }
}

fn write_float_as(number: f64, mark: u8, out: &mut Vec<u8>) {
    if !write_special(number, out) {
        let mut buffer = zmij::Buffer::new();
        // Go's `strconv` decides between the two forms by a precision of 6 where the shortest
        // digits are requested.
        Digits::of(buffer.format_finite(number)).write(6, mark, out);
    }
}

fn write_special(number: f64, out: &mut Vec<u8>) -> bool {
    if number.is_finite() {
        return false;
    }
    let text = match number {
        f64::INFINITY => "+Inf",
        f64::NEG_INFINITY => "-Inf",
        _ => "NaN",
    };
    out.extend_from_slice(text.as_bytes());
    true
}

fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("numbers are written in ASCII")
}

/// The longest shortest text of a float of 64 bits has 17 digits; those of 200 bits have 62.
const DIGITS_MAX: usize = 64;

/// A decimal number apart: 0.ddd… times ten to the `point`, the first digit not being 0. No digits
/// at all are zero.
pub(crate) struct Digits {
    negative: bool,
    digits: [u8; DIGITS_MAX],
    len: usize,
    point: i32,
}

impl Digits {
    /// A number of at most [`DIGITS_MAX`] ASCII digits; what is beyond is dropped, and so are zeros
    /// at the end.
    pub(crate) fn new(negative: bool, ascii: &[u8], point: i32) -> Digits {
        let mut digits = Digits { negative, digits: [0; DIGITS_MAX], len: 0, point };
        for &digit in ascii {
            digits.push(digit);
        }
        digits.trim();
        digits
    }

    /// Takes a finite number's text apart, such as `-1.25`, `100.0` or `1e-7`.
    fn of(text: &str) -> Digits {
        let mut digits = Digits { negative: false, digits: [0; DIGITS_MAX], len: 0, point: 0 };
        let mut after_point = false;
        for (at, &byte) in text.as_bytes().iter().enumerate() {
            match byte {
                b'-' => digits.negative = true,
                b'.' => after_point = true,
                b'e' => {
                    let exponent: i32 = text[at + 1..].parse().unwrap_or(0);
                    digits.point += exponent;
                    break;
                }
                // A zero in front is no digit; after the point it moves the first digit down.
                b'0' if digits.len == 0 => digits.point -= i32::from(after_point),
                _ => {
                    digits.push(byte);
                    digits.point += i32::from(!after_point);
                }
            }
        }
        digits.trim();
        digits
    }

    fn push(&mut self, digit: u8) {
        if self.len < DIGITS_MAX {
            self.digits[self.len] = digit;
            self.len += 1;
        }
    }

    fn trim(&mut self) {
        while self.len > 0 && self.digits[self.len - 1] == b'0' {
            self.len -= 1;
        }
        if self.len == 0 {
            // Zero is 0.0 times ten, so that its exponent, one less, is 0 and it is written
            // plainly.
            self.point = 1;
        }
    }

    fn digits(&self) -> &[u8] {
        &self.digits[..self.len]
    }

    /// Writes it plainly if the exponent is at least -4 and below `limit`, else with an exponent.
    pub(crate) fn write(&self, limit: i32, mark: u8, out: &mut Vec<u8>) {
        if (-4..limit).contains(&(self.point - 1)) {
            self.write_plain(out);
        } else {
            self.write_with_exponent(mark, out);
        }
    }

    /// Writes it as `123.45`, filling up with zeros where there are no digits.
    pub(crate) fn write_plain(&self, out: &mut Vec<u8>) {
        if self.negative {
            out.push(b'-');
        }
        let full = self.len.min(self.point.max(0) as usize);
        let (before, after) = self.digits().split_at(full);
        if self.point <= 0 || self.len == 0 {
            out.push(b'0');
        } else {
            out.extend_from_slice(before);
            out.resize(out.len() + self.point as usize - full, b'0');
        }
        if !after.is_empty() {
            out.push(b'.');
            out.resize(out.len() + (-self.point).max(0) as usize, b'0');
            out.extend_from_slice(after);
        }
    }

    /// Writes it as `1.2345e+02`, with two digits of exponent at least.
    pub(crate) fn write_with_exponent(&self, mark: u8, out: &mut Vec<u8>) {
        if self.negative {
            out.push(b'-');
        }
        let (first, rest) = self.digits().split_first().unwrap_or((&b'0', &[]));
        out.push(*first);
        if !rest.is_empty() {
            out.push(b'.');
            out.extend_from_slice(rest);
        }
        let exponent = self.point - 1;
        out.push(mark);
        out.push(if exponent < 0 { b'-' } else { b'+' });
        if exponent.abs() < 10 {
            out.push(b'0');
        }
        write_int(i64::from(exponent.abs()), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn float(number: f64) -> String {
        let mut out = Vec::new();
        write_float(number, &mut out);
        into_text(out)
    }

    fn float32(number: f32) -> String {
        let mut out = Vec::new();
        write_float32(number, &mut out);
        into_text(out)
    }

    fn json_float(number: f64) -> String {
        let mut out = Vec::new();
        write_json_float(number, &mut out);
        into_text(out)
    }

    #[test]
    fn floats_change_form_at_a_million_and_a_ten_thousandth() {
        for (number, expected) in [
            (3.0, "3"),
            (0.0, "0"),
            (-0.0, "-0"),
            (1.7, "1.7"),
            (999_999.0, "999999"),
            (-999_999.0, "-999999"),
            (999_999.5, "999999.5"),
            (123_456.789, "123456.789"),
            (1e6, "1e+06"),
            (1_234_567.0, "1.234567e+06"),
            (2.1e7, "2.1e+07"),
            (0.0001, "0.0001"),
            (0.00012345, "0.00012345"),
            (1e-5, "1e-05"),
            (1e21, "1e+21"),
            (1e100, "1e+100"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::INFINITY, "+Inf"),
            (0.1 + 0.2, "0.30000000000000004"),
        ] {
            assert_eq!(float(number), expected);
        }
        assert_eq!(float_text(1_234_567.0), "1.234567E+06");
        assert_eq!(float_text(13_816.251), "13816.251");
        assert_eq!(float_text(-0.0), "-0");
    }

    #[test]
    fn vectors_always_show_an_exponent() {
        for (number, expected) in [
            (1.0, "1E+00"),
            (-0.25, "-2.5E-01"),
            (1e10, "1E+10"),
            (0.0, "0E+00"),
            (0.1, "1E-01"),
            (123.456, "1.23456E+02"),
            (f32::MAX, "3.4028235E+38"),
        ] {
            assert_eq!(float32(number), expected);
        }
        let mut out = Vec::new();
        write_float32_plain(1e10, &mut out);
        out.push(b' ');
        write_float32_plain(0.001, &mut out);
        assert_eq!(into_text(out), "10000000000 0.001");
    }

    #[test]
    fn coordinates_are_plain() {
        for (number, expected) in [
            (-122.082506, "-122.082506"),
            (0.0, "0"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (1.5e-10, "1.5e-10"),
        ] {
            assert_eq!(json_float(number), expected);
        }
    }

    proptest! {
        #[test]
        fn floats_round_trip(bits in any::<u64>()) {
            let number = f64::from_bits(bits);
            prop_assume!(number.is_finite());
            for text in [float(number), float_text(number), json_float(number)] {
                prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), bits);
            }
        }

        #[test]
        fn small_floats_round_trip(number in -2e6f64..2e6) {
            prop_assert_eq!(float(number).parse::<f64>().unwrap(), number);
            prop_assert_eq!(float(number), float_text(number).replace('E', "e"));
        }

        #[test]
        fn vector_elements_round_trip(bits in any::<u32>()) {
            let number = f32::from_bits(bits);
            prop_assume!(number.is_finite());
            prop_assert_eq!(float32(number).parse::<f32>().unwrap().to_bits(), bits);
        }
    }
}
