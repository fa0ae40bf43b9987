//! Functions of nodes, relationships and paths.

use super::execution::{Execution, Row};
use crate::execute::plan::{Callee, Expression};
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
        let mut values = self.values(arguments, row)?;
        if let Callee::Scalar(function) = callee {
            return self.at(span, function.call(&values, self.context));
        }
        let value = values.pop().unwrap_or(Value::Null);
        if let (Callee::Exists, value) = (callee, &value) {
            return Ok(Value::Bool(!value.is_null()));
        }
        if value.is_null() {
            return Ok(Value::Null);
        }
        self.of_entity(callee, &value, span)?.ok_or_else(|| {
            let kind = value.kind().name();
            self.failure(span, format!("this function is not for a {kind}"), "")
        })
    }

    /// `None` where the function is not for the kind of value.
    fn of_entity(&self, callee: Callee, value: &Value, span: Span) -> Result<Option<Value>> {
        Ok(Some(match (callee, value) {
            (Callee::Id, Value::Node(node)) => {
                let number = i64::try_from(*node).map_err(|_| {
                    let message = format!("the id {node:#x} is beyond the integers");
                    self.failure(span, message, "use elementId()")
                })?;
                Value::Int(number)
            }
            (Callee::ElementId, Value::Node(node)) => Value::from(format!("{node:#x}")),
            (Callee::Id | Callee::ElementId, Value::Relationship(it)) => {
                Value::from(self.element_id(*it))
            }
            (Callee::Labels, Value::Node(node)) => {
                let labels = self.graph.labels(*node)?.into_iter().map(Value::String);
                self.at(span, Value::list(labels.collect()))?
            }
            (Callee::Type, Value::Relationship(it)) => Value::from(self.type_name(*it)),
            (Callee::Keys, _) => {
                let Some(map) = self.properties(value)? else { return Ok(None) };
                let keys = map.entries().iter().map(|(key, _)| Value::String(key.clone()));
                self.at(span, Value::list(keys.collect()))?
            }
            (Callee::Properties, _) => {
                let Some(map) = self.properties(value)? else { return Ok(None) };
                Value::Map(map)
            }
            (Callee::Nodes, Value::Path(path)) => {
                let nodes = path.nodes.iter().copied().map(Value::Node).collect();
                self.at(span, Value::list(nodes))?
            }
            (Callee::Relationships, Value::Path(path)) => {
                let list = path.relationships.iter().copied().map(Value::Relationship).collect();
                self.at(span, Value::list(list))?
            }
            (Callee::Length, Value::Path(path)) => Value::Int(path.relationships.len() as i64),
            (Callee::StartNode, Value::Relationship(it)) => Value::Node(it.subject),
            (Callee::EndNode, Value::Relationship(it)) => Value::Node(it.object),
            _ => return Ok(None),
        }))
    }

    /// The name of a relationship's type.
    fn type_name(&self, it: Relationship) -> &str {
        let index = it.type_id as usize;
        self.types.get(index).map_or("", |name| &**name)
    }

    /// A text of subject, type and object.
    fn element_id(&self, it: Relationship) -> String {
        let (subject, object) = (it.subject, it.object);
        format!("{subject:#x}-{}-{object:#x}", self.type_name(it))
    }
}
