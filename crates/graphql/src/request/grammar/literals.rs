//! Converts the values of a checked text to [`Template`]s: values in which variables still have to
//! be replaced.

use apollo_compiler::ast::Type;
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Name, Node, ast};
use hexgraph_base::types::stack;
use std::collections::HashMap;

use super::document::{ArgumentNode, ValueKind};
use crate::generate::Api;
use crate::request::Value;
use crate::request::rules::input_fields;

/// A value in which variables still have to be replaced.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::request) enum Template {
    /// The value has no variable.
    Fixed(Value),
    /// The variable of this number.
    Variable(usize),
    List(Vec<Template>),
    Object(Vec<(Name, Template)>),
}

impl Template {
    /// Returns the value with all variables replaced. A variable without a value is `null`.
    pub(in crate::request) fn fill(&self, variables: &[Option<Value>]) -> Value {
        stack::require();
        match self {
            Template::Fixed(value) => value.clone(),
            Template::Variable(number) => variables[*number].clone().unwrap_or(Value::Null),
            Template::List(parts) => {
                Value::List(parts.iter().map(|part| part.fill(variables)).collect())
            }
            Template::Object(parts) => {
                let fill = |(name, part): &(Name, Template)| (name.clone(), part.fill(variables));
                Value::Object(parts.iter().map(fill).collect())
            }
        }
    }

    /// As [`Template::fill`], without the entries of an object whose variables have no value: to
    /// leave a variable out is to leave the entry out (GraphQL specification, *Input Object
    /// Values*).
    pub(in crate::request) fn fill_given(&self, variables: &[Option<Value>]) -> Value {
        let Template::Object(parts) = self else { return self.fill(variables) };
        let is_given = |part: &Template| match part {
            Template::Variable(number) => variables[*number].is_some(),
            _ => true,
        };
        let given = parts.iter().filter(|(_, part)| is_given(part));
        Value::Object(given.map(|(name, part)| (name.clone(), part.fill(variables))).collect())
    }

    /// Makes a list, which is fixed when all its parts are.
    fn list(parts: Vec<Template>) -> Template {
        match parts.iter().map(Template::fixed).collect() {
            Some(values) => Template::Fixed(Value::List(values)),
            None => Template::List(parts),
        }
    }

    /// Makes an object, which is fixed when all its parts are.
    fn object(parts: Vec<(Name, Template)>) -> Template {
        let fixed = |(name, part): &(Name, Template)| Some((name.clone(), part.fixed()?));
        match parts.iter().map(fixed).collect() {
            Some(fields) => Template::Fixed(Value::Object(fields)),
            None => Template::Object(parts),
        }
    }

    fn fixed(&self) -> Option<Value> {
        match self {
            Template::Fixed(value) => Some(value.clone()),
            _ => None,
        }
    }
}

/// The numbers of an operation's variables.
pub(in crate::request) type VariableNumbers<'t> = HashMap<&'t str, usize>;

/// Converts a value to what its type expects. The text is checked, so all values fit; one that did
/// not would be `null`.
pub(in crate::request) fn template(
    api: &Api,
    ty: &Type,
    value: &ValueKind<'_>,
    variables: &VariableNumbers<'_>,
) -> Template {
    stack::require();
    match value {
        ValueKind::Variable(name) => {
            return variables
                .get(name)
                .map_or(Template::Fixed(Value::Null), |number| Template::Variable(*number));
        }
        ValueKind::Null => return Template::Fixed(Value::Null),
        _ => {}
    }
    if ty.is_list() {
        let element = ty.item_type();
        return Template::list(match value {
            ValueKind::List(values) => {
                values.iter().map(|value| template(api, element, &value.kind, variables)).collect()
            }
            // A single value represents a list of one.
            single => vec![template(api, element, single, variables)],
        });
    }
    let definition = api.schema.types.get(ty.inner_named_type());
    match (definition, value) {
        (Some(input @ ExtendedType::InputObject(_)), ValueKind::Object(fields)) => {
            input_object(api, input, fields, variables)
        }
        (Some(ExtendedType::Enum(existing)), ValueKind::Enum(text)) => {
            let name = existing.values.get_key_value(*text).map(|(name, _)| name.clone());
            Template::Fixed(name.map_or(Value::Null, Value::Enum))
        }
        _ => scalar(api, ty, value, variables),
    }
}

