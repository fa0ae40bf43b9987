//! The flat objects of a block for a sink that takes some at once, as columns.

use super::reordered::Sorted;
use super::source::{Source, qualifies};
use crate::exec::control::tree::BlockResult;
use crate::exec::select::batches::BATCH;
use crate::exec::write::answer_writer::AnswerWriter;
use crate::storage::gallop;
use hexgraph_base::plan::Block;
use hexgraph_base::types::{Objects, Sink};
use std::ops::Range;

/// Fewer objects are written one by one: that takes as long as to find out how they are read as columns.
const ROWS_MIN: usize = 16;

/// Hands some of a block's roots to the sink as columns: a batch is read in the order of its nodes, and handed out in that of the roots. Returns the
/// place of the first root that has to be written by itself, and those behind it; that of the first one where rows do not qualify.
pub(in crate::exec) fn write(
    writer: &mut AnswerWriter<'_, '_>,
    block: &Block,
    result: &BlockResult,
    places: Range<usize>,
) -> usize {
    let level = &result.level;
    let is_plain = ROWS_MIN <= places.len()
        && writer.sink.takes_rows()
        && !writer.options.debug
        && !block.normalize
        && !block.ignore_reflex
        && places.len() <= writer.objects_max
        && level.alive.is_none()
        && result.roots.len() == level.nodes.len()
        && qualifies(level, false);
    if !is_plain {
        return places.start;
    }
    let mut sources = Vec::with_capacity(level.fields.len());
    for field in &level.fields {
        match Source::of(writer.version, level, field) {
            Ok(Some(source)) if !source.is_for_sinks() => return places.start,
            Ok(Some(source)) => sources.push((field.field.key.as_str(), source)),
            Ok(None) => {}
            Err(_) => return places.start,
        }
    }
    writer.sink.beside(sources.iter().map(|(_, source)| source.byte_len()).sum());
    let are_in_order = result.roots[places.clone()] == level.nodes[places.clone()];
    for start in places.clone().step_by(BATCH) {
        let batch = start..places.end.min(start + BATCH);
        let is_taken = match are_in_order {
            true => in_order(writer.sink, &mut sources, &level.nodes[batch], start),
            false => reordered(writer.sink, &sources, &result.roots[batch], &level.nodes),
        };
        if !is_taken {
            return start;
        }
    }
    places.end
}

/// Hands out nodes whose first one stands at a place of their level. Returns false where the sink does not take them.
fn in_order(
    sink: &mut dyn Sink,
    sources: &mut [(&str, Source<'_>)],
    nodes: &[u32],
    place: usize,
) -> bool {
    let columns = sources.iter_mut().map(|(key, source)| (*key, source.read(nodes, place)));
    sink.objects(&Objects { len: nodes.len(), columns: columns.collect() })
}

/// Hands out nodes of a level in any order. Returns false where the sink does not take them, and where one is not in the level.
fn reordered(
    sink: &mut dyn Sink,
    sources: &[(&str, Source<'_>)],
    nodes: &[u32],
    level: &[u32],
) -> bool {
    let sorted = Sorted::of(nodes);
    let Some(places) = places_in(&sorted.nodes, level) else { return false };
    let first = sorted.nodes.first().copied().unwrap_or_default();
    let mut sources: Vec<(&str, Source<'_>)> =
        sources.iter().map(|(key, source)| (*key, source.fork(first))).collect();
    let columns = sources
        .iter_mut()
        .map(|(key, source)| (*key, sorted.reorder(source.read_scattered(&sorted.nodes, &places))));
    let columns: Vec<_> = columns.collect();
    let columns = columns.iter().map(|(key, cells)| (*key, cells.cells()));
    sink.objects(&Objects { len: nodes.len(), columns: columns.collect() })
}

/// The places of nodes in a level, both of which ascend; `None` where one is not there. O(nodes * log(nodes of the level between two of them)).
fn places_in(nodes: &[u32], level: &[u32]) -> Option<Vec<u32>> {
    let mut at = 0;
    nodes
        .iter()
        .map(|&node| {
            at += gallop(&level[at..], |other| *other < node);
            (level.get(at) == Some(&node)).then_some(at as u32)
        })
        .collect()
}
