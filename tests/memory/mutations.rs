//! Mutations: what their texts become.

use super::site::{Attack, Row, Site, post, row};
use hexgraph_server::http::ServeOptions;

const JSON: &str = "Content-Type: application/json";
const RDF: &str = "Content-Type: application/rdf";
const DONE: &str = "\"code\":\"Success\"";
const DENIED: &str = "unauthorized to mutate";

const MIB: usize = 1 << 20;

const SCHEMA: &str = "loc: geo @index(geo) .\nplace: geo .\nvector: float32vector .\ntext: string @index(trigram, term, fulltext, exact) .\nname: string @index(exact) .\nlinks: [uid] @reverse @count .";

/// `{"set": [item, item, …]}` of so many bytes.
fn json_of(kind: &str, item: &str, bytes: usize) -> String {
    format!("{{\"{kind}\":[{}]}}", repeated(item, bytes))
}

/// So many bytes of an item, with commas between.
fn repeated(item: &str, bytes: usize) -> String {
    vec![item; bytes / (item.len() + 1)].join(",")
}

/// `{"set": [{member}]}`.
fn object_of(member: String) -> String {
    format!("{{\"set\":[{{\"uid\":\"0x1\",{member}}}]}}")
}

fn mutate(body: &str) -> Attack {
    post("/mutate?commitNow=true", &[JSON], body)
}

fn mutate_rdf(body: &str) -> Attack {
    post("/mutate?commitNow=true", &[RDF], format!("{{set{{{body}}}}}"))
}

fn site() -> Site {
    Site::with(ServeOptions::default(), |database| drop(database.alter(SCHEMA).unwrap()))
}

/// A row of a JSON body.
fn json_row(name: &'static str, expects: &'static str, body: fn() -> String) -> Row {
    row(name, expects, move |_| mutate(&body()))
}

#[test]
fn json() {
    let rows = vec![
        json_row("nested objects", DONE, || json_of("set", r#"{"a":{"b":{"c":{}}}}"#, MIB)),
        json_row("numbers", "an object or an array", || json_of("set", "1", 2 * MIB)),
        json_row("lists", "an object or an array", || json_of("set", "[]", 2 * MIB)),
        json_row("a list of numbers", DONE, || {
            object_of(format!("\"numbers\":[{}]", repeated("1", MIB / 2)))
        }),
        json_row("a list of nothing", DONE, || {
            object_of(format!("\"a\":[{}]", repeated("{}", MIB)))
        }),
        json_row("one key again and again", DONE, || object_of(repeated("\"\":null", MIB))),
        json_row("deep lists", "holds something else", || {
            object_of(
                format!(
                    "\"a\":{}",
                    repeated(&format!("{}0{}", "[".repeat(200), "]".repeat(200)), MIB)
                )
                .replacen(":", ":[", 1)
                    + "]",
            )
        }),
        json_row("deletes", DONE, || json_of("delete", r#"{"uid":1,"a":null}"#, MIB)),
        json_row("escapes", DONE, || json_of("set", r#"{"uid":1,"name":"\u0041"}"#, MIB)),
        json_row("mutations", "empty request", || {
            format!("{{\"mutations\":[{}]}}", repeated("{}", 2 * MIB))
        }),
        json_row("mutations of nothing", DONE, || {
            format!("{{\"mutations\":[{}]}}", repeated("{\"set\":[]}", MIB / 2))
        }),
        json_row("lines", DONE, || object_of("\n".repeat(8 * MIB) + "\"name\":\"x\"")),
    ];
    site().measure(rows);
}

#[test]
fn values() {
    let rows = vec![
        json_row("many points", DONE, || {
            let points = repeated("[0,0]", MIB);
            object_of(format!("\"place\":{{\"type\":\"MultiPoint\",\"coordinates\":[{points}]}}"))
        }),
        json_row("many geometries", DONE, || {
            json_of("set", r#"{"loc":{"type":"Point","coordinates":[1,2]}}"#, MIB / 4)
        }),
        row("points as a text", DONE, |_| {
            let points = repeated("[0,0]", MIB);
            mutate_rdf(&format!(
                "<1> <place> \"{{'type':'MultiPoint','coordinates':[{points}]}}\" ."
            ))
        }),
        json_row("a vector", DONE, || {
            object_of(format!("\"vector\":\"[{}]\"", repeated("1", 2 * MIB)))
        }),
        json_row("a long text with tokens", DONE, || {
            object_of(format!("\"text\":\"{}\"", "ab cd ".repeat(10_000)))
        }),
        json_row("texts with tokens", DONE, || {
            json_of("set", r#"{"text":"the quick brown fox jumps"}"#, MIB / 8)
        }),
        json_row("facets of a list", DONE, || {
            let facets: String =
                (0..30_000).map(|at| format!("\"{at}\":1")).collect::<Vec<_>>().join(",");
            object_of(format!("\"ns\":[{}],\"ns|f\":{{{facets}}}", repeated("1", 60_000)))
        }),
        row("facets of a statement", "given twice", |_| {
            mutate_rdf(&format!("<1> <name> \"x\" ({}) .", repeated("a=1", MIB)))
        }),
        json_row("new predicates", DONE, || {
            let members: Vec<_> = (0..3_000).map(|at| format!("\"new{at}\":1")).collect();
            object_of(members.join(","))
        }),
    ];
    site().measure(rows);
}

#[test]
fn rdf() {
    let rows = vec![
        row("short statements", DONE, |_| mutate_rdf(&"_:a <a> _:b .\n".repeat(80_000))),
        row("edges in both directions", DONE, |_| {
            let lines: String = (0..30_000).map(|at| format!("_:a{at} <links> _:b .\n")).collect();
            mutate_rdf(&lines)
        }),
        row("deletes of everything", DONE, |_| {
            let body = format!("{{delete{{{}}}}}", "<1> * * .\n".repeat(100_000));
            post("/mutate?commitNow=true", &[RDF], body)
        }),
        row("more statements than are carried out", "more than 1000000 statements", |_| {
            let text = "<1> <a> <2> .\n".repeat(1_050_000);
            Box::new(move |site| site.database.mutate(&text, "").map(drop).unwrap_err().to_string())
        }),
    ];
    site().measure(rows);
}

/// Somebody who may change nothing does not have a tree built.
#[test]
fn without_rights() {
    let rows = vec![
        row("nested objects", DENIED, |site| {
            let body = json_of("set", r#"{"a":{"b":{"c":{}}}}"#, 2 * MIB);
            post("/mutate?commitNow=true", &[JSON, &site.token("eve")], body)
        }),
        row("short statements", DENIED, |site| {
            let body = format!("{{set{{{}}}}}", "_:a <a> _:b .\n".repeat(150_000));
            post("/mutate?commitNow=true", &[RDF, &site.token("eve")], body)
        }),
        row("without a token", "no accessJwt available", |_| {
            mutate(&json_of("set", r#"{"a":{"b":{"c":{}}}}"#, 2 * MIB))
        }),
    ];
    Site::with_users().measure(rows);
}
