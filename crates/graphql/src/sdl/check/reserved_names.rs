//! The first checks, before anything is added to the definitions: kinds of types, reserved names,
//! and names that the API will generate.

use std::collections::HashSet;

use crate::sdl::build::builtin;
use crate::sdl::source::raw::{RawField, RawKind, RawType, is_root_name};
use crate::syntax::GraphqlError;

/// Returns the faults of definitions that show without looking at other types.
pub(in crate::sdl) fn check(types: &[RawType]) -> Vec<GraphqlError> {
    let mut faults = Vec::new();
    for def in types {
        if def.kind == RawKind::Scalar {
            let message = "You can't add scalar definitions. Only type, interface, union, input \
                           and enums are allowed in initial schema.";
            faults.push(GraphqlError::at(def.position, message));
        }
        faults.extend(reserved_name(def));
        directives_at_types(def, &mut faults);
    }
    generated_types(types, &mut faults);
    generated_operations(types, "Query", "query", generated_queries, &mut faults);
    generated_operations(types, "Mutation", "mutation", generated_mutations, &mut faults);
    faults
}

/// Refuses types with reserved names, and stored fields of `Query` and `Mutation`.
fn reserved_name(def: &RawType) -> Option<GraphqlError> {
    let name = &def.name;
    if def.kind == RawKind::Scalar || !builtin::is_reserved(name) {
        return None;
    }
    // `Query` and `Mutation` are reserved for operations that the schema adds.
    if !def.is_root() {
        let message = format!(
            "{name} is a reserved word, so you can't declare a type with this name. Pick a \
             different name for the type."
        );
        return Some(GraphqlError::at(def.position, message));
    }
    let field = def.fields.iter().find(|field| !field.is_custom())?;
    let message = format!(
        "GraphQL Query and Mutation types are only allowed to have fields with @custom/@lambda \
         directive. Other fields are built automatically for you. Found {name} {} without \
         @custom/@lambda.",
        field.name
    );
    Some(GraphqlError::at(def.position, message))
}

/// Refuses directives at types of other kinds than theirs.
fn directives_at_types(def: &RawType, faults: &mut Vec<GraphqlError>) {
    for directive in &def.directives {
        let (name, directive_name) = (&def.name, directive.name());
        // Unknown directives are reported by the standard checks.
        let Some(kinds) = builtin::kinds_of_directive(directive_name) else { continue };
        if kinds.is_empty() {
            let message = format!(
                "Type {name}; has the @{directive_name} directive, but it is not applicable at \
                 type level."
            );
            faults.push(GraphqlError::at(directive.position, message));
        } else if !kinds.contains(&def.kind) {
            let message = format!(
                "Type {name}; has the @{directive_name} directive, but it is not applicable on \
                 types of {} kind.",
                def.kind.name()
            );
            faults.push(GraphqlError::at(directive.position, message));
        }
    }
}

/// Refuses types with the names of those that are built in or will be generated.
fn generated_types(types: &[RawType], faults: &mut Vec<GraphqlError>) {
    // Names are reserved even where `@generate` leaves the type out.
    let mut used: HashSet<String> =
        builtin::RESERVED.iter().map(|name| (*name).to_owned()).collect();
    for def in types.iter().filter(|def| !is_root_name(&def.name) && !def.has("remote")) {
        let name = &def.name;
        let behind: &[&str] = match def.kind {
            RawKind::Union => &["Ref", "Filter", "Type"],
            RawKind::Object | RawKind::Interface => {
                &["Ref", "Patch", "AggregateResult", "Filter", "HasFilter", "Order", "Orderable"]
            }
            _ => continue,
        };
        used.extend(behind.iter().map(|suffix| format!("{name}{suffix}")));
        let around: &[(&str, &str)] = match def.kind {
            RawKind::Object => &[
                ("Add", "Input"),
                ("Add", "Payload"),
                ("Update", "Input"),
                ("Update", "Payload"),
                ("Delete", "Input"),
                ("Delete", "Payload"),
            ],
            RawKind::Interface => &[
                ("Update", "Input"),
                ("Update", "Payload"),
                ("Delete", "Input"),
                ("Delete", "Payload"),
            ],
            _ => &[],
        };
        used.extend(around.iter().map(|(prefix, suffix)| format!("{prefix}{name}{suffix}")));
    }
    for def in types.iter().filter(|def| used.contains(&def.name)) {
        let (name, kind) = (&def.name, def.kind.name());
        let message = format!(
            "{name} is a reserved word, so you can't declare a {kind} with this name. Pick a \
             different name for the {kind}."
        );
        faults.push(GraphqlError::at(def.position, message));
    }
}

/// The names of the queries that are generated for a type.
fn generated_queries(def: &RawType) -> Vec<String> {
    let name = &def.name;
    vec![
        format!("get{name}"),
        format!("check{name}Password"),
        format!("query{name}"),
        format!("aggregate{name}"),
    ]
}

/// The names of the mutations that are generated for a type.
fn generated_mutations(def: &RawType) -> Vec<String> {
    let verbs: &[&str] = match def.kind {
        RawKind::Interface => &["update", "delete"],
        _ => &["add", "update", "delete"],
    };
    verbs.iter().map(|verb| format!("{verb}{}", def.name)).collect()
}

/// Refuses custom operations with the names of those that will be generated.
fn generated_operations(
    types: &[RawType],
    root: &str,
    operation: &str,
    generated: fn(&RawType) -> Vec<String>,
    faults: &mut Vec<GraphqlError>,
) {
    let makes_operations = |def: &&RawType| {
        matches!(def.kind, RawKind::Object | RawKind::Interface)
            && def.name != root
            && !def.has("remote")
    };
    let used: HashSet<String> = types.iter().filter(makes_operations).flat_map(generated).collect();
    let declared = types.iter().filter(|def| def.name == root).flat_map(|def| &def.fields);
    let is_used = |field: &&RawField| used.contains(&field.name);
    faults.extend(declared.filter(is_used).map(|field| {
        let message = format!(
            "{} is a reserved word, so you can't declare a {operation} with this name. Pick a \
             different name for the {operation}.",
            field.name
        );
        GraphqlError::at(field.position, message)
    }));
}
