//! Nodes that files call by external ids.

use super::*;
use proptest::prelude::*;

const SCHEMA: &str = "name: string @index(exact) .\nage: int .\nknows: [uid] @reverse .\n\
                      boss: uid @reverse .\ntag: [string] .";

fn by_ids<'a>(ids: &'a str) -> LoadOptions<'a> {
    LoadOptions { ids: Some(ids), ..LoadOptions::default() }
}

#[test]
fn ids_are_resolved_across_loads_and_stored() {
    let text = "<alice> <knows> <http://x.y/b#1> (w=1) .\n_:c <knows> <alice> .\n<0x7> <knows> <alice> .\n";
    let (one, report) = try_load_text(&with_schema(SCHEMA), text, &by_ids("id")).unwrap();
    assert_eq!((report.triples, report.nodes, report.new_nodes), (5, 4, 3));
    assert!(report.warnings.is_empty());
    assert!(report.notes[0].contains(
        "2 nodes have names, such as <alice>: `id` had 0 of these values before, 2 are new"
    ));
    assert!(
        one.schema.to_text().contains("id: string @index(hash) @upsert @unique ."),
        "{}",
        one.schema.to_text()
    );
    assert_eq!(values_of(&one, "id", "", 0x10001), ["alice"]);
    assert_eq!(values_of(&one, "id", "", 0x10002), ["http://x.y/b#1"]);
    assert_eq!(targets_of(&one, "knows", false, 0x10003), [0x10001]);
    // The same IRI, however it is written; a label is a new node each time.
    let text =
        "_:c <name> \"c\" .\n<http://x.y/\\u0062#1> <knows> <carol> .\n<alice> <age> \"36\" .\n";
    let (two, report) = try_load_text(&one, text, &by_ids("id")).unwrap();
    assert_eq!((report.new_nodes, report.triples), (2, 4));
    assert!(
        report.notes[0].contains(
            "3 nodes have names, such as <http://x.y/b#1>: `id` had 2 of these values before, 1 are new"
        ),
        "{:?}",
        report.notes
    );
    assert_eq!(targets_of(&two, "knows", false, 0x10002), [0x10005]);
    assert_eq!(values_of(&two, "age", "", 0x10001), ["36"]);
}

#[test]
fn ids_are_resolved_right_after_a_change() {
    let schema = format!("{SCHEMA}\nid: string @index(exact) .");
    let stored = load_text(
        &with_schema(&schema),
        "<5> <id> \"old\" .\n<6> <id> \"gone\" .\n<7> <id> \"moved\" .\n",
    );
    let (stored, _) =
        apply(&stored, "<8> <id> \"new\" .\n<7> <id> \"elsewhere\" .", "<6> <id> * .").unwrap();
    let text = "<new> <knows> <old> .\n<gone> <knows> <moved> .\n<elsewhere> <age> \"1\" .\n";
    let (version, report) = try_load_text(&stored, text, &by_ids("id")).unwrap();
    assert_eq!(report.new_nodes, 2);
    assert_eq!(targets_of(&version, "knows", false, 8), [5]);
    assert_eq!(values_of(&version, "age", "", 7), ["1"]);
    assert_eq!(targets_of(&version, "knows", false, 0x10001), [0x10002]);
    assert_eq!(values_of(&version, "id", "", 0x10002), ["moved"]);
}

#[test]
fn without_a_predicate_ids_mean_nodes_of_the_load() {
    let options = LoadOptions::default();
    let text = "<alice> <knows> <bob> <http://g/1> .\n<bob> <knows> <alice> <http://g/2> .\n";
    let (one, report) = try_load_text(&with_schema(SCHEMA), text, &options).unwrap();
    assert_eq!((report.nodes, report.new_nodes, report.triples), (2, 2, 2));
    assert!(
        report.warnings[0]
            .starts_with("2 nodes have names, such as <alice>, which only this load knows")
    );
    assert!(report.warnings[1].starts_with("2 statements name graphs, such as <http://g/1>"));
    let (two, report) = try_load_text(&one, text, &options).unwrap();
    assert_eq!((report.new_nodes, two.node_count()), (2, 4));
}

