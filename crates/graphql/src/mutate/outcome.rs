//! What a mutation comes to: statements, links with two ends, and what authorization asks for.

use crate::model::TypeDef;
use crate::mutate::MutationFault;
use hexgraph_base::formats::{NQuad, Subject};

/// The variable of the nodes that the filter of an update or a delete has found.
pub const MATCHED: &str = "x";

/// What a mutation comes to, when all that its inputs name is known. New nodes are
/// [`Subject::New`], numbered from 0; the nodes that the filter of an update found stand as
/// [`Subject::Var`] with the name [`MATCHED`].
#[derive(Debug, Clone, Default)]
pub struct Outcome<'a> {
    /// The values that are set. Those that give types to the new nodes come first, in the order of
    /// their numbers.
    pub sets: Vec<NQuad<'a>>,
    /// The values that are removed first.
    pub deletes: Vec<NQuad<'a>>,
    /// The edges that are set, each with its other end.
    pub links: Vec<Link<'a>>,
    /// The edges that are removed, each with its other end.
    pub unlinks: Vec<Unlink<'a>>,
    /// The new nodes, by their numbers.
    pub new: Vec<NewNode<'a>>,
    /// The nodes that the objects of the input stand for, in their order.
    pub roots: Vec<Subject<'a>>,
    /// Whether an update sets a value that only one node may have.
    pub sets_key: bool,
    /// Not everybody may see the nodes of the type.
    pub is_guarded: bool,
    /// The matched nodes go, and with them all that leads to them.
    pub removes_node: bool,
}

impl Outcome<'_> {
    /// What is wrong when several nodes are to have one value that only one may have.
    pub fn several_named(&self) -> MutationFault {
        let message =
            "only one node is allowed in the filter while updating fields with @id directive";
        MutationFault::about_node(message, self.is_guarded)
    }
}

/// A node to be created.
#[derive(Debug, Clone, Copy)]
pub struct NewNode<'a> {
    /// Its type.
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
    /// The field leads to one node: what it led to before is replaced.
    pub is_single: bool,
    /// Where it ends.
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
    /// The field leads to one node.
    pub is_single: bool,
}

/// Edges that are to be removed, with the edges back.
#[derive(Debug, Clone, PartialEq)]
pub struct Unlink<'a> {
    /// Where they start.
    pub source: Subject<'a>,
    /// The predicate of the field.
    pub predicate: &'a str,
    /// The field reads the edges of the predicate backwards: they end at the source, and lead
    /// there from the target.
    pub is_reverse: bool,
    /// Where they end; `None` for all that there are.
    pub target: Option<Subject<'a>>,
    /// The edges back.
    pub back: Option<Back<'a>>,
}
