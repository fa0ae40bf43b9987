//! The definitions of a text as they are written, with their positions, on which the checks work.

use apollo_compiler::{Name, Node, ast};

use crate::model::TypeRef;
use crate::syntax::{Position, Positions};

/// The kind of a type as it is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sdl) enum RawKind {
    Scalar,
    Object,
    Interface,
    Union,
    Enum,
    Input,
}

impl RawKind {
    pub(in crate::sdl) fn name(self) -> &'static str {
        match self {
            RawKind::Scalar => "SCALAR",
            RawKind::Object => "OBJECT",
            RawKind::Interface => "INTERFACE",
            RawKind::Union => "UNION",
            RawKind::Enum => "ENUM",
            RawKind::Input => "INPUT_OBJECT",
        }
    }
}

/// The definition of a type. A list that types of its kind do not have is empty.
#[derive(Debug, Clone)]
pub(in crate::sdl) struct RawType {
    pub(in crate::sdl) kind: RawKind,
    pub(in crate::sdl) name: String,
    pub(in crate::sdl) position: Option<Position>,
    pub(in crate::sdl) description: String,
    pub(in crate::sdl) interfaces: Vec<String>,
    pub(in crate::sdl) directives: Vec<RawDirective>,
    /// The fields of an object type, an interface or an input.
    pub(in crate::sdl) fields: Vec<RawField>,
    pub(in crate::sdl) members: Vec<String>,
    pub(in crate::sdl) values: Vec<Node<ast::EnumValueDefinition>>,
    /// True if `extend` declares the type.
    pub(in crate::sdl) extension: bool,
}

/// A field of a type, interface or input, or an argument.
#[derive(Debug, Clone)]
pub(in crate::sdl) struct RawField {
    pub(in crate::sdl) name: String,
    pub(in crate::sdl) position: Option<Position>,
    pub(in crate::sdl) description: String,
    pub(in crate::sdl) ty: TypeRef,
    pub(in crate::sdl) type_position: Option<Position>,
    pub(in crate::sdl) arguments: Vec<RawField>,
    pub(in crate::sdl) default_value: Option<Node<ast::Value>>,
    pub(in crate::sdl) directives: Vec<RawDirective>,
    /// The name of the interface that the field was copied from.
    pub(in crate::sdl) inherited_from: Option<String>,
}

/// A directive at a type or field.
#[derive(Debug, Clone)]
pub(in crate::sdl) struct RawDirective {
    pub(in crate::sdl) position: Option<Position>,
    pub(in crate::sdl) node: Node<ast::Directive>,
}

impl RawDirective {
    /// Makes a directive that does not are in the text.
    pub(in crate::sdl) fn made(name: Name, arguments: Vec<(Name, ast::Value)>) -> RawDirective {
        let arguments = arguments
            .into_iter()
            .map(|(name, value)| Node::new(ast::Argument { name, value: Node::new(value) }));
        let node = Node::new(ast::Directive { name, arguments: arguments.collect() });
        RawDirective { position: None, node }
    }

    pub(in crate::sdl) fn name(&self) -> &str {
        &self.node.name
    }

    /// Returns the value of an argument, if it is given.
    pub(in crate::sdl) fn argument(&self, name: &str) -> Option<&Node<ast::Value>> {
        self.node
            .arguments
            .iter()
            .find(|argument| argument.name == name)
            .map(|result| &result.value)
    }
}

/// Returns the first directive of a name.
pub(in crate::sdl) fn directive<'a>(
    list: &'a [RawDirective],
    name: &str,
) -> Option<&'a RawDirective> {
    list.iter().find(|directive| directive.name() == name)
}

/// Converts directives to the tree of apollo-compiler.
pub(in crate::sdl) fn nodes(list: &[RawDirective]) -> ast::DirectiveList {
    ast::DirectiveList(list.iter().map(|directive| directive.node.clone()).collect())
}

impl RawType {
    pub(in crate::sdl) fn directive(&self, name: &str) -> Option<&RawDirective> {
        directive(&self.directives, name)
    }

    pub(in crate::sdl) fn has(&self, directive: &str) -> bool {
        self.directive(directive).is_some()
    }

    pub(in crate::sdl) fn field(&self, name: &str) -> Option<&RawField> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Returns true for `type Query` and `type Mutation`.
    pub(in crate::sdl) fn is_root(&self) -> bool {
        self.kind == RawKind::Object && is_root_name(&self.name)
    }

    /// Returns true for the kinds of types whose values are nodes.
    pub(in crate::sdl) fn is_stored_kind(&self) -> bool {
        matches!(self.kind, RawKind::Object | RawKind::Interface)
    }

    /// Returns the first field of type `ID`.
    pub(in crate::sdl) fn id_field(&self) -> Option<&RawField> {
        self.fields.iter().find(|field| field.ty.name() == "ID")
    }

