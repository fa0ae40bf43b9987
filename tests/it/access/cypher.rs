//! Queries in Cypher see what their caller may read, in each clause.

use super::site::Site;
use serde_json::{Value, json};
use std::time::Duration;

fn rows(site: &Site, token: &str, text: &str) -> Value {
    let reported =
        site.send("POST", "/cypher", token, &json!({ "query": text }).to_string()).json();
    assert!(!reported["data"]["rows"].is_null(), "{text}: {reported}");
    reported["data"]["rows"].clone()
}

#[test]
fn cypher_shows_what_may_be_read() {
    let site = Site::new(Duration::from_secs(3600), None);
    let (groot, ada, eve) = (site.token("groot"), site.token("ada"), site.token("eve"));
    // For groot, ada, who may not read `secret`, and eve, who may read nothing.
    for (text, [all, some, none]) in [
        ("MATCH (n:Person) RETURN count(n)", [json!([[2]]), json!([[2]]), json!([[0]])]),
        ("MATCH (n) RETURN count(n)", [json!([[3]]), json!([[3]]), json!([[0]])]),
        ("MATCH ()-[r]->() RETURN count(r)", [json!([[1]]), json!([[1]]), json!([[0]])]),
        ("MATCH (n {secret: 'x'}) RETURN n.name", [json!([["Ada"]]), json!([]), json!([])]),
        (
            "MATCH (n) WHERE n.secret > 'a' RETURN n.secret",
            [json!([["x"], ["y"]]), json!([]), json!([])],
        ),
        (
            "MATCH (n {name: 'Bob'}) RETURN keys(n), n.secret",
            [json!([[["name", "secret"], "y"]]), json!([[["name"], null]]), json!([])],
        ),
        (
            "MATCH (n:Note) RETURN properties(n)",
            [json!([[{ "hidden": "h", "text": "Ada" }]]), json!([[{ "text": "Ada" }]]), json!([])],
        ),
        (
            "CALL algo.degree('friend') YIELD node, degree RETURN count(node), sum(degree)",
            [json!([[2, 1.0]]), json!([[2, 1.0]]), json!([[0, 0]])],
        ),
        (
            "CALL algo.degree('friend', {labels: ['Person', 'Note']}) YIELD node RETURN count(*)",
            [json!([[3]]), json!([[3]]), json!([[0]])],
        ),
        ("MATCH (n) WHERE n.xid IS NOT NULL RETURN n", [json!([]), json!([]), json!([])]),
        (
            "CALL db.labels()",
            [json!([["Note"], ["Person"]]), json!([["Note"], ["Person"]]), json!([])],
        ),
        ("CALL db.relationshipTypes()", [json!([["friend"]]), json!([["friend"]]), json!([])]),
        (
            "CALL db.propertyKeys() YIELD propertyKey AS k RETURN collect(k)",
            [
                json!([[["age", "hidden", "name", "secret", "text"]]]),
                json!([[["age", "name", "text"]]]),
                json!([[[]]]),
            ],
        ),
    ] {
        for (token, want) in [(&groot, all), (&ada, some), (&eve, none)] {
            assert_eq!(rows(&site, token, text), want, "{text}");
        }
    }
    let refused = site.send("POST", "/cypher", "", r#"{"query":"RETURN 1"}"#);
    assert!(refused.text().contains("Unauthenticated"), "{}", refused.text());
}

/// A predicate that the caller may not read is in a plan as one that does not exist.
#[test]
fn plans_have_what_may_be_read() {
    let site = Site::new(Duration::from_secs(3600), None);
    let (groot, ada, eve) = (site.token("groot"), site.token("ada"), site.token("eve"));
    // Without the milliseconds.
    let plan = |token: &str, text: &str| -> Vec<Vec<Value>> {
        let rows = rows(&site, token, text);
        let steps = rows.as_array().unwrap().iter().map(|row| row.as_array().unwrap());
        steps.map(|row| row.iter().take(4).cloned().collect()).collect()
    };
    for mode in ["EXPLAIN", "PROFILE"] {
        for text in [
            "MATCH (n)-[r]->(m) RETURN n, r, m",
            "MATCH (n:Note) RETURN properties(n), keys(n)",
            "MATCH (a)-->(b) WHERE NOT (b)-->(a) RETURN count(*)",
            "MATCH p = (a)-[*1..2]-(b) RETURN DISTINCT b",
        ] {
            let text = format!("{mode} {text}");
            for token in [&ada, &eve] {
                let reported = rows(&site, token, &text).to_string();
                assert!(!reported.contains("secret") && !reported.contains("hidden"), "{reported}");
            }
            assert!(!plan(&groot, &text).is_empty(), "{text}");
        }
        let of = |name: &str| {
            format!("{mode} MATCH (n {{{name}: 'x'}}) WHERE n.{name} > 'a' RETURN n.{name}")
        };
        for token in [&ada, &eve] {
            let steps =
                |name: &str| json!(plan(token, &of(name))).to_string().replace("absent", "secret");
            assert_eq!(steps("secret"), steps("absent"), "{mode}");
        }
    }
}
