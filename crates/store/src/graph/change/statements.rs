//! The statements of a mutation, read from their texts.

use super::bounds::{STATEMENTS_MAX, more_than_most};
use hexgraph_base::formats::{
    Admission, Admitted, JsonText, MutationKind, NQuad, Object, Subject, read_text_at,
};
use hexgraph_base::types::{Position, Result};
use std::cell::Cell;

/// Statements as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statements<'a> {
    /// N-Quads, one a line.
    NQuads(&'a str),
    /// N-Quads that are the part of a text which begins at this position.
    Part(&'a str, Position),
    /// JSON: an object or an array of objects.
    Json(&'a str),
    /// JSON that was made of values: the texts that begin at these bytes, ascending, were times.
    TimedJson(&'a str, &'a [usize]),
}

/// The texts of one mutation. What it becomes borrows from them.
pub struct MutationTexts<'a> {
    sets: Vec<Text<'a>>,
    deletes: Vec<Text<'a>>,
}

/// The statements of one mutation. The deletes are executed before the sets.
#[derive(Debug, Clone, Default)]
pub struct Mutation<'a> {
    /// The statements that are set.
    pub sets: Vec<NQuad<'a>>,
    /// The statements that are deleted.
    pub deletes: Vec<NQuad<'a>>,
}

enum Text<'a> {
    NQuads(&'a str, Position),
    Json(JsonText<'a>),
}

impl<'a> MutationTexts<'a> {
    /// Texts to set and to delete, which are not read yet.
    pub fn new(set: &[Statements<'a>], delete: &[Statements<'a>]) -> MutationTexts<'a> {
        let text = |text: &Statements<'a>| match *text {
            Statements::NQuads(text) => Text::NQuads(text, Position { line: 1, column: 0 }),
            Statements::Part(text, start) => Text::NQuads(text, start),
            Statements::Json(text) => Text::Json(JsonText::new(text)),
            Statements::TimedJson(text, times) => Text::Json(JsonText::timed(text, times)),
        };
        let sets = set.iter().map(text).collect();
        MutationTexts { sets, deletes: delete.iter().map(text).collect() }
    }

    /// Reads the statements. New nodes of JSON objects are numbered on from `new_nodes`, which goes
    /// from one mutation of a request to the next.
    ///
    /// # Errors
    ///
    /// [`Error::Syntax`](hexgraph_base::types::Error::Syntax) with the position of an invalid
    /// statement; [`Error::Limit`](hexgraph_base::types::Error::Limit) for too many; those of
    /// `admission`.
    pub fn statements(
        &self,
        new_nodes: &mut u32,
        admission: &dyn Admission,
    ) -> Result<Mutation<'_>> {
        let counted = Counted { count: Cell::new(0), admission };
        let sets = read(&self.sets, MutationKind::Set, new_nodes, &counted)?;
        let deletes = read(&self.deletes, MutationKind::Delete, new_nodes, &counted)?;
        Ok(Mutation { sets, deletes })
    }
}

/// Admits no more statements than a request may have.
struct Counted<'r> {
    count: Cell<usize>,
    admission: &'r dyn Admission,
}

impl Admission for Counted<'_> {
    fn reserve(&self, bytes: usize) -> Result<()> {
        self.admission.reserve(bytes)
    }

    fn admits(&self, quad: &NQuad<'_>) -> Result<bool> {
        let count = self.count.get() + 1;
        if STATEMENTS_MAX < count {
            return Err(more_than_most());
        }
        self.count.set(count);
        self.admission.admits(quad)
    }
}

fn read<'t>(
    texts: &'t [Text<'_>],
    change: MutationKind,
    new_nodes: &mut u32,
    admission: &dyn Admission,
) -> Result<Vec<NQuad<'t>>> {
    let mut quads = Admitted::new(admission);
    for text in texts {
        match text {
            Text::NQuads(text, start) => read_text_at(text, *start, &mut quads)?,
            Text::Json(json) => json.read(change, new_nodes, &mut quads)?,
        }
    }
    Ok(quads.into_quads())
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
        Object::Name(name) => Some(Subject::Name(name)),
        Object::New(number) => Some(Subject::New(*number)),
        Object::Var(name) => Some(Subject::Var(name)),
        Object::Val(_) | Object::Star | Object::Literal { .. } | Object::Value(_) => None,
    }
}
