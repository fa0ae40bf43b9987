//! Makes the [`Plan`] of an operation: fragments are written out for each object type, fields of
//! one key become one, and `@skip` and `@include` are decided (GraphQL specification, *Field
//! Collection*).
//!
//! A selection depends only on the fields that it stands under and on their type, so each such pair
//! is flattened once. Without that, fragments in fragments and interfaces below interfaces would
//! multiply.

use apollo_compiler::Name;
use apollo_compiler::schema::ExtendedType;
use hexgraph_base::types::stack;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::generate::Api;
use crate::request::grammar::document::{
    DirectiveNode, Document, FieldId, FieldNode, OperationNode, SelectionNode, ValueKind,
};
use crate::request::grammar::literals::{Template, VariableNumbers, constant, template};
use crate::request::plan::{
    Plan, PlannedArguments, PlannedBranch, PlannedCascade, PlannedField, PlannedSelection,
};
use crate::request::rules::{field_of, is_composite, root_type};
use crate::request::{
    Arguments, Cascade, FieldShape, GraphqlError, OperationKind, RequestLimits, Selection,
};

/// The most selections that are looked at, where one counts once for each object type.
const STEPS_MAX: usize = 5_000_000;

/// Makes the plan of a checked operation; `conditions` has the values of the variables that decide
/// about `@skip` and `@include`.
///
/// # Errors
///
/// When more fields are requested than the limits allow.
pub(super) fn flatten(
    api: &Api,
    document: &Document<'_>,
    operation: &OperationNode<'_>,
    conditions: &HashMap<&str, bool>,
    limits: &RequestLimits,
) -> Result<Plan, GraphqlError> {
    let numbers = operation.variables.iter().enumerate();
    let mut flattener = Flattener {
        api,
        document,
        kind: operation.kind,
        conditions,
        variables: numbers.map(|(number, variable)| (variable.name, number)).collect(),
        fields_max: limits.fields,
        // Number 0 is the empty selection of scalars and enums.
        selections: vec![PlannedSelection::Fixed(Arc::default())],
        filled: vec![Arc::default()],
        weights: vec![0],
        existing: HashMap::new(),
        steps: 0,
    };
    if let Some(root) = root_type(api, operation.kind) {
        let groups = flattener.collect(root.name(), [&operation.selections[..]].into_iter())?;
        let branch = flattener.branch(Arc::from([root.name().clone()]), root, &groups, true)?;
        flattener.finish(vec![branch])?;
    }
    Ok(Plan { selections: flattener.selections })
}

/// The fields of one key, in the order of the text.
type Group = Vec<FieldId>;

struct Flattener<'a, 't> {
    api: &'a Api,
    document: &'a Document<'t>,
    kind: OperationKind,
    conditions: &'a HashMap<&'a str, bool>,
    variables: VariableNumbers<'t>,
    fields_max: usize,
    /// The selections of the plan, children before parents.
    selections: Vec<PlannedSelection>,
    /// The selections that are fixed, for those above; empty for the others.
    filled: Vec<Arc<Selection>>,
    /// How many fields an object's answer has, for each selection.
    weights: Vec<usize>,
    /// The numbers of the selections by the fields above them and the type of these.
    existing: HashMap<(Group, Name), usize>,
    /// The number of selections that were looked at.
    steps: usize,
}

impl<'a, 't> Flattener<'a, 't> {
    /// Returns the number of the selection below a group of fields, which is made where it is new.
    fn below(&mut self, group: &Group, target: &'a ExtendedType) -> Result<usize, GraphqlError> {
        stack::require();
        let key = (group.clone(), target.name().clone());
        if let Some(number) = self.existing.get(&key) {
            return Ok(*number);
        }
        // Types that are requested the same are in one branch.
        let mut branches: Vec<(Vec<Name>, Vec<Group>)> = Vec::new();
        for name in self.api.possible_types(target.name()).iter() {
            // The reference is copied, so that the sets borrow the document and not `self`, which
            // `collect` changes.
            let document = self.document;
            let sets = group.iter().map(|id| &document.field(*id).selections[..]);
            let groups = self.collect(name, sets)?;
            match branches.iter_mut().find(|(_, existing)| *existing == groups) {
                Some((types, _)) => types.push(name.clone()),
                None => branches.push((vec![name.clone()], groups)),
            }
        }
        let mut planned = Vec::with_capacity(branches.len());
        for (types, groups) in branches {
            // The types of a branch have the same selection, so the first represents them.
            let Some(parent) = self.api.schema.types.get(&types[0]) else { continue };
            planned.push(self.branch(types.into(), parent, &groups, false)?);
        }
        let number = self.finish(planned)?;
        // It is noted when it is complete: fragments don't contain themselves, which the rules have
        // checked, so it is not requested while it is made.
        self.existing.insert(key, number);
        Ok(number)
    }

