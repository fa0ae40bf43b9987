//! Checks `@custom(http: {graphql: ...})`: one operation without a name, with one field without a
//! selection.

use apollo_compiler::ast::Value;
use apollo_compiler::{Node, ast};

use super::custom_subject::CheckedCustom;
use super::template;
use crate::syntax::{Position, parse_query};

/// The beginning of most messages.
const INSIDE: &str = "inside graphql in @custom directive, found";

/// Checks the text. Returns the names of the variables that the operation declares; `None` when the
/// rest can't be checked.
pub(in crate::sdl) fn check(
    custom: &mut CheckedCustom<'_>,
    text: &str,
    position: Option<Position>,
) -> Option<Vec<String>> {
    let document = match parse_query(text) {
        Ok(document) => document,
        Err(fault) => {
            let why = fault.message;
            let what = format!("unable to parse graphql in @custom directive because: {why}");
            custom.fault(position, ':', what);
            return None;
        }
    };
    let operations: Vec<&Node<ast::OperationDefinition>> =
        document.definitions.iter().filter_map(|def| def.as_operation_definition()).collect();
    let [operation] = operations[..] else {
        let count = operations.len();
        let what = format!("{INSIDE} {count} operations, it can have exactly one operation.");
        custom.fault(position, ':', what);
        return None;
    };
    let check = Check { operation, position };
    check.operation(custom);
    let variables = check.variables(custom);
    check.fields(custom).then_some(variables)
}

/// The check of an operation that could be read.
struct Check<'a> {
    operation: &'a ast::OperationDefinition,
    position: Option<Position>,
}

impl Check<'_> {
    /// Checks the kind and the name.
    fn operation(&self, custom: &mut CheckedCustom<'_>) {
        let kind = self.operation.operation_type;
        if kind == ast::OperationType::Subscription {
            let what = format!("{INSIDE} `{kind}` operation, it can only have query/mutation.");
            custom.fault(self.position, ':', what);
        }
        if let Some(name) = &self.operation.name {
            let what = format!("{INSIDE} operation with name `{name}`, it can't have a name.");
            custom.fault(self.position, ':', what);
        }
    }

    /// Checks that the variables of a root field are its arguments, and returns their names.
    fn variables(&self, custom: &mut CheckedCustom<'_>) -> Vec<String> {
        let variables: Vec<String> =
            self.operation.variables.iter().map(|variable| variable.name.to_string()).collect();
        if custom.subject.def.is_root() {
            let arguments = &custom.subject.field.arguments;
            for name in &variables {
                if arguments.iter().all(|argument| argument.name != *name) {
                    let what = format!(
                        "@custom directive, graphql variables must use fields defined within the \
                         type, found `{name}`."
                    );
                    custom.fault(self.position, ';', what);
                }
            }
        }
        variables
    }

    /// Checks the one field. Returns false when the rest can't be checked.
    fn fields(&self, custom: &mut CheckedCustom<'_>) -> bool {
        let kind = self.operation.operation_type;
        if !self.operation.directives.is_empty() {
            let what = format!("{INSIDE} operation with directives, it can't have any directives.");
            custom.fault(self.position, ':', what);
        }
        let count = self.operation.selection_set.len();
        if count != 1 {
            let what = format!(
                "{INSIDE} {count} fields inside operation `{kind}`, it can have exactly one field."
            );
            custom.fault(self.position, ':', what);
        }
        let Some(ast::Selection::Field(field)) = self.operation.selection_set.first() else {
            // A fragment has no name to send.
            let what =
                format!("{INSIDE} a fragment inside operation `{kind}`, it can have fields only.");
            custom.fault(self.position, ':', what);
            return false;
        };
        let name = &field.name;
        // The answer is read by the name of the field, and an alias would change its key.
        let alias = field.alias.as_ref().filter(|alias| *alias != name);
        if let Some(alias) = alias {
            let what =
                format!("{INSIDE} {kind} `{name}` with alias `{alias}`, it can't have any alias.");
            custom.fault(self.position, ':', what);
        }
        if !field.directives.is_empty() {
            let what =
                format!("{INSIDE} {kind} `{name}` with directives, it can't have any directives.");
            custom.fault(self.position, ':', what);
        }
        if !field.selection_set.is_empty() {
            let what = format!(
                "{INSIDE} {kind} `{name}` with a selection set, it can't have any selection set."
            );
            custom.fault(self.position, ':', what);
        }
        self.arguments(custom, field)
    }

    /// Checks the arguments of the field. Those of a batch are one variable.
    fn arguments(&self, custom: &mut CheckedCustom<'_>, field: &ast::Field) -> bool {
        let mut used = Vec::new();
        // All objects go into one variable, as a list.
        if custom.batch && !field.arguments.is_empty() {
            let [argument] = &field.arguments[..] else { return self.batch_fault(custom, field) };
            let Value::Variable(name) = &*argument.value else {
                return self.batch_fault(custom, field);
            };
            used.push(name.to_string());
        } else {
            for argument in &field.arguments {
                let collected = template::collect(&argument.value, false, &mut used);
                collected.expect("only strict templates refuse values");
            }
        }
        for name in used {
            let is_declared =
                self.operation.variables.iter().any(|variable| *variable.name == *name);
            if !is_declared {
                let what = format!(
                    "@custom directive, graphql must use fields with a variable definition, found \
                     `{name}`."
                );
                custom.fault(self.position, ';', what);
            }
        }
        true
    }

    fn batch_fault(&self, custom: &mut CheckedCustom<'_>, field: &ast::Field) -> bool {
        let what = format!(
            "inside graphql in @custom directive, for BATCH mode, {} `{}` can have only one \
             argument whose value should be a variable.",
            self.operation.operation_type, field.name
        );
        custom.fault(self.position, ':', what);
        false
    }
}
