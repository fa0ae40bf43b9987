//! The tree of a query: root blocks, the fields below them, and their filters, orders and pages.

use super::{Aggregate, AlgorithmCall, Filter, Function, MathExpr, VarId, Variable};
use crate::types::Position;
use std::sync::Arc;

/// An entire request, checked as far as the text alone allows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// The blocks in the order of the text.
    pub blocks: Vec<Block>,
    /// Every variable of the request; a [`VarId`] is an index into it.
    pub variables: Vec<Variable>,
    /// Present when the request requests the schema; then there are no blocks.
    pub schema: Option<SchemaRequest>,
}

/// One root block.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// The name of the block, which is its key in the answer. Blocks named `var` and `shortest` do
    /// not appear under their name.
    pub name: String,
    /// The position of the block in the text, for error messages.
    pub at: Position,
    /// How the block is executed and whether it appears in the answer.
    pub kind: BlockKind,
    /// The uid variable that the block defines.
    pub var: Option<VarId>,
    /// The root function; `None` in an empty block and in `shortest`.
    pub root: Option<Function>,
    /// The filter of the root.
    pub filter: Option<Filter>,
    /// The order of the root.
    pub order: Order,
    /// The page of the root: how many nodes, and from where on.
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
    /// True when the values of its nodes are aggregated by the caller: a set of them suffices
    /// instead of a list.
    pub is_aggregated: bool,
    /// Variables read anywhere in the block, ascending, each once.
    pub reads: Vec<VarId>,
    /// Variables defined anywhere in the block, ascending, each once.
    pub defines: Vec<VarId>,
}

/// The sorts of root block.
#[derive(Debug, Clone, PartialEq)]
pub enum BlockKind {
    /// The answer has the result under the name of the block.
    Visible,
    /// `var(...)`: only defines variables.
    Hidden,
    /// `name() { ... }`: aggregates of variables and math, no nodes.
    Empty,
    /// `shortest(...)`: finds paths.
    Shortest(ShortestPath),
    /// A block named as an algorithm: its fields name the edges, and its variable gets the result.
    Algorithm(Box<AlgorithmCall>),
}

/// The arguments of a `shortest` block.
#[derive(Debug, Clone, PartialEq)]
pub struct ShortestPath {
    /// The node where paths start; `None` when the query does not say.
    pub from: Option<Endpoint>,
    /// The node where paths end; `None` when the query does not say.
    pub to: Option<Endpoint>,
    /// The number of paths to find; 1 when the query does not say.
    pub paths: i64,
    /// The greatest number of edges of a path without weights. With weights or several paths, nodes
    /// are left by their edges that are fewer edges than that from the start, and a path may have
    /// more. `None` for no bound.
    pub depth: Option<i64>,
    /// The least sum of weights that a path may have.
    pub weight_min: Option<f64>,
    /// The greatest sum of weights that a path may have.
    pub weight_max: Option<f64>,
    /// The greatest number of unfinished paths in the frontier of the search at a time.
    pub frontier_max: Option<i64>,
}

/// One end of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Endpoint {
    /// The node of this uid.
    Uid(u64),
    /// The only node of a uid variable.
    Var(VarId),
}

/// The arguments of paging. A field of 0 has no effect.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Page {
    /// `first`: the number of nodes to return, counted from the end when negative; 0 when absent.
    pub first: i32,
    /// `offset`: the number of nodes to skip; 0 when absent. A negative number skips nothing.
    pub offset: i32,
    /// `after`: returns nodes with greater uids only; 0 when absent.
    pub after: u64,
}

/// The sort keys, the most significant first; empty when the query gives no order.
pub type Order = Vec<OrderKey>;

/// One sort key.
#[derive(Debug, Clone, PartialEq)]
pub enum OrderKey {
    /// Sorts by the values of a predicate.
    Predicate {
        /// The predicate.
        predicate: String,
        /// The language of the values, `None` for untagged ones.
        lang: Option<String>,
        /// True when the greatest value comes first.
        descending: bool,
    },
    /// Sorts by a value variable. Such a key is always the only one.
    Var {
        /// The variable.
        var: VarId,
        /// True for the greatest first.
        descending: bool,
    },
}

/// `@cascade`: the fields that a node must have a value or an edge for, or else it is removed from
/// the answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Cascade {
    /// Every field is required.
    All,
    /// These predicates are required, where the selection has them: `~name` backwards, `name@en` in
    /// this language alone, `name@` without one; just `name` in whatever language is selected.
    Fields(Vec<String>),
    /// The fields at these positions of the selection, which ascend, are required: of two fields of
    /// one predicate it may be one.
    Positions(Vec<usize>),
}

/// `@recurse(depth, loop)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Recurse {
    /// The number of levels to expand; 0 expands until there are no new edges.
    pub depth: u64,
    /// True when the expansion may follow an edge more than once.
    pub allow_loop: bool,
}

