//! Makes the facets of parts, which come in order of arrival, columns by position.

use super::parts::{FacetPart, FacetRows};
use crate::storage::{FacetColumn, FrozenBitmap, Values};
use hexgraph_base::types::{ValueType, parallel};

/// Adds the facets of a part whose first row is row `first` of them all.
pub(super) fn push_facets(parts: Vec<FacetPart>, first: usize, all: &mut Vec<FacetPart>) {
    let first = first as u32;
    all.extend(parts.into_iter().map(|mut part| {
        part.rows.shift(first);
        part
    }));
}

/// Makes columns of facets by row. `retained` are the rows that stay, `None` for all.
pub(super) fn position_facets(
    mut parts: Vec<FacetPart>,
    retained: Option<&[u32]>,
) -> Vec<FacetColumn> {
    if parts.is_empty() {
        return Vec::new();
    }
    // The sort is stable, so the rows of one facet still ascend.
    parts.sort_by(|one, other| facet_key(one).cmp(&facet_key(other)));
    let mut groups: Vec<Vec<FacetPart>> = Vec::new();
    for part in parts {
        match groups.last_mut().filter(|group| facet_key(&group[0]) == facet_key(&part)) {
            Some(group) => group.push(part),
            None => groups.push(vec![part]),
        }
    }
    let mut positions = None;
    groups.into_iter().filter_map(|group| facet_column(group, retained, &mut positions)).collect()
}

/// For each row, the position that it gets; `u32::MAX` for one that is dropped.
fn positions_of(retained: &[u32]) -> Vec<u32> {
    let mut positions = vec![u32::MAX; retained.iter().max().map_or(0, |&row| row as usize + 1)];
    for (position, &row) in retained.iter().enumerate() {
        positions[row as usize] = position as u32;
    }
    positions
}

fn facet_key(part: &FacetPart) -> (&str, Option<ValueType>) {
    (&part.key, part.values.value_type())
}

/// True when the parts have all rows from 0 up to the last of those that stay.
fn has_all_rows(parts: &[FacetPart], retained: Option<&[u32]>) -> bool {
    let mut next = 0;
    for part in parts {
        match &part.rows {
            FacetRows::Range(range) if range.start == next => next = range.end,
            _ => return false,
        }
    }
    retained.is_none_or(|retained| retained.iter().all(|&row| row < next))
}

fn facet_column(
    parts: Vec<FacetPart>,
    retained: Option<&[u32]>,
    slots: &mut Option<Vec<u32>>,
) -> Option<FacetColumn> {
    let key = parts[0].key.clone();
    let value_type = parts[0].values.value_type().unwrap_or(ValueType::Default);
    let has_all = has_all_rows(&parts, retained);
    let (rows, values): (Vec<_>, Vec<_>) =
        parts.into_iter().map(|part| (part.rows, part.values)).unzip();
    let mut values = Values::concat(value_type, values);
    if has_all {
        let values = retained.map_or(values.clone(), |retained| values.gather(retained));
        let positions = FrozenBitmap::from_range(0..values.len() as u32);
        return (!positions.is_empty()).then_some(FacetColumn::new(key, positions, values));
    }
    let rows = rows.iter().flat_map(FacetRows::iter);
    let mut positions: Vec<u32> = match retained {
        None => rows.collect(),
        Some(retained) => {
            let slots = slots.get_or_insert_with(|| positions_of(retained));
            let position = |row: u32| slots.get(row as usize).copied().unwrap_or(u32::MAX);
            rows.map(position).collect()
        }
    };
    if !positions.is_sorted() || positions.last() == Some(&u32::MAX) {
        let mut order: Vec<u64> =
            positions.iter().enumerate().map(|(at, &position)| pack(position, at as u32)).collect();
        parallel::sort_unstable(&mut order);
        // Dropped rows have the position `u32::MAX`, which no row has, so they sort last.
        order.truncate(order.partition_point(|&key| (key >> 32) as u32 != u32::MAX));
        values = values.gather(&order.iter().map(|&key| key as u32).collect::<Vec<u32>>());
        positions = order.iter().map(|&key| (key >> 32) as u32).collect();
    }
    let positions = FrozenBitmap::from_sorted(&positions);
    (!positions.is_empty()).then_some(FacetColumn::new(key, positions, values.coded()))
}

/// Two numbers in one, which compares as they do one after the other.
pub(super) fn pack(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}
