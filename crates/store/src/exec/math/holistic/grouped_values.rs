//! The values of many groups, for aggregates that read all values of a group at once.
//!
//! While members are read, values are appended with the number of their group. Then they are sorted
//! by group once, by counting, so that those of a group lie together, in the order of the members.
//! O(values + groups).

use crate::exec::columns::batches::BATCH;

/// Values with their groups.
pub(in crate::exec) struct GroupedValues<T> {
    /// The group of each value; empty when the values are sorted.
    groups: Vec<u32>,
    values: Vec<T>,
    /// Where the values of each group stop, when they are sorted.
    bounds: Vec<usize>,
}

impl<T> Default for GroupedValues<T> {
    fn default() -> GroupedValues<T> {
        GroupedValues { groups: Vec::new(), values: Vec::new(), bounds: Vec::new() }
    }
}

impl<T: Copy + Default> GroupedValues<T> {
    /// The bytes that a value takes: in lists that double, in those of a part of the members, and
    /// sorted.
    pub(in crate::exec) const BYTES: usize = size_of::<(u32, T)>() * 3;

    /// Adds values, each to its group.
    pub(in crate::exec) fn add<N: Copy + Into<T>>(&mut self, groups: &[u32], values: &[N]) {
        self.groups.extend_from_slice(groups);
        self.values.extend(values.iter().map(|value| (*value).into()));
    }

    /// Adds the values of the next part of the members, whose groups are at these positions.
    pub(in crate::exec) fn absorb(&mut self, part: &GroupedValues<T>, positions: &[u32]) {
        self.groups.extend(part.groups.iter().map(|group| positions[*group as usize]));
        self.values.extend_from_slice(&part.values);
    }

    /// Adds the values of other groups, whose numbers are higher by `offset` here, but for group 0.
    pub(in crate::exec) fn append(&mut self, more: &GroupedValues<T>, offset: u32) {
        let shifted = |group: &u32| if *group == 0 { 0 } else { group + offset };
        self.groups.extend(more.groups.iter().map(shifted));
        self.values.extend_from_slice(&more.values);
    }

    /// Puts the groups into another order: those at the given positions. The values of others are
    /// put into group 0.
    pub(in crate::exec) fn reorder(&mut self, order: &[u32]) {
        let groups = self.groups.iter().chain(order).max().map_or(0, |most| *most as usize + 1);
        let mut numbers = vec![0; groups];
        (0..).zip(order).for_each(|(number, group)| numbers[*group as usize] = number);
        self.groups.iter_mut().for_each(|group| *group = numbers[*group as usize]);
    }

    /// Sorts the values by their `count` groups.
    pub(in crate::exec) fn sort(&mut self, count: usize) {
        let mut bounds = vec![0; count];
        self.groups.iter().for_each(|group| bounds[*group as usize] += 1);
        let mut start = 0;
        for bound in &mut bounds {
            start += std::mem::replace(bound, start);
        }
        let mut sorted = vec![T::default(); self.values.len()];
        for (group, value) in self.groups.drain(..).zip(self.values.drain(..)) {
            let position = &mut bounds[group as usize];
            sorted[*position] = value;
            *position += 1;
        }
        (self.values, self.bounds) = (sorted, bounds);
        self.groups = Vec::new();
    }

    /// The values of a group, when they are sorted.
    pub(in crate::exec) fn of(&self, group: usize) -> &[T] {
        let start = group.checked_sub(1).map_or(0, |before| self.bounds[before]);
        &self.values[start..self.bounds[group]]
    }

    /// The values before they are sorted, batch by batch, with their groups.
    pub(in crate::exec) fn batches(&self) -> impl Iterator<Item = (&[u32], &[T])> {
        self.groups.chunks(BATCH).zip(self.values.chunks(BATCH))
    }

    /// The number of values.
    pub(in crate::exec) fn len(&self) -> usize {
        self.values.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(mut values: GroupedValues<i64>, count: usize) -> Vec<Vec<i64>> {
        values.sort(count);
        (0..count).map(|group| values.of(group).to_vec()).collect()
    }

    /// A copy with the groups in another order.
    fn in_order(values: &GroupedValues<i64>, order: &[u32]) -> GroupedValues<i64> {
        let mut copy = GroupedValues::default();
        copy.add(&values.groups, &values.values);
        copy.reorder(order);
        copy
    }

    #[test]
    fn values_lie_by_group_in_their_order() {
        let mut values = GroupedValues::default();
        values.add(&[2, 1, 2], &[7_i64, 5, 6]);
        values.add(&[0, 1], &[9_i32, 4]);
        let mut others = GroupedValues::default();
        others.add(&[1, 0, 2], &[1_i64, 2, 3]);
        let expected = [vec![9], vec![5, 4], vec![7, 6], vec![]];
        assert_eq!(sorted(in_order(&values, &[0, 1, 2]), 4), expected);
        // Those of group 2 are left out.
        assert_eq!(sorted(in_order(&values, &[0, 1]), 2), [vec![7, 6, 9], vec![5, 4]]);
        assert_eq!(sorted(in_order(&values, &[0, 2, 1]), 3), [vec![9], vec![7, 6], vec![5, 4]]);
        values.append(&others, 2);
        assert_eq!(sorted(in_order(&values, &[0, 3, 4]), 3)[1..], [vec![1], vec![3]]);
        values.absorb(&others, &[0, 2, 1]);
        let expected = [vec![9, 2, 2], vec![5, 4, 3], vec![7, 6, 1], vec![1], vec![3]];
        assert_eq!(sorted(values, 5), expected);
    }
}
