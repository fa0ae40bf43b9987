//! Comprehensions, quantifiers and `reduce`.

use super::execution::{Execution, Row, weight};
use crate::ast::QuantifierKind;
use crate::execute::plan::{Expression, ListLoop, SlotIndex};
use crate::span::Span;
use hexgraph_base::types::Result;
use hexgraph_scalar::{List, Value};

impl Execution<'_> {
    /// The list of an expression; `None` for null. Any other value is an error.
    pub(super) fn list_of(&self, expression: &Expression, row: &mut Row) -> Result<Option<List>> {
        match self.value(expression, row)? {
            Value::List(list) => Ok(Some(list)),
            Value::Null => Ok(None),
            other => {
                let message =
                    format!("a LIST is needed here, and this is a {}", other.kind().name());
                Err(self.failure(expression.span, message, "wrap it: `[value]`"))
            }
        }
    }

    pub(super) fn comprehension(
        &self,
        loops: &ListLoop,
        result: Option<&Expression>,
        span: Span,
        row: &mut Row,
    ) -> Result<Value> {
        let Some(list) = self.list_of(&loops.list, row)? else { return Ok(Value::Null) };
        let (mut items, mut reserved) = (Vec::new(), self.reservation());
        for item in list.iter() {
            self.tick()?;
            row[loops.slot] = item.clone();
            if let Some(filter) = &loops.filter
                && !self.holds(filter, row)?
            {
                continue;
            }
            let value = match result {
                Some(result) => self.value(result, row)?,
                None => item.clone(),
            };
            reserved.grow(weight(&value))?;
            items.push(value);
        }
        self.at(span, Value::list(items))
    }

    /// Null where the elements whose condition is null may decide the result.
    pub(super) fn quantifier(
        &self,
        kind: QuantifierKind,
        loops: &ListLoop,
        row: &mut Row,
    ) -> Result<Value> {
        let Some(list) = self.list_of(&loops.list, row)? else { return Ok(Value::Null) };
        let (mut trues, mut nulls) = (0_usize, 0_usize);
        for item in list.iter() {
            self.tick()?;
            row[loops.slot] = item.clone();
            let truth = match &loops.filter {
                Some(filter) => self.truth(filter, row)?,
                None => Some(true),
            };
            match (kind, truth) {
                (QuantifierKind::All, Some(false)) => return Ok(Value::Bool(false)),
                (QuantifierKind::Any, Some(true)) => return Ok(Value::Bool(true)),
                (QuantifierKind::None, Some(true)) => return Ok(Value::Bool(false)),
                (QuantifierKind::Single, Some(true)) if trues == 1 => {
                    return Ok(Value::Bool(false));
                }
                (_, Some(true)) => trues += 1,
                (_, Some(false)) => {}
                (_, None) => nulls += 1,
            }
        }
        let result = match kind {
            _ if 0 < nulls => return Ok(Value::Null),
            QuantifierKind::All | QuantifierKind::None => true,
            QuantifierKind::Any => false,
            QuantifierKind::Single => trues == 1,
        };
        Ok(Value::Bool(result))
    }

    pub(super) fn reduce(
        &self,
        accumulator: SlotIndex,
        start: &Expression,
        loops: &ListLoop,
        step: &Expression,
        row: &mut Row,
    ) -> Result<Value> {
        let mut result = self.value(start, row)?;
        let Some(list) = self.list_of(&loops.list, row)? else { return Ok(Value::Null) };
        for item in list.iter() {
            self.tick()?;
            row[accumulator] = result;
            row[loops.slot] = item.clone();
            result = self.value(step, row)?;
        }
        Ok(result)
    }
}
