//! Paths, walks, samples, vectors and given groups, against their definitions.

use super::case::{Case, PlainGraph, Threads, assert_near, call, floats, nodes, result, simply};
use super::kernels::{on_random, some_positions};
use crate::algo::{Alone, Graph, Output, Paths, Run, Task, Vectors, compute};
use fastrand::Rng;
use hexgraph_base::plan::{ArgumentValue, Direction};
use hexgraph_base::types::pool::Pool;
use std::collections::{BTreeMap, BTreeSet};

fn paths(output: Output) -> Paths {
    let Output::Paths(paths) = output else { panic!("no paths: {output:?}") };
    paths
}

/// Each path as its nodes.
fn node_lists(paths: &Paths) -> Vec<Vec<usize>> {
    let mut node_lists = vec![Vec::new(); paths.bounds.len()];
    paths.steps().for_each(|(path, node, position)| {
        assert_eq!(node_lists[path].len(), position);
        node_lists[path].push(node as usize);
    });
    node_lists
}

fn modularity(graph: &Graph, groups: &[u32], resolution: f64) -> f64 {
    let call = call("modularity", &[("resolution", ArgumentValue::Float(resolution))]);
    let lists = vec![Some(groups.to_vec()), None];
    let run = Run { graph, call: &call, lists, weights: "`w`", task: Task::new(&Alone, None) };
    let Output::Float(number) = compute(&run).unwrap().output else { panic!("no float") };
    number
}

#[test]
fn modularity_is_what_lies_within_less_what_would_by_chance() {
    on_random(300, false, |graph, plain, rng, what| {
        let groups: Vec<u32> = (0..plain.len()).map(|_| rng.u32(..3)).collect();
        let resolution = *rng.choice(&[1.0, 0.5, 2.0]).unwrap();
        // Each undirected edge is two, one in each direction, and a loop is two as well.
        let weight = |(&(from, to), &weight): (&(usize, usize), &f64)| {
            let twice = graph.is_undirected() && from == to;
            (from, to, if twice { 2.0 * weight } else { weight })
        };
        let edges: Vec<(usize, usize, f64)> = plain.edges.iter().map(weight).collect();
        let all: f64 = edges.iter().map(|edge| edge.2).sum();
        let bounds = |node: usize, is_out: bool| -> f64 {
            let of = edges.iter().filter(|edge| node == if is_out { edge.0 } else { edge.1 });
            of.map(|edge| edge.2).sum()
        };
        let mut expected = 0.0;
        for one in (0..plain.len()).filter(|_| all != 0.0) {
            for other in (0..plain.len()).filter(|other| groups[one] == groups[*other]) {
                let there = edges.iter().filter(|edge| (edge.0, edge.1) == (one, other));
                expected += there.map(|edge| edge.2).sum::<f64>() / all;
                expected -= resolution * bounds(one, true) * bounds(other, false) / (all * all);
            }
        }
        assert_near(&[modularity(graph, &groups, resolution)], &[expected], what);
    });
}

/// All simple paths between two nodes, in the order of paths.
fn plain_paths(plain: &PlainGraph, source: usize, target: usize) -> Vec<(f64, Vec<usize>)> {
    let rows = plain.rows();
    let (mut open, mut node_lists) = (vec![(0.0, vec![source])], Vec::new());
    while let Some((cost, path)) = open.pop() {
        let last = *path.last().unwrap();
        if last == target {
            node_lists.push((cost, path));
            continue;
        }
        for &(to, weight) in rows[last].iter().filter(|(to, _)| !path.contains(to)) {
            open.push((cost + weight, [&path[..], &[to]].concat()));
        }
    }
    node_lists.sort_by(|one, other| {
        let by_length = || one.1.len().cmp(&other.1.len());
        one.0.total_cmp(&other.0).then_with(by_length).then_with(|| one.1.cmp(&other.1))
    });
    node_lists
}

