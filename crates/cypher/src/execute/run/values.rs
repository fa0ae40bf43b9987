//! Steps into a value and tests of it: properties, subscripts, labels, strings.

use super::execution::{Execution, Row};
use crate::ast::{LabelExpr, TypeName};
use crate::execute::plan::{Expression, LabelTest, ValueStep};
use crate::span::Span;
use hexgraph_base::types::{Result, stack};
use hexgraph_scalar::{Map, Value, contains, matches, property, slice, subscript, text_test};
use std::sync::Arc;

impl Execution<'_> {
    pub(super) fn steps(
        &self,
        first: &Expression,
        steps: &[ValueStep],
        row: &mut Row,
    ) -> Result<Value> {
        let mut value = self.value(first, row)?;
        for step in steps {
            value = self.step(value, step, first.span, row)?;
        }
        Ok(value)
    }

    fn step(&self, value: Value, step: &ValueStep, span: Span, row: &mut Row) -> Result<Value> {
        match step {
            ValueStep::Text(test, it) => {
                let part = self.value(it, row)?;
                Ok(text_test(&value, *test, &part).into())
            }
            ValueStep::Matches(it) => {
                let pattern = self.value(it, row)?;
                Ok(self.at(it.span, matches(&value, &pattern, self.context))?.into())
            }
            ValueStep::In(it) => {
                let list = self.value(it, row)?;
                Ok(self.at(it.span, contains(&list, &value))?.into())
            }
            ValueStep::IsNull(negated) => Ok(Value::Bool(value.is_null() != *negated)),
            ValueStep::IsType(negated, name) => {
                Ok(Value::Bool(self.is_type(&value, name)? != *negated))
            }
            ValueStep::Property(name) => self.property(&value, name, span),
            ValueStep::Index(it) => {
                let key = self.value(it, row)?;
                match (&value, &key) {
                    (Value::Node(_) | Value::Relationship(_), Value::String(name)) => {
                        self.property(&value, name, span)
                    }
                    (Value::Node(_) | Value::Relationship(_), Value::Null) => Ok(Value::Null),
                    _ => self.at(it.span, subscript(&value, &key)),
                }
            }
            ValueStep::Slice(from, to) => {
                let from = from.as_ref().map(|it| self.value(it, row)).transpose()?;
                let to = to.as_ref().map(|it| self.value(it, row)).transpose()?;
                self.at(span, slice(&value, from.as_ref(), to.as_ref(), self.context))
            }
            ValueStep::HasLabels(labels) => self.has_labels(&value, labels, span),
        }
    }

    /// A property of anything that has some.
    pub(super) fn property(&self, value: &Value, name: &str, span: Span) -> Result<Value> {
        match value {
            Value::Null => Ok(Value::Null),
            Value::Node(node) => self.graph.property(*node, name),
            Value::Relationship(it) => self.graph.relationship_property(*it, name),
            other => self.at(span, property(other, name)),
        }
    }

    /// All properties; `None` of a value that has none.
    pub(super) fn properties(&self, value: &Value) -> Result<Option<Map>> {
        Ok(match value {
            Value::Node(node) => Some(self.graph.properties(*node)?),
            Value::Relationship(it) => Some(self.graph.relationship_properties(*it)?),
            Value::Map(map) => Some(map.clone()),
            _ => None,
        })
    }

    pub(super) fn entries(
        &self,
        entries: &[(Arc<str>, Expression)],
        row: &mut Row,
    ) -> Result<Vec<(Arc<str>, Value)>> {
        entries.iter().map(|(key, it)| Ok((key.clone(), self.value(it, row)?))).collect()
    }

    /// `base {.*, key: value}`.
    pub(super) fn projection(
        &self,
        base: &Expression,
        all: bool,
        entries: &[(Arc<str>, Expression)],
        span: Span,
        row: &mut Row,
    ) -> Result<Value> {
        let value = self.value(base, row)?;
        if value.is_null() {
            return Ok(Value::Null);
        }
        let mut result = Vec::new();
        if all {
            let Some(map) = self.properties(&value)? else {
                let message = format!("a {} has no properties", value.kind().name());
                return Err(self.failure(
                    base.span,
                    message,
                    "project a node, a relationship or a map",
                ));
            };
            result.extend(map.entries().iter().cloned());
        }
        result.extend(self.entries(entries, row)?);
        self.at(span, Value::map(result))
    }

    fn has_labels(&self, value: &Value, test: &LabelTest, span: Span) -> Result<Value> {
        match value {
            Value::Null => Ok(Value::Null),
            Value::Node(node) => self.node_has(*node, &test.labels).map(Value::Bool),
            Value::Relationship(it) => {
                Ok(Value::Bool(test.types.binary_search(&{ it.type_id }).is_ok()))
            }
            other => {
                let message = format!("a {} has no labels", other.kind().name());
                Err(self.failure(span, message, "test a node or a relationship"))
            }
        }
    }

    /// Whether a node passes a condition on labels.
    fn node_has(&self, node: u64, labels: &LabelExpr) -> Result<bool> {
        stack::check()?;
        match labels {
            LabelExpr::Label(name) => self.graph.has_label(node, &name.text),
            LabelExpr::Any(_) => Ok(!self.graph.labels(node)?.is_empty()),
            LabelExpr::Not(inside) => Ok(!self.node_has(node, inside)?),
            LabelExpr::And(list) => {
                for it in list {
                    if !self.node_has(node, it)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            LabelExpr::Or(list) => {
                for it in list {
                    if self.node_has(node, it)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    /// Whether a value is of a type. Null is of every type without `NOT NULL`.
    fn is_type(&self, value: &Value, name: &TypeName) -> Result<bool> {
        stack::check()?;
        let name = match name {
            TypeName::Simple(name) => name,
            TypeName::NotNull(inside) => {
                return Ok(!value.is_null() && self.is_type(value, inside)?);
            }
            TypeName::List(inside) => {
                let Value::List(list) = value else { return Ok(value.is_null()) };
                for item in list.iter() {
                    self.tick()?;
                    if !self.is_type(item, inside)? {
                        return Ok(false);
                    }
                }
                return Ok(true);
            }
        };
        let upper = name.text.to_ascii_uppercase();
        let expected = match &*upper {
            "ANY" | "ANY VALUE" => return Ok(true),
            "NOTHING" => return Ok(false),
            "PROPERTY VALUE" => {
                let kinds = ["MAP", "NODE", "RELATIONSHIP", "PATH"];
                return Ok(!kinds.contains(&value.kind().name()));
            }
            "BOOL" => "BOOLEAN",
            "INT" | "SIGNED INTEGER" => "INTEGER",
            "VARCHAR" => "STRING",
            "VERTEX" | "ANY NODE" | "ANY VERTEX" => "NODE",
            "EDGE" | "ANY EDGE" | "ANY RELATIONSHIP" => "RELATIONSHIP",
            "ANY MAP" => "MAP",
            "TIMESTAMP WITH TIME ZONE" => "ZONED DATETIME",
            "TIMESTAMP WITHOUT TIME ZONE" => "LOCAL DATETIME",
            "TIME WITH TIME ZONE" => "ZONED TIME",
            "TIME WITHOUT TIME ZONE" => "LOCAL TIME",
            other => other,
        };
        Ok(value.is_null() || value.kind().name() == expected)
    }
}
