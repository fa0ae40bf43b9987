//! Graphs that are patched after commits are those that are made anew.

use super::case::{Case, Edges, call, changed, quads, simply};
use super::graphs::listed;
use crate::algo::{Alone, GraphCache, Lookup, Task};
use fastrand::Rng;
use hexgraph_base::budget::Budget;
use std::collections::BTreeMap;

/// Commits some edges, new or with another weight, and deletes some; mostly of nodes that are
/// there.
fn commit(case: &mut Case, most: u32, rng: &mut Rng) {
    let mut set = Edges::new();
    for _ in 0..rng.u32(..4) {
        let key = (usize::from(rng.bool()), rng.u32(1..=most + 1), rng.u32(1..=most + 1));
        set.insert(key, rng.bool().then(|| f64::from(rng.u8(..9)) / 4.0 + 1e-9));
    }
    let gone: Vec<_> = case.edges.keys().copied().filter(|_| rng.u8(..12) == 0).collect();
    let gone: Edges = gone.into_iter().map(|key| (key, None)).collect();
    case.version = changed(&case.version, "", &quads(&gone));
    case.edges.retain(|key, _| !gone.contains_key(key));
    case.version = changed(&case.version, &quads(&set), "");
    case.edges.extend(set);
}

#[test]
fn patched_graphs_are_those_that_are_made_anew() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..300 {
        let mut rng = Rng::with_seed(seed);
        let most = if rng.bool() { 12 } else { 40 };
        let mut case = Case::random(most, &mut rng);
        let cache = GraphCache::new(&Budget::new(1 << 30));
        let task = Task::new(&Alone, None);
        for _ in 0..6 {
            let (graph, lookup) = case.graph(Some(&cache), &task).unwrap();
            *seen.entry(["made", "cached", "patched"][lookup as usize]).or_default() += 1;
            let (anew, _) = case.graph(None, &task).unwrap();
            assert_eq!(graph.nodes(), anew.nodes(), "seed {seed}");
            assert_eq!(listed(graph.outgoing()), listed(anew.outgoing()), "seed {seed}");
            assert_eq!(graph.outgoing().edges(), anew.outgoing().edges(), "seed {seed}");
            if rng.bool() {
                let (transposed, expected) =
                    (graph.incoming(&task).unwrap(), anew.incoming(&task).unwrap());
                assert_eq!(listed(transposed), listed(expected), "seed {seed}");
                assert_eq!(transposed.edges(), expected.edges(), "seed {seed}");
            }
            let ranks = call("pagerank", &[]);
            assert_eq!(
                format!("{:?}", simply(&graph, &ranks)),
                format!("{:?}", simply(&anew, &ranks)),
                "seed {seed}: the same bits"
            );
            commit(&mut case, most, &mut rng);
        }
    }
    // A few nodes that go, or come between others, have a graph made anew.
    assert!(seen["made"] < seen["patched"], "{seen:?}");
}

#[test]
fn what_changed_too_much_is_made_anew() {
    let mut rng = Rng::with_seed(1);
    let mut case = Case::random(30, &mut rng);
    (case.nodes, case.far) = (Some((1..=3_000).collect()), None);
    case.version = changed(&case.version, "<1> <e> <2> .\n<1> <f> <2> .", "");
    case.edges.extend([((0, 1, 2), None), ((1, 1, 2), None)]);
    let cache = GraphCache::new(&Budget::new(1 << 30));
    let task = Task::new(&Alone, None);
    case.graph(Some(&cache), &task).unwrap();
    let all =
        (1..=3_000).flat_map(|from| (0..50).map(move |to| ((0, from, from / 3 + to + 1), None)));
    let all: Edges = all.collect();
    case.version = changed(&case.version, &quads(&all), "");
    case.edges.extend(all);
    let (graph, lookup) = case.graph(Some(&cache), &task).unwrap();
    assert_eq!(lookup, Lookup::Made);
    assert_eq!(listed(graph.outgoing()), case.plain().edges);
    assert_eq!(case.graph(Some(&cache), &task).unwrap().1, Lookup::Cached);
}
