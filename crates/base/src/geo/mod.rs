//! Geometries on the sphere: where they lie, which cells they take, how they stand to each other.

mod error;
mod trigonometry;
mod position;
mod ring;
mod bound;
mod area;
mod cover;
mod locator;
mod cells;
mod query;

pub use cells::{cells_of, check_indexable};
pub use error::{GeoArgumentError, GeoError};
pub use query::GeoQuery;
