//! Queries of the deployer: `@custom(dql:)`.

use crate::db::QueryRequest;
use crate::db::graphql::complete::Completion;
use crate::db::graphql::query::store_fault;
use crate::db::graphql::run::Outcome;
use crate::db::graphql::run::Run;
use crate::db::graphql::run::root_path;
use crate::db::plans::Variables;
use crate::graphql::lower::permit;
use crate::graphql::model::Custom;
use crate::graphql::request::Fault;
use crate::graphql::request::Field;
use crate::graphql::request::Value;
use crate::types::Error;
use crate::types::Result;
use serde_json::Value as Json;
use std::sync::Arc;

/// Answers a field by the text that the schema has for it. The block of the field's name is the answer.
pub(super) fn custom(run: &Run<'_>, field: &Field) -> Outcome {
    let known = run.loaded.model.queries.iter().find(|known| known.name == *field.shape.name);
    let Some(Custom::Dql(text)) = known.and_then(|known| known.custom.as_ref()) else {
        let name = &field.shape.name;
        let message = format!(
            "query {name} is resolved by an HTTP request or a lambda, which is not supported"
        );
        let fault = Fault { path: root_path(field), ..Fault::at(field.shape.location, message) };
        let spoils = field.shape.ty.is_non_null();
        return Outcome { spoils, ..Outcome::fault(field, fault) };
    };
    match ask(run, field, text) {
        Ok((data, touched)) => {
            let completion = Completion::new(&run.loaded.model, field);
            Outcome { touched, ..completion.root(data.get(field.shape.name.as_str())) }
        }
        Err(error) => Outcome::fault(field, store_fault(field, &error)),
    }
}

fn ask(run: &Run<'_>, field: &Field, text: &str) -> Result<(Json, u64)> {
    let arguments = field.arguments.iter();
    let variables: Variables =
        arguments.filter_map(|(name, value)| Some((format!("${name}"), text_of(value)?))).collect();
    let request = QueryRequest { text: text.to_owned(), variables, debug: false };
    let version = Arc::clone(&run.version);
    let caller = run.session.caller(&run.loaded).map_err(Error::query)?;
    let permitted = |plan| permit(caller, plan);
    let answer = run.database.query_amended(version, &request, permitted, run.control)?;
    let (json, _) = answer.to_json_within(run.control)?;
    let touched = answer.touched().values().sum();
    let data = serde_json::from_str(&json).map_err(|error| Error::query(error.to_string()))?;
    Ok((data, touched))
}

fn text_of(value: &Value) -> Option<String> {
    Some(match value {
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        Value::String(text) => text.to_string(),
        Value::Enum(name) => name.to_string(),
        Value::Null | Value::List(_) | Value::Object(_) => return None,
    })
}
