//! Lowers aggregates: of a predicate in the selection of `@groupby`, of a variable anywhere else.

use super::fields::FieldContext;
use crate::lower::request::Lowering;
use crate::syntax::ast::{FieldItem, Value};
use hexgraph_base::plan::{Aggregate, Field, FieldKind, Fraction};
use hexgraph_base::types::{Error, Result};

/// Returns what may occur in a block without a function, for a hint.
pub(super) fn empty_block_holds() -> String {
    format!("such a block holds only math and {} of variables", Aggregate::names())
}

impl<'a> Lowering<'a> {
    /// Lowers a call of an aggregate function.
    pub(super) fn aggregate(
        &mut self,
        item: &'a FieldItem,
        op: Aggregate,
        arguments: &'a [Value],
        context: FieldContext,
    ) -> Result<Field> {
        let (op, arguments) = self.with_fraction(item, op, arguments, context)?;
        match (arguments, context.in_group) {
            ([Value::Word(name, langs)], true) => {
                let langs = langs.as_ref().map(|langs| self.langs(langs)).transpose()?;
                let name = self.text(name);
                if matches!(op, Aggregate::Holistic(_)) {
                    self.check_holistic(item, op, name)?;
                }
                let langs = langs.unwrap_or_default();
                let kind = FieldKind::AggregatePredicate { op, name: name.to_owned(), langs };
                self.plain(item, kind, op.call(name))
            }
            ([Value::Call(call)], false) if self.text(&call.name).eq_ignore_ascii_case("val") => {
                let var = self.only_variable(call)?;
                let name = match &call.arguments[..] {
                    [Value::Word(name, _)] => self.text(name),
                    _ => "",
                };
                let key = op.call(&format!("val({name})"));
                self.plain(item, FieldKind::AggregateVar(op, var), key)
            }
            (arguments, in_group) => Err(self.wrong_aggregate(item, op, arguments, in_group)),
        }
    }

    /// Reads the fraction after the argument, where the function has one. Returns the function
    /// with it, and the other arguments.
    fn with_fraction(
        &self,
        item: &'a FieldItem,
        op: Aggregate,
        arguments: &'a [Value],
        context: FieldContext,
    ) -> Result<(Aggregate, &'a [Value])> {
        if op.fraction().is_none() {
            return Ok((op, arguments));
        }
        let name = op.name();
        let of = if context.in_group { "predicate" } else { "val(x)" };
        let example = op.call(of);
        let [argument @ .., fraction] = arguments else {
            let message = format!("`{name}` without arguments");
            return Err(self.error_with(item.at, message, format!("write `{example}`")));
        };
        if argument.is_empty() {
            let message = format!("`{name}` without a fraction");
            let hint = format!("write `{example}`; the fraction 0.5 is the median");
            return Err(self.error_with(item.at, message, hint));
        }
        if !matches!(fraction, Value::Word(_, None) | Value::Quoted(_) | Value::Variable(_)) {
            let message = format!("the last argument of `{name}` is no fraction");
            return Err(self.error_with(item.at, message, format!("write `{example}`")));
        }
        let text = self.scalar(item.at, fraction)?;
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        let Some(number) = number else {
            let message = format!("the fraction of `{name}` is `{text}`, which is no number");
            return Err(self.error_with(item.at, message, format!("write `{example}`")));
        };
        let Some(fraction) = Fraction::new(number) else {
            let message = format!("the fraction of `{name}` is {text}, not between 0 and 1");
            let hint = match (1.0..=100.0).contains(&number) {
                true => format!("of {text} percent it is {}", number / 100.0),
                false => format!("write `{example}`"),
            };
            return Err(self.error_with(item.at, message, hint));
        };
        Ok((op.with_fraction(fraction), argument))
    }

    /// Refuses what has no values that could be aggregated.
    fn check_holistic(&self, item: &'a FieldItem, op: Aggregate, name: &str) -> Result<()> {
        if name == "uid" {
            let message = format!("`{}` of `uid`", op.call("uid"));
            let hint = "nodes are different: `count(uid)` counts those of a group";
            return Err(self.error_with(item.at, message, hint));
        }
        if let Some(edge) = name.strip_prefix('~') {
            let message = format!("`{}` of edges backwards", op.call(name));
            let hint = format!("edges have values in their own direction: `{}`", op.call(edge));
            return Err(self.error_with(item.at, message, hint));
        }
        Ok(())
    }

    fn wrong_aggregate(
        &self,
        item: &'a FieldItem,
        op: Aggregate,
        arguments: &'a [Value],
        in_group: bool,
    ) -> Error {
        let name = op.name();
        if !in_group {
            let hint = format!("write `{}`", op.call("val(x)"));
            return self.error_with(item.at, format!("`{name}` takes one variable"), hint);
        }
        let written = format!("write `{}`", op.call("predicate"));
        let hint = match arguments {
            // A value of the inner nodes is a variable of the outer ones, which have an edge to
            // each of their groups.
            [Value::Call(call)] if self.text(&call.name).eq_ignore_ascii_case("val") => {
                format!(
                    "{written}, of a predicate in which the variable was stored; or begin at the nodes that make the \
                     groups: `~located_in {{ n as elevation }} {}`",
                    op.call("val(n)")
                )
            }
            _ => written,
        };
        let message = format!("`{name}` takes one predicate below `@groupby`");
        self.error_with(item.at, message, hint)
    }
}
