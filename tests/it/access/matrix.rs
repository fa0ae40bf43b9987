//! Every request by everybody: done, refused or answered with nothing, exactly as the table of
//! `docs/access.md` says.

use super::site::Site;
use crate::grpc::client::Client;
use crate::grpc::messages::{
    AllocateIDsRequest, AllocateIDsResponse, Check, CreateNamespaceRequest,
    CreateNamespaceResponse, DropNamespaceRequest, DropNamespaceResponse, ListNamespacesRequest,
    ListNamespacesResponse, LoginRequest, Mutation, Operation, Payload, Request, Response,
    RunDqlRequest, TxnContext, Version,
};
use crate::wire::site::send;
use hexgraph::db::Database;
use hexgraph::db::access::{KeyRole, NewKey};
use hexgraph_server::http::{ROUTES, Server};
use prost::Message;
use serde_json::json;
use std::time::Duration;
use std::{fs, thread};
use tonic::Status;

/// The rows of a table of the page: a request, and what happens to it for each caller.
fn table(first: &str) -> Vec<(String, [char; 6])> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/access.md");
    let text = fs::read_to_string(page).unwrap();
    let head = format!("| request | {first} |");
    let rows = text.lines().skip_while(|line| !line.starts_with(&head)).skip(2);
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let marks: Vec<char> = cells[1..].iter().map(|cell| cell.chars().next().unwrap()).collect();
        (cells[0].replace('`', ""), marks.try_into().unwrap())
    };
    rows.take_while(|line| line.starts_with('|')).map(row).collect()
}

/// What stands in the table for a query of the predicate that the text is in.
const TEXT: &str = "of the text of the GraphQL schema";

/// Somebody the caller, with a token or a key.
struct Caller<'a> {
    server: &'a Server,
    /// The namespace of the caller.
    database: Database,
    /// The header that names the secret; its name is that of the metadata over gRPC, too.
    secret: Option<(&'static str, String)>,
    client: Client,
}

