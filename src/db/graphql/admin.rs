//! The API that administers a database: an API as that of a schema, whose values come from the engine itself.

use crate::db::Database;
use crate::db::graphql::request::Request;
use crate::db::graphql::request::Response;
use crate::db::graphql::run::root_path;
use crate::db::graphql::schema::LIMITS;
use crate::graphql::generate::Api;
use crate::graphql::request as language;
use crate::graphql::request::Fault;
use crate::graphql::request::Field;
use crate::graphql::request::Operation;
use crate::graphql::request::introspect;
use crate::types::Error;
use serde_json::Map;
use serde_json::Value as Json;
use serde_json::json;
use std::sync::OnceLock;

/// What the API offers.
const SDL: &str = include_str!("admin.graphql");

/// What a surface knows of itself.
#[derive(Debug, Clone, Default)]
pub struct Instance {
    /// Where it answers.
    pub address: String,
    /// For how many seconds.
    pub uptime: u64,
    /// The seconds since 1970.
    pub now: u64,
}

impl Database {
    /// Carries out a request to the API that administers the database. All that is wrong stands in the answer.
    pub fn graphql_admin(&self, request: &Request, instance: &Instance) -> Response {
        let operation = match resolve(request) {
            Ok(operation) => operation,
            Err(faults) => return Response::refused(faults),
        };
        let mut response = Response::default();
        let mut data = Map::new();
        for field in operation.fields.iter() {
            let value = self.administer(field, instance).unwrap_or_else(|error| {
                let message = format!("resolving {} failed because {error}", field.shape.name);
                let fault = Fault::at(field.shape.location, message);
                response.errors.push(Fault { path: root_path(field), ..fault });
                Json::Null
            });
            data.insert(field.shape.key.to_string(), value);
        }
        response.data = Some(Json::Object(data).to_string().into_bytes());
        response
    }

    fn administer(&self, field: &Field, instance: &Instance) -> Result<Json, Error> {
        let input = field.arguments.given("input");
        let value = match field.shape.name.as_str() {
            "getGQLSchema" => self.shown_schema()?,
            "updateGQLSchema" => {
                let text = input.and_then(|input| input.get("set")?.get("schema")?.as_str());
                self.set_graphql_schema(text.unwrap_or_default())?;
                json!({ "gqlSchema": self.shown_schema()? })
            }
            "health" => json!([health(instance)]),
            "state" => self.cluster_state(instance)?,
            "config" if input.is_some() => done("Config updated successfully"),
            "config" => json!({ "cacheMb": 0.0 }),
            "__schema" | "__type" => {
                let mut text = String::new();
                introspect(api()?, field, &mut text)
                    .map_err(|fault| Error::query(fault.message))?;
                return serde_json::from_str(&text)
                    .map_err(|error| Error::query(error.to_string()));
            }
            "__typename" => return Ok(json!("Query")),
            other => {
                let hint = "an embedded engine is exported, drained and stopped by its program";
                return Err(Error::query(format!("{other} is not offered here")).with_hint(hint));
            }
        };
        Ok(project(&value, field))
    }

    fn shown_schema(&self) -> Result<Json, Error> {
        let id = self.graphql_schema_id()?;
        let (schema, generated) = match self.graphql_schema()? {
            Some(known) => (known.schema, known.generated),
            None => (String::new(), String::new()),
        };
        Ok(json!({ "id": id.to_string(), "schema": schema, "generatedSchema": generated }))
    }

    fn cluster_state(&self, instance: &Instance) -> Result<Json, Error> {
        let version = self.version()?;
        let names = version.predicates.keys();
        let tablets: Vec<Json> =
            names.map(|name| json!({ "groupId": 1, "predicate": format!("0-{name}") })).collect();
        let started = instance.now.saturating_sub(instance.uptime);
        let member = |group: u64| {
            json!({
                "id": 1,
                "groupId": group,
                "addr": instance.address,
                "leader": true,
                "lastUpdate": started,
            })
        };
        Ok(json!({
            "counter": version.commit,
            "groups": [{ "id": 1, "members": [member(1)], "tablets": tablets, "snapshotTs": version.commit }],
            "zeros": [member(0)],
            "maxUID": version.uids.next(),
            "maxTxnTs": version.commit,
            "maxRaftId": 1,
            "removed": [],
            "cid": "",
            "namespaces": [0],
        }))
    }
}

