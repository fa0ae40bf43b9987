//! Checks a type and its directives.

use apollo_compiler::ast::Value;

use super::federation;
use crate::sdl::build::builtin;
use crate::sdl::source::draft::Draft;
use crate::sdl::source::raw::{RawField, RawKind, RawType};
use crate::sdl::source::value;
use crate::sdl::source::value::{bare, written};
use crate::syntax::GraphqlError;

/// Checks a type apart from its fields.
pub(in crate::sdl) fn check(draft: &Draft<'_>, def: &RawType, faults: &mut Vec<GraphqlError>) {
    // In the order of Dgraph's checks.
    faults.extend(one_id(def));
    faults.extend(dgraph_type(def));
    faults.extend(secret(def));
    faults.extend(conflicting(def));
    faults.extend(has_content(def));
    faults.extend(if def.has("remote") { remote(draft, def) } else { stored(draft, def) });
    generate(draft, def, faults);
    faults.extend(federation::key(draft, def));
    faults.extend(federation::extends(def));
    lambda_on_mutate(draft, def, faults);
}

/// Refuses a second field of the type `ID`.
fn one_id(def: &RawType) -> Option<GraphqlError> {
    let ids: Vec<&RawField> = def.fields.iter().filter(|field| field.is_id()).collect();
    // `Query` and `Mutation` have operations, which may return IDs.
    let (last, others) = ids.split_last()?;
    if others.is_empty() || def.is_root() {
        return None;
    }
    let others: Vec<&str> = others.iter().map(|field| field.name.as_str()).collect();
    let name = &def.name;
    let message = format!(
        "Fields {} and {} are listed as IDs for type {name}, but a type can have only one ID field. \
         Pick a single field as the ID for type {name}.",
        others.join(", "),
        last.name
    );
    let positions = ids.iter().filter_map(|field| field.position).collect();
    Some(GraphqlError { positions, ..GraphqlError::new(message) })
}

/// Checks `@dgraph(type:)`.
fn dgraph_type(def: &RawType) -> Option<GraphqlError> {
    let directive = def.directive("dgraph")?;
    let name = &def.name;
    let message = match directive.argument("type") {
        Some(ty) if !bare(ty).is_empty() => match &**ty {
            Value::String(text) if !builtin::is_reserved(text) => return None,
            Value::String(text) => format!(
                "Type {name}; type argument '{text}' for @dgraph directive is a reserved keyword."
            ),
            _ => format!("Type {name}; type argument for @dgraph directive should of type String."),
        },
        _ => format!("Type {name}; type argument for @dgraph directive should not be empty."),
    };
    Some(GraphqlError::at(directive.position, message))
}

/// Checks `@secret`.
fn secret(def: &RawType) -> Option<GraphqlError> {
    let secrets = def.directives.iter().filter(|directive| directive.name() == "secret");
    let fields: Vec<String> = secrets
        .map(|secret| secret.argument("field").map(|field| bare(field)).unwrap_or_default())
        .collect();
    let name = &def.name;
    let what = if fields.iter().any(String::is_empty) {
        "Argument \"field\" of secret directive is empty".to_owned()
    } else {
        match fields.as_slice() {
            [] => return None,
            [field] => {
                // One password is right, unless a field has its name.
                def.field(field)?;
                format!("has a secret directive and field of the same name {field}")
            }
            several => format!("has more than one secret fields {}", several.join(",")),
        }
    };
    Some(GraphqlError::at(def.position, format!("Type {name}; {what}")))
}

/// Refuses directives of stored types at one that is not stored.
fn conflicting(def: &RawType) -> Option<GraphqlError> {
    let other = ["auth", "withSubscription"].into_iter().find(|other| def.has(other))?;
    let message = format!("Type {}; cannot have both @{other} and @remote directive", def.name);
    def.has("remote").then(|| GraphqlError::at(def.position, message))
}

/// Refuses an object type without a field that a mutation could set.
fn has_content(def: &RawType) -> Option<GraphqlError> {
    let has_content = def.kind != RawKind::Object
        || def.is_root()
        || def.has("remote")
        || def.fields.iter().any(|field| !field.is_id() && !field.is_custom());
    let message = format!(
        "Type {}; is invalid, a type must have atleast one field that is not of ID! type and \
         doesn't have @custom/@lambda directive.",
        def.name
    );
    (!has_content).then(|| GraphqlError::at(def.position, message))
}

