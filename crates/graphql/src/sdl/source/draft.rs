//! The draft of a schema, which the checks read and complete: all definitions by name, with the
//! fields of interfaces copied into the types that implement them.

use std::collections::{HashMap, HashSet};

use apollo_compiler::name;

use super::raw::{RawDirective, RawField, RawKind, RawSchema, RawType, is_root_name};
use super::value::bare;
use crate::sdl::Settings;
use crate::sdl::build::builtin;
use crate::syntax::{GraphqlError, Position, Positions};

/// The definitions of a schema while it is checked.
pub(in crate::sdl) struct Draft<'a> {
    pub(in crate::sdl) schema: RawSchema,
    pub(in crate::sdl) positions: &'a Positions<'a>,
    pub(in crate::sdl) settings: &'a Settings,
    /// True if a type has `@key`.
    pub(in crate::sdl) federated: bool,
    by_name: HashMap<String, usize>,
    /// The fields that a `@provides` names, by the name of their type.
    provided: HashMap<String, HashSet<String>>,
}

impl<'a> Draft<'a> {
    /// Makes the draft of definitions. Types that are declared by `extend` get `@extends`.
    pub(in crate::sdl) fn new(
        mut schema: RawSchema,
        positions: &'a Positions<'a>,
        settings: &'a Settings,
    ) -> Draft<'a> {
        for def in schema.types.iter_mut().filter(|def| def.extension) {
            if !is_root_name(&def.name) {
                let extends = RawDirective::made(name!("extends"), Vec::new());
                def.directives.push(RawDirective { position: def.position, ..extends });
            }
        }
        let mut by_name = HashMap::new();
        for (index, def) in schema.types.iter().enumerate() {
            // The first of a name counts until the standard checks refuse the others.
            by_name.entry(def.name.clone()).or_insert(index);
        }
        let federated = schema.types.iter().any(|def| def.has("key"));
        let provided = provided_fields(&schema.types);
        Draft { schema, positions, settings, federated, by_name, provided }
    }

    /// Returns the types in the order of the text, those of `extend` last.
    pub(in crate::sdl) fn types(&self) -> &[RawType] {
        &self.schema.types
    }

    /// Returns the position of the name of a directive's argument.
    pub(in crate::sdl) fn argument_position(
        &self,
        directive: &RawDirective,
        name: &str,
    ) -> Option<Position> {
        let argument = directive.node.arguments.iter().find(|argument| argument.name == name)?;
        argument.name.location().map(|span| self.positions.at(span.offset()))
    }

    /// Returns the type of a name that the schema declares.
    pub(in crate::sdl) fn get(&self, name: &str) -> Option<&RawType> {
        self.by_name.get(name).map(|&index| &self.schema.types[index])
    }

    /// Returns the type of a name that the schema declares, to be changed.
    pub(in crate::sdl) fn get_mut(&mut self, name: &str) -> Option<&mut RawType> {
        self.by_name.get(name).map(|&index| &mut self.schema.types[index])
    }

    /// Returns the kind of a type that the schema declares or that is built in.
    pub(in crate::sdl) fn kind_of(&self, name: &str) -> Option<RawKind> {
        self.get(name).map(|def| def.kind).or_else(|| builtin::kind_of(name, self.federated))
    }

    /// Returns true if a type is of a kind.
    pub(in crate::sdl) fn is_kind(&self, name: &str, kind: RawKind) -> bool {
        self.kind_of(name) == Some(kind)
    }

    /// Returns the interface that a field was copied from, to which its predicate belongs.
    pub(in crate::sdl) fn parent_interface(&self, field: &RawField) -> Option<&RawType> {
        field.inherited_from.as_ref().and_then(|name| self.get(name))
    }

    /// Returns the interface of a type that declares a password.
    pub(in crate::sdl) fn password_interface(
        &self,
        def: &RawType,
        password: &str,
    ) -> Option<&RawType> {
        let interfaces = def.interfaces.iter().filter_map(|name| self.get(name));
        interfaces
            .into_iter()
            .find(|interface| secret_of(interface).is_some_and(|(field, _)| field == password))
    }

    /// Returns true for an `@external` field that is neither a key nor provided here.
    pub(in crate::sdl) fn is_external(&self, def: &RawType, field: &RawField) -> bool {
        let provided = self.provided.get(&def.name);
        field.has("external")
            && !is_key(def, field)
            && !provided.is_some_and(|fields| fields.contains(&field.name))
    }
}

/// Returns true if the type's `@key` names the field.
pub(in crate::sdl) fn is_key(def: &RawType, field: &RawField) -> bool {
    let key = def.directive("key").and_then(|key| key.argument("fields"));
    key.is_some_and(|key| bare(key) == field.name)
}

/// Returns the name of a type in the store.
pub(in crate::sdl) fn dgraph_type(def: &RawType) -> String {
    let ty = def.directive("dgraph").and_then(|dgraph| dgraph.argument("type"));
    ty.map_or_else(|| def.name.clone(), |ty| bare(ty))
}

/// Returns the text of `@dgraph(pred:)`.
pub(in crate::sdl) fn dgraph_pred(field: &RawField) -> Option<String> {
    field.directive("dgraph").and_then(|dgraph| dgraph.argument("pred")).map(|pred| bare(pred))
}

/// Returns the text of a field's predicate, where the type is stored as `dgraph_type`.
pub(in crate::sdl) fn predicate_text(field: &RawField, dgraph_type: &str) -> String {
    dgraph_pred(field).unwrap_or_else(|| format!("{dgraph_type}.{}", field.name))
}

