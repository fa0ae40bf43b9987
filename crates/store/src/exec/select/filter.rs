//! Carries out filters: reduces a set of nodes to those that pass.
//!
//! Each function either gives the entire set of its nodes from an index, or tests nodes one by one.
//! The cheaper strategy is chosen: the index when it would give fewer nodes than there are
//! candidates (or not many more, since a test costs more than a step in a posting list).

use crate::exec::access_path::FilterPath;
use crate::exec::choose::function::{is_reported, number_column, pays_to_scan};
use crate::exec::choose::geo_function::GeoCall;
use crate::exec::choose::tester::{Tester, cost_of_call};
use crate::exec::control::context::Context;
use crate::exec::cost::{self, Cost};
use crate::storage::{NO_ROW, NodeSet};
use hexgraph_base::plan::{Call, Comparison, Filter, Function, Operand};
use hexgraph_base::types::{Position, Result, stack};

/// A part of a filter that is about to be executed.
#[derive(Clone, Copy)]
pub(crate) struct FilterPart<'f> {
    /// The part.
    pub(crate) filter: &'f Filter,
    /// The number of nodes that pass it, about, if an index has an estimate.
    pub(crate) estimate: Option<usize>,
}

impl<'a> Context<'a> {
    /// The candidates that pass a filter.
    pub(crate) fn filter<'f>(&self, filter: &'f Filter, candidates: NodeSet) -> Result<NodeSet>
    where
        'a: 'f,
    {
        self.filter_part(FilterPart { filter, estimate: self.estimate_of(filter) }, candidates)
    }

    fn filter_part<'f>(&self, part: FilterPart<'f>, candidates: NodeSet) -> Result<NodeSet>
    where
        'a: 'f,
    {
        stack::check()?;
        self.check()?;
        match part.filter {
            Filter::And(parts) => {
                if let Some((at, tester)) = self.bounds_of_column(parts, candidates.len())? {
                    let step = self.begin("filter", "", Some(at), None);
                    let passed = self.passing_members(&candidates, &tester)?;
                    self.record_path(FilterPath::Test);
                    self.end(&step, passed.len());
                    return Ok(passed);
                }
                // Each part sees only what the parts before it left, so the one that leaves least
                // goes first.
                let mut left = candidates;
                for part in self.planned_parts(parts) {
                    left = self.filter_part(part, left)?;
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
            Filter::Function(function) => self.filter_by(function, part.estimate, candidates),
            Filter::SemiJoin(reach) => self.filter_by_targets(reach, candidates),
        }
    }

    /// The number of candidates that pass a filter, where they are counted without a list of them:
    /// in the set of an index, or of the nodes that have a predicate, and in a column as it is
    /// stored, when all nodes that have one are candidates. `None` for any other filter.
    pub(crate) fn count_passing(
        &self,
        filter: &Filter,
        candidates: &NodeSet,
    ) -> Result<Option<usize>> {
        match filter {
            Filter::Function(function) => match self.count_in_set(function, candidates)? {
                None => self.count_in_column(function, candidates),
                result => Ok(result),
            },
            Filter::Not(part) if matches!(**part, Filter::Function(_)) => {
                let passing = self.count_passing(part, candidates)?;
                Ok(passing.map(|passing| candidates.len() - passing))
            }
            Filter::And(parts) => match self.bounds_of_column(parts, candidates.len())? {
                Some((at, tester)) => self.count_rows(&tester, (at, None), candidates),
                None => Ok(None),
            },
            Filter::Not(_) | Filter::Or(_) | Filter::SemiJoin(_) => Ok(None),
        }
    }

    /// The test of a column that the parts of a conjunction are together, and the position of the
    /// first: where each is a comparison of the same numbers or instants, and no index gives few of
    /// them among `candidates`.
    pub(crate) fn bounds_of_column<'f>(
        &self,
        parts: &'f [Filter],
        candidates: usize,
    ) -> Result<Option<(Position, Tester<'f>)>>
    where
        'a: 'f,
    {
        let compared = |part: &'f Filter| {
            let Filter::Function(function) = part else { return None };
            let (Operand::Predicate(name), ..) = self.comparison(&function.call)? else {
                return None;
            };
            Some((function, name))
        };
        let first = parts.first().and_then(compared);
        let are_alike =
            || parts.iter().all(|part| compared(part).map(|it| it.1) == first.map(|it| it.1));
        if first.is_none() || !are_alike() {
            return Ok(None);
        }
        let mut existing: Option<(Position, Tester<'f>)> = None;
        for (function, _) in parts.iter().filter_map(compared) {
            let estimate = self.estimate(function);
            if self.filter_path(function, estimate, candidates) == FilterPath::Index {
                return Ok(None);
            }
            let Tester::Column { part, rows } = self.tester(function)? else { return Ok(None) };
            existing = Some(match existing {
                None => (function.at, Tester::Column { part, rows }),
                Some((at, Tester::Column { part: first, rows: before }))
                    if std::ptr::eq(first, part) =>
                {
                    let Some(rows) = before.both(&rows) else { return Ok(None) };
                    (at, Tester::Column { part, rows })
                }
                Some(_) => return Ok(None),
            });
        }
        Ok(existing)
    }

    /// The number of candidates that are in the set of a function, where that is read in place.
    /// O(containers + changes).
    fn count_in_set(&self, function: &Function, candidates: &NodeSet) -> Result<Option<usize>> {
        if !matches!(&function.call, Call::Has(_) | Call::Type(_)) {
            return Ok(None);
        }
        let estimate = self.estimate(function);
        if self.filter_path(function, estimate, candidates.len()) != FilterPath::Index {
            return Ok(None);
        }
        let step = self.begin("filter", "", Some(function.at), estimate);
        let set = self.indexed(function)?.unwrap_or_default();
        let count = set.and_len(candidates);
        self.record_path(FilterPath::Index);
        self.end(&step, count);
        Ok(Some(count))
    }

    /// The number of candidates whose value in a column meets a condition. O(rows + changes).
    fn count_in_column(&self, function: &Function, candidates: &NodeSet) -> Result<Option<usize>> {
        let (Call::Compare { left: Operand::Predicate(_), .. }
        | Call::Between { left: Operand::Predicate(_), .. }) = &function.call
        else {
            return Ok(None);
        };
        let estimate = self.estimate(function);
        if self.filter_path(function, estimate, candidates.len()) == FilterPath::Index {
            return Ok(None);
        }
        let step = (function.at, estimate.filter(|_| is_reported(function)));
        self.count_rows(&self.tester(function)?, step, candidates)
    }

    /// The number of candidates that pass the test of a column, where all that have a value are
    /// candidates; the step is at a position of the request, with an estimate. `None` for any other
    /// test.
    fn count_rows(
        &self,
        tester: &Tester<'_>,
        (at, estimate): (Position, Option<usize>),
        candidates: &NodeSet,
    ) -> Result<Option<usize>> {
        let Tester::Column { part, rows } = tester else { return Ok(None) };
        if !tester.counts(candidates) {
            return Ok(None);
        }
        let step = self.begin("filter", "", Some(at), estimate);
        let mut count = rows.count(|| self.check())?;
        let changed = rows.changes(part);
        let nodes: Vec<u32> = changed.iter().map(|(node, _)| *node).collect();
        let mut positions = vec![NO_ROW; nodes.len()];
        part.stored().subjects.rows_of(&nodes, &mut positions);
        for (row, (_, is_counted)) in positions.into_iter().zip(changed) {
            let was_counted = row != NO_ROW && rows.holds_row(row as usize);
            // What is taken off was counted above, so this never falls below 0.
            count = count - usize::from(was_counted) + usize::from(is_counted);
        }
        self.record_path(FilterPath::CountColumn);
        self.end(&step, count);
        Ok(Some(count))
    }

    /// The number of nodes that a filter has, about, where it is one function and an index has an
    /// estimate.
    pub(crate) fn estimate_of(&self, filter: &Filter) -> Option<usize> {
        match filter {
            Filter::Function(function) => self.estimate(function),
            Filter::And(_) | Filter::Or(_) | Filter::Not(_) | Filter::SemiJoin(_) => None,
        }
    }

    /// Whether a part of a filter has fewer nodes than these, by an index.
    pub(crate) fn is_estimated_below(&self, filter: &Filter, count: usize) -> bool {
        let parts = match filter {
            Filter::And(parts) => parts.as_slice(),
            other => std::slice::from_ref(other),
        };
        let mut estimates = parts.iter().filter_map(|part| self.estimate_of(part));
        estimates.any(|estimate| estimate < count)
    }

    /// The parts of a conjunction in the order in which they are executed: what is expected to
    /// leave least goes first, then what no index has an estimate of, the cheapest test first, and
    /// at last what follows edges.
    pub(crate) fn planned_parts<'f>(&self, parts: &'f [Filter]) -> Vec<FilterPart<'f>> {
        let part = |filter| FilterPart { filter, estimate: self.estimate_of(filter) };
        let mut planned: Vec<FilterPart<'_>> = parts.iter().map(part).collect();
        // Every part is still run, also on an empty set: a wrong argument is an error anyway.
        planned.sort_by_key(|part| match part.estimate {
            Some(estimate) => (None, estimate),
            None => (Some(test_rank(part.filter)), 0),
        });
        let choice = self.control.costs().choice;
        if choice.is_random() && !planned.is_empty() {
            let count = planned.len();
            planned.rotate_left(choice.choose(count, count));
        }
        planned
    }

    /// How candidates are reduced to those that pass a function: by its index, where that is
    /// expected to give no more nodes than cost as much as a test of each candidate.
    pub(crate) fn filter_path(
        &self,
        function: &Function,
        estimate: Option<usize>,
        candidates: usize,
    ) -> FilterPath {
        let small = candidates.saturating_mul(self.control.costs().test);
        let is_cheap = estimate
            .is_some_and(|count| count <= small && !self.is_scanned(function, count, candidates));
        let cheapest = if is_cheap { FilterPath::Index } else { FilterPath::Test };
        self.pick(cheapest, candidates, || match estimate {
            Some(_) => vec![FilterPath::Index, FilterPath::Test],
            None => vec![FilterPath::Test],
        })
    }

    /// Whether the range of numbers or instants that a function accepts is selected faster among so
    /// many candidates than in its index, where it has `result` nodes.
    fn is_scanned(&self, function: &Function, result: usize, candidates: usize) -> bool {
        /// Candidates lie close together where each cache line of numbers has one.
        const CLOSE: usize = cost::CACHE_LINE_BYTES / size_of::<i64>();
        let Some((Operand::Predicate(name), op, _)) = self.comparison(&function.call) else {
            return false;
        };
        if op == Comparison::Eq || !pays_to_scan(result, candidates) {
            return false;
        }
        let part = self.predicate(&name.name).and_then(|predicate| number_column(predicate, name));
        part.is_some_and(|part| part.subjects().len() <= candidates.saturating_mul(CLOSE))
    }

    fn filter_by<'f>(
        &self,
        function: &'f Function,
        estimate: Option<usize>,
        candidates: NodeSet,
    ) -> Result<NodeSet>
    where
        'a: 'f,
    {
        let reported = estimate.filter(|_| is_reported(function));
        let step = self.begin("filter", "", Some(function.at), reported);
        let passed = if let Call::Geo { relation, predicate, arguments } = &function.call {
            let call = GeoCall { relation: *relation, name: predicate, arguments };
            self.geo_nodes(call, Some(&candidates))?
        } else {
            self.passing(function, candidates, estimate)?
        };
        self.end(&step, passed.len());
        Ok(passed)
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
        if self.filter_path(function, estimate, candidates.len()) == FilterPath::Index
            && let Some(nodes) = self.indexed(function)?
        {
            self.record_path(FilterPath::Index);
            return Ok(nodes.and(&candidates));
        }
        if let Some(nodes) = self.uid_in_set(function, candidates.len(), candidates.len())? {
            self.record_path(FilterPath::WalkBack);
            return Ok(nodes.and(&candidates));
        }
        if let Some(nodes) = self.matching_set(function, candidates.len() / 2)? {
            self.record_path(FilterPath::Trigrams);
            return Ok(nodes.and(&candidates));
        }
        match self.tester(function)? {
            Tester::Constant(passes) => {
                self.record_path(FilterPath::Constant);
                Ok(if passes { candidates } else { NodeSet::default() })
            }
            Tester::Member(set) => {
                self.record_path(FilterPath::Set);
                Ok(set.set().and(&candidates))
            }
            tester => match self.few_subjects(&tester, candidates.len()) {
                Some(subjects) => {
                    self.record_path(FilterPath::Subjects);
                    Ok(self.passing_members(&subjects, &tester)?.and(&candidates))
                }
                None => {
                    self.record_path(FilterPath::Test);
                    self.passing_members(&candidates, &tester)
                }
            },
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
            Filter::SemiJoin(reach) => self.reach_tester(reach)?,
        })
    }
}

