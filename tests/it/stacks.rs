//! Deep requests on threads with small stacks: each is answered, or refused in words, and the
//! process lives.
//!
//! The list below has one request for each walk over something that nests: texts, plans, filters,
//! math, answers and the trees that are dropped. `types/work/stack.rs` is what all of them ask.

use hexgraph::db::{Database, Mutation, MutationRequest, QueryRequest, RequestContext, Statements};
use std::thread;

/// From what musl gives to what the system gives, in KiB.
const STACKS: [usize; 6] = [128, 192, 256, 512, 1024, 8192];

/// Is answered on any of them.
const SIMPLE: &str = "{ q(func: uid(1)) { name } }";

mod graphql;

type Ask = fn(&Database, &str) -> Result<String, String>;

fn on_stack<T: Send + 'static>(kib: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    thread::Builder::new().stack_size(kib << 10).spawn(work).unwrap().join().unwrap()
}

fn query(db: &Database, text: &str) -> Result<String, String> {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    let answer =
        db.query_with(&request, &RequestContext::new()).and_then(|answer| answer.to_json());
    answer.map(|(json, _)| json).map_err(|error| error.to_string())
}

fn rdf(db: &Database, text: &str) -> Result<String, String> {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    let answer = db.query_with(&request, &RequestContext::new()).and_then(|answer| answer.to_rdf());
    answer.map(|(lines, _)| lines).map_err(|error| error.to_string())
}

fn explain(db: &Database, text: &str) -> Result<String, String> {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    db.explain_with(&request, &RequestContext::new()).map_err(|error| error.to_string())?;
    let reported = db.profile_with(&request, &RequestContext::new());
    reported.map(|reported| reported.to_string()).map_err(|error| error.to_string())
}

fn upsert(db: &Database, text: &str) -> Result<String, String> {
    let done = db.mutate_text_with(text, &RequestContext::new());
    done.map(|_| String::new()).map_err(|error| error.to_string())
}

fn json(db: &Database, text: &str) -> Result<String, String> {
    let set = vec![Statements::Json(text)];
    let mutations = vec![Mutation { set, ..Mutation::default() }];
    let request = MutationRequest { mutations, ..MutationRequest::default() };
    let done = db.mutate_with(&request, &RequestContext::new());
    done.map(|_| String::new()).map_err(|error| error.to_string())
}

/// `before` so many times, what is inside, `after` as often.
fn nested(before: &str, inside: &str, after: &str, times: usize) -> String {
    format!("{}{inside}{}", before.repeat(times), after.repeat(times))
}

