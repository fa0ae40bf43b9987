//! Points of a plane, of space or of the earth.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// The system of coordinates of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Srid {
    /// Longitude and latitude in degrees.
    Wgs84 = 4326,
    /// Longitude and latitude in degrees, height in metres.
    Wgs84Height = 4979,
    /// x and y.
    Cartesian = 7203,
    /// x, y and z.
    Cartesian3d = 9157,
}

impl Srid {
    /// All systems.
    pub const ALL: [Srid; 4] = [Srid::Wgs84, Srid::Wgs84Height, Srid::Cartesian, Srid::Cartesian3d];

    /// Returns the name of the system: `wgs-84`, `wgs-84-3d`, `cartesian` or `cartesian-3d`.
    pub fn name(self) -> &'static str {
        match self {
            Srid::Wgs84 => "wgs-84",
            Srid::Wgs84Height => "wgs-84-3d",
            Srid::Cartesian => "cartesian",
            Srid::Cartesian3d => "cartesian-3d",
        }
    }

    /// Returns the number of coordinates.
    pub fn dimensions(self) -> usize {
        match self {
            Srid::Wgs84 | Srid::Cartesian => 2,
            Srid::Wgs84Height | Srid::Cartesian3d => 3,
        }
    }

    /// Whether the coordinates are longitude and latitude.
    pub fn is_geographic(self) -> bool {
        matches!(self, Srid::Wgs84 | Srid::Wgs84Height)
    }
}

/// A point. It is ordered by its system, then by its coordinates.
///
/// ```
/// use hexgraph_scalar::{Point, Srid, Value};
///
/// let point = Point::new(Srid::Wgs84, [11.5, 48.1, 0.0]);
/// assert_eq!(point.coordinates(), [11.5, 48.1]);
/// assert_eq!(Value::from(point).to_string(), "point({srid: 4326, x: 11.5, y: 48.1})");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Point {
    srid: Srid,
    coordinates: [f64; 3],
}

impl Point {
    /// Creates a point; coordinates that the system does not have are ignored.
    pub fn new(srid: Srid, mut coordinates: [f64; 3]) -> Point {
        coordinates[srid.dimensions()..].fill(0.0);
        // -0.0 becomes 0.0, so that equal points have equal bits.
        Point { srid, coordinates: coordinates.map(|it| it + 0.0) }
    }

    /// Returns the system of coordinates.
    pub fn srid(&self) -> Srid {
        self.srid
    }

    /// Returns the coordinates: x or longitude, y or latitude, and z or the height.
    pub fn coordinates(&self) -> &[f64] {
        &self.coordinates[..self.srid.dimensions()]
    }
}

impl PartialEq for Point {
    fn eq(&self, other: &Point) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Point {}

impl Hash for Point {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.srid, self.coordinates.map(f64::to_bits)).hash(state);
    }
}

impl PartialOrd for Point {
    fn partial_cmp(&self, other: &Point) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Point {
    fn cmp(&self, other: &Point) -> Ordering {
        let mut order = self.srid.cmp(&other.srid);
        for (one, other) in self.coordinates.iter().zip(other.coordinates) {
            order = order.then(one.total_cmp(&other));
        }
        order
    }
}
