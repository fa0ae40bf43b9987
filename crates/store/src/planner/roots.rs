//! Plans the roots of blocks: the root function, the filter and the page.

use super::blocks::Planner;
use super::cardinality::Cardinality;
use super::filters::vars_of;
use super::steps::StepPaths;
use crate::exec::{
    FilterPath, PagePath, Purpose, RootPath, RootsPlan, ValueCondition, is_reported,
    text_root_paths,
};
use crate::storage::NodeSet;
use hexgraph_base::plan::{Block, Call, Comparison, Filter, Function, Operand, Page, PredicateRef};
use hexgraph_base::types::{Result, ValueType};

/// The nodes of a root function.
pub(super) struct PlannedRoot {
    pub(super) rows: Cardinality,
    /// The nodes themselves, if they are a set as it is stored.
    pub(super) set: Option<NodeSet>,
}

impl<'a> Planner<'a> {
    /// Plans the roots of a block in the order of the answer, and returns how many are expected.
    pub(super) fn roots(&mut self, block: &'a Block, page: Page) -> Result<Cardinality> {
        let Some(function) = &block.root else { return Ok(Cardinality::exact(0)) };
        crate::exec::check_order(page, &block.order)?;
        if self.lists_roots(block, function) {
            let named = self.function_rows(function);
            let rows = self.filtered(block.filter.as_ref(), named)?;
            return Ok(paged(rows, page));
        }
        if let Call::Compare { .. } | Call::Between { .. } = &function.call
            && !vars_of(&function.call).is_empty()
            && 0 < page.first
        {
            return Ok(paged(self.open_roots(block, function, page)?, page));
        }
        let rows = match self.context.roots_plan(block, function, page)? {
            RootsPlan::Full => self.set_of_block(block)?.rows,
            RootsPlan::First => self.first_of_root(block, function, page)?,
            RootsPlan::Tested(..) => self.first_tested(block, function, page)?,
            RootsPlan::Range(walk) => {
                let entries = walk.view.index.postings.len();
                self.page_of_range(block, function, page, entries)?
            }
            RootsPlan::Ordered => self.ordered_roots(block, function, page)?,
        };
        Ok(paged(rows, page))
    }

    /// Plans a page whose root function compares with a variable. Its values may be a range that is
    /// tested or walked.
    fn open_roots(
        &mut self,
        block: &'a Block,
        function: &'a Function,
        page: Page,
    ) -> Result<Cardinality> {
        if block.order.is_empty() {
            let rows = self.first_of_root(block, function, page)?;
            self.instead(|planner| planner.first_tested(block, function, page))?;
            return Ok(rows);
        }
        let rows = self.ordered_roots(block, function, page)?;
        let entries = self.nodes();
        self.instead(|planner| planner.page_of_range(block, function, page, entries))?;
        Ok(rows)
    }

    /// Whether the roots of a block are a list, whose order or repeats are not those of a set.
    fn lists_roots(&self, block: &Block, function: &Function) -> bool {
        let Call::Uid { uids, vars } = &function.call else { return false };
        if !block.order.is_empty() {
            return false;
        }
        match vars.as_slice() {
            [] => !uids.is_sorted_by(|one, other| one < other),
            [var] => self.is_path(*var),
            _ => false,
        }
    }

    /// The nodes of a block that pass its filter, as a set.
    pub(super) fn set_of_block(&mut self, block: &'a Block) -> Result<PlannedRoot> {
        let Some(function) = &block.root else {
            return Ok(PlannedRoot { rows: Cardinality::exact(0), set: None });
        };
        let root = self.root(function)?;
        if block.filter.is_none() {
            return Ok(root);
        }
        let rows = self.filtered(block.filter.as_ref(), root.rows)?;
        Ok(PlannedRoot { rows, set: None })
    }

    fn filtered(&mut self, filter: Option<&'a Filter>, rows: Cardinality) -> Result<Cardinality> {
        filter.map_or(Ok(rows), |filter| self.filter(filter, rows))
    }

