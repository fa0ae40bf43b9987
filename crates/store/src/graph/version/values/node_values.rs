//! The first values of many nodes at once, as one list of their type.

use super::{LangValues, NumberRun};
use crate::storage::{Array, Entries, NodeValues, TypedValues, Values, text_of};
use bytemuck::Pod;
use hexgraph_base::types::{DateTime, ValueRef};
use std::cell::RefCell;
use std::ops::Range;

/// What the entry of a node without an instant is.
const NO_TIME: DateTime = DateTime { seconds: 0, nanos: 0, offset_minutes: 0 };

const DAY_SECONDS: i64 = 86_400;

impl LangValues {
    /// The first value of each of some ascending nodes. The type of the column is tested once, and
    /// values of contiguous rows are copied together. O(nodes + changes between the first and the
    /// last node).
    pub fn first_values<'a>(&'a self, nodes: &[u32]) -> NodeValues<'a> {
        self.values_of_type(nodes).unwrap_or_else(|| {
            let column = &self.base.column;
            let get = |row: usize| column.values.get(column.row_positions(row).start);
            let append = |rows: Range<usize>, into: &mut Vec<_>| into.extend(rows.map(get));
            let any = self.entries(nodes, ValueRef::Bool(false), (append, get), Some);
            any.unwrap_or_else(|| Entries::new(0)).finish(TypedValues::Any)
        })
    }

    /// The same, where all values have one type that is no other than that of the column.
    fn values_of_type<'a>(&'a self, nodes: &[u32]) -> Option<NodeValues<'a>> {
        let column = &self.base.column;
        if column.rows.is_some() {
            return None;
        }
        let int = |value: ValueRef<'_>| match value {
            ValueRef::Int(number) => Some(number),
            _ => None,
        };
        let time = |value: ValueRef<'_>| match value {
            ValueRef::DateTime(time) => Some(time),
            _ => None,
        };
        match &column.values {
            Values::SmallInt(numbers) => {
                let entries = self.plain(nodes, numbers, 0, i64::from, int)?;
                Some(entries.finish(TypedValues::Ints))
            }
            Values::Int(numbers) => {
                Some(self.plain(nodes, numbers, 0, |it| it, int)?.finish(TypedValues::Ints))
            }
            Values::Float(numbers) => {
                let float = |value: ValueRef<'_>| match value {
                    ValueRef::Float(number) => Some(number),
                    _ => None,
                };
                let entries = self.plain(nodes, numbers, 0.0, |it| it, float)?;
                Some(entries.finish(TypedValues::Floats))
            }
            Values::Bool(bools) => {
                let truth = |value: ValueRef<'_>| match value {
                    ValueRef::Bool(truth) => Some(truth),
                    _ => None,
                };
                let entries = self.plain(nodes, bools, false, |it| it != 0, truth)?;
                Some(entries.finish(TypedValues::Bools))
            }
            Values::Days(days) => {
                let instant = |days| instant(i64::from(days) * DAY_SECONDS);
                let entries = self.plain(nodes, days, NO_TIME, instant, time)?;
                Some(entries.finish(TypedValues::Times))
            }
            Values::SmallTime(seconds) => {
                let instant = |seconds: i32| instant(seconds.into());
                let entries = self.plain(nodes, seconds, NO_TIME, instant, time)?;
                Some(entries.finish(TypedValues::Times))
            }
            Values::DateTime { .. } => {
                let get = |row| time(column.values.get(row)).unwrap_or(NO_TIME);
                let append = |rows: Range<usize>, into: &mut Vec<_>| into.extend(rows.map(get));
                Some(self.entries(nodes, NO_TIME, (append, get), time)?.finish(TypedValues::Times))
            }
            Values::Text { .. } | Values::Coded { .. } => self.texts(nodes),
            Values::Vector { .. } | Values::Mixed { .. } => None,
        }
    }

    /// The texts of some nodes.
    fn texts<'a>(&'a self, nodes: &[u32]) -> Option<NodeValues<'a>> {
        let values = &self.base.column.values;
        let value_type = values.value_type()?;
        let text_of = |value| text_of(value).unwrap_or_default();
        let changed =
            |value: ValueRef<'a>| (value.value_type() == value_type).then(|| text_of(value));
        let entries = match values {
            Values::Coded { codes, .. } => {
                // Each text of the few is validated once.
                let texts: RefCell<Vec<Option<&str>>> = RefCell::default();
                let text = |code: u16| {
                    let (mut texts, code) = (texts.borrow_mut(), usize::from(code));
                    if texts.len() <= code {
                        texts.resize(code + 1, None);
                    }
                    *texts[code].get_or_insert_with(|| {
                        values.text_of_code(code).map(text_of).unwrap_or_default()
                    })
                };
                let append = |rows: Range<usize>, into: &mut Vec<_>| {
                    into.extend(codes.slice(rows).iter().map(|code| text(*code)));
                };
                self.entries(nodes, "", (append, |row| text(codes.get(row))), changed)
            }
            Values::Text { texts, .. } => {
                let mut bounds = Vec::new();
                let append = |rows: Range<usize>, into: &mut Vec<_>| {
                    let run = texts.run(rows, &mut bounds);
                    let mut start = 0;
                    into.extend(bounds.iter().map(|end| {
                        let text = run.get(start..*end).unwrap_or_default();
                        start = *end;
                        text
                    }));
                };
                self.entries(nodes, "", (append, |row| texts.get(row)), changed)
            }
            _ => None,
        };
        Some(entries?.finish(|texts| TypedValues::Texts(value_type, texts)))
    }

    /// Numbers that are stored in as many bits as they need.
    fn plain<'a, S: Pod, T: Copy>(
        &'a self,
        nodes: &[u32],
        stored: &'a Array<S>,
        empty: T,
        number: impl Fn(S) -> T,
        changed: impl Fn(ValueRef<'a>) -> Option<T>,
    ) -> Option<Entries<T>> {
        let append = |rows: Range<usize>, into: &mut Vec<T>| {
            into.extend(stored.slice(rows).iter().map(|it| number(*it)));
        };
        self.entries(nodes, empty, (append, |row| number(stored.get(row))), changed)
    }

    /// The entries of some nodes. `append` reads contiguous rows, `get` one row, and `changed` the
    /// value of a changed node; `None` where that has another type.
    fn entries<'a, T: Copy>(
        &'a self,
        nodes: &[u32],
        empty: T,
        (mut append, get): (impl FnMut(Range<usize>, &mut Vec<T>), impl Fn(usize) -> T),
        changed: impl Fn(ValueRef<'a>) -> Option<T>,
    ) -> Option<Entries<T>> {
        let rows = &self.base.column.subjects;
        let (mut entries, mut have_one_type) = (Entries::new(nodes.len()), true);
        self.by_changes(nodes, |run| {
            let start = entries.values.len();
            match run {
                NumberRun::Stored(nodes) => match rows.rows_of_run(nodes) {
                    Some(rows) => {
                        append(rows, &mut entries.values);
                        entries.set_present_from(start);
                    }
                    None => {
                        entries.values.resize(start + nodes.len(), empty);
                        rows.for_each_row(nodes, |at, row| {
                            entries.values[start + at] = get(row);
                            entries.set_present(start + at);
                        });
                    }
                },
                NumberRun::Changed(_, row) => {
                    let value = row.map(|row| changed(row.first()));
                    have_one_type &= !matches!(value, Some(None));
                    entries.values.push(value.flatten().unwrap_or(empty));
                    if value.is_some() {
                        entries.set_present(start);
                    }
                }
            }
        });
        have_one_type.then_some(entries)
    }
}

fn instant(seconds: i64) -> DateTime {
    DateTime { seconds, ..NO_TIME }
}
