//! The stored graph of vectors: the links of each layer.
//!
//! The lowest layer has all vectors, by position. Each layer above has about one in thirty-two of
//! the one below, and they are a prefix of `members`. So a position in a layer means the same
//! vector in all layers below it, and the descent needs no table. Position 0 is in every layer and
//! is the entry point of searches.

use crate::storage::{Array, Offsets};

/// The links of a graph.
#[derive(Clone, Default)]
pub struct NearGraph {
    /// The positions of the vectors that stand above the lowest layer too; none without a graph.
    pub members: Array<u32>,
    /// The layers: the lowest one by position, those above by position among the members.
    pub layers: Vec<Links>,
}

/// The links within one layer, nearest first.
#[derive(Clone, Default)]
pub struct Links {
    /// The position among the targets at which the links of each vertex start.
    pub offsets: Offsets,
    /// The targets of the links, nearest first for each vertex.
    pub targets: Array<u32>,
}

impl NearGraph {
    /// True when there are no links: vectors are so few that each is compared.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// A layer, counted from the lowest.
    pub fn layer(&self, number: usize) -> Layer<'_, Links> {
        let members = (0 < number).then_some(&self.members);
        Layer { links: &self.layers[number], members }
    }

    /// True when the parts of a graph over `count` positions have lengths that fit each other.
    pub fn fits(&self, count: usize) -> bool {
        let Some((lowest, upper)) = self.layers.split_first() else {
            return self.members.is_empty();
        };
        let sizes = || upper.iter().map(Linked::count);
        // The second layer has all members; without it there is one, where searches enter.
        let widest = sizes().next().unwrap_or(1);
        let is_complete =
            self.layers.iter().all(|links| links.offsets.total() == links.targets.len());
        is_complete
            && lowest.count() == count
            && self.members.len() == widest
            && sizes().is_sorted_by(|below, above| above <= below)
            && sizes().all(|size| 0 < size)
    }

    /// The bytes of the links.
    pub fn byte_len(&self) -> usize {
        let links = self.layers.iter();
        let links = links.map(|links| links.offsets.byte_len() + links.targets.byte_len());
        self.members.byte_len() + links.sum::<usize>()
    }
}

/// Lists of links, finished or still growing.
pub trait Linked {
    /// The number of lists.
    fn count(&self) -> usize;

    /// The links of one.
    fn of(&self, vertex: u32) -> &[u32];
}

impl Linked for Links {
    fn count(&self) -> usize {
        self.offsets.rows()
    }

    #[inline]
    fn of(&self, vertex: u32) -> &[u32] {
        self.targets.slice(self.offsets.range(vertex as usize))
    }
}

/// Lists of links that still change, all with the same capacity.
pub(super) struct GrowingLinks {
    capacity: usize,
    lens: Vec<u16>,
    targets: Vec<u32>,
}

impl GrowingLinks {
    /// Empty lists with space for `capacity` links each.
    pub(super) fn new(count: usize, capacity: usize) -> GrowingLinks {
        GrowingLinks { capacity, lens: vec![0; count], targets: vec![0; count * capacity] }
    }

    /// Replaces a list, which is no longer than the capacity.
    pub(super) fn set(&mut self, vertex: u32, list: &[u32]) {
        let start = vertex as usize * self.capacity;
        self.targets[start..start + list.len()].copy_from_slice(list);
        self.lens[vertex as usize] = list.len() as u16;
    }

    /// The lists as they are now, end to end.
    pub(super) fn finish(&self) -> Links {
        let lens = self.lens.iter().map(|&len| usize::from(len));
        let mut targets = Vec::with_capacity(lens.clone().sum());
        (0..self.count() as u32).for_each(|vertex| targets.extend_from_slice(self.of(vertex)));
        Links { offsets: Offsets::from_lens(lens), targets: Array::from_vec(targets) }
    }
}

impl Linked for GrowingLinks {
    fn count(&self) -> usize {
        self.lens.len()
    }

    #[inline]
    fn of(&self, vertex: u32) -> &[u32] {
        let start = vertex as usize * self.capacity;
        &self.targets[start..start + usize::from(self.lens[vertex as usize])]
    }
}

/// One layer while it is searched.
pub struct Layer<'a, L> {
    /// Its links.
    pub links: &'a L,
    /// The position of each of its vertices; `None` in the lowest layer, where they are the same.
    pub members: Option<&'a Array<u32>>,
}

impl<L: Linked> Layer<'_, L> {
    /// The position of the vector of a vertex.
    #[inline]
    pub fn position(&self, vertex: u32) -> u32 {
        match self.members {
            None => vertex,
            Some(members) => members.get(vertex as usize),
        }
    }
}
