//! Root fields that the schema declares: those that are queries in DQL, `@custom(dql:)`, and those
//! that other servers answer.

use crate::db::QueryRequest;
use crate::db::graphql::reply::complete::{Completed, Completion};
use crate::db::graphql::reply::remote_results::{RemoteResults, Slot};
use crate::db::graphql::run::{Outcome, Run, root_path, store_fault};
use crate::db::query::checked::Capacity;
use crate::db::query::plans::Variables;
use hexgraph_base::budget::{Held, json_weight};
use hexgraph_base::types::{Error, Result, stack};
use hexgraph_dql::ParameterValue;
use hexgraph_graphql::lower::permit;
use hexgraph_graphql::model::{Custom, Field as Declared};
use hexgraph_graphql::request::{Field, GraphqlError, Value};
use serde_json::Value as Json;
use std::sync::Arc;

/// Returns the declaration of a custom field of `Query` or `Mutation`.
pub(in crate::db::graphql) fn declared<'a>(
    run: &'a Run<'_>,
    type_name: &str,
    field: &Field,
) -> Option<&'a Declared> {
    let model = &run.loaded.model;
    let fields = if type_name == "Query" { &model.queries } else { &model.mutations };
    fields.iter().find(|existing| existing.name == *field.shape.name)
}

/// The answer to a query in DQL, with the number of values and edges that it read.
pub(in crate::db::graphql) struct Local {
    data: Json,
    /// The memory of the values, until they are written.
    _held: Option<Held>,
    touched: u64,
}

impl Local {
    /// Returns the value of a field: the block of its name.
    pub(in crate::db::graphql) fn value(&self, field: &Field) -> Option<&Json> {
        self.data.get(field.shape.name.as_str())
    }

    /// Writes the value.
    pub(in crate::db::graphql) fn write(
        &self,
        run: &Run<'_>,
        field: &Field,
        result: &RemoteResults,
    ) -> Outcome {
        let completion = completion(run, field, result);
        let completed = completion.local(field, self.value(field));
        Outcome { touched: self.touched, ..outcome(field, completed) }
    }
}

/// Runs the query in DQL that the schema has for a field; `None` when it has none.
pub(in crate::db::graphql) fn by_dql(
    run: &Run<'_>,
    field: &Field,
) -> Option<std::result::Result<Local, GraphqlError>> {
    let existing = declared(run, "Query", field)?;
    let Some(Custom::Dql(text)) = &existing.custom else { return None };
    Some(query_local(run, field, text).map_err(|error| store_fault(field, &error)))
}

/// Writes the value of a root field that another server answered.
pub(in crate::db::graphql) fn by_another(
    run: &Run<'_>,
    field: &Field,
    result: &RemoteResults,
) -> Outcome {
    let completion = completion(run, field, result);
    let slot = Slot::of_root(field);
    let failed = result.get(slot).is_none_or(|remote| remote.is_failed);
    Outcome { failed, ..outcome(field, completion.remote(field, slot)) }
}

/// The completion of the value of a root field.
fn completion<'a>(run: &'a Run<'_>, field: &'a Field, result: &'a RemoteResults) -> Completion<'a> {
    let capacity = Capacity::new(run.context, run.database.limits().result);
    Completion::at(&run.loaded.model, result, root_path(field), Vec::new(), capacity)
}

/// A root field whose value was completed.
fn outcome(field: &Field, completed: Completed<'_>) -> Outcome {
    if let Some(error) = &completed.stopped {
        return Outcome::fault(field, store_fault(field, error));
    }
    let Completed { value, errors, spoils, .. } = completed;
    Outcome { value, errors, spoils, ..Outcome::default() }
}

/// Runs a query in DQL for the caller.
fn query_local(run: &Run<'_>, field: &Field, text: &str) -> Result<Local> {
    let arguments = field.arguments.iter();
    let variables: Variables = arguments
        .filter_map(|(name, value)| Some((format!("${name}"), given_of(value)?)))
        .collect();
    let request = QueryRequest { text: text.to_owned(), variables, debug: false };
    let version = Arc::clone(&run.version);
    let caller = run.session.caller(&run.loaded).map_err(|why| Error::query(why.to_string()))?;
    // The rules of `@auth` are put into the plan, so the text can't go around them.
    let existing = Arc::clone(&run.version);
    let is_edge = |name: &str| existing.predicate(name).is_some_and(|existing| existing.is_edges());
    let permitted = |plan| permit(caller, plan, &is_edge);
    let answer = run.database.query_amended(version, &request, permitted, run.context)?;
    let (json, _) = answer.to_json_with(run.context)?;
    let touched = answer.touched().values().sum();
    let held = run.context.hold(json_weight(json.as_bytes()))?;
    let data = stack::with_space(|| serde_json::from_str(&json))
        .map_err(|error| Error::query(error.to_string()))?;
    Ok(Local { data, _held: held, touched })
}

/// The value of an argument as that of a variable; lists are those of plain values.
fn given_of(value: &Value) -> Option<ParameterValue> {
    match value {
        Value::List(values) => {
            values.iter().map(text_of).collect::<Option<_>>().map(ParameterValue::list)
        }
        value => text_of(value).map(ParameterValue::from),
    }
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
