//! Converts the JSON values of variables to [`Value`]s of the types that the operation declares
//! (GraphQL specification, *Coercing Variable Values*). The first fault stops it, and its path says
//! which variable it is, and where in its value.

use apollo_compiler::Name;
use apollo_compiler::ast::Type;
use apollo_compiler::schema::ExtendedType;
use hexgraph_base::types::stack;
use serde_json::Value as Json;

use crate::generate::Api;
use crate::request::grammar::literals::constant;
use crate::request::rules::{function_count_message, input_fields};
use crate::request::{GraphqlError, PathStep, Value};

/// The most levels of lists and objects in a variable. Readers of JSON stop at 128 on their own.
const DEPTH_MAX: usize = 200;

/// Converts the value of a variable.
///
/// # Errors
///
/// The first fault of the value. Its path begins with `variable` and the name.
pub(super) fn coerce_variable(
    api: &Api,
    name: &str,
    ty: &Type,
    json: &Json,
) -> Result<Value, GraphqlError> {
    let path = vec![PathStep::Key("variable".into()), PathStep::Key(name.into())];
    Coercion { api, path }.value(ty, json)
}

/// The conversion of one variable.
struct Coercion<'a> {
    api: &'a Api,
    path: Vec<PathStep>,
}

impl Coercion<'_> {
    fn value(&mut self, ty: &Type, json: &Json) -> Result<Value, GraphqlError> {
        stack::require();
        if json.is_null() {
            return if ty.is_non_null() {
                Err(self.fault("cannot be null"))
            } else {
                Ok(Value::Null)
            };
        }
        // The path has a step for each level, and two for the variable itself.
        if self.path.len() > DEPTH_MAX {
            return Err(self.fault("nested too deeply"));
        }
        if ty.is_list() {
            return self.list(ty.item_type(), json);
        }
        let name = ty.inner_named_type();
        match self.api.schema.types.get(name) {
            Some(ExtendedType::Enum(existing)) => match json {
                Json::String(text) => match existing.values.get_key_value(text.as_str()) {
                    Some((name, _)) => Ok(Value::Enum(name.clone())),
                    None => Err(self.fault(format!("{text} is not a valid {name}"))),
                },
                _ => Err(self.fault("enums must be ints or strings")),
            },
            Some(input @ ExtendedType::InputObject(_)) => self.object(input, json),
            Some(_) => self.scalar(name, json),
            None => Err(self.fault("must an input type")),
        }
    }

    /// Converts a list. A single value represents a list of one.
    fn list(&mut self, element: &Type, json: &Json) -> Result<Value, GraphqlError> {
        let one = std::slice::from_ref(json);
        let elements = json.as_array().map_or(one, Vec::as_slice);
        let mut values = Vec::with_capacity(elements.len());
        for (index, element_json) in elements.iter().enumerate() {
            values.push(
                self.within(PathStep::Index(index), |inner| inner.value(element, element_json))?,
            );
        }
        Ok(Value::List(values))
    }

    /// Converts an input object: its fields in the order of the schema, with their defaults.
    fn object(&mut self, input: &ExtendedType, json: &Json) -> Result<Value, GraphqlError> {
        let Json::Object(given) = json else {
            return Err(self.fault(format!("must be a {}", input.name())));
        };
        let existing = input.as_input_object().map(|input| &input.fields);
        // Clients send `__typename` along when they return an object that they were answered.
        for key in given.keys() {
            if key != "__typename"
                && !existing.is_some_and(|existing| existing.contains_key(key.as_str()))
            {
                return self.within(PathStep::Key(key.as_str().into()), |inner| {
                    Err(inner.fault("unknown field"))
                });
            }
        }
        let mut fields = Vec::with_capacity(given.len());
        for field in input_fields(input) {
            let value = match (given.get(field.name.as_str()), &field.default_value) {
                (Some(json), _) => self
                    .within(PathStep::Key(field.name.as_str().into()), |inner| {
                        inner.value(&field.ty, json)
                    })?,
                (None, Some(default)) => constant(self.api, &field.ty, default),
                (None, None) if field.ty.is_non_null() => {
                    let step = PathStep::Key(field.name.as_str().into());
                    return self.within(step, |inner| Err(inner.fault("must be defined")));
                }
                (None, None) => continue,
            };
            fields.push((field.name.clone(), value));
        }
        // `contains` and `intersects` of a geometry accept either of their keys; if both are given,
        // one is preferred.
        let geometry = matches!(input.name().as_str(), "ContainsFilter" | "IntersectsFilter");
        if fields.len() > 1 && !geometry && self.api.is_function_filter(input.name()) {
            return Err(self.fault(function_count_message(input.name(), fields.len())));
        }
        Ok(Value::Object(fields))
    }

    /// Converts a scalar. Dgraph takes some texts for numbers, and numbers for texts.
    fn scalar(&mut self, name: &Name, json: &Json) -> Result<Value, GraphqlError> {
        match (name.as_str(), json) {
            ("Int", Json::Number(number)) => {
                self.full(name, &number.to_string(), i64::from(i32::MIN)..=i64::from(i32::MAX))
            }
            ("Int64", Json::Number(number)) => {
                self.full(name, &number.to_string(), i64::MIN..=i64::MAX)
            }
            // JavaScript has no integers of 64 bits, so its clients send them as texts.
            ("Int64", Json::String(text)) => self.full(name, text, i64::MIN..=i64::MAX),
            ("Float", Json::Number(number)) => match number.as_f64().filter(|it| it.is_finite()) {
                Some(number) => Ok(Value::Float(number)),
                None => Err(self.out_of_range(name, &number.to_string())),
            },
            ("Float", Json::String(text)) => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Value::Float(number)),
                _ => Err(self.fault("cannot use string as Float")),
            },
            ("Boolean", Json::Bool(value)) => Ok(Value::Boolean(*value)),
            ("String" | "ID", Json::String(text)) => Ok(Value::String(text.as_str().into())),
            ("ID", Json::Number(number)) if !number.is_f64() => {
                Ok(Value::String(number.to_string().into()))
            }
            ("Int" | "Int64" | "Float" | "Boolean" | "String" | "ID", _) => {
                Err(self.fault(format!("cannot use {} as {name}", json_word(json))))
            }
            ("DateTime", Json::Number(number)) => Ok(Value::String(number.to_string().into())),
            _ => Ok(free_value(json)),
        }
    }

    /// Reads an integer in a range.
    fn full(
        &mut self,
        name: &Name,
        text: &str,
        range: std::ops::RangeInclusive<i64>,
    ) -> Result<Value, GraphqlError> {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        match text.parse::<i64>() {
            Ok(number) if range.contains(&number) => Ok(Value::Int(number)),
            _ if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Err(self.out_of_range(name, text))
            }
            _ => {
                let message = format!("Type mismatched for Value `{text}`, expected:`{name}`");
                Err(self.fault(message))
            }
        }
    }

    /// Converts a part of the value, one step further down its path.
    fn within<T>(
        &mut self,
        step: PathStep,
        coerce: impl FnOnce(&mut Self) -> Result<T, GraphqlError>,
    ) -> Result<T, GraphqlError> {
        self.path.push(step);
        let coerced = coerce(self);
        self.path.pop();
        coerced
    }

    fn out_of_range(&self, name: &Name, text: &str) -> GraphqlError {
        self.fault(format!("Out of range value '{text}', for type `{name}`"))
    }

    fn fault(&self, message: impl Into<String>) -> GraphqlError {
        GraphqlError::on(self.path.clone(), message)
    }
}

/// The word for a kind of JSON value in messages: Go's, as in Dgraph.
fn json_word(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "bool",
        Json::Number(_) => "Number",
        Json::String(_) => "string",
        Json::Array(_) => "slice",
        Json::Object(_) => "map",
    }
}

/// Converts the value of a scalar that the schema says nothing about.
fn free_value(json: &Json) -> Value {
    stack::require();
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Boolean(*value),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::Int(number),
            None => Value::Float(number.as_f64().unwrap_or(f64::INFINITY)),
        },
        Json::String(text) => Value::String(text.as_str().into()),
        Json::Array(values) => Value::List(values.iter().map(free_value).collect()),
        Json::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(key, value)| (Name::new_unchecked(key), free_value(value)));
            Value::Object(fields.collect())
        }
    }
}
