//! Makes columns of the fields of all nodes of a level.
//!
//! The columns are allocated in full and cut into ranges of nodes; each thread fills the next range
//! of all columns, a batch at a time. Texts are read to chunks, which are put together at last.

use super::source::{Source, ValueKind};
use super::texts::{TextChunk, joined};
use crate::exec::columns::batches::BATCH;
use crate::exec::control::morsels::SOME_MORSELS;
use crate::exec::control::stop::RequestContext;
use crate::exec::cost;
use hexgraph_base::answer::{Cells, Texts, Values};
use hexgraph_base::types::{ObjectCells, Result};
use std::iter::repeat_with;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A column that is filled.
enum Column {
    Int(Values<i64>),
    Float(Values<f64>),
    Bool(Values<bool>),
    Time(Values<i64>),
    /// Texts by ranges, and which nodes have one.
    Text(Vec<TextChunk>, Vec<bool>),
    /// Cells by ranges.
    Other(Vec<Cells>),
}

/// A range of a column.
enum NumberRun<'c> {
    Int(&'c mut [i64], &'c mut [bool]),
    Float(&'c mut [f64], &'c mut [bool]),
    Bool(&'c mut [bool], &'c mut [bool]),
    Time(&'c mut [i64], &'c mut [bool]),
    Text(TextChunk, &'c mut [bool]),
    Other(Cells),
}

/// The ranges of all columns for some nodes, until a thread takes them.
type Taken<'c> = Mutex<Vec<NumberRun<'c>>>;

