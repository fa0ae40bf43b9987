//! The API that administers a database: an API as that of a schema, whose values come from the
//! engine itself.

use crate::db::Database;
use crate::db::graphql::admin::Instance;
use crate::db::graphql::request::{Request, Response};
use crate::db::graphql::root_fields::not_executed;
use crate::db::guard::guarded;
use hexgraph_base::answer::write_json_text;
use hexgraph_base::schema::SchemaReport;
use hexgraph_base::types::Error;
use hexgraph_graphql::generate::Api;
use hexgraph_graphql::request as language;
use hexgraph_graphql::request::{
    Field, GraphqlError, Operation, OperationKind, RequestLimits, introspect,
};
use serde_json::Value as Json;
use std::sync::OnceLock;

/// The administration API, made once from its schema file.
const SDL: &str = include_str!("admin.graphql");

/// # Administration over GraphQL
impl Database {
    /// Runs a request to the administration API. Faults are reported in the response.
    ///
    /// ```
    /// use hexgraph::db::graphql::{Instance, Request, Tasks};
    /// use hexgraph::db::{Database, RequestContext};
    /// use std::sync::Arc;
    ///
    /// let db = Database::in_memory();
    /// let instance = Instance {
    ///     address: "localhost:8080".to_owned(),
    ///     uptime: 60,
    ///     now: 1_767_225_600,
    ///     refusal: None,
    ///     client: None,
    ///     folder: None,
    ///     tasks: &Arc::new(Tasks::default()),
    ///     context: &RequestContext::new(),
    ///     act: &|_| {},
    /// };
    /// let response = db.graphql_admin(&Request::new("{ health { status } }"), &instance);
    /// assert_eq!(response.to_json(""), br#"{"data":{"health":[{"status":"healthy"}]}}"#);
    /// ```
    pub fn graphql_admin(&self, request: &Request, instance: &Instance<'_>) -> Response {
        let operation = match resolve(request) {
            Ok(operation) => operation,
            Err(faults) => return Response::refused(faults),
        };
        let mut response = Response::default();
        let mut data = vec![b'{'];
        let mut report = SchemaReport::default();
        let mut failed = false;
        for field in operation.fields.iter() {
            // Mutations are executed in order, and end with the first that fails.
            if failed && field.shape.name != "__typename" {
                response.errors.push(not_executed(field));
                continue;
            }
            write_key(data.len() == 1, field, &mut data);
            let start = data.len();
            let out = (&mut data, &mut report);
            let written = guarded(|| self.write_root(field, operation.kind, instance, out));
            if let Err(error) = written {
                failed = operation.kind == OperationKind::Mutation;
                let message = format!("resolving {} failed because {error}", field.shape.name);
                response.errors.push(GraphqlError::at(field.shape.location, message));
                data.truncate(start);
                data.extend_from_slice(b"null");
            }
        }
        data.push(b'}');
        response.data = Some(data);
        response.report = (!report.is_empty()).then(|| Box::new(report));
        response
    }

    /// Says whether a request to the administration API is a query or a mutation, without carrying
    /// it out.
    ///
    /// ```
    /// use hexgraph::db::Database;
    /// use hexgraph::db::graphql::{OperationKind, Request};
    ///
    /// let db = Database::in_memory();
    /// let kind = db.graphql_admin_kind(&Request::new("{ health { status } }"));
    /// assert_eq!(kind, Ok(OperationKind::Query));
    /// ```
    ///
    /// # Errors
    ///
    /// The faults of the request.
    pub fn graphql_admin_kind(
        &self,
        request: &Request,
    ) -> Result<OperationKind, Vec<GraphqlError>> {
        resolve(request).map(|operation| operation.kind)
    }

    /// Writes the value of a root field; writes nothing if there is an error.
    fn write_root(
        &self,
        field: &Field,
        kind: OperationKind,
        instance: &Instance<'_>,
        (out, report): (&mut Vec<u8>, &mut SchemaReport),
    ) -> Result<(), Error> {
        match field.shape.name.as_str() {
            "__typename" if kind == OperationKind::Mutation => write_json_text("Mutation", out),
            "__typename" => write_json_text("Query", out),
            "__schema" | "__type" => {
                let mut text = String::new();
                introspect(api()?, field, &mut text)
                    .map_err(|fault| Error::query(fault.message))?;
                out.extend_from_slice(text.as_bytes());
            }
            _ => project(&self.administer(field, instance, report)?, field, out),
        }
        Ok(())
    }
}

fn api() -> Result<&'static Api, Error> {
    static API: OnceLock<Result<Api, Error>> = OnceLock::new();
    API.get_or_init(|| Api::of_text(SDL)).as_ref().map_err(Error::query)
}

