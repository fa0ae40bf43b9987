//! An area prepared for many point queries.

use super::area::Area;
use super::cover::{Fragment, chunks_of, covering};
use s2rst::s2::{CellId, Point};

/// An area with the chunks of its covering: a position is tested against the edges in its own cell.
#[derive(Debug)]
pub(super) struct Locator {
    /// The area.
    pub area: Area,
    fragments: Vec<Fragment>,
}

impl Locator {
    /// Prepares an area. Costs a covering.
    pub(super) fn new(area: Area) -> Locator {
        let fragments = chunks_of(&area);
        Locator { area, fragments }
    }

    /// Whether a position is inside, as [`Area::holds`] says.
    pub(super) fn holds(&self, position: Point) -> bool {
        let leaf = CellId::from_point(&position);
        let after = self.fragments.partition_point(|fragment| fragment.id.range_min() <= leaf);
        let fragment =
            self.fragments[..after].last().filter(|fragment| leaf <= fragment.id.range_max());
        fragment.is_some_and(|fragment| fragment.holds(&self.area, position))
    }

    /// The cells of the covering.
    pub(super) fn cells(&self) -> Vec<CellId> {
        covering(&self.fragments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geo::position::position_of;
    use crate::types::Coordinate;
    use proptest::prelude::*;

    fn coordinate(x: f64, y: f64) -> Coordinate {
        Coordinate::new(&[x, y]).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Rings of any form, from a few metres wide to half the sphere, also crossing themselves.
        #[test]
        fn positions_are_where_the_area_says(
            middle in (-180.0..180.0_f64, -90.0..90.0_f64),
            scale in -5.0..2.0_f64,
            corners in prop::collection::vec((-1.0..1.0_f64, -1.0..1.0_f64), 3..40),
            positions in prop::collection::vec((-1.2..1.2_f64, -1.2..1.2_f64), 40),
        ) {
            let size = 10_f64.powf(scale);
            let put = |(x, y): &(f64, f64)| coordinate(middle.0 + x * size, middle.1 + y * size);
            let ring: Vec<_> = corners.iter().chain(&corners[..1]).map(put).collect();
            let locator = Locator::new(Area::within(&ring).unwrap());
            let cells = locator.cells();
            let all = positions.iter().map(put).chain(ring.iter().copied());
            for at in all.map(|at| position_of(&at)) {
                let expected = locator.area.holds(at);
                prop_assert_eq!(locator.holds(at), expected, "{:?}", at);
                let leaf = CellId::from_point(&at);
                prop_assert!(!expected || cells.iter().any(|cell| cell.contains(leaf)), "{:?}", at);
            }
        }
    }

    #[test]
    fn corners_in_the_middle_of_a_cell() {
        let ring = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0), (0.0, 0.0)];
        let area = Area::within(&ring.map(|(x, y)| coordinate(x, y))).unwrap();
        let locator = Locator::new(area);
        for x in -4..=12 {
            for y in -4..=12 {
                let at = position_of(&coordinate(f64::from(x) / 4.0, f64::from(y) / 4.0));
                assert_eq!(locator.holds(at), locator.area.holds(at), "{x} {y}");
            }
        }
    }
}
