//! Calls of functions, and what they read of the graph for nodes and relationships.

use super::execution::{Execution, Row};
use crate::execute::plan::{Callee, EntityFunction, Expression};
use crate::span::Span;
use hexgraph_base::types::Result;
use hexgraph_scalar::{Relationship, Value};

impl Execution<'_> {
    pub(super) fn call(
        &self,
        callee: Callee,
        arguments: &[Expression],
        span: Span,
        row: &mut Row,
    ) -> Result<Value> {
        if callee.stops_at_value {
            for argument in arguments {
                let value = self.value(argument, row)?;
                if !value.is_null() {
                    return Ok(value);
                }
            }
            return Ok(Value::Null);
        }
        let values = self.values(arguments, row)?;
        if let (Some(entity), [value]) = (callee.entity, values.as_slice())
            && let Some(result) = self.of_entity(entity, value, span)?
        {
            return Ok(result);
        }
        self.at(span, callee.function.call(&values, self.context))
    }

    /// `None` where the value is not one that the function reads of the graph.
    fn of_entity(
        &self,
        entity: EntityFunction,
        value: &Value,
        span: Span,
    ) -> Result<Option<Value>> {
        Ok(Some(match (entity, value) {
            (EntityFunction::ElementId, Value::Node(node)) => Value::from(format!("{node:#x}")),
            (EntityFunction::Id | EntityFunction::ElementId, Value::Relationship(it)) => {
                Value::from(self.element_id(*it)?)
            }
            (EntityFunction::Labels, Value::Node(node)) => {
                let labels = self.graph.labels(*node)?.into_iter().map(Value::String);
                self.at(span, Value::list(labels.collect()))?
            }
            (EntityFunction::Type, Value::Relationship(it)) => {
                Value::String(self.graph.type_name(it.type_id)?)
            }
            (EntityFunction::Keys, _) => {
                let Some(map) = self.properties(value)? else { return Ok(None) };
                let keys = map.entries().iter().map(|(key, _)| Value::String(key.clone()));
                self.at(span, Value::list(keys.collect()))?
            }
            (EntityFunction::Properties, _) => {
                let Some(map) = self.properties(value)? else { return Ok(None) };
                Value::Map(map)
            }
            _ => return Ok(None),
        }))
    }

    /// A text of subject, type and object.
    fn element_id(&self, it: Relationship) -> Result<String> {
        let (subject, object) = (it.subject, it.object);
        Ok(format!("{subject:#x}-{}-{object:#x}", self.graph.type_name(it.type_id)?))
    }
}