/// Asks on each stack: the largest one has to answer, the others may refuse. Afterwards all answer
/// what is simple.
fn ask_everywhere(db: &Database, name: &str, text: &str, ask: Ask) {
    for kib in STACKS.into_iter().rev() {
        let (there, requested) = (db.clone(), text.to_owned());
        let reported = on_stack(kib, move || ask(&there, &requested));
        match reported {
            Ok(_) => {}
            Err(refusal) if refusal.contains("nested too deeply for the stack") && kib < 8192 => {}
            Err(other) => panic!("{name} on {kib} KiB: {other}"),
        }
        let there = db.clone();
        let simple = on_stack(kib, move || query(&there, SIMPLE));
        assert_eq!(simple.unwrap(), r#"{"q":[{"name":"one"}]}"#, "{kib} KiB");
    }
}

fn graph() -> Database {
    let db = Database::in_memory();
    db.alter(
        "name: string @index(exact, trigram) .\nage: int @index(int) .\nplace: geo .\n\
         knows: [uid] @reverse @count .\ntype Person {\n name\n knows\n age\n}",
    )
    .unwrap();
    let lines = "<1> <name> \"one\" .\n<2> <name> \"two\" .\n<1> <age> \"1\" .\n<2> <age> \"2\" .\n\
                 <1> <knows> <2> (w=1) .\n<2> <knows> <1> (w=2) .\n<1> <dgraph.type> \"Person\" .\n\
                 <2> <dgraph.type> \"Person\" .";
    db.mutate(lines, "").unwrap();
    db
}

#[test]
fn deep_dql_is_answered_or_refused() {
    let db = graph();
    let block = |inside: &str| format!("{{ q(func: uid(1)) {inside} }}");
    let filter = |inside: &str| block(&format!("@filter({inside}) {{ name }}"));
    let levels = nested("{ name knows ", "{ name }", "}", 50);
    let spreads: String = (0..60)
        .map(|at| format!("fragment f{at} {{ knows {{ name ...f{} }} }}\n", at + 1))
        .collect();
    let cases: [(&str, String, Ask); 18] = [
        ("levels", block(&levels), query),
        ("levels as facts", block(&nested("{ name knows ", "{ name }", "}", 12)), rdf),
        ("steps of levels", block(&levels), explain),
        ("cascade", block(&format!("@cascade {levels}")), query),
        ("normalize", block(&nested("@normalize { knows ", "{ n: name }", "}", 12)), query),
        (
            "variables",
            format!(
                "{{ var(func: uid(1)) {} q(func: uid(x)) {{ name }} }}",
                nested("{ knows ", "{ x as knows }", "}", 60)
            ),
            query,
        ),
        (
            "facets",
            block(&nested("{ knows @facets(w) @facets(gt(w, 0)) ", "{ name }", "}", 40)),
            query,
        ),
        (
            "groups",
            block(&nested("{ knows ", "{ knows @groupby(age) { count(uid) } }", "}", 40)),
            query,
        ),
        ("expand", block(&nested("{ expand(_all_) ", "{ uid }", "}", 12)), query),
        ("fragments", format!("{} fragment f60 {{ uid }}\n{}", block("{ ...f0 }"), spreads), query),
        ("brackets", filter(&nested("(", "has(name)", ")", 150)), query),
        ("negations", filter(&nested("not (", "has(name)", ")", 100)), query),
        ("alternatives", filter(&nested("(has(age) or ", "has(name)", ")", 100)), query),
        (
            "facet filter",
            block(&format!(
                "{{ knows @facets({}) {{ name }} }}",
                nested("(", "gt(w, 0)", ")", 100)
            )),
            query,
        ),
        (
            "math",
            format!(
                "{{ var(func: uid(1)) {{ a as age }} q(func: uid(1)) {{ m: math({}) }} }}",
                nested("(1 + ", "a", ")", 60)
            ),
            query,
        ),
        (
            "recursion",
            "{ q(func: uid(1)) @recurse(depth: 240, loop: true) { name knows } }".to_owned(),
            query,
        ),
        ("pattern", filter(&format!("regexp(name, /{}/)", nested("(", "one", ")", 90))), query),
        (
            "condition",
            format!(
                "upsert {{ query {{ v as var(func: eq(name, \"one\")) }} \
            mutation @if({}) {{ set {{ <7> <name> \"seven\" . }} }} }}",
                nested("(", "eq(len(v), 1)", ")", 90)
            ),
            upsert,
        ),
    ];
    for (name, text, ask) in &cases {
        ask_everywhere(&db, name, text, *ask);
    }
}

#[test]
fn deep_values_are_stored_or_refused() {
    let db = graph();
    let objects = nested("{\"knows\":", "{\"name\":\"x\"}", "}", 120);
    ask_everywhere(&db, "objects", &objects, json);
    let lists = format!("{{\"name\":\"y\",\"knows\":[{objects},{objects}]}}");
    ask_everywhere(&db, "lists of objects", &lists, json);
    let member = "{\"type\":\"GeometryCollection\",\"geometries\":[";
    let geometry = nested(member, "{\"type\":\"Point\",\"coordinates\":[1,2]}", "]}", 30);
    let lines = format!("{{\"uid\":\"9\",\"place\":{geometry}}}");
    for kib in STACKS {
        let (there, lines) = (db.clone(), lines.clone());
        // Collections are refused by the store; what counts is that they are refused.
        let refusal = on_stack(kib, move || json(&there, &lines)).unwrap_err();
        assert!(refusal.contains("place") || refusal.contains("nested too deeply"), "{refusal}");
    }
}

/// What nests on a large stack is retained as a plan, which a small one meets.
#[test]
fn plans_of_large_stacks_meet_small_ones() {
    let db = graph();
    let deep = format!("{{ q(func: uid(1)) {} }}", nested("{ name knows ", "{ name }", "}", 190));
    let (there, text) = (db.clone(), deep.clone());
    on_stack(32 << 10, move || query(&there, &text)).unwrap();
    let refusal = on_stack(128, move || query(&db, &deep)).unwrap_err();
    assert!(refusal.contains("nested too deeply for the stack"), "{refusal}");
}
