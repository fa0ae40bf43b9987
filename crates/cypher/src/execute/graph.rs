//! What a query reads of a graph. Nodes are ids in ascending order. A relationship is a subject,
//! the id of a type, and an object; there is at most one for each three.

use super::adjacency::Adjacency;
use super::seeks::{IndexAccess, IndexEstimate, IndexTest};
use crate::ast::Direction;
use crate::procedures::{AlgorithmRequest, AlgorithmRows, NameList};
use hexgraph_base::types::{Error, Position, Result};
use hexgraph_scalar::{Map, Relationship, Value};
use std::sync::Arc;

/// What a name in a text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameKind {
    /// A label of nodes.
    Label,
    /// A type of relationships.
    RelationshipType,
    /// Either of both: what is tested may be a node or a relationship.
    LabelOrType,
    /// A property of nodes.
    Property,
}

/// A snapshot of a graph, as one user sees it.
///
/// Every method may fail with an error of its own: a limit, cancellation, two properties that a
/// name may mean. Such an error stops the query and is returned unchanged.
pub trait Graph {
    /// Appends a batch of all nodes above `after` in ascending order; none when there are no more.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn nodes(&self, after: Option<u64>, into: &mut Vec<u64>) -> Result<()>;

    /// Returns the number of nodes.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn node_count(&self) -> Result<u64>;

    /// Whether there is a node.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn has_node(&self, node: u64) -> Result<bool>;

    /// Appends a batch of the nodes with a label above `after` in ascending order; none when there
    /// are no more.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn nodes_with_label(&self, label: &str, after: Option<u64>, into: &mut Vec<u64>) -> Result<()>;

    /// Returns the number of nodes with a label.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn label_count(&self, label: &str) -> Result<u64>;

    /// Returns the nodes in ascending order that an index has for a test of a property, perhaps
    /// with others: the caller tests each. `None` when no index answers it.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn find(&self, property: &str, test: &IndexTest) -> Result<Option<Vec<u64>>>;

    /// Returns about how many nodes [`Graph::find`] has, and by which access. It does not list
    /// them.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn estimate(&self, property: &str, test: &IndexTest) -> Result<Option<IndexEstimate>>;

    /// Returns how many nodes an index has for a test of a property whose value is not computed
    /// yet, on average; `None` when no index has this access.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn nodes_per_test(&self, property: &str, access: IndexAccess) -> Result<Option<u64>>;

    /// Returns the labels of a node in ascending order.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn labels(&self, node: u64) -> Result<Vec<Arc<str>>>;

    /// Whether a node has a label.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn has_label(&self, node: u64, label: &str) -> Result<bool>;

    /// Returns a property of a node; null when it has none of that name.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn property(&self, node: u64, name: &str) -> Result<Value>;

    /// Returns all properties of a node.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn properties(&self, node: u64) -> Result<Map>;

    /// Returns the names of all types of relationships; the id of a type is its index.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn relationship_types(&self) -> Result<Vec<Arc<str>>>;

    /// Returns the name of a type; empty for an id that no type has.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn type_name(&self, type_id: u32) -> Result<Arc<str>> {
        let name = self.relationship_types()?.into_iter().nth(type_id as usize);
        Ok(name.unwrap_or_default())
    }

    /// Returns the ids of the types that a name in a query means, in ascending order.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn types_named(&self, name: &str) -> Result<Vec<u32>> {
        let types = self.relationship_types()?;
        Ok((0..).zip(&types).filter(|(_, it)| &***it == name).map(|(id, _)| id).collect())
    }

    /// Appends the relationships of a node in a direction, each with its other endpoint: those of
    /// the given types, which ascend, or of all. With [`Direction::Either`] a relationship from the
    /// node to itself is appended once.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn expand(
        &self,
        node: u64,
        direction: Direction,
        types: Option<&[u32]>,
        into: &mut Vec<(Relationship, u64)>,
    ) -> Result<()>;

    /// Whether there is such a relationship.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn has_relationship(&self, relationship: Relationship) -> Result<bool>;

    /// Returns a property of a relationship; null when it has none of that name.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn relationship_property(&self, relationship: Relationship, name: &str) -> Result<Value>;

    /// Returns all properties of a relationship.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn relationship_properties(&self, relationship: Relationship) -> Result<Map>;

    /// Returns the edges as lists, for joins. `None` where there are none: rows are matched one by
    /// one.
    fn adjacency(&self) -> Option<&dyn Adjacency> {
        None
    }

    /// Returns the names of a list that something in the graph has, in ascending order.
    ///
    /// # Errors
    ///
    /// Any error of the graph.
    fn names(&self, list: NameList) -> Result<Vec<Arc<str>>>;

    /// Runs an algorithm on the relationships of some types. It reserves the bytes of the rows,
    /// which the executor returns.
    ///
    /// # Errors
    ///
    /// Any error of the graph, such as a weight that is no number.
    fn algorithm(&self, request: &AlgorithmRequest) -> Result<AlgorithmRows> {
        let name = request.call.algorithm.name;
        Err(Error::query(format!("this graph does not run the algorithm `{name}`")))
    }

    /// Warns where nothing in the graph has a name that the text has at a position. A graph
    /// without warnings ignores it.
    fn note_name(&self, _kind: NameKind, _name: &str, _at: &dyn Fn() -> Position) {}

    /// Fails when the query is cancelled or its time is over. The executor calls it in every loop.
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

    /// Whether so much memory could be reserved: for what a query does not need.
    fn affords(&self, bytes: usize) -> bool;
}
