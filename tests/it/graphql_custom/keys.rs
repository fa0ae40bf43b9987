//! Sets of keys after addresses.

use super::server::{Answer, RequestedQuery, Server};
use super::{ask_with, database};
use hexgraph::db::Database;
use hexgraph::db::graphql::Headers;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

const SCHEMA: &str = r#"
    type Secret @auth(query: { rule: "{$ROLE: {eq: \"A\"}}" }) { id: ID! name: String }
    # Dgraph.Authorization {"Header":"X-Auth","Namespace":"ns","JWKUrls":["URL/one","URL/two"],"Audience":["a"]}
"#;

/// The secret of the key of each set is `secret`.
fn keys(requested: &RequestedQuery) -> Answer {
    let name = requested.path.trim_start_matches('/');
    let key = json!({"kty": "oct", "kid": name, "k": "c2VjcmV0"});
    Answer::json(&json!({ "keys": [key] })).header("Cache-Control", "public, max-age=60")
}

fn token(name: &str) -> Headers {
    let header = Header { kid: Some(name.to_owned()), ..Header::new(Algorithm::HS256) };
    let claims = json!({"ns": {"ROLE": "A"}, "aud": "a"});
    let key = EncodingKey::from_secret(b"secret");
    [("X-Auth", crate::tokens::sign(&header, &claims, &key))].into_iter().collect()
}

fn result(db: &Database, name: &str) -> Value {
    ask_with(db, "{ querySecret { name } }", &token(name))
}

#[test]
fn keys_are_fetched_and_kept() {
    let server = Server::start(keys);
    let db = database(SCHEMA, &server.url);
    assert_eq!(server.take().len(), 2);
    for name in ["one", "two", "one"] {
        assert_eq!(result(&db, name), json!({"data": {"querySecret": []}}));
    }
    assert!(
        result(&db, "three")["errors"][0]["message"]
            .as_str()
            .unwrap()
            .contains("unable to parse jwt token")
    );
    assert_eq!(server.take().len(), 2, "once by the schema in force");
}

#[test]
fn a_server_without_keys_is_told_when_the_schema_is_set() {
    let server = Server::start(|_| Answer::text("no").status(500));
    let db = Database::in_memory();
    let error = db.set_graphql_schema(&SCHEMA.replace("URL", &server.url)).unwrap_err().to_string();
    assert!(error.contains("/one: unexpected status 500"), "{error}");
    let dead = SCHEMA.replace("URL", "http://127.0.0.1:1");
    let error = db.set_graphql_schema(&dead).unwrap_err().to_string();
    assert!(error.contains("/one: io: Connection refused"), "{error}");
}
