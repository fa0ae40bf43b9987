//! `/metrics`: its numbers are those that clients count, its names follow the rules of Prometheus,
//! and no label has a text of a request.

use super::site::{Answer, Site, send};
use hexgraph::db::{Database, OpenOptions};
use hexgraph_server::http::{Security, ServeOptions};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::thread;

/// The samples of a text: the value of each by its name with its labels.
fn samples(text: &str) -> BTreeMap<&str, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let samples = lines.map(|line| {
        let (name, value) = line.rsplit_once(' ').unwrap();
        (name, value.parse().unwrap())
    });
    samples.collect()
}

fn metrics(site: &Site) -> String {
    let answer = site.send("GET", "/metrics", &[], b"");
    assert_eq!(answer.status, 200, "{}", answer.text());
    let media_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert_eq!(answer.header("content-type"), media_type);
    answer.text().to_owned()
}

/// The sum of the samples of `name` whose labels have all of `labels`.
fn sum(text: &str, name: &str, labels: &[&str]) -> f64 {
    let of_name = |sample: &str| sample.split('{').next() == Some(name);
    let is_expected =
        |sample: &str| of_name(sample) && labels.iter().all(|label| sample.contains(label));
    samples(text)
        .into_iter()
        .filter(|(sample, _)| is_expected(sample))
        .map(|(_, value)| value)
        .sum()
}

const REQUESTS: &str = "hexgraph_requests_total";

