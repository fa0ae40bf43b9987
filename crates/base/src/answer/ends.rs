//! Where the texts or lists of a column end.

use std::ops::Range;

/// The positions where cells end: the first entry is 0, where the first cell begins, and each cell begins where the one before ends. They
/// are the offsets of Arrow's layout, with four bytes each while they fit.
#[derive(Debug, Clone, PartialEq)]
pub enum Ends {
    /// All positions fit 31 bits.
    Narrow(Vec<i32>),
    /// Some position does not.
    Wide(Vec<i64>),
}

impl Default for Ends {
    fn default() -> Ends {
        Ends::Narrow(vec![0])
    }
}

impl Ends {
    /// The number of cells.
    pub fn len(&self) -> usize {
        match self {
            Ends::Narrow(ends) => ends.len() - 1,
            Ends::Wide(ends) => ends.len() - 1,
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
            Ends::Narrow(ends) => ends[cell] as usize..ends[cell + 1] as usize,
            Ends::Wide(ends) => ends[cell] as usize..ends[cell + 1] as usize,
        }
    }

    /// The position where the last cell ends.
    pub fn total(&self) -> usize {
        match self {
            Ends::Narrow(ends) => ends[ends.len() - 1] as usize,
            Ends::Wide(ends) => ends[ends.len() - 1] as usize,
        }
    }

    /// Adds a cell that ends at a position.
    pub fn push(&mut self, end: usize) {
        match (&mut *self, i32::try_from(end)) {
            (Ends::Narrow(ends), Ok(end)) => ends.push(end),
            (Ends::Narrow(ends), Err(_)) => {
                let mut wide: Vec<i64> = ends.iter().map(|&end| i64::from(end)).collect();
                wide.push(end as i64);
                *self = Ends::Wide(wide);
            }
            (Ends::Wide(ends), _) => ends.push(end as i64),
        }
    }

    /// Adds empty cells until there are `len`.
    pub fn pad_to(&mut self, len: usize) {
        let missing = len.saturating_sub(self.len());
        match self {
            Ends::Narrow(ends) => ends.extend(vec![ends[ends.len() - 1]; missing]),
            Ends::Wide(ends) => ends.extend(vec![ends[ends.len() - 1]; missing]),
        }
    }

    /// Adds the cells of another column, whose content was put behind that of this one.
    pub fn append(&mut self, more: &Ends) {
        let start = self.total();
        match (&mut *self, more, i32::try_from(start + more.total())) {
            (Ends::Narrow(ends), Ends::Narrow(more), Ok(_)) => {
                ends.extend(more[1..].iter().map(|end| start as i32 + end));
            }
            _ => (0..more.len()).for_each(|cell| self.push(start + more.range(cell).end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_beyond_31_bits_are_wide() {
        let mut ends = Ends::default();
        ends.push(5);
        ends.pad_to(2);
        assert_eq!(ends, Ends::Narrow(vec![0, 5, 5]));
        let mut more = Ends::default();
        more.push(i32::MAX as usize);
        ends.append(&more);
        let all = i64::from(i32::MAX) + 5;
        assert_eq!(ends, Ends::Wide(vec![0, 5, 5, all]));
        assert_eq!((ends.len(), ends.range(2), ends.total()), (3, 5..all as usize, all as usize));
        ends.append(&Ends::Narrow(vec![0, 1]));
        ends.pad_to(5);
        assert_eq!(ends, Ends::Wide(vec![0, 5, 5, all, all + 1, all + 1]));
    }
}