    /// Adds a selection whose branches are complete, and returns its number.
    fn finish(&mut self, branches: Vec<PlannedBranch>) -> Result<usize, GraphqlError> {
        let weigh = |branch: &PlannedBranch| {
            let below = branch.fields.iter().map(|field| self.weights[field.selection]);
            below.fold(branch.fields.len(), usize::saturating_add)
        };
        // An object is of one type, so the heaviest branch counts, not their sum.
        let weight = branches.iter().map(weigh).max().unwrap_or(0);
        if weight > self.fields_max {
            let message = format!("the request selects more than {} fields", self.fields_max);
            return Err(GraphqlError::new(message));
        }
        let fixed = |field: &PlannedField| {
            matches!(field.arguments, PlannedArguments::Fixed(_))
                && matches!(field.cascade, PlannedCascade::Fixed(_))
                && matches!(self.selections[field.selection], PlannedSelection::Fixed(_))
        };
        // What no variable touches is filled once, and shared by all requests with the text.
        let selection = if branches.iter().all(|branch| branch.fields.iter().all(fixed)) {
            let filled = branches.iter().map(|branch| branch.fill(&self.filled, &[]));
            PlannedSelection::Fixed(Arc::new(Selection { branches: filled.collect() }))
        } else {
            PlannedSelection::Open(branches)
        };
        // All three lists grow here together: a selection has the same position in each.
        self.filled.push(match &selection {
            PlannedSelection::Fixed(selection) => Arc::clone(selection),
            PlannedSelection::Open(_) => Arc::default(),
        });
        self.selections.push(selection);
        self.weights.push(weight);
        Ok(self.selections.len() - 1)
    }

    /// Makes the selection of objects of some types.
    fn branch(
        &mut self,
        types: Arc<[Name]>,
        parent: &'a ExtendedType,
        groups: &[Group],
        root: bool,
    ) -> Result<PlannedBranch, GraphqlError> {
        let mut fields = Vec::with_capacity(groups.len());
        for group in groups {
            // The rules have checked that the fields of a group are equal, with equal arguments, so
            // the first represents all.
            let node = self.document.field(group[0]);
            // The text is checked, so the definition is there.
            let Some(definition) = field_of(self.api, parent, node.name) else { continue };
            let target = self.api.schema.types.get(definition.ty.inner_named_type());
            let selection = match target.filter(|target| is_composite(target)) {
                Some(target) => self.below(group, target)?,
                None => 0,
            };
            let api = self.api;
            let meaning = match self.kind {
                _ if !root => None,
                OperationKind::Mutation => api.mutation(node.name),
                _ => api.query(node.name),
            };
            // Names of the schema are shared; only an alias is a name of its own.
            let key = match definition.name == node.key {
                true => definition.name.clone(),
                false => Name::new_unchecked(node.key),
            };
            let shape = FieldShape {
                name: definition.name.clone(),
                key,
                on: node.on.map(Name::new_unchecked),
                ty: definition.ty.clone(),
                location: node.at,
                root: meaning.cloned(),
            };
            fields.push(PlannedField {
                shape: Arc::new(shape),
                arguments: self.arguments(definition, node),
                cascade: self.cascade(group),
                selection,
            });
        }
        Ok(PlannedBranch { types, fields })
    }

    /// Makes the arguments of a field: those that are given, then those that have a default.
    fn arguments(
        &self,
        definition: &'a apollo_compiler::ast::FieldDefinition,
        node: &FieldNode<'t>,
    ) -> PlannedArguments {
        let mut parts = Vec::with_capacity(node.arguments.len());
        for argument in &node.arguments {
            let existing =
                definition.arguments.iter().find(|existing| existing.name == argument.name);
            if let Some(existing) = existing {
                let value = template(self.api, &existing.ty, &argument.value.kind, &self.variables);
                parts.push((existing.name.clone(), value));
            }
        }
        for existing in &definition.arguments {
            let absent = !node.arguments.iter().any(|argument| existing.name == argument.name);
            if let Some(default) = existing.default_value.as_ref().filter(|_| absent) {
                let value = constant(self.api, &existing.ty, default);
                parts.push((existing.name.clone(), Template::Fixed(value)));
            }
        }
        let fixed = |(name, part): &(Name, Template)| match part {
            Template::Fixed(value) => Some((name.clone(), value.clone())),
            _ => None,
        };
        match parts.iter().map(fixed).collect::<Option<Vec<_>>>() {
            Some(values) => PlannedArguments::Fixed(Arguments(values.into())),
            None => PlannedArguments::Open(parts),
        }
    }

