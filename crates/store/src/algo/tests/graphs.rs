//! The compact graph, the cache of graphs, and threads.

use super::case::{
    Case, Counted, Edges, Threads, call, changed, loaded, nodes, quads, result, simply,
};
use crate::algo::{Alone, EdgeSelection, Graph, GraphCache, Lookup, Requested, Rows, Task};
use crate::graph::Version;
use fastrand::Rng;
use hexgraph_base::budget::Budget;
use hexgraph_base::plan::{ALGORITHMS, AlgorithmCall, ArgumentKind, ArgumentValue, Direction};
use hexgraph_base::types::Uid;
use hexgraph_base::types::pool::Pool;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn listed(rows: &Rows) -> BTreeMap<(usize, usize), f64> {
    let of =
        |node| rows.weighted(node).map(move |(to, weight)| ((node as usize, to as usize), weight));
    (0..rows.nodes() as u32).flat_map(of).collect()
}

#[test]
fn graphs_are_what_they_are_defined_to_be() {
    for seed in 0..400 {
        let mut rng = Rng::with_seed(seed);
        let case = Case::random(12, &mut rng);
        let task = Task::new(&Alone, None);
        let (graph, _) = case.graph(None, &task).unwrap();
        let plain = case.plain();
        assert_eq!(graph.nodes(), plain.nodes, "seed {seed}");
        assert_eq!(listed(graph.outgoing()), plain.edges, "seed {seed}");
        let transposed = plain.edges.iter().map(|((from, to), weight)| ((*to, *from), *weight));
        assert_eq!(listed(graph.incoming(&task).unwrap()), transposed.collect(), "seed {seed}");
    }
}

fn expected<'v>(
    version: &'v Version,
    weight: Option<&'v str>,
    uid: &'v (dyn Fn(u32) -> Uid + Sync),
) -> Requested<'v> {
    let predicate = version.predicate("e").unwrap();
    let parts = vec![EdgeSelection { predicate, reverse: false, weight, far: None }];
    Requested { parts, nodes: None, direction: Direction::Out, uid }
}

