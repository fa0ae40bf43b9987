//! Selections, from the innermost to that of a block, and the arguments and directives before them.

use super::functions::{Builder, aggregate, aggregates, edge_names};
use super::names::{Literal, Named, literal_of};
use super::rules::{Expr, alt, optional, seq, text};
use super::trees::Following;
use hexgraph_base::plan::PredicateUse;
use hexgraph_base::types::ValueType;

/// The number of edges that a path from a block goes along.
const DEPTH: usize = 3;

/// The parts that requests are made of.
pub(super) struct Selections {
    /// `@filter(...)` and a blank.
    pub filter: Expr,
    /// Order and page after a root function; each argument begins with its comma.
    pub arguments: Expr,
    /// `@groupby(...)` with its selection.
    pub groups: Expr,
    /// The fields of a block, and what may replace them.
    pub block: Expr,
    /// The fields of a block alone.
    pub fields: Expr,
    /// Values and counts.
    pub innermost: Expr,
    /// Values, and edges without a selection.
    pub recursion: Expr,
    /// Edges without a selection.
    pub walk: Expr,
    /// The page after a root function.
    pub page: [Expr; 2],
}

impl Builder<'_> {
    pub(super) fn selections(&mut self) -> Selections {
        let space = self.tokens.space.clone();
        let filter = self.filter();
        let filter = seq![filter, space.clone()];
        let sort = self.sort();
        let page = self.page();
        let order = self.order(", ", &sort);
        let arguments =
            self.grammar.subset("argument", vec![order, page[0].clone(), page[1].clone()]);
        let groups = self.groups();
        let of_field = self.field_arguments(&sort, &page);
        let values = self.values();
        let counts =
            edge_names(&self.names).map(|name| seq![text(format!("count({name})")), space.clone()]);
        let counts = counts.collect();
        let counts = self.grammar.subset("count", counts);
        let innermost = self.grammar.subset("innermost", vec![values.clone(), counts.clone()]);
        let mut fields = innermost.clone();
        let mut selection = self.selection(DEPTH, &fields, &innermost);
        for depth in (0..DEPTH).rev() {
            let rest = self.behind_edge(depth, [&of_field, &filter, &groups, &selection]);
            let edges =
                edge_names(&self.names).map(|name| seq![text(name), rest.clone()]).collect();
            let edges = self.grammar.subset(&format!("edge_{depth}"), edges);
            fields =
                self.grammar.subset(&format!("fields_{depth}"), vec![innermost.clone(), edges]);
            selection = self.selection(depth, &fields, &innermost);
        }
        let walk = edge_names(&self.names).map(|name| seq![text(name), space.clone()]).collect();
        let walk = self.grammar.subset("walk", walk);
        let recursion = self.grammar.subset("recursion", vec![values, walk.clone()]);
        Selections {
            filter,
            arguments,
            groups,
            block: selection,
            fields,
            innermost,
            recursion,
            walk,
            page,
        }
    }

    /// The values of a node and its uid: each with its own name as an alias, if any, for
    /// `@normalize`.
    fn values(&mut self) -> Expr {
        let space = &self.tokens.space;
        let mut items = vec![seq![text("uid"), space.clone()]];
        for named in &self.names.predicates {
            if named.def.value_type == ValueType::Uid {
                continue;
            }
            let alias = optional(text(format!(": {}", named.written)));
            let mut parts = vec![text(&named.written), alias];
            if named.def.lang {
                parts.push(optional(self.tokens.langs.clone()));
            }
            parts.push(space.clone());
            items.push(Expr::Sequence(parts));
        }
        self.grammar.subset("value", items)
    }

    /// Fields, all fields of the types of a node, or a count of the nodes.
    fn selection(&mut self, depth: usize, fields: &Expr, innermost: &Expr) -> Expr {
        let space = self.tokens.space.clone();
        let below =
            optional(seq![text("{"), space.clone(), innermost.clone(), text("}"), space.clone()]);
        let expand = seq![text("expand(_all_)"), space.clone(), below];
        let body = alt![
            fields.clone(),
            expand.clone(),
            seq![text("uid"), space.clone(), expand],
            seq![text("count(uid)"), space.clone()],
            seq![text("total: count(uid)"), space],
        ];
        self.grammar.rule(format!("selection_{depth}"), body)
    }

    /// What follows an edge: arguments, directives and its selection.
    fn behind_edge(&mut self, depth: usize, parts: [&Expr; 4]) -> Expr {
        let [arguments, filter, groups, selection] = parts.map(Clone::clone);
        let space = self.tokens.space.clone();
        let flag = |name: &str| optional(seq![text(name), space.clone()]);
        let body =
            seq![flag("@cascade"), text("{"), space.clone(), selection, text("}"), space.clone(),];
        let plain = seq![flag("@facets"), optional(filter.clone()), alt![body, groups]];
        let plain = self.grammar.rule(format!("edge_body_{depth}"), plain);
        let called = seq![text("("), arguments, text(")"), space.clone(), plain.clone()];
        let rest = alt![called.clone(), seq![space.clone(), alt![called, plain]]];
        self.grammar.rule(format!("behind_edge_{depth}"), rest)
    }

    /// `first`, and `offset` or `after`, each with a comma before it.
    fn page(&mut self) -> [Expr; 2] {
        let (number, uid) = (&self.tokens.number, &self.tokens.uid);
        let first = seq![text(", first: "), number.clone()];
        let from =
            alt![seq![text(", offset: "), number.clone()], seq![text(", after: "), uid.clone()],];
        [first, self.grammar.rule("page_start", from)]
    }

    /// One or two sort keys after their direction.
    fn sort(&mut self) -> Expr {
        let sortable =
            self.names.predicates.iter().filter(|it| PredicateUse::Sort.is_allowed(it.def));
        let key = |it: &Named<'_>| match it.def.lang {
            true => seq![text(&it.written), optional(self.tokens.lang.clone())],
            false => text(&it.written),
        };
        let keys = sortable.map(key).collect();
        let then = Following {
            alone: Expr::Sequence(Vec::new()),
            between: alt![text(", orderasc: "), text(", orderdesc: ")],
            both: Expr::Sequence(Vec::new()),
        };
        self.grammar.one_or_two("sort_keys", keys, then)
    }

    fn order(&self, before: &str, keys: &Expr) -> Expr {
        let direction = |name: &str| text(format!("{before}{name}: "));
        seq![alt![direction("orderasc"), direction("orderdesc")], keys.clone()]
    }

    /// The arguments of an edge, without the brackets.
    fn field_arguments(&mut self, sort: &Expr, page: &[Expr; 2]) -> Expr {
        let [first, from] = page.clone();
        let order = self.order(", ", sort);
        let number = self.tokens.number.clone();
        let mut rest = |name: &str, items: Vec<Expr>| optional(self.grammar.subset(name, items));
        let after_first = rest("after_first", vec![order.clone(), from.clone()]);
        let after_order = rest("after_order", vec![first.clone(), from]);
        let after_offset = rest("after_offset", vec![first, order]);
        let body = alt![
            seq![text("first: "), number.clone(), after_first],
            seq![self.order("", sort), after_order],
            seq![text("offset: "), number, after_offset],
        ];
        self.grammar.rule("field_arguments", body)
    }

    /// `@groupby` with one or two keys, and a selection of a count and aggregates.
    fn groups(&mut self) -> Expr {
        let space = self.tokens.space.clone();
        let is_key = |it: &&Named<'_>| {
            let is_edge = it.def.value_type == ValueType::Uid;
            is_edge || !it.def.list && literal_of(it.def.value_type) != Literal::None
        };
        let keys =
            self.names.predicates.iter().filter(is_key).map(|it| text(&it.written)).collect();
        let then = Following {
            alone: Expr::Sequence(Vec::new()),
            between: self.tokens.comma.clone(),
            both: Expr::Sequence(Vec::new()),
        };
        let keys = self.grammar.one_or_two("group_keys", keys, then);
        let mut items = vec![seq![text("count(uid)"), space.clone()]];
        for row in aggregates() {
            let names = self.bare(|class| {
                let is_allowed = PredicateUse::Aggregate(row.op).is_allowed(class.def);
                class.literal != Literal::None && is_allowed
            });
            items.push(seq![aggregate(row, names), space.clone()]);
        }
        let items = self.grammar.subset("aggregate", items);
        let body = seq![
            text("@groupby("),
            keys,
            text(")"),
            space.clone(),
            text("{"),
            space.clone(),
            items,
            text("}"),
            space,
        ];
        self.grammar.rule("groups", body)
    }
}
