//! What a query names and the schema does not have: predicates, types and languages, likely
//! misspelt, and edges as if they were values. All are answered with nothing.

use super::functions::each_function;
use super::warning::{Warning, WarningKind};
use hexgraph_base::plan::{
    Block, BlockKind, Call, Expand, Field, FieldKind, Filter, Function, GroupBy, OrderKey, Query,
};
use hexgraph_base::schema::{PredicateDef, Schema};
use hexgraph_base::types::{Position, ValueType, bounded, did_you_mean, stack};
use hexgraph_dql::GROUPS_UNFILTERED;
use std::collections::BTreeSet;
use std::fmt;

/// The most warnings of a query: each is compared with all names of the schema, and nobody reads so
/// many.
const WARNINGS_MAX: usize = 100;

/// Finds the predicates, types and languages of a query that a schema does not have, and the edges
/// that have no selection, each once, in the order of the text. Of more than a hundred the first
/// are reported. O(length of the query), and O(schema) for each of those.
pub(in crate::db) fn unknown_names(query: &Query, schema: &Schema) -> Vec<Warning> {
    let mut walk = Walk {
        schema,
        warnings: Vec::new(),
        reported: BTreeSet::new(),
        selects_edges: false,
        is_grouped: false,
    };
    query.blocks.iter().for_each(|block| walk.block(block));
    walk.warnings.sort_by_key(|warning| (warning.at.line, warning.at.column));
    walk.warnings
}

struct Walk<'a> {
    schema: &'a Schema,
    warnings: Vec<Warning>,
    reported: BTreeSet<String>,
    /// True inside of `@recurse`, `shortest` and algorithms, whose fields name the edges that are
    /// followed, and of `@cascade`, which tests whether there are any.
    selects_edges: bool,
    /// True at the filter and the keys of `@groupby`.
    is_grouped: bool,
}

fn is_edge(def: Option<&PredicateDef>) -> bool {
    def.is_some_and(|def| def.value_type == ValueType::Uid)
}

