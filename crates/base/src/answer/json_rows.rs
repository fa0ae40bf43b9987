//! Writes objects that come as columns as JSON, row by row, those of their lists in their
//! positions.
//!
//! Each key is written once, with the comma before it and the colon after. A short text is copied
//! as a block of fixed length and truncated, which is faster than a copy of variable length.

use super::json_text::{write_json_text, write_plain_text, write_uid};
use crate::types::{ObjectCells, ObjectLists, Objects, stack, write_float, write_int};

/// The length of the blocks that are copied.
const BLOCK: usize = 16;

/// The bytes reserved for a value.
const VALUE_BYTES: usize = 12;

/// How a text is written that a damaged file does not have.
const NO_TEXT: ([u8; BLOCK], u8) = (*b"\"\"              ", 2);

/// Objects to be written.
pub(super) struct Rows<'o> {
    columns: Vec<Column<'o>>,
    /// The bytes reserved for each.
    each: usize,
}

/// A key with a comma before it and a colon after it, and its values.
struct Column<'o> {
    /// In blocks; what follows the length means nothing.
    key: Vec<[u8; BLOCK]>,
    key_len: usize,
    /// Its values; of lists none.
    cells: ObjectCells<'o>,
    /// Of texts in a list, each as it is written, where all are short; else empty.
    quoted: Vec<([u8; BLOCK], u8)>,
    /// Lists, and the objects in them.
    lists: Option<(&'o ObjectLists<'o>, Rows<'o>)>,
}

impl<'o> Column<'o> {
    fn new(name: &str, cells: &'o ObjectCells<'o>, objects: usize) -> Column<'o> {
        let mut text = vec![b','];
        write_plain_text(name, &mut text);
        text.push(b':');
        let key_len = text.len();
        text.resize(key_len.next_multiple_of(BLOCK), 0);
        let (blocks, _) = text.as_chunks::<BLOCK>();
        let quoted = match cells {
            ObjectCells::Coded(_, texts) if texts.len() <= objects => quoted(texts),
            _ => Vec::new(),
        };
        let lists = match cells {
            ObjectCells::Lists(lists) => Some((&**lists, Rows::new(&lists.objects))),
            _ => None,
        };
        let cells = cells.flat().unwrap_or(ObjectCells::Some(&[]));
        Column { key: blocks.to_vec(), key_len, cells, quoted, lists }
    }

    #[inline]
    fn write_key(&self, out: &mut Vec<u8>) {
        let end = out.len() + self.key_len;
        self.key.iter().for_each(|block| out.extend_from_slice(block));
        out.truncate(end);
    }

    #[inline]
    fn write(&self, position: usize, out: &mut Vec<u8>) {
        self.write_key(out);
        match &self.cells {
            ObjectCells::Ints(ints, _) => write_int(ints[position], out),
            ObjectCells::Floats(floats, _) => write_float(floats[position], out),
            ObjectCells::Bools(truths, _) => {
                out.extend_from_slice(if truths[position] { b"true" } else { b"false" });
            }
            ObjectCells::Times(times, _) => {
                out.push(b'"');
                if !times[position].is_zero() {
                    times[position].write(out);
                }
                out.push(b'"');
            }
            ObjectCells::Uids(uids) => write_uid(uids[position], out),
            ObjectCells::Coded(codes, _) if !self.quoted.is_empty() => {
                let (text, len) = self.quoted.get(codes[position] as usize).unwrap_or(&NO_TEXT);
                let end = out.len() + usize::from(*len);
                out.extend_from_slice(text);
                out.truncate(end);
            }
            cells => write_json_text(cells.text(position).unwrap_or_default(), out),
        }
    }

    /// Writes the list of an object, if anything is in it.
    #[inline(never)]
    fn write_list(
        &self,
        (lists, below): &(&ObjectLists<'_>, Rows<'_>),
        position: usize,
        out: &mut Vec<u8>,
    ) {
        let before = out.len();
        self.write_key(out);
        if lists.is_list {
            out.push(b'[');
        }
        let content = out.len();
        for &item in lists.of(position) {
            below.write_one(item as usize, content, out);
        }
        if out.len() == content {
            // Nothing is left: the key is removed.
            out.truncate(before);
        } else if lists.is_list {
            out.push(b']');
        }
    }
}

