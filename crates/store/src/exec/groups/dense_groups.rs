//! A pass over members whose cells have counters: see [`super::dense`].

use super::column_groups::{Cells, Found, Grouping, Key, Room, limits_of};
use super::dense::{PACKED_MAX, PACKED_MEMBERS, distinct_of, has_all_keys};
use crate::exec::select::batches::BATCH;
use hexgraph_base::types::Result;

impl<'a, 'c> Grouping<'a, 'c> {
    /// As [`Grouping::add`], where each cell has its counters.
    pub(super) fn add_dense(&mut self, nodes: &[u32], room: &mut Room) -> Result<()> {
        self.context.check()?;
        read_cells(&mut self.keys, nodes, &mut room.groups);
        let Grouping { cells: Cells::Dense(dense), columns, .. } = self else {
            unreachable!("the cells have counters");
        };
        let (cells, count) = (&room.groups[..], dense.len());
        dense.note_firsts(nodes, cells);
        let first = if count <= PACKED_MAX { columns.first_mut() } else { None };
        let first = first.and_then(|it| it.narrow_to_sum(nodes).map(|ints| (it, ints)));
        let done = usize::from(first.is_some());
        match first {
            Some((column, ints)) => {
                dense.pack(cells, ints);
                column.add_beside_sums(nodes, cells, count);
                if PACKED_MEMBERS < dense.waiting + BATCH {
                    dense.unpack(column.int_sums(count));
                }
            }
            None => dense.count(cells),
        }
        let rest = &mut columns[done..];
        rest.iter_mut().for_each(|column| column.add(nodes, cells, count));
        Ok(())
    }

    /// Counts and adds what waits.
    pub(super) fn settle(&mut self) {
        if let (Cells::Dense(dense), Some(column)) = (&mut self.cells, self.columns.first_mut())
            && 0 < dense.waiting
        {
            dense.unpack(column.int_sums(dense.len()));
        }
    }

    /// Adds the counters of the next part of the members.
    pub(super) fn absorb_dense(&mut self, part: Grouping<'a, '_>) {
        let (Cells::Dense(dense), Cells::Dense(more)) = (&mut self.cells, &part.cells) else {
            unreachable!("parts are grouped as the whole is");
        };
        dense.absorb(more);
        let cells: Vec<u32> = (0..dense.len() as u32).collect();
        for (column, part) in self.columns.iter_mut().zip(part.columns) {
            column.absorb(part, &cells, cells.len());
        }
    }

    /// The groups that were found, in the order of their cells; in that of their first members where a key has no order.
    pub(super) fn found_dense(self) -> Found<'a, 'c> {
        let Grouping { context, keys, cells: Cells::Dense(dense), mut columns, .. } = self else {
            unreachable!("the cells have counters");
        };
        let limits = limits_of(&keys);
        let is_group =
            |cell: &u32| dense.counts[*cell as usize] != 0 && has_all_keys(*cell, &limits);
        // In the first cell everybody lacks all keys.
        let mut order: Vec<u32> =
            [0].into_iter().chain((1..dense.len() as u32).filter(is_group)).collect();
        if keys.iter().any(|key| key.codes.are_truths()) {
            order[1..].sort_unstable_by_key(|cell| dense.firsts[*cell as usize]);
        }
        let at = |items: &[u32]| order.iter().map(|cell| items[*cell as usize]).collect();
        columns.iter_mut().for_each(|column| column.make_room(dense.len()));
        let mut distinct = Vec::new();
        if 1 < keys.len() {
            let mut below = dense.len() as u32;
            distinct.extend(keys.iter().zip(&limits).map(|(key, limit)| {
                below /= limit;
                // What may be written in several ways is read for each group.
                key.codes
                    .are_values()
                    .then(|| distinct_of(&order[1..], below, *limit, &dense.firsts))
            }));
        }
        Found {
            context,
            distinct,
            firsts: at(&dense.firsts),
            counts: at(&dense.counts),
            keys: keys.iter().map(|key| key.predicate).collect(),
            folded: columns.iter().map(|column| column.folded.in_order(&order)).collect(),
            lists: None,
        }
    }
}

/// The cell of each node of a batch.
fn read_cells(keys: &mut [Key<'_>], nodes: &[u32], out: &mut Vec<u32>) {
    for (place, Key { codes, batch, .. }) in keys.iter_mut().enumerate() {
        if place == 0 {
            codes.read(nodes, out);
            continue;
        }
        codes.read(nodes, batch);
        let limit = codes.limit() as u32;
        out.iter_mut().zip(batch).for_each(|(cell, code)| *cell = *cell * limit + *code);
    }
}
