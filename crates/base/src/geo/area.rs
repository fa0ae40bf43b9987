//! What a closed ring encloses on the sphere.
//!
//! Edges are parts of great circles. A ring divides the sphere in two; the smaller part is meant,
//! independent of the orientation. Holes are ignored: Dgraph looks at outlines only.
//!
//! A position is inside or outside by the number of edges between it and a fixed origin. The test
//! of a crossing is exact, with a rule for positions on an edge that gives them to exactly one of
//! the two sides, so any ring is sound, also one that crosses itself.

use super::bound::bound_of;
use super::geo_error::GeoError;
use super::position::{circle, is_about, position_of, radians_of};
use crate::types::Coordinate;
use s2rst::s1::Angle;
use s2rst::s2::edge_crosser::EdgeCrosser;
use s2rst::s2::edge_crossings::angle_contains_vertex;
use s2rst::s2::{Cap, Point, Rect};
use s2rst::{r1, s1};
use std::f64::consts::{FRAC_PI_2, PI};

/// The radius of the earth in metres.
const EARTH_RADIUS: f64 = 6_371_000.0;

/// The corners of the polygon that represents a circle.
const CIRCLE_CORNERS: usize = 100;

/// The part of the sphere on the left of a ring of corners.
#[derive(Debug, Clone)]
pub(super) struct Area {
    /// At least three corners; the last is joined to the first.
    corners: Vec<Point>,
    /// True if the fixed origin, from which paths to a position start, lies inside.
    origin_inside: bool,
    /// A rectangle of longitudes and latitudes that contains all positions inside.
    bound: Rect,
}

impl Area {
    /// Returns the area within a closed ring.
    ///
    /// # Errors
    ///
    /// [`GeoError::OpenRing`] or [`GeoError::ShortRing`].
    pub(super) fn within(ring: &[Coordinate]) -> Result<Area, GeoError> {
        check_ring(ring)?;
        let mut corners: Vec<Point> = ring[1..].iter().map(position_of).collect();
        // The ring is closed: its last point is the first one. The first corner stays the first.
        if is_clockwise(ring) {
            corners.reverse();
        } else {
            corners.rotate_right(1);
        }
        let mut area = Area::left_of(corners);
        // The direction on a flat map is a guess, wrong around poles and the antimeridian.
        if 90.0 < cap_of(area.bound).angle_radius().degrees() {
            area.invert();
        }
        Ok(area)
    }

    /// Returns the area of the positions up to `distance` metres away from one, as a polygon of 100
    /// corners.
    pub(super) fn around(center: Point, distance: f64) -> Area {
        Area::left_of(circle(center, distance / EARTH_RADIUS, CIRCLE_CORNERS))
    }

    fn left_of(corners: Vec<Point>) -> Area {
        let mut area = Area { corners, origin_inside: false, bound: Rect::full() };
        // `check_ring` leaves no ring with fewer than three corners, and a circle has a hundred.
        let [before, corner, after] = [area.corners[0], area.corners[1], area.corners[2]];
        // Counting crossings from an origin that is assumed to be outside gives a wrong answer for
        // a corner exactly if the origin is inside.
        let corner_inside =
            before != corner && after != corner && angle_contains_vertex(before, corner, after);
        area.origin_inside = corner_inside != area.is_inside(corner);
        area.bound = area.find_bound();
        area
    }

    fn invert(&mut self) {
        self.corners.reverse();
        self.origin_inside = !self.origin_inside;
        let lat = self.bound.lat;
        // An area without the poles leaves both of them to the rest of the sphere.
        self.bound = match -FRAC_PI_2 < lat.lo && lat.hi < FRAC_PI_2 {
            true => Rect::full(),
            false => self.find_bound(),
        };
    }

    fn find_bound(&self) -> Rect {
        let mut bound = bound_of(&self.corners);
        // Edges do not bound an area that holds a pole: it has all longitudes, and latitudes up to
        // the pole.
        if self.is_inside(Point::from_coords(0.0, 0.0, 1.0)) {
            let lat = r1::Interval::new(bound.lat.lo, FRAC_PI_2);
            bound = Rect::new(lat, s1::Interval::full());
        }
        // Edges around a pole go through all longitudes, so with fewer of them the pole needs no
        // test.
        if bound.lng.is_full() && self.is_inside(Point::from_coords(0.0, 0.0, -1.0)) {
            bound.lat.lo = -FRAC_PI_2;
        }
        bound
    }

    /// The corners, counterclockwise around the area.
    pub(super) fn corners(&self) -> &[Point] {
        &self.corners
    }

    /// The edge that starts at a corner.
    pub(super) fn edge(&self, number: usize) -> (Point, Point) {
        let next = if number + 1 == self.corners.len() { 0 } else { number + 1 };
        (self.corners[number], self.corners[next])
    }

    /// A cap that holds the area.
    pub(super) fn cap(&self) -> Cap {
        cap_of(self.bound)
    }

