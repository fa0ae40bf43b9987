//! The statements of a mutation, read from their texts.

use hexgraph_base::formats::{Change, JsonTree, NQuad, Object, Subject, parse_text_at};
use hexgraph_base::types::{Position, Result};

/// Statements as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statements<'a> {
    /// N-Quads, one a line.
    NQuads(&'a str),
    /// N-Quads that are the part of a text which begins at this place.
    Part(&'a str, Position),
    /// JSON: an object or an array of objects.
    Json(&'a str),
    /// JSON that was made of values: the texts that begin at these bytes, ascending, were times.
    TimedJson(&'a str, &'a [usize]),
}

/// The texts of one mutation, read as far as they need nothing else. What it becomes borrows
/// from it.
pub struct MutationTree<'a> {
    sets: Vec<Tree<'a>>,
    deletes: Vec<Tree<'a>>,
}

/// The statements of one mutation. The deletes are carried out before the sets.
#[derive(Debug, Clone, Default)]
pub struct Mutation<'a> {
    /// The statements that are set.
    pub sets: Vec<NQuad<'a>>,
    /// The statements that are deleted.
    pub deletes: Vec<NQuad<'a>>,
}

enum Tree<'a> {
    NQuads(&'a str, Position),
    Json(JsonTree<'a>),
}

impl<'a> MutationTree<'a> {
    /// Reads the texts.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Syntax`] for what is no JSON.
    pub fn parse(set: &[Statements<'a>], delete: &[Statements<'a>]) -> Result<MutationTree<'a>> {
        let tree = |text: &Statements<'a>| match *text {
            Statements::NQuads(text) => Ok(Tree::NQuads(text, Position { line: 1, column: 0 })),
            Statements::Part(text, start) => Ok(Tree::NQuads(text, start)),
            Statements::Json(text) => JsonTree::parse(text).map(Tree::Json),
            Statements::TimedJson(text, times) => {
                JsonTree::parse_timed(text, times).map(Tree::Json)
            }
        };
        let sets = set.iter().map(tree).collect::<Result<_>>()?;
        Ok(MutationTree { sets, deletes: delete.iter().map(tree).collect::<Result<_>>()? })
    }

    /// The statements. New nodes of JSON objects are numbered on from `new_nodes`, which goes
    /// from one mutation of a request to the next.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Syntax`] with the place of what is no statement.
    pub fn statements(&self, new_nodes: &mut u32) -> Result<Mutation<'_>> {
        let sets = read(&self.sets, Change::Set, new_nodes)?;
        Ok(Mutation { sets, deletes: read(&self.deletes, Change::Delete, new_nodes)? })
    }
}

fn read<'t>(trees: &'t [Tree<'_>], change: Change, new_nodes: &mut u32) -> Result<Vec<NQuad<'t>>> {
    let mut quads = Vec::new();
    for tree in trees {
        quads.extend(match tree {
            Tree::NQuads(text, start) => parse_text_at(text, *start)?,
            Tree::Json(tree) => tree.statements(change, new_nodes)?,
        });
    }
    Ok(quads)
}

impl Mutation<'_> {
    /// Adds the variables that the statements name, with repeats.
    pub fn add_variables(&self, names: &mut Vec<String>) {
        for quad in self.sets.iter().chain(&self.deletes) {
            if let Subject::Var(name) = quad.subject {
                names.push(name.to_owned());
            }
            if let Object::Var(name) | Object::Val(name) = quad.object {
                names.push(name.to_owned());
            }
        }
    }
}

/// The node on the other side, of a statement that is an edge.
pub(in crate::graph) fn target<'a>(object: &Object<'a>) -> Option<Subject<'a>> {
    match object {
        Object::Uid(uid) => Some(Subject::Uid(*uid)),
        Object::Blank(label) => Some(Subject::Blank(label)),
        Object::New(number) => Some(Subject::New(*number)),
        Object::Var(name) => Some(Subject::Var(name)),
        Object::Val(_) | Object::Star | Object::Literal { .. } | Object::Value(_) => None,
    }
}
