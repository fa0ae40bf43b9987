//! Answers: what they are read to before they are written, and the groups of `@groupby`.

use super::site::{Attack, Row, Site, post, row};
use hexgraph::db::{Database, QueryRequest, RequestContext};
use hexgraph_server::http::ServeOptions;
use std::fmt::Write as _;

const DQL: &str = "Content-Type: application/dql";

const NODES: usize = 1000;

/// Nodes with a text of 55 bytes, a number, an edge from the first to all others, and one from each
/// to a node with a long text.
fn fill(database: &Database) {
    database
        .alter("name: string .\nn: int .\nknows: [uid] .\nnext: uid .\nhub: uid .\nlong: string .")
        .unwrap();
    let mut lines = format!("<0x100000> <long> \"{}\" .\n", "x".repeat(100 << 10));
    for uid in 1..=NODES {
        writeln!(lines, "<{uid}> <name> \"{uid:055}\" .\n<{uid}> <n> \"{uid}\" .").unwrap();
        writeln!(lines, "<1> <knows> <{uid}> .\n<{uid}> <next> <{}> .", uid + 1).unwrap();
        writeln!(lines, "<{uid}> <hub> <0x100000> .").unwrap();
    }
    database.mutate(&lines, "").unwrap();
}

fn site() -> Site {
    Site::with(ServeOptions::default(), fill)
}

/// `a0: …  a1: …`, so many times.
fn fields(count: usize, of: &str) -> String {
    (0..count).map(|position| format!("a{position}: {of} ")).collect()
}

fn ask(query: &str) -> Attack {
    post("/query", &[DQL], query)
}

const DONE: &str = "\"q\":[{";

#[test]
fn columns() {
    let rows: Vec<Row> = vec![
        row("many fields", DONE, |_| {
            ask(&format!("{{ q(func: has(name)) {{ {} }} }}", fields(1000, "name")))
        }),
        row("many fields of many targets", DONE, |_| {
            ask(&format!("{{ q(func: uid(1)) {{ knows {{ {} }} }} }}", fields(1000, "name")))
        }),
        row("many fields of single edges", DONE, |_| {
            ask(&format!("{{ q(func: has(name)) {{ next {{ {} }} }} }}", fields(1000, "name")))
        }),
        row("many fields with a cascade", DONE, |_| {
            ask(&format!("{{ q(func: has(name)) @cascade {{ {} }} }}", fields(1000, "name")))
        }),
        row("many fields, many times", "[{", |_| {
            let fields = fields(1000, "name");
            let query = format!(
                "query q($n: int) {{ q(func: has(name)) @filter(ge(n, $n)) {{ {fields} }} }}"
            );
            let lines = format!("{{\"query\":\"{query}\"}}\n{{\"$n\":\"1\"}}\n{{\"$n\":\"2\"}}\n");
            post("/query_many", &["Content-Type: application/x-ndjson"], lines)
        }),
        row("a long text in each row of a table", "1000 rows", |_| {
            let text = "{ q(func: has(name)) { hub { long } } }".to_owned();
            Box::new(|site: &Site| {
                let request = QueryRequest { text, ..QueryRequest::default() };
                let answer = site.database.query_with(&request, &RequestContext::new()).unwrap();
                let control = RequestContext::new();
                format!("{} rows", answer.table_with(None, &control).unwrap().rows)
            })
        }),
    ];
    site().measure(rows);
}

#[test]
fn groups() {
    let by = |key: &str, body: String| {
        ask(&format!("{{ q(func: has(name)) @groupby({key}) {{ {body} }} }}"))
    };
    let rows: Vec<Row> = vec![
        row("the greatest text of groups", DONE, move |_| by("name", fields(1000, "max(name)"))),
        row("the sum of groups", DONE, move |_| by("name", fields(2000, "sum(n)"))),
        row("numbers of members by an edge", DONE, move |_| by("next", fields(1000, "sum(n)"))),
    ];
    site().measure(rows);
}