    /// Plans the count of the nodes of a block.
    pub(super) fn counted(&mut self, block: &'a Block) -> Result<Cardinality> {
        let Some(function) = &block.root else { return Ok(Cardinality::exact(0)) };
        if let (None, None) = (&block.filter, block.var)
            && vars_of(&function.call).is_empty()
            && let Some(count) = self.context.root_count(function)
        {
            let step = self.steps.open("root", "", Some(function.at));
            let estimate = self.context.estimate(function);
            self.steps.expect(step, estimate, true);
            self.steps.close(step, StepPaths::one(RootPath::CountIndex));
            return Ok(Cardinality::exact(count));
        }
        let (Some(filter), None) = (&block.filter, block.var) else {
            let root = self.set_of_block(block)?;
            if !vars_of(&function.call).is_empty() && block.filter.is_none() {
                let counted = "if the index has the number";
                self.steps.add_to_last(RootPath::IndexEquality, RootPath::CountIndex, counted);
                self.steps.add_to_last(RootPath::IndexRange, RootPath::CountIndex, counted);
            }
            return Ok(root.rows);
        };
        let root = self.root(function)?;
        self.count_passing(filter, root)
    }

    /// Plans the count of those of a set that pass a filter.
    fn count_passing(&mut self, filter: &'a Filter, root: PlannedRoot) -> Result<Cardinality> {
        match filter {
            Filter::Not(part) if matches!(**part, Filter::Function(_)) => {
                self.count_passing(part, root)
            }
            Filter::Function(function) => {
                let choices = self.function_choices(function, root.rows)?;
                let counts = self.counts_column(function, root.set.as_ref());
                let choices = match (choices.is_only(FilterPath::Index), counts) {
                    (false, Some(true)) if !choices.has(FilterPath::Index) => {
                        StepPaths::one(FilterPath::CountColumn)
                    }
                    (false, Some(true) | None) => {
                        choices.or(FilterPath::CountColumn, "if all that have a value are counted")
                    }
                    _ => choices,
                };
                self.function_step(function, root.rows, choices)
            }
            Filter::And(parts) if self.is_merged(parts, root.rows) => {
                let rows = self.filter(filter, root.rows)?;
                let counted = "if all that have a value are counted";
                self.steps.add_to_last(FilterPath::Test, FilterPath::CountColumn, counted);
                Ok(rows)
            }
            Filter::And(_) | Filter::Or(_) | Filter::Not(_) | Filter::SemiJoin(_) => {
                self.filter(filter, root.rows)
            }
        }
    }

    /// Whether the nodes that pass a function are counted in its column; `None` where that is not
    /// decided yet.
    fn counts_column(&self, function: &'a Function, set: Option<&NodeSet>) -> Option<bool> {
        let is_comparison = matches!(
            &function.call,
            Call::Compare { left: Operand::Predicate(_), .. }
                | Call::Between { left: Operand::Predicate(_), .. }
        );
        if !is_comparison {
            return Some(false);
        }
        if !vars_of(&function.call).is_empty() {
            return None;
        }
        let tester = self.context.tester(function).ok()?;
        Some(tester.counts(set?))
    }

    /// A page of the first nodes of a root.
    fn first_of_root(
        &mut self,
        block: &'a Block,
        function: &'a Function,
        page: Page,
    ) -> Result<Cardinality> {
        let root = self.root(function)?;
        let step = self.steps.open("page", &block.name, Some(block.at));
        let Some(filter) = &block.filter else {
            self.steps.expect(step, Some(page.first as usize), true);
            self.steps.close(step, StepPaths::one(PagePath::Seek));
            return Ok(root.rows);
        };
        let prepared = self.prepare(filter, root.rows, Purpose::Page)?;
        let is_driven = self.note_driving_side(&prepared, root.rows);
        self.steps.expect(step, Some(page.first as usize), root.rows.is_exact());
        self.steps.close(step, walked(is_driven));
        Ok(root.rows.and(self.filter_rows(filter), self.nodes()))
    }

    /// A page of a root function that is a test of nodes.
    fn first_tested(
        &mut self,
        block: &'a Block,
        function: &'a Function,
        page: Page,
    ) -> Result<Cardinality> {
        let counted = match &function.call {
            Call::Compare { left: Operand::Count(name), .. }
            | Call::Between { left: Operand::Count(name), .. } => Some(name),
            _ => None,
        };
        let test = self.steps.open("root", "", Some(function.at));
        self.steps.expect(test, None, true);
        let path = match counted {
            Some(_) => RootPath::TestDegrees,
            None => RootPath::TestValues,
        };
        self.steps.close(test, StepPaths::one(path));
        let step = self.steps.open("page", &block.name, Some(block.at));
        let tested = match counted {
            Some(name) => self.subjects_of(name),
            None => self.subjects_of_call(&function.call).unwrap_or(0),
        };
        let tested = Cardinality::exact(tested);
        let is_driven = match &block.filter {
            Some(filter) => {
                let prepared = self.prepare(filter, tested, Purpose::Page)?;
                self.note_driving_side(&prepared, tested)
            }
            None => Some(false),
        };
        let root = self.instead(|planner| planner.root(function))?;
        self.steps.expect(step, Some(page.first as usize), true);
        self.steps.close(step, walked(is_driven).or(PagePath::GivesUp, "if too few pass"));
        Ok(root.rows)
    }

