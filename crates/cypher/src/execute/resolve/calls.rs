//! Calls of functions and aggregates.

use super::resolver::Resolver;
use crate::ast::Call;
use crate::execute::plan::{Aggregate, Callee, EntityFunction, Expression, Operation};
use crate::span::Span;
use hexgraph_base::types::Result;
use hexgraph_scalar::{Aggregate as AggregateFunction, aggregate, function};
use std::mem;

impl<'a> Resolver<'a> {
    /// Resolves a call.
    pub(super) fn call(&mut self, call: &'a Call, span: Span) -> Result<Operation> {
        let name = call.name.text.to_ascii_lowercase();
        if let Some(function) = aggregate(&name) {
            let around = mem::take(&mut self.aggregates);
            let computed = mem::take(&mut self.computed);
            let arguments =
                if around.is_some() { self.expressions(&call.arguments) } else { Ok(Vec::new()) };
            self.computed = computed;
            self.aggregates = around;
            if call.arguments.len() != function.arguments {
                let count = function.arguments;
                let message =
                    format!("`{}` has another number of arguments: {count}", function.name);
                return Err(self.failure(span, message, function.doc));
            }
            return self.aggregate(function, call.distinct, arguments?, span);
        }
        if let Some((path, span)) = Self::pattern_argument(&call.arguments) {
            match &*name {
                "exists" => return self.pattern_predicate(path),
                "size" => return self.pattern_count(path),
                _ => {
                    let message = format!("a pattern is no argument of `{}`", call.name.text);
                    return Err(self.failure(span, message, "write a pattern comprehension"));
                }
            }
        }
        let arguments = self.expressions(&call.arguments)?;
        let Some(function) = function(&name) else {
            let message = format!("function `{}` does not exist", call.name.text);
            return Err(self.failure(call.name.span, message, ""));
        };
        let entity = match function.name {
            "id" => Some(EntityFunction::Id),
            "elementId" => Some(EntityFunction::ElementId),
            "labels" => Some(EntityFunction::Labels),
            "type" => Some(EntityFunction::Type),
            "keys" => Some(EntityFunction::Keys),
            "properties" => Some(EntityFunction::Properties),
            _ => None,
        };
        let stops_at_value = function.name == "coalesce";
        Ok(Operation::Call(Callee { function, entity, stops_at_value }, arguments))
    }

    /// Resolves `count(*)`.
    pub(super) fn count_star(&mut self, span: Span) -> Result<Operation> {
        let count = aggregate("count").expect("the table has it");
        self.aggregate(count, false, Vec::new(), span)
    }

    fn aggregate(
        &mut self,
        function: &'static AggregateFunction,
        distinct: bool,
        arguments: Vec<Expression>,
        span: Span,
    ) -> Result<Operation> {
        let slot = self.new_slot();
        let Some(aggregates) = &mut self.aggregates else {
            let message = "an aggregate is possible in WITH and RETURN only";
            return Err(self.failure(span, message, "compute it in a WITH before"));
        };
        aggregates.push(Aggregate { slot, function, distinct, arguments, span });
        Ok(Operation::Slot(slot))
    }
}
