//! Centralities, communities, triangles and likeness against their definitions.

use super::case::{Case, PlainGraph, assert_near, call, floats, ints, nodes, simply};
use super::kernels::{in_order, on_random, plain_distances, some_positions};
use crate::algo::{Alone, Output, Task};
use fastrand::Rng;
use hexgraph_base::plan::{ArgumentValue, Direction};
use std::collections::BTreeSet;

fn yes() -> ArgumentValue {
    ArgumentValue::Bool(true)
}

/// The distances from each node to each, in steps.
fn all_distances(plain: &PlainGraph) -> Vec<Vec<f64>> {
    (0..plain.len()).map(|node| plain_distances(plain, &[node], |_| 1.0)).collect()
}

#[test]
fn degree() {
    on_random(200, false, |graph, plain, rng, what| {
        let is_normalized = rng.bool();
        let arguments = [("normalized", ArgumentValue::Bool(is_normalized))];
        let unit = if is_normalized { plain.len().saturating_sub(1).max(1) as f64 } else { 1.0 };
        let expected = plain.rows().into_iter().enumerate().map(|(node, row)| {
            let twice = |to: usize| if graph.is_undirected() && to == node { 2.0 } else { 1.0 };
            row.into_iter().map(|(to, weight)| twice(to) * weight).sum::<f64>() / unit
        });
        let result = floats(simply(graph, &call("degree", &arguments)));
        assert_near(&result, &expected.collect::<Vec<_>>(), what);
    });
}

#[test]
fn hits() {
    on_random(200, false, |graph, plain, _, what| {
        let (mut hubs, mut authorities) = (vec![1.0 / plain.len() as f64; plain.len()], Vec::new());
        let scaled = |scores: Vec<f64>| {
            let sum: f64 = scores.iter().sum();
            let unit = if 0.0 < sum { sum } else { 1.0 };
            scores.into_iter().map(|score| score / unit).collect::<Vec<f64>>()
        };
        for _ in 0..5 {
            let (mut good, mut next) = (vec![0.0; plain.len()], vec![0.0; plain.len()]);
            plain.edges.iter().for_each(|((from, to), weight)| good[*to] += weight * hubs[*from]);
            authorities = scaled(good);
            plain
                .edges
                .iter()
                .for_each(|((from, to), weight)| next[*from] += weight * authorities[*to]);
            hubs = scaled(next);
        }
        for (score, expected) in [("hub", &hubs), ("authority", &authorities)] {
            let arguments = [
                ("iterations", ArgumentValue::Int(5)),
                ("tolerance", ArgumentValue::Float(0.0)),
                ("score", ArgumentValue::Word(score)),
            ];
            assert_near(&floats(simply(graph, &call("hits", &arguments))), expected, what);
        }
    });
}

#[test]
fn closeness_and_harmonic() {
    on_random(200, false, |graph, plain, rng, what| {
        let distances = all_distances(plain);
        let others = plain.len().saturating_sub(1).max(1) as f64;
        let requested: Vec<usize> =
            if rng.bool() { some_positions(plain.len(), rng) } else { (0..plain.len()).collect() };
        let is_requested = |node: usize| requested.contains(&node);
        let of = |node: usize, score: &dyn Fn(f64, f64, f64) -> f64| {
            let to_it =
                (0..plain.len()).filter(|from| *from != node).map(|from| distances[from][node]);
            let near: Vec<f64> = to_it.filter(|distance| distance.is_finite()).collect();
            let score =
                score(near.len() as f64, near.iter().sum(), near.iter().map(|it| 1.0 / it).sum());
            if is_requested(node) { score } else { f64::NAN }
        };
        let expect = |score: &dyn Fn(f64, f64, f64) -> f64| {
            (0..plain.len()).map(|node| of(node, score)).collect::<Vec<f64>>()
        };
        let result = |name, arguments: &[(&str, ArgumentValue)]| {
            let mut all = arguments.to_vec();
            all.push(("source", nodes(&requested)));
            floats(simply(graph, &call(name, &all)))
        };
        let or_zero = |number: f64| if number.is_finite() { number } else { 0.0 };
        assert_near(&result("harmonic", &[]), &expect(&|_, _, inverse| inverse), what);
        assert_near(
            &result("harmonic", &[("normalized", yes())]),
            &expect(&|_, _, inverse| inverse / others),
            what,
        );
        assert_near(&result("closeness", &[]), &expect(&|_, sum, _| or_zero(1.0 / sum)), what);
        let normalized = |count: f64, sum: f64, _| or_zero(count / sum * count / others);
        assert_near(&result("closeness", &[("normalized", yes())]), &expect(&normalized), what);
    });
}

