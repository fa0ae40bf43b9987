//! Plans filters that are prepared once and applied to several sets, or to as many nodes of one as
//! a page needs.

use super::blocks::Planner;
use super::cardinality::Cardinality;
use super::filters::vars_of;
use super::steps::{Opened, StepPaths};
use crate::exec::{
    FilterPath, GeoCall, Purpose, is_reported, looks_beyond, result_max, subjects_with, test_rank,
};
use hexgraph_base::plan::{Call, Filter, Function, Operand, PredicateRef};
use hexgraph_base::types::Result;

/// Where the smallest of several sets is walked.
const SMALLEST: &str = "if it is the smallest set";

/// A filter that was planned as a prepared one.
pub(super) struct PlannedFilter {
    /// What may be walked instead of the requested set, with its length and its step.
    walkable: Vec<(Opened, Cardinality, FilterPath)>,
    /// Whether a part may follow edges to other nodes, and has to be applied to batches.
    pub(super) may_follow: bool,
}

impl<'a> Planner<'a> {
    /// Plans the parts of a filter that is prepared for sets of at most `largest` nodes.
    pub(super) fn prepare(
        &mut self,
        filter: &'a Filter,
        largest: Cardinality,
        purpose: Purpose,
    ) -> Result<PlannedFilter> {
        let mut parts: Vec<&Filter> = match filter {
            Filter::And(parts) => parts.iter().collect(),
            other => vec![other],
        };
        parts.sort_by_key(|part| test_rank(part));
        let mut planned = PlannedFilter { walkable: Vec::new(), may_follow: false };
        let mut smallest = largest;
        for part in parts {
            smallest = self.prepare_part(part, smallest, purpose, &mut planned)?;
        }
        Ok(planned)
    }

    /// Plans a part. Returns the most nodes that the next parts test.
    fn prepare_part(
        &mut self,
        part: &'a Filter,
        requested: Cardinality,
        purpose: Purpose,
        planned: &mut PlannedFilter,
    ) -> Result<Cardinality> {
        let Filter::Function(function) = part else {
            self.prepare_compound(part, requested, planned)?;
            return Ok(requested);
        };
        let estimate = self.estimate(function).filter(|_| is_reported(function));
        let step = self.steps.open("filter", "", Some(function.at));
        let is_exact = requested.is_exact() && estimate.is_none_or(Cardinality::is_exact);
        self.steps.expect(step, estimate.map(|it| it.expected), is_exact);
        let choices = self.part_choices(function, requested, purpose)?;
        let (is_set, is_test) = (choices.has(FilterPath::Set), choices.has(FilterPath::Test));
        self.steps.close(step, choices);
        if is_test
            && let Some(subjects) = self.valued(function)
            && self.context.are_few_subjects(subjects, requested.most)
        {
            planned.walkable.push((step, Cardinality::exact(subjects), FilterPath::Subjects));
        }
        if !is_set {
            return Ok(requested);
        }
        let rows = self.function_rows(function);
        planned.walkable.push((step, rows, FilterPath::DrivingSide));
        let smaller = requested.limited(rows.most);
        Ok(if is_test { Cardinality { most: requested.most, ..smaller.part() } } else { smaller })
    }

    /// Plans a part that consists of several, or follows edges.
    fn prepare_compound(
        &mut self,
        part: &'a Filter,
        requested: Cardinality,
        planned: &mut PlannedFilter,
    ) -> Result<()> {
        let name = if let Filter::SemiJoin(join) = part { &*join.predicate } else { "" };
        let step = self.steps.open("filter", name, None);
        self.steps.expect(step, None, requested.is_exact());
        let mut choices = match looks_beyond(part) {
            true => StepPaths::one(FilterPath::Batches),
            false => StepPaths::one(FilterPath::Test),
        };
        if let Filter::SemiJoin(_) = part {
            choices = choices.or(FilterPath::Set, "if the targets have few edges");
            planned.walkable.push((step, self.any_rows(), FilterPath::DrivingSide));
        }
        planned.may_follow |= looks_beyond(part);
        let before = self.fallback(true);
        self.filters_of_targets(part)?;
        self.steps.is_fallback = before;
        self.steps.close(step, choices);
        // Batches of nodes are filtered as sets.
        if looks_beyond(part) {
            let before = self.fallback(true);
            self.filter(part, requested.part())?;
            self.steps.is_fallback = before;
        }
        Ok(())
    }

