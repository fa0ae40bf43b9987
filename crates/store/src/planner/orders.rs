//! Plans orders: of roots, and of the targets of edges.

use super::blocks::Planner;
use super::cardinality::Cardinality;
use super::filters::has_vars;
use super::roots::rows_after;
use super::steps::{ABANDONED, StepPaths};
use crate::exec::{OrderPath, Purpose, looks_beyond};
use hexgraph_base::plan::{Block, Filter, Function, OrderKey, Page};
use hexgraph_base::types::Result;

impl<'a> Planner<'a> {
    /// A page that is read off the index which the root function selects, with what follows where
    /// the walk is abandoned.
    pub(super) fn page_of_range(
        &mut self,
        block: &'a Block,
        function: &'a Function,
        page: Page,
        entries: usize,
    ) -> Result<Cardinality> {
        let step = self.steps.open("order", &block.name, Some(block.at));
        self.steps.expect(step, page.expected(), true);
        let mut choices = StepPaths::one(OrderPath::WalkRange);
        if let Some(filter) = &block.filter {
            self.prepare(filter, Cardinality::exact(entries), Purpose::Page)?;
        }
        let may_give_up = block.filter.is_some() || page.after != 0;
        if may_give_up {
            choices = choices.or(OrderPath::GivesUp, "if too few pass");
        }
        self.steps.close(step, choices);
        if may_give_up {
            return self.instead(|planner| planner.ordered_roots(block, function, page));
        }
        Ok(self.function_rows(function))
    }

    /// A page of a root in an order.
    pub(super) fn ordered_roots(
        &mut self,
        block: &'a Block,
        function: &'a Function,
        page: Page,
    ) -> Result<Cardinality> {
        let root = rows_after(self.root(function)?.rows, page);
        let before = self.steps.is_fallback;
        if let Some(filter) = &block.filter {
            let walks = self.walks_filtered_index(block, filter, root, page)?;
            self.fallback(walks);
            let scans = self.scans_filtered(block, filter, root, page)?;
            self.fallback(scans);
        }
        let rows = match &block.filter {
            Some(filter) => self.filter(filter, root)?,
            None => root,
        };
        let step = self.steps.open("order", &block.name, Some(block.at));
        self.steps.expect(step, page.expected(), rows.is_exact());
        let choices = self.order_choices(&block.order, rows, page.expected())?;
        self.steps.close(step, choices);
        self.steps.is_fallback = before;
        Ok(rows)
    }

    /// The walk over the index of an order that tests each node by a filter. Returns whether it may
    /// be executed.
    fn walks_filtered_index(
        &mut self,
        block: &'a Block,
        filter: &'a Filter,
        root: Cardinality,
        page: Page,
    ) -> Result<bool> {
        self.context.index_of_order(&block.order, root.expected, page)?;
        let walks = root.decide(|rows| {
            let index = self.context.index_of_order(&block.order, rows, page);
            index.ok().flatten().is_some()
        });
        let Some(decision) = walks.iter().find(|it| it.value) else { return Ok(false) };
        let (from, is_sure) = (decision.from, walks.len() == 1);
        let before = self.fallback(!walks[0].value);
        let step = self.steps.open("order", &block.name, Some(block.at));
        self.steps.expect(step, page.expected(), is_sure && root.is_exact());
        self.prepare(filter, root, Purpose::Page)?;
        let path = match self.context.range_in_filter(filter, &block.order) {
            Some(_) => OrderPath::WalkFilterRange,
            None => OrderPath::WalkIndex,
        };
        let mut choices = match from {
            Some(from) => StepPaths::default().or_from(path, from, super::steps::ROWS),
            None => StepPaths::one(path),
        };
        if has_vars(filter) {
            choices = choices
                .or(OrderPath::WalkIndex, "if the filter gives no range")
                .or(OrderPath::WalkFilterRange, "if the filter gives a range");
        }
        self.steps.close(step, choices.or(OrderPath::GivesUp, "if too few pass"));
        self.steps.is_fallback = before;
        Ok(true)
    }

    /// The pass over the column of the first key that tests the candidates by a filter. Returns
    /// whether it may be executed.
    fn scans_filtered(
        &mut self,
        block: &'a Block,
        filter: &'a Filter,
        root: Cardinality,
        page: Page,
    ) -> Result<bool> {
        let expected = page.expected();
        if expected.is_none() || looks_beyond(filter) {
            return Ok(false);
        }
        let Ok(keys) = self.context.sort_keys(&block.order) else { return Ok(false) };
        // What variables hold may be more than no nodes.
        let is_open = has_vars(filter);
        let decisions = root.decide(|rows| {
            self.context.filtered_scan(&keys, filter, rows, expected).is_some()
                || is_open && self.is_scanned(&keys, rows, expected)
        });
        let Some(decision) = decisions.iter().find(|it| it.value) else { return Ok(false) };
        let (from, is_sure) = (decision.from, decisions.len() == 1 && !is_open);
        let before = self.fallback(!decisions[0].value);
        let step = self.steps.open("order", &block.name, Some(block.at));
        self.steps.expect(step, expected, is_sure && root.is_exact());
        self.prepare(filter, root, Purpose::Page)?;
        let choices = match from {
            Some(from) => {
                StepPaths::default().or_from(OrderPath::ScanAndFilter, from, super::steps::ROWS)
            }
            None => StepPaths::one(OrderPath::ScanAndFilter),
        };
        self.steps.close(step, choices.or(OrderPath::GivesUp, "if the values are no numbers"));
        self.steps.is_fallback = before;
        Ok(true)
    }

    fn is_scanned(
        &self,
        keys: &[crate::exec::SortKey<'_>],
        rows: usize,
        expected: Option<usize>,
    ) -> bool {
        let path = self.context.order_path(keys, rows, expected);
        matches!(path, OrderPath::Scan | OrderPath::ScanAndSort)
    }

    /// How so many nodes may be ordered.
    pub(super) fn order_choices(
        &self,
        order: &'a [OrderKey],
        rows: Cardinality,
        expected: Option<usize>,
    ) -> Result<StepPaths> {
        if let [OrderKey::Var { var, .. }] = order {
            let valued = rows.limited(self.var_rows(*var).most).part();
            let choices = match expected {
                Some(expected) => {
                    StepPaths::by_rows(valued, |rows| self.context.var_path(rows, expected))
                }
                None => StepPaths::one(OrderPath::Sort),
            };
            return Ok(choices
                .or(OrderPath::Sort, "if the values are no numbers")
                .or(OrderPath::AsIs, "if no node has a value"));
        }
        let keys = self.context.sort_keys(order)?;
        let choices =
            StepPaths::by_rows(rows, |rows| self.context.order_path(&keys, rows, expected));
        let scans = choices.has(OrderPath::Scan)
            || choices.has(OrderPath::ScanAndSort)
            || choices.has(OrderPath::WalkIndexAndSort);
        Ok(if scans { choices.or(OrderPath::Sort, ABANDONED) } else { choices })
    }
}
