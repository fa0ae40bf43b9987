//! Carries out the fields of a level: reads their values, and walks their edges to the level below.

use super::lists::Lists;
use crate::exec::access_path::EdgesPath;
use crate::exec::choose::function::{no_languages, no_reverse};
use crate::exec::choose::tester::Counter;
use crate::exec::control::context::{Context, Var};
use crate::exec::control::tree::{
    EdgeField, FieldData, FieldResult, Level, ValueField, all_langs_key,
};
use crate::exec::cost;
use crate::exec::select::facets::EdgeFacets;
use crate::exec::select::page::{check_order, cut};
use crate::graph::{Direction, Passwords, Predicate};
use crate::storage::{NodeLookup, NodeSet};
use hexgraph_base::plan::{Cascade, Field, FieldKind, Page};
use hexgraph_base::types::{Error, Result, stack};
use std::ops::Range;
use std::sync::Arc;

/// The deepest nesting of levels; the parser allows no more, `expand` adds none.
const DEPTH_MAX: usize = 400;

/// What a level inherits from the selections around it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Inherited<'p> {
    /// The innermost `@cascade` above.
    pub(crate) cascade: Option<&'p Cascade>,
    /// The number of levels above this one.
    pub(crate) depth: usize,
    /// True where no field sets a variable, so that none waits for another.
    pub(crate) are_apart: bool,
    /// True where nothing looks at the lists of edges: see `needs_no_lists` in `gather.rs`.
    pub(crate) needs_no_lists: bool,
}

/// The targets of each node of a level.
struct Walked {
    /// Where each list ends; the first offset is 0.
    offsets: Vec<u32>,
    targets: Vec<u32>,
    /// The distinct ones, if they are computed: all that pass a filter are the target of some node.
    below: Option<Vec<u32>>,
}

impl Walked {
    /// Empty lists of so many nodes, which nobody looks at, and where their edges lead.
    fn without_lists(nodes: usize, below: Vec<u32>) -> Walked {
        Walked { offsets: vec![0; nodes + 1], targets: Vec::new(), below: Some(below) }
    }
}

impl From<(Vec<u32>, Vec<u32>)> for Walked {
    fn from((offsets, targets): (Vec<u32>, Vec<u32>)) -> Walked {
        Walked { offsets, targets, below: None }
    }
}

/// An edge field and the strategy for it.
pub(crate) struct Walk<'p> {
    /// The field.
    pub(crate) field: &'p Field,
    /// The predicate.
    pub(crate) predicate: &'p Arc<Predicate>,
    /// True for incoming edges.
    pub(crate) reverse: bool,
    /// The edges.
    pub(crate) edges: &'p Direction,
}

impl<'a> Context<'a> {
    /// Evaluates a selection over nodes, which are ascending and distinct.
    pub(crate) fn level(
        &mut self,
        nodes: Arc<Vec<u32>>,
        fields: &[Arc<Field>],
        inherited: Inherited<'_>,
    ) -> Result<Level> {
        stack::check()?;
        self.check()?;
        if DEPTH_MAX < inherited.depth {
            return Err(Error::Limit {
                message: format!("the query is nested deeper than {DEPTH_MAX} levels"),
            });
        }
        let expanded = self.expand_fields(fields, &nodes)?;
        let mut results = Vec::with_capacity(expanded.len());
        let mut ahead = match inherited.are_apart {
            true => self.fields_concurrently(&expanded, &nodes, |context, field| {
                context.field(&nodes, field, inherited)
            })?,
            false => Vec::new(),
        };
        for (position, field) in expanded.iter().enumerate() {
            let step = self.begin("field", &field.key, Some(field.at), None);
            let data = match ahead.get_mut(position).and_then(Option::take) {
                Some(data) => data,
                None => self.field(&nodes, field, inherited),
            };
            let data = data.map_err(|error| error.or_at(field.at))?;
            self.end(&step, rows_of(&data, nodes.len()));
            results.push(FieldResult { field: Arc::clone(field), data });
        }
        mark_shared_keys(&mut results);
        Ok(Level { nodes, fields: results, alive: None })
    }

