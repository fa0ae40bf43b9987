//! Plans the fields of a level: values, edges, and the levels below.

use super::blocks::Planner;
use super::cardinality::Cardinality;
use super::steps::StepPaths;
use crate::exec::{
    EdgesPath, Inherited, Purpose, first_batch, gather_path, no_reverse, plain_path, read_vars,
    walks_edges,
};
use crate::graph::{Direction, Predicate};
use hexgraph_base::plan::{Block, Field, FieldKind, Filter, Page};
use hexgraph_base::types::{Error, Result, stack};
use std::sync::Arc;

/// The unit of the numbers that decide for lists of edges.
const EDGES: &str = "edges of a node on average";

impl<'a> Planner<'a> {
    /// Plans the fields of a selection over so many nodes.
    pub(super) fn level(
        &mut self,
        fields: &'a [Arc<Field>],
        nodes: Cardinality,
        inherited: Inherited<'a>,
    ) -> Result<()> {
        stack::check()?;
        for field in fields {
            self.field(field, nodes, inherited).map_err(|error| error.or_at(field.at))?;
        }
        Ok(())
    }

    fn field(
        &mut self,
        field: &'a Field,
        nodes: Cardinality,
        inherited: Inherited<'a>,
    ) -> Result<()> {
        let step = self.steps.open("field", &field.key, Some(field.at));
        self.steps.expect(step, None, nodes.is_exact());
        let (choices, below) = match &field.kind {
            FieldKind::Predicate { name, reverse, .. } => match self.context.predicate(name) {
                Some(predicate) if predicate.is_edges() => {
                    let edges = direction(predicate, *reverse)?;
                    let targets = self.targets(edges, nodes);
                    (self.edge_field(field, Some(edges), nodes, inherited)?, targets)
                }
                _ => (StepPaths::default(), nodes.part()),
            },
            FieldKind::Count { name, reverse, .. } => {
                (self.count_field(field, name, *reverse, nodes)?, nodes.part())
            }
            FieldKind::Expand(_) => {
                let below = self.any_rows();
                self.steps.expect(step, Some(below.expected), false);
                (self.expansion(field, nodes, inherited)?, below)
            }
            FieldKind::Val(_) | FieldKind::Math(_) => {
                (StepPaths::default(), self.computed_rows(&field.kind, nodes))
            }
            FieldKind::Uid
            | FieldKind::CountUid
            | FieldKind::AggregateVar(..)
            | FieldKind::AggregatePredicate { .. }
            | FieldKind::CheckPassword { .. } => (StepPaths::default(), nodes.part()),
        };
        if choices.is_any() {
            self.steps.expect(step, Some(below.expected), false);
        }
        self.steps.close(step, choices);
        self.bind(field, below);
        Ok(())
    }

    /// Plans the edges that `expand` brings. What the schema refuses below them is refused only
    /// where there are any, so that the plan has the refusal instead of their fields.
    fn expansion(
        &mut self,
        field: &'a Field,
        nodes: Cardinality,
        inherited: Inherited<'a>,
    ) -> Result<StepPaths> {
        let (mark, grouped) = (self.steps.mark(), self.grouped.len());
        match self.edge_field(field, None, nodes, inherited) {
            Err(Error::Query { message, .. } | Error::Schema { message, .. }) => {
                self.steps.rewind(mark);
                self.grouped.truncate(grouped);
                let refusal = format!("if a node has an edge: {message}");
                self.steps.leaf("refuse", &refusal, Some(field.at));
                Ok(StepPaths::default())
            }
            planned => planned,
        }
    }

    /// The nodes that have a value computed from variables: it has those of the variables, in
    /// addition to those of the level, to which values flow down.
    fn computed_rows(&self, kind: &FieldKind, nodes: Cardinality) -> Cardinality {
        let rows = read_vars(kind).into_iter().map(|var| self.var_rows(var));
        rows.fold(nodes, Cardinality::or_within).part()
    }

    /// Plans the edges of a field and the level of their targets. Without `edges` the field
    /// represents those that `expand` brings.
    fn edge_field(
        &mut self,
        field: &'a Field,
        edges: Option<&Direction>,
        nodes: Cardinality,
        inherited: Inherited<'a>,
    ) -> Result<StepPaths> {
        if edges.is_some() && !walks_edges(field, inherited) {
            return Ok(StepPaths::default());
        }
        let cascade = field.cascade.as_ref().or(inherited.cascade);
        let targets = match edges {
            Some(edges) => self.targets(edges, nodes),
            None => self.any_rows(),
        };
        let mut choices = StepPaths::default();
        if inherited.needs_no_lists {
            let gathers = StepPaths::by_rows(nodes, gather_path);
            choices = if field.filter.is_none() || gathers.has(EdgesPath::Gather) {
                gathers
            } else {
                StepPaths::default()
            };
        }
        for page in self.pages(field, cascade.is_some()) {
            choices = choices.and(self.walked(field, edges, page));
        }
        if let Some(filter) = &field.filter {
            self.filter_of_edges(field, filter, targets)?;
        }
        let below = Inherited { cascade, depth: inherited.depth + 1, ..inherited };
        if field.group_by.is_some() {
            self.grouped.push(field);
        } else {
            self.level(&field.fields, targets, below)?;
        }
        Ok(choices)
    }

