//! The tree of a query: blocks, fields and what they ask for.

use super::{Filter, Function, MathExpr, VarId, Variable};
use crate::types::Position;
use std::sync::Arc;

/// A whole request, checked as far as the text alone allows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// The blocks in the order of the text.
    pub blocks: Vec<Block>,
    /// Every variable of the request; a [`VarId`] is an index into it.
    pub variables: Vec<Variable>,
    /// Set when the request asks for the schema; there are no blocks then.
    pub schema: Option<SchemaRequest>,
}

/// One root block.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// The key of the result; `var` and `shortest` have none that shows.
    pub name: String,
    /// Where the block is.
    pub at: Position,
    /// What sort of block.
    pub kind: BlockKind,
    /// The uid variable that the block defines.
    pub var: Option<VarId>,
    /// The root function; `None` in an empty block and in `shortest`.
    pub root: Option<Function>,
    /// The filter of the root.
    pub filter: Option<Filter>,
    /// The order of the root.
    pub order: Order,
    /// The part of the root that is wanted.
    pub page: Page,
    /// `@cascade` at the root.
    pub cascade: Option<Cascade>,
    /// `@normalize`.
    pub normalize: bool,
    /// `@ignorereflex`.
    pub ignore_reflex: bool,
    /// `@recurse`.
    pub recurse: Option<Recurse>,
    /// `@groupby` at the root.
    pub group_by: Option<GroupBy>,
    /// The selection.
    pub fields: Vec<Arc<Field>>,
    /// True when the text has a selection, even an empty one.
    pub has_body: bool,
    /// Variables read anywhere in the block, ascending, each once.
    pub reads: Vec<VarId>,
    /// Variables defined anywhere in the block, ascending, each once.
    pub defines: Vec<VarId>,
}

/// The sorts of root block.
#[derive(Debug, Clone, PartialEq)]
pub enum BlockKind {
    /// Shows its result under its name.
    Visible,
    /// `var(...)`: only defines variables.
    Hidden,
    /// `name() { ... }`: aggregates of variables and math, no nodes.
    Empty,
    /// `shortest(...)`: finds paths.
    Shortest(ShortestPath),
}

/// The arguments of a `shortest` block.
#[derive(Debug, Clone, PartialEq)]
pub struct ShortestPath {
    /// Where paths start; `None` when missing.
    pub from: Option<Endpoint>,
    /// Where paths end; `None` when missing.
    pub to: Option<Endpoint>,
    /// How many paths; 1 when not said.
    pub paths: i64,
    /// The most hops; `None` for any number.
    pub depth: Option<i64>,
    /// The least total weight.
    pub weight_min: Option<f64>,
    /// The greatest total weight.
    pub weight_max: Option<f64>,
    /// The most paths that are kept while searching.
    pub frontier_max: Option<i64>,
}

/// One end of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Endpoint {
    /// A uid in the text.
    Uid(u64),
    /// The one uid of a variable.
    Var(VarId),
}

/// `first`, `offset` and `after`, as given.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Page {
    /// `first`: 0 when absent; below 0 for the last ones.
    pub first: i32,
    /// `offset`: 0 when absent or negative.
    pub offset: i32,
    /// `after`: 0 when absent.
    pub after: u64,
}

/// The sort keys, the first one first; empty when there is no order.
pub type Order = Vec<OrderKey>;

/// One sort key.
#[derive(Debug, Clone, PartialEq)]
pub enum OrderKey {
    /// By the values of a predicate.
    Predicate {
        /// The predicate.
        predicate: String,
        /// The language of the values, `None` for untagged ones.
        lang: Option<String>,
        /// True for the greatest first.
        descending: bool,
    },
    /// By a value variable; always the only key.
    Var {
        /// The variable.
        var: VarId,
        /// True for the greatest first.
        descending: bool,
    },
}

/// `@cascade`, with the predicates that are required.
#[derive(Debug, Clone, PartialEq)]
pub enum Cascade {
    /// Every field is required.
    All,
    /// These predicates are required, where the selection has them: `~name` backwards, `name@en` in this language
    /// alone, `name@` without one; just `name` in whatever language is selected.
    Fields(Vec<String>),
}

/// `@recurse(depth, loop)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Recurse {
    /// The number of expansions, 0 for as many as there are.
    pub depth: u64,
    /// True when an edge may be walked more than once.
    pub allow_loop: bool,
}

/// `@groupby(...)`.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupBy {
    /// What is grouped by.
    pub keys: Vec<GroupKey>,
}

