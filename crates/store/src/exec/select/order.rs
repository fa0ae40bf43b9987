//! Sorts nodes by values.
//!
//! Each key becomes a column of 64-bit numbers that compare as the values do (texts: their first
//! eight bytes, the rest is looked at on ties), so a comparison rarely leaves the cache; with a
//! page, only its nodes are sorted. One key that is indexed is read off the index instead, when
//! that takes fewer steps.

use super::by_index::leading_by_index;
use super::passing::Purpose;
use super::ranked_rows::{RankedRow, first_rows, turning};
use super::semi_join::looks_beyond;
use super::top::{Scan, by_column_var, by_variable};
use crate::exec::access_path::OrderPath;
use crate::exec::columns::batches::Members;
use crate::exec::columns::rank::{is_far, rank_of, rank_of_int};
use crate::exec::columns::read::{Langs, Typed, typed_or_none};
use crate::exec::control::context::{Context, Var};
use crate::exec::control::tree::{Column, ValueMap};
use crate::exec::cost;
use crate::graph::Predicate;
use crate::storage::NodeSet;
use hexgraph_base::plan::{Block, Filter, OrderKey, Page, PredicateUse};
use hexgraph_base::text::Collation;
use hexgraph_base::types::{
    Error, Result, ValueRef, ValueType, did_you_mean, ordered_bits, ordered_prefix,
};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

/// So many nodes are looked at first, to see whether numbers distinguish their values.
const SAMPLE: usize = 64;

/// The ranges of the span of a key whose numbers are counted, to see in which the first nodes are;
/// a power of two. Their counters take half of the nearest cache.
const RUNS: usize = cost::CACHE_BYTES / 2 / size_of::<usize>();

/// One sort key, read for all nodes.
struct KeyColumn {
    /// Numbers that compare as the values do; 0 for none.
    ranks: Vec<u64>,
    /// True for the positions of nodes without a value; empty when all have one.
    missing: Vec<bool>,
    /// The entire texts, where equal ranks do not mean equal values; empty if the rank decides.
    texts: Vec<Vec<u8>>,
    descending: bool,
}

/// A key of an order, resolved.
#[derive(Clone, Copy)]
pub(crate) struct SortKey<'a> {
    pub(super) predicate: &'a Predicate,
    lang: Option<&'a str>,
    descending: bool,
}

