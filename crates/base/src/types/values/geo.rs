//! Geometries: GeoJSON read, checked and written.

use crate::compat::go_numbers;
use crate::types::forms::json_reader::{JsonError, JsonReader};
use crate::types::{shown, stack};

/// The deepest nesting of collections within collections.
const DEPTH_MAX: usize = 64;

/// One point's numbers: longitude, latitude, and perhaps more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coordinate {
    axes: [f64; 4],
    dimensions: u8,
}

impl Coordinate {
    /// A point of at least one and at most four numbers; `None` for others.
    pub fn new(axes: &[f64]) -> Option<Coordinate> {
        let mut all = [0.0; 4];
        all.get_mut(..axes.len())?.copy_from_slice(axes);
        (!axes.is_empty()).then_some(Coordinate { axes: all, dimensions: axes.len() as u8 })
    }

    /// The longitude.
    pub fn x(&self) -> f64 {
        self.axes[0]
    }

    /// The latitude.
    pub fn y(&self) -> f64 {
        self.axes[1]
    }

    /// All the numbers.
    pub fn axes(&self) -> &[f64] {
        &self.axes[..usize::from(self.dimensions)]
    }
}

/// A geometry. All coordinates within one have the same number of dimensions.
#[derive(Debug, Clone, PartialEq)]
pub enum Geometry {
    /// A point.
    Point(Coordinate),
    /// A line from point to point.
    LineString(Vec<Coordinate>),
    /// An outer ring and the holes in it.
    Polygon(Vec<Vec<Coordinate>>),
    /// Several points.
    MultiPoint(Vec<Coordinate>),
    /// Several lines.
    MultiLineString(Vec<Vec<Coordinate>>),
    /// Several polygons.
    MultiPolygon(Vec<Vec<Vec<Coordinate>>>),
    /// Several geometries.
    Collection(Vec<Geometry>),
}

/// Why a text or bytes are no geometry, or a geometry is no position.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GeometryError {
    /// The text is no GeoJSON, and names itself in the message.
    #[error("{text} is no GeoJSON: {reason}")]
    NoGeoJson {
        /// The text as messages show it.
        text: String,
        /// The reason: any other of these errors.
        reason: Box<GeometryError>,
    },
    /// The text is no JSON.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// The object has no `type`.
    #[error("`type` is missing")]
    NoType,
    /// The object's `type` is none of those of GeoJSON.
    #[error("there is no type `{name}`")]
    UnknownType {
        /// The value of `type`.
        name: String,
    },
    /// The object has no `coordinates`.
    #[error("`coordinates` are missing")]
    NoCoordinates,
    /// A JSON value is of another type than expected here.
    #[error("found a JSON {result} where {expected} should be")]
    WrongJson {
        /// The actual type, in the words of JSON.
        result: &'static str,
        /// What the position requests, with its article.
        expected: &'static str,
    },
    /// A point has fewer than two numbers.
    #[error("a point has at least two numbers, found {count}")]
    TooFewNumbers {
        /// How many it has.
        count: usize,
    },
    /// A point has more than four numbers.
    #[error("a point has at most four numbers, found {count}")]
    TooManyNumbers {
        /// How many it has.
        count: usize,
    },
    /// Two points of one geometry have different numbers of dimensions.
    #[error("a point of {count} numbers after one of {first}")]
    MixedDimensions {
        /// How many numbers the point has.
        count: usize,
        /// How many the first point of the geometry has.
        first: usize,
    },
    /// A point lies beyond a pole, or more than half around the globe.
    #[error("{}", describe_position(*longitude, *latitude))]
    NoPosition {
        /// The first number of the point.
        longitude: f64,
        /// The second number of the point.
        latitude: f64,
    },
    /// The bytes are no well-known binary.
    #[error("wkb: malformed geometry")]
    NoBinary,
}

