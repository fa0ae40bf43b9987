//! The number of different values. Values are different where they would be in different groups: 0
//! and -0 are one value, an int and a float are two.

use crate::exec::columns::read::Typed;
use crate::exec::control::pending::CHARGED_BYTES;
use crate::exec::control::stop::RequestContext;
use hexgraph_base::types::{Result, ordered_bits};
use rustc_hash::FxHashSet;
use std::mem;

/// The number of different ints, which are sorted.
pub(super) fn of_ints(ints: &mut [i64]) -> usize {
    ints.sort_unstable();
    count_sorted(ints)
}

/// The number of different floats, which are sorted.
pub(super) fn of_floats(floats: &mut [f64]) -> usize {
    floats.sort_unstable_by_key(|float| ordered_bits(*float));
    count_by(floats, |one, other| ordered_bits(*one) == ordered_bits(*other))
}

/// The number of different items of a sorted list.
pub(in crate::exec) fn count_sorted<T: PartialEq>(items: &[T]) -> usize {
    count_by(items, T::eq)
}

fn count_by<T>(items: &[T], is_same: impl Fn(&T, &T) -> bool) -> usize {
    let steps = items.windows(2).filter(|pair| !is_same(&pair[0], &pair[1])).count();
    steps + usize::from(!items.is_empty())
}

/// The number of different values of any types.
///
/// # Errors
///
/// Those of [`RequestContext::check`] and [`RequestContext::charge`].
pub(in crate::exec) fn count<'v>(
    values: impl Iterator<Item = Typed<'v>>,
    control: &RequestContext,
) -> Result<usize> {
    let (mut keys, mut key) = (FxHashSet::<Box<[u8]>>::default(), Vec::new());
    let (mut held, mut pending) = (control.charge_while(0)?, 0);
    for (position, value) in values.enumerate() {
        if position.is_multiple_of(CHARGED_BYTES) {
            control.check()?;
        }
        key.clear();
        value.as_ref().group_key(&mut key);
        if keys.contains(key.as_slice()) {
            continue;
        }
        // The table is half empty, and each key is a list of its own.
        pending += 3 * size_of::<Box<[u8]>>() + key.len();
        if CHARGED_BYTES <= pending {
            control.check()?;
            held.grow(mem::take(&mut pending))?;
        }
        keys.insert(key.as_slice().into());
    }
    Ok(keys.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hexgraph_base::types::ValueRef;

    #[test]
    fn equal_values_count_once() {
        assert_eq!(of_ints(&mut []), 0);
        assert_eq!(of_ints(&mut [3, 1, 3, 3, 2]), 3);
        assert_eq!(of_floats(&mut [0.0, -0.0, 1.5, -1.5, 1.5]), 3);
        let values = [ValueRef::String("a"), ValueRef::Bool(true), ValueRef::String("a")];
        let values = values.into_iter().map(Typed::Stored);
        assert_eq!(count(values, &RequestContext::new()).unwrap(), 2);
    }
}
