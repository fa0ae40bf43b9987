//! Represents the geo functions in a build without the feature `geo`: they are refused with their
//! arguments.

use super::geo_error::{GeoArgumentError, GeoError};
use crate::types::{Feature, Geometry, MissingFeature};
use std::convert::Infallible;
use std::iter::Empty;

/// A geo function with its arguments, which this build lacks.
#[derive(Debug)]
pub struct GeoQuery(Infallible);

impl GeoQuery {
    /// Refuses the query of `near`.
    ///
    /// # Errors
    ///
    /// [`GeoArgumentError::Missing`], always.
    pub fn near(_: &str, _: &str) -> Result<GeoQuery, GeoArgumentError> {
        Err(missing("near").into())
    }

    /// Refuses the query of `within`.
    ///
    /// # Errors
    ///
    /// [`GeoArgumentError::Missing`], always.
    pub fn within(_: &str) -> Result<GeoQuery, GeoArgumentError> {
        Err(missing("within").into())
    }

    /// Refuses the query of `intersects`.
    ///
    /// # Errors
    ///
    /// [`GeoArgumentError::Missing`], always.
    pub fn intersects(_: &str) -> Result<GeoQuery, GeoArgumentError> {
        Err(missing("intersects").into())
    }

    /// Refuses the query of `contains`.
    ///
    /// # Errors
    ///
    /// [`GeoArgumentError::Missing`], always.
    pub fn contains(_: &str) -> Result<GeoQuery, GeoArgumentError> {
        Err(missing("contains").into())
    }

    /// Would give the spans of the cells within.
    pub fn spans(&self) -> Empty<(i64, i64)> {
        match self.0 {}
    }

    /// Would give the cells around.
    pub fn cells_around(&self) -> Vec<i64> {
        match self.0 {}
    }

    /// Would say whether the function holds for a geometry.
    pub fn matches(&self, _: &Geometry) -> bool {
        match self.0 {}
    }
}

/// Refuses to give the cells of a geometry.
///
/// # Errors
///
/// [`GeoError::Missing`], always.
pub fn cells_of(geometry: &Geometry) -> Result<Vec<i64>, GeoError> {
    Err(missing(geometry.type_name()).into())
}

/// Refuses to say that a geometry can be indexed.
///
/// # Errors
///
/// [`GeoError::Missing`], always.
pub fn check_indexable(geometry: &Geometry) -> Result<(), GeoError> {
    Err(missing(geometry.type_name()).into())
}

fn missing(what: &str) -> MissingFeature {
    Feature::Geo.missing(format!("`{what}`"))
}
