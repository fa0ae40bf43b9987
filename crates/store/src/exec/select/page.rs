//! Finds the page that `first`, `offset` and `after` ask for, without a walk over what comes before it.

use super::reach::looks_beyond;
use crate::exec::choose::tester::Tester;
use crate::exec::control::context::Context;
use crate::storage::NodeSet;
use hexgraph_base::plan::{Block, Call, Filter, Function, Page};
use hexgraph_base::types::{Error, Result, Uid};

/// An index set that is at least this many times smaller than the root drives the page.
const DRIVER_RATIO: usize = 4;

/// The least number of nodes in the first batch that is handed to a filter which follows edges to other nodes.
const BATCH_MIN: usize = 64;

/// The greatest number of nodes in such a batch. Each batch is twice as long as the one before until then.
const BATCH_MAX: usize = 1 << 15;

impl<'a> Context<'a> {
    /// The nodes of a root block in the order of the answer: filtered, ordered and paged.
    ///
    /// With `@cascade` they are not paged yet, since the cascade comes first.
    pub(crate) fn block_roots<'f>(&self, block: &'f Block) -> Result<Vec<u32>>
    where
        'a: 'f,
    {
        let Some(function) = &block.root else { return Ok(Vec::new()) };
        check_page(block)?;
        let page = if block.cascade.is_some() {
            Page { after: block.page.after, ..Page::default() }
        } else {
            block.page
        };
        if let Some(nodes) = self.literal_roots(block, function, page)? {
            return Ok(nodes);
        }
        // All of the set is needed: to list it, or to count from its end.
        if block.order.is_empty() && page.first <= 0 {
            return self.listed(&self.block_set(block)?, page);
        }
        let root = self.root(function)?;
        if block.order.is_empty() {
            let step = self.begin("page", &block.name, Some(block.at), Some(page.first as usize));
            let found = self.stream(root, block.filter.as_ref(), page)?;
            self.end(&step, found.len());
            return Ok(found);
        }
        let mut set = root;
        if let Some(filter) = &block.filter {
            set = self.filter(filter, set)?;
        }
        if page.after != 0 {
            set = NodeSet::from(self.page_of(&set, Page { after: page.after, ..Page::default() }));
        }
        // What is skipped has to be sorted, too.
        let wanted = (0 < page.first).then(|| page.first as usize + offset_of(page));
        self.control.charge(size_of::<u32>() * wanted.unwrap_or(usize::MAX).min(set.len()))?;
        let step = self.begin("order", &block.name, Some(block.at), wanted);
        let ordered = self.order_nodes(&block.order, &set, offset_of(page), wanted)?;
        self.end(&step, ordered.len());
        Ok(cut(&ordered, page).to_vec())
    }

    /// The page of a set as a list.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when all of it is wanted and there is no memory for it.
    pub(crate) fn listed(&self, set: &NodeSet, page: Page) -> Result<Vec<u32>> {
        if page.is_all() {
            self.control.charge(size_of::<u32>() * set.len())?;
        }
        Ok(self.page_of(set, page))
    }

    /// The nodes of a root block that pass its filter.
    pub(crate) fn block_set(&self, block: &Block) -> Result<NodeSet> {
        let Some(function) = &block.root else { return Ok(NodeSet::default()) };
        let root = self.root(function)?;
        match &block.filter {
            Some(filter) => self.filter(filter, root),
            None => Ok(root),
        }
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
            match &vars[..] {
                [var] => match &self.vars[var.0 as usize] {
                    Some(crate::exec::control::context::Var::Uids(uids)) => match &uids.path {
                        Some(path) => path.to_vec(),
                        None => return Ok(None),
                    },
                    _ => return Ok(None),
                },
                _ => return Ok(None),
            }
        };
        if let Some(filter) = &block.filter {
            // Filters work on sets; the list, with its order and its repeats, is asked
            // afterwards.
            let mut unique = nodes.clone();
            unique.sort_unstable();
            unique.dedup();
            let kept = self.filter(filter, NodeSet::from(unique))?;
            nodes.retain(|&node| kept.contains(node));
        }
        // A uid that is listed twice comes twice only where all of the list is wanted.
        if vars.is_empty() && (block.filter.is_some() || page.first != 0 || 0 < page.offset) {
            nodes.dedup();
        }
        if page.after != 0 {
            let least = self.version.nodes.node_after(Uid(page.after));
            nodes.retain(|&node| least.is_some_and(|least| least <= node));
        }
        Ok(Some(cut(&nodes, page).to_vec()))
    }

    /// The wanted part of a set without an order.
    pub(crate) fn page_of(&self, set: &NodeSet, page: Page) -> Vec<u32> {
        if page.is_all() {
            return set.to_vec();
        }
        let offset = offset_of(page);
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
        let rest = set.iter_from(least);
        match page.first {
            0 => rest.skip(offset).collect(),
            first if 0 < first => rest.skip(offset).take(first as usize).collect(),
            first => {
                let rest: Vec<u32> = rest.collect();
                let count = first.unsigned_abs() as usize;
                rest[rest.len().saturating_sub(count)..].to_vec()
            }
        }
    }

    /// A page of `first` nodes that pass a filter: walks no further than the page's last node.
    ///
    /// The smallest set among the root and the filter's indexed parts is walked from `after` on,
    /// the others are asked node by node.
    fn stream<'f>(&self, root: NodeSet, filter: Option<&'f Filter>, page: Page) -> Result<Vec<u32>>
    where
        'a: 'f,
    {
        let Some(filter) = filter else {
            self.took("seek");
            return Ok(self.page_of(&root, page));
        };
        self.took("walks the root, asks the filter");
        let parts = match filter {
            Filter::And(parts) => parts.as_slice(),
            other => std::slice::from_ref(other),
        };
        let Driven { driver, testers, beyond } = self.drive(root, parts)?;
        let least = match page.after {
            0 => Some(0),
            after => self.version.nodes.node_after(Uid(after)),
        };
        let Some(least) = least else { return Ok(Vec::new()) };
        let (skip, first) = (offset_of(page), page.first as usize);
        let mut found = Vec::with_capacity(first.min(1024));
        let mut passing = Passing { skip, first, found: &mut found };
        // Filters that look at other nodes are asked of a batch at a time; pages grow as long as little passes.
        let mut batch = Vec::new();
        let mut batch_len = skip.saturating_add(first).clamp(BATCH_MIN, BATCH_MAX);
        for (count, node) in driver.iter_from(least).enumerate() {
            // Not at each node, since that looks at the clock.
            if count % 8192 == 8191 {
                self.check()?;
            }
            if !testers.iter().all(|tester| tester.test(node)) {
                continue;
            }
            if beyond.is_empty() {
                if passing.is_full_with(node) {
                    return Ok(found);
                }
                continue;
            }
            batch.push(node);
            if batch.len() == batch_len {
                let kept = self.kept(&beyond, std::mem::take(&mut batch))?;
                if kept.iter().any(|node| passing.is_full_with(node)) {
                    return Ok(found);
                }
                // Doubled while little passes, so at most about as many nodes are asked in vain
                // as had to be asked.
                batch_len = (2 * batch_len).min(BATCH_MAX);
            }
        }
        if !batch.is_empty() {
            let kept = self.kept(&beyond, batch)?;
            let _ = kept.iter().any(|node| passing.is_full_with(node));
        }
        Ok(found)
    }

    /// Chooses which of the root and the parts of a filter is walked, and how the others are asked.
    fn drive<'f>(&self, root: NodeSet, parts: &'f [Filter]) -> Result<Driven<'f>>
    where
        'a: 'f,
    {
        let mut driver = root;
        let mut testers = Vec::with_capacity(parts.len() + 1);
        let mut beyond = Vec::new();
        for part in parts {
            let set = match part {
                Filter::Function(function) => self.small_set(function, driver.len())?,
                Filter::Reaches(reach) => self.reaching_set(reach, driver.len())?,
                _ => None,
            };
            match set {
                // Only where it is much smaller: each of its nodes is looked up in what would
                // have been walked.
                Some(set) if set.len() < driver.len() / DRIVER_RATIO => {
                    self.took("walks the filter's index, asks the root");
                    let other = std::mem::replace(&mut driver, set);
                    testers.push(Tester::Member(other));
                }
                Some(set) => testers.push(Tester::Member(set)),
                None if looks_beyond(part) => beyond.push(part),
                None => testers.push(self.filter_tester(part)?),
            }
        }
        Ok(Driven { driver, testers, beyond })
    }

    /// The nodes that pass all of some filters.
    fn kept<'f>(&self, filters: &[&'f Filter], nodes: Vec<u32>) -> Result<NodeSet>
    where
        'a: 'f,
    {
        let nodes = NodeSet::from(nodes);
        filters.iter().try_fold(nodes, |nodes, filter| self.filter(filter, nodes))
    }

    /// The set of a function when the index gives it at little cost.
    fn small_set<'f>(&self, function: &'f Function, root: usize) -> Result<Option<NodeSet>>
    where
        'a: 'f,
    {
        let in_place = matches!(
            function.call,
            Call::Has(_) | Call::Type(_) | Call::Uid { .. } | Call::Terms { .. }
        );
        let single = matches!(&function.call, Call::Compare { op: hexgraph_base::plan::Comparison::Eq, arguments, .. } if arguments.len() == 1);
        let small =
            || self.estimate(function).is_some_and(|count| count < root / 16 && count < 65_536);
        if in_place || single || small() { self.indexed(function) } else { Ok(None) }
    }
}

