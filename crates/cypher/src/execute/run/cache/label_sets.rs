//! The nodes with a label, a bit each.

use crate::execute::adjacency::Adjacency;
use crate::execute::graph::Graph;
use crate::execute::run::rows::Reservation;
use hexgraph_base::types::Result;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::mem;
use std::sync::Arc;

/// The nodes with a label, by their numbers.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::execute) struct LabelSet {
    words: Vec<u64>,
}

impl LabelSet {
    fn of(nodes: &[u32]) -> LabelSet {
        let len = nodes.last().map_or(0, |last| *last as usize / 64 + 1);
        let mut words = vec![0; len];
        for node in nodes {
            words[*node as usize / 64] |= 1_u64 << (node % 64);
        }
        LabelSet { words }
    }

    /// Whether a node has the label.
    #[inline]
    pub(in crate::execute) fn has(&self, node: u32) -> bool {
        self.words.get(node as usize / 64).is_some_and(|word| word >> (node % 64) & 1 == 1)
    }
}

/// The sets of a run, by their labels.
pub(in crate::execute::run) struct LabelSets<'a> {
    sets: RefCell<FxHashMap<Arc<str>, Arc<LabelSet>>>,
    reserved: RefCell<Reservation<'a>>,
}

impl<'a> LabelSets<'a> {
    pub(in crate::execute::run) fn new(graph: &'a dyn Graph) -> LabelSets<'a> {
        LabelSets { sets: RefCell::default(), reserved: RefCell::new(Reservation::new(graph)) }
    }

    /// The nodes with a label. O(nodes) for the first call.
    pub(in crate::execute::run) fn get(
        &self,
        label: &Arc<str>,
        graph: &dyn Adjacency,
    ) -> Result<Arc<LabelSet>> {
        if let Some(set) = self.sets.borrow().get(label) {
            return Ok(Arc::clone(set));
        }
        let nodes = graph.labelled(label)?;
        let bytes = nodes.last().map_or(0, |last| *last as usize / 8);
        let reserved = self.reserved.borrow_mut().grow(bytes);
        let set = reserved.map(|()| Arc::new(LabelSet::of(&nodes)));
        graph.release(mem::size_of_val(&nodes[..]));
        let set = set?;
        self.sets.borrow_mut().insert(Arc::clone(label), Arc::clone(&set));
        Ok(set)
    }
}