#[test]
fn k_shortest_are_the_first_of_all_paths() {
    for seed in 0..600 {
        let mut rng = Rng::with_seed(seed);
        let case = Case::random(8, &mut rng);
        let (graph, _) = case.graph(None, &Task::new(&Alone, None)).unwrap();
        let plain = case.plain();
        if plain.len() == 0 {
            continue;
        }
        let (source, target) = (rng.usize(..plain.len()), rng.usize(..plain.len()));
        let k = *rng.choice(&[1, 2, 3, 7, 1000]).unwrap();
        let arguments = [
            ("source", nodes(&[source])),
            ("target", nodes(&[target])),
            ("k", ArgumentValue::Int(k)),
        ];
        let result = paths(simply(&graph, &call("k_shortest", &arguments)));
        let mut expected = plain_paths(&plain, source, target);
        expected.truncate(k as usize);
        let listed: Vec<Vec<usize>> = expected.iter().map(|(_, path)| path.clone()).collect();
        assert_eq!(node_lists(&result), listed, "seed {seed}: {plain:?}");
        let distances = result.distances.as_ref().unwrap();
        let lengths: Vec<f64> = result.bounds.iter().map(|end| distances[end - 1]).collect();
        let costs: Vec<f64> = expected.iter().map(|(cost, _)| *cost).collect();
        assert_eq!(lengths, costs, "seed {seed}");
    }
}

#[test]
fn k_shortest_goes_from_one_node_to_one_other() {
    on_random(20, false, |graph, plain, _, what| {
        if plain.len() < 2 {
            return;
        }
        let arguments = [("source", nodes(&[0, 1])), ("target", nodes(&[0]))];
        let error = result(graph, &call("k_shortest", &arguments), &Alone, None).unwrap_err();
        assert!(error.to_string().contains("2 nodes as its `source`"), "{what}: {error}");
        let nowhere = [("source", nodes(&[])), ("target", nodes(&[0]))];
        assert_eq!(paths(simply(graph, &call("k_shortest", &nowhere))).bounds.len(), 0);
    });
}

#[test]
fn walks_follow_edges_until_none_leads_on() {
    on_random(300, false, |graph, plain, rng, what| {
        let sources = some_positions(plain.len(), rng);
        let (length, each) = (rng.usize(1..12), rng.usize(1..4));
        let arguments = [
            ("source", nodes(&sources)),
            ("length", ArgumentValue::Int(length as i64)),
            ("per_node", ArgumentValue::Int(each as i64)),
            ("p", ArgumentValue::Float(*rng.choice(&[1.0, 0.25, 1e6]).unwrap())),
            ("q", ArgumentValue::Float(*rng.choice(&[1.0, 4.0, 1e-6]).unwrap())),
        ];
        let walks = node_lists(&paths(simply(graph, &call("walks", &arguments))));
        assert_eq!(walks.len(), sources.len() * each, "{what}");
        for (number, walk) in walks.iter().enumerate() {
            assert_eq!(walk[0], sources[number / each], "{what}");
            for step in walk.windows(2) {
                assert!(0.0 < plain.edges[&(step[0], step[1])], "{what}: {step:?}");
            }
            let last = *walk.last().unwrap();
            let leads_on = plain.rows()[last].iter().any(|(_, weight)| 0.0 < *weight);
            assert!(walk.len() == length + 1 || !leads_on, "{what}: {walk:?}");
        }
    });
}

/// A case of some edges with weights, all of the first predicate.
fn small(edges: &[(u32, u32, f64)], direction: Direction) -> Case {
    let edges = edges.iter().map(|&(from, to, weight)| ((0, from, to), Some(weight))).collect();
    Case {
        version: super::case::loaded(super::case::quads(&edges)),
        edges,
        direction,
        is_weighted: true,
        has_second: false,
        nodes: None,
        far: None,
    }
}

/// How often each next node comes after `before` in walks.
fn fractions(graph: &Graph, before: &[usize], p: f64, q: f64) -> BTreeMap<usize, f64> {
    let arguments = [
        ("source", nodes(&before[..1])),
        ("length", ArgumentValue::Int(before.len() as i64)),
        ("per_node", ArgumentValue::Int(40_000)),
        ("p", ArgumentValue::Float(p)),
        ("q", ArgumentValue::Float(q)),
    ];
    let walks = node_lists(&paths(simply(graph, &call("walks", &arguments))));
    let next: Vec<usize> = walks
        .iter()
        .filter(|walk| walk.starts_with(before))
        .map(|walk| walk[before.len()])
        .collect();
    let mut counts: BTreeMap<usize, f64> = BTreeMap::new();
    next.iter().for_each(|node| *counts.entry(*node).or_default() += 1.0);
    counts.into_iter().map(|(node, count)| (node, count / next.len() as f64)).collect()
}

