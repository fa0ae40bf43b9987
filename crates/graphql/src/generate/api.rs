//! The generated API as requests are checked against it.

use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::Valid;
use apollo_compiler::{Name, Schema};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::generate::definitions::facts::Form;
use crate::generate::definitions::root_fields::Operation;
use crate::generate::generator::{Generated, generate};
use crate::generate::layout::builtins::function_filters;
use crate::generate::{Root, RootKind};
use crate::model::Model;
use hexgraph_base::types::{Error, Result};

/// Everything that requests can ask of a schema.
#[derive(Debug)]
pub struct Api {
    /// All types and root fields, those of introspection included. Directives of the schema language keep the
    /// values that the deployer wrote, which need not be of the types that GraphQL asks for.
    pub schema: Valid<Schema>,
    /// The same as text: `generatedSchema` of the admin API.
    pub sdl: String,
    /// What `_service { sdl }` answers, for a schema with `@key`.
    pub service_sdl: Option<String>,
    queries: HashMap<Name, Root>,
    mutations: HashMap<Name, Root>,
    possible: HashMap<Name, Arc<[Name]>>,
    filters: HashSet<Name>,
}

impl Api {
    /// Generates the API of a model. O(types × fields).
    ///
    /// # Errors
    ///
    /// When the generated text is no schema, which no model that passed the checks leads to.
    pub fn new(model: &Model) -> Result<Api> {
        let generated = generate(model, Form::Full);
        let service = model.federated.then(|| generate(model, Form::Service).text);
        Api::of_generated(generated, service)
    }

    fn of_generated(generated: Generated, service: Option<String>) -> Result<Api> {
        let schema = Schema::parse(&generated.text, "schema.graphql").map_err(|fault| {
            let message = format!("the generated schema is not valid: {}", fault.errors);
            Error::Schema { message, at: None, hint: String::new() }
        })?;
        let mut filters = generated.filters;
        filters.extend(function_filters().map(Name::new_unchecked));
        // A subscription does what the query of its name does.
        let queries = [generated.queries, generated.subscriptions].concat();
        let mutations = generated.mutations;
        Ok(Api {
            possible: possible_types(&schema),
            schema: Valid::assume_valid(schema),
            sdl: generated.text,
            service_sdl: service,
            queries: queries.into_iter().map(root_of).collect(),
            mutations: mutations.into_iter().map(root_of).collect(),
            filters,
        })
    }

    /// An API that is written out and not made of a model. None of its fields is a [`Root`].
    ///
    /// # Errors
    ///
    /// When the text is no schema.
    pub fn of_text(sdl: &str) -> Result<Api> {
        Api::of_generated(Generated { text: sdl.to_owned(), ..Generated::default() }, None)
    }

    /// What a field of `Query` or `Subscription` does. O(1).
    pub fn query(&self, field: &str) -> Option<&Root> {
        self.queries.get(field)
    }

    /// What a field of `Mutation` does. O(1).
    pub fn mutation(&self, field: &str) -> Option<&Root> {
        self.mutations.get(field)
    }

    /// The concrete types that an object, interface or union can be, in the order of the schema; empty for other types. O(1).
    pub fn possible_types(&self, name: &str) -> Arc<[Name]> {
        self.possible.get(name).cloned().unwrap_or_default()
    }

    /// Whether the input is a filter of which one function at a time may be used. O(1).
    pub fn is_function_filter(&self, input: &str) -> bool {
        self.filters.contains(input)
    }
}

fn root_of((entry, kind): Operation) -> (Name, Root) {
    let named = entry.ty.as_ref().map_or("", |ty| ty.name());
    let prefix = match kind {
        RootKind::Aggregate => "aggregate",
        RootKind::Add => "add",
        RootKind::Update => "update",
        RootKind::Delete => "delete",
        _ => "",
    };
    let about = if prefix.is_empty() { None } else { entry.name.strip_prefix(prefix) };
    let type_name = Name::new_unchecked(about.unwrap_or(named));
    (Name::new_unchecked(&entry.name), Root { kind, type_name })
}

fn possible_types(schema: &Schema) -> HashMap<Name, Arc<[Name]>> {
    let mut possible: HashMap<Name, Vec<Name>> = HashMap::new();
    for (name, ty) in &schema.types {
        match ty {
            ExtendedType::Object(object) => {
                possible.insert(name.clone(), vec![name.clone()]);
                for interface in &object.implements_interfaces {
                    possible.entry(interface.name.clone()).or_default().push(name.clone());
                }
            }
            ExtendedType::Union(union) => {
                let members = union.members.iter().map(|member| member.name.clone());
                possible.insert(name.clone(), members.collect());
            }
            _ => {}
        }
    }
    possible.into_iter().map(|(name, types)| (name, types.into())).collect()
}
