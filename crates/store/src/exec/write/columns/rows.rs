//! The flat objects of a block for a sink that takes some at once, as columns.

use super::source::{Source, qualifies};
use crate::exec::control::tree::BlockResult;
use crate::exec::select::batches::BATCH;
use crate::exec::write::answer_writer::AnswerWriter;
use hexgraph_base::plan::Block;
use hexgraph_base::types::Objects;
use std::ops::Range;

/// Fewer objects are written one by one: that takes as long as to find out how they are read as columns.
const ROWS_MIN: usize = 16;

/// Hands some of a block's roots to the sink as columns. Returns false, with nothing done, where they have to be written one by one.
pub(in crate::exec) fn write(
    writer: &mut AnswerWriter<'_, '_>,
    block: &Block,
    result: &BlockResult,
    places: Range<usize>,
) -> bool {
    let level = &result.level;
    let is_plain = ROWS_MIN <= places.len()
        && writer.sink.takes_rows()
        && !writer.options.debug
        && !block.normalize
        && !block.ignore_reflex
        && places.len() <= writer.objects_max
        && level.alive.is_none()
        && result.roots.len() == level.nodes.len()
        && result.roots[places.clone()] == level.nodes[places.clone()]
        && qualifies(level, false);
    if !is_plain {
        return false;
    }
    let mut sources = Vec::with_capacity(level.fields.len());
    for field in &level.fields {
        match Source::of(writer.version, level, field) {
            Ok(Some(source)) if !source.is_for_sinks() => return false,
            Ok(Some(source)) => sources.push((field.field.key.as_str(), source)),
            Ok(None) => {}
            Err(_) => return false,
        }
    }
    writer.sink.beside(sources.iter().map(|(_, source)| source.byte_len()).sum());
    for start in places.clone().step_by(BATCH) {
        let end = places.end.min(start + BATCH);
        let nodes = &level.nodes[start..end];
        let columns = sources.iter_mut().map(|(key, source)| (*key, source.read(nodes, start)));
        let objects = Objects { len: nodes.len(), columns: columns.collect() };
        if !writer.sink.objects(&objects) {
            // The sink has said that it takes them.
            return start != places.start;
        }
    }
    true
}
