//! A request text that was read and checked once, and can be resolved with other variables again
//! and again.

use apollo_compiler::Name;
use apollo_compiler::ast::Type;
use arc_swap::ArcSwap;
use hexgraph_base::types::stack;
use serde_json::{Map, Value as Json};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::generate::Api;
use crate::request::flatten::flatten;
use crate::request::grammar::document::{
    DirectiveNode, Document, OperationNode, SelectionNode, ValueKind,
};
use crate::request::grammar::literals::{Template, VariableNumbers, template};
use crate::request::grammar::parser::parse;
use crate::request::plan::Plan;
use crate::request::rules::{CascadeVariable, cascade_message, check, field_of, root_type};
use crate::request::variables::coerce_variable;
use crate::request::{GraphqlError, Operation, OperationKind, RequestLimits, Value};

/// The most plans that are retained for a text: there is one for each operation and each choice of
/// what is skipped.
const PLANS_MAX: usize = 64;

/// A checked request text, with the plans that were made of it so far.
#[derive(Debug)]
pub struct Request {
    text: Arc<str>,
    limits: RequestLimits,
    /// The operations of the text, in its order.
    operations: Vec<Head>,
    /// The uses of `@cascade` whose fields are in a variable, and so are checked with each request.
    cascades: Vec<CascadeVariable>,
    plans: ArcSwap<Vec<(PlanKey, Arc<Plan>)>>,
}

/// The number of an operation and the values of its conditions.
type PlanKey = (usize, Vec<bool>);

/// The part of an operation that needs no plan.
#[derive(Debug)]
struct Head {
    kind: OperationKind,
    name: Option<Arc<str>>,
    variables: Vec<Variable>,
    /// The numbers of the variables that decide about `@skip` and `@include`.
    conditions: Vec<usize>,
    max_age: Option<i64>,
}

#[derive(Debug)]
struct Variable {
    name: Name,
    ty: Type,
    default: Option<Value>,
}

/// Makes the fault of a request without a text.
pub fn no_query() -> GraphqlError {
    GraphqlError::new("no query string supplied in request")
}

impl Request {
    /// Reads a text and checks all of it against the API. O(length), as long as fragments are not
    /// used over and over.
    ///
    /// # Errors
    ///
    /// The one fault of the syntax, or all faults of the validation.
    pub fn parse(
        api: &Api,
        text: &str,
        limits: &RequestLimits,
    ) -> Result<Request, Vec<GraphqlError>> {
        if text.is_empty() {
            return Err(vec![no_query()]);
        }
        // The document borrows from the text, and is parsed again for each plan: that is cheaper
        // than caching it.
        let document = parse(text, limits).map_err(|fault| vec![fault])?;
        let checked = check(api, &document, limits)?;
        let conditions = condition_names(&document);
        let heads = document.operations.iter();
        Ok(Request {
            text: text.into(),
            limits: *limits,
            operations: heads.map(|operation| Head::new(api, operation, &conditions)).collect(),
            cascades: checked.cascades,
            plans: ArcSwap::default(),
        })
    }

    /// The variables that the first operation declares, with their types.
    pub fn variables(&self) -> impl Iterator<Item = (&Name, &Type)> {
        let first = self.operations.first();
        first.into_iter().flat_map(|head| &head.variables).map(|it| (&it.name, &it.ty))
    }

    /// Errors of a text that is in a schema, as the rules of `@auth` do; nothing when it is valid.
    pub fn faults(api: &Api, text: &str) -> Vec<String> {
        let faults = Request::parse(api, text, &RequestLimits::default()).err().unwrap_or_default();
        faults.into_iter().map(|fault| fault.message).collect()
    }

