//! Maps external ids to numbers, which later become nodes, on many threads.
//!
//! A table names nodes by its own ids. Which thread first requests the number of an id is random,
//! so the numbers mean nothing. Each number has the first position of the id in the tables, and
//! uids are assigned in that order. So the result does not depend on the threads.
//!
//! Ids are interned a column at a time, partitioned by hash into shards, each a map behind a lock.
//! A thread locks a shard once for all its ids, and a shard fits the cache. One lookup at a time
//! would cost a cache miss and a lock each.
//!
//! Memory is reserved before it is allocated: a map before it grows, together with the old one, and
//! texts a column at a time.

use super::batch::EXTERNAL;
use super::stored_ids::{Lost, LostIds, StoredIds};
use hexgraph_base::budget::{Budget, Reservation};
use hexgraph_base::types::{Error, Result, ValueRef};
use rayon::prelude::*;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An array indexed by id may have this many slots for each id.
const SPREAD_MAX: u64 = 8;

/// Up to this many positions for each id, ids are stored at their positions instead of sorted.
const PLACED_MAX: u64 = 3;

/// The number at a position where no id came first.
const NOBODY: u32 = 0;

/// Ints that differ in so many of their last bits are close together.
const NEAR_BITS: u32 = 12;

/// The slots that such an array may have for any number of ids.
const NEAR_MIN: u64 = 1 << 12;

/// The approximate overhead of an allocation, in bytes.
const ALLOCATION: usize = 16;

/// The bits of a hash that say which shard.
const SHARD_BITS: u32 = 9;

/// An external id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExternalId {
    /// A number.
    Int(i64),
    /// A text.
    Text(Box<str>),
    /// There is no id: the node is new.
    New,
}

/// The ids of a load. A space is the uids, or the values of one predicate: equal ids of different
/// spaces are different nodes.
pub struct Interner {
    spaces: Vec<Space>,
    /// The first positions and numbers of runs of new nodes, and their lengths.
    new: Mutex<Vec<(u64, u32, u32)>>,
    next: AtomicU32,
    /// True when one of the ids was that of a node that is stored.
    has_met_stored: AtomicBool,
    lost: Lost,
    /// The memory of the ids.
    reserved: Reservation,
}

#[derive(Default)]
struct Space {
    existing: ExistingInts,
    /// Set if the load creates no nodes for ids of this space: an id that no stored node has is
    /// lost, which means that its edges are left out and reported.
    stored: Option<StoredIds>,
    ints: Shards<i64>,
    texts: Shards<Box<str>>,
}

/// The ids of a kind, by their hash.
struct Shards<K> {
    maps: Box<[Mutex<Slots<K>>]>,
}

type Slots<K> = HashMap<K, Slot, FxBuildHasher>;

impl<K> Default for Shards<K> {
    fn default() -> Shards<K> {
        Shards { maps: (0..1 << SHARD_BITS).map(|_| Mutex::default()).collect() }
    }
}

#[derive(Clone, Copy)]
struct Slot {
    position: u64,
    number: u32,
}

/// An id of a table.
pub struct Interned {
    /// The first position of the id.
    pub position: u64,
    /// Its number, from [`EXTERNAL`] on.
    pub number: u32,
    /// The space.
    pub space: usize,
    /// The id.
    pub id: ExternalId,
}

impl Interned {
    /// By their positions, and those of one row by themselves: a cell may be a list of them.
    fn compare(&self, other: &Interned) -> std::cmp::Ordering {
        let by_id = || (self.space, &self.id).cmp(&(other.space, &other.id));
        self.position.cmp(&other.position).then_with(by_id)
    }
}

impl Interner {
    /// Makes an interner of `spaces` spaces, whose memory is reserved in `budget`.
    pub fn new(spaces: usize, budget: &Budget) -> Interner {
        Interner {
            spaces: (0..spaces).map(|_| Space::default()).collect(),
            new: Mutex::new(Vec::new()),
            next: AtomicU32::new(EXTERNAL),
            has_met_stored: AtomicBool::new(false),
            lost: Lost::default(),
            reserved: budget.reservation(),
        }
    }

    fn reserve(&self, bytes: u64) -> Result<()> {
        self.reserved.reserve(bytes)
    }

