//! Plans filters of sets: what of a set passes.

use super::blocks::Planner;
use super::cardinality::Cardinality;
use super::steps::StepPaths;
use crate::exec::{FilterPath, GeoCall, are_few_targets, is_reported, subjects_with};
use hexgraph_base::plan::{
    Argument, Call, Filter, Function, Operand, PredicateRef, SemiJoin, VarId,
};
use hexgraph_base::types::{Position, Result, stack};

/// A condition for which a walk back pays that edges decide.
const FEW_BACK: &str = "if the targets have few edges";

/// Whether parts of a conjunction are one test of a column.
#[derive(Clone, Copy, PartialEq)]
enum Merges {
    Never,
    Maybe,
    Always,
}

impl<'a> Planner<'a> {
    /// Plans the steps of a filter of a set, and returns how many nodes are expected to pass.
    pub(super) fn filter(
        &mut self,
        filter: &'a Filter,
        candidates: Cardinality,
    ) -> Result<Cardinality> {
        stack::check()?;
        match filter {
            Filter::And(parts) => self.conjunction(parts, candidates),
            Filter::Or(parts) => {
                let mut all = Cardinality::exact(0);
                for part in parts {
                    all = all.or(self.filter(part, candidates)?);
                }
                Ok(all.part().limited(candidates.most))
            }
            Filter::Not(part) => {
                let passing = self.filter(part, candidates)?;
                let expected = candidates.expected.saturating_sub(passing.expected);
                Ok(Cardinality::about(expected, candidates.most))
            }
            Filter::Function(function) => {
                let choices = self.function_choices(function, candidates)?;
                self.function_step(function, candidates, choices)
            }
            Filter::SemiJoin(join) => self.filter_by_targets(join, candidates),
        }
    }

    /// The step of one function.
    pub(super) fn function_step(
        &mut self,
        function: &'a Function,
        candidates: Cardinality,
        choices: StepPaths,
    ) -> Result<Cardinality> {
        let estimate = self.estimate(function).filter(|_| is_reported(function));
        let step = self.steps.open("filter", "", Some(function.at));
        let is_exact = candidates.is_exact() && estimate.is_none_or(Cardinality::is_exact);
        self.steps.expect(step, estimate.map(|it| it.expected), is_exact);
        self.steps.close(step, choices);
        Ok(candidates.and(self.function_rows(function), self.nodes()))
    }

    fn conjunction(&mut self, parts: &'a [Filter], candidates: Cardinality) -> Result<Cardinality> {
        let (merges, at) = self.merged(parts, candidates);
        if merges != Merges::Never {
            let step = self.steps.open("filter", "", at);
            self.steps.expect(step, None, candidates.is_exact());
            self.steps.close(step, StepPaths::one(FilterPath::Test));
        }
        let mut left = candidates;
        if merges == Merges::Always {
            for part in parts {
                left = left.and(self.filter_rows(part), self.nodes());
            }
            return Ok(left);
        }
        let before = self.fallback(merges == Merges::Maybe);
        // The parts are run in the order of their estimates, which may be others then.
        let is_order_open = parts.iter().any(has_vars);
        for part in self.context.planned_parts(parts) {
            left = match is_order_open {
                true => left.and(self.filter(part.filter, candidates.part())?, self.nodes()),
                false => self.filter(part.filter, left)?,
            };
        }
        self.steps.is_fallback = before;
        Ok(left)
    }

    /// Whether the parts of a conjunction are one test of a column, and the position of the first.
    pub(super) fn is_merged(&self, parts: &'a [Filter], candidates: Cardinality) -> bool {
        self.merged(parts, candidates).0 != Merges::Never
    }

    fn merged(&self, parts: &'a [Filter], candidates: Cardinality) -> (Merges, Option<Position>) {
        if parts.iter().any(has_vars) {
            let compares = |part: &Filter| match part {
                Filter::Function(function) => is_comparison_of_values(&function.call),
                Filter::And(_) | Filter::Or(_) | Filter::Not(_) | Filter::SemiJoin(_) => false,
            };
            let at = match parts.first() {
                Some(Filter::Function(function)) => Some(function.at),
                _ => None,
            };
            let is_possible = parts.iter().all(compares);
            return (if is_possible { Merges::Maybe } else { Merges::Never }, at);
        }
        let position = |rows| {
            let merged = self.context.bounds_of_column(parts, rows);
            merged.ok().flatten().map(|(at, _)| at)
        };
        let decisions = candidates.decide(position);
        let at = decisions.iter().find_map(|decision| decision.value);
        let merges = match (at, decisions.len()) {
            (None, _) => Merges::Never,
            (Some(_), 1) => Merges::Always,
            (Some(_), _) => Merges::Maybe,
        };
        (merges, at)
    }