#[test]
fn a_step_has_the_chance_that_its_weight_and_the_step_before_say() {
    // From 0 to 1; then back, to 2, which is also a target of 0, or on to 3.
    let edges = [(1, 2, 2.0), (1, 3, 1.0), (2, 3, 1.0), (2, 4, 3.0)];
    let case = small(&edges, Direction::Both);
    let (graph, _) = case.graph(None, &Task::new(&Alone, None)).unwrap();
    let near = |result: &BTreeMap<usize, f64>, parts: [f64; 3]| {
        let full: f64 = parts.iter().sum();
        for (node, part) in [0, 2, 3].iter().zip(parts) {
            let fraction = result.get(node).copied().unwrap_or(0.0);
            assert!(
                (fraction - part / full).abs() < 0.02,
                "{node}: {fraction}, not {}",
                part / full
            );
        }
    };
    near(&fractions(&graph, &[0, 1], 1.0, 1.0), [2.0, 1.0, 3.0]);
    near(&fractions(&graph, &[0, 1], 4.0, 0.5), [2.0 / 4.0, 1.0, 3.0 / 0.5]);
    // So unlikely that drawing at random finds nothing: the edges are gone through.
    near(&fractions(&graph, &[0, 1], 1e6, 1e6), [2e-6, 1.0, 3e-6]);
    let first = fractions(&graph, &[0], 1.0, 1.0);
    assert!((first[&1] - 2.0 / 3.0).abs() < 0.02, "{first:?}");
}

#[test]
fn samples_are_of_neighbours_by_layers() {
    on_random(300, false, |graph, plain, rng, what| {
        let sources = some_positions(plain.len(), rng);
        let fanouts: Vec<f64> = (0..rng.usize(1..4)).map(|_| f64::from(rng.u8(1..5))).collect();
        let is_repeated = rng.bool();
        let arguments = [
            ("source", nodes(&sources)),
            ("fanouts", ArgumentValue::Numbers(fanouts.clone())),
            ("replace", ArgumentValue::Bool(is_repeated)),
        ];
        let Output::Pairs(pairs) = simply(graph, &call("sample", &arguments)) else {
            panic!("no pairs")
        };
        let rows = plain.rows();
        let (mut seen, mut layer) = (BTreeSet::from_iter(sources.clone()), sources);
        for (number, fanout) in fanouts.iter().enumerate() {
            let of_layer = pairs.iter().filter(|pair| pair.2 == (number + 1) as f64);
            let sampled: Vec<(usize, usize)> =
                of_layer.map(|pair| (pair.0 as usize, pair.1 as usize)).collect();
            let from: BTreeSet<usize> = sampled.iter().map(|pair| pair.0).collect();
            assert!(from.iter().all(|node| layer.contains(node)), "{what}");
            let mut next = Vec::new();
            for node in layer {
                let own: Vec<usize> =
                    sampled.iter().filter(|pair| pair.0 == node).map(|pair| pair.1).collect();
                let can: Vec<usize> =
                    rows[node].iter().filter(|it| 0.0 < it.1).map(|it| it.0).collect();
                assert!(own.iter().all(|to| can.contains(to)), "{what}");
                let most = if is_repeated && !can.is_empty() {
                    *fanout as usize
                } else {
                    can.len().min(*fanout as usize)
                };
                assert_eq!(own.len(), most, "{what}: {node}");
                let distinct: BTreeSet<usize> = own.iter().copied().collect();
                assert!(is_repeated || distinct.len() == own.len(), "{what}");
                next.extend(own.into_iter().filter(|to| seen.insert(*to)));
            }
            layer = next;
        }
        assert!(pairs.iter().all(|pair| pair.2 <= fanouts.len() as f64), "{what}");
    });
}

