//! Every request by everybody: done, refused or answered with nothing, exactly as the table of `docs/access.md` says.

use super::site::Site;
use crate::grpc::client::Client;
use crate::grpc::messages::{
    AllocateIDsRequest, AllocateIDsResponse, Check, LoginRequest, Mutation, Operation, Payload,
    Request, Response, RunDqlRequest, TxnContext, Version,
};
use hexgraph_server::http::ROUTES;
use prost::Message;
use serde_json::json;
use std::time::Duration;
use std::{fs, thread};
use tonic::Status;

/// The rows of the table: a request, and what becomes of it for each caller.
fn table() -> Vec<(String, [char; 5])> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/access.md");
    let text = fs::read_to_string(page).unwrap();
    let rows = text.lines().skip_while(|line| !line.starts_with("| request |")).skip(2);
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let marks: Vec<char> = cells[1..].iter().map(|cell| cell.chars().next().unwrap()).collect();
        (cells[0].replace('`', ""), marks.try_into().unwrap())
    };
    rows.take_while(|line| line.starts_with('|')).map(row).collect()
}

/// Somebody who asks: how long tokens hold at the site, and whose it is.
struct Caller<'a> {
    site: &'a Site,
    token: String,
    client: Client,
}

impl Caller<'_> {
    /// What becomes of a request: `-` refused, `0` nothing there, `+` done.
    fn outcome(&self, request: &str) -> char {
        let told = match request.starts_with("/api.") || request.starts_with("/grpc.") {
            true => self.call(request),
            false => self.ask(request),
        };
        match told {
            told if told.contains("Unauthenticated") || told.contains("PermissionDenied") => '-',
            told if told.contains("nothing: ") => '0',
            _ => '+',
        }
    }

    fn send(&self, method: &str, path: &str, body: &str) -> String {
        self.site.send(method, path, &self.token, body).text().to_owned()
    }

    fn ask(&self, request: &str) -> String {
        let (route, what) = match request.match_indices(' ').nth(1) {
            Some((place, _)) => (&request[..place], &request[place + 1..]),
            None => (request, ""),
        };
        let (method, path) = route.split_once(' ').unwrap();
        let told = match (path, what) {
            ("/query", _) => self.send(
                method,
                path,
                &json!({ "query": "{ q(func: has(name)) { name } }" }).to_string(),
            ),
            ("/mutate", _) => self.send(
                method,
                "/mutate?commitNow=true",
                &json!({ "set": { "name": "Ada" } }).to_string(),
            ),
            ("/commit", _) => {
                let mark = self.site.database.transaction_mark(1).unwrap();
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
                self.text(path, "mutation { addNote(input: [{ text: \"Ada\" }]) { numUids } }")
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
        match what == "query" || path == "/query" {
            true if !told.contains("Ada") && !told.contains("desc = ") => {
                format!("nothing: {told}")
            }
            _ => told,
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
        let told: Result<String, Status> = match request {
            "/api.Dgraph/Query" => {
                self.method("Query", Request { query: query(), ..Request::default() }).map(shown)
            }
            "/api.Dgraph/Query with a mutation" => {
                let mutation = Mutation {
                    set_nquads: b"_:a <name> \"Ada\" .".to_vec().into(),
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
                let hash = self.site.database.transaction_mark(1).unwrap();
                let context =
                    TxnContext { start_ts: 1, aborted: true, hash, ..TxnContext::default() };
                self.method::<_, TxnContext>("CommitOrAbort", context).map(|_| String::new())
            }
            "/api.Dgraph/Alter" => {
                let operation =
                    Operation { schema: "new: int .".to_owned(), ..Operation::default() };
                self.method::<_, Payload>("Alter", operation).map(|_| String::new())
            }
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
        told.unwrap_or_else(|status| format!("{:?}: {}", status.code(), status.message()))
    }

    fn method<Q, A>(&self, method: &str, message: Q) -> Result<A, Status>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let metadata = [("accessjwt", self.token.as_str())];
        let metadata = if self.token.is_empty() { &[][..] } else { &metadata[..] };
        self.client.call_with(method, message, metadata).map(|told| told.message)
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
        "draining" => "mutation { draining(enable: false) { response { code } } }".to_owned(),
        other => panic!("{other}"),
    }
}

#[test]
fn everybody_may_do_what_the_table_says() {
    let folder = tempfile::tempdir().unwrap();
    let hour = Duration::from_secs(3600);
    let site = Site::new(hour, Some(folder.path()));
    let short = Site::new(Duration::ZERO, None);
    let ended = short.token("groot");
    thread::sleep(Duration::from_millis(1100));
    let caller = |site: &'_ Site, token: String| {
        let client = Client::new(site.server.grpc_address().unwrap());
        (token, client)
    };
    let callers = [
        (&site, caller(&site, String::new())),
        (&short, caller(&short, ended)),
        (&site, caller(&site, site.token("eve"))),
        (&site, caller(&site, site.token("ada"))),
        (&site, caller(&site, site.token("groot"))),
    ];
    let callers = callers.map(|(site, (token, client))| Caller { site, token, client });
    let mut rows = table();
    // What leaves nothing behind comes last.
    let is_last = |name: &str| name.contains("drops all") || name.contains("shutdown");
    rows.sort_by_key(|(name, _)| (is_last(name), name.contains("shutdown")));
    let mut wrong = Vec::new();
    for (request, wanted) in &rows {
        let found = callers.each_ref().map(|caller| caller.outcome(request));
        if found != *wanted {
            wrong.push(format!(
                "{request}: {} instead of {}",
                String::from_iter(found),
                String::from_iter(wanted)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let is_told =
        |path: &str| rows.iter().any(|(name, _)| name.split([' ', '?']).any(|word| word == path));
    let untold: Vec<&str> =
        ROUTES.iter().map(|route| route.path).filter(|path| !is_told(path)).collect();
    let others = [
        "Watch",
        "CreateNamespace",
        "DropNamespace",
        "ListNamespaces",
        "UpdateExtSnapshotStreamingState",
        "StreamExtSnapshot",
    ];
    let untold: Vec<&&str> =
        untold.iter().filter(|path| !others.iter().any(|other| path.ends_with(other))).collect();
    assert!(untold.is_empty(), "the table has not {untold:?}");
}
