//! A random graph as a version of the store, and as plain lists.

use crate::algo::{
    Alone, Cut, EdgeSelection, Graph, GraphCache, Lookup, Output, Requested, Run, Task, Work,
    compute,
};
use crate::graph::{
    Bindings, LoadOptions, LoadSource, MutationTexts, Passwords, Stager, Statements, Version,
    alter, load, stage,
};
use fastrand::Rng;
use hexgraph_base::plan::{
    AlgorithmCall, ArgumentKind, ArgumentValue, Direction, NodeList, algorithm,
};
use hexgraph_base::schema::Actor;
use hexgraph_base::types::pool::Pool;
use hexgraph_base::types::{Error, Result, Uid, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// The predicates: `e` forward, `f` inverted if a case has it.
const NAMES: [&str; 2] = ["e", "f"];

/// Small graphs are cut up as large ones are.
const CUT: Cut = Cut { batches: 4, batch_chunk: 8, group_chunk: 64 };

/// An edge of a predicate, and its weight where it has one.
pub(super) type Edges = BTreeMap<(usize, u32, u32), Option<f64>>;

struct Plain;

impl Passwords for Plain {
    fn hash(&self, _: &str) -> Result<Value> {
        Err(Error::query("there are no passwords"))
    }

    fn verify(&self, _: &str, _: &str) -> Result<bool> {
        Ok(false)
    }
}

/// Work on some threads.
pub(super) struct Threads(pub(super) Pool);

impl Work for Threads {
    fn check(&self) -> Result<()> {
        Ok(())
    }

    fn charge(&self, _: usize) -> Result<()> {
        Ok(())
    }

    fn uncharge(&self, _: usize) {}

    fn pool(&self) -> Option<&Pool> {
        Some(&self.0)
    }
}

/// Work that is counted: looks at the clock, and the most bytes at a time. On one thread, or on
/// those of a pool.
#[derive(Default)]
pub(super) struct Counted {
    pub(super) checks: AtomicUsize,
    pub(super) bytes: AtomicUsize,
    pub(super) most: AtomicUsize,
    pub(super) pool: Option<Pool>,
}

impl Work for Counted {
    fn check(&self) -> Result<()> {
        self.checks.fetch_add(1, Relaxed);
        Ok(())
    }

    fn charge(&self, bytes: usize) -> Result<()> {
        let now = self.bytes.fetch_add(bytes, Relaxed) + bytes;
        self.most.fetch_max(now, Relaxed);
        Ok(())
    }

    fn uncharge(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Relaxed);
    }

    fn pool(&self) -> Option<&Pool> {
        self.pool.as_ref()
    }
}

/// N-Quads of edges.
pub(super) fn quads(edges: &Edges) -> String {
    let line = |(&(name, from, to), weight): (&(usize, u32, u32), &Option<f64>)| {
        let facet = weight.map_or_else(String::new, |weight| format!(" (w={weight:?})"));
        format!("<{from}> <{}> <{to}>{facet} .\n", NAMES[name])
    };
    edges.iter().map(line).collect()
}

pub(super) fn loaded(text: String) -> Version {
    let version = alter(&Version::empty(), "e: [uid] .\nf: [uid] .\nname: string .\n").unwrap();
    let source = LoadSource { name: "test.rdf".to_owned(), reader: Box::new(Cursor::new(text)) };
    load(&version, vec![source], &LoadOptions::default()).unwrap().0
}

pub(super) fn changed(version: &Version, set: &str, delete: &str) -> Version {
    let tree = MutationTexts::new(&[Statements::NQuads(set)], &[Statements::NQuads(delete)]);
    let stager = Stager { actor: Actor::Client, passwords: &Plain, charge: &|_| Ok(()) };
    let statements = vec![tree.statements(&mut 0, &()).unwrap()];
    let (changes, _) = stage(version, statements, &Bindings::default(), stager).unwrap();
    changes.apply(version).unwrap()
}

/// A graph and the requested part of it.
pub(super) struct Case {
    pub(super) version: Version,
    pub(super) edges: Edges,
    pub(super) direction: Direction,
    pub(super) is_weighted: bool,
    pub(super) has_second: bool,
    pub(super) nodes: Option<Vec<u32>>,
    pub(super) far: Option<Vec<u32>>,
}

