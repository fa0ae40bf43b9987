//! The result of a request: the tree of each block, and what is written of it.

use crate::exec::control::options::ExecOptions;
use crate::exec::control::stop::RequestContext;
use crate::exec::control::trace::Doubt;
use crate::exec::control::tree::{AlgorithmResult, BlockResult, FieldData, FieldResult};
use crate::exec::write::answer_shape;
use crate::exec::write::answer_writer::AnswerOptions;
use crate::exec::write::columns::table;
use crate::exec::write::extent;
use crate::exec::write::output;
use crate::exec::write::pieces;
use crate::exec::write::rdf;
use crate::graph::Version;
use hexgraph_base::answer::{Key, RowForm, Shape, Table};
use hexgraph_base::plan::{BlockKind, FieldKind, Query};
use hexgraph_base::types::{FragmentSink, Result, Sink, Uid};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The result of a request: the tree of each block. Values are read from its version when it is
/// written.
pub struct Answer {
    version: Arc<Version>,
    query: Arc<Query>,
    options: ExecOptions,
    blocks: Vec<BlockResult>,
    doubts: Vec<Doubt>,
}

impl Answer {
    /// Makes the answer of blocks that were run on a version.
    pub(super) fn new(
        version: Arc<Version>,
        query: Arc<Query>,
        options: ExecOptions,
        blocks: Vec<BlockResult>,
    ) -> Answer {
        Answer { version, query, options, blocks, doubts: Vec::new() }
    }

    /// The same, which reports these uses of variables.
    pub(super) fn with_doubts(self, doubts: Vec<Doubt>) -> Answer {
        Answer { doubts, ..self }
    }

    /// The uses of variables that are likely meant otherwise, each once, in no order; the first
    /// hundred that were met.
    pub fn doubts(&self) -> &[Doubt] {
        &self.doubts
    }

    /// The version that it is read from.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// The result of a block, by its position in the plan.
    pub fn block(&self, position: usize) -> Option<&BlockResult> {
        self.blocks.iter().find(|result| result.block == position)
    }

    /// The result of the first block of an algorithm without a variable, with the name of the
    /// algorithm.
    pub fn algorithm(&self) -> Option<(&str, &AlgorithmResult)> {
        let result = self.blocks.iter().find(|result| result.algorithm.is_some())?;
        Some((&self.query.blocks[result.block].name, result.algorithm.as_ref()?))
    }

    /// As [`Answer::algorithm`], taken out of the answer.
    pub fn take_algorithm(&mut self) -> Option<(String, AlgorithmResult)> {
        let result = self.blocks.iter_mut().find(|result| result.algorithm.is_some())?;
        Some((self.query.blocks[result.block].name.clone(), result.algorithm.take()?))
    }

    /// Writes the `data` object: each visible block under its name, paths last.
    ///
    /// # Errors
    ///
    /// [`Error::Query`](hexgraph_base::types::Error::Query) for a stored value that the schema's
    /// type can't hold any more; [`Error::Limit`](hexgraph_base::types::Error::Limit) as
    /// [`Answer::check_extent`].
    pub fn write(&self, sink: &mut dyn Sink) -> Result<()> {
        self.write_head(usize::MAX, sink)
    }

    /// As [`Answer::write`], to a sink that takes chunks: other threads help to write a large
    /// answer.
    ///
    /// # Errors
    ///
    /// As [`Answer::write`]; those of `control`.
    pub fn write_shared<S: FragmentSink>(
        &self,
        control: &RequestContext,
        sink: &mut S,
    ) -> Result<()> {
        if self.query.schema.is_some() {
            return self.write(sink);
        }
        self.check_extent()?;
        let options = (self.options, usize::MAX);
        let expected = AnswerOptions { version: &self.version, query: &self.query, options };
        pieces::write(expected, &self.blocks, control, sink)
    }