/// Words the reason why a point is no position: the latitude if that is out of range, else the
/// longitude.
fn describe_position(longitude: f64, latitude: f64) -> String {
    let (axis, number, most) = match latitude.abs() <= 90.0 {
        false => ("latitude", latitude, 90),
        true => ("longitude", longitude, 180),
    };
    let order = "write the longitude first, then the latitude";
    format!(
        "the {axis} {number} of [{longitude}, {latitude}] is not between -{most} and {most}: {order}"
    )
}

impl Geometry {
    /// Reads GeoJSON, in which `'` may stand for `"`.
    ///
    /// # Errors
    /// What is no JSON, no geometry, or has coordinates of the wrong shape. Rings need not be
    /// closed: an index requests that, storage does not.
    pub fn parse(text: &str) -> Result<Geometry, GeometryError> {
        let read = if text.contains('\'') {
            Geometry::parse_json(&text.replace('\'', "\""))
        } else {
            Geometry::parse_json(text)
        };
        read.map_err(|reason| GeometryError::NoGeoJson {
            text: shown(text),
            reason: Box::new(reason),
        })
    }

    /// Reads GeoJSON as it is.
    ///
    /// # Errors
    /// As [`Geometry::parse`], the reason alone.
    pub fn parse_json(text: &str) -> Result<Geometry, GeometryError> {
        check_json(text)?;
        geometry(&mut JsonReader::new(text), 0)
    }

    /// Reads what follows `"coordinates":` in GeoJSON, of a given type.
    ///
    /// # Errors
    /// As [`Geometry::parse`], the reason alone.
    pub fn parse_coordinates(type_name: &str, text: &str) -> Result<Geometry, GeometryError> {
        check_json(text)?;
        shaped(type_name, Some(JsonReader::new(text)))
    }

    /// Checks that its single points are positions on the globe. Lines and borders of areas may go
    /// beyond a pole or the date line, as Dgraph lets them.
    ///
    /// # Errors
    ///
    /// The first point that is no position.
    pub fn check_positions(&self) -> Result<(), GeometryError> {
        stack::require();
        match self {
            Geometry::Point(point) => check_position(point),
            Geometry::MultiPoint(points) => points.iter().try_for_each(check_position),
            Geometry::Collection(members) => members.iter().try_for_each(Geometry::check_positions),
            Geometry::LineString(_)
            | Geometry::Polygon(_)
            | Geometry::MultiLineString(_)
            | Geometry::MultiPolygon(_) => Ok(()),
        }
    }

    /// The name of the type, as in GeoJSON.
    pub fn type_name(&self) -> &'static str {
        match self {
            Geometry::Point(_) => "Point",
            Geometry::LineString(_) => "LineString",
            Geometry::Polygon(_) => "Polygon",
            Geometry::MultiPoint(_) => "MultiPoint",
            Geometry::MultiLineString(_) => "MultiLineString",
            Geometry::MultiPolygon(_) => "MultiPolygon",
            Geometry::Collection(_) => "GeometryCollection",
        }
    }

    /// Writes the canonical GeoJSON, without blanks.
    pub fn write(&self, out: &mut Vec<u8>) {
        stack::require();
        out.extend_from_slice(b"{\"type\":\"");
        out.extend_from_slice(self.type_name().as_bytes());
        out.extend_from_slice(match self {
            Geometry::Collection(_) => b"\",\"geometries\":",
            _ => b"\",\"coordinates\":",
        });
        match self {
            Geometry::Point(point) => write_point(point, out),
            Geometry::LineString(points) | Geometry::MultiPoint(points) => write_line(points, out),
            Geometry::Polygon(lines) | Geometry::MultiLineString(lines) => write_lines(lines, out),
            Geometry::MultiPolygon(polygons) => {
                write_array(polygons, out, |polygon, out| write_lines(polygon, out));
            }
            Geometry::Collection(members) => write_array(members, out, Geometry::write),
        }
        out.push(b'}');
    }

    /// The canonical GeoJSON.
    pub fn to_text(&self) -> String {
        let mut out = Vec::new();
        self.write(&mut out);
        String::from_utf8(out).expect("geometries are written in ASCII")
    }
}

