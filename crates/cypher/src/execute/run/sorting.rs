//! `ORDER BY`, `SKIP` and `LIMIT`. With a limit only the rows are retained that may be in the
//! result: at most twice as many as it needs. Half of them are dropped at a time, so that a row
//! costs O(1) on average.

use super::execution::{DONE, Execution, Flow, MORE, Reservation, Row, Sink};
use super::rows::cut;
use crate::execute::plan::{Bounds, Expression, SlotIndex, SortKey, Stage};
use hexgraph_base::types::Result;
use hexgraph_scalar::Value;
use std::cmp::Ordering;
use std::mem;

/// A row that waits for its position.
struct SortedRow {
    keys: Vec<Value>,
    /// Rows with equal keys stay in the order in which they came.
    number: u64,
    values: Vec<Value>,
}

fn compare_by(((one, other), key): ((&Value, &Value), &SortKey)) -> Ordering {
    let nulls = one.is_null().cmp(&other.is_null());
    let nulls = if key.nulls_first { nulls.reverse() } else { nulls };
    let order = one.cmp(other);
    nulls.then(if key.descending { order.reverse() } else { order })
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
        let compare = |one: &[Value], other: &[Value]| {
            let mut orders = one.iter().zip(other).zip(keys).map(compare_by);
            orders.find(|it| it.is_ne()).unwrap_or(Ordering::Equal)
        };
        let order = |one: &SortedRow, other: &SortedRow| {
            compare(&one.keys, &other.keys).then(one.number.cmp(&other.number))
        };
        let (mut rows, mut reserved) = (Vec::<SortedRow>::new(), self.reservation());
        let (mut number, mut values_of_keys) = (0, Vec::with_capacity(keys.len()));
        // The keys of the last row of the result; later rows with equal keys follow it.
        let mut last: Option<Vec<Value>> = None;
        let each = &mut |row: &mut Row| {
            values_of_keys.clear();
            for key in keys {
                values_of_keys.push(self.value(&key.key, row)?);
            }
            if last.as_ref().is_some_and(|last| compare(&values_of_keys, last).is_ge()) {
                return Ok(MORE);
            }
            let keys = mem::take(&mut values_of_keys);
            let next = SortedRow { keys, number, values: cut(row, retained) };
            number += 1;
            reserved.grow_by_row(&next.keys)?;
            reserved.grow_by_row(&next.values)?;
            rows.push(next);
            if most.saturating_mul(2) <= rows.len() {
                let (_, at_most, _) = rows.select_nth_unstable_by(most - 1, order);
                last = Some(at_most.keys.clone());
                rows.truncate(most);
                reserved = self.reserved_for(&rows)?;
            }
            Ok(MORE)
        };
        if self.top_scan(before, keys, most, row, each)?.is_none()
            && self.top_join(before, keys, most, row, each)?.is_none()
        {
            let _ = self.produce(before, row, each)?;
        }
        rows.sort_unstable_by(order);
        rows.truncate(most);
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        for next in rows.into_iter().skip(skip) {
            self.tick()?;
            for (slot, value) in retained.iter().zip(next.values) {
                row[*slot] = value;
            }
            if sink(row)?.is_break() {
                return Ok(DONE);
            }
        }
        Ok(MORE)
    }

    /// The memory of rows.
    fn reserved_for(&self, rows: &[SortedRow]) -> Result<Reservation<'_>> {
        let mut reserved = self.reservation();
        for row in rows {
            reserved.grow_by_row(&row.keys)?;
            reserved.grow_by_row(&row.values)?;
        }
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
