//! Lowers comparisons and their two sides.

use crate::lower::request::Lowering;
use crate::syntax::ast::{self, Value};
use hexgraph_base::plan::{Argument, Call, Comparison, Operand};
use hexgraph_base::types::Result;

impl<'a> Lowering<'a> {
    /// Lowers `eq`, `le`, `lt`, `ge` or `gt`. Several values, in a list or one after the other,
    /// mean that the left side is equal to one of them. So only `eq` takes them, of a predicate or
    /// of a value variable.
    pub(super) fn compare(&mut self, call: &'a ast::Call, op: Comparison) -> Result<Call> {
        // This refuses a call without arguments, so there is a first one to leave out below.
        let left = self.operand_of(call)?;
        let mut arguments = Vec::with_capacity(1);
        let mut is_given_list = false;
        for value in &call.arguments[1..] {
            if let Some(items) = self.given_items(value)? {
                is_given_list = true;
                arguments.extend(items.iter().map(|item| Argument::Text(item.clone())));
                continue;
            }
            match value {
                Value::List(_, values) => {
                    for value in values {
                        arguments.push(self.compared(call, value, &left)?);
                    }
                }
                value => arguments.push(self.compared(call, value, &left)?),
            }
        }
        let takes_many =
            op == Comparison::Eq && matches!(left, Operand::Predicate(_) | Operand::Val(_));
        // A list that the caller gives may be empty. Then the function selects no node.
        if is_given_list && takes_many {
            return Ok(Call::Compare { op, left, arguments });
        }
        if arguments.is_empty() || arguments.len() > 1 && !takes_many {
            let expected = if takes_many { "at least one value" } else { "one value" };
            let error = self.wrong_count(call, expected, arguments.len());
            return Err(match left {
                Operand::Count(_) | Operand::Len(_) if 1 < arguments.len() => {
                    error.with_hint("join two comparisons with `or` in a filter")
                }
                _ => error,
            });
        }
        Ok(Call::Compare { op, left, arguments })
    }

    /// Returns the items of a `$variable` whose value is a list; `None` for any other value.
    pub(super) fn given_items(&self, value: &'a Value) -> Result<Option<&'a [String]>> {
        match value {
            Value::Variable(name) => Ok(self.held(name)?.items),
            _ => Ok(None),
        }
    }

    /// Lowers `between`; both bounds are inclusive.
    pub(super) fn between(&mut self, call: &'a ast::Call) -> Result<Call> {
        let left = self.operand_of(call)?;
        let [_, low, high] = &call.arguments[..] else {
            return Err(self.wrong_count(call, "two values", call.arguments.len() - 1));
        };
        let low = self.compared(call, low, &left)?;
        let high = self.compared(call, high, &left)?;
        Ok(Call::Between { left, low, high })
    }

    /// Lowers a value on the right side of a comparison. Only one of the two sides may be a
    /// function.
    fn compared(
        &mut self,
        call: &'a ast::Call,
        value: &'a Value,
        left: &Operand,
    ) -> Result<Argument> {
        match value {
            Value::Call(inner) if !matches!(left, Operand::Predicate(_)) => {
                let message = "only one argument may be a function";
                let hint = self.difference(call, inner);
                let usual = "write a number, or compare a variable: `val(x)`".to_owned();
                Err(self.error_with(inner.name.start, message, hint.unwrap_or(usual)))
            }
            Value::Call(inner) => match self.text(&inner.name).to_ascii_lowercase().as_str() {
                "val" => Ok(Argument::Val(self.only_variable(inner)?)),
                "len" | "count" => {
                    let message = "the function must be the first argument";
                    let hint = format!(
                        "write `{}({}(x), 3)`",
                        self.text(&call.name),
                        self.text(&inner.name)
                    );
                    Err(self.error_with(inner.name.start, message, hint))
                }
                _ => {
                    let message = format!("`{}` can't be a value", self.text(&inner.name));
                    Err(self.error_with(inner.name.start, message, "expected `val(x)`"))
                }
            },
            value => Ok(Argument::Text(self.scalar(call.name.start, value)?.to_owned())),
        }
    }

    /// Returns what is written for a comparison of two variables; `None` when one side is none.
    fn difference(&self, call: &'a ast::Call, right: &'a ast::Call) -> Option<String> {
        let variable = |side: &'a ast::Call| match &side.arguments[..] {
            [Value::Word(name, None)] if self.text(&side.name).eq_ignore_ascii_case("val") => {
                Some(self.text(name))
            }
            _ => None,
        };
        let Some(Value::Call(left)) = call.arguments.first() else { return None };
        let (left, right) = (variable(left)?, variable(right)?);
        Some(format!(
            "compute the difference in a block before, `d as math({left} - {right})`, and write `{}(val(d), 0)`",
            self.text(&call.name)
        ))
    }

    /// Lowers the left side of a comparison. Of the functions, `len` is the number of nodes in a
    /// variable, and `count` the number of values or edges that a node has.
    fn operand_of(&mut self, call: &'a ast::Call) -> Result<Operand> {
        let Some(Value::Call(inner)) = call.arguments.first() else {
            return Ok(Operand::Predicate(self.attribute(call)?));
        };
        match self.text(&inner.name).to_ascii_lowercase().as_str() {
            "val" => Ok(Operand::Val(self.only_variable(inner)?)),
            "len" => Ok(Operand::Len(self.only_variable(inner)?)),
            "count" => {
                self.check_count(inner, 1)?;
                Ok(Operand::Count(self.attribute(inner)?))
            }
            _ => {
                let message = format!("`{}` can't be compared", self.text(&inner.name));
                let hint = "expected a predicate, val(x), count(p) or len(x)";
                Err(self.error_with(inner.name.start, message, hint))
            }
        }
    }
}
