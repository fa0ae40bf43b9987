//! Operators of arithmetic, tests, and calls of functions.

use super::analyser::{Aggregation, Analyser, Checked, ExprContext};
use super::functions::Signature;
use super::kinds::{Kind, Kinds};
use crate::error::{Code, Fault};
use crate::span::Span;
use crate::syntax::ast::{ArithmeticOp, Call, Expr, ExprKind, Name, Test, TypeName};
use hexgraph_base::types::nearest;

impl<'a> Analyser<'a> {
    pub(super) fn arithmetic(
        &mut self,
        first: &'a Expr,
        rest: &'a [(ArithmeticOp, Expr)],
    ) -> Checked<Kind> {
        let mut left = self.expr(first)?;
        let mut left_span = first.span;
        for (op, operand) in rest {
            let right = self.expr(operand)?;
            if *op != ArithmeticOp::Add {
                let name = op_name(*op);
                let expected = match op {
                    ArithmeticOp::Concatenate => Kinds::STRING.or(Kinds::LIST),
                    _ => CALCULATED,
                };
                self.require(&left, expected, left_span, name)?;
                self.require(&right, expected, operand.span, name)?;
            }
            left = calculated(*op, &left, &right);
            left_span = Span { start: first.span.start, end: operand.span.end };
        }
        Ok(left)
    }

    pub(super) fn tests(&mut self, first: &'a Expr, tests: &'a [Test]) -> Checked<Kind> {
        self.expr(first)?;
        for test in tests {
            match test {
                Test::StartsWith(it)
                | Test::EndsWith(it)
                | Test::Contains(it)
                | Test::Matches(it) => drop(self.expr(it)?),
                Test::In(list) => {
                    let kind = self.expr(list)?;
                    self.require(&kind, Kinds::LIST, list.span, "`IN`")?;
                }
                Test::IsNull(_) => {}
                Test::IsType(_, name) => check_type(name)?,
            }
        }
        Ok(Kind::Boolean)
    }

    pub(super) fn call(&mut self, call: &'a Call, span: Span) -> Checked<Kind> {
        let Some(function) = Signature::named(&call.name.text) else {
            return Err(unknown_function(&call.name));
        };
        self.check_count(call, function)?;
        if call.distinct && !function.is_aggregate {
            let message = format!("`{}` is no aggregate, so it has no `DISTINCT`", function.name);
            let fault = Fault::new(Code::UnexpectedSyntax, call.name.span, message);
            return Err(fault.with_hint("leave `DISTINCT` out"));
        }
        if function.is_volatile() && self.context.aggregation == Aggregation::Inside {
            let message = format!("`{}` in an aggregate is not repeatable", function.name);
            let fault = Fault::new(Code::NonConstantExpression, span, message);
            return Err(fault.with_hint("compute it in a `WITH` before"));
        }
        if function.is_aggregate {
            return self.aggregate(span, function.name, |it| it.arguments(call, function));
        }
        match function.name {
            "exists" => self.exists(call, function),
            _ => self.arguments(call, function),
        }
    }

    /// `exists(pattern)` and `exists(n.key)`.
    fn exists(&mut self, call: &'a Call, function: &'static Signature) -> Checked<Kind> {
        match &call.arguments[0].kind {
            ExprKind::Pattern(path) => self.pattern(path, true).map(|_| Kind::Boolean),
            ExprKind::Access(..) => self.arguments(call, function),
            _ => {
                let message = "`exists` needs a pattern or a property";
                let span = call.arguments[0].span;
                let fault = Fault::new(Code::InvalidArgumentType, span, message);
                Err(fault.with_hint("write `IS NOT NULL` for other values"))
            }
        }
    }

    fn arguments(&mut self, call: &'a Call, function: &'static Signature) -> Checked<Kind> {
        let mut kinds = Vec::with_capacity(call.arguments.len());
        for (index, argument) in call.arguments.iter().enumerate() {
            let kind = self.expr(argument)?;
            let what = format!("`{}`", function.name);
            self.require(&kind, function.argument(index), argument.span, &what)?;
            kinds.push(kind);
        }
        Ok(function.result(&kinds))
    }

    fn check_count(&self, call: &Call, function: &Signature) -> Checked<()> {
        let count = call.arguments.len();
        if (function.least..=function.most).contains(&count) {
            return Ok(());
        }
        let expected = match (function.least, function.most) {
            (least, usize::MAX) => format!("at least {least}"),
            (least, most) if least == most => least.to_string(),
            (least, most) => format!("{least} to {most}"),
        };
        let plural = if expected.ends_with('1') { "" } else { "s" };
        let message =
            format!("`{}` has {expected} argument{plural}, and here are {count}", function.name);
        let fault = Fault::new(Code::InvalidNumberOfArguments, call.name.span, message);
        Err(fault.with_hint(function.doc))
    }

    /// An aggregate, and what it computes.
    pub(super) fn aggregate(
        &mut self,
        span: Span,
        name: &str,
        step: impl FnOnce(&mut Self) -> Checked<Kind>,
    ) -> Checked<Kind> {
        match self.context.aggregation {
            Aggregation::Allowed => {
                self.aggregates += 1;
                let context = ExprContext { aggregation: Aggregation::Inside, patterns: false };
                self.within(context, step)
            }
            Aggregation::Inside => {
                let message = format!("the aggregate `{name}` is inside of another");
                let fault = Fault::new(Code::NestedAggregation, span, message);
                Err(fault.with_hint("compute the inner one in a `WITH` before"))
            }
            Aggregation::Refused(part) => {
                let message = format!("the aggregate `{name}` can't be in {part}");
                let fault = Fault::new(Code::InvalidAggregation, span, message);
                Err(fault.with_hint(
                    "compute it in a `WITH` before: `WITH n, count(*) AS c WHERE c > 1`",
                ))
            }
        }
    }
}

