//! Where the texts or lists of a column end.

use std::ops::Range;

/// End offsets of cells: the first entry is 0, and each cell begins at the end of the one before.
/// They are the offsets of Arrow's layout, with four bytes each while they fit.
#[derive(Debug, Clone, PartialEq)]
pub enum CellOffsets {
    /// All positions fit 31 bits.
    Narrow(Vec<i32>),
    /// Some position does not.
    Wide(Vec<i64>),
}

impl Default for CellOffsets {
    fn default() -> CellOffsets {
        CellOffsets::Narrow(vec![0])
    }
}

impl CellOffsets {
    /// The number of cells.
    pub fn len(&self) -> usize {
        match self {
            CellOffsets::Narrow(offsets) => offsets.len() - 1,
            CellOffsets::Wide(offsets) => offsets.len() - 1,
        }
    }

    /// True when there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What a cell is made of.
    ///
    /// # Panics
    ///
    /// When there is no such cell.
    pub fn range(&self, cell: usize) -> Range<usize> {
        match self {
            CellOffsets::Narrow(offsets) => offsets[cell] as usize..offsets[cell + 1] as usize,
            CellOffsets::Wide(offsets) => offsets[cell] as usize..offsets[cell + 1] as usize,
        }
    }

    /// The end of the last cell.
    pub fn total(&self) -> usize {
        match self {
            CellOffsets::Narrow(offsets) => offsets[offsets.len() - 1] as usize,
            CellOffsets::Wide(offsets) => offsets[offsets.len() - 1] as usize,
        }
    }

    /// Adds a cell by its end offset.
    pub fn push(&mut self, end: usize) {
        match (&mut *self, i32::try_from(end)) {
            (CellOffsets::Narrow(offsets), Ok(end)) => offsets.push(end),
            (CellOffsets::Narrow(offsets), Err(_)) => {
                let mut wide: Vec<i64> = offsets.iter().map(|&end| i64::from(end)).collect();
                wide.push(end as i64);
                *self = CellOffsets::Wide(wide);
            }
            (CellOffsets::Wide(offsets), _) => offsets.push(end as i64),
        }
    }

    /// Adds empty cells until there are `len`.
    pub fn pad_to(&mut self, len: usize) {
        let missing = len.saturating_sub(self.len());
        match self {
            CellOffsets::Narrow(offsets) => {
                offsets.extend(vec![offsets[offsets.len() - 1]; missing])
            }
            CellOffsets::Wide(offsets) => offsets.extend(vec![offsets[offsets.len() - 1]; missing]),
        }
    }

    /// Adds the cells of another column, whose content was put after that of this one.
    pub fn append(&mut self, more: &CellOffsets) {
        let start = self.total();
        match (&mut *self, more, i32::try_from(start + more.total())) {
            (CellOffsets::Narrow(offsets), CellOffsets::Narrow(more), Ok(_)) => {
                offsets.extend(more[1..].iter().map(|end| start as i32 + end));
            }
            _ => (0..more.len()).for_each(|cell| self.push(start + more.range(cell).end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_beyond_31_bits_are_wide() {
        let mut offsets = CellOffsets::default();
        offsets.push(5);
        offsets.pad_to(2);
        assert_eq!(offsets, CellOffsets::Narrow(vec![0, 5, 5]));
        let mut more = CellOffsets::default();
        more.push(i32::MAX as usize);
        offsets.append(&more);
        let all = i64::from(i32::MAX) + 5;
        assert_eq!(offsets, CellOffsets::Wide(vec![0, 5, 5, all]));
        assert_eq!(
            (offsets.len(), offsets.range(2), offsets.total()),
            (3, 5..all as usize, all as usize)
        );
        offsets.append(&CellOffsets::Narrow(vec![0, 1]));
        offsets.pad_to(5);
        assert_eq!(offsets, CellOffsets::Wide(vec![0, 5, 5, all, all + 1, all + 1]));
    }
}
