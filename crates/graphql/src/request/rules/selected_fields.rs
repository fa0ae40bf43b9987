//! Rules about fields, their arguments and directives.

use apollo_compiler::Node;
use apollo_compiler::ast::{DirectiveDefinition, FieldDefinition, InputValueDefinition};
use apollo_compiler::schema::ExtendedType;
use hexgraph_base::types::{did_you_mean_one_of, near_names};
use std::collections::{HashMap, HashSet};

use crate::request::Position;
use crate::request::grammar::document::{ArgumentNode, DirectiveNode, FieldNode, ValueKind};
use crate::request::rules::lookup::field_names;
use crate::request::rules::walker::Walker;
use crate::request::rules::{CascadeVariable, field_of, is_composite};

impl<'a, 't> Walker<'a, 't> {
    /// Checks a field after all that stands below it.
    pub(super) fn check_field(
        &mut self,
        parent: Option<&'a ExtendedType>,
        definition: Option<&'a FieldDefinition>,
        field: &'a FieldNode<'t>,
    ) {
        match (parent, definition) {
            (Some(parent), None) => self.unknown_field(parent, field),
            (Some(parent), Some(definition)) => {
                let of = || format!("field \"{}\" of type \"{}\"", field.name, parent.name());
                self.existing_arguments(&definition.arguments, &field.arguments, field.at, of);
                for missing in missing_arguments(&definition.arguments, &field.arguments) {
                    let message = format!(
                        "Field \"{}\" argument \"{}\" of type \"{}\" is required but not provided.",
                        field.name, missing.name, missing.ty
                    );
                    self.fault(field.at, message);
                }
                self.check_leaf(definition, field);
            }
            (None, _) => {}
        }
        self.unique_arguments(&field.arguments);
    }