    /// Returns the `@cascade` of the first of the fields that has one.
    fn cascade(&self, group: &Group) -> PlannedCascade {
        let directives = group.iter().flat_map(|id| &self.document.field(*id).directives);
        let Some(directive) = directives.into_iter().find(|directive| directive.name == "cascade")
        else {
            return PlannedCascade::Fixed(None);
        };
        let fields = directive.arguments.iter().find(|argument| argument.name == "fields");
        let names: Arc<[Name]> = match fields.map(|argument| &argument.value.kind) {
            Some(ValueKind::Variable(name)) => {
                let number = self.variables.get(name);
                return number
                    .map_or(PlannedCascade::Fixed(None), |n| PlannedCascade::Variable(*n));
            }
            Some(ValueKind::List(values)) => {
                values.iter().filter_map(|value| cascade_name(&value.kind)).collect()
            }
            Some(single) => cascade_name(single).into_iter().collect(),
            None => Arc::from([]),
        };
        PlannedCascade::Fixed(Some(Cascade { fields: names }))
    }

    /// Collects the fields that are selected on an object of the type `name`, grouped by key, in
    /// the order of the text.
    fn collect<'s>(
        &mut self,
        name: &Name,
        sets: impl Iterator<Item = &'s [SelectionNode<'t>]>,
    ) -> Result<Vec<Group>, GraphqlError>
    where
        't: 's,
    {
        let mut collected = Collected::default();
        for set in sets {
            self.collect_set(name, set, &mut collected)?;
        }
        Ok(collected.groups)
    }

    /// Collects the fields of one selection set and of the fragments in it.
    fn collect_set<'s>(
        &mut self,
        name: &Name,
        set: &'s [SelectionNode<'t>],
        collected: &mut Collected<'t>,
    ) -> Result<(), GraphqlError> {
        stack::require();
        self.steps += set.len();
        if self.steps > STEPS_MAX {
            return Err(GraphqlError::new(
                "the request is too large when its fragments are written out",
            ));
        }
        for selection in set {
            match selection {
                SelectionNode::Field(id) => {
                    let field = self.document.field(*id);
                    if self.is_expected(&field.directives) {
                        collected.add(field.key, *id);
                    }
                }
                SelectionNode::Inline(inline) => {
                    if self.is_expected(&inline.directives)
                        && inline.condition.is_none_or(|condition| self.applies(condition, name))
                    {
                        self.collect_set(name, &inline.selections, collected)?;
                    }
                }
                SelectionNode::Spread(spread) => {
                    let document = self.document;
                    // A fragment adds the same fields however often it is spread in one object.
                    if self.is_expected(&spread.directives)
                        && collected.visited.insert(spread.name)
                        && let Some((_, fragment)) = document.fragment(spread.name)
                        && self.applies(fragment.condition, name)
                    {
                        self.collect_set(name, &fragment.selections, collected)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns true if a fragment on the type `condition` applies to objects of the type `name`.
    fn applies(&self, condition: &str, name: &Name) -> bool {
        name == condition || self.api.possible_types(condition).contains(name)
    }

    /// Decides `@skip` and `@include`. Both may occur at one selection.
    fn is_expected(&self, directives: &[DirectiveNode<'t>]) -> bool {
        directives.iter().all(|directive| match directive.name {
            "skip" => !self.condition(directive),
            "include" => self.condition(directive),
            _ => true,
        })
    }

    /// The value of the argument `if`.
    fn condition(&self, directive: &DirectiveNode<'t>) -> bool {
        match directive.arguments.first().map(|argument| &argument.value.kind) {
            Some(ValueKind::Boolean(value)) => *value,
            Some(ValueKind::Variable(name)) => self.conditions.get(name).copied().unwrap_or(false),
            _ => false,
        }
    }
}

/// The fields of an object that were collected so far.
#[derive(Default)]
struct Collected<'t> {
    groups: Vec<Group>,
    numbers: HashMap<&'t str, usize>,
    visited: HashSet<&'t str>,
    seen: HashSet<FieldId>,
}

impl<'t> Collected<'t> {
    fn add(&mut self, key: &'t str, id: FieldId) {
        let number = *self.numbers.entry(key).or_insert(self.groups.len());
        if number == self.groups.len() {
            self.groups.push(Vec::new());
        }
        // Two fields that became one may occur around the same fragment. A field that was seen has
        // made its group then, so no group stays empty.
        if self.seen.insert(id) {
            self.groups[number].push(id);
        }
    }
}

fn cascade_name(value: &ValueKind<'_>) -> Option<Name> {
    match value {
        ValueKind::String(name) => Some(Name::new_unchecked(name)),
        _ => None,
    }
}
