//! Carries out filters: reduces a set of nodes to those that pass.
//!
//! Each function either gives the whole set of its nodes from an index, or tests nodes one by one.
//! The cheaper way is taken: the index when it would give fewer nodes than there are candidates
//! (or not many more, since a test costs more than a step in a posting list).

use crate::exec::choose::function::is_told;
use crate::exec::choose::geo_function::GeoCall;
use crate::exec::choose::tester::Tester;
use crate::exec::control::context::Context;
use crate::storage::NodeSet;
use hexgraph_base::plan::{Call, Filter, Function, Operand};
use hexgraph_base::types::{Result, stack};

impl<'a> Context<'a> {
    /// The candidates that pass a filter.
    pub(crate) fn filter<'f>(&self, filter: &'f Filter, candidates: NodeSet) -> Result<NodeSet>
    where
        'a: 'f,
    {
        stack::check()?;
        self.check()?;
        match filter {
            Filter::And(parts) => {
                // Each part sees only what the parts before it left, so the one that leaves least
                // goes first.
                let mut left = candidates;
                for part in self.cheapest_first(parts) {
                    left = self.filter(part, left)?;
                }
                Ok(left)
            }
            Filter::Or(parts) => {
                let mut all = NodeSet::default();
                for part in parts {
                    all = all.or(&self.filter(part, candidates.clone())?);
                }
                Ok(all)
            }
            Filter::Not(part) => {
                let passed = self.filter(part, candidates.clone())?;
                Ok(candidates.and_not(&passed))
            }
            Filter::Function(function) => self.filter_by(function, candidates),
            Filter::Reaches(reach) => self.filter_reaching(reach, candidates),
        }
    }

    /// The number of candidates that pass a filter, where they are counted without a list of them: a range of ints as they are stored,
    /// when all nodes that have one are candidates. `None` for any other filter. O(rows + changes).
    pub(crate) fn count_passing(
        &self,
        filter: &Filter,
        candidates: &NodeSet,
    ) -> Result<Option<usize>> {
        let Filter::Function(function) = filter else { return Ok(None) };
        let (Call::Compare { left: Operand::Predicate(_), .. }
        | Call::Between { left: Operand::Predicate(_), .. }) = &function.call
        else {
            return Ok(None);
        };
        let estimate = self.estimate(function);
        if self.prefers_index(estimate, candidates) {
            return Ok(None);
        }
        let tester = self.tester(function)?;
        let Tester::IntRange { part, numbers, range } = &tester else { return Ok(None) };
        if !candidates.is_known_to_have_all(&part.subjects()) {
            return Ok(None);
        }
        let step =
            self.begin("filter", "", Some(function.at), estimate.filter(|_| is_told(function)));
        let mut count = numbers.count(range, || self.check())?;
        let subjects = &part.base.column.subjects;
        for (node, _) in part.changed_between(0, u32::MAX) {
            let was_counted = subjects.row_of(node).is_some_and(|row| numbers.holds(row, range));
            count = count - usize::from(was_counted) + usize::from(tester.test(node));
        }
        self.took("counts the column");
        self.end(&step, count);
        Ok(Some(count))
    }

    /// The parts of a conjunction in ascending order of what they are expected to leave.
    fn cheapest_first<'f>(&self, parts: &'f [Filter]) -> Vec<&'f Filter>
    where
        'a: 'f,
    {
        let mut order: Vec<&Filter> = parts.iter().collect();
        // Every part is still run, also on an empty set: a wrong argument is an error anyway.
        order.sort_by_cached_key(|part| match part {
            Filter::Function(function) => self.estimate(function).unwrap_or(usize::MAX - 2),
            Filter::Reaches(_) => usize::MAX,
            _ => usize::MAX - 1,
        });
        order
    }

    fn filter_by<'f>(&self, function: &'f Function, candidates: NodeSet) -> Result<NodeSet>
    where
        'a: 'f,
    {
        if let Call::Geo { relation, predicate, arguments } = &function.call {
            let call = GeoCall { relation: *relation, name: predicate, arguments };
            return self.geo_nodes(call, Some(&candidates));
        }
        let estimate = self.estimate(function);
        let step =
            self.begin("filter", "", Some(function.at), estimate.filter(|_| is_told(function)));
        let passed = self.passing(function, candidates, estimate)?;
        self.end(&step, passed.len());
        Ok(passed)
    }

    /// True where an index is expected to give no more nodes than cost as much as a test of each candidate.
    fn prefers_index(&self, estimate: Option<usize>, candidates: &NodeSet) -> bool {
        let small = candidates.len().saturating_mul(self.control.costs().test);
        estimate.is_some_and(|count| count <= small)
    }

    fn passing<'f>(
        &self,
        function: &'f Function,
        candidates: NodeSet,
        estimate: Option<usize>,
    ) -> Result<NodeSet>
    where
        'a: 'f,
    {
        if self.prefers_index(estimate, &candidates)
            && let Some(nodes) = self.indexed(function)?
        {
            self.took("index");
            return Ok(nodes.and(&candidates));
        }
        match self.tester(function)? {
            Tester::Constant(true) => Ok(candidates),
            Tester::Constant(false) => Ok(NodeSet::default()),
            Tester::Member(set) => {
                self.took("set");
                Ok(set.and(&candidates))
            }
            tester => {
                self.took("node by node");
                Ok(NodeSet::from(self.keep_passing(&candidates.as_list(), &tester)?))
            }
        }
    }

    /// A filter as a test of single nodes.
    pub(crate) fn filter_tester<'f>(&self, filter: &'f Filter) -> Result<Tester<'f>>
    where
        'a: 'f,
    {
        stack::check()?;
        let all = |parts: &'f [Filter]| {
            parts.iter().map(|part| self.filter_tester(part)).collect::<Result<Vec<_>>>()
        };
        Ok(match filter {
            Filter::And(parts) => Tester::And(all(parts)?),
            Filter::Or(parts) => Tester::Or(all(parts)?),
            Filter::Not(part) => Tester::Not(Box::new(self.filter_tester(part)?)),
            Filter::Function(function) => self.tester(function)?,
            Filter::Reaches(reach) => self.reach_tester(reach)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::control::stop::Control;
    use crate::exec::random_graph::graph;
    use fastrand::Rng;
    use hexgraph_base::plan::{Argument, Comparison, PredicateRef, Query};

    /// What is counted in a column is what a filter leaves, on graphs with and without changes.
    #[test]
    fn columns_count_what_passes() {
        let mut rng = Rng::with_seed(5);
        let mut counted = 0;
        for _ in 0..60 {
            let version = graph(rng.u64(20..400), &mut rng);
            let (control, query) = (Control::new(), Query::default());
            let context =
                Context { version: &version, query: &query, control: &control, vars: Vec::new() };
            for name in ["age", "wide", "rank", "rate", "tags"] {
                let Some(predicate) = context.predicate(name) else { continue };
                let left = || {
                    let name = name.to_owned();
                    Operand::Predicate(PredicateRef { name, reverse: false, lang: None })
                };
                let mut bound = || {
                    let wide = [i64::MIN, i64::MAX, 1_000_000_007, i64::from(i32::MAX) + 1];
                    let bounds = [rng.i64(-4..6), rng.choice(wide).unwrap()];
                    Argument::Text(bounds[rng.usize(..2)].to_string())
                };
                let calls = [
                    Call::Compare { op: Comparison::Ge, left: left(), arguments: vec![bound()] },
                    Call::Compare { op: Comparison::Lt, left: left(), arguments: vec![bound()] },
                    Call::Between { left: left(), low: bound(), high: bound() },
                ];
                for call in calls {
                    let filter =
                        Filter::Function(Box::new(Function { call, at: Default::default() }));
                    let candidates = predicate.subjects();
                    let found = context.count_passing(&filter, &candidates).unwrap();
                    let passing = context.filter(&filter, candidates).unwrap().len();
                    counted += usize::from(found.is_some());
                    assert_eq!(found.unwrap_or(passing), passing, "{filter:?}");
                }
            }
        }
        assert!(100 < counted, "{counted}");
    }
}
