//! The edges of a predicate without `@reverse`, read against their direction.

use hexgraph_base::types::Result;
use hexgraph_store::exec::RequestContext;
use hexgraph_store::graph::Direction;

/// From each target to its subjects: pairs, sorted. Eight bytes an edge.
pub(super) struct Inverse {
    /// The target in the upper half, the subject in the lower one.
    pairs: Vec<u64>,
}

impl Inverse {
    /// Reads all edges and sorts them. O(n log n) for n edges, whose memory is charged first.
    pub(super) fn of(edges: &Direction, context: &RequestContext) -> Result<Inverse> {
        let total = edges.total() as usize;
        context.charge(total * size_of::<u64>())?;
        let mut pairs = Vec::with_capacity(total);
        let mut fault = None;
        edges.subjects().for_each_chunk(1024, |subjects| {
            if fault.is_some() {
                return;
            }
            fault = context.check().err();
            for &subject in subjects {
                let targets = edges.targets(subject);
                pairs.extend(
                    targets.iter().map(|&target| u64::from(target) << 32 | u64::from(subject)),
                );
            }
        });
        match fault {
            Some(error) => Err(error),
            None => {
                pairs.sort_unstable();
                Ok(Inverse { pairs })
            }
        }
    }

    /// The subjects whose edges have a node as target, ascending.
    pub(super) fn subjects(&self, target: u32) -> impl Iterator<Item = u32> {
        let start = self.pairs.partition_point(|pair| pair >> 32 < u64::from(target));
        let of_target = self.pairs[start..].iter();
        of_target.take_while(move |pair| *pair >> 32 == u64::from(target)).map(|&pair| pair as u32)
    }
}