    /// Returns the operation that is to be executed, with its variables. A text that was resolved
    /// before costs what its variables cost: nothing else is checked again.
    ///
    /// `api` must be the one that the text was checked against.
    ///
    /// # Errors
    ///
    /// When no operation is named where several are, when none has the name, and errors of the
    /// variables.
    pub fn resolve(
        &self,
        api: &Api,
        operation_name: Option<&str>,
        variables: &Map<String, Json>,
    ) -> Result<Operation, Vec<GraphqlError>> {
        self.check_cascades(api, variables)?;
        let number = self.select(api, operation_name).map_err(|fault| vec![fault])?;
        let head = &self.operations[number];
        let values = head.coerce(api, variables).map_err(|fault| vec![fault])?;
        let is_true = |number: &usize| matches!(values[*number], Some(Value::Boolean(true)));
        // Each choice of what is skipped has a plan of its own, and there are few.
        let key = (number, head.conditions.iter().map(is_true).collect());
        let plan = self.plan(api, key).map_err(|fault| vec![fault])?;
        Ok(Operation {
            kind: head.kind,
            name: head.name.clone(),
            fields: plan.fill(&values),
            max_age: head.max_age,
        })
    }

    /// Returns the number of the operation that is to be executed.
    fn select(&self, api: &Api, name: Option<&str>) -> Result<usize, GraphqlError> {
        stack::require();
        let name = name.unwrap_or("");
        let named = |head: &Head| head.name.as_deref() == Some(name);
        let number = match &self.operations[..] {
            [_] if name.is_empty() => Some(0),
            [_, _, ..] if name.is_empty() => {
                let message =
                    "Operation name must by supplied when query has more than 1 operation.";
                return Err(GraphqlError::new(message));
            }
            operations => operations.iter().position(named),
        };
        let number = number.ok_or_else(|| {
            GraphqlError::new(format!(
                "Supplied operation name {name} isn't present in the request."
            ))
        })?;
        let kind = self.operations[number].kind;
        if kind == OperationKind::Subscription && root_type(api, kind).is_none() {
            return Err(GraphqlError::new(
                "Not resolving subscription because schema doesn't have any fields defined for subscription operation.",
            ));
        }
        Ok(number)
    }

