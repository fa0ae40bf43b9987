//! Lowers the positions in filters to what the executor reads: the coordinates of GeoJSON as text.

use super::filter_value::{float_text, number_of};
use crate::request::Value;
use hexgraph_base::plan::{Call, GeoRelation, PredicateRef};

/// Lowers `near`, `within`, `contains` and `intersects`; `None` when the position is missing.
pub(super) fn geo_call(name: &str, value: &Value, predicate: PredicateRef) -> Option<Call> {
    let (relation, arguments) = match name {
        "near" => {
            let center = point(value.get("coordinate")?)?;
            let distance = number_of(value.get("distance")?)?;
            (GeoRelation::Near, vec![center, float_text(distance)])
        }
        "within" => (GeoRelation::Within, vec![polygon(value.get("polygon")?)?]),
        "contains" => {
            // Where both are given the polygon counts.
            let outer = value.get("polygon").and_then(polygon);
            let inner = outer.or_else(|| value.get("point").and_then(point))?;
            (GeoRelation::Contains, vec![inner])
        }
        "intersects" => {
            let area = value.get("polygon").and_then(polygon);
            let area = area.or_else(|| value.get("multiPolygon").and_then(multi_polygon))?;
            (GeoRelation::Intersects, vec![area])
        }
        _ => return None,
    };
    Some(Call::Geo { relation, predicate, arguments })
}

fn point(value: &Value) -> Option<String> {
    let axis = |name| value.get(name).and_then(number_of).map(float_text);
    Some(format!("[{},{}]", axis("longitude")?, axis("latitude")?))
}

fn ring(value: &Value) -> Option<String> {
    list(value.get("points")?, point)
}

fn polygon(value: &Value) -> Option<String> {
    list(value.get("coordinates")?, ring)
}

fn multi_polygon(value: &Value) -> Option<String> {
    list(value.get("polygons")?, polygon)
}

/// The text of a list; `None` when an item is missing a part.
fn list(value: &Value, item: impl Fn(&Value) -> Option<String>) -> Option<String> {
    let items: Option<Vec<String>> = value.as_list()?.iter().map(item).collect();
    Some(format!("[{}]", items?.join(",")))
}