    /// Plans steps that run only instead of others.
    pub(super) fn instead<T>(
        &mut self,
        plan: impl FnOnce(&mut Planner<'a>) -> Result<T>,
    ) -> Result<T> {
        let before = self.fallback(true);
        let planned = plan(self);
        self.steps.is_fallback = before;
        planned
    }

    /// Plans the step of a root function.
    pub(super) fn root(&mut self, function: &'a Function) -> Result<PlannedRoot> {
        let step = self.steps.open("root", "", Some(function.at));
        let estimate = self.estimate(function).filter(|_| is_reported(function));
        let is_exact = vars_of(&function.call).is_empty();
        self.steps.expect(step, estimate.map(|it| it.expected), is_exact);
        if let Call::SimilarTo { admits: Some(admits), .. } = &function.call {
            self.filter(admits, self.any_rows())?;
        }
        let choices = self.root_choices(function).map_err(|error| error.or_at(function.at))?;
        self.steps.close(step, choices);
        let rows = match &function.call {
            Call::Compare { left: Operand::Count(name), .. }
            | Call::Between { left: Operand::Count(name), .. } => {
                Cardinality::up_to(self.subjects_of(name))
            }
            _ => self.function_rows(function),
        };
        let set = match &function.call {
            Call::Has(name) => Some(self.context.having(name)?),
            Call::Type(name) => Some(self.context.type_nodes(name).unwrap_or_default()),
            _ => None,
        };
        Ok(PlannedRoot { rows, set })
    }

    /// How the nodes of a root function may be selected.
    fn root_choices(&self, function: &'a Function) -> Result<StepPaths> {
        let path = match &function.call {
            Call::Compare { op, left, .. } => return self.compared_root(function, left, *op),
            Call::Between { left, .. } => {
                return self.compared_root(function, left, Comparison::Ge);
            }
            Call::Text { predicate, test } => {
                let Some(_) = self.context.resolve(predicate)? else {
                    return Ok(StepPaths::default());
                };
                let (path, other) = text_root_paths(test);
                let choices = StepPaths::one(path);
                return Ok(match other {
                    Some((path, condition)) => choices.or(path, condition),
                    None => choices,
                });
            }
            Call::Uid { .. } => RootPath::Uids,
            Call::Type(_) => RootPath::Type,
            Call::Has(_) => RootPath::Subjects,
            Call::Terms { .. } => RootPath::Postings,
            Call::Geo { .. } => RootPath::Cells,
            Call::SimilarTo { .. } => RootPath::Vectors,
            // The executor refuses them.
            Call::UidIn { .. } | Call::CustomTerms { .. } => return Ok(StepPaths::default()),
        };
        Ok(StepPaths::one(path))
    }

    fn compared_root(
        &self,
        function: &'a Function,
        left: &'a Operand,
        op: Comparison,
    ) -> Result<StepPaths> {
        match left {
            Operand::Predicate(name) => self.compared_values(function, name, op),
            Operand::Count(name) => {
                let Some(predicate) = self.context.resolve(name)? else {
                    return Ok(StepPaths::one(RootPath::Nothing));
                };
                let condition = self.context.comparison(&function.call);
                let condition = condition.and_then(|(_, _, of)| of(ValueType::Int).ok());
                let is_range = condition.is_some_and(|it| it.int_range().is_some());
                let has_edges = predicate.direction(name.reverse).is_some();
                let choices = match has_edges && is_range {
                    true => StepPaths::one(RootPath::Degrees),
                    false => StepPaths::one(RootPath::Scan),
                };
                Ok(match vars_of(&function.call).is_empty() {
                    true => choices,
                    false => choices
                        .or(RootPath::Degrees, "if the variable has one value")
                        .or(RootPath::Scan, "if the variable has several values"),
                })
            }
            Operand::Val(_) => Ok(StepPaths::one(RootPath::Variable)),
            Operand::Len(_) => Ok(StepPaths::default()),
        }
    }

    fn compared_values(
        &self,
        function: &'a Function,
        name: &'a PredicateRef,
        op: Comparison,
    ) -> Result<StepPaths> {
        if !vars_of(&function.call).is_empty() {
            let index = match op {
                Comparison::Eq => RootPath::IndexEquality,
                _ => RootPath::IndexRange,
            };
            return Ok(match self.context.resolve(name)? {
                Some(_) => StepPaths::one(index)
                    .or(RootPath::IndexEquality, "if the variable has several values")
                    .or(RootPath::Scan, "if many pass"),
                None => StepPaths::one(RootPath::Nothing),
            });
        }
        let Some((_, _, condition)) = self.context.comparison(&function.call) else {
            return Ok(StepPaths::default());
        };
        let compared: Option<(_, ValueCondition)> = self.context.compared(name, op, &condition)?;
        let Some((predicate, condition)) = compared else {
            return Ok(StepPaths::one(RootPath::Nothing));
        };
        // Without an estimate no index has the condition.
        if self.context.estimate(function).is_none() {
            return Ok(StepPaths::one(RootPath::Scan));
        }
        Ok(StepPaths::one(self.context.values_path(predicate, name, &condition)))
    }

    /// The number of nodes of a function.
    pub(super) fn function_rows(&self, function: &Function) -> Cardinality {
        let call = &function.call;
        if let Call::Type(_) = call {
            return Cardinality::exact(self.context.estimate(function).unwrap_or(0));
        }
        if let Call::Uid { uids, vars } = call {
            return match vars.is_empty() {
                true => Cardinality::exact(self.context.node_set(uids.iter().copied()).len()),
                false => {
                    let rows = vars.iter().map(|var| self.var_rows(*var));
                    rows.reduce(Cardinality::or).unwrap_or(Cardinality::exact(0))
                }
            };
        }
        let Some(most) = self.subjects_of_call(call) else { return self.any_rows() };
        if !vars_of(call).is_empty() {
            return Cardinality::up_to(most);
        }
        match call {
            Call::Has(_) => Cardinality::exact(self.context.estimate(function).unwrap_or(0)),
            Call::SimilarTo { count, .. } => {
                let count = count.parse().unwrap_or(most);
                Cardinality::about(count, count.min(most))
            }
            _ => match (self.context.root_count(function), self.context.estimate(function)) {
                (Some(count), _) => Cardinality::exact(count),
                (None, Some(estimate)) if is_reported(function) => {
                    Cardinality::about(estimate, most)
                }
                _ => Cardinality::up_to(most),
            },
        }
    }

    /// The number of nodes that have a predicate.
    fn subjects_of(&self, name: &PredicateRef) -> usize {
        let Ok(Some(predicate)) = self.context.resolve(name) else { return 0 };
        match predicate.direction(name.reverse) {
            Some(edges) => edges.subjects().len(),
            None => predicate.subjects().len(),
        }
    }

    /// The number of nodes without which no others pass a function; `None` where any node may.
    fn subjects_of_call(&self, call: &Call) -> Option<usize> {
        let of = |name| Some(self.subjects_of(name));
        match call {
            Call::Compare { left, .. } | Call::Between { left, .. } => match left {
                Operand::Predicate(name) => of(name),
                // In a filter the number may be 0.
                Operand::Count(_) | Operand::Len(_) => None,
                Operand::Val(var) => Some(self.var_rows(*var).most),
            },
            Call::Terms { predicate, .. }
            | Call::Text { predicate, .. }
            | Call::UidIn { predicate, .. }
            | Call::Geo { predicate, .. }
            | Call::SimilarTo { predicate, .. }
            | Call::Has(predicate) => of(predicate),
            Call::Type(_) | Call::Uid { .. } | Call::CustomTerms { .. } => None,
        }
    }
}

/// How a page is filled, by whether a set of its filter is walked.
fn walked(is_driven: Option<bool>) -> StepPaths {
    match is_driven {
        Some(true) => StepPaths::one(PagePath::WalkFilter),
        Some(false) => StepPaths::one(PagePath::WalkRoot),
        None => StepPaths::one(PagePath::WalkRoot)
            .or(PagePath::WalkFilter, "if a set of the filter is small"),
    }
}

/// The rows behind the `after` of a page.
pub(super) fn rows_after(rows: Cardinality, page: Page) -> Cardinality {
    if page.after == 0 { rows } else { rows.part() }
}

/// The rows of a page.
fn paged(rows: Cardinality, page: Page) -> Cardinality {
    let rows = rows_after(rows, page);
    match page.first {
        0 => rows.without(page.skip()),
        first if 0 < first => rows.without(page.skip()).limited(first as usize),
        // From the end nothing is skipped.
        first => rows.limited(first.unsigned_abs() as usize),
    }
}