/// Refuses what lies beyond the poles, or farther than half around: most often the two numbers are
/// in the wrong order.
fn check_position(position: &Coordinate) -> Result<(), GeometryError> {
    let (longitude, latitude) = (position.x(), position.y());
    match longitude.abs() <= 180.0 && latitude.abs() <= 90.0 {
        true => Ok(()),
        false => Err(GeometryError::NoPosition { longitude, latitude }),
    }
}

fn write_array<T>(items: &[T], out: &mut Vec<u8>, mut write: impl FnMut(&T, &mut Vec<u8>)) {
    out.push(b'[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(b']');
}

fn write_point(point: &Coordinate, out: &mut Vec<u8>) {
    write_array(point.axes(), out, |axis, out| go_numbers::write_json_float(*axis, out));
}

fn write_line(points: &[Coordinate], out: &mut Vec<u8>) {
    write_array(points, out, write_point);
}

fn write_lines(lines: &[Vec<Coordinate>], out: &mut Vec<u8>) {
    write_array(lines, out, |line, out| write_line(line, out));
}

fn check_json(text: &str) -> Result<(), GeometryError> {
    let mut full = JsonReader::new(text);
    full.skip()?;
    Ok(full.end()?)
}

/// Reads an object of valid JSON.
fn geometry(reader: &mut JsonReader<'_>, depth: usize) -> Result<Geometry, GeometryError> {
    stack::require();
    if depth > DEPTH_MAX {
        return Err(JsonError::TooDeep.into());
    }
    if reader.peek()? == b'n' {
        return Err(unknown_type(""));
    }
    if reader.peek()? != b'{' {
        return Err(wrong_type(reader, "a geometry"));
    }
    // The keys come in any order, so positions are remembered and read after the type.
    let mut kind = String::new();
    let (mut coordinates, mut members) = (None, None);
    reader.object(|key, value| {
        let is_null = value.peek()? == b'n';
        match key.to_ascii_lowercase().as_str() {
            "type" if value.peek()? == b'"' => {
                kind = value.string()?.into_owned();
                return Ok(());
            }
            "type" if !is_null => return Err(wrong_type(value, "a string")),
            "coordinates" => coordinates = (!is_null).then(|| value.clone()),
            "geometries" => members = (!is_null).then(|| value.clone()),
            _ => {}
        }
        Ok(value.skip()?)
    })?;
    if kind == "GeometryCollection" {
        return collection(members, depth);
    }
    shaped(&kind, coordinates)
}

fn unknown_type(kind: &str) -> GeometryError {
    match kind {
        "" => GeometryError::NoType,
        name => GeometryError::UnknownType { name: name.to_owned() },
    }
}

fn collection(members: Option<JsonReader<'_>>, depth: usize) -> Result<Geometry, GeometryError> {
    let mut geometries = Vec::new();
    if let Some(mut reader) = members {
        array(&mut reader, "an array of geometries", |member| {
            geometries.push(geometry(member, depth + 1)?);
            Ok(())
        })?;
    }
    Ok(Geometry::Collection(geometries))
}

fn shaped(kind: &str, coordinates: Option<JsonReader<'_>>) -> Result<Geometry, GeometryError> {
    let levels = match kind {
        "Point" => 0,
        "LineString" | "MultiPoint" => 1,
        "Polygon" | "MultiLineString" => 2,
        "MultiPolygon" => 3,
        _ => return Err(unknown_type(kind)),
    };
    let mut reader = coordinates.ok_or(GeometryError::NoCoordinates)?;
    let mut stride = Stride { of_first: 0 };
    let reader = &mut reader;
    let geometry = match (levels, kind) {
        (0, _) => Geometry::Point(stride.point(reader)?),
        (1, "LineString") => Geometry::LineString(stride.line(reader)?),
        (1, _) => Geometry::MultiPoint(stride.line(reader)?),
        (2, "Polygon") => Geometry::Polygon(stride.lines(reader)?),
        (2, _) => Geometry::MultiLineString(stride.lines(reader)?),
        _ => {
            let mut polygons = Vec::new();
            array(reader, "an array of polygons", |polygon| {
                polygons.push(stride.lines(polygon)?);
                Ok(())
            })?;
            Geometry::MultiPolygon(polygons)
        }
    };
    Ok(geometry)
}