impl<'a> Caller<'a> {
    fn with_token(site: &'a Site, database: &Database, token: String) -> Caller<'a> {
        Caller::new(site, database, (!token.is_empty()).then_some(("accessjwt", token)))
    }

    fn new(
        site: &'a Site,
        database: &Database,
        secret: Option<(&'static str, String)>,
    ) -> Caller<'a> {
        let client = Client::new(site.server.grpc_address().unwrap());
        Caller { server: &site.server, database: database.clone(), secret, client }
    }

    /// What happens to a request: `-` refused, `0` nothing there, `+` done.
    fn outcome(&self, request: &str) -> char {
        let reported = match request.starts_with("/api.") || request.starts_with("/grpc.") {
            true => self.call(request),
            false => self.ask(request),
        };
        // A refusal is short; the scripts of the console have such words in them.
        match reported {
            reported
                if reported.len() < 10_000
                    && ["Unauthenticated", "PermissionDenied", "ErrorUnauthorized"]
                        .iter()
                        .any(|word| reported.contains(word)) =>
            {
                '-'
            }
            reported if reported.contains("nothing: ") => '0',
            _ => '+',
        }
    }

    fn send(&self, method: &str, path: &str, body: &str) -> String {
        self.send_as("application/json", (method, path), body)
    }

    fn send_as(&self, content_type: &str, (method, path): (&str, &str), body: &str) -> String {
        let content_type = format!("Content-Type: {content_type}");
        let secret = self.secret.as_ref().map(|(name, secret)| format!("{name}: {secret}"));
        let headers: Vec<&str> =
            [content_type.as_str()].into_iter().chain(secret.as_deref()).collect();
        send(self.server.address().unwrap(), (method, path), &headers, body.as_bytes())
            .text()
            .to_owned()
    }

    fn ask(&self, request: &str) -> String {
        let (route, what) = match request.match_indices(' ').nth(1) {
            Some((position, _)) => (&request[..position], &request[position + 1..]),
            None => (request, ""),
        };
        let (method, path) = route.split_once(' ').unwrap();
        let reported = match (path, what) {
            ("/query", TEXT) => {
                let text = "{ q(func: has(dgraph.graphql.schema)) { dgraph.graphql.schema } }";
                self.send(method, path, &json!({ "query": text }).to_string())
            }
            ("/query", _) => self.send(
                method,
                path,
                &json!({ "query": "{ q(func: has(name)) { name } }" }).to_string(),
            ),
            ("/cypher", TEXT) => {
                let text = "MATCH (n) RETURN n.`dgraph.graphql.schema`, n";
                self.send_as("application/cypher", (method, path), text)
            }
            ("/cypher", _) => {
                let text = "MATCH (n) WHERE n.name IS NOT NULL RETURN n.name";
                self.send_as("application/cypher", (method, path), text)
            }
            ("/query_many", _) => {
                let rows = "{\"query\": \"{ q(func: has(name)) { name } }\"}\n{}";
                self.send_as("application/x-ndjson", (method, path), rows)
            }
            ("/mutate", _) => self.send(
                method,
                "/mutate?commitNow=true",
                &json!({ "set": { "name": "Eve" } }).to_string(),
            ),
            ("/commit", _) => {
                let mark = self.database.transaction_mark(1).unwrap_or_default();
                self.send(method, &format!("/commit?startTs=1&abort=true&hash={mark}"), "")
            }
            ("/alter", "") => self.send(method, path, "new: int ."),
            // It comes last, since nothing is there then.
            ("/alter", _) => self.send(method, path, "{\"drop_all\": true}"),
            ("/assign", _) => self.send(method, "/assign?what=uids&num=1", ""),
            ("/login", _) => self.send(
                method,
                path,
                &json!({ "userid": "groot", "password": "password" }).to_string(),
            ),
            ("/graphql", "introspection") => self.text(path, "{ __schema { queryType { name } } }"),
            ("/graphql", "query") => self.text(path, "{ queryNote { text } }"),
            ("/graphql", "mutation") => {
                self.text(path, "mutation { addNote(input: [{ text: \"Eve\" }]) { numUids } }")
            }
            ("/admin", what) => self.text(path, &admin(what)),
            ("/admin/schema" | "/admin/schema/validate", _) => self.send(
                method,
                path,
                "type Note { id: ID! text: String! @search(by: [exact]) hidden: String }",
            ),
            ("/admin/draining", _) => self.send("POST", "/admin/draining?enable=false", ""),
            _ => self.send(method, path, ""),
        };
        let expected = if what == TEXT { "type Note" } else { "Ada" };
        match what == "query" || path.starts_with("/query") || path == "/cypher" {
            true if !reported.contains(expected) && !reported.contains("desc = ") => {
                format!("nothing: {reported}")
            }
            _ => reported,
        }
    }

    fn text(&self, path: &str, text: &str) -> String {
        self.send("POST", path, &json!({ "query": text }).to_string())
    }

    fn call(&self, request: &str) -> String {
        let query = || "{ q(func: has(name)) { name } }".to_owned();
        let shown = |response: Response| {
            let text = String::from_utf8_lossy(&response.json).into_owned();
            if text.contains("Ada") { text } else { format!("nothing: {text}") }
        };
        let reported: Result<String, Status> = match request {
            "/api.Dgraph/Query" => {
                self.method("Query", Request { query: query(), ..Request::default() }).map(shown)
            }
            "/api.Dgraph/Query with a mutation" => {
                let mutation = Mutation {
                    set_nquads: b"_:a <name> \"Eve\" .".to_vec().into(),
                    ..Mutation::default()
                };
                let request =
                    Request { mutations: vec![mutation], commit_now: true, ..Request::default() };
                self.method::<_, Response>("Query", request).map(|_| String::new())
            }
            "/api.Dgraph/RunDQL" => self
                .method("RunDQL", RunDqlRequest { dql_query: query(), ..RunDqlRequest::default() })
                .map(shown),
            "/api.Dgraph/CommitOrAbort" => {
                let hash = self.database.transaction_mark(1).unwrap_or_default();
                let context =
                    TxnContext { start_ts: 1, aborted: true, hash, ..TxnContext::default() };
                self.method::<_, TxnContext>("CommitOrAbort", context).map(|_| String::new())
            }
            "/api.Dgraph/Alter" => {
                let operation =
                    Operation { schema: "new: int .".to_owned(), ..Operation::default() };
                self.method::<_, Payload>("Alter", operation).map(|_| String::new())
            }
            "/api.Dgraph/CreateNamespace" => self
                .method::<_, CreateNamespaceResponse>("CreateNamespace", CreateNamespaceRequest {})
                .map(|_| String::new()),
            "/api.Dgraph/DropNamespace" => {
                let request = DropNamespaceRequest { namespace: 77 };
                self.method::<_, DropNamespaceResponse>("DropNamespace", request)
                    .map(|_| String::new())
            }
            "/api.Dgraph/ListNamespaces" => self
                .method::<_, ListNamespacesResponse>("ListNamespaces", ListNamespacesRequest {})
                .map(|_| String::new()),
            "/api.Dgraph/AllocateIDs" => {
                let request = AllocateIDsRequest { how_many: 1, ..AllocateIDsRequest::default() };
                self.method::<_, AllocateIDsResponse>("AllocateIDs", request).map(|_| String::new())
            }
            "/api.Dgraph/Login" => {
                let request = LoginRequest {
                    userid: "groot".to_owned(),
                    password: "password".to_owned(),
                    ..LoginRequest::default()
                };
                self.method::<_, Response>("Login", request).map(|_| String::new())
            }
            "/api.Dgraph/CheckVersion" => {
                self.method::<_, Version>("CheckVersion", Check {}).map(|_| String::new())
            }
            "/grpc.health.v1.Health/Check" => {
                self.method::<_, Payload>(request, Check {}).map(|_| String::new())
            }
            other => panic!("{other}"),
        };
        reported.unwrap_or_else(|status| format!("{:?}: {}", status.code(), status.message()))
    }

    fn method<Q, A>(&self, method: &str, message: Q) -> Result<A, Status>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let metadata: Vec<(&str, &str)> =
            self.secret.iter().map(|(name, secret)| (*name, secret.as_str())).collect();
        self.client.call_with(method, message, &metadata).map(|reported| reported.message)
    }
}

