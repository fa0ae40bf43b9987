//! Whether the GraphQL schema, which is data of the engine itself, and its rules outlive whatever a
//! client may send: each way by which data and definitions change is tried on it.

use hexgraph::db::graphql::{Headers, Request};
use hexgraph::db::{
    Database, Drop, LoadOptions, Mutation, MutationRequest, QueryRequest, RequestContext, Source,
    Statements, TxnOptions,
};
use hexgraph::tables::{EdgeOptions, IdSpace, NodeOptions, Table};
use hexgraph::types::Result;
use serde_json::{Value, json};

const SDL: &str = r#"
type Doc @auth(query: { rule: "{ $ROLE: { eq: \"ADMIN\" } }" }) { id: ID! title: String @search(by: [exact]) }
# Dgraph.Authorization {"VerificationKey":"a secret of the test","Header":"X-Auth","Namespace":"https://x/claims","Algo":"HS256"}
"#;

const REFUSED: &str = "Cannot mutate graphql reserved predicate dgraph.graphql.schema";
const UNKNOWN: &str = "Can't store predicate `dgraph.name` as it is prefixed with `dgraph.` which is reserved as the namespace for dgraph's internal types/predicates.";

fn graphql(db: &Database, text: &str) -> Value {
    let response = db.graphql_with(&Request::new(text), &Headers::new(), &RequestContext::new());
    serde_json::from_slice(&response.to_json("")).unwrap()
}

fn ask(db: &Database, text: &str) -> Value {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    let (json, _) = db.query_with(&request, &RequestContext::new()).unwrap().to_json().unwrap();
    serde_json::from_str(&json).unwrap()
}

/// A database with a schema and a hidden node, and the node of the schema.
fn guarded() -> (Database, String) {
    let db = Database::in_memory();
    let id = db.set_graphql_schema(SDL).unwrap().id.to_string();
    db.mutate("_:d <dgraph.type> \"Doc\" .\n_:d <Doc.title> \"hidden\" .", "").unwrap();
    check(&db, "before anything");
    (db, id)
}

/// Checks that the schema, its node and its rules are there.
fn check(db: &Database, after: &str) {
    let schema = db.graphql_schema().unwrap().expect(after);
    assert_eq!(schema.schema, SDL, "{after}");
    let result = graphql(db, "{ queryDoc { title } }");
    assert_eq!(result["data"], json!({"queryDoc": []}), "{after}");
    let result = ask(db, "{ q(func: type(dgraph.graphql)) { dgraph.type dgraph.graphql.xid } }");
    let node =
        json!([{"dgraph.type": ["dgraph.graphql"], "dgraph.graphql.xid": "dgraph.graphql.schema"}]);
    assert_eq!(result["q"], node, "{after}");
    let result = ask(db, "{ q(func: has(Doc.title)) { Doc.title } }");
    assert_eq!(result["q"], json!([{"Doc.title": "hidden"}]), "{after}");
}

/// Checks that something was refused for the reason `why`, or done where there is none; the schema
/// is there either way.
fn tried<T>(db: &Database, what: &str, why: &str, done: Result<T>) {
    match (done, why) {
        (Ok(_), "") => {}
        (Ok(_), why) => panic!("{what} was done, and should be refused: {why}"),
        (Err(error), why) => {
            assert!(!why.is_empty() && error.to_string().contains(why), "{what}: {error}")
        }
    }
    check(db, what);
}

