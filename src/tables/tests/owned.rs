//! Types get the edges of their nodes as fields, and nodes that are made get a type.

use super::{batch, edges, ints, json, nodes, table, texts};
use crate::db::{Database, LoadReport, Memory, OpenOptions, RequestContext, Thresholds};
use crate::tables::{EdgeOptions, ForeignKey, IdSpace, Missing, NodeOptions, TableOptions};
use arrow_array::types::Int32Type;
use arrow_array::{ListArray, StringArray};
use hexgraph_base::types::Error;
use hexgraph_store::graph::Duplicates;
use std::sync::Arc;

fn airports(db: &Database, codes: &[&str], node_type: &str) {
    let options = NodeOptions {
        id: Some("iata".into()),
        node_types: vec![node_type.into()],
        ..NodeOptions::default()
    };
    nodes(db, table(vec![batch(vec![("iata", texts(codes))])]), options).unwrap();
}

fn routes(db: &Database, from: &[&str], to: &[&str], options: EdgeOptions) -> LoadReport {
    let rows = batch(vec![("from", texts(from)), ("to", texts(to))]);
    edges(db, table(vec![rows]), options).unwrap()
}

fn route() -> EdgeOptions {
    EdgeOptions::new("route", "from", "to")
}

/// The fields of a type.
fn fields(db: &Database, name: &str) -> String {
    json(db, &format!("schema(type: {name}) {{}}"))
}

fn typed(db: &Database, name: &str) -> String {
    json(db, &format!("{{ q(func: type({name}), orderasc: iata) {{ iata }} }}"))
}

