//! Checks a field, and its directives that need few words: `@embedding`, `@id`, `@default`,
//! `@remoteResponse`.

use apollo_compiler::ast::Value;

use super::subject::Subject;
use crate::sdl::build::builtin;
use crate::sdl::source::raw::{RawDirective, RawKind};
use crate::sdl::source::value::{bare, entry};
use crate::syntax::GraphqlError;

/// The names of the arguments that the API adds to fields of stored types.
const OWN_ARGUMENTS: [&str; 4] = ["first", "offset", "filter", "order"];

/// Checks a field apart from its directives.
pub(in crate::sdl) fn check(subject: &Subject<'_>, faults: &mut Vec<GraphqlError>) {
    // Each check reports at most one fault, and all run.
    let reported =
        [nested(subject), arguments(subject), name(subject), list(subject), position(subject)];
    faults.extend(reported.into_iter().flatten().map(|what| subject.fault(what)));
}

/// Refuses lists of lists.
fn nested(subject: &Subject<'_>) -> Option<String> {
    let element = subject.field.ty.element()?;
    element.is_list().then(|| "Nested lists are invalid.".to_owned())
}

/// Refuses arguments with the names of those that the API adds.
fn arguments(subject: &Subject<'_>) -> Option<String> {
    if subject.def.is_root() || subject.def.has("remote") {
        return None;
    }
    let mut arguments = subject.field.arguments.iter();
    let own = arguments.find(|argument| OWN_ARGUMENTS.contains(&argument.name.as_str()))?;
    Some(format!("can't have {} as an argument because it is a reserved argument.", own.name))
}

/// Names that no value of an enum may have, and so no field that `has` can request.
const NO_ENUM_VALUES: [&str; 3] = ["true", "false", "null"];

/// Refuses reserved names.
fn name(subject: &Subject<'_>) -> Option<String> {
    let name = &subject.field.name;
    let is_no_value = is_stored(subject) && NO_ENUM_VALUES.contains(&name.as_str());
    if builtin::is_reserved(name) || is_no_value {
        let what = "is a reserved keyword and you cannot declare a field with this name.";
        return Some(format!("{name} {what}"));
    }
    let what = "Aggregate is a reserved keyword and you cannot declare a field with Aggregate as \
                suffix.";
    name.ends_with("Aggregate").then(|| what.to_owned())
}

/// Refuses lists that the store can't hold. A predicate holds one position only.
fn list(subject: &Subject<'_>) -> Option<String> {
    let name = subject.field.ty.element()?.name();
    // Lists of positions may be declared where they are not stored.
    let is_invalid =
        matches!(name, "ID" | "Boolean") || builtin::is_geo(name) && is_stored(subject);
    is_invalid.then(|| format!("{name} lists are invalid."))
}

/// Returns true for a field with stored values.
fn is_stored(subject: &Subject<'_>) -> bool {
    matches!(subject.def.kind, RawKind::Object | RawKind::Interface)
        && !subject.def.is_root()
        && !subject.def.has("remote")
        && !subject.field.is_custom()
}

/// Refuses `@withSubscription`, but at custom queries in DQL.
fn position(subject: &Subject<'_>) -> Option<String> {
    subject.field.directive("withSubscription")?;
    if subject.def.name != "Query" {
        let what = "@withSubscription directive is applicable only on types and custom dql queries";
        return Some(what.to_owned());
    }
    let custom = subject.field.directive("custom")?;
    let what = "custom query should have dql argument if @withSubscription directive is set";
    custom.argument("dql").is_none().then(|| what.to_owned())
}

/// Checks `@embedding`.
pub(in crate::sdl) fn embedding(subject: &Subject<'_>) -> Option<GraphqlError> {
    let ty = &subject.field.ty;
    let shown = match ty.element() {
        Some(element)
            if !element.is_list() && element.is_non_null() && element.name() == "Float" =>
        {
            return None;
        }
        Some(_) => format!("[{}]", ty.name()),
        None => ty.name().to_owned(),
    };
    Some(subject.fault(format!(
        "The field with @embedding directive is of type {shown}, but @embedding directive only \
         applies to fields of type [Float!]."
    )))
}

/// Checks `@id`.
pub(in crate::sdl) fn unique(
    subject: &Subject<'_>,
    directive: &RawDirective,
) -> Option<GraphqlError> {
    let ty = &subject.field.ty;
    if ty.is_list() || !matches!(ty.name(), "String" | "Int" | "Int64") {
        let what = format!("with @id directive must be of type String, Int or Int64, not {ty}");
        return Some(subject.fault_at(directive, what));
    }
    let interface = directive.argument("interface").and_then(|value| value.to_bool());
    // The types that implement the interface have the directive as a copy.
    let is_misplaced = interface == Some(true)
        && subject.def.kind != RawKind::Interface
        && subject.field.inherited_from.is_none();
    let what = "@id field with interface argument can only be defined in interface,not in Type";
    is_misplaced.then(|| subject.fault_at(directive, what))
}

/// Checks `@default`.
///
/// # Errors
///
/// A field that can have no default, or a default that the field's type can't hold.
pub(in crate::sdl) fn default(
    subject: &Subject<'_>,
    directive: &RawDirective,
) -> Result<(), GraphqlError> {
    let fault = |what: String| Err(subject.fault_at(directive, what));
    let field = subject.field;
    let ty = field.ty.name();
    if subject.def.has("remote") {
        return fault("cannot use @default directive on a @remote type".to_owned());
    }
    let refused = if !builtin::is_scalar(ty) && !subject.draft.is_kind(ty, RawKind::Enum) {
        format!("non-scalar type {ty}")
    } else if field.ty.is_list() {
        format!("list type [{ty}]")
    } else if field.has("id") {
        "@id directive".to_owned()
    } else if field.is_id() {
        "type ID".to_owned()
    } else if field.has("custom") {
        "@custom directive".to_owned()
    } else if field.has("lambda") {
        "@lambda directive".to_owned()
    } else {
        String::new()
    };
    if !refused.is_empty() {
        return fault(format!("cannot use @default directive on field with {refused}"));
    }
    for argument in &directive.node.arguments {
        let value = entry(&argument.value, "value").map(|value| bare(value)).unwrap_or_default();
        if !suits(&value, ty) {
            return fault(format!(
                "@default directive provides value \"{value}\" which cannot be used with {ty}"
            ));
        }
    }
    Ok(())
}

/// Returns true if a text can become a value of a type.
fn suits(value: &str, ty: &str) -> bool {
    match ty {
        // A time is converted with each mutation, so any text passes here.
        "DateTime" => true,
        _ if value == "$now" => false,
        "Int" | "Int64" => value.parse::<i64>().is_ok(),
        "Float" => value.parse::<f64>().is_ok(),
        "Boolean" => matches!(value, "true" | "false"),
        _ => true,
    }
}

/// Checks `@remoteResponse`.
pub(super) fn remote_response(
    subject: &Subject<'_>,
    directive: &RawDirective,
) -> Option<GraphqlError> {
    let name = directive.argument("name");
    let is_empty =
        !name.is_some_and(|name| matches!(&**name, Value::String(text) if !text.is_empty()));
    let what = if !subject.def.has("remote") {
        "@remoteResponse directive can only be defined on fields of @remote type."
    } else if is_empty {
        "Argument name inside @remoteResponse directive must be defined."
    } else {
        return None;
    };
    let message = format!("Type {}: Field {}: {what}", subject.def.name, subject.field.name);
    Some(GraphqlError::at(directive.position, message))
}