/// The graph of a case by its definition: nodes by uid, ascending, and the weight of each edge
/// between their positions.
#[derive(Debug, Clone)]
pub(super) struct PlainGraph {
    pub(super) nodes: Vec<u32>,
    pub(super) edges: BTreeMap<(usize, usize), f64>,
}

impl PlainGraph {
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// What leaves each node, and with which weight.
    pub(super) fn rows(&self) -> Vec<Vec<(usize, f64)>> {
        let mut rows = vec![Vec::new(); self.len()];
        self.edges.iter().for_each(|(&(from, to), &weight)| rows[from].push((to, weight)));
        rows
    }

    pub(super) fn has(&self, from: usize, to: usize) -> bool {
        self.edges.contains_key(&(from, to))
    }

    /// The neighbours of each node but itself, without directions.
    pub(super) fn neighbours(&self) -> Vec<BTreeSet<usize>> {
        let mut sets = vec![BTreeSet::new(); self.len()];
        for &(from, to) in self.edges.keys().filter(|(from, to)| from != to) {
            sets[from].insert(to);
            sets[to].insert(from);
        }
        sets
    }
}

fn subset(most: u32, rng: &mut Rng) -> Vec<u32> {
    (1..=most).filter(|_| rng.u8(..4) != 0).collect()
}

impl Case {
    /// A random case of at most so many nodes.
    pub(super) fn random(nodes_max: u32, rng: &mut Rng) -> Case {
        let most = rng.u32(1..=nodes_max);
        let mut edges = Edges::new();
        let mut add = |count: u32, rng: &mut Rng| {
            let mut some = Edges::new();
            for _ in 0..count {
                let weight = match rng.u8(..8) {
                    0 => Some(0.0),
                    1 | 2 => None,
                    3 => Some(f64::from(rng.u8(1..5)) / 4.0),
                    _ => Some(f64::from(rng.u8(1..6))),
                };
                let key = (usize::from(rng.u8(..4) == 0), rng.u32(1..=most), rng.u32(1..=most));
                some.insert(key, weight);
            }
            edges.extend(some.clone());
            some
        };
        let count = rng.u32(..=3 * most);
        let mut version = loaded(quads(&add(count, rng)));
        if rng.bool() {
            let count = rng.u32(..=most);
            version = changed(&version, &quads(&add(count, rng)), "");
            let gone: Vec<_> = edges.keys().copied().filter(|_| rng.u8(..8) == 0).collect();
            let lines = gone
                .iter()
                .map(|(name, from, to)| format!("<{from}> <{}> <{to}> .\n", NAMES[*name]));
            version = changed(&version, "", &lines.collect::<String>());
            edges.retain(|key, _| !gone.contains(key));
        }
        Case {
            version,
            edges,
            direction: *rng
                .choice([Direction::Out, Direction::In, Direction::Both].iter())
                .unwrap(),
            is_weighted: rng.bool(),
            has_second: rng.bool(),
            nodes: rng.bool().then(|| subset(most + 2, rng)),
            far: (rng.u8(..4) == 0).then(|| subset(most, rng)),
        }
    }

    /// The graph of the case, of a cache or made anew.
    pub(super) fn graph(
        &self,
        cache: Option<&GraphCache>,
        task: &Task<'_>,
    ) -> Result<(std::sync::Arc<Graph>, Lookup)> {
        let weight = self.is_weighted.then_some("w");
        // A facet that no edge has is refused, which is tested apart.
        let has_facet = |name| {
            let of_name = |((other, ..), weight): (&(usize, u32, u32), &Option<f64>)| {
                *other == name && weight.is_some()
            };
            self.edges.iter().any(of_name)
        };
        let mut parts = vec![EdgeSelection {
            predicate: self.version.predicate("e").unwrap(),
            reverse: false,
            weight: weight.filter(|_| has_facet(0)),
            far: self.far.clone(),
        }];
        if self.has_second {
            let predicate = self.version.predicate("f").unwrap();
            parts.push(EdgeSelection {
                predicate,
                reverse: true,
                weight: weight.filter(|_| has_facet(1)),
                far: None,
            });
        }
        let uid = |node| Uid(u64::from(node));
        let expected =
            Requested { parts, nodes: self.nodes.clone(), direction: self.direction, uid: &uid };
        GraphCache::get(cache, &expected, task)
    }

