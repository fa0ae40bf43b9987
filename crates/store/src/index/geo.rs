//! The index of geometries: from cells of the sphere to the nodes with a geometry in them.
//!
//! A token is the number of a cell of a geometry's covering; enclosing cells have no token. Their
//! numbers surround those of the cells within them, so all inside a cell is a range, and all around
//! it a few lookups. The matches are candidates; each geometry is tested.
//!
//! The lookups are one for each larger size of cells: an index has those of the levels 5 to 16 of
//! S2.

use super::source::Source;
use super::token_index::{TokenIndex, TokenKey};
use crate::storage::{Array, Offsets, Values};
use hexgraph_base::geo::{GeoError, cells_of, check_indexable};
use hexgraph_base::schema::{PredicateDef, Tokenizer};
use hexgraph_base::types::{Check, Geometry, Result, ValueRef, ValueType, parallel};

/// Why a geo index cannot contain a geometry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the geo index of predicate `{predicate}` can't take {reason}")]
pub struct GeoIndexError {
    /// The predicate.
    pub predicate: String,
    /// Why the geometry has no cells.
    pub reason: GeoError,
}

/// Checks that the geo index of a predicate, if it has one, can contain a value. Values other than
/// geometries have no tokens, and pass.
///
/// # Errors
///
/// [`GeoIndexError`] for a geometry without cells.
pub(crate) fn check_geometry(
    value: ValueRef<'_>,
    def: &PredicateDef,
) -> std::result::Result<(), GeoIndexError> {
    if !def.indexes.contains(&Tokenizer::Geo) {
        return Ok(());
    }
    let Ok(value) = value.convert(ValueType::Geo) else { return Ok(()) };
    geometry_of(value.as_ref())
        .map_or(Ok(()), |geometry| check_indexable(&geometry))
        .map_err(|reason| GeoIndexError { predicate: def.name.clone(), reason })
}

/// Adds the tokens of a geometry.
pub(super) fn push_cells(value: ValueRef<'_>, out: &mut Vec<TokenKey>) {
    out.extend(cells(value).into_iter().map(TokenKey::Int));
}

/// Builds the index: the keys ascend, each once, and so do the nodes of each key. The threads
/// compute the coverings of polygons in parallel. A list of geometries gives its node several
/// values. Calls `check` once for each of them.
///
/// # Errors
///
/// Those of `check`.
pub(super) fn build_cells(source: &Source<'_>, check: Check<'_>) -> Result<TokenIndex> {
    let positions: Vec<usize> = (0..source.nodes.len()).collect();
    let covered = parallel::map(&positions, |&at| check().map(|()| cells(source.values.get(at))));
    let covered = covered.into_iter().collect::<Result<Vec<_>>>()?;
    let nodes = source.nodes.iter().zip(covered);
    let mut pairs: Vec<(i64, u32)> =
        nodes.flat_map(|(&node, cells)| cells.into_iter().map(move |cell| (cell, node))).collect();
    parallel::sort_unstable(&mut pairs);
    // Two geometries of one node may lie in the same cell.
    // Sorted by cell and then by node, so the nodes of each cell ascend as postings have to.
    pairs.dedup();
    let runs = || pairs.chunk_by(|one, next| one.0 == next.0);
    let keys: Vec<i64> = runs().map(|run| run[0].0).collect();
    let offsets = Offsets::from_lens(runs().map(<[_]>::len));
    let postings = pairs.iter().map(|pair| pair.1).collect();
    Ok(TokenIndex::new(Values::Int(Array::from_vec(keys)), offsets, Array::from_vec(postings)))
}

/// The numbers of the cells of a geometry, ascending; none for a value without cells.
/// [`check_geometry`] refuses such values for an indexed predicate, and an index with such values,
/// so no node is lost here.
fn cells(value: ValueRef<'_>) -> Vec<i64> {
    geometry_of(value).and_then(|geometry| cells_of(&geometry).ok()).unwrap_or_default()
}

fn geometry_of(value: ValueRef<'_>) -> Option<Geometry> {
    let ValueRef::Geo(text) = value else { return None };
    Geometry::parse_json(text).ok()
}
