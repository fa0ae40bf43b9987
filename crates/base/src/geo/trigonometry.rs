//! Sines, cosines and arc tangents, the same in every bit on every machine.
//!
//! Whether a point that lies on an edge of a polygon is inside of it hangs on the last bit of its
//! coordinates on the sphere. The system's library rounds differently from version to version, and
//! Dgraph does not use it: it has the polynomials of the Cephes library. So have we.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// π/4 in three parts, so that multiples of the first two are exact.
const PI_4_PARTS: [f64; 3] =
    [7.853_981_256_484_985e-1, 3.774_894_707_930_798e-8, 2.695_151_429_079_059_5e-15];

const SINE: [f64; 6] = [
    1.589_623_015_765_465_7e-10,
    -2.505_074_776_285_780_7e-8,
    2.755_731_362_138_572_2e-6,
    -1.984_126_982_958_954e-4,
    8.333_333_333_322_118e-3,
    -1.666_666_666_666_663e-1,
];

const COSINE: [f64; 6] = [
    -1.135_853_652_138_768_2e-11,
    2.087_570_084_197_473e-9,
    -2.755_731_417_929_674e-7,
    2.480_158_728_885_170_4e-5,
    -1.388_888_888_887_305_6e-3,
    4.166_666_666_666_659_3e-2,
];

const ARC_ABOVE: [f64; 5] = [
    -8.750_608_600_031_904e-1,
    -1.615_753_718_733_365_2e1,
    -7.500_855_792_314_705e1,
    -1.228_866_684_490_136_1e2,
    -6.485_021_904_942_025e1,
];

const ARC_BELOW: [f64; 6] = [
    1.0,
    2.485_846_490_142_306_3e1,
    1.650_270_098_316_988_5e2,
    4.328_810_604_912_902_7e2,
    4.853_903_996_359_137e2,
    1.945_506_571_482_614e2,
];

/// From here on the three parts of π/4 are too few; no position on earth is that far round.
const REDUCED_MAX: f64 = (1_u64 << 29) as f64;

/// What π/2 is more than its nearest float.
const PI_2_REST: f64 = 6.123_233_995_736_766e-17;

/// The sine and the cosine of an angle in radians.
pub(super) fn sin_cos(angle: f64) -> (f64, f64) {
    let size = angle.abs();
    if size >= REDUCED_MAX {
        return angle.sin_cos();
    }
    let mut octant = (size * (4.0 / PI)) as u64;
    // An odd octant goes up to the next, which leaves a rest between -π/4 and π/4.
    octant += octant & 1;
    let octants = octant as f64;
    let [high, middle, low] = PI_4_PARTS;
    let rest = ((size - octants * high) - octants * middle) - octants * low;
    let square = rest * rest;
    let sine = rest + rest * square * polynomial(&SINE, square);
    let cosine = 1.0 - 0.5 * square + square * square * polynomial(&COSINE, square);
    let (sine, cosine) = match octant & 7 {
        0 => (sine, cosine),
        2 => (cosine, -sine),
        4 => (-sine, -cosine),
        // Octants are even here, so the last is 6.
        _ => (-cosine, sine),
    };
    // The sign of zero is retained: it distinguishes the sides of the antimeridian.
    (if angle.is_sign_negative() { -sine } else { sine }, cosine)
}

/// The angle of the point (`x`, `y`) in radians, from -π to π.
pub(super) fn atan2(y: f64, x: f64) -> f64 {
    if y == 0.0 {
        return if x.is_sign_negative() { PI.copysign(y) } else { y };
    }
    if x == 0.0 {
        return FRAC_PI_2.copysign(y);
    }
    let ratio = y / x;
    let angle = arc_tangent(ratio.abs()).copysign(ratio);
    match (x < 0.0, angle <= 0.0) {
        (false, _) => angle,
        (true, true) => angle + PI,
        (true, false) => angle - PI,
    }
}

fn arc_tangent(ratio: f64) -> f64 {
    // The bounds of Cephes: up to 0.66, and from tan(3π/8) = 1 + √2 on.
    if ratio <= 0.66 {
        return small_arc(ratio);
    }
    if ratio > 1.0 + std::f64::consts::SQRT_2 {
        return FRAC_PI_2 - small_arc(1.0 / ratio) + PI_2_REST;
    }
    FRAC_PI_4 + small_arc((ratio - 1.0) / (ratio + 1.0)) + 0.5 * PI_2_REST
}

fn small_arc(ratio: f64) -> f64 {
    let square = ratio * ratio;
    let part = square * polynomial(&ARC_ABOVE, square) / polynomial(&ARC_BELOW, square);
    ratio * part + ratio
}

fn polynomial(coefficients: &[f64], at: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, coefficient| sum * at + coefficient)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_near(one: f64, other: f64, scale: f64) -> bool {
        (one - other).abs() <= 2.0 * f64::EPSILON * scale
    }

    #[test]
    fn exact_where_the_axes_are() {
        assert_eq!(sin_cos(0.0), (0.0, 1.0));
        assert!(sin_cos(-0.0).0.is_sign_negative());
        assert_eq!(sin_cos(FRAC_PI_2).0, 1.0);
        assert_eq!(atan2(0.0, -1.0), PI);
        assert_eq!(atan2(-0.0, -1.0), -PI);
        assert_eq!(atan2(1.0, 0.0), FRAC_PI_2);
        assert_eq!(atan2(1.0, 1.0), FRAC_PI_4);
        assert_eq!(atan2(0.0, 0.0), 0.0);
    }

    proptest! {
        #[test]
        fn sines_and_cosines_are_right(angle in -1e4..1e4_f64) {
            let (sine, cosine) = sin_cos(angle);
            prop_assert!(is_near(sine, angle.sin(), 1.0), "{sine} {}", angle.sin());
            prop_assert!(is_near(cosine, angle.cos(), 1.0), "{cosine} {}", angle.cos());
        }

        #[test]
        fn arc_tangents_are_right(y in -2.0..2.0_f64, x in -2.0..2.0_f64) {
            prop_assert!(is_near(atan2(y, x), y.atan2(x), PI), "{} {}", atan2(y, x), y.atan2(x));
        }

        #[test]
        fn any_angle_is_survived(angle in any::<f64>()) {
            let _ = sin_cos(angle);
        }
    }
}
