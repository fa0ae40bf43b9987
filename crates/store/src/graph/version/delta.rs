//! Changes that came after the base of a predicate was built.
//!
//! They are persistent maps: a commit shares all that it does not touch with the version before,
//! so it costs O(changes · log), and readers of older versions see theirs unchanged.

use crate::index::TokenKey;
use hexgraph_base::types::Value;
use imbl::OrdMap;
use imbl::ordmap::DiffItem;
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
    /// True when an edge was set with a facet that is a number below 0, whichever facet it was.
    pub has_negative: bool,
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
    /// How many more edges were gained than lost: so edges are counted without a look at the sets.
    pub(super) surplus: i64,
}

/// Equal rows have the same changes. Most rows that are compared are one and the same, which is seen without a look at their
/// edges.
impl PartialEq for EdgeRow {
    fn eq(&self, other: &EdgeRow) -> bool {
        std::ptr::eq(self, other)
            || self.cleared == other.cleared
                && self.gained == other.gained
                && self.lost == other.lost
                && self.added == other.added
    }
}

impl EdgeRow {
    /// The number of edges of a node that has `stored` in the base.
    pub(crate) fn count(&self, stored: i64) -> i64 {
        if self.cleared { self.surplus } else { stored + self.surplus }
    }

    /// To be called when edges were gained or lost.
    pub(super) fn note_surplus(&mut self) {
        self.surplus = self.gained.len() as i64 - self.lost.len() as i64;
    }

    /// What changed since the row was `old`, as changes of a base that has all of `old`.
    pub(in crate::graph) fn since(&self, old: &EdgeRow) -> Arc<EdgeRow> {
        if self.cleared && !old.cleared {
            return Arc::new(self.clone());
        }
        // What was lost and came back is new to a base without it, as what was gained and went is lost to one that has it.
        let gained = (&*self.gained - &*old.gained) | (&*old.lost - &*self.lost);
        let lost = (&*old.gained - &*self.gained) | (&*self.lost - &*old.lost);
        let mut added = OrdMap::new();
        for item in old.added.diff(&self.added) {
            match item {
                DiffItem::Add(target, facets) | DiffItem::Update { new: (target, facets), .. } => {
                    added.insert(*target, Arc::clone(facets));
                }
                DiffItem::Remove(..) => {}
            }
        }
        let (gained, lost) = (Arc::new(gained), Arc::new(lost));
        let mut row = EdgeRow { cleared: false, added, gained, lost, surplus: 0 };
        row.note_surplus();
        Arc::new(row)
    }
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
