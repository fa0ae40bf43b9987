//! `/cypher`: what is sent, and what comes back.

use super::site::{Answer, Site, message};
use hexgraph::db::{Database, Limits, OpenOptions};
use hexgraph_server::http::ServeOptions;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const CYPHER: &str = "Content-Type: application/cypher";

const DATA: &str = "<1> <dgraph.type> \"Person\" .\n<1> <name> \"Ada\" .\n<1> <knows> <2> (since=2019) .\n<2> <name> \"Bob\" .";

fn site() -> Site {
    let database = Database::in_memory();
    database.mutate(DATA, "").unwrap();
    Site::of(database, ServeOptions::default())
}

fn send(site: &Site, path: &str, text: &str) -> Answer {
    site.send("POST", path, &[CYPHER], text.as_bytes())
}

fn post(site: &Site, text: &str, params: Value) -> Answer {
    site.post("/cypher", &json!({ "query": text, "params": params }).to_string())
}

#[test]
fn rows_and_columns_come_back() {
    let site = site();
    let text = "MATCH (a)-[k:knows]->(b) RETURN a.name AS who, k, b";
    let want = r#"{"columns":["who","k","b"],"rows":[["Ada",{"end":"0x2","properties":{"since":2019},"start":"0x1","type":"knows"},{"labels":[],"properties":{"name":"Bob"},"uid":"0x2"}]]}"#;
    for answer in [send(&site, "/cypher", text), post(&site, text, Value::Null)] {
        assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
        assert!(answer.text().starts_with(&format!("{{\"data\":{want},")), "{}", answer.text());
        let beside = &answer.json_with_extensions()["extensions"];
        assert!(beside["server_latency"]["total_ns"].as_u64() > Some(0), "{beside}");
        assert!(beside["txn"]["start_ts"].as_u64() > Some(0), "{beside}");
    }
    let none = send(&site, "/cypher", "MATCH (n:Nobody) RETURN n").json();
    assert_eq!(none, json!({ "data": { "columns": ["n"], "rows": [] } }));
}

#[test]
fn parameters_and_answers_have_all_digits() {
    let site = site();
    let params = json!({ "i": 9_007_199_254_740_993_i64, "f": 2.0, "$t": "<a>", "l": [1, null] });
    let text = "RETURN $i AS i, $f AS f, $t AS t, $l AS l, datetime('2020-01-02T03:04:05.000000001Z') AS d";
    let answer = post(&site, text, params);
    let rows =
        r#"[[9007199254740993,2.0,"\u003ca\u003e",[1,null],"2020-01-02T03:04:05.000000001Z"]]"#;
    assert!(answer.text().contains(rows), "{}", answer.text());
    let missing = post(&site, "RETURN $n", json!({})).json();
    assert!(message(&missing).contains("n"), "{missing}");
}

