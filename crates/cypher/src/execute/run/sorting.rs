//! `ORDER BY`, `SKIP` and `LIMIT`. With a limit only the rows are retained that may be in the
//! result: at most twice as many as it needs. Half of them are dropped at a time, so that a row
//! costs O(1) on average.
//!
//! What is sorted are 16 bytes for each row: a prefix of its first key, and its position. Most
//! pairs of rows are ordered by their prefixes alone.

use super::execution::{DONE, Execution, Flow, MORE, Reservation, Row, Sink, weight};
use crate::execute::plan::{Bounds, Expression, SlotIndex, SortKey, Stage};
use hexgraph_base::types::Result;
use hexgraph_scalar::{Value, order_prefix};
use std::cmp::Ordering;
use std::mem;

/// The rows of a chunk: rows are added without moving those before them.
const CHUNK: usize = 1 << 10;

/// What a row is sorted by first.
#[derive(Clone, Copy)]
struct Head {
    /// Of two rows the one with the smaller prefix comes first.
    prefix: u64,
    /// Where the row is. Rows with equal keys stay in the order in which they came.
    position: usize,
}

/// Rows that wait for their positions.
struct SortedRows<'k> {
    keys: &'k [SortKey],
    /// The values of a row: its keys, and those that are retained.
    width: usize,
    heads: Vec<Head>,
    chunks: Vec<Vec<Value>>,
}

/// The bytes of a head in a list that doubles.
const HEAD_BYTES: usize = 3 * size_of::<Head>();

impl SortedRows<'_> {
    /// Adds a row and moves its values: its keys, and those that are retained.
    fn add(&mut self, prefix: u64, values: &mut Vec<Value>) {
        let position = self.heads.len();
        self.heads.push(Head { prefix, position });
        if position.is_multiple_of(CHUNK) {
            self.chunks.push(Vec::new());
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.append(values);
        }
    }

    /// The values of a row.
    fn values(&self, head: Head) -> &[Value] {
        let start = head.position % CHUNK * self.width;
        &self.chunks[head.position / CHUNK][start..start + self.width]
    }

    /// Moves the values out that are retained of a row.
    fn remove(&mut self, head: Head) -> impl Iterator<Item = Value> {
        let start = head.position % CHUNK * self.width;
        let chunk = &mut self.chunks[head.position / CHUNK][start..start + self.width];
        chunk[self.keys.len()..].iter_mut().map(|value| mem::replace(value, Value::Null))
    }

    fn order(&self, one: Head, other: Head) -> Ordering {
        let by_keys = || compare(self.keys, self.values(one), self.values(other));
        let by_prefix = one.prefix.cmp(&other.prefix);
        by_prefix.then_with(by_keys).then(one.position.cmp(&other.position))
    }

    /// Drops all but the first `most` rows, at least one. Returns the prefix and the keys of the
    /// last one.
    fn retain_first(&mut self, most: usize) -> (u64, Vec<Value>) {
        let mut heads = mem::take(&mut self.heads);
        let (_, last, _) =
            heads.select_nth_unstable_by(most - 1, |it, other| self.order(*it, *other));
        let last = (last.prefix, self.values(*last)[..self.keys.len()].to_vec());
        heads.truncate(most);
        heads.sort_unstable_by_key(|head| head.position);
        let mut before = mem::take(&mut self.chunks);
        for Head { prefix, position } in heads {
            let start = position % CHUNK * self.width;
            let values = &mut before[position / CHUNK][start..start + self.width];
            let moved = values.iter_mut().map(|value| mem::replace(value, Value::Null));
            self.add(prefix, &mut moved.collect());
        }
        last
    }

    /// Sorts the rows, and returns the first `most`.
    fn sorted(&mut self, most: usize) -> Vec<Head> {
        let mut heads = mem::take(&mut self.heads);
        if most < heads.len() {
            heads.select_nth_unstable_by(most, |it, other| self.order(*it, *other));
            heads.truncate(most);
        }
        heads.sort_unstable_by(|it, other| self.order(*it, *other));
        heads
    }
}