#[test]
fn betweenness() {
    on_random(200, false, |graph, plain, rng, what| {
        let distances = all_distances(plain);
        let count = plain.len();
        // The number of shortest paths between two nodes, by the last step of each.
        let mut path_counts = vec![vec![0.0; count]; count];
        for start in 0..count {
            path_counts[start][start] = 1.0;
            for level in 1..=count {
                for to in (0..count).filter(|to| distances[start][*to] == level as f64) {
                    path_counts[start][to] = (0..count)
                        .filter(|from| {
                            distances[start][*from] == (level - 1) as f64 && plain.has(*from, to)
                        })
                        .map(|from| path_counts[start][from])
                        .sum();
                }
            }
        }
        let from_starts = |starts: &[usize]| {
            let mut expected = vec![0.0; count];
            for (node, score) in expected.iter_mut().enumerate() {
                for &from in starts.iter().filter(|from| **from != node) {
                    for to in (0..count).filter(|to| *to != node && *to != from) {
                        let through = distances[from][node] + distances[node][to];
                        if distances[from][to].is_finite() && through == distances[from][to] {
                            *score += path_counts[from][node] * path_counts[node][to]
                                / path_counts[from][to];
                        }
                    }
                }
                *score /= if graph.is_undirected() { 2.0 } else { 1.0 };
            }
            expected
        };
        let starts = super::kernels::some_positions(count, rng);
        let given = [("source", super::case::nodes(&starts))];
        let result = floats(simply(graph, &call("betweenness", &given)));
        assert_near(&result, &from_starts(&starts), what);
        let expected = from_starts(&(0..count).collect::<Vec<usize>>());
        assert_near(&floats(simply(graph, &call("betweenness", &[]))), &expected, what);
        let pairs = count.saturating_sub(1) as f64 * count.saturating_sub(2) as f64;
        let pairs = if graph.is_undirected() { pairs / 2.0 } else { pairs };
        let unit = if 0.0 < pairs { pairs } else { 1.0 };
        let fractions: Vec<f64> = expected.iter().map(|score| score / unit).collect();
        assert_near(
            &floats(simply(graph, &call("betweenness", &[("normalized", yes())]))),
            &fractions,
            what,
        );
        // As many samples as nodes are all of them; fewer are scaled, and right on average.
        let all = [("samples", ArgumentValue::Int(count as i64 + rng.i64(0..3)))];
        if count != 0 {
            assert_near(&floats(simply(graph, &call("betweenness", &all))), &expected, what);
            let samples = ArgumentValue::Int(rng.i64(1..count as i64 + 1));
            let some = [("samples", samples), ("normalized", yes())];
            let fractions = floats(simply(graph, &call("betweenness", &some)));
            assert!(
                fractions.iter().all(|it| it.is_nan() || *it <= 1.0 + 1e-9),
                "{what}: {fractions:?}"
            );
        }
    });
}

#[test]
fn label_propagation() {
    on_random(300, false, |graph, plain, rng, what| {
        let rounds = rng.i64(1..6);
        let mut labels: Vec<usize> = (0..plain.len()).collect();
        for _ in 0..rounds {
            let next = (0..plain.len()).map(|node| {
                let mut counts = vec![0; plain.len()];
                for &(from, to) in plain.edges.keys() {
                    if from == node {
                        counts[labels[to]] += 1;
                    }
                    if to == node && !graph.is_undirected() {
                        counts[labels[from]] += 1;
                    }
                }
                let most = counts.iter().copied().max().unwrap_or(0);
                let least = counts.iter().position(|count| *count == most && 0 < most);
                least.unwrap_or(labels[node])
            });
            labels = next.collect();
        }
        let call = call("label_propagation", &[("iterations", ArgumentValue::Int(rounds))]);
        assert_eq!(ints(simply(graph, &call)), in_order(&labels), "{what}");
    });
}

#[test]
fn core_numbers() {
    on_random(300, true, |graph, plain, _, what| {
        let neighbours = plain.neighbours();
        let mut expected = vec![0; plain.len()];
        for k in 1..plain.len() {
            let mut core: BTreeSet<usize> = (0..plain.len()).collect();
            loop {
                let before = core.len();
                let inside = core.clone();
                core.retain(|node| k <= neighbours[*node].intersection(&inside).count());
                if core.len() == before {
                    break;
                }
            }
            core.iter().for_each(|node| expected[*node] = k as i64);
        }
        assert_eq!(ints(simply(graph, &call("core_numbers", &[]))), expected, "{what}");
    });
}

