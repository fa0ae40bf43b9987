//! Quantiles of numbers: of `n` numbers in their order, that of the fraction `f` is the one at the
//! position `f · (n − 1)`. Between two positions it is interpolated linearly, as numpy does by
//! default.
//!
//! The numbers are selected, not sorted: O(n).

use hexgraph_base::plan::Fraction;

/// The quantile of ints, which are reordered; `None` where there are none.
pub(super) fn of_ints(fraction: Fraction, ints: &mut [i64]) -> Option<f64> {
    let (position, weight) = position_of(fraction, ints.len())?;
    let (_, below, rest) = ints.select_nth_unstable(position);
    let below = *below as f64;
    let above = rest.iter().min().map_or(below, |int| *int as f64);
    Some(between(below, above, weight))
}

/// The quantile of floats, which are reordered; `None` where there are none.
pub(super) fn of_floats(fraction: Fraction, floats: &mut [f64]) -> Option<f64> {
    let (position, weight) = position_of(fraction, floats.len())?;
    let (_, below, rest) = floats.select_nth_unstable_by(position, f64::total_cmp);
    let below = *below;
    let above = rest.iter().copied().min_by(f64::total_cmp).unwrap_or(below);
    Some(between(below, above, weight))
}

/// The position of the number at or below the quantile, and how far the quantile lies towards the
/// next one.
fn position_of(fraction: Fraction, count: usize) -> Option<(usize, f64)> {
    let position = fraction.get() * count.checked_sub(1)? as f64;
    // A product may be rounded up to the last position, and not beyond.
    Some((position as usize, position.fract()))
}

/// The number between two neighbours. Each half is computed from the nearer one, so that the result
/// is the neighbour itself where they are equal.
fn between(below: f64, above: f64, weight: f64) -> f64 {
    let distance = above - below;
    if !distance.is_finite() {
        return below * (1.0 - weight) + above * weight;
    }
    if weight < 0.5 { below + distance * weight } else { above - distance * (1.0 - weight) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fraction: f64, numbers: &[i64]) -> Option<f64> {
        let fraction = Fraction::new(fraction).unwrap();
        let mut floats: Vec<f64> = numbers.iter().map(|int| *int as f64).collect();
        let result = of_ints(fraction, &mut numbers.to_vec());
        assert_eq!(result, of_floats(fraction, &mut floats));
        result
    }

    #[test]
    fn quantiles_lie_between_neighbours() {
        assert_eq!(of(0.5, &[]), None);
        assert_eq!(of(0.25, &[7]), Some(7.0));
        assert_eq!(of(0.5, &[4, 1, 3, 2]), Some(2.5));
        assert_eq!(of(0.9, &[4, 1, 3, 2]), Some(3.7));
        assert_eq!(of(0.0, &[4, 1, 3, 2]), Some(1.0));
        assert_eq!(of(1.0, &[4, 1, 3, 2]), Some(4.0));
    }

    #[test]
    fn distances_do_not_overflow() {
        let half = Fraction::HALF;
        assert_eq!(of_floats(half, &mut [f64::MAX, f64::MIN]), Some(0.0));
        assert_eq!(of_ints(half, &mut [i64::MAX, i64::MIN]), Some(0.0));
    }
}