    /// Returns the bytes of the ids, which stay in memory.
    pub fn byte_len(&self) -> u64 {
        self.reserved.used()
    }

    /// Creates no nodes for ids of a space: ids without a node are lost. Must be called before the
    /// first lookup.
    pub(super) fn only_stored(&mut self, space: usize, stored: StoredIds) {
        self.spaces[space].stored = Some(stored);
    }

    /// Returns the ids that were lost so far.
    pub fn lost(&self) -> LostIds {
        self.lost.ids()
    }

    /// As [`Interner::ints`], for ids of stored nodes alone. O(log values) for each.
    fn look_up<I: Copy + ToString>(
        &self,
        stored: &StoredIds,
        ids: &[(I, u64)],
        value: impl Fn(&I) -> ValueRef<'_>,
        mut result: impl FnMut(usize, u32),
    ) {
        for (at, (id, position)) in ids.iter().enumerate() {
            match stored.node(value(id)) {
                Some(node) => result(at, node),
                None => self.lost.note(*position, id.to_string()),
            }
        }
    }

    /// True when one of the ids was among those of [`Interner::set_existing`].
    pub fn has_met_stored(&self) -> bool {
        self.has_met_stored.load(Ordering::Relaxed)
    }

    /// Calls `result` with the number of each id, by its position in the list, unordered. The ids
    /// come with their positions in the tables.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] without enough memory for them.
    pub fn ints(
        &self,
        space: usize,
        ids: &[(i64, u64)],
        mut result: impl FnMut(usize, u32),
    ) -> Result<()> {
        let Space { existing, ints, stored, .. } = &self.spaces[space];
        if existing.is_empty() && stored.is_none() {
            return self.numbers::<i64, _, _>(ints, ids, near, (|_| 0, |id| id), result);
        }
        let (mut unknown, mut positions) = (Vec::new(), Vec::new());
        for (at, &(id, position)) in ids.iter().enumerate() {
            match existing.get(id) {
                Some(node) => {
                    self.has_met_stored.store(true, Ordering::Relaxed);
                    result(at, node);
                }
                None => {
                    unknown.push((id, position));
                    positions.push(at);
                }
            }
        }
        let result = |at: usize, number| result(positions[at], number);
        match stored {
            Some(stored) => {
                self.look_up(stored, &unknown, |id| ValueRef::Int(*id), result);
                Ok(())
            }
            None => self.numbers::<i64, _, _>(ints, &unknown, near, (|_| 0, |id| id), result),
        }
    }

    /// As [`Interner::ints`].
    ///
    /// # Errors
    ///
    /// As [`Interner::ints`].
    pub fn texts(
        &self,
        space: usize,
        ids: &[(&str, u64)],
        result: impl FnMut(usize, u32),
    ) -> Result<()> {
        let Space { texts, stored, .. } = &self.spaces[space];
        match stored {
            Some(stored) => {
                self.look_up(stored, ids, |id| ValueRef::String(id), result);
                Ok(())
            }
            None => {
                let hash = |id: &str| FxBuildHasher.hash_one(id);
                let own_len = |id: &str| id.len() + ALLOCATION;
                self.numbers::<str, _, _>(texts, ids, hash, (own_len, Box::from), result)
            }
        }
    }

