//! `WITH` and `RETURN`: their items, groups, order, and what is in scope after them.

use super::analyser::{Aggregation, Analyser, Checked, ExprContext, Merged};
use super::grouping::Grouping;
use super::kinds::{Kind, Kinds};
use super::scope::{Frame, Slot};
use super::walk::{ExprPart, parts};
use crate::error::{Code, Fault};
use crate::span::Span;
use crate::syntax::ast::{Clause, ClauseKind, Expr, ExprKind, Item, Projection};
use rustc_hash::FxHashSet;

/// An item that was analysed.
struct Projected<'a> {
    name: &'a str,
    slot: Slot,
    has_aggregate: bool,
}

impl<'a> Analyser<'a> {
    /// A `WITH` or `LET`, or a `RETURN`, which has no `filter` and gives its columns.
    pub(super) fn project(
        &mut self,
        clause: &'a Clause,
        projection: &'a Projection,
        filter: Option<&'a Expr>,
    ) -> Checked<Vec<(&'a str, Slot)>> {
        let is_return = matches!(clause.kind, ClauseKind::Return(_));
        let aggregation = match clause.kind {
            ClauseKind::Let(_) => Aggregation::Refused("`LET`"),
            _ => Aggregation::Allowed,
        };
        let mut items = Vec::with_capacity(projection.items.len());
        for item in &projection.items {
            items.push(self.item(item, is_return, aggregation)?);
        }
        if projection.star && !items.is_empty() {
            let count = self.scopes.current().len();
            self.count_names(count, clause.span)?;
        }
        self.check_names(projection, &items)?;
        let is_grouped = items.iter().any(|item| item.has_aggregate);
        if is_grouped {
            self.check_groups(projection, &items)?;
        }
        let mut columns = Vec::new();
        if projection.star && (is_return || projection.distinct || is_grouped) {
            columns = self.star_columns(is_return, clause.span)?;
        }
        columns.extend(items.iter().map(|item| (item.name, item.slot)));
        self.behind(projection, &items, filter, is_grouped)?;
        self.bounds(projection)?;
        Ok(columns)
    }

    /// The variables that `*` means.
    fn star_columns(&mut self, is_return: bool, span: Span) -> Checked<Vec<(&'a str, Slot)>> {
        let mut columns: Vec<(&str, Slot)> = self.scopes.current().entries().collect();
        if is_return && columns.is_empty() {
            let message = "`RETURN *` has no variables to return";
            let fault = Fault::new(Code::NoVariablesInScope, span, message);
            return Err(fault.with_hint("name a variable in the pattern: `MATCH (n) RETURN *`"));
        }
        self.count_names(columns.len(), span)?;
        // `*` has no order of its own; that of names is the same for all texts.
        columns.sort_unstable();
        Ok(columns)
    }

