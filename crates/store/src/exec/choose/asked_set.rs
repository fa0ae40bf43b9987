//! A set of nodes whose membership tests probe, and the form of it that is built when there are
//! many probes.

use crate::exec::cost;
use crate::storage::{NodeLookup, NodeSet};
use std::sync::OnceLock;

/// The questions for each member from which on a bitmap pays: it sets a bit for each member, and
/// saves a search for each question.
const QUESTIONS_RATIO: usize = cost::LOOKUP.per(cost::BIT);

/// The most members that are searched for among the targets of a node; if there are more, each
/// target is probed.
const FEW: usize = 4;

/// Nodes that are probed one by one.
pub(crate) struct RequestedSet {
    set: NodeSet,
    lookup: OnceLock<NodeLookup>,
}

impl From<NodeSet> for RequestedSet {
    fn from(set: NodeSet) -> RequestedSet {
        RequestedSet { set, lookup: OnceLock::new() }
    }
}

impl RequestedSet {
    /// The set.
    pub(crate) fn set(&self) -> &NodeSet {
        &self.set
    }

    /// The set where it has few members.
    pub(crate) fn few(&self) -> Option<&NodeSet> {
        (self.set.len() <= FEW).then_some(&self.set)
    }

    /// Gets ready for about so many questions, and returns the bytes that this takes. O(nodes)
    /// where that pays.
    pub(crate) fn expect(&self, questions: usize) -> usize {
        let pays = self.few().is_none()
            && self.set.len() / QUESTIONS_RATIO <= questions
            && self.lookup.get().is_none();
        if !pays {
            return 0;
        }
        self.lookup.get_or_init(|| NodeLookup::of(&self.set, questions)).byte_len()
    }

    /// True when `node` is a member.
    #[inline]
    pub(crate) fn contains(&self, node: u32) -> bool {
        match self.lookup.get() {
            Some(lookup) => lookup.contains(node),
            None => self.set.contains(node),
        }
    }

    /// Whether one of some targets, which ascend, is a member.
    pub(crate) fn has_any(&self, targets: &[u32]) -> bool {
        if let Some(few) = self.few() {
            return few.iter().any(|node| targets.binary_search(&node).is_ok());
        }
        // The form is looked at once for all targets.
        match self.lookup.get() {
            Some(NodeLookup::Bits(nodes)) => targets.iter().any(|target| nodes.contains(*target)),
            Some(NodeLookup::Set(nodes)) => targets.iter().any(|target| nodes.contains(*target)),
            None => targets.iter().any(|target| self.set.contains(*target)),
        }
    }
}