    /// Numbers the ids shard by shard, by the highest bits of `hash`. With `own` an id is copied,
    /// which allocates `own_len` bytes.
    fn numbers<Q: Eq + Hash + ?Sized, K: Eq + Hash + Borrow<Q>, I: Copy + Borrow<Q>>(
        &self,
        shards: &Shards<K>,
        ids: &[(I, u64)],
        hash: impl Fn(&Q) -> u64,
        (own_len, own): (impl Fn(&Q) -> usize, impl Fn(I) -> K),
        mut result: impl FnMut(usize, u32),
    ) -> Result<()> {
        // Reserve as if all were new. The rest is released at the end.
        let mut spare = ids.iter().map(|(id, _)| own_len(id.borrow()) as u64).sum::<u64>();
        self.reserve(spare)?;
        let hashes = ids.iter().map(|(id, _)| hash(id.borrow()));
        // The low bits of a hash and the highest choose positions within a map.
        let shard = |hash: u64| (hash >> 40) as u16 & ((1 << SHARD_BITS) - 1);
        let of: Vec<u16> = hashes.map(shard).collect();
        // Partitioned by shard first, so that each shard is locked once for all of these ids.
        let mut starts = vec![0_u32; (1 << SHARD_BITS) + 1];
        of.iter().for_each(|&shard| starts[usize::from(shard) + 1] += 1);
        for shard in 0..1 << SHARD_BITS {
            starts[shard + 1] += starts[shard];
        }
        let mut next = starts.clone();
        let mut partitioned = vec![0_u32; ids.len()];
        for (at, &shard) in of.iter().enumerate() {
            let position = &mut next[usize::from(shard)];
            partitioned[*position as usize] = at as u32;
            *position += 1;
        }
        for (shard, range) in starts.windows(2).enumerate() {
            let own_ids = &partitioned[range[0] as usize..range[1] as usize];
            if own_ids.is_empty() {
                continue;
            }
            let mut slots = locked(&shards.maps[shard]);
            if slots.is_empty() {
                self.grow(&mut slots, own_ids.len())?;
            }
            for &at in own_ids {
                let (id, position) = ids[at as usize];
                let number = match slots.get_mut(id.borrow()) {
                    Some(slot) => {
                        // Threads run in any order. The least position of an id determines its
                        // order among the new nodes, so that the same data get the same numbers.
                        slot.position = slot.position.min(position);
                        slot.number
                    }
                    None => {
                        // Relaxed, since numbers only have to differ. The
                        // lock of the shard orders what is seen of an id.
                        let number = self.next.fetch_add(1, Ordering::Relaxed);
                        if slots.len() == slots.capacity() {
                            self.grow(&mut slots, 1)?;
                        }
                        spare -= own_len(id.borrow()) as u64;
                        slots.insert(own(id), Slot { position, number });
                        number
                    }
                };
                result(at as usize, number);
            }
        }
        self.reserved.give_back(spare);
        Ok(())
    }

    /// Makes a map larger, by `more` ids at least, when its memory is reserved.
    fn grow<K: Eq + Hash>(&self, slots: &mut Slots<K>, more: usize) -> Result<()> {
        let before = map_len::<K>(slots.capacity());
        // A map that grows has twice the capacity.
        let capacity = (slots.len() + more).max(slots.capacity() + 1);
        self.reserve(map_len::<K>(capacity))?;
        slots.reserve(more);
        self.reserved.give_back(before);
        Ok(())
    }

    /// Sets the nodes of some ids before the first lookup: these get no number.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] without enough memory for them.
    pub fn set_existing(
        &mut self,
        space: usize,
        pairs: impl Iterator<Item = (i64, u32)> + Clone,
    ) -> Result<()> {
        self.spaces[space].existing = ExistingInts::new(pairs, |bytes| self.reserve(bytes))?;
        Ok(())
    }

    /// The first of `len` numbers for new nodes, one a position.
    pub fn new_nodes(&self, position: u64, len: u32) -> u32 {
        let first = self.next.fetch_add(len, Ordering::Relaxed);
        locked(&self.new).push((position, first, len));
        first
    }

    /// Refuses more ids than there can be nodes; to be called before so many more can come that
    /// the numbers run over.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`].
    pub fn check(&self) -> Result<()> {
        // Half of the numbers remain free for other threads before they check.
        let most = EXTERNAL + (EXTERNAL >> 1);
        // A counter that ran over is below the range, and refused as well.
        if (EXTERNAL..most).contains(&self.next.load(Ordering::Relaxed)) {
            return Ok(());
        }
        Err(Error::Limit { message: format!("a load has at most {} new nodes", most - EXTERNAL) })
    }

