//! Points: their constructor, distances, and boxes.

use super::call::Call;
use crate::error::{Result, ScalarError};
use crate::values::{Map, Point, Srid, Value, shortened};

/// The radius of the earth in metres, as Neo4j has it.
const EARTH_RADIUS: f64 = 6_378_140.0;

const KEYS: [&str; 8] = ["x", "y", "z", "longitude", "latitude", "height", "crs", "srid"];

pub(super) fn point(call: &Call<'_>) -> Result<Value> {
    let map = call.map(0)?;
    if map.entries().iter().any(|(_, value)| value.is_null()) {
        return Ok(Value::Null);
    }
    if let Some((key, _)) = map.entries().iter().find(|(key, _)| !KEYS.contains(&&**key)) {
        return Err(ScalarError::argument(
            format!("`{key}` is no field of a POINT"),
            format!("write some of {}", KEYS.join(", ")),
        ));
    }
    let is_geographic = map.get("longitude").is_some() || map.get("latitude").is_some();
    let pairs = [("longitude", "x"), ("latitude", "y"), ("height", "z")];
    let mut coordinates = [0.0; 3];
    let mut count = 0;
    for (index, (name, short)) in pairs.into_iter().enumerate() {
        let value = map.get(name).or_else(|| map.get(short));
        match value {
            Some(Value::Int(number)) => coordinates[index] = *number as f64,
            Some(Value::Float(number)) => coordinates[index] = *number,
            Some(other) => {
                let name = if is_geographic { name } else { short };
                return Err(ScalarError::argument(
                    format!("`{name}` of a POINT is {}", shortened(other)),
                    "write a number",
                ));
            }
            None if index == 2 => continue,
            None => {
                let name = if is_geographic { name } else { short };
                return Err(ScalarError::argument(
                    format!("`{name}` of a POINT is missing"),
                    "write x and y, or longitude and latitude",
                ));
            }
        }
        count = index + 1;
    }
    let srid = srid_of(map, is_geographic, count)?;
    if srid.is_geographic() {
        check_degrees(&coordinates)?;
    }
    Ok(Value::from(Point::new(srid, coordinates)))
}

/// The system of coordinates: the one that is named, else one with as many dimensions as there are
/// coordinates.
fn srid_of(map: &Map, is_geographic: bool, dimensions: usize) -> Result<Srid> {
    let named = match (map.get("crs"), map.get("srid")) {
        (Some(Value::String(name)), _) => {
            Some(Srid::ALL.into_iter().find(|srid| srid.name().eq_ignore_ascii_case(name)))
        }
        (Some(_), _) => Some(None),
        (None, Some(Value::Int(number))) => {
            Some(Srid::ALL.into_iter().find(|srid| *srid as i64 == *number))
        }
        (None, Some(_)) => Some(None),
        (None, None) => None,
    };
    let names = || Srid::ALL.map(|srid| format!("{} ({})", srid.name(), srid as u16)).join(", ");
    let srid = match named {
        Some(Some(srid)) => srid,
        Some(None) => {
            return Err(ScalarError::argument(
                "there is no such system of coordinates",
                format!("write one of {}", names()),
            ));
        }
        None => match (is_geographic, dimensions) {
            (true, 3) => Srid::Wgs84Height,
            (true, _) => Srid::Wgs84,
            (false, 3) => Srid::Cartesian3d,
            (false, _) => Srid::Cartesian,
        },
    };
    let fits = srid.dimensions() == dimensions && (srid.is_geographic() || !is_geographic);
    if fits {
        return Ok(srid);
    }
    Err(ScalarError::argument(
        format!("the coordinates are not those of `{}`", srid.name()),
        format!("it has {} of them", srid.dimensions()),
    ))
}

fn check_degrees(coordinates: &[f64; 3]) -> Result<()> {
    let [longitude, latitude, _] = *coordinates;
    if (-180.0..=180.0).contains(&longitude) && (-90.0..=90.0).contains(&latitude) {
        return Ok(());
    }
    Err(ScalarError::argument(
        format!("longitude {longitude} and latitude {latitude} are not on the earth"),
        "longitudes are from -180 to 180, latitudes from -90 to 90",
    ))
}

fn point_of<'a>(call: &'a Call<'_>, index: usize) -> Result<&'a Point> {
    match call.get(index) {
        Value::Point(point) => Ok(point),
        _ => Err(call.wrong_kind(index, "a POINT")),
    }
}

pub(super) fn distance(call: &Call<'_>) -> Result<Value> {
    let (one, other) = (point_of(call, 0)?, point_of(call, 1)?);
    if one.srid() != other.srid() {
        return Ok(Value::Null);
    }
    let differences = one.coordinates().iter().zip(other.coordinates()).map(|(a, b)| a - b);
    if !one.srid().is_geographic() {
        let squares: f64 = differences.map(|difference| difference * difference).sum();
        return Ok(Value::Float(squares.sqrt()));
    }
    let height = |point: &Point| point.coordinates().get(2).copied().unwrap_or(0.0);
    let mean_height = (height(one) + height(other)) / 2.0;
    let ground = angle_between(one, other) * (EARTH_RADIUS + mean_height);
    Ok(Value::Float(ground.hypot(height(one) - height(other))))
}

/// The angle between two points as seen from the centre of the earth, by the haversine formula.
fn angle_between(one: &Point, other: &Point) -> f64 {
    let radians = |point: &Point| {
        let [longitude, latitude, ..] = *point.coordinates() else { return (0.0, 0.0) };
        (longitude.to_radians(), latitude.to_radians())
    };
    let ((x1, y1), (x2, y2)) = (radians(one), radians(other));
    let haversin = |angle: f64| (angle / 2.0).sin().powi(2);
    let square = haversin(y2 - y1) + y1.cos() * y2.cos() * haversin(x2 - x1);
    2.0 * square.sqrt().min(1.0).asin()
}

pub(super) fn within_box(call: &Call<'_>) -> Result<Value> {
    let (point, low, high) = (point_of(call, 0)?, point_of(call, 1)?, point_of(call, 2)?);
    if point.srid() != low.srid() || point.srid() != high.srid() {
        return Ok(Value::Null);
    }
    let bounds = low.coordinates().iter().zip(high.coordinates());
    let mut is_within = true;
    for (index, (value, (low, high))) in point.coordinates().iter().zip(bounds).enumerate() {
        // A box of longitudes may cross the line of the date.
        let is_crossing = index == 0 && point.srid().is_geographic() && high < low;
        is_within &= match is_crossing {
            true => low <= value || value <= high,
            false => low <= value && value <= high,
        };
    }
    Ok(Value::Bool(is_within))
}
