use crate::db::access::{AccessOptions, LoginRequest, NewUser};
use crate::db::query::plans::Variables;
use crate::db::{Database, Nodes, OpenOptions, RequestContext, TxnOptions};
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
    database.export_with(&path, &RequestContext::new()).unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn nodes_are_deleted_with_edges_in_both_directions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let database_of = || database(super::small(), Some(&path));
    let opened = database_of();
    let before = export(&opened);
    let query = "{ q(func: eq(name, \"Ada\")) { plain } }";
    let done = opened
        .delete_with(&Nodes::Query(query, &Variables::new()), &RequestContext::new())
        .unwrap();
    assert_eq!((done.nodes, done.values, done.edges), (1, 4, 6));
    let left: Vec<String> = before.into_iter().filter(|line| !line.contains("<0x1>")).collect();
    assert_eq!(export(&opened), left);
    // The same from the log.
    drop(opened);
    let again = Database::open(&path, super::small()).unwrap();
    assert_eq!(export(&again), left);
    let none = again.delete_with(&Nodes::Uids(&[Uid(1), Uid(77)]), &RequestContext::new()).unwrap();
    assert_eq!((none.nodes, none.values, none.edges), (0, 0, 0));
}

#[test]
fn a_delete_conflicts_with_an_open_transaction() {
    let database = database(OpenOptions::default(), None);
    let txn = database.begin(TxnOptions::default()).unwrap();
    txn.mutate_text_with("{ set { <3> <best> <4> . } }", &RequestContext::new()).unwrap();
    database.delete_with(&Nodes::Uids(&[Uid(1)]), &RequestContext::new()).unwrap();
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
        let refused =
            database.delete_with(&Nodes::Query(query, &Variables::new()), &RequestContext::new());
        let message = refused.unwrap_err().to_string();
        assert!(message.contains(why), "{query}: {message}");
    }
    assert_eq!(export(&database), before);
}

/// A transaction sees its delete at once, others with its commit; what it makes afterwards stays.
#[test]
fn a_transaction_deletes_what_it_sees() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let opened = database(super::small(), Some(&path));
    let before = export(&opened);
    let txn = opened.begin(TxnOptions::default()).unwrap();
    txn.mutate_text_with(
        "{ set { <5> <plain> <1> .\n<5> <name> \"Dan\" . } }",
        &RequestContext::new(),
    )
    .unwrap();
    let query = "{ q(func: eq(name, [\"Ada\", \"Dan\"])) }";
    let done =
        txn.delete_with(&Nodes::Query(query, &Variables::new()), &RequestContext::new()).unwrap();
    assert_eq!((done.nodes, done.values, done.edges, done.commit), (2, 5, 7, 0));
    let again = txn.delete_with(&Nodes::Uids(&[Uid(1), Uid(5)]), &RequestContext::new()).unwrap();
    assert_eq!((again.nodes, again.values, again.edges), (0, 0, 0));
    txn.mutate_text_with("{ set { <1> <name> \"Eve\" . } }", &RequestContext::new()).unwrap();
    assert_eq!(export(&opened), before);
    // Somebody else changes what has nothing to do with it: the delete is executed again upon that.
    opened.mutate("<4> <tag> \"c\" .", "").unwrap();
    txn.commit().unwrap();
    let mut left: Vec<_> = before.into_iter().filter(|line| !line.contains("<0x1>")).collect();
    left.extend(["<0x1> <name> \"Eve\" .".to_owned(), "<0x4> <tag> \"c\" .".to_owned()]);
    left.sort();
    assert_eq!(export(&opened), left);
    drop(txn);
    drop(opened);
    assert_eq!(export(&Database::open(&path, super::small()).unwrap()), left);
}

/// Whatever another one gives to a deleted node before the commit would be left at a node that is
/// gone.
#[test]
fn a_transaction_that_deletes_conflicts_with_all_that_touches_its_nodes() {
    for other in [
        "<4> <plain> <1> .",
        "<4> <best> <1> .",
        "<3> <back> <2> .\n<4> <back> <1> .",
        "<1> <name> \"Eve\" .",
        "<1> <name> \"Eve\"@fr .",
        "<1> <tag> \"c\" .",
        "<1> <back> <2> .",
        "<1> <new> \"x\" .",
        "<1> <back> <4> .",
    ] {
        let database = database(OpenOptions::default(), None);
        let txn = database.begin(TxnOptions::default()).unwrap();
        txn.delete_with(&Nodes::Uids(&[Uid(1)]), &RequestContext::new()).unwrap();
        database.mutate(other, "").unwrap();
        let before = export(&database);
        assert!(matches!(txn.commit(), Err(Error::Conflict)), "{other}");
        assert_eq!(export(&database), before);
    }
    // Two that delete the same node, and one that deletes an edge to it.
    let database = database(OpenOptions::default(), None);
    let begin = || database.begin(TxnOptions::default()).unwrap();
    let (one, two, three) = (begin(), begin(), begin());
    for txn in [&one, &two] {
        txn.delete_with(&Nodes::Uids(&[Uid(1)]), &RequestContext::new()).unwrap();
    }
    three.mutate_text_with("{ delete { <2> <plain> <1> . } }", &RequestContext::new()).unwrap();
    one.commit().unwrap();
    assert!(matches!(two.commit(), Err(Error::Conflict)));
    assert!(matches!(three.commit(), Err(Error::Conflict)));
}

