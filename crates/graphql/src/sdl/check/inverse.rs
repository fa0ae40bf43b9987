//! Checks `@hasInverse`, which makes two fields the two directions of a link. A schema may have it
//! at one field only. Then it is added at the other one, also in all types that inherit that field
//! from an interface.

use apollo_compiler::ast::Value;
use apollo_compiler::name;

use super::subject::Subject;
use crate::sdl::source::draft::Draft;
use crate::sdl::source::raw::{RawDirective, RawField, RawKind, RawType};
use crate::sdl::source::value::bare;
use crate::syntax::{GraphqlError, Position};

/// A directive that has to be added at the other end of a link.
pub(in crate::sdl) struct MissingInverse {
    /// The names of the type and the field that get it.
    type_name: String,
    field: String,
    /// The field that it names.
    inverse: apollo_compiler::Name,
    /// The position of the directive at the first end.
    position: Option<Position>,
}

/// Checks the directive. Returns what has to be added at the other end, if it is not there.
///
/// # Errors
///
/// The first fault of the directive.
pub(in crate::sdl) fn check(
    subject: &Subject<'_>,
    directive: &RawDirective,
) -> Result<Option<MissingInverse>, GraphqlError> {
    let Subject { draft, def, field } = *subject;
    let type_name = field.ty.name();
    if !matches!(draft.kind_of(type_name), Some(RawKind::Object | RawKind::Interface)) {
        return Err(subject.fault(format!(
            "Field {} is of type {type_name}, but @hasInverse directive only applies to fields \
             with object types.",
            field.name
        )));
    }
    let Some(inverse) = directive.argument("field").map(|field| bare(field)) else {
        let what = "@hasInverse directive doesn't have field argument.";
        return Err(subject.fault_at(directive, what));
    };
    let Some(inverse) = draft.get(type_name).and_then(|other| other.field(&inverse)) else {
        let what = format!("inverse field {inverse} doesn't exist for type {type_name}.");
        return Err(subject.fault_at(directive, what));
    };
    is_inverse(subject, directive, inverse)?;
    let name = apollo_compiler::Name::new(&field.name).ok();
    Ok(name.filter(|_| !inverse.has("hasInverse") && def.is_stored_kind()).map(|name| {
        MissingInverse {
            type_name: type_name.to_owned(),
            field: inverse.name.clone(),
            inverse: name,
            position: directive.position,
        }
    }))
}

/// Checks that the field at the other end can be the inverse of the subject.
fn is_inverse(
    subject: &Subject<'_>,
    directive: &RawDirective,
    inverse: &RawField,
) -> Result<(), GraphqlError> {
    let fault = |message| Err(GraphqlError::at(directive.position, message));
    let Subject { draft, def, field } = *subject;
    // The directive may have come from an interface: then the link is the interface's.
    let parent = draft.parent_interface(field);
    let linked = parent
        .filter(|parent| parent.field(&field.name).is_some_and(|field| field.has("hasInverse")));
    let (expected, name) = (&linked.unwrap_or(def).name, &field.name);
    if inverse.ty.name() != expected {
        return fault(format!(
            "Type {expected}; Field {name}: @hasInverse is required to link the fields of same \
             type, but the field {} is of the type {} instead of {expected}. To link these make \
             sure the fields are of the same type.",
            inverse.name, inverse.ty
        ));
    }
    let Some(back) = inverse.directive("hasInverse") else { return Ok(()) };
    let back = back.argument("field").map(|field| bare(field)).unwrap_or_default();
    if back == *name {
        return Ok(());
    }
    let other = format!("{}.{}", field.ty.name(), inverse.name);
    fault(format!(
        "Type {expected}; Field {name}: @hasInverse should be consistant. {expected}.{name} is the \
         inverse of {other}, but {other} is the inverse of {expected}.{back}."
    ))
}

/// Adds the directive at the other end.
pub(in crate::sdl) fn write(draft: &mut Draft<'_>, link: &MissingInverse) {
    let is_interface = draft.is_kind(&link.type_name, RawKind::Interface);
    let argument = Value::Enum(link.inverse.clone());
    let made = RawDirective::made(name!("hasInverse"), vec![(name!("field"), argument)]);
    let made = RawDirective { position: link.position, ..made };
    let add_to = |def: &mut RawType| {
        if let Some(field) = def.fields.iter_mut().find(|field| field.name == link.field) {
            field.directives.push(made.clone());
        }
    };
    draft.get_mut(&link.type_name).into_iter().for_each(add_to);
    if is_interface {
        let implements = |def: &&mut RawType| def.interfaces.contains(&link.type_name);
        draft.schema.types.iter_mut().filter(implements).for_each(add_to);
    }
}
