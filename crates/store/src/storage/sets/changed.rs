//! Intersection, union and difference of stored bitmaps with later changes.
//!
//! With B for the stored members, G for the gained ones (none in B) and L for the lost ones (all in
//! B), the set is B + G - L. Entire containers of B are combined as if nothing had changed, and
//! then the few changed members are corrected. So it costs O(containers + changes), without reading
//! each member.

use crate::storage::FrozenBitmap;
use roaring::RoaringBitmap;

/// More than one in so many of the stored members are much that differs.
const MUCH: u64 = 16;

/// A stored bitmap with what changed since.
pub(super) struct Stored<'s> {
    pub(super) bits: &'s FrozenBitmap,
    /// Members that are not stored.
    pub(super) gained: &'s RoaringBitmap,
    /// Stored ones that are no members.
    pub(super) lost: &'s RoaringBitmap,
}

impl Stored<'_> {
    /// The number of changes.
    pub(super) fn changes_len(&self) -> u64 {
        self.gained.len() + self.lost.len()
    }

    /// The members of both.
    pub(super) fn and(&self, other: &Stored<'_>) -> RoaringBitmap {
        let mut both = self.bits.and(other.bits);
        both -= self.lost;
        both -= other.lost;
        for (one, two) in [(self, other), (other, self)] {
            // What one side gained and the other stores.
            if !one.gained.is_empty() {
                // It may have been lost there since, and is no member of that side then.
                both |= two.bits.and_roaring(one.gained) - two.lost;
            }
        }
        both |= self.gained & other.gained;
        both
    }

    /// The number of members of both, without making the set of them.
    pub(super) fn and_len(&self, other: &Stored<'_>) -> u64 {
        // Gained members are not stored, lost ones are. So the members of both are those stored on
        // both sides except for the lost ones, those that one side stores and the other gained, and
        // those that both gained. By inclusion and exclusion: the losses of each side are
        // subtracted, so what both lost is subtracted twice and added here.
        let stored = self.bits.and_len(other.bits) + both_len(self.lost, other.lost);
        let stored =
            stored - self.bits.and_len_roaring(other.lost) - other.bits.and_len_roaring(self.lost);
        let mine_gained =
            other.bits.and_len_roaring(self.gained) - both_len(self.gained, other.lost);
        let theirs_gained =
            self.bits.and_len_roaring(other.gained) - both_len(self.lost, other.gained);
        stored + mine_gained + theirs_gained + both_len(self.gained, other.gained)
    }

    /// The intersection as changes of the members stored here: the gained and the lost ones; `None`
    /// if they are many. O(containers + changes).
    pub(super) fn and_near(&self, other: &Stored<'_>) -> Option<(RoaringBitmap, RoaringBitmap)> {
        let most = self.bits.len() as u64 / MUCH;
        let lacking = self.bits.len() as u64 - self.bits.and_len(other.bits);
        if most < lacking + self.changes_len() + other.changes_len() {
            return None;
        }
        let mut lost = self.bits.and_not(other.bits);
        lost -= other.gained;
        lost |= self.bits.and_roaring(other.lost);
        lost |= self.lost;
        let mut gained = other.bits.and_roaring(self.gained) - other.lost;
        gained |= self.gained & other.gained;
        Some((gained, lost))
    }

    /// The union as changes of the members stored here: the gained and the lost ones; `None` if
    /// they are many. O(containers + changes).
    pub(super) fn or_near(&self, other: &Stored<'_>) -> Option<(RoaringBitmap, RoaringBitmap)> {
        let most = self.bits.len() as u64 / MUCH;
        let extra = other.bits.len() as u64 - self.bits.and_len(other.bits);
        if most < extra + self.changes_len() + other.changes_len() {
            return None;
        }
        let mut gained = other.bits.and_not(self.bits);
        gained -= other.lost;
        gained |= other.gained - self.bits.and_roaring(other.gained);
        gained |= self.gained;
        // What was lost here stays a member where the other set has it.
        let mut lost = self.lost - other.gained;
        lost -= other.bits.and_roaring(self.lost) - other.lost;
        Some((gained, lost))
    }

    /// The set as changes of another stored bitmap: the gained and the lost members; `None` if they
    /// are many. O(words of the containers + changes).
    pub(super) fn changes_against(
        &self,
        other: &FrozenBitmap,
    ) -> Option<(RoaringBitmap, RoaringBitmap)> {
        let (mine, theirs) = (self.bits.len() as u64, other.len() as u64);
        let most = mine.min(theirs) / MUCH;
        if most < mine.abs_diff(theirs) + self.changes_len() {
            return None;
        }
        let both = self.bits.and_len(other);
        if most < mine - both + theirs - both + self.changes_len() {
            return None;
        }
        let [more, less] = self.bits.differences(other).map(|nodes| {
            RoaringBitmap::from_sorted_iter(nodes).expect("the members of a bitmap ascend")
        });
        let gained = (more - self.lost) | (self.gained - other.and_roaring(self.gained));
        let lost = (less - self.gained) | other.and_roaring(self.lost);
        Some((gained, lost))
    }

    /// The members of both.
    pub(super) fn and_bitmap(&self, other: &RoaringBitmap) -> RoaringBitmap {
        let mut both = self.bits.and_roaring(other);
        both -= self.lost;
        if !self.gained.is_empty() {
            both |= self.gained & other;
        }
        both
    }

    /// Adds the members to `all`.
    pub(super) fn or_into(&self, all: &mut RoaringBitmap) {
        // A lost one stays where it was a member before.
        let gone = self.lost - &*all;
        self.bits.or_into(all);
        *all -= gone;
        *all |= self.gained;
    }

    /// Removes the members from `all`.
    pub(super) fn remove_from(&self, all: &mut RoaringBitmap) {
        let retained = self.lost & &*all;
        self.bits.remove_from(all);
        *all |= retained;
        *all -= self.gained;
    }
}

/// The number of members of both. O(1) for disjoint ranges, as losses are usually below gains.
fn both_len(one: &RoaringBitmap, other: &RoaringBitmap) -> u64 {
    let lies_before = |one: &RoaringBitmap, other: &RoaringBitmap| match (one.max(), other.min()) {
        (Some(last), Some(first)) => last < first,
        _ => true,
    };
    match lies_before(one, other) || lies_before(other, one) {
        true => 0,
        false => one.intersection_len(other),
    }
}
