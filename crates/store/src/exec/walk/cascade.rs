//! `@cascade`: drops nodes whose required fields are empty, from the leaves up, then pages.
//!
//! `e (first: n) @cascade { ... }`: the first targets of long lists are walked, and more of them
//! only while the cascade leaves fewer than fit the page.

use super::traverse::{Inherited, Walk};
use crate::exec::columns::read::Langs;
use crate::exec::control::context::Context;
use crate::exec::control::tree::{EdgeField, FieldData, FieldResult, Level};
use crate::exec::physical::rewrites::pages_at_once;
use crate::exec::physical::rewrites::{first_batch, has_expand, next_batch};
use crate::exec::select::page::cut;
use hexgraph_base::plan::{Cascade, Field, FieldKind, Page};
use hexgraph_base::types::{Result, ValueType};
use std::mem;
use std::sync::Arc;

/// A level whose fields are being looked at. It is taken out of the tree meanwhile, so that a deep
/// tree needs no call for each level.
struct Open {
    level: Level,
    /// How many of the fields are begun.
    begun: usize,
    /// The cascade in force here.
    inherited: Option<Arc<Cascade>>,
}

impl Context<'_> {
    /// Drops what `@cascade` drops in a level and below. `inherited` is the one in force here.
    pub(crate) fn cascade(&self, level: &mut Level, inherited: Option<&Cascade>) -> Result<()> {
        let mut open = vec![Open::new(level, inherited.cloned().map(Arc::new))];
        while let Some(top) = open.last_mut() {
            self.check()?;
            // Leaves first: whether a node has a field depends on which of its targets are left.
            if let Some(below) = top.open_next() {
                open.push(below);
                continue;
            }
            let Some(mut done) = open.pop() else { break };
            if let Some(cascade) = &done.inherited {
                self.drop_nodes(&mut done.level, cascade);
            }
            let Some(above) = open.last_mut() else {
                *level = done.level;
                break;
            };
            let result = &mut above.level.fields[above.begun - 1];
            if let FieldData::Edges(edges) = &mut result.data {
                edges.level = done.level;
                if done.inherited.is_some() {
                    drop_dead(edges, &result.field);
                }
            }
        }
        Ok(())
    }

    /// The edges of a field with `@cascade`, which may drop targets, so that the page counts those
    /// that are left. All of them, or where lists are long and their pages short, as many as fill
    /// the pages; these are cut then.
    ///
    /// # Errors
    ///
    /// Those of the fields below, and the limits.
    pub(super) fn cascaded_edges(
        &mut self,
        nodes: &[u32],
        field: &Arc<Field>,
        walk: &Walk<'_>,
        (cascade, inherited): (&Cascade, Inherited<'_>),
    ) -> Result<EdgeField> {
        let page = Page { after: field.page.after, ..Page::default() };
        let mut most = self.batch_of_pages(nodes, walk, inherited);
        while let Some(first) = most {
            let batch = Page { first: first as i32, ..page };
            let mut edges = self.edges_in(nodes, field, walk, (batch, inherited))?;
            self.cascade(&mut edges.level, Some(cascade))?;
            if fills_pages(&edges, field.page, first) {
                drop_dead(&mut edges, field);
                edges.is_cascaded = true;
                return Ok(edges);
            }
            most = next_batch(first);
        }
        self.edges_in(nodes, field, walk, (page, inherited))
    }

    /// The number of targets of each list to begin with; `None` where all are walked: the lists are
    /// short on average, or what is below depends on all of them, as variables and `expand` do.
    fn batch_of_pages(
        &self,
        nodes: &[u32],
        walk: &Walk<'_>,
        inherited: Inherited<'_>,
    ) -> Option<usize> {
        let (field, costs) = (walk.field, self.control.costs());
        let most = first_batch(field.page, costs)?;
        let is_apart = inherited.are_apart
            && !inherited.needs_no_lists
            && field.group_by.is_none()
            && pages_at_once(&field.order)
            && !field.fields.iter().any(|field| has_expand(field));
        let total = || nodes.iter().map(|node| walk.edges.count(*node)).sum::<usize>();
        let least = most.saturating_mul(costs.long_list_ratio).saturating_mul(nodes.len());
        let least = self.pick(least, nodes.len(), || vec![0, usize::MAX]);
        (is_apart && least < total()).then_some(most)
    }

    /// Decides which nodes of a level remain.
    fn drop_nodes(&self, level: &mut Level, cascade: &Cascade) {
        let fields = level.fields.iter().enumerate();
        let required: Vec<&FieldResult> = fields
            .filter(|(position, result)| is_required(result, *position, cascade))
            .map(|(_, result)| result)
            .collect();
        let positions = 0..level.nodes.len();
        let has = |result: &FieldResult, node| match &result.field.kind {
            FieldKind::CheckPassword { name, .. } => {
                self.predicate(name).is_some_and(|predicate| predicate.has(node))
            }
            FieldKind::Predicate { .. }
            | FieldKind::Uid
            | FieldKind::Count { .. }
            | FieldKind::CountUid
            | FieldKind::Val(_)
            | FieldKind::AggregateVar(..)
            | FieldKind::AggregatePredicate { .. }
            | FieldKind::Math(_)
            | FieldKind::Expand(_) => false,
        };
        let alive = positions.map(|position| {
            let node = level.nodes[position];
            required.iter().all(|result| has_result(result, position, node) || has(result, node))
        });
        level.alive = Some(alive.collect());
    }
}