/// A request to the administration API, of a field that does no harm to those that come after it.
fn admin(field: &str) -> String {
    match field {
        "introspection" => "{ __schema { queryType { name } } }".to_owned(),
        "login" => "mutation { login(userId: \"groot\", password: \"password\") { response { accessJWT } } }".to_owned(),
        "getCurrentUser" => "{ getCurrentUser { name groups { name rules { predicate } } } }".to_owned(),
        "getGQLSchema" => "{ getGQLSchema { schema } }".to_owned(),
        "health" => "{ health { status } }".to_owned(),
        "state" => "{ state { counter } }".to_owned(),
        "config" => "{ config { cacheMb } }".to_owned(),
        "task" => "{ task(input: { id: \"0x1\" }) { status } }".to_owned(),
        "getUser" => "{ getUser(name: \"ada\") { name } }".to_owned(),
        "getGroup" => "{ getGroup(name: \"dev\") { users { name } } }".to_owned(),
        "queryUser" => "{ queryUser { name groups { name } } }".to_owned(),
        "queryGroup" => "{ queryGroup { name rules { permission } } }".to_owned(),
        "updateGQLSchema" => "mutation { updateGQLSchema(input: { set: { schema: \"type Note { id: ID! text: String! @search(by: [exact]) hidden: String }\" } }) { gqlSchema { id } } }".to_owned(),
        "addUser" => "mutation { addUser(input: [{ name: \"new\", password: \"longenough\" }]) { user { name } } }".to_owned(),
        "addGroup" => "mutation { addGroup(input: [{ name: \"empty\" }]) { group { name } } }".to_owned(),
        "updateUser" => "mutation { updateUser(input: { filter: { name: { eq: \"new\" } }, set: { password: \"another one\" } }) { user { name } } }".to_owned(),
        "updateGroup" => "mutation { updateGroup(input: { filter: { name: { eq: \"empty\" } }, set: { rules: [{ predicate: \"x\", permission: 1 }] } }) { group { name } } }".to_owned(),
        "deleteUser" => "mutation { deleteUser(filter: { name: { eq: \"new\" } }) { numUids } }".to_owned(),
        "deleteGroup" => "mutation { deleteGroup(filter: { name: { eq: \"empty\" } }) { numUids } }".to_owned(),
        "resetPassword" => "mutation { resetPassword(input: { userId: \"groot\", password: \"password\", namespace: 0 }) { message } }".to_owned(),
        "export" => "mutation { export(input: {}) { response { code } } }".to_owned(),
        "backup" => "mutation { backup(input: { destination: \"b\" }) { response { code } } }".to_owned(),
        "assign" => "mutation { assign(input: { what: UID, num: 1 }) { response { startId } } }".to_owned(),
        "addNamespace" => "mutation { addNamespace { namespaceId } }".to_owned(),
        "deleteNamespace" => "mutation { deleteNamespace(input: { namespaceId: 77 }) { namespaceId } }".to_owned(),
        "queryKeys" => "{ queryKeys { id } }".to_owned(),
        "createKey" => "mutation { createKey(input: { role: \"none of them\" }) { secret } }".to_owned(),
        "revokeKey" => "mutation { revokeKey(id: \"none\") { id } }".to_owned(),
        "draining" => "mutation { draining(enable: false) { response { code } } }".to_owned(),
        other => panic!("{other}"),
    }
}