#[test]
fn triangles_clustering_and_transitivity() {
    on_random(300, true, |graph, plain, _, what| {
        let neighbours = plain.neighbours();
        let closed = |node: usize| {
            let of = &neighbours[node];
            let pairs = of.iter().flat_map(|one| of.iter().map(move |other| (*one, *other)));
            pairs.filter(|(one, other)| one < other && neighbours[*one].contains(other)).count()
        };
        let counts: Vec<usize> = (0..plain.len()).map(closed).collect();
        let pairs =
            |node: usize| neighbours[node].len() * neighbours[node].len().saturating_sub(1) / 2;
        let fraction =
            |part: usize, all: usize| if all == 0 { 0.0 } else { part as f64 / all as f64 };
        let result = ints(simply(graph, &call("triangles", &[])));
        assert_eq!(result, counts.iter().map(|count| *count as i64).collect::<Vec<_>>(), "{what}");
        let fractions = (0..plain.len()).map(|node| fraction(counts[node], pairs(node)));
        let result = floats(simply(graph, &call("clustering", &[])));
        assert_near(&result, &fractions.collect::<Vec<_>>(), what);
        let Output::Float(result) = simply(graph, &call("transitivity", &[])) else { panic!() };
        let all = fraction(counts.iter().sum(), (0..plain.len()).map(pairs).sum());
        assert_near(&[result], &[all], what);
    });
}

/// The modularity of communities: loops count as one edge, and twice at their node.
fn modularity(plain: &PlainGraph, groups: &[i64], resolution: f64) -> f64 {
    let mut strengths = vec![0.0; plain.len()];
    let (mut inside, mut total) = (0.0, 0.0);
    for (&(from, to), &weight) in &plain.edges {
        let weight = if from == to { 2.0 * weight } else { weight };
        strengths[from] += weight;
        total += weight;
        inside += if groups[from] == groups[to] { weight } else { 0.0 };
    }
    if total == 0.0 {
        return 0.0;
    }
    let mut by_group = vec![0.0; plain.len()];
    groups
        .iter()
        .zip(&strengths)
        .for_each(|(group, strength)| by_group[*group as usize] += strength);
    let chance: f64 = by_group.iter().map(|strength| (strength / total) * (strength / total)).sum();
    inside / total - resolution * chance
}

/// The greatest modularity of any communities, by trying all of them.
fn best_modularity(plain: &PlainGraph, resolution: f64) -> f64 {
    fn extend(groups: &mut Vec<i64>, plain: &PlainGraph, resolution: f64, best: &mut f64) {
        if groups.len() == plain.len() {
            *best = best.max(modularity(plain, groups, resolution));
            return;
        }
        let next = groups.iter().max().map_or(0, |most| most + 1);
        for group in 0..=next {
            groups.push(group);
            extend(groups, plain, resolution, best);
            groups.pop();
        }
    }
    let mut best = f64::NEG_INFINITY;
    extend(&mut Vec::new(), plain, resolution, &mut best);
    best
}

#[test]
fn communities_are_about_as_good_as_can_be() {
    let (mut sums, mut cases) = ([0.0; 3], 0);
    for seed in 0..150 {
        let mut rng = Rng::with_seed(seed);
        let mut case = Case::random(7, &mut rng);
        case.direction = Direction::Both;
        let plain = case.plain();
        if 7 < plain.len() || plain.edges.is_empty() {
            continue;
        }
        let (graph, _) = case.graph(None, &Task::new(&Alone, None)).unwrap();
        let resolution = *rng.choice(&[1.0, 0.5, 2.0]).unwrap();
        let best = best_modularity(&plain, resolution);
        cases += 1;
        sums[2] += best;
        for (position, name) in ["louvain", "leiden"].iter().enumerate() {
            let call = call(name, &[("resolution", ArgumentValue::Float(resolution))]);
            let groups = ints(simply(&graph, &call));
            let result = modularity(&plain, &groups, resolution);
            sums[position] += result;
            assert!(
                result <= best + 1e-9,
                "seed {seed} {name}: better than the best, {result} {best}"
            );
            let alone =
                modularity(&plain, &(0..plain.len() as i64).collect::<Vec<_>>(), resolution);
            assert!(alone - 1e-9 <= result, "seed {seed} {name}: worse than no communities");
        }
    }
    // Either is greedy: rarely slightly below the best.
    assert!(
        50 < cases && 0.96 * sums[2] < sums[0] && 0.98 * sums[2] < sums[1],
        "{sums:?} of {cases}"
    );
}

#[test]
fn communities_of_leiden_are_connected() {
    on_random(200, true, |graph, plain, rng, what| {
        let mut call = call(
            "leiden",
            &[("resolution", ArgumentValue::Float(*rng.choice(&[0.3, 1.0, 3.0]).unwrap()))],
        );
        call.seed = rng.u64(..);
        let groups = ints(simply(graph, &call));
        let neighbours = plain.neighbours();
        for group in groups.iter().copied().collect::<BTreeSet<i64>>() {
            let members: BTreeSet<usize> =
                (0..plain.len()).filter(|node| groups[*node] == group).collect();
            let mut seen: BTreeSet<usize> = members.first().copied().into_iter().collect();
            for _ in 0..members.len() {
                let more = seen.iter().flat_map(|node| neighbours[*node].intersection(&members));
                let more: Vec<usize> = more.copied().collect();
                seen.extend(more);
            }
            assert_eq!(seen, members, "{what}: community {group} of {groups:?}");
        }
    });
}