#[test]
fn a_type_has_the_edges_that_start_at_its_nodes() {
    let db = Database::in_memory();
    airports(&db, &["ZRH", "JFK"], "Airport");
    airports(&db, &["X"], "Heliport");
    let report = routes(&db, &["ZRH", "JFK"], &["JFK", "X"], route());
    let note = "`route` is a field of Airport now and leads to Airport, Heliport";
    assert_eq!(report.notes, [note]);
    assert!(fields(&db, "Airport").contains(r#"{"name":"route"}"#));
    assert!(!fields(&db, "Heliport").contains("route"));
    let all = json(&db, r#"{ q(func: eq(iata, "ZRH")) { expand(_all_) { iata } } }"#);
    assert_eq!(all, r#"{"q":[{"iata":"ZRH","route":[{"iata":"JFK"}]}]}"#);
    // Once is enough, and the next type gets it where it is the first time that it has such an
    // edge.
    assert_eq!(routes(&db, &["ZRH"], &["X"], route()).notes, [""; 0]);
    let note = "`route` is a field of Heliport now and leads to Airport";
    assert_eq!(routes(&db, &["X"], &["ZRH"], route()).notes, [note]);
}

#[test]
fn types_can_be_left_alone() {
    let db = Database::in_memory();
    airports(&db, &["ZRH", "JFK"], "Airport");
    let before = fields(&db, "Airport");
    let options = EdgeOptions { owned: false, ..route() };
    let report = routes(&db, &["ZRH", "ZRH"], &["JFK", "NEW"], options);
    assert_eq!((report.notes.len(), report.new_nodes, report.untyped), (0, 1, 0));
    assert_eq!(fields(&db, "Airport"), before);
    assert_eq!(typed(&db, "Airport"), r#"{"q":[{"iata":"JFK"},{"iata":"ZRH"}]}"#);
}

#[test]
fn nodes_that_are_made_get_the_type_of_the_others() {
    for memory in [0, 16 << 20] {
        let db = Database::in_memory();
        airports(&db, &["A", "B"], "Airport");
        airports(&db, &["H"], "Heliport");
        let bounded =
            || EdgeOptions { table: TableOptions { memory, ..TableOptions::default() }, ..route() };
        // A new target among targets that are all airports.
        let report = routes(&db, &["A", "A"], &["B", "N"], bounded());
        assert_eq!((report.new_nodes, report.untyped), (1, 0));
        assert_eq!(typed(&db, "Airport"), r#"{"q":[{"iata":"A"},{"iata":"B"},{"iata":"N"}]}"#);
        // The other targets are of two types; then there is none at all; then a node is a source
        // and a target, of two types.
        let report = routes(&db, &["A", "A", "A"], &["B", "H", "M1"], bounded());
        assert_eq!((report.new_nodes, report.untyped), (1, 1));
        let report = routes(&db, &["A"], &["M2"], bounded());
        assert_eq!((report.new_nodes, report.untyped), (1, 1));
        let report = routes(&db, &["A", "A", "M3"], &["H", "M3", "H"], bounded());
        assert_eq!((report.new_nodes, report.untyped), (1, 1));
        assert_eq!(typed(&db, "Heliport"), r#"{"q":[{"iata":"H"}]}"#);
        // Where the others have two types, so have the new ones.
        airports(&db, &["H"], "Place");
        let report = routes(&db, &["A", "A"], &["H", "M4"], bounded());
        assert_eq!((report.new_nodes, report.untyped), (1, 0));
        assert_eq!(typed(&db, "Place"), typed(&db, "Heliport"));
    }
}

#[test]
fn in_a_large_graph_as_in_a_small_one() {
    let thresholds = Thresholds::small();
    let options = OpenOptions { thresholds, ..OpenOptions::default() };
    let db = Database::in_memory_with(options);
    let codes: Vec<String> = (0..500).map(|number| format!("A{number:03}")).collect();
    let codes: Vec<&str> = codes.iter().map(String::as_str).collect();
    airports(&db, &codes, "Airport");
    let report = routes(&db, &["A000"], &["A001"], route());
    assert_eq!(report.notes, ["`route` is a field of Airport now and leads to Airport"]);
    // Types of a node have a value for each edge of the load, and are committed with them.
    let report = routes(&db, &["A001", "A002"], &["A002", "N"], route());
    assert_eq!((report.new_nodes, report.untyped, report.notes.len()), (1, 0, 0));
    // Two edges, an id and a type.
    assert_eq!((report.triples, report.nodes), (4, 3));
    let last = json(&db, "{ q(func: type(Airport), offset: 500) { iata } }");
    assert_eq!(last, r#"{"q":[{"iata":"N"}]}"#);
}

#[test]
fn columns_that_name_nodes_are_edges() {
    for thresholds in [Thresholds::default(), Thresholds::small()] {
        let db = Database::in_memory_with(OpenOptions { thresholds, ..OpenOptions::default() });
        airports(&db, &["ZRH", "JFK"], "Airport");
        let flights = || {
            let via = ListArray::from_iter_primitive::<Int32Type, _, _>([
                Some(vec![Some(7), Some(9)]),
                None,
                Some(vec![Some(9), None, Some(8)]),
            ]);
            let dest = StringArray::from(vec![Some("JFK"), None, Some("X")]);
            batch(vec![("no", ints(&[1, 2, 3])), ("dest", Arc::new(dest)), ("via", Arc::new(via))])
        };
        let options = |missing| NodeOptions {
            id: Some("no".into()),
            node_types: vec!["Flight".into(), "Event".into()],
            edges: vec![ForeignKey::new("dest", "Airport"), ForeignKey::new("via", "Stop.id")],
            missing,
            ..NodeOptions::default()
        };
        let fault = nodes(&db, table(vec![flights()]), options(Missing::Raise)).unwrap_err();
        assert!(fault.to_string().starts_with("5 ends of edges are no nodes: "), "{fault}");
        for round in 0..2 {
            let report = nodes(&db, table(vec![flights()]), options(Missing::Make)).unwrap();
            // Three flights, three stops and an airport.
            assert_eq!((report.new_nodes, report.untyped), (if round == 0 { 7 } else { 0 }, 0));
        }
        let all =
            "{ q(func: type(Event), orderasc: no) { no dest { iata dgraph.type } via { id } } }";
        assert_eq!(
            json(&db, all),
            r#"{"q":[{"no":1,"dest":{"iata":"JFK","dgraph.type":["Airport"]},"via":[{"id":7},{"id":9}]},{"no":2},{"no":3,"dest":{"iata":"X","dgraph.type":["Airport"]},"via":[{"id":9},{"id":8}]}]}"#
        );
    }
}

#[test]
fn nodes_that_are_named_by_uids_are_not_made() {
    let db = Database::in_memory();
    let options = || NodeOptions {
        id: Some("uid".into()),
        ids: Some(IdSpace::Uid),
        node_types: vec!["Airport".into()],
        ..NodeOptions::default()
    };
    nodes(&db, table(vec![batch(vec![("uid", ints(&[1, 2]))])]), options()).unwrap();
    let rows = batch(vec![("from", ints(&[1, 7])), ("to", ints(&[7, 1]))]);
    let ids = || Some(IdSpace::Uid);
    let by_uid = EdgeOptions { source_ids: ids(), target_ids: ids(), ..route() };
    let report = edges(&db, table(vec![rows]), by_uid).unwrap();
    assert_eq!((report.new_nodes, report.untyped), (0, 0));
    assert_eq!(report.notes, ["`route` is a field of Airport now and leads to Airport"]);
}

#[test]
fn a_graphql_schema_that_is_set_stays_as_it_is() {
    let db = Database::in_memory();
    let text = "type Airport {\n  iata: String! @id @dgraph(pred: \"iata\")\n}";
    db.set_graphql_schema(text).unwrap();
    airports(&db, &["ZRH", "JFK"], "Airport");
    let before = db.graphql_schema().unwrap().unwrap();
    let ids = || Some(IdSpace::Predicate("iata".to_owned()));
    let by_iata = EdgeOptions { source_ids: ids(), target_ids: ids(), ..route() };
    let report = routes(&db, &["ZRH"], &["JFK"], by_iata);
    assert_eq!(report.notes, ["`route` is a field of Airport now and leads to Airport"]);
    assert!(fields(&db, "Airport").contains(r#"{"name":"route"}"#));
    let after = db.graphql_schema().unwrap().unwrap();
    assert_eq!((before.schema, before.generated), (after.schema, after.generated));
}

/// Rows whose id an earlier row has are counted, whether their nodes are new, stored or named by
/// uids; keys to other rows are none.
#[test]
fn ids_that_come_twice_are_counted() {
    for by_uid in [false, true] {
        for is_small in [false, true] {
            let thresholds = if is_small { Thresholds::small() } else { Thresholds::default() };
            let options = OpenOptions { thresholds, ..OpenOptions::default() };
            let db = Database::in_memory_with(options);
            let rows = |ages: &[i64]| {
                let ids = ints(&[7, 8, 7, 9, 8, 7][..ages.len()]);
                let boss = ints(&[8, 8, 8, 8, 8, 8][..ages.len()]);
                batch(vec![("id", ids), ("age", ints(ages)), ("boss", boss)])
            };
            let load = |batches: Vec<Vec<i64>>| {
                let ids = if by_uid { IdSpace::Uid } else { IdSpace::Predicate("id".into()) };
                let target = if by_uid { "uid" } else { "id" };
                let options = NodeOptions {
                    ids: Some(ids),
                    edges: vec![ForeignKey::new("boss", target)],
                    ..NodeOptions::default()
                };
                let tables = batches.iter().map(|ages| table(vec![rows(ages)])).collect::<Vec<_>>();
                db.load_nodes_with(tables, options, &RequestContext::new()).unwrap()
            };
            assert_eq!(load(vec![vec![1, 2]]).duplicates, Duplicates::default());
            let report = load(vec![vec![1, 3, 4, 5, 3, 4]]);
            assert_eq!((report.duplicates.rows, report.overridden), (3, 1), "{report:?}");
            assert_eq!(report.replaced, 2, "{report:?}");
            let id = if by_uid { "0x7" } else { "7" };
            let first = &report.warnings[0];
            assert!(first.contains(&format!("the first is row 3 of <table>, id {id}")), "{first}");
            // Of two tables the second one repeats the ids of the first.
            let report = load(vec![vec![4], vec![4, 3]]);
            assert_eq!((report.duplicates.rows, report.overridden, report.replaced), (1, 0, 0));
        }
    }
}

/// Predicates of fields with `@id` are not `@unique`, and name nodes nevertheless.
#[test]
fn fields_with_id_name_nodes() {
    let db = Database::in_memory();
    let schema = "type User { email: String! @id  name: String  knows: [User] }";
    db.set_graphql_schema(schema).unwrap();
    db.mutate("_:a <User.email> \"a\" .\n_:b <User.email> \"b\" .", "").unwrap();
    let link = |from: &str, to: &str, predicate: &str| {
        let rows = batch(vec![("from", texts(&[from])), ("to", texts(&[to]))]);
        edges(&db, table(vec![rows]), EdgeOptions::new(predicate, "from", "to"))
    };
    assert_eq!(link("a", "b", "User.knows").unwrap().new_nodes, 0);
    let result = "{ q(func: eq(User.email, \"a\")) { User.knows { User.email } } }";
    assert_eq!(json(&db, result), r#"{"q":[{"User.knows":[{"User.email":"b"}]}]}"#);
    // The type names its nodes, too.
    let rows = batch(vec![("id", ints(&[1])), ("author", texts(&["b"]))]);
    let own = Some(IdSpace::Predicate("post".into()));
    let keys = vec![ForeignKey::new("author", "User")];
    let options = NodeOptions { edges: keys, ids: own, ..NodeOptions::default() };
    assert_eq!(nodes(&db, table(vec![rows]), options).unwrap().new_nodes, 1);
    // What is `@unique` comes first; of several fields one has to be named.
    assert_eq!(link("1", "1", "likes").unwrap().new_nodes, 0);
    let other = Database::in_memory();
    other.set_graphql_schema(&format!("{schema} type Post {{ slug: String! @id }}")).unwrap();
    let rows = batch(vec![("from", texts(&["a"])), ("to", texts(&["b"]))]);
    let fault = edges(&other, table(vec![rows]), EdgeOptions::new("e", "from", "to")).unwrap_err();
    assert!(fault.to_string().contains("named by Post.slug and by User.email"), "{fault}");
}

/// Ids of tables stay in memory: their bytes are reserved, and the report says where it is more
/// than the bound of the load.
#[test]
fn ids_are_reserved_and_reported_beyond_the_bound() {
    let codes: Vec<String> = (0..60_000).map(|number| format!("{number:0400}")).collect();
    let codes: Vec<&str> = codes.iter().map(String::as_str).collect();
    let load = |db: &Database, memory: u64| {
        let table_options = TableOptions { memory, ..TableOptions::default() };
        let options =
            NodeOptions { id: Some("iata".into()), table: table_options, ..NodeOptions::default() };
        nodes(db, table(vec![batch(vec![("iata", texts(&codes))])]), options)
    };
    let warnings = load(&Database::in_memory(), 16 << 20).unwrap().warnings;
    assert!(warnings[0].contains("more than the 16777216 of the option `memory`"), "{warnings:?}");
    assert_eq!(load(&Database::in_memory(), 1 << 30).unwrap().warnings, [""; 0]);
    let memory = Memory::Work(24 << 20);
    let db = Database::in_memory_with(OpenOptions { memory, ..OpenOptions::default() });
    let fault = load(&db, 16 << 20).unwrap_err();
    assert!(matches!(fault, Error::Limit { .. }), "{fault}");
    assert!(fault.to_string().contains("raise the setting `memory`"), "{fault}");
}
