//! What is for administrators alone is not there for others, whether they come with a key or
//! without: the text of the GraphQL schema, in which secrets stand, in whichever way it is asked
//! for.

use crate::grpc::client::{Client, Report};
use crate::grpc::messages::{Request, Response, RunDqlRequest};
use crate::wire::site::send;
use hexgraph::db::Database;
use hexgraph::db::access::{KeyRole, NewKey};
use hexgraph::db::graphql::{Headers, Request as GraphqlRequest};
use hexgraph_server::http::{GrpcPort, Security, ServeOptions, Server};
use serde_json::{Value, json};
use tonic::Status;

const SDL: &str = r#"
type Note @withSubscription { id: ID! text: String @search(by: [exact]) }
# Dgraph.Secret lent "of-a-header"
# Dgraph.Authorization {"VerificationKey":"s3cret-of-rules","Header":"X-Auth","Namespace":"https://x/claims","Algo":"HS256"}
"#;

/// What no answer to others may have in it.
const SECRETS: [&str; 2] = ["s3cret-of-rules", "of-a-header"];

const NAME: &str = "dgraph.graphql.schema";

/// Questions that lead to the text, with `ID` for the node that has it.
const QUESTIONS: [&str; 9] = [
    "{ q(func: has(dgraph.graphql.schema)) { found: uid dgraph.graphql.schema } }",
    "{ q(func: uid(ID)) { dgraph.graphql.schema } }",
    "{ q(func: type(dgraph.graphql)) { expand(_all_) } }",
    "{ q(func: type(dgraph.graphql)) { expand(dgraph.graphql) } }",
    "{ q(func: uid(ID)) { other: dgraph.graphql.schema } }",
    "{ v as var(func: uid(ID)) { t as dgraph.graphql.schema } q(func: uid(v)) { val(t) } }",
    "{ var(func: uid(ID)) { t as dgraph.graphql.schema } q() { max(val(t)) } }",
    "{ q(func: uid(ID)) @groupby(dgraph.graphql.schema) { count(uid) } }",
    "{ q(func: type(dgraph.graphql)) @normalize @cascade { a: dgraph.graphql.schema } }",
];

/// Questions whose answers would tell that it is there, with what stands in them then.
const TRACES: [(&str, &str); 7] = [
    ("schema {}", NAME),
    ("schema(pred: [dgraph.graphql.schema]) {}", NAME),
    ("schema(type: dgraph.graphql) {}", NAME),
    ("{ q(func: uid(ID)) @filter(has(dgraph.graphql.schema)) { found: uid } }", "\"found\":\"0x"),
    (
        "{ q(func: uid(ID)) @filter(not has(dgraph.graphql.schem)) { uid } }",
        "`dgraph.graphql.schema`",
    ),
    ("{ q(func: uid(ID)) { c: count(dgraph.graphql.schema) } }", "\"c\":1"),
    ("{ q(func: has(dgraph.graphql.schema)) { found: count(uid) } }", "\"found\":1"),
];

/// Somebody the caller, with headers.
struct Caller<'a> {
    name: &'static str,
    server: &'a Server,
    secret: Option<(&'static str, String)>,
}

impl Caller<'_> {
    fn send(&self, (method, path): (&str, &str), content_type: &str, body: &str) -> String {
        let content_type = format!("Content-Type: {content_type}");
        let secret = self.secret.as_ref().map(|(name, secret)| format!("{name}: {secret}"));
        let headers: Vec<&str> =
            [content_type.as_str()].into_iter().chain(secret.as_deref()).collect();
        let reported =
            send(self.server.address().unwrap(), (method, path), &headers, body.as_bytes());
        reported.text().to_owned()
    }

    fn query(&self, text: &str, parameters: &str) -> String {
        self.send(("POST", &format!("/query?{parameters}")), "application/dql", text)
    }

    fn call(&self, text: &str) -> [String; 2] {
        let client = Client::new(self.server.grpc_address().unwrap());
        let metadata: Vec<(&str, &str)> =
            self.secret.iter().map(|(name, secret)| (*name, secret.as_str())).collect();
        let request = Request { query: text.to_owned(), ..Request::default() };
        let run = RunDqlRequest { dql_query: text.to_owned(), ..RunDqlRequest::default() };
        let shown = |reported: Report<Response>| {
            String::from_utf8_lossy(&reported.message.json).into_owned()
        };
        let refused = |status: Status| status.message().to_owned();
        [
            client.call_with("Query", request, &metadata).map_or_else(refused, shown),
            client.call_with("RunDQL", run, &metadata).map_or_else(refused, shown),
        ]
    }

    /// All that is told in answer to a question, by each way.
    fn reported(&self, text: &str) -> Vec<String> {
        let lines = json!({ "query": text }).to_string() + "\n{}";
        let mut reported = vec![
            self.query(text, ""),
            self.query(text, "explain=analyze&warnings=true&debug=true"),
            self.query(text, "explain=true"),
            self.query(text, "strict=true"),
            self.query(text, "respFormat=rdf"),
            self.send(("POST", "/query_many"), "application/x-ndjson", &lines),
        ];
        reported.extend(self.call(text));
        reported
    }
}

fn database() -> (Database, String) {
    let database = Database::in_memory();
    let id = database.set_graphql_schema(SDL).unwrap().id.to_string();
    database.alter("copy: string .").unwrap();
    (database, id)
}

