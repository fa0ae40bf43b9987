//! Rules about values: variables are declared and of a suitable type, and other values are of the
//! type that is expected.

use apollo_compiler::ast::Type;
use apollo_compiler::schema::ExtendedType;
use hexgraph_base::types::{did_you_mean_one_of, near_names, stack};
use std::collections::HashSet;

use crate::request::grammar::document::{ArgumentNode, ValueKind, ValueNode};
use crate::request::rules::input_fields;
use crate::request::rules::walker::{Expected, Walker};

impl<'a, 't> Walker<'a, 't> {
    pub(super) fn check_value(&mut self, expected: Expected<'a>, value: &'a ValueNode<'t>) {
        if let ValueKind::Variable(name) = &value.kind {
            return self.check_variable(expected, name, value);
        }
        if let ValueKind::Object(fields) = &value.kind {
            self.unique_fields(fields);
        }
        if let (Some(ty), Some(definition)) = (expected.ty, expected.definition) {
            if !self.check_number(definition, value) {
                return;
            }
            self.check_function_count(definition, value);
            self.check_kind(ty, definition, value);
        }
    }

    /// Checks that a variable is declared, and that its type suits the position.
    fn check_variable(&mut self, expected: Expected<'a>, name: &str, value: &ValueNode<'t>) {
        let Some(operation) = self.operation else { return };
        let Some(variable) = self.variables.get(name).copied() else {
            let position = match operation.name {
                "" => String::new(),
                name => format!(" by operation \"{name}\""),
            };
            return self.fault(value.at, format!("Variable \"${name}\" is not defined{position}."));
        };
        let Some(requested) = expected.ty else { return };
        // With a default the variable is never absent.
        let has_default =
            variable.default.as_ref().is_some_and(|default| default.kind != ValueKind::Null);
        let nullable = requested.clone().nullable();
        if !is_compatible(&variable.ty, if has_default { &nullable } else { requested }) {
            if expected.definition.is_some() {
                let message = format!(
                    "Variable type provided {} is incompatible with expected type {requested}",
                    variable.ty
                );
                self.fault(value.at, message);
            }
            let message = format!(
                "Variable \"${name}\" of type \"{}\" used in position expecting type \"{requested}\".",
                variable.ty
            );
            self.fault(value.at, message);
        }
    }

    /// Checks that a number is in the range of its type. Returns false when no other rule applies
    /// to the value.
    fn check_number(&mut self, definition: &ExtendedType, value: &ValueNode<'t>) -> bool {
        let (text, fits) = match (definition.name().as_str(), &value.kind) {
            ("Int", ValueKind::Int(text)) => (*text, text.parse::<i32>().is_ok()),
            ("Int64", ValueKind::Int(text)) => (*text, text.parse::<i64>().is_ok()),
            ("Float", ValueKind::Int(text) | ValueKind::Float(text)) => {
                (*text, text.parse::<f64>().is_ok_and(f64::is_finite))
            }
            ("Int64", ValueKind::String(text)) if text.parse::<i64>().is_ok() => return false,
            ("Int64", ValueKind::Null | ValueKind::List(_)) => return true,
            ("Int64", kind) => {
                let shown = match kind {
                    ValueKind::String(text) => text.to_string(),
                    kind => kind.to_string(),
                };
                let message = format!(
                    "Type mismatched for Value `{shown}`, expected: Int64, got: '{}'",
                    kind.word()
                );
                self.fault(value.at, message);
                return false;
            }
            _ => return true,
        };
        if !fits {
            let name = definition.name();
            self.fault(value.at, format!("Out of range value '{text}', for type `{name}`"));
        }
        fits
    }

    /// Checks that a filter of functions has one.
    fn check_function_count(&mut self, definition: &ExtendedType, value: &ValueNode<'t>) {
        if let ValueKind::Object(fields) = &value.kind
            && fields.len() > 1
            && self.api.is_function_filter(definition.name())
        {
            let message = function_count_message(definition.name(), fields.len());
            self.fault(value.at, message);
        }
    }