    fn item(
        &mut self,
        item: &'a Item,
        is_return: bool,
        aggregation: Aggregation,
    ) -> Checked<Projected<'a>> {
        let before = self.aggregates;
        let context = ExprContext { aggregation, patterns: false };
        let kind = self.within(context, |it| it.expr(&item.expr))?;
        let has_aggregate = self.aggregates > before;
        let name = item.column_name(self.text);
        let is_named = item.alias.is_some() || matches!(item.expr.kind, ExprKind::Variable(_));
        if !is_named && !is_return {
            let message = "an item of `WITH` that is no variable needs a name";
            let fault = Fault::new(Code::NoExpressionAlias, item.expr.span, message);
            return Err(match name.len() {
                0..=40 => fault.with_hint(format!("write `{name} AS name`")),
                _ => fault.with_hint("add `AS name`"),
            });
        }
        let slot = match &item.expr.kind {
            // A variable that is passed on under its name stays the same one.
            ExprKind::Variable(variable) if **variable == *name => {
                self.resolve(variable, item.expr.span)?
            }
            _ => self.scopes.create(kind),
        };
        if let Some(alias) = &item.alias {
            self.slots.insert(alias.span.start, slot);
        }
        Ok(Projected { name, slot, has_aggregate })
    }

    fn check_names(&mut self, projection: &Projection, items: &[Projected<'a>]) -> Checked<()> {
        let mut names = FxHashSet::default();
        if projection.star && !items.is_empty() {
            names.extend(self.scopes.current().entries().map(|(name, _)| name));
        }
        for (item, Item { expr, alias, .. }) in items.iter().zip(&projection.items) {
            let span = alias.as_ref().map_or(expr.span, |alias| alias.span);
            if !names.insert(item.name) {
                let message = format!("two columns have the name `{}`", item.name);
                let fault = Fault::new(Code::ColumnNameConflict, span, message);
                return Err(fault.with_hint("give each a name of its own: `AS name`"));
            }
            let is_new = self.scopes.find(item.name) != Some(item.slot);
            if is_new && alias.is_some() && self.scopes.is_outer(item.name) {
                let message =
                    format!("the variable `{}` exists outside of the subquery", item.name);
                let fault = Fault::new(Code::VariableAlreadyBound, span, message);
                return Err(fault.with_hint("choose another name"));
            }
        }
        Ok(())
    }

    fn check_groups(&mut self, projection: &'a Projection, items: &[Projected<'a>]) -> Checked<()> {
        let zipped = || projection.items.iter().zip(items);
        let keys = zipped().filter(|(_, it)| !it.has_aggregate);
        let mut keys: FxHashSet<String> = keys.map(|(item, _)| item.expr.to_string()).collect();
        if projection.star {
            let names = self.scopes.current().entries();
            keys.extend(names.map(|(text, _)| name_text(text)));
        }
        let grouped = self.scopes.current().slots().collect();
        let grouping = Grouping { slots: &self.slots, keys, grouped };
        let mut aggregated = zipped().filter(|(_, it)| it.has_aggregate);
        aggregated.try_for_each(|(item, _)| grouping.check(&item.expr))
    }

    /// `ORDER BY`, and the `WHERE` of `WITH`: they see the items, and the rows before. Where rows
    /// were merged, of these only what the items say. Afterwards the items alone are in scope.
    fn behind(
        &mut self,
        projection: &'a Projection,
        items: &[Projected<'a>],
        filter: Option<&'a Expr>,
        is_grouped: bool,
    ) -> Checked<()> {
        if projection.star && items.is_empty() && !projection.distinct {
            // All variables stay in scope.
            let outside = self.merged.take();
            let result = self.order_and_filter(projection, filter);
            self.merged = outside;
            return result;
        }
        let level = self.scopes.frames.len() - 1;
        let mut after = Frame::default();
        if projection.star {
            self.scopes.current().entries().for_each(|(name, slot)| after.insert(name, slot));
        }
        items.iter().for_each(|item| after.insert(item.name, item.slot));
        if projection.distinct || is_grouped {
            let before = std::mem::replace(self.scopes.current(), after);
            let printed = printed_items(projection);
            let merged = Merged { before, level, items: printed, aggregates: is_grouped };
            let outside = self.merged.replace(merged);
            let result = self.order_and_filter(projection, filter);
            let merged = std::mem::replace(&mut self.merged, outside);
            let before = merged.expect("it is put back behind each item").before;
            self.scopes.current().record_dropped(before);
            return result;
        }
        let outside = self.merged.take();
        self.scopes.frames.push(after);
        let result = self.order_and_filter(projection, filter);
        self.merged = outside;
        let mut after = self.scopes.frames.pop().expect("it was pushed before");
        let before = std::mem::take(self.scopes.current());
        after.record_dropped(before);
        *self.scopes.current() = after;
        result
    }

    fn order_and_filter(
        &mut self,
        projection: &'a Projection,
        filter: Option<&'a Expr>,
    ) -> Checked<()> {
        for key in &projection.order {
            self.without_aggregates("`ORDER BY` unless it is an item", |it| it.expr(&key.expr))?;
        }
        if let Some(merged) = &mut self.merged {
            merged.aggregates = false;
        }
        filter.map_or(Ok(()), |filter| self.condition(filter, "`WHERE`"))
    }

    fn bounds(&mut self, projection: &'a Projection) -> Checked<()> {
        let bounds = [("`SKIP`", &projection.skip), ("`LIMIT`", &projection.limit)];
        for (word, bound) in bounds {
            let Some(bound) = bound else { continue };
            require_constant(word, bound)?;
            let kind = self.without_aggregates(word, |it| it.expr(bound))?;
            if kind == Kind::Null {
                let message = format!("{word} needs an integer, not null");
                return Err(Fault::new(Code::InvalidArgumentType, bound.span, message));
            }
            self.require(&kind, Kinds::INTEGER, bound.span, word)?;
            if matches!(&bound.kind, ExprKind::Signed(true, inside)
                if matches!(inside.kind, ExprKind::Integer(1..)))
            {
                let message = format!("{word} is below zero");
                return Err(Fault::new(Code::NegativeIntegerArgument, bound.span, message)
                    .with_hint("the smallest number is 0"));
            }
        }
        Ok(())
    }
}

fn printed_items(projection: &Projection) -> FxHashSet<String> {
    let mut printed: FxHashSet<String> =
        projection.items.iter().map(|item| item.expr.to_string()).collect();
    // An aggregate inside of an item can be a key of the order on its own.
    let mut inside: Vec<&Expr> = projection.items.iter().map(|item| &item.expr).collect();
    while let Some(expr) = inside.pop() {
        if super::grouping::is_aggregate(expr) {
            printed.insert(expr.to_string());
            continue;
        }
        let exprs = parts(expr).into_iter().filter_map(|part| match part {
            ExprPart::Expr(expr) => Some(expr),
            ExprPart::Name(_) => None,
        });
        inside.extend(exprs);
    }
    printed
}

fn name_text(name: &str) -> String {
    ExprKind::Variable(name.into()).at(0, 0).to_string()
}

/// `SKIP` and `LIMIT` are computed once, before any row is read.
fn require_constant(word: &str, bound: &Expr) -> Checked<()> {
    let mut inside = vec![bound];
    while let Some(expr) = inside.pop() {
        let is_constant = !matches!(
            expr.kind,
            ExprKind::Variable(_)
                | ExprKind::Pattern(_)
                | ExprKind::PatternComprehension(_)
                | ExprKind::Subquery(..)
                | ExprKind::MapProjection(..)
        );
        if !is_constant {
            return Err(not_constant(word, expr.span));
        }
        for part in parts(expr) {
            match part {
                ExprPart::Expr(expr) => inside.push(expr),
                ExprPart::Name(name) => return Err(not_constant(word, name.span)),
            }
        }
    }
    Ok(())
}

fn not_constant(word: &str, span: Span) -> Fault {
    let message = format!("{word} needs a constant, and this depends on the row");
    let fault = Fault::new(Code::NonConstantExpression, span, message);
    fault.with_hint("write a number or a parameter: `LIMIT $count`")
}