    /// Checks that a field or directive, which `of` names, has the arguments that are given.
    fn existing_arguments(
        &mut self,
        existing: &[Node<InputValueDefinition>],
        given: &[ArgumentNode<'t>],
        at: Position,
        of: impl Fn() -> String,
    ) {
        for argument in given {
            if self.is_full() {
                return;
            }
            let names = || existing.iter().map(|existing| existing.name.as_str());
            if !names().any(|name| name == argument.name) {
                let near = did_you_mean_one_of(&near_names(argument.name, names()), false);
                let message = format!("Unknown argument \"{}\" on {}.{near}", argument.name, of());
                self.fault(at, message);
            }
        }
    }

    /// Adds the fault of a field that a type lacks, with what may have been meant.
    fn unknown_field(&mut self, parent: &'a ExtendedType, field: &FieldNode<'t>) {
        let mut message =
            format!("Cannot query field \"{}\" on type \"{}\".", field.name, parent.name());
        // A fragment on a type that has the field is more likely to be missing than a letter.
        let types = self.types_with(parent, field.name);
        if types.is_empty() {
            let names = field_names(parent);
            let near = near_names(field.name, names.into_iter());
            message += &did_you_mean_one_of(&near, true);
        } else {
            let types: Vec<&str> = types.iter().map(String::as_str).collect();
            let list = did_you_mean_one_of(&types, true);
            message += &list.replacen("mean ", "mean to use an inline fragment on ", 1);
        }
        self.fault(field.at, message);
    }

    /// Returns the interfaces and object types below an abstract type that have a field: first the
    /// interfaces of most types, then object types by name.
    fn types_with(&self, parent: &ExtendedType, name: &str) -> Vec<String> {
        if parent.is_object() {
            return Vec::new();
        }
        let mut objects = Vec::new();
        let mut interfaces: HashMap<String, usize> = HashMap::new();
        for possible in self.api.possible_types(parent.name()).iter() {
            // An interface counts once for each of its types that has the field.
            let Some(ExtendedType::Object(object)) = self.definition(possible) else { continue };
            if !object.fields.contains_key(name) {
                continue;
            }
            objects.push(possible.to_string());
            for interface in &object.implements_interfaces {
                let definition = self.definition(&interface.name);
                if definition
                    .is_some_and(|definition| field_of(self.api, definition, name).is_some())
                {
                    *interfaces.entry(interface.name.to_string()).or_default() += 1;
                }
            }
        }
        let mut all: Vec<(usize, String)> =
            interfaces.into_iter().map(|(name, count)| (count, name)).collect();
        all.extend(objects.into_iter().map(|name| (0, name)));
        all.sort_by(|left, right| right.0.cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
        all.into_iter().map(|(_, name)| name).collect()
    }

    /// Checks that a field of objects has a selection, and any other has none.
    fn check_leaf(&mut self, definition: &FieldDefinition, field: &FieldNode<'t>) {
        let Some(target) = self.definition(definition.ty.inner_named_type()) else { return };
        if !is_composite(target) && !field.selections.is_empty() {
            let message = format!(
                "Field \"{}\" must not have a selection since type \"{}\" has no subfields.",
                field.name,
                target.name()
            );
            self.fault(field.at, message);
        }
        if is_composite(target) && field.selections.is_empty() {
            let message = format!(
                "Field \"{}\" of type \"{}\" must have a selection of subfields. Did you mean \"{} {{ ... }}\"?",
                field.name, definition.ty, field.name
            );
            self.fault(field.at, message);
        }
    }

    /// Checks a directive at a position.
    pub(super) fn check_directive(
        &mut self,
        parent: Option<&'a ExtendedType>,
        definition: Option<&'a DirectiveDefinition>,
        directive: &'a DirectiveNode<'t>,
        position: &str,
    ) {
        if directive.name == "cascade" {
            self.check_cascade(parent, directive);
        }
        let Some(definition) = definition else {
            self.fault(directive.at, format!("Unknown directive \"{}\".", directive.name));
            return self.unique_arguments(&directive.arguments);
        };
        let of = || format!("directive \"@{}\"", directive.name);
        self.existing_arguments(&definition.arguments, &directive.arguments, directive.at, of);
        if !definition.locations.iter().any(|location| location.name() == position) {
            let message =
                format!("Directive \"{}\" may not be used on {position}.", directive.name);
            self.fault(directive.at, message);
        }
        for missing in missing_arguments(&definition.arguments, &directive.arguments) {
            let message = format!(
                "Directive \"@{}\" argument \"{}\" of type \"{}\" is required but not provided.",
                directive.name, missing.name, missing.ty
            );
            self.fault(directive.at, message);
        }
        self.unique_arguments(&directive.arguments);
    }

    /// Checks that `@cascade(fields:)` names fields of the type that it applies to.
    fn check_cascade(&mut self, parent: Option<&'a ExtendedType>, directive: &DirectiveNode<'t>) {
        let fields = directive.arguments.iter().find(|argument| argument.name == "fields");
        let (Some(parent), Some(fields)) = (parent, fields) else { return };
        match &fields.value.kind {
            // The value comes with each request, and is checked then.
            ValueKind::Variable(name) => {
                let variable = Box::from(*name);
                let type_name = parent.name().clone();
                self.checked.cascades.push(CascadeVariable {
                    variable,
                    type_name,
                    at: directive.at,
                });
            }
            ValueKind::List(values) => {
                let names = values.iter().filter_map(|value| match &value.kind {
                    ValueKind::String(name) => Some(&**name),
                    _ => None,
                });
                let existing = |name: &&str| field_of(self.api, parent, name).is_some();
                if let Some(name) = names.into_iter().find(|name| !existing(name)) {
                    self.fault(directive.at, cascade_message(name, parent.name()));
                }
            }
            ValueKind::String(name) if field_of(self.api, parent, name).is_none() => {
                self.fault(directive.at, cascade_message(name, parent.name()));
            }
            _ => {}
        }
    }

    /// Checks that no directive stands twice at one position.
    pub(super) fn check_directives(&mut self, directives: &[DirectiveNode<'t>]) {
        let mut seen = HashSet::new();
        for directive in directives {
            if !seen.insert(directive.name) {
                let message = format!(
                    "The directive \"{}\" can only be used once at this location.",
                    directive.name
                );
                self.fault(directive.at, message);
            }
        }
    }

    /// Checks that the names of arguments are unique.
    fn unique_arguments(&mut self, arguments: &[ArgumentNode<'t>]) {
        let mut seen = HashSet::new();
        for argument in arguments {
            if !seen.insert(argument.name) {
                let message =
                    format!("There can be only one argument named \"{}\".", argument.name);
                self.fault(argument.at, message);
            }
        }
    }
}

/// The message about a field that `@cascade` names and the type lacks.
pub(in crate::request) fn cascade_message(field: &str, type_name: &str) -> String {
    format!(
        "Field `{field}` is not present in type `{type_name}`. You can only use fields in cascade which are in \
         type `{type_name}`"
    )
}

/// Returns the required arguments that are not given.
fn missing_arguments<'d>(
    definitions: &'d [Node<InputValueDefinition>],
    given: &[ArgumentNode<'_>],
) -> Vec<&'d InputValueDefinition> {
    let required = definitions.iter().filter(|definition| definition.is_required());
    let missing = required
        .filter(|definition| !given.iter().any(|argument| definition.name == argument.name));
    missing.map(|definition| &**definition).collect()
}