    /// Checks that the keys of an object are unique.
    fn unique_fields(&mut self, fields: &[ArgumentNode<'t>]) {
        let mut seen = HashSet::new();
        for field in fields {
            if !seen.insert(field.name) {
                let message =
                    format!("There can be only one input field named \"{}\".", field.name);
                self.fault(field.at, message);
            }
        }
    }

    /// Checks that a value is of the kind that its type expects.
    fn check_kind(&mut self, ty: &Type, definition: &'a ExtendedType, value: &'a ValueNode<'t>) {
        let name = definition.name().as_str();
        let is = |names: &[&str]| names.contains(&name);
        // Scalars that GraphQL does not define accept any value, as in Dgraph.
        if definition.is_scalar() && !is(&["Int", "Float", "String", "Boolean", "ID"]) {
            if value.kind == ValueKind::Null && ty.is_non_null() {
                self.unexpected(ty, value, "");
            }
            return;
        }
        let fits = match &value.kind {
            ValueKind::Null => !ty.is_non_null(),
            ValueKind::List(_) => ty.is_list(),
            ValueKind::Int(_) => is(&["Int", "Float", "ID"]),
            ValueKind::Float(_) => is(&["Float"]),
            ValueKind::String(_) => is(&["String", "ID"]),
            ValueKind::Boolean(_) => is(&["Boolean"]),
            ValueKind::Enum(text) => {
                definition.as_enum().is_some_and(|existing| existing.values.contains_key(*text))
            }
            ValueKind::Object(fields) => return self.check_object(definition, fields, value),
            ValueKind::Variable(_) => true,
        };
        if !fits {
            let near = match (&value.kind, definition) {
                (ValueKind::Enum(_) | ValueKind::String(_), ExtendedType::Enum(existing)) => {
                    let text = value.kind.to_string();
                    let names = existing.values.keys().map(|name| name.as_str());
                    let near = near_names(text.trim_matches('"'), names);
                    did_you_mean_one_of(&near, false).replacen("mean ", "mean the enum value ", 1)
                }
                _ => String::new(),
            };
            self.unexpected(ty, value, &near);
        }
    }

    fn unexpected(&mut self, ty: &Type, value: &ValueNode<'t>, near: &str) {
        self.fault(value.at, format!("Expected type {ty}, found {}.{near}", value.kind));
    }

    /// Checks the keys of an input object.
    fn check_object(
        &mut self,
        definition: &'a ExtendedType,
        fields: &[ArgumentNode<'t>],
        value: &ValueNode<'t>,
    ) {
        for existing in input_fields(definition).filter(|existing| existing.is_required()) {
            if !fields.iter().any(|field| existing.name == field.name) {
                let message = format!(
                    "Field {}.{} of required type {} was not provided.",
                    definition.name(),
                    existing.name,
                    existing.ty
                );
                self.fault(value.at, message);
            }
        }
        for field in fields {
            if self.is_full() {
                return;
            }
            let existing = || input_fields(definition).map(|existing| existing.name.as_str());
            if !existing().any(|name| name == field.name) {
                let near = did_you_mean_one_of(&near_names(field.name, existing()), false);
                let message = format!(
                    "Field \"{}\" is not defined by type {}.{near}",
                    field.name,
                    definition.name()
                );
                self.fault(field.at, message);
            }
        }
    }
}

/// The message about a filter with more than one function.
pub(in crate::request) fn function_count_message(filter: &str, count: usize) -> String {
    format!("{filter} filter expects only one filter function, got: {count}")
}

/// Returns true if a variable of the type `given` may occur where `expected` is expected.
fn is_compatible(given: &Type, expected: &Type) -> bool {
    stack::require();
    if expected.is_non_null() && !given.is_non_null() {
        return false;
    }
    match (given, expected) {
        (
            Type::Named(given) | Type::NonNullNamed(given),
            Type::Named(expected) | Type::NonNullNamed(expected),
        ) => given == expected,
        (
            Type::List(given) | Type::NonNullList(given),
            Type::List(expected) | Type::NonNullList(expected),
        ) => is_compatible(given, expected),
        _ => false,
    }
}
