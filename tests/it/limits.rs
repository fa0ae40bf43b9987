//! Past a limit a request fails with the limit's name, and the database goes on.

use hexgraph::db::Control;
use hexgraph::db::Database;
use hexgraph::db::OpenOptions;
use hexgraph::db::QueryRequest;
use std::fmt::Write;

/// A hundred nodes, each with an edge to each, and a name.
fn database(limits: &[(&str, &str)]) -> Database {
    let mut options = OpenOptions::default();
    for (name, value) in limits {
        options.limits.set(name, value).unwrap();
    }
    let db = Database::in_memory_with(options);
    db.alter("name: string @index(exact) .\nknows: [uid] @reverse .\nage: int @index(int) .")
        .unwrap();
    let mut lines = String::new();
    for one in 1..=100 {
        writeln!(lines, "<{one}> <name> \"node {one}\" .\n<{one}> <age> \"{one}\" .").unwrap();
        for other in 1..=100 {
            writeln!(lines, "<{one}> <knows> <{other}> .").unwrap();
        }
    }
    db.mutate(&lines, "").unwrap();
    db
}

fn ask(db: &Database, text: &str) -> Result<String, String> {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    let answer = db.query(&request, &Control::new()).and_then(|answer| answer.to_json());
    answer.map(|(json, _)| json).map_err(|error| error.to_string())
}

const WIDE: &str = "{ q(func: has(name)) { name knows { name knows { name } } } }";

#[test]
fn each_limit_is_named_and_nothing_else_suffers() {
    let recurse = "{ q(func: uid(1)) @recurse(depth: 40, loop: true) { uid knows } }";
    let flat = "{ q(func: uid(1)) @normalize { a: name knows { b: name knows { c: name } } } }";
    let paths = "{ shortest(from: 1, to: 100, numpaths: 50) { knows } }";
    for (name, value, text) in [
        ("memory", "50KiB", WIDE),
        ("result", "100KiB", WIDE),
        ("timeout", "0s", WIDE),
        ("text", "20", WIDE),
        ("edges", "500", recurse),
        (
            "levels",
            "3",
            "{ q(func: uid(1)) @recurse(depth: 9, loop: true) { knows @filter(uid(2)) } }",
        ),
        ("normalize", "5000", flat),
        ("frontier", "100", paths),
    ] {
        let db = database(&[(name, value)]);
        let error = ask(&db, text).unwrap_err();
        assert!(error.contains(&format!("`{name}`")), "{name}: {error}");
        if !matches!(name, "timeout" | "text") {
            assert_eq!(
                ask(&db, "{ q(func: uid(7)) { name } }").unwrap(),
                r#"{"q":[{"name":"node 7"}]}"#
            );
        }
        let roomy = database(&[]);
        assert!(name == "edges" || name == "levels" || ask(&roomy, text).is_ok(), "{name}");
    }
}

#[test]
fn explain_tells_the_steps() {
    let db = database(&[("slow", "0s")]);
    let text = "{ var(func: eq(name, \"node 3\")) { x as knows @filter(ge(age, 91)) }\n\
                q(func: uid(x), orderdesc: age, first: 2) { name } }";
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    let explanation = db.explain(&request, &Control::new()).unwrap();
    let found: Vec<_> = explanation
        .steps
        .iter()
        .map(|step| (step.depth, step.action, step.detail.as_str(), step.way, step.rows))
        .collect();
    let expected = [
        (0, "block", "var", "", 1),
        (1, "root", "eq(name, \"node 3\")", "index", 1),
        (1, "field", "knows", "", 10),
        (2, "filter", "ge(age, 91)", "index", 10),
        (1, "variables", "", "", 1),
        (0, "block", "q", "", 2),
        (1, "root", "uid(x)", "index", 10),
        (1, "order", "q", "sorts", 2),
        (1, "field", "name", "", 2),
        (1, "variables", "", "", 0),
    ];
    assert_eq!(found, expected);
    assert_eq!(explanation.steps[1].estimate, Some(1));
    assert!(explanation.to_string().contains("ge(age, 91) (index)"));
    let slow = db.slow_queries();
    assert_eq!(slow.last().map(|query| query.text.as_str()), Some(text));
}
