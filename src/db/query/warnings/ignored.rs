//! Parts of a query that are ignored, as in Dgraph: conditions, pages and orders of values,
//! whose nodes have them or not; groups by a list of values; uids beside a variable. And pages of
//! nodes that are grouped, which are likely meant for the groups.

use super::functions::each_function;
use super::warning::{Warning, WarningKind};
use hexgraph_base::plan::{
    Block, Call, Field, FieldKind, Filter, Function, GroupBy, OrderKey, Page, Query,
};
use hexgraph_base::schema::{PredicateDef, Schema};
use hexgraph_base::types::{Position, Uid, ValueType, bounded, stack};

/// The most such warnings of a query: nobody reads more.
const IGNORED_MAX: usize = 100;

/// Finds what is ignored in a query, in the order of its text. O(length of the query).
pub(in crate::db) fn ignored(query: &Query, schema: &Schema) -> Vec<Warning> {
    let mut walk = Walk { schema, warnings: Vec::new() };
    query.blocks.iter().for_each(|block| walk.block(block));
    walk.warnings
}

struct Walk<'a> {
    schema: &'a Schema,
    warnings: Vec<Warning>,
}

impl Walk<'_> {
    fn warn(&mut self, kind: WarningKind, message: String, at: Position, hint: String) {
        let existing = |existing: &Warning| existing.at == at && existing.message == message;
        if self.warnings.len() < IGNORED_MAX && !self.warnings.iter().any(existing) {
            self.warnings.push(Warning {
                kind,
                message: bounded(message),
                at,
                hint: bounded(hint),
            });
        }
    }

    fn ignored(&mut self, message: String, at: Position, hint: &str) {
        self.warn(WarningKind::Ignored, message, at, hint.to_owned());
    }

    fn block(&mut self, block: &Block) {
        if let Some(root) = &block.root {
            self.function(root);
        }
        self.filter(block.filter.as_ref());
        self.groups(block.group_by.as_ref(), &block.order, block.page, block.at);
        block.fields.iter().for_each(|field| self.field(field));
    }

    fn field(&mut self, field: &Field) {
        stack::require();
        self.filter(field.filter.as_ref());
        match &field.kind {
            FieldKind::Predicate { name, .. } | FieldKind::Count { name, .. } => {
                match self.schema.predicates.get(name.as_str()) {
                    Some(def) if def.value_type != ValueType::Uid => self.values(field, def),
                    _ => self.groups(field.group_by.as_ref(), &field.order, field.page, field.at),
                }
            }
            FieldKind::Uid => self.no_edge(field, "uid"),
            FieldKind::CountUid => self.no_edge(field, "count(uid)"),
            _ => {}
        }
        field.fields.iter().for_each(|field| self.field(field));
    }

    /// Warns of what only edges heed.
    fn no_edge(&mut self, field: &Field, name: &str) {
        let page = page_argument(field.page).or((field.page.after != 0).then_some("`after`"));
        let orders = field.facets.as_ref().is_some_and(|facets| !facets.order.is_empty());
        let order = (!field.order.is_empty() || orders).then_some("an order");
        let group_by = field.group_by.is_some().then_some("`@groupby`");
        let cascade = field.cascade.is_some().then_some("`@cascade`");
        let body = (field.has_body && group_by.is_none()).then_some("what stands in braces");
        for what in [page, order, group_by, cascade, body].into_iter().flatten() {
            let message = format!("{what} is ignored at `{name}`, which is no edge");
            let hint = "it is for nodes: beside the function of the block, or at an edge";
            self.ignored(message, field.at, hint);
        }
        if field.filter.is_some() {
            let message = format!("`@filter` is ignored at `{name}`, which is no edge");
            let hint =
                "a condition on nodes stands behind the function of the block, or behind an edge";
            self.ignored(message, field.at, hint);
        }
    }

    /// As [`Walk::no_edge`], of a predicate with values.
    fn values(&mut self, field: &Field, def: &PredicateDef) {
        let name = &def.name;
        self.no_edge(field, name);
        let is_read = matches!(field.kind, FieldKind::Count { .. })
            || def.list
            || def.lang
            || field.facets.is_some();
        if field.facet_filter.is_some() && !is_read {
            let message =
                format!("the condition on facets is ignored at `{name}`, which has one value");
            let hint =
                format!("beside facets that are shown it is heeded: `{name} @facets @facets(...)`");
            self.warn(WarningKind::Ignored, message, field.at, hint);
        }
    }

    fn groups(&mut self, group_by: Option<&GroupBy>, order: &[OrderKey], page: Page, at: Position) {
        let Some(group_by) = group_by else { return };
        let order = (!order.is_empty()).then_some("an order");
        if let Some(argument) = page_argument(page).or(order) {
            let message =
                format!("{argument} is about the nodes that are grouped, not about groups");
            let hint =
                "groups come by their size, the smallest first: take some of them from the answer";
            self.warn(WarningKind::GroupedPage, message, at, hint.to_owned());
        }
        for key in &group_by.keys {
            let def = self.schema.predicates.get(key.predicate.as_str());
            if let Some(def) = def.filter(|def| def.list && def.value_type != ValueType::Uid) {
                let name = &def.name;
                let message = format!(
                    "`@groupby` takes one value of a node, and `{name}` has lists of them: the others are ignored"
                );
                let hint = format!(
                    "ask for `{name}` and group the rows of `.explode()`, or make its values nodes, since edges are grouped by all of them"
                );
                self.warn(WarningKind::Ignored, message, at, hint);
            }
        }
    }

    fn filter(&mut self, filter: Option<&Filter>) {
        each_function(filter, &mut |function| self.function(function));
    }

    fn function(&mut self, function: &Function) {
        if let Call::Uid { uids, vars } = &function.call
            && let (Some(first), false) = (uids.first(), vars.is_empty())
        {
            let first = Uid(*first);
            let nodes = match uids.len() {
                1 => format!("{first} is"),
                len => format!("{first} and {} more are", len - 1),
            };
            let message = format!("{nodes} ignored beside a variable in `uid(...)`");
            let hint = "give the nodes a variable of their own, as in `var(func: uid(0x1)) { w as uid }`, and ask for `uid(v, w)`";
            self.ignored(message, function.at, hint);
        }
    }
}

fn page_argument(page: Page) -> Option<&'static str> {
    match page {
        page if page.first != 0 => Some("`first`"),
        page if 0 < page.offset => Some("`offset`"),
        _ => None,
    }
}