#[test]
fn heavy_edges_are_sampled_more_often() {
    // Without weights each of four is in half of all pairs of them; with weights the heaviest is
    // nearly always.
    for (weight, least, most) in [(1.0, 0.45, 0.55), (100.0, 0.95, 1.0)] {
        let edges = [(1, 2, 1.0), (1, 3, 1.0), (1, 4, 1.0), (1, 5, weight)];
        let case = small(&edges, Direction::Out);
        let (graph, _) = case.graph(None, &Task::new(&Alone, None)).unwrap();
        let mut times = 0;
        for seed in 0..2000 {
            let arguments =
                [("source", nodes(&[0])), ("fanouts", ArgumentValue::Numbers(vec![2.0]))];
            let mut call = call("sample", &arguments);
            call.seed = seed;
            let Output::Pairs(pairs) = simply(&graph, &call) else { panic!("no pairs") };
            times += usize::from(pairs.iter().any(|pair| pair.1 == 4));
        }
        let fraction = times as f64 / 2000.0;
        assert!((least..=most).contains(&fraction), "{fraction}");
    }
}

fn vectors(output: Output) -> Vectors {
    let Output::Vectors(vectors) = output else { panic!("no vectors: {output:?}") };
    vectors
}

#[test]
fn vectors_are_means_of_neighbours_scaled_and_added_up() {
    on_random(200, false, |graph, plain, rng, what| {
        let dimensions = *rng.choice(&[1, 3, 16, 17, 40]).unwrap();
        let power = *rng.choice(&[0.0, -0.5, 1.0]).unwrap();
        let run_with = |weights: &[f64]| {
            let arguments = [
                ("dimensions", ArgumentValue::Int(dimensions)),
                ("iteration_weights", ArgumentValue::Numbers(weights.to_vec())),
                ("normalization_strength", ArgumentValue::Float(power)),
            ];
            vectors(simply(graph, &call("fastrp", &arguments))).values
        };
        let size = dimensions as usize;
        let scaled = |vector: &[f64]| -> Vec<f64> {
            let length = vector.iter().map(|it| it * it).sum::<f64>().sqrt();
            vector.iter().map(|it| if 0.0 < length { it / length } else { 0.0 }).collect()
        };
        // The result after one round determines that after two, except for its length. So both are
        // compared by direction.
        let (one, two, both) = (run_with(&[1.0]), run_with(&[0.0, 1.0]), run_with(&[0.5, -2.0]));
        assert_eq!(one.len(), plain.len() * size, "{what}");
        for position in 0..both.len() {
            let sum = 0.5 * one[position] - 2.0 * two[position];
            assert!((both[position] - sum).abs() < 1e-5, "{what}");
        }
        for (node, row) in plain.rows().iter().enumerate() {
            let own: Vec<f64> =
                one[node * size..][..size].iter().map(|it| f64::from(*it)).collect();
            let length: f64 = own.iter().map(|it| it * it).sum();
            assert!(length == 0.0 || (length - 1.0).abs() < 1e-4, "{what}: {length}");
            let heaviest = row.iter().filter(|(_, weight)| 0.0 < *weight).count();
            assert!(heaviest != 0 || length == 0.0, "{what}: it leads nowhere");
            // A node with one target has after two rounds what the target has after one.
            if let ([(to, weight)], 1) = (row.as_slice(), heaviest) {
                assert!(0.0 < *weight);
                let other: Vec<f64> =
                    one[to * size..][..size].iter().map(|it| f64::from(*it)).collect();
                let second: Vec<f64> =
                    two[node * size..][..size].iter().map(|it| f64::from(*it)).collect();
                for (result, expected) in second.iter().zip(scaled(&other)) {
                    assert!((result - expected).abs() < 1e-4, "{what}: {result} {expected}");
                }
            }
        }
    });
}