fn health(instance: &Instance) -> Json {
    json!({
        "instance": "alpha",
        "address": instance.address,
        "status": "healthy",
        "group": "1",
        "version": concat!("hexgraph-v", env!("CARGO_PKG_VERSION")),
        "uptime": instance.uptime,
        "lastEcho": instance.now,
        "ongoing": [],
        "indexing": [],
        "ee_features": [],
    })
}

fn done(message: &str) -> Json {
    json!({ "response": { "code": "Success", "message": message } })
}

fn api() -> Result<&'static Api, Error> {
    static API: OnceLock<Result<Api, String>> = OnceLock::new();
    let api = API.get_or_init(|| Api::of_text(SDL).map_err(|error| error.to_string()));
    api.as_ref().map_err(|message| Error::query(message.clone()))
}

fn resolve(request: &Request) -> Result<Operation, Vec<Fault>> {
    let api = api().map_err(|error| vec![Fault::new(error.to_string())])?;
    let checked = language::Request::parse(api, &request.query, &LIMITS)?;
    checked.resolve(api, request.operation.as_deref(), &request.variables)
}

/// What a selection asks of a value.
fn project(value: &Json, field: &Field) -> Json {
    let Some(wanted) = field.selection.only() else { return value.clone() };
    match value {
        Json::Array(items) => items.iter().map(|item| project(item, field)).collect(),
        Json::Object(members) => {
            let one = |asked: &Field| {
                let found = match asked.shape.name.as_str() {
                    "__typename" => json!(field.shape.ty.inner_named_type().as_str()),
                    name => members.get(name).map_or(Json::Null, |value| project(value, asked)),
                };
                (asked.shape.key.to_string(), found)
            };
            Json::Object(wanted.iter().map(one).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(database: &Database, text: &str) -> String {
        let response = database.graphql_admin(&Request::new(text), &Instance::default());
        String::from_utf8(response.to_json("")).unwrap()
    }

    #[test]
    fn the_schema_is_set_and_shown() {
        let database = Database::in_memory();
        let get = "{ getGQLSchema { id schema __typename } }";
        let id = database.graphql_schema_id().unwrap();
        let shown = |text| format!(r#"{{"id":"{id}","schema":"{text}","__typename":"GQLSchema"}}"#);
        assert_eq!(ask(&database, get), format!(r#"{{"data":{{"getGQLSchema":{}}}}}"#, shown("")));
        let set = "mutation { updateGQLSchema(input: {set: {schema: \"type A { b: Int }\"}}) { gqlSchema { schema } } }";
        let want = r#"{"data":{"updateGQLSchema":{"gqlSchema":{"schema":"type A { b: Int }"}}}}"#;
        assert_eq!(ask(&database, set), want);
        let want = format!(r#"{{"data":{{"getGQLSchema":{}}}}}"#, shown("type A { b: Int }"));
        assert_eq!(ask(&database, get), want);
        let bad = set.replace("Int", "Foo");
        let told = ask(&database, &bad);
        assert!(told.contains("resolving updateGQLSchema failed because input:"), "{told}");
        assert!(told.contains(r#""data":{"updateGQLSchema":null}"#), "{told}");
        assert_eq!(ask(&database, get), want);
    }

    #[test]
    fn the_state_is_told() {
        let told = ask(&Database::in_memory(), "{ h: health { status } state { groups { id } } }");
        assert_eq!(told, r#"{"data":{"h":[{"status":"healthy"}],"state":{"groups":[{"id":1}]}}}"#);
    }
}
