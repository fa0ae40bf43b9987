//! The generated API, in the form that requests are checked against.

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
use crate::sdl::Growth;
use crate::syntax::GraphqlError;
use hexgraph_base::types::{Error, Result};

/// The bytes for parsing the generated text and for its tables, per byte of the text.
const PARSED_BYTES_PER_BYTE: usize = 40;

/// Everything that requests can select.
#[derive(Debug)]
pub struct Api {
    /// All types and root fields, those of introspection included. It is not validated by
    /// apollo-compiler: directives of the schema language have the values that they were written
    /// with, which need not be of the declared types.
    pub schema: Valid<Schema>,
    /// The text of the schema, which the admin API answers as `generatedSchema`.
    pub sdl: String,
    /// The text that `_service { sdl }` answers; `None` for a schema without `@key`.
    pub service_sdl: Option<String>,
    /// What each field of `Query` and `Subscription` does.
    queries: HashMap<Name, Root>,
    /// What each field of `Mutation` does.
    mutations: HashMap<Name, Root>,
    /// The object types that each object type, interface and union may represent.
    possible: HashMap<Name, Arc<[Name]>>,
    /// The names of the filters that accept one function at a time.
    filters: HashSet<Name>,
}

impl Api {
    /// Generates the API of a model. O(types × fields).
    ///
    /// # Errors
    ///
    /// When the generated text is no schema: a declared name collides with a generated one, as a
    /// searchable field `has` does in a filter.
    pub fn new(model: &Model) -> Result<Api> {
        Api::within(model, &Growth::default())
    }

    /// As [`Api::new`], with memory that is reserved before it is allocated.
    ///
    /// # Errors
    ///
    /// As [`Api::new`]; [`Error::Schema`] with the text of the error of `growth`.
    pub fn within(model: &Model, growth: &Growth) -> Result<Api> {
        let over = |fault: GraphqlError| Error::schema(fault.message);
        let generated = generate(model, Form::Full, growth).map_err(over)?;
        let service = match model.federated {
            true => Some(generate(model, Form::Service, growth).map_err(over)?.text),
            false => None,
        };
        growth.reserve(PARSED_BYTES_PER_BYTE * generated.text.len()).map_err(over)?;
        Api::of_generated(generated, service)
    }

    /// Parses a generated text, and makes its tables.
    fn of_generated(generated: Generated, service: Option<String>) -> Result<Api> {
        let schema = Schema::parse(&generated.text, "schema.graphql").map_err(|fault| {
            let reported: Vec<String> =
                fault.errors.iter().map(|it| it.to_json().message).collect();
            let message = format!("the API of this schema is not valid: {}", reported.join("; "));
            Error::schema(message).with_hint("use other names")
        })?;
        let mut filters = generated.filters;
        // Generated filters come in addition to those of every API.
        filters.extend(function_filters().map(Name::new_unchecked));
        // A subscription does what the query of its name does, so one table serves both.
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

    /// Makes an API from a text, as that of administration. None of its fields is a [`Root`].
    ///
    /// # Errors
    ///
    /// When the text is no schema.
    pub fn of_text(sdl: &str) -> Result<Api> {
        Api::of_generated(Generated { text: sdl.to_owned(), ..Generated::default() }, None)
    }

    /// Returns what a field of `Query` or `Subscription` does. O(1).
    pub fn query(&self, field: &str) -> Option<&Root> {
        self.queries.get(field)
    }

    /// Returns what a field of `Mutation` does. O(1).
    pub fn mutation(&self, field: &str) -> Option<&Root> {
        self.mutations.get(field)
    }

    /// Returns the object types that an object type, interface or union may represent, in the order
    /// of the schema; none for other types. O(1).
    pub fn possible_types(&self, name: &str) -> Arc<[Name]> {
        self.possible.get(name).cloned().unwrap_or_default()
    }

    /// Returns true for a filter that accepts one function at a time. O(1).
    pub fn is_function_filter(&self, input: &str) -> bool {
        self.filters.contains(input)
    }
}

/// The name of a root field with what it does, and the declared type that it is about.
fn root_of((entry, kind): Operation) -> (Name, Root) {
    let named = entry.ty.as_ref().map_or("", |ty| ty.name());
    let prefix = match kind {
        RootKind::Aggregate => "aggregate",
        RootKind::Add => "add",
        RootKind::Update => "update",
        RootKind::Delete => "delete",
        _ => "",
    };
    // The payload of `addFilm` and the result of `aggregateFilm` are generated types: the declared
    // one is in the name.
    let about = if prefix.is_empty() { None } else { entry.name.strip_prefix(prefix) };
    let type_name = Name::new_unchecked(about.unwrap_or(named));
    (Name::new_unchecked(&entry.name), Root { kind, type_name })
}

/// Lists the object types that each type may represent. O(types).
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
