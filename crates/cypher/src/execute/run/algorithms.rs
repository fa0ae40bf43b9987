//! Calls of algorithms. Each runs once for all rows with equal arguments.

use super::cache::ReservedRows;
use super::execution::{DONE, Execution, Flow, MORE, Row, Sink};
use crate::execute::graph::NameKind;
use crate::execute::plan::{AlgorithmPlan, Expression, Operation};
use crate::procedures::{AlgorithmRequest, AlgorithmRows, OptionFault, names_of};
use crate::span::Span;
use hexgraph_base::types::{Error, Position, Result};
use hexgraph_scalar::{Map, Value};
use std::rc::Rc;

impl<'a> Execution<'a> {
    /// The rows of a call, after those of a row.
    pub(super) fn algorithm(
        &self,
        plan: &AlgorithmPlan,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        let result = self.algorithm_rows(plan, row)?;
        for index in 0..result.rows().len() {
            self.tick()?;
            for (column, slot) in &plan.columns {
                row[*slot] = self.at(plan.span, result.rows().value(*column, index))?;
            }
            if sink(row)?.is_break() {
                return Ok(DONE);
            }
        }
        Ok(MORE)
    }

    fn algorithm_rows(&self, plan: &AlgorithmPlan, row: &mut Row) -> Result<Rc<ReservedRows<'a>>> {
        let is_constant = plan.reads.as_ref().is_some_and(Vec::is_empty);
        if is_constant && let Some(result) = self.calls.get(plan.own, &[]) {
            return Ok(result);
        }
        let types = self.value(&plan.types, row)?;
        let options = plan.options.as_ref().map(|it| self.value(it, row)).transpose()?;
        let options = options.unwrap_or(Value::Null);
        if !is_constant && plan.reads.is_some() {
            let key = vec![types, options];
            if let Some(result) = self.calls.get(plan.own, &key) {
                return Ok(result);
            }
            let result = self.run_algorithm(plan, &key[0], &key[1], &key)?;
            self.calls.insert(plan.own, key, &result);
            return Ok(result);
        }
        let result = self.run_algorithm(plan, &types, &options, &[])?;
        if is_constant {
            self.calls.insert(plan.own, Vec::new(), &result);
        }
        Ok(result)
    }

    /// Runs the algorithm. `key` is retained with its result.
    fn run_algorithm(
        &self,
        plan: &AlgorithmPlan,
        types: &Value,
        options: &Value,
        key: &[Value],
    ) -> Result<Rc<ReservedRows<'a>>> {
        let at = Position::of(self.text, plan.span.start as usize);
        let mut request = AlgorithmRequest::new(plan.signature, at);
        let mut reserved = self.reservation();
        reserved.grow_by_row(key)?;
        request.types = self.types_of(&plan.types, types)?;
        match options {
            Value::Null => {}
            Value::Map(options) => self.set_options(plan, options, &mut request)?,
            _ => {
                let span = plan.options.as_ref().map_or(plan.span, |it| it.span);
                let message = "the second argument is no map";
                return Err(self.failure(span, message, "write `{option: value}`"));
            }
        }
        if let Some(missing) = request.missing(|_| false) {
            return Err(self.refused(plan.span, missing));
        }
        let mut rows = AlgorithmRows::default();
        if !request.types.is_empty() {
            let mut for_nodes = self.reservation();
            for_nodes.grow(request.byte_len())?;
            rows = self.graph.algorithm(&request).map_err(|error| error.or_at(at))?;
            reserved.add_reserved(rows.byte_len());
        }
        Ok(Rc::new(ReservedRows::new(rows, reserved)))
    }

    /// The ids of the types that names mean, in ascending order.
    fn types_of(&self, expression: &Expression, names: &Value) -> Result<Vec<u32>> {
        let Some(names) = names_of(names) else {
            let message = "the first argument names no type of relationships";
            let hint = "write a string, or a list of strings";
            return Err(self.failure(expression.span, message, hint));
        };
        let mut types = Vec::new();
        for name in names {
            let at = || Position::of(self.text, expression.span.start as usize);
            self.graph.note_name(NameKind::RelationshipType, &name, &at);
            types.extend(self.graph.types_named(&name)?);
        }
        types.sort_unstable();
        types.dedup();
        Ok(types)
    }

    fn set_options(
        &self,
        plan: &AlgorithmPlan,
        options: &Map,
        request: &mut AlgorithmRequest,
    ) -> Result<()> {
        for (name, value) in options.entries() {
            let set = request.set(name, value);
            set.map_err(|it| self.refused(span_of(plan, name), it))?;
        }
        Ok(())
    }

    fn refused(&self, span: Span, fault: OptionFault) -> Error {
        self.failure(span, fault.message, &fault.hint)
    }
}

/// Where an option is: its value, where the text has it, or all options.
fn span_of(plan: &AlgorithmPlan, name: &str) -> Span {
    let Some(options) = &plan.options else { return plan.span };
    match &options.operation {
        Operation::Map(entries) => {
            let entry = entries.iter().find(|(other, _)| **other == *name);
            entry.map_or(options.span, |(_, value)| value.span)
        }
        _ => options.span,
    }
}
