//! Checks `@dgraph(pred:)`: the name, edges that are read backwards, and languages.

use apollo_compiler::ast::Value;

use super::subject::Subject;
use crate::sdl::build::builtin;
use crate::sdl::source::draft::dgraph_pred;
use crate::sdl::source::raw::{RawDirective, RawField, RawKind, RawType};
use crate::sdl::source::value::bare;
use crate::syntax::GraphqlError;

/// Checks the directive at a field.
///
/// # Errors
///
/// The first fault of the directive.
pub(in crate::sdl) fn check(
    subject: &Subject<'_>,
    directive: &RawDirective,
) -> Result<(), GraphqlError> {
    let fault = |what: String| Err(subject.fault_at(directive, what));
    if subject.field.is_id() {
        return fault(
            "has the @dgraph directive but fields of type ID can't have the @dgraph directive."
                .to_owned(),
        );
    }
    let pred = directive.argument("pred").filter(|pred| !bare(pred).is_empty());
    let Some(pred) = pred else {
        return fault("pred argument for @dgraph directive should not be empty.".to_owned());
    };
    let Value::String(pred) = &**pred else {
        return fault("pred argument for @dgraph directive should be of type String.".to_owned());
    };
    if builtin::is_reserved(pred) {
        return fault(format!(
            "pred argument '{pred}' for @dgraph directive is a reserved keyword."
        ));
    }
    if pred.starts_with('~') || pred.starts_with("<~") {
        // The types that implement the interface have the field too, and are checked for it.
        if subject.def.kind == RawKind::Interface {
            return Ok(());
        }
        reverse(subject, directive, pred)?;
    }
    match pred.split_once('@') {
        Some((_, tags)) => language(subject, directive, tags),
        None => Ok(()),
    }
}

/// Checks a field that reads edges backwards.
fn reverse(
    subject: &Subject<'_>,
    directive: &RawDirective,
    pred: &str,
) -> Result<(), GraphqlError> {
    let Subject { draft, def, field } = *subject;
    if field.has("hasInverse") {
        let what = "@hasInverse directive is not allowed when pred argument in @dgraph directive \
                    starts with a ~.";
        return Err(subject.fault_at(directive, what));
    }
    let ty = field.ty.name();
    let is_object = matches!(draft.kind_of(ty), Some(RawKind::Object | RawKind::Interface));
    let Some(other) = draft.get(ty).filter(|_| is_object) else {
        let message = format!(
            "Type {}; Field {} is of type {ty}, but reverse predicate in @dgraph directive only \
             applies to fields with object types.",
            def.name, field.name
        );
        return Err(GraphqlError::at(field.position, message));
    };
    if !field.ty.is_list() {
        let what = "with a dgraph directive that starts with ~ should be of type list.";
        return Err(subject.fault_at(directive, what));
    }
    let expected = pred.trim_matches(['<', '~', '>']);
    let is_forward = |candidate: &&RawField| {
        dgraph_pred(candidate).is_some_and(|pred| pred.trim_matches(['<', '>']) == expected)
    };
    match other.fields.iter().find(is_forward) {
        Some(forward) => fits(def, other, forward),
        None => Err(subject.fault_at(
            directive,
            format!(
                "pred argument: {pred} is not supported as forward edge doesn't exist for type {ty}."
            ),
        )),
    }
}

/// Checks that the forward field points to the type, or an interface of it.
fn fits(def: &RawType, other: &RawType, forward: &RawField) -> Result<(), GraphqlError> {
    let position = forward.directive("dgraph").and_then(|dgraph| dgraph.position);
    let fault = |message| Err(GraphqlError::at(position, message));
    let start = format!("Type {}; Field {}:", other.name, forward.name);
    let ty = forward.ty.name();
    if def.name != ty && !def.interfaces.iter().any(|name| name == ty) {
        let possible = match def.interfaces.split_last() {
            None => format!("of type {}", def.name),
            Some((last, others)) => {
                let mut names = vec![def.name.as_str()];
                names.extend(others.iter().map(String::as_str));
                format!("any of types {} or {last}", names.join(", "))
            }
        };
        return fault(format!(
            "{start} should be {possible} to be compatible with @dgraph reverse directive but is \
             of type {ty}."
        ));
    }
    if forward.has("hasInverse") {
        return fault(format!(
            "{start} @hasInverse directive is not allowed because field is forward edge of another \
             field with reverse directive."
        ));
    }
    Ok(())
}

/// Checks what stands after the `@` of a predicate.
fn language(
    subject: &Subject<'_>,
    directive: &RawDirective,
    tags: &str,
) -> Result<(), GraphqlError> {
    let field = subject.field;
    if field.ty.name() != "String" {
        return Err(subject.fault(format!(
            "Expected type `String` for language tag field but got `{}`",
            field.ty.name()
        )));
    }
    if let Some(id) = field.directive("id") {
        return Err(subject.fault_at(id, "@id directive not supported on language tag fields"));
    }
    let (first, several_tags) = match tags.split_once('@') {
        Some((first, _)) => (first, true),
        None => (tags, false),
    };
    if let Some(search) = field.directive("search")
        && first.contains(':')
    {
        let what = "@search directive not applicable on language tag field with multiple languages";
        return Err(subject.fault_at(search, what));
    }
    let what = match first {
        "*" => "`*` language tag not supported in GraphQL",
        "" => "empty language tag not supported",
        _ if several_tags => "multiple language tag not supported",
        _ => return Ok(()),
    };
    Err(subject.fault_at(directive, what))
}
