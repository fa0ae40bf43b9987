//! Geometries on the sphere: where they lie, which cells they take, how they stand to each other.

mod geo_error;
mod trigonometry;
mod position;
mod ring;
mod bound;
mod area;
mod cover;
mod locator;
mod cell_numbers;
mod query;

pub use cell_numbers::{cells_of, check_indexable};
pub use geo_error::{GeoArgumentError, GeoError};
pub use query::GeoQuery;