#[test]
fn statements() {
    let (db, id) = guarded();
    for (set, delete, why) in [
        ("", "<ID> * * .", ""),
        ("", "<ID> <dgraph.graphql.schema> * .", REFUSED),
        ("", "<ID> <dgraph.graphql.schema> \"\" .", REFUSED),
        ("", "<ID> <dgraph.graphql.xid> * .", "reserved predicate dgraph.graphql.xid"),
        ("<ID> <dgraph.graphql.schema> \"\" .", "", REFUSED),
        ("<0x77> <dgraph.graphql.schema> \"type A { b: Int }\" .", "", REFUSED),
        ("_:new <dgraph.graphql.schema> <ID> .", "", REFUSED),
        ("<ID> <dgraph.graphql.p_query> \"x\" .", "", "reserved predicate dgraph.graphql.p_query"),
        ("<ID> <dgraph.drop.op> \"x\" .", "", "reserved predicate dgraph.drop.op"),
        ("<ID> <dgraph.namespace.name> \"x\" .", "", "reserved predicate dgraph.namespace.name"),
        ("<ID> <dgraph.name> \"x\" .", "", UNKNOWN),
        ("", "<ID> <dgraph.name> * .", UNKNOWN),
        // An edge to the node, and a value of it that is everybody's, are no changes of the schema.
        ("<0x77> <friend> <ID> .\n<ID> <note> \"x\" .", "", ""),
        ("", "<ID> <note> * .\n<0x77> * * .", ""),
    ] {
        let (set, delete) = (set.replace("ID", &id), delete.replace("ID", &id));
        tried(&db, &format!("set {set} delete {delete}"), why, db.mutate(&set, &delete));
    }
    for (set, delete, why) in [
        ("", r#"{"uid": "ID"}"#, ""),
        ("", r#"[{"uid": "ID", "dgraph.graphql.schema": null}]"#, REFUSED),
        ("", r#"{"uid": "ID", "dgraph.graphql.schema": "x"}"#, REFUSED),
        (r#"{"uid": "ID", "dgraph.graphql.schema": "x"}"#, "", REFUSED),
        (r#"{"friend": {"uid": "ID", "dgraph.graphql.schema": ""}}"#, "", REFUSED),
    ] {
        let (set, delete) = (set.replace("ID", &id), delete.replace("ID", &id));
        let texts = |text: &str| match text.is_empty() {
            true => Vec::new(),
            false => vec![text.to_owned()],
        };
        let (sets, deletes) = (texts(&set), texts(&delete));
        let mutation = Mutation {
            set: sets.iter().map(|text| Statements::Json(text)).collect(),
            delete: deletes.iter().map(|text| Statements::Json(text)).collect(),
            ..Mutation::default()
        };
        let request = MutationRequest { mutations: vec![mutation], ..MutationRequest::default() };
        let done = db.mutate_with(&request, &RequestContext::new());
        tried(&db, &format!("set {set} delete {delete}"), why, done);
    }
}

#[test]
fn upserts_and_transactions() {
    let (db, id) = guarded();
    let all = "query { v as var(func: has(dgraph.graphql.schema)) { t as dgraph.graphql.schema } \
         q(func: uid(v)) { val(t) } }";
    for (what, why) in [
        ("delete { uid(v) * * . }", ""),
        ("delete { uid(v) <dgraph.graphql.schema> * . }", REFUSED),
        ("delete { uid(v) <dgraph.graphql.schema> val(t) . }", REFUSED),
        ("set { uid(v) <dgraph.graphql.schema> \"\" . }", REFUSED),
        ("set { uid(v) <dgraph.graphql.schema> val(t) . }", REFUSED),
    ] {
        let request = format!("upsert {{ {all} mutation {{ {what} }} }}");
        tried(&db, what, why, db.mutate_text_with(&request, &RequestContext::new()));
        let txn = db.begin(TxnOptions::default()).unwrap();
        let done =
            txn.mutate_text_with(&request, &RequestContext::new()).and_then(|_| txn.commit());
        tried(&db, &format!("{what}, in a transaction"), why, done);
    }
    // A type of one's own that names the predicate, so that `* *` is about it.
    db.alter("type T {\n dgraph.graphql.schema\n dgraph.type\n}").unwrap();
    let own = format!("<{id}> <dgraph.type> \"T\" .");
    db.mutate(&own, "").unwrap();
    let clear = format!("<{id}> * * .");
    db.mutate("", &clear).unwrap();
    db.mutate("", &own).unwrap();
    check(&db, "* * by a type of one's own");
    // Several parts: what is set first would be what is deleted next.
    let parts = format!("{{ set {{ <{id}> <note> \"x\" . }} delete {{ <{id}> * * . }} }}");
    tried(&db, &parts, "", db.mutate_text_with(&parts, &RequestContext::new()));
}

#[test]
fn definitions() {
    let (db, _) = guarded();
    for (text, why) in [
        (
            "dgraph.graphql.schema: int .",
            "predicate dgraph.graphql.schema is pre-defined and is not allowed to be modified",
        ),
        (
            "dgraph.type: string .",
            "predicate dgraph.type is pre-defined and is not allowed to be modified",
        ),
        (
            "dgraph.name: string .",
            "Can't alter predicate `dgraph.name` as it is prefixed with `dgraph.`",
        ),
        (
            "type dgraph.graphql {\n dgraph.type\n}",
            "type dgraph.graphql is pre-defined and is not allowed to be modified",
        ),
        (
            "type dgraph.Own {\n dgraph.type\n}",
            "Can't alter type `dgraph.Own` as it is prefixed with `dgraph.`",
        ),
    ] {
        tried(&db, text, why, db.alter(text));
    }
    let predicate = |name: &str| Drop::Predicate(name.to_owned());
    let dropped = "is pre-defined and is not allowed to be dropped";
    for name in ["dgraph.graphql.schema", "dgraph.graphql.xid", "dgraph.type"] {
        tried(&db, name, dropped, db.drop(&predicate(name)));
    }
    tried(&db, "type", dropped, db.drop(&Drop::Type("dgraph.graphql".to_owned())));
    // Data may go, the schema stays with it.
    db.drop(&Drop::Data).unwrap();
    assert_eq!(db.graphql_schema().unwrap().unwrap().schema, SDL);
}

#[test]
fn loads() {
    let (db, id) = guarded();
    let control = RequestContext::new();
    let load = |text: String, options: LoadOptions| {
        db.load_with(Source::Bytes(text.into_bytes().into()), None, options, &RequestContext::new())
    };
    let line = format!("<{id}> <dgraph.graphql.schema> \"\" .\n");
    tried(&db, "N-Quads", REFUSED, load(line.clone(), LoadOptions::default()));
    let skipping = LoadOptions { skip_errors: true, ..LoadOptions::default() };
    let report = load(line, skipping).unwrap();
    assert!(report.skipped_lines[0].reason.contains(REFUSED), "{:?}", report.skipped_lines);
    check(&db, "a load that skips");
    let json = format!(r#"[{{"uid": "{id}", "dgraph.graphql.schema": ""}}]"#);
    tried(&db, "JSON", REFUSED, load(json, LoadOptions::default()));

    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        Table::File(path)
    };
    let rows = format!("id,dgraph.graphql.schema\n{id},x\n");
    let by_uid = || NodeOptions { ids: Some(IdSpace::Uid), ..NodeOptions::default() };
    tried(&db, "nodes", REFUSED, db.load_nodes_with(file("a.csv", &rows), by_uid(), &control));
    let mut renamed = by_uid();
    renamed.columns.insert("t".to_owned(), Some("dgraph.graphql.schema".to_owned()));
    let rows = format!("id,t\n{id},x\n");
    tried(&db, "renamed", REFUSED, db.load_nodes_with(file("b.csv", &rows), renamed, &control));
    let ids = NodeOptions {
        ids: Some(IdSpace::Predicate("dgraph.graphql.xid".to_owned())),
        ..NodeOptions::default()
    };
    let done = db.load_nodes_with(file("c.csv", "id,name\nx,y\n"), ids, &control);
    tried(&db, "ids", "reserved predicate dgraph.graphql.xid", done);
    let edges = EdgeOptions::new("dgraph.graphql.schema", "a", "b");
    let done = db.load_edges_with(file("d.csv", "a,b\n1,2\n"), edges, &control);
    tried(&db, "edges", REFUSED, done);
}

#[test]
fn graphql_mutations() {
    let (db, id) = guarded();
    // A type whose field is the very predicate, and the node of the schema made one of that type.
    let sdl = format!(
        "{SDL}\ntype Own {{ id: ID! text: String @dgraph(pred: \"dgraph.graphql.schema\") }}"
    );
    db.set_graphql_schema(&sdl).unwrap();
    db.mutate(&format!("<{id}> <dgraph.type> \"Own\" ."), "").unwrap();
    let about = |what: &str| {
        format!(
            "mutation {{ {} {{ numUids }} }}",
            what.replace("ID", &format!("{{id: [\"{id}\"]}}"))
        )
    };
    for (text, why) in [
        (about("addOwn(input: [{text: \"x\"}])"), REFUSED),
        (about("updateOwn(input: {filter: ID, set: {text: \"\"}})"), REFUSED),
        (about("updateOwn(input: {filter: ID, remove: {text: null}})"), REFUSED),
        // It leaves what is not the caller's.
        (about("deleteOwn(filter: ID)"), ""),
    ] {
        let answer = graphql(&db, &text);
        let error = answer["errors"][0]["message"].as_str().unwrap_or_default();
        assert!(error.contains(why) && error.is_empty() == why.is_empty(), "{text}: {answer}");
        assert_eq!(db.graphql_schema().unwrap().unwrap().schema, sdl, "{text}");
    }
}
