//! The rectangle of longitudes and latitudes around the edges of a ring.
//!
//! The great circle between two positions may come nearer to a pole than both; the rectangle holds
//! all of it. In latitude it is wider by the rounding error, and exact in longitude, where the
//! reference compares rectangles to the last bit.

use super::position::radians_of;
use super::trigonometry::atan2;
use s2rst::r3::Vector;
use s2rst::s2::{LatLng, Point, Rect};
use s2rst::{r1, s1};
use std::f64::consts::{FRAC_PI_2, PI};

/// The length of a cross product below which two positions are the same, or opposite, but for
/// rounding.
const PARALLEL_MAX: f64 = 1.91346e-15;

/// A position with its longitude and latitude in radians.
#[derive(Clone, Copy)]
struct End {
    position: Vector,
    lng: f64,
    lat: f64,
}

/// The rectangle around the edges from corner to corner, and from the last to the first. What they
/// enclose may lie outside of it: a pole.
pub(super) fn bound_of(corners: &[Point]) -> Rect {
    let targets = corners.iter().chain(&corners[..1]).map(|corner| {
        let (lng, lat) = radians_of(*corner);
        End { position: corner.0, lng, lat }
    });
    let mut before: Option<End> = None;
    let mut bound = Rect::empty();
    for end in targets {
        if let Some(start) = before {
            bound = bound.union(bound_of_edge(start, end));
        }
        before = Some(end);
    }
    bound.expanded(LatLng::from_radians(2.0 * f64::EPSILON, 0.0)).polar_closure()
}

fn bound_of_edge(from: End, to: End) -> Rect {
    let mut lat = r1::Interval::from_point_pair(from.lat, to.lat);
    let mut lng = s1::Interval::from_point_pair(from.lng, to.lng);
    // Twice the cross product, without cancellation.
    let normal = (from.position - to.position).cross(from.position + to.position);
    let length = normal.norm();
    if length < PARALLEL_MAX {
        let is_opposite = from.position.dot(to.position) < 0.0;
        return if is_opposite { Rect::full() } else { Rect::new(lat, lng) };
    }
    // Two longitudes that are 180° apart except for rounding may be joined on either side, over a
    // pole.
    if PI - 2.0 * f64::EPSILON <= lng.length() {
        lng = s1::Interval::full();
    }
    // The plane through the poles and the turning points of the great circle: an edge that crosses
    // it goes over a turning point.
    let plane = Vector { x: normal.y, y: -normal.x, z: 0.0 };
    let (from_side, to_side) = (plane.dot(from.position), plane.dot(to.position));
    // The rounding error of the two products, as S2 derives it: (1 + √3) ε of the length and 8 √3
    // ε² more.
    let error = 6.06638e-16 * length + 6.83174e-31;
    let is_near = |side: f64| side.abs() <= error;
    if from_side * to_side < 0.0 || is_near(from_side) || is_near(to_side) {
        let flat = (normal.x * normal.x + normal.y * normal.y).sqrt();
        let lat_max = (atan2(flat, normal.z.abs()) + 3.0 * f64::EPSILON).min(FRAC_PI_2);
        // An edge is too short to get to the turning point and back by more than this.
        let chord = 0.5 * (from.position - to.position).norm();
        let budget = 2.0 * (chord * lat_max.sin()).min(1.0).asin();
        let increase = 0.5 * (budget - lat.length()) + f64::EPSILON;
        if from_side <= error && -error <= to_side {
            lat.hi = lat_max.min(lat.hi + increase);
        }
        if to_side <= error && -error <= from_side {
            lat.lo = (-lat_max).max(lat.lo - increase);
        }
    }
    Rect::new(lat, lng)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geo::position::position_of;
    use crate::types::Coordinate;
    use proptest::prelude::*;

    fn position(x: f64, y: f64) -> Point {
        position_of(&Coordinate::new(&[x, y]).unwrap())
    }

    #[test]
    fn great_circles_bulge_towards_the_poles() {
        let north = bound_of(&[position(-60.0, 60.0), position(60.0, 60.0)]);
        assert!((north.lat.hi.to_degrees() - 73.897_886).abs() < 1e-5);
        assert!((north.lat.lo.to_degrees() - 60.0).abs() < 1e-9);
        let meridian = bound_of(&[position(0.0, 0.0), position(180.0, 10.0)]);
        assert!((meridian.lat.hi - FRAC_PI_2).abs() < 1e-9 && meridian.lng.is_full());
    }

    proptest! {
        #[test]
        fn all_of_an_edge_is_within(
            from in (-180.0..180.0_f64, -90.0..90.0_f64),
            to in (-180.0..180.0_f64, -90.0..90.0_f64),
            at in 0.0..1.0_f64,
        ) {
            let (from, to) = (position(from.0, from.1), position(to.0, to.1));
            let between = Point((from.0 * (1.0 - at) + to.0 * at).normalize());
            prop_assume!(between.is_unit());
            let bound = bound_of(&[from, to]);
            let (lng, lat) = radians_of(between);
            prop_assert!(bound.lat.lo <= lat && lat <= bound.lat.hi);
            // An end's own longitude is exact, one between may be rounded beyond it.
            let wider = bound.expanded(LatLng::from_radians(0.0, 1e-14));
            prop_assert!(wider.lng.contains(lng));
        }
    }
}