    /// How candidates may be reduced to those that pass a function.
    pub(super) fn function_choices(
        &self,
        function: &'a Function,
        candidates: Cardinality,
    ) -> Result<StepPaths> {
        if let Call::Geo { relation, predicate, arguments } = &function.call {
            let call = GeoCall { relation: *relation, name: predicate, arguments };
            let path = |rows| self.context.geo_path(call, rows);
            if path(0).map_err(|error| error.or_at(function.at))?.is_none() {
                return Ok(StepPaths::default());
            }
            return Ok(StepPaths::by_rows(candidates, |rows| {
                path(rows).ok().flatten().unwrap_or(FilterPath::Test)
            }));
        }
        let mut choices = StepPaths::default();
        for estimate in self.estimates(function) {
            choices = choices.and(StepPaths::by_rows(candidates, |rows| {
                self.function_path(function, estimate, rows)
            }));
        }
        if let Call::UidIn { vars, .. } = &function.call
            && !vars.is_empty()
            && self.may_walk_back(function, candidates.most)
        {
            choices = choices.or(FilterPath::WalkBack, FEW_BACK);
        }
        if let Call::Compare { left: Operand::Val(_), .. }
        | Call::Between { left: Operand::Val(_), .. } = &function.call
        {
            choices = choices.or(FilterPath::Constant, "if the variable has no values");
        }
        Ok(choices)
    }

    /// How so many candidates are reduced to those that pass a function.
    fn function_path(
        &self,
        function: &'a Function,
        estimate: Option<usize>,
        candidates: usize,
    ) -> FilterPath {
        let path = self.context.filter_path(function, estimate, candidates);
        if path == FilterPath::Index && self.is_indexed(function, estimate) {
            return path;
        }
        if vars_of(&function.call).is_empty()
            && self.context.uid_in_back(function, candidates, candidates).is_some()
        {
            return FilterPath::WalkBack;
        }
        if self.context.is_matched_by_trigrams(function, candidates / 2) {
            return FilterPath::Trigrams;
        }
        self.test_path(function, candidates)
    }

    /// Whether an index gives the nodes of a function exactly.
    pub(super) fn is_indexed(&self, function: &Function, estimate: Option<usize>) -> bool {
        match &function.call {
            Call::Uid { .. } | Call::Has(_) | Call::Type(_) | Call::Terms { .. } => true,
            Call::Geo { .. } | Call::SimilarTo { .. } => true,
            Call::Compare { .. } | Call::Between { .. } => estimate.is_some(),
            Call::CustomTerms { .. } | Call::Text { .. } | Call::UidIn { .. } => false,
        }
    }

    /// How candidates are tested by a function.
    pub(super) fn test_path(&self, function: &'a Function, candidates: usize) -> FilterPath {
        let of_values = |name: &PredicateRef| {
            let Ok(Some(predicate)) = self.context.resolve(name) else {
                return FilterPath::Constant;
            };
            let few = subjects_with(predicate, name.lang.as_deref())
                .is_some_and(|nodes| self.context.are_few_subjects(nodes.len(), candidates));
            if few { FilterPath::Subjects } else { FilterPath::Test }
        };
        match &function.call {
            Call::Compare { left, .. } | Call::Between { left, .. } => match left {
                Operand::Predicate(name) => of_values(name),
                Operand::Count(name) => self.constant_without(name),
                Operand::Val(_) => FilterPath::Test,
                Operand::Len(_) => FilterPath::Constant,
            },
            Call::Text { predicate, .. } | Call::Geo { predicate, .. } => of_values(predicate),
            Call::Has(name) => self.constant_without(name),
            Call::UidIn { predicate, .. } => self.constant_without(predicate),
            Call::Uid { .. } | Call::Type(_) | Call::Terms { .. } | Call::SimilarTo { .. } => {
                FilterPath::Set
            }
            Call::CustomTerms { .. } => FilterPath::Test,
        }
    }

    fn constant_without(&self, name: &PredicateRef) -> FilterPath {
        match self.context.predicate(&name.name) {
            Some(_) => FilterPath::Test,
            None => FilterPath::Constant,
        }
    }

    /// Whether a walk back from the targets of `uid_in` may pay, where these are in variables.
    pub(super) fn may_walk_back(&self, function: &Function, candidates: usize) -> bool {
        let Call::UidIn { predicate: name, uids, .. } = &function.call else { return false };
        let Ok(Some(predicate)) = self.context.resolve(name) else { return false };
        predicate.direction(!name.reverse).is_some() && are_few_targets(uids.len(), candidates)
    }

