//! Checks the rules that any GraphQL schema must obey (GraphQL specification, *Type System*), in
//! Dgraph's words. Definitions are checked in the order of the text. Dgraph stops at
//! the first fault; here the first of each field and of each definition is reported.

use std::collections::{HashMap, HashSet};

use crate::model::TypeRef;
use crate::sdl::build::builtin;
use crate::sdl::source::draft::Draft;
use crate::sdl::source::raw::{RawDirective, RawField, RawKind, RawType};
use crate::syntax::{GraphqlError, Position};
use hexgraph_base::types::quote;

/// The result of a check: its first fault.
type Checked = Result<(), GraphqlError>;

/// The kinds of types that a field may have; below, those of arguments and of fields of inputs.
const OUTPUTS: &[RawKind] =
    &[RawKind::Scalar, RawKind::Object, RawKind::Interface, RawKind::Union, RawKind::Enum];
const INPUTS: &[RawKind] = &[RawKind::Scalar, RawKind::Enum, RawKind::Input];

fn fail<T>(position: Option<Position>, message: String) -> Result<T, GraphqlError> {
    Err(GraphqlError::at(position, message))
}

/// Checks the entire schema.
///
/// # Errors
///
/// All faults, each once: a field that types inherit has the same fault in each of them.
pub(in crate::sdl) fn check(draft: &Draft<'_>) -> Result<(), Vec<GraphqlError>> {
    let mut faults = redeclared(draft);
    if faults.is_empty() {
        match Standard::new(draft) {
            Ok(standard) => standard.check(&mut faults),
            Err(fault) => faults.push(fault),
        }
    }
    let mut reported = HashSet::new();
    faults.retain(|fault| reported.insert((fault.message.clone(), fault.positions.clone())));
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Returns the faults of types that are declared twice, or that are built in.
fn redeclared(draft: &Draft<'_>) -> Vec<GraphqlError> {
    let mut names = HashSet::new();
    let is_used = |def: &&RawType| {
        let is_built_in = builtin::kind_of(&def.name, draft.federated).is_some();
        !names.insert(def.name.clone()) || is_built_in
    };
    let used = draft.types().iter().filter(is_used);
    used.map(|def| GraphqlError::at(def.position, format!("Cannot redeclare type {}.", def.name)))
        .collect()
}

/// The check of a schema whose type names are unique.
struct Standard<'a> {
    draft: &'a Draft<'a>,
    /// The arguments and locations of each directive that the schema declares.
    declared: HashMap<&'a str, (Vec<&'a str>, Vec<&'static str>)>,
}

