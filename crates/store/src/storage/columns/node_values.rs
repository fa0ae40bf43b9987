//! The values of some nodes as one list of their type.

use hexgraph_base::types::{DateTime, ValueRef, ValueType};

/// The first value of each of some nodes.
pub struct NodeValues<'a> {
    /// An entry for each node; those of nodes without a value have no meaning.
    pub values: TypedValues<'a>,
    /// A bit for each node that has a value; `None` where all have one.
    pub present: Option<Vec<u64>>,
}

/// Values of one type, as they are stored.
pub enum TypedValues<'a> {
    /// Ints.
    Ints(Vec<i64>),
    /// Floats.
    Floats(Vec<f64>),
    /// Bools.
    Bools(Vec<bool>),
    /// Instants.
    Times(Vec<DateTime>),
    /// Values of a type whose content is text.
    Texts(ValueType, Vec<&'a str>),
    /// Values of several types, or of any other one.
    Any(Vec<ValueRef<'a>>),
}

/// The entries of some nodes, and a bit for each that has a value.
pub(crate) struct Entries<T> {
    pub(crate) values: Vec<T>,
    present: Vec<u64>,
    count: usize,
}

impl<T: Copy> Entries<T> {
    pub(crate) fn new(nodes: usize) -> Entries<T> {
        let present = vec![0; nodes.div_ceil(64)];
        Entries { values: Vec::with_capacity(nodes), present, count: 0 }
    }

    pub(crate) fn set_present(&mut self, at: usize) {
        self.present[at / 64] |= 1 << (at % 64);
        self.count += 1;
    }

    /// Marks the entries from a position to the last one.
    pub(crate) fn set_present_from(&mut self, start: usize) {
        let end = self.values.len();
        self.count += end - start;
        let mut at = start;
        while at < end {
            let (bit, bits) = (at % 64, (64 - at % 64).min(end - at));
            self.present[at / 64] |= (u64::MAX >> (64 - bits)) << bit;
            at += bits;
        }
    }

    /// The values of all nodes.
    pub(crate) fn finish<'a>(
        self,
        values: impl FnOnce(Vec<T>) -> TypedValues<'a>,
    ) -> NodeValues<'a> {
        let has_all = self.count == self.values.len();
        let present = (!has_all).then_some(self.present);
        NodeValues { values: values(self.values), present }
    }
}
