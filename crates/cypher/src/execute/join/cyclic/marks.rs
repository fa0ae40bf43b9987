//! A list as a table by node, for a loop that intersects it with one list after the other.

use crate::execute::join::candidates::{Lookup, Reserved};
use hexgraph_base::types::Result;
use std::borrow::Cow;

/// The largest table: what fits into a second-level cache, and takes microseconds to make.
const BYTES_MAX: usize = 1 << 18;

/// A list that is intersected with others.
pub(super) struct List<'s> {
    pub(super) nodes: Cow<'s, [u32]>,
    /// Whether repetitions count once.
    pub(super) once: bool,
    /// Nodes before it are below the node that is looked for.
    pub(super) position: usize,
}

/// How often each node is in the list of another node.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// The node whose list is marked.
    owner: Option<u32>,
    start: u32,
    counts: Vec<u32>,
    /// The nodes that are marked.
    marked: Vec<u32>,
}

impl Marks {
    /// Marks the list of a node, if it is not marked; false where a table of the candidates is too
    /// large.
    pub(super) fn mark(
        &mut self,
        owner: u32,
        list: &List<'_>,
        candidates: &Lookup,
        reserved: &mut Reserved<'_>,
    ) -> Result<bool> {
        if self.owner == Some(owner) {
            return Ok(true);
        }
        if self.counts.is_empty() {
            let Some((start, span)) = candidates.span() else { return Ok(false) };
            let bytes = span * size_of::<u32>();
            if BYTES_MAX < bytes {
                return Ok(false);
            }
            reserved.grow(bytes)?;
            (self.start, self.counts) = (start, vec![0; span]);
        }
        for node in self.marked.drain(..) {
            self.counts[(node - self.start) as usize] = 0;
        }
        for node in list.nodes.iter() {
            if let Some(count) = self.counts.get_mut(node.wrapping_sub(self.start) as usize) {
                if *count == 0 {
                    self.marked.push(*node);
                }
                *count = if list.once { 1 } else { *count + 1 };
            }
        }
        self.owner = Some(owner);
        Ok(true)
    }

    #[inline]
    pub(super) fn get(&self, node: u32) -> u64 {
        let count = self.counts.get(node.wrapping_sub(self.start) as usize);
        count.copied().unwrap_or(0).into()
    }
}
