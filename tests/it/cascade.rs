//! Pages of edges with `@cascade` are the same whether all targets of a list are walked or as many
//! as fill the page.

use hexgraph::db::{Database, QueryRequest, RequestContext};
use hexgraph::internals::exec::{CostModel, RandomChoice};
use std::fmt::Write;

const TARGETS: u64 = 400;

/// Nodes 1 to 9 with up to 400 targets each, of which some have `s`, `t` and edges of their own.
fn database(rng: &mut fastrand::Rng) -> Database {
    let db = Database::in_memory();
    db.alter("s: int @index(int) .\nt: int .\ne: [uid] @reverse .\nf: [uid] .").unwrap();
    let mut lines = String::new();
    for target in 100..100 + TARGETS {
        for (name, percent) in [("s", 70), ("t", [3, 30, 0][rng.usize(..3)])] {
            if rng.u64(..100) < percent {
                writeln!(lines, "<{target}> <{name}> \"{}\" .", rng.u64(..50)).unwrap();
            }
        }
        for _ in 0..rng.u64(..4) {
            writeln!(lines, "<{target}> <f> <{}> .", 100 + rng.u64(..TARGETS)).unwrap();
        }
    }
    for node in 1..10 {
        let percent = rng.u64(..100);
        for target in (100..100 + TARGETS).filter(|_| rng.u64(..100) < percent) {
            writeln!(lines, "<{node}> <e> <{target}> .").unwrap();
        }
    }
    db.mutate(&lines, "").unwrap();
    db
}

/// A query with a page of edges and a cascade.
fn query(rng: &mut fastrand::Rng) -> String {
    let mut any = |texts: &[&'static str]| texts[rng.usize(..texts.len())];
    let root = any(&["uid(1)", "uid(1, 2, 3)", "has(e)"]);
    let page = any(&[
        "first: 3",
        "first: 1, offset: 2",
        "first: 20",
        "first: 5, after: 0xc8",
        "first: 400",
        "offset: 3",
        "first: -3",
    ]);
    let order = any(&["", ", orderasc: s", ", orderdesc: t", ", orderasc: s, orderdesc: t"]);
    let order = if page == "first: -3" { "" } else { order };
    let filter = any(&["", "@filter(ge(s, 20))", "@filter(has(f))"]);
    let cascade = any(&["@cascade", "@cascade(t)", "@cascade(s, f)"]);
    let fields = any(&[
        "uid s t",
        "uid s f { t }",
        "uid t f (first: 1) { uid s f { t } }",
        "uid f (first: 1, offset: 1) @cascade { t } s",
        "uid expand(_all_)",
        "n: count(f) s",
    ]);
    let outer = any(&["", "", "@cascade"]);
    format!(
        "{{ q(func: {root}) {outer} {{ uid e ({page}{order}) {filter} {cascade} {{ {fields} }} }} }}"
    )
}

#[test]
fn pages_of_edges_are_cascaded_in_batches_or_at_once() {
    let mut rng = fastrand::Rng::with_seed(7);
    let (mut with_rows, rounds) = (0, 300);
    let mut db = database(&mut rng);
    for round in 0..rounds {
        if round % 30 == 0 {
            db = database(&mut rng);
        }
        let text = query(&mut rng);
        let answer = |costs: CostModel| {
            let request = QueryRequest { text: text.clone(), ..QueryRequest::default() };
            let answer = db.query_with(&request, &RequestContext::new().with_costs(costs));
            answer.map(|answer| answer.to_json().unwrap().0).map_err(|error| error.to_string())
        };
        // Lists are never long enough for batches, always, and as is random.
        let usual = CostModel::default();
        let at_once = answer(CostModel { long_list_ratio: usize::MAX, ..usual });
        let eager = CostModel { long_list_ratio: 0, cascade_batch: 1, cascade_ratio: 1, ..usual };
        assert_eq!(answer(eager), at_once, "{text}");
        let random = CostModel { choice: RandomChoice::of(round), ..eager };
        assert_eq!(answer(random), at_once, "{text}");
        with_rows += usize::from(at_once.is_ok_and(|json| json.contains("\"e\"")));
    }
    assert!(rounds as usize / 2 < with_rows, "{with_rows} of {rounds} answers have edges");
}
