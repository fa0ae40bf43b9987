//! Walks a document once and applies the rules to each node that it meets. The order is that of the
//! reference: children before parents, operations before fragments. Each operation walks the
//! fragments that it uses, since a variable in a fragment belongs to the operation.

use apollo_compiler::ast::{FieldDefinition, InputValueDefinition, Type};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Name, Node};
use hexgraph_base::types::stack;
use std::collections::{HashMap, HashSet};

use crate::generate::Api;
use crate::request::grammar::document::{
    ArgumentNode, DirectiveNode, Document, FieldId, InlineNode, OperationNode, SelectionNode,
    SpreadNode, ValueKind, ValueNode, VariableNode,
};
use crate::request::rules::merge::Merge;
use crate::request::rules::{field_of, root_type};
use crate::request::{GraphqlError, OperationKind, Position, RequestLimits};

/// The most faults that are returned.
const FAULTS_MAX: usize = 100;

/// The most selections that are visited. Each operation visits the fragments that it uses again, so
/// the length of the text does not bound the number.
const STEPS_MAX: usize = 2_000_000;

/// The result of checking a valid document, which holds for all requests with it.
#[derive(Debug, Default)]
pub(in crate::request) struct Checked {
    /// The uses of `@cascade(fields: $variable)`, which are checked with the value of the variable.
    pub cascades: Vec<CascadeVariable>,
}

/// A use of `@cascade` with a variable.
#[derive(Debug, Clone)]
pub(in crate::request) struct CascadeVariable {
    pub variable: Box<str>,
    /// The type whose fields may be named.
    pub type_name: Name,
    pub at: Position,
}

/// Checks a document against the schema.
///
/// # Errors
///
/// All faults, in the order of Dgraph; at least one.
pub(in crate::request) fn check(
    api: &Api,
    document: &Document<'_>,
    limits: &RequestLimits,
) -> Result<Checked, Vec<GraphqlError>> {
    let mut walker = Walker::new(api, document, limits);
    walker.walk();
    if let Some(fault) = walker.too_deep {
        return Err(vec![fault]);
    }
    if walker.steps > STEPS_MAX {
        return Err(vec![GraphqlError::new("the request uses its fragments too often")]);
    }
    if walker.faults.is_empty() { Ok(walker.checked) } else { Err(walker.faults) }
}

/// The type that is expected of a value, and its definition, if available.
#[derive(Clone, Copy, Default)]
pub(super) struct Expected<'a> {
    pub ty: Option<&'a Type>,
    pub definition: Option<&'a ExtendedType>,
}

/// The walk over a document.
pub(super) struct Walker<'a, 't> {
    pub api: &'a Api,
    pub document: &'a Document<'t>,
    pub faults: Vec<GraphqlError>,
    pub checked: Checked,
    /// The operation that is walked; `None` while fragments are.
    pub operation: Option<&'a OperationNode<'t>>,
    /// The variables that the operation declares.
    pub variables: HashMap<&'t str, &'a VariableNode<'t>>,
    /// Variables of the operation that are used.
    pub used_variables: HashSet<&'t str>,
    /// Names of operations so far.
    pub operation_names: HashSet<&'t str>,
    pub used_fragments: HashSet<&'t str>,
    pub merge: Merge<'a, 't>,
    /// Fragments on which the search for cycles has been.
    pub searched_fragments: HashSet<&'t str>,
    walked_fragments: HashSet<usize>,
    in_definitions: bool,
    steps: usize,
    depth: usize,
    depth_max: usize,
    too_deep: Option<GraphqlError>,
}

impl<'a, 't> Walker<'a, 't> {
    fn new(api: &'a Api, document: &'a Document<'t>, limits: &RequestLimits) -> Walker<'a, 't> {
        Walker {
            api,
            document,
            faults: Vec::new(),
            checked: Checked::default(),
            operation: None,
            variables: HashMap::new(),
            used_variables: HashSet::new(),
            operation_names: HashSet::new(),
            used_fragments: HashSet::new(),
            merge: Merge::new(api, document),
            searched_fragments: HashSet::new(),
            walked_fragments: HashSet::new(),
            in_definitions: false,
            steps: 0,
            depth: 0,
            depth_max: limits.depth,
            too_deep: None,
        }
    }

