//! Mutations in GraphQL beside each other, and after a restart.

use hexgraph::db::graphql::{Headers, Request};
use hexgraph::db::{Database, OpenOptions, RequestContext};
use std::thread;

const SCHEMA: &str = "
type Account { name: String! @id balance: Int friends: [Account] @hasInverse(field: friends) }
";

fn ask(db: &Database, text: &str) -> String {
    let response = db.graphql_with(&Request::new(text), &Headers::new(), &RequestContext::new());
    String::from_utf8(response.to_json("")).unwrap()
}

fn ask_all(db: &Database, text: &str) -> Vec<String> {
    thread::scope(|scope| {
        let each = (0..8).map(|_| scope.spawn(|| ask(db, text)));
        let each: Vec<_> = each.collect();
        each.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn a_name_is_given_once() {
    let db = Database::in_memory();
    db.set_graphql_schema(SCHEMA).unwrap();
    let add = "mutation { addAccount(input: [{name: \"a\", balance: 1}]) { numUids } }";
    let answers = ask_all(&db, add);
    let done =
        answers.iter().filter(|answer| **answer == r#"{"data":{"addAccount":{"numUids":1}}}"#);
    assert_eq!(done.count(), 1, "{answers:?}");
    let taken = answers.iter().filter(|answer| answer.contains("id a already exists"));
    assert_eq!(taken.count(), 7, "{answers:?}");
    let upsert = "mutation { addAccount(input: [{name: \"b\", friends: [{name: \"c\"}]}], upsert: true) { numUids } }";
    let answers = ask_all(&db, upsert);
    let made = answers.iter().filter(|answer| answer.contains("\"numUids\":2"));
    assert_eq!(made.count(), 1, "{answers:?}");
    assert_eq!(
        ask(&db, "{ aggregateAccount { count } }"),
        r#"{"data":{"aggregateAccount":{"count":3}}}"#
    );
}

#[test]
fn mutations_survive_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Database::open(dir.path(), OpenOptions::default()).unwrap();
    let db = open();
    db.set_graphql_schema(SCHEMA).unwrap();
    ask(
        &db,
        "mutation { addAccount(input: [{name: \"a\", friends: [{name: \"b\"}, {name: \"c\"}]}]) { numUids } updateAccount(input: {filter: {}, set: {balance: 5}, remove: {friends: [{name: \"b\"}]}}) { numUids } deleteAccount(filter: {name: {eq: \"b\"}}) { numUids } }",
    );
    let query = "{ queryAccount(order: {asc: name}) { name balance friends { name } } }";
    let before = ask(&db, query);
    let want = r#"{"data":{"queryAccount":[{"name":"a","balance":5,"friends":[{"name":"c"}]},{"name":"c","balance":5,"friends":[{"name":"a"}]}]}}"#;
    assert_eq!(before, want);
    drop(db);
    assert_eq!(ask(&open(), query), before);
}