/// Returns the name of the type's password, and its predicate if the directive names one.
pub(in crate::sdl) fn secret_of(def: &RawType) -> Option<(String, Option<String>)> {
    let secret = def.directives.iter().rfind(|directive| directive.name() == "secret")?;
    let field = secret.argument("field").map(|field| bare(field)).unwrap_or_default();
    Some((field, secret.argument("pred").map(|pred| bare(pred))))
}

/// Collects the fields that `@provides` names.
fn provided_fields(types: &[RawType]) -> HashMap<String, HashSet<String>> {
    let mut provided: HashMap<String, HashSet<String>> = HashMap::new();
    for field in types.iter().filter(|def| !def.has("remote")).flat_map(|def| &def.fields) {
        let names = field.directive("provides").and_then(|provides| provides.argument("fields"));
        if let Some(names) = names.map(|names| bare(names)) {
            let of_type = provided.entry(field.ty.name().to_owned()).or_default();
            of_type.extend(names.split_whitespace().map(str::to_owned));
        }
    }
    provided
}

impl Draft<'_> {
    /// Copies the fields and the password of interfaces into the types that implement them.
    ///
    /// Fields come before those of the type itself, the last interface's first. A field that the
    /// type repeats stays where it is and becomes the interface's.
    ///
    /// # Errors
    ///
    /// A field has another type than its interface says.
    pub(in crate::sdl) fn copy_interfaces(&mut self) -> Result<(), GraphqlError> {
        for index in 0..self.schema.types.len() {
            let def = &self.schema.types[index];
            if def.kind == RawKind::Object && !def.interfaces.is_empty() {
                let expanded = self.with_interfaces(def)?;
                self.schema.types[index] = expanded;
            }
        }
        Ok(())
    }

    /// The most fields that a type gets of its interfaces.
    pub(in crate::sdl) fn inherited(&self, def: &RawType) -> usize {
        let interfaces = def.interfaces.iter().filter_map(|name| self.get(name));
        interfaces.map(|interface| interface.fields.len()).sum()
    }

    /// Returns a type with the fields of its interfaces.
    fn with_interfaces(&self, def: &RawType) -> Result<RawType, GraphqlError> {
        let mut expanded = def.clone();
        // The interface that each field was seen in first.
        let mut seen: HashMap<&str, &str> = HashMap::new();
        // How often the type itself declares a field, and where it does first.
        let mut own: HashMap<&str, (usize, usize)> = HashMap::new();
        for (index, field) in def.fields.iter().enumerate() {
            own.entry(&field.name).or_insert((0, index)).0 += 1;
        }
        // The number of fields that were put before those of the type itself.
        let mut before = 0;
        for interface in def.interfaces.iter().filter_map(|name| self.get(name)) {
            if interface.kind != RawKind::Interface {
                continue;
            }
            let mut copies = Vec::new();
            for field in &interface.fields {
                let first_seen = seen.get(field.name.as_str()).copied();
                let own = own.get(field.name.as_str()).filter(|(count, _)| *count == 1);
                // A list of IDs is no ID here, and is refused later on.
                let is_id = field.is_id() && !field.ty.is_list();
                if let Some((_, index)) = own {
                    same_type(def, &def.fields[*index], interface, field)?;
                    match first_seen {
                        None => expanded.fields[before + index] = replacement(field, interface),
                        // It is there twice now, which the standard checks refuse.
                        Some(_) if !is_id => copies.push(inherit(field, interface)),
                        Some(_) => {}
                    }
                } else if let (true, Some(other), Some(existing)) =
                    (is_id, first_seen, expanded.field(&field.name))
                {
                    same_id(def, existing, interface, field, other)?;
                } else {
                    // An interface may have it twice, too: the standard checks refuse that.
                    copies.push(inherit(field, interface));
                }
                seen.insert(&field.name, &interface.name);
            }
            before += copies.len();
            copies.append(&mut expanded.fields);
            expanded.fields = copies;
            expanded.directives.extend(interface.directive("secret").cloned());
        }
        Ok(expanded)
    }
}

/// Copies a field of an interface without its description.
fn inherit(field: &RawField, interface: &RawType) -> RawField {
    RawField {
        description: String::new(),
        inherited_from: Some(interface.name.clone()),
        ..field.clone()
    }
}

/// Copies a field of an interface instead of the type's own.
fn replacement(field: &RawField, interface: &RawType) -> RawField {
    RawField { inherited_from: Some(interface.name.clone()), ..field.clone() }
}

/// Checks that a field that the type repeats has the type that its interface says.
fn same_type(
    def: &RawType,
    own: &RawField,
    interface: &RawType,
    field: &RawField,
) -> Result<(), GraphqlError> {
    if own.ty == field.ty {
        return Ok(());
    }
    let message = format!(
        "For type {} to implement interface {} the field {} must have type {}",
        def.name, interface.name, field.name, field.ty
    );
    Err(GraphqlError::at(def.position, message))
}

/// Checks that two interfaces agree on the type of an ID.
fn same_id(
    def: &RawType,
    seen: &RawField,
    interface: &RawType,
    field: &RawField,
    other: &str,
) -> Result<(), GraphqlError> {
    if seen.ty == field.ty {
        return Ok(());
    }
    let message = format!(
        "field {} is of type {} in interface {} and is of type {} in interface {other}",
        field.name, field.ty, interface.name, seen.ty
    );
    Err(GraphqlError::at(def.position, message))
}