impl Walk<'_> {
    fn warn(
        &mut self,
        kind: WarningKind,
        message: impl fmt::Display,
        at: Position,
        hint: impl FnOnce() -> String,
    ) {
        if WARNINGS_MAX <= self.warnings.len() {
            return;
        }
        let message = bounded(message);
        if self.reported.insert(message.clone()) {
            self.warnings.push(Warning { kind, message, at, hint: bounded(hint()) });
        }
    }

    fn predicate(&mut self, name: &str, at: Position) {
        let existing = &self.schema.predicates;
        if !existing.contains_key(name) {
            let is_grouped = self.is_grouped;
            let hint = || match name.split_once('.') {
                _ if name == "count" && is_grouped => GROUPS_UNFILTERED.to_owned(),
                _ if name == "count" => {
                    "a number of edges is compared by `gt(count(friend), 3)`".to_owned()
                }
                Some((edge, rest)) if is_edge(existing.get(edge)) => match is_grouped {
                    true => format!(
                        "groups are made by predicates of the nodes themselves: `@groupby({edge})` has a row for each node at the \
                         other end; or begin at those: `{{ q(func: has({rest})) {{ {rest} count(~{edge}) }} }}`"
                    ),
                    false => format!("an edge is followed in braces: `{edge} {{ {rest} }}`"),
                },
                _ => did_you_mean(name, existing.keys().map(|name| &**name)),
            };
            let message = format_args!("there is no predicate `{name}`");
            self.warn(WarningKind::UnknownPredicate, message, at, hint);
        }
    }

    fn node_type(&mut self, name: &str, at: Position) {
        let existing = &self.schema.types;
        if !existing.contains_key(name) {
            let hint = || did_you_mean(name, existing.keys().map(|name| &**name));
            let message = format_args!("there is no type `{name}`");
            self.warn(WarningKind::UnknownType, message, at, hint);
        }
    }

    fn languages(&mut self, name: &str, langs: &[String], at: Position) {
        let Some(def) = self.schema.predicates.get(name) else { return };
        if !langs.is_empty() && !def.lang && def.value_type != ValueType::Uid {
            let hint = || {
                let langs = langs.join(":");
                format!("leave out `@{langs}`, or add `@lang` to the schema of `{name}`")
            };
            let message = format_args!("predicate `{name}` has no languages");
            self.warn(WarningKind::NoLanguages, message, at, hint);
        }
    }

    /// Warns of edges without a selection: they have no value that could be shown.
    fn edges(&mut self, name: &str, field: &Field) {
        let def = self.schema.predicates.get(name);
        // A variable has the nodes, also without a selection; facets and groups are of the edge
        // itself.
        let is_used = field.has_body
            || field.var.is_some()
            || field.facets.is_some()
            || field.group_by.is_some()
            || self.selects_edges;
        if is_edge(def) && !is_used {
            let message = format_args!("`{name}` is an edge and has no value of its own");
            let hint = || {
                format!(
                    "select fields of its targets, as in `{name} {{ uid }}`, or write `count({name})`"
                )
            };
            self.warn(WarningKind::NoSelection, message, field.at, hint);
        }
    }

    fn block(&mut self, block: &Block) {
        self.selects_edges = block.recurse.is_some()
            || block.cascade.is_some()
            || matches!(block.kind, BlockKind::Shortest(_) | BlockKind::Algorithm(_));
        if let Some(root) = &block.root {
            self.function(root);
        }
        self.is_grouped = block.group_by.is_some();
        self.filter(block.filter.as_ref());
        self.order(&block.order, block.at);
        self.groups(block.group_by.as_ref(), block.at);
        block.fields.iter().for_each(|field| self.field(field));
    }

    fn field(&mut self, field: &Field) {
        stack::require();
        match &field.kind {
            FieldKind::Predicate { name, langs, .. } | FieldKind::Count { name, langs, .. } => {
                self.predicate(name, field.at);
                self.languages(name, langs, field.at);
                if matches!(field.kind, FieldKind::Predicate { .. }) {
                    self.edges(name, field);
                }
            }
            FieldKind::AggregatePredicate { name, langs, .. } => {
                self.predicate(name, field.at);
                self.languages(name, langs, field.at);
            }
            FieldKind::CheckPassword { name, .. } => self.predicate(name, field.at),
            FieldKind::Expand(Expand::Types(types)) => {
                types.iter().for_each(|name| self.node_type(name, field.at));
            }
            FieldKind::Expand(Expand::All | Expand::Var(_))
            | FieldKind::Uid
            | FieldKind::CountUid
            | FieldKind::Val(_)
            | FieldKind::AggregateVar(..)
            | FieldKind::Math(_) => {}
        }
        self.is_grouped = field.group_by.is_some();
        self.filter(field.filter.as_ref());
        self.order(&field.order, field.at);
        self.groups(field.group_by.as_ref(), field.at);
        let outside = self.selects_edges;
        self.selects_edges |= field.cascade.is_some();
        field.fields.iter().for_each(|field| self.field(field));
        self.selects_edges = outside;
    }

    /// The keys of groups. What is in their selection is not about the nodes that are grouped.
    fn groups(&mut self, group_by: Option<&GroupBy>, at: Position) {
        for key in group_by.iter().flat_map(|group| &group.keys) {
            self.predicate(key.predicate.trim_start_matches('~'), at);
        }
        self.is_grouped = false;
    }

    fn order(&mut self, order: &[OrderKey], at: Position) {
        for key in order {
            if let OrderKey::Predicate { predicate, .. } = key {
                self.predicate(predicate, at);
            }
        }
    }

    fn filter(&mut self, filter: Option<&Filter>) {
        each_function(filter, &mut |function| self.function(function));
    }

    fn function(&mut self, function: &Function) {
        match &function.call {
            Call::Type(name) => self.node_type(name, function.at),
            _ => {
                if let Some(name) = function.predicate() {
                    self.predicate(name, function.at);
                }
            }
        }
    }
}