/// Cliques in a ring, each joined with the next by one edge: each is a community.
#[test]
fn cliques_are_communities() {
    let mut edges = super::case::Edges::new();
    for clique in 0..30 {
        for one in 0..5 {
            for other in 0..one {
                edges.insert((0, clique * 5 + one + 1, clique * 5 + other + 1), None);
            }
        }
        edges.insert((0, clique * 5 + 1, (clique + 1) % 30 * 5 + 2), None);
    }
    let case = Case {
        version: super::case::loaded(super::case::quads(&edges)),
        edges,
        direction: Direction::Both,
        is_weighted: false,
        has_second: false,
        nodes: None,
        far: None,
    };
    let (graph, _) = case.graph(None, &Task::new(&Alone, None)).unwrap();
    let expected: Vec<i64> = (0..150).map(|node| node / 5).collect();
    for seed in 0..20 {
        let mut call = call("leiden", &[("resolution", ArgumentValue::Float(3.0))]);
        call.seed = seed;
        assert_eq!(ints(simply(&graph, &call)), expected, "seed {seed}");
    }
}

const MEASURES: [&str; 5] = ["jaccard", "overlap", "cosine", "common_neighbours", "adamic_adar"];

/// The likeness of two nodes by its definition; `None` where they have nothing in common.
fn likeness(plain: &PlainGraph, measure: &str, one: usize, other: usize) -> Option<f64> {
    let targets_of = |node: usize| -> BTreeSet<usize> {
        (0..plain.len()).filter(|to| *to != node && plain.has(node, *to)).collect()
    };
    let (left, right) = (targets_of(one), targets_of(other));
    let common: Vec<usize> =
        left.intersection(&right).copied().filter(|it| *it != one && *it != other).collect();
    let leading = |node: usize| {
        (0..plain.len()).filter(|from| *from != node && plain.has(*from, node)).count()
    };
    let count = common.len() as f64;
    let score = match measure {
        "jaccard" => count / (left.len() as f64 + right.len() as f64 - count),
        "overlap" => count / left.len().min(right.len()) as f64,
        "cosine" => count / ((left.len() * right.len()) as f64).sqrt(),
        "common_neighbours" => count,
        _ => common.iter().map(|node| 1.0 / (leading(*node) as f64).ln()).sum(),
    };
    (!common.is_empty()).then_some(score)
}

#[test]
fn similarity_and_similar_nodes() {
    on_random(200, false, |graph, plain, rng, what| {
        let measure = *rng.choice(&MEASURES).unwrap();
        let word = ("measure", ArgumentValue::Word(measure));
        let (sources, targets) =
            (some_positions(plain.len(), rng), some_positions(plain.len(), rng));
        let arguments = [word.clone(), ("source", nodes(&sources)), ("target", nodes(&targets))];
        let Output::Pairs(result) = simply(graph, &call("similarity", &arguments)) else {
            panic!()
        };
        let pairs = sources.iter().flat_map(|one| targets.iter().map(move |other| (*one, *other)));
        let is_pair =
            |(one, other): &(usize, usize)| one != other && (sources != targets || one < other);
        let pairs: Vec<(usize, usize)> = pairs.filter(is_pair).collect();
        assert_eq!(result.len(), pairs.len(), "{what}");
        for ((one, other, score), pair) in result.iter().zip(&pairs) {
            assert_eq!((*one as usize, *other as usize), *pair, "{what}");
            let expected = likeness(plain, measure, pair.0, pair.1).unwrap_or(0.0);
            assert_near(&[*score], &[expected], what);
        }
        let k = rng.usize(1..4);
        let arguments = [word, ("k", ArgumentValue::Int(k as i64))];
        let Output::Pairs(result) = simply(graph, &call("similar_nodes", &arguments)) else {
            panic!()
        };
        let mut result = result.iter();
        for node in 0..plain.len() {
            let score = |other: usize| Some((likeness(plain, measure, node, other)?, other));
            let mut best: Vec<(f64, usize)> =
                (0..plain.len()).filter(|it| *it != node).filter_map(score).collect();
            best.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
            for (expected, _) in best.iter().take(k) {
                let (from, _, score) = result.next().expect("as many as there are");
                assert_eq!(*from as usize, node, "{what}");
                assert_near(&[*score], &[*expected], what);
            }
        }
        assert_eq!(result.next(), None, "{what}");
    });
}
