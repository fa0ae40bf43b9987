//! What a query asks and the schema has nothing for: names that it does not know, likely misspelt, and edges as if they were values. Both are answered
//! with nothing. And what is doubtful: it has a meaning, and is likely meant otherwise, as pages of nodes that are grouped, and variables that have no
//! value where they are used.

use hexgraph_base::plan::{
    Block, BlockKind, Call, Expand, Field, FieldKind, Filter, Function, GroupBy, OrderKey, Page,
    Query,
};
use hexgraph_base::schema::{PredicateDef, Schema};
use hexgraph_base::types::{Position, ValueType, bounded, did_you_mean, stack};
use hexgraph_dql::GROUPS_UNFILTERED;
use hexgraph_store::exec::Unmet;
use std::collections::BTreeSet;
use std::fmt;

/// A piece of a query that is answered with nothing, whatever the data, or likely otherwise than was meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What it is about, for programs.
    pub kind: WarningKind,
    /// What is wrong.
    pub message: String,
    /// The place in the text of the query.
    pub at: Position,
    /// What to write instead; empty when there is nothing to propose.
    pub hint: String,
}

/// What a warning is about. More kinds may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum WarningKind {
    /// A predicate that the schema does not have.
    UnknownPredicate,
    /// A type that the schema does not have.
    UnknownType,
    /// A language of a predicate that has none.
    NoLanguages,
    /// An edge without a selection.
    NoSelection,
    /// A page of the nodes that are grouped.
    GroupedPage,
    /// A variable that has no value at any node where it is used.
    NoValue,
    /// A block that nests deeper than many readers of JSON go.
    DeepAnswer,
}

impl WarningKind {
    /// The name, as in the answers of the server.
    pub fn name(self) -> &'static str {
        match self {
            WarningKind::UnknownPredicate => "unknown_predicate",
            WarningKind::UnknownType => "unknown_type",
            WarningKind::NoLanguages => "no_languages",
            WarningKind::NoSelection => "no_selection",
            WarningKind::GroupedPage => "grouped_page",
            WarningKind::NoValue => "no_value",
            WarningKind::DeepAnswer => "deep_answer",
        }
    }

    /// True for names that the schema does not have, which are likely misspelt.
    pub fn is_unknown_name(self) -> bool {
        matches!(self, WarningKind::UnknownPredicate | WarningKind::UnknownType)
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} column {}: ", self.at.line, self.at.shown_column())?;
        f.write_str(&self.without_place())
    }
}

impl Warning {
    /// What is wrong and what to write instead, for who has not seen the text of the query.
    pub fn without_place(&self) -> String {
        let Warning { message, hint, .. } = self;
        if hint.is_empty() { message.clone() } else { format!("{message} ({hint})") }
    }
}

/// The most warnings of a query: each is compared with all names of the schema, and nobody reads so many.
const WARNINGS_MAX: usize = 100;

