//! Expressions: their variables, and their kinds as far as the text shows them.

use super::analyser::{Aggregation, Analyser, Checked, ExprContext};
use super::bindings::Binding;
use super::kinds::{Kind, Kinds};
use crate::error::{Code, Fault};
use crate::span::Span;
use crate::syntax::ast::{
    Access, Case, Expr, ExprKind, ListComprehension, MapItem, Name, PathPattern,
    PatternComprehension, QuantifierKind, Reduce, Selector, SubqueryBody, SubqueryKind,
};
use hexgraph_base::types::stack;

impl<'a> Analyser<'a> {
    /// Resolves the names of an expression, checks it, and returns its kind.
    pub(super) fn expr(&mut self, expr: &'a Expr) -> Checked<Kind> {
        if stack::check().is_err() {
            let message = "the expression is nested too deeply for the stack of its thread";
            return Err(Fault::new(Code::Limit, expr.span, message).with_hint("nest less"));
        }
        if let Some(kind) = self.merged_item(expr) {
            return kind;
        }
        // Only operands of AND, OR, XOR and NOT are conditions themselves.
        let patterns = std::mem::replace(&mut self.context.patterns, false);
        let kind = self.any_expr(expr, patterns);
        self.context.patterns = patterns;
        kind
    }

    fn any_expr(&mut self, expr: &'a Expr, patterns: bool) -> Checked<Kind> {
        match &expr.kind {
            ExprKind::Null => Ok(Kind::Null),
            ExprKind::Boolean(_) => Ok(Kind::Boolean),
            ExprKind::Integer(value) => integer(*value, expr.span),
            ExprKind::Float(_) => Ok(Kind::Float),
            ExprKind::String(_) => Ok(Kind::String),
            ExprKind::Parameter(name) => {
                self.parameters.insert(name);
                Ok(Kind::Any)
            }
            ExprKind::Variable(name) => self.variable(name, expr.span),
            ExprKind::List(items) => {
                let mut element = None;
                for item in items {
                    let kind = self.expr(item)?;
                    element = Some(element.map_or(kind.clone(), |it: Kind| it.join(kind)));
                }
                Ok(Kind::list(element.unwrap_or(Kind::Any)))
            }
            ExprKind::Map(entries) => {
                entries.iter().try_for_each(|(_, value)| self.expr(value).map(drop))?;
                Ok(Kind::Map)
            }
            ExprKind::Or(parts) => self.connective("`OR`", parts, patterns),
            ExprKind::Xor(parts) => self.connective("`XOR`", parts, patterns),
            ExprKind::And(parts) => self.connective("`AND`", parts, patterns),
            ExprKind::Not(inside) => {
                self.connective("`NOT`", std::slice::from_ref(inside), patterns)
            }
            ExprKind::Signed(true, inside) if is_smallest(inside) => Ok(Kind::Integer),
            ExprKind::Signed(_, inside) => {
                let kind = self.expr(inside)?;
                self.require(&kind, SIGNED, inside.span, "a sign")?;
                Ok(kind)
            }
            ExprKind::Compare(first, rest) => {
                self.expr(first)?;
                rest.iter().try_for_each(|(_, it)| self.expr(it).map(drop))?;
                Ok(Kind::Boolean)
            }
            ExprKind::Test(first, tests) => self.tests(first, tests),
            ExprKind::Arithmetic(first, rest) => self.arithmetic(first, rest),
            ExprKind::Access(of, steps) => self.accesses(of, steps),
            ExprKind::HasLabels(of, _) => {
                let kind = self.expr(of)?;
                self.require(&kind, Kinds::ELEMENT, of.span, "a test of labels")?;
                Ok(Kind::Boolean)
            }
            ExprKind::Call(call) => self.call(call, expr.span),
            ExprKind::CountStar => self.aggregate(expr.span, "count(*)", |_| Ok(Kind::Integer)),
            ExprKind::Case(case) => self.case(case),
            ExprKind::ListComprehension(over) => self.list_comprehension(over),
            ExprKind::PatternComprehension(it) => self.pattern_comprehension(it),
            ExprKind::Quantifier(kind, over) => self.quantifier(*kind, over),
            ExprKind::Reduce(it) => self.reduce(it),
            ExprKind::Pattern(path) => self.pattern(path, patterns),
            ExprKind::Subquery(kind, body) => self.subquery_expr(*kind, body),
            ExprKind::MapProjection(name, items) => self.map_projection(name, items),
        }
    }

