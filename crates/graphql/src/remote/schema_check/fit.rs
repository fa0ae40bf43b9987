//! Compares a custom field with the schema of the server that answers it: the operation must exist,
//! its arguments must exist and be complete, and what it returns must have the fields that are
//! declared here.
//!
//! The names of scalars may differ, as values are coerced when they come. The names of objects may
//! differ too, but not those of the members of an interface or a union, which are named in the
//! operations that are sent.

use hexgraph_base::types::stack;
use std::collections::HashSet;

use apollo_compiler::ast;
use apollo_compiler::ast::OperationType;

use crate::model::{CustomHttp, Field, Kind, Mode, Model, TypeDef, TypeRef};
use crate::remote::calls::declared_operation;
use crate::remote::schema_check::introspection::{
    RemoteField, RemoteInput, RemoteSchema, RemoteType,
};
use crate::sdl::parse_template;

/// Returns all that does not fit, each as the rest of a message; empty when the field fits. O(types
/// that the field points to).
pub(in crate::remote) fn faults(
    model: &Model,
    remote: &RemoteSchema,
    field: &Field,
    http: &CustomHttp,
) -> Vec<String> {
    let mut fit = Fit { model, remote, faults: Vec::new(), seen: HashSet::new() };
    fit.check(field, http);
    fit.faults
}

/// The comparison of one field.
struct Fit<'a> {
    model: &'a Model,
    remote: &'a RemoteSchema,
    faults: Vec<String>,
    /// The pairs of types that were compared, ours and theirs: types may point to each other in
    /// circles.
    seen: HashSet<(String, String)>,
}

impl<'a> Fit<'a> {
    fn check(&mut self, field: &'a Field, http: &CustomHttp) {
        // What can't be read was refused by the checks of the schema.
        let parsed = http.graphql.as_deref().and_then(declared_operation::parse);
        let Some(operation) = parsed else { return };
        let Some(called) = declared_operation::field_of(&operation) else { return };
        let kind = operation.operation_type;
        let root = match kind {
            OperationType::Mutation => &self.remote.mutation,
            _ => &self.remote.query,
        };
        let root = root.as_ref().and_then(|name| self.remote.types.get(name));
        let Some(theirs) = root.and_then(|root| root.field(&called.name)) else {
            return self
                .faults
                .push(format!("{kind} `{}` is not present in remote schema.", called.name));
        };
        self.arguments(&operation, called, theirs, http);
        let ty = match (http.mode, theirs.ty.element()) {
            (Mode::Single, _) => &theirs.ty,
            (Mode::Batch, Some(element)) => element,
            (Mode::Batch, None) => {
                let name = &called.name;
                let what = format!(
                    "{kind} `{name}` returns `{}` in remote schema, but a list is needed for BATCH mode.",
                    theirs.ty
                );
                return self.faults.push(what);
            }
        };
        self.returned(&format!("{kind} `{}`", called.name), &field.ty, ty);
    }

    /// Checks the arguments that the operation gives, and those that it must give.
    fn arguments(
        &mut self,
        operation: &ast::OperationDefinition,
        called: &ast::Field,
        theirs: &RemoteField,
        http: &CustomHttp,
    ) {
        let what = format!("{} `{}`", operation.operation_type, called.name);
        for argument in &called.arguments {
            let Some(existing) =
                theirs.arguments.iter().find(|existing| argument.name == *existing.name)
            else {
                let name = &argument.name;
                self.faults.push(format!("argument `{name}` is not present in remote {what}."));
                continue;
            };
            if let ast::Value::Variable(name) = &*argument.value {
                let declared = operation.variables.iter().find(|variable| variable.name == *name);
                if let Some(declared) = declared {
                    self.variable(declared, existing, &what, http);
                }
            }
        }
        let given = |name: &str| called.arguments.iter().any(|argument| argument.name == *name);
        for missing in theirs.arguments.iter().filter(|it| it.is_required() && !given(&it.name)) {
            let (name, ty) = (&missing.name, &missing.ty);
            self.faults.push(format!(
                "argument `{name}` of type `{ty}` is required by remote {what}, but is not given."
            ));
        }
    }

    /// Checks that a variable of the operation suits the argument that it is given for.
    fn variable(
        &mut self,
        declared: &ast::VariableDefinition,
        existing: &RemoteInput,
        what: &str,
        http: &CustomHttp,
    ) {
        // With a default the variable is never absent.
        let has_value = declared.default_value.as_ref().is_some_and(|value| !value.is_null());
        if !may_stand_for(&declared.ty, has_value || existing.has_default, &existing.ty) {
            let (ty, name) = (&declared.ty, &existing.name);
            self.faults.push(format!(
                "variable `${}` of type `{ty}` is given for argument `{name}` of type `{}` in remote {what}.",
                declared.name, existing.ty
            ));
            return;
        }
        let name = existing.ty.name();
        let Some(theirs) = self.remote.types.get(name) else { return };
        if theirs.kind != "INPUT_OBJECT" {
            return;
        }
        // Their input is made of a template in a batch, and of an argument of ours else.
        match http.mode {
            Mode::Batch => self.template(http, name, theirs),
            Mode::Single => {
                if let Some(ours) = self.model.get(name).filter(|def| def.kind == Kind::Input) {
                    self.input(ours, theirs);
                }
            }
        }
    }