/// The values of sources for the nodes of their level, a cell for each node; `None` where some
/// instant is outside of the years that nanoseconds can represent, texts are too long for their
/// columns, or values are of several kinds.
///
/// # Errors
///
/// Those of [`RequestContext::check`] and [`RequestContext::reserve`].
pub(super) fn fill(
    control: &RequestContext,
    nodes: &[u32],
    sources: &[Source<'_>],
) -> Result<Option<Vec<Cells>>> {
    if nodes.is_empty() {
        return Ok(Some(vec![Cells::default(); sources.len()]));
    }
    let of_nodes = |source: &Source<'_>| source.kind().node_bytes() * nodes.len();
    control.reserve(sources.iter().map(of_nodes).sum::<usize>() as u64)?;
    let spread = control.spread(nodes.len(), cost::GATHER.times(2 * sources.len()))?;
    let spread = spread.map(|spread| spread.with_few(SOME_MORSELS).in_units_of(BATCH));
    let threads = spread.as_ref().map_or(1, |spread| spread.count());
    let of_field =
        size_of::<Column>() + threads * (size_of::<Source<'_>>() + size_of::<NumberRun<'_>>());
    control.reserve((of_field * sources.len()) as u64)?;
    let len = spread.as_ref().map_or(nodes.len(), |spread| spread.len()).max(1);
    let mut columns: Vec<Column> =
        sources.iter().map(|source| Column::new(source.kind(), nodes.len())).collect();
    let runs = cut(&mut columns, nodes.len(), len);
    let work = |range: Range<usize>| {
        let taken = &runs[range.start / len];
        let mut parts = std::mem::take(&mut *taken.lock().unwrap_or_else(PoisonError::into_inner));
        let is_filled = fill_runs(control, nodes, range, sources, &mut parts)?;
        // What is put after that of other ranges, in the order of the columns.
        let (mut texts, mut others) = (Vec::new(), Vec::new());
        for part in parts {
            match part {
                NumberRun::Text(chunk, _) => texts.push(chunk),
                NumberRun::Other(cells) => others.push(cells),
                NumberRun::Int(..)
                | NumberRun::Float(..)
                | NumberRun::Bool(..)
                | NumberRun::Time(..) => {}
            }
        }
        Ok(is_filled.then_some((texts, others)))
    };
    let chunks = match spread {
        Some(spread) => spread.collect(work)?,
        None => vec![work(0..nodes.len())?],
    };
    drop(runs);
    let Some(chunks) = chunks.into_iter().collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    for (texts, others) in chunks {
        let (mut texts, mut others) = (texts.into_iter(), others.into_iter());
        for column in &mut columns {
            match column {
                Column::Text(all, _) => all.extend(texts.next()),
                Column::Other(all) => all.extend(others.next()),
                Column::Int(_) | Column::Float(_) | Column::Bool(_) | Column::Time(_) => {}
            }
        }
    }
    columns.into_iter().map(|column| column.finish(control)).collect()
}

/// Cuts columns into ranges of `len` nodes.
fn cut<'c>(columns: &'c mut [Column], nodes: usize, len: usize) -> Vec<Taken<'c>> {
    let mut runs: Vec<Vec<NumberRun<'c>>> = Vec::new();
    runs.resize_with(nodes.div_ceil(len).max(1), Vec::new);
    let put = |runs: &mut Vec<Vec<NumberRun<'c>>>,
               parts: &mut dyn Iterator<Item = NumberRun<'c>>| {
        runs.iter_mut().zip(parts).for_each(|(all, part)| all.push(part));
    };
    for column in columns {
        match column {
            Column::Int(Values { values, valid }) => {
                let parts = values.chunks_mut(len).zip(valid.chunks_mut(len));
                put(&mut runs, &mut parts.map(|(values, valid)| NumberRun::Int(values, valid)));
            }
            Column::Float(Values { values, valid }) => {
                let parts = values.chunks_mut(len).zip(valid.chunks_mut(len));
                put(&mut runs, &mut parts.map(|(values, valid)| NumberRun::Float(values, valid)));
            }
            Column::Bool(Values { values, valid }) => {
                let parts = values.chunks_mut(len).zip(valid.chunks_mut(len));
                put(&mut runs, &mut parts.map(|(values, valid)| NumberRun::Bool(values, valid)));
            }
            Column::Time(Values { values, valid }) => {
                let parts = values.chunks_mut(len).zip(valid.chunks_mut(len));
                put(&mut runs, &mut parts.map(|(values, valid)| NumberRun::Time(values, valid)));
            }
            Column::Text(_, valid) => {
                let parts = valid.chunks_mut(len);
                let part = |valid| NumberRun::Text(TextChunk::default(), valid);
                put(&mut runs, &mut parts.map(part));
            }
            Column::Other(_) => {
                let mut parts = repeat_with(|| NumberRun::Other(Cells::default()));
                put(&mut runs, &mut parts);
            }
        }
    }
    runs.into_iter().map(Mutex::new).collect()
}

