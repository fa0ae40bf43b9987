//! Changes that came after the base of a predicate was built.
//!
//! They are persistent maps: a commit shares all that it does not touch with the version before,
//! so it costs O(changes · log), and readers of older versions see theirs unchanged.

use crate::index::TokenKey;
use hexgraph_base::types::Value;
use imbl::OrdMap;
use roaring::RoaringBitmap;
use std::sync::Arc;

/// Facets of one value or edge, sorted by key.
pub(in crate::graph) type FacetList = Vec<(Arc<str>, Value)>;

/// All values of one node in one predicate and language; for a list ascending.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// The values with their facets.
    pub values: Vec<(Value, FacetList)>,
}

/// Changes of the values in one language.
#[derive(Clone, Default)]
pub struct ValueDelta {
    /// The whole row of each changed node; `None` when it has none any more.
    pub rows: OrdMap<u32, Option<Arc<Row>>>,
    /// Nodes that have a value now and have none in the base.
    pub gained: Arc<RoaringBitmap>,
    /// Nodes that have none now and have one in the base.
    pub lost: Arc<RoaringBitmap>,
    /// Changes of postings, one map for each index of the base, in its order.
    pub tokens: Vec<OrdMap<TokenKey, Postings>>,
}

/// Changes of one posting list.
#[derive(Clone, Default)]
pub struct Postings {
    /// Nodes that the base does not have under the token.
    pub gained: Arc<RoaringBitmap>,
    /// Nodes of the base that are none any more.
    pub lost: Arc<RoaringBitmap>,
}

/// Changes of the edges in one direction.
#[derive(Clone, Default)]
pub struct EdgeDelta {
    /// What changed for each changed node.
    pub rows: OrdMap<u32, Arc<EdgeRow>>,
    /// Nodes that have an edge now and have none in the base.
    pub gained: Arc<RoaringBitmap>,
    /// Nodes that have none now and have one in the base.
    pub lost: Arc<RoaringBitmap>,
    /// True when an edge was set with facets.
    pub has_facets: bool,
}

/// Changes of one node's edges.
#[derive(Clone, Default)]
pub struct EdgeRow {
    /// True when none of the base's edges count any more.
    pub cleared: bool,
    /// Edges that were set, with their facets; they win over the base's.
    pub added: OrdMap<u32, Arc<FacetList>>,
    /// The targets of `added` that the base does not have, or all of them where it was cleared.
    pub gained: Arc<RoaringBitmap>,
    /// Targets of the base that were deleted; none where it was cleared.
    pub lost: Arc<RoaringBitmap>,
}

/// Moves `node` between the changes of a set so that it is a member, or is not.
pub(super) fn set_member(
    gained: &mut Arc<RoaringBitmap>,
    lost: &mut Arc<RoaringBitmap>,
    node: u32,
    in_base: bool,
    member: bool,
) {
    let (changed, other) = if member { (gained, lost) } else { (lost, gained) };
    if in_base != member {
        if !changed.contains(node) {
            Arc::make_mut(changed).insert(node);
        }
    } else if other.contains(node) {
        Arc::make_mut(other).remove(node);
    }
}
