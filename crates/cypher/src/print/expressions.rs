//! Expressions as text.

use super::names::{Commas, Dotted, Quoted, Text};
use super::patterns::LabelOperand;
use super::queries::Where;
use crate::syntax::ast::{
    Access, ArithmeticOp, Case, CompareOp, Expr, ExprKind, ListComprehension, MapItem, Name,
    QuantifierKind, Selector, SubqueryKind, Test, TypeName,
};
use hexgraph_base::types::stack;
use std::fmt::{self, Display, Formatter};

/// How tightly an expression holds together; an operand that holds less needs brackets.
fn level(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::Or(_) => 1,
        ExprKind::Xor(_) => 2,
        ExprKind::And(_) => 3,
        ExprKind::Not(_) => 4,
        ExprKind::Compare(..) => 5,
        ExprKind::Test(..) => 6,
        ExprKind::Arithmetic(_, rest) => match rest.first().map(|(op, _)| *op) {
            Some(ArithmeticOp::Power) => 9,
            Some(ArithmeticOp::Add | ArithmeticOp::Subtract | ArithmeticOp::Concatenate) => SUM,
            _ => 8,
        },
        // `()-->() - [1] - 2` would go on.
        ExprKind::Pattern(path) if path.selector == Selector::All => SUM,
        ExprKind::Signed(..) => 10,
        ExprKind::HasLabels(..) => 11,
        ExprKind::Access(..) => 12,
        _ => 13,
    }
}

const SUM: u8 = 7;

/// An operand, in brackets if it holds less together than the level.
struct At<'a>(u8, &'a Expr);

impl Display for At<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if level(self.1) < self.0 { write!(f, "({})", self.1) } else { self.1.fmt(f) }
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        stack::require();
        let above = level(self) + 1;
        match &self.kind {
            ExprKind::Null => f.write_str("null"),
            ExprKind::Boolean(value) => value.fmt(f),
            ExprKind::Integer(value) => value.fmt(f),
            ExprKind::Float(value) => write!(f, "{value:?}"),
            ExprKind::String(value) => Text(value).fmt(f),
            ExprKind::Parameter(name) => write!(f, "${}", Quoted(name)),
            ExprKind::Variable(name) => Quoted(name).fmt(f),
            // `[x IN list]` is a comprehension.
            ExprKind::List(items) if items.len() == 1 => write!(f, "[{}]", At(SUM, &items[0])),
            ExprKind::List(items) => write!(f, "[{}]", Commas(items)),
            ExprKind::Map(entries) => write!(f, "{{{}}}", Commas(&pairs(entries))),
            ExprKind::Or(parts) => chain(f, parts, " OR ", above),
            ExprKind::Xor(parts) => chain(f, parts, " XOR ", above),
            ExprKind::And(parts) => chain(f, parts, " AND ", above),
            ExprKind::Not(inside) => write!(f, "NOT {}", At(above, inside)),
            ExprKind::Compare(first, rest) => operators(f, first, rest, above),
            ExprKind::Arithmetic(first, rest) => operators(f, first, rest, above),
            ExprKind::Test(first, tests) => {
                At(above, first).fmt(f)?;
                tests.iter().try_for_each(|test| test.fmt(f))
            }
            ExprKind::Signed(minus, inside) => {
                write!(f, "{}{}", if *minus { "-" } else { "+" }, At(above, inside))
            }
            ExprKind::Access(of, steps) => {
                At(above, of).fmt(f)?;
                steps.iter().try_for_each(|step| step.fmt(f))
            }
            ExprKind::HasLabels(of, labels) => {
                write!(f, "{}:{}", At(above, of), LabelOperand(labels))
            }
            ExprKind::Call(call) => {
                let distinct = if call.distinct { "DISTINCT " } else { "" };
                let name = Dotted(&call.name.text);
                write!(f, "{name}({distinct}{})", Commas(&call.arguments))
            }
            ExprKind::CountStar => f.write_str("count(*)"),
            ExprKind::Case(case) => case.fmt(f),
            ExprKind::ListComprehension(over) => write!(f, "[{over}]"),
            ExprKind::PatternComprehension(it) => {
                write!(f, "[{}{} | {}]", it.path, Where(it.filter.as_ref()), it.result)
            }
            ExprKind::Quantifier(kind, over) => write!(f, "{kind}({over})"),
            ExprKind::Reduce(it) => write!(
                f,
                "reduce({} = {}, {} IN {} | {})",
                it.accumulator, it.start, it.variable, it.list, it.step
            ),
            ExprKind::Pattern(path) => path.fmt(f),
            ExprKind::Subquery(kind, body) => write!(f, "{kind} {{ {body} }}"),
            ExprKind::MapProjection(name, items) => write!(f, "{name} {{{}}}", Commas(items)),
        }
    }
}

