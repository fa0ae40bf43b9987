//! Relationships and paths, by the ids of the graph. Only the executor has their names and
//! properties.

/// A relationship: at most one of a type leads from one node to another.
///
/// It is packed so that a [`Value`](super::Value) has 24 bytes; read the fields by value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(Rust, packed(4))]
pub struct Relationship {
    /// The node that it begins at.
    pub subject: u64,
    /// The node that it points to.
    pub object: u64,
    /// The id that the executor has for its type.
    pub type_id: u32,
}

/// A path: nodes, and between each two the relationship by which it goes, whatever its direction.
///
/// ```
/// use hexgraph_scalar::{Path, Relationship, Value};
///
/// let knows = Relationship { subject: 2, object: 1, type_id: 0 };
/// let path = Path { nodes: vec![1, 2], relationships: vec![knows] };
/// assert_eq!(Value::from(path).to_string(), "(0x1)<-[0]-(0x2)");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Path {
    /// The nodes, one more than relationships.
    pub nodes: Vec<u64>,
    /// The relationships.
    pub relationships: Vec<Relationship>,
}
