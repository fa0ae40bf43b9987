//! The outcome of a mutation: the statements and links to be written, and what authorization has to
//! know of them.

use crate::model::TypeDef;
use crate::mutate::MutationFault;
use hexgraph_base::formats::{NQuad, Subject};

/// The variable of the nodes that the filter of an update or a delete matches.
pub const MATCHED: &str = "x";

/// The changes that a mutation makes, once existing nodes are resolved. New nodes are
/// [`Subject::New`], numbered from 0. The nodes that the filter of an update or a delete matches
/// are [`Subject::Var`] with the name [`MATCHED`].
#[derive(Debug, Clone, Default)]
pub struct Outcome<'a> {
    /// The values that are set. The types of new nodes come first, in the order of their numbers.
    pub sets: Vec<NQuad<'a>>,
    /// The values that are removed, before others are set.
    pub deletes: Vec<NQuad<'a>>,
    /// The edges that are set, each with the edge back.
    pub links: Vec<Link<'a>>,
    /// The edges that are removed, each with the edge back.
    pub unlinks: Vec<Unlink<'a>>,
    /// The new nodes, by their numbers.
    pub new: Vec<NewNode<'a>>,
    /// The nodes of the objects of the input, in their order.
    pub roots: Vec<Subject<'a>>,
    /// True if an update sets a value of an `@id` field, which only one node may have.
    pub sets_key: bool,
    /// True if the type has a rule for queries, so that not every caller may see its nodes.
    pub is_guarded: bool,
    /// True if the matched nodes are deleted, with all edges that point to them.
    pub removes_node: bool,
}

impl Outcome<'_> {
    /// Makes the fault that several nodes would have one value that only one may have.
    pub fn several_named(&self) -> MutationFault {
        let message =
            "only one node is allowed in the filter while updating fields with @id directive";
        MutationFault::about_node(message, self.is_guarded)
    }
}

/// A node to be created.
#[derive(Debug, Clone, Copy)]
pub struct NewNode<'a> {
    /// The type of the node.
    pub def: &'a TypeDef,
}

/// An edge from node to node that is to be set.
#[derive(Debug, Clone, PartialEq)]
pub struct Link<'a> {
    /// Where it starts.
    pub source: Subject<'a>,
    /// The type that declares the field.
    pub source_type: &'a str,
    /// The predicate of the field.
    pub predicate: &'a str,
    /// True if the field points to one node: what it led to before is replaced.
    pub is_single: bool,
    /// The target.
    pub target: Subject<'a>,
    /// The edge back.
    pub back: Option<Back<'a>>,
}

/// The other end of a link: `@hasInverse`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Back<'a> {
    /// The type at the other end.
    pub type_name: &'a str,
    /// The predicate of its field.
    pub predicate: &'a str,
    /// True if the field points to one node.
    pub is_single: bool,
}

/// Edges that are to be removed, with the edges back.
#[derive(Debug, Clone, PartialEq)]
pub struct Unlink<'a> {
    /// Where they start.
    pub source: Subject<'a>,
    /// The predicate of the field.
    pub predicate: &'a str,
    /// True if the field reads the edges of the predicate backwards: they lead from the target to
    /// the source.
    pub is_reverse: bool,
    /// Where they end; `None` for all edges of the source.
    pub target: Option<Subject<'a>>,
    /// The edges back.
    pub back: Option<Back<'a>>,
}