    /// A condition on the targets of edges.
    fn filter_by_targets(
        &mut self,
        join: &'a SemiJoin,
        candidates: Cardinality,
    ) -> Result<Cardinality> {
        let Some(edges) = self.context.join_edges(join)? else {
            return Ok(Cardinality::exact(0));
        };
        let step = self.steps.open("filter", &join.predicate, None);
        self.steps.expect(step, None, candidates.is_exact());
        let choices = match &join.filter {
            Some(filter) => {
                let targets = self.targets(edges, candidates);
                // An index may give the targets that pass; then these are not filtered.
                let before = self.fallback(true);
                self.filter(filter, targets)?;
                self.steps.is_fallback = before;
                let choices = StepPaths::one(FilterPath::Targets)
                    .or(FilterPath::Constant, "if no target passes");
                let predicate = self.context.predicate(&join.predicate);
                let back = predicate.and_then(|it| it.direction(!join.reverse));
                match join.more_than == 0 && back.is_some() {
                    true => choices.or(FilterPath::WalkBack, FEW_BACK),
                    false => choices,
                }
            }
            None => StepPaths::one(FilterPath::Test),
        };
        self.steps.close(step, choices);
        let subjects = Cardinality::up_to(edges.subjects_max());
        Ok(candidates.and(subjects, self.nodes()))
    }

    /// The numbers of nodes that an index may have of a function: the expected one first.
    pub(super) fn estimates(&self, function: &Function) -> Vec<Option<usize>> {
        let Some(estimate) = self.estimate(function) else { return vec![None] };
        let mut all = vec![Some(estimate.expected), Some(estimate.least), Some(estimate.most)];
        all.dedup();
        all
    }

    /// The number of nodes that a function has, about, if an index has it: as the executor
    /// estimates it, and with bounds where variables decide.
    pub(super) fn estimate(&self, function: &Function) -> Option<Cardinality> {
        if vars_of(&function.call).is_empty() {
            return self.context.estimate(function).map(Cardinality::exact);
        }
        match &function.call {
            Call::Uid { uids, vars } => {
                let mut rows = Cardinality::exact(uids.len());
                for var in vars {
                    let other = self.var_rows(*var);
                    let least = rows.least.saturating_add(other.least);
                    rows = Cardinality { least, ..rows.or(other) };
                }
                Some(rows)
            }
            Call::Compare { left: Operand::Predicate(name), .. }
            | Call::Between { left: Operand::Predicate(name), .. } => {
                // Without values there is an estimate, if there is an index.
                self.context.estimate(function)?;
                let predicate = self.context.resolve(name).ok()??;
                Some(Cardinality::up_to(predicate.subjects().len()))
            }
            Call::SimilarTo { .. } => Some(Cardinality::exact(0)),
            Call::Compare { .. }
            | Call::Between { .. }
            | Call::Terms { .. }
            | Call::CustomTerms { .. }
            | Call::Text { .. }
            | Call::Has(_)
            | Call::Type(_)
            | Call::UidIn { .. }
            | Call::Geo { .. } => None,
        }
    }

    /// The number of nodes that pass a filter, about.
    pub(super) fn filter_rows(&self, filter: &'a Filter) -> Cardinality {
        match filter {
            Filter::Function(function) => self.function_rows(function),
            Filter::And(_) | Filter::Or(_) | Filter::Not(_) | Filter::SemiJoin(_) => {
                self.any_rows()
            }
        }
    }

    /// Plans the steps that follow as ones that run only instead of others, where `is_so`. Returns
    /// what was before.
    pub(super) fn fallback(&mut self, is_so: bool) -> bool {
        let before = self.steps.is_fallback;
        self.steps.is_fallback = before || is_so;
        before
    }
}

fn is_comparison_of_values(call: &Call) -> bool {
    matches!(
        call,
        Call::Compare { left: Operand::Predicate(_), .. }
            | Call::Between { left: Operand::Predicate(_), .. }
    )
}

/// The variables that a function reads.
pub(super) fn vars_of(call: &Call) -> Vec<VarId> {
    let of_argument = |argument: &Argument| match argument {
        Argument::Val(var) => Some(*var),
        Argument::Text(_) => None,
    };
    let of_left = |left: &Operand| match left {
        Operand::Val(var) | Operand::Len(var) => Some(*var),
        Operand::Predicate(_) | Operand::Count(_) => None,
    };
    match call {
        Call::Compare { left, arguments, .. } => {
            of_left(left).into_iter().chain(arguments.iter().filter_map(of_argument)).collect()
        }
        Call::Between { left, low, high } => {
            let arguments = [low, high].into_iter().filter_map(of_argument);
            of_left(left).into_iter().chain(arguments).collect()
        }
        Call::Uid { vars, .. } | Call::UidIn { vars, .. } => vars.clone(),
        Call::SimilarTo { target, .. } => of_argument(target).into_iter().collect(),
        Call::Terms { .. }
        | Call::CustomTerms { .. }
        | Call::Text { .. }
        | Call::Has(_)
        | Call::Type(_)
        | Call::Geo { .. } => Vec::new(),
    }
}

/// Whether a filter reads variables.
pub(super) fn has_vars(filter: &Filter) -> bool {
    stack::require();
    match filter {
        Filter::And(parts) | Filter::Or(parts) => parts.iter().any(has_vars),
        Filter::Not(part) => has_vars(part),
        Filter::Function(function) => !vars_of(&function.call).is_empty(),
        Filter::SemiJoin(join) => join.filter.as_ref().is_some_and(has_vars),
    }
}
