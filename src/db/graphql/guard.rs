//! What a mutation may do: where the rules of `@auth` are asked.
//!
//! Rules that restrict which nodes an update or a delete selects are part of its query; what is
//! asked here is about nodes that a mutation touches beside those.

use crate::db::graphql::stage::Touched;
use crate::graph::Version;
use crate::types::Result;
use crate::types::Uid;
use std::sync::Arc;

/// Asks the rules for one mutation.
pub(super) struct Guard;

impl Guard {
    /// Which of the nodes that an upsert would change may be changed, by `update` rules.
    pub fn may_upsert(&self, _before: &Version, nodes: &[Touched<'_>]) -> Result<Vec<Uid>> {
        Ok(nodes.iter().map(|node| node.uid).collect())
    }

    /// Whether all nodes that lose a link to another one may be changed, by `update` rules.
    pub fn may_displace(&self, _before: &Version, _nodes: &[Touched<'_>]) -> Result<bool> {
        Ok(true)
    }

    /// Whether all new nodes may be added, by `add` rules on the version that has them.
    pub fn may_add(&self, _after: &Arc<Version>, _nodes: &[Touched<'_>]) -> Result<bool> {
        Ok(true)
    }
}
