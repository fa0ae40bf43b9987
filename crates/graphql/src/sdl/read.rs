//! Reads a schema in stages, from its text to the model. A stage returns all of its faults, and the
//! next begins only when there are none.

use crate::model::{Field, Model, TypeDef};
use crate::sdl::build::model as build;
use crate::sdl::check::federation;
use crate::sdl::check::meaning as check;
use crate::sdl::check::reserved_names;
use crate::sdl::check::standard;
use crate::sdl::growth::Growth;
use crate::sdl::rules::auth_directive;
use crate::sdl::source::comments;
use crate::sdl::source::draft::Draft;
use crate::sdl::source::raw;
use crate::syntax::{GraphqlError, Positions, parse_schema};

/// The settings of the server that a schema depends on.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The address of the lambda server. Without one, schemas with `@lambda` are refused.
    pub lambda_url: Option<String>,
    /// Reserves the memory that a schema takes while it is read.
    pub growth: Growth,
}

/// What a text takes while it is parsed and its definitions are collected, for each byte.
const BYTES_PER_BYTE: usize = 120;

/// What a type takes while it is checked, and in the model.
const TYPE_BYTES: usize = 3 << 10;

/// What a field takes while it is checked, and in the model.
const FIELD_BYTES: usize = 1 << 10;

/// Reads a schema. Rules of `@auth` are parsed, but the fields that their queries name are checked
/// by [`crate::sdl::check_rules`] when the API was generated. O(text), but for types that
/// implement many interfaces.
///
/// # Errors
///
/// All faults of the first stage that has any.
///
/// ```
/// use hexgraph_graphql::sdl::{Settings, read};
///
/// let model = read("type Film { title: String! @search(by: [term]) }", &Settings::default());
/// let text = model.expect("it is valid").to_dql_schema();
/// assert_eq!(text, "type Film {\n  Film.title\n}\nFilm.title: string @index(term) .\n");
/// ```
pub fn read(text: &str, settings: &Settings) -> Result<Model, Vec<GraphqlError>> {
    if text.is_empty() {
        return Err(vec![GraphqlError::new("No schema specified")]);
    }
    let grow = |bytes| settings.growth.reserve(bytes).map_err(|fault| vec![fault]);
    grow(BYTES_PER_BYTE * text.len())?;
    let positions = Positions::of(text);
    let comments = comments::read(text).map_err(|fault| vec![fault])?;
    let document = parse_schema(text).map_err(|fault| vec![fault])?;
    // The order of the stages decides which faults of a text are reported, so it is the
    // reference's.
    let mut draft = Draft::new(raw::collect(&document, &positions), &positions, settings);
    stage(reserved_names::check(draft.types()))?;
    for def in draft.types() {
        grow(TYPE_BYTES + FIELD_BYTES * (def.fields.len() + draft.inherited(def)))?;
    }
    complete(&mut draft)?;
    grow(0)?;
    stage(check::check(&mut draft))?;
    grow(0)?;
    let mut model = build::model(&draft);
    if !has_operations(&model) {
        let message = "No query or mutation found in the generated schema";
        return Err(vec![GraphqlError::new(message)]);
    }
    auth_directive::read_rules(&draft, &mut model)?;
    model.authorization = comments.authorization;
    model.allowed_origins = comments.allowed_origins;
    model.secrets = comments.secrets;
    Ok(model)
}

/// Completes a stage: an error when it has faults.
fn stage(faults: Vec<GraphqlError>) -> Result<(), Vec<GraphqlError>> {
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Copies the fields of interfaces into the types that implement them, and checks the result by the
/// rules of any GraphQL schema.
fn complete(draft: &mut Draft<'_>) -> Result<(), Vec<GraphqlError>> {
    if !draft.federated
        && let Some(extension) = draft.types().iter().find(|def| def.extension && !def.is_root())
    {
        return Err(vec![federation::without_key(extension)]);
    }
    draft.copy_interfaces().map_err(|fault| vec![fault])?;
    standard::check(draft)
}

/// Returns true if the API has a query or a mutation at least.
fn has_operations(model: &Model) -> bool {
    !model.queries.is_empty()
        || !model.mutations.is_empty()
        || model.federated
        || model.stored_types().any(makes_operations)
}

/// Returns true if the API has an operation for a type: by its `@generate`, and by what its fields
/// allow.
fn makes_operations(def: &TypeDef) -> bool {
    let has_key = def.id_field().is_some() || def.unique_fields().next().is_some();
    let is_input = |field: &Field| field.predicate.is_some() && !field.is_reverse();
    let has_input = def.secret.is_some() || def.fields.iter().any(is_input);
    let generate = def.generate;
    generate.query
        || generate.aggregate
        || generate.delete
        || generate.get && has_key
        || generate.password && has_key && def.secret.is_some()
        || (generate.add || generate.update) && has_input
}
