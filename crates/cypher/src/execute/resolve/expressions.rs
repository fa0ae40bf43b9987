//! Expressions.

use super::resolver::Resolver;
use crate::ast::{
    Access, Case, Expr, ExprKind, LabelExpr, ListComprehension, MapItem, Name, Reduce, Test,
};
use crate::execute::graph::NameKind;
use crate::execute::plan::{Expression, LabelTest, ListLoop, Operation, ValueStep};
use crate::span::Span;
use hexgraph_base::types::{Result, stack};
use hexgraph_scalar::{TextTest, Value};

impl<'a> Resolver<'a> {
    /// Resolves an expression.
    pub(super) fn expression(&mut self, expr: &'a Expr) -> Result<Expression> {
        stack::check()?;
        if let Some((_, slot)) = self.computed.iter().find(|(computed, _)| *computed == expr) {
            self.used.push(*slot);
            return Ok(Operation::Slot(*slot).at(expr.span));
        }
        Ok(self.operation(&expr.kind, expr.span)?.at(expr.span))
    }

    pub(super) fn expressions(&mut self, list: &'a [Expr]) -> Result<Vec<Expression>> {
        list.iter().map(|it| self.expression(it)).collect()
    }

    fn boxed(&mut self, expr: &'a Expr) -> Result<Box<Expression>> {
        self.expression(expr).map(Box::new)
    }

    fn optional(&mut self, expr: Option<&'a Expr>) -> Result<Option<Expression>> {
        expr.map(|it| self.expression(it)).transpose()
    }

    fn operation(&mut self, kind: &'a ExprKind, span: Span) -> Result<Operation> {
        Ok(match kind {
            ExprKind::Null => Operation::Constant(Value::Null),
            ExprKind::Boolean(value) => Operation::Constant(Value::Bool(*value)),
            ExprKind::Integer(value) => Operation::Constant(self.integer(*value, false, span)?),
            ExprKind::Float(value) => Operation::Constant(Value::Float(*value)),
            ExprKind::String(text) => Operation::Constant(Value::from(&**text)),
            ExprKind::Parameter(name) => Operation::Constant(self.parameter(name, span)?),
            ExprKind::Variable(name) => self.variable(name, span)?,
            ExprKind::List(items) => Operation::List(self.expressions(items)?),
            ExprKind::Map(entries) => Operation::Map(self.entries(entries)?),
            ExprKind::Or(list) => Operation::Or(self.expressions(list)?),
            ExprKind::Xor(list) => Operation::Xor(self.expressions(list)?),
            ExprKind::And(list) => Operation::And(self.expressions(list)?),
            ExprKind::Not(inside) => Operation::Not(self.boxed(inside)?),
            ExprKind::Compare(first, rest) => {
                let first = self.boxed(first)?;
                Operation::Compare(first, self.operands(rest)?)
            }
            ExprKind::Arithmetic(first, rest) => {
                let first = self.boxed(first)?;
                Operation::Arithmetic(first, self.operands(rest)?)
            }
            ExprKind::Signed(negative, inside) => self.signed(*negative, inside)?,
            ExprKind::Test(value, tests) => self.tests(value, tests)?,
            ExprKind::Access(value, accesses) => self.accesses(value, accesses)?,
            ExprKind::HasLabels(value, labels) => {
                self.note_labels(labels, NameKind::LabelOrType)?;
                let test = ValueStep::HasLabels(self.label_test(labels)?);
                Operation::Steps(self.boxed(value)?, vec![test])
            }
            ExprKind::Call(call) => self.call(call, span)?,
            ExprKind::CountStar => self.count_star(span)?,
            ExprKind::Case(case) => self.case(case, span)?,
            ExprKind::ListComprehension(it) => self.comprehension(it)?,
            ExprKind::PatternComprehension(it) => self.pattern_comprehension(it)?,
            ExprKind::Quantifier(kind, it) => self.scoped(|resolver| {
                let loops = Box::new(resolver.list_loop(it)?);
                Ok(Operation::Quantifier(*kind, loops))
            })?,
            ExprKind::Reduce(it) => self.reduce(it)?,
            ExprKind::Pattern(path) => self.pattern_predicate(path)?,
            ExprKind::Subquery(kind, body) => self.subquery_expression(*kind, body)?,
            ExprKind::MapProjection(name, items) => self.projection_of_map(name, items)?,
        })
    }

    fn operands<T: Copy>(&mut self, rest: &'a [(T, Expr)]) -> Result<Vec<(T, Expression)>> {
        rest.iter().map(|(operator, it)| Ok((*operator, self.expression(it)?))).collect()
    }

    pub(super) fn entries(
        &mut self,
        entries: &'a [(Name, Expr)],
    ) -> Result<Vec<(std::sync::Arc<str>, Expression)>> {
        let entries = entries.iter();
        entries
            .map(|(key, it)| Ok((std::sync::Arc::from(&*key.text), self.expression(it)?)))
            .collect()
    }

    fn integer(&self, value: u64, negative: bool, span: Span) -> Result<Value> {
        let signed = if negative { -i128::from(value) } else { i128::from(value) };
        i64::try_from(signed).map(Value::Int).map_err(|_| {
            let message = format!("the integer {signed} is outside of 64 bits");
            self.failure(span, message, "write it as a float")
        })
    }