impl<'a> Standard<'a> {
    fn new(draft: &'a Draft<'a>) -> Result<Standard<'a>, GraphqlError> {
        let mut declared = HashMap::new();
        for def in &draft.schema.directives {
            let name = def.name.as_str();
            let arguments = def.arguments.iter().map(|argument| argument.name.as_str()).collect();
            let locations = def.locations.iter().map(|location| location.name()).collect();
            let is_new = declared.insert(name, (arguments, locations)).is_none();
            if !is_new || builtin::directive(name, draft.federated).is_some() {
                let position = def.name.location().map(|span| draft.positions.at(span.offset()));
                return fail(position, format!("Cannot redeclare directive {name}."));
            }
        }
        Ok(Standard { draft, declared })
    }

    /// Checks `schema { ... }`.
    fn roots(&self) -> Checked {
        // The operations that a schema names are checked to exist, and then ignored: `Query` and
        // `Mutation` are fixed.
        let mut definitions = self.draft.schema.roots.iter().filter(|roots| !roots.extension);
        if let Some(second) = definitions.nth(1) {
            let message =
                "Cannot have multiple schema entry points, consider schema extensions instead.";
            return fail(second.position, message.to_owned());
        }
        let operations = self.draft.schema.roots.iter().flat_map(|roots| &roots.operations);
        for (operation, name, position) in operations {
            if self.draft.kind_of(name).is_none() {
                let message =
                    format!("Schema root {operation} refers to a type {name} that does not exist.");
                return fail(*position, message);
            }
        }
        Ok(())
    }

    fn check(&self, faults: &mut Vec<GraphqlError>) {
        faults.extend(self.roots().err());
        for def in self.draft.types() {
            let before = faults.len();
            faults.extend(def.fields.iter().filter_map(|field| self.field(field).err()));
            // A type whose fields have faults is not compared with its interfaces.
            let rest = match faults.len() == before {
                true => self.definition(def),
                false => self.directives(&def.directives, def.kind.name()),
            };
            faults.extend(rest.err());
        }
        if faults.is_empty() {
            faults.extend(self.entities().err());
        }
        faults.extend(self.directive_definitions().err());
    }

    /// Checks a field by itself.
    fn field(&self, field: &RawField) -> Checked {
        valid_name(field.position, &field.name)?;
        self.existing(field)?;
        self.arguments(&field.arguments)?;
        self.directives(&field.directives, "FIELD_DEFINITION")
    }

    /// Checks a type whose fields have no fault.
    fn definition(&self, def: &RawType) -> Checked {
        self.members(def)?;
        let mut fields: HashMap<&str, &RawField> = HashMap::new();
        for field in &def.fields {
            fields.entry(&field.name).or_insert(field);
        }
        for interface in &def.interfaces {
            self.implements(def, &fields, interface)?;
        }
        self.content(def)?;
        let mut seen = HashSet::new();
        for field in &def.fields {
            if !seen.insert(&field.name) {
                let message =
                    format!("Field {}.{} can only be defined once.", def.name, field.name);
                return fail(field.position, message);
            }
        }
        unique_parts(def)?;
        valid_name(def.position, &def.name)?;
        self.directives(&def.directives, def.kind.name())
    }

    /// Checks that the type of a field is declared.
    fn existing(&self, field: &RawField) -> Checked {
        let name = field.ty.name();
        match self.draft.kind_of(name) {
            Some(_) => Ok(()),
            None => fail(field.type_position, format!("Undefined type {name}.")),
        }
    }

    /// Checks arguments, whose types must be inputs.
    fn arguments(&self, arguments: &[RawField]) -> Checked {
        for argument in arguments {
            valid_name(argument.position, &argument.name)?;
            self.existing(argument)?;
            let kind = self.draft.kind_of(argument.ty.name()).expect("the type exists");
            if !INPUTS.contains(&kind) {
                let message = format!(
                    "cannot use {} as argument {} because {} is not a valid input type",
                    argument.ty,
                    argument.name,
                    kind.name()
                );
                return fail(argument.position, message);
            }
            self.directives(&argument.directives, "ARGUMENT_DEFINITION")?;
        }
        Ok(())
    }

    /// Checks that directives are declared for a location, with the arguments that they are given.
    fn directives(&self, directives: &[RawDirective], location: &str) -> Checked {
        for directive in directives {
            let (name, position) = (directive.name(), directive.position);
            valid_name(position, name)?;
            // A directive of the schema's own may not hide a built-in one, so the order does not
            // matter.
            let builtin = builtin::directive(name, self.draft.federated);
            let declared = self.declared.get(name);
            let (arguments, locations) = match (builtin, declared) {
                (Some((_, arguments, locations)), _) => (*arguments, *locations),
                (None, Some((arguments, locations))) => (&arguments[..], &locations[..]),
                (None, None) => return fail(position, format!("Undefined directive {name}.")),
            };
            let mut written = directive.node.arguments.iter();
            if let Some(other) = written.find(|written| !arguments.contains(&&*written.name)) {
                let message =
                    format!("{} is not supported as an argument for {name} directive.", other.name);
                return fail(position, message);
            }
            if !locations.contains(&location) {
                return fail(
                    position,
                    format!("Directive {name} is not applicable on {location}."),
                );
            }
        }
        Ok(())
    }

    /// Checks that the members of a union are object types.
    fn members(&self, def: &RawType) -> Checked {
        for member in &def.members {
            match self.draft.kind_of(member) {
                Some(RawKind::Object) => {}
                Some(_) => {
                    let kind = def.kind.name();
                    let message = format!("{kind} type {} must be OBJECT.", quote(member));
                    return fail(def.position, message);
                }
                None => return fail(def.position, format!("Undefined type {}.", quote(member))),
            }
        }
        Ok(())
    }

    /// Refuses interfaces with `@key`: entities are the members of a union, which holds object
    /// types only.
    fn entities(&self) -> Checked {
        let interface = |def: &&RawType| def.has("key") && def.kind == RawKind::Interface;
        match self.draft.types().iter().find(interface) {
            Some(def) => {
                fail(def.position, format!("UNION type {} must be OBJECT.", quote(&def.name)))
            }
            None => Ok(()),
        }
    }

    /// Checks that a type has a field at least, and that the kinds of its fields suit its own.
    fn content(&self, def: &RawType) -> Checked {
        let kind = def.kind.name();
        let (is_empty, lacks, allowed) = match def.kind {
            RawKind::Object | RawKind::Interface => {
                (def.fields.is_empty(), "one or more fields", OUTPUTS)
            }
            RawKind::Input => (def.fields.is_empty(), "one or more input fields", INPUTS),
            RawKind::Enum => (def.values.is_empty(), "one or more unique enum values", INPUTS),
            RawKind::Union => (def.members.is_empty(), "one or more unique member types", &[][..]),
            RawKind::Scalar => return Ok(()),
        };
        if is_empty {
            return fail(def.position, format!("{kind} must define {lacks}."));
        }
        for field in &def.fields {
            let is_allowed = |result| allowed.contains(&result);
            if !self.draft.kind_of(field.ty.name()).is_some_and(is_allowed) {
                let names: Vec<&str> = allowed.iter().map(|kind| kind.name()).collect();
                let message = format!("{kind} field must be one of {}.", names.join(", "));
                return fail(field.position, message);
            }
        }
        Ok(())
    }

    /// Checks that a type has all that an interface requests.
    fn implements(
        &self,
        def: &RawType,
        fields: &HashMap<&str, &RawField>,
        interface: &str,
    ) -> Checked {
        let Some(kind) = self.draft.kind_of(interface) else {
            return fail(def.position, format!("Undefined type {}.", quote(interface)));
        };
        let Some(interface) = self.draft.get(interface).filter(|_| kind == RawKind::Interface)
        else {
            let message = format!("{} is a non interface type {}.", quote(interface), kind.name());
            return fail(def.position, message);
        };
        for required in &interface.fields {
            // Fields of interfaces were copied, so that each is there.
            let Some(result) = fields.get(required.name.as_str()) else { continue };
            self.implements_field(def, interface, required, result)?;
        }
        Ok(())
    }

    /// Checks that a field has the type and the arguments that an interface requests.
    fn implements_field(
        &self,
        def: &RawType,
        interface: &RawType,
        required: &RawField,
        result: &RawField,
    ) -> Checked {
        let start = format!("For {} to implement {}", def.name, interface.name);
        if !self.is_covariant(&required.ty, &result.ty) {
            let message =
                format!("{start} the field {} must have type {}.", required.name, required.ty);
            return fail(result.position, message);
        }
        for argument in &required.arguments {
            let mut own = result.arguments.iter();
            let Some(own) = own.find(|own| own.name == argument.name) else {
                let message = format!(
                    "{start} the field {} must have the same arguments but it is missing {}.",
                    required.name, argument.name
                );
                return fail(result.position, message);
            };
            if !is_compatible(&argument.ty, &own.ty) {
                let message = format!(
                    "{start} the field {} must have the same arguments but {} has the wrong type.",
                    required.name, argument.name
                );
                return fail(own.position, message);
            }
        }
        Ok(())
    }

    /// Returns true if a field of the type `actual` may occur where the interface has `required`.
    fn is_covariant(&self, required: &TypeRef, actual: &TypeRef) -> bool {
        if required.is_non_null() && !actual.is_non_null() {
            return false;
        }
        match (required.element(), actual.element()) {
            (Some(required), Some(actual)) => self.is_covariant(required, actual),
            (None, None) => {
                required.name() == actual.name() || self.is_possible(required.name(), actual.name())
            }
            _ => false,
        }
    }

    /// Returns true if every value of a type is one of an interface or union.
    fn is_possible(&self, of: &str, name: &str) -> bool {
        let implements = |def: &RawType| def.interfaces.iter().any(|interface| interface == of);
        let holds = |def: &RawType| def.members.iter().any(|member| member == name);
        self.draft.get(name).is_some_and(implements) || self.draft.get(of).is_some_and(holds)
    }

    /// Checks the definitions of directives.
    fn directive_definitions(&self) -> Checked {
        for def in &self.draft.schema.directives {
            let position = |name: &apollo_compiler::Name| {
                name.location().map(|span| self.draft.positions.at(span.offset()))
            };
            valid_name(position(&def.name), &def.name)?;
            for argument in &def.arguments {
                valid_name(position(&argument.name), &argument.name)?;
                let ty = argument.ty.inner_named_type();
                if self.draft.kind_of(ty).is_none() {
                    return fail(position(ty), format!("Undefined type {ty}."));
                }
                if argument.directives.has(&def.name) {
                    let message = format!("Directive {} cannot refer to itself.", def.name);
                    return fail(position(&argument.name), message);
                }
            }
        }
        Ok(())
    }
}

