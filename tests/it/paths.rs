//! Paths by weight are those of a plain search: Dijkstra's algorithm for one, the beginnings of all
//! paths for several. Which of equal paths is found, and in which order, is theirs.

use hexgraph::db::{Database, LoadOptions, QueryRequest, RequestContext, Source};
use proptest::prelude::*;
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::fmt::Write;

/// What a path is in an answer: its nodes, the fields between them, its weight.
#[derive(Debug, Clone)]
struct Outcome {
    nodes: Vec<u64>,
    fields: Vec<String>,
    weight: f64,
}

/// The reader of JSON errs in the last digits of a float.
impl PartialEq for Outcome {
    fn eq(&self, other: &Outcome) -> bool {
        let is_near = (self.weight - other.weight).abs() < 1e-9;
        is_near && self.nodes == other.nodes && self.fields == other.fields
    }
}

/// The edges of each node: to which node, at what weight, by which field.
type Hops = BTreeMap<u64, BTreeMap<u64, (f64, String)>>;

/// A node reached, or the beginning of a path.
struct Beginning {
    weight: f64,
    nodes: Vec<u64>,
    fields: Vec<String>,
    /// One path's search tells beginnings apart by their last node alone.
    by_nodes: bool,
}

impl Beginning {
    fn last(&self) -> u64 {
        *self.nodes.last().unwrap()
    }
}

