//! Positions on the unit sphere, from degrees and back.

use super::trigonometry::{atan2, sin_cos};
use crate::types::Coordinate;
use s2rst::r3::Vector;
use s2rst::s2::Point;
use std::f64::consts::PI;

/// One degree in radians.
const DEGREE: f64 = PI / 180.0;

/// The position of a coordinate in degrees: longitude, latitude. Any finite numbers are a position;
/// what goes beyond the poles comes down on the other side.
pub(super) fn position_of(coordinate: &Coordinate) -> Point {
    let (sin_lat, cos_lat) = sin_cos(coordinate.y() * DEGREE);
    let (sin_lng, cos_lng) = sin_cos(coordinate.x() * DEGREE);
    Point(Vector { x: cos_lng * cos_lat, y: sin_lng * cos_lat, z: sin_lat })
}

/// The longitude and latitude of a position in degrees. They may differ in the last bit from those
/// that the position was made from.
pub(super) fn degrees_of(position: Point) -> (f64, f64) {
    let (longitude, latitude) = radians_of(position);
    (longitude / DEGREE, latitude / DEGREE)
}

/// The longitude and latitude of a position in radians.
pub(super) fn radians_of(position: Point) -> (f64, f64) {
    let Vector { x, y, z } = position.0;
    (atan2(y, x), atan2(z, (x * x + y * y).sqrt()))
}

/// Whether two positions are the same but for rounding.
pub(super) fn is_about(one: Point, other: Point) -> bool {
    one.0.cross(other.0).norm().atan2(one.0.dot(other.0)) <= 1e-15
}

/// The corners of a regular polygon around a position, counterclockwise, `radius` radians away from
/// it.
pub(super) fn circle(center: Point, radius: f64, corners: usize) -> Vec<Point> {
    let up = s2rst::s2::ortho(center).0;
    let right = up.cross(center.0);
    let (outward, inward) = sin_cos(radius);
    let step = 2.0 * PI / corners as f64;
    let corner = |number| {
        let (sine, cosine) = sin_cos(number as f64 * step);
        let (x, y) = (outward * cosine, outward * sine);
        Point((right * x + up * y + center.0 * inward).normalize())
    };
    (0..corners).map(corner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn coordinate(x: f64, y: f64) -> Coordinate {
        Coordinate::new(&[x, y]).unwrap()
    }

    #[test]
    fn right_angles_are_exact() {
        let equator = position_of(&coordinate(0.0, 0.0));
        assert_eq!((equator.0.x, equator.0.y, equator.0.z), (1.0, 0.0, 0.0));
        assert_eq!(position_of(&coordinate(12.0, 90.0)).0.z, 1.0);
        assert_eq!(degrees_of(equator), (0.0, 0.0));
    }

    #[test]
    fn a_circle_has_a_constant_distance() {
        let center = position_of(&coordinate(-122.0, 37.0));
        let corners = circle(center, 0.01, 100);
        assert_eq!(corners.len(), 100);
        for corner in corners {
            assert!((corner.0.angle(center.0) - 0.01).abs() < 1e-12);
        }
    }

    proptest! {
        #[test]
        fn degrees_come_back(x in -180.0..180.0_f64, y in -89.9..89.9_f64) {
            let (lng, lat) = degrees_of(position_of(&coordinate(x, y)));
            prop_assert!((lng - x).abs() < 1e-10 && (lat - y).abs() < 1e-10);
        }

        #[test]
        fn any_number_is_a_position(x in any::<f64>(), y in any::<f64>()) {
            prop_assume!(x.is_finite() && y.is_finite());
            prop_assert!(position_of(&coordinate(x, y)).0.is_unit());
        }
    }
}
