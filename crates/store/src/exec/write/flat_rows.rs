//! What flat objects are made of: rows of cells, each with the number of a key and that of an item.
//!
//! A product copies cells of eight bytes, whatever the items are, and keys are compared as numbers.
//! Texts stay where they are stored.
//!
//! ```text
//!   keys   0 film  1 by     items  0 "Dune"  1 "Lynch"  2 "Herbert"     rows   (0,0) (1,1)
//!                                                                              (0,0) (1,2)
//! ```

use crate::exec::columns::read::Typed;
use crate::exec::control::tree::{Group, GroupValue};
use hexgraph_base::types::{Uid, Value, ValueRef};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::rc::Rc;

/// A value of a flat object.
pub(super) enum Item<'a> {
    Stored(ValueRef<'a>),
    Value(Value),
    List(Vec<Value>),
    /// A facet of the values of a list, by their positions.
    Positions(Vec<(usize, Value)>),
    Uid(Uid),
    Int(i64),
    /// The groups of the targets of an edge field with `@groupby`.
    Groups(LabelledGroups),
}

/// Groups, with the labels of their keys and results.
pub(super) struct LabelledGroups {
    pub(super) labels: Vec<String>,
    pub(super) groups: Vec<Group>,
}

impl LabelledGroups {
    fn heap_size(&self) -> usize {
        let of_key = |key: &GroupValue| match key {
            GroupValue::Value(value) => value.heap_size(),
            GroupValue::Node(_) => 0,
        };
        let of_group = |group: &Group| {
            let keys: usize = group.keys.iter().map(of_key).sum();
            let results = group.results.iter().flatten().map(Value::heap_size).sum::<usize>();
            let cells = size_of_val(&*group.keys) + size_of_val(&*group.results);
            size_of::<Group>() + cells + keys + results
        };
        self.groups.iter().map(of_group).sum()
    }
}

impl<'a> From<Typed<'a>> for Item<'a> {
    fn from(value: Typed<'a>) -> Item<'a> {
        match value {
            Typed::Stored(value) => Item::Stored(value),
            Typed::Converted(value) => Item::Value(value),
        }
    }
}

impl Item<'_> {
    /// The bytes that it has on the heap.
    fn heap_size(&self) -> usize {
        let of = |value: &Value| size_of::<Value>() + value.heap_size();
        match self {
            Item::Value(value) => value.heap_size(),
            Item::List(values) => values.iter().map(of).sum(),
            Item::Positions(values) => values.iter().map(|(_, value)| 8 + of(value)).sum(),
            Item::Stored(_) | Item::Uid(_) | Item::Int(_) => 0,
            Item::Groups(groups) => groups.heap_size(),
        }
    }
}

/// The numbers of a key and of an item.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    pub(super) key: u32,
    pub(super) item: u32,
}

/// Flat objects: keys in the order of the query, a key may come several times. Empty ones are left
/// out.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) cells: Vec<Cell>,
    /// Where each row ends among the cells.
    pub(super) ends: Vec<usize>,
}

impl Rows {
    pub(super) fn of(row: Vec<Cell>) -> Rows {
        let ends = if row.is_empty() { Vec::new() } else { vec![row.len()] };
        Rows { cells: row, ends }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[Cell]> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.cells[start..*end])
    }

    pub(super) fn append(&mut self, other: &Rows) {
        let before = self.cells.len();
        self.cells.extend_from_slice(&other.cells);
        self.ends.extend(other.ends.iter().map(|end| before + end));
    }

    pub(super) fn byte_len(&self) -> usize {
        bytes_of(self.cells.len(), self.ends.len())
    }

    /// The number of cells of a product.
    pub(super) fn cells_with(&self, other: &Rows) -> usize {
        let cells = |one: &Rows, other: &Rows| one.cells.len().saturating_mul(other.len());
        cells(self, other).saturating_add(cells(other, self))
    }

    /// Each row before each one of others.
    pub(super) fn product(&self, others: &Rows) -> Rows {
        let mut all = Rows {
            cells: Vec::with_capacity(self.cells_with(others)),
            ends: Vec::with_capacity(self.len() * others.len()),
        };
        for row in self.iter() {
            for other in others.iter() {
                all.cells.extend_from_slice(row);
                all.cells.extend_from_slice(other);
                all.ends.push(all.cells.len());
            }
        }
        all
    }
}

/// The bytes of some cells in rows.
pub(super) fn bytes_of(cells: usize, rows: usize) -> usize {
    cells.saturating_mul(size_of::<Cell>()).saturating_add(rows.saturating_mul(size_of::<usize>()))
}

/// Keys by their numbers.
#[derive(Default)]
pub(super) struct Keys {
    pub(super) names: Vec<Rc<str>>,
    numbers: FxHashMap<Rc<str>, u32>,
}

impl Keys {
    pub(super) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let (number, name) = (self.names.len() as u32, Rc::from(name));
        self.names.push(Rc::clone(&name));
        self.numbers.insert(name, number);
        number
    }

    pub(super) fn name(&self, number: u32) -> &str {
        &self.names[number as usize]
    }

    pub(super) fn compare(&self, one: u32, other: u32) -> Ordering {
        if one == other { Ordering::Equal } else { self.name(one).cmp(self.name(other)) }
    }
}

/// The cells of a row that have the same key.
#[derive(Default)]
pub(super) struct Repeats {
    /// For each key the number of the row that had it last, and its first cell there.
    firsts: Vec<(u32, usize)>,
    /// For each cell the next one with its key.
    pub(super) next: Vec<Option<usize>>,
    row: u32,
}

impl Repeats {
    /// Looks for the keys of a row. O(cells).
    pub(super) fn find(&mut self, row: &[Cell], keys: usize) {
        self.row = self.row.wrapping_add(1);
        if self.row == 0 {
            self.firsts.clear();
            self.row = 1;
        }
        self.firsts.resize(keys.max(self.firsts.len()), (0, 0));
        self.next.clear();
        self.next.resize(row.len(), None);
        for (at, cell) in row.iter().enumerate().rev() {
            let (last, first) = &mut self.firsts[cell.key as usize];
            if *last == self.row {
                self.next[at] = Some(*first);
            }
            (*last, *first) = (self.row, at);
        }
    }

    pub(super) fn is_first(&self, at: usize, cell: Cell) -> bool {
        self.firsts[cell.key as usize].1 == at
    }
}

/// What the flat objects of a node are made of. Its memory serves one node after the other.
#[derive(Default)]
pub(super) struct Flat<'a> {
    pub(super) keys: Keys,
    pub(super) items: Vec<Item<'a>>,
    /// The nodes from the root on.
    pub(super) path: Vec<u32>,
    pub(super) repeats: Repeats,
    /// The bytes of items and rows, and those that are reserved.
    pub(super) bytes: usize,
    pub(super) reserved: usize,
}

impl<'a> Flat<'a> {
    /// A cell of a new item.
    pub(super) fn cell(&mut self, key: &str, item: Item<'a>) -> Cell {
        self.bytes += size_of::<Item<'_>>() + item.heap_size();
        self.items.push(item);
        Cell { key: self.keys.number(key), item: self.items.len() as u32 - 1 }
    }
}