    /// Checks the variables that list the fields of a `@cascade`.
    fn check_cascades(
        &self,
        api: &Api,
        variables: &Map<String, Json>,
    ) -> Result<(), Vec<GraphqlError>> {
        let mut faults = Vec::new();
        for cascade in &self.cascades {
            let names = variables.get(&*cascade.variable).and_then(Json::as_array);
            let names = names.into_iter().flatten().filter_map(Json::as_str);
            let Some(parent) = api.schema.types.get(&cascade.type_name) else { continue };
            if let Some(name) = names.into_iter().find(|name| field_of(api, parent, name).is_none())
            {
                let message = cascade_message(name, &cascade.type_name);
                let message = format!("input: variables.{}.{name} {message}", cascade.variable);
                faults.push(GraphqlError::at(cascade.at, message));
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    /// The plan for an operation and its conditions: the one from before, or a new one, for which
    /// the text is read again.
    fn plan(&self, api: &Api, key: PlanKey) -> Result<Arc<Plan>, GraphqlError> {
        if let Some((_, plan)) = self.plans.load().iter().find(|(existing, _)| *existing == key) {
            return Ok(Arc::clone(plan));
        }
        let document = parse(&self.text, &self.limits)?;
        let head = &self.operations[key.0];
        let names = head.conditions.iter().map(|number| head.variables[*number].name.as_str());
        let conditions: HashMap<&str, bool> = names.zip(key.1.iter().copied()).collect();
        let operation = &document.operations[key.0];
        let plan = Arc::new(flatten(api, &document, operation, &conditions, &self.limits)?);
        // Another thread may have added the same plan meanwhile: then it is there twice, which does
        // no harm.
        self.plans.rcu(|plans| {
            let mut next = Vec::clone(plans);
            if next.len() < PLANS_MAX {
                next.push((key.clone(), Arc::clone(&plan)));
            }
            next
        });
        Ok(plan)
    }
}

impl Head {
    fn new(api: &Api, operation: &OperationNode<'_>, conditions: &HashSet<&str>) -> Head {
        let variables = operation.variables.iter();
        let decides = variables.clone().enumerate();
        let decides = decides.filter(|(_, variable)| conditions.contains(variable.name));
        Head {
            kind: operation.kind,
            name: (!operation.name.is_empty()).then(|| operation.name.into()),
            conditions: decides.map(|(number, _)| number).collect(),
            max_age: max_age(&operation.directives),
            variables: variables
                .map(|variable| Variable {
                    name: Name::new_unchecked(variable.name),
                    ty: variable.ty.clone(),
                    default: variable.default.as_ref().map(|default| {
                        let none = VariableNumbers::new();
                        match template(api, &variable.ty, &default.kind, &none) {
                            Template::Fixed(value) => value,
                            _ => Value::Null,
                        }
                    }),
                })
                .collect(),
        }
    }

    /// The values of the variables by their numbers.
    fn coerce(
        &self,
        api: &Api,
        given: &Map<String, Json>,
    ) -> Result<Vec<Option<Value>>, GraphqlError> {
        let mut values = Vec::with_capacity(self.variables.len());
        for variable in &self.variables {
            values.push(match (given.get(variable.name.as_str()), &variable.default) {
                (Some(json), _) => Some(coerce_variable(api, &variable.name, &variable.ty, json)?),
                (None, Some(default)) => Some(default.clone()),
                (None, None) if variable.ty.is_non_null() => {
                    return Err(missing(&variable.name));
                }
                (None, None) => None,
            });
        }
        Ok(values)
    }
}

/// Makes the fault of a required variable without a value.
fn missing(name: &Name) -> GraphqlError {
    use crate::request::PathStep;
    let path = vec![PathStep::Key("variable".into()), PathStep::Key(name.as_str().into())];
    GraphqlError::on(path, "must be defined")
}

/// Reads `@cacheControl(maxAge:)`.
fn max_age(directives: &[DirectiveNode<'_>]) -> Option<i64> {
    let directive = directives.iter().find(|directive| directive.name == "cacheControl")?;
    let argument = directive.arguments.iter().find(|argument| argument.name == "maxAge")?;
    match argument.value.kind {
        ValueKind::Int(text) => text.parse().ok(),
        _ => None,
    }
}

/// Returns the names of the variables that decide `@skip` and `@include` anywhere in the document.
fn condition_names<'t>(document: &Document<'t>) -> HashSet<&'t str> {
    let mut names = HashSet::new();
    let operations = document.operations.iter().map(|operation| &operation.selections);
    let fragments = document.fragments.iter().map(|fragment| &fragment.selections);
    let fields = document.fields.iter().map(|field| &field.selections);
    for selections in operations.chain(fragments).chain(fields) {
        note_conditions(selections, &mut names);
    }
    for field in &document.fields {
        note_directives(&field.directives, &mut names);
    }
    names
}

/// Adds the variables of fragments below some selections.
fn note_conditions<'t>(selections: &[SelectionNode<'t>], names: &mut HashSet<&'t str>) {
    for selection in selections {
        match selection {
            // All fields are in the document's table.
            SelectionNode::Field(_) => {}
            SelectionNode::Spread(spread) => note_directives(&spread.directives, names),
            SelectionNode::Inline(inline) => {
                note_directives(&inline.directives, names);
                note_conditions(&inline.selections, names);
            }
        }
    }
}

/// Adds the variables of `@skip` and `@include`.
fn note_directives<'t>(directives: &[DirectiveNode<'t>], names: &mut HashSet<&'t str>) {
    for directive in directives.iter().filter(|d| matches!(d.name, "skip" | "include")) {
        for argument in &directive.arguments {
            if let ValueKind::Variable(name) = argument.value.kind {
                names.insert(name);
            }
        }
    }
}
