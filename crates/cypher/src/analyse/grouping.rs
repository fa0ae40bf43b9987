//! Aggregation: what an item with an aggregate may refer to.

use super::analyser::Checked;
use super::functions::Signature;
use super::scope::Slot;
use super::walk::{ExprPart, parts};
use crate::error::{Code, Fault};
use crate::span::Span;
use crate::syntax::ast::{Expr, ExprKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// The groups of a projection.
pub(super) struct Grouping<'t> {
    /// The variable of each name, by its position.
    pub(super) slots: &'t FxHashMap<u32, Slot>,
    /// The items without aggregates, printed.
    pub(super) keys: FxHashSet<String>,
    /// The variables of the rows that are grouped.
    pub(super) grouped: FxHashSet<Slot>,
}

impl Grouping<'_> {
    /// Checks that an expression has one value for each group: its variables are in an aggregate,
    /// or in an expression that is a key.
    pub(super) fn check(&self, expr: &Expr) -> Checked<()> {
        // The analysis walked this deep before.
        if is_aggregate(expr) || self.keys.contains(&expr.to_string()) {
            return Ok(());
        }
        if let ExprKind::Variable(name) = &expr.kind {
            return self.check_name(name, expr.span);
        }
        parts(expr).into_iter().try_for_each(|part| match part {
            ExprPart::Expr(expr) => self.check(expr),
            ExprPart::Name(name) if self.keys.contains(&name.to_string()) => Ok(()),
            ExprPart::Name(name) => self.check_name(&name.text, name.span),
        })
    }

    fn check_name(&self, name: &str, span: Span) -> Checked<()> {
        let is_grouped = self.slots.get(&span.start).is_some_and(|it| self.grouped.contains(it));
        if !is_grouped {
            return Ok(());
        }
        let message = format!("`{name}` has many values in a group, outside of the aggregate");
        let fault = Fault::new(Code::AmbiguousAggregationExpression, span, message);
        Err(fault.with_hint(
            "make the expression around it an item of its own, or put it into an aggregate",
        ))
    }
}

/// Whether an expression is the call of an aggregate.
pub(super) fn is_aggregate(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::CountStar => true,
        ExprKind::Call(call) => Signature::named(&call.name.text).is_some_and(|it| it.is_aggregate),
        _ => false,
    }
}
