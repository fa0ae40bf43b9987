//! Geometries on the sphere: where they lie, which cells they take, how they stand to each other.

mod error;
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
mod cells;
#[cfg(feature = "geo")]
mod query;
#[cfg(not(feature = "geo"))]
mod missing;

#[cfg(feature = "geo")]
pub use cells::{cells_of, check_indexable};
pub use error::{GeoArgumentError, GeoError};
#[cfg(not(feature = "geo"))]
pub use missing::{GeoQuery, cells_of, check_indexable};
#[cfg(feature = "geo")]
pub use query::GeoQuery;