/// Finds the predicates, types and languages of a query that a schema does not have, and the edges that have no selection, each once, in the order of the
/// text. Of more than a hundred the first are told. O(length of the query), and O(schema) for each of those.
pub(in crate::db) fn unknown_names(query: &Query, schema: &Schema) -> Vec<Warning> {
    let mut walk = Walk {
        schema,
        warnings: Vec::new(),
        told: BTreeSet::new(),
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
    told: BTreeSet<String>,
    /// True inside of `@recurse`, `shortest` and algorithms, whose fields name the edges that are followed, and of `@cascade`, which asks whether there are any.
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
        if self.told.insert(message.clone()) {
            self.warnings.push(Warning { kind, message, at, hint: bounded(hint()) });
        }
    }

    fn predicate(&mut self, name: &str, at: Position) {
        let known = &self.schema.predicates;
        if !known.contains_key(name) {
            let is_grouped = self.is_grouped;
            let hint = || match name.split_once('.') {
                _ if name == "count" && is_grouped => GROUPS_UNFILTERED.to_owned(),
                _ if name == "count" => {
                    "a number of edges is compared by `gt(count(friend), 3)`".to_owned()
                }
                Some((edge, rest)) if is_edge(known.get(edge)) => match is_grouped {
                    true => format!(
                        "groups are made by predicates of the nodes themselves: `@groupby({edge})` has a row for each node at the \
                         other end; or begin at those: `{{ q(func: has({rest})) {{ {rest} count(~{edge}) }} }}`"
                    ),
                    false => format!("an edge is followed in braces: `{edge} {{ {rest} }}`"),
                },
                _ => did_you_mean(name, known.keys().map(|name| &**name)),
            };
            let message = format_args!("there is no predicate `{name}`");
            self.warn(WarningKind::UnknownPredicate, message, at, hint);
        }
    }

    fn node_type(&mut self, name: &str, at: Position) {
        let known = &self.schema.types;
        if !known.contains_key(name) {
            let hint = || did_you_mean(name, known.keys().map(|name| &**name));
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
        // A variable has the nodes, also without a selection; facets and groups are of the edge itself.
        let is_used = field.has_body
            || field.var.is_some()
            || field.facets.is_some()
            || field.group_by.is_some()
            || self.selects_edges;
        if is_edge(def) && !is_used {
            let message = format_args!("`{name}` is an edge and has no value of its own");
            let hint = || {
                format!(
                    "say in braces what its nodes shall tell, as in `{name} {{ uid }}`, or write `count({name})`"
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

    /// The keys of groups. What stands in their selection is not about the nodes that are grouped.
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
        stack::require();
        match filter {
            None => {}
            Some(Filter::And(parts) | Filter::Or(parts)) => {
                parts.iter().for_each(|part| self.filter(Some(part)));
            }
            Some(Filter::Not(part)) => self.filter(Some(part)),
            Some(Filter::Function(function)) => self.function(function),
            Some(Filter::Reaches(reach)) => self.filter(reach.filter.as_ref()),
        }
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

/// Finds what is doubtful in a query, with what was noted when it was carried out; each once, in no order. O(length of the query).
pub(in crate::db) fn doubtful(query: &Query, unmets: &[Unmet]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for block in &query.blocks {
        warnings.extend(paged_groups(block.page, block.group_by.as_ref(), block.at));
        block.fields.iter().for_each(|field| add_pages(field, &mut warnings));
    }
    let mut told = BTreeSet::new();
    for Unmet { name, at, is_filter } in unmets {
        if !told.insert((name, at.line, at.column)) {
            continue;
        }
        let (place, effect) = match is_filter {
            true => ("that this filter asks", "no node passes"),
            false => ("of this block", "it counts as 0"),
        };
        warnings.push(Warning {
            kind: WarningKind::NoValue,
            message: bounded(format_args!(
                "`{name}` has no value at any node {place}, so {effect}"
            )),
            at: *at,
            hint: "a value of other nodes is carried along edges: `~located_in { m as math(n) }` adds up those of the nodes above"
                .to_owned(),
        });
    }
    warnings
}

fn add_pages(field: &Field, warnings: &mut Vec<Warning>) {
    stack::require();
    warnings.extend(paged_groups(field.page, field.group_by.as_ref(), field.at));
    field.fields.iter().for_each(|field| add_pages(field, warnings));
}

fn paged_groups(page: Page, group_by: Option<&GroupBy>, at: Position) -> Option<Warning> {
    let argument = match page {
        _ if group_by.is_none() => return None,
        page if page.first != 0 => "first",
        page if 0 < page.offset => "offset",
        _ => return None,
    };
    let message = format!("`{argument}` is about the nodes that are grouped, not about groups");
    let hint = "groups come by their size, the smallest first: take some of them from the answer"
        .to_owned();
    Some(Warning { kind: WarningKind::GroupedPage, message, at, hint })
}