/// `@groupby(...)`.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupBy {
    /// The keys of the groups, in the order of the text.
    pub keys: Vec<GroupKey>,
}

/// One key of `@groupby`.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupKey {
    /// The key in the answer, when it is not the name of the predicate.
    pub alias: Option<String>,
    /// The name of the predicate, with a leading `~` for incoming edges.
    pub predicate: String,
    /// The languages in order of preference; `.` represents any language.
    pub langs: Vec<String>,
}

/// One field of a selection. Fragments are already replaced by their fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// What the field requests.
    pub kind: FieldKind,
    /// The position of the field in the text, for error messages.
    pub at: Position,
    /// The alias that the text gives the field.
    pub alias: Option<String>,
    /// The key of the result: the alias, or the one that Dgraph makes
    /// (`name@en:fr`, `count(friend)`, `val(x)`, `min(val(x))`, `checkpwd(p)`).
    pub key: String,
    /// The variable that the field defines.
    pub var: Option<VarId>,
    /// The filter of the edges.
    pub filter: Option<Filter>,
    /// The order of the edges.
    pub order: Order,
    /// The page of the edges of each node.
    pub page: Page,
    /// `@facets(...)` that fetches facets, orders edges by them, or assigns them to variables.
    pub facets: Option<Facets>,
    /// `@facets(filter)`: a condition on the facets of the edges.
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

impl Field {
    /// True for a field that returns all edges and nothing else: it has no filter, order, page,
    /// facets, cascade or groups.
    pub fn takes_all(&self) -> bool {
        self.filter.is_none()
            && self.order.is_empty()
            && self.page.is_all()
            && self.facets.is_none()
            && self.facet_filter.is_none()
            && self.cascade.is_none()
            && self.group_by.is_none()
    }
}

/// What a field requests.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldKind {
    /// The values or edges of a predicate.
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
    /// `count(predicate)`: the number of values or edges; the filter and the facets of the field
    /// restrict them.
    Count {
        /// The name, without `~`.
        name: String,
        /// True for `~name`.
        reverse: bool,
        /// The languages, as in [`FieldKind::Predicate`].
        langs: Vec<String>,
    },
    /// `count(uid)`: the number of nodes of the surrounding selection.
    CountUid,
    /// `val(x)`: the value that the node has in a value variable.
    Val(VarId),
    /// `min(val(x))` or another aggregate of a value variable.
    AggregateVar(Aggregate, VarId),
    /// `min(pred)` or another aggregate of the values of a group, inside the selection of
    /// `@groupby`.
    AggregatePredicate {
        /// The operation.
        op: Aggregate,
        /// The predicate.
        name: String,
        /// The languages.
        langs: Vec<String>,
    },
    /// `math(...)`: the value of an expression at the node.
    Math(MathExpr),
    /// `expand(...)`: several predicates with one selection; the filter of the field applies to
    /// each.
    Expand(Expand),
    /// `checkpwd(predicate, "text")`: whether a password is the stored one.
    CheckPassword {
        /// The predicate.
        name: String,
        /// The password to be compared.
        password: String,
    },
}

/// The predicates that `expand` represents.
#[derive(Debug, Clone, PartialEq)]
pub enum Expand {
    /// The fields of all types that the nodes have.
    All,
    /// The fields of these types.
    Types(Vec<String>),
    /// The predicates that a value variable names.
    Var(VarId),
}

/// `@facets` or `@facets(a, b: c, v as d, orderasc: e)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Facets {
    /// True for `@facets` without arguments: every facet is fetched.
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
    /// The key in the answer; `edge|facet` when `None`.
    pub alias: Option<String>,
    /// The value variable that it defines.
    pub var: Option<VarId>,
}

/// A facet that edges are sorted by.
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
    /// The predicates to list. `None` lists all, or none when `types` is given.
    pub predicates: Option<Vec<String>>,
    /// The types to list. `None` lists all, or none when `predicates` is given.
    pub types: Option<Vec<String>>,
    /// The properties to list of each predicate; empty for all.
    pub fields: Vec<String>,
}

impl Page {
    /// Returns true when the page is everything, so that nothing has to be cut off.
    pub fn is_all(&self) -> bool {
        self.first == 0 && self.offset <= 0 && self.after == 0
    }

    /// The number of nodes up to the end of the page; `None` for a page that is not bounded from
    /// the front.
    pub fn expected(&self) -> Option<usize> {
        (0 < self.first).then(|| self.skip().saturating_add(self.first as usize))
    }

    /// The number of nodes that are skipped; a negative `offset` counts as none.
    pub fn skip(&self) -> usize {
        usize::try_from(self.offset).unwrap_or(0)
    }
}