/// A walk over the smallest set, which asks the others.
struct Driven<'f> {
    /// The set that is walked over.
    driver: NodeSet,
    /// Tests that each node of the walk has to pass.
    testers: Vec<Tester<'f>>,
    /// Filters that follow edges to other nodes; each is asked of a batch of nodes.
    beyond: Vec<&'f Filter>,
}

/// A page of a filtered set while it is filled, in ascending order of the nodes.
struct Passing<'p> {
    /// The number of passing nodes that are still to be skipped, for `offset`.
    skip: usize,
    /// The number of nodes that the page has when it is full.
    first: usize,
    found: &'p mut Vec<u32>,
}

impl Passing<'_> {
    /// Adds the next node that passes; true when the page is full.
    fn is_full_with(&mut self, node: u32) -> bool {
        if self.skip != 0 {
            self.skip -= 1;
            return false;
        }
        self.found.push(node);
        self.found.len() == self.first
    }
}

/// The offset of a page; a negative one counts as none.
pub(crate) fn offset_of(page: Page) -> usize {
    usize::try_from(page.offset).unwrap_or(0)
}

/// The wanted part of a list: `after` has been applied.
pub(crate) fn cut(nodes: &[u32], page: Page) -> &[u32] {
    let offset = offset_of(page).min(nodes.len());
    match page.first {
        0 => &nodes[offset..],
        first if 0 < first => {
            &nodes[offset..offset.saturating_add(first as usize).min(nodes.len())]
        }
        first => &nodes[nodes.len().saturating_sub(first.unsigned_abs() as usize)..],
    }
}

/// Refuses a negative `first` with an order by predicates.
pub(crate) fn check_order(page: Page, order: &[hexgraph_base::plan::OrderKey]) -> Result<()> {
    let by_predicate =
        matches!(order.first(), Some(hexgraph_base::plan::OrderKey::Predicate { .. }));
    if page.first < 0 && by_predicate {
        let message = format!("`first: {}` can't be used with an order", page.first);
        let hint = format!("reverse the order and ask for `first: {}`", page.first.unsigned_abs());
        return Err(Error::query(message).with_hint(hint));
    }
    Ok(())
}

fn check_page(block: &Block) -> Result<()> {
    check_order(block.page, &block.order)
}
