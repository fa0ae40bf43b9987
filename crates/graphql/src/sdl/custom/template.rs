//! Templates of bodies: `{ author: $id, post: { id: $postID } }`.

use apollo_compiler::ast;
use apollo_compiler::ast::Value;
use hexgraph_base::types::stack;

use crate::sdl::source::value::written;
use crate::syntax::parse_query;

/// The variables of a template, each once, in the order in which they appear. `strict` templates
/// are JSON but for the quotes of keys: no enum values and no block strings.
///
/// # Errors
///
/// What can't be read.
pub(crate) fn variables(template: &str, strict: bool) -> Result<Vec<String>, String> {
    let mut variables = Vec::new();
    if let Some(value) = parse_template(template)? {
        collect(&value, strict, &mut variables)?;
    }
    Ok(variables)
}

/// The value that a template is; nothing for a blank one.
///
/// # Errors
///
/// What can't be read.
pub(crate) fn parse_template(template: &str) -> Result<Option<Value>, String> {
    if template.trim().is_empty() {
        return Ok(None);
    }
    // A template is what the argument of a field can be.
    let text = format!("query {{ template(input:{template}) }}");
    let document = parse_query(&text).map_err(|fault| fault.to_string())?;
    let first = document.definitions.first().and_then(|definition| match definition {
        ast::Definition::OperationDefinition(operation) => operation.selection_set.first(),
        _ => None,
    });
    let Some(ast::Selection::Field(field)) = first else { return Ok(None) };
    Ok(field.arguments.first().map(|argument| (*argument.value).clone()))
}

/// The variables of a value. The grammar bounds how deep it is.
pub(in crate::sdl) fn collect(
    value: &Value,
    strict: bool,
    variables: &mut Vec<String>,
) -> Result<(), String> {
    stack::require();
    match value {
        Value::Variable(name) => {
            if !variables.iter().any(|known| known == name.as_str()) {
                variables.push(name.to_string());
            }
            Ok(())
        }
        Value::List(items) => items.iter().try_for_each(|item| collect(item, strict, variables)),
        Value::Object(entries) => {
            entries.iter().try_for_each(|(_, value)| collect(value, strict, variables))
        }
        Value::Enum(_) if strict => Err(format!("found unexpected value: {}", written(value))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_found_once() {
        let found = variables("{ a: $b, c: [$d, {e: $b}], f: \"g\" }", true);
        assert_eq!(found, Ok(vec!["b".to_owned(), "d".to_owned()]));
        assert_eq!(variables("  ", true), Ok(vec![]));
        let told = variables("{a: b}", true);
        assert_eq!(told, Err("found unexpected value: b".to_owned()));
        assert_eq!(variables("{a: b}", false), Ok(vec![]));
        assert_eq!(variables("{a: ", true), Err("input:1: Unexpected )".to_owned()));
        assert!(variables("1) { a } b(c: 2", true).is_ok_and(|found| found.is_empty()));
    }
}