    /// Returns true if a position is inside. It takes one pass over the corners.
    pub(super) fn holds(&self, position: Point) -> bool {
        let (longitude, latitude) = radians_of(position);
        self.bound.lat.contains(latitude)
            && self.bound.lng.contains(longitude)
            && self.is_inside(position)
    }

    fn is_inside(&self, position: Point) -> bool {
        let mut crosser = EdgeCrosser::with_start(Point::origin(), position, self.corners[0]);
        let targets = self.corners[1..].iter().chain(&self.corners[..1]);
        let crossed = targets.filter(|end| crosser.edge_or_vertex_chain_crossing(**end)).count();
        self.origin_inside != (crossed % 2 == 1)
    }

    /// Returns true if all of another area is inside, as Dgraph tests it: areas with a
    /// common edge or touch from the wrong side are not, and so no area contains itself. It
    /// compares each edge of the one with each edge of the other.
    pub(super) fn contains(&self, other: &Area) -> bool {
        if !self.bound.contains(other.bound) {
            return false;
        }
        if !self.holds(other.corners[0]) && !self.has_corner(other.corners[0]) {
            return false;
        }
        if self.is_crossed_by(other) {
            return false;
        }
        // Two areas that make up the sphere together hold each other's outlines too.
        let is_all = self.bound.union(other.bound).is_full();
        !(is_all && other.holds(self.corners[0]) && !other.has_corner(self.corners[0]))
    }

    /// Returns true if the areas have a position in common. It compares each edge of the one with
    /// each edge of the other.
    pub(super) fn intersects(&self, other: &Area) -> bool {
        let (large, small) = match self.corners.len() < other.corners.len() {
            true => (other, self),
            false => (self, other),
        };
        if !large.bound.intersects(small.bound) {
            return false;
        }
        large.holds(small.corners[0])
            || large.is_crossed_by(small)
            // Where no edges cross, one area may still lie within the other; then its bound lies
            // within the other's.
            || small.bound.contains(large.bound) && small.holds(large.corners[0])
    }

    fn has_corner(&self, position: Point) -> bool {
        self.corners.iter().any(|corner| is_about(*corner, position))
    }

    fn is_crossed_by(&self, other: &Area) -> bool {
        (0..other.corners.len()).any(|number| {
            let (from, to) = other.edge(number);
            let mut crosser = EdgeCrosser::with_start(from, to, self.corners[0]);
            let mut targets = self.corners[1..].iter().chain(&self.corners[..1]);
            targets.any(|end| crosser.edge_or_vertex_chain_crossing(*end))
        })
    }
}

/// Refuses a ring that encloses nothing: open, or of fewer than four points.
pub(super) fn check_ring(ring: &[Coordinate]) -> Result<(), GeoError> {
    let [first, .., last] = ring else {
        return Err(GeoError::ShortRing { count: ring.len() });
    };
    if (first.x(), first.y()) != (last.x(), last.y()) {
        return Err(GeoError::OpenRing);
    }
    if ring.len() < 4 {
        return Err(GeoError::ShortRing { count: ring.len() });
    }
    Ok(())
}

/// Whether the corners of a ring run clockwise on a flat map.
fn is_clockwise(ring: &[Coordinate]) -> bool {
    // The shoelace formula, doubled and with inverted sign: the sum is positive where the corners
    // run clockwise.
    let doubled = |edge: &[Coordinate]| (edge[1].x() - edge[0].x()) * (edge[0].y() + edge[1].y());
    0.0 < ring.windows(2).map(doubled).sum::<f64>()
}

