//! A pass over members whose cells have counters: see [`super::dense`].

use super::accumulators::{Accumulators, NumberAccumulators, PlainNumbers};
use super::column_groups::{AggregatedGroups, Capacity, GroupTable, Grouping, Key, limits_of};
use super::dense::{Dense, Distinct, PACKED_MAX, PACKED_MEMBERS, complete_cells, distinct_of};
use super::key_codes::{PlainKeys, code_of_text};
use crate::exec::columns::batches::BATCH;
use crate::exec::columns::read::typed_or_none;
use crate::exec::control::context::Context;
use crate::exec::control::group_cells::{KeyCells, at};
use crate::exec::cost;
use hexgraph_base::types::Result;

impl<'a, 'c> Grouping<'a, 'c> {
    /// As [`Grouping::add`], where each cell has its counters.
    pub(super) fn add_dense(&mut self, nodes: &[u32], capacity: &mut Capacity) -> Result<()> {
        self.context.check()?;
        if self.add_plain(nodes) {
            return Ok(());
        }
        read_cells(&mut self.keys, nodes, &mut capacity.groups);
        let Grouping { cells: GroupTable::Dense(dense), columns, .. } = self else {
            unreachable!("the cells have counters");
        };
        let (cells, count) = (&capacity.groups[..], dense.len());
        dense.note_firsts(nodes, cells, |cell| cell);
        let counts_floats = columns.first().is_some_and(|column| column.counts_floats());
        let mut first = if count <= PACKED_MAX { columns.first_mut() } else { None };
        let mut done = 0;
        if let Some(column) = &mut first
            && column.pack(nodes, cells, dense)
        {
            dense.unpack_in_time(column);
            done = 1;
        } else if !counts_floats {
            dense.count(cells, |cell| cell);
        }
        let rest = &mut columns[done..];
        rest.iter_mut().for_each(|column| column.add(nodes, cells, count));
        Ok(())
    }

    /// Adds a batch whose only key lies in its column as it is, and so do the only numbers, which
    /// are added up: in one pass over both. Returns false for any other batch, and adds nothing.
    fn add_plain(&mut self, nodes: &[u32]) -> bool {
        let Grouping { keys, cells: GroupTable::Dense(dense), columns, .. } = self else {
            unreachable!("the cells have counters");
        };
        let ([Key { codes, .. }], [] | [_]) = (&mut keys[..], &columns[..]) else { return false };
        let Some(keys) = codes.plain(nodes) else { return false };
        let mut column = columns.first_mut();
        let numbers = column.as_mut().map(|column| column.plain_to_sum(nodes));
        let numbers = match numbers {
            Some(None) => return false,
            Some(Some(PlainNumbers::Ints(_))) if PACKED_MAX < dense.len() => return false,
            Some(numbers) => numbers,
            None => None,
        };
        let batch = PlainBatch { dense, nodes, numbers: column.zip(numbers) };
        match keys {
            PlainKeys::Small(keys, none) => {
                batch.add(keys, |key| key.wrapping_sub(none) as u32);
            }
            PlainKeys::Days(keys, none) => {
                batch.add(keys, |day| i32::from(day).wrapping_sub(none) as u32);
            }
            PlainKeys::Coded(keys, count) => batch.add(keys, |code| code_of_text(code, count)),
        }
        true
    }

    /// Counts and adds what waits.
    pub(super) fn settle(&mut self) {
        if let (GroupTable::Dense(dense), Some(column)) =
            (&mut self.cells, self.columns.first_mut())
        {
            if column.counts_floats() {
                column.tell_counts(&mut dense.counts);
            } else if 0 < dense.waiting {
                dense.unpack(column.int_sums(dense.len()));
            }
        }
    }

    /// Adds the counters of the next part of the members.
    pub(super) fn absorb_dense(&mut self, part: Grouping<'a, '_>) {
        let (GroupTable::Dense(dense), GroupTable::Dense(more)) = (&mut self.cells, &part.cells)
        else {
            unreachable!("parts are grouped as the whole is");
        };
        dense.absorb(more);
        let cells: Vec<u32> = (0..dense.len() as u32).collect();
        for (column, part) in self.columns.iter_mut().zip(part.columns) {
            column.absorb(part, &cells, cells.len());
        }
    }

