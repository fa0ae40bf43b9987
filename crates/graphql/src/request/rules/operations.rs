//! Rules about operations: their names, their variables, and the one field of a subscription.

use apollo_compiler::schema::ExtendedType;
use std::collections::HashSet;

use crate::request::OperationKind;
use crate::request::grammar::document::{OperationNode, SelectionNode};
use crate::request::rules::walker::Walker;

impl<'a, 't> Walker<'a, 't> {
    pub(super) fn check_operation(
        &mut self,
        operation: &'a OperationNode<'t>,
        root: Option<&'a ExtendedType>,
    ) {
        for variable in &operation.variables {
            let name = variable.ty.inner_named_type();
            if self.definition(name).is_none() {
                // Dgraph blames the operation.
                self.fault(operation.at, format!("Unknown type \"{name}\"."));
            }
        }
        let operations = &self.document.operations;
        if operation.name.is_empty() && operations.len() > 1 {
            let message = "This anonymous operation must be the only defined operation.";
            self.fault(operation.at, message.to_owned());
        }
        self.check_unused(operation);
        if root.is_none() && operation.kind != OperationKind::Subscription {
            let kind = if operation.kind == OperationKind::Query { "query" } else { "mutation" };
            let message = format!("Schema does not support operation type \"{kind}\"");
            self.fault(operation.at, message);
        }
        // Merging walks all fragments again, and assumes that their depth is bounded.
        if !self.is_too_deep() {
            self.check_merging(operation);
        }
        if operation.kind == OperationKind::Subscription {
            self.check_single_field(operation);
        }
        if !self.operation_names.insert(operation.name) {
            let message = format!("There can be only one operation named \"{}\".", operation.name);
            self.fault(operation.at, message);
        }
        self.check_variables(operation);
    }

    /// Checks that each variable is used.
    fn check_unused(&mut self, operation: &OperationNode<'t>) {
        for variable in &operation.variables {
            if !self.used_variables.contains(variable.name) {
                let position = match operation.name {
                    "" => String::new(),
                    name => format!(" in operation \"{name}\""),
                };
                let message = format!("Variable \"${}\" is never used{position}.", variable.name);
                self.fault(variable.at, message);
            }
        }
    }

    /// Checks that a subscription has one field, which may occur in fragments.
    fn check_single_field(&mut self, operation: &'a OperationNode<'t>) {
        let mut selections = &operation.selections;
        let mut spreads = self.document.fragments.len();
        let second = loop {
            match selections.as_slice() {
                [_, second, ..] => break second,
                [SelectionNode::Inline(inline)] => selections = &inline.selections,
                // More steps than there are fragments is a cycle, which another rule reports.
                [SelectionNode::Spread(spread)] if spreads > 0 => {
                    let Some((_, fragment)) = self.document.fragment(spread.name) else { return };
                    selections = &fragment.selections;
                    spreads -= 1;
                }
                _ => return,
            }
        };
        let at = match second {
            SelectionNode::Field(id) => self.document.field(*id).at,
            SelectionNode::Inline(inline) => inline.at,
            SelectionNode::Spread(spread) => spread.at,
        };
        let name = match operation.name {
            "" => "Anonymous Subscription".to_owned(),
            name => format!("Subscription \"{name}\""),
        };
        self.fault(at, format!("{name} must select only one top level field."));
    }

    /// Checks that the names of variables are unique, and their types those of inputs.
    fn check_variables(&mut self, operation: &OperationNode<'t>) {
        let mut seen = HashSet::new();
        for variable in &operation.variables {
            if !seen.insert(variable.name) {
                let message =
                    format!("There can be only one variable named \"{}\".", variable.name);
                self.fault(variable.at, message);
            }
        }
        for variable in &operation.variables {
            let definition = self.definition(variable.ty.inner_named_type());
            if definition.is_some_and(|definition| !definition.is_input_type()) {
                let message = format!(
                    "Variable \"${}\" cannot be non-input type \"{}\".",
                    variable.name, variable.ty
                );
                self.fault(variable.at, message);
            }
        }
    }
}