/// Compares rows by their keys.
fn compare(keys: &[SortKey], one: &[Value], other: &[Value]) -> Ordering {
    let mut orders = keys.iter().zip(one).zip(other).map(|((key, one), other)| {
        let nulls = one.is_null().cmp(&other.is_null());
        let nulls = if key.nulls_first { nulls.reverse() } else { nulls };
        let order = one.cmp(other);
        nulls.then(if key.descending { order.reverse() } else { order })
    });
    orders.find(|it| it.is_ne()).unwrap_or(Ordering::Equal)
}

/// The prefix of a key in its direction.
fn prefix_of(key: &SortKey, value: &Value) -> u64 {
    match value {
        Value::Null if key.nulls_first => 0,
        Value::Null => u64::MAX,
        value if key.descending => !order_prefix(value),
        value => order_prefix(value),
    }
}

impl Execution<'_> {
    pub(super) fn sorted(
        &self,
        before: &[Stage],
        keys: &[SortKey],
        retained: &[SlotIndex],
        bounds: &Bounds,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        let (skip, limit) = self.bounds(bounds, row)?;
        if limit == 0 {
            return Ok(MORE);
        }
        let most = usize::try_from(skip.saturating_add(limit)).unwrap_or(usize::MAX);
        let width = keys.len() + retained.len();
        let mut rows = SortedRows { keys, width, heads: Vec::new(), chunks: Vec::new() };
        let (mut reserved, mut values) = (self.reservation(), Vec::with_capacity(width));
        // The keys of the last row of the result; later rows with equal keys follow it.
        let mut last: Option<(u64, Vec<Value>)> = None;
        let each = &mut |row: &mut Row| {
            values.clear();
            for key in keys {
                values.push(self.value(&key.key, row)?);
            }
            let pair = keys.first().zip(values.first());
            let prefix = pair.map_or(0, |(key, value)| prefix_of(key, value));
            if let Some((last_prefix, last)) = &last {
                let order = prefix.cmp(last_prefix);
                if order.then_with(|| compare(keys, &values, last)).is_ge() {
                    return Ok(MORE);
                }
            }
            values.extend(retained.iter().map(|slot| row[*slot].clone()));
            reserved.grow(HEAD_BYTES + values.iter().map(weight).sum::<usize>())?;
            rows.add(prefix, &mut values);
            if most.saturating_mul(2) <= rows.heads.len() {
                last = Some(rows.retain_first(most));
                reserved = self.reserved_for(&rows)?;
            }
            Ok(MORE)
        };
        if self.top_scan(before, keys, most, row, each)?.is_none()
            && self.top_join(before, keys, most, row, each)?.is_none()
        {
            let _ = self.produce(before, row, each)?;
        }
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        for head in rows.sorted(most).into_iter().skip(skip) {
            self.tick()?;
            for (slot, value) in retained.iter().zip(rows.remove(head)) {
                row[*slot] = value;
            }
            if sink(row)?.is_break() {
                return Ok(DONE);
            }
        }
        Ok(MORE)
    }

    /// The memory of rows.
    fn reserved_for(&self, rows: &SortedRows<'_>) -> Result<Reservation<'_>> {
        let mut reserved = self.reservation();
        let values = rows.chunks.iter().flatten().map(weight).sum::<usize>();
        reserved.grow(rows.heads.len() * HEAD_BYTES + values)?;
        Ok(reserved)
    }

    /// The numbers of rows to skip and to return.
    pub(super) fn bounds(&self, bounds: &Bounds, row: &mut Row) -> Result<(u64, u64)> {
        let skip = bounds.skip.as_ref().map(|it| self.bound("SKIP", it, row)).transpose()?;
        let limit = bounds.limit.as_ref().map(|it| self.bound("LIMIT", it, row)).transpose()?;
        Ok((skip.unwrap_or(0), limit.unwrap_or(u64::MAX)))
    }

    fn bound(&self, clause: &str, expression: &Expression, row: &mut Row) -> Result<u64> {
        match self.value(expression, row)? {
            Value::Int(number) if 0 <= number => Ok(number.unsigned_abs()),
            Value::Int(number) => {
                let message = format!("{clause} is {number}, and may not be below 0");
                Err(self.failure(expression.span, message, ""))
            }
            other => {
                let message =
                    format!("{clause} is an INTEGER, and this is a {}", other.kind().name());
                Err(self.failure(expression.span, message, ""))
            }
        }
    }
}
