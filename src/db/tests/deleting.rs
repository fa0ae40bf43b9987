use crate::db::ask::plans::Variables;
use crate::db::{Control, Database, Nodes, OpenOptions};
use hexgraph_base::types::{Error, Uid};

const SCHEMA: &str = "name: string @index(exact) @lang .\ntag: [string] @index(exact) .\nback: [uid] @reverse @count .\n\
     plain: [uid] .\nbest: uid .\n";
const SET: &str = "<1> <name> \"Ada\" .\n<1> <name> \"Ada\"@de .\n<1> <tag> \"a\" .\n<1> <tag> \"b\" .\n<1> <plain> <2> .\n\
     <2> <name> \"Bob\" .\n<2> <plain> <1> (w=1) .\n<2> <plain> <3> .\n<3> <best> <1> .\n<3> <back> <1> .\n<1> <back> <3> .\n\
     <1> <back> <1> .\n<4> <name> \"Cleo\" .\n<4> <best> <2> .\n";

fn database(options: OpenOptions, path: Option<&std::path::Path>) -> Database {
    let database = match path {
        Some(path) => Database::open(path, options).unwrap(),
        None => Database::in_memory(),
    };
    database.alter(SCHEMA).unwrap();
    database.mutate(SET, "").unwrap();
    database
}

/// Everything that is stored, sorted.
fn export(database: &Database) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.rdf");
    database.export(&path, &Control::new()).unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn nodes_go_with_all_their_edges_both_ways() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let database_of = || database(super::small(), Some(&path));
    let opened = database_of();
    let before = export(&opened);
    let query = "{ q(func: eq(name, \"Ada\")) { plain } }";
    let done = opened.delete(&Nodes::Query(query, &Variables::new()), &Control::new()).unwrap();
    assert_eq!((done.nodes, done.values, done.edges), (1, 4, 6));
    let left: Vec<String> = before.into_iter().filter(|line| !line.contains("<0x1>")).collect();
    assert_eq!(export(&opened), left);
    // The same from the log.
    drop(opened);
    let again = Database::open(&path, super::small()).unwrap();
    assert_eq!(export(&again), left);
    let none = again.delete(&Nodes::Uids(&[Uid(1), Uid(77)]), &Control::new()).unwrap();
    assert_eq!((none.nodes, none.values, none.edges), (0, 0, 0));
}

#[test]
fn a_delete_conflicts_with_an_open_transaction() {
    let database = database(OpenOptions::default(), None);
    let txn = database.begin(crate::db::TxnOptions::default()).unwrap();
    txn.mutate_text("{ set { <3> <best> <4> . } }", &Control::new()).unwrap();
    database.delete(&Nodes::Uids(&[Uid(1)]), &Control::new()).unwrap();
    assert!(matches!(txn.commit(), Err(Error::Conflict)));
}

#[test]
fn what_selects_no_nodes_is_refused() {
    let database = database(OpenOptions::default(), None);
    let before = export(&database);
    for (query, why) in [
        ("{ q(func: uid(1)) p(func: uid(2)) }", "one block"),
        ("schema {}", "one block"),
        ("{ q() { x: math(1) } }", "selects no nodes"),
        ("{ p as shortest(from: 1, to: 2) { plain } q(func: uid(p)) }", "one block"),
        ("{ q(func: has(name)) @groupby(name) { count(uid) } }", "selects no nodes"),
    ] {
        let refused = database.delete(&Nodes::Query(query, &Variables::new()), &Control::new());
        let message = refused.unwrap_err().to_string();
        assert!(message.contains(why), "{query}: {message}");
    }
    assert_eq!(export(&database), before);
}