#[test]
fn what_is_counted_is_what_clients_sent() {
    let site = Site::new("");
    let queries = 200;
    let wrong = 30;
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..queries / 4 {
                    let answer = site.post("/query", r#"{"query":"{ q(func: has(n)) { n } }"}"#);
                    assert_eq!(answer.json(), json!({ "data": { "q": [] } }));
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..wrong {
                assert!(site.post("/query", r#"{"query":"{"}"#).text().contains("errors"));
                assert_eq!(site.send("GET", "/no/such/path", &[], b"").status, 404);
            }
        });
    });
    let text = metrics(&site);
    let query = r#"route="/query""#;
    assert_eq!(sum(&text, REQUESTS, &[query, r#"outcome="ok""#, r#"code="200""#]), 200.0);
    assert_eq!(sum(&text, REQUESTS, &[query, r#"outcome="failed""#, r#"kind="read""#]), 30.0);
    assert_eq!(sum(&text, REQUESTS, &[r#"route="none""#, r#"code="404""#]), 30.0);
    assert!(!text.contains("/no/such"), "a path of a client is no label");
    let duration = "hexgraph_request_duration_seconds";
    assert_eq!(sum(&text, &format!("{duration}_count"), &[query]), 230.0);
    assert_eq!(sum(&text, &format!("{duration}_bucket"), &[query, r#"le="+Inf""#]), 230.0);
    assert!(0.0 < sum(&text, &format!("{duration}_sum"), &[query]));
    assert_eq!(sum(&text, "hexgraph_connections_total", &[]), 261.0);
    assert_eq!(sum(&text, "hexgraph_requests_running", &[]), 1.0, "this one");
}

#[test]
fn refusals_are_counted_by_their_reason() {
    let limits = OpenOptions::default().limits;
    let limits = hexgraph::db::Limits { result: 8, body: 4 << 10, ..limits };
    let database = Database::in_memory_with(OpenOptions { limits, ..OpenOptions::default() });
    database.mutate("_:a <n> \"x\" .", "").unwrap();
    let mut security = Security::default();
    security.set("client-key=app; admin-key=root").unwrap();
    let site = Site::of(database, ServeOptions { security, ..ServeOptions::default() });
    let ask = |key: &str, body: &[u8]| -> Answer {
        let key = format!("X-Auth-Token: {key}");
        site.send("POST", "/query", &["Content-Type: application/dql", &key], body)
    };
    assert!(ask("app", b"{ q(func: has(n)) { uid n } }").text().contains("limit `result`"));
    assert!(ask("app", &[b' '; 5 << 10]).text().contains("limit `body`"));
    assert_eq!(ask("wrong", b"{ q(func: has(n)) { n } }").status, 401);
    let external =
        ["Content-Type: application/dql", "X-Auth-Token: app", "Origin: https://a.example"];
    assert_eq!(site.send("POST", "/query", &external, b"").status, 403);
    let answer = site.send("GET", "/metrics", &["X-Auth-Token: root"], b"");
    let text = answer.text();
    for reason in ["result", "body", "key", "origin"] {
        let label = format!("reason=\"{reason}\"");
        assert_eq!(sum(text, "hexgraph_refusals_total", &[&label]), 1.0, "{reason}:\n{text}");
    }
    assert_eq!(sum(text, "hexgraph_refusals_total", &[]), 4.0);
}

#[test]
fn the_database_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path(), OpenOptions::default()).unwrap();
    let site = Site::of(database.clone(), ServeOptions::default());
    let one = |text: &str, name: &str| sum(text, &format!("hexgraph_{name}"), &[]);
    let before = metrics(&site);
    let counts = ["log_bytes", "checkpoints_total", "compactions_total", "transactions_open"];
    for name in counts {
        assert_eq!(one(&before, name), 0.0, "{name}");
    }
    site.post("/mutate?startTs=0", r#"{"set":[{"n":"x"}]}"#);
    database.mutate("_:a <n> \"y\" .", "").unwrap();
    let during = metrics(&site);
    assert!(0.0 < one(&during, "log_bytes"));
    assert_eq!(one(&during, "transactions_open"), 1.0);
    database.compact().unwrap();
    let after = metrics(&site);
    assert_eq!(one(&after, "log_bytes"), 0.0);
    assert_eq!((one(&after, "checkpoints_total"), one(&after, "compactions_total")), (1.0, 1.0));
    assert!(1.0 <= one(&after, "versions"));
    assert!(1.0 <= sum(&after, "hexgraph_memory_bytes", &[r#"part="process""#]));
    site.server.address().unwrap();
    database.close().unwrap();
    let closed = site.send("GET", "/metrics", &[], b"");
    assert_eq!(closed.status, 503, "{}", closed.text());
}

/// The rules of <https://prometheus.io/docs/practices/naming/>, as far as a test can check them.
#[test]
fn names_follow_the_rules_of_prometheus() {
    let site = Site::new("type Note { id: ID! text: String! }");
    site.ask("{ queryNote { text } }");
    let text = metrics(&site);
    assert!(text.ends_with("# EOF\n"));
    let of = |kind: &str| {
        let lines = text.lines().filter_map(|line| line.strip_prefix(&format!("# {kind} ")));
        lines.map(|line| line.split_once(' ').unwrap()).collect::<Vec<_>>()
    };
    let (types, helps, units) = (of("TYPE"), of("HELP"), of("UNIT"));
    let names: BTreeSet<&str> = types.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), types.len(), "a name stands twice");
    assert_eq!(names, helps.iter().map(|(name, _)| *name).collect(), "each has a help");
    for (name, kind) in &types {
        let is_plain = |c: char| c.is_ascii_lowercase() || c == '_';
        assert!(name.starts_with("hexgraph_") && name.chars().all(is_plain), "{name}");
        assert!(["counter", "gauge", "histogram"].contains(kind), "{name} {kind}");
        assert!(!name.ends_with("_total") && !name.ends_with("_count"), "{name}");
        let unit = units.iter().find(|(existing, _)| existing == name).map(|(_, unit)| *unit);
        for existing in ["bytes", "seconds"] {
            assert_eq!(unit == Some(existing), name.ends_with(&format!("_{existing}")), "{name}");
        }
    }
    for sample in samples(&text).keys() {
        let name = sample.split('{').next().unwrap();
        let is_of = |family: &&str| {
            name.strip_prefix(*family)
                .is_some_and(|suffix| ["", "_total", "_bucket", "_count", "_sum"].contains(&suffix))
        };
        assert!(names.iter().any(is_of), "{sample} has no type");
        let labels = sample.split_once('{').map_or("", |(_, labels)| labels.trim_end_matches('}'));
        for label in labels.split("\",").filter(|label| !label.is_empty()) {
            let (label, _) = label.split_once("=\"").unwrap();
            let existing = ["route", "kind", "code", "outcome", "reason", "pool", "part", "le"];
            assert!(existing.contains(&label), "{label}");
        }
    }
}

#[test]
fn an_address_of_their_own_answers_nothing_else() {
    let mut security = Security::default();
    security.set("client-key=app; admin-key=root").unwrap();
    let metrics_address: Option<SocketAddr> = Some("127.0.0.1:0".parse().unwrap());
    let options = ServeOptions { security, metrics_address, ..ServeOptions::default() };
    let site = Site::with("", options);
    let at = site.server.metrics_address().unwrap();
    for path in ["/metrics", "/debug/prometheus_metrics"] {
        let answer = send(at, ("GET", path), &[], b"");
        assert_eq!(answer.status, 200);
        assert!(answer.text().contains("hexgraph_uptime_seconds"));
        // A page of an external origin learns nothing, whatever the name that it gives the server.
        assert_eq!(send(at, ("GET", path), &["Origin: https://a.example"], b"").status, 403);
        assert_eq!(send(at, ("POST", path), &[], b"").status, 405);
    }
    for path in ["/query", "/health", "/admin", "/state"] {
        assert_ne!(send(at, ("GET", path), &["X-Auth-Token: root"], b"").status, 200, "{path}");
    }
    assert_eq!(site.send("GET", "/metrics", &[], b"").status, 401);
    assert_eq!(site.send("GET", "/metrics", &["X-Auth-Token: app"], b"").status, 403);
    assert_eq!(site.send("GET", "/metrics", &["X-Auth-Token: root"], b"").status, 200);
}

/// A panel of a metric that does not exist stays empty, and nobody sees why.
#[test]
fn the_dashboard_asks_for_metrics_that_exist() {
    let site = Site::new("");
    // Samples of failures and refusals exist once there was one.
    site.send("POST", "/query", &["Origin: https://a.example"], b"");
    let text = metrics(&site);
    let names: BTreeSet<&str> =
        samples(&text).keys().map(|sample| sample.split('{').next().unwrap()).collect();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grafana.json");
    let dashboard = std::fs::read_to_string(file).unwrap();
    let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
    let words = dashboard.split(|c: char| !is_name(c)).filter(|word| word.starts_with("hexgraph_"));
    let words: BTreeSet<&str> = words.collect();
    assert!(15 < words.len());
    for word in words {
        assert!(names.contains(word), "{word}");
    }
}