    /// All ids in the order of the tables, with their memory, and that of `more` bytes for each of
    /// them.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] without enough memory for the list.
    pub fn into_ids(mut self, more: usize) -> Result<(Vec<Interned>, Reservation)> {
        let count = (self.next.load(Ordering::Relaxed) - EXTERNAL) as usize;
        let last = self.last_position();
        let bytes =
            |len: usize| len.saturating_mul(size_of::<Interned>()).saturating_add(count * more);
        let mut are_apart = PLACED_MAX * (count as u64) < last;
        let mut len = if are_apart || count == 0 { count } else { last as usize + 1 };
        // A list with gaps is faster, and a sorted one smaller.
        if count < len && self.reserve(bytes(len) as u64).is_err() {
            (are_apart, len) = (true, count);
        }
        if len <= count {
            self.reserve(bytes(count) as u64)?;
        }
        let empty = self.reserved.budget().reservation();
        let reserved = std::mem::replace(&mut self.reserved, empty);
        Ok((self.in_order(count, len, are_apart), reserved))
    }

    /// All ids in the order of their positions: a list of `len`, which is sorted if they are
    /// sparse.
    fn in_order(self, count: usize, len: usize, are_apart: bool) -> Vec<Interned> {
        let mut ids = Vec::new();
        if are_apart || count == 0 {
            ids.reserve_exact(count);
            self.for_each(|id| ids.push(id));
            ids.par_sort_unstable_by(Interned::compare);
            return ids;
        }
        let nobody = || Interned { position: 0, number: NOBODY, space: 0, id: ExternalId::New };
        ids.resize_with(len, nobody);
        // Tables with lines that were left out may count a row that the next one counts, too.
        let mut others = Vec::new();
        self.for_each(|id| match &mut ids[id.position as usize] {
            free if free.number == NOBODY => *free = id,
            _ => others.push(id),
        });
        ids.retain(|id| id.number != NOBODY);
        if !others.is_empty() {
            ids.append(&mut others);
            ids.par_sort_unstable_by(Interned::compare);
        }
        ids
    }

    /// The last position where an id came first.
    fn last_position(&self) -> u64 {
        let of_space = |Space { ints, texts, .. }: &Space| ints.last().max(texts.last());
        let of_ids = self.spaces.par_iter().map(of_space).max();
        let of_new =
            locked(&self.new).iter().map(|(position, _, len)| position + u64::from(*len)).max();
        of_ids.max(of_new).unwrap_or(0)
    }

    fn for_each(self, mut visit: impl FnMut(Interned)) {
        for (space, Space { ints, texts, .. }) in self.spaces.into_iter().enumerate() {
            let interned = |Slot { position, number }, id| Interned { position, number, space, id };
            ints.into_slots().for_each(|(id, slot)| visit(interned(slot, ExternalId::Int(id))));
            texts.into_slots().for_each(|(id, slot)| visit(interned(slot, ExternalId::Text(id))));
        }
        let new = self.new.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (position, number, len) in new {
            (0..len).for_each(|at| {
                let (position, number) = (position + u64::from(at), number + at);
                visit(Interned { position, number, space: 0, id: ExternalId::New });
            });
        }
    }
}

/// The hash that partitions ints into shards: close ones share a shard. Ids of a table are often
/// consecutive, and then a thread uses few shards, whose maps stay in its cache.
fn near(id: &i64) -> u64 {
    FxBuildHasher.hash_one(id >> NEAR_BITS)
}

impl<K: Send> Shards<K> {
    /// The last of the positions.
    fn last(&self) -> u64 {
        let of = |map: &Mutex<Slots<K>>| locked(map).values().map(|slot| slot.position).max();
        self.maps.par_iter().filter_map(of).max().unwrap_or(0)
    }

