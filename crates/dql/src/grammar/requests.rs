//! Requests: blocks, and the forms with variables.

use super::functions::{Builder, aggregate, aggregates, edge_names};
use super::names::{Literal, Named, Omitted, SchemaNames, literal_of};
use super::rules::{Expr, Grammar, alt, one_of, optional, seq, text};
use super::selections::Selections;
use super::trees::Following;
use hexgraph_base::plan::{Aggregate, Algebraic, PredicateUse};
use hexgraph_base::schema::Schema;

/// The names of a block.
const BLOCKS: [&str; 9] =
    ["q", "me", "result", "results", "data", "answer", "items", "nodes", "list"];

/// The names of several blocks, in their order.
const NUMBERED: [&str; 3] = ["q1", "q2", "q3"];

/// Returns the grammar of queries on a schema, and the names of the schema that it has no form for.
/// O(length of the schema).
pub fn query_grammar(schema: &Schema) -> (Grammar, Vec<Omitted>) {
    let mut builder = Builder::new(SchemaNames::new(schema));
    let root = builder.root_function();
    let parts = builder.selections();
    let requests = builder.requests(&root, &parts);
    let start = builder.grammar.rule("query", requests);
    (builder.grammar.cleaned(&start), builder.names.omitted)
}

impl Builder<'_> {
    fn requests(&mut self, root: &Expr, parts: &Selections) -> Expr {
        let space = self.tokens.space.clone();
        let name = self.grammar.rule("block_name", one_of(&BLOCKS));
        let body = self.block_body(root, parts);
        let mut numbered = Expr::Sequence(Vec::new());
        for name in NUMBERED.into_iter().rev() {
            let block = seq![text(name), body.clone(), numbered];
            numbered = if name == NUMBERED[0] { block } else { optional(block) };
        }
        let variables = self.with_variables(root, parts, &name);
        let path = self.path(parts, &name);
        let inner = alt![seq![name, body], numbered, variables, path];
        seq![text("{"), space, inner, text("}")]
    }

    /// What follows the name of a block.
    fn block_body(&mut self, root: &Expr, parts: &Selections) -> Expr {
        let space = self.tokens.space.clone();
        let flag = |name: &str| optional(seq![text(name), space.clone()]);
        let braces =
            |inner: &Expr| seq![text("{"), space.clone(), inner.clone(), text("}"), space.clone()];
        let plain = seq![flag("@cascade"), flag("@normalize"), braces(&parts.block)];
        let recursion = seq![
            text("@recurse(depth: "),
            self.tokens.digit.clone(),
            text(")"),
            space.clone(),
            braces(&parts.recursion),
        ];
        let body = seq![
            text("(func: "),
            root.clone(),
            optional(parts.arguments.clone()),
            text(")"),
            space.clone(),
            optional(parts.filter.clone()),
            alt![plain, parts.groups.clone(), recursion],
        ];
        self.grammar.rule("block", body)
    }

    /// A block that defines variables, and one that reads them: an order by a count or a number, a
    /// computation, aggregates, or the targets of an edge.
    fn with_variables(&mut self, root: &Expr, parts: &Selections, name: &Expr) -> Expr {
        let space = self.tokens.space.clone();
        let end = seq![space.clone(), text("}"), space.clone()];
        let by_a = self.ordered_block("a", parts, name);
        let by_c = self.ordered_block("c", parts, name);
        let totals = self.totals(name);
        let computed = |math: Expr| {
            seq![space.clone(), text("c as math("), math, text(")"), end.clone(), by_c.clone()]
        };
        let of_one = self.math_of_one();
        let of_two = self.math_of_two();
        let alone = alt![seq![end.clone(), alt![by_a, totals]], computed(of_one)];
        let then = Following {
            alone: self.grammar.rule("behind_number", alone),
            between: seq![space.clone(), text("b as ")],
            both: self.grammar.rule("behind_numbers", computed(of_two)),
        };
        let numbers = self.numbers();
        let numbers = self.grammar.one_or_two("numbers", numbers, then);
        let edge = self.edges.clone();
        let targets = seq![
            name.clone(),
            text("(func: uid(a)"),
            optional(parts.arguments.clone()),
            text(")"),
            space.clone(),
            optional(parts.filter.clone()),
            text("{"),
            space.clone(),
            parts.fields.clone(),
            text("}"),
            space.clone(),
        ];
        let edges = seq![edge, end, targets];
        seq![
            text("var(func: "),
            root.clone(),
            text(")"),
            space.clone(),
            optional(parts.filter.clone()),
            text("{"),
            space,
            text("a as "),
            alt![numbers, edges],
        ]
    }

    /// What has a number for each node.
    fn numbers(&self) -> Vec<Expr> {
        let is_number = |it: &&Named<'_>| {
            let literal = literal_of(it.def.value_type);
            !it.def.list
                && matches!(literal, Literal::Int | Literal::Float)
                && PredicateUse::Aggregate(Aggregate::Algebraic(Algebraic::Sum)).is_allowed(it.def)
        };
        let values = self.names.predicates.iter().filter(is_number).map(|it| text(&it.written));
        let counts = edge_names(&self.names).map(|name| text(format!("count({name})")));
        counts.chain(values).collect()
    }

    /// A block of the nodes of a variable, in the order of its values.
    fn ordered_block(&mut self, var: &str, parts: &Selections, name: &Expr) -> Expr {
        let space = self.tokens.space.clone();
        let order = alt![
            text(format!(", orderdesc: val({var})")),
            text(format!(", orderasc: val({var})")),
        ];
        let [first, from] = parts.page.clone();
        let arguments = self.grammar.subset(&format!("argument_{var}"), vec![order, first, from]);
        let value = seq![text(format!("val({var})")), space.clone()];
        let fields =
            self.grammar.subset(&format!("fields_{var}"), vec![parts.fields.clone(), value]);
        let body = seq![
            name.clone(),
            text(format!("(func: uid({var})")),
            optional(arguments),
            text(")"),
            space.clone(),
            optional(parts.filter.clone()),
            text("{"),
            space.clone(),
            fields,
            text("}"),
            space,
        ];
        self.grammar.rule(format!("block_{var}"), body)
    }

    /// A block of aggregates of a variable.
    fn totals(&mut self, name: &Expr) -> Expr {
        let space = self.tokens.space.clone();
        let items = aggregates().map(|row| seq![aggregate(row, text("val(a)")), space.clone()]);
        let items = items.collect();
        let items = self.grammar.subset("total", items);
        let body = seq![
            name.clone(),
            text("()"),
            space.clone(),
            text("{"),
            space.clone(),
            items,
            text("}"),
            space
        ];
        self.grammar.rule("totals", body)
    }

    fn math_of_one(&mut self) -> Expr {
        let number = self.tokens.number.clone();
        let operator = one_of(&[" + ", " - ", " * ", " / "]);
        let operator = self.grammar.rule("operator", operator);
        let comparison = one_of(&[" > ", " < ", " >= ", " <= "]);
        let more = optional(seq![operator.clone(), number.clone()]);
        let body = alt![
            seq![text("a"), operator, number.clone()],
            seq![one_of(&["floor(a)", "ceil(a)", "sqrt(a)", "ln(a)"]), more],
            seq![text("cond(a"), comparison, number, one_of(&[", a, 0)", ", 1, 0)"])],
        ];
        self.grammar.rule("math_of_one", body)
    }

    fn math_of_two(&mut self) -> Expr {
        let number = self.tokens.number.clone();
        let operator = self.grammar.rule("binary", one_of(&[" + ", " - ", " * ", " / "]));
        let one = |var: &str| {
            let functions = ["floor", "ceil", "sqrt"].map(|name| text(format!("{name}({var})")));
            Expr::Choice([text(var)].into_iter().chain(functions).collect())
        };
        let more = optional(seq![operator.clone(), number]);
        let pair = |first: &str, second: &str| seq![one(first), operator.clone(), one(second)];
        let larger = one_of(&["max(a, b)", "min(a, b)"]);
        let body = seq![alt![pair("a", "b"), pair("b", "a"), larger], more];
        self.grammar.rule("math_of_two", body)
    }

    /// The shortest path between two nodes, and the nodes of it.
    fn path(&mut self, parts: &Selections, name: &Expr) -> Expr {
        let (space, uid) = (self.tokens.space.clone(), self.tokens.uid.clone());
        let paths = optional(seq![text(", numpaths: "), self.tokens.digit.clone()]);
        seq![
            text("path as shortest(from: "),
            uid.clone(),
            text(", to: "),
            uid,
            paths,
            text(")"),
            space.clone(),
            text("{"),
            space.clone(),
            parts.walk.clone(),
            text("}"),
            space.clone(),
            name.clone(),
            text("(func: uid(path))"),
            space.clone(),
            text("{"),
            space.clone(),
            parts.innermost.clone(),
            text("}"),
            space,
        ]
    }
}
