//! Answers `__schema` and `__type` from the generated schema.
//!
//! As in Dgraph, lists that a type does not have are empty and not null, and a missing
//! description is an empty text. An answer may grow exponentially with the nesting of a request, so
//! its length is bounded.

use apollo_compiler::ast::{
    DirectiveDefinition, FieldDefinition, InputValueDefinition, OperationType, Type,
};
use apollo_compiler::schema::{EnumValueDefinition, ExtendedType};
use apollo_compiler::{Name, Node};
use hexgraph_base::types::stack;

use crate::generate::Api;
use crate::request::{Field, GraphqlError, Value};

/// The longest answer, in bytes: a tool that requests everything of a schema with thousands of
/// types needs a part of it.
const LENGTH_MAX: usize = 64 << 20;

/// Writes the JSON value of the root field `__schema` or `__type` after `out`.
///
/// # Errors
///
/// When the answer is longer than 64 MiB; `out` is incomplete then.
pub fn introspect(api: &Api, field: &Field, out: &mut String) -> Result<(), GraphqlError> {
    let length_max = out.len().saturating_add(LENGTH_MAX);
    let mut writer = IntrospectionWriter { api, out, length_max };
    // A type that does not exist is null, and no fault.
    let requested = field.arguments.given("name").and_then(Value::as_str);
    let item = match &*field.shape.name {
        "__schema" => Some(Item::Schema),
        _ => requested.and_then(|name| api.schema.types.get(name)).map(Item::Type),
    };
    writer.item(item, field)
}

