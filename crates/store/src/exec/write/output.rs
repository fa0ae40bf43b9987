//! Writes a finished tree as nested objects, reading values as it goes.
//!
//! An object whose fields are all empty is removed, and so is a list without items.

use super::algorithm_rows::write_rows;
use super::answer_writer::{AnswerOptions, AnswerWriter, chosen, counts_of};
use super::fields::is_shown;
use super::groups::GroupList;
use super::objects::List;
use crate::exec::control::tree::{BlockResult, FieldData, Level, is_visible};
use crate::exec::select::facets::EdgeFacets;
use hexgraph_base::plan::{Block, BlockKind, Field, FieldKind, Query};
use hexgraph_base::types::{Result, Sink, ValueRef};
use std::collections::BTreeMap;
use std::ops::Range;

/// Writes the `data` object of a request, at most `objects_max` objects of each list.
pub(crate) fn write<'a>(
    expected: AnswerOptions<'a>,
    blocks: &'a [BlockResult],
    sink: &mut dyn Sink,
) -> Result<()> {
    sink.begin_object();
    let mut writer = expected.writer(sink);
    for result in blocks {
        let block = &expected.query.blocks[result.block];
        if is_visible(block) {
            writer.block(block, result)?;
        }
    }
    writer.all_paths(expected.query, blocks);
    writer.sink.end_object();
    Ok(())
}

/// Adds to each predicate the nodes for which it was requested.
pub(crate) fn count_touched<'l>(level: &'l Level, touched: &mut BTreeMap<&'l str, u64>) {
    let mut levels = vec![level];
    while let Some(level) = levels.pop() {
        for result in &level.fields {
            let name = match &result.field.kind {
                FieldKind::Predicate { name, .. }
                | FieldKind::Count { name, .. }
                | FieldKind::CheckPassword { name, .. } => name.as_str(),
                FieldKind::Uid => "uid",
                FieldKind::CountUid
                | FieldKind::Val(_)
                | FieldKind::AggregateVar(..)
                | FieldKind::AggregatePredicate { .. }
                | FieldKind::Math(_)
                | FieldKind::Expand(_) => continue,
            };
            *touched.entry(name).or_default() += level.nodes.len() as u64;
            if let FieldData::Edges(edges) = &result.data {
                levels.push(&edges.level);
            }
        }
    }
}

impl<'a> AnswerWriter<'a, '_> {
    /// Writes a block under its name.
    pub(super) fn block(&mut self, block: &'a Block, result: &'a BlockResult) -> Result<()> {
        if let (Some(groups), Some(group_by)) = (&result.groups, &block.group_by) {
            if !groups.is_empty() {
                self.sink.key(&block.name);
                self.sink.begin_array();
                self.groups(GroupList::of(groups), group_by, &block.fields);
                self.sink.end_array();
            }
            return Ok(());
        }
        self.sink.key(&block.name);
        self.sink.begin_array();
        if let Some(hit) = &result.algorithm {
            write_rows(self, &block.name, hit);
            self.sink.end_array();
            return Ok(());
        }
        if block.kind == BlockKind::Empty {
            self.empty_block(&result.level, block.normalize)?;
            self.sink.end_array();
            return Ok(());
        }
        self.root_counts(block, result);
        self.roots(block, result, 0..result.roots.len())?;
        self.sink.end_array();
        Ok(())
    }

    /// Writes the numbers of a block's roots that are requested, each as an object.
    pub(super) fn root_counts(&mut self, block: &Block, result: &BlockResult) {
        for field in counts_of(&result.level).filter(|field| is_shown(field, block.normalize)) {
            self.count_object(field, result.count.unwrap_or(result.roots.len()));
        }
    }

    /// Writes the objects of some of a block's roots.
    pub(super) fn roots(
        &mut self,
        block: &'a Block,
        result: &'a BlockResult,
        positions: Range<usize>,
    ) -> Result<()> {
        self.path = block.ignore_reflex.then(Vec::new);
        let roots = &result.roots[positions.clone()];
        self.lists(List::new(&result.level, roots, block.normalize).near(positions.start))
    }

    /// Each aggregate of an empty block is an object by itself.
    fn empty_block(&mut self, level: &'a Level, normalize: bool) -> Result<()> {
        for result in level.fields.iter().filter(|result| is_shown(&result.field, normalize)) {
            let FieldData::Column(map) = &result.data else { continue };
            self.sink.begin_object();
            self.sink.key(&result.field.key);
            match &map.constant {
                Some(value) => self.sink.value(value.as_ref()),
                None => self.sink.null(),
            }
            self.sink.end_object();
        }
        Ok(())
    }

    /// Writes `_path_`, where there are paths: those of all blocks in one array, since no object
    /// has a key twice.
    pub(super) fn all_paths(&mut self, query: &Query, blocks: &[BlockResult]) {
        if blocks.iter().all(|result| result.paths.is_empty()) {
            return;
        }
        self.sink.key("_path_");
        self.sink.begin_array();
        for result in blocks {
            self.paths(&query.blocks[result.block], result);
        }
        self.sink.end_array();
    }

    /// Each path as objects nested along its edges, the total weight outermost.
    fn paths(&mut self, block: &Block, result: &BlockResult) {
        for path in &result.paths {
            self.sink.begin_object();
            self.path_objects(block, path);
            self.sink.key("_weight_");
            // Integers up to 2^53 are exact as floats, and this is a round number below that.
            if path.weight.fract() == 0.0 && path.weight.abs() < 1e15 {
                self.sink.int(path.weight as i64);
            } else {
                self.sink.value(ValueRef::Float(path.weight));
            }
            self.sink.end_object();
        }
    }

    /// The objects of a path, each inside the one before it. A loop, since a path may have more
    /// hops than a stack has space for.
    fn path_objects(&mut self, block: &Block, path: &crate::exec::control::tree::Path) {
        for &hop in &path.hops {
            self.sink.key(&path_key(&block.fields[hop]));
            self.sink.begin_object();
        }
        for (step, &node) in path.nodes.iter().enumerate().rev() {
            self.sink.key("uid");
            self.sink.uid(self.version.nodes.uid(node));
            if let Some(before) = step.checked_sub(1) {
                self.path_facets(&block.fields[path.hops[before]], path.nodes[before], node);
                self.sink.end_object();
            }
        }
    }

    fn path_facets(&mut self, field: &Field, node: u32, target: u32) {
        let FieldKind::Predicate { name, reverse, .. } = &field.kind else { return };
        let Some(facets) = &field.facets else { return };
        let Some(predicate) = self.version.predicate(name) else { return };
        if let Some(stored) = EdgeFacets::new(predicate, *reverse) {
            let result = stored.all(node, target);
            self.facets(&chosen(facets, &path_key(field), &result));
        }
    }
}

/// The key of an edge in a path: its predicate, whatever its alias.
fn path_key(field: &Field) -> String {
    match &field.kind {
        FieldKind::Predicate { name, reverse: true, .. } => format!("~{name}"),
        FieldKind::Predicate { name, .. } => name.clone(),
        FieldKind::Uid
        | FieldKind::Count { .. }
        | FieldKind::CountUid
        | FieldKind::Val(_)
        | FieldKind::AggregateVar(..)
        | FieldKind::AggregatePredicate { .. }
        | FieldKind::Math(_)
        | FieldKind::Expand(_)
        | FieldKind::CheckPassword { .. } => field.key.clone(),
    }
}