/// A cap that holds a rectangle of longitudes and latitudes: around its middle, or around a pole.
fn cap_of(bound: Rect) -> Cap {
    let (pole, angle) = match bound.lat.hi + bound.lat.lo < 0.0 {
        true => (-1.0, FRAC_PI_2 + bound.lat.hi),
        false => (1.0, FRAC_PI_2 - bound.lat.lo),
    };
    let pole = Point::from_coords(0.0, 0.0, pole);
    let around_pole = Cap::from_center_angle(pole, Angle::from_radians(angle));
    // A rectangle up to 180° wide has its corners farthest from its middle; those of a wider one
    // may be nearer.
    if PI < bound.lng.length() {
        return around_pole;
    }
    let middle = Cap::from_point(bound.center().to_point());
    let around_middle = middle.add_point(bound.lo().to_point()).add_point(bound.hi().to_point());
    if around_middle.height() < around_pole.height() { around_middle } else { around_pole }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(corners: &[(f64, f64)]) -> Vec<Coordinate> {
        let closed = corners.iter().chain(&corners[..1]);
        closed.map(|(x, y)| Coordinate::new(&[*x, *y]).unwrap()).collect()
    }

    fn area(corners: &[(f64, f64)]) -> Area {
        Area::within(&ring(corners)).unwrap()
    }

    fn position(x: f64, y: f64) -> Point {
        position_of(&Coordinate::new(&[x, y]).unwrap())
    }

    fn square(x: f64, y: f64, size: f64) -> Area {
        area(&[(x, y), (x + size, y), (x + size, y + size), (x, y + size)])
    }

    #[test]
    fn the_smaller_part_is_meant() {
        let mut corners = vec![(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)];
        for _ in 0..2 {
            let area = area(&corners);
            assert!(area.holds(position(1.0, 1.0)));
            assert!(!area.holds(position(3.0, 1.0)));
            assert!(!area.holds(position(-179.0, -1.0)));
            corners.reverse();
        }
    }

    #[test]
    fn poles_and_the_antimeridian_are_nothing_special() {
        for mut corners in [
            vec![(0.0, 80.0), (90.0, 80.0), (180.0, 80.0), (-90.0, 80.0)],
            vec![(0.0, 80.0), (120.0, 80.0), (240.0, 80.0)],
        ] {
            for _ in 0..2 {
                let area = area(&corners);
                assert!(area.holds(position(37.0, 89.0)) && area.holds(position(0.0, 90.0)));
                assert!(!area.holds(position(0.0, 70.0)) && !area.holds(position(0.0, -89.0)));
                corners.reverse();
            }
        }
        let mut corners = vec![(179.0, -1.0), (-179.0, -1.0), (-179.0, 1.0), (179.0, 1.0)];
        for _ in 0..2 {
            let area = area(&corners);
            assert!(area.holds(position(180.0, 0.0)) && area.holds(position(-179.5, 0.5)));
            assert!(!area.holds(position(0.0, 0.0)) && !area.holds(position(178.0, 0.0)));
            corners.reverse();
        }
    }

    #[test]
    fn neighbours_have_no_common_position() {
        let (west, east) = (square(0.0, 0.0, 1.0), square(1.0, 0.0, 1.0));
        for step in 0..=10 {
            let at = position(1.0, f64::from(step) / 10.0);
            assert!(!(west.holds(at) && east.holds(at)), "{step}");
        }
    }

    #[test]
    fn areas_within_areas() {
        let (large, small) = (square(0.0, 0.0, 4.0), square(1.0, 1.0, 2.0));
        assert!(large.contains(&small) && !small.contains(&large));
        assert!(large.intersects(&small) && small.intersects(&large));
        assert!(!large.contains(&large) && large.intersects(&large));
        let apart = square(10.0, 10.0, 1.0);
        assert!(!large.contains(&apart) && !large.intersects(&apart));
        let across = square(3.0, 3.0, 2.0);
        assert!(!large.contains(&across) && large.intersects(&across));
        // Neither holds a corner of the other.
        let (tall, wide) = (
            area(&[(1.0, -1.0), (2.0, -1.0), (2.0, 5.0), (1.0, 5.0)]),
            area(&[(-1.0, 1.0), (5.0, 1.0), (5.0, 2.0), (-1.0, 2.0)]),
        );
        assert!(tall.intersects(&wide) && !tall.contains(&wide));
    }

    #[test]
    fn circles_hold_what_is_near() {
        let around = Area::around(position(10.0, 50.0), 1000.0);
        assert!(around.holds(position(10.0, 50.0)) && around.holds(position(10.0, 50.0089)));
        assert!(!around.holds(position(10.0, 50.0091)));
        let most = Area::around(position(0.0, 90.0), 15_000_000.0);
        assert!(most.holds(position(0.0, 0.0)) && !most.holds(position(0.0, -60.0)));
    }

    #[test]
    fn rings_that_enclose_nothing() {
        let open = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
            .map(|(x, y)| Coordinate::new(&[x, y]).unwrap());
        assert_eq!(Area::within(&open).unwrap_err(), GeoError::OpenRing);
        let short = Area::within(&ring(&[(0.0, 0.0), (1.0, 0.0)])).unwrap_err();
        assert_eq!(short.to_string(), "a ring of 3 points: it needs at least four");
        assert_eq!(Area::within(&[]).unwrap_err(), GeoError::ShortRing { count: 0 });
        // Without any extent, but closed.
        let nowhere = area(&[(1.0, 1.0), (1.0, 1.0), (1.0, 1.0)]);
        assert!(!nowhere.holds(position(2.0, 2.0)));
        let line = area(&[(0.0, 0.0), (2.0, 0.0), (1.0, 0.0)]);
        assert!(!line.holds(position(1.0, 1.0)));
        // A bow tie: every position is inside as often as the ring goes round it.
        let tie = area(&[(0.0, 0.0), (2.0, 2.0), (2.0, 0.0), (0.0, 2.0)]);
        assert!(tie.holds(position(0.2, 1.0)) && tie.holds(position(1.8, 1.0)));
        assert!(!tie.holds(position(1.0, 0.2)) && !tie.holds(position(1.0, 1.8)));
    }
}