    fn field(
        &mut self,
        nodes: &[u32],
        field: &Arc<Field>,
        inherited: Inherited<'_>,
    ) -> Result<FieldData> {
        match &field.kind {
            FieldKind::Predicate { name, reverse, langs } => {
                let Some(predicate) = self.predicate(name) else {
                    return Ok(FieldData::Nothing);
                };
                check_langs(predicate, langs)?;
                if predicate.is_edges() {
                    return self.edge_field(nodes, field, predicate, *reverse, inherited);
                }
                if *reverse {
                    return Err(no_reverse(name));
                }
                let shown = self.shown_values(field, predicate, langs, nodes)?;
                Ok(FieldData::Values(ValueField {
                    predicate: Arc::clone(predicate),
                    shown,
                    shares_key: false,
                }))
            }
            FieldKind::Uid => {
                if let Some(var) = field.var {
                    self.set_var(var, Var::uids(NodeSet::from(nodes.to_vec())));
                }
                Ok(FieldData::Uid)
            }
            FieldKind::Count { name, reverse, langs } => {
                self.count_field(nodes, field, name, *reverse, langs)
            }
            FieldKind::CountUid => Ok(FieldData::CountUid),
            FieldKind::CheckPassword { name, password } => {
                self.password_field(nodes, name, password)
            }
            // Filled in when the entire block has been executed.
            FieldKind::Val(_)
            | FieldKind::AggregateVar(..)
            | FieldKind::AggregatePredicate { .. }
            | FieldKind::Math(_)
            | FieldKind::Expand(_) => Ok(FieldData::Nothing),
        }
    }

    fn edge_field(
        &mut self,
        nodes: &[u32],
        field: &Arc<Field>,
        predicate: &'a Arc<Predicate>,
        reverse: bool,
        inherited: Inherited<'_>,
    ) -> Result<FieldData> {
        let edges = predicate.direction(reverse).ok_or_else(|| no_reverse(&predicate.def.name))?;
        let cascade = field.cascade.as_ref().or(inherited.cascade);
        if !walks_edges(field, inherited) {
            return Ok(FieldData::Nothing);
        }
        let walk = Walk { field, predicate, reverse, edges };
        let inherited = Inherited { cascade, depth: inherited.depth + 1, ..inherited };
        let edges = match cascade {
            Some(cascade) => self.cascaded_edges(nodes, field, &walk, (cascade, inherited))?,
            None => self.edges_in(nodes, field, &walk, (field.page, inherited))?,
        };
        Ok(FieldData::Edges(Box::new(edges)))
    }

