//! Passwords take long on purpose: whoever sets, deletes or compares them holds up himself, and
//! nobody else.

use crate::wait::check_wait;
use hexgraph::db::graphql::{Headers, Request};
use hexgraph::db::{Database, LoadOptions, QueryRequest, RequestContext, Source};
use hexgraph::internals::exec::ExecOptions;
use hexgraph::internals::graph::{Bindings, MutationTexts, Replay, Stager, Statements, Version};
use hexgraph::internals::schema::Actor;
use hexgraph::internals::{dql, exec, graph};
use hexgraph::types::Error;
use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

const COUNT: usize = 10;
const GIVEN: &str = "$2a$10$L47fLSO7ARF8N1GzmCIXfeNty3BP4spgVME2gBvbYgPOxYGaBXNSC";
const TOO_COSTLY: &str = "the hash of the password has cost 31, and no more than 14 is computed";

fn lines(predicate: &str) -> String {
    let mut lines = String::new();
    for node in 1..=COUNT {
        writeln!(lines, "<{node}> <{predicate}> \"password {node}\" .").unwrap();
    }
    lines
}

fn ask(db: &Database, text: &str) -> Result<String, Error> {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    Ok(db.query_with(&request, &RequestContext::new())?.to_json()?.0)
}

#[test]
fn other_writers_do_not_wait() {
    let db = Database::in_memory();
    db.alter("secret: password .\nnote: string .\nok: bool .").unwrap();
    db.set_graphql_schema("type User @secret(field: \"pwd\") { id: ID! name: String! @id }")
        .unwrap();
    check_wait(&db, 2, "setting", || drop(db.mutate(&lines("secret"), "").unwrap()));
    let checked = format!(
        "upsert {{ query {{ q(func: has(secret)) {{ checkpwd(secret, \"password 1\") }} }} \
         mutation {{ set {{ {} }} }} }}",
        "_:n <ok> \"true\" ."
    );
    check_wait(&db, 2, "an upsert that compares", || {
        drop(db.mutate_text_with(&checked, &RequestContext::new()).unwrap());
    });
    check_wait(&db, 2, "deleting", || {
        db.mutate(&lines("secret"), "").unwrap();
        db.mutate("", &lines("secret")).unwrap();
    });
    assert_eq!(ask(&db, "{ q(func: has(secret)) { uid } }").unwrap(), r#"{"q":[]}"#);
    let users: String =
        (0..COUNT).map(|n| format!("{{name: \"u{n}\", pwd: \"password {n}\"}} ")).collect();
    let add = format!("mutation {{ addUser(input: [{users}], upsert: true) {{ numUids }} }}");
    check_wait(&db, 2, "GraphQL", || {
        let response =
            db.graphql_with(&Request::new(&add), &Headers::new(), &RequestContext::new());
        assert!(response.errors.is_empty(), "{:?}", response.errors);
    });
}

#[test]
fn a_request_that_hashes_can_be_stopped() {
    let db = Database::in_memory();
    db.alter("secret: password .").unwrap();
    let started = Instant::now();
    let text = format!(
        "{{ set {{ {} }} }}",
        (1..=200).map(|n| format!("<{n}> <secret> \"password\" .\n")).collect::<String>()
    );
    let control = RequestContext::new().with_timeout(Duration::from_millis(150));
    let error = db.mutate_text_with(&text, &control).map(drop).unwrap_err();
    assert!(matches!(&error, Error::Limit { message } if message.contains("timeout")), "{error}");
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    assert_eq!(ask(&db, "{ q(func: has(secret)) { uid } }").unwrap(), r#"{"q":[]}"#);
}

#[test]
fn costly_hashes_are_refused_where_they_enter() {
    let db = Database::in_memory();
    db.alter("secret: password .").unwrap();
    let costly = GIVEN.replace("$10$", "$31$");
    for line in [
        format!("<1> <secret> \"{costly}\"^^<xs:password> ."),
        format!("<1> <new> \"{costly}\"^^<xs:password> ."),
    ] {
        let error = db.mutate(&line, "").map(drop).unwrap_err();
        assert!(
            matches!(&error, Error::Query { message, .. } if message.contains(TOO_COSTLY)),
            "{error}"
        );
        let source = Source::Bytes(line.clone().into_bytes().into());
        let error =
            db.load_with(source, None, LoadOptions::default(), &RequestContext::new()).unwrap_err();
        assert!(
            matches!(&error, Error::Load { message, .. } if message.contains(TOO_COSTLY)),
            "{error}"
        );
    }
    let retained = GIVEN.replace("$10$", "$14$");
    for hash in [GIVEN, &retained, "no hash"] {
        db.mutate(&format!("<1> <secret> \"{hash}\"^^<xs:password> ."), "").unwrap();
    }
}

/// A version that holds a hash of cost 31, as one of before may.
fn costly_version() -> Version {
    let version = graph::alter(&Version::empty(), "secret: password .").unwrap();
    let line = format!("<1> <secret> \"{GIVEN}\"^^<xs:password> .");
    let tree = MutationTexts::new(&[Statements::NQuads(&line)], &[]);
    let control = RequestContext::new();
    let stager = Stager { actor: Actor::Client, passwords: &control, charge: &|_| Ok(()) };
    let statements = vec![tree.statements(&mut 0, &()).unwrap()];
    let (changes, _) = graph::stage(&version, statements, &Bindings::default(), stager).unwrap();
    let mut record = Vec::new();
    graph::encode_changes(&[changes], &mut record);
    let at = record.windows(7).position(|part| part == b"$2a$10$").unwrap();
    record[at + 4..at + 6].copy_from_slice(b"31");
    let mut replay = Replay::new(version);
    replay.record(1, &record).unwrap();
    replay.version().unwrap()
}

#[test]
fn costly_hashes_of_before_are_not_computed() {
    let version = Arc::new(costly_version());
    let control = RequestContext::new();
    let text = "{ q(func: uid(1)) { checkpwd(secret, \"testing\") } }";
    let plan = dql::parse(text).unwrap().plan(&Default::default()).unwrap();
    let started = Instant::now();
    let done =
        exec::execute(Arc::clone(&version), Arc::new(plan), ExecOptions::default(), &control);
    let error = done.map(drop).unwrap_err();
    assert!(
        matches!(&error, Error::Query { message, .. } if message.contains(TOO_COSTLY)),
        "{error}"
    );
    // It can be deleted, by what it is or altogether.
    let delete = |what: &str| {
        let line = format!("<1> <secret> {what} .");
        let tree = MutationTexts::new(&[], &[Statements::NQuads(&line)]);
        let stager = Stager { actor: Actor::Client, passwords: &control, charge: &|_| Ok(()) };
        let statements = vec![tree.statements(&mut 0, &()).unwrap()];
        let (changes, _) = graph::stage(&version, statements, &Bindings::default(), stager)?;
        changes.apply(&version)
    };
    let error = delete("\"testing\"").map(drop).unwrap_err();
    assert!(
        matches!(&error, Error::Query { message, .. } if message.contains(TOO_COSTLY)),
        "{error}"
    );
    let hash = format!("\"{}\"", GIVEN.replace("$10$", "$31$"));
    for what in ["*", &hash] {
        let left = delete(what).unwrap();
        assert!(left.predicate("secret").unwrap().subjects().is_empty(), "{what}");
    }
    assert!(started.elapsed() < Duration::from_secs(5));
}

/// Whoever asks whether a password is right learns neither by the answer nor by its time whether
/// there is somebody of the name.
#[test]
fn a_comparison_costs_the_same_whoever_is_there() {
    let db = Database::in_memory();
    db.set_graphql_schema("type User @secret(field: \"pwd\") { name: String! @id age: Int }")
        .unwrap();
    let add = "mutation { addUser(input: [{ name: \"ada\", pwd: \"password\" }]) { numUids } }";
    db.graphql_with(&Request::new(add), &Headers::new(), &RequestContext::new());
    for (name, password, result) in [
        ("ada", "password", r#"{"checkUserPassword":{"age":null}}"#),
        ("ada", "not the password", r#"{"checkUserPassword":null}"#),
        ("eve", "password", r#"{"checkUserPassword":null}"#),
        ("", "not the password", r#"{"checkUserPassword":null}"#),
    ] {
        let text =
            format!("{{ checkUserPassword(name: \"{name}\", pwd: \"{password}\") {{ age }} }}");
        let control = RequestContext::new();
        let response = db.graphql_with(&Request::new(text), &Headers::new(), &control);
        assert_eq!(String::from_utf8(response.data.unwrap()).unwrap(), result, "{name}");
        assert_eq!(control.compared_passwords(), 1, "{name} {password}");
    }
}