fn resolve(request: &Request) -> Result<Operation, Vec<GraphqlError>> {
    let api = api().map_err(|error| vec![GraphqlError::new(error.to_string())])?;
    let checked = language::Request::parse(api, &request.query, &RequestLimits::default())?;
    checked.resolve(api, request.operation.as_deref(), &request.variables)
}

/// Writes the parts of a value that a selection requests.
fn project(value: &Json, field: &Field, out: &mut Vec<u8>) {
    let Some(expected) = field.selection.only() else {
        out.extend_from_slice(value.to_string().as_bytes());
        return;
    };
    match value {
        Json::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                project(item, field, out);
            }
            out.push(b']');
        }
        Json::Object(members) => {
            out.push(b'{');
            for (index, requested) in expected.iter().enumerate() {
                write_key(index == 0, requested, out);
                match requested.shape.name.as_str() {
                    "__typename" => write_json_text(field.shape.ty.inner_named_type(), out),
                    name => project(members.get(name).unwrap_or(&Json::Null), requested, out),
                }
            }
            out.push(b'}');
        }
        other => out.extend_from_slice(other.to_string().as_bytes()),
    }
}

fn write_key(is_first: bool, field: &Field, out: &mut Vec<u8>) {
    if !is_first {
        out.push(b',');
    }
    write_json_text(&field.shape.key, out);
    out.push(b':');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::graphql::admin::{Act, Folder, Tasks};
    use hexgraph_store::exec::RequestContext;
    use std::cell::RefCell;
    use std::sync::Arc;

    fn send(database: &Database, text: &str) -> String {
        send_within(database, text, None).0
    }

    /// The response, and the acts that the surface has to execute.
    fn send_within(database: &Database, text: &str, folder: Option<&Folder>) -> (String, Vec<Act>) {
        let (acts, tasks) = (RefCell::new(Vec::new()), Arc::new(Tasks::default()));
        let act = |act| acts.borrow_mut().push(act);
        let response = respond(database, text, folder, &tasks, &act);
        (String::from_utf8(response.to_json("")).unwrap(), acts.take())
    }

    fn respond(
        database: &Database,
        text: &str,
        folder: Option<&Folder>,
        tasks: &Arc<Tasks>,
        act: &dyn Fn(Act),
    ) -> Response {
        let instance = Instance {
            address: String::new(),
            uptime: 1,
            now: 2,
            refusal: None,
            client: None,
            folder,
            tasks,
            context: &RequestContext::new(),
            act,
        };
        database.graphql_admin(&Request::new(text), &instance)
    }

    #[test]
    fn the_caller_gets_the_server_acts() {
        let database = Database::in_memory();
        let text = "mutation { draining(enable: true) { response { message } } shutdown { response { code } } __typename }";
        let (reported, acts) = send_within(&database, text, None);
        let want = r#"{"data":{"draining":{"response":{"message":"draining mode has been set to true"}},"shutdown":{"response":{"code":"Success"}},"__typename":"Mutation"}}"#;
        assert_eq!(reported, want);
        assert_eq!(acts, [Act::Drain(true), Act::ShutDown]);
        let (reported, acts) =
            send_within(&database, "mutation { draining { response { code } } }", None);
        assert!(reported.contains("say whether"), "{reported}");
        assert!(acts.is_empty());
    }

    #[test]
    fn exports_and_backups() {
        let database = Database::in_memory();
        database.mutate("<1> <name> \"Ada\" .", "").unwrap();
        let outer = tempfile::tempdir().unwrap();
        let folder = Folder::new(outer.path()).unwrap();
        let send = |text: &str| send_within(&database, text, Some(&folder)).0;
        let field = "{ response { code } exportedFiles }";
        for (format, end) in [("", "rdf"), ("format: \"json\"", "jsonl")] {
            let reported = send(&format!(
                "mutation {{ export(input: {{{format} destination: \"a/b\"}}) {field} }}"
            ));
            let reported: Json = serde_json::from_str(&reported).unwrap();
            assert_eq!(reported["data"]["export"]["response"]["code"], "Success", "{reported}");
            let files = reported["data"]["export"]["exportedFiles"].as_array().unwrap();
            let files: Vec<&str> = files.iter().map(|file| file.as_str().unwrap()).collect();
            assert!(
                files[0].starts_with("a/b/hexgraph.r")
                    && files[0].ends_with(&format!("g01.{end}.gz"))
            );
            assert!(files[1].ends_with("g01.schema"));
            assert!(files.iter().all(|file| outer.path().join(file).is_file()));
        }
        for (input, why) in [
            ("destination: \"../x\"", "not in the folder"),
            ("format: \"csv\"", "invalid export format: csv"),
            ("namespace: 3", "there is no namespace 3"),
        ] {
            let reported = send(&format!("mutation {{ export(input: {{{input}}}) {field} }}"));
            assert!(
                reported.contains("resolving export failed because") && reported.contains(why),
                "{reported}"
            );
            assert!(reported.contains(r#""data":{"export":null}"#), "{reported}");
        }
        let reported =
            send("mutation { backup(input: {destination: \"c\"}) { response { code } } }");
        assert_eq!(reported, r#"{"data":{"backup":{"response":{"code":"Success"}}}}"#);
        let entries = std::fs::read_dir(outer.path().join("c")).unwrap();
        let copies: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        let copy = Database::open(&copies[0], crate::db::OpenOptions::default()).unwrap();
        assert_eq!(copy.stats().unwrap().nodes, 1);
        let reported = send_within(&database, "mutation { export(input: {}) { taskId } }", None).0;
        assert!(reported.contains("serve --export DIR"), "{reported}");
    }

    #[test]
    fn what_is_not_here_is_refused() {
        let database = Database::in_memory();
        for (field, why) in [
            ("removeNode(input: {nodeId: 1, groupId: 1}) { response { code } }", "one engine"),
            ("moveTablet(input: {tablet: \"a\", groupId: 1}) { response { code } }", "one engine"),
            ("restore(input: {location: \"/\"}) { code }", "hexgraph serve"),
            ("addUser(input: []) { user { name } }", "no users"),
            ("assign(input: {what: TIMESTAMP, num: 1}) { response { startId } }", "TIMESTAMP"),
            ("assign(input: {what: UID, num: 0}) { response { startId } }", "Nothing to be leased"),
            ("login(userId: \"a\") { response { accessJWT } }", "invalid username or password"),
        ] {
            let reported = send(&database, &format!("mutation {{ {field} }}"));
            assert!(reported.contains("resolving ") && reported.contains(why), "{reported}");
        }
        let text =
            "mutation { assign(input: {what: UID, num: 10}) { response { startId endId } } }";
        let reported: Json = serde_json::from_str(&send(&database, text)).unwrap();
        let reported = &reported["data"]["assign"]["response"];
        assert_eq!(reported["endId"].as_u64().unwrap(), reported["startId"].as_u64().unwrap() + 9);
    }

    #[test]
    fn the_schema_is_set_and_shown() {
        let database = Database::in_memory();
        let get = "{ getGQLSchema { id schema __typename } }";
        let id = database.graphql_schema_id().unwrap();
        let shown = |text| format!(r#"{{"id":"{id}","schema":"{text}","__typename":"GQLSchema"}}"#);
        assert_eq!(send(&database, get), format!(r#"{{"data":{{"getGQLSchema":{}}}}}"#, shown("")));
        let set = "mutation { updateGQLSchema(input: {set: {schema: \"type A { b: Int }\"}}) { gqlSchema { schema } } }";
        let want = r#"{"data":{"updateGQLSchema":{"gqlSchema":{"schema":"type A { b: Int }"}}}}"#;
        assert_eq!(send(&database, set), want);
        let want = format!(r#"{{"data":{{"getGQLSchema":{}}}}}"#, shown("type A { b: Int }"));
        assert_eq!(send(&database, get), want);
        let bad = set.replace("Int", "Foo");
        let reported = send(&database, &bad);
        assert!(reported.contains("resolving updateGQLSchema failed because input:"), "{reported}");
        assert!(reported.contains(r#""data":{"updateGQLSchema":null}"#), "{reported}");
        assert_eq!(send(&database, get), want);
    }

    #[test]
    fn what_a_schema_changes_is_reported() {
        let database = Database::in_memory();
        let set = |fields: &str| {
            let schema = format!("type A {{ {fields} }}");
            let input = format!("input: {{set: {{schema: {schema:?}}}}}");
            let text = format!("mutation {{ updateGQLSchema({input}) {{ gqlSchema {{ id }} }} }}");
            respond(&database, &text, None, &Arc::new(Tasks::default()), &|_| {})
                .report
                .unwrap_or_default()
        };
        let reported = |items: &[hexgraph_base::schema::SchemaItem]| {
            items.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let first = set("b: Int @search c: String @search(by: [exact])");
        assert_eq!(
            reported(&first.added),
            ["A.b: int @index(int)", "A.c: string @index(exact)", "type A: A.b, A.c"]
        );
        let next = set("b: Float c: String @search(by: [hash])");
        assert_eq!(reported(&next.changed), ["A.b: float instead of int"]);
        assert_eq!(reported(&next.dropped), ["A.b: @index(int)", "A.c: @index(exact)"]);
        assert_eq!(reported(&next.added), ["A.c: @index(hash)"]);
    }

    #[test]
    fn the_state_is_reported() {
        let reported =
            send(&Database::in_memory(), "{ h: health { status } state { groups { id } } }");
        assert_eq!(
            reported,
            r#"{"data":{"h":[{"status":"healthy"}],"state":{"groups":[{"id":1}]}}}"#
        );
    }
}