    /// Returns the first field with `@id`.
    pub(in crate::sdl) fn unique_field(&self) -> Option<&RawField> {
        self.fields.iter().find(|field| field.has("id"))
    }
}

/// Returns true for the names of the types whose fields are custom operations.
pub(in crate::sdl) fn is_root_name(name: &str) -> bool {
    matches!(name, "Query" | "Mutation")
}

impl RawField {
    pub(in crate::sdl) fn directive(&self, name: &str) -> Option<&RawDirective> {
        directive(&self.directives, name)
    }

    pub(in crate::sdl) fn has(&self, directive: &str) -> bool {
        self.directive(directive).is_some()
    }

    /// Returns true for a field with `@custom` or `@lambda`.
    pub(in crate::sdl) fn is_custom(&self) -> bool {
        self.has("custom") || self.has("lambda")
    }

    pub(in crate::sdl) fn is_id(&self) -> bool {
        self.ty.name() == "ID"
    }
}

/// All definitions of a text.
#[derive(Debug, Clone, Default)]
pub(in crate::sdl) struct RawSchema {
    /// Types in the order of the text, those declared with `extend` last.
    pub(in crate::sdl) types: Vec<RawType>,
    /// Definitions of directives.
    pub(in crate::sdl) directives: Vec<Node<ast::DirectiveDefinition>>,
    /// Each `schema { ... }` and `extend schema { ... }`.
    pub(in crate::sdl) roots: Vec<RawRoots>,
}

/// The root operations that a `schema { ... }` names.
#[derive(Debug, Clone)]
pub(in crate::sdl) struct RawRoots {
    pub(in crate::sdl) extension: bool,
    pub(in crate::sdl) position: Option<Position>,
    /// The operations: name, name of the type, position.
    pub(in crate::sdl) operations: Vec<(String, String, Option<Position>)>,
}

/// Reads the definitions of a document. `positions` are those of its text. O(text).
pub(in crate::sdl) fn collect(document: &ast::Document, positions: &Positions<'_>) -> RawSchema {
    let mut schema = RawSchema::default();
    let mut extensions = Vec::new();
    let reader = DefinitionReader { positions };
    for definition in &document.definitions {
        match definition {
            ast::Definition::DirectiveDefinition(def) => schema.directives.push(def.clone()),
            ast::Definition::SchemaDefinition(def) => {
                let position = reader.node(def);
                schema.roots.push(reader.roots(false, position, &def.root_operations));
            }
            ast::Definition::SchemaExtension(def) => {
                let position = reader.node(def);
                schema.roots.push(reader.roots(true, position, &def.root_operations));
            }
            // Extensions come last, so that what they extend was read.
            other => match reader.definition(other) {
                Some(def) if def.extension => extensions.push(def),
                Some(def) => schema.types.push(def),
                None => {}
            },
        }
    }
    schema.types.append(&mut extensions);
    schema
}

/// Reads nodes of the tree, with their positions.
struct DefinitionReader<'a> {
    positions: &'a Positions<'a>,
}

