//! Reads `@auth`: trees of rules, whose leaves are texts.

use apollo_compiler::ast::Value;
use apollo_compiler::{Node, ast};
use hexgraph_base::types::stack;

use super::rbac;
use super::rule_error::RuleError;
use crate::model::{AuthRules, Model, Operation, Rule};
use crate::sdl::source::draft::Draft;
use crate::sdl::source::raw::RawKind;
use crate::sdl::source::value::{bare, items};
use crate::syntax::{GraphqlError, parse_query};

/// Reads the rules of all types into the model. The rules of a type's interfaces are joined to its
/// own by `and`.
///
/// # Errors
///
/// All faults of all rules. They have no positions: a rule is a text of its own.
pub(in crate::sdl) fn read_rules(
    draft: &Draft<'_>,
    model: &mut Model,
) -> Result<(), Vec<GraphqlError>> {
    let mut faults = Vec::new();
    for def in draft.types() {
        let Some(auth) = def.directive("auth") else { continue };
        let mut rules = AuthRules::default();
        for operation in Operation::ALL {
            if let Some(value) = auth.argument(operation.name()) {
                *rules.of_mut(operation) =
                    RuleReader { name: &def.name, faults: &mut faults }.rule(value);
            }
        }
        if let Some(&index) = model.by_name.get(&def.name) {
            model.types[index].auth = rules;
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    // Interfaces don't implement interfaces here, so one step is enough.
    for def in draft.types().iter().filter(|def| def.kind == RawKind::Object) {
        for interface in &def.interfaces {
            inherit(model, &def.name, interface);
        }
    }
    Ok(())
}

/// Joins the rules of an interface to those of a type.
fn inherit(model: &mut Model, name: &str, interface: &str) {
    let rules = model.get(interface).map(|interface| interface.auth.clone()).unwrap_or_default();
    let Some(&index) = model.by_name.get(name) else { return };
    let auth = &mut model.types[index].auth;
    for operation in Operation::ALL {
        let Some(theirs) = rules.of(operation).cloned() else { continue };
        let own = auth.of_mut(operation);
        *own = Some(match own.take() {
            Some(own) => Rule::And(vec![own, theirs]),
            None => theirs,
        });
    }
}

/// Reads the rules of one type.
struct RuleReader<'a> {
    name: &'a str,
    faults: &'a mut Vec<GraphqlError>,
}

impl RuleReader<'_> {
    fn fault(&mut self, what: impl AsRef<str>) {
        self.faults.push(fault(self.name, what.as_ref()));
    }

    /// Reads a node of a tree of rules, which has exactly one entry. The grammar bounds how deep
    /// trees are. Returns `None` after a fault.
    fn rule(&mut self, value: &Value) -> Option<Rule> {
        stack::require();
        let Value::Object(entries) = value else { return self.nothing() };
        if entries.is_empty() {
            return self.nothing();
        }
        let entry =
            |name: &str| entries.iter().find(|(result, _)| result == name).map(|(_, value)| value);
        // All entries are read, so that the faults below each of them are reported.
        let mut read = Vec::new();
        if let Some(or) = entry("or").map(|or| items(or)).filter(|or| !or.is_empty()) {
            read.push(self.several(or, "OR").map(Rule::Or));
        }
        if let Some(and) = entry("and").map(|and| items(and)).filter(|and| !and.is_empty()) {
            read.push(self.several(and, "AND").map(Rule::And));
        }
        if let Some(not) = entry("not")
            && matches!(&**not, Value::Object(inside) if inside.len() == 1)
        {
            read.push(self.rule(not).map(|rule| Rule::Not(Box::new(rule))));
        }
        if let Some(rule) = entry("rule") {
            read.push(self.text(&bare(rule)));
        }
        if read.len() != 1 || entries.len() != 1 {
            self.fault("there should be only one of \"and\", \"or\", \"not\" and \"rule\"");
        }
        read.pop().flatten()
    }

    /// Adds the fault of a node without entries.
    fn nothing(&mut self) -> Option<Rule> {
        self.fault(
            "no arguments - there should be only one of \"and\", \"or\", \"not\" and \"rule\"",
        );
        None
    }

    /// Reads the list of an `and` or `or`.
    fn several(&mut self, list: &[Node<Value>], name: &str) -> Option<Vec<Rule>> {
        let rules: Vec<Option<Rule>> = list.iter().map(|rule| self.rule(rule)).collect();
        if rules.len() < 2 {
            self.fault(format!("'{name}' should contain at least two rules"));
        }
        rules.into_iter().collect()
    }

    /// Reads a leaf: a test of a claim when it begins with `{`, else a query.
    fn text(&mut self, text: &str) -> Option<Rule> {
        let read = if text.starts_with('{') { rbac::read(text) } else { self.traversal(text) };
        read.map_err(|error| self.fault(error.to_string())).ok()
    }

    /// Reads a rule that is a query: one operation with one field, `queryT`.
    fn traversal(&self, text: &str) -> Result<Rule, RuleError> {
        let document =
            parse_query(text).map_err(|fault| RuleError::Syntax { reason: fault.message })?;
        let operations: Vec<&Node<ast::OperationDefinition>> =
            document.definitions.iter().filter_map(|def| def.as_operation_definition()).collect();
        let [operation] = operations[..] else {
            return Err(RuleError::Operations { count: operations.len() });
        };
        if operation.operation_type != ast::OperationType::Query {
            let kind = operation.operation_type.name();
            let result = operation.name.as_ref().map_or(kind, |name| name.as_str());
            return Err(RuleError::NoQuery { result: result.to_owned() });
        }
        let [selection] = &operation.selection_set[..] else {
            return Err(RuleError::Queries { count: operation.selection_set.len() });
        };
        let ast::Selection::Field(field) = selection else {
            return Err(RuleError::Fragment);
        };
        // Only `queryT` says which nodes there are; `getT` and aggregates do not.
        if field.name.strip_prefix("query") != Some(self.name) {
            let (type_name, result) = (self.name.to_owned(), field.name.to_string());
            return Err(RuleError::OtherType { type_name, result });
        }
        Ok(Rule::Traversal {
            type_name: self.name.to_owned(),
            text: text.to_owned(),
            variables: operation.variables.iter().map(|result| result.name.to_string()).collect(),
        })
    }
}