/// A part of the schema that introspection describes.
#[derive(Clone, Copy)]
enum Item<'a> {
    Schema,
    /// A type by its definition.
    Type(&'a ExtendedType),
    /// A type that is a list or not null.
    Wrapped(&'a Type),
    Field(&'a FieldDefinition),
    Input(&'a InputValueDefinition),
    EnumValue(&'a EnumValueDefinition),
    Directive(&'a DirectiveDefinition),
}

struct IntrospectionWriter<'a, 'o> {
    api: &'a Api,
    out: &'o mut String,
    length_max: usize,
}

impl<'a> IntrospectionWriter<'a, '_> {
    /// Writes the object that describes a part of the schema.
    fn item(&mut self, item: Option<Item<'a>>, field: &Field) -> Result<(), GraphqlError> {
        let Some(item) = item else { return self.raw("null") };
        self.raw("{")?;
        for (at, requested) in field.selection.only().unwrap_or(&[]).iter().enumerate() {
            self.raw(if at > 0 { "," } else { "" })?;
            self.text(&requested.shape.key)?;
            self.raw(":")?;
            let name = &*requested.shape.name;
            match item {
                Item::Schema => self.schema(name, requested),
                Item::Type(ty) => self.definition(ty, name, requested),
                Item::Wrapped(ty) => self.wrapped(ty, name, requested),
                Item::Field(definition) => self.field(definition, name, requested),
                Item::Input(definition) => self.input(definition, name, requested),
                Item::EnumValue(value) => self.enum_value(value, name),
                Item::Directive(definition) => self.directive(definition, name, requested),
            }?;
        }
        self.raw("}")
    }

    fn schema(&mut self, name: &str, requested: &Field) -> Result<(), GraphqlError> {
        let api = self.api;
        let root = |kind| {
            let name = api.schema.root_operation(kind)?;
            api.schema.types.get(name).map(Item::Type)
        };
        match name {
            "queryType" => self.item(root(OperationType::Query), requested),
            "mutationType" => self.item(root(OperationType::Mutation), requested),
            "subscriptionType" => self.item(root(OperationType::Subscription), requested),
            "types" => self.list(api.schema.types.values().map(Item::Type), requested),
            "directives" => {
                // The schema language has no custom scalars.
                let directives = api.schema.directive_definitions.values();
                let directives = directives.filter(|directive| directive.name != "specifiedBy");
                self.list(directives.map(|directive| Item::Directive(directive)), requested)
            }
            "__typename" => self.text("__Schema"),
            _ => self.description(None),
        }
    }

    fn definition(
        &mut self,
        ty: &'a ExtendedType,
        name: &str,
        requested: &Field,
    ) -> Result<(), GraphqlError> {
        stack::require();
        let all = includes_deprecated(requested);
        match name {
            "kind" => self.text(kind_of(ty)),
            "name" => self.text(ty.name()),
            "description" => self.description(ty.description()),
            "fields" => {
                let fields: Vec<&FieldDefinition> = match ty {
                    ExtendedType::Object(ty) => ty.fields.values().map(|field| &***field).collect(),
                    ExtendedType::Interface(ty) => {
                        ty.fields.values().map(|field| &***field).collect()
                    }
                    _ => Vec::new(),
                };
                let shown =
                    fields.into_iter().filter(|field| all || !field.directives.has("deprecated"));
                self.list(shown.map(Item::Field), requested)
            }
            "inputFields" => {
                let fields = ty.as_input_object().into_iter().flat_map(|ty| ty.fields.values());
                self.list(fields.map(|field| Item::Input(field)), requested)
            }
            // Interfaces implement none here.
            "interfaces" => {
                let names = match ty {
                    ExtendedType::Object(ty) => ty.implements_interfaces.iter().collect(),
                    _ => Vec::new(),
                };
                self.types(names.into_iter().map(|name| &name.name), requested)
            }
            "possibleTypes" => {
                let names = match ty.is_interface() || ty.is_union() {
                    true => self.api.possible_types(ty.name()),
                    false => Default::default(),
                };
                self.types(names.iter(), requested)
            }
            "enumValues" => {
                let values = ty.as_enum().into_iter().flat_map(|ty| ty.values.values());
                let shown = values.filter(|value| all || !value.directives.has("deprecated"));
                self.list(shown.map(|value| Item::EnumValue(value)), requested)
            }
            "__typename" => self.text("__Type"),
            // `ofType` and `specifiedByURL` are null for a named type.
            _ => self.raw("null"),
        }
    }

    fn wrapped(&mut self, ty: &'a Type, name: &str, requested: &Field) -> Result<(), GraphqlError> {
        stack::require();
        match name {
            "kind" => self.text(if ty.is_non_null() { "NON_NULL" } else { "LIST" }),
            "ofType" => {
                let inner = match ty {
                    Type::NonNullNamed(name) => self.api.schema.types.get(name).map(Item::Type),
                    // What is left of the type is not part of the schema's tree, so it is written
                    // here.
                    Type::NonNullList(element) => return self.inner_list(element, requested),
                    Type::List(element) => Some(self.reference(element)),
                    Type::Named(name) => self.api.schema.types.get(name).map(Item::Type),
                };
                self.item(inner, requested)
            }
            "__typename" => self.text("__Type"),
            "description" => self.description(None),
            "fields" | "inputFields" | "interfaces" | "possibleTypes" | "enumValues" => {
                self.raw("[]")
            }
            _ => self.raw("null"),
        }
    }

    /// Writes the list inside of a `[T]!`.
    fn inner_list(&mut self, element: &'a Type, requested: &Field) -> Result<(), GraphqlError> {
        self.raw("{")?;
        for (at, below) in requested.selection.only().unwrap_or(&[]).iter().enumerate() {
            self.raw(if at > 0 { "," } else { "" })?;
            self.text(&below.shape.key)?;
            self.raw(":")?;
            match &*below.shape.name {
                "kind" => self.text("LIST")?,
                "ofType" => {
                    let element = self.reference(element);
                    self.item(Some(element), below)?;
                }
                name => self.wrapped(element, name, below)?,
            }
        }
        self.raw("}")
    }

    fn field(
        &mut self,
        definition: &'a FieldDefinition,
        name: &str,
        requested: &Field,
    ) -> Result<(), GraphqlError> {
        match name {
            "name" => self.text(&definition.name),
            "description" => self.description(definition.description.as_ref()),
            "args" => {
                let arguments = definition.arguments.iter();
                self.list(arguments.map(|argument| Item::Input(argument)), requested)
            }
            "type" => self.typed(&definition.ty, requested),
            "__typename" => self.text("__Field"),
            _ => self.deprecation(&definition.directives, name),
        }
    }

    fn typed(&mut self, ty: &'a Type, requested: &Field) -> Result<(), GraphqlError> {
        stack::require();
        let ty = self.reference(ty);
        self.item(Some(ty), requested)
    }

    fn input(
        &mut self,
        definition: &'a InputValueDefinition,
        name: &str,
        requested: &Field,
    ) -> Result<(), GraphqlError> {
        match name {
            "name" => self.text(&definition.name),
            "description" => self.description(definition.description.as_ref()),
            "type" => self.typed(&definition.ty, requested),
            "defaultValue" => match &definition.default_value {
                Some(value) => self.text(&value.serialize().no_indent().to_string()),
                None => self.raw("null"),
            },
            "__typename" => self.text("__InputValue"),
            _ => self.deprecation(&definition.directives, name),
        }
    }

    fn enum_value(&mut self, value: &EnumValueDefinition, name: &str) -> Result<(), GraphqlError> {
        match name {
            "name" => self.text(&value.value),
            "description" => self.description(value.description.as_ref()),
            "__typename" => self.text("__EnumValue"),
            _ => self.deprecation(&value.directives, name),
        }
    }

    fn directive(
        &mut self,
        definition: &'a DirectiveDefinition,
        name: &str,
        requested: &Field,
    ) -> Result<(), GraphqlError> {
        match name {
            "name" => self.text(&definition.name),
            "description" => self.description(definition.description.as_ref()),
            "locations" => {
                // `@deprecated` says nothing of inputs here.
                let input = ["ARGUMENT_DEFINITION", "INPUT_FIELD_DEFINITION"];
                let locations = definition.locations.iter().map(|location| location.name());
                let shown = |name: &&str| definition.name != "deprecated" || !input.contains(name);
                let names: Vec<&str> = locations.filter(shown).collect();
                self.raw(&serde_json::to_string(&names).expect("text is JSON"))
            }
            "args" => {
                let arguments = definition.arguments.iter();
                self.list(arguments.map(|argument| Item::Input(argument)), requested)
            }
            "isRepeatable" => self.raw(if definition.repeatable { "true" } else { "false" }),
            _ => self.text("__Directive"),
        }
    }

    /// Writes `isDeprecated` or `deprecationReason`.
    fn deprecation(
        &mut self,
        directives: &apollo_compiler::ast::DirectiveList,
        name: &str,
    ) -> Result<(), GraphqlError> {
        let directive = directives.get("deprecated");
        if name == "isDeprecated" {
            return self.raw(if directive.is_some() { "true" } else { "false" });
        }
        let Some(directive) = directive else { return self.raw("null") };
        let reason =
            directive.specified_argument_by_name("reason").and_then(|value| value.as_str());
        self.text(reason.unwrap_or("No longer supported"))
    }

    /// A type as the type of a field refers to it: its definition, or a list or non-null type
    /// around another.
    fn reference(&self, ty: &'a Type) -> Item<'a> {
        match ty {
            Type::Named(name) => match self.api.schema.types.get(name) {
                Some(definition) => Item::Type(definition),
                None => Item::Wrapped(ty),
            },
            _ => Item::Wrapped(ty),
        }
    }

    fn types<'n>(
        &mut self,
        names: impl Iterator<Item = &'n Name>,
        requested: &Field,
    ) -> Result<(), GraphqlError> {
        let api = self.api;
        self.list(names.filter_map(|name| api.schema.types.get(name)).map(Item::Type), requested)
    }

    fn list(
        &mut self,
        items: impl Iterator<Item = Item<'a>>,
        requested: &Field,
    ) -> Result<(), GraphqlError> {
        self.raw("[")?;
        for (at, item) in items.enumerate() {
            self.raw(if at > 0 { "," } else { "" })?;
            self.item(Some(item), requested)?;
        }
        self.raw("]")
    }

    fn description(&mut self, description: Option<&Node<str>>) -> Result<(), GraphqlError> {
        self.text(description.map_or("", |description| description))
    }

    fn text(&mut self, text: &str) -> Result<(), GraphqlError> {
        let quoted = serde_json::to_string(text).expect("text is JSON");
        self.raw(&quoted)
    }

    fn raw(&mut self, text: &str) -> Result<(), GraphqlError> {
        // Looked at before each fragment, so the buffer never grows past the bound.
        if self.out.len() + text.len() > self.length_max {
            return Err(GraphqlError::new("the answer to the introspection is too long"));
        }
        self.out.push_str(text);
        Ok(())
    }
}

fn includes_deprecated(requested: &Field) -> bool {
    matches!(requested.arguments.get("includeDeprecated"), Some(Value::Boolean(true)))
}

fn kind_of(ty: &ExtendedType) -> &'static str {
    match ty {
        ExtendedType::Scalar(_) => "SCALAR",
        ExtendedType::Object(_) => "OBJECT",
        ExtendedType::Interface(_) => "INTERFACE",
        ExtendedType::Union(_) => "UNION",
        ExtendedType::Enum(_) => "ENUM",
        ExtendedType::InputObject(_) => "INPUT_OBJECT",
    }
}
