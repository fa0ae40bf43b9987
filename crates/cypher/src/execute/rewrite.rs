//! Expressions with other parts.

use super::slots::Uses;
use crate::execute::plan::{Expression, Operation, SlotIndex, ValueStep};
use crate::span::Span;
use rustc_hash::FxHashMap;

/// What replaces a part; `None` where it cannot be replaced.
type Each<'e> = &'e mut dyn FnMut(&Expression) -> Option<Expression>;

/// Expressions that replace slots.
pub(super) type Items = FxHashMap<SlotIndex, Expression>;

/// An expression with the items instead of the slots that they are for. `None` where a part with
/// variables of its own reads such a slot.
pub(super) fn inlined(expression: &Expression, items: &Items) -> Option<Expression> {
    if let Operation::Slot(slot) = &expression.operation {
        return Some(items.get(slot).unwrap_or(expression).clone());
    }
    if items.is_empty() || !Uses::of(expression).outer().iter().any(|it| items.contains_key(it)) {
        return Some(expression.clone());
    }
    rewritten(expression, &mut |it| inlined(it, items))
}

/// An expression whose direct parts are replaced. `None` for one with variables of its own.
pub(super) fn rewritten(expression: &Expression, each: Each<'_>) -> Option<Expression> {
    let operation = match &expression.operation {
        Operation::Constant(_) | Operation::Slot(_) => expression.operation.clone(),
        Operation::List(list) => Operation::List(all(list, each)?),
        Operation::Or(list) => Operation::Or(all(list, each)?),
        Operation::Xor(list) => Operation::Xor(all(list, each)?),
        Operation::And(list) => Operation::And(all(list, each)?),
        Operation::Not(inside) => Operation::Not(Box::new(each(inside)?)),
        Operation::Negative(inside) => Operation::Negative(Box::new(each(inside)?)),
        Operation::Compare(first, rest) => {
            let first = Box::new(each(first)?);
            let rest = rest.iter().map(|(op, it)| Some((*op, each(it)?)));
            Operation::Compare(first, rest.collect::<Option<_>>()?)
        }
        Operation::Arithmetic(first, rest) => {
            let first = Box::new(each(first)?);
            let rest = rest.iter().map(|(op, it)| Some((*op, each(it)?)));
            Operation::Arithmetic(first, rest.collect::<Option<_>>()?)
        }
        Operation::Call(callee, arguments) => Operation::Call(*callee, all(arguments, each)?),
        Operation::Case { subject, branches, otherwise } => {
            let subject = match subject {
                Some(it) => Some(Box::new(each(it)?)),
                None => None,
            };
            let branches = branches.iter().map(|(one, other)| Some((each(one)?, each(other)?)));
            let branches = branches.collect::<Option<_>>()?;
            Operation::Case { subject, branches, otherwise: Box::new(each(otherwise)?) }
        }
        Operation::Steps(first, steps) => {
            let first = each(first)?;
            return with_steps(first, steps, expression.span, each);
        }
        Operation::Map(_)
        | Operation::Comprehension { .. }
        | Operation::Quantifier(..)
        | Operation::Reduce { .. }
        | Operation::Subquery { .. }
        | Operation::Matches { .. }
        | Operation::Projection { .. } => return None,
    };
    Some(operation.at(expression.span))
}

fn all(list: &[Expression], each: Each<'_>) -> Option<Vec<Expression>> {
    list.iter().map(each).collect()
}

/// A value with steps whose parts are replaced.
pub(super) fn with_steps(
    first: Expression,
    steps: &[ValueStep],
    span: Span,
    each: Each<'_>,
) -> Option<Expression> {
    if steps.is_empty() {
        return Some(first);
    }
    let mut result = Vec::with_capacity(steps.len());
    for step in steps {
        result.push(match step {
            ValueStep::Text(test, it) => ValueStep::Text(*test, each(it)?),
            ValueStep::Matches(it) => ValueStep::Matches(each(it)?),
            ValueStep::In(it) => ValueStep::In(each(it)?),
            ValueStep::Index(it) => ValueStep::Index(each(it)?),
            ValueStep::Slice(from, to) => {
                let mut bound = |it: &Option<Expression>| match it {
                    Some(it) => each(it).map(Some),
                    None => Some(None),
                };
                ValueStep::Slice(bound(from)?, bound(to)?)
            }
            ValueStep::IsNull(_)
            | ValueStep::IsType(..)
            | ValueStep::Property(_)
            | ValueStep::HasLabels(_) => step.clone(),
        });
    }
    Some(Operation::Steps(Box::new(first), result).at(span))
}