    /// The same by the definition.
    pub(super) fn plain(&self) -> PlainGraph {
        let mut cached: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for (&(name, from, to), weight) in &self.edges {
            let weight = if self.is_weighted { weight.unwrap_or(1.0) } else { 1.0 };
            let (from, to) = if name == 1 { (to, from) } else { (from, to) };
            let is_far = name == 1 || self.far.as_ref().is_none_or(|far| far.contains(&to));
            if (name == 0 || self.has_second) && is_far {
                *cached.entry((from, to)).or_default() += weight;
            }
        }
        let joined = cached.keys().flat_map(|(from, to)| [*from, *to]).collect::<BTreeSet<u32>>();
        let nodes = self.nodes.clone().unwrap_or_else(|| joined.into_iter().collect());
        let position = |node: &u32| nodes.binary_search(node).ok();
        let mut edges: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for ((from, to), weight) in &cached {
            let (Some(from), Some(to)) = (position(from), position(to)) else { continue };
            let directions: &[(usize, usize)] = match self.direction {
                Direction::Out => &[(from, to)],
                Direction::In => &[(to, from)],
                Direction::Both if from == to => &[(from, to)],
                Direction::Both => &[(from, to), (to, from)],
            };
            directions.iter().for_each(|pair| *edges.entry(*pair).or_default() += weight);
        }
        // Where nothing has weights, parallel edges are one edge that weighs 1.
        let unweighted = |weight: f64| if self.has_weights() { weight } else { weight.min(1.0) };
        let edges = edges.into_iter().map(|(pair, weight)| (pair, unweighted(weight))).collect();
        PlainGraph { nodes, edges }
    }

    fn has_weights(&self) -> bool {
        let is_used = |name: usize| name == 0 || self.has_second;
        self.is_weighted
            && self.edges.iter().any(|((name, ..), weight)| is_used(*name) && weight.is_some())
    }
}

/// A call of an algorithm with some arguments.
pub(super) fn call(name: &str, arguments: &[(&str, ArgumentValue)]) -> AlgorithmCall {
    let mut call = AlgorithmCall::new(algorithm(name).unwrap());
    for (name, value) in arguments {
        call = call.with(name, value.clone());
    }
    call
}

/// Nodes by their numbers in the graph, as an argument.
pub(super) fn nodes(numbers: &[usize]) -> ArgumentValue {
    let uids = numbers.iter().map(|number| *number as u64).collect();
    ArgumentValue::Nodes(NodeList { uids, vars: Vec::new() })
}

/// The result of an algorithm, with numbers of nodes in lists. Group arguments get seven groups.
pub(super) fn result(
    graph: &Graph,
    call: &AlgorithmCall,
    work: &dyn Work,
    threads: Option<usize>,
) -> Result<Output> {
    let list = |argument: &hexgraph_base::plan::ArgumentDef| {
        if argument.kind == ArgumentKind::Groups {
            return Some((0..graph.len() as u32).map(|node| node % 7).collect());
        }
        let list = call.nodes(argument.name)?;
        Some(list.uids.iter().map(|uid| *uid as u32).collect::<Vec<u32>>())
    };
    let lists = call.algorithm.arguments.iter().map(list).collect();
    let task = Task::new(work, threads).with_cut(CUT);
    let run = Run { graph, call, lists, weights: "`w`", task };
    Ok(compute(&run)?.output)
}

/// As [`result`], on one thread, of what cannot fail.
pub(super) fn simply(graph: &Graph, call: &AlgorithmCall) -> Output {
    result(graph, call, &Alone, None).unwrap()
}

pub(super) fn floats(output: Output) -> Vec<f64> {
    let Output::Floats(numbers) = output else { panic!("no floats: {output:?}") };
    numbers
}

pub(super) fn ints(output: Output) -> Vec<i64> {
    let Output::Ints(numbers) = output else { panic!("no ints: {output:?}") };
    numbers
}

/// Numbers that are the same but for rounding; NaN is the same as NaN.
pub(super) fn assert_near(result: &[f64], expected: &[f64], what: &str) {
    assert_eq!(result.len(), expected.len(), "{what}");
    for (position, (one, other)) in result.iter().zip(expected).enumerate() {
        let is_same = one == other
            || one.is_nan() && other.is_nan()
            || (one - other).abs() <= 1e-9 * other.abs().max(1.0);
        assert!(is_same, "{what}: {one} at {position}, not {other}: {result:?} {expected:?}");
    }
}
