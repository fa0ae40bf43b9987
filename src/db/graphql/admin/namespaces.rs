//! The root fields of the administration API about namespaces, and the arguments of others that
//! name one.

use crate::db::Database;
use hexgraph_base::types::{Error, Result};
use hexgraph_graphql::request::Value;
use serde_json::{Value as Json, json};

/// Makes a namespace.
///
/// # Errors
///
/// As [`Database::create_namespace`].
pub(super) fn add(database: &Database, input: Option<&Value>) -> Result<Json> {
    let password = input.and_then(|input| input.get("password")?.as_str());
    let id = database.create_namespace(password.filter(|password| !password.is_empty()))?;
    Ok(json!({ "namespaceId": id, "message": "Created namespace successfully" }))
}

/// Drops a namespace.
///
/// # Errors
///
/// As [`Database::drop_namespace`].
pub(super) fn delete(database: &Database, input: Option<&Value>) -> Result<Json> {
    let id = number(input, "namespaceId")?.unwrap_or_default();
    database.drop_namespace(id)?;
    Ok(json!({ "namespaceId": id, "message": "Deleted namespace successfully" }))
}

/// The database in the namespace that an argument names, which only an administrator of all may
/// name where it is another one; without the argument as it is.
///
/// # Errors
///
/// As [`Database::namespace`].
pub(super) fn named(database: &Database, input: Option<&Value>) -> Result<Database> {
    match number(input, "namespace")? {
        Some(id) => database.namespace(id),
        None => Ok(database.clone()),
    }
}

fn number(input: Option<&Value>, name: &str) -> Result<Option<u64>> {
    match input.and_then(|input| input.get(name)) {
        None | Some(Value::Null) => Ok(None),
        Some(given) => {
            let number = given.as_int().and_then(|number| u64::try_from(number).ok());
            let wrong = || Error::query(format!("`{name}` is no number of a namespace"));
            Ok(Some(number.ok_or_else(wrong)?))
        }
    }
}