    fn into_slots(self) -> impl Iterator<Item = (K, Slot)> {
        self.maps
            .into_iter()
            .flat_map(|map| map.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The bytes of a map of so many ids: an entry and a byte for each bucket, and at most 7 of 8
/// buckets are full.
fn map_len<K>(capacity: usize) -> u64 {
    if capacity == 0 {
        return 0;
    }
    let buckets = (capacity * 8).div_ceil(7).next_power_of_two().max(4);
    (buckets * (size_of::<(K, Slot)>() + 1) + ALLOCATION) as u64
}

/// A panic leaves the map consistent: nothing in between can fail.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The nodes of ids that exist before a load. Reading it needs no lock.
#[derive(Default)]
struct ExistingInts {
    /// The node of each id from `first` on, 0 for none; when ids are close together.
    first: i64,
    near: Vec<u32>,
    /// The node of each id, when ids are not close together.
    far: FxHashMap<i64, u32>,
}

impl ExistingInts {
    /// The map of these pairs; of equal ids the first counts. `reserve` is called with its bytes
    /// first.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] without enough memory.
    fn new(
        pairs: impl Iterator<Item = (i64, u32)> + Clone,
        reserve: impl FnOnce(u64) -> Result<()>,
    ) -> Result<ExistingInts> {
        // A node without a uid of its own has a number that may change.
        let pairs = pairs.filter(|(_, node)| *node < EXTERNAL);
        let ids = || pairs.clone().map(|(id, _)| id);
        let (Some(first), Some(last)) = (ids().min(), ids().max()) else {
            return Ok(ExistingInts::default());
        };
        let span = last.abs_diff(first).saturating_add(1);
        let count = ids().count();
        if NEAR_MIN.max(count as u64 * SPREAD_MAX) < span {
            reserve(map_len::<u32>(count))?;
            let mut far = FxHashMap::with_capacity_and_hasher(count, FxBuildHasher);
            pairs.for_each(|(id, node)| {
                far.entry(id).or_insert(node);
            });
            return Ok(ExistingInts { far, ..ExistingInts::default() });
        }
        reserve(span * size_of::<u32>() as u64)?;
        let mut near = vec![0; span as usize];
        for (id, node) in pairs {
            let position = &mut near[id.abs_diff(first) as usize];
            if *position == 0 {
                *position = node;
            }
        }
        Ok(ExistingInts { first, near, far: FxHashMap::default() })
    }

    fn is_empty(&self) -> bool {
        self.near.is_empty() && self.far.is_empty()
    }

    fn get(&self, id: i64) -> Option<u32> {
        if self.near.is_empty() {
            return self.far.get(&id).copied();
        }
        let position = usize::try_from(id.checked_sub(self.first)?).ok()?;
        self.near.get(position).copied().filter(|&node| node != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interner(spaces: usize) -> Interner {
        Interner::new(spaces, &Budget::new(1 << 30))
    }

    fn int(interner: &Interner, space: usize, id: i64, position: u64) -> u32 {
        let mut number = 0;
        interner.ints(space, &[(id, position)], |_, result| number = result).unwrap();
        number
    }

    fn text(interner: &Interner, space: usize, id: &str, position: u64) -> u32 {
        let mut number = 0;
        interner.texts(space, &[(id, position)], |_, result| number = result).unwrap();
        number
    }

    #[test]
    fn stored_ids_need_no_number() {
        for step in [1, 3, 1 << 40] {
            let pairs = [(-5, 9), (-5, 4), (step, 1), (2 * step, EXTERNAL + 1)];
            let mut interner = interner(1);
            interner.set_existing(0, pairs.into_iter()).unwrap();
            assert_eq!((int(&interner, 0, -5, 0), int(&interner, 0, step, 1)), (9, 1));
            let others = [i64::MIN, -6, 0, 2 * step, i64::MAX];
            assert!(others.iter().all(|&id| EXTERNAL <= int(&interner, 0, id, 2)));
            assert_eq!(interner.into_ids(0).unwrap().0.len(), others.len());
        }
    }

    #[test]
    fn ids_come_out_in_the_same_order_whether_they_are_close_together_or_not() {
        for step in [1, 2, 3, 4, 1 << 20] {
            let interner = interner(2);
            let position = |at: i64| 6 + step * (at as u64 * 7 % 1_000);
            for at in 0..500 {
                int(&interner, 1, at * at, position(at));
                text(&interner, 0, &at.to_string(), position(500 + at));
            }
            let ids = interner.into_ids(0).unwrap().0;
            let positions: Vec<u64> = ids.iter().map(|id| id.position).collect();
            assert_eq!(positions, (0..1_000).map(|at| 6 + step * at).collect::<Vec<u64>>());
            for at in 0..500 {
                let of = |position: u64| &ids[((position - 6) / step) as usize];
                assert_eq!(of(position(at)).id, ExternalId::Int(at * at));
                assert_eq!(of(position(500 + at)).id, ExternalId::Text(at.to_string().into()));
            }
        }
        assert!(interner(1).into_ids(0).unwrap().0.is_empty());
    }

    #[test]
    fn ids_come_out_in_the_order_of_their_positions() {
        let interner = interner(2);
        let later = int(&interner, 0, 7, 30);
        assert_eq!(int(&interner, 0, 7, 10), later);
        assert_ne!(int(&interner, 1, 7, 20), later);
        let label = text(&interner, 0, "7", 5);
        assert_eq!(text(&interner, 0, "7", 50), label);
        let new = interner.new_nodes(11, 2);
        let ids: Vec<_> =
            interner.into_ids(0).unwrap().0.into_iter().map(|it| (it.number, it.id)).collect();
        let want = [
            (label, ExternalId::Text("7".into())),
            (later, ExternalId::Int(7)),
            (new, ExternalId::New),
            (new + 1, ExternalId::New),
        ];
        assert_eq!(ids[..4], want);
        assert_eq!(ids.len(), 5);
    }

    /// What is reserved is what is allocated: entries, and texts.
    #[test]
    fn the_memory_of_ids_is_reserved() {
        let budget = Budget::new(1 << 30);
        let interner = Interner::new(2, &budget);
        let texts: Vec<String> = (0..50_000).map(|at| format!("{at:040}")).collect();
        let ids: Vec<(&str, u64)> = texts.iter().map(|id| (&**id, 0)).collect();
        let ints: Vec<(i64, u64)> = (0..50_000).map(|at| (at << 20, 0)).collect();
        interner.texts(0, &ids, |_, _| {}).unwrap();
        interner.ints(1, &ints, |_, _| {}).unwrap();
        let maps = |space: &Space| {
            let of_ints = space.ints.maps.iter().map(|map| map_len::<i64>(locked(map).capacity()));
            let of_texts =
                space.texts.maps.iter().map(|map| map_len::<Box<str>>(locked(map).capacity()));
            of_ints.chain(of_texts).sum::<u64>()
        };
        let all = interner.spaces.iter().map(maps).sum::<u64>() + 50_000 * (40 + ALLOCATION as u64);
        assert_eq!(interner.byte_len(), all);
        // Those that are there cost nothing.
        interner.texts(0, &ids, |_, _| {}).unwrap();
        assert_eq!(interner.byte_len(), all);
        let (ids, reserved) = interner.into_ids(8).unwrap();
        assert!(all + 100_000 * 8 < reserved.used());
        drop((ids, reserved));
        budget.forget_peak();
        assert_eq!(budget.peak(), 0);
    }

    #[test]
    fn where_memory_is_short_the_list_has_no_gaps() {
        let listed = |budget: u64| {
            let interner = Interner::new(1, &Budget::new(budget));
            let ids: Vec<(i64, u64)> = (0..10_000).map(|at| (at, 2 * at as u64)).collect();
            interner.ints(0, &ids, |_, _| {})?;
            let (ids, reserved) = interner.into_ids(0)?;
            Ok((
                ids.into_iter().map(|id| (id.position, id.id)).collect::<Vec<_>>(),
                reserved.used(),
            ))
        };
        let (ids, with_gaps) = listed(64 << 20).unwrap();
        // A quarter of a small bound is a margin for small requests.
        let (same, without) = listed(with_gaps / 5 * 6).unwrap();
        assert_eq!(ids, same);
        assert!(without + 10_000 * 40 < with_gaps, "{without} {with_gaps}");
        let refused: Result<_> = listed(without / 2);
        assert!(matches!(refused, Err(Error::Limit { .. })));
    }

    #[test]
    fn ids_for_which_there_is_no_memory_are_refused() {
        let budget = Budget::new(4 << 20);
        let interner = Interner::new(1, &budget);
        let ids: Vec<(i64, u64)> = (0..1 << 20).map(|at| (at << 20, 0)).collect();
        let error = interner.ints(0, &ids, |_, _| {}).unwrap_err();
        assert!(matches!(error, Error::Limit { .. }), "{error}");
        assert!(budget.peak() <= 4 << 20);
        let text = "x".repeat(8 << 20);
        assert!(interner.texts(0, &[(&text, 0)], |_, _| {}).is_err());
        let mut interner = Interner::new(1, &budget);
        let existing = (0..1_i64 << 20).map(|id| (id << 20, 1));
        assert!(interner.set_existing(0, existing).is_err());
        drop(interner);
    }
}
