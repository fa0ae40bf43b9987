//! The rows of many nodes at once, container by container.
//!
//! Many are looked up in the counted copy of their container (`counted.rs`). Any other container
//! has a loop of its own: sorted members and runs are passed by once. A search for each node costs
//! several times as much.

use crate::storage::sets::bitmap::container::{BIT_WORDS, Container, RANK_STEP, RANKS, Run};
use crate::storage::sets::bitmap::{FrozenBitmap, join, split};
use crate::storage::sets::sorted::gallop;

/// The row of a node that is no member.
pub(crate) const NO_ROW: u32 = u32::MAX;

/// The members of a sorted container that are passed by in the time of one search.
const SEARCH_COST: usize = 16;

/// The words of bits from one entry of the rank directory to the next.
const STEP_WORDS: usize = RANK_STEP / 64;

/// The number of rows that are looked up at a time.
const CHUNK: usize = 256;

impl FrozenBitmap {
    /// Calls `result` with the position of each member among the nodes, which ascend, and its row.
    pub(crate) fn for_each_row(&self, nodes: &[u32], mut result: impl FnMut(usize, usize)) {
        if let Some(rows) = self.rows_of_run(nodes) {
            rows.enumerate().for_each(|(position, row)| result(position, row));
            return;
        }
        if self.is_exactly(nodes) {
            // The position of a node is its row, and nothing is searched.
            (0..nodes.len()).for_each(|row| result(row, row));
            return;
        }
        let mut rows = [NO_ROW; CHUNK];
        for (chunk, nodes) in nodes.chunks(CHUNK).enumerate() {
            let rows = &mut rows[..nodes.len()];
            self.rows_of(nodes, rows);
            for (position, &row) in rows.iter().enumerate().filter(|(_, row)| **row != NO_ROW) {
                result(chunk * CHUNK + position, row as usize);
            }
        }
    }

    /// Writes the row of each node, or [`NO_ROW`] for one that is no member. The nodes ascend
    /// without repeats, and there is a slot for each of them. A few instructions a node where they
    /// lie close together, and never more than a search for each of them.
    pub fn rows_of(&self, nodes: &[u32], rows: &mut [u32]) {
        if let Some(from) = self.range_from {
            for (row, node) in rows.iter_mut().zip(nodes) {
                let position = node.wrapping_sub(from);
                *row = if (position as usize) < self.len { position } else { NO_ROW };
            }
            return;
        }
        let (mut nodes, mut rows) = (nodes, rows);
        while let Some(&first) = nodes.first() {
            let (key, _) = split(first);
            let (last, end) = (join(key, u16::MAX), nodes.len().min(1 << 16));
            // Most batches lie in one container.
            let len = match nodes[end - 1] <= last {
                true => end,
                false => gallop(nodes, |node| *node <= last),
            };
            let (here, behind) = nodes.split_at(len);
            let (out, rest) = rows.split_at_mut(len);
            match self.find_key(key) {
                Some(index) => {
                    let before = self.directory.get(index).before;
                    match self.counted_for(index, here.len()) {
                        Some(bits) => bits.rows_of(here, before, out),
                        None => self.container(index).rows_of(here, before, out),
                    }
                }
                None => out.fill(NO_ROW),
            }
            (nodes, rows) = (behind, rest);
        }
    }
}

impl Container<'_> {
    /// The rows of nodes, whose lower halves are looked at alone; `before` members are in other
    /// containers.
    fn rows_of(&self, nodes: &[u32], before: u32, rows: &mut [u32]) {
        match self {
            Container::Sorted(lows) => rows_in_list(lows, nodes, before, rows),
            Container::Bits(words, ranks) => rows_in_bits(words, ranks, nodes, before, rows),
            Container::Range(run) => rows_in_runs(std::slice::from_ref(run), nodes, before, rows),
            Container::Runs(runs) => rows_in_runs(runs, nodes, before, rows),
        }
    }
}

/// The rows of nodes in a sorted container: a search for each of few nodes, else a walk over both
/// without branches that are hard to foresee.
fn rows_in_list(lows: &[u16], nodes: &[u32], before: u32, rows: &mut [u32]) {
    let Some(&first) = nodes.first() else { return };
    let mut row = lows.partition_point(|low| *low < first as u16);
    if nodes.len().saturating_mul(SEARCH_COST) < lows.len() - row {
        for (result, &node) in rows.iter_mut().zip(nodes) {
            row += gallop(&lows[row..], |low| *low < node as u16);
            let is_member = lows.get(row) == Some(&(node as u16));
            *result = if is_member { before + row as u32 } else { NO_ROW };
        }
        return;
    }
    let mut position = 0;
    while let (Some(&node), Some(&low)) = (nodes.get(position), lows.get(row)) {
        let node = node as u16;
        // For a skipped node the last write here counts.
        rows[position] = if node == low { before + row as u32 } else { NO_ROW };
        position += usize::from(node <= low);
        row += usize::from(low <= node);
    }
    rows[position..].fill(NO_ROW);
}

/// The rows of few nodes in a container of bits; many nodes use a copy of it. All words of a rank
/// step are counted, those after the node as zero: their number is unpredictable, and a
/// mispredicted branch costs more than counting eight.
fn rows_in_bits(
    words: &[u64; BIT_WORDS],
    ranks: &[u16; RANKS],
    nodes: &[u32],
    before: u32,
    rows: &mut [u32],
) {
    let (steps, _) = words.as_chunks::<STEP_WORDS>();
    for (result, &node) in rows.iter_mut().zip(nodes) {
        let low = usize::from(node as u16);
        let (step, within) = (low / RANK_STEP, low % RANK_STEP / 64);
        let (word, bit) = (steps[step][within], 1_u64 << (low % 64));
        let mut row = before + u32::from(ranks[step]) + (word & (bit - 1)).count_ones();
        for (position, word) in steps[step].iter().enumerate() {
            row += if position < within { word.count_ones() } else { 0 };
        }
        *result = if word & bit != 0 { row } else { NO_ROW };
    }
}

/// The rows of nodes in runs, each visited once.
fn rows_in_runs(runs: &[Run], nodes: &[u32], before: u32, rows: &mut [u32]) {
    let mut runs = runs;
    for (result, &node) in rows.iter_mut().zip(nodes) {
        let low = node as u16;
        runs = &runs[gallop(runs, |run| run.last < low)..];
        *result = match runs.first() {
            Some(run) if run.first <= low => {
                before + u32::from(run.before) + u32::from(low - run.first)
            }
            _ => NO_ROW,
        };
    }
}
