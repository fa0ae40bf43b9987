//! Makes columns of the fields of all nodes of a level.
//!
//! The columns are allocated whole and cut into stretches of nodes; each thread fills the next stretch of all columns, a batch at a
//! time. Texts are read to pieces, which are put together at last.

use super::source::{Source, ValueKind};
use super::texts::{TextPiece, joined};
use crate::exec::control::stop::Control;
use crate::exec::select::batches::BATCH;
use hexgraph_base::answer::{Cells, Texts, Values};
use hexgraph_base::types::{ObjectCells, Result};
use std::iter::repeat_with;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The nanoseconds that a value takes, about.
const VALUE_NANOS: usize = 4;

/// The most stretches for each thread: what one costs beside its values must not count.
const STRETCHES: usize = 8;

/// A column that is filled.
enum Column {
    Int(Values<i64>),
    Float(Values<f64>),
    Bool(Values<bool>),
    Time(Values<i64>),
    /// Texts by stretches, and which nodes have one.
    Text(Vec<TextPiece>, Vec<bool>),
    /// Cells by stretches.
    Other(Vec<Cells>),
}

/// A stretch of a column.
enum Stretch<'c> {
    Int(&'c mut [i64], &'c mut [bool]),
    Float(&'c mut [f64], &'c mut [bool]),
    Bool(&'c mut [bool], &'c mut [bool]),
    Time(&'c mut [i64], &'c mut [bool]),
    Text(TextPiece, &'c mut [bool]),
    Other(Cells),
}

/// What a stretch makes that is put behind that of others.
enum Piece {
    Text(TextPiece),
    Other(Cells),
}

/// The stretches of all columns for some nodes, until a thread takes them.
type Taken<'c> = Mutex<Vec<Stretch<'c>>>;

/// The values of sources for the nodes of their level, a cell for each node; `None` where some instant is outside of the years that
/// nanoseconds reach, texts are too long for their columns, or values are of several kinds.
///
/// # Errors
///
/// Those of [`Control::check`] and [`Control::draw`].
pub(super) fn fill(
    control: &Control,
    nodes: &[u32],
    sources: &[Source<'_>],
) -> Result<Option<Vec<Cells>>> {
    if nodes.is_empty() {
        return Ok(Some(vec![Cells::default(); sources.len()]));
    }
    let of_nodes = |source: &Source<'_>| source.kind().node_bytes() * nodes.len();
    control.draw(sources.iter().map(of_nodes).sum::<usize>() as u64)?;
    let spread = control.spread(nodes.len(), VALUE_NANOS * sources.len())?;
    let spread = spread.map(|spread| spread.with_few(STRETCHES).in_units_of(BATCH));
    let threads = spread.as_ref().map_or(1, |spread| spread.count());
    let of_field =
        size_of::<Column>() + threads * (size_of::<Source<'_>>() + size_of::<Stretch<'_>>());
    control.draw((of_field * sources.len()) as u64)?;
    let len = spread.as_ref().map_or(nodes.len(), |spread| spread.len()).max(1);
    let mut columns: Vec<Column> =
        sources.iter().map(|source| Column::new(source.kind(), nodes.len())).collect();
    let stretches = cut(&mut columns, nodes.len(), len);
    let work = |range: Range<usize>| {
        let taken = &stretches[range.start / len];
        let mut parts = std::mem::take(&mut *taken.lock().unwrap_or_else(PoisonError::into_inner));
        let is_filled = fill_stretches(control, nodes, range, sources, &mut parts)?;
        let pieces = parts.into_iter().filter_map(|part| match part {
            Stretch::Text(piece, _) => Some(Piece::Text(piece)),
            Stretch::Other(cells) => Some(Piece::Other(cells)),
            _ => None,
        });
        Ok(is_filled.then(|| pieces.collect::<Vec<Piece>>()))
    };
    let pieces: Vec<Option<Vec<Piece>>> = match spread {
        Some(spread) => spread.collect(work)?,
        None => vec![work(0..nodes.len())?],
    };
    drop(stretches);
    let Some(pieces) = pieces.into_iter().collect::<Option<Vec<Vec<Piece>>>>() else {
        return Ok(None);
    };
    for pieces in pieces {
        let takes = |column: &&mut Column| matches!(column, Column::Text(..) | Column::Other(_));
        for (column, piece) in columns.iter_mut().filter(takes).zip(pieces) {
            match (column, piece) {
                (Column::Text(all, _), Piece::Text(piece)) => all.push(piece),
                (Column::Other(all), Piece::Other(piece)) => all.push(piece),
                _ => return Ok(None),
            }
        }
    }
    columns.into_iter().map(|column| column.finish(control)).collect()
}

/// Cuts columns into stretches of `len` nodes.
fn cut<'c>(columns: &'c mut [Column], nodes: usize, len: usize) -> Vec<Taken<'c>> {
    let mut stretches: Vec<Vec<Stretch<'c>>> = Vec::new();
    stretches.resize_with(nodes.div_ceil(len).max(1), Vec::new);
    let put = |stretches: &mut Vec<Vec<Stretch<'c>>>,
               parts: &mut dyn Iterator<Item = Stretch<'c>>| {
        stretches.iter_mut().zip(parts).for_each(|(all, part)| all.push(part));
    };
    for column in columns {
        match column {
            Column::Int(Values { values, valid }) => {
                let parts = values.chunks_mut(len).zip(valid.chunks_mut(len));
                put(&mut stretches, &mut parts.map(|(values, valid)| Stretch::Int(values, valid)));
            }
            Column::Float(Values { values, valid }) => {
                let parts = values.chunks_mut(len).zip(valid.chunks_mut(len));
                put(
                    &mut stretches,
                    &mut parts.map(|(values, valid)| Stretch::Float(values, valid)),
                );
            }
            Column::Bool(Values { values, valid }) => {
                let parts = values.chunks_mut(len).zip(valid.chunks_mut(len));
                put(&mut stretches, &mut parts.map(|(values, valid)| Stretch::Bool(values, valid)));
            }
            Column::Time(Values { values, valid }) => {
                let parts = values.chunks_mut(len).zip(valid.chunks_mut(len));
                put(&mut stretches, &mut parts.map(|(values, valid)| Stretch::Time(values, valid)));
            }
            Column::Text(_, valid) => {
                let parts = valid.chunks_mut(len);
                let part = |valid| Stretch::Text(TextPiece::default(), valid);
                put(&mut stretches, &mut parts.map(part));
            }
            Column::Other(_) => {
                let mut parts = repeat_with(|| Stretch::Other(Cells::default()));
                put(&mut stretches, &mut parts);
            }
        }
    }
    stretches.into_iter().map(Mutex::new).collect()
}

