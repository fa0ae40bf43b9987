//! The objects of a list for a sink that takes some at once, as columns.

use super::selection::{Bounds, Nodes, SelectedNodes, Selection, ascending};
use crate::exec::columns::batches::BATCH;
use crate::exec::control::tree::Level;
use crate::exec::cost;
use crate::exec::write::answer_writer::AnswerWriter;
use std::rc::Rc;

/// Fewer objects are written one by one: determining how they are read as columns costs as much.
const ROWS_MIN: usize = cost::SETUP.per(cost::WRITE);

/// The first batch of objects that have others in them.
const NESTED_FIRST: usize = 256;

/// The most objects in the lists of a batch.
const ITEMS_MAX: usize = 1 << 14;

/// The most cells of a batch: with up to 16 fields it has as many objects as it may.
const CELLS_MAX: usize = 1 << 16;

/// Objects of more fields are written one by one: a batch of them would have few objects.
const FIELDS_MAX: usize = CELLS_MAX / ROWS_MIN;

/// The most bytes of a batch of objects that have others in them, as they are counted one by one.
const BYTES_MAX: u64 = 1 << 18;

/// The most bytes of long texts of a batch.
const LONG_BYTES_MAX: usize = 1 << 22;

/// Writes objects of a level as columns.
pub(in crate::exec) struct Rows<'a> {
    level: &'a Level,
    selection: Rc<Selection<'a>>,
    /// How many objects the next batch has.
    batch: usize,
}

/// What became of a batch.
enum Taken {
    /// So many of its first objects are written.
    Some(usize),
    /// It has too much in it.
    TooMuch,
    /// The sink takes none.
    None,
}

impl<'a> Rows<'a> {
    /// For a list of so many nodes of a level, those that `@cascade` retains; `None` where they are
    /// written one by one.
    pub(in crate::exec) fn of(
        writer: &mut AnswerWriter<'a, '_>,
        level: &'a Level,
        len: usize,
    ) -> Option<Rows<'a>> {
        let is_plain = ROWS_MIN <= len
            && writer.sink.takes_rows()
            && !writer.options.debug
            && writer.path.is_none()
            && level.fields.len() <= FIELDS_MAX
            && len <= writer.objects_max;
        if !is_plain {
            return None;
        }
        let selection = writer.selection(level)?;
        // Lists in objects are written in full.
        let is_flat = selection.is_flat();
        if !is_flat && writer.objects_max != usize::MAX {
            return None;
        }
        let batch = if is_flat { BATCH } else { NESTED_FIRST };
        let rows = Rows { level, selection, batch };
        Some(Rows { batch: batch.min(rows.batch_max()), ..rows })
    }

    /// Writes objects of some nodes of the level, whose first one is probably at a position of the
    /// level. Returns the number of nodes that are done; the next one has to be written by itself.
    pub(in crate::exec) fn write(
        &mut self,
        writer: &mut AnswerWriter<'a, '_>,
        nodes: &[u32],
        near: usize,
    ) -> usize {
        let mut done = 0;
        while done < nodes.len() {
            let batch = &nodes[done..nodes.len().min(done + self.batch)];
            match self.batch(writer, batch, near + done) {
                Taken::None => break,
                // The first one is too large by itself, and so may others be: no more are read with
                // them.
                Taken::Some(0) => {
                    self.batch = 1;
                    break;
                }
                Taken::TooMuch if batch.len() == 1 => break,
                Taken::TooMuch => self.batch = batch.len() / 2,
                Taken::Some(taken) => {
                    done += taken;
                    let next = if taken < batch.len() { taken } else { 2 * self.batch };
                    self.batch = next.min(self.batch_max());
                }
            }
        }
        done
    }

    /// The most objects of a batch.
    fn batch_max(&self) -> usize {
        (CELLS_MAX / self.level.fields.len().max(1)).clamp(1, BATCH)
    }

    fn batch(&self, writer: &mut AnswerWriter<'a, '_>, nodes: &[u32], near: usize) -> Taken {
        let mut left = Bounds { items: ITEMS_MAX, cells: CELLS_MAX };
        let is_run = self.level.nodes.get(near..near + nodes.len()) == Some(nodes);
        let (result, order) = match is_run {
            true => (self.selection.find(Nodes::Run(near..near + nodes.len()), &mut left), None),
            false => {
                let (nodes, order) = ascending(nodes.to_vec());
                (self.selection.find(Nodes::Some(nodes), &mut left), Some(order))
            }
        };
        let Some(mut result) = result else { return Taken::TooMuch };
        writer.hold(result.byte_len());
        self.hand_out(writer, &mut result, order, nodes.len())
    }

    fn hand_out(
        &self,
        writer: &mut AnswerWriter<'a, '_>,
        result: &mut SelectedNodes<'a>,
        order: Option<Vec<u32>>,
        len: usize,
    ) -> Taken {
        let mut objects = result.read();
        let mut taken = len;
        if self.selection.is_flat() && LONG_BYTES_MAX < objects.long_byte_len() {
            return Taken::TooMuch;
        }
        if !self.selection.is_flat() {
            let bytes = objects.byte_lens();
            let mut left = BYTES_MAX;
            let fits = |position: &usize| {
                let position = order.as_ref().map_or(*position, |order| order[*position] as usize);
                let has_space = left.checked_sub(bytes[position]);
                left = has_space.unwrap_or(0);
                has_space.is_some()
            };
            taken = (0..len).take_while(fits).count();
        }
        match &order {
            Some(order) => objects.order = Some(&order[..taken]),
            None => objects.len = taken,
        }
        if writer.sink.objects(&objects) { Taken::Some(taken) } else { Taken::None }
    }
}
