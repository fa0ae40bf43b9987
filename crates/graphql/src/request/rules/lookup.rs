//! Look-ups in the generated schema.

use apollo_compiler::ast::{FieldDefinition, InputValueDefinition, OperationType};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Name, Node};

use crate::generate::Api;
use crate::request::OperationKind;

/// The definition of a field of a composite type, `__typename`, `__schema` and `__type` included.
pub(in crate::request) fn field_of<'a>(
    api: &'a Api,
    parent: &ExtendedType,
    name: &str,
) -> Option<&'a FieldDefinition> {
    api.schema.type_field(parent.name(), name).ok().map(|field| &***field)
}

/// The names of the fields of an object type or interface.
pub(super) fn field_names(ty: &ExtendedType) -> Vec<&str> {
    match ty {
        ExtendedType::Object(object) => object.fields.keys().map(Name::as_str).collect(),
        ExtendedType::Interface(interface) => interface.fields.keys().map(Name::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The fields of an input object; none for another type.
pub(in crate::request) fn input_fields(
    ty: &ExtendedType,
) -> impl Iterator<Item = &Node<InputValueDefinition>> {
    ty.as_input_object()
        .into_iter()
        .flat_map(|input| input.fields.values().map(|field| &field.node))
}

/// Whether fields can be selected of the type.
pub(in crate::request) fn is_composite(ty: &ExtendedType) -> bool {
    ty.is_object() || ty.is_interface() || ty.is_union()
}

/// The type whose fields an operation of this kind selects.
pub(in crate::request) fn root_type(api: &Api, kind: OperationKind) -> Option<&ExtendedType> {
    let kind = match kind {
        OperationKind::Query => OperationType::Query,
        OperationKind::Mutation => OperationType::Mutation,
        OperationKind::Subscription => OperationType::Subscription,
    };
    api.schema.types.get(api.schema.root_operation(kind)?)
}