#[test]
fn a_transaction_that_fails_to_delete_goes_on() {
    let database = database(OpenOptions::default(), None);
    let before = export(&database);
    let reader = database.begin(TxnOptions { read_only: true, ..TxnOptions::default() }).unwrap();
    assert!(reader.delete_with(&Nodes::Uids(&[Uid(1)]), &RequestContext::new()).is_err());
    let txn = database.begin(TxnOptions::default()).unwrap();
    let wrong = "{ q(func: uid(1)) p(func: uid(2)) }";
    assert!(
        txn.delete_with(&Nodes::Query(wrong, &Variables::new()), &RequestContext::new()).is_err()
    );
    let stopped = RequestContext::new();
    stopped.canceller().cancel();
    let refused = txn.delete_with(&Nodes::Uids(&[Uid(1)]), &stopped).unwrap_err();
    assert!(matches!(refused, Error::Limit { .. }), "{refused}");
    txn.mutate_text_with("{ set { <9> <name> \"Ivy\" . } }", &RequestContext::new()).unwrap();
    txn.commit().unwrap();
    assert!(txn.delete_with(&Nodes::Uids(&[Uid(2)]), &RequestContext::new()).is_err());
    let mut left = before;
    left.push("<0x9> <name> \"Ivy\" .".to_owned());
    assert_eq!(export(&database), left);
}

/// Past a limit nothing is deleted: neither by the memory of a request, nor by the statements of
/// open transactions.
#[test]
fn limits_stop_a_delete() {
    let mut options = OpenOptions::default();
    options.limits.memory = 16 << 10;
    options.transactions.statements = 100;
    let database = Database::in_memory_with(options);
    database.alter("plain: [uid] .").unwrap();
    let lines: Vec<_> = (1..=200).map(|at| format!("<{at}> <plain> <{}> .", at + 1)).collect();
    // In parts within the limits.
    for some in lines.chunks(20) {
        database.mutate(&some.join("\n"), "").unwrap();
    }
    let before = export(&database);
    let uids: Vec<Uid> = (1..=150).map(Uid).collect();
    let refused = database.delete_with(&Nodes::Uids(&uids), &RequestContext::new()).unwrap_err();
    assert!(refused.to_string().contains("limit `memory`"), "{refused}");
    let txn = database.begin(TxnOptions::default()).unwrap();
    assert!(matches!(
        txn.delete_with(&Nodes::Uids(&uids), &RequestContext::new()),
        Err(Error::Limit { .. })
    ));
    drop(txn);
    assert_eq!(export(&database), before);
}

/// One who may not write a predicate that would change deletes nothing, neither at once nor in a
/// transaction.
#[test]
fn who_may_not_write_all_of_it_deletes_nothing() {
    let db = database(OpenOptions::default(), None);
    db.enable_access(AccessOptions::new(vec![7; 32])).unwrap();
    let rules = |names: &[&'static str], may: i64| {
        names.iter().map(|name| (*name, may)).collect::<Vec<_>>()
    };
    let every = ["name", "tag", "back", "plain", "best"];
    let groups = [
        ("all", rules(&every, 6)),
        // Without the edges that point to the node from elsewhere, and without a value of it.
        ("some", rules(&["name", "tag", "back", "plain"], 6)),
        ("none", rules(&every, 4)),
    ];
    db.add_groups(&groups).unwrap();
    let user = |(name, group)| NewUser { name, password: "long enough", groups: vec![group] };
    db.add_users(&[("writer", "all"), ("partly", "some"), ("reader", "none")].map(user)).unwrap();
    let handle = |name: &str| {
        let request = LoginRequest {
            user: name.to_owned(),
            password: "long enough".to_owned(),
            ..LoginRequest::default()
        };
        db.for_token(Some(&db.login_with(&request, &RequestContext::new()).unwrap().access))
    };
    let before = export(&db);
    let (ada, query) = (Nodes::Uids(&[Uid(1)]), "{ q(func: has(name)) }");
    let none = Variables::new();
    for name in ["partly", "reader"] {
        let handle = handle(name);
        for nodes in [&ada, &Nodes::Query(query, &none)] {
            let refused = handle.delete_with(nodes, &RequestContext::new()).unwrap_err();
            assert!(matches!(refused, Error::Access(_)), "{name}: {refused}");
            let txn = handle.begin(TxnOptions::default()).unwrap();
            let refused = txn.delete_with(nodes, &RequestContext::new()).unwrap_err();
            assert!(matches!(refused, Error::Access(_)), "{name}: {refused}");
            txn.commit().unwrap();
        }
        assert_eq!(export(&db), before);
    }
    // A right to all that changes is enough: nobody points to node 4.
    let done = handle("writer").delete_with(&ada, &RequestContext::new()).unwrap();
    assert_eq!((done.nodes, done.values, done.edges), (1, 4, 6));
    let existing = handle("partly").delete_with(&Nodes::Uids(&[Uid(3)]), &RequestContext::new());
    assert_eq!(existing.unwrap().edges, 1);
}
