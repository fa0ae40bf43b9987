//! Functions and filters.

use super::names::{Class, Literal, Named, SchemaNames};
use super::rules::{Expr, Grammar, alt, any_number, one_of, optional, seq, text};
use super::tokens::Tokens;
use crate::lower::arguments::FUNCTIONS;
use hexgraph_base::plan::{AGGREGATES, AggregateFunction, PredicateUse};
use hexgraph_base::schema::PredicateDef;
use hexgraph_base::types::ValueType;

/// The number of brackets within one another in a filter.
const FILTER_DEPTH: usize = 2;

/// Where a function stands.
#[derive(Clone, Copy, PartialEq)]
enum Position {
    /// It selects the nodes of a block.
    Root,
    /// It is a condition of a filter.
    Filter,
}

/// Returns the aggregate functions of one argument.
pub(super) fn aggregates() -> impl Iterator<Item = &'static AggregateFunction> {
    AGGREGATES.iter().filter(|row| !row.has_fraction())
}

/// Returns the call of an aggregate function.
pub(super) fn aggregate(row: &AggregateFunction, argument: Expr) -> Expr {
    seq![text(row.open), argument, text(")")]
}

/// What the rules are made of.
pub(super) struct Builder<'s> {
    pub grammar: Grammar,
    pub tokens: Tokens,
    pub names: SchemaNames<'s>,
    pub classes: Vec<Class<'s>>,
    /// Edges, those of `@reverse` backwards too.
    pub edges: Expr,
}

