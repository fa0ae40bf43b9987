//! The variance of a sample: the squares of the distances from the mean, added up and divided by
//! one less than their number.
//!
//! There are two passes, one for the mean and one for the distances; a running sum of squares would
//! lose the digits of numbers that are large compared to their distances. What the distances add up
//! to, which is 0 but for rounding, corrects the mean.

use crate::exec::math::float_sums::FloatSum;

/// Squares of numbers above this may overflow.
const LARGE: f64 = 1e150;

/// The variance of some numbers; `None` for fewer than two.
pub(super) fn variance(numbers: impl ExactSizeIterator<Item = f64> + Clone) -> Option<f64> {
    let scale = scale_of(numbers.clone());
    Some(scaled(numbers, scale)? * scale * scale)
}

/// The standard deviation of some numbers; `None` for fewer than two.
pub(super) fn stddev(numbers: impl ExactSizeIterator<Item = f64> + Clone) -> Option<f64> {
    let scale = scale_of(numbers.clone());
    Some(scaled(numbers, scale)?.sqrt() * scale)
}

/// The distances of ints from the first one, which vary as the ints do. The distances of ints above
/// 2^53 have all their digits.
pub(super) fn distances(ints: &[i64]) -> impl ExactSizeIterator<Item = f64> + Clone {
    let first = ints.first().copied().unwrap_or_default();
    ints.iter().map(move |int| match int.checked_sub(first) {
        Some(distance) => distance as f64,
        None => (i128::from(*int) - i128::from(first)) as f64,
    })
}

/// What numbers are divided by so that their squares do not overflow: a power of two, which leaves
/// all digits, or 1.
fn scale_of(mut numbers: impl Iterator<Item = f64>) -> f64 {
    let is_any_large = numbers.any(|number| LARGE <= number.abs());
    if is_any_large { 2.0_f64.powi(1000) } else { 1.0 }
}

/// The variance of numbers that are divided by `scale`.
fn scaled(numbers: impl ExactSizeIterator<Item = f64> + Clone, scale: f64) -> Option<f64> {
    let count = numbers.len() as f64;
    if numbers.len() < 2 {
        return None;
    }
    let numbers = numbers.map(|number| number / scale);
    let mut sum = FloatSum::NONE;
    numbers.clone().for_each(|number| sum.add(number));
    let mean = sum.total() / count;
    let (mut squares, mut rest) = (FloatSum::NONE, FloatSum::NONE);
    for number in numbers {
        let distance = number - mean;
        squares.add(distance * distance);
        rest.add(distance);
    }
    let (squares, rest) = (squares.total(), rest.total());
    Some((squares - rest * rest / count) / (count - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_one_degree_less() {
        assert_eq!(variance([].into_iter()), None);
        assert_eq!(stddev([3.0].into_iter()), None);
        let numbers = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(variance(numbers.into_iter()), Some(32.0 / 7.0));
        assert_eq!(stddev([1.0, 1.0].into_iter()), Some(0.0));
    }

    #[test]
    fn large_numbers_keep_their_digits() {
        let far = 9_007_199_254_740_993;
        assert_eq!(variance(distances(&[far, far + 1, far + 2])), Some(1.0));
        assert_eq!(
            stddev(distances(&[i64::MIN, i64::MAX])),
            Some(2.0_f64.sqrt() * 2.0_f64.powi(63))
        );
        let numbers = [1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0];
        assert_eq!(variance(numbers.into_iter()), Some(30.0));
        assert_eq!(stddev([1e300, 3e300].into_iter()), Some(2.0_f64.sqrt() * 1e300));
        assert_eq!(variance([1e300, 3e300].into_iter()), Some(f64::INFINITY));
    }
}
