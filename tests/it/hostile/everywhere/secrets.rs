//! Tokens that were made by somebody else, names of the server and origins of pages that only look
//! right: by every carrier.

use super::door::{BoundListener, Yard};
use super::request::{Carrier, RequestedQuery, check_answered, json_of, send};
use crate::tokens::sign;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

const SECRET: &str = "a secret of thirty-two bytes, at least";

/// The public key that tokens for rules are checked with; whoever had the private one has thrown it
/// away.
const PUBLIC_KEY: &str = "-----BEGIN PUBLIC KEY-----\n\
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAsf9bQXACywZmEvqQhAU0\n\
TAtt5YVHMe+RUM4f/beVzuAnEP3hkML81QA4hUjF/nd9R4tSS227etqyaGIeNl7c\n\
+u4uLC+MkWA/E0Qa5DgjBdf3R/JQ0XxnZXqPyvl7lSxsF1gLb0ZOisgM1rnhOKvk\n\
IQ9aNDMDB85A7HDkII7vYHPSkZGA8zSHPVeBw/pyQQshvASzi2xG1CTkYg6f8PG7\n\
8toNTDmPWTZEZN7qOy2IP5TISy/FZYeGkfKvACywOow8r79W6bcLRwsNbYcRGbxF\n\
IVFrVE3hdhITNVdabB1nrBvzIKvsIhyE9bnk4jFEWklGN0uiclcg4+8Q/4ACclcV\n\
LwIDAQAB\n\
-----END PUBLIC KEY-----";

const QUERY: &str = "{ q(func: has(name)) { name } }";

const ITEMS: &str = "{ queryItem { name } }";

/// The parts of a token that nobody has signed, or that have a signature which is none.
fn parts(header: &Value, claims: &Value, signature: &str) -> String {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}.{signature}", part(header), part(claims))
}

fn signed(algorithm: Algorithm, secret: &str, claims: &Value) -> String {
    sign(&Header::new(algorithm), claims, &EncodingKey::from_secret(secret.as_bytes()))
}

/// Tokens of users, each of which opens nothing.
fn tokens(refresh: &str) -> Vec<(&'static str, String)> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let good =
        json!({ "userid": "groot", "groups": ["guardians"], "namespace": 0, "exp": now + 3600 });
    let with = |name: &str, value: Value| {
        let mut claims = good.clone();
        claims[name] = value;
        signed(Algorithm::HS256, SECRET, &claims)
    };
    let without = |name: &str| {
        let mut claims = good.clone();
        claims.as_object_mut().unwrap().remove(name);
        signed(Algorithm::HS256, SECRET, &claims)
    };
    let right = signed(Algorithm::HS256, SECRET, &good);
    let (head, _) = right.rsplit_once('.').unwrap();
    vec![
        ("none", String::new()),
        ("words", "groot".to_owned()),
        ("two parts", head.to_owned()),
        ("four parts", format!("{right}.x")),
        ("no signature", format!("{head}.")),
        ("another scheme", format!("Bearer {right}")),
        ("nobody signed it", parts(&json!({ "alg": "none", "typ": "JWT" }), &good, "")),
        ("nobody signed it, loudly", parts(&json!({ "alg": "NONE" }), &good, "x")),
        ("no method", parts(&json!({ "typ": "JWT" }), &good, "x")),
        (
            "a key of its own",
            parts(&json!({ "alg": "HS256", "jwk": { "kty": "oct", "k": "eA" } }), &good, "x"),
        ),
        ("another method", signed(Algorithm::HS512, SECRET, &good)),
        (
            "another secret",
            signed(Algorithm::HS256, "a secret of somebody else, as long as ours", &good),
        ),
        ("an empty secret", signed(Algorithm::HS256, "", &good)),
        ("it has ended", with("exp", json!(now - 1))),
        ("it has ended long ago", with("exp", json!(-1))),
        ("it never ends", without("exp")),
        ("an end that is a text", with("exp", json!("never"))),
        ("not yet", with("nbf", json!(now + 3600))),
        ("nobody", without("userid")),
        ("an empty name", with("userid", json!(""))),
        ("a list of names", with("userid", json!(["groot"]))),
        ("a user that there is not", with("userid", json!("groot\n"))),
        ("a group as a user", with("userid", json!("guardians"))),
        ("no namespace", without("namespace")),
        ("a namespace that there is not", with("namespace", json!(7))),
        ("a namespace below all", with("namespace", json!(-1))),
        ("the namespace of the server itself", with("namespace", json!(u64::MAX))),
        ("no groups", without("groups")),
        ("one for another login", refresh.to_owned()),
    ]
}

