//! Pages and counts of long edge lists: each list is evaluated by itself, as a root is, and only as
//! far as its page requires.
//!
//! Short lists are filtered all at once, each target once, whichever lists contain it (see
//! `traverse`). Long ones would be copied, filtered and sorted entirely for a page of ten: here a
//! filtered page walks the list, or the smallest set of the filter's indexes, until it is full, an
//! ordered one is executed as an ordered block, and a count intersects sets.

use super::lists::Lists;
use super::traverse::Walk;
use crate::exec::access_path::EdgesPath;
use crate::exec::control::context::Context;
use crate::exec::physical::rewrites::pages_at_once;
use crate::exec::select::page::cut;
use crate::exec::select::passing::{PreparedFilter, Purpose};
use crate::graph::Direction;
use crate::storage::NodeSet;
use hexgraph_base::plan::{Field, Filter, OrderKey, Page};
use hexgraph_base::types::Result;

/// The edge lists of a level, when they are long.
struct LongLists {
    /// The number of targets of the longest.
    longest: usize,
    /// The number of targets of all.
    total: usize,
}

impl LongLists {
    /// Counts the edges of some nodes. `None` where they have fewer than `least` each on average.
    /// O(nodes), without a look at an edge.
    fn of(edges: &Direction, nodes: &[u32], least: usize) -> Option<LongLists> {
        let (mut longest, mut total) = (0, 0);
        for &node in nodes {
            let count = edges.count(node);
            longest = longest.max(count);
            total += count;
        }
        let is_long = !nodes.is_empty() && least.saturating_mul(nodes.len()) <= total;
        is_long.then_some(LongLists { longest, total })
    }
}

impl Context<'_> {
    /// The pages of a field's lists, which are filtered or ordered, when the lists are long and the
    /// page is short; `None` when this strategy does not apply.
    ///
    /// # Errors
    ///
    /// Those of the filter and of the order, and the limits.
    pub(crate) fn pages_of_long_lists(
        &self,
        nodes: &[u32],
        walk: &Walk<'_>,
        page: Page,
    ) -> Result<Option<(Vec<u32>, Vec<u32>)>> {
        let field = walk.field;
        let Some(least) = self.long_pages_min(field, page) else { return Ok(None) };
        let least = self.pick(least, nodes.len(), || vec![0, usize::MAX]);
        let Some(long) = LongLists::of(walk.edges, nodes, least) else { return Ok(None) };
        if !self.is_order_of_one_list(&field.order, nodes.len(), long.total)? {
            return Ok(None);
        }
        // An order may put any node first, so all that pass are needed before it.
        let purpose = if field.order.is_empty() { Purpose::Page } else { Purpose::All };
        let filter = field.filter.as_ref();
        let filter =
            filter.map(|filter| self.prepare(filter, long.longest, purpose)).transpose()?;
        let mut lists = Lists::new(self, nodes.len())?;
        for &node in nodes {
            let set = walk.edges.target_set(node);
            match (&filter, field.order.is_empty()) {
                (Some(filter), true) => {
                    lists.extend(self, &self.first_passing(&set, filter, page)?)?;
                }
                _ => lists.extend(self, &self.first_in_order(walk, set, filter.as_ref(), page)?)?,
            }
            lists.close(self)?;
        }
        self.record_path(match field.order.is_empty() {
            true => EdgesPath::WalkEach,
            false => EdgesPath::OrderEach,
        });
        Ok(Some(lists.finish()))
    }

    /// The edges of a node on average from which on the pages of a field's lists are evaluated list
    /// by list; `None` where they never are. Reads no data.
    pub(crate) fn long_pages_min(&self, field: &Field, page: Page) -> Option<usize> {
        let by_facets = field.facets.as_ref().is_some_and(|facets| !facets.order.is_empty());
        let expected = page.expected()?;
        if field.facet_filter.is_some() || by_facets {
            return None;
        }
        let costs = self.control.costs();
        Some(costs.long_list.max(expected.saturating_mul(costs.long_list_ratio)))
    }

    /// The page of one list in the order of the field.
    fn first_in_order(
        &self,
        walk: &Walk<'_>,
        set: NodeSet,
        filter: Option<&PreparedFilter<'_>>,
        page: Page,
    ) -> Result<Vec<u32>> {
        self.check()?;
        if let Some(filter) = filter
            && let Some(index) = self.index_of_order(&walk.field.order, set.len(), page)?
        {
            let full = walk.field.filter.as_ref();
            let range = full.and_then(|it| self.range_in_filter(it, &walk.field.order));
            if let Some(result) = self.page_of_filtered(index, range, filter, &set, page)? {
                return Ok(result);
            }
        }
        // `after` is a uid, whatever the order is.
        let Some(least) = self.least_of(page) else { return Ok(Vec::new()) };
        let rest = set.tail(least);
        let rest = match filter {
            Some(filter) => self.all_passing(&rest, filter)?,
            None => rest,
        };
        let order = &walk.field.order;
        let ordered = self.order_nodes(order, &rest, page.skip(), page.expected())?;
        Ok(cut(&ordered, page).to_vec())
    }

    /// Whether ordering list by list gives the order of all at once, at no greater cost. A variable
    /// is read entirely for each list.
    fn is_order_of_one_list(
        &self,
        order: &[OrderKey],
        lists: usize,
        targets: usize,
    ) -> Result<bool> {
        let mut values: usize = 0;
        for key in order {
            if let OrderKey::Var { var, .. } = key {
                values = values.saturating_add(self.expect_values(*var)?.nodes.len());
            }
        }
        Ok(pages_at_once(order) && values.saturating_mul(lists) <= targets.saturating_mul(4))
    }

    /// For each node the number of targets that pass a filter, when the lists are long; `None` when
    /// this strategy does not apply.
    ///
    /// # Errors
    ///
    /// Those of the filter.
    pub(crate) fn counts_of_long_lists(
        &self,
        nodes: &[u32],
        edges: &Direction,
        filter: &Filter,
    ) -> Result<Option<Vec<u64>>> {
        let least = self.control.costs().long_list;
        let least = self.pick(least, nodes.len(), || vec![0, usize::MAX]);
        let Some(long) = LongLists::of(edges, nodes, least) else { return Ok(None) };
        let filter = self.prepare(filter, long.longest, Purpose::All)?;
        self.record_path(EdgesPath::CountEach);
        let mut counts = Vec::with_capacity(nodes.len());
        for &node in nodes {
            self.check()?;
            counts.push(self.all_passing(&edges.target_set(node), &filter)?.len() as u64);
        }
        Ok(Some(counts))
    }
}
