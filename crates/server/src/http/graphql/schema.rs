//! `/admin/schema`, `/admin/schema/validate` and `/probe/graphql`.

use crate::http::app::App;
use crate::http::endpoints::admin;
use crate::http::message::incoming::Incoming;
use crate::http::message::reply::Reply;
use axum::http::StatusCode;
use hexgraph::db::RequestContext;
use hexgraph_base::types::Error;
use serde_json::json;

/// Sets the schema that the body holds.
pub(crate) fn set_schema(app: &App, incoming: &Incoming, control: &RequestContext) -> Reply {
    if let Some(refusal) = admin::refusal(app, incoming) {
        return refusal;
    }
    let text = incoming.text().map_err(Error::query);
    match text.and_then(|text| app.database_for(incoming).set_graphql_schema_with(text, control)) {
        Ok(set) => Reply::altered(&set.report),
        Err(error) => {
            let message = format!("resolving updateGQLSchema failed because {error}");
            Reply::internal_error(&message).about(&error)
        }
    }
}

/// Says errors of the schema in the body.
pub(crate) fn validate_schema(app: &App, incoming: &Incoming, control: &RequestContext) -> Reply {
    if let Some(refusal) = admin::refusal(app, incoming) {
        return refusal;
    }
    let checked = incoming.text().map_err(|error| vec![error.to_string()]);
    let entry =
        |message: &str, code: &str| json!({ "message": message, "extensions": { "code": code } });
    match checked
        .and_then(|text| app.database_for(incoming).check_graphql_schema_with(text, control))
    {
        Ok(()) => {
            Reply::json(json!({ "errors": [entry("Schema is valid", "success")] }).to_string())
        }
        Err(messages) => {
            let entries = messages.iter().map(|message| entry(message, "ErrorInvalidRequest"));
            let body = json!({ "errors": entries.collect::<Vec<_>>() });
            Reply::json(body.to_string()).with_status(StatusCode::BAD_REQUEST)
        }
    }
}

/// Says whether requests are answered, and how often the schema has changed.
pub(crate) fn probe(app: &App, incoming: &Incoming, _control: &RequestContext) -> Reply {
    match app.database_for(incoming).graphql_schema_counter() {
        Ok(counter) => {
            Reply::json(json!({ "status": "up", "schemaUpdateCounter": counter }).to_string())
        }
        Err(error) => Reply::json(json!({ "error": error.to_string() }).to_string())
            .with_status(StatusCode::SERVICE_UNAVAILABLE),
    }
}