#[test]
fn wrong_weights_name_the_edge() {
    let uid = |node| Uid(u64::from(node));
    let task = Task::new(&Alone, None);
    let fault = |text: &str, weight| {
        let version = loaded(text.to_owned());
        let made = GraphCache::get(None, &expected(&version, Some(weight), &uid), &task);
        made.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let below = fault("<1> <e> <2> (w=1) .\n<2> <e> <31> (w=-0.5) .", "w");
    assert!(below.contains("the edge `e` from 0x2 to 0x1f has the weight -0.5 in `w`"), "{below}");
    let unknown = fault("<1> <e> <2> (weight=1) .", "wieght");
    assert!(unknown.contains("no edge of `e` has the facet `wieght`"), "{unknown}");
    assert!(unknown.contains("did you mean `weight`?"), "{unknown}");
    assert_eq!(fault("", "w"), "", "a graph without edges has no wrong ones");
}

#[test]
fn recent_edges_count_towards_memory() {
    let uid = |node| Uid(u64::from(node));
    let most = |version: &Version| {
        let work = Counted::default();
        GraphCache::get(None, &expected(version, None, &uid), &Task::new(&work, None)).unwrap();
        work.most.into_inner()
    };
    let edges = quads(&(2..1000).map(|to| ((0, 1, to), None)).collect::<Edges>());
    let lately = most(&changed(&loaded("<1> <e> <2> .".to_owned()), &edges, ""));
    let stored = most(&loaded(edges));
    assert!(
        stored <= lately,
        "{stored} bytes where they were loaded, {lately} where they were set"
    );
}

#[test]
fn graphs_are_cached_until_their_data_changes() {
    let budget = Budget::new(1 << 30);
    let cache = GraphCache::new(&budget);
    let task = Task::new(&Alone, None);
    let uid = |node| Uid(u64::from(node));
    let version = loaded("<1> <e> <2> (w=2) .\n<1> <f> <2> .".to_owned());
    let get = |version: &Version, weight| {
        GraphCache::get(Some(&cache), &expected(version, weight, &uid), &task).unwrap()
    };
    let (first, lookup) = get(&version, None);
    assert_eq!(lookup, Lookup::Made);
    let (second, lookup) = get(&version, None);
    assert!(lookup == Lookup::Cached && Arc::ptr_eq(&first, &second));
    assert_eq!(get(&version, Some("w")).1, Lookup::Made, "another weight");
    let elsewhere = changed(&version, "<7> <f> <8> .", "");
    assert_eq!(get(&elsewhere, None).1, Lookup::Cached, "another predicate changed");
    let other = changed(&version, "<7> <e> <8> .", "");
    let (third, lookup) = get(&other, None);
    assert!(lookup == Lookup::Patched && third.len() == 4);
    assert_eq!(cache.cached().0, 3);
    drop((version, elsewhere, other));
    get(&loaded("<3> <e> <4> .".to_owned()), None);
    assert_eq!(cache.cached().0, 1, "what is made of versions that are gone is gone");
    assert!(0 < budget.reserved());
    drop((cache, first, second, third));
    assert_eq!(budget.reserved(), 0);
}

#[test]
fn the_cache_respects_its_limit() {
    let budget = Budget::new(1 << 30);
    let cache = GraphCache::with_bound(&budget, 4_000);
    let task = Task::new(&Alone, None);
    let uid = |node| Uid(u64::from(node));
    let edges = |from: u32| (0..100).map(|to| ((0, from, to + 1), None)).collect::<Edges>();
    let versions: Vec<Version> = (1..20).map(|from| loaded(quads(&edges(from)))).collect();
    for version in &versions {
        GraphCache::get(Some(&cache), &expected(version, None, &uid), &task).unwrap();
        let (count, bytes) = cache.cached();
        assert!(0 < count && bytes <= 4_000, "{count} graphs, {bytes} bytes");
    }
    let starved = Budget::new(1_000);
    let cache = GraphCache::with_bound(&starved, 1 << 20);
    let (graph, _) =
        GraphCache::get(Some(&cache), &expected(&versions[0], None, &uid), &task).unwrap();
    assert_eq!((graph.outgoing().edges(), cache.cached().0), (100, 0), "used once, and not cached");
}

/// Arguments with which each algorithm can be called on any graph that has some nodes.
pub(super) fn any_call(algorithm: &'static hexgraph_base::plan::Algorithm) -> AlgorithmCall {
    let mut made = call(algorithm.name, &[]);
    for argument in algorithm.arguments {
        if matches!(argument.kind, ArgumentKind::Nodes { .. }) {
            // A path has one source and one target.
            let some: &[usize] = match (algorithm.name, argument.name) {
                ("k_shortest", "source") => &[5],
                ("k_shortest", _) => &[70],
                _ => &[0, 5, 70],
            };
            made = made.with(argument.name, nodes(some));
        }
        if argument.name == "dimensions" {
            // More than one strip.
            made = made.with(argument.name, ArgumentValue::Int(20));
        }
        if argument.name == "variant" {
            // The one that knows directions.
            made = made.with(argument.name, ArgumentValue::Word("graphalytics"));
        }
        if argument.name == "alpha" {
            // Less than one by the greatest eigenvalue.
            made = made.with(argument.name, ArgumentValue::Float(1e-5));
        }
    }
    made
}

/// A graph of several blocks, with hubs.
fn large(seed: u64, direction: Direction) -> Arc<Graph> {
    let mut rng = Rng::with_seed(seed);
    let mut edges = Edges::new();
    for _ in 0..120_000 {
        let from = (rng.f64() * rng.f64() * 30_000.0) as u32 + 1;
        edges.insert((0, from, rng.u32(1..=30_000)), Some(f64::from(rng.u8(..9))));
    }
    let version = loaded(quads(&edges));
    let uid = |node| Uid(u64::from(node));
    let expected = Requested { direction, ..expected(&version, Some("w"), &uid) };
    GraphCache::get(None, &expected, &Task::new(&Alone, None)).unwrap().0
}

#[test]
fn results_are_the_same_bits_with_any_number_of_threads() {
    for algorithm in ALGORITHMS {
        assert!(crate::algo::has_kernel(algorithm.name), "no code for {}", algorithm.name);
    }
    for direction in [Direction::Out, Direction::Both] {
        let graph = large(7, direction);
        for algorithm in ALGORITHMS.iter().filter(|it| it.directions.contains(&direction)) {
            let call = any_call(algorithm);
            let alone = format!("{:?}", simply(&graph, &call));
            for threads in [2, 3] {
                let work = Threads(Pool::new(threads));
                for requested in [None, Some(2)] {
                    let shared = result(&graph, &call, &work, requested).unwrap();
                    assert!(
                        alone == format!("{shared:?}"),
                        "{} on {threads} threads",
                        algorithm.name
                    );
                }
            }
        }
    }
}

#[test]
fn algorithms_stop_when_cancelled() {
    struct Stopped;
    impl crate::algo::Work for Stopped {
        fn check(&self) -> hexgraph_base::types::Result<()> {
            Err(hexgraph_base::types::Error::query("stopped"))
        }
        fn charge(&self, _: usize) -> hexgraph_base::types::Result<()> {
            Ok(())
        }
        fn uncharge(&self, _: usize) {}
        fn pool(&self) -> Option<&Pool> {
            None
        }
    }
    struct Poor;
    impl crate::algo::Work for Poor {
        fn check(&self) -> hexgraph_base::types::Result<()> {
            Ok(())
        }
        fn charge(&self, _: usize) -> hexgraph_base::types::Result<()> {
            Err(hexgraph_base::types::Error::query("no memory"))
        }
        fn uncharge(&self, _: usize) {}
        fn pool(&self) -> Option<&Pool> {
            None
        }
    }
    let directed = large(3, Direction::Out);
    let undirected = large(3, Direction::Both);
    for algorithm in ALGORITHMS {
        let graph =
            if algorithm.directions[0] == Direction::Both { &undirected } else { &directed };
        let call = any_call(algorithm);
        for (work, said) in [(&Stopped as &dyn crate::algo::Work, "stopped"), (&Poor, "no memory")]
        {
            let error = result(graph, &call, work, None).map(|_| ()).unwrap_err();
            assert_eq!(error.to_string(), said, "{}", algorithm.name);
        }
    }
}
