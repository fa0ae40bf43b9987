//! Geometries on the sphere: where they lie, which cells they cover, how they relate to each other.

mod geo_error;
#[cfg(feature = "geo")]
mod trigonometry;
#[cfg(feature = "geo")]
mod position;
#[cfg(feature = "geo")]
mod ring;
#[cfg(feature = "geo")]
mod bound;
#[cfg(feature = "geo")]
mod area;
#[cfg(feature = "geo")]
mod cover;
#[cfg(feature = "geo")]
mod locator;
#[cfg(feature = "geo")]
mod cell_numbers;
#[cfg(feature = "geo")]
mod query;
#[cfg(not(feature = "geo"))]
mod missing;

#[cfg(feature = "geo")]
pub use cell_numbers::{cells_of, check_indexable};
pub use geo_error::{GeoArgumentError, GeoError};
#[cfg(not(feature = "geo"))]
pub use missing::{GeoQuery, cells_of, check_indexable};
#[cfg(feature = "geo")]
pub use query::GeoQuery;
