//! The cells of a geometry, as numbers in an index.

use super::area::{Area, check_ring};
use super::cover::{LEVEL_MAX, LEVEL_MIN, chunks_of, covering};
use super::geo_error::GeoError;
use super::position::position_of;
use crate::types::{Coordinate, Geometry};
use s2rst::s2::{CellId, Level, Point};

/// Checks that a geometry has cells, without finding them.
///
/// # Errors
///
/// [`GeoError`] when it has none: it is no point, polygon or multipolygon, has more than two
/// dimensions, or an outer ring that encloses nothing.
pub fn check_indexable(geometry: &Geometry) -> Result<(), GeoError> {
    check_flat(geometry)?;
    match geometry {
        Geometry::Point(_) => Ok(()),
        Geometry::Polygon(rings) => check_ring(outer_ring(rings)),
        Geometry::MultiPolygon(polygons) => {
            polygons.iter().try_for_each(|rings| check_ring(outer_ring(rings)))
        }
        _ => Err(GeoError::NoCells { type_name: geometry.type_name() }),
    }
}

/// Returns the numbers of the cells that cover a geometry, ascending, each once. The cells within a
/// cell have the numbers next to that of the cell, so they are one span.
///
/// # Errors
///
/// As [`check_indexable`].
pub fn cells_of(geometry: &Geometry) -> Result<Vec<i64>, GeoError> {
    check_indexable(geometry)?;
    let mut cells = match geometry {
        Geometry::Point(point) => vec![cell_at(position_of(point))],
        Geometry::Polygon(rings) => cells_within(&area_of(rings)?),
        Geometry::MultiPolygon(polygons) => {
            let areas = areas_of(polygons)?;
            areas.iter().flat_map(cells_within).collect()
        }
        _ => Vec::new(),
    };
    cells.sort_unstable();
    cells.dedup();
    Ok(cells.into_iter().map(number_of).collect())
}

/// The smallest cell of an index at a position.
pub(super) fn cell_at(position: Point) -> CellId {
    CellId::from_point(&position).parent_at_level(LEVEL_MAX)
}

/// The cells that cover an area.
pub(super) fn cells_within(area: &Area) -> Vec<CellId> {
    covering(&chunks_of(area))
}

/// The area within the outer ring of a polygon.
pub(super) fn area_of(rings: &[Vec<Coordinate>]) -> Result<Area, GeoError> {
    Area::within(outer_ring(rings))
}

fn outer_ring(rings: &[Vec<Coordinate>]) -> &[Coordinate] {
    rings.first().map_or(&[], Vec::as_slice)
}

/// The areas of the polygons of a multipolygon.
pub(super) fn areas_of(polygons: &[Vec<Vec<Coordinate>>]) -> Result<Vec<Area>, GeoError> {
    polygons.iter().map(|rings| area_of(rings)).collect()
}

/// Refuses a geometry without coordinates, or with more than longitudes and latitudes.
pub(super) fn check_flat(geometry: &Geometry) -> Result<(), GeoError> {
    match first_coordinate(geometry) {
        Some(first) if first.axes().len() == 2 => Ok(()),
        Some(first) => Err(GeoError::Dimensions { count: first.axes().len() }),
        None => Err(GeoError::Empty { type_name: geometry.type_name() }),
    }
}

/// Returns the first coordinate of a geometry. All others have as many dimensions.
fn first_coordinate(geometry: &Geometry) -> Option<&Coordinate> {
    match geometry {
        Geometry::Point(point) => Some(point),
        Geometry::LineString(points) | Geometry::MultiPoint(points) => points.first(),
        Geometry::Polygon(lines) | Geometry::MultiLineString(lines) => {
            lines.iter().flatten().next()
        }
        Geometry::MultiPolygon(polygons) => polygons.iter().flatten().flatten().next(),
        Geometry::Collection(members) => members.iter().find_map(first_coordinate),
    }
}