fn serve(database: &Database, security: &str) -> Server {
    let mut rules = Security::default();
    rules.set(security).unwrap();
    let (port, grpc) = (Some(0), GrpcPort::Beside);
    let options = ServeOptions { port, grpc, security: rules, ..ServeOptions::default() };
    Server::start(database.clone(), options).unwrap()
}

/// Asks everything, and checks who is told the secrets.
fn check(caller: &Caller<'_>, id: &str, is_administrator: bool) {
    let name = caller.name;
    let has_secret = |reported: &str| SECRETS.iter().any(|secret| reported.contains(secret));
    for text in QUESTIONS {
        let text = text.replace("ID", id);
        let reported = caller.reported(&text);
        assert_eq!(has_secret(&reported[0]), is_administrator, "{name} {text}: {}", reported[0]);
        for reported in reported {
            assert!(is_administrator || !has_secret(&reported), "{name} {text}: {reported}");
        }
    }
    for (text, trace) in TRACES {
        let text = text.replace("ID", id);
        let reported = caller.reported(&text);
        let is_reported = reported[..2].iter().any(|reported| reported.contains(trace));
        assert_eq!(is_reported, is_administrator, "{name} {text}: {reported:?}");
    }
    let state = caller.send(("GET", "/state"), "application/json", "");
    assert!(state.contains("0-dgraph.type"), "{name} {state}");
    assert_eq!(state.contains(NAME), is_administrator, "{name} {state}");
}

/// Copies the text where anybody may read it, if it can be read. Returns whether it was.
fn copies(caller: &Caller<'_>, database: &Database, id: &str) -> bool {
    let text = format!(
        "upsert {{ query {{ v as var(func: uid({id})) {{ t as dgraph.graphql.schema }} }} mutation {{ set {{ uid(v) <copy> val(t) . }} }} }}"
    );
    let path = ("POST", "/mutate?commitNow=true");
    let reported = caller.send(path, "application/rdf", &text);
    assert!(reported.contains("Success") || reported.contains("error"), "{reported}");
    let copied = database.query_text("{ q(func: has(copy)) { copy } }");
    database.mutate("", &format!("<{id}> <copy> * .")).unwrap();
    copied.contains(SECRETS[0])
}

trait Ask {
    fn query_text(&self, text: &str) -> String;
}

impl Ask for Database {
    fn query_text(&self, text: &str) -> String {
        let request = hexgraph::db::QueryRequest {
            text: text.to_owned(),
            ..hexgraph::db::QueryRequest::default()
        };
        self.query_with(&request, &hexgraph::db::RequestContext::new())
            .unwrap()
            .to_json()
            .unwrap()
            .0
    }
}

#[test]
fn the_schema_of_graphql_is_for_the_keys_of_administrators() {
    let (database, id) = database();
    let server = serve(&database, "client-key=app; admin-key=root");
    let key = |role| {
        let key = NewKey { name: "", role, lifetime: None };
        database.create_key(&key).unwrap().1.reveal().to_owned()
    };
    for (name, key, is_administrator, writes) in [
        ("a client's key of the server", "app".to_owned(), false, true),
        ("a key that only reads", key(KeyRole::ReadOnly), false, false),
        ("a client's key of the database", key(KeyRole::Client), false, true),
        ("an administrator's key of the database", key(KeyRole::Admin), true, true),
        ("an administrator's key of the server", "root".to_owned(), true, true),
    ] {
        let caller = Caller { name, server: &server, secret: Some(("x-auth-token", key)) };
        check(&caller, &id, is_administrator);
        assert_eq!(copies(&caller, &database, &id), is_administrator && writes, "{name}");
    }
}

/// Where no key is asked for, an administrator is who may administer.
#[test]
fn the_schema_of_graphql_is_for_those_who_may_administer() {
    let (database, id) = database();
    let server = serve(&database, "token=shared");
    let anybody = Caller { name: "anybody", server: &server, secret: None };
    let secret = Some(("x-dgraph-authtoken", "shared".to_owned()));
    let administrator = Caller { name: "with the token", server: &server, secret };
    for (caller, is_administrator) in [(anybody, false), (administrator, true)] {
        check(&caller, &id, is_administrator);
        assert_eq!(copies(&caller, &database, &id), is_administrator, "{}", caller.name);
        // What is plain data is there for all, and so is the API that is made of the schema.
        let reported = caller
            .query("{ q(func: type(dgraph.graphql)) { dgraph.type dgraph.graphql.xid } }", "");
        let reported: Value = serde_json::from_str(&reported).unwrap();
        let node = json!([{ "dgraph.type": ["dgraph.graphql"], "dgraph.graphql.xid": NAME }]);
        assert_eq!(reported["data"]["q"], node);
        let note = json!({ "query": "mutation { addNote(input: [{ text: \"x\" }]) { numUids } }" });
        let reported = caller.send(("POST", "/graphql"), "application/json", &note.to_string());
        assert!(reported.contains("\"numUids\":1"), "{reported}");
    }
}

/// One feed is for those alone who see the same.
#[test]
fn subscribers_with_other_roles_share_no_feed() {
    let (database, _) = database();
    let request = GraphqlRequest::new("subscription { queryNote { text } }");
    let identity = |database: Database| {
        database.graphql_subscribable(&request, &Headers::new()).unwrap().identity().clone()
    };
    let role = |role| identity(database.clone().with_role(role));
    assert!(role(KeyRole::Client) == role(KeyRole::Client));
    assert!(role(KeyRole::Admin) == identity(database.clone()));
    assert!(role(KeyRole::Client) != role(KeyRole::Admin));
}