impl<'a> Context<'a> {
    /// Sorts nodes by the keys of `order`. With `expected`, at most that many of the first nodes
    /// are returned, and the caller is going to skip the first `skip`.
    ///
    /// Nodes without a value of a key come after those with one, and are ordered by the other keys;
    /// those with equal values by uid, backwards where none of them has one of several keys and
    /// that key descends. An order by variable drops the nodes that have none, unless none of them
    /// has one.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for a predicate that is unknown, a list, or of a type without an order.
    pub(crate) fn order_nodes<'f>(
        &self,
        order: &'f [OrderKey],
        nodes: &NodeSet,
        skip: usize,
        expected: Option<usize>,
    ) -> Result<Vec<u32>>
    where
        'a: 'f,
    {
        if let [OrderKey::Var { var, descending }] = order {
            return self.order_by_var(*var, *descending, nodes, expected);
        }
        let keys = self.sort_keys(order)?;
        let path = self.order_path(&keys, nodes.len(), expected);
        if let Some(result) = self.ordered_by(path, &keys, nodes, skip, expected)? {
            self.record_path(path);
            return Ok(result);
        }
        self.record_path(OrderPath::Sort);
        self.sorted_by_keys(&keys, nodes, skip, expected)
    }

    /// The keys of an order, without those that no node has a value of.
    ///
    /// # Errors
    ///
    /// As [`Context::order_nodes`].
    pub(crate) fn sort_keys<'f>(&self, order: &'f [OrderKey]) -> Result<Vec<SortKey<'f>>>
    where
        'a: 'f,
    {
        let mut keys = Vec::with_capacity(order.len());
        for key in order {
            let OrderKey::Predicate { predicate, lang, descending } = key else { continue };
            if let Some(predicate) = self.sortable(predicate)? {
                keys.push(SortKey { predicate, lang: lang.as_deref(), descending: *descending });
            }
        }
        Ok(keys)
    }

    /// The page of those nodes of a set that pass a filter, in an order, by one pass over the
    /// column of the first key: the filter tests those nodes alone that may be among the first
    /// ones. `None` if this strategy does not apply: few pass, or the filter follows edges.
    ///
    /// # Errors
    ///
    /// Those of the filter and of the order; the end of the request's time.
    pub(super) fn first_of_filtered<'f>(
        &self,
        block: &'f Block,
        filter: &'f Filter,
        root: &NodeSet,
        page: Page,
    ) -> Result<Option<Vec<u32>>>
    where
        'a: 'f,
    {
        let expected = page.expected();
        let Some(most) = expected.filter(|_| !looks_beyond(filter)) else { return Ok(None) };
        // Of several errors that of the filter is reported, which comes before the order.
        let Ok(keys) = self.sort_keys(&block.order) else { return Ok(None) };
        let Some((path, key)) = self.filtered_scan(&keys, filter, root.len(), expected) else {
            return Ok(None);
        };
        let Some(part) = key.predicate.only_untagged() else { return Ok(None) };
        let Some(least) = self.least_of(page) else { return Ok(Some(Vec::new())) };
        let root = &root.tail(least);
        let step = self.begin("order", &block.name, Some(block.at), expected);
        let prepared = self.prepare(filter, root.len(), Purpose::Page)?;
        let sieves = || self.prefilter(&prepared);
        let value_type = key.predicate.def.value_type;
        let scan = Scan::new(self.control, part, value_type, root, Some(&sieves));
        let is_sorted = path == OrderPath::Scan && scan.as_ref().is_some_and(Scan::distinguishes);
        let result = match scan {
            Some(scan) if is_sorted => scan.first(most, key.descending)?,
            Some(scan) => scan.leading(most, key.descending)?,
            None => None,
        };
        self.record_path(if result.is_some() {
            OrderPath::ScanAndFilter
        } else {
            OrderPath::GivesUp
        });
        let result = match result {
            Some(result) if !is_sorted => {
                let leading = NodeSet::from(result);
                Some(self.sorted_by_keys(&keys, &leading, page.skip(), expected)?)
            }
            result => result,
        };
        let rows = result.as_ref().map_or(0, Vec::len);
        prepared.note_passed(self, rows);
        self.end(&step, rows);
        Ok(result)
    }

    /// How `count` nodes are ordered by some keys: of all nodes, or for a page of few of them, by
    /// what takes the fewest steps.
    pub(crate) fn order_path(
        &self,
        keys: &[SortKey<'_>],
        count: usize,
        expected: Option<usize>,
    ) -> OrderPath {
        let Some(first) = keys.first() else { return OrderPath::AsIs };
        let (Some(expected), Some(part), None) =
            (expected, first.predicate.only_untagged(), first.lang)
        else {
            return OrderPath::Sort;
        };
        let (walk, scan) = match keys.len() {
            1 => (OrderPath::WalkIndex, OrderPath::Scan),
            _ => (OrderPath::WalkIndexAndSort, OrderPath::ScanAndSort),
        };
        let cheapest = if self.pays_to_walk(part, count, expected) {
            walk
        } else if self.is_few(expected, count)
            || self.control.costs().pays_to_sample(expected, count)
        {
            scan
        } else {
            OrderPath::Sort
        };
        self.pick(cheapest, count, || match part.complete_index() {
            Some(_) => vec![walk, scan, OrderPath::Sort],
            None => vec![scan, OrderPath::Sort],
        })
    }

    /// Executes a strategy for an order. `None` for the one that sorts, and where a strategy fails:
    /// too few nodes have a value, or the values have no order as numbers.
    fn ordered_by(
        &self,
        path: OrderPath,
        keys: &[SortKey<'_>],
        nodes: &NodeSet,
        skip: usize,
        expected: Option<usize>,
    ) -> Result<Option<Vec<u32>>> {
        let (Some(key), Some(most)) = (keys.first(), expected) else {
            let all = || nodes.iter().take(expected.unwrap_or(usize::MAX)).collect();
            return Ok((path == OrderPath::AsIs).then(all));
        };
        let Some(part) = key.predicate.only_untagged() else { return Ok(None) };
        let value_type = key.predicate.def.value_type;
        let scan = || Scan::new(self.control, part, value_type, nodes, None);
        let leading = match (path, part.complete_index()) {
            (OrderPath::WalkIndex, Some(view)) => {
                let result = self.first_by_index(view, key.predicate, nodes, key.descending, most);
                return result.map(Some);
            }
            (OrderPath::Scan, _) => match scan() {
                Some(scan) if scan.distinguishes() => return scan.first(most, key.descending),
                // Those that begin as the first ones do are sorted.
                Some(scan) => scan.leading(most, key.descending)?,
                None => None,
            },
            (OrderPath::WalkIndexAndSort, Some(view)) => {
                leading_by_index(view, key.descending, nodes, most)
            }
            (OrderPath::ScanAndSort, _) => {
                scan().map_or(Ok(None), |scan| scan.leading(most, key.descending))?
            }
            _ => None,
        };
        let Some(leading) = leading else { return Ok(None) };
        self.sorted_by_keys(keys, &NodeSet::from(leading), skip, expected).map(Some)
    }

    /// Sorts nodes by predicates, each with its language and whether it descends. Several keys are
    /// compared byte by byte, a single one by the rules of its language; so is the first of several
    /// where a page is cut off by it.
    fn sorted_by_keys(
        &self,
        keys: &[SortKey<'_>],
        nodes: &NodeSet,
        skip: usize,
        expected: Option<usize>,
    ) -> Result<Vec<u32>> {
        let each: usize = keys.iter().map(|key| key_bytes(key.predicate)).sum();
        // The nodes, their positions in the order, and the keys.
        let _while_sorting = self.control.charge_while((8 + each) * nodes.len())?;
        self.check()?;
        let single = keys.len() == 1;
        let lang = keys.first().and_then(|key| key.lang);
        let lang = lang.filter(|_| single || expected.is_some());
        let collation = lang.map_or(Ok(None), Collation::of).map_err(Error::query)?;
        if collation.is_none()
            && let Some(sorted) = self.sorted_rows(keys, Members::Set(nodes), expected)?
        {
            return Ok(sorted);
        }
        let nodes = nodes.to_vec();
        let of_single = collation.as_ref().filter(|_| single);
        let columns = |nodes: &[u32]| -> Vec<KeyColumn> {
            let column = |key: &SortKey<'_>| {
                predicate_column(key.predicate, key.lang, nodes, key.descending, of_single)
            };
            keys.iter().map(column).collect()
        };
        if let (false, Some(SortKey { predicate, lang: Some(lang), descending }), Some(expected)) =
            (single, keys.first(), expected)
        {
            let first =
                predicate_column(predicate, Some(lang), &nodes, *descending, collation.as_ref());
            self.check()?;
            return Ok(page_by_first_key(&nodes, &first, columns, skip, expected));
        }
        let columns = columns(&nodes);
        self.check()?;
        Ok(sort_by_columns(&nodes, &columns, expected))
    }

    /// The nodes in the order of at most two keys, or the first of them, if numbers distinguish
    /// their values. Threads sort a part each.
    fn sorted_rows(
        &self,
        keys: &[SortKey<'_>],
        nodes: Members<'_>,
        expected: Option<usize>,
    ) -> Result<Option<Vec<u32>>> {
        let [first, rest @ ..] = keys else { return Ok(None) };
        let column = |key: &SortKey<'_>, nodes: &[u32]| {
            predicate_column(key.predicate, key.lang, nodes, key.descending, None)
        };
        // Mostly the first ones show whether numbers are enough.
        let sample = nodes.range(0..nodes.len().min(SAMPLE));
        if 1 < rest.len() || keys.iter().any(|key| !column(key, &sample).texts.is_empty()) {
            return Ok(None);
        }
        let _while_sorting = self.control.charge_while(size_of::<RankedRow>() * nodes.len())?;
        let spread = self.control.spread(nodes.len(), cost::SORT)?.map(|spread| spread.with_few(1));
        let len = spread.map_or(nodes.len(), |spread| spread.len()).max(1);
        let part_of = |part: usize| part * len..nodes.len().min((part + 1) * len);
        let (parts, each) = (nodes.len().div_ceil(len), cost::SORT.times(len));
        let (listed, firsts): (Vec<Cow<'_, [u32]>>, Vec<KeyColumn>) = self
            .lists(parts, each, |range| {
                self.check()?;
                let read = |part: usize| {
                    let nodes = nodes.range(part_of(part));
                    let column = column(first, &nodes);
                    (nodes, column)
                };
                Ok(range.map(read).collect())
            })?
            .into_iter()
            .unzip();
        if firsts.iter().any(|column| !column.texts.is_empty()) {
            return Ok(None);
        }
        let bound = expected.map_or(Ok(None), |expected| self.bound_of(&firsts, expected))?;
        let turns = turning(keys.iter().map(|key| key.descending));
        let sorted = self.lists(parts, each, |range| {
            self.check()?;
            let sorted = |at: usize| {
                let led = bound.map(|bound| leading(&listed[at], &firsts[at], bound));
                let (nodes, first) = match &led {
                    Some((nodes, first)) => (nodes.as_slice(), first),
                    None => (&*listed[at], &firsts[at]),
                };
                let other = rest.first().map(|key| column(key, nodes));
                let rows = ranked_rows(nodes, first, other.as_ref());
                rows.map(|rows| first_rows(rows, expected, turns))
            };
            Ok(range.map(sorted).collect())
        })?;
        let Some(sorted) = sorted.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
        let node_of = |row: &RankedRow| if row.is_negated(turns) { !row.node } else { row.node };
        self.merged(sorted, expected, node_of).map(Some)
    }

    /// A number of the first key, negated if the key descends, that `expected` nodes at least do
    /// not pass, and mostly not many more; `None` where fewer have the key. Two passes over the
    /// numbers: their span is cut into ranges, and the numbers in each are counted.
    fn bound_of(&self, firsts: &[KeyColumn], expected: usize) -> Result<Option<u64>> {
        let rows = firsts.first().map_or(0, |column| column.ranks.len());
        let each = cost::ROW.times(2 * rows);
        let ends = |range: Range<usize>| Ok(firsts[range].iter().map(KeyColumn::ends).collect());
        let ends: Vec<Option<(u64, u64)>> = self.lists(firsts.len(), each, ends)?;
        let ends = ends.into_iter().flatten();
        let ends = ends.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        let Some((least, greatest)) = ends else { return Ok(None) };
        let width = u64::BITS - (greatest - least).leading_zeros();
        let shift = width.saturating_sub(RUNS.ilog2());
        let counts = |range: Range<usize>| {
            let mut counts = vec![0; RUNS];
            for column in &firsts[range] {
                column.for_each_number(|_, number| {
                    counts[((number - least) >> shift) as usize % RUNS] += 1;
                });
            }
            Ok(counts)
        };
        let counts: Vec<Vec<usize>> = self.morsels(firsts.len(), each, counts)?;
        let mut seen = 0;
        for run in 0..RUNS {
            seen += counts.iter().map(|counts| counts[run]).sum::<usize>();
            if expected <= seen {
                let behind = (run as u64 + 1).checked_shl(shift).unwrap_or(0);
                // The last range ends with the greatest number of all.
                return Ok(Some(least.saturating_add(behind.wrapping_sub(1)).min(greatest)));
            }
        }
        Ok(None)
    }

    /// Whether so few of some nodes are requested that one pass is better than sorting them.
    pub(crate) fn is_few(&self, expected: usize, nodes: usize) -> bool {
        expected < nodes / self.control.costs().top_ratio
    }

    /// The predicate of a key; `None` while no node has a value of it.
    pub(super) fn sortable(&self, name: &str) -> Result<Option<&'a Predicate>> {
        let predicate = self.predicate(name).map(AsRef::as_ref);
        let def = predicate.map(|predicate| &*predicate.def);
        let Some(def) = def.or_else(|| self.version.schema.predicates.get(name)) else {
            let existing = self.version.schema.predicates.keys().map(AsRef::as_ref);
            let message = format!("can't order by `{name}`, which no schema and no node has");
            let hint = match name {
                "count" => "the groups of `@groupby` come by their size, the smallest first; nodes are ordered by a count that a block \
                            before keeps: `n as count(friend)` and `orderdesc: val(n)`".to_owned(),
                _ => did_you_mean(name, existing),
            };
            return Err(Error::query(message).with_hint(hint));
        };
        if PredicateUse::Sort.is_allowed(def) {
            return Ok(predicate);
        }
        if def.list || def.value_type == ValueType::Uid {
            let has = if def.value_type == ValueType::Uid { "leads to nodes" } else { "is a list" };
            return Err(Error::query(format!("can't order by `{name}`, which {has}"))
                .with_hint("order by a predicate with one value"));
        }
        let type_name = def.value_type.name();
        let message = format!("can't order by `{name}`, which is of type {type_name}");
        let hint = "numbers, strings and datetimes have an order";
        Err(Error::query(message).with_hint(hint))
    }

    fn order_by_var(
        &self,
        var: hexgraph_base::plan::VarId,
        descending: bool,
        nodes: &NodeSet,
        expected: Option<usize>,
    ) -> Result<Vec<u32>> {
        if let (Some(column), Some(expected)) = (self.unread_column(var), expected)
            && self.var_path(column.len().min(nodes.len()), expected) == OrderPath::Scan
        {
            let result = by_column_var(self.control, column, nodes, descending, expected)?;
            if let Some(result) = result {
                self.record_path(OrderPath::Scan);
                return Ok(result);
            }
        }
        let map = self.expect_values(var)?;
        let most = map.nodes.len().min(nodes.len());
        if let Some(expected) = expected
            && self.var_path(most, expected) == OrderPath::Scan
            && let Some(result) = by_variable(&map, nodes, descending, expected)
        {
            self.record_path(OrderPath::Scan);
            return Ok(result);
        }
        let _while_sorting = self.control.charge_while(24 * most)?;
        let mut retained = Vec::new();
        let mut builder = ColumnBuilder::new(descending);
        for (node, value) in map.iter() {
            if nodes.contains(node) {
                retained.push(node);
                builder.push(Some(value));
            }
        }
        // As in Dgraph: what nobody has a value of is no order.
        if retained.is_empty() {
            self.record_path(OrderPath::AsIs);
            // The nodes are those that might have had a value of a computed variable.
            if matches!(&self.vars[var.0 as usize], Some(Var::Column(column)) if column.may_fail())
            {
                return Ok(Vec::new());
            }
            return Ok(nodes.iter().take(expected.unwrap_or(usize::MAX)).collect());
        }
        self.record_path(OrderPath::Sort);
        Ok(sort_by_columns(&retained, &[builder.column], expected))
    }

    /// How a page of `count` nodes that have a value of a variable is ordered.
    pub(crate) fn var_path(&self, count: usize, expected: usize) -> OrderPath {
        let is_few = self.is_few(expected, count);
        let cheapest = if is_few { OrderPath::Scan } else { OrderPath::Sort };
        self.pick(cheapest, count, || vec![OrderPath::Scan, OrderPath::Sort])
    }
}

/// The bytes that are charged for a key of each node: texts and large numbers are copied in
/// addition to their first bytes.
fn key_bytes(predicate: &Predicate) -> usize {
    let is_copied = matches!(
        predicate.def.value_type,
        ValueType::String | ValueType::Default | ValueType::BigFloat
    );
    let beside = if is_copied { 64 } else { 0 };
    size_of::<u64>() + size_of::<bool>() + beside
}

struct ColumnBuilder {
    column: KeyColumn,
}

impl ColumnBuilder {
    fn new(descending: bool) -> ColumnBuilder {
        let column =
            KeyColumn { ranks: Vec::new(), missing: Vec::new(), texts: Vec::new(), descending };
        ColumnBuilder { column }
    }

    fn push(&mut self, value: Option<ValueRef<'_>>) {
        let column = &mut self.column;
        let rank = value.and_then(rank_of);
        if rank.is_none() || !column.missing.is_empty() {
            // Flags begin with the first node that has no value; all before it have one.
            column.missing.resize(column.ranks.len(), false);
            column.missing.push(rank.is_none());
        }
        if let (Some(value), Some(_)) = (value, rank) {
            let text = match value {
                ValueRef::String(text) | ValueRef::Default(text) => {
                    // The number of a short text is that of no other one.
                    let is_reported =
                        text.len() < size_of::<u64>() && !text.as_bytes().contains(&0);
                    (!is_reported).then(|| text.as_bytes().to_vec())
                }
                ValueRef::DateTime(time) if is_far(time) => {
                    let instant = (time.seconds as u64 ^ 1 << 63).to_be_bytes();
                    Some(instant.into_iter().chain(time.nanos.to_be_bytes()).collect())
                }
                ValueRef::BigFloat(_) => {
                    let mut key = Vec::new();
                    value.group_key(&mut key);
                    Some(key)
                }
                _ => None,
            };
            if let Some(text) = text {
                // Likewise: all before it are distinguished by their ranks alone.
                column.texts.resize(column.ranks.len(), Vec::new());
                column.texts.push(text);
            }
        }
        column.ranks.push(rank.unwrap_or(0));
    }

    fn push_key(&mut self, key: Option<Vec<u8>>) {
        let column = &mut self.column;
        column.missing.push(key.is_none());
        let key = key.unwrap_or_default();
        column.ranks.push(ordered_prefix(&key));
        column.texts.push(key);
    }
}

fn predicate_column(
    predicate: &Predicate,
    lang: Option<&str>,
    nodes: &[u32],
    descending: bool,
    collation: Option<&Collation>,
) -> KeyColumn {
    let expected = predicate.def.value_type;
    if lang.is_none()
        && let Some(part) = predicate.only_untagged()
        && let Some(map) = ValueMap::of_numbers(part, expected, nodes)
    {
        return number_column(&map, nodes, descending);
    }
    let mut builder = ColumnBuilder::new(descending);
    let value_of = |node| {
        let (_, list) = predicate.values_in(Langs::One(lang), node)?;
        typed_or_none(list.get(0), expected)
    };
    for &node in nodes {
        let value = value_of(node);
        match collation {
            Some(collation) => builder.push_key(value.as_ref().and_then(|value| {
                crate::storage::text_of(value.as_ref()).map(|text| {
                    let mut key = Vec::new();
                    collation.sort_key(text, &mut key);
                    key
                })
            })),
            None => builder.push(value.as_ref().map(Typed::as_ref)),
        }
    }
    builder.column
}

/// A key column of numbers that some of the nodes have.
fn number_column(map: &ValueMap, nodes: &[u32], descending: bool) -> KeyColumn {
    let result: Vec<u64> = match &map.values {
        Column::Int(ints) => ints.iter().map(|int| rank_of_int(*int)).collect(),
        Column::Float(floats) => floats.iter().map(|float| ordered_bits(*float)).collect(),
        Column::Any(values) => {
            values.iter().map(|value| rank_of(value.as_ref()).unwrap_or(0)).collect()
        }
    };
    if result.len() == nodes.len() {
        return KeyColumn { ranks: result, missing: Vec::new(), texts: Vec::new(), descending };
    }
    let (mut ranks, mut missing) = (vec![0; nodes.len()], vec![true; nodes.len()]);
    let mut position = 0;
    for (node, rank) in map.nodes.iter().zip(result) {
        // Both ascend, and each node of the map is one of the list.
        while nodes[position] != *node {
            position += 1;
        }
        ranks[position] = rank;
        missing[position] = false;
    }
    KeyColumn { ranks, missing, texts: Vec::new(), descending }
}

impl KeyColumn {
    fn lacks(&self, position: usize) -> bool {
        self.missing.get(position).copied().unwrap_or(false)
    }

    /// A number that ascends in the order of the key.
    fn negated(&self, position: usize) -> u64 {
        if self.descending { !self.ranks[position] } else { self.ranks[position] }
    }

    /// Calls `visit` with the positions of the nodes that have the key, and their numbers, which
    /// ascend in its order.
    fn for_each_number(&self, mut visit: impl FnMut(usize, u64)) {
        let turn = if self.descending { u64::MAX } else { 0 };
        let ranks = self.ranks.iter().enumerate();
        match self.missing.as_slice() {
            [] => ranks.for_each(|(position, rank)| visit(position, rank ^ turn)),
            missing => ranks
                .filter(|(position, _)| !missing[*position])
                .for_each(|(position, rank)| visit(position, rank ^ turn)),
        }
    }

    /// The least and the greatest of these numbers.
    fn ends(&self) -> Option<(u64, u64)> {
        let mut ends = None;
        self.for_each_number(|_, number| {
            let (least, greatest) = ends.unwrap_or((number, number));
            ends = Some((least.min(number), greatest.max(number)));
        });
        ends
    }
}

/// Those of some nodes that have a number of a key up to a bound, and these numbers.
fn leading(nodes: &[u32], key: &KeyColumn, bound: u64) -> (Vec<u32>, KeyColumn) {
    let (mut leading, mut ranks) = (Vec::new(), Vec::new());
    key.for_each_number(|position, number| {
        if number <= bound {
            leading.push(nodes[position]);
            ranks.push(key.ranks[position]);
        }
    });
    let (missing, texts) = (Vec::new(), Vec::new());
    (leading, KeyColumn { ranks, missing, texts, descending: key.descending })
}

/// The rows of nodes; `None` if numbers do not distinguish all values.
fn ranked_rows(
    nodes: &[u32],
    first: &KeyColumn,
    second: Option<&KeyColumn>,
) -> Option<Vec<RankedRow>> {
    let has_texts = |column: &KeyColumn| !column.texts.is_empty();
    if has_texts(first) || second.is_some_and(has_texts) {
        return None;
    }
    let turns = second.map_or([false; 2], |second| [first.descending, second.descending]);
    let key = |column: Option<&KeyColumn>, position: usize| match column {
        Some(column) if column.lacks(position) => (true, 0),
        Some(column) => (false, column.negated(position)),
        None => (false, 0),
    };
    let row = |(position, &node): (usize, &u32)| {
        let (lacks_first, first) = key(Some(first), position);
        let (lacks_second, second) = key(second, position);
        let row = RankedRow { lacks_first, first, lacks_second, second, node };
        RankedRow { node: if row.is_negated(turns) { !node } else { node }, ..row }
    };
    Some(nodes.iter().enumerate().map(row).collect())
}

fn sort_by_columns(nodes: &[u32], columns: &[KeyColumn], expected: Option<usize>) -> Vec<u32> {
    let mut positions: Vec<u32> = (0..nodes.len() as u32).collect();
    let compare = |one: &u32, other: &u32| compare_rows(nodes, columns, *one, *other);
    if let Some(expected) = expected
        && expected < positions.len()
    {
        if expected == 0 {
            return Vec::new();
        }
        // The nodes of the page are selected in expected O(nodes); only the page is sorted.
        positions.select_nth_unstable_by(expected - 1, compare);
        positions.truncate(expected);
    }
    positions.sort_unstable_by(compare);
    positions.iter().map(|&position| nodes[position as usize]).collect()
}

/// The nodes of a page in the order of several keys, after as many as come before them.
///
/// Dgraph takes the page by the first key alone, in the order of its language, with all
/// that are equal to its first and last node; only these are then sorted by all keys, bytewise.
/// Without the same cut, pages of the same query would hold other nodes.
fn page_by_first_key(
    nodes: &[u32],
    first: &KeyColumn,
    columns: impl FnOnce(&[u32]) -> Vec<KeyColumn>,
    skip: usize,
    expected: usize,
) -> Vec<u32> {
    let one = std::slice::from_ref(first);
    let mut positions: Vec<u32> = (0..nodes.len() as u32).collect();
    positions.sort_unstable_by(|a, b| compare_rows(nodes, one, *a, *b));
    let missing = |position: usize| first.missing.get(position).copied().unwrap_or(false);
    let text = |position: usize| first.texts.get(position).map_or(&[][..], Vec::as_slice);
    let key = |rank: usize| {
        let position = positions[rank] as usize;
        (missing(position), first.ranks[position], text(position))
    };
    let mut start = skip.min(nodes.len());
    while 0 < start && start < nodes.len() && key(start - 1) == key(start) {
        start -= 1;
    }
    let mut end = expected.min(nodes.len()).max(start);
    while 0 < end && end < nodes.len() && key(end - 1) == key(end) {
        end += 1;
    }
    let by_rank = |range: std::ops::Range<usize>| {
        positions[range].iter().map(|&position| nodes[position as usize]).collect::<Vec<u32>>()
    };
    let mut page = by_rank(start..end);
    page.sort_unstable();
    let columns = columns(&page);
    [by_rank(0..start), sort_by_columns(&page, &columns, None)].concat()
}

fn compare_rows(nodes: &[u32], columns: &[KeyColumn], one: u32, other: u32) -> Ordering {
    let (one, other) = (one as usize, other as usize);
    let mut by_node = nodes[one].cmp(&nodes[other]);
    for column in columns {
        let missing = |position: usize| column.missing.get(position).copied().unwrap_or(false);
        match (missing(one), missing(other)) {
            (true, true) => {
                // Dgraph reverses the order of uids here.
                if 1 < columns.len() && column.descending {
                    by_node = nodes[other].cmp(&nodes[one]);
                }
                continue;
            }
            (true, false) => return Ordering::Greater,
            (false, true) => return Ordering::Less,
            (false, false) => {}
        }
        let mut order = column.ranks[one].cmp(&column.ranks[other]);
        if order.is_eq() && !column.texts.is_empty() {
            let text = |position: usize| column.texts.get(position).map_or(&[][..], Vec::as_slice);
            order = text(one).cmp(text(other));
        }
        if order.is_ne() {
            return if column.descending { order.reverse() } else { order };
        }
    }
    by_node
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::control::morsels::tests::sharing;
    use crate::exec::control::stop::RequestContext;
    use crate::exec::tests::random_graph::{NAMES, graph};
    use fastrand::Rng;
    use hexgraph_base::plan::Query;

    /// Rows of numbers, sorted by threads or by one, are in the order of the columns that they are
    /// made of.
    #[test]
    fn rows_are_sorted_as_columns_are() {
        let mut rng = Rng::with_seed(9);
        let (mut by_rows, mut requested) = (0, 0);
        for round in 0..16 {
            let count = if round % 4 == 0 { 2_000 } else { rng.u32(20..200) };
            let (version, query) = (graph(count.into(), &mut rng), Query::default());
            let names = NAMES.iter().filter(|name| !["is", "was", "tags"].contains(name));
            let existing: Vec<&Predicate> =
                names.filter_map(|name| version.predicate(name).map(AsRef::as_ref)).collect();
            for _ in 0..30 {
                let keys: Vec<SortKey<'_>> = (0..rng.usize(1..4))
                    .map(|_| SortKey {
                        predicate: existing[rng.usize(..existing.len())],
                        lang: None,
                        descending: rng.bool(),
                    })
                    .collect();
                let fraction = [1.0, 0.3][rng.usize(..2)];
                let nodes: Vec<u32> = (0..count * 5 / 4).filter(|_| rng.f64() < fraction).collect();
                let expected = [None, Some(0), Some(7), Some(nodes.len() / 2)][rng.usize(..4)];
                let column = |key: &SortKey<'_>| {
                    predicate_column(key.predicate, None, &nodes, key.descending, None)
                };
                let columns: Vec<KeyColumn> = keys.iter().map(column).collect();
                let sorted = sort_by_columns(&nodes, &columns, expected);
                for control in [RequestContext::new(), sharing(2, 1), sharing(3, 20_000)] {
                    let vars = Vec::new();
                    let context =
                        Context { version: &version, query: &query, control: &control, vars };
                    requested += 1;
                    let result = context.sorted_rows(&keys, Members::List(&nodes), expected);
                    let result = result.unwrap();
                    let Some(result) = result else { continue };
                    by_rows += 1;
                    assert_eq!(result, sorted, "{expected:?} of {} nodes", nodes.len());
                }
            }
        }
        assert!(requested < 6 * by_rows, "{by_rows} of {requested} were sorted by rows");
    }
}
