//! How many of some nodes are members of a set.

use super::node_set::NodeSet;
use super::sorted::is_run;

impl NodeSet {
    /// How many of some ascending nodes are members. O(log members) where they have no gap between
    /// them, else a few instructions for each of a stored bitmap, and a search for each otherwise.
    pub fn count_among(&self, nodes: &[u32]) -> usize {
        if is_run(nodes) {
            let Some((&first, &last)) = nodes.first().zip(nodes.last()) else { return 0 };
            let before_last = self.count_below(last) - self.count_below(first);
            return before_last + usize::from(self.contains(last));
        }
        match self {
            NodeSet::Frozen(members) => {
                let mut count = 0;
                members.for_each_row(nodes, |_, _| count += 1);
                count
            }
            NodeSet::Overlay { base, gained, lost } if gained.is_empty() && lost.is_empty() => {
                base.count_among(nodes)
            }
            _ => nodes.iter().filter(|node| self.contains(**node)).count(),
        }
    }
}
