//! The same for GraphQL: requests, values, rules, introspection and subscriptions.

use super::{ask_everywhere, nested, on_stack};
use hexgraph::db::graphql::{Headers, Request};
use hexgraph::db::{Database, RequestContext};
use hexgraph::types::stack;

const SCHEMA: &str = "
type Human @withSubscription { id: ID! name: String! @search(by: [hash]) knows: [Human] @hasInverse(field: knows) }
type Note @auth(query: { and: [
    { not: { rule: \"{$ROLE: { eq: \\\"none\\\" }}\" } },
    { or: [{ rule: \"query { queryNote { of { of { of { text } } } } }\" }, { rule: \"{$ROLE: { eq: \\\"admin\\\" }}\" }] }
] }) { id: ID! text: String of: Note }
# Dgraph.Authorization {\"VerificationKey\":\"secret\",\"Header\":\"X-Test\",\"Namespace\":\"ns\",\"Algo\":\"HS256\"}
";

fn reported(json: Vec<u8>) -> Result<String, String> {
    let text = String::from_utf8(json).unwrap();
    if text.contains("\"errors\"") { Err(text) } else { Ok(text) }
}

fn ask(db: &Database, text: &str) -> Result<String, String> {
    reported(
        db.graphql_with(&Request::new(text), &Headers::new(), &RequestContext::new()).to_json(""),
    )
}

/// The variable `filter` is JSON.
fn with_filter(db: &Database, filter: &str) -> Result<String, String> {
    let mut request =
        Request::new("query q($filter: HumanFilter) { queryHuman(filter: $filter) { name } }");
    // The reader of the test, which is not what is tested, needs more stack than there may be.
    let filter = stack::with_space(|| serde_json::from_str(filter)).expect("the test writes JSON");
    request.variables = [("filter".to_owned(), filter)].into_iter().collect();
    reported(db.graphql_with(&request, &Headers::new(), &RequestContext::new()).to_json(""))
}

fn subscribe(db: &Database, text: &str) -> Result<String, String> {
    match db.graphql_subscribe(&Request::new(text), &Headers::new(), || ()) {
        Ok(_) => Ok(String::new()),
        Err(faults) => Err(format!("{faults:?}")),
    }
}

#[test]
fn deep_graphql_is_answered_or_refused() {
    let db = super::graph();
    let schema = db.clone();
    on_stack(128, move || schema.set_graphql_schema(SCHEMA).map(drop)).unwrap();
    let add = "mutation { addHuman(input: [{name: \"a\", knows: [{name: \"b\"}]}]) { numUids } }";
    ask(&db, add).unwrap();
    let people = |inside: &str| format!("{{ queryHuman {inside} }}");
    let levels = nested("{ name knows ", "{ name }", "}", 150);
    let inline = nested("{ knows { ... on Human ", "{ name }", "} }", 60);
    let spreads: String = (0..60)
        .map(|at| format!("fragment f{at} on Human {{ knows {{ name ...f{} }} }}\n", at + 1))
        .collect();
    let spreads = format!("{}\n{spreads}fragment f60 on Human {{ id }}", people("{ ...f0 }"));
    let filter = |with: &str, close: &str| {
        let inside = nested(with, "{name: {eq: \"a\"}}", close, 100);
        format!("{{ queryHuman(filter: {inside}) {{ name }} }}")
    };
    let input = nested("{name: \"c\", knows: [", "{name: \"d\"}", "]}", 60);
    let types = nested("{ name ofType ", "{ name }", "}", 150);
    let notes = nested("{ text of ", "{ text }", "}", 100);
    let cases = [
        ("levels", people(&levels)),
        ("inline fragments", people(&inline)),
        ("fragments", spreads),
        ("cascade", format!("{{ queryHuman @cascade {levels} }}")),
        ("conjunctions", filter("{and: ", "}")),
        ("alternatives", filter("{name: {eq: \"b\"}, or: ", "}")),
        ("negations", filter("{not: ", "}")),
        ("input", format!("mutation {{ addHuman(input: [{input}]) {{ numUids }} }}")),
        (
            "payload",
            format!("mutation {{ addHuman(input: [{{name: \"e\"}}]) {{ human {levels} }} }}"),
        ),
        ("introspection", format!("{{ __type(name: \"Human\") {{ fields {{ type {types} }} }} }}")),
        ("rules", format!("{{ queryNote {notes} }}")),
    ];
    for (name, text) in &cases {
        ask_everywhere(&db, name, text, ask);
    }
    ask_everywhere(
        &db,
        "variables",
        &nested("{\"not\":", "{\"name\":{\"eq\":\"a\"}}", "}", 100),
        with_filter,
    );
    ask_everywhere(&db, "subscription", &format!("subscription {}", people(&levels)), subscribe);
}