    /// Checks the body of a batch against their input type: it makes one input of each of our
    /// objects.
    fn template(&mut self, http: &CustomHttp, name: &str, theirs: &RemoteType) {
        let body = http.body.as_deref().map(parse_template);
        let Some(Ok(Some(ast::Value::Object(members)))) = body else { return };
        let existing = |key: &str| theirs.inputs.iter().any(|input| input.name == key);
        for (key, _) in members.iter().filter(|(key, _)| !existing(key)) {
            self.faults.push(format!("body has key `{key}`, which remote input `{name}` lacks."));
        }
        let given = |key: &str| members.iter().any(|(existing, _)| *existing == *key);
        for input in theirs.inputs.iter().filter(|it| it.is_required() && !given(&it.name)) {
            let key = &input.name;
            self.faults.push(format!("body lacks `{key}`, which remote input `{name}` requires."));
        }
    }

    /// Checks one of our input types against theirs, and those that its fields point to.
    fn input(&mut self, ours: &TypeDef, theirs: &RemoteType) {
        // Both types have one name here, since fields whose types have different names were refused
        // before.
        if !self.seen.insert((ours.name.clone(), ours.name.clone())) {
            return;
        }
        let name = &ours.name;
        for field in &ours.input_fields {
            let key = &field.name;
            let Some(existing) = theirs.inputs.iter().find(|existing| existing.name == *key) else {
                self.faults.push(format!(
                    "input `{name}` has field `{key}`, which remote input `{name}` lacks."
                ));
                continue;
            };
            if depth(&field.ty) != depth(&existing.ty) || field.ty.name() != existing.ty.name() {
                let (ours, theirs) = (&field.ty, &existing.ty);
                self.faults.push(format!("field `{key}` of input `{name}` has type `{ours}`, in remote schema `{theirs}`."));
                continue;
            }
            let inner = self.model.get(field.ty.name()).filter(|def| def.kind == Kind::Input);
            let theirs = self.remote.types.get(existing.ty.name());
            if let (Some(inner), Some(theirs)) = (inner, theirs) {
                self.input(inner, theirs);
            }
        }
        let given = |key: &str| ours.input_fields.iter().any(|field| field.name == key);
        for input in theirs.inputs.iter().filter(|it| it.is_required() && !given(&it.name)) {
            let key = &input.name;
            self.faults.push(format!(
                "input `{name}` lacks field `{key}`, which remote input `{name}` requires."
            ));
        }
    }

    /// Checks the type of a value: lists where lists are declared, and objects with the declared
    /// fields.
    fn returned(&mut self, what: &str, ours: &TypeRef, theirs: &TypeRef) {
        let def = self.model.get(ours.name());
        let remote = self.remote.types.get(theirs.name());
        let is_leaf = def.is_none_or(|def| def.kind == Kind::Enum);
        // Our types of positions are built in, so they have no definition to compare.
        let is_builtin_object = def.is_none() && remote.is_some_and(|remote| !remote.is_leaf());
        let agrees = remote.is_none_or(|remote| remote.is_leaf() == is_leaf)
            || is_builtin_object
                && matches!(ours.name(), "Point" | "Polygon" | "MultiPolygon" | "PointList");
        if depth(ours) != depth(theirs) || !agrees {
            self.faults.push(format!(
                "{what} returns `{theirs}` in remote schema, but `{ours}` is declared."
            ));
            return;
        }
        let (Some(def), Some(remote)) = (def, remote) else { return };
        if is_leaf || !self.seen.insert((def.name.clone(), theirs.name().to_owned())) {
            return;
        }
        // Operations name the types of an abstract one in fragments.
        let several = def.implementors.iter().chain(&def.members);
        for name in several.filter(|name| !self.remote.types.contains_key(*name)) {
            self.faults.push(format!("type `{name}` is not present in remote schema."));
        }
        self.fields(def, theirs.name(), remote);
    }

    /// Checks that their type has the fields that ours declares, with their arguments.
    fn fields(&mut self, def: &'a TypeDef, name: &str, remote: &'a RemoteType) {
        for field in def.fields.iter().filter(|field| !field.is_custom()) {
            let key = declared_operation::remote_name(field);
            let ours = &def.name;
            let Some(existing) = remote.field(key) else {
                self.faults.push(format!(
                    "field `{key}` of type `{ours}` is not present in remote type `{name}`."
                ));
                continue;
            };
            for argument in &field.arguments {
                if existing.arguments.iter().all(|existing| existing.name != argument.name) {
                    let argument = &argument.name;
                    self.faults.push(format!("argument `{argument}` of field `{key}` is not present in remote type `{name}`."));
                }
            }
            self.returned(&format!("field `{key}` of type `{ours}`"), &field.ty, &existing.ty);
        }
    }
}

/// Returns the number of lists around the name, plus one.
fn depth(ty: &TypeRef) -> usize {
    std::iter::successors(Some(ty), |ty| ty.element()).count()
}

/// Returns true if a variable of a type may be given where `theirs` is requested (GraphQL
/// specification, *All Variable Usages Are Allowed*).
fn may_stand_for(ours: &ast::Type, has_value: bool, theirs: &TypeRef) -> bool {
    stack::require();
    if theirs.is_non_null() && !ours.is_non_null() && !has_value {
        return false;
    }
    match (ours.is_list(), theirs.element()) {
        (true, Some(element)) => may_stand_for(ours.item_type(), false, element),
        (false, None) => ours.inner_named_type() == theirs.name(),
        _ => false,
    }
}