/// Up to three rounds use entire vectors, more of them strips: each round has the same direction in
/// both cases, and so has their sum.
#[test]
fn vectors_of_many_rounds_are_those_of_few() {
    on_random(100, false, |graph, _, rng, what| {
        let dimensions = *rng.choice(&[1, 16, 17, 33, 40, 64]).unwrap();
        let run_with = |weights: &[f64]| {
            let arguments = [
                ("dimensions", ArgumentValue::Int(dimensions)),
                ("iteration_weights", ArgumentValue::Numbers(weights.to_vec())),
            ];
            vectors(simply(graph, &call("fastrp", &arguments))).values
        };
        let rounds = [run_with(&[1.0]), run_with(&[0.0, 1.0]), run_with(&[0.0, 0.0, 1.0])];
        // The last round counts next to nothing, but is made.
        let small = 1e-20;
        for weights in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.5, -2.0, 3.0]] {
            let few = run_with(&weights);
            let many = run_with(&[weights[0], weights[1], weights[2], small]);
            for (position, (few, many)) in few.iter().zip(&many).enumerate() {
                assert!((few - many).abs() < 1e-5, "{what}: {few} {many}");
                let each = rounds.iter().zip(weights);
                let sum: f64 = each.map(|(it, weight)| weight * f64::from(it[position])).sum();
                assert!((f64::from(*few) - sum).abs() < 1e-5, "{what}: {few} {sum}");
            }
        }
        assert_eq!(run_with(&[0.5, 1.0, 0.0, 0.0, 0.0]), run_with(&[0.5, 1.0]), "{what}");
        assert!(run_with(&[0.0]).iter().all(|it| *it == 0.0), "{what}");
    });
}

#[test]
fn first_vectors_are_sparse_and_of_even_sign() {
    // After one round a node with one target has the random vector of that target.
    let edges: Vec<(u32, u32, f64)> = (1..=400).map(|node| (node, node + 400, 1.0)).collect();
    let case = small(&edges, Direction::Out);
    let (graph, _) = case.graph(None, &Task::new(&Alone, None)).unwrap();
    let arguments = [
        ("dimensions", ArgumentValue::Int(60)),
        ("iteration_weights", ArgumentValue::Numbers(vec![1.0])),
    ];
    let result = vectors(simply(&graph, &call("fastrp", &arguments)));
    let some = &result.values[..400 * 60];
    let fraction = |test: fn(f32) -> bool| {
        some.iter().filter(|it| test(**it)).count() as f64 / some.len() as f64
    };
    for (fraction, expected) in
        [(fraction(|it| 0.0 < it), 1.0 / 6.0), (fraction(|it| it < 0.0), 1.0 / 6.0)]
    {
        assert!((fraction - expected).abs() < 0.01, "{fraction}");
    }
    assert!(result.values[400 * 60..].iter().all(|it| *it == 0.0));
}

#[test]
fn ranks_by_push_are_those_of_all_rounds() {
    on_random(300, false, |graph, plain, rng, what| {
        if plain.len() == 0 {
            return;
        }
        let from = some_positions(plain.len(), rng);
        let damping = *rng.choice(&[0.85, 0.5, 0.0, 0.99]).unwrap();
        let run_with = |more: &[(&str, ArgumentValue)]| {
            let mut arguments = vec![
                ("from", nodes(&from)),
                ("damping", ArgumentValue::Float(damping)),
                ("tolerance", ArgumentValue::Float(1e-12)),
            ];
            arguments.extend_from_slice(more);
            simply(graph, &call("pagerank", &arguments))
        };
        let exact = floats(run_with(&[("iterations", ArgumentValue::Int(10_000))]));
        let Output::Some(pushed) = run_with(&[("method", ArgumentValue::Word("push"))]) else {
            panic!("no ranks")
        };
        let mut all = vec![0.0; plain.len()];
        pushed.iter().for_each(|(node, rank)| all[*node as usize] = *rank);
        for (one, other) in all.iter().zip(&exact) {
            assert!((one - other).abs() < 1e-7, "{what}: {one} {other}");
        }
        let top = rng.usize(1..plain.len() + 2);
        for method in ["auto", "power", "push"] {
            let mut more = vec![
                ("top", ArgumentValue::Int(top as i64)),
                ("method", ArgumentValue::Word(method)),
            ];
            // Rounds are of this method alone.
            more.extend((method == "power").then_some(("iterations", ArgumentValue::Int(10_000))));
            let ranks = match run_with(&more) {
                Output::Some(ranks) => ranks,
                output => (0..).zip(floats(output)).collect(),
            };
            assert!(ranks.len() <= top && ranks.is_sorted_by_key(|it| it.0), "{what} {method}");
            let least = ranks.iter().map(|it| it.1).fold(f64::INFINITY, f64::min);
            let better = (0..).zip(&exact).filter(|(node, rank)| {
                least + 1e-2 < **rank && !ranks.iter().any(|it| it.0 == *node)
            });
            assert_eq!(better.count(), 0, "{what} {method}");
        }
    });
}

