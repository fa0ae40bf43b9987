//! Why a geometry has no cells, and why the arguments of a geo function can't be used.

use crate::types::{GeometryError, MissingFeature};

/// Why a geometry encloses nothing that cells could cover.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GeoError {
    /// A ring has too few points to enclose anything.
    #[error("a ring of {count} points: it needs at least four")]
    ShortRing {
        /// How many points it has, the repeated first one included.
        count: usize,
    },
    /// The last point of a ring is not its first one.
    #[error("a ring that is not closed: its last point must be its first")]
    OpenRing,
    /// The geometry is of a type that is not indexed.
    #[error("a {type_name}: only a Point, a Polygon and a MultiPolygon have cells")]
    NoCells {
        /// The type, as in GeoJSON.
        type_name: &'static str,
    },
    /// The coordinates have more than a longitude and a latitude.
    #[error("coordinates of {count} numbers: only a longitude and a latitude can be covered")]
    Dimensions {
        /// How many numbers each point has.
        count: usize,
    },
    /// The geometry has no points.
    #[error("a {type_name} without coordinates")]
    Empty {
        /// The type, as in GeoJSON.
        type_name: &'static str,
    },
    /// The build lacks the index of positions.
    #[error(transparent)]
    Missing(#[from] MissingFeature),
}

/// Why the arguments of a geo function can't be used. `function` is its name in the query language.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GeoArgumentError {
    /// The distance of `near` is no number of metres, or not within what it may be.
    #[error("the distance of `near` {rule}, found `{text}`")]
    Distance {
        /// What it must be, as the end of a sentence.
        rule: &'static str,
        /// The argument.
        text: String,
    },
    /// The center of `near` is no point.
    #[error("`near` needs a point, like [13.4, 52.5]")]
    NoPoint,
    /// The function is about areas, and got a point.
    #[error("`{function}` needs a polygon, like [[[0, 0], [1, 0], [1, 1], [0, 0]]]")]
    NoPolygon {
        /// The function.
        function: &'static str,
    },
    /// The geometry is of a type that the function has no use for.
    #[error("`{function}` can't use a {type_name}")]
    WrongType {
        /// The function.
        function: &'static str,
        /// The type, as in GeoJSON.
        type_name: &'static str,
    },
    /// The argument is no geometry.
    #[error("`{function}` got a wrong geometry: {reason}")]
    NoGeometry {
        /// The function.
        function: &'static str,
        /// What is wrong with the text.
        reason: GeometryError,
    },
    /// The geometry encloses nothing.
    #[error("`{function}` got {reason}")]
    NoArea {
        /// The function.
        function: &'static str,
        /// What is wrong with the geometry.
        reason: GeoError,
    },
    /// The build lacks the geo functions.
    #[error(transparent)]
    Missing(#[from] MissingFeature),
}
