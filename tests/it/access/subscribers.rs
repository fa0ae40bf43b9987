//! Subscriptions of users: each ends with its own token, and shows what may be read at that moment.

use super::site::{SECRET, Site};
use crate::tokens::sign;
use hexgraph::db::access::{KeyRole, NewKey};
use jsonwebtoken::{EncodingKey, Header};
use serde_json::{Value, json};
use std::net::TcpStream;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

const HOUR: Duration = Duration::from_secs(3600);

/// How long something may take that has to happen.
const PATIENCE: Duration = Duration::from_secs(20);

struct Subscriber(WebSocket<TcpStream>);

impl Subscriber {
    /// One who has subscribed, with a secret in a header.
    fn new(site: &Site, (name, secret): (&'static str, &str)) -> Subscriber {
        let address = site.server.address().unwrap();
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut request = format!("ws://{address}/graphql").into_client_request().unwrap();
        let headers = request.headers_mut();
        headers.insert("sec-websocket-protocol", "graphql-transport-ws".parse().unwrap());
        headers.insert(name, secret.parse().unwrap());
        let (mut socket, _) = tungstenite::client(request, stream).unwrap();
        let query = json!({ "query": "subscription { queryNote { text hidden } }" });
        for message in [
            json!({ "type": "connection_init" }),
            json!({ "id": "1", "type": "subscribe", "payload": query }),
        ] {
            socket.send(Message::text(message.to_string())).unwrap();
        }
        let mut subscriber = Subscriber(socket);
        assert_eq!(subscriber.hear()["type"], "connection_ack");
        subscriber
    }

    fn hear(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.0.read().unwrap() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }

    /// The next answer.
    fn notes(&mut self) -> Value {
        let reported = self.hear();
        assert_eq!(reported["type"], "next", "{reported}");
        reported["payload"]["data"]["queryNote"].clone()
    }

    /// Hears that it is over.
    fn ends(&mut self) {
        let reported = self.hear();
        assert_eq!(reported["type"], "complete", "{reported}");
    }
}

/// A token for requests of ada that holds for so long.
fn token(holds: Duration) -> String {
    let end = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + holds;
    let claims =
        json!({ "userid": "ada", "groups": ["dev"], "namespace": 0, "exp": end.as_secs() });
    sign(&Header::default(), &claims, &EncodingKey::from_secret(SECRET))
}

fn note(text: &str) -> Value {
    json!([{ "text": text, "hidden": null }])
}

/// Has the one note say something else.
fn say(site: &Site, text: &str) {
    site.database.mutate(&format!("<3> <Note.text> \"{text}\" ."), "").unwrap();
}

#[test]
fn each_ends_with_its_own_token() {
    let site = Site::new(HOUR, None);
    // Both ask the same for the same user, so one question is asked for them; the one who began it
    // has to go first.
    let mut short = Subscriber::new(&site, ("accessjwt", &token(Duration::from_secs(3))));
    assert_eq!(short.notes(), note("Ada"));
    let mut long = Subscriber::new(&site, ("accessjwt", &token(HOUR)));
    assert_eq!(long.notes(), note("Ada"));
    short.ends();
    say(&site, "later");
    assert_eq!(long.notes(), note("later"));
}

#[test]
fn what_is_taken_away_is_not_told() {
    let site = Site::new(HOUR, None);
    let groot = site.token("groot");
    let admin = |text: &str| {
        let reported = site.graphql("/admin", &groot, &format!("mutation {{ {text} }}"));
        assert!(reported["errors"].is_null(), "{reported}");
    };
    let rule = |change: &str| {
        admin(&format!(
            "updateGroup(input: {{ filter: {{ name: {{ eq: \"dev\" }} }}, {change} }}) {{ group {{ name }} }}"
        ));
    };
    let mut ada = Subscriber::new(&site, ("accessjwt", &site.token("ada")));
    assert_eq!(ada.notes(), note("Ada"));
    rule("set: { rules: [{ predicate: \"Note.hidden\", permission: 4 }] }");
    say(&site, "one");
    let mut reported = ada.notes();
    // What the rule shows may be told before what is said after it.
    if reported == json!([{ "text": "Ada", "hidden": "h" }]) {
        reported = ada.notes();
    }
    assert_eq!(reported, json!([{ "text": "one", "hidden": "h" }]));
    rule("remove: { rules: [\"Note.hidden\", \"Note.text\"] }");
    say(&site, "two");
    let reported = ada.hear().to_string();
    assert!(!reported.contains("two") && !reported.contains("\"h\""), "{reported}");
    admin("deleteUser(filter: { name: { eq: \"ada\" } }) { numUids }");
    say(&site, "three");
    ada.ends();
}

#[test]
fn a_key_that_is_revoked_ends_what_it_began() {
    let site = Site::without_users(None);
    let key = NewKey { name: "screen", role: KeyRole::ReadOnly, lifetime: None };
    let (key, secret) = site.database.create_key(&key).unwrap();
    let mut screen = Subscriber::new(&site, ("x-auth-token", secret.reveal()));
    assert_eq!(screen.notes(), json!([{ "text": "Ada", "hidden": "h" }]));
    site.database.revoke_key(&key.id).unwrap();
    say(&site, "later");
    screen.ends();
}
