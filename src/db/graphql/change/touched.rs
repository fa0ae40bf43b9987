//! The nodes of a mutation that rules are evaluated for.

use hexgraph_base::formats::Subject;
use hexgraph_base::types::Uid;

/// A node that a mutation touches, with the type through which the schema names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::db::graphql) struct Touched<'a> {
    /// The node.
    pub uid: Uid,
    /// The name of the type or interface.
    pub type_name: &'a str,
}

impl<'a> Touched<'a> {
    /// An existing node.
    pub(in crate::db::graphql) fn of(node: Subject<'_>, type_name: &'a str) -> Option<Touched<'a>> {
        match node {
            Subject::Uid(uid) => Some(Touched { uid: Uid(uid), type_name }),
            _ => None,
        }
    }
}
