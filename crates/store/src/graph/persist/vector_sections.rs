//! Vector indexes in snapshot files: after the token indexes of a language, under a tag of their
//! own.

use super::catalog::{CatalogReader, CatalogWriter};
use crate::index::{Links, NearGraph, VectorIndex, VectorThresholds, vector_options};
use crate::storage::{Array, Column, SnapshotFile, SnapshotWriter, Values};
use hexgraph_base::schema::{Metric, PredicateDef};
use hexgraph_base::types::Result;

/// In the catalog, in the position of the kind of an index.
pub(super) const VECTORS_TAG: u8 = 6;

/// Writes the vector index of the language whose sections are called `name`.
///
/// # Errors
///
/// As [`super::sections::save`].
pub(super) fn write_vectors(
    file: &mut SnapshotWriter,
    catalog: &mut CatalogWriter,
    name: &str,
    index: &VectorIndex,
) -> Result<()> {
    let section = |part: &str| format!("{name}.near.{part}");
    catalog.byte(VECTORS_TAG);
    catalog.byte(u8::from(index.has_own));
    for number in [index.dimension, index.width, index.untuned, index.graph.layers.len()] {
        catalog.count(number);
    }
    if index.has_own {
        file.array(&section("numbers"), &index.numbers)?;
    }
    file.bitmap(&section("absent"), &index.absent)?;
    file.array(&section("scales"), &index.scales)?;
    file.array(&section("members"), &index.graph.members)?;
    for (number, layer) in index.graph.layers.iter().enumerate() {
        file.offsets(&section(&format!("{number}.offsets")), &layer.offsets)?;
        file.array(&section(&format!("{number}.targets")), &layer.targets)?;
    }
    Ok(())
}

/// Opens the vector index of a column.
///
/// # Errors
///
/// [`hexgraph_base::types::Error::Corrupt`] when its parts do not fit each other or the column.
pub(super) fn read_vectors(
    file: &SnapshotFile,
    catalog: &mut CatalogReader<'_>,
    name: &str,
    (def, column): (&PredicateDef, &Column),
    thresholds: VectorThresholds,
) -> Result<VectorIndex> {
    let section = |part: &str| format!("{name}.near.{part}");
    let has_own = catalog.byte()? != 0;
    let (dimension, width) = (catalog.count()?, catalog.count()?);
    let (untuned, layer_count) = (catalog.count()?, catalog.count()?);
    // A column of vectors is not written twice: the index shares its numbers.
    let numbers = match &column.values {
        _ if has_own => file.array(&section("numbers"))?,
        Values::Vector { numbers, .. } if 0 < dimension => numbers.clone(),
        _ => Array::empty(),
    };
    let mut index = VectorIndex {
        metric: vector_options(def).map_or(Metric::Euclidean, |options| options.metric()),
        dimension,
        has_own,
        numbers,
        absent: file.bitmap(&section("absent"))?,
        scales: file.array(&section("scales"))?,
        graph: NearGraph { members: file.array(&section("members"))?, layers: Vec::new() },
        width,
        untuned,
        thresholds,
    };
    for number in 0..layer_count {
        index.graph.layers.push(Links {
            offsets: file.offsets(&section(&format!("{number}.offsets")))?,
            targets: file.array(&section(&format!("{number}.targets")))?,
        });
    }
    let fits = vector_options(def).is_some() && index.fits(column.values.len());
    if fits {
        return Ok(index);
    }
    Err(catalog.corrupt(&format!("the vector index of `{name}` does not fit")))
}