#[test]
fn what_is_wrong_is_told_with_its_position() {
    let site = site();
    for (text, position, fault) in [
        ("MATCH (n)\nRETURN m", "line 2 column 8", "m"),
        ("MATCH (n RETURN n", "line 1 column", ""),
        ("CREATE (n)", "line 1 column 1", "mutate"),
    ] {
        let answer = send(&site, "/cypher", text);
        let reported = answer.json();
        assert_eq!((answer.status, &reported["data"]), (200, &Value::Null), "{reported}");
        let error = message(&reported);
        assert!(error.contains(position) && error.contains(fault), "{text}: {error}");
        assert_eq!(reported["errors"][0]["extensions"]["code"], "ErrorInvalidRequest");
    }
    for kind in ["application/dql", "text/plain", ""] {
        let kind = format!("Content-Type: {kind}");
        let refused = site.send("POST", "/cypher", &[&kind], b"RETURN 1").json();
        assert!(message(&refused).contains("application/cypher"), "{kind}: {refused}");
    }
    let refused = site.post("/cypher", r#"{"query":"RETURN 1","variables":{}}"#).json();
    assert!(message(&refused).contains("`variables`"), "{refused}");
    assert_eq!(site.send("GET", "/cypher", &[CYPHER], b"RETURN 1").status, 400);
    let late = send(&site, "/cypher?timeout=0s", "MATCH (n) RETURN n").json();
    assert!(message(&late).contains("timeout"), "{late}");
    assert!(message(&send(&site, "/cypher?timeout=x", "RETURN 1").json()).contains("timeout"));
    assert!(message(&send(&site, "/cypher?startTs=x", "RETURN 1").json()).contains("startTs"));
}

#[test]
fn a_moment_is_read_again() {
    let site = site();
    let text = "MATCH (n) WHERE n.name IS NOT NULL RETURN count(n)";
    let before = send(&site, "/cypher", text).json_with_extensions();
    let start = &before["extensions"]["txn"]["start_ts"];
    assert_eq!(before["data"]["rows"], json!([[2]]));
    site.post("/mutate?commitNow=true", r#"{"set":{"name":"Cy"}}"#);
    let again = send(&site, &format!("/cypher?startTs={start}"), text).json();
    assert_eq!(again["data"]["rows"], json!([[2]]));
    assert_eq!(send(&site, "/cypher", text).json()["data"]["rows"], json!([[3]]));
}

#[test]
fn long_answers_are_written_while_they_are_sent() {
    let site = site();
    let text = "UNWIND range(1, 80000) AS n RETURN n, 'abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz' AS t";
    let answer = send(&site, "/cypher", text);
    assert_eq!(answer.header("transfer-encoding"), "chunked");
    assert!(answer.body.len() > 4 << 20, "{}", answer.body.len());
    let full = answer.json_with_extensions();
    let rows = full["data"]["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[79_999][0]), (80_000, &json!(80_000)));
    assert!(full["extensions"]["server_latency"]["encoding_ns"].as_u64() > Some(0));
}

#[test]
fn limits_hold() {
    let limits = Limits { memory: 64 << 20, result: 1 << 20, ..Limits::default() };
    let options = OpenOptions { limits, ..OpenOptions::default() };
    let site = Site::of(Database::in_memory_with(options), ServeOptions::default());
    let started = Instant::now();
    for (path, text, fault) in [
        ("/cypher", "UNWIND range(1, 100000) AS n RETURN n, 'abcdefghijkl'", "`result`"),
        ("/cypher", "WITH range(1, 1000) AS a UNWIND range(1, 10000) AS n RETURN [a, n]", "memory"),
        (
            "/cypher?timeout=300ms",
            "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b WITH a WHERE a < 0 RETURN a",
            "timeout",
        ),
    ] {
        let reported = send(&site, path, text).json();
        assert!(message(&reported).contains(fault), "{text}: {reported}");
    }
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}

#[test]
fn plans_come_back_within_the_limits() {
    let site = site();
    let text = "MATCH (p:Person)-[:knows]->(b) WHERE id(p) = $id RETURN b.name";
    let plan = post(&site, &format!("EXPLAIN {text}"), json!({ "id": 1 })).json();
    assert_eq!(plan["data"]["columns"], json!(["operator", "detail", "expected"]));
    assert_eq!(plan["data"]["rows"][0], json!(["UidSeek", "id(p) = 1", 1]));
    let profile = post(&site, &format!("PROFILE {text}"), json!({ "id": 1 })).json();
    let columns = json!(["operator", "detail", "expected", "actual", "ms"]);
    assert_eq!(profile["data"]["columns"], columns);
    assert_eq!(profile["data"]["rows"].as_array().unwrap().last().unwrap()[3], 1, "{profile}");
    let missing = post(&site, &format!("EXPLAIN {text}"), json!({})).json();
    assert!(message(&missing).contains("$id"), "{missing}");
    // A plan is there at once, while to run the query takes longer than it may.
    let endless =
        "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b WITH a WHERE a < 0 RETURN a";
    let plan = send(&site, "/cypher?timeout=300ms", &format!("EXPLAIN {endless}")).json();
    assert_eq!(plan["data"]["rows"][0][0], "Unwind", "{plan}");
    let late = send(&site, "/cypher?timeout=300ms", &format!("PROFILE {endless}")).json();
    assert!(message(&late).contains("timeout"), "{late}");
    let limits = Limits { memory: 16 << 20, result: 1 << 10, ..Limits::default() };
    let options = OpenOptions { limits, ..OpenOptions::default() };
    let small = Site::of(Database::in_memory_with(options), ServeOptions::default());
    // The rows of a query are in no plan, so that the limit of answers is not theirs; memory is.
    let rows = "PROFILE UNWIND range(1, 5000) AS n RETURN n, 'abcdefghijkl'";
    assert_eq!(send(&small, "/cypher", rows).json()["data"]["rows"][0][3], 5_000);
    let large = "PROFILE UNWIND range(1, 3000000) AS n WITH collect(n) AS all RETURN size(all)";
    let refused = send(&small, "/cypher", large).json();
    assert!(message(&refused).contains("memory"), "{refused}");
}

#[test]
fn requests_are_counted_by_their_route() {
    let site = site();
    send(&site, "/cypher", "RETURN 1");
    let metrics = site.send("GET", "/metrics", &[], b"");
    assert!(metrics.text().contains(r#"route="/cypher""#), "{}", metrics.text());
}
