//! Maps the uids that users see to the dense node ids of the engine.
//!
//! A uid below 2^31 is its own node id, so the uids that a load or a mutation assigns need no
//! table, new ones never renumber old ones, and versions share node ids. Greater uids (hashes, say)
//! have node ids from 2^31 by their rank in a sorted table. A new one below an existing one makes
//! the committer renumber those above it.

use crate::storage::Array;
use hexgraph_base::types::{Error, Result, Uid};
use std::sync::Arc;

/// The least node id of a uid in the table.
const HIGH: u32 = 1 << 31;

/// The map in both directions. Cloning costs two reference counts.
#[derive(Clone, Default)]
pub struct NodeIds {
    high: Array<u64>,
    /// Uids of 2^31 and more that only a request knows, ascending. They have the last node ids.
    unknowns: Arc<[u64]>,
}

impl NodeIds {
    /// The map whose table contains `high`: uids of 2^31 and more, ascending.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] for 2^31 of them or more: the last node id is reserved.
    pub fn new(high: Array<u64>) -> Result<NodeIds> {
        if HIGH as usize <= high.len() {
            let message = format!("{} uids of 2^31 and more, the limit is 2^31 - 1", high.len());
            return Err(Error::Limit { message });
        }
        Ok(NodeIds { high, unknowns: Arc::default() })
    }

    /// The map that knows some more uids of 2^31 and more, for one request: nodes without data.
    pub fn with_unknowns(&self, mut uids: Vec<u64>) -> NodeIds {
        uids.retain(|&uid| NodeIds::is_high(Uid(uid)) && self.node(Uid(uid)).is_none());
        uids.sort_unstable();
        uids.dedup();
        NodeIds { high: self.high.clone(), unknowns: uids.into() }
    }

    /// The node id of the first unknown uid.
    fn first_unknown(&self) -> u32 {
        u32::MAX - self.unknowns.len() as u32
    }

    /// True for a uid that needs a position in the table.
    pub fn is_high(uid: Uid) -> bool {
        u64::from(HIGH) <= uid.0
    }

    /// The node id of a uid; `None` for one of 2^31 or more that is not in the table.
    pub fn node(&self, uid: Uid) -> Option<u32> {
        if !NodeIds::is_high(uid) {
            return Some(uid.0 as u32);
        }
        let position = self.high.partition_point(0..self.high.len(), |other| other < uid.0);
        if position < self.high.len() && self.high.get(position) == uid.0 {
            return Some(HIGH + position as u32);
        }
        let position = self.unknowns.binary_search(&uid.0).ok()?;
        Some(self.first_unknown() + position as u32)
    }

    /// The least node id whose uid is greater than `uid`; `None` when there can be none.
    pub fn node_after(&self, uid: Uid) -> Option<u32> {
        if !NodeIds::is_high(uid) {
            // At most 2^31, which is the id of the least great uid.
            return Some(uid.0 as u32 + 1);
        }
        let position = self.high.partition_point(0..self.high.len(), |other| other <= uid.0);
        (position < self.high.len()).then(|| HIGH + position as u32)
    }

    /// The uid of a node id.
    pub fn uid(&self, node: u32) -> Uid {
        if node < HIGH {
            return Uid(u64::from(node));
        }
        let position = (node - HIGH) as usize;
        if position < self.high.len() {
            return Uid(self.high.get(position));
        }
        // The last node id is reserved for values without a node.
        let unknown = node.wrapping_sub(self.first_unknown()) as usize;
        Uid(self.unknowns.get(unknown).copied().unwrap_or(u64::MAX))
    }

    /// The uids of node ids, which ascend.
    pub fn uids(&self, nodes: &[u32]) -> Vec<u64> {
        match nodes.last() {
            // All are their own uids: numbers that grow wider, without a branch for each.
            Some(&last) if last < HIGH => nodes.iter().map(|&node| u64::from(node)).collect(),
            _ => nodes.iter().map(|&node| self.uid(node).0).collect(),
        }
    }

    /// The table: uids of 2^31 and more, ascending.
    pub fn high(&self) -> &Array<u64> {
        &self.high
    }
}