/// Returns a cell as a signed number; the order of cells is that of the numbers. No leaf is
/// indexed, and the last bit of all other cells is 0, so shifting it out loses nothing and frees
/// the sign.
pub(super) fn number_of(cell: CellId) -> i64 {
    (cell.id() >> 1) as i64
}

/// The numbers that the cells within a cell have, the cell itself among them.
pub(super) fn numbers_within(cell: CellId) -> (i64, i64) {
    // The first leaf would have the number of a cell around it, but leaves have none.
    (number_of(cell.range_min()) + 1, number_of(cell.range_max()))
}

/// The cells around a cell that an index may have.
pub(super) fn cells_around(cell: CellId) -> impl Iterator<Item = CellId> {
    let levels = LEVEL_MIN.as_u8()..cell.level().as_u8();
    levels.map(move |level| cell.parent_at_level(Level::new(level)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value as Json;
    use std::collections::BTreeSet;

    fn parse(text: &str) -> Geometry {
        Geometry::parse(text).unwrap()
    }

    #[test]
    fn what_has_no_cells() {
        for (text, reason) in [
            (r#"{"type":"LineString","coordinates":[[0,0],[1,1]]}"#, "a LineString: only"),
            (r#"{"type":"Point","coordinates":[1,2,3]}"#, "coordinates of 3 numbers"),
            (r#"{"type":"Polygon","coordinates":[]}"#, "a Polygon without coordinates"),
            (r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]]]}"#, "not closed"),
            (
                r#"{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]],[]]}"#,
                "0 points",
            ),
        ] {
            let message = cells_of(&parse(text)).unwrap_err().to_string();
            assert!(message.contains(reason), "{message}");
        }
    }

    #[test]
    fn cells_within_cells_have_the_numbers_around_them() {
        let leaf = cell_at(position_of(&Coordinate::new(&[8.5, 47.4]).unwrap()));
        assert_eq!(cells_around(leaf).count(), 11);
        for around in cells_around(leaf) {
            let (low, high) = numbers_within(around);
            assert!((low..=high).contains(&number_of(leaf)));
            assert!((low..=high).contains(&number_of(around)));
            assert!(!(low..=high).contains(&number_of(leaf.parent_at_level(Level::new(4)))));
        }
    }

    /// The tokens that Dgraph stores for a value: `c/` and a covering cell, `p/` and that
    /// cell or one around it.
    #[test]
    fn the_cells_of_the_reference() {
        let shared = std::env::var("HEXGRAPH_SHARED")
            .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared").to_owned());
        let path = format!("{shared}/conformance/dql/tokens.jsonl");
        let Ok(text) = std::fs::read_to_string(&path) else {
            println!("skipped: no {path}");
            return;
        };
        let mut count = 0;
        for line in text.lines() {
            let case: Json = serde_json::from_str(line).unwrap();
            if case["tokenizer"] != "geo" {
                continue;
            }
            count += 1;
            let (value, id) = (case["value"].as_str().unwrap(), &case["id"]);
            let cells = cells_of(&parse(value));
            assert_eq!(cells.is_ok(), case["ok"] == true, "{id}");
            let Ok(cells) = cells else { continue };
            let mut tokens = BTreeSet::new();
            for cell in cells {
                let cell = CellId((cell as u64) << 1);
                tokens.insert(format!("c/{}", cell.to_token()));
                let parents = cells_around(cell).chain([cell]);
                tokens.extend(parents.map(|parent| format!("p/{}", parent.to_token())));
            }
            let expected = case["tokens_hex"].as_array().unwrap().iter().map(|hex| {
                let hex = hex.as_str().unwrap();
                let bytes = (2..hex.len())
                    .step_by(2)
                    .map(|at| char::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()));
                bytes.collect::<String>()
            });
            assert_eq!(tokens, expected.collect::<BTreeSet<_>>(), "{id}");
        }
        assert_ne!(count, 0);
    }
}
