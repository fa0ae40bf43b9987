//! The nodes that edges join.

use super::source::Source;
use crate::algo::task::Task;
use hexgraph_base::types::Result;

/// The nodes that are read between two looks at the clock.
const NODES_A_CHECK: usize = 8 << 10;

/// The edges that are read by one chunk of work.
const EDGES_A_CHUNK: usize = 1 << 20;

/// The most threads that collect, each with its own set.
const STRANDS_MAX: usize = 8;

/// The nodes of a page of a set, and the words of 64 nodes in it.
const PAGE: usize = 1 << 16;
const WORDS: usize = PAGE / 64;

/// The nodes that edges join, ascending.
pub(super) fn joined_nodes(sources: &[Source<'_>], task: &Task<'_>) -> Result<Vec<u32>> {
    let mut pages = Pages::default();
    for source in sources {
        let edges = source.edges;
        if source.far.is_none() && edges.is_clean() {
            edges.base.subjects.iter().for_each(|node| pages.add(node));
            pages_of(edges.base.targets.as_slice(), task)?
                .into_iter()
                .for_each(|it| pages.join(it));
            continue;
        }
        let mut unchecked = 0;
        for node in edges.subjects().iter() {
            if unchecked == 0 {
                task.check()?;
            }
            unchecked = (unchecked + 1) % NODES_A_CHECK;
            if !source.takes_row(node) {
                continue;
            }
            let mut is_any = false;
            for &target in edges.targets(node).iter().filter(|to| source.takes_target(**to)) {
                pages.add(target);
                is_any = true;
            }
            if is_any {
                pages.add(node);
            }
        }
    }
    Ok(pages.members())
}

/// The nodes of a list, as sets that each strand of the work collected.
fn pages_of(targets: &[u32], task: &Task<'_>) -> Result<Vec<Pages>> {
    let strands = task.threads().min(STRANDS_MAX);
    let chunks: Vec<&[u32]> = targets.chunks(EDGES_A_CHUNK).collect();
    task.blocks(strands, |strand| {
        // Each strand has a set of its own. Their union is the same however the chunks were
        // partitioned.
        let mut pages = Pages::default();
        for chunk in chunks.iter().skip(strand).step_by(strands) {
            task.check()?;
            chunk.iter().for_each(|node| pages.add(*node));
        }
        Ok(pages)
    })
}

/// A set of nodes: a bit for each, in pages that are there where a node is.
#[derive(Default)]
struct Pages {
    pages: Vec<Option<Box<[u64; WORDS]>>>,
}

impl Pages {
    #[inline]
    fn add(&mut self, node: u32) {
        let (page, bit) = (node as usize / PAGE, node as usize % PAGE);
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        let words = self.pages[page].get_or_insert_with(|| Box::new([0; WORDS]));
        words[bit / 64] |= 1 << (bit % 64);
    }

    /// Adds all members of another set.
    fn join(&mut self, other: Pages) {
        if self.pages.len() < other.pages.len() {
            self.pages.resize_with(other.pages.len(), || None);
        }
        for (page, other) in self.pages.iter_mut().zip(other.pages) {
            match (page, other) {
                (Some(page), Some(other)) => {
                    page.iter_mut().zip(other.iter()).for_each(|(one, other)| *one |= other);
                }
                (page, other) if page.is_none() => *page = other,
                _ => {}
            }
        }
    }

    fn members(&self) -> Vec<u32> {
        let mut members = Vec::new();
        for (number, page) in self.pages.iter().enumerate() {
            for (position, word) in page.iter().flat_map(|page| page.iter().enumerate()) {
                let mut bits = *word;
                while bits != 0 {
                    members.push((number * PAGE + 64 * position) as u32 + bits.trailing_zeros());
                    bits &= bits - 1;
                }
            }
        }
        members
    }
}