/// The position of a part of a filter among those without an estimate by an index: functions come
/// first, by the cost of a test, then what is made of several parts, and at last what follows
/// edges. Looks at the part alone and not inside of it, since filters may be deep.
pub(crate) fn test_rank(part: &Filter) -> (u8, Cost) {
    match part {
        Filter::Function(function) => (0, cost_of_call(&function.call)),
        Filter::And(_) | Filter::Or(_) | Filter::Not(_) => (1, Cost::NOTHING),
        Filter::SemiJoin(_) => (2, Cost::NOTHING),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::control::stop::RequestContext;
    use crate::exec::tests::random_graph::graph;
    use fastrand::Rng;
    use hexgraph_base::plan::{Argument, Comparison, PredicateRef, Query};

    /// What is counted in a column is what a filter leaves, on graphs with and without changes.
    #[test]
    fn columns_count_what_passes() {
        let mut rng = Rng::with_seed(5);
        let mut counted = 0;
        for _ in 0..60 {
            let version = graph(rng.u64(20..400), &mut rng);
            let (control, query) = (RequestContext::new(), Query::default());
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
                let other = rng.choice(["age", "rank", "knows", "said"]).unwrap().to_owned();
                let other = PredicateRef { name: other, reverse: false, lang: None };
                let calls = calls.into_iter().chain([Call::Has(other.clone()), Call::Has(other)]);
                for (position, call) in calls.enumerate() {
                    let function =
                        Filter::Function(Box::new(Function { call, at: Default::default() }));
                    let is_not = position == 4;
                    let filter = if is_not { Filter::Not(Box::new(function)) } else { function };
                    let candidates = predicate.subjects();
                    let result = context.count_passing(&filter, &candidates).unwrap();
                    let passing = context.filter(&filter, candidates).unwrap().len();
                    counted += usize::from(result.is_some());
                    assert_eq!(result.unwrap_or(passing), passing, "{filter:?}");
                }
            }
        }
        assert!(500 < counted, "{counted}");
    }
}