/// What operators other than `+` accept: numbers and durations, and temporal values minus
/// durations.
const CALCULATED: Kinds = Kinds::NUMBER.or(Kinds::TEMPORAL);

fn op_name(op: ArithmeticOp) -> &'static str {
    match op {
        ArithmeticOp::Add => "`+`",
        ArithmeticOp::Subtract => "`-`",
        ArithmeticOp::Multiply => "`*`",
        ArithmeticOp::Divide => "`/`",
        ArithmeticOp::Modulo => "`%`",
        ArithmeticOp::Power => "`^`",
        ArithmeticOp::Concatenate => "`||`",
    }
}

fn calculated(op: ArithmeticOp, left: &Kind, right: &Kind) -> Kind {
    match (op, left, right) {
        (_, Kind::Null, _) | (_, _, Kind::Null) => Kind::Null,
        (ArithmeticOp::Power, Kind::Integer | Kind::Float, Kind::Integer | Kind::Float) => {
            Kind::Float
        }
        (_, Kind::Integer, Kind::Integer) => Kind::Integer,
        (_, Kind::Integer | Kind::Float, Kind::Integer | Kind::Float) => Kind::Float,
        (ArithmeticOp::Concatenate, Kind::String, _) => Kind::String,
        (ArithmeticOp::Add | ArithmeticOp::Concatenate, Kind::List(a), Kind::List(b)) => {
            Kind::list((**a).clone().join((**b).clone()))
        }
        (ArithmeticOp::Add, Kind::List(_), _) | (ArithmeticOp::Add, _, Kind::List(_)) => {
            Kind::list(Kind::Any)
        }
        (ArithmeticOp::Add, Kind::String, Kind::String) => Kind::String,
        _ => Kind::Any,
    }
}

fn unknown_function(name: &Name) -> Fault {
    let message = format!("there is no function `{}`", name.text);
    let fault = Fault::new(Code::UnknownFunction, name.span, message);
    let lower = name.text.to_lowercase();
    if let Some((_, instead)) = INSTEAD.iter().find(|(other, _)| *other == lower) {
        return fault.with_hint(format!("write {instead}"));
    }
    match Signature::near(&name.text) {
        Some(near) => fault.with_hint(format!("did you mean `{near}`?")),
        None if lower.starts_with("apoc.") || lower.starts_with("gds.") => {
            fault.with_hint("libraries of Neo4j are not part of openCypher")
        }
        None => fault,
    }
}

/// Functions of SQL and of older versions of Cypher, and what to write instead.
const INSTEAD: [(&str, &str); 13] = [
    ("concat", "`a + b`"),
    ("if", "`CASE WHEN condition THEN value ELSE other END`"),
    ("ifnull", "`coalesce(value, other)`"),
    ("lcase", "`toLower(text)`"),
    ("len", "`size(value)`"),
    ("median", "`percentileCont(value, 0.5)`"),
    ("month", "`value.month`"),
    ("now", "`datetime()`"),
    ("nvl", "`coalesce(value, other)`"),
    ("rels", "`relationships(path)`"),
    ("toint", "`toInteger(value)`"),
    ("ucase", "`toUpper(text)`"),
    ("year", "`value.year`"),
];

/// The names of types after `IS ::`.
const TYPES: [&str; 33] = [
    "ANY",
    "ANY EDGE",
    "ANY MAP",
    "ANY NODE",
    "ANY RELATIONSHIP",
    "ANY VALUE",
    "ANY VERTEX",
    "BOOL",
    "BOOLEAN",
    "DATE",
    "DURATION",
    "EDGE",
    "FLOAT",
    "INT",
    "INTEGER",
    "LOCAL DATETIME",
    "LOCAL TIME",
    "MAP",
    "NODE",
    "NOTHING",
    "NULL",
    "PATH",
    "POINT",
    "PROPERTY VALUE",
    "RELATIONSHIP",
    "SIGNED INTEGER",
    "STRING",
    "TIME WITHOUT TIME ZONE",
    "TIMESTAMP WITHOUT TIME ZONE",
    "VARCHAR",
    "VERTEX",
    "ZONED DATETIME",
    "ZONED TIME",
];

fn check_type(name: &TypeName) -> Checked<()> {
    let mut inside = name;
    while let TypeName::List(element) | TypeName::NotNull(element) = inside {
        inside = element;
    }
    let TypeName::Simple(name) = inside else { return Ok(()) };
    let upper = name.text.to_ascii_uppercase();
    if TYPES.contains(&upper.as_str()) {
        return Ok(());
    }
    let message = format!("there is no type `{}`", name.text);
    let fault = Fault::new(Code::UnexpectedSyntax, name.span, message);
    Err(match nearest(&upper, TYPES.into_iter()) {
        Some(near) => fault.with_hint(format!("did you mean `{near}`?")),
        None => fault,
    })
}