/// Asks all that a table has; what leaves nothing behind comes last.
fn check(first: &str, callers: &[Caller<'_>; 6]) -> Vec<String> {
    let mut rows = table(first);
    assert!(!rows.is_empty());
    let is_last = |name: &str| name.contains("drops all") || name.contains("shutdown");
    rows.sort_by_key(|(name, _)| (is_last(name), name.contains("shutdown")));
    let mut wrong = Vec::new();
    for (request, expected) in &rows {
        let result = callers.each_ref().map(|caller| caller.outcome(request));
        if result != *expected {
            let (result, expected) = (String::from_iter(result), String::from_iter(expected));
            wrong.push(format!("{request}: {result} instead of {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    rows.into_iter().map(|(name, _)| name).collect()
}

#[test]
fn everybody_may_do_what_the_table_says() {
    let folder = tempfile::tempdir().unwrap();
    let hour = Duration::from_secs(3600);
    let site = Site::new(hour, Some(folder.path()));
    let short = Site::new(Duration::ZERO, None);
    let ended = short.token("groot");
    thread::sleep(Duration::from_millis(1100));
    let other = site.database.create_namespace(None).unwrap();
    let other = site.database.namespace(other).unwrap();
    other.set_graphql_schema("type Note { id: ID! text: String! @search(by: [exact]) }").unwrap();
    let callers = [
        Caller::with_token(&site, &site.database, String::new()),
        Caller::with_token(&short, &short.database, ended),
        Caller::with_token(&site, &site.database, site.token("eve")),
        Caller::with_token(&site, &site.database, site.token("ada")),
        Caller::with_token(&site, &other, site.token_in("groot", other.namespace_id())),
        Caller::with_token(&site, &site.database, site.token("groot")),
    ];
    let rows = check("no token", &callers);
    let is_reported =
        |path: &str| rows.iter().any(|name| name.split([' ', '?']).any(|word| word == path));
    let untold: Vec<&str> =
        ROUTES.iter().map(|route| route.path).filter(|path| !is_reported(path)).collect();
    let others = ["Watch", "UpdateExtSnapshotStreamingState", "StreamExtSnapshot"];
    let untold: Vec<&&str> =
        untold.iter().filter(|path| !others.iter().any(|other| path.ends_with(other))).collect();
    assert!(untold.is_empty(), "the table has not {untold:?}");
}

#[test]
fn holders_of_keys_may_do_what_the_table_says() {
    let folder = tempfile::tempdir().unwrap();
    let site = Site::without_users(Some(folder.path()));
    let database = &site.database;
    let other = database.namespace(database.create_namespace(None).unwrap()).unwrap();
    other.set_graphql_schema("type Note { id: ID! text: String! @search(by: [exact]) }").unwrap();
    let key = |database: &Database, role| {
        let key = NewKey { name: "", role, lifetime: None };
        let (key, secret) = database.create_key(&key).unwrap();
        (key.id, secret.reveal().to_owned())
    };
    let (revoked, revoked_secret) = key(database, KeyRole::Admin);
    database.revoke_key(&revoked).unwrap();
    let callers = [
        (database, None),
        (database, Some(revoked_secret)),
        (database, Some(key(database, KeyRole::ReadOnly).1)),
        (database, Some(key(database, KeyRole::Client).1)),
        (&other, Some(key(&other, KeyRole::Admin).1)),
        (database, Some(key(database, KeyRole::Admin).1)),
    ];
    let callers = callers.map(|(database, secret)| {
        Caller::new(&site, database, secret.map(|secret| ("x-auth-token", secret)))
    });
    check("no key", &callers);
}