/// Converts an input object: the keys that are given, then those that have a default.
fn input_object(
    api: &Api,
    input: &ExtendedType,
    fields: &[ArgumentNode<'_>],
    variables: &VariableNumbers<'_>,
) -> Template {
    let existing = input.as_input_object().map(|input| &input.fields);
    let given = fields.iter().filter_map(|field| {
        let (name, definition) = existing?.get_key_value(field.name)?;
        Some((name.clone(), template(api, &definition.ty, &field.value.kind, variables)))
    });
    let defaults = input_fields(input).filter_map(|definition| {
        let default = definition.default_value.as_ref()?;
        let absent = !fields.iter().any(|field| definition.name == field.name);
        let value = absent.then(|| constant(api, &definition.ty, default))?;
        Some((definition.name.clone(), Template::Fixed(value)))
    });
    Template::object(given.chain(defaults).collect())
}

/// Converts a scalar, or any value of a scalar that the schema says nothing about.
fn scalar(
    api: &Api,
    ty: &Type,
    value: &ValueKind<'_>,
    variables: &VariableNumbers<'_>,
) -> Template {
    // The members of such a value have no types of their own.
    let any = Type::Named(ty.inner_named_type().clone());
    let fixed = match (ty.inner_named_type().as_str(), value) {
        ("Float", ValueKind::Int(text) | ValueKind::Float(text)) => {
            text.parse().map_or(Value::Null, Value::Float)
        }
        // Both are texts to the store, whatever the request has.
        ("ID" | "DateTime", ValueKind::Int(text)) => Value::String((*text).into()),
        ("Int64", ValueKind::String(text)) => text.parse().map_or(Value::Null, Value::Int),
        (_, ValueKind::Int(text)) => match text.parse() {
            Ok(number) => Value::Int(number),
            Err(_) => text.parse().map_or(Value::Null, Value::Float),
        },
        (_, ValueKind::Float(text)) => text.parse().map_or(Value::Null, Value::Float),
        (_, ValueKind::String(text)) => Value::String((&**text).into()),
        (_, ValueKind::Boolean(value)) => Value::Boolean(*value),
        (_, ValueKind::Enum(text)) => Value::Enum(Name::new_unchecked(text)),
        (_, ValueKind::List(values)) => {
            let parts = values.iter().map(|value| template(api, &any, &value.kind, variables));
            return Template::list(parts.collect());
        }
        (_, ValueKind::Object(fields)) => {
            let parts = fields.iter().map(|field| {
                let part = template(api, &any, &field.value.kind, variables);
                (Name::new_unchecked(field.name), part)
            });
            return Template::object(parts.collect());
        }
        (_, ValueKind::Variable(_) | ValueKind::Null) => Value::Null,
    };
    Template::Fixed(fixed)
}

/// Converts a default of the schema.
pub(in crate::request) fn constant(api: &Api, ty: &Type, value: &Node<ast::Value>) -> Value {
    match template(api, ty, &borrowed(value), &VariableNumbers::new()) {
        Template::Fixed(value) => value,
        _ => Value::Null,
    }
}

/// Converts a value of the schema's tree to one of a request's, without copying texts.
fn borrowed(value: &ast::Value) -> ValueKind<'_> {
    use super::document::ValueNode;
    let node = |value| ValueNode { kind: borrowed(value), at: Default::default() };
    match value {
        ast::Value::Null => ValueKind::Null,
        ast::Value::Enum(name) => ValueKind::Enum(name),
        ast::Value::Variable(name) => ValueKind::Variable(name),
        ast::Value::String(text) => ValueKind::String(text.as_str().into()),
        ast::Value::Float(number) => ValueKind::Float(number.as_str()),
        ast::Value::Int(number) => ValueKind::Int(number.as_str()),
        ast::Value::Boolean(value) => ValueKind::Boolean(*value),
        ast::Value::List(values) => {
            ValueKind::List(values.iter().map(|value| node(value)).collect())
        }
        ast::Value::Object(fields) => ValueKind::Object(
            fields
                .iter()
                .map(|(name, value)| ArgumentNode {
                    name,
                    value: node(value),
                    at: Default::default(),
                })
                .collect(),
        ),
    }
}
