//! How long do the kernels of graph algorithms take, without Python, DQL and a database around
//! them?
//!
//! On a social graph that is drawn at random: people have 20 edges on average, of which half lead
//! to any others, the popular ones more often, and half to people nearby. `HEXGRAPH_BENCH_PEOPLE`
//! (200,000) says how many, `HEXGRAPH_BENCH_THREADS` (1,2) on how many threads,
//! `HEXGRAPH_BENCH_EDGES` names a file of another graph: pairs of node numbers of four bytes, the
//! lowest first. Names of algorithms after `--` are the only ones that are measured; `nearest` is
//! personal PageRank of the top 100 beside the exact one, in `HEXGRAPH_BENCH_CASES` (20) cases.
//! Prints the least milliseconds of five calls (of one where that takes 5 s), and the bytes of work
//! space for each node; fails where results differ between numbers of threads. Behind each row
//! stand a number made of all bits of the result, and the modularity of communities.

use hexgraph_base::plan::{
    ALGORITHMS, AlgorithmCall, ArgumentKind, ArgumentValue, Direction, algorithm,
};
use hexgraph_base::types::Result;
use hexgraph_base::types::pool::Pool;
use hexgraph_store::algo::{EdgeArrays, Graph, Output, Run, Task, Work, compute};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// As programs set it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const CALLS: u32 = 5;
const LONG: Duration = Duration::from_secs(5);

/// Algorithms whose cost grows faster than the graph: on a large one they would take hours.
const ON_SMALL_ONES: &[&str] =
    &["closeness", "harmonic", "similar_nodes", "similarity", "distances_among"];
const SMALL: usize = 2_000;

/// Threads, and the most memory that was charged at one time.
struct Threads {
    pool: Pool,
    charged: Mutex<(usize, usize)>,
}

impl Work for Threads {
    fn check(&self) -> Result<()> {
        Ok(())
    }

    fn charge(&self, bytes: usize) -> Result<()> {
        let mut charged = self.charged.lock().expect("no thread panics with it");
        charged.0 += bytes;
        charged.1 = charged.1.max(charged.0);
        Ok(())
    }

    fn uncharge(&self, bytes: usize) {
        self.charged.lock().expect("no thread panics with it").0 -= bytes;
    }

    fn pool(&self) -> Option<&Pool> {
        Some(&self.pool)
    }
}

impl Threads {
    fn new(threads: usize) -> Threads {
        Threads { pool: Pool::new(threads), charged: Mutex::default() }
    }
}

/// Numbers without order, the same each time (splitmix64).
struct Numbers(u64);

