//! Rings as they look on a flat map of longitudes and latitudes.
//!
//! `contains` with a point is evaluated on the map and not on the sphere, in Dgraph and so
//! here: the edge between two positions of one latitude is a part of that parallel, and the outline
//! itself is inside.

use crate::types::Coordinate;
use std::cmp::Ordering;

/// Whether a ring goes round a point or through it. Takes one pass over the ring.
pub(super) fn ring_holds(ring: &[Coordinate], (x, y): (f64, f64)) -> bool {
    let mut is_inside = false;
    for edge in ring.windows(2) {
        // In the direction in which Dgraph walks, since it matters to rounding.
        let (from, to) = ((edge[1].x(), edge[1].y()), (edge[0].x(), edge[0].y()));
        if from.0 < x && to.0 < x {
            continue;
        }
        if to == (x, y) {
            return true;
        }
        if from.1 == y && to.1 == y {
            if from.0.min(to.0) <= x && x <= from.0.max(to.0) {
                return true;
            }
            continue;
        }
        if (from.1 > y) != (to.1 > y) {
            let (one, other) = ((from.0 - x, from.1 - y), (to.0 - x, to.1 - y));
            match (orientation(one, other), other.1 < one.1) {
                (Ordering::Equal, _) => return true,
                (Ordering::Greater, false) | (Ordering::Less, true) => is_inside = !is_inside,
                _ => {}
            }
        }
    }
    is_inside
}

/// The exact sign of the determinant of two vectors: greater where the way from the first to the
/// second turns left.
fn orientation(one: (f64, f64), other: (f64, f64)) -> Ordering {
    let (left, right) = (one.0 * other.1, one.1 * other.0);
    // Rounding preserves order, so only where the rounded products are equal do the rests decide.
    let rests = || compare(one.0.mul_add(other.1, -left), one.1.mul_add(other.0, -right));
    compare(left, right).then_with(rests)
}

fn compare(one: f64, other: f64) -> Ordering {
    one.partial_cmp(&other).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(corners: &[(f64, f64)]) -> Vec<Coordinate> {
        corners.iter().map(|(x, y)| Coordinate::new(&[*x, *y]).unwrap()).collect()
    }

    #[test]
    fn outlines_belong_to_their_rings() {
        let square = ring(&[(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0), (0.0, 0.0)]);
        for inside in [(1.0, 1.0), (0.0, 0.0), (2.0, 2.0), (1.0, 0.0), (2.0, 1.0), (0.0, 1.5)] {
            assert!(ring_holds(&square, inside), "{inside:?}");
        }
        for outside in [(3.0, 1.0), (-1.0, 1.0), (1.0, 2.1), (1.0, -0.1), (-1.0, 0.0), (3.0, 2.0)] {
            assert!(!ring_holds(&square, outside), "{outside:?}");
        }
    }

    #[test]
    fn both_directions_are_the_same_ring() {
        let mut corners = vec![(0.0, 0.0), (3.0, 1.0), (1.0, 4.0), (0.5, 1.0), (0.0, 0.0)];
        let one = ring(&corners);
        corners.reverse();
        let other = ring(&corners);
        for step in 0..400 {
            let at = (f64::from(step % 20) / 4.0 - 0.5, f64::from(step / 20) / 4.0 - 0.5);
            assert_eq!(ring_holds(&one, at), ring_holds(&other, at), "{at:?}");
        }
    }

    #[test]
    fn a_slanting_edge_is_exact() {
        let triangle = ring(&[(0.0, 0.0), (3.0, 0.3), (0.0, 3.0), (0.0, 0.0)]);
        assert!(ring_holds(&triangle, (1.0, 0.1 + 1e-15)));
        assert!(!ring_holds(&triangle, (1.0, 0.1 - 1e-15)));
    }
}
