//! Selects the page of `first`, `offset` and `after`, without a walk over what comes before it.

use super::by_index::{RangeWalk, requested_max};
use super::order::SortKey;
use super::passing::Purpose;
use crate::exec::access_path::{OrderPath, PagePath, RootPath};
use crate::exec::choose::tester::Tester;
use crate::exec::control::context::{Context, Var};
use crate::storage::NodeSet;
use hexgraph_base::plan::{Block, Call, Filter, Function, Page};
use hexgraph_base::types::{Error, Result, Uid};

/// How the roots of a block are selected in the order of the answer.
pub(crate) enum RootsPlan<'f> {
    /// All of the set is needed: to list it, or to count from its end.
    Full,
    /// The first ones of the set.
    First,
    /// The first ones of the nodes that have edges whose number is the requested one, or an int in
    /// a range; each is tested until the page is full.
    Tested(Box<Tester<'f>>, NodeSet),
    /// Read off the index of the predicate that the root function selects and the order is by.
    Range(RangeWalk<'f>),
    /// The set in an order.
    Ordered,
}

impl<'a> Context<'a> {
    /// The nodes of a root block in the order of the answer: filtered, ordered and paged.
    ///
    /// With `@cascade` they are not paged yet, since the cascade comes first, but they are no more
    /// than the first `most`.
    pub(crate) fn block_roots<'f>(&self, block: &'f Block, most: Option<usize>) -> Result<Vec<u32>>
    where
        'a: 'f,
    {
        let Some(function) = &block.root else { return Ok(Vec::new()) };
        let page = roots_page(block, most);
        check_order(page, &block.order)?;
        if let Some(nodes) = self.literal_roots(block, function, page)? {
            return Ok(nodes);
        }
        match self.roots_plan(block, function, page)? {
            RootsPlan::Full => self.listed(&self.block_set(block)?, page),
            RootsPlan::First => {
                let root = self.root(function)?;
                let expected = Some(page.first as usize);
                let step = self.begin("page", &block.name, Some(block.at), expected);
                let result = self.first_of_root(&root, block.filter.as_ref(), page)?;
                self.end(&step, result.len());
                Ok(result)
            }
            RootsPlan::Tested(tester, requested) => {
                self.first_tested(block, function, (*tester, requested), page)
            }
            RootsPlan::Range(walk) => match self.page_of_range(walk, block, page)? {
                Some(result) => Ok(result),
                None => self.ordered_roots(block, function, page),
            },
            RootsPlan::Ordered => self.ordered_roots(block, function, page),
        }
    }

    /// Decides how the roots of a block are selected in the order of the answer. Reads no data.
    ///
    /// # Errors
    ///
    /// Those of the root function and of the order.
    pub(crate) fn roots_plan<'f>(
        &self,
        block: &'f Block,
        function: &'f Function,
        page: Page,
    ) -> Result<RootsPlan<'f>>
    where
        'a: 'f,
    {
        if block.order.is_empty() {
            if page.first <= 0 {
                return Ok(RootsPlan::Full);
            }
            let expected = page.skip().saturating_add(page.first as usize);
            let tested = self.count_test(function).or_else(|| self.range_test(function, expected));
            let tested = tested.filter(|_| self.pick(true, page.skip(), || vec![true, false]));
            return Ok(tested.map_or(RootsPlan::First, |(tester, requested)| {
                RootsPlan::Tested(Box::new(tester), requested)
            }));
        }
        let walk = self.range_walk(&block.order, function, page)?;
        let walk = walk.filter(|_| self.pick(true, page.skip(), || vec![true, false]));
        Ok(walk.map_or(RootsPlan::Ordered, RootsPlan::Range))
    }

    /// The page of the roots of a block in its order: off the index of the order, with a test of
    /// each node, or by ordering those that pass.
    fn ordered_roots<'f>(
        &self,
        block: &'f Block,
        function: &'f Function,
        page: Page,
    ) -> Result<Vec<u32>>
    where
        'a: 'f,
    {
        let root = self.root(function)?;
        let expected = page.expected();
        if let Some(filter) = &block.filter {
            self.note_unresolved_in(filter, &root);
        }
        if let Some(filter) = &block.filter
            && let Some(index) = self.index_of_order(&block.order, root.len(), page)?
        {
            let step = self.begin("order", &block.name, Some(block.at), expected);
            let prepared = self.prepare(filter, root.len(), Purpose::Page)?;
            let range = self.range_in_filter(filter, &block.order);
            let range = range.filter(|_| self.pick(true, root.len(), || vec![true, false]));
            let way = match range {
                Some(_) => OrderPath::WalkFilterRange,
                None => OrderPath::WalkIndex,
            };
            let result = self.page_of_filtered(index, range, &prepared, &root, page)?;
            let path = if result.is_some() { way } else { OrderPath::GivesUp };
            self.record_path(path);
            self.end(&step, result.as_ref().map_or(0, Vec::len));
            if let Some(result) = result {
                return Ok(result);
            }
        }
        let mut set = root;
        if let Some(filter) = &block.filter {
            if let Some(ordered) = self.first_of_filtered(block, filter, &set, page)? {
                return Ok(cut(&ordered, page).to_vec());
            }
            set = self.filter(filter, set)?;
        }
        set = self.least_of(page).map(|least| set.tail(least)).unwrap_or_default();
        // What is skipped has to be sorted, too.
        self.control.charge(size_of::<u32>() * expected.unwrap_or(usize::MAX).min(set.len()))?;
        let step = self.begin("order", &block.name, Some(block.at), expected);
        let ordered = self.order_nodes(&block.order, &set, page.skip(), expected)?;
        self.end(&step, ordered.len());
        Ok(cut(&ordered, page).to_vec())
    }

    /// The order path of one pass over the column of the first key that tests the candidates by a
    /// filter, and the key; `None` where `count` nodes are filtered first. Reads no data.
    pub(crate) fn filtered_scan<'k, 'f>(
        &self,
        keys: &'k [SortKey<'f>],
        filter: &Filter,
        count: usize,
        expected: Option<usize>,
    ) -> Option<(OrderPath, &'k SortKey<'f>)> {
        let path = self.order_path(keys, count, expected);
        let key = keys.first().filter(|key| key.predicate.only_untagged().is_some())?;
        let (OrderPath::Scan | OrderPath::ScanAndSort) = path else { return None };
        let few = count / self.control.costs().driver_ratio;
        let pays = !self.is_estimated_below(filter, few);
        self.pick(pays, count, || vec![true, false]).then_some((path, key))
    }

    /// The page of a set as a list.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when all of it is requested and there is no memory for it.
    pub(crate) fn listed(&self, set: &NodeSet, page: Page) -> Result<Vec<u32>> {
        if page.is_all() {
            self.control.charge(size_of::<u32>() * set.len())?;
        }
        Ok(self.page_of(set, page))
    }

    /// The least node that a page may have, which comes after its `after`; `None` when all nodes
    /// come before.
    pub(crate) fn least_of(&self, page: Page) -> Option<u32> {
        match page.after {
            0 => Some(0),
            after => self.version.nodes.node_after(Uid(after)),
        }
    }

    /// The nodes of a root block that pass its filter.
    pub(crate) fn block_set(&self, block: &Block) -> Result<NodeSet> {
        let Some(function) = &block.root else { return Ok(NodeSet::default()) };
        let root = self.root(function)?;
        match &block.filter {
            Some(filter) => {
                self.note_unresolved_in(filter, &root);
                self.filter(filter, root)
            }
            None => Ok(root),
        }
    }

    /// The number of nodes of a root block that pass its filter, and the nodes, unless they were
    /// counted in a column or an index, which they are not where the block has a variable.
    pub(crate) fn counted_set(&self, block: &Block) -> Result<(usize, Option<NodeSet>)> {
        if let (Some(function), Some(filter), None) = (&block.root, &block.filter, block.var) {
            let root = self.root(function)?;
            self.note_unresolved_in(filter, &root);
            if let Some(count) = self.count_passing(filter, &root)? {
                return Ok((count, None));
            }
            let set = self.filter(filter, root)?;
            return Ok((set.len(), Some(set)));
        }
        if let (Some(function), None, None) = (&block.root, &block.filter, block.var)
            && let Some(count) = self.counted_root(function)
        {
            return Ok((count, None));
        }
        let set = self.block_set(block)?;
        Ok((set.len(), Some(set)))
    }

    /// A page of `first` nodes of a root: without a filter a seek, else a walk that ends with the
    /// page.
    fn first_of_root<'f>(
        &self,
        root: &NodeSet,
        filter: Option<&'f Filter>,
        page: Page,
    ) -> Result<Vec<u32>>
    where
        'a: 'f,
    {
        let Some(filter) = filter else {
            self.record_path(PagePath::Seek);
            return Ok(self.page_of(root, page));
        };
        self.note_unresolved_in(filter, root);
        let prepared = self.prepare(filter, root.len(), Purpose::Page)?;
        self.note_walk(prepared.drives(root.len()));
        self.first_passing(root, &prepared, page)
    }

    /// Notes whether a page walks its root or a set of its filter.
    fn note_walk(&self, walks_filter: bool) {
        self.record_path(match walks_filter {
            true => PagePath::WalkFilter,
            false => PagePath::WalkRoot,
        });
    }

    /// As [`Context::first_of_root`], of a root function that is a test of nodes. When too many
    /// fail the test, all counts are read, or the index, which costs less for each of them.
    fn first_tested<'f>(
        &self,
        block: &'f Block,
        function: &'f Function,
        (tester, requested): (Tester<'f>, NodeSet),
        page: Page,
    ) -> Result<Vec<u32>>
    where
        'a: 'f,
    {
        let expected = Some(page.first as usize);
        let test = self.begin("root", "", Some(function.at), None);
        let tests_degrees = matches!(tester, Tester::Count { .. });
        self.record_path(if tests_degrees { RootPath::TestDegrees } else { RootPath::TestValues });
        self.end(&test, 0);
        let step = self.begin("page", &block.name, Some(block.at), expected);
        let mut prepared = match &block.filter {
            Some(filter) => self.prepare(filter, requested.len(), Purpose::Page)?,
            None => self.prepared_for_all(),
        };
        prepared.add_test(tester, test);
        // Small graphs reach the end before so many nodes are tested.
        let most = self.pick(requested_max(page), requested.len(), || vec![requested_max(page), 1]);
        if let Some(result) = self.first_passing_within(&requested, &prepared, page, most)? {
            self.note_walk(prepared.drives(requested.len()));
            self.end(&step, result.len());
            return Ok(result);
        }
        let root = self.root(function)?;
        self.record_path(PagePath::GivesUp);
        let result = self.first_passing(&root, &prepared, page)?;
        self.end(&step, result.len());
        Ok(result)
    }

    /// Roots whose order or repeats are not those of a set: uid lists and paths.
    fn literal_roots<'f>(
        &self,
        block: &'f Block,
        function: &'f Function,
        page: Page,
    ) -> Result<Option<Vec<u32>>>
    where
        'a: 'f,
    {
        let Call::Uid { uids, vars } = &function.call else { return Ok(None) };
        if !block.order.is_empty() {
            return Ok(None);
        }
        let mut nodes = if vars.is_empty() {
            if uids.is_sorted_by(|one, other| one < other) {
                return Ok(None);
            }
            let mut nodes: Vec<u32> =
                uids.iter().filter_map(|uid| self.version.nodes.node(Uid(*uid))).collect();
            nodes.sort_unstable();
            nodes
        } else {
            let [var] = &vars[..] else { return Ok(None) };
            let Some(Var::Uids(uids)) = &self.vars[var.0 as usize] else { return Ok(None) };
            let Some(path) = &uids.path else { return Ok(None) };
            path.to_vec()
        };
        if let Some(filter) = &block.filter {
            // Filters work on sets; the list, with its order and its repeats, is filtered
            // afterwards.
            let mut unique = nodes.clone();
            unique.sort_unstable();
            unique.dedup();
            let unique = NodeSet::from(unique);
            self.note_unresolved_in(filter, &unique);
            let retained = self.filter(filter, unique)?;
            nodes.retain(|&node| retained.contains(node));
        }
        // A uid that is listed twice comes twice, unless the list is filtered.
        if vars.is_empty() && block.filter.is_some() {
            nodes.dedup();
        }
        if page.after != 0 {
            let least = self.version.nodes.node_after(Uid(page.after));
            nodes.retain(|&node| least.is_some_and(|least| least <= node));
        }
        Ok(Some(cut(&nodes, page).to_vec()))
    }

    /// The requested part of a set without an order.
    pub(crate) fn page_of(&self, set: &NodeSet, page: Page) -> Vec<u32> {
        if page.is_all() {
            return set.to_vec();
        }
        let offset = page.skip();
        if page.after == 0 {
            return match page.first {
                0 => set.page(offset, usize::MAX),
                first if 0 < first => set.page(offset, first as usize),
                first => {
                    let count = first.unsigned_abs() as usize;
                    set.page(set.len().saturating_sub(count), count)
                }
            };
        }
        let Some(least) = self.version.nodes.node_after(Uid(page.after)) else { return Vec::new() };
        let rows_behind = || set.count_below(least) + offset;
        match page.first {
            0 => set.page(rows_behind(), usize::MAX),
            first if 0 < first && offset == 0 => {
                set.iter_from(least).take(first as usize).collect()
            }
            first if 0 < first => set.page(rows_behind(), first as usize),
            first => {
                // From the end, but no further than to `after`.
                let count = first.unsigned_abs() as usize;
                let start = set.len().saturating_sub(count).max(set.count_below(least));
                set.page(start, count)
            }
        }
    }
}