    fn signed(&mut self, negative: bool, inside: &'a Expr) -> Result<Operation> {
        match inside.kind {
            ExprKind::Integer(value) => {
                Ok(Operation::Constant(self.integer(value, negative, inside.span)?))
            }
            _ if negative => Ok(Operation::Negative(self.boxed(inside)?)),
            _ => Ok(self.expression(inside)?.operation),
        }
    }

    fn tests(&mut self, value: &'a Expr, tests: &'a [Test]) -> Result<Operation> {
        let value = self.boxed(value)?;
        let mut steps = Vec::with_capacity(tests.len());
        for test in tests {
            steps.push(match test {
                Test::StartsWith(it) => ValueStep::Text(TextTest::StartsWith, self.expression(it)?),
                Test::EndsWith(it) => ValueStep::Text(TextTest::EndsWith, self.expression(it)?),
                Test::Contains(it) => ValueStep::Text(TextTest::Contains, self.expression(it)?),
                Test::Matches(it) => ValueStep::Matches(self.expression(it)?),
                Test::In(it) => ValueStep::In(self.expression(it)?),
                Test::IsNull(negated) => ValueStep::IsNull(*negated),
                Test::IsType(negated, name) => ValueStep::IsType(*negated, name.clone()),
            });
        }
        Ok(Operation::Steps(value, steps))
    }

    fn accesses(&mut self, value: &'a Expr, accesses: &'a [Access]) -> Result<Operation> {
        let value = self.boxed(value)?;
        if let (Operation::Slot(slot), Some(Access::Property(name))) =
            (&value.operation, accesses.first())
            && self.nodes.contains(slot)
        {
            self.note_name(NameKind::Property, name);
        }
        let mut steps = Vec::with_capacity(accesses.len());
        for access in accesses {
            steps.push(match access {
                Access::Property(name) => ValueStep::Property((&*name.text).into()),
                Access::Index(it) => ValueStep::Index(self.expression(it)?),
                Access::Slice(from, to) => {
                    let from = self.optional(from.as_ref())?;
                    ValueStep::Slice(from, self.optional(to.as_ref())?)
                }
            });
        }
        Ok(Operation::Steps(value, steps))
    }

    /// Resolves a condition on labels or types.
    pub(super) fn label_test(&self, labels: &LabelExpr) -> Result<LabelTest> {
        let types = self.types_of(labels)?;
        Ok(LabelTest { labels: labels.clone(), types })
    }

    fn case(&mut self, case: &'a Case, span: Span) -> Result<Operation> {
        let subject = self.optional(case.subject.as_ref())?.map(Box::new);
        let mut branches = Vec::with_capacity(case.branches.len());
        for (when, then) in &case.branches {
            branches.push((self.expression(when)?, self.expression(then)?));
        }
        let otherwise = match &case.otherwise {
            Some(it) => self.expression(it)?,
            None => Operation::Constant(Value::Null).at(span),
        };
        Ok(Operation::Case { subject, branches, otherwise: Box::new(otherwise) })
    }

    /// Resolves a loop; its variable is visible to what is resolved next.
    fn list_loop(&mut self, it: &'a ListComprehension) -> Result<ListLoop> {
        let list = self.expression(&it.list)?;
        let slot = self.bind_local(&it.variable.text);
        let filter = self.optional(it.filter.as_ref())?;
        Ok(ListLoop { slot, list, filter })
    }

    fn comprehension(&mut self, it: &'a ListComprehension) -> Result<Operation> {
        self.scoped(|resolver| {
            let loops = Box::new(resolver.list_loop(it)?);
            let result = resolver.optional(it.result.as_ref())?.map(Box::new);
            Ok(Operation::Comprehension { loops, result })
        })
    }

    fn reduce(&mut self, it: &'a Reduce) -> Result<Operation> {
        let start = self.boxed(&it.start)?;
        let list = self.expression(&it.list)?;
        self.scoped(|resolver| {
            let accumulator = resolver.bind_local(&it.accumulator.text);
            let slot = resolver.bind_local(&it.variable.text);
            let step = resolver.boxed(&it.step)?;
            let loops = Box::new(ListLoop { slot, list, filter: None });
            Ok(Operation::Reduce { accumulator, start, loops, step })
        })
    }

    fn projection_of_map(&mut self, name: &'a Name, items: &'a [MapItem]) -> Result<Operation> {
        let base = Box::new(self.variable(&name.text, name.span)?.at(name.span));
        let (mut all, mut entries) = (false, Vec::new());
        for item in items {
            entries.push(match item {
                MapItem::All => {
                    all = true;
                    continue;
                }
                MapItem::Property(key) => {
                    let steps = vec![ValueStep::Property((&*key.text).into())];
                    ((&*key.text).into(), Operation::Steps(base.clone(), steps).at(key.span))
                }
                MapItem::Entry(key, it) => ((&*key.text).into(), self.expression(it)?),
                MapItem::Variable(it) => {
                    ((&*it.text).into(), self.variable(&it.text, it.span)?.at(it.span))
                }
            });
        }
        Ok(Operation::Projection { base, all, entries })
    }
}
