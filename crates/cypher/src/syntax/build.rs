//! What the actions of the grammar make of its parts.

use super::ast::*;
use crate::error::{Code, Fault};
use crate::span::Span;
use lalrpop_util::ParseError;

/// A node, and relationships with the nodes after them.
pub(crate) type Chain = (NodePattern, Vec<(RelationshipPattern, NodePattern)>);

/// The result of an action that can fail.
type Built<T> = Result<T, ParseError<usize, super::token::Token, Fault>>;

impl ExprKind {
    /// Adds where the expression is.
    pub(crate) fn at(self, start: usize, end: usize) -> Expr {
        Expr { kind: self, span: Span::new(start, end) }
    }
}

impl NodePattern {
    pub(crate) fn spanned(self, span: Span) -> NodePattern {
        NodePattern { span, ..self }
    }
}

pub(crate) fn joined<T>(first: T, rest: Vec<T>) -> Vec<T> {
    let mut result = Vec::with_capacity(rest.len() + 1);
    result.push(first);
    result.extend(rest);
    result
}

pub(crate) fn pushed<T>(mut list: Vec<T>, item: T) -> Vec<T> {
    list.push(item);
    list
}

pub(crate) fn query(first: SingleQuery, rest: Vec<(Union, SingleQuery)>) -> Query {
    let (unions, others) = rest.into_iter().unzip();
    Query { branches: joined(first, others), unions }
}

/// `*` and some items.
pub(crate) fn all_and(items: Vec<Item>) -> Projection {
    Projection { distinct: false, star: true, items, order: Vec::new(), skip: None, limit: None }
}

pub(crate) fn procedure(
    (name, arguments): (Name, Option<Vec<Expr>>),
    yields: Yields,
    filter: Option<Expr>,
) -> ClauseKind {
    ClauseKind::Procedure(ProcedureCall { name, arguments, yields, filter })
}

pub(crate) fn dotted(first: Name, rest: Vec<Name>) -> Name {
    names(first, rest, ".")
}

pub(crate) fn spaced(first: Name, rest: Vec<Name>) -> Name {
    names(first, rest, " ")
}

fn names(first: Name, rest: Vec<Name>, separator: &str) -> Name {
    let end = rest.last().map_or(first.span.end, |it| it.span.end);
    let span = Span { start: first.span.start, end };
    let texts = joined(first, rest).into_iter().map(|it| it.text);
    Name { text: texts.collect::<Vec<_>>().join(separator).into(), span }
}

pub(crate) fn path(
    variable: Option<Name>,
    (selector, (start, steps)): (Selector, Chain),
    span: Span,
) -> PathPattern {
    PathPattern { variable, selector, start, steps, span }
}

pub(crate) fn shortest((count, groups): (u64, bool)) -> Selector {
    if groups { Selector::ShortestGroups(count) } else { Selector::Shortest(count) }
}

pub(crate) fn shortest_path(all: bool) -> Selector {
    if all { Selector::AllShortestPaths } else { Selector::ShortestPath }
}

pub(crate) fn no_inside() -> RelationshipPattern {
    RelationshipPattern {
        variable: None,
        types: None,
        length: None,
        properties: None,
        filter: None,
        direction: Direction::Either,
        span: Span::default(),
    }
}

pub(crate) fn relationship(
    left: bool,
    inside: RelationshipPattern,
    right: bool,
    quantifier: Option<Length>,
    span: Span,
) -> Built<RelationshipPattern> {
    let direction = match (left, right) {
        (true, false) => Direction::In,
        (false, true) => Direction::Out,
        _ => Direction::Either,
    };
    if inside.length.is_some() && quantifier.is_some() {
        let message = "the relationship has two lengths";
        let fault = Fault::new(Code::InvalidRelationshipPattern, span, message);
        let error = fault.with_hint("write `-[:TYPE*1..3]->` or `-[:TYPE]->{1,3}`");
        return Err(ParseError::User { error });
    }
    let length = inside.length.or(quantifier);
    Ok(RelationshipPattern { length, direction, span, ..inside })
}

pub(crate) fn length(min: Option<u64>, max: Option<u64>, quantifier: bool) -> Length {
    Length { min, max, quantifier }
}

pub(crate) fn negated_label(nots: usize, label: LabelExpr) -> LabelExpr {
    if nots % 2 == 1 { LabelExpr::Not(Box::new(label)) } else { label }
}

/// `NOT NOT a` is not `a`, since `a` has to be a boolean; more of them say nothing new.
pub(crate) fn negated(nots: usize, inside: Expr, start: usize, end: usize) -> Expr {
    let not = |inside| ExprKind::Not(Box::new(inside)).at(start, end);
    if nots % 2 == 1 { not(inside) } else { not(not(inside)) }
}

/// `--a` is `+a`.
pub(crate) fn signed(signs: &[ArithmeticOp], inside: Expr, start: usize, end: usize) -> Expr {
    let minus = signs.iter().filter(|&&sign| sign == ArithmeticOp::Subtract).count();
    ExprKind::Signed(minus % 2 == 1, Box::new(inside)).at(start, end)
}

pub(crate) fn power(first: Expr, rest: Vec<Expr>, start: usize, end: usize) -> Expr {
    let rest = rest.into_iter().map(|it| (ArithmeticOp::Power, it)).collect();
    ExprKind::Arithmetic(Box::new(first), rest).at(start, end)
}

pub(crate) fn count_star(name: &Name, start: usize, end: usize) -> Built<Expr> {
    if name.text.eq_ignore_ascii_case("count") {
        return Ok(ExprKind::CountStar.at(start, end));
    }
    let message = format!("`{}(*)` means nothing", name.text);
    let fault = Fault::new(Code::UnexpectedSyntax, Span::new(start, end), message);
    Err(ParseError::User { error: fault.with_hint("only `count(*)` has a `*`") })
}

pub(crate) fn comprehension(
    variable: Option<Name>,
    path: PathPattern,
    filter: Option<Expr>,
    result: Expr,
) -> ExprKind {
    let path = PathPattern { variable, ..path };
    ExprKind::PatternComprehension(Box::new(PatternComprehension { path, filter, result }))
}