/// The page of the roots of a block: with `@cascade` no more than the first `most`, since the
/// cascade comes before the page.
pub(crate) fn roots_page(block: &Block, most: Option<usize>) -> Page {
    if block.cascade.is_none() {
        return block.page;
    }
    let first = most.map_or(0, |most| i32::try_from(most).unwrap_or(i32::MAX));
    // Without `offset`: the cascade may drop some of those that it would skip.
    Page { first, after: block.page.after, ..Page::default() }
}

/// The requested part of a list: `after` has been applied.
pub(crate) fn cut(nodes: &[u32], page: Page) -> &[u32] {
    let offset = page.skip().min(nodes.len());
    match page.first {
        0 => &nodes[offset..],
        first if 0 < first => {
            &nodes[offset..offset.saturating_add(first as usize).min(nodes.len())]
        }
        first => &nodes[nodes.len().saturating_sub(first.unsigned_abs() as usize)..],
    }
}

/// Refuses a negative `first` with an order by predicates. With `@cascade` the page is cut later,
/// and may be counted from the end.
pub(crate) fn check_order(page: Page, order: &[hexgraph_base::plan::OrderKey]) -> Result<()> {
    let by_predicate =
        matches!(order.first(), Some(hexgraph_base::plan::OrderKey::Predicate { .. }));
    if page.first < 0 && by_predicate {
        let message = format!("`first: {}` can't be used with an order", page.first);
        let hint = format!("reverse the order and use `first: {}`", page.first.unsigned_abs());
        return Err(Error::query(message).with_hint(hint));
    }
    Ok(())
}