/// Makes a fault of the rules of a type.
fn fault(name: &str, what: &str) -> GraphqlError {
    GraphqlError::new(format!("Type {name}: @auth: {what}"))
}

/// Checks the queries of all rules against the generated API. `faults_of` returns the messages
/// about the text of a request; none when it is valid.
///
/// A rule is checked in the type that declares it, so that types which inherit it do not repeat its
/// faults.
pub fn check_rules(model: &Model, faults_of: impl Fn(&str) -> Vec<String>) -> Vec<GraphqlError> {
    let mut faults = Vec::new();
    for def in &model.types {
        let rules = Operation::ALL.iter().filter_map(|operation| def.auth.of(*operation));
        rules.for_each(|rule| check_rule(&def.name, rule, &faults_of, &mut faults));
    }
    faults
}

/// Checks the queries of a rule and of those below it.
fn check_rule(
    of: &str,
    rule: &Rule,
    faults_of: &impl Fn(&str) -> Vec<String>,
    faults: &mut Vec<GraphqlError>,
) {
    stack::require();
    match rule {
        Rule::And(rules) | Rule::Or(rules) => {
            rules.iter().for_each(|rule| check_rule(of, rule, faults_of, faults));
        }
        Rule::Not(rule) => check_rule(of, rule, faults_of, faults),
        Rule::Traversal { type_name, text, .. } if type_name == of => {
            let reported = faults_of(text)
                .into_iter()
                .map(|why| fault(of, &format!("failed to validate GraphQL rule [reason : {why}]")));
            faults.extend(reported);
        }
        Rule::Traversal { .. } | Rule::Claim { .. } => {}
    }
}
