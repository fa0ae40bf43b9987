//! Checks the directives of a federation, for types that are common to several services.

use super::subject::Subject;
use crate::sdl::source::draft::{Draft, is_key};
use crate::sdl::source::raw::{RawDirective, RawType};
use crate::sdl::source::value::bare;
use crate::syntax::GraphqlError;

/// Returns the argument `fields` of a directive, unless it is empty.
fn named_fields(directive: &RawDirective) -> Option<String> {
    directive.argument("fields").map(|fields| bare(fields)).filter(|fields| !fields.is_empty())
}

/// Checks `@key`.
pub(in crate::sdl) fn key(draft: &Draft<'_>, def: &RawType) -> Option<GraphqlError> {
    let mut keys = def.directives.iter().filter(|directive| directive.name() == "key");
    let key = keys.next()?;
    let name = &def.name;
    if let Some(second) = keys.next() {
        let message = format!("Type {name}; @key directive should not be defined more than once.");
        return Some(GraphqlError::at(second.position, message));
    }
    let Some(named) = named_fields(key) else {
        let message =
            format!("Type {name}; Argument fields inside @key directive must be defined.");
        return Some(GraphqlError::at(key.position, message));
    };
    let position = draft.argument_position(key, "fields");
    let Some(field) = def.field(&named) else {
        let message = format!(
            "Type {name}; @key directive uses a field {named} which is not defined inside the type."
        );
        return Some(GraphqlError::at(position, message));
    };
    if !field.is_id() && !field.has("id") {
        let message = format!(
            "Type {name}: Field {named}: used inside @key directive should be of type ID or have \
             @id directive."
        );
        return Some(GraphqlError::at(position, message));
    }
    let remote = def.directive("remote")?;
    let message = format!("Type {name}; @remote directive cannot be defined with @key directive");
    Some(GraphqlError::at(remote.position, message))
}

/// Checks `@extends`, which a type that `extend type` declares has too.
pub(in crate::sdl) fn extends(def: &RawType) -> Option<GraphqlError> {
    def.directive("extends")?;
    let name = &def.name;
    if !def.has("key") {
        return Some(without_key(def));
    }
    let remote = def.directive("remote")?;
    let message =
        format!("Type {name}; @remote directive cannot be defined with @extends directive");
    Some(GraphqlError::at(remote.position, message))
}

/// Makes the fault of an extension without `@key`, whose nodes other services could not name.
pub(in crate::sdl) fn without_key(def: &RawType) -> GraphqlError {
    let position = def.directive("extends").and_then(|extends| extends.position);
    let message =
        format!("Type {}; Type Extension cannot be defined without @key directive", def.name);
    GraphqlError::at(position, message)
}

/// Checks that a directive stands at a field of an extension.
fn only_in_extensions(subject: &Subject<'_>, directive: &RawDirective) -> Option<GraphqlError> {
    let message = format!(
        "Type {}: Field {}: @{} directive can only be defined on fields in type extensions. i.e., \
         the type must have `@extends` or use `extend` keyword.",
        subject.def.name,
        subject.field.name,
        directive.name()
    );
    (!subject.def.has("extends")).then(|| GraphqlError::at(directive.position, message))
}

/// Checks `@external`.
pub(in crate::sdl) fn external(
    subject: &Subject<'_>,
    directive: &RawDirective,
) -> Option<GraphqlError> {
    if let Some(fault) = only_in_extensions(subject, directive) {
        return Some(fault);
    }
    let Subject { def, field, .. } = *subject;
    let start = format!("Type {}: Field {}:", def.name, field.name);
    if field.is_custom() {
        let message = format!(
            "{start} @external directive can not be defined on  fields with @custom or @lambda \
             directive."
        );
        return Some(GraphqlError::at(directive.position, message));
    }
    // A key is stored here too, to name the entity, so it may have an index.
    if is_key(def, field) {
        return None;
    }
    let useless = ["hasInverse", "search", "dgraph", "id"];
    let result = useless.into_iter().find_map(|name| field.directive(name))?;
    let message = format!(
        "{start} @{} directive can not be defined on @external fields that are not @key.",
        result.name()
    );
    Some(GraphqlError::at(result.position, message))
}

/// Checks `@requires`.
pub(in crate::sdl) fn requires(
    subject: &Subject<'_>,
    directive: &RawDirective,
) -> Option<GraphqlError> {
    if let Some(fault) = only_in_extensions(subject, directive) {
        return Some(fault);
    }
    let def = subject.def;
    let name = &def.name;
    let Some(named) = named_fields(directive) else {
        let message =
            format!("Type {name}; Argument fields inside @requires directive must be defined.");
        return Some(GraphqlError::at(directive.position, message));
    };
    let message = named.split_whitespace().find_map(|field| match def.field(field) {
        None => Some(format!(
            "Type {name}; @requires directive uses a field {field} which is not defined inside \
             the type."
        )),
        Some(result) if !result.has("external") => {
            Some(format!("Type {name}; Field {field} must be @external."))
        }
        Some(_) => None,
    })?;
    Some(GraphqlError::at(directive.position, message))
}

/// Checks `@provides`.
pub(in crate::sdl) fn provides(
    subject: &Subject<'_>,
    directive: &RawDirective,
) -> Option<GraphqlError> {
    let Subject { draft, def, field } = *subject;
    let name = &def.name;
    // Only entities have fields in several services.
    let Some(other) = draft.get(field.ty.name()).filter(|other| other.has("key")) else {
        let message =
            format!("Type {name}; Field {} does not return a type that has a @key.", field.name);
        return Some(GraphqlError::at(directive.position, message));
    };
    let Some(named) = named_fields(directive) else {
        let message =
            format!("Type {name}; Argument fields inside @provides directive must be defined.");
        return Some(GraphqlError::at(directive.position, message));
    };
    let unknown = named.split_whitespace().find(|named| other.field(named).is_none())?;
    let what = format!("@provides field {unknown} doesn't exist for type {}.", other.name);
    Some(subject.fault_at(directive, what))
}