/// Checks a stored type: no field of it, custom ones apart, points to a type that is not stored.
fn stored(draft: &Draft<'_>, def: &RawType) -> Option<GraphqlError> {
    if def.is_root() {
        return None;
    }
    let is_remote = |name: &str| draft.get(name).is_some_and(|other| other.has("remote"));
    let mut fields = def.fields.iter().filter(|field| !field.is_custom());
    if let Some(field) = fields.find(|field| is_remote(field.ty.name())) {
        let message = format!(
            "Type {}; field {}; is of a type that has @remote directive. Those would need to be \
             resolved by a @custom/@lambda directive.",
            def.name, field.name
        );
        return Some(GraphqlError::at(field.position, message));
    }
    let interface = def.interfaces.iter().find(|name| is_remote(name))?;
    let message = format!(
        "Type {}; without @remote directive can't implement an interface {interface}; with have \
         @remote directive.",
        def.name
    );
    Some(GraphqlError::at(def.position, message))
}

/// Checks a `@remote` type, which has no custom fields and no stored interfaces.
fn remote(draft: &Draft<'_>, def: &RawType) -> Option<GraphqlError> {
    if let Some(field) = def.fields.iter().find(|field| field.is_custom()) {
        let message = format!(
            "Type {}; field {}; can't have @custom/@lambda directive as a @remote type can't have \
             fields with @custom/@lambda directive.",
            def.name, field.name
        );
        return Some(GraphqlError::at(field.position, message));
    }
    let is_stored = |name: &&String| draft.get(name).is_some_and(|other| !other.has("remote"));
    let interface = def.interfaces.iter().find(is_stored)?;
    let message = format!(
        "Type {}; with @remote directive implements interface {interface}; which doesn't have \
         @remote directive.",
        def.name
    );
    Some(GraphqlError::at(def.position, message))
}

/// The arguments of `@generate` with their switches.
const GENERATED: [(&str, &[&str]); 2] = [
    ("query", &["get", "query", "password", "aggregate"]),
    ("mutation", &["add", "update", "delete"]),
];

/// Checks `@generate`.
fn generate(draft: &Draft<'_>, def: &RawType, faults: &mut Vec<GraphqlError>) {
    let Some(directive) = def.directive("generate") else { return };
    let name = &def.name;
    for (group, switches) in GENERATED {
        let Some(argument) = directive.argument(group) else { continue };
        if !matches!(**argument, Value::Object(_)) {
            let message = format!(
                "Type {name}; {group} argument for @generate directive should be of type Object."
            );
            faults.push(GraphqlError::at(draft.argument_position(directive, group), message));
        }
        for switch in switches {
            let Some(result) = value::entry(argument, switch) else { continue };
            if !matches!(**result, Value::Boolean(_)) {
                let message = format!(
                    "Type {name}; {switch} field inside {group} argument of @generate directive \
                     can only be true/false, found: `{}",
                    bare(result)
                );
                faults.push(GraphqlError::at(value::position(result, draft.positions), message));
            }
        }
    }
    if let Some(result) = directive.argument("subscription")
        && !matches!(**result, Value::Boolean(_))
    {
        let message = format!(
            "Type {name}; subscription argument in @generate directive can only be true/false, \
             found: `{}`.",
            bare(result)
        );
        faults.push(GraphqlError::at(directive.position, message));
    }
}

/// Checks `@lambdaOnMutate`.
fn lambda_on_mutate(draft: &Draft<'_>, def: &RawType, faults: &mut Vec<GraphqlError>) {
    let Some(directive) = def.directive("lambdaOnMutate") else { return };
    let name = &def.name;
    if draft.settings.lambda_url.is_none() {
        let message = format!(
            "Type {name}: has the @lambdaOnMutate directive, but the `--graphql lambda-url` flag \
             wasn't specified during alpha startup."
        );
        faults.push(GraphqlError::at(directive.position, message));
    }
    if def.has("remote") {
        let message = format!(
            "Type {name}; @lambdaOnMutate directive not allowed along with @remote directive."
        );
        faults.push(GraphqlError::at(directive.position, message));
    }
    // Whatever the switches are called, they are truth values; unknown names are reported by the
    // standard checks.
    for argument in &directive.node.arguments {
        if !matches!(*argument.value, Value::Boolean(_)) {
            let message = format!(
                "Type {name}; {} argument in @lambdaOnMutate directive can only be true/false, \
                 found: `{}`.",
                argument.name,
                written(&argument.value)
            );
            faults.push(GraphqlError::at(
                draft.argument_position(directive, &argument.name),
                message,
            ));
        }
    }
}
