//! Mutations: what their texts become.

use super::site::{Attack, Row, Site, post, row};

const JSON: &str = "Content-Type: application/json";
const DONE: &str = "\"code\":\"Success\"";

/// `{"set": [item, item, …]}` of so many bytes.
fn json_of(kind: &str, item: &str, bytes: usize) -> String {
    let items = vec![item; bytes / item.len()].join(",");
    format!("{{\"{kind}\":[{items}]}}")
}

fn mutate(body: &str) -> Attack {
    post("/mutate?commitNow=true", &[JSON], body)
}

#[test]
fn json() {
    let rows: Vec<Row> = vec![row("nested objects", DONE, |_| {
        mutate(&json_of("set", r#"{"a":{"b":{"c":{}}}}"#, 1 << 20))
    })];
    Site::new().measure(rows);
}
