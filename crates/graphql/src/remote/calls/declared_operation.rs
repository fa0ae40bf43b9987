//! The operation of `@custom(http: {graphql: ...})` as the schema has it, independent of requests.

use apollo_compiler::{Name, ast};

use crate::model;
use crate::syntax::parse_query;

/// Reads the one operation of a text; `None` for a text without one. The checks of the schema
/// refuse texts with several.
pub(in crate::remote) fn parse(text: &str) -> Option<ast::OperationDefinition> {
    let document = parse_query(text).ok()?;
    let mut operations = document.definitions.iter().filter_map(|definition| match definition {
        ast::Definition::OperationDefinition(operation) => Some(operation),
        _ => None,
    });
    operations.next().map(|operation| (**operation).clone())
}

/// Returns the one field of an operation.
pub(in crate::remote) fn field_of(operation: &ast::OperationDefinition) -> Option<&ast::Field> {
    match operation.selection_set.first()? {
        ast::Selection::Field(field) => Some(field),
        _ => None,
    }
}

/// Returns the name of the variable that is the first argument of the operation's field: that of a
/// batch's objects.
pub(in crate::remote) fn variable_of(operation: &ast::OperationDefinition) -> Option<String> {
    match &*field_of(operation)?.arguments.first()?.value {
        ast::Value::Variable(name) => Some(name.to_string()),
        _ => None,
    }
}

/// Returns the name of a field at the other server: that of `@remoteResponse`, where GraphQL allows
/// it as a name.
pub(in crate::remote) fn remote_name(field: &model::Field) -> &str {
    let key = field.remote_key();
    if Name::is_valid_syntax(key) { key } else { &field.name }
}