/// Reads points, and checks that all have as many numbers as the first.
struct Stride {
    /// How many numbers the first point has; 0 before it is read.
    of_first: usize,
}

impl Stride {
    fn point(&mut self, reader: &mut JsonReader<'_>) -> Result<Coordinate, GeometryError> {
        let mut axes = [0.0; 4];
        let mut count = 0;
        array(reader, "a point", |element| {
            if !matches!(element.peek()?, b'-' | b'0'..=b'9') {
                return Err(wrong_type(element, "a number"));
            }
            let number = element.number()?;
            // Numbers beyond the fourth are counted, and refused below.
            if let Some(axis) = axes.get_mut(count) {
                *axis = number;
            }
            count += 1;
            Ok(())
        })?;
        if self.of_first == 0 {
            self.of_first = count;
        }
        if count < 2 {
            return Err(GeometryError::TooFewNumbers { count });
        }
        if count != self.of_first {
            return Err(GeometryError::MixedDimensions { count, first: self.of_first });
        }
        Coordinate::new(axes.get(..count).unwrap_or(&[]))
            .ok_or(GeometryError::TooManyNumbers { count })
    }

    fn line(&mut self, reader: &mut JsonReader<'_>) -> Result<Vec<Coordinate>, GeometryError> {
        let mut points = Vec::new();
        array(reader, "an array of points", |point| {
            points.push(self.point(point)?);
            Ok(())
        })?;
        Ok(points)
    }

    fn lines(
        &mut self,
        reader: &mut JsonReader<'_>,
    ) -> Result<Vec<Vec<Coordinate>>, GeometryError> {
        let mut lines = Vec::new();
        array(reader, "an array of lines", |line| {
            lines.push(self.line(line)?);
            Ok(())
        })?;
        Ok(lines)
    }
}

fn array<'a>(
    reader: &mut JsonReader<'a>,
    expected: &'static str,
    element: impl FnMut(&mut JsonReader<'a>) -> Result<(), GeometryError>,
) -> Result<(), GeometryError> {
    if reader.peek()? != b'[' {
        return Err(wrong_type(reader, expected));
    }
    reader.array(element)
}

fn wrong_type(reader: &mut JsonReader<'_>, expected: &'static str) -> GeometryError {
    let result = match reader.peek() {
        Ok(b'{') => "object",
        Ok(b'[') => "array",
        Ok(b'"') => "string",
        Ok(b't' | b'f') => "bool",
        Ok(b'n') => "null",
        _ => "number",
    };
    GeometryError::WrongJson { result, expected }
}

/// The text that a stored geometry has as a string: `'` for `"`.
pub(in crate::types) fn single_quoted(canonical: &str) -> String {
    canonical.replace('"', "'")
}