    /// The pages in which the lists of a field may be read: with `@cascade` in batches, or all of
    /// them.
    fn pages(&self, field: &Field, has_cascade: bool) -> Vec<Page> {
        if !has_cascade {
            return vec![field.page];
        }
        let page = Page { after: field.page.after, ..Page::default() };
        let batch = first_batch(field.page, self.control().costs());
        let batch = batch.map(|first| Page { first: i32::try_from(first).unwrap_or(0), ..page });
        batch.into_iter().chain([page]).collect()
    }

    /// How the lists of a field may be read within a page.
    fn walked(&self, field: &Field, edges: Option<&Direction>, page: Page) -> StepPaths {
        if let Some(path) = plain_path(field, page) {
            return StepPaths::one(path);
        }
        let Some(least) = self.context.long_pages_min(field, page) else {
            return StepPaths::one(EdgesPath::Together);
        };
        let each = match field.order.is_empty() {
            true => EdgesPath::WalkEach,
            false => EdgesPath::OrderEach,
        };
        self.long_or_together(each, edges, least)
    }

    /// Lists that are read one by one where they are long, else together.
    fn long_or_together(
        &self,
        each: EdgesPath,
        edges: Option<&Direction>,
        least: usize,
    ) -> StepPaths {
        let average = edges.map_or(0, average_len);
        match least <= average {
            true => StepPaths::default().or_from(each, least, EDGES).or_below(
                EdgesPath::Together,
                least,
                EDGES,
            ),
            false => StepPaths::default()
                .or_below(EdgesPath::Together, least, EDGES)
                .or_from(each, least, EDGES),
        }
    }

    /// The filter of the targets of a field: of all of them together, or list by list.
    pub(super) fn filter_of_edges(
        &mut self,
        field: &'a Field,
        filter: &'a Filter,
        targets: Cardinality,
    ) -> Result<()> {
        self.filter(filter, targets.part())?;
        let is_count = matches!(field.kind, FieldKind::Count { .. });
        if !is_count && field.page.expected().is_none() {
            return Ok(());
        }
        // An order may put any node first, so all that pass are needed before it.
        let purpose = match is_count || !field.order.is_empty() {
            true => Purpose::All,
            false => Purpose::Page,
        };
        self.instead(|planner| {
            let prepared = planner.prepare(filter, targets.part(), purpose)?;
            planner.note_driving_side(&prepared, targets.part());
            Ok(())
        })
    }

    fn count_field(
        &mut self,
        field: &'a Field,
        name: &str,
        reverse: bool,
        nodes: Cardinality,
    ) -> Result<StepPaths> {
        let Some(predicate) = self.context.predicate(name) else { return Ok(StepPaths::default()) };
        if reverse {
            direction(predicate, true)?;
        }
        let Some(edges) = predicate.direction(reverse) else { return Ok(StepPaths::default()) };
        if field.filter.is_none() && field.facet_filter.is_none() {
            return Ok(StepPaths::default());
        }
        let targets = self.targets(edges, nodes);
        if let Some(filter) = &field.filter {
            self.filter_of_edges(field, filter, targets)?;
        }
        let least = self.control().costs().long_list;
        Ok(match (&field.filter, &field.facet_filter) {
            (Some(_), None) if field.page.is_all() => {
                self.long_or_together(EdgesPath::CountEach, Some(edges), least)
            }
            _ => self.walked(field, Some(edges), field.page),
        })
    }

    /// Plans `@recurse`: one level, which is repeated.
    pub(super) fn recursion(&mut self, block: &'a Block) -> Result<()> {
        let step = self.steps.open("level", "of @recurse", None);
        self.steps.expect(step, None, false);
        let mut choices = StepPaths::default();
        let cascades = block.cascade.is_some();
        for field in &block.fields {
            let edges = match &field.kind {
                FieldKind::Predicate { name, reverse, .. } => {
                    let predicate = self.context.predicate(name).filter(|it| it.is_edges());
                    predicate.map(|predicate| direction(predicate, *reverse)).transpose()?
                }
                _ => None,
            };
            let is_expand = matches!(field.kind, FieldKind::Expand(_));
            if edges.is_none() && !is_expand {
                self.field(field, self.any_rows(), Inherited::default())?;
                continue;
            }
            if is_expand {
                self.field(field, self.any_rows(), Inherited::default())?;
            }
            for page in self.pages(field, cascades) {
                choices = choices.and(self.walked(field, edges, page));
            }
            if let Some(filter) = &field.filter {
                self.filter_of_edges(field, filter, self.any_rows())?;
            }
            self.bind(field, self.any_rows());
        }
        self.steps.close(step, choices);
        Ok(())
    }

    /// The filters of the edges of a path, which are applied to the nodes that the search meets.
    pub(super) fn filters_of_paths(&mut self, block: &'a Block) -> Result<()> {
        for field in &block.fields {
            if let Some(filter) = &field.filter {
                self.filter_of_edges(field, filter, self.any_rows())?;
            }
        }
        Ok(())
    }

    /// The number of distinct targets of the edges of some nodes.
    pub(super) fn targets(&self, edges: &Direction, nodes: Cardinality) -> Cardinality {
        let total = usize::try_from(edges.total()).unwrap_or(usize::MAX);
        let expected = nodes.expected.saturating_mul(average_len(edges).max(1));
        if nodes.most == 0 { Cardinality::exact(0) } else { Cardinality::about(expected, total) }
    }
}

/// The edges of a node on average.
fn average_len(edges: &Direction) -> usize {
    edges.total() as usize / edges.subjects_max().max(1)
}

fn direction(predicate: &Predicate, reverse: bool) -> Result<&Direction> {
    predicate.direction(reverse).ok_or_else(|| no_reverse(&predicate.def.name))
}