impl DefinitionReader<'_> {
    fn name(&self, name: &Name) -> Option<Position> {
        name.location().map(|span| self.positions.at(span.offset()))
    }

    fn node<T: ?Sized>(&self, node: &Node<T>) -> Option<Position> {
        node.location().map(|span| self.positions.at(span.offset()))
    }

    fn roots(
        &self,
        extension: bool,
        position: Option<Position>,
        operations: &[Node<(ast::OperationType, ast::NamedType)>],
    ) -> RawRoots {
        let operations = operations.iter().map(|node| {
            let (operation, ty) = &**node;
            (operation.name().to_owned(), ty.to_string(), self.node(node))
        });
        RawRoots { extension, position, operations: operations.collect() }
    }

    /// Reads the definition or extension of a type; `None` for any other definition.
    fn definition(&self, definition: &ast::Definition) -> Option<RawType> {
        // Only definitions have descriptions; extensions have none.
        use ast::Definition as D;
        let described = |raw: RawType, text: &Option<Node<str>>| {
            Some(RawType { description: description(text), ..raw })
        };
        match definition {
            D::ScalarTypeDefinition(d) => {
                described(self.start(RawKind::Scalar, &d.name, &d.directives), &d.description)
            }
            D::ScalarTypeExtension(d) => {
                Some(self.start(RawKind::Scalar, &d.name, &d.directives).extending())
            }
            D::ObjectTypeDefinition(d) => {
                let raw = self.start(RawKind::Object, &d.name, &d.directives);
                described(self.fields(raw, &d.implements_interfaces, &d.fields), &d.description)
            }
            D::ObjectTypeExtension(d) => {
                let raw = self.start(RawKind::Object, &d.name, &d.directives).extending();
                Some(self.fields(raw, &d.implements_interfaces, &d.fields))
            }
            D::InterfaceTypeDefinition(d) => {
                let raw = self.start(RawKind::Interface, &d.name, &d.directives);
                described(self.fields(raw, &[], &d.fields), &d.description)
            }
            D::InterfaceTypeExtension(d) => {
                let raw = self.start(RawKind::Interface, &d.name, &d.directives).extending();
                Some(self.fields(raw, &[], &d.fields))
            }
            D::UnionTypeDefinition(d) => {
                let raw = self.start(RawKind::Union, &d.name, &d.directives);
                described(raw.with_members(&d.members), &d.description)
            }
            D::UnionTypeExtension(d) => {
                let raw = self.start(RawKind::Union, &d.name, &d.directives).extending();
                Some(raw.with_members(&d.members))
            }
            D::EnumTypeDefinition(d) => {
                let raw = self.start(RawKind::Enum, &d.name, &d.directives);
                described(RawType { values: d.values.clone(), ..raw }, &d.description)
            }
            D::EnumTypeExtension(d) => {
                let raw = self.start(RawKind::Enum, &d.name, &d.directives).extending();
                Some(RawType { values: d.values.clone(), ..raw })
            }
            D::InputObjectTypeDefinition(d) => {
                let raw = self.start(RawKind::Input, &d.name, &d.directives);
                described(RawType { fields: self.inputs(&d.fields), ..raw }, &d.description)
            }
            D::InputObjectTypeExtension(d) => {
                let raw = self.start(RawKind::Input, &d.name, &d.directives).extending();
                Some(RawType { fields: self.inputs(&d.fields), ..raw })
            }
            _ => None,
        }
    }

    /// Makes a type with what all kinds have.
    fn start(&self, kind: RawKind, name: &Name, directives: &ast::DirectiveList) -> RawType {
        RawType {
            kind,
            name: name.to_string(),
            position: self.name(name),
            description: String::new(),
            interfaces: Vec::new(),
            directives: self.directives(directives),
            fields: Vec::new(),
            members: Vec::new(),
            values: Vec::new(),
            extension: false,
        }
    }

    fn fields(
        &self,
        raw: RawType,
        interfaces: &[Name],
        fields: &[Node<ast::FieldDefinition>],
    ) -> RawType {
        let interfaces = interfaces.iter().map(Name::to_string).collect();
        let fields = fields.iter().map(|field| self.field(field)).collect();
        RawType { interfaces, fields, ..raw }
    }

    fn field(&self, field: &ast::FieldDefinition) -> RawField {
        RawField {
            name: field.name.to_string(),
            position: self.name(&field.name),
            description: description(&field.description),
            ty: type_ref(&field.ty),
            type_position: self.name(field.ty.inner_named_type()),
            arguments: self.inputs(&field.arguments),
            default_value: None,
            directives: self.directives(&field.directives),
            inherited_from: None,
        }
    }

    fn inputs(&self, inputs: &[Node<ast::InputValueDefinition>]) -> Vec<RawField> {
        let read = |input: &Node<ast::InputValueDefinition>| RawField {
            name: input.name.to_string(),
            position: self.name(&input.name),
            description: description(&input.description),
            ty: type_ref(&input.ty),
            type_position: self.name(input.ty.inner_named_type()),
            arguments: Vec::new(),
            default_value: input.default_value.clone(),
            directives: self.directives(&input.directives),
            inherited_from: None,
        };
        inputs.iter().map(read).collect()
    }

    fn directives(&self, list: &ast::DirectiveList) -> Vec<RawDirective> {
        let read = |node: &Node<ast::Directive>| RawDirective {
            position: self.name(&node.name),
            node: node.clone(),
        };
        list.0.iter().map(read).collect()
    }
}

impl RawType {
    fn extending(self) -> RawType {
        RawType { extension: true, ..self }
    }

    fn with_members(self, members: &[Name]) -> RawType {
        RawType { members: members.iter().map(Name::to_string).collect(), ..self }
    }
}

fn description(text: &Option<Node<str>>) -> String {
    text.as_ref().map(|text| text.as_str().to_owned()).unwrap_or_default()
}

/// Converts a reference to a type. The grammar bounds how deep lists are nested.
pub(super) fn type_ref(ty: &ast::Type) -> TypeRef {
    let list = |element: &ast::Type, non_null| TypeRef::List {
        element: Box::new(type_ref(element)),
        non_null,
    };
    match ty {
        ast::Type::Named(name) => TypeRef::named(name.as_str()),
        ast::Type::NonNullNamed(name) => TypeRef::Named { name: name.to_string(), non_null: true },
        ast::Type::List(element) => list(element, false),
        ast::Type::NonNullList(element) => list(element, true),
    }
}