    /// The edges of a field within a page, and the level of their targets. Sets the variables of
    /// the field.
    pub(super) fn edges_in(
        &mut self,
        nodes: &[u32],
        field: &Arc<Field>,
        walk: &Walk<'_>,
        (page, inherited): (Page, Inherited<'_>),
    ) -> Result<EdgeField> {
        let gathered = match inherited.needs_no_lists {
            true => self.gathered(nodes, walk)?,
            false => None,
        };
        let Walked { offsets, targets, below } = match gathered {
            Some(below) => Walked::without_lists(nodes.len(), below),
            None => self.walked(nodes, walk, page)?,
        };
        // Those of the level below, and what a variable retains of them.
        let most = below.as_ref().map_or(targets.len(), Vec::len);
        self.control.charge(8 * most)?;
        let below = Arc::new(below.map_or_else(|| self.distinct(&targets), Ok)?);
        if let Some(var) = field.var {
            self.set_var(var, Var::uids(NodeSet::Sorted(Arc::clone(&below))));
        }
        let mut result = EdgeField {
            predicate: Arc::clone(walk.predicate),
            reverse: walk.reverse,
            offsets,
            targets,
            level: Level::default(),
            groups: None,
            is_cascaded: false,
        };
        for item in field.facets.iter().flat_map(|facets| &facets.items) {
            if let Some(var) = item.var {
                let values = self.facet_values(&item.facet, &result, nodes)?;
                self.set_var(var, Var::Values(Arc::new(values)));
            }
        }
        let grouped = field.group_by.is_some();
        let fields = if grouped { &[][..] } else { &field.fields };
        result.level = self.level(below, fields, inherited)?;
        Ok(result)
    }

    /// The targets of each node: filtered, ordered and paged, each list by itself.
    pub(crate) fn walk(
        &self,
        nodes: &[u32],
        walk: &Walk<'_>,
        page: Page,
    ) -> Result<(Vec<u32>, Vec<u32>)> {
        let Walked { offsets, targets, .. } = self.walked(nodes, walk, page)?;
        Ok((offsets, targets))
    }

    fn walked(&self, nodes: &[u32], walk: &Walk<'_>, page: Page) -> Result<Walked> {
        let field = walk.field;
        check_order(page, &field.order)?;
        let by_facets = field.facets.as_ref().is_some_and(|facets| !facets.order.is_empty());
        if let Some(path) = plain_path(field, page) {
            self.record_path(path);
            if page.is_all() {
                return Ok(self.all_lists(nodes, walk.edges, cost::LIST)?.finish().into());
            }
            let lists = self.lists_of(nodes.len(), cost::LIST, |position, lists| {
                let set = walk.edges.target_set(nodes[position]);
                lists.extend(self, &self.page_of(&set, page))
            })?;
            return Ok(lists.finish().into());
        }
        if let Some(pages) = self.pages_of_long_lists(nodes, walk, page)? {
            return Ok(pages.into());
        }
        let (all, passed) = self.filtered_targets(nodes, walk, page)?;
        let mut below = None;
        let (offsets, targets) = if !field.order.is_empty() || by_facets {
            self.sorted_targets(nodes, walk, page, all)?
        } else if page.first == 0 && page.offset <= 0 {
            below = passed.map(|passed| passed.to_vec());
            all.finish()
        } else {
            all.cut(self, page)?
        };
        self.record_path(EdgesPath::Together);
        Ok(Walked { offsets, targets, below })
    }

    /// All targets that pass the filters and lie after `after`, and which these are, if that needs
    /// no test.
    fn filtered_targets(
        &self,
        nodes: &[u32],
        walk: &Walk<'_>,
        page: Page,
    ) -> Result<(Lists, Option<NodeSet>)> {
        let field = walk.field;
        let least = self.least_of(page);
        if let ([node], Some(filter), None) = (nodes, &field.filter, &field.facet_filter) {
            // Of one node the targets are a set as they are stored, which is not copied to be
            // tested.
            let targets = least.map(|least| walk.edges.target_set(*node).tail(least));
            let targets = targets.unwrap_or_default();
            // A set with changes becomes a list where each target is tested.
            let _while_filtering = self.control.charge_while(size_of::<u32>() * targets.len())?;
            self.note_unresolved_in(filter, &targets);
            let passed = self.filter(filter, targets)?;
            let mut list = Lists::new(self, 1)?;
            list.extend(self, &passed.as_list())?;
            list.close(self)?;
            return Ok((list, Some(passed)));
        }
        let mut all = match page.after {
            0 => self.all_lists(nodes, walk.edges, cost::LIST)?,
            _ => self.lists_of(nodes.len(), cost::LIST, |position, lists| {
                let Some(least) = least else { return Ok(()) };
                let targets = walk.edges.targets(nodes[position]);
                // `after` is a uid, whatever the order of the answer will be: it is applied while
                // targets ascend.
                let start = targets.partition_point(|&target| target < least);
                lists.extend(self, &targets[start..])
            })?,
        };
        let mut below = None;
        if let Some(filter) = &field.filter {
            let _while_filtering = self.control.charge_while(12 * all.target_count())?;
            // Each target is tested once, whichever lists contain it.
            let candidates = NodeSet::from(self.distinct(all.all_targets())?);
            self.note_unresolved_in(filter, &candidates);
            let passed = self.filter(filter, candidates)?;
            all = match nodes {
                [_] => all.replaced(self, &passed.as_list())?,
                _ => {
                    let passed = NodeLookup::of(&passed, all.target_count());
                    self.among(all, &passed, cost::BIT)?
                }
            };
            below = Some(passed);
        }
        if let Some(filter) = &field.facet_filter {
            let facets = EdgeFacets::new(walk.predicate, walk.reverse);
            all = self.retained(all, nodes, cost::FETCH, |node, target| {
                self.facets_pass(filter, &|key: &str| {
                    facets.and_then(|facets| facets.get(node, target, key))
                })
            })?;
            below = None;
        }
        Ok((all, below))
    }

    fn sorted_targets(
        &self,
        nodes: &[u32],
        walk: &Walk<'_>,
        page: Page,
        all: Lists,
    ) -> Result<(Vec<u32>, Vec<u32>)> {
        let field = walk.field;
        // The distinct ones, in their order, and with their ranks.
        let _while_sorting = self.control.charge_while(16 * all.target_count())?;
        let below = self.distinct(all.all_targets())?;
        let mut ranks = Vec::new();
        if !field.order.is_empty() {
            // Sorted once for all lists; each list is then sorted by rank, which is a number.
            let ordered = self.order_nodes(&field.order, &NodeSet::from(below.clone()), 0, None)?;
            ranks = ordered.iter().zip(0u32..).map(|(&node, rank)| (node, rank)).collect();
            ranks.sort_unstable();
        }
        let facets = EdgeFacets::new(walk.predicate, walk.reverse);
        let each = cost::SORT.times(1 + all.target_count() / nodes.len().max(1));
        let sorted = self.lists_of(nodes.len(), each, |position, sorted| {
            let mut list: Vec<u32> = all.list(position).to_vec();
            if field.order.is_empty() {
                let order = field.facets.as_ref().map_or(&[][..], |facets| &facets.order);
                self.order_by_facets(order, facets, nodes[position], &mut list);
            } else {
                let rank = |target: u32| {
                    let result = ranks.binary_search_by_key(&target, |(node, _)| *node);
                    result.ok().map(|result| ranks[result].1)
                };
                // A list is unchanged if none of its nodes has a value of the variable.
                if list.iter().any(|&target| rank(target).is_some()) {
                    list.retain(|&target| rank(target).is_some());
                    list.sort_by_key(|&target| rank(target));
                }
            }
            sorted.extend(self, cut(&list, page))
        })?;
        all.free(self);
        Ok(sorted.finish())
    }

    fn count_field(
        &self,
        nodes: &[u32],
        field: &Field,
        name: &str,
        reverse: bool,
        langs: &[String],
    ) -> Result<FieldData> {
        let Some(predicate) = self.predicate(name) else { return Ok(FieldData::Nothing) };
        check_langs(predicate, langs)?;
        if reverse && predicate.direction(true).is_none() {
            return Err(no_reverse(name));
        }
        self.control.charge(size_of::<u64>() * nodes.len())?;
        if let Some(edges) = predicate.direction(reverse)
            && (field.filter.is_some() || field.facet_filter.is_some())
        {
            if let (Some(filter), None) = (&field.filter, &field.facet_filter)
                && field.page.is_all()
                && let Some(counts) = self.counts_of_long_lists(nodes, edges, filter)?
            {
                return Ok(FieldData::Counts(counts));
            }
            let walk = Walk { field, predicate, reverse, edges };
            let (offsets, targets) = self.walk(nodes, &walk, field.page)?;
            let lists = Lists::of(offsets, targets);
            let counts = FieldData::Counts(lists.counts().collect());
            lists.free(self);
            return Ok(counts);
        }
        if field.facet_filter.is_some() {
            let shown = self.passing_values(field, predicate, langs, nodes)?;
            let count = |node: &u32| shown.get(node).map_or(0, |positions| positions.len() as u64);
            return Ok(FieldData::Counts(nodes.iter().map(count).collect()));
        }
        let untagged = predicate.def.lang.then_some("");
        let lang = langs.first().map(String::as_str).or(untagged);
        let counter = Counter { predicate, reverse, lang };
        let counts = |range: Range<usize>| {
            self.check()?;
            Ok(nodes[range].iter().map(|&node| counter.count(node)).collect())
        };
        self.lists(nodes.len(), cost::LOOKUP, counts).map(FieldData::Counts)
    }

    fn password_field(&self, nodes: &[u32], name: &str, password: &str) -> Result<FieldData> {
        let Some(predicate) = self.predicate(name) else { return Ok(FieldData::Nothing) };
        if predicate.def.value_type != hexgraph_base::types::ValueType::Password {
            let result = predicate.def.value_type.name();
            let message = format!("`checkpwd` needs a password, and `{name}` is of type {result}");
            let hint = format!("the schema would say `{name}: password .`");
            return Err(Error::query(message).with_hint(hint));
        }
        let check = |&node: &u32| {
            let value = predicate.values("").and_then(|part| part.first(node));
            match value.and_then(crate::storage::text_of) {
                Some(hash) => self.control.verify(hash, password),
                None => Ok(false),
            }
        };
        Ok(FieldData::Passwords(nodes.iter().map(check).collect::<Result<_>>()?))
    }
}

/// Whether the edges of a field are followed. Where nobody sees to which nodes they lead, a cascade
/// has to know whether there are any.
pub(crate) fn walks_edges(field: &Field, inherited: Inherited<'_>) -> bool {
    let mut items = field.facets.iter().flat_map(|facets| &facets.items);
    field.has_body
        || field.var.is_some()
        || field.group_by.is_some()
        || inherited.cascade.is_some()
        || items.any(|item| item.var.is_some())
}

/// How the edge lists of a field are read within a page, where they are neither filtered nor
/// ordered.
pub(crate) fn plain_path(field: &Field, page: Page) -> Option<EdgesPath> {
    let by_facets = field.facets.as_ref().is_some_and(|facets| !facets.order.is_empty());
    let is_plain = field.filter.is_none()
        && field.facet_filter.is_none()
        && field.order.is_empty()
        && !by_facets;
    let path = if page.is_all() { EdgesPath::Copy } else { EdgesPath::Seek };
    is_plain.then_some(path)
}

/// Marks fields of values whose key is one of those that `@*` represents, and this one.
fn mark_shared_keys(results: &mut [FieldResult]) {
    let plain_key = |result: &FieldResult| match (&result.data, all_langs_key(&result.field)) {
        (FieldData::Values(_), Some(plain)) => Some(plain.to_owned()),
        _ => None,
    };
    let all: Vec<String> = results.iter().filter_map(plain_key).collect();
    if all.is_empty() || all.len() == results.len() {
        return;
    }
    for result in results {
        let key = &result.field.key;
        let stands_for = |plain: &String| {
            let rest = key.strip_prefix(plain.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('@'))
        };
        if let FieldData::Values(values) = &mut result.data {
            values.shares_key = all.iter().any(stands_for);
        }
    }
}

fn check_langs(predicate: &Predicate, langs: &[String]) -> Result<()> {
    if langs.is_empty() || predicate.def.lang {
        return Ok(());
    }
    Err(no_languages(predicate, &langs.join(":")))
}

/// The edges, values or counts of a field. Values are read when they are written.
fn rows_of(data: &FieldData, nodes: usize) -> usize {
    match data {
        FieldData::Nothing => 0,
        // Where there are no lists, the distinct targets.
        FieldData::Edges(edges) => edges.targets.len().max(edges.level.nodes.len()),
        FieldData::Column(map) => map.nodes.len(),
        FieldData::Uid
        | FieldData::Values(_)
        | FieldData::Counts(_)
        | FieldData::CountUid
        | FieldData::Passwords(_) => nodes,
    }
}
