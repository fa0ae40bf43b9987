//! The root fields of the administration API: what each of them does.

use crate::db::Database;
use crate::db::graphql::admin::people;
use crate::db::graphql::admin::state::health;
use crate::db::graphql::admin::{Act, Instance, copies, keys, namespaces};
use hexgraph_base::schema::SchemaReport;
use hexgraph_base::types::{Error, Result};
use hexgraph_graphql::request::{Field, Value};
use serde_json::{Value as Json, json};

/// The reason why operations on a cluster are refused. The constants below are reasons for other
/// operations that an engine in one process has no use for.
const ALONE: &str = "one engine holds all of the data here";
const NO_USERS: &str =
    "there are no users and groups without `hexgraph serve --acl secret-file=FILE`";
const NO_RESTORE: &str =
    "end the server, and start `hexgraph serve` with the folder of the backup or a copy of it";
const NO_LIST: &str = "look into the folder that backups go to";

/// What concerns the entire database or the server.
const FOR_ALL: [&str; 7] =
    ["addNamespace", "deleteNamespace", "backup", "draining", "shutdown", "config", "task"];

impl Database {
    /// Runs a root field. `report` gets what it changes in the schema of the store.
    ///
    /// # Errors
    ///
    /// The reason why the root field can't be executed.
    pub(super) fn administer(
        &self,
        field: &Field,
        instance: &Instance<'_>,
        report: &mut SchemaReport,
    ) -> Result<Json> {
        if let Some(refusal) = &instance.refusal {
            return Err(Error::query(refusal.clone()));
        }
        if self.has_access_list()
            && let Some(done) = people::administer(self, field, instance)?
        {
            return Ok(done);
        }
        if field.shape.name != "login" {
            self.check_administrator()?;
        }
        if FOR_ALL.contains(&field.shape.name.as_str()) {
            self.check_superadmin()?;
        }
        if let Some(done) = keys::administer(self, field)? {
            return Ok(done);
        }
        let input = field.arguments.given("input");
        Ok(match field.shape.name.as_str() {
            "getGQLSchema" => self.shown_schema()?,
            "updateGQLSchema" => {
                let text = input.and_then(|input| input.get("set")?.get("schema")?.as_str());
                let text = text.unwrap_or_default();
                *report = self.set_graphql_schema_with(text, instance.context)?.report;
                json!({ "gqlSchema": self.shown_schema()? })
            }
            "health" => json!([health(instance)]),
            "state" => self.cluster_state(instance)?,
            "config" if input.is_some() => configure(input)?,
            "config" => json!({ "cacheMb": 0.0 }),
            "task" => task(input, instance)?,
            "export" => copies::export(self, input, instance)?,
            "addNamespace" => namespaces::add(self, input)?,
            "deleteNamespace" => namespaces::delete(self, input)?,
            "backup" => copies::backup(self, input, instance)?,
            "draining" => drain(field.arguments.given("enable"), instance)?,
            "shutdown" => {
                (instance.act)(Act::ShutDown);
                done("Server is shutting down")
            }
            "assign" => self.assign(input)?,
            "login" => return Err(Error::query("invalid username or password")),
            other => return Err(not_offered(other)),
        })
    }

    fn assign(&self, input: Option<&Value>) -> Result<Json> {
        let what = input.and_then(|input| input.get("what")?.as_str()).unwrap_or_default();
        if what != "UID" {
            return Err(Error::query(format!("{what} is not handed out here, only UID is")));
        }
        let count = match input.and_then(|input| input.get("num")) {
            Some(Value::Int(count)) => u64::try_from(*count).ok(),
            Some(Value::String(text)) => text.parse().ok(),
            _ => None,
        };
        let count = count.ok_or_else(|| Error::query("`num` is no number of uids"))?;
        let first = self.assign_uids(count)?.0;
        let last = first + (count - 1);
        Ok(json!({ "response": { "startId": first, "endId": last, "readOnly": 0 } }))
    }
}

fn configure(input: Option<&Value>) -> Result<Json> {
    if let Some(Value::Float(cache)) = input.and_then(|input| input.get("cacheMb")) {
        check_cache_size(*cache)?;
    }
    Ok(done("Config updated successfully"))
}

/// Checks the size of a cache in megabytes. It has no effect, since data is read where it lies and
/// nothing is cached.
fn check_cache_size(megabytes: f64) -> Result<()> {
    match megabytes >= 0.0 {
        true => Ok(()),
        false => Err(Error::query("the cache can't have less than 0 MB")),
    }
}

fn drain(enable: Option<&Value>, instance: &Instance<'_>) -> Result<Json> {
    let Some(Value::Boolean(enable)) = enable else {
        return Err(Error::query("say whether: `draining(enable: true)`"));
    };
    (instance.act)(Act::Drain(*enable));
    Ok(done(&format!("draining mode has been set to {enable}")))
}

fn task(input: Option<&Value>, instance: &Instance<'_>) -> Result<Json> {
    let text = input.and_then(|input| input.get("id")?.as_str()).unwrap_or_default();
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let id = u64::from_str_radix(digits, 16);
    let id = id.map_err(|_| Error::query(format!("invalid task ID: {text}")))?;
    Ok(match instance.tasks.get(id) {
        Some(task) => json!({
            "kind": task.kind,
            "status": task.status.name(),
            "lastUpdated": task.updated(),
        }),
        None => json!({ "kind": "Unknown", "status": "Unknown", "lastUpdated": null }),
    })
}

fn done(message: &str) -> Json {
    json!({ "response": { "code": "Success", "message": message } })
}

fn not_offered(name: &str) -> Error {
    let hint = match name {
        "restore" | "restoreTenant" => NO_RESTORE,
        "listBackups" => NO_LIST,
        "removeNode" | "moveTablet" => ALONE,
        _ => NO_USERS,
    };
    Error::query(format!("{name} is not offered here")).with_hint(hint)
}