#[test]
fn a_predicate_without_such_ids_is_refused() {
    for (schema, ids, why) in [
        ("id: int @index(int) .", "id", "has ints, and the names of nodes are texts"),
        ("id: string @index(term) .", "id", "can't be searched for ids"),
        ("id: float .", "id", "can't hold ids"),
        ("id: [uid] .", "id", "can't hold ids"),
        ("", "dgraph.xid", "prefixed with"),
    ] {
        let fault =
            try_load_text(&with_schema(schema), "<a> <p> <b> .", &by_ids(ids)).err().unwrap();
        assert!(fault.to_string().contains(why), "{fault}");
    }
    let schema = with_schema("id: string @index(exact) .");
    let text = format!("<{}> <p> <b> .", "x".repeat(70_000));
    let fault = try_load_text(&schema, &text, &by_ids("id")).err().unwrap().to_string();
    assert!(fault.contains("longer than the 65000 bytes") && fault.len() < 300, "{fault}");
    let fault =
        try_load_text(&schema, "<1> <p> <b> .\n<\\ud800> <p> <b> .", &by_ids("id")).err().unwrap();
    assert!(matches!(fault, Error::Load { line: 2, .. }), "{fault}");
}

/// A statement of nodes by their positions: subject, kind, object or number, facet.
type Reserved = (usize, u8, usize, Option<u8>);

fn text_of(statements: &[Reserved], node: impl Fn(usize) -> String) -> String {
    let line = |&(from, kind, other, facet): &Reserved| {
        let (from, facet) = (node(from), facet.map(|it| format!("(w={it})")).unwrap_or_default());
        match kind {
            0 => format!("{from} <name> \"n{other}\" {facet} .\n"),
            1 => format!("{from} <age> \"{other}\" .\n"),
            2 => format!("{from} <tag> \"t{other}\" {facet} .\n"),
            3 => format!("{from} <boss> {} {facet} .\n", node(other)),
            4 => format!("{from} <new> {} .\n", node(other)),
            _ => format!("{from} <knows> {} {facet} .\n", node(other)),
        }
    };
    statements.iter().map(line).collect()
}

fn name_of(at: usize) -> String {
    match at % 5 {
        0 => format!("<http://example.org/people/{at}?a=b&c=%20#me>"),
        1 => format!("<urn:x:{at}>"),
        2 => format!("<é{at}名>"),
        3 => format!("<\\u00e9-{at}>"),
        _ => format!("<0x{at}g>"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Names and uids give the same graph, in one load or several, one of them after a mutation.
    #[test]
    fn names_make_the_same_graph_as_uids(
        loads in prop::collection::vec(
            prop::collection::vec((0..30_usize, 0..7_u8, 0..30_usize, prop::option::of(0..3_u8)), 0..40),
            1..4,
        ),
    ) {
        let (mut named, mut plain) = (with_schema(SCHEMA), with_schema(SCHEMA));
        let uid = |at: usize| format!("<{:#x}>", 0x100 + at);
        for statements in &loads {
            let text = text_of(statements, name_of);
            named = try_load_text(&named, &text, &by_ids("id")).unwrap().0;
            plain = load_text(&plain, &text_of(statements, uid));
            // So that the next load reads changes that are not part of the columns.
            named = apply(&named, "<0x9> <age> \"1\" .", "").unwrap().0;
            plain = apply(&plain, "<0x9> <age> \"1\" .", "").unwrap().0;
        }
        // Each name corresponds to one uid.
        let by_name = contents(&named);
        let mut uids = BTreeMap::from([(0x9, 0x9)]);
        for at in 0..30 {
            let id = name_of(at).trim_matches(['<', '>']).replace("\\u00e9", "é");
            let has_id = |row: &Vec<(Value, Facets)>| row[0].0 == Value::String(id.clone());
            let mut nodes = by_name.values.iter().filter(|((name, ..), row)| name == "id" && has_id(row));
            if let Some(((.., node), _)) = nodes.next() {
                prop_assert!(uids.insert(*node, 0x100 + at as u64).is_none());
            }
            prop_assert!(nodes.next().is_none());
        }
        let mut renamed = Contents::default();
        for ((name, lang, node), row) in by_name.values {
            if name != "id" {
                renamed.values.insert((name, lang, uids[&node]), row);
            }
        }
        for ((name, from, to), facets) in by_name.edges {
            renamed.edges.insert((name, uids[&from], uids[&to]), facets);
        }
        for (name, from, to) in by_name.reverse {
            renamed.reverse.insert((name, uids[&from], uids[&to]));
        }
        prop_assert_eq!(renamed, contents(&plain));
    }
}
