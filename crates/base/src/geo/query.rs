//! The geo functions of the query language: their arguments, and which geometries match. Cells are
//! those of S2, which cover the sphere hierarchically.

use super::area::Area;
use super::cell_numbers::{
    area_of, areas_of, cell_at, cells_around, cells_within, check_flat, number_of, numbers_within,
};
use super::geo_error::{GeoArgumentError, GeoError};
use super::locator::Locator;
use super::position::{degrees_of, position_of};
use super::ring::ring_holds;
use crate::types::{Coordinate, Geometry, parse_float};
use s2rst::s2::{CellId, Point};

/// A geo function with its arguments.
#[derive(Debug)]
pub struct GeoQuery {
    expected: Requested,
    cells: Vec<CellId>,
}

/// What a geometry has to be.
#[derive(Debug)]
enum Requested {
    /// Inside of one of these.
    Within(Vec<Locator>),
    /// In touch with one of these.
    Touching(Vec<Locator>),
    /// Around all of these.
    AroundAreas(Vec<Locator>),
    /// Around this position, which has these degrees.
    AroundPosition(Point, (f64, f64)),
}

impl GeoQuery {
    /// Makes the query of `near`: points within a distance in metres, and polygons that come that
    /// near. As in Dgraph, a polygon of a hundred corners represents the circle.
    ///
    /// # Errors
    ///
    /// [`GeoArgumentError`].
    pub fn near(center: &str, distance: &str) -> Result<GeoQuery, GeoArgumentError> {
        let wrong = |rule| GeoArgumentError::Distance { rule, text: distance.to_owned() };
        let metres = parse_float(distance).map_err(|_| wrong("must be a number of metres"))?;
        if metres < 0.0 {
            return Err(wrong("must not be negative"));
        }
        let Geometry::Point(center) = parse_geometry("near", center)? else {
            return Err(GeoArgumentError::NoPoint);
        };
        if metres == 0.0 || !metres.is_finite() {
            return Err(wrong("must be finite and greater than zero"));
        }
        let areas = vec![Locator::new(Area::around(position_of(&center), metres))];
        Ok(GeoQuery { cells: all_cells(&areas), expected: Requested::Touching(areas) })
    }

    /// Makes the query of `within`: points, polygons and multipolygons that lie inside.
    ///
    /// # Errors
    ///
    /// [`GeoArgumentError`].
    pub fn within(text: &str) -> Result<GeoQuery, GeoArgumentError> {
        let areas = polygons("within", text)?;
        Ok(GeoQuery { cells: all_cells(&areas), expected: Requested::Within(areas) })
    }

    /// Makes the query of `intersects`: points that lie inside, polygons and multipolygons that
    /// touch.
    ///
    /// # Errors
    ///
    /// [`GeoArgumentError`].
    pub fn intersects(text: &str) -> Result<GeoQuery, GeoArgumentError> {
        let areas = polygons("intersects", text)?;
        Ok(GeoQuery { cells: all_cells(&areas), expected: Requested::Touching(areas) })
    }

    /// Makes the query of `contains`: polygons and multipolygons around a point or around polygons.
    ///
    /// # Errors
    ///
    /// [`GeoArgumentError`].
    pub fn contains(text: &str) -> Result<GeoQuery, GeoArgumentError> {
        let geometry = parse_geometry("contains", text)?;
        if let Geometry::Point(point) = &geometry {
            let function = "contains";
            check_flat(&geometry)
                .map_err(|reason| GeoArgumentError::NoArea { function, reason })?;
            let position = position_of(point);
            let expected = Requested::AroundPosition(position, degrees_of(position));
            return Ok(GeoQuery { cells: vec![cell_at(position)], expected });
        }
        let areas = locators("contains", &geometry)?;
        Ok(GeoQuery { cells: all_cells(&areas), expected: Requested::AroundAreas(areas) })
    }

    /// Ranges of cell numbers, both bounds included. A geometry can match only if one of its cells
    /// is in a range.
    pub fn spans(&self) -> impl Iterator<Item = (i64, i64)> {
        self.cells.iter().map(|cell| numbers_within(*cell))
    }