/// Fills the stretches of all columns for some nodes. Returns false where a value does not fit.
fn fill_stretches(
    control: &Control,
    nodes: &[u32],
    range: Range<usize>,
    sources: &[Source<'_>],
    parts: &mut [Stretch<'_>],
) -> Result<bool> {
    let Some(&first) = nodes.get(range.start) else { return Ok(true) };
    let mut readers: Vec<Source<'_>> = sources.iter().map(|source| source.fork(first)).collect();
    for part in &mut *parts {
        if let Stretch::Text(piece, _) = part {
            piece.reserve(range.len());
        }
    }
    for start in range.clone().step_by(BATCH) {
        control.check()?;
        let end = range.end.min(start + BATCH);
        let at = start - range.start..end - range.start;
        for (reader, part) in readers.iter_mut().zip(parts.iter_mut()) {
            let is_filled = match part {
                Stretch::Other(cells) => reader.push_each(control, &nodes[start..end], cells)?,
                Stretch::Text(piece, valid) => {
                    let valid = &mut valid[at.clone()];
                    reader.push_texts(control, &nodes[start..end], start, piece, valid)?
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

impl Stretch<'_> {
    /// Puts the cells of a batch at a place. Returns false where a value does not fit.
    fn fill(&mut self, at: Range<usize>, cells: ObjectCells<'_>) -> bool {
        match (self, cells) {
            (Stretch::Int(values, valid), ObjectCells::Ints(ints, has)) => {
                put(&mut values[at.clone()], &mut valid[at], ints, has);
            }
            (Stretch::Bool(values, valid), ObjectCells::Bools(truths, has)) => {
                put(&mut values[at.clone()], &mut valid[at], truths, has);
            }
            (Stretch::Float(values, valid), ObjectCells::Floats(floats, has)) => {
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
            (Stretch::Time(values, valid), ObjectCells::Times(times, has)) => {
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

    /// The cells of the column; `None` where pieces are of several kinds.
    fn finish(self, control: &Control) -> Result<Option<Cells>> {
        Ok(Some(match self {
            Column::Int(values) => Cells::Int(told(values)),
            Column::Float(values) => Cells::Float(told(values)),
            Column::Bool(values) => Cells::Bool(told(values)),
            Column::Time(values) => Cells::Time(told(values)),
            Column::Text(pieces, valid) => {
                let (bytes, ends) = joined(control, &pieces)?;
                Cells::Text(Texts { bytes, ends, valid: some_missing(valid) })
            }
            Column::Other(pieces) => {
                let mut all = Cells::default();
                for piece in pieces {
                    if all.append(piece).is_err() {
                        return Ok(None);
                    }
                }
                all
            }
        }))
    }
}

fn told<T>(values: Values<T>) -> Values<T> {
    Values { valid: some_missing(values.valid), ..values }
}

/// Which cells have a value; an empty list where all have.
fn some_missing(valid: Vec<bool>) -> Vec<bool> {
    // Without an early end the loop looks at many at a time.
    let are_all = valid.iter().fold(true, |all, is_valid| all & is_valid);
    if are_all { Vec::new() } else { valid }
}
