//! Reads nodes off an index, in its order: the first few of an order cost the entries that are
//! walked over, not the nodes that are ordered.

use super::passing::{PreparedFilter, Purpose};
use crate::exec::access_path::OrderPath;
use crate::exec::choose::function::bounds;
use crate::exec::choose::tester::has;
use crate::exec::columns::batches::BATCH;
use crate::exec::control::context::Context;
use crate::exec::cost;
use crate::graph::{IndexView, LangValues, Predicate};
use crate::index::TokenKey;
use crate::storage::NodeSet;
use hexgraph_base::plan::{Block, Call, Filter, Function, Operand, OrderKey, Page, PredicateRef};
use hexgraph_base::types::Result;
use std::cmp::Ordering;
use std::ops::Bound;

/// A walk that tests each node gives up after this many nodes for each one that is requested...
pub(crate) const ASKED_PER_NODE: usize = 64;

/// ...and as many as this on top: then it is better to filter all nodes first.
const REQUESTED_MIN: usize = BATCH;

/// So many nodes are searched one by one before it is checked whether the nodes that are ordered
/// are all of the index.
const LOOKED_FOR: usize = cost::SETUP.per(cost::GATHER);

/// So many nodes are looked for in a list at the most.
const LISTED_FOR: usize = 1 << 14;

/// The number of nodes after which a walk for a page with a positive `first` gives up.
pub(super) fn requested_max(page: Page) -> usize {
    let expected = page.skip().saturating_add(page.first as usize);
    expected.saturating_mul(ASKED_PER_NODE).saturating_add(REQUESTED_MIN)
}

/// A range of the tokens of an index.
pub(crate) type TokenRange = (Bound<TokenKey>, Bound<TokenKey>);

/// A walk over the part of an index that a root function selects.
pub(crate) struct RangeWalk<'a> {
    pub(crate) view: IndexView<'a>,
    range: TokenRange,
    descending: bool,
}

/// Which nodes of an index a walk takes, and from where to where it goes.
struct OrderedWalk<'w, 'f> {
    view: IndexView<'w>,
    range: TokenRange,
    descending: bool,
    /// The nodes that are ordered, where they are not all of the range.
    root: Option<&'w NodeSet>,
    filter: Option<&'w PreparedFilter<'f>>,
    /// The least node that is taken.
    least: u32,
}

impl OrderedWalk<'_, '_> {
    /// Whether all nodes of the range are taken.
    fn takes_all(&self) -> bool {
        self.root.is_none() && self.filter.is_none() && self.least == 0
    }

    fn takes(&self, node: u32) -> bool {
        self.least <= node
            && self.root.is_none_or(|root| root.contains(node))
            && self.filter.is_none_or(|filter| filter.passes(node))
    }
}