    fn variable(&mut self, name: &str, span: Span) -> Checked<Kind> {
        let slot = self.resolve(name, span)?;
        Ok(self.scopes.kind(slot).clone())
    }

    /// An expression after `DISTINCT` or an aggregation that is one of the items: it sees the rows
    /// before.
    fn merged_item(&mut self, expr: &'a Expr) -> Option<Checked<Kind>> {
        let merged = self.merged.as_ref()?;
        if matches!(&expr.kind, ExprKind::Variable(name) if self.scopes.find(name).is_some())
            || !merged.items.contains(&expr.to_string())
        {
            return None;
        }
        let mut merged = self.merged.take()?;
        std::mem::swap(&mut merged.before, &mut self.scopes.frames[merged.level]);
        let aggregation = match self.context.aggregation {
            Aggregation::Refused(_) if merged.aggregates => Aggregation::Allowed,
            other => other,
        };
        let context = ExprContext { aggregation, patterns: self.context.patterns };
        let kind = self.within(context, |it| it.expr(expr));
        std::mem::swap(&mut merged.before, &mut self.scopes.frames[merged.level]);
        self.merged = Some(merged);
        Some(kind)
    }

    fn connective(&mut self, name: &str, parts: &'a [Expr], patterns: bool) -> Checked<Kind> {
        for part in parts {
            self.context.patterns = patterns;
            let kind = self.expr(part)?;
            self.require(&kind, Kinds::BOOLEAN, part.span, name)?;
        }
        Ok(Kind::Boolean)
    }

    fn accesses(&mut self, of: &'a Expr, steps: &'a [Access]) -> Checked<Kind> {
        let mut kind = self.expr(of)?;
        for step in steps {
            kind = match step {
                Access::Property(key) => {
                    let what = format!("`.{}`", key.text);
                    self.require(&kind, HAS_PROPERTIES, of.span, &what)?;
                    Kind::Any
                }
                Access::Index(index) => {
                    self.require(&kind, INDEXED, of.span, "`[...]`")?;
                    let position = self.expr(index)?;
                    let expected = match kind {
                        Kind::List(_) => Kinds::INTEGER,
                        Kind::Any | Kind::Null => Kinds::INTEGER.or(Kinds::STRING),
                        _ => Kinds::STRING,
                    };
                    self.require(&position, expected, index.span, "`[...]`")?;
                    kind.element()
                }
                Access::Slice(from, to) => {
                    self.require(&kind, Kinds::LIST, of.span, "`[..]`")?;
                    for bound in from.iter().chain(to) {
                        let position = self.expr(bound)?;
                        self.require(&position, Kinds::INTEGER, bound.span, "`[..]`")?;
                    }
                    kind
                }
            };
        }
        Ok(kind)
    }

    fn case(&mut self, case: &'a Case) -> Checked<Kind> {
        if let Some(subject) = &case.subject {
            self.expr(subject)?;
        }
        let mut result = Kind::Null;
        for (when, then) in &case.branches {
            self.context.patterns = case.subject.is_none();
            let kind = self.expr(when)?;
            self.context.patterns = false;
            if case.subject.is_none() {
                self.require(&kind, Kinds::BOOLEAN, when.span, "`CASE WHEN`")?;
            }
            result = result.join(self.expr(then)?);
        }
        match &case.otherwise {
            Some(otherwise) => Ok(result.join(self.expr(otherwise)?)),
            None => Ok(result),
        }
    }

    /// The list of a comprehension, and then what is inside, where `variable` is an element.
    fn over<T>(
        &mut self,
        variable: &'a Name,
        list: &'a Expr,
        step: impl FnOnce(&mut Self) -> Checked<T>,
    ) -> Checked<T> {
        let kind = self.expr(list)?;
        self.require(&kind, Kinds::LIST, list.span, "`IN`")?;
        self.scoped(|it| {
            it.bind(variable, kind.element());
            it.without_aggregates("a comprehension", step)
        })
    }

    fn list_comprehension(&mut self, over: &'a ListComprehension) -> Checked<Kind> {
        self.over(&over.variable, &over.list, |it| {
            if let Some(filter) = &over.filter {
                it.condition(filter, "`WHERE`")?;
            }
            match &over.result {
                Some(result) => it.expr(result).map(Kind::list),
                None => it.variable(&over.variable.text, over.variable.span).map(Kind::list),
            }
        })
    }

