//! The root fields of the administration API about keys of clients.

use super::namespaces::named;
use crate::db::Database;
use crate::db::access::{ApiKey, KeyRole, NewKey};
use crate::db::graphql::admin::tasks::shown_time;
use hexgraph_base::types::{Error, Result};
use hexgraph_graphql::request::{Field, Value};
use hexgraph_store::exec::parse_time;
use serde_json::{Value as Json, json};

/// Runs a root field about keys; `None` for another one.
///
/// # Errors
///
/// Why it can't be executed.
pub(super) fn administer(database: &Database, field: &Field) -> Result<Option<Json>> {
    let input = field.arguments.given("input");
    Ok(Some(match field.shape.name.as_str() {
        "queryKeys" => database.keys()?.iter().map(shown).collect(),
        "createKey" => create(database, input)?,
        "revokeKey" => {
            let id = field.arguments.given("id").and_then(Value::as_str).unwrap_or_default();
            database.revoke_key(id)?;
            json!({ "id": id, "message": "The key is revoked" })
        }
        _ => return Ok(None),
    }))
}

fn create(database: &Database, input: Option<&Value>) -> Result<Json> {
    let text = |name: &str| input.and_then(|input| input.get(name)?.as_str()).unwrap_or_default();
    let lifetime =
        match text("expiresIn") {
            "" => None,
            given => Some(parse_time(given).filter(|time| !time.is_zero()).ok_or_else(|| {
                Error::query(format!("expiresIn {given}: expected a time like 30d"))
            })?),
        };
    let key = NewKey { name: text("name"), role: KeyRole::of_name(text("role"))?, lifetime };
    let (key, secret) = named(database, input)?.create_key(&key)?;
    Ok(json!({ "key": shown(&key), "secret": secret.reveal() }))
}

fn shown(key: &ApiKey) -> Json {
    json!({
        "id": key.id,
        "name": key.name,
        "role": key.role.name(),
        "namespace": key.namespace,
        "made": shown_time(key.made),
        "expires": key.expires.map(shown_time),
        "revoked": key.revoked.map(shown_time),
    })
}