    /// The numbers of the larger cells around those of [`GeoQuery::spans`], ascending: a geometry
    /// that has one of them can match, too.
    pub fn cells_around(&self) -> Vec<i64> {
        let mut cells: Vec<CellId> =
            self.cells.iter().flat_map(|cell| cells_around(*cell)).collect();
        cells.sort_unstable();
        cells.dedup();
        cells.into_iter().map(number_of).collect()
    }

    /// Returns true if the function holds for a geometry. A stored geometry whose rings enclose
    /// nothing never matches.
    pub fn matches(&self, geometry: &Geometry) -> bool {
        let answer = match geometry {
            Geometry::Point(point) => return self.matches_position(position_of(point)),
            Geometry::Polygon(rings) => self.matches_polygons(std::slice::from_ref(rings)),
            Geometry::MultiPolygon(polygons) => self.matches_polygons(polygons),
            _ => Ok(false),
        };
        // A stored polygon may have an open ring, since storage does not check it: it encloses
        // nothing.
        answer.unwrap_or(false)
    }

    fn matches_position(&self, position: Point) -> bool {
        match &self.expected {
            Requested::Within(areas) | Requested::Touching(areas) => {
                areas.iter().any(|area| area.holds(position))
            }
            Requested::AroundAreas(_) | Requested::AroundPosition(..) => false,
        }
    }

    fn matches_polygons(&self, polygons: &[Vec<Vec<Coordinate>>]) -> Result<bool, GeoError> {
        match &self.expected {
            Requested::Within(areas) => {
                let is_within = |area: &Area| areas.iter().any(|wide| wide.area.contains(area));
                // All have to be inside, so one that is not decides.
                is_any(polygons, |area| !is_within(area)).map(|is_outside| !is_outside)
            }
            Requested::Touching(areas) => {
                is_any(polygons, |area| areas.iter().any(|other| area.intersects(&other.area)))
            }
            Requested::AroundAreas(areas) => {
                let polygons = areas_of(polygons)?;
                let is_inside =
                    |inner: &Locator| polygons.iter().any(|area| area.contains(&inner.area));
                Ok(areas.iter().all(is_inside))
            }
            Requested::AroundPosition(position, degrees) => {
                let is_in_ring = polygons.iter().flatten().any(|ring| ring_holds(ring, *degrees));
                Ok(is_in_ring && is_covered(&areas_of(polygons)?, *position))
            }
        }
    }
}

