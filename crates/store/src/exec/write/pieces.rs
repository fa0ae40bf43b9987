//! Writes a large answer with several threads: ranges of the roots of a block, or of its groups,
//! each to a chunk of its own.

use super::answer_writer::AnswerOptions;
use super::groups::{GroupList, group_labels};
use crate::exec::control::morsels::Spread;
use crate::exec::control::stop::RequestContext;
use crate::exec::control::tree::{BlockResult, FieldData, Level, RootGroups, is_visible};
use crate::exec::cost::{self, Cost};
use hexgraph_base::plan::{Block, BlockKind};
use hexgraph_base::types::{FragmentSink, Result};
use std::ops::Range;

/// As [`super::output::write`], for all objects.
pub(crate) fn write<'a, S: FragmentSink>(
    expected: AnswerOptions<'a>,
    blocks: &'a [BlockResult],
    control: &RequestContext,
    sink: &mut S,
) -> Result<()> {
    sink.begin_object();
    for result in blocks {
        let block = &expected.query.blocks[result.block];
        if is_visible(block) {
            write_block(expected, block, result, control, sink)?;
        }
    }
    expected.writer(sink).all_paths(expected.query, blocks);
    sink.end_object();
    Ok(())
}

fn write_block<'a, S: FragmentSink>(
    expected: AnswerOptions<'a>,
    block: &'a Block,
    result: &'a BlockResult,
    control: &RequestContext,
    sink: &mut S,
) -> Result<()> {
    if let (Some(groups), Some(group_by)) = (&result.groups, &block.group_by) {
        let labels = group_labels(group_by, &block.fields);
        let each = match groups {
            // A sink that takes columns needs no chunks.
            RootGroups::Columns(groups)
                if sink.takes_objects() && groups.objects(&labels).is_some() =>
            {
                Cost::NOTHING
            }
            _ => cost::WRITE.times(1 + group_by.keys.len() + block.fields.len()),
        };
        let Some(spread) = control.spread(groups.len(), each)? else {
            return expected.writer(sink).block(block, result);
        };
        sink.key(&block.name);
        sink.begin_array();
        sink.begin_object();
        sink.key("@groupby");
        sink.begin_array();
        let form = sink.form();
        let write = |range| {
            let mut chunk = S::chunk(&form);
            expected.writer(&mut chunk).group_objects(GroupList::of(groups), range, &labels);
            Ok(chunk)
        };
        put_together(spread, write, sink)?;
        sink.end_array();
        sink.end_object();
        sink.end_array();
        return Ok(());
    }
    let roots = result.roots.len();
    let spread = match block.kind {
        BlockKind::Empty => None,
        // One object is not cut, so nobody need know how long it takes.
        _ if roots < 2 => None,
        _ => control.spread(roots, cost_of(&result.level, roots).part(roots))?,
    };
    let Some(spread) = spread else { return expected.writer(sink).block(block, result) };
    sink.key(&block.name);
    sink.begin_array();
    expected.writer(sink).root_counts(block, result);
    let form = sink.form();
    let write = |range| {
        let mut chunk = S::chunk(&form);
        expected.writer(&mut chunk).roots(block, result, range)?;
        Ok(chunk)
    };
    put_together(spread, write, sink)?;
    sink.end_array();
    Ok(())
}

/// Writes the chunks that several threads make one after the other.
fn put_together<S: FragmentSink>(
    spread: Spread<'_>,
    write: impl Fn(Range<usize>) -> Result<S::Chunk> + Sync,
    sink: &mut S,
) -> Result<()> {
    let (count, mut taken) = (spread.count(), 0);
    spread.each(write, |chunk| {
        sink.append(chunk);
        taken += 1;
        // The size of the first chunk is an estimate of the capacity that the others need.
        if taken == 1 {
            sink.expect(count - taken);
        }
        Ok(())
    })
}

/// What it costs, about, to write so many objects of a level, with what is below them.
fn cost_of(level: &Level, objects: usize) -> Cost {
    let (mut levels, mut all) = (vec![(level, objects)], Cost::NOTHING);
    while let Some((level, objects)) = levels.pop() {
        all = all.and(cost::WRITE.times(objects));
        for result in &level.fields {
            match &result.data {
                FieldData::Edges(edges) => {
                    // Each list is written once for each object of its node.
                    let lists = edges.targets.len().saturating_mul(objects);
                    levels.push((&edges.level, lists / level.nodes.len().max(1)));
                }
                FieldData::Nothing | FieldData::CountUid => {}
                FieldData::Uid
                | FieldData::Values(_)
                | FieldData::Counts(_)
                | FieldData::Column(_)
                | FieldData::Passwords(_) => all = all.and(cost::WRITE.times(objects)),
            }
        }
    }
    all
}