/// Refuses values of an enum, members of a union, and interfaces that are listed twice.
fn unique_parts(def: &RawType) -> Checked {
    let mut values = HashSet::new();
    if let Some(value) = def.values.iter().find(|value| !values.insert(&value.value)) {
        let message = format!("Value {}.{} can only be defined once.", def.name, value.value);
        return fail(def.position, message);
    }
    let mut members = HashSet::new();
    if let Some(member) = def.members.iter().find(|member| !members.insert(*member)) {
        let message = format!("{} can only be a member of {} once.", quote(member), def.name);
        return fail(def.position, message);
    }
    let mut interfaces = HashSet::new();
    match def.interfaces.iter().find(|interface| !interfaces.insert(*interface)) {
        Some(interface) => fail(
            def.position,
            format!("{} can only implement {} once.", def.name, quote(interface)),
        ),
        None => Ok(()),
    }
}

/// Refuses names that begin with `__`.
fn valid_name(position: Option<Position>, name: &str) -> Checked {
    if !name.starts_with("__") {
        return Ok(());
    }
    let message = format!(
        "Name \"{name}\" must not begin with \"__\", which is reserved by GraphQL introspection."
    );
    fail(position, message)
}

/// Returns true if an argument of the type `own` may occur where the interface has `required`.
fn is_compatible(required: &TypeRef, own: &TypeRef) -> bool {
    let same = match (required.element(), own.element()) {
        (Some(required), Some(own)) => is_compatible(required, own),
        (None, None) => required.name() == own.name(),
        _ => false,
    };
    // An argument that may be null takes all that one takes which may not.
    same && (required.is_non_null() || !own.is_non_null())
}