/// What a login at a listener gives: the token for requests, and the one for another login.
fn login(yard: &Yard, listener: BoundListener) -> (String, String) {
    let body = json!({ "userid": "groot", "password": "password" }).to_string();
    let reported = yard.line(listener).post("/login", "application/json", body.as_bytes());
    let reported: Value = serde_json::from_slice(&reported.body).unwrap();
    let token = |name: &str| reported["data"][name].as_str().unwrap().to_owned();
    (token("accessJWT"), token("refreshJWT"))
}

/// Has a schema and a node at both servers.
fn fill(yard: &Yard, token: &str) {
    let key = PUBLIC_KEY.replace('\n', "\\n");
    let schema = format!(
        "type Item @auth(query: {{ rule: \"{{$ROLE: {{ eq: \\\"admin\\\" }} }}\" }}) {{ id: ID! name: String @dgraph(pred: \"name\") }}\n# Dgraph.Authorization {{\"VerificationKey\":\"{key}\",\"Header\":\"X-Claims\",\"Namespace\":\"ns\",\"Algo\":\"RS256\",\"Audience\":[\"us\"]}}\n"
    );
    for listener in [BoundListener::Http, BoundListener::HttpByTls] {
        let ask = |path, kind, body: &str| {
            let requested =
                RequestedQuery { path, kind, ..RequestedQuery::dql(body) }.with("accessjwt", token);
            let reported = send(yard, (Carrier::Http1, listener), &requested);
            assert!(reported.text.contains("Success"), "{reported:?}");
        };
        ask("/alter", "application/dql", "name: string @index(exact) .");
        ask("/admin/schema", "text/plain", &schema);
        let set = "{ set { <1> <name> \"n1\" .\n<1> <dgraph.type> \"Item\" . } }";
        ask("/mutate?commitNow=true", "application/rdf", set);
    }
}