    /// The complete groups, in the order of their cells; in that of their first members where a key
    /// has no order.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Limit`] when the request has to stop.
    pub(super) fn result_dense(self) -> Result<AggregatedGroups<'a, 'c>> {
        let Grouping { context, keys, cells: GroupTable::Dense(dense), mut columns, .. } = self
        else {
            unreachable!("the cells have counters");
        };
        let limits = limits_of(&keys);
        let complete = complete_cells(&limits);
        let is_group = |cell: &u32| dense.counts[*cell as usize] != 0 && complete[*cell as usize];
        // In the first cell everybody lacks all keys.
        let mut order: Vec<u32> =
            [0].into_iter().chain((1..dense.len() as u32).filter(is_group)).collect();
        if keys.iter().any(|key| key.codes.are_truths()) {
            order[1..].sort_unstable_by_key(|cell| dense.firsts[*cell as usize]);
        }
        columns.iter_mut().for_each(|column| column.make_space(dense.len()));
        let mut distinct: Vec<Option<Distinct>> = Vec::new();
        if 1 < keys.len() {
            let mut below = dense.len() as u32;
            distinct.extend(keys.iter().zip(&limits).map(|(key, limit)| {
                below /= limit;
                // A value with several spellings is read for each group.
                key.codes
                    .are_values()
                    .then(|| distinct_of(&order[1..], below, *limit, &dense.firsts))
            }));
        }
        // The value of a code need not be read from a member.
        let coded = match (&keys[..], &distinct[..]) {
            ([key], _) => vec![coded_cells(context, key, &order[1..])?],
            (keys, distinct) => {
                let cells = |(key, distinct): (&Key<'_>, &Option<Distinct>)| match distinct {
                    Some(distinct) => coded_cells(context, key, &distinct.codes),
                    None => Ok(None),
                };
                keys.iter().zip(distinct).map(cells).collect::<Result<_>>()?
            }
        };
        let mut accumulators: Vec<Accumulators> =
            columns.into_iter().map(|column| column.accumulators).collect();
        for of_column in &mut accumulators {
            of_column.reorder(&order);
            of_column.sort_values(order.len());
        }
        Ok(AggregatedGroups {
            context,
            distinct,
            coded,
            ascends: matches!(&keys[..], [key] if key.codes.ascend()),
            firsts: at(&dense.firsts, &order),
            counts: at(&dense.counts, &order),
            keys: keys.iter().map(|key| key.predicate).collect(),
            accumulators,
            lists: None,
        })
    }
}

impl Dense {
    /// Counts and adds what waits where another batch might not fit.
    fn unpack_in_time(&mut self, column: &mut NumberAccumulators<'_>) {
        if PACKED_MEMBERS < self.waiting + BATCH {
            let count = self.len();
            self.unpack(column.int_sums(count));
        }
    }
}

/// A batch whose values are all contiguous in columns.
struct PlainBatch<'b, 'a> {
    dense: &'b mut Dense,
    nodes: &'b [u32],
    /// The numbers that are added up, and where to.
    numbers: Option<(&'b mut NumberAccumulators<'a>, PlainNumbers<'a>)>,
}

impl PlainBatch<'_, '_> {
    /// Adds the batch by its keys, which `cell` maps to the numbers of cells.
    fn add<K: Copy>(self, keys: &[K], cell: impl Fn(K) -> u32) {
        let PlainBatch { dense, nodes, numbers } = self;
        dense.note_firsts(nodes, keys, &cell);
        match numbers {
            Some((column, PlainNumbers::Ints(ints))) => {
                dense.pack(keys, cell, ints);
                dense.unpack_in_time(column);
            }
            Some((column, PlainNumbers::Floats(floats))) => {
                column.float_sums(dense.len()).add(keys, |key| cell(key) as usize, floats);
            }
            Some((_, PlainNumbers::Left)) | None => dense.count(keys, cell),
        }
    }
}

/// The values of some codes of a key; `None` if one can't be determined without a member.
fn coded_cells(context: &Context<'_>, key: &Key<'_>, codes: &[u32]) -> Result<Option<KeyCells>> {
    if let Some(ints) = key.codes.ints_of(codes) {
        return Ok(Some(KeyCells::Ints(ints)));
    }
    let parts = context.morsels(codes.len(), cost::WRITE, |range| {
        let mut cells: Option<KeyCells> = None;
        for code in &codes[range] {
            let value = key.codes.value_of(*code);
            let value = value.and_then(|value| typed_or_none(value, key.predicate.def.value_type));
            let Some(value) = value else { return Ok(None) };
            let value = value.as_ref();
            cells.get_or_insert_with(|| KeyCells::new(value)).push(value);
        }
        Ok(cells)
    })?;
    let Some(parts) = parts.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
    Ok(parts.into_iter().reduce(|mut all, part| {
        all.append(part);
        all
    }))
}

/// The cell of each node of a batch.
pub(super) fn read_cells(keys: &mut [Key<'_>], nodes: &[u32], out: &mut Vec<u32>) {
    for (position, Key { codes, batch, .. }) in keys.iter_mut().enumerate() {
        if position == 0 {
            codes.read(nodes, out);
            continue;
        }
        codes.read(nodes, batch);
        let limit = codes.limit() as u32;
        out.iter_mut().zip(batch).for_each(|(cell, code)| *cell = *cell * limit + *code);
    }
}
