//! Schemas: what their parsers, checkers and generators make of a text.

use super::site::{Attack, Row, Site, post, row};
use std::fmt::Write as _;

const JSON: &str = "Content-Type: application/json";
const DONE: &str = "\"code\":\"Success\"";

/// A line for each number.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    (0..count).for_each(|at| writeln!(text, "{}", line(at)).unwrap());
    text
}

fn alter(text: &str) -> Attack {
    post("/alter", &[], text)
}

fn predicates() -> String {
    lines(20_000, |at| format!("p{at}: string ."))
}

fn types() -> String {
    lines(1_000, |at| format!("type T{at}{{a:Int}}"))
}

/// `updateGQLSchema` with a text.
fn update(text: &str) -> String {
    let text = text.replace('\n', " ");
    format!(
        r#"{{"query":"mutation {{ updateGQLSchema(input: {{set: {{schema: \"{text}\"}}}}) {{ gqlSchema {{ id }} }} }}"}}"#
    )
}

#[test]
fn dql() {
    let rows: Vec<Row> = vec![
        row("signs", "found `.`", |_| alter(&".".repeat(1 << 20))),
        row("predicates", DONE, |_| alter(&predicates())),
        row("the same predicates", DONE, |_| alter(&predicates())),
        row("predicates with indexes", DONE, |_| {
            alter(&lines(3_000, |at| format!("q{at}: string @index(term, exact) @lang .")))
        }),
        row("fields of a type", DONE, |_| {
            alter(&format!("type T {{\n{}}}", lines(20_000, |at| format!("p{at}"))))
        }),
        row("an operation in JSON", DONE, |_| {
            let text = predicates().replace('\n', "\\n");
            post("/alter", &[], format!("{{\"schema\":\"{text}\"}}"))
        }),
    ];
    Site::new().measure(rows);
}

#[test]
fn graphql() {
    let rows: Vec<Row> = vec![
        row("types", DONE, |_| post("/admin/schema", &[], types())),
        row("types to be validated", "Schema is valid", |_| {
            post("/admin/schema/validate", &[], types())
        }),
        row("types in a mutation", "gqlSchema", |_| post("/admin", &[JSON], update(&types()))),
        row("fields of interfaces", DONE, |_| {
            let fields = lines(80, |at| format!("f{at}: Int"));
            let objects = lines(60, |at| format!("type T{at} implements I {{ own: Int }}"));
            post("/admin/schema", &[], format!("interface I {{\n{fields}}}\n{objects}"))
        }),
        row("searchable fields", DONE, |_| {
            let fields = lines(1_500, |at| format!("f{at}: String @search(by: [term, exact])"));
            post("/admin/schema", &[], format!("type T {{\n{fields}}}"))
        }),
        row("values of an enum", DONE, |_| {
            let values = lines(20_000, |at| format!("V{at}"));
            post("/admin/schema", &[], format!("enum E {{\n{values}}}\ntype T {{ e: E }}"))
        }),
        row("faults", "resolving updateGQLSchema failed", |_| {
            post("/admin/schema", &[], lines(3_000, |at| format!("type T{at} {{ a: Missing }}")))
        }),
        row("brackets", "resolving updateGQLSchema failed", |_| {
            post("/admin/schema", &[], "{".repeat(1 << 20))
        }),
    ];
    Site::new().measure(rows);
}

#[test]
fn without_rights() {
    let rows: Vec<Row> = vec![
        row("predicates", "unauthorized to alter any predicate", |site| {
            post("/alter", &[&site.token("eve")], predicates())
        }),
        row("types", "Only guardians are allowed", |site| {
            post("/admin/schema", &[&site.token("eve")], types())
        }),
        row("types to be validated", "Only guardians are allowed", |site| {
            post("/admin/schema/validate", &[&site.token("eve")], types())
        }),
        row("types in a mutation", "Only guardians are allowed", |site| {
            post("/admin", &[JSON, &site.token("eve")], update(&types()))
        }),
    ];
    Site::with_users().measure(rows);
}