fn pairs(entries: &[(Name, Expr)]) -> Vec<String> {
    entries.iter().map(|(name, value)| format!("{name}: {value}")).collect()
}

fn chain(f: &mut Formatter<'_>, parts: &[Expr], separator: &str, level: u8) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        f.write_str(if index == 0 { "" } else { separator })?;
        At(level, part).fmt(f)?;
    }
    Ok(())
}

fn operators<T: Display>(
    f: &mut Formatter<'_>,
    first: &Expr,
    rest: &[(T, Expr)],
    level: u8,
) -> fmt::Result {
    At(level, first).fmt(f)?;
    rest.iter().try_for_each(|(op, operand)| write!(f, " {op} {}", At(level, operand)))
}

impl Display for CompareOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CompareOp::Equal => "=",
            CompareOp::Unequal => "<>",
            CompareOp::Less => "<",
            CompareOp::LessEqual => "<=",
            CompareOp::Greater => ">",
            CompareOp::GreaterEqual => ">=",
        })
    }
}

impl Display for ArithmeticOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ArithmeticOp::Add => "+",
            ArithmeticOp::Subtract => "-",
            ArithmeticOp::Multiply => "*",
            ArithmeticOp::Divide => "/",
            ArithmeticOp::Modulo => "%",
            ArithmeticOp::Power => "^",
            ArithmeticOp::Concatenate => "||",
        })
    }
}

impl Display for Test {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Test::StartsWith(with) => write!(f, " STARTS WITH {}", At(SUM, with)),
            Test::EndsWith(with) => write!(f, " ENDS WITH {}", At(SUM, with)),
            Test::Contains(with) => write!(f, " CONTAINS {}", At(SUM, with)),
            Test::Matches(with) => write!(f, " =~ {}", At(SUM, with)),
            Test::In(list) => write!(f, " IN {}", At(SUM, list)),
            Test::IsNull(false) => f.write_str(" IS NULL"),
            Test::IsNull(true) => f.write_str(" IS NOT NULL"),
            Test::IsType(false, name) => write!(f, " IS :: {name}"),
            Test::IsType(true, name) => write!(f, " IS NOT :: {name}"),
        }
    }
}

impl Display for TypeName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        stack::require();
        match self {
            TypeName::Simple(name) => name.text.fmt(f),
            TypeName::NotNull(inside) => write!(f, "{inside} NOT NULL"),
            TypeName::List(inside) => write!(f, "LIST<{inside}>"),
        }
    }
}

impl Display for Access {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Access::Property(name) => write!(f, ".{name}"),
            Access::Index(index) => write!(f, "[{index}]"),
            Access::Slice(from, to) => {
                let bound = |bound: &Option<Expr>| bound.as_ref().map(ToString::to_string);
                let (from, to) = (bound(from).unwrap_or_default(), bound(to).unwrap_or_default());
                write!(f, "[{from}..{to}]")
            }
        }
    }
}

impl Display for Case {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("CASE")?;
        if let Some(subject) = &self.subject {
            write!(f, " {subject}")?;
        }
        for (when, then) in &self.branches {
            write!(f, " WHEN {when} THEN {then}")?;
        }
        if let Some(otherwise) = &self.otherwise {
            write!(f, " ELSE {otherwise}")?;
        }
        f.write_str(" END")
    }
}

impl Display for ListComprehension {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} IN {}{}", self.variable, self.list, Where(self.filter.as_ref()))?;
        self.result.as_ref().map_or(Ok(()), |result| write!(f, " | {result}"))
    }
}

impl Display for QuantifierKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            QuantifierKind::All => "all",
            QuantifierKind::Any => "any",
            QuantifierKind::None => "none",
            QuantifierKind::Single => "single",
        })
    }
}

impl Display for SubqueryKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SubqueryKind::Exists => "EXISTS",
            SubqueryKind::Count => "COUNT",
            SubqueryKind::Collect => "COLLECT",
        })
    }
}

impl Display for MapItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            MapItem::All => f.write_str(".*"),
            MapItem::Property(name) => write!(f, ".{name}"),
            MapItem::Entry(name, value) => write!(f, "{name}: {value}"),
            MapItem::Variable(name) => name.fmt(f),
        }
    }
}
