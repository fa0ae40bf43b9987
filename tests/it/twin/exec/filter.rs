//! Filters: the nodes of a set that pass.

use super::state::{Outcome, Twin};
use hexgraph::internals::plan::Filter;
use std::collections::BTreeSet;

impl Twin<'_> {
    /// The nodes that pass. Every function is checked, whatever there is to filter.
    pub fn filter(&self, filter: &Filter, nodes: &BTreeSet<u64>) -> Outcome<BTreeSet<u64>> {
        match filter {
            Filter::And(parts) => {
                let mut left = nodes.clone();
                for part in parts {
                    left = self.filter(part, &left)?;
                }
                Ok(left)
            }
            Filter::Or(parts) => {
                let mut all = BTreeSet::new();
                for part in parts {
                    all.extend(self.filter(part, nodes)?);
                }
                Ok(all)
            }
            Filter::Not(part) => Ok(nodes - &self.filter(part, nodes)?),
            Filter::Function(function) => {
                let test = self.test(function)?;
                Ok(nodes.iter().copied().filter(|node| test(*node)).collect())
            }
            Filter::SemiJoin(reach) => {
                let ends = |node: u64| -> BTreeSet<u64> {
                    self.graph.targets(node, &reach.predicate, reach.reverse).into_keys().collect()
                };
                let mut left = BTreeSet::new();
                for node in nodes {
                    let passed = self.filter_if(reach.filter.as_ref(), ends(*node))?;
                    if passed.len() > reach.more_than as usize {
                        left.insert(*node);
                    }
                }
                Ok(left)
            }
        }
    }

    /// A filter where there may be none.
    pub fn filter_if(
        &self,
        filter: Option<&Filter>,
        nodes: BTreeSet<u64>,
    ) -> Outcome<BTreeSet<u64>> {
        filter.map_or(Ok(nodes.clone()), |filter| self.filter(filter, &nodes))
    }
}
