//! Geometries as the objects of the schema.

use hexgraph_base::answer::write_json_text;
use hexgraph_base::types::{Coordinate, Geometry, stack, write_float};
use hexgraph_graphql::request::Field;

/// Writes the selection of a stored geometry; `None`, and nothing, when it is of another kind than
/// the field's type.
pub(super) fn write_geometry(text: &str, field: &Field, out: &mut Vec<u8>) -> Option<()> {
    let geometry = Geometry::parse_json(text).ok()?;
    let part = match (&geometry, field.shape.ty.inner_named_type().as_str()) {
        (Geometry::Point(point), "Point") => Part::Point(point),
        (Geometry::Polygon(rings), "Polygon") => Part::Polygon(rings),
        (Geometry::MultiPolygon(polygons), "MultiPolygon") => Part::MultiPolygon(polygons),
        _ => return None,
    };
    write(&part, field, out);
    Some(())
}

/// A geometry, or a part that geometries consist of.
enum Part<'g> {
    MultiPolygon(&'g [Vec<Vec<Coordinate>>]),
    Polygon(&'g [Vec<Coordinate>]),
    Ring(&'g [Coordinate]),
    Point(&'g Coordinate),
}

impl Part<'_> {
    fn name(&self) -> &'static str {
        match self {
            Part::MultiPolygon(_) => "MultiPolygon",
            Part::Polygon(_) => "Polygon",
            Part::Ring(_) => "PointList",
            Part::Point(_) => "Point",
        }
    }
}

fn write(part: &Part<'_>, field: &Field, out: &mut Vec<u8>) {
    stack::require();
    out.push(b'{');
    for (index, requested) in field.selection.only().unwrap_or(&[]).iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_json_text(&requested.shape.key, out);
        out.push(b':');
        match (requested.shape.name.as_str(), part) {
            ("longitude", Part::Point(point)) => write_float(point.x(), out),
            ("latitude", Part::Point(point)) => write_float(point.y(), out),
            ("points", Part::Ring(points)) => write_list(points, Part::Point, requested, out),
            ("coordinates", Part::Polygon(rings)) => {
                write_list(rings, |ring| Part::Ring(ring), requested, out);
            }
            ("polygons", Part::MultiPolygon(polygons)) => {
                write_list(polygons, |polygon| Part::Polygon(polygon), requested, out);
            }
            ("__typename", part) => write_json_text(part.name(), out),
            _ => out.extend_from_slice(b"null"),
        }
    }
    out.push(b'}');
}

fn write_list<'g, T>(
    items: &'g [T],
    part: impl Fn(&'g T) -> Part<'g>,
    field: &Field,
    out: &mut Vec<u8>,
) {
    stack::require();
    out.push(b'[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(&part(item), field, out);
    }
    out.push(b']');
}