impl PartialEq for Beginning {
    fn eq(&self, other: &Beginning) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Beginning {}

impl PartialOrd for Beginning {
    fn partial_cmp(&self, other: &Beginning) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Beginning {
    fn cmp(&self, other: &Beginning) -> Ordering {
        let order = other.weight.total_cmp(&self.weight);
        let order = order.then(self.nodes.len().cmp(&other.nodes.len()));
        let order = order.then(other.last().cmp(&self.last()));
        if self.by_nodes { order.then(other.nodes.cmp(&self.nodes)) } else { order }
    }
}

/// What a block asks for.
#[derive(Debug, Clone)]
struct RequestedQuery {
    paths: usize,
    depth: Option<usize>,
    least: Option<f64>,
    most: Option<f64>,
}

impl RequestedQuery {
    fn arguments(&self) -> String {
        let mut text = String::new();
        if self.paths != 1 {
            write!(text, ", numpaths: {}", self.paths).unwrap();
        }
        for (name, value) in [("minweight", self.least), ("maxweight", self.most)] {
            if let Some(value) = value {
                write!(text, ", {name}: {value}").unwrap();
            }
        }
        if let Some(depth) = self.depth {
            write!(text, ", depth: {depth}").unwrap();
        }
        text
    }
}

/// The edges that leave nodes fewer than `depth` edges from the start.
fn within(hops: &Hops, from: u64, depth: Option<usize>) -> Hops {
    let Some(depth) = depth else { return hops.clone() };
    let mut near = BTreeSet::new();
    let mut layer = vec![from];
    for _ in 0..depth {
        let new: Vec<u64> = layer.into_iter().filter(|node| near.insert(*node)).collect();
        layer = new.iter().flat_map(|node| hops.get(node)).flatten().map(|(to, _)| *to).collect();
    }
    hops.iter().filter(|(node, _)| near.contains(node)).map(|(n, h)| (*n, h.clone())).collect()
}

/// The one path of least weight, by Dijkstra's algorithm.
fn lightest(hops: &Hops, from: u64, to: u64) -> Option<Outcome> {
    let mut best = BTreeMap::from([(from, 0.0)]);
    let mut done = BTreeSet::new();
    let start = Beginning { weight: 0.0, nodes: vec![from], fields: Vec::new(), by_nodes: false };
    let mut heap = BinaryHeap::from([start]);
    while let Some(Beginning { weight, nodes, fields, .. }) = heap.pop() {
        let node = *nodes.last().unwrap();
        if !done.insert(node) {
            continue;
        }
        if node == to {
            return Some(Outcome { nodes, fields, weight });
        }
        for (&to, (more, field)) in hops.get(&node).into_iter().flatten() {
            let weight = weight + more;
            if !done.contains(&to) && best.get(&to).is_none_or(|existing| weight < *existing) {
                best.insert(to, weight);
                let nodes = [&nodes[..], &[to]].concat();
                let fields = [&fields[..], std::slice::from_ref(field)].concat();
                heap.push(Beginning { weight, nodes, fields, by_nodes: false });
            }
        }
    }
    None
}

/// The first paths, by their beginnings; `None` when there are too many of these.
fn several(hops: &Hops, requested: &RequestedQuery, from: u64, to: u64) -> Option<Vec<Outcome>> {
    let start = Beginning { weight: 0.0, nodes: vec![from], fields: Vec::new(), by_nodes: true };
    let mut heap = BinaryHeap::from([start]);
    let mut result = Vec::new();
    let mut steps = 0;
    while let Some(Beginning { weight, nodes, fields, .. }) = heap.pop() {
        steps += 1;
        if 4_000 < steps {
            return None;
        }
        let node = *nodes.last().unwrap();
        if node == to {
            if requested.least.is_none_or(|least| least <= weight) {
                result.push(Outcome { nodes, fields, weight });
            }
            if result.len() == requested.paths {
                break;
            }
            continue;
        }
        for (&to, (more, field)) in hops.get(&node).into_iter().flatten() {
            let weight = weight + more;
            if nodes.contains(&to) || requested.most.is_some_and(|most| most < weight) {
                continue;
            }
            let nodes = [&nodes[..], &[to]].concat();
            let fields = [&fields[..], std::slice::from_ref(field)].concat();
            heap.push(Beginning { weight, nodes, fields, by_nodes: true });
        }
    }
    Some(result)
}

fn ask(db: &Database, text: &str) -> Value {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    let answer =
        db.query_with(&request, &RequestContext::new()).unwrap_or_else(|e| panic!("{text}: {e}"));
    serde_json::from_str(&answer.to_json().unwrap().0).unwrap()
}

fn uid(value: &Value) -> u64 {
    u64::from_str_radix(value["uid"].as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
}

/// The edges that fields have, as levels show them. Each field is its text and the name that it has
/// in an answer.
fn all_hops(db: &Database, fields: &[(String, String)]) -> Hops {
    let body: String = fields.iter().map(|(text, _)| format!("{text} {{ uid }} ")).collect();
    let answer = ask(db, &format!("{{ q(func: has(v)) {{ uid {body} }} }}"));
    let mut hops = Hops::new();
    for node in answer["q"].as_array().unwrap() {
        let own = hops.entry(uid(node)).or_default();
        for (text, name) in fields {
            for target in node[name].as_array().into_iter().flatten() {
                let weight = match text.contains("@facets(w)") {
                    true => target[format!("{name}|w")].as_f64(),
                    false => Some(1.0),
                };
                if let Some(weight) = weight {
                    own.insert(uid(target), (weight, name.clone()));
                }
            }
        }
    }
    hops
}

fn answered(
    db: &Database,
    fields: &[(String, String)],
    requested: &RequestedQuery,
    from: u64,
    to: u64,
) -> Vec<Outcome> {
    let body: String = fields.iter().map(|(text, _)| format!("{text} ")).collect();
    let arguments = requested.arguments();
    let text = format!("{{ shortest(from: {from}, to: {to}{arguments}) {{ {body} }} }}");
    let answer = ask(db, &text);
    let mut paths = Vec::new();
    for path in answer["_path_"].as_array().into_iter().flatten() {
        let weight = path["_weight_"].as_f64().unwrap();
        let (mut nodes, mut names) = (vec![uid(path)], Vec::new());
        let mut node = path;
        while let Some((name, next)) =
            node.as_object().unwrap().iter().find(|(_, it)| it.is_object())
        {
            names.push(name.clone());
            nodes.push(uid(next));
            node = next;
        }
        paths.push(Outcome { nodes, fields: names, weight });
    }
    paths
}

/// An edge: its ends, whether it is of `one`, its weight.
type Edge = (u64, u64, bool, Option<f64>);

fn lines(edges: &[Edge]) -> String {
    let mut text = String::new();
    for &(from, to, one, weight) in edges {
        let name = if one { "one" } else { "two" };
        let facet = weight.map_or(String::new(), |weight| format!("(w={weight:?})"));
        writeln!(text, "<{from}> <{name}> <{to}> {facet} .").unwrap();
    }
    text
}

/// A graph whose edges were loaded, and some of them then set or deleted.
fn database(nodes: u64, reverse: bool, edges: &[Edge], set: &[Edge], deleted: &[Edge]) -> Database {
    let db = Database::in_memory();
    let reverse = if reverse { "@reverse" } else { "" };
    db.alter(&format!("one: [uid] {reverse} .\ntwo: [uid] {reverse} .\nv: int @index(int) ."))
        .unwrap();
    let mut text = lines(edges);
    (1..=nodes).for_each(|node| writeln!(text, "<{node}> <v> \"{node}\" .").unwrap());
    let source = Source::Bytes(text.into_bytes().into());
    db.load_with(source, None, LoadOptions::default(), &RequestContext::new()).unwrap();
    db.mutate(&lines(set), "").unwrap();
    let bare: Vec<Edge> = deleted.iter().map(|&(from, to, one, _)| (from, to, one, None)).collect();
    db.mutate("", &lines(&bare)).unwrap();
    db
}

/// The fields of a block: texts and names in an answer.
fn fields(kind: usize, reverse: bool) -> Vec<(String, String)> {
    let back = if reverse { "~" } else { "" };
    let texts: Vec<String> = match kind {
        0 | 1 => vec!["one @facets(w)".into(), "two @facets(w)".into()],
        2 => vec!["one @facets(w)".into(), format!("{back}two @facets(w)")],
        3 => vec!["one @facets(w) @filter(ge(v, 3))".into(), "two".into()],
        4 => vec![
            "one @facets(w) @facets(ge(w, 1))".into(),
            format!("{back}two @facets(w) @filter(le(v, 6))"),
        ],
        5 => vec!["one (first: 2) @facets(w)".into(), "two @facets(w)".into()],
        6 => vec!["one @facets(w) (orderdesc: v, first: 3)".into(), "two @facets(w)".into()],
        _ => vec!["one".into(), format!("{back}two")],
    };
    let name = |text: &String| text.split(' ').next().unwrap().to_owned();
    texts.iter().map(|text| (text.clone(), name(text))).collect()
}

/// Weights of which sums are often equal, or nearly so.
fn weight(kind: usize, number: u8) -> Option<f64> {
    let weights: &[f64] = match kind {
        0 => &[1.0, 2.0, 3.0, 4.0, 5.0],
        1 => &[0.1, 0.2, 0.3, 0.4, 0.7],
        2 => &[0.0, 0.0, 1.0, 1.0, 2.0],
        3 => &[1.0, 1.0, 1.0, 1.0, 1.0],
        4 => &[1e-17, 0.5, 0.25, 1e-16, 0.75],
        _ => &[-1.0, 1.0, 2.0, 2.0, 3.0],
    };
    weights.get(usize::from(number)).copied()
}

fn edges(
    nodes: u64,
    count: std::ops::Range<usize>,
) -> impl Strategy<Value = Vec<(u64, u64, bool, u8)>> {
    // Of eleven edges one has no weight.
    let number = prop_oneof![10 => 0..5_u8, 1 => Just(9_u8)];
    prop::collection::vec((1..=nodes, 1..=nodes, any::<bool>(), number), count)
}

fn weighted(kind: usize, edges: &[(u64, u64, bool, u8)]) -> Vec<Edge> {
    edges.iter().map(|&(from, to, one, number)| (from, to, one, weight(kind, number))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn few_nodes_have_the_paths_of_a_plain_search(
        kinds in (0..6_usize, 0..8_usize, any::<bool>()),
        edges in edges(8, 5..40),
        set in edges(8, 0..8),
        deleted in edges(8, 0..8),
        requested in (1..7_usize, prop::option::weighted(0.3, 1..5_usize), prop::option::weighted(0.2, 0..4_u8), prop::option::weighted(0.2, 2..9_u8)),
    ) {
        let (weights, fields_of, reverse) = kinds;
        let fields = fields(fields_of, reverse);
        let all = [&edges, &set, &deleted].map(|edges| weighted(weights, edges));
        let db = database(8, reverse, &all[0], &all[1], &all[2]);
        let (paths, depth, least, most) = requested;
        let requested = RequestedQuery { paths, depth, least: least.map(f64::from), most: most.map(f64::from) };
        // Without weights the one path is found by its edges.
        prop_assume!(paths != 1 || fields_of != 7);
        let hops = all_hops(&db, &fields);
        for (from, to) in [(1, 2), (2, 1), (1, 8), (5, 3), (8, 4)] {
            let near = within(&hops, from, depth);
            let expected = match lightest(&near, from, to) {
                None => Some(Vec::new()),
                Some(path) if paths == 1 => Some(vec![path]),
                Some(_) => several(&near, &requested, from, to),
            };
            if let Some(expected) = expected {
                let result = answered(&db, &fields, &requested, from, to);
                prop_assert_eq!(result, expected, "{} to {}: {:?} of {:?}", from, to, requested, fields);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, max_shrink_iters: 100, ..ProptestConfig::default() })]

    #[test]
    fn many_nodes_have_the_paths_of_a_plain_search(
        kinds in (0..5_usize, 0..8_usize, any::<bool>()),
        edges in edges(500, 2500..3500),
        set in edges(500, 0..200),
        deleted in edges(500, 0..200),
        paths in 1..4_usize,
    ) {
        let (weights, fields_of, reverse) = kinds;
        let fields = fields(fields_of, reverse);
        let all = [&edges, &set, &deleted].map(|edges| weighted(weights, edges));
        let db = database(500, reverse, &all[0], &all[1], &all[2]);
        let hops = all_hops(&db, &fields);
        for (from, to) in (1..8_u64).map(|number| (number * 53, number * 31 + 100)) {
            for paths in [1, paths] {
                let requested = RequestedQuery { paths, depth: None, least: None, most: None };
                let expected = match paths {
                    1 if fields_of == 7 => None,
                    1 => Some(lightest(&hops, from, to).into_iter().collect()),
                    // A plain search among beginnings has to be near its end.
                    _ => several(&hops, &requested, from, to),
                };
                // Answers nest as deep as paths are long, and the reader of JSON does not go far.
                let is_read = |paths: &Vec<Outcome>| paths.iter().all(|path| path.nodes.len() < 50);
                if let Some(expected) = expected.filter(|paths| from != to && is_read(paths)) {
                    let result = answered(&db, &fields, &requested, from, to);
                    prop_assert_eq!(result, expected, "{} to {}: {:?}", from, to, fields);
                }
            }
        }
    }
}

/// A graph with more nodes than a search has in a map, as arrays: nodes from 1 on, each with as
/// many edges.
struct Large {
    out: usize,
    targets: Vec<u64>,
    weights: Vec<f64>,
}

impl Large {
    fn new(nodes: u64, out: usize) -> Large {
        let mut rng = fastrand::Rng::with_seed(7);
        let count = nodes as usize * out;
        let targets = (0..count).map(|_| rng.u64(1..=nodes)).collect();
        // Sums of quarters are exact, in any order.
        let weights = (0..count).map(|_| f64::from(rng.u32(1..400_000)) / 4.0).collect();
        Large { out, targets, weights }
    }

    /// Of two edges with the same ends the later one is there.
    fn edges(&self, from: u64) -> impl Iterator<Item = (u64, f64)> {
        let positions = (from as usize - 1) * self.out..from as usize * self.out;
        let later = positions.end;
        positions
            .filter(move |&at| !self.targets[at + 1..later].contains(&self.targets[at]))
            .map(|at| (self.targets[at], self.weights[at]))
    }

    fn database(&self, reverse: bool) -> Database {
        let db = Database::in_memory();
        let reverse = if reverse { "@reverse" } else { "" };
        db.alter(&format!("one: [uid] {reverse} .")).unwrap();
        let mut text = String::new();
        for from in 1..=(self.targets.len() / self.out) as u64 {
            for (to, weight) in self.edges(from) {
                writeln!(text, "<{from}> <one> <{to}> (w={weight:?}) .").unwrap();
            }
        }
        let source = Source::Bytes(text.into_bytes().into());
        db.load_with(source, None, LoadOptions::default(), &RequestContext::new()).unwrap();
        db
    }

    /// The lightest way behind `begin`, whose last node is not left to `banned`: its nodes from
    /// there on, and its weight.
    fn lightest(&self, begin: &[u64], banned: Option<u64>, to: u64) -> Option<(Vec<u64>, f64)> {
        let nodes = self.targets.len() / self.out + 1;
        let (mut best, mut before) = (vec![f64::INFINITY; nodes], vec![0; nodes]);
        let (&start, closed) = begin.split_last().unwrap();
        closed.iter().for_each(|node| best[*node as usize] = f64::NEG_INFINITY);
        best[start as usize] = 0.0;
        // Bits of floats from 0 on have the order of the floats.
        let mut heap = BinaryHeap::from([std::cmp::Reverse((0.0_f64.to_bits(), start))]);
        while let Some(std::cmp::Reverse((bits, node))) = heap.pop() {
            let weight = f64::from_bits(bits);
            if node == to {
                let back = std::iter::successors(Some(to), |node| {
                    (*node != start).then(|| before[*node as usize])
                });
                let mut way: Vec<u64> = back.collect();
                way.reverse();
                return Some((way, weight));
            }
            if best[node as usize] < weight {
                continue;
            }
            for (next, more) in self.edges(node) {
                let is_banned = node == start && banned == Some(next);
                if !is_banned && weight + more < best[next as usize] {
                    best[next as usize] = weight + more;
                    before[next as usize] = node;
                    heap.push(std::cmp::Reverse(((weight + more).to_bits(), next)));
                }
            }
        }
        None
    }

    /// The weights of the two lightest paths: the second leaves the first at one of its nodes, or
    /// there is none.
    fn two(&self, from: u64, to: u64) -> Vec<f64> {
        let Some((way, weight)) = self.lightest(&[from], None, to) else { return Vec::new() };
        let mut sum = 0.0;
        let mut second = None;
        for at in 0..way.len() - 1 {
            if let Some((_, rest)) = self.lightest(&way[..=at], Some(way[at + 1]), to) {
                second = Some(second.map_or(sum + rest, |least: f64| least.min(sum + rest)));
            }
            sum += self.edges(way[at]).find(|(to, _)| *to == way[at + 1]).unwrap().1;
        }
        [weight].into_iter().chain(second).collect()
    }
}

#[test]
fn more_nodes_than_a_map_has_have_the_lightest_paths() {
    let nodes = 70_000;
    let large = Large::new(nodes, 4);
    let mut rng = fastrand::Rng::with_seed(11);
    let pairs: Vec<(u64, u64)> = (0..5).map(|_| (rng.u64(1..=nodes), rng.u64(1..=nodes))).collect();
    let expected: Vec<Vec<f64>> = pairs.iter().map(|&(from, to)| large.two(from, to)).collect();
    assert!(expected.iter().any(|weights| weights.len() == 2), "{expected:?}");
    let fields = [("one @facets(w)".to_owned(), "one".to_owned())];
    for reverse in [false, true] {
        let db = large.database(reverse);
        for (&(from, to), expected) in pairs.iter().zip(&expected) {
            for paths in [1, 2] {
                let requested = RequestedQuery { paths, depth: None, least: None, most: None };
                let result = answered(&db, &fields, &requested, from, to);
                let weights: Vec<f64> = result.iter().map(|path| path.weight).collect();
                let expected = &expected[..paths.min(expected.len())];
                assert_eq!(weights, expected, "{from} to {to}, {paths} of them, {reverse}");
            }
        }
    }
}