/// Asks by all carriers, and notes who is told what none of them may know.
fn check_refused(
    yard: &Yard,
    name: &str,
    requested: [&RequestedQuery<'_>; 2],
    faults: &mut String,
) {
    for (carriers, requested) in
        [(&Carrier::OF_DQL[..], requested[0]), (&Carrier::OF_GRAPHQL, requested[1])]
    {
        for carrier in carriers {
            for listener in carrier.listeners() {
                let reported = send(yard, (*carrier, listener), requested);
                if !reported.is_refused
                    || reported.text.contains("n1")
                    || reported.text.contains(SECRET)
                {
                    writeln!(faults, "{name} {carrier:?} {listener:?}: {reported:?}").unwrap();
                }
            }
        }
    }
}

#[test]
fn tokens_that_others_made_open_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    fs::write(&path, SECRET).unwrap();
    let yard = Yard::new(&["--acl", &format!("secret-file={}", path.display())]);
    let (access, refresh) = login(&yard, BoundListener::Http);
    fill(&yard, &access);
    let requested = |token: &str| {
        [RequestedQuery::dql(QUERY), RequestedQuery::graphql(json_of(ITEMS))]
            .map(|requested| requested.with("accessjwt", token))
    };
    // A token of one server is as good at the other, which has the same secret; without the claims
    // of the rule there are no items.
    let [dql, graphql] = requested(&access);
    let name =
        RequestedQuery::graphql(json_of("{ __typename }")).with("accessjwt", access.as_str());
    check_answered(&yard, (&dql, &name), "");
    let mut faults = String::new();
    for (name, token) in tokens(&refresh) {
        let [dql, graphql] = requested(&token);
        check_refused(&yard, name, [&dql, &graphql], &mut faults);
    }
    // Claims for the rules: the key that everybody may know is no secret, whatever the token says.
    let claims = json!({ "ns": { "ROLE": "admin" }, "aud": "us" });
    let forged = [
        ("signed by the public key", signed(Algorithm::HS256, PUBLIC_KEY, &claims)),
        (
            "signed by it and a line feed",
            signed(Algorithm::HS256, &format!("{PUBLIC_KEY}\n"), &claims),
        ),
        ("signed by nobody", parts(&json!({ "alg": "none" }), &claims, "")),
        ("signed by nobody in RSA", parts(&json!({ "alg": "RS256" }), &claims, "eA")),
        ("a token of the server", access.clone()),
    ];
    for (name, token) in forged {
        let graphql = graphql.clone().with("x-claims", token);
        for carrier in Carrier::OF_GRAPHQL {
            for listener in carrier.listeners() {
                let reported = send(&yard, (carrier, listener), &graphql);
                if reported.text.contains("n1") {
                    writeln!(faults, "{name} {carrier:?} {listener:?}: {reported:?}").unwrap();
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

/// How a request names the server, and the page that it comes from; whether it may ask. `{port}` is
/// that of the listener.
const NAMES: [(&str, &str, bool); 28] = [
    ("localhost:{port}", "", true),
    ("LOCALHOST", "", true),
    ("localhost.", "", true),
    ("127.0.0.1:1", "", true),
    ("[::1]", "", true),
    ("graph.example", "", true),
    ("evil.example", "", false),
    ("localhost.evil.example", "", false),
    ("evil.example:{port}", "", false),
    ("evillocalhost", "", false),
    ("graph.example.evil.example", "", false),
    ("127.0.0.1.evil.example", "", false),
    ("127.0.0.1evil.example", "", false),
    ("0x7f000001.evil.example", "", false),
    ("localhost@evil.example", "", false),
    ("evil.example@localhost", "", false),
    ("[::1].evil.example", "", false),
    ("localhost,evil.example", "", false),
    ("localhost evil.example", "", false),
    ("localhost/evil.example", "", false),
    ("localhost#evil.example", "", false),
    ("", "", false),
    ("localhost:{port}", "null", false),
    ("localhost:{port}", "file://", false),
    ("localhost:{port}", "https://evil.example", false),
    ("localhost:{port}", "{scheme}://localhost:{port}.evil.example", false),
    ("localhost:{port}", "{scheme}://evil.example@localhost:{port}", false),
    ("localhost:{port}", "{scheme}://localhost:{port}", true),
];

#[test]
fn names_and_pages_that_only_look_right_are_refused() {
    let yard = Yard::new(&["--allow-host", "graph.example"]);
    let mut faults = String::new();
    for (host, origin, may_ask) in NAMES {
        for carrier in [Carrier::Http1, Carrier::Http2, Carrier::WebCall] {
            for listener in carrier.listeners() {
                let port = yard
                    .host(listener)
                    .split_once(':')
                    .map_or("80".to_owned(), |(_, port)| port.to_owned());
                let by_tls =
                    matches!(listener, BoundListener::HttpByTls | BoundListener::CallsByTls);
                let scheme = if by_tls { "https" } else { "http" };
                let fill = |text: &str| text.replace("{port}", &port).replace("{scheme}", scheme);
                let mut requested =
                    RequestedQuery::dql("{ q(func: uid(1)) { uid } }").with("host", fill(host));
                if !origin.is_empty() {
                    requested = requested.with("origin", fill(origin));
                }
                let reported = send(&yard, (carrier, listener), &requested);
                if reported.is_refused == may_ask {
                    writeln!(faults, "{host} {origin} {carrier:?} {listener:?}: {reported:?}")
                        .unwrap();
                }
            }
        }
    }
    // The name in the address of a request in HTTP/2, which counts as well.
    for (authority, host, may_ask) in [
        ("localhost", "localhost", true),
        ("evil.example", "", false),
        ("evil.example", "localhost", false),
        ("localhost", "evil.example", false),
        ("localhost@evil.example", "localhost", false),
    ] {
        for listener in Carrier::Http2.listeners() {
            let mut requested =
                RequestedQuery::dql("{ q(func: uid(1)) { uid } }").with(":authority", authority);
            if !host.is_empty() {
                requested = requested.with("host", host);
            }
            let reported = send(&yard, (Carrier::Http2, listener), &requested);
            if reported.is_refused == may_ask {
                writeln!(faults, "{authority} {host} {listener:?}: {reported:?}").unwrap();
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
}
