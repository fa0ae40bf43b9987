//! Numbers of many nodes by their ids, for many questions in any order: each is one look at a table
//! that is as narrow as the numbers allow.
//!
//! Questions in any order miss the nearer caches, so what counts is how many lines of memory a
//! question touches, and how many there are. A position in a list of nodes and a number of 64 bits
//! are two; a table by id of ints that fit into 32 bits is one, of a third of the size.

use super::float_sums::FloatSum;
use super::sums::Sum;
use crate::exec::control::tree::{Column, ValueMap};
use crate::exec::cost::is_dense;

/// Represents a missing int.
const NO_INT: i32 = i32::MIN;

/// The bits that represent a missing float: those of a NaN that no computation gives.
const NO_FLOAT: u64 = 0x7ff4_6865_7867_7261;

/// Numbers by the distance of their node from the first one.
pub(super) struct NodeNumbers {
    first: u32,
    table: Table,
}

enum Table {
    Ints(Vec<i32>),
    /// As bits, since a NaN is not equal to itself.
    Floats(Vec<u64>),
}

impl NodeNumbers {
    /// The numbers of a map for about so many questions. `None` where there are fewer questions
    /// than nodes, the ids lie far apart, or a value does not fit. O(span).
    pub(super) fn new(map: &ValueMap, questions: usize) -> Option<NodeNumbers> {
        let (first, last) = (*map.nodes.first()?, *map.nodes.last()?);
        let span = (last - first) as usize + 1;
        let pays = map.nodes.len() <= questions && is_dense(span, map.nodes.len());
        if !pays || map.constant.is_some() {
            return None;
        }
        let positions = map.nodes.iter().map(|node| (node - first) as usize);
        let table = match &map.values {
            Column::Int(ints) => {
                let mut table = vec![NO_INT; span];
                let mut fit = true;
                for (position, int) in positions.zip(ints) {
                    table[position] = *int as i32;
                    fit &= i64::from(table[position]) == *int && table[position] != NO_INT;
                }
                Table::Ints(Some(table).filter(|_| fit)?)
            }
            Column::Float(floats) => {
                let mut table = vec![NO_FLOAT; span];
                let mut fit = true;
                for (position, float) in positions.zip(floats) {
                    table[position] = float.to_bits();
                    fit &= table[position] != NO_FLOAT;
                }
                Table::Floats(Some(table).filter(|_| fit)?)
            }
            Column::Any(_) => return None,
        };
        Some(NodeNumbers { first, table })
    }

    /// The bytes that the table takes.
    pub(super) fn byte_len(&self) -> usize {
        match &self.table {
            Table::Ints(table) => size_of_val(table.as_slice()),
            Table::Floats(table) => size_of_val(table.as_slice()),
        }
    }

    /// The sum of the numbers of those of some nodes that have one, in their order; `None` where
    /// none has.
    pub(super) fn sum_of(&self, nodes: &[u32]) -> Option<Sum> {
        // A node before the first one wraps to a position after all others.
        let positions = nodes.iter().map(|node| node.wrapping_sub(self.first) as usize);
        let mut count = 0;
        let sum = match &self.table {
            Table::Ints(table) => {
                // Fewer than 2^32 ints of 32 bits add up to one of 64.
                let mut total = 0_i64;
                for position in positions {
                    let int = table.get(position).copied().unwrap_or(NO_INT);
                    let has = int != NO_INT;
                    total += if has { i64::from(int) } else { 0 };
                    count += usize::from(has);
                }
                Sum::of_int_total(total.into(), count)
            }
            Table::Floats(table) => {
                let mut total = FloatSum::NONE;
                for bits in positions.filter_map(|position| table.get(position)) {
                    if *bits != NO_FLOAT {
                        total.add(f64::from_bits(*bits));
                        count += 1;
                    }
                }
                Sum::of_float_total(total.total(), count)
            }
        };
        (0 < count).then_some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use hexgraph_base::types::Value;

    /// Sums by the table are those of the values one by one, and numbers that do not fit have none.
    #[test]
    fn sums_are_those_of_the_values() {
        let mut rng = Rng::with_seed(11);
        let (mut made, mut left) = (0, 0);
        for round in 0..400 {
            let first = [0, 7, u32::MAX - 300][rng.usize(..3)];
            let nodes: Vec<u32> = (first..first + 200).filter(|_| rng.u8(..3) != 0).collect();
            let wide = [1 << 40, i64::from(i32::MIN), i64::from(i32::MAX)][rng.usize(..3)];
            let number = |rng: &mut Rng| match (round % 2, rng.u8(..200)) {
                (0, 0) => Value::Int(wide),
                (0, _) => Value::Int(rng.i64(-9..9)),
                (_, 0) => Value::Float(
                    [f64::NAN, f64::INFINITY, f64::from_bits(NO_FLOAT)][rng.usize(..3)],
                ),
                _ => Value::Float(rng.f64()),
            };
            let map = ValueMap::from_sorted(nodes.iter().map(|node| (*node, number(&mut rng))));
            let Some(numbers) = NodeNumbers::new(&map, nodes.len()) else {
                left += 1;
                continue;
            };
            made += 1;
            for _ in 0..20 {
                let requested: Vec<u32> = (0..rng.usize(..9))
                    .map(|_| first.wrapping_sub(20).wrapping_add(rng.u32(..240)))
                    .collect();
                let expected = Sum::over(requested.iter().filter_map(|node| map.get(*node)));
                let shown = |sum: Option<Sum>| {
                    sum.map(|sum| {
                        (format!("{:?}", sum.clone().mean()), format!("{:?}", sum.value()))
                    })
                };
                assert_eq!(shown(numbers.sum_of(&requested)), shown(expected), "round {round}");
            }
        }
        assert!(100 < made && 20 < left, "{made} tables, {left} left out");
    }
}