    fn quantifier(&mut self, kind: QuantifierKind, over: &'a ListComprehension) -> Checked<Kind> {
        let Some(filter) = &over.filter else {
            let message = format!("`{kind}` needs a condition");
            let fault = Fault::new(Code::UnexpectedSyntax, over.variable.span, message);
            return Err(fault.with_hint(format!("write `{kind}(x IN list WHERE x > 0)`")));
        };
        self.over(&over.variable, &over.list, |it| it.condition(filter, "`WHERE`"))?;
        Ok(Kind::Boolean)
    }

    fn reduce(&mut self, it: &'a Reduce) -> Checked<Kind> {
        self.expr(&it.start)?;
        self.over(&it.variable, &it.list, |analyser| {
            analyser.bind(&it.accumulator, Kind::Any);
            analyser.expr(&it.step).map(drop)
        })?;
        Ok(Kind::Any)
    }

    fn pattern_comprehension(&mut self, it: &'a PatternComprehension) -> Checked<Kind> {
        self.scoped(|analyser| {
            let paths = std::slice::from_ref(&it.path);
            analyser.patterns(paths, it.filter.as_ref(), Binding::New)?;
            let part = "a comprehension";
            analyser.without_aggregates(part, |inner| inner.expr(&it.result)).map(Kind::list)
        })
    }

    /// A pattern among expressions: a condition, or a path.
    pub(super) fn pattern(&mut self, path: &'a PathPattern, allowed: bool) -> Checked<Kind> {
        let kind = match path.selector {
            Selector::ShortestPath => Kind::Path,
            Selector::AllShortestPaths => Kind::list(Kind::Path),
            _ if allowed => Kind::Boolean,
            _ => {
                let message = "a pattern is a condition, not a value";
                let fault = Fault::new(Code::UnexpectedSyntax, path.span, message);
                return Err(fault.with_hint(
                    "write `EXISTS { pattern }`, `COUNT { pattern }` or `[pattern | value]`",
                ));
            }
        };
        self.patterns(std::slice::from_ref(path), None, Binding::Existing)?;
        Ok(kind)
    }

    fn subquery_expr(&mut self, kind: SubqueryKind, body: &'a SubqueryBody) -> Checked<Kind> {
        let merged = self.merged.take();
        let result = self.scoped(|it| match body {
            SubqueryBody::Patterns(paths, filter) => {
                it.patterns(paths, filter.as_ref(), Binding::New)?;
                Ok(Kind::Any)
            }
            SubqueryBody::Query(query) => it.subquery(kind, query),
        });
        self.merged = merged;
        let element = result?;
        Ok(match kind {
            SubqueryKind::Exists => Kind::Boolean,
            SubqueryKind::Count => Kind::Integer,
            SubqueryKind::Collect => Kind::list(element),
        })
    }

    fn map_projection(&mut self, name: &'a Name, items: &'a [MapItem]) -> Checked<Kind> {
        let kind = self.variable(&name.text, name.span)?;
        self.require(&kind, Kinds::KEYED, name.span, "a map projection")?;
        for item in items {
            match item {
                MapItem::All | MapItem::Property(_) => {}
                MapItem::Entry(_, value) => drop(self.expr(value)?),
                MapItem::Variable(name) => drop(self.variable(&name.text, name.span)?),
            }
        }
        Ok(Kind::Map)
    }
}

const SIGNED: Kinds = Kinds::NUMBER.or(Kinds::TEMPORAL);
const HAS_PROPERTIES: Kinds = Kinds::KEYED.or(Kinds::TEMPORAL).or(Kinds::POINT);
const INDEXED: Kinds = Kinds::KEYED.or(Kinds::LIST);

/// The magnitude of the smallest integer, which is larger than the largest.
const SMALLEST: u64 = 1 << 63;

fn is_smallest(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Integer(SMALLEST))
}

fn integer(value: u64, span: Span) -> Checked<Kind> {
    if i64::try_from(value).is_ok() {
        return Ok(Kind::Integer);
    }
    let fault = Fault::new(Code::IntegerOverflow, span, "the integer is outside of 64 bits");
    Err(fault.with_hint(format!("the largest is {}; `1e20` is a float", i64::MAX)))
}