/// Nodes of a random graph in which some have very many edges.
fn crowd(count: u32, rng: &mut Rng) -> Vec<(u32, u32, f64)> {
    let mut edges = BTreeMap::new();
    for from in 1..=count {
        for _ in 0..8 {
            let to = 1 + (f64::from(count) * rng.f64().powi(3)) as u32;
            edges.insert((from, to.min(count)), f64::from(rng.u8(1..5)));
        }
    }
    edges.into_iter().map(|((from, to), weight)| (from, to, weight)).collect()
}

#[test]
fn the_top_by_push_is_nearly_that_of_all_rounds() {
    let mut rng = Rng::with_seed(3);
    let case = small(&crowd(5000, &mut rng), Direction::Out);
    let (graph, _) = case.graph(None, &Task::new(&Alone, None)).unwrap();
    for seeds in [vec![7], vec![11, 500, 1000, 2000, 4000]] {
        let run_with = |method: &'static str| {
            let arguments = [
                ("from", nodes(&seeds)),
                ("top", ArgumentValue::Int(100)),
                ("method", ArgumentValue::Word(method)),
                ("tolerance", ArgumentValue::Float(1e-9)),
            ];
            let Output::Some(ranks) = simply(&graph, &call("pagerank", &arguments)) else {
                panic!("no ranks")
            };
            ranks.into_iter().map(|(node, _)| node).collect::<BTreeSet<u32>>()
        };
        let (pushed, exact) = (run_with("push"), run_with("power"));
        assert_eq!((pushed.len(), exact.len()), (100, 100));
        let same = pushed.intersection(&exact).count();
        assert!(95 <= same, "{same} of 100 with {} starts", seeds.len());
    }
}

#[test]
fn clustering_along_directions_is_of_ordered_pairs() {
    on_random(300, false, |graph, plain, _, what| {
        let run_with = call("clustering", &[("variant", ArgumentValue::Word("graphalytics"))]);
        let fractions = floats(simply(graph, &run_with));
        let expected: Vec<f64> = plain
            .neighbours()
            .iter()
            .map(|near| {
                let pairs = near.iter().flat_map(|one| near.iter().map(move |other| (one, other)));
                let there = pairs.filter(|(one, other)| one != other && plain.has(**one, **other));
                let all = near.len() * near.len().saturating_sub(1);
                if all == 0 { 0.0 } else { there.count() as f64 / all as f64 }
            })
            .collect();
        assert_near(&fractions, &expected, what);
        let standard = result(graph, &call("clustering", &[]), &Alone, None);
        assert_eq!(standard.is_err(), !graph.is_undirected(), "{what}");
    });
}

#[test]
fn results_are_the_same_bits_with_any_number_of_threads() {
    let mut rng = Rng::with_seed(5);
    let mut case = small(&crowd(18_000, &mut rng), Direction::Out);
    for is_weighted in [false, true] {
        case.is_weighted = is_weighted;
        let (graph, _) = case.graph(None, &Task::new(&Alone, None)).unwrap();
        let calls = [
            call("walks", &[("length", ArgumentValue::Int(5)), ("q", ArgumentValue::Float(0.5))]),
            call("sample", &[("source", nodes(&(0..9000).collect::<Vec<_>>()))]),
            call("fastrp", &[("dimensions", ArgumentValue::Int(20))]),
            call("k_shortest", &[("source", nodes(&[3])), ("target", nodes(&[17_000]))]),
            call("clustering", &[("variant", ArgumentValue::Word("graphalytics"))]),
            call("pagerank", &[("from", nodes(&[3])), ("top", ArgumentValue::Int(9))]),
            call("modularity", &[]),
        ];
        for run_with in calls {
            let alone = simply(&graph, &run_with);
            for threads in [2, 3] {
                let work = Threads(Pool::new(threads));
                let other = result(&graph, &run_with, &work, None).unwrap();
                assert!(alone == other, "{} with {threads} threads", run_with.algorithm.name);
            }
        }
    }
}
