//! A server with users, and requests with their tokens.

use crate::wire::site::{Answer, send};
use hexgraph::db::access::{AccessOptions, LoginRequest};
use hexgraph::db::{Database, RequestContext};
use hexgraph_server::http::{GrpcPort, ServeOptions, Server};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// A secret of 32 bytes.
pub const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";

/// The password of each user but the first.
pub const PASSWORD: &str = "longenough";

const GRAPHQL: &str =
    "type Note @withSubscription { id: ID! text: String! @search(by: [exact]) hidden: String }";

/// What ada may do; eve is in a group without rules.
const RULES: [(&str, u8); 6] =
    [("name", 7), ("Note.text", 6), ("dgraph.type", 6), ("friend", 7), ("new", 7), ("age", 4)];

/// A server with the users groot, ada and eve.
pub struct Site {
    pub server: Server,
    pub database: Database,
}

impl Site {
    /// One whose tokens for requests hold for so long.
    pub fn new(access_ttl: Duration, exports: Option<&Path>) -> Site {
        let site = Site::without_users(exports);
        let options = AccessOptions { access_ttl, ..AccessOptions::new(SECRET.to_vec()) };
        site.database.enable_access(options).unwrap();
        // Those who have no time to administer are made by the database itself.
        site.make_people();
        site
    }

    /// One where everybody may do everything.
    pub fn without_users(exports: Option<&Path>) -> Site {
        let database = Database::in_memory();
        database.alter("name: string @index(exact) .\nage: int @index(int) .\nsecret: string @index(exact) .\nfriend: [uid] @reverse .\ntype Person {\nname\nage\nsecret\nfriend\n}").unwrap();
        database.set_graphql_schema(GRAPHQL).unwrap();
        let people = "<1> <name> \"Ada\" .\n<1> <age> \"36\" .\n<1> <secret> \"x\" .\n<1> <dgraph.type> \"Person\" .\n<1> <friend> <2> .\n<2> <name> \"Bob\" .\n<2> <secret> \"y\" .\n<2> <dgraph.type> \"Person\" .\n<3> <dgraph.type> \"Note\" .\n<3> <Note.text> \"Ada\" .\n<3> <Note.hidden> \"h\" .";
        database.mutate(people, "").unwrap();
        let exports = exports.map(Path::to_owned);
        let options = ServeOptions {
            port: Some(0),
            grpc: GrpcPort::Beside,
            exports,
            ..ServeOptions::default()
        };
        let server = Server::start(database.clone(), options).unwrap();
        Site { server, database }
    }

    fn make_people(&self) {
        let rules: Vec<Value> = RULES
            .iter()
            .map(|(name, permission)| json!({ "dgraph.rule.predicate": name, "dgraph.rule.permission": permission, "dgraph.type": "dgraph.type.Rule" }))
            .collect();
        let user = |name: &str, group: &str| json!({ "dgraph.xid": name, "dgraph.type": "dgraph.type.User", "dgraph.password": PASSWORD, "dgraph.user.group": [{ "uid": group }] });
        let group = |label: &str, name: &str, rules: &[Value]| json!({ "uid": label, "dgraph.xid": name, "dgraph.type": "dgraph.type.Group", "dgraph.acl.rule": rules });
        let set = json!([
            group("_:dev", "dev", &rules),
            group("_:none", "none", &[]),
            user("ada", "_:dev"),
            user("eve", "_:none"),
        ]);
        let set = set.to_string();
        let mutation = hexgraph::db::Mutation {
            set: vec![hexgraph::db::Statements::Json(&set)],
            ..hexgraph::db::Mutation::default()
        };
        let request = hexgraph::db::MutationRequest {
            mutations: vec![mutation],
            ..hexgraph::db::MutationRequest::default()
        };
        self.database.mutate_with(&request, &RequestContext::new()).unwrap();
    }

    /// The token for requests of a user.
    pub fn token(&self, user: &str) -> String {
        self.token_in(user, 0)
    }

    /// The token for requests of a user of a namespace.
    pub fn token_in(&self, user: &str, namespace: u64) -> String {
        let password = if user == "groot" { "password" } else { PASSWORD };
        let login = LoginRequest {
            user: user.to_owned(),
            password: password.to_owned(),
            namespace,
            ..LoginRequest::default()
        };
        self.database.login_with(&login, &RequestContext::new()).unwrap().access
    }

    /// Sends a request with a token; an empty one is none.
    pub fn send(&self, method: &str, path: &str, token: &str, body: &str) -> Answer {
        let token = format!("X-Service-AccessToken: {token}");
        let mut headers = vec!["Content-Type: application/json"];
        if !token.ends_with(": ") {
            headers.push(&token);
        }
        send(self.server.address().unwrap(), (method, path), &headers, body.as_bytes())
    }

    /// Asks in DQL.
    pub fn query(&self, token: &str, text: &str) -> Value {
        self.send("POST", "/query", token, &json!({ "query": text }).to_string()).json()
    }

    /// Changes something, at once.
    pub fn mutate(&self, token: &str, body: &Value) -> Value {
        self.send("POST", "/mutate?commitNow=true", token, &body.to_string()).json()
    }

    /// Asks `/graphql` or `/admin`.
    pub fn graphql(&self, path: &str, token: &str, text: &str) -> Value {
        self.send("POST", path, token, &json!({ "query": text }).to_string()).json()
    }
}