/// Texts as they are written; none where one is long.
fn quoted(texts: &[&str]) -> Vec<([u8; BLOCK], u8)> {
    let mut out = Vec::new();
    let mut one = |text: &&str| {
        out.clear();
        write_json_text(text, &mut out);
        let mut block = [0; BLOCK];
        block.get_mut(..out.len())?.copy_from_slice(&out);
        Some((block, out.len() as u8))
    };
    texts.iter().map(&mut one).collect::<Option<Vec<_>>>().unwrap_or_default()
}

impl<'o> Rows<'o> {
    pub(super) fn new(objects: &'o Objects<'o>) -> Rows<'o> {
        stack::require();
        let columns: Vec<Column<'o>> = objects
            .columns
            .iter()
            .map(|(name, cells)| Column::new(name, cells, objects.len))
            .collect();
        let each = columns.iter().map(|column| column.key_len + VALUE_BYTES).sum();
        Rows { columns, each }
    }

    /// Writes the objects at some positions as the next elements of an array, whose first one
    /// begins at `content`.
    pub(super) fn write(&self, objects: &Objects<'_>, content: usize, out: &mut Vec<u8>) {
        match objects.order {
            None => {
                out.reserve(self.each.saturating_mul(objects.len));
                (0..objects.len).for_each(|position| self.write_one(position, content, out));
            }
            Some(order) => {
                out.reserve(self.each.saturating_mul(order.len()));
                order.iter().for_each(|position| self.write_one(*position as usize, content, out));
            }
        }
    }

    /// Writes an object, if it has a value, as the next element of an array, whose first one begins
    /// at `content`.
    #[inline]
    pub(super) fn write_one(&self, position: usize, content: usize, out: &mut Vec<u8>) {
        let start = out.len();
        if content < start {
            out.push(b',');
        }
        let open = out.len();
        for column in &self.columns {
            match &column.lists {
                None if column.cells.has(position) => column.write(position, out),
                None => {}
                // It has to be written to know whether anything is in it.
                Some(lists) => column.write_list(lists, position, out),
            }
        }
        match out.get_mut(open) {
            // Instead of the comma before the first key.
            Some(comma) => {
                *comma = b'{';
                out.push(b'}');
            }
            None => out.truncate(start),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::JsonSink;
    use crate::types::{DateTime, Sink, Uid, ValueRef};
    use fastrand::Rng;

    /// What objects are one by one.
    fn one_by_one(objects: &Objects<'_>, sink: &mut JsonSink) {
        objects.positions().for_each(|position| one(objects, position, sink));
    }

    fn one(objects: &Objects<'_>, position: usize, sink: &mut JsonSink) {
        sink.begin_object();
        for (key, cells) in objects.columns.iter().filter(|(_, cells)| cells.has(position)) {
            sink.key(key);
            match cells {
                ObjectCells::Ints(ints, _) => sink.value(ValueRef::Int(ints[position])),
                ObjectCells::Floats(floats, _) => sink.value(ValueRef::Float(floats[position])),
                ObjectCells::Bools(truths, _) => sink.value(ValueRef::Bool(truths[position])),
                ObjectCells::Times(times, _) => sink.value(ValueRef::DateTime(times[position])),
                ObjectCells::Uids(uids) => sink.uid(uids[position]),
                ObjectCells::Lists(lists) => {
                    if lists.is_list {
                        sink.begin_array();
                    }
                    lists
                        .of(position)
                        .iter()
                        .for_each(|it| one(&lists.objects, *it as usize, sink));
                    if lists.is_list {
                        sink.end_array();
                    }
                }
                cells => sink.text(cells.text(position).unwrap()),
            }
        }
        match sink.is_empty() {
            true => sink.discard_object(),
            false => sink.end_object(),
        }
    }

    #[test]
    fn rows_are_the_objects_one_by_one() {
        let mut rng = Rng::with_seed(3);
        let words = ["", "a", "<b>", "fourteen bytes", "a text that is no block", "\u{2028}\n"];
        let long: Vec<&str> = words.iter().copied().filter(|word| word.len() < 9).collect();
        for round in 0..200 {
            let len = rng.usize(0..9);
            let has: Vec<bool> = (0..len).map(|_| rng.u8(..3) == 0).collect();
            let ints: Vec<i64> = (0..len).map(|_| rng.i64(..) >> rng.u8(..64)).collect();
            let odd = [f64::NAN, f64::INFINITY, -0.0, 1e300, 0.1];
            let floats: Vec<f64> = (0..len).map(|_| odd[rng.usize(..5)]).collect();
            let uids: Vec<Uid> = (0..len).map(|_| Uid(rng.u64(..) >> rng.u8(..64))).collect();
            let times: Vec<DateTime> = (0..len)
                .map(|_| DateTime { seconds: rng.i64(-9..9) << 30, nanos: 0, offset_minutes: 0 })
                .collect();
            let texts: Vec<Option<&str>> = (0..len)
                .map(|position| has[position].then(|| words[rng.usize(..words.len())]))
                .collect();
            let (mut joined, mut text_offsets) = (String::new(), Vec::new());
            for text in &texts {
                joined.push_str(text.unwrap_or_default());
                text_offsets.push(joined.len());
            }
            let has_texts = if has.contains(&false) { &has[..] } else { &[] };
            let listed = if round % 2 == 0 { &words[..] } else { &long[..] };
            let code = |position: usize, rng: &mut Rng| match has[position] {
                true => rng.u32(..listed.len() as u32),
                false => ObjectCells::NONE,
            };
            let codes: Vec<u32> = (0..len).map(|position| code(position, &mut rng)).collect();
            let below = Objects {
                len,
                selection: 1,
                order: None,
                columns: vec![("n", ObjectCells::Ints(&ints, &has))],
            };
            let mut items: Vec<u32> = (0..len as u32 * 2).map(|position| position / 2).collect();
            rng.shuffle(&mut items);
            let offsets: Vec<usize> = (1..=len).map(|position| 2 * position).collect();
            let lists =
                ObjectLists { items: &items, offsets: &offsets, is_list: true, objects: below };
            let mut columns = vec![
                ("n", ObjectCells::Ints(&ints, &has)),
                ("a key that is longer than a block", ObjectCells::Floats(&floats, &[])),
                ("\"quoted\"", ObjectCells::Some(&texts)),
                ("joined", ObjectCells::Texts(&joined, &text_offsets, has_texts)),
                ("truth", ObjectCells::Bools(&has, &has)),
                ("born", ObjectCells::Times(&times, &[])),
                ("fifteen_bytes_", ObjectCells::Coded(&codes, listed)),
                ("uid", ObjectCells::Uids(&uids)),
                ("friends", ObjectCells::Lists(Box::new(lists))),
            ];
            rng.shuffle(&mut columns);
            columns.truncate(rng.usize(..10));
            let mut order: Vec<u32> = (0..len as u32).collect();
            rng.shuffle(&mut order);
            let order = (round % 3 == 0).then_some(&order[..]);
            let objects = Objects { len, selection: 0, order, columns };
            let (mut rows, mut single) = (JsonSink::new(), JsonSink::new());
            for sink in [&mut rows, &mut single] {
                sink.begin_array();
            }
            for _ in 0..2 {
                assert!(rows.objects(&objects));
                one_by_one(&objects, &mut single);
            }
            for sink in [&mut rows, &mut single] {
                sink.end_array();
            }
            assert_eq!(rows.into_string(), single.into_string(), "round {round}");
        }
    }
}
