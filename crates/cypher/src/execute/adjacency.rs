//! The edges of a graph as sorted lists of node numbers: what joins read.

use super::cells::Vector;
use super::dictionary::Dictionary;
use hexgraph_base::types::Result;
use std::borrow::Cow;
use std::ops::Range;

/// A graph whose nodes have numbers of 32 bits, in the order of their ids. Every thread of a query
/// reads it.
pub trait Adjacency: Sync {
    /// Returns the number of a node; `None` for a node that the graph does not have.
    fn number(&self, node: u64) -> Option<u32>;

    /// Returns the id of the node with a number.
    fn node(&self, number: u32) -> u64;

    /// Returns the numbers of all nodes in ascending order, 4 bytes of reserved memory each.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn all(&self) -> Result<Vec<u32>>;

    /// Returns the numbers of the nodes with a label in ascending order, 4 bytes of reserved memory
    /// each.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn labelled(&self, label: &str) -> Result<Vec<u32>>;

    /// Returns the lists of a type of relationships: with `inverse` from objects to subjects.
    /// `None` where they are not stored in that direction; in one of both they are.
    fn lists(&self, type_id: u32, inverse: bool) -> Option<&dyn Lists>;

    /// Returns the lists of a type in a direction in which they are stored.
    fn any_lists(&self, type_id: u32) -> Option<&dyn Lists> {
        self.lists(type_id, false).or_else(|| self.lists(type_id, true))
    }

    /// Returns a property that is read batch by batch. With `by_day` the instants of one day may
    /// have one code: what reads them depends on the day alone.
    fn property<'g>(&'g self, name: &str, by_day: bool) -> Box<dyn PropertyColumn + 'g>;

    /// Returns a property of each of some relationships of a type: pairs of a subject and an object
    /// between which there is one. `None` where a value is of a kind that has no cell: then they
    /// are read one by one.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn relationship_values(
        &self,
        type_id: u32,
        name: &str,
        pairs: &[(u32, u32)],
    ) -> Result<Option<Vector<'_>>>;

    /// Fails when the query is cancelled or its time is over. The operators call it in every loop.
    ///
    /// # Errors
    ///
    /// An error that names the limit.
    fn check(&self) -> Result<()>;

    /// Reserves memory for what a query retains.
    ///
    /// # Errors
    ///
    /// An error that names the limit.
    fn reserve(&self, bytes: usize) -> Result<()>;

    /// Returns memory that was reserved.
    fn release(&self, bytes: usize);

    /// Returns the number of threads that [`parts`](Adjacency::parts) has work for.
    fn threads(&self) -> usize;

    /// Calls `work` with ranges that together are `0..items`, on one thread or on several. An item
    /// takes about `nanos` nanoseconds.
    ///
    /// # Errors
    ///
    /// The first one of `work`, and those of [`check`](Adjacency::check).
    fn parts(
        &self,
        items: usize,
        nanos: usize,
        work: &(dyn Fn(Range<usize>) -> Result<()> + Sync),
    ) -> Result<()>;
}

/// For each node a list of nodes.
pub trait Lists: Sync {
    /// Returns the list of a node, in ascending order without repetition; empty for a node that has
    /// none.
    fn list(&self, node: u32) -> Cow<'_, [u32]>;

    /// Calls back with the position of each of some ascending nodes that has a list, and with the
    /// list.
    fn each(&self, nodes: &[u32], visit: &mut dyn FnMut(usize, &[u32])) {
        for (position, node) in nodes.iter().enumerate() {
            let list = self.list(*node);
            if !list.is_empty() {
                visit(position, &list);
            }
        }
    }

    /// Returns the nodes that have a list, in ascending order.
    fn nodes(&self) -> Vec<u32>;

    /// Returns at least how many nodes have a list, and about so many. O(1).
    fn count(&self) -> usize;

    /// Returns the length of all lists together. O(1).
    fn total(&self) -> u64;
}

/// The values of a property, batch by batch.
pub trait PropertyColumn: Sync {
    /// Returns the value of each of some ascending nodes. `None` where the value of a node may be
    /// that of one of several predicates, or is of a kind that has no cell: then nodes are read one
    /// by one.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn vector(&self, nodes: &[u32]) -> Result<Option<Vector<'_>>>;

    /// Appends the code of the value of each of some ascending nodes: that of null for a node
    /// without a value. The dictionary is the same one in each call. Returns false, without codes,
    /// where the value of a node may be that of one of several predicates, or is a list: then nodes
    /// are read one by one.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn codes(
        &mut self,
        nodes: &[u32],
        dictionary: &mut Dictionary,
        into: &mut Vec<u32>,
    ) -> Result<bool>;
}
