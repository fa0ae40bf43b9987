//! Reads templates of bodies, such as `{ author: $id, post: { id: $postID } }`, and finds their
//! variables.

use apollo_compiler::ast;
use apollo_compiler::ast::Value;
use hexgraph_base::types::stack;
use thiserror::Error;

use crate::sdl::source::value::written;
use crate::syntax::{GraphqlError, parse_query};

/// Why a text is no template.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TemplateError {
    /// The text is not a GraphQL value; the position counts from the `query { template(input:` that
    /// is put before it.
    #[error(transparent)]
    Syntax(#[from] GraphqlError),
    /// A strict template has a word without quotes where JSON has a value.
    #[error("found unexpected value: {0}")]
    Word(String),
}

/// Returns the names of a template's variables, each once, in the order of their first use. A
/// `strict` template is JSON but for variables and keys without quotes.
///
/// # Errors
///
/// When the text is no GraphQL value, or a strict template has a word without quotes for a value.
pub(crate) fn variables(template: &str, strict: bool) -> Result<Vec<String>, TemplateError> {
    let mut variables = Vec::new();
    if let Some(value) = parse_template(template)? {
        collect(&value, strict, &mut variables)?;
    }
    Ok(variables)
}

/// Reads a template; `None` for a blank one.
///
/// # Errors
///
/// When the text is no GraphQL value.
pub(crate) fn parse_template(template: &str) -> Result<Option<Value>, TemplateError> {
    if template.trim().is_empty() {
        return Ok(None);
    }
    // The grammar has no rule for a value alone, so the template is read as the argument of a
    // field.
    let text = format!("query {{ template(input:{template}) }}");
    let document = parse_query(&text)?;
    let first = document.definitions.first().and_then(|definition| match definition {
        ast::Definition::OperationDefinition(operation) => operation.selection_set.first(),
        _ => None,
    });
    let Some(ast::Selection::Field(field)) = first else { return Ok(None) };
    Ok(field.arguments.first().map(|argument| (*argument.value).clone()))
}

/// Adds the names of a value's variables. The grammar bounds how deep values are.
pub(in crate::sdl) fn collect(
    value: &Value,
    strict: bool,
    variables: &mut Vec<String>,
) -> Result<(), TemplateError> {
    stack::require();
    match value {
        Value::Variable(name) => {
            if !variables.iter().any(|existing| existing == name.as_str()) {
                variables.push(name.to_string());
            }
            Ok(())
        }
        Value::List(items) => items.iter().try_for_each(|item| collect(item, strict, variables)),
        Value::Object(entries) => {
            entries.iter().try_for_each(|(_, value)| collect(value, strict, variables))
        }
        Value::Enum(_) if strict => Err(TemplateError::Word(written(value))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_listed_once() {
        let result = variables("{ a: $b, c: [$d, {e: $b}], f: \"g\" }", true);
        assert_eq!(result, Ok(vec!["b".to_owned(), "d".to_owned()]));
        assert_eq!(variables("  ", true), Ok(vec![]));
        let reported = variables("{a: b}", true);
        assert_eq!(reported.unwrap_err().to_string(), "found unexpected value: b");
        assert_eq!(variables("{a: b}", false), Ok(vec![]));
        let reported = variables("{a: ", true);
        assert_eq!(reported.unwrap_err().to_string(), "input:1: Unexpected )");
        assert!(variables("1) { a } b(c: 2", true).is_ok_and(|result| result.is_empty()));
    }
}
