//! An answer that is copied out of its version.
//!
//! An answer reads values from its version when it is written, so it retains that version, and what
//! only that version has. A short one is better written down at once.

use super::algorithm_table::AlgorithmTable;
use hexgraph_base::answer::{Key, RowForm, Shape, Tape};
use hexgraph_base::plan::Query;
use hexgraph_base::schema::Schema;
use hexgraph_base::types::{Error, Position, Result, Sink};
use hexgraph_store::exec::{Answer, Doubt, ExecOptions};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The memory that an answer holds, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerMemory {
    /// The nodes of the result, or the answer itself where it was copied out.
    pub own: u64,
    /// The data of the version that it reads: shared with the database for as long as that version
    /// is the newest, and with everything else that holds the version. 0 for an answer that was
    /// copied out.
    pub version: u64,
}

/// What an answer has to say, without its version. Everything that depends on data is written down;
/// what depends on the text and on the schema alone is computed from them.
pub(in crate::db::query) struct Copied {
    pub(in crate::db::query) query: Arc<Query>,
    pub(in crate::db::query) schema: Arc<Schema>,
    /// As [`Answer::doubts`].
    pub(in crate::db::query) doubts: Vec<Doubt>,
    pub(in crate::db::query) options: ExecOptions,
    blocks: Vec<CopiedBlock>,
    tape: Tape,
    lines: Lines,
    touched: Vec<(String, u64)>,
    algorithm: Option<AlgorithmTable>,
}

/// A visible block.
struct CopiedBlock {
    name: String,
    roots: usize,
    keys: Vec<Key>,
    shapes: Vec<Shape>,
    form: RowForm,
    is_written: bool,
}

/// The answer as N-Quads.
pub(super) enum Lines {
    /// The lines.
    Written(Vec<u8>),
    /// It has no such form, as the query shows.
    Refused {
        /// What has no form in N-Quads.
        message: String,
        /// Where the query requests it.
        at: Option<Position>,
        /// What to do instead.
        hint: String,
    },
}

impl Copied {
    /// What an answer has to say, with the parts that were written from it.
    pub(super) fn new(
        answer: &Answer,
        tape: Tape,
        lines: Lines,
        algorithm: Option<AlgorithmTable>,
    ) -> Copied {
        let touched = answer.touched().into_iter();
        Copied {
            query: Arc::clone(answer.plan()),
            schema: Arc::clone(&answer.version().schema),
            doubts: answer.doubts().to_vec(),
            options: *answer.options(),
            blocks: blocks_of(answer),
            tape,
            lines,
            touched: touched.map(|(name, count)| (name.to_owned(), count)).collect(),
            algorithm,
        }
    }

    /// The bytes of memory that it holds.
    pub(in crate::db::query) fn byte_len(&self) -> u64 {
        let lines = match &self.lines {
            Lines::Written(lines) => lines.capacity(),
            Lines::Refused { .. } => 0,
        };
        let blocks = self.blocks.iter().map(|block| {
            let columns = block.keys.len() + block.shapes.len();
            size_of::<CopiedBlock>() + block.name.len() + columns * COLUMN_BYTES
        });
        (size_of::<Copied>() + self.tape.byte_len() + lines + blocks.sum::<usize>()) as u64
    }

    /// As [`Answer::write_head`].
    pub(in crate::db::query) fn write_head(&self, objects_max: usize, sink: &mut dyn Sink) {
        let is_joined = |name: &str| self.block(name).is_some_and(|it| it.form == RowForm::Joined);
        self.tape.play(objects_max, is_joined, sink);
    }

    /// The lines of N-Quads.
    ///
    /// # Errors
    ///
    /// As [`Answer::write_rdf`].
    pub(in crate::db::query) fn lines(&self) -> Result<&[u8]> {
        match &self.lines {
            Lines::Written(lines) => Ok(lines),
            Lines::Refused { message, at, hint } => {
                Err(Error::Query { message: message.clone(), at: *at, hint: hint.clone() })
            }
        }
    }

    /// As [`Answer::root_counts`].
    pub(in crate::db::query) fn root_counts(&self) -> impl Iterator<Item = (&str, usize)> {
        self.blocks.iter().map(|block| (block.name.as_str(), block.roots))
    }

    /// As [`Answer::keys`].
    pub(in crate::db::query) fn keys(&self, block: &str) -> Vec<Key> {
        self.block(block).map(|block| block.keys.clone()).unwrap_or_default()
    }

    /// As [`Answer::shapes`].
    pub(in crate::db::query) fn shapes(&self, block: &str) -> Vec<Shape> {
        self.block(block).map(|block| block.shapes.clone()).unwrap_or_default()
    }

    /// As [`Answer::row_form`].
    pub(in crate::db::query) fn row_form(&self, block: &str) -> RowForm {
        self.block(block).map_or(RowForm::Flat, |block| block.form)
    }

    /// As [`Answer::block_is_written`].
    pub(in crate::db::query) fn block_is_written(&self, block: &str) -> bool {
        self.block(block).is_none_or(|block| block.is_written)
    }

    /// As [`Answer::touched`].
    pub(in crate::db::query) fn touched(&self) -> BTreeMap<&str, u64> {
        self.touched.iter().map(|(name, count)| (name.as_str(), *count)).collect()
    }

    /// The result of the first algorithm block.
    pub(in crate::db::query) fn algorithm(&self) -> Option<&AlgorithmTable> {
        self.algorithm.as_ref()
    }

    fn block(&self, name: &str) -> Option<&CopiedBlock> {
        self.blocks.iter().find(|block| block.name == name)
    }
}

/// The bytes that a key or the shape of a column takes, about.
const COLUMN_BYTES: usize = 96;

fn blocks_of(answer: &Answer) -> Vec<CopiedBlock> {
    let block = |(name, roots): (&str, usize)| CopiedBlock {
        name: name.to_owned(),
        roots,
        keys: answer.keys(name),
        shapes: answer.shapes(name),
        form: answer.row_form(name),
        is_written: answer.block_is_written(name),
    };
    answer.root_counts().map(block).collect()
}
