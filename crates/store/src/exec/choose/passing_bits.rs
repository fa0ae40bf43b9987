//! The members of a set that pass a test, as bits where they lie close together: no list of them is
//! made, and threads share the words.

use super::column_test::ColumnTest;
use super::tester::Tester;
use crate::exec::columns::batches::Members;
use crate::exec::control::context::Context;
use crate::exec::cost;
use crate::graph::LangValues;
use crate::storage::NodeSet;
use hexgraph_base::types::Result;
use std::ops::Range;

/// Fewer candidates are tested as a list.
const BITS_MIN: usize = cost::SETUP.per(cost::SCAN);

/// The words of a container, and of the parts in which they are requested.
const PART: usize = 1024;

impl Context<'_> {
    /// The members of a set that pass. For the test of a column and members close together it costs
    /// O(words of their span): some 25 nanoseconds each, and three bytes for each eight ids. Else
    /// as [`Context::retain_passing`].
    ///
    /// # Errors
    ///
    /// Those of [`Context::retain_passing`].
    pub(crate) fn passing_members(
        &self,
        candidates: &NodeSet,
        tester: &Tester<'_>,
    ) -> Result<NodeSet> {
        if let Tester::Column { part, rows } = tester
            && let Some((first, last)) = self.ends_of_close(candidates)
        {
            return self.passing_bits(candidates, (first, last), (part, rows));
        }
        self.retain_passing(Members::Set(candidates), tester).map(NodeSet::from)
    }

    /// The first and the last member of a set whose members are worth a bit for each id between
    /// them.
    fn ends_of_close(&self, candidates: &NodeSet) -> Option<(u32, u32)> {
        let len = candidates.len();
        let is_many = BITS_MIN <= len || self.control.costs().choice.is_random();
        let ends = candidates.first().zip(candidates.last()).filter(|_| is_many);
        ends.filter(|(first, last)| cost::is_dense((last - first) as usize, len))
    }

    fn passing_bits(
        &self,
        candidates: &NodeSet,
        (first, last): (u32, u32),
        (part, rows): (&LangValues, &ColumnTest<'_>),
    ) -> Result<NodeSet> {
        let first = first & !0xffff;
        let count = (last - first) as usize / 64 + 1;
        let _while_testing = self.control.charge_while(3 * size_of::<u64>() * count)?;
        let retain = |words: &mut [u64], position: usize| {
            let first = first + 64 * position as u32;
            candidates.add_to_words(first, words);
            rows.retain_bits(part, first, words);
        };
        let mut all = vec![0_u64; count];
        match self.control.spread(count, cost::WORD.times(rows.cost().per(cost::ROW)))? {
            Some(spread) => {
                let retained = |range: Range<usize>| {
                    let mut words = vec![0_u64; range.len()];
                    retain(&mut words, range.start);
                    Ok((range, words))
                };
                spread.in_units_of(PART).each(retained, |(range, words)| {
                    all[range].copy_from_slice(&words);
                    Ok(())
                })?;
            }
            None => {
                for (position, words) in all.chunks_mut(PART).enumerate() {
                    self.check()?;
                    retain(words, position * PART);
                }
            }
        }
        Ok(NodeSet::from_words(first, &all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::choose::compare::ValueCondition;
    use crate::exec::control::morsels::tests::sharing_by;
    use crate::exec::cost::RandomChoice;
    use crate::exec::tests::random_graph::graph;
    use fastrand::Rng;
    use hexgraph_base::plan::{Comparison, Query};
    use hexgraph_base::types::Value;

    /// Members of any form that are retained as bits are those that pass one by one, on graphs with
    /// and without changes.
    #[test]
    fn bits_are_what_passes_one_by_one() {
        let mut rng = Rng::with_seed(31);
        let (mut tested, mut passed) = (0, 0);
        for round in 0..80 {
            let count = if round == 3 { 70_000 } else { rng.u64(20..900) };
            let (version, query) = (graph(count, &mut rng), Query::default());
            let control = sharing_by(1 + round % 2, 1_000, RandomChoice::of(7));
            let context =
                Context { version: &version, query: &query, control: &control, vars: Vec::new() };
            for name in ["age", "wide", "rate", "city", "plain"] {
                let Some(predicate) = context.predicate(name) else { continue };
                let value = match name {
                    "age" => Value::Int(rng.i64(-2..9)),
                    "wide" => Value::Int(rng.i64(0..5) * 1_000_000_007),
                    "rate" => Value::Float(rng.f64() * 3.0),
                    _ => Value::String("b".to_owned()),
                };
                let op = rng.choice([Comparison::Ge, Comparison::Lt]).unwrap();
                let expected = match name {
                    "city" | "plain" => ValueCondition::AnyOf(vec![value]),
                    _ => ValueCondition::Than(op, value),
                };
                let tester = Tester::of_values(predicate, None, expected.into());
                let Tester::Column { .. } = &tester else { continue };
                let all = predicate.subjects();
                let some: Vec<u32> = (0..count as u32 + 90).filter(|_| rng.u8(..3) != 0).collect();
                let bitmap =
                    NodeSet::from(some.iter().copied().collect::<roaring::RoaringBitmap>());
                for candidates in [all, bitmap, NodeSet::from(some)] {
                    if context.ends_of_close(&candidates).is_none() {
                        continue;
                    }
                    let result = context.passing_members(&candidates, &tester).unwrap().to_vec();
                    let right = candidates.iter().filter(|node| tester.test(*node));
                    assert_eq!(result, right.collect::<Vec<u32>>(), "{name} in round {round}");
                    tested += 1;
                    passed += result.len();
                }
            }
        }
        assert!(300 < tested && 30_000 < passed, "{tested}, {passed}");
    }
}