    /// The rows of a block as a table, made column by column: those columns in which some row has a
    /// value, in the order of the text. `None` where the block has to be written object by object.
    /// `look` is called with the bytes of values and keys, a column at a time.
    ///
    /// # Errors
    ///
    /// Those of `look` and of `control`; as [`Answer::check_extent`].
    pub fn table(
        &self,
        block: &str,
        control: &RequestContext,
        look: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Option<Table>> {
        let named = |result: &&BlockResult| self.query.blocks[result.block].name == block;
        let Some(result) = self.blocks.iter().find(named) else { return Ok(None) };
        if self.query.schema.is_some() || self.options.debug {
            return Ok(None);
        }
        self.check_extent()?;
        let plan = &self.query.blocks[result.block];
        table::table(&self.version, plan, result, control, look)
    }

    /// As [`Answer::write`], but no more than the first `objects_max` objects of each list. Costs
    /// as much as is written.
    ///
    /// # Errors
    ///
    /// As [`Answer::write`].
    pub fn write_head(&self, objects_max: usize, sink: &mut dyn Sink) -> Result<()> {
        if objects_max == usize::MAX {
            self.check_extent()?;
        }
        if let Some(request) = &self.query.schema {
            sink.begin_object();
            self.version.schema.describe(
                request.predicates.as_deref(),
                request.types.as_deref(),
                &request.fields,
                sink,
            );
            sink.end_object();
            return Ok(());
        }
        let options = (self.options, objects_max);
        let expected = AnswerOptions { version: &self.version, query: &self.query, options };
        output::write(expected, &self.blocks, sink)
    }

    /// The number of root nodes of each visible block. Objects without anything in them are not
    /// written, so there may be fewer objects; with `@normalize` there may be more.
    pub fn root_counts(&self) -> impl Iterator<Item = (&str, usize)> {
        let blocks = self
            .blocks
            .iter()
            .map(|it| (&self.query.blocks[it.block], it.unlisted + it.roots.len()));
        let shown = blocks.filter(|(block, _)| crate::exec::control::tree::is_visible(block));
        shown.map(|(block, count)| (block.name.as_str(), count))
    }

    /// Checks before anything is written that there are not more objects than can be written within
    /// the limit `result`. Costs a step for each level, or for each edge if that is not enough.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](hexgraph_base::types::Error::Limit) when there are.
    pub fn check_extent(&self) -> Result<()> {
        extent::check(&self.query, self.options, &self.blocks)
    }

    /// The names of the visible blocks.
    pub fn block_names(&self) -> impl Iterator<Item = &str> {
        let blocks = self.blocks.iter().map(|result| &self.query.blocks[result.block]);
        blocks
            .filter(|block| crate::exec::control::tree::is_visible(block))
            .map(|block| block.name.as_str())
    }

    /// The keys that the objects of a block may have, in the order of the text; empty when there is
    /// no such block.
    pub fn keys(&self, block: &str) -> Vec<Key> {
        let named = |result: &&BlockResult| self.query.blocks[result.block].name == block;
        let Some(result) = self.blocks.iter().find(named) else { return Vec::new() };
        if let Some(hit) = &result.algorithm {
            return crate::exec::write::algorithm_rows::keys(block, &hit.result.output);
        }
        let plan = &self.query.blocks[result.block];
        let mut keys = match &plan.group_by {
            Some(group_by) => {
                let shapes = answer_shape::of_groups(&self.version, plan, group_by);
                return shapes.into_iter().map(|shape| Key::Always(shape.key)).collect();
            }
            None => crate::exec::write::answer_keys::of_level(
                &result.level,
                self.query.blocks[result.block].normalize,
            ),
        };
        if self.options.debug {
            keys.push(Key::Perhaps("uid".to_owned()));
        }
        keys
    }

    /// The plan that was executed, and the version on which it ran.
    pub fn requested(&self) -> (&Query, &Version) {
        (&self.query, &self.version)
    }

    /// The plan that was executed, to be retained.
    pub fn plan(&self) -> &Arc<Query> {
        &self.query
    }

    /// The columns of the rows of a block, in the order of the text, with the types of the schema;
    /// of the groups, where it has those.
    pub fn shapes(&self, block: &str) -> Vec<Shape> {
        let named = |result: &&BlockResult| self.query.blocks[result.block].name == block;
        let Some(result) = self.blocks.iter().find(named) else { return Vec::new() };
        let plan = &self.query.blocks[result.block];
        match &plan.group_by {
            Some(group_by) => answer_shape::of_groups(&self.version, plan, group_by),
            None => answer_shape::of_level(&self.version, &result.level, plan.normalize),
        }
    }

    /// Returns false for a block that an answer leaves out: one of groups without any.
    pub fn block_is_written(&self, block: &str) -> bool {
        let named = |result: &&BlockResult| self.query.blocks[result.block].name == block;
        let groups = self.blocks.iter().find(named).and_then(|result| result.groups.as_ref());
        groups.is_none_or(|groups| !groups.is_empty())
    }

    /// What the rows of a block are made of.
    pub fn row_form(&self, block: &str) -> RowForm {
        let named = |result: &&BlockResult| self.query.blocks[result.block].name == block;
        let Some(result) = self.blocks.iter().find(named) else { return RowForm::Flat };
        let plan = &self.query.blocks[result.block];
        let is_edges = |field: &FieldResult| matches!(field.data, FieldData::Edges(_));
        match &plan.kind {
            _ if plan.group_by.is_some() => RowForm::Groups,
            BlockKind::Empty => RowForm::Joined,
            BlockKind::Shortest(_) => RowForm::Nested,
            _ if !plan.normalize && result.level.fields.iter().any(is_edges) => RowForm::Nested,
            _ => RowForm::Flat,
        }
    }

    /// Writes each fact of the result as a line of N-Quads. `look` is called with the length now
    /// and then.
    ///
    /// # Errors
    ///
    /// Those of `look`; [`Error::Query`](hexgraph_base::types::Error::Query) for what is not
    /// allowed there: groups, `count(uid)`, `@normalize`, `@ignorereflex`, `checkpwd` and facets;
    /// and as [`Answer::write`].
    pub fn write_rdf(
        &self,
        out: &mut Vec<u8>,
        look: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<()> {
        rdf::write(&self.version, &self.query, &self.blocks, out, look)
    }

    /// The uid of the last root node of a block, by the block's position in the plan.
    pub fn last_root(&self, block: usize) -> Option<Uid> {
        let result = self.blocks.iter().find(|result| result.block == block)?;
        result.roots.last().map(|&node| self.version.nodes.uid(node))
    }

    /// The options of the request.
    pub fn options(&self) -> &ExecOptions {
        &self.options
    }

    /// For each predicate the number of nodes for which it was read, and under the empty name the
    /// roots of the blocks.
    pub fn touched(&self) -> BTreeMap<&str, u64> {
        let mut touched = BTreeMap::new();
        for result in &self.blocks {
            let listed = result.unlisted + result.roots.len();
            *touched.entry("").or_default() += listed as u64;
            output::count_touched(&result.level, &mut touched);
            if result.unlisted > 0 {
                for field in &self.query.blocks[result.block].fields {
                    if let FieldKind::Predicate { name, .. } = &field.kind {
                        *touched.entry(name).or_default() += result.unlisted as u64;
                    }
                }
            }
        }
        touched
    }
}