impl<'s> Builder<'s> {
    pub(super) fn new(names: SchemaNames<'s>) -> Builder<'s> {
        let mut grammar = Grammar::default();
        let tokens = Tokens::new(&mut grammar);
        let classes = names.classes(&mut grammar);
        let edges = edge_names(&names).map(text).collect();
        let edges = grammar.rule("edge_name", Expr::Choice(edges));
        Builder { grammar, tokens, names, classes, edges }
    }

    /// The names of the predicates whose class passes, without languages.
    pub(super) fn bare(&self, passes: impl Fn(&Class<'s>) -> bool) -> Expr {
        let passing = self.classes.iter().filter(|class| passes(class));
        Expr::Choice(passing.map(Class::bare_names).collect())
    }

    fn tagged(&self, passes: impl Fn(&Class<'s>) -> bool) -> Expr {
        let passing = self.classes.iter().filter(|class| passes(class));
        Expr::Choice(passing.map(|class| class.names(&self.tokens.lang)).collect())
    }

    fn allowing(&self, what: PredicateUse) -> Expr {
        self.tagged(|class| what.is_allowed(class.def))
    }

    /// `name(`, arguments with commas between them, `)`.
    fn call(&self, name: &str, arguments: Vec<Expr>) -> Expr {
        let mut parts = vec![text(format!("{name}("))];
        for (index, argument) in arguments.into_iter().enumerate() {
            if 0 < index {
                parts.push(self.tokens.comma.clone());
            }
            parts.push(argument);
        }
        parts.push(text(")"));
        Expr::Sequence(parts)
    }

    /// The rule of the functions that select the nodes of a block.
    pub(super) fn root_function(&mut self) -> Expr {
        let mut functions = self.comparisons(Position::Root);
        functions.extend(self.indexed(Position::Root));
        functions.extend(self.of_nodes());
        self.grammar.rule("root_function", Expr::Choice(functions))
    }

    /// The rule of `@filter(...)`.
    pub(super) fn filter(&mut self) -> Expr {
        let mut functions = self.comparisons(Position::Filter);
        functions.extend(self.indexed(Position::Filter));
        functions.extend(self.of_nodes());
        functions.push(self.call("uid_in", vec![self.edges.clone(), self.tokens.uid.clone()]));
        let function = self.grammar.rule("filter_function", Expr::Choice(functions));
        let (and, or) = (self.tokens.and.clone(), self.tokens.or.clone());
        let mut inner = Expr::Choice(Vec::new());
        for depth in (0..=FILTER_DEPTH).rev() {
            let bracket = seq![text("("), inner, text(")")];
            let not = optional(self.tokens.not.clone());
            let name = |part: &str| format!("{part}_{depth}");
            let term = seq![not, alt![function.clone(), bracket]];
            let term = self.grammar.rule(name("condition"), term);
            let all = seq![term.clone(), any_number(seq![and.clone(), term])];
            let all = self.grammar.rule(name("conjunction"), all);
            let any = seq![all.clone(), any_number(seq![or.clone(), all])];
            inner = self.grammar.rule(name("disjunction"), any);
        }
        self.grammar.rule("filter", seq![text("@filter("), inner, text(")")])
    }

    /// `eq`, `le`, `lt`, `ge`, `gt` and `between`, of values and of counts.
    fn comparisons(&mut self, position: Position) -> Vec<Expr> {
        let comma = self.tokens.comma.clone();
        let is_at_root = position == Position::Root;
        let (mut equal, mut ordered, mut between) = (Vec::new(), Vec::new(), Vec::new());
        for (literal, token) in self.literals() {
            let allows = |class: &Class, what: PredicateUse| {
                class.literal == literal && (!is_at_root || what.is_allowed(class.def))
            };
            let more = any_number(seq![comma.clone(), token.clone()]);
            let list = seq![text("["), token.clone(), more, text("]")];
            let names = self.tagged(|class| allows(class, PredicateUse::EqualAtRoot));
            equal.push(seq![names, comma.clone(), alt![token.clone(), list]]);
            if literal == Literal::Bool {
                continue;
            }
            let names = self.tagged(|class| allows(class, PredicateUse::OrderedAtRoot));
            ordered.push(seq![names.clone(), comma.clone(), token.clone()]);
            between.push(seq![names, comma.clone(), token.clone(), comma.clone(), token]);
        }
        // Nodes without an edge are not indexed: at a root only counts above zero are possible.
        let counted = self.counted(position);
        let several = self.tokens.several.clone();
        equal.push(seq![counted.clone(), comma.clone(), several.clone()]);
        ordered.push(seq![counted.clone(), comma.clone(), several.clone()]);
        between.push(seq![counted, comma.clone(), several.clone(), comma, several]);
        let operators = one_of(&["le(", "lt(", "ge(", "gt("]);
        vec![
            seq![text("eq("), Expr::Choice(equal), text(")")],
            seq![operators, Expr::Choice(ordered), text(")")],
            seq![text("between("), Expr::Choice(between), text(")")],
        ]
    }

    fn literals(&self) -> [(Literal, Expr); 5] {
        let tokens = &self.tokens;
        [
            (Literal::Text, tokens.string.clone()),
            (Literal::Int, tokens.int.clone()),
            (Literal::Float, tokens.float.clone()),
            (Literal::Bool, tokens.boolean.clone()),
            (Literal::Time, tokens.time.clone()),
        ]
    }

    /// `count(edge)` on the left of a comparison.
    fn counted(&mut self, position: Position) -> Expr {
        let names = match position {
            Position::Filter => self.edges.clone(),
            Position::Root => {
                let is_counted = PredicateUse::CountAtRoot;
                let names = edges_of(&self.names, |def| is_counted.is_allowed(def));
                let names = names.map(text).collect();
                self.grammar.rule("counted_edge_name", Expr::Choice(names))
            }
        };
        seq![text("count("), names, text(")")]
    }

    /// The functions that need an index of their own.
    fn indexed(&self, position: Position) -> Vec<Expr> {
        let tokens = &self.tokens;
        let of_text = FUNCTIONS.iter().filter_map(|function| {
            let names = self.allowing(function.of_text?);
            Some(self.call(function.name, vec![names, tokens.string.clone()]))
        });
        let pattern = self.tagged(|class| {
            let is_indexed = PredicateUse::Trigrams.is_allowed(class.def);
            PredicateUse::Pattern.is_allowed(class.def)
                && (position == Position::Filter || is_indexed)
        });
        let geo = self.bare(|class| {
            class.def.value_type == ValueType::Geo && PredicateUse::Geo.is_allowed(class.def)
        });
        let trigrams = self.allowing(PredicateUse::Trigrams);
        let vectors = self.bare(|class| PredicateUse::Similar.is_allowed(class.def));
        let node = seq![text("\""), tokens.uid.clone(), text("\"")];
        let others = [
            self.call("regexp", vec![pattern, tokens.pattern.clone()]),
            self.call("match", vec![trigrams, tokens.string.clone(), tokens.digit.clone()]),
            self.call("near", vec![geo.clone(), tokens.point.clone(), tokens.number.clone()]),
            self.call("contains", vec![geo, tokens.point.clone()]),
            self.call("similar_to", vec![vectors, tokens.number.clone(), node]),
        ];
        of_text.chain(others).collect()
    }

    /// The functions of all nodes: `has`, `type` and `uid`.
    fn of_nodes(&self) -> Vec<Expr> {
        let tokens = &self.tokens;
        let values = self.bare(|class| class.def.value_type != ValueType::Uid);
        let types = Expr::Choice(self.names.types.iter().map(text).collect());
        let more = any_number(seq![tokens.comma.clone(), tokens.uid.clone()]);
        vec![
            self.call("has", vec![alt![values, self.edges.clone()]]),
            self.call("type", vec![types]),
            seq![text("uid("), tokens.uid.clone(), more, text(")")],
        ]
    }
}

/// The edges of a schema as a query writes them, those of `@reverse` backwards too.
pub(super) fn edge_names<'a>(names: &'a SchemaNames<'_>) -> impl Iterator<Item = String> + 'a {
    edges_of(names, |_| true)
}

fn edges_of<'a>(
    names: &'a SchemaNames<'_>,
    passes: impl Fn(&PredicateDef) -> bool + 'a,
) -> impl Iterator<Item = String> + 'a {
    let is_edge =
        move |named: &&Named<'_>| named.def.value_type == ValueType::Uid && passes(named.def);
    names.predicates.iter().filter(is_edge).flat_map(|named| {
        let backwards =
            PredicateUse::Reverse.is_allowed(named.def).then(|| backwards(&named.written));
        std::iter::once(named.written.clone()).chain(backwards)
    })
}

fn backwards(written: &str) -> String {
    match written.strip_prefix('<') {
        Some(rest) => format!("<~{rest}"),
        None => format!("~{written}"),
    }
}