/// Whether `@cascade` leaves a target.
fn is_left(edges: &EdgeField, target: u32) -> bool {
    edges.level.position(target).is_some_and(|position| edges.level.is_alive(position))
}

/// Whether each list has a page of targets that are left, or was walked to its end.
fn fills_pages(edges: &EdgeField, page: Page, most: usize) -> bool {
    let is_alive = |target: &&u32| is_left(edges, **target);
    let expected = page.expected().unwrap_or(usize::MAX);
    let mut lists = (0..edges.offsets.len() - 1).map(|position| edges.targets_of(position));
    lists.all(|list| list.len() < most || expected <= list.iter().filter(is_alive).count())
}

impl Open {
    fn new(level: &mut Level, inherited: Option<Arc<Cascade>>) -> Open {
        Open { level: mem::take(level), begun: 0, inherited }
    }

    /// The level of the next field of edges; `None` after the last one.
    fn open_next(&mut self) -> Option<Open> {
        while let Some(result) = self.level.fields.get_mut(self.begun) {
            self.begun += 1;
            if let FieldData::Edges(edges) = &mut result.data
                && !edges.is_cascaded
            {
                let own = result.field.cascade.clone().map(Arc::new);
                return Some(Open::new(&mut edges.level, own.or_else(|| self.inherited.clone())));
            }
        }
        None
    }
}

/// Removes the targets that `@cascade` dropped from the lists of a field, and then cuts the page of
/// each list.
fn drop_dead(edges: &mut EdgeField, field: &Field) {
    let rows = edges.offsets.len() - 1;
    let mut offsets = Vec::with_capacity(rows + 1);
    let mut targets = Vec::with_capacity(edges.targets.len());
    offsets.push(0);
    let mut list = Vec::new();
    for row in 0..rows {
        list.clear();
        list.extend(edges.targets_of(row).iter().copied().filter(|it| is_left(edges, *it)));
        // Only now, since a page counts the targets that are left.
        targets.extend_from_slice(cut(&list, field.page));
        offsets.push(targets.len() as u32);
    }
    edges.offsets = offsets;
    edges.targets = targets;
}

fn is_required(result: &FieldResult, position: usize, cascade: &Cascade) -> bool {
    let (name, reverse, langs) = match &result.field.kind {
        FieldKind::Predicate { name, reverse, langs } => (name, reverse, langs.as_slice()),
        FieldKind::CheckPassword { name, .. } => (name, &false, &[][..]),
        FieldKind::Uid
        | FieldKind::Count { .. }
        | FieldKind::CountUid
        | FieldKind::Val(_)
        | FieldKind::AggregateVar(..)
        | FieldKind::AggregatePredicate { .. }
        | FieldKind::Math(_)
        | FieldKind::Expand(_) => return false,
    };
    match cascade {
        Cascade::All => true,
        Cascade::Positions(positions) => positions.binary_search(&position).is_ok(),
        Cascade::Fields(expected) => expected.iter().any(|field| match field.strip_prefix('~') {
            Some(field) => *reverse && field == name,
            None => !*reverse && (field == name || is_in_language(field, name, langs)),
        }),
    }
}

/// True when `field` is `name`, an `@`, and the languages of the field as they are written.
fn is_in_language(field: &str, name: &str, langs: &[String]) -> bool {
    let rest = field.strip_prefix(name).and_then(|rest| rest.strip_prefix('@'));
    rest.is_some_and(|rest| rest == langs.join(":"))
}

fn has_result(result: &FieldResult, position: usize, node: u32) -> bool {
    match &result.data {
        FieldData::Edges(edges) => !edges.targets_of(position).is_empty(),
        FieldData::Values(values) => {
            let FieldKind::Predicate { langs, .. } = &result.field.kind else { return true };
            // A password is never shown, so it is never there.
            if values.is_hidden(node) || values.predicate.def.value_type == ValueType::Password {
                return false;
            }
            if langs.iter().any(|lang| lang == "*") {
                return values.predicate.has(node);
            }
            values.predicate.values_in(Langs::First(langs), node).is_some()
        }
        FieldData::Nothing | FieldData::Passwords(_) => false,
        FieldData::Uid | FieldData::Counts(_) | FieldData::CountUid | FieldData::Column(_) => true,
    }
}
