//! The value of an expression for a row.

use super::execution::{DONE, Execution, MORE, Row};
use crate::ast::{ArithmeticOp, CompareOp, SubqueryKind};
use crate::execute::plan::{Expression, MatchPlan, Operation, QueryPlan, SlotIndex};
use crate::span::Span;
use hexgraph_base::types::{Result, stack};
use hexgraph_scalar::{
    Arithmetic, Comparison, Value, and, arithmetic, compare, equals, negate, or, truth, xor,
};

impl Execution<'_> {
    /// Evaluates an expression. Comprehensions and subqueries in it use slots of their own.
    pub(in crate::execute) fn value(
        &self,
        expression: &Expression,
        row: &mut Row,
    ) -> Result<Value> {
        let span = expression.span;
        match &expression.operation {
            Operation::Constant(value) => Ok(value.clone()),
            Operation::Slot(slot) => Ok(row[*slot].clone()),
            other => {
                stack::check()?;
                self.compound(other, span, row)
            }
        }
    }

    /// Evaluates a condition; `None` is null.
    pub(super) fn truth(&self, condition: &Expression, row: &mut Row) -> Result<Option<bool>> {
        let value = self.value(condition, row)?;
        self.at(condition.span, truth(&value))
    }

    /// Whether a condition is true.
    pub(in crate::execute) fn holds(&self, condition: &Expression, row: &mut Row) -> Result<bool> {
        Ok(self.truth(condition, row)? == Some(true))
    }

    fn compound(&self, operation: &Operation, span: Span, row: &mut Row) -> Result<Value> {
        match operation {
            Operation::Constant(value) => Ok(value.clone()),
            Operation::Slot(slot) => Ok(row[*slot].clone()),
            Operation::List(items) => self.list(items, span, row),
            Operation::Map(entries) => {
                let entries = self.entries(entries, row)?;
                self.at(span, Value::map(entries))
            }
            Operation::Or(list) => self.logic(list, Some(false), or, Some(true), row),
            Operation::And(list) => self.logic(list, Some(true), and, Some(false), row),
            Operation::Xor(list) => self.logic(list, Some(false), xor, None, row),
            Operation::Not(inside) => Ok(self.truth(inside, row)?.map(|it| !it).into()),
            Operation::Compare(first, rest) => self.comparisons(first, rest, row),
            Operation::Arithmetic(first, rest) => self.sums(first, rest, row),
            Operation::Negative(inside) => {
                let value = self.value(inside, row)?;
                self.at(span, negate(value))
            }
            Operation::Steps(first, steps) => self.steps(first, steps, row),
            Operation::Call(callee, arguments) => self.call(*callee, arguments, span, row),
            Operation::Case { subject, branches, otherwise } => {
                self.case(subject.as_deref(), branches, otherwise, row)
            }
            Operation::Comprehension { loops, result } => {
                self.comprehension(loops, result.as_deref(), span, row)
            }
            Operation::Quantifier(kind, loops) => self.quantifier(*kind, loops, row),
            Operation::Reduce { accumulator, start, loops, step } => {
                self.reduce(*accumulator, start, loops, step, row)
            }
            Operation::Subquery { kind: SubqueryKind::Collect, plan, .. } => {
                self.subquery(SubqueryKind::Collect, plan, span, row)
            }
            Operation::Subquery { kind, plan, own } => {
                self.remembered(*own, (*kind, plan), span, row)
            }
            Operation::Matches { plan, result } => self.matches_of(plan, result, span, row),
            Operation::Projection { base, all, entries } => {
                self.projection(base, *all, entries, span, row)
            }
        }
    }

    pub(super) fn values(&self, list: &[Expression], row: &mut Row) -> Result<Vec<Value>> {
        list.iter().map(|it| self.value(it, row)).collect()
    }

    fn list(&self, items: &[Expression], span: Span, row: &mut Row) -> Result<Value> {
        let items = self.values(items, row)?;
        self.at(span, Value::list(items))
    }

    /// `AND`, `OR` and `XOR`. The first part that decides the result is the last that is evaluated;
    /// the others are still no error then.
    fn logic(
        &self,
        list: &[Expression],
        start: Option<bool>,
        join: fn(Option<bool>, Option<bool>) -> Option<bool>,
        decisive: Option<bool>,
        row: &mut Row,
    ) -> Result<Value> {
        let mut result = start;
        for it in list {
            result = join(result, self.truth(it, row)?);
            if decisive.is_some() && result == decisive {
                break;
            }
        }
        Ok(result.into())
    }

    fn comparisons(
        &self,
        first: &Expression,
        rest: &[(CompareOp, Expression)],
        row: &mut Row,
    ) -> Result<Value> {
        let mut left = self.value(first, row)?;
        let mut result = Some(true);
        for (operator, right) in rest {
            let right = self.value(right, row)?;
            result = and(result, compared(&left, *operator, &right));
            if result == Some(false) {
                break;
            }
            left = right;
        }
        Ok(result.into())
    }

    fn sums(
        &self,
        first: &Expression,
        rest: &[(ArithmeticOp, Expression)],
        row: &mut Row,
    ) -> Result<Value> {
        let mut left = self.value(first, row)?;
        for (operator, right) in rest {
            let is_joined = *operator == ArithmeticOp::Concatenate;
            let operator = match operator {
                ArithmeticOp::Add | ArithmeticOp::Concatenate => Arithmetic::Add,
                ArithmeticOp::Subtract => Arithmetic::Subtract,
                ArithmeticOp::Multiply => Arithmetic::Multiply,
                ArithmeticOp::Divide => Arithmetic::Divide,
                ArithmeticOp::Modulo => Arithmetic::Modulo,
                ArithmeticOp::Power => Arithmetic::Power,
            };
            let span = right.span;
            let right = self.value(right, row)?;
            if is_joined && !are_joined(&left, &right) {
                let message = format!(
                    "`||` joins two strings or two lists, not {} and {}",
                    left.kind().name(),
                    right.kind().name()
                );
                return Err(self.failure(span, message, "convert a value by `toString`"));
            }
            left = self.at(span, arithmetic(left, operator, right, self.context))?;
        }
        Ok(left)
    }

    fn case(
        &self,
        subject: Option<&Expression>,
        branches: &[(Expression, Expression)],
        otherwise: &Expression,
        row: &mut Row,
    ) -> Result<Value> {
        let subject = subject.map(|it| self.value(it, row)).transpose()?;
        for (when, then) in branches {
            let is_chosen = match &subject {
                None => self.holds(when, row)?,
                Some(subject) => {
                    let value = self.value(when, row)?;
                    equals(subject, &value) == Some(true)
                }
            };
            if is_chosen {
                return self.value(then, row);
            }
        }
        self.value(otherwise, row)
    }

    /// The result of a subquery: an earlier one with the same outer values, where there is one.
    fn remembered(
        &self,
        own: SlotIndex,
        (kind, plan): (SubqueryKind, &QueryPlan),
        span: Span,
        row: &mut Row,
    ) -> Result<Value> {
        let Some(key) = self.memos.key(own, row, plan, self.graph) else {
            return self.subquery(kind, plan, span, row);
        };
        if let Some(result) = self.memos.get(own, &key) {
            return Ok(result);
        }
        let result = self.subquery(kind, plan, span, row)?;
        self.memos.insert(own, key, &result)?;
        Ok(result)
    }

    fn subquery(
        &self,
        kind: SubqueryKind,
        plan: &QueryPlan,
        span: Span,
        row: &mut Row,
    ) -> Result<Value> {
        let (mut count, mut items, mut reserved) = (0_i64, Vec::new(), self.reservation());
        let column = plan.columns.first().copied();
        let _ = self.query(plan, row, &mut |row| {
            count += 1;
            match (kind, column) {
                (SubqueryKind::Exists, _) => return Ok(DONE),
                (SubqueryKind::Collect, Some(column)) => {
                    reserved.grow(super::execution::weight(&row[column]))?;
                    items.push(row[column].clone());
                }
                _ => {}
            }
            Ok(MORE)
        })?;
        match kind {
            SubqueryKind::Exists => Ok(Value::Bool(0 < count)),
            SubqueryKind::Count => Ok(Value::Int(count)),
            SubqueryKind::Collect => self.at(span, Value::list(items)),
        }
    }

    fn matches_of(
        &self,
        plan: &MatchPlan,
        result: &Expression,
        span: Span,
        row: &mut Row,
    ) -> Result<Value> {
        let (mut items, mut reserved) = (Vec::new(), self.reservation());
        let _ = self.matches(plan, row, &mut |row| {
            let value = self.value(result, row)?;
            reserved.grow(super::execution::weight(&value))?;
            items.push(value);
            Ok(MORE)
        })?;
        self.at(span, Value::list(items))
    }
}

fn compared(left: &Value, operator: CompareOp, right: &Value) -> Option<bool> {
    match operator {
        CompareOp::Equal => equals(left, right),
        CompareOp::Unequal => equals(left, right).map(|it| !it),
        CompareOp::Less => compare(left, Comparison::Less, right),
        CompareOp::LessEqual => compare(left, Comparison::LessOrEqual, right),
        CompareOp::Greater => compare(left, Comparison::Greater, right),
        CompareOp::GreaterEqual => compare(left, Comparison::GreaterOrEqual, right),
    }
}

/// Whether `||` is possible: both are strings, or lists, or one is null.
fn are_joined(one: &Value, other: &Value) -> bool {
    matches!(
        (one, other),
        (Value::Null, _)
            | (_, Value::Null)
            | (Value::String(_), Value::String(_))
            | (Value::List(_), Value::List(_))
    )
}