/// Reads a geometry's text into canonical text.
pub(in crate::types) fn canonical_text(text: &str) -> Result<String, GeometryError> {
    Geometry::parse(text).map(|geometry| geometry.to_text())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_every_type() {
        for text in [
            r#"{"type":"Point","coordinates":[1,2]}"#,
            r#"{"type":"Point","coordinates":[-122.082506,37.4249518,5]}"#,
            r#"{"type":"LineString","coordinates":[[1,2],[3,4]]}"#,
            r#"{"type":"Polygon","coordinates":[[[0,0],[2,0],[2,2],[0,2],[0,0]]]}"#,
            r#"{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}"#,
            r#"{"type":"MultiLineString","coordinates":[[[1,2,3],[4,5,6],[7,8,9],[1,2,3]]]}"#,
            r#"{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]]]}"#,
            r#"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]}]}"#,
            r#"{"type":"Polygon","coordinates":[]}"#,
        ] {
            let geometry = Geometry::parse(text).unwrap();
            assert_eq!(geometry.to_text(), text);
            assert_eq!(Geometry::parse(&single_quoted(text)), Ok(geometry));
        }
        let spaced = r#" { "coordinates" : [ 1.0 , 2e0 ], "bbox": [{}], "TYPE" : "Point" } "#;
        let expected = r#"{"type":"Point","coordinates":[1,2]}"#;
        assert_eq!(Geometry::parse(spaced).unwrap().to_text(), expected);
    }

    #[test]
    fn refuses_what_is_no_geometry() {
        for (text, reason) in [
            ("thisisntjson", "unexpected `h` in `true`"),
            ("{}", "`type` is missing"),
            ("null", "`type` is missing"),
            ("1", "found a JSON number where a geometry should be"),
            (r#"{"type":"Curve","coordinates":[1,2]}"#, "there is no type `Curve`"),
            (r#"{"type":"Point","coordinates":[1]}"#, "a point has at least two numbers, found 1"),
            (r#"{"type":"Point","coordinates":[]}"#, "a point has at least two numbers, found 0"),
            (r#"{"type":"Point"}"#, "`coordinates` are missing"),
            (
                r#"{"type":"LineString","coordinates":[[1,2],[1,2,3]]}"#,
                "a point of 3 numbers after one of 2",
            ),
            (
                r#"{"type":"Point","coordinates":["1",2]}"#,
                "found a JSON string where a number should be",
            ),
            (
                r#"{"type":"Polygon","coordinates":[1,2]}"#,
                "found a JSON number where an array of points should be",
            ),
        ] {
            let error = Geometry::parse(text).unwrap_err().to_string();
            assert!(error.ends_with(&format!(" is no GeoJSON: {reason}")), "{error}");
        }
    }

    #[test]
    fn positions_are_on_the_globe() {
        let checked = |text: &str| Geometry::parse(text).unwrap().check_positions();
        for text in [
            r#"{"type":"Point","coordinates":[180,-90]}"#,
            r#"{"type":"Point","coordinates":[-180,90,9000]}"#,
            r#"{"type":"Polygon","coordinates":[[[1,2],[3,94]]]}"#,
            r#"{"type":"LineString","coordinates":[[1,2],[190,4]]}"#,
            r#"{"type":"MultiLineString","coordinates":[[],[[1,2],[3,94]]]}"#,
            r#"{"type":"MultiPolygon","coordinates":[[],[[[1,2],[3,94]]]]}"#,
        ] {
            assert_eq!(checked(text), Ok(()), "{text}");
        }
        for (text, fault) in [
            (r#"{"type":"Point","coordinates":[2,95]}"#, "the latitude 95 of [2, 95]"),
            (r#"{"type":"Point","coordinates":[190.5,-91]}"#, "the latitude -91 of [190.5, -91]"),
            (r#"{"type":"Point","coordinates":[-180.5,1]}"#, "the longitude -180.5 of [-180.5, 1]"),
            (r#"{"type":"MultiPoint","coordinates":[[1,2],[3,94]]}"#, "the latitude 94"),
            (
                r#"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,94]}]}"#,
                "the latitude 94",
            ),
        ] {
            let reported = checked(text).unwrap_err().to_string();
            assert!(reported.starts_with(fault), "{reported} for {text}");
        }
    }

    #[test]
    fn deep_collections_are_refused() {
        let deep = format!(
            "{}{}",
            r#"{"type":"GeometryCollection","geometries":["#.repeat(200),
            "]}".repeat(200)
        );
        assert!(Geometry::parse(&deep).unwrap_err().to_string().ends_with("too deep"));
    }

    proptest! {
        #[test]
        fn points_round_trip(x in any::<f64>(), y in any::<f64>()) {
            prop_assume!(x.is_finite() && y.is_finite());
            let point = Geometry::Point(Coordinate::new(&[x, y]).unwrap());
            prop_assert_eq!(Geometry::parse(&point.to_text()), Ok(point));
        }

        #[test]
        fn any_text_is_survived(text in "\\PC*|\\{\"type\":\"P[a-z]{3,6}\",\"coordinates\":[\\[\\]0-9,]{0,20}\\}") {
            let _ = Geometry::parse(&text);
        }
    }
}