impl Numbers {
    /// A number from 0 to below 1.
    fn fraction(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number from 1 on, of a Pareto distribution that is cut off.
    fn pareto(&mut self, exponent: f64, most: f64) -> f64 {
        (1.0 - self.fraction()).powf(-1.0 / exponent).min(most)
    }
}

fn social(people: usize) -> Vec<(u32, u32)> {
    const DEGREE: f64 = 20.0;
    let mut numbers = Numbers(42);
    let most = (people as f64).sqrt();
    let active: Vec<f64> = (0..people).map(|_| numbers.pareto(1.5, most)).collect();
    let scale = DEGREE * people as f64 / active.iter().sum::<f64>();
    let mut popular: Vec<f64> = (0..people).map(|_| numbers.pareto(1.3, most)).collect();
    let mut sum = 0.0;
    popular.iter_mut().for_each(|weight| {
        sum += *weight;
        *weight = sum;
    });
    let mut edges = Vec::new();
    for (from, active) in active.iter().enumerate() {
        for _ in 0..(active * scale + numbers.fraction()) as usize {
            let to = if numbers.fraction() < 0.5 {
                let far = 30.0 * (std::f64::consts::PI * (numbers.fraction() - 0.5)).tan();
                (from as i64 + far.round() as i64).rem_euclid(people as i64) as usize
            } else {
                let position = numbers.fraction() * sum;
                popular.partition_point(|weight| *weight <= position).min(people - 1)
            };
            if to != from {
                edges.push((from as u32, to as u32));
            }
        }
    }
    edges
}

fn number(name: &str, otherwise: usize) -> usize {
    match std::env::var(name) {
        Ok(text) => text
            .replace(['_', ','], "")
            .parse()
            .unwrap_or_else(|_| panic!("{name}={text} is no number")),
        Err(_) => otherwise,
    }
}

fn edges() -> Vec<(u32, u32)> {
    let Ok(path) = std::env::var("HEXGRAPH_BENCH_EDGES") else {
        return social(number("HEXGRAPH_BENCH_PEOPLE", 200_000));
    };
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let node = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    bytes.chunks_exact(8).map(|pair| (node(pair), node(&pair[4..]))).collect()
}

/// The four graphs: with and without weights, directed and not.
struct Graphs {
    threads: Threads,
    edges: Vec<(u32, u32)>,
    weights: Vec<f64>,
    made: Vec<Option<Graph>>,
}

impl Graphs {
    fn get(&mut self, is_weighted: bool, is_undirected: bool) -> &Graph {
        let position = usize::from(is_weighted) + 2 * usize::from(is_undirected);
        if self.made[position].is_none() {
            let nodes = self.edges.iter().map(|(from, to)| from.max(to) + 1).max().unwrap_or(0);
            let (sources, targets): (Vec<u32>, Vec<u32>) = self.edges.iter().copied().unzip();
            let arrays = EdgeArrays {
                nodes: nodes as usize,
                sources: &sources,
                targets: &targets,
                weights: is_weighted.then_some(self.weights.as_slice()),
                is_undirected,
            };
            let made = Graph::of_arrays(&arrays, &Task::new(&self.threads, None));
            self.made[position] = Some(made.expect("the edges are valid"));
        }
        self.made[position].as_ref().expect("it was just made")
    }
}

/// The call of a row: an algorithm with arguments that fit any graph.
fn call_of(name: &str, source: u32, nodes: u32) -> (AlgorithmCall, Vec<Option<Vec<u32>>>) {
    let algorithm = algorithm(name).expect("it is in the table");
    let mut call = AlgorithmCall::new(algorithm);
    let mut lists = Vec::new();
    for argument in algorithm.arguments {
        lists.push(match argument.kind {
            ArgumentKind::Nodes { is_required: true } => Some(vec![source]),
            ArgumentKind::Groups => Some((0..nodes).map(|node| node % 100).collect()),
            _ => None,
        });
        call = match (name, argument.name) {
            ("pagerank", "iterations") => call.with("iterations", ArgumentValue::Int(20)),
            ("pagerank", "tolerance") => call.with("tolerance", ArgumentValue::Float(0.0)),
            ("katz", "alpha") => call.with("alpha", ArgumentValue::Float(1e-4)),
            (_, "samples") => call.with("samples", ArgumentValue::Int(16)),
            _ => call,
        };
    }
    (call, lists)
}

/// A number that is another one where a bit of the result is.
fn print_of(output: &Output) -> u64 {
    let mix = |sum: u64, bits: u64| (sum ^ bits).wrapping_mul(0x0100_0000_01b3).rotate_left(17);
    match output {
        Output::Floats(all) => all.iter().fold(1, |sum, it| mix(sum, it.to_bits())),
        Output::Ints(all) => all.iter().fold(2, |sum, it| mix(sum, *it as u64)),
        Output::Float(it) => it.to_bits(),
        Output::Nodes(all) => all.iter().fold(3, |sum, it| mix(sum, u64::from(*it))),
        Output::Pairs(all) => {
            let pair =
                |it: &(u32, u32, f64)| mix(u64::from(it.0) << 32 | u64::from(it.1), it.2.to_bits());
            all.iter().fold(4, |sum, it| mix(sum, pair(it)))
        }
        Output::Some(all) => {
            all.iter().fold(5, |sum, (node, it)| mix(mix(sum, u64::from(*node)), it.to_bits()))
        }
        Output::Paths(all) => all.nodes.iter().fold(6, |sum, it| mix(sum, u64::from(*it))),
        Output::Vectors(all) => {
            all.values.iter().fold(7, |sum, it| mix(sum, u64::from(it.to_bits())))
        }
    }
}

/// The modularity of communities.
fn modularity(graph: &Graph, groups: &[i64], task: Task<'_>) -> f64 {
    let call = AlgorithmCall::new(algorithm("modularity").expect("it is in the table"));
    let groups = groups.iter().map(|group| *group as u32).collect();
    let lists = vec![Some(groups), None];
    let result =
        compute(&Run { graph, call: &call, lists, weights: "", task }).expect("the arguments fit");
    match result.output {
        Output::Float(value) => value,
        _ => unreachable!("it is one number"),
    }
}

fn measure(graphs: &mut Graphs, name: &str, threads: &[usize], source: u32) {
    let algorithm = algorithm(name).expect("it is in the table");
    let is_undirected = algorithm.directions[0] == Direction::Both;
    let weighted: &[bool] = if name == "distances" { &[false, true] } else { &[false] };
    for &is_weighted in weighted {
        let graph = graphs.get(is_weighted, is_undirected);
        let (call, lists) = call_of(name, source, graph.len() as u32);
        print!("{name:<22}{:<10}", if is_weighted { "weighted" } else { "" });
        let (mut prints, mut quality) = (Vec::new(), None);
        for &threads in threads {
            let work = Threads::new(threads);
            let task = Task::new(&work, Some(threads));
            graph.incoming(&task).expect("there is memory");
            let run = Run { graph, call: &call, lists: lists.clone(), weights: "", task };
            let mut least = Duration::MAX;
            for _ in 0..CALLS {
                let started = Instant::now();
                let result = compute(&run).expect("the arguments fit");
                least = least.min(started.elapsed());
                prints.push(print_of(&result.output));
                if let ("louvain" | "leiden", Output::Ints(groups)) = (name, &result.output) {
                    quality.get_or_insert_with(|| modularity(graph, groups, task));
                }
                if LONG < least {
                    break;
                }
            }
            let space = work.charged.lock().expect("no thread panics with it").1;
            print!("{:>11.1} ms {:>5} B", 1e3 * least.as_secs_f64(), space / graph.len().max(1));
        }
        print!("   {:016x}", prints[0]);
        println!("{}", quality.map_or_else(String::new, |it| format!("   modularity {it:.4}")));
        assert!(
            prints.iter().all(|print| *print == prints[0]),
            "{name}: results differ: {prints:x?}"
        );
    }
}

/// How long the nodes that are nearest to five others take to be found from these outward, and how
/// many of them are right.
fn measure_nearest(graphs: &mut Graphs) {
    const STARTS: usize = 5;
    const TOP: i64 = 100;
    let cases = number("HEXGRAPH_BENCH_CASES", 20);
    let graph = graphs.get(false, false);
    let work = Threads::new(2);
    let task = Task::new(&work, None);
    graph.incoming(&task).expect("there is memory");
    let mut numbers = Numbers(11);
    let (mut times, mut fractions) = (Vec::new(), Vec::new());
    for _ in 0..cases {
        let mut starts: Vec<u32> =
            (0..STARTS).map(|_| (numbers.fraction() * graph.len() as f64) as u32).collect();
        starts.sort_unstable();
        starts.dedup();
        let ask = |method, tolerance| {
            let algorithm = algorithm("pagerank").expect("it is in the table");
            let call = AlgorithmCall::new(algorithm)
                .with("top", ArgumentValue::Int(TOP))
                .with("method", ArgumentValue::Word(method))
                .with("tolerance", ArgumentValue::Float(tolerance));
            let list = |name: &str| (name == "from").then(|| starts.clone());
            let lists = algorithm.arguments.iter().map(|argument| list(argument.name)).collect();
            let started = Instant::now();
            let result =
                compute(&Run { graph, call: &call, lists, weights: "", task }).expect("it fits");
            let took = started.elapsed();
            let Output::Some(ranks) = result.output else { unreachable!("it gives some nodes") };
            (took, ranks.into_iter().map(|(node, _)| node).collect::<BTreeSet<u32>>())
        };
        let (_, exact) = ask("power", 1e-12);
        let result = (0..CALLS).map(|_| ask("push", 1e-6)).min_by_key(|(took, _)| *took);
        let (took, result) = result.expect("it is called");
        times.push(1e3 * took.as_secs_f64());
        fractions.push(result.intersection(&exact).count() as f64 / exact.len() as f64);
    }
    times.sort_unstable_by(f64::total_cmp);
    fractions.sort_unstable_by(f64::total_cmp);
    let (middle, last) = (times.len() / 2, times.len() - 1);
    println!(
        "top {TOP} from {STARTS}: {:.2} ms in the middle of {cases} cases, {:.2} at most; of the exact ones {:.2} in the middle, {:.2} at least",
        times[middle], times[last], fractions[middle], fractions[0]
    );
}

fn main() {
    let requested: Vec<String> =
        std::env::args().skip(1).filter(|it| !it.starts_with("--")).collect();
    let threads = std::env::var("HEXGRAPH_BENCH_THREADS").unwrap_or_else(|_| "1,2".to_owned());
    let threads: Vec<usize> = threads
        .split(',')
        .map(|it| it.trim().parse().expect("numbers of threads, with commas"))
        .collect();
    let edges = edges();
    let mut numbers = Numbers(7);
    let weights = edges.iter().map(|_| (1.0 + 255.0 * numbers.fraction()).floor()).collect();
    let most = threads.iter().copied().max().unwrap_or(1);
    let made = vec![None, None, None, None];
    let mut graphs = Graphs { threads: Threads::new(most), edges, weights, made };
    let started = Instant::now();
    let graph = graphs.get(false, false);
    let source =
        (0..graph.len() as u32).max_by_key(|node| graph.outgoing().degree(*node)).unwrap_or(0);
    let (nodes, edges) = (graph.len(), graph.outgoing().edges());
    println!("{nodes} nodes, {edges} edges, made in {:.1?}; source {source}", started.elapsed());
    let one = graph.byte_len() as f64 / edges as f64;
    let (work, took) = (Threads::new(most), Instant::now());
    graph.incoming(&Task::new(&work, None)).expect("there is memory");
    let both = graph.byte_len() as f64 / edges as f64;
    println!(
        "{one:.2} bytes an edge, {both:.2} with those turned round, in {:.1?}",
        took.elapsed()
    );
    for algorithm in ALGORITHMS {
        let is_requested = requested.iter().any(|name| name == algorithm.name);
        let is_slow = ON_SMALL_ONES.contains(&algorithm.name) && SMALL < nodes;
        if is_requested || requested.is_empty() && !is_slow {
            measure(&mut graphs, algorithm.name, &threads, source);
        }
    }
    if requested.is_empty() || requested.iter().any(|name| name == "nearest") {
        measure_nearest(&mut graphs);
    }
}
