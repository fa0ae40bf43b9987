//! Objects of an answer as columns.

use super::{DateTime, Uid, stack};

/// Objects as columns, with no two values of one key. One that has no value at all is none, and
/// left out.
pub struct Objects<'o> {
    /// The number of objects; columns may be longer.
    pub len: usize,
    /// The positions of the objects in the order that they have, some perhaps in several positions
    /// or none; `None` where it is that of the columns.
    pub order: Option<&'o [u32]>,
    /// Identifies the selection within its block. Objects of one selection have the same columns
    /// and the same lists of texts.
    pub selection: usize,
    /// The keys in their order, each with its values.
    pub columns: Vec<(&'o str, ObjectCells<'o>)>,
}

/// The objects that others have under a key.
pub struct ObjectLists<'o> {
    /// For all the others one after the other, the indexes of their objects.
    pub items: &'o [u32],
    /// Where those of each end.
    pub offsets: &'o [usize],
    /// Whether a value is an array; else it is the only object.
    pub is_list: bool,
    /// The objects, each in several positions or none.
    pub objects: Objects<'o>,
}

/// The values that objects have of a key.
pub enum ObjectCells<'o> {
    /// Texts: all of them one after the other, their end offsets, and which objects have one; an
    /// empty list means all.
    Texts(&'o str, &'o [usize], &'o [bool]),
    /// Ints, and which objects have one, likewise.
    Ints(&'o [i64], &'o [bool]),
    /// Floats, likewise; one that is not finite is no value.
    Floats(&'o [f64], &'o [bool]),
    /// Truth values, likewise.
    Bools(&'o [bool], &'o [bool]),
    /// Instants, likewise.
    Times(&'o [DateTime], &'o [bool]),
    /// Uids, which all objects have.
    Uids(&'o [Uid]),
    /// Texts of some of the objects.
    Some(&'o [Option<&'o str>]),
    /// Texts by their positions in a list, which is the same for all objects of a block;
    /// [`ObjectCells::NONE`] for an object without one.
    Coded(&'o [u32], &'o [&'o str]),
    /// Objects; an array that is empty afterwards is no value.
    Lists(Box<ObjectLists<'o>>),
}

impl<'o> ObjectCells<'o> {
    /// The index of the text that an object does not have.
    pub const NONE: u32 = u32::MAX;

    /// The same values once more; `None` for lists.
    pub fn flat(&self) -> Option<ObjectCells<'o>> {
        Some(match *self {
            ObjectCells::Texts(text, offsets, has) => ObjectCells::Texts(text, offsets, has),
            ObjectCells::Ints(ints, has) => ObjectCells::Ints(ints, has),
            ObjectCells::Floats(floats, has) => ObjectCells::Floats(floats, has),
            ObjectCells::Bools(truths, has) => ObjectCells::Bools(truths, has),
            ObjectCells::Times(times, has) => ObjectCells::Times(times, has),
            ObjectCells::Uids(uids) => ObjectCells::Uids(uids),
            ObjectCells::Some(texts) => ObjectCells::Some(texts),
            ObjectCells::Coded(codes, texts) => ObjectCells::Coded(codes, texts),
            ObjectCells::Lists(_) => return None,
        })
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        match self {
            ObjectCells::Texts(_, offsets, _) => offsets.len(),
            ObjectCells::Ints(ints, _) => ints.len(),
            ObjectCells::Floats(floats, _) => floats.len(),
            ObjectCells::Bools(truths, _) => truths.len(),
            ObjectCells::Times(times, _) => times.len(),
            ObjectCells::Uids(uids) => uids.len(),
            ObjectCells::Some(texts) => texts.len(),
            ObjectCells::Coded(codes, _) => codes.len(),
            ObjectCells::Lists(lists) => lists.offsets.len(),
        }
    }

    /// True when there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether an object has a value.
    #[inline]
    pub fn has(&self, position: usize) -> bool {
        match self {
            ObjectCells::Uids(_) => true,
            ObjectCells::Texts(_, _, has)
            | ObjectCells::Ints(_, has)
            | ObjectCells::Bools(_, has)
            | ObjectCells::Times(_, has) => has.is_empty() || has[position],
            ObjectCells::Floats(floats, has) => {
                (has.is_empty() || has[position]) && floats[position].is_finite()
            }
            ObjectCells::Some(texts) => texts[position].is_some(),
            ObjectCells::Coded(codes, _) => codes[position] != ObjectCells::NONE,
            ObjectCells::Lists(lists) => lists.has(position),
        }
    }

    /// The text of an object; `None` where it has none, and for cells that are no texts.
    #[inline]
    pub fn text(&self, position: usize) -> Option<&'o str> {
        match self {
            ObjectCells::Texts(text, offsets, has) => {
                let start = if position == 0 { 0 } else { offsets[position - 1] };
                (has.is_empty() || has[position]).then(|| &text[start..offsets[position]])
            }
            ObjectCells::Some(texts) => texts[position],
            ObjectCells::Coded(codes, texts) => texts.get(codes[position] as usize).copied(),
            _ => None,
        }
    }

    /// Adds to each of some bytes those that an object has of this key, as they are counted one by
    /// one: those of the key and of a text, and eight for any other value.
    fn weigh(&self, key: &str, bytes: &mut [u64]) {
        let of_key = (key.len() + 4) as u64;
        match self {
            ObjectCells::Texts(..) | ObjectCells::Some(_) | ObjectCells::Coded(..) => {
                for (position, bytes) in bytes.iter_mut().enumerate() {
                    *bytes += self.text(position).map_or(0, |text| of_key + text.len() as u64);
                }
            }
            ObjectCells::Lists(lists) => {
                let each = lists.objects.byte_lens();
                for (position, bytes) in bytes.iter_mut().enumerate() {
                    let of_items = lists.of(position).iter().map(|item| each[*item as usize]);
                    *bytes = of_items.fold(bytes.saturating_add(of_key), u64::saturating_add);
                }
            }
            _ => bytes.iter_mut().for_each(|bytes| *bytes += of_key + 8),
        }
    }
}

impl Objects<'_> {
    /// The bytes of each object, as they are counted one by one.
    pub fn byte_lens(&self) -> Vec<u64> {
        stack::require();
        let mut bytes = vec![0; self.len];
        self.columns.iter().for_each(|(key, cells)| cells.weigh(key, &mut bytes));
        bytes
    }

    /// The bytes of texts that are read where they are stored, as long ones are.
    pub fn long_byte_len(&self) -> usize {
        let of_column = |(_, cells): &(&str, ObjectCells<'_>)| match cells {
            ObjectCells::Texts(text, ..) => text.len(),
            ObjectCells::Some(texts) => texts.iter().flatten().map(|text| text.len()).sum(),
            _ => 0,
        };
        self.columns.iter().map(of_column).sum()
    }

    /// The number of objects in their order.
    pub fn count(&self) -> usize {
        self.order.map_or(self.len, <[u32]>::len)
    }

    /// The positions of the objects in their order.
    pub fn positions(&self) -> impl Iterator<Item = usize> + '_ {
        let (all, some) = match self.order {
            Some(order) => (0..0, order),
            None => (0..self.len, &[][..]),
        };
        all.chain(some.iter().map(|position| *position as usize))
    }

    /// The bytes of all objects, as they are counted one by one.
    pub fn byte_len(&self) -> u64 {
        let is_nested =
            |(_, cells): &(&str, ObjectCells<'_>)| matches!(cells, ObjectCells::Lists(_));
        if self.order.is_some() || self.columns.iter().any(is_nested) {
            let each = self.byte_lens();
            return self.positions().map(|position| each[position]).fold(0, u64::saturating_add);
        }
        let of_column = |(key, cells): &(&str, ObjectCells<'_>)| {
            let of_values: usize = match cells {
                ObjectCells::Texts(text, ..) => text.len(),
                ObjectCells::Some(_) | ObjectCells::Coded(..) => {
                    (0..self.len).filter_map(|position| cells.text(position)).map(str::len).sum()
                }
                _ => 8 * self.len,
            };
            ((key.len() + 4) * self.len + of_values) as u64
        };
        self.columns.iter().map(of_column).sum()
    }

    /// The number of cells that are shown, about: those of an object in several positions count
    /// once.
    pub fn value_count(&self) -> usize {
        stack::require();
        let below = self.columns.iter().map(|(_, cells)| match cells {
            ObjectCells::Lists(lists) => lists.objects.value_count(),
            _ => 0,
        });
        self.len * self.columns.len() + below.sum::<usize>()
    }

    /// Whether an object has a value.
    pub fn has(&self, position: usize) -> bool {
        self.columns.iter().any(|(_, cells)| cells.has(position))
    }
}

impl<'o> ObjectLists<'o> {
    /// The objects of one of the others.
    #[inline]
    pub fn of(&self, position: usize) -> &'o [u32] {
        let start = if position == 0 { 0 } else { self.offsets[position - 1] };
        &self.items[start..self.offsets[position]]
    }

    fn has(&self, position: usize) -> bool {
        stack::require();
        self.of(position).iter().any(|item| self.objects.has(*item as usize))
    }
}