    /// Adds a fault, unless there are too many or the same one exists: a fragment is walked for
    /// each operation that uses it.
    pub(super) fn fault(&mut self, at: Position, message: String) {
        if !self.is_full() {
            let fault = GraphqlError::at(at, message);
            if !self.faults.contains(&fault) {
                self.faults.push(fault);
            }
        }
    }

    /// Adds the faults of fields of an operation with equal keys and different contents.
    pub(super) fn check_merging(&mut self, operation: &'a OperationNode<'t>) {
        for (at, message) in self.merge.check(operation, FAULTS_MAX) {
            self.fault(at, message);
        }
    }

    /// Returns true if no more faults are added, so that loops over the parts of a node may stop.
    pub(super) fn is_full(&self) -> bool {
        self.faults.len() >= FAULTS_MAX
    }

    pub(super) fn definition(&self, name: &str) -> Option<&'a ExtendedType> {
        self.api.schema.types.get(name)
    }

    /// Returns true if fragments make the request deeper than it may be.
    pub(super) fn is_too_deep(&self) -> bool {
        self.too_deep.is_some()
    }

    fn walk(&mut self) {
        for operation in &self.document.operations {
            self.walked_fragments.clear();
            self.used_variables.clear();
            self.walk_operation(operation);
        }
        // A fragment that only other fragments use is not used by an operation.
        self.in_definitions = true;
        // Now fragments by themselves, without variables.
        for (number, fragment) in self.document.fragments.iter().enumerate() {
            self.walked_fragments.clear();
            let parent = self.definition(fragment.condition);
            if self.is_full() {
                return;
            }
            self.directives(parent, &fragment.directives, "FRAGMENT_DEFINITION");
            self.selections(parent, &fragment.selections);
            self.check_fragment(number, fragment, parent);
        }
    }

    fn walk_operation(&mut self, operation: &'a OperationNode<'t>) {
        self.operation = Some(operation);
        // The first of a name counts; others are a fault. Later entries replace earlier ones in the
        // map, so the order is reversed.
        self.variables = operation.variables.iter().rev().map(|node| (node.name, node)).collect();
        for variable in &operation.variables {
            let definition = self.definition(variable.ty.inner_named_type());
            if let Some(default) = &variable.default {
                self.value(Expected { ty: Some(&variable.ty), definition }, default);
            }
            self.directives(definition, &variable.directives, "VARIABLE_DEFINITION");
        }
        let position = match operation.kind {
            OperationKind::Query => "QUERY",
            OperationKind::Mutation => "MUTATION",
            OperationKind::Subscription => "SUBSCRIPTION",
        };
        let parent = root_type(self.api, operation.kind);
        self.directives(parent, &operation.directives, position);
        self.selections(parent, &operation.selections);
        self.check_operation(operation, parent);
        self.operation = None;
    }

    fn selections(
        &mut self,
        parent: Option<&'a ExtendedType>,
        selections: &'a [SelectionNode<'t>],
    ) {
        stack::require();
        self.depth += 1;
        if self.depth > self.depth_max {
            let message = format!("the request is nested deeper than {} levels", self.depth_max);
            self.too_deep = Some(GraphqlError::new(message));
        }
        for selection in selections {
            self.steps += 1;
            // A request that is too large is refused with one fault, whatever was read before.
            let stop = self.steps > STEPS_MAX || self.too_deep.is_some();
            if stop || self.is_full() {
                break;
            }
            match selection {
                SelectionNode::Field(id) => self.field(parent, *id),
                SelectionNode::Inline(inline) => self.inline(parent, inline),
                SelectionNode::Spread(spread) => self.spread(parent, spread),
            }
        }
        self.depth -= 1;
    }

    fn field(&mut self, parent: Option<&'a ExtendedType>, id: FieldId) {
        let document = self.document;
        let field = document.field(id);
        let definition: Option<&'a FieldDefinition> =
            parent.and_then(|parent| field_of(self.api, parent, field.name));
        let target =
            definition.and_then(|definition| self.definition(definition.ty.inner_named_type()));
        self.arguments(definition.map(|definition| &definition.arguments[..]), &field.arguments);
        self.directives(target, &field.directives, "FIELD");
        self.selections(target, &field.selections);
        self.check_field(parent, definition, field);
    }

    fn inline(&mut self, parent: Option<&'a ExtendedType>, inline: &'a InlineNode<'t>) {
        let inside = match inline.condition {
            Some(condition) => self.definition(condition),
            None => parent,
        };
        self.directives(inside, &inline.directives, "INLINE_FRAGMENT");
        self.selections(inside, &inline.selections);
        self.check_inline(parent, inline);
    }

    fn spread(&mut self, parent: Option<&'a ExtendedType>, spread: &'a SpreadNode<'t>) {
        let result = self.document.fragment(spread.name);
        let inside = result.and_then(|(_, fragment)| self.definition(fragment.condition));
        self.directives(inside, &spread.directives, "FRAGMENT_SPREAD");
        // Once for each operation: a second visit could only repeat its faults.
        if let Some((number, fragment)) = result
            && self.walked_fragments.insert(number)
        {
            self.selections(inside, &fragment.selections);
        }
        if !self.in_definitions {
            self.used_fragments.insert(spread.name);
        }
        self.check_spread(parent, spread, result.map(|(_, fragment)| fragment));
    }

    fn directives(
        &mut self,
        parent: Option<&'a ExtendedType>,
        directives: &'a [DirectiveNode<'t>],
        position: &'static str,
    ) {
        for directive in directives {
            let api = self.api;
            let definition = api.schema.directive_definitions.get(directive.name);
            let arguments = definition.map(|definition| &definition.arguments[..]);
            self.arguments(arguments, &directive.arguments);
            self.check_directive(
                parent,
                definition.map(|definition| &**definition),
                directive,
                position,
            );
        }
        self.check_directives(directives);
    }

    fn arguments(
        &mut self,
        definitions: Option<&'a [Node<InputValueDefinition>]>,
        arguments: &'a [ArgumentNode<'t>],
    ) {
        for argument in arguments {
            let mut definitions = definitions.into_iter().flatten();
            let expected = definitions
                .find(|definition| definition.name == argument.name)
                .map_or_else(Expected::default, |definition| self.expected(&definition.ty));
            self.value(expected, &argument.value);
        }
    }

    fn expected(&self, ty: &'a Type) -> Expected<'a> {
        Expected { ty: Some(ty), definition: self.definition(ty.inner_named_type()) }
    }

    fn value(&mut self, expected: Expected<'a>, value: &'a ValueNode<'t>) {
        stack::require();
        match &value.kind {
            ValueKind::Variable(name) if self.operation.is_some() => {
                self.used_variables.insert(name);
            }
            ValueKind::Object(fields) => {
                let input = expected.definition.and_then(ExtendedType::as_input_object);
                for field in fields {
                    let definition = input.and_then(|input| input.fields.get(field.name));
                    let inner = definition
                        .map_or_else(Expected::default, |definition| self.expected(&definition.ty));
                    self.value(inner, &field.value);
                }
            }
            ValueKind::List(values) => {
                let inner = match expected.ty {
                    Some(Type::List(element) | Type::NonNullList(element)) => {
                        // The definition is that of the innermost type, so it stays the same for
                        // the elements.
                        Expected { ty: Some(element), definition: expected.definition }
                    }
                    _ => Expected::default(),
                };
                for value in values {
                    self.value(inner, value);
                }
            }
            _ => {}
        }
        self.check_value(expected, value);
    }
}