/// Whether the test holds for one of the polygons. The others after it are not looked at.
fn is_any(
    polygons: &[Vec<Vec<Coordinate>>],
    holds: impl Fn(&Area) -> bool,
) -> Result<bool, GeoError> {
    for rings in polygons {
        if holds(&area_of(rings)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a cell of the covering of some area holds a position.
///
/// A flat map and the sphere disagree on what is inside: an edge between two positions of one
/// latitude runs along the parallel on the map, and nearer to the pole on the sphere. A position
/// that is inside on the map only matches if a cell covers it.
fn is_covered(areas: &[Area], position: Point) -> bool {
    let cell = cell_at(position);
    areas.iter().any(|area| area.holds(position))
        || areas.iter().flat_map(cells_within).any(|other| other.contains(cell))
}

fn all_cells(areas: &[Locator]) -> Vec<CellId> {
    let mut cells: Vec<CellId> = areas.iter().flat_map(Locator::cells).collect();
    cells.sort_unstable();
    cells.dedup();
    cells
}

fn polygons(function: &'static str, text: &str) -> Result<Vec<Locator>, GeoArgumentError> {
    let geometry = parse_geometry(function, text)?;
    if let Geometry::Point(_) = geometry {
        return Err(GeoArgumentError::NoPolygon { function });
    }
    locators(function, &geometry)
}

fn locators(function: &'static str, geometry: &Geometry) -> Result<Vec<Locator>, GeoArgumentError> {
    let areas = match geometry {
        Geometry::Polygon(rings) => area_of(rings).map(|area| vec![area]),
        Geometry::MultiPolygon(polygons) => areas_of(polygons),
        _ => {
            return Err(GeoArgumentError::WrongType { function, type_name: geometry.type_name() });
        }
    };
    let areas = areas.and_then(|areas| check_flat(geometry).map(|()| areas));
    let areas = areas.map_err(|reason| GeoArgumentError::NoArea { function, reason })?;
    Ok(areas.into_iter().map(Locator::new).collect())
}

/// An argument: GeoJSON, or only the coordinates of a point, a polygon or a multipolygon.
fn parse_geometry(function: &'static str, text: &str) -> Result<Geometry, GeoArgumentError> {
    let bare: String = text.chars().filter(|c| !matches!(c, ' ' | '\t')).collect();
    let geometry = match bare.bytes().take_while(|byte| *byte == b'[').count() {
        0 => Geometry::parse_json(text),
        1 | 2 => Geometry::parse_coordinates("Point", &bare),
        3 => Geometry::parse_coordinates("Polygon", &bare),
        _ => Geometry::parse_coordinates("MultiPolygon", &bare),
    };
    geometry.map_err(|reason| GeoArgumentError::NoGeometry { function, reason })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn polygon(corners: &str) -> Geometry {
        Geometry::parse_coordinates("Polygon", corners).unwrap()
    }

    #[test]
    fn an_area_is_neither_within_nor_around_itself() {
        let corners = "[[[0,0],[2,0],[2,2],[0,2],[0,0]]]";
        let itself = polygon(corners);
        assert!(!GeoQuery::within(corners).unwrap().matches(&itself));
        assert!(!GeoQuery::contains(corners).unwrap().matches(&itself));
        assert!(GeoQuery::intersects(corners).unwrap().matches(&itself));
    }

    #[test]
    fn parallels_are_straight_on_the_map_alone() {
        // Its southern edge on the sphere comes as far north as 19.4 degrees in the middle.
        let wide = polygon("[[[-60,10],[60,10],[60,60],[-60,60],[-60,10]]]");
        assert!(GeoQuery::contains("[0,30]").unwrap().matches(&wide));
        assert!(!GeoQuery::contains("[0,65]").unwrap().matches(&wide));
        // Inside on the map, but not in a cell that the sphere's area takes.
        assert!(!GeoQuery::contains("[0,11]").unwrap().matches(&wide));
    }

    #[test]
    fn lines_and_collections_are_never_meant() {
        let line = Geometry::parse(r#"{"type":"LineString","coordinates":[[1,1],[1.1,1]]}"#);
        let near = GeoQuery::near("[1,1]", "100000").unwrap();
        assert!(!near.matches(&line.unwrap()));
    }

    #[test]
    fn all_parts_are_within_or_one_touches() {
        let parts = "[[[[0,0],[1,0],[1,1],[0,0]]],[[[5,5],[6,5],[6,6],[5,5]]]]";
        let parts = Geometry::parse_coordinates("MultiPolygon", parts).unwrap();
        let half = "[[[-1,-1],[2,-1],[2,2],[-1,2],[-1,-1]]]";
        assert!(!GeoQuery::within(half).unwrap().matches(&parts));
        assert!(GeoQuery::intersects(half).unwrap().matches(&parts));
        let both = format!("[{half},[[[4,4],[7,4],[7,7],[4,7],[4,4]]]]");
        assert!(GeoQuery::within(&both).unwrap().matches(&parts));
        let inner = "[[[5.5,5.2],[5.9,5.2],[5.9,5.8],[5.5,5.2]]]";
        assert!(GeoQuery::contains(inner).unwrap().matches(&parts));
        assert!(GeoQuery::contains("[5.5,5.1]").unwrap().matches(&parts));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_argument_is_survived(text in "[\\[\\]0-9,. e-]{0,40}|\\PC{0,20}", far in "\\PC{0,8}") {
            let _ = GeoQuery::near(&text, &far);
            let _ = GeoQuery::within(&text);
            let _ = GeoQuery::contains(&text);
        }

        #[test]
        fn any_number_is_survived(
            corners in prop::collection::vec((any::<f64>(), any::<f64>()), 3..6),
            far in any::<f64>(),
        ) {
            prop_assume!(corners.iter().all(|(x, y)| x.is_finite() && y.is_finite()));
            let ring: Vec<Coordinate> = corners.iter().chain(&corners[..1])
                .map(|(x, y)| Coordinate::new(&[*x, *y]).unwrap()).collect();
            let geometry = Geometry::Polygon(vec![ring.clone()]);
            let _ = crate::geo::cells_of(&geometry);
            let Ok(query) = GeoQuery::near("[1,2]", &far.to_string()) else { return Ok(()) };
            query.matches(&geometry);
        }
    }
}