/// Fills the ranges of all columns for some nodes. Returns false where a value does not fit.
fn fill_runs(
    control: &RequestContext,
    nodes: &[u32],
    range: Range<usize>,
    sources: &[Source<'_>],
    parts: &mut [NumberRun<'_>],
) -> Result<bool> {
    let Some(&first) = nodes.get(range.start) else { return Ok(true) };
    let mut readers: Vec<Source<'_>> = sources.iter().map(|source| source.fork(first)).collect();
    for part in &mut *parts {
        if let NumberRun::Text(chunk, _) = part {
            chunk.reserve(range.len());
        }
    }
    for start in range.clone().step_by(BATCH) {
        control.check()?;
        let end = range.end.min(start + BATCH);
        let at = start - range.start..end - range.start;
        for (reader, part) in readers.iter_mut().zip(parts.iter_mut()) {
            let is_filled = match part {
                NumberRun::Other(cells) => reader.push_each(control, &nodes[start..end], cells)?,
                NumberRun::Text(chunk, valid) => {
                    let valid = &mut valid[at.clone()];
                    reader.push_texts(control, &nodes[start..end], start, chunk, valid)?
                }
                part => part.fill(at.clone(), reader.read(&nodes[start..end], start)),
            };
            if !is_filled {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

impl NumberRun<'_> {
    /// Puts the cells of a batch at a position. Returns false where a value does not fit.
    fn fill(&mut self, at: Range<usize>, cells: ObjectCells<'_>) -> bool {
        match (self, cells) {
            (NumberRun::Int(values, valid), ObjectCells::Ints(ints, has)) => {
                put(&mut values[at.clone()], &mut valid[at], ints, has);
            }
            (NumberRun::Bool(values, valid), ObjectCells::Bools(truths, has)) => {
                put(&mut values[at.clone()], &mut valid[at], truths, has);
            }
            (NumberRun::Float(values, valid), ObjectCells::Floats(floats, has)) => {
                let (values, valid) = (&mut values[at.clone()], &mut valid[at]);
                put(values, valid, floats, has);
                if !values.iter().fold(true, |all, float| all & float.is_finite()) {
                    for (value, valid) in values.iter_mut().zip(valid) {
                        if !value.is_finite() {
                            (*value, *valid) = (0.0, false);
                        }
                    }
                }
            }
            (NumberRun::Time(values, valid), ObjectCells::Times(times, has)) => {
                let mut all_fit = true;
                for (value, time) in values[at.clone()].iter_mut().zip(times) {
                    let in_nanos = time.unix_nanos();
                    *value = in_nanos.unwrap_or(0);
                    all_fit &= in_nanos.is_some();
                }
                tell(&mut values[at.clone()], &mut valid[at], has);
                return all_fit;
            }
            _ => return false,
        }
        true
    }
}

/// Puts values into their cells, and says which cells have one.
fn put<T: Copy + Default>(cells: &mut [T], valid: &mut [bool], values: &[T], has: &[bool]) {
    cells.copy_from_slice(values);
    tell(cells, valid, has);
}

/// Says which cells have a value; the others get the default one.
fn tell<T: Copy + Default>(cells: &mut [T], valid: &mut [bool], has: &[bool]) {
    if has.is_empty() {
        return valid.fill(true);
    }
    valid.copy_from_slice(has);
    cells.iter_mut().zip(has).filter(|(_, has)| !**has).for_each(|(cell, _)| *cell = T::default());
}

impl Column {
    fn new(kind: ValueKind, len: usize) -> Column {
        fn values<T: Clone + Default>(len: usize) -> Values<T> {
            Values { values: vec![T::default(); len], valid: vec![false; len] }
        }
        match kind {
            ValueKind::Int => Column::Int(values(len)),
            ValueKind::Float => Column::Float(values(len)),
            ValueKind::Bool => Column::Bool(values(len)),
            ValueKind::Time => Column::Time(values(len)),
            ValueKind::Text => Column::Text(Vec::new(), vec![false; len]),
            ValueKind::Other => Column::Other(Vec::new()),
        }
    }

    /// The cells of the column; `None` where chunks are of several kinds.
    fn finish(self, control: &RequestContext) -> Result<Option<Cells>> {
        Ok(Some(match self {
            Column::Int(values) => Cells::Int(reported(values)),
            Column::Float(values) => Cells::Float(reported(values)),
            Column::Bool(values) => Cells::Bool(reported(values)),
            Column::Time(values) => Cells::Time(reported(values)),
            Column::Text(chunks, valid) => {
                let (bytes, ends) = joined(control, &chunks)?;
                Cells::Text(Texts { bytes, offsets: ends, valid: some_missing(valid) })
            }
            Column::Other(chunks) => {
                let mut all = Cells::default();
                for chunk in chunks {
                    if all.append(chunk).is_err() {
                        return Ok(None);
                    }
                }
                all
            }
        }))
    }
}

fn reported<T>(values: Values<T>) -> Values<T> {
    Values { valid: some_missing(values.valid), ..values }
}

/// Which cells have a value; an empty list where all have.
fn some_missing(valid: Vec<bool>) -> Vec<bool> {
    // Without an early end the loop looks at many at a time.
    let are_all = valid.iter().fold(true, |all, is_valid| all & is_valid);
    if are_all { Vec::new() } else { valid }
}