    /// The filters of the targets in a part, which may be applied while it is prepared.
    fn filters_of_targets(&mut self, part: &'a Filter) -> Result<()> {
        hexgraph_base::types::stack::check()?;
        match part {
            Filter::And(parts) | Filter::Or(parts) => {
                parts.iter().try_for_each(|part| self.filters_of_targets(part))
            }
            Filter::Not(part) => self.filters_of_targets(part),
            Filter::Function(_) => Ok(()),
            Filter::SemiJoin(join) => match &join.filter {
                Some(filter) => {
                    self.filter(filter, self.any_rows())?;
                    self.filters_of_targets(filter)
                }
                None => Ok(()),
            },
        }
    }

    /// Whether a function becomes a set or a test.
    fn part_choices(
        &self,
        function: &'a Function,
        requested: Cardinality,
        purpose: Purpose,
    ) -> Result<StepPaths> {
        let cells = match &function.call {
            Call::Geo { relation, predicate, arguments } => {
                let call = GeoCall { relation: *relation, name: predicate, arguments };
                self.context.geo_estimate(call).map_err(|error| error.or_at(function.at))?
            }
            _ => None,
        };
        let has_vars = !vars_of(&function.call).is_empty();
        let mut choices = StepPaths::default();
        for estimate in self.estimates(function) {
            choices = choices.and(StepPaths::by_rows(requested, |rows| {
                let path = self.context.part_path_of(function, || estimate, rows, purpose);
                let most = result_max(rows, purpose);
                let is_set = match path {
                    FilterPath::Set => self.is_indexed(function, estimate),
                    _ => {
                        !has_vars && self.context.uid_in_back(function, rows, most).is_some()
                            || self.context.is_matched_by_trigrams(function, most)
                            || cells.is_some_and(|cells| cells <= most)
                    }
                };
                if is_set { FilterPath::Set } else { FilterPath::Test }
            }));
        }
        if has_vars && self.may_walk_back(function, requested.most) {
            choices = choices.or(FilterPath::Set, "if the targets have few edges");
        }
        Ok(choices)
    }

    /// The number of nodes without which no other passes a test of a function.
    fn valued(&self, function: &Function) -> Option<usize> {
        let of = |name: &PredicateRef| {
            let predicate = self.context.resolve(name).ok()??;
            subjects_with(predicate, name.lang.as_deref()).map(|nodes| nodes.len())
        };
        match &function.call {
            Call::Compare { left: Operand::Predicate(name), .. }
            | Call::Between { left: Operand::Predicate(name), .. } => of(name),
            Call::Text { predicate, .. } | Call::Geo { predicate, .. } => of(predicate),
            Call::Compare { .. }
            | Call::Between { .. }
            | Call::Terms { .. }
            | Call::CustomTerms { .. }
            | Call::Has(_)
            | Call::Type(_)
            | Call::Uid { .. }
            | Call::UidIn { .. }
            | Call::SimilarTo { .. } => None,
        }
    }

    /// Notes which step of a prepared filter is walked instead of the requested nodes. Returns
    /// whether one is: `None` where that is not decided yet.
    pub(super) fn note_driving_side(
        &mut self,
        planned: &PlannedFilter,
        requested: Cardinality,
    ) -> Option<bool> {
        let is_decided = requested.is_exact()
            && planned
                .walkable
                .iter()
                .all(|(step, rows, _)| rows.is_exact() && self.steps.path_count(*step) == 1);
        if is_decided {
            let sets = planned.walkable.iter();
            let sets = sets.map(|(step, rows, path)| ((*step, *path), rows.expected));
            let smallest = self.context.smallest_walked(sets, requested.expected);
            if let Some((step, path)) = smallest {
                self.steps.replace(step, StepPaths::one(path));
            }
            return Some(smallest.is_some());
        }
        let may_drive =
            |rows: &Cardinality| self.context.are_few_subjects(rows.least, requested.most);
        let mut is_any = false;
        for (step, rows, path) in &planned.walkable {
            if may_drive(rows) {
                is_any = true;
                self.steps.add(*step, StepPaths::default().or(*path, SMALLEST));
            }
        }
        if is_any { None } else { Some(false) }
    }
}