impl<'a> Context<'a> {
    /// The walk for the page of a block that is ordered by the predicate that its root function
    /// compares, or requires. `None` when this strategy does not apply. Reads no postings.
    ///
    /// # Errors
    ///
    /// Those of the root function and the order.
    pub(super) fn range_walk<'f>(
        &self,
        order: &'f [OrderKey],
        function: &'f Function,
        page: Page,
    ) -> Result<Option<RangeWalk<'a>>>
    where
        'a: 'f,
    {
        let [OrderKey::Predicate { predicate: name, lang: None, descending }] = order else {
            return Ok(None);
        };
        let Some((predicate, range)) =
            self.range_of(function, name).map_err(|error| error.or_at(function.at))?
        else {
            return Ok(None);
        };
        if self.sortable(name)?.is_none() || predicate.def.lang || page.first <= 0 {
            return Ok(None);
        }
        let view = predicate.only_untagged().and_then(|part| part.complete_index());
        Ok(view.map(|view| RangeWalk { view, range, descending: *descending }))
    }

    /// The page of a block whose nodes are read off the index, from the bound on. `None` when the
    /// filter follows edges, or lets too few of them through.
    ///
    /// # Errors
    ///
    /// Those of the filter, and the end of the request's time.
    pub(super) fn page_of_range<'f>(
        &self,
        RangeWalk { view, range, descending }: RangeWalk<'_>,
        block: &'f Block,
        page: Page,
    ) -> Result<Option<Vec<u32>>>
    where
        'a: 'f,
    {
        let step = self.begin("order", &block.name, Some(block.at), page.expected());
        let filter = match &block.filter {
            Some(filter) => {
                let count = view.index.postings.len();
                Some(self.prepare(filter, count, Purpose::Page)?)
            }
            None => None,
        };
        let filter = filter.as_ref();
        let walk = OrderedWalk { view, range, descending, root: None, filter, least: 0 };
        let result = match filter.is_none_or(PreparedFilter::tests_one) {
            true => self.page_by_walk(walk, page)?,
            false => None,
        };
        let path = if result.is_some() { OrderPath::WalkRange } else { OrderPath::GivesUp };
        self.record_path(path);
        // A page that is not full is complete here: the root function does not select nodes without
        // a value either.
        let result = result.map(|(result, _)| result);
        self.end(&step, result.as_ref().map_or(0, Vec::len));
        Ok(result)
    }

    /// The index of the only key of an order, and whether the order descends, where walking it is
    /// cheaper than sorting `count` nodes for a page. `None` when this strategy does not apply.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Query`] for a predicate that has no order.
    pub(crate) fn index_of_order(
        &self,
        order: &[OrderKey],
        count: usize,
        page: Page,
    ) -> Result<Option<(IndexView<'a>, bool)>> {
        let [OrderKey::Predicate { predicate: name, lang: None, descending }] = order else {
            return Ok(None);
        };
        let Some(expected) = page.expected() else { return Ok(None) };
        let Some(predicate) = self.sortable(name)? else { return Ok(None) };
        let Some(part) = predicate.only_untagged() else { return Ok(None) };
        let pays = self.pays_to_walk(part, count, expected);
        let pays = self.pick(pays, count, || vec![true, false]);
        let view = if pays { part.complete_index() } else { None };
        Ok(view.map(|view| (view, *descending)))
    }

    /// The page of those nodes of a set that pass a filter, in the order of an index; each is
    /// tested by itself, and only those in `range`, where the filter [has
    /// one](Context::range_in_filter). `None` when this strategy does not apply: the filter follows
    /// edges, or lets too few of them through.
    ///
    /// # Errors
    ///
    /// The end of the request's time.
    pub(crate) fn page_of_filtered(
        &self,
        (view, descending): (IndexView<'_>, bool),
        range: Option<TokenRange>,
        filter: &PreparedFilter<'_>,
        root: &NodeSet,
        page: Page,
    ) -> Result<Option<Vec<u32>>> {
        if !filter.tests_one() {
            return Ok(None);
        }
        let has_range = range.is_some();
        let range = range.unwrap_or((Bound::Unbounded, Bound::Unbounded));
        let (root, filter) = (Some(root), Some(filter));
        let walk = OrderedWalk { view, range, descending, root, filter, least: 0 };
        // When the index ends before the page is full, those without a value follow: but not where
        // the filter requires a value.
        let result = self.page_by_walk(walk, page)?.filter(|(_, is_full)| *is_full || has_range);
        Ok(result.map(|(result, _)| result))
    }

    /// The range of the index of a predicate in which all nodes lie that pass a filter, by those of
    /// its parts that are about the values of the predicate; `None` where there are none. So an
    /// order by the predicate begins where the filter does. Reads no data.
    pub(crate) fn range_in_filter<'f>(
        &self,
        filter: &'f Filter,
        order: &'f [OrderKey],
    ) -> Option<TokenRange>
    where
        'a: 'f,
    {
        let [OrderKey::Predicate { predicate: name, lang: None, .. }] = order else { return None };
        let parts = match filter {
            Filter::And(parts) => parts.as_slice(),
            other => std::slice::from_ref(other),
        };
        let ranges = parts.iter().filter_map(|part| {
            let Filter::Function(function) = part else { return None };
            // What is wrong with the function is reported where it is evaluated.
            let (predicate, range) = self.range_of(function, name).ok()??;
            (!predicate.def.lang && !predicate.def.list).then_some(range)
        });
        ranges.reduce(|(low, high), (other_low, other_high)| {
            (
                narrower(low, other_low, Ordering::Greater),
                narrower(high, other_high, Ordering::Less),
            )
        })
    }

    /// Executes a walk from the page's `after` on. Returns the page, and whether it is full; `None`
    /// when too many nodes were tested for those that passed.
    fn page_by_walk(
        &self,
        walk: OrderedWalk<'_, '_>,
        page: Page,
    ) -> Result<Option<(Vec<u32>, bool)>> {
        let Some(least) = self.least_of(page) else { return Ok(Some((Vec::new(), true))) };
        let walk = OrderedWalk { least, ..walk };
        let first = page.first as usize;
        let result = self.walk_in_order(&walk, page.skip(), first, requested_max(page))?;
        let Some(result) = result else { return Ok(None) };
        self.control.charge(size_of::<u32>() * result.len())?;
        if let Some(filter) = walk.filter {
            filter.note_passed(self, result.len());
        }
        let is_full = result.len() == first;
        Ok(Some((result, is_full)))
    }

    /// The first nodes that a walk returns, after the first `skip` of them. `None` when it would
    /// test more than `requested_max`.
    fn walk_in_order(
        &self,
        walk: &OrderedWalk<'_, '_>,
        skip: usize,
        first: usize,
        requested_max: usize,
    ) -> Result<Option<Vec<u32>>> {
        let (mut skip, mut requested, mut result) = (skip, 0, Vec::new());
        if first == 0 {
            return Ok(Some(result));
        }
        let (low, high) = &walk.range;
        let tokens = walk.view.tokens_between(low.as_ref(), high.as_ref(), walk.descending);
        for (count, token) in tokens.enumerate() {
            if count % 8192 == 8191 {
                self.check()?;
            }
            if walk.takes_all() {
                let len = token.len();
                if skip < len {
                    result.extend(token.to_set().page(skip, first - result.len()));
                }
                // Where nodes were taken nothing is left to skip, and this is 0.
                skip = skip.saturating_sub(len);
            } else {
                for node in token.to_set().iter() {
                    requested += 1;
                    if requested_max < requested {
                        return Ok(None);
                    }
                    if !walk.takes(node) {
                        continue;
                    }
                    if skip == 0 {
                        result.push(node);
                    }
                    skip = skip.saturating_sub(1);
                    if result.len() == first {
                        return Ok(Some(result));
                    }
                }
            }
            if result.len() == first {
                break;
            }
        }
        Ok(Some(result))
    }

    /// The predicate and the range of its index that a root function selects, where it is about the
    /// values of `name`.
    fn range_of<'f>(
        &self,
        function: &'f Function,
        name: &str,
    ) -> Result<Option<(&'a Predicate, TokenRange)>>
    where
        'a: 'f,
    {
        let is_it =
            |other: &PredicateRef| other.name == name && other.lang.is_none() && !other.reverse;
        if let Call::Has(other) = &function.call
            && is_it(other)
        {
            let result = self.resolve(other)?;
            return Ok(result.map(|predicate| (predicate, (Bound::Unbounded, Bound::Unbounded))));
        }
        if let Some((Operand::Predicate(other), op, expected)) = self.comparison(&function.call)
            && is_it(other)
        {
            let result = self.compared(other, op, &expected)?;
            return Ok(result.and_then(|(predicate, it)| Some((predicate, bounds(&it)?))));
        }
        Ok(None)
    }

    /// Whether the values of a predicate have a complete index and a walk over it, for a page of
    /// `expected` of `count` nodes, is cheaper than sorting these.
    pub(super) fn pays_to_walk(&self, part: &LangValues, count: usize, expected: usize) -> bool {
        // One step is expected to return one of `count` nodes among the entries.
        let steps = |entries: usize| (entries / count.max(1) + 1).saturating_mul(expected);
        self.control.costs().index_walk_min < count
            && part.complete_index().is_some()
            && steps(part.subjects().len()) < 2 * count
    }

    /// The first `expected` of some nodes in the order of an index; those without a value come
    /// last.
    ///
    /// # Errors
    ///
    /// The end of the request's time.
    pub(super) fn first_by_index(
        &self,
        view: IndexView<'_>,
        predicate: &Predicate,
        nodes: &NodeSet,
        descending: bool,
        expected: usize,
    ) -> Result<Vec<u32>> {
        let range = (Bound::Unbounded, Bound::Unbounded);
        // Where all that have a value are among them, none is searched: entire entries are
        // returned.
        let has_all = || {
            let part = predicate.only_untagged();
            part.is_some_and(|part| nodes.is_sure_superset(&part.subjects()))
        };
        // Many are looked for in a bitmap sooner than in a list.
        let bits = (LISTED_FOR <= expected && nodes.list().is_some())
            .then(|| NodeSet::from(nodes.to_bitmap()));
        let root = bits.as_ref().unwrap_or(nodes);
        let root = Some(root).filter(|_| expected < LOOKED_FOR || !has_all());
        let walk = OrderedWalk { view, range, descending, root, filter: None, least: 0 };
        let mut result = self.walk_in_order(&walk, 0, expected, usize::MAX)?.unwrap_or_default();
        if result.len() < expected {
            let rest = expected - result.len();
            let without = nodes.iter().filter(|&node| !has(predicate, None, false, node));
            result.extend(without.take(rest));
        }
        Ok(result)
    }
}

/// The narrower of two bounds on the same side: the one that is `expected` compared with the other.
fn narrower(one: Bound<TokenKey>, other: Bound<TokenKey>, expected: Ordering) -> Bound<TokenKey> {
    let order = match (&one, &other) {
        (_, Bound::Unbounded) => return one,
        (Bound::Unbounded, _) => return other,
        (
            Bound::Included(first) | Bound::Excluded(first),
            Bound::Included(second) | Bound::Excluded(second),
        ) => first.cmp(second),
    };
    let takes_first = order == expected || order.is_eq() && matches!(one, Bound::Excluded(_));
    if takes_first { one } else { other }
}

/// The first `expected` of some nodes in the order of an index, together with all nodes under the
/// token of the last of them, ascending by id. `None` when fewer have a value.
pub(super) fn leading_by_index(
    view: IndexView<'_>,
    descending: bool,
    nodes: &NodeSet,
    expected: usize,
) -> Option<Vec<u32>> {
    let mut result = Vec::new();
    for token in view.tokens(descending) {
        let mut under_it = token.to_set().to_vec();
        nodes.retain(&mut under_it, true);
        result.append(&mut under_it);
        if expected <= result.len() {
            result.sort_unstable();
            return Some(result);
        }
    }
    None
}