/// One key of `@groupby`.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupKey {
    /// The name in the result when it is not the predicate.
    pub alias: Option<String>,
    /// The predicate; may start with `~`.
    pub predicate: String,
    /// The languages asked for, in order; `.` is any.
    pub langs: Vec<String>,
}

/// One field of a selection, fragments already replaced.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// What the field asks for.
    pub kind: FieldKind,
    /// Where it is.
    pub at: Position,
    /// The key that the text gives.
    pub alias: Option<String>,
    /// The key of the result: the alias, or the one that the reference makes
    /// (`name@en:fr`, `count(friend)`, `val(x)`, `min(val(x))`, `checkpwd(p)`).
    pub key: String,
    /// The variable that the field defines.
    pub var: Option<VarId>,
    /// The filter of the edges.
    pub filter: Option<Filter>,
    /// The order of the edges.
    pub order: Order,
    /// The part of the edges that is wanted.
    pub page: Page,
    /// `@facets(...)` that fetches, orders or binds.
    pub facets: Option<Facets>,
    /// `@facets(filter)`.
    pub facet_filter: Option<Filter>,
    /// `@cascade` of this field.
    pub cascade: Option<Cascade>,
    /// `@normalize` of this field.
    pub normalize: bool,
    /// `@groupby` of this field.
    pub group_by: Option<GroupBy>,
    /// The selection below.
    pub fields: Vec<Arc<Field>>,
    /// True when the text has a selection, even an empty one.
    pub has_body: bool,
}

/// What a field asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldKind {
    /// A predicate's values or edges.
    Predicate {
        /// The name, without `~`.
        name: String,
        /// True for `~name`.
        reverse: bool,
        /// The languages in order of preference; `.` is any, `*` (alone) is all.
        langs: Vec<String>,
    },
    /// The node's uid.
    Uid,
    /// `count(predicate)`; filters and facets are those of the field.
    Count {
        /// The name, without `~`.
        name: String,
        /// True for `~name`.
        reverse: bool,
        /// The languages, as in [`FieldKind::Predicate`].
        langs: Vec<String>,
    },
    /// `count(uid)`.
    CountUid,
    /// `val(x)`.
    Val(VarId),
    /// `min(val(x))` and its like.
    AggregateVar(Aggregate, VarId),
    /// `min(pred)` and its like, inside a `@groupby` body.
    AggregatePredicate {
        /// The operation.
        op: Aggregate,
        /// The predicate.
        name: String,
        /// The languages.
        langs: Vec<String>,
    },
    /// `math(...)`.
    Math(MathExpr),
    /// `expand(...)`; the filter is the field's.
    Expand(Expand),
    /// `checkpwd(predicate, "text")`.
    CheckPassword {
        /// The predicate.
        name: String,
        /// The password to be compared.
        password: String,
    },
}

/// What `expand` stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum Expand {
    /// The fields of all types of the nodes.
    All,
    /// The fields of these types.
    Types(Vec<String>),
    /// The predicates that a value variable names.
    Var(VarId),
}

/// The aggregates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The sum.
    Sum,
    /// The mean.
    Avg,
}

/// `@facets` or `@facets(a, b: c, v as d, orderasc: e)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Facets {
    /// True for plain `@facets`: all that there are.
    pub all: bool,
    /// The named ones, sorted by facet name, each once.
    pub items: Vec<FacetItem>,
    /// The order of the edges by facets, in the order of the text.
    pub order: Vec<FacetKey>,
}

/// One named facet.
#[derive(Debug, Clone, PartialEq)]
pub struct FacetItem {
    /// The facet.
    pub facet: String,
    /// The key in the result; `edge|facet` when `None`.
    pub alias: Option<String>,
    /// The value variable that it defines.
    pub var: Option<VarId>,
}

/// One sort key among facets.
#[derive(Debug, Clone, PartialEq)]
pub struct FacetKey {
    /// The facet.
    pub facet: String,
    /// True for the greatest first.
    pub descending: bool,
}

/// `schema(pred: [...]) { ... }`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SchemaRequest {
    /// The predicates asked for, `None` for all (or none, when types are asked for).
    pub predicates: Option<Vec<String>>,
    /// The types asked for, `None` for all (or none, when predicates are asked for).
    pub types: Option<Vec<String>>,
    /// The properties wanted, empty for all.
    pub fields: Vec<String>,
}

impl Page {
    /// True when nothing is cut off.
    pub fn is_all(&self) -> bool {
        self.first == 0 && self.offset <= 0 && self.after == 0
    }
}
