//! The ways of finding a shortest path agree: from one end, from both ends, and by weights of 1.

use hexgraph::db::{Database, QueryRequest, RequestContext};
use proptest::prelude::*;

const NODES: u64 = 12;

/// The path between two nodes and the predicates along it.
fn path(db: &Database, from: u64, to: u64, depth: &str, facets: &str) -> String {
    let text = format!(
        "{{ p as shortest(from: {from}, to: {to}{depth}) {{ one {facets} two {facets} }} \
         q(func: uid(p)) {{ uid }} }}"
    );
    let request = QueryRequest { text, ..QueryRequest::default() };
    let (json, _) = db.query_with(&request, &RequestContext::new()).unwrap().to_json().unwrap();
    // The weighted search shows the facet of each edge too.
    json.replace(",\"one|w\":1", "").replace(",\"two|w\":1", "")
}

fn database(schema: &str, edges: &[(u64, u64, bool)], deleted: &[(u64, u64, bool)]) -> Database {
    let db = Database::in_memory();
    db.alter(schema).unwrap();
    let line = |&(from, to, one): &(u64, u64, bool), facet: &str| {
        let name = if one { "one" } else { "two" };
        format!("<{from}> <{name}> <{to}> {facet} .\n")
    };
    let lines = |edges: &[_], facet| edges.iter().map(|edge| line(edge, facet)).collect::<String>();
    db.mutate(&lines(edges, "(w=1)"), "").unwrap();
    db.mutate("", &lines(deleted, "")).unwrap();
    db
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn searches_agree(
        edges in prop::collection::vec((1..=NODES, 1..=NODES, any::<bool>()), 1..40),
        deleted in prop::collection::vec((1..=NODES, 1..=NODES, any::<bool>()), 0..10),
        depth in 0..5usize,
    ) {
        let plain = database("one: [uid] .\ntwo: [uid] .", &edges, &deleted);
        let both = database("one: [uid] @reverse .\ntwo: [uid] @reverse .", &edges, &deleted);
        let depth = ["", ", depth: 1", ", depth: 2", ", depth: 3", ", depth: 0"][depth];
        for (from, to) in (1..=NODES).flat_map(|from| (1..=NODES).map(move |to| (from, to))) {
            let forward = path(&plain, from, to, depth, "");
            prop_assert_eq!(&path(&both, from, to, depth, ""), &forward);
            prop_assert_eq!(&path(&plain, from, to, depth, "@facets(w)"), &forward);
        }
    }
}
