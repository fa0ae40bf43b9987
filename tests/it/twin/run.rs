//! The test: sessions of a random database each, until the time is up.
//!
//! `HEXGRAPH_TWIN_SECONDS` says how long (10), `HEXGRAPH_TWIN_SEED` which session comes first (0,
//! so that a failure is due to what was changed; or `random`), `HEXGRAPH_TWIN_DIFFERENCES` how many
//! to look for (1), `HEXGRAPH_TWIN_COSTS` how many random costs each query is run with (1). With a
//! difference comes the number of its session, which is the seed to repeat it, and the smallest
//! case that shows it.

use super::case::{Case, Pair, Paths, Step, Verdict};
use super::compare::shows_anything;
use super::data;
use super::generate::Generator;
use super::graph::Change;
use super::shrink::shrink;
use super::words::one_of;
use fastrand::Rng;
use hexgraph::internals::exec::{
    AccessPath, BlockPath, FilterPath, GraphPath, GroupPath, OrderPath, PagePath, RootPath,
    TotalPath,
};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// How many queries each state of a database is asked.
const QUERIES: usize = 40;

/// From so many queries on their shares say something.
const MEANINGFUL: usize = 1000;

/// The access paths that few queries allow, or none that is generated here: areas and vectors have
/// tests of their own, and conditions on what edges lead to come from GraphQL, whose twin draws the
/// ways of filters as well.
const RARE: &[AccessPath] = &[
    AccessPath::Block(BlockPath::Count),
    AccessPath::Block(BlockPath::CountTargets),
    AccessPath::Block(BlockPath::RetainSet),
    AccessPath::Block(BlockPath::Algorithm),
    AccessPath::Graph(GraphPath::Made),
    AccessPath::Graph(GraphPath::Cached),
    AccessPath::Graph(GraphPath::Patched),
    AccessPath::Root(RootPath::CountIndex),
    AccessPath::Root(RootPath::Cells),
    AccessPath::Root(RootPath::Vectors),
    AccessPath::Root(RootPath::Nothing),
    AccessPath::Filter(FilterPath::Cells),
    AccessPath::Filter(FilterPath::Batches),
    AccessPath::Filter(FilterPath::CountColumn),
    AccessPath::Filter(FilterPath::WalkBack),
    AccessPath::Filter(FilterPath::Targets),
    AccessPath::Page(PagePath::GivesUp),
    AccessPath::Order(OrderPath::WalkRange),
    AccessPath::Order(OrderPath::WalkFilterRange),
    AccessPath::Order(OrderPath::ScanAndSort),
    AccessPath::Order(OrderPath::ScanAndFilter),
    AccessPath::Order(OrderPath::WalkIndexAndSort),
    AccessPath::Group(GroupPath::Postings),
    AccessPath::Group(GroupPath::PostingSums),
    AccessPath::Group(GroupPath::CodeCells),
    AccessPath::Group(GroupPath::CodeArray),
    AccessPath::Group(GroupPath::CodeTable),
    AccessPath::Group(GroupPath::TargetArray),
    AccessPath::Group(GroupPath::TargetTable),
    AccessPath::Total(TotalPath::Column),
];

/// What came of all queries.
#[derive(Debug, Default)]
struct Tally {
    sessions: u64,
    queries: usize,
    /// Those whose answer shows something.
    full: usize,
    refused: usize,
    undecided: usize,
    /// By feature: the queries with it, and those of them whose answer shows something.
    features: BTreeMap<&'static str, (usize, usize)>,
    /// By access path: the queries of which a step took it.
    paths: BTreeMap<String, usize>,
    differences: Vec<String>,
}

/// How long to ask, and what was found so far.
struct Run {
    started: Instant,
    length: Duration,
    first_seed: u64,
    most_differences: usize,
    tally: Mutex<Tally>,
}

pub fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a whole number"))
}

/// The seed of the first session, which is told.
pub fn first_seed() -> u64 {
    let given = std::env::var("HEXGRAPH_TWIN_SEED").unwrap_or_else(|_| "0".to_owned());
    let first = match given.as_str() {
        "random" => fastrand::u64(..1 << 32),
        number => number.parse().expect("a whole number, or `random`"),
    };
    println!("HEXGRAPH_TWIN_SEED={first}");
    first
}

#[test]
fn engine_and_twin_agree() {
    let first_seed = first_seed();
    let run = Run {
        started: Instant::now(),
        length: Duration::from_secs(from_environment("HEXGRAPH_TWIN_SECONDS").unwrap_or(10)),
        first_seed,
        most_differences: from_environment("HEXGRAPH_TWIN_DIFFERENCES").unwrap_or(1) as usize,
        tally: Mutex::default(),
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| while run.session() {});
        }
    });
    let tally = run.tally.into_inner().unwrap();
    assert!(tally.differences.is_empty(), "{}", tally.differences.join("\n----\n"));
    println!("{tally:#?}");
    if MEANINGFUL < tally.queries {
        tally.check_shares();
    }
}

impl Tally {
    /// A test that asks nothing of interest would agree, too.
    fn check_shares(&self) {
        assert!(self.queries < 3 * self.full, "two thirds of the answers show nothing");
        assert!(self.queries < 50 * self.refused, "almost nothing is refused");
        assert!(4 * self.refused < self.queries, "too much is refused");
        assert!(20 * self.undecided < self.queries, "too much is undecided");
        self.check_paths();
        for (feature, (requested, full)) in &self.features {
            assert!(*requested < 50 || 0 < *full, "`{feature}` never shows anything");
        }
    }

    /// What is never chosen is not compared: each way is taken, but for those that few queries
    /// allow.
    fn check_paths(&self) {
        for path in AccessPath::ALL {
            let is_taken = self.paths.contains_key(&format!("{path:?}"));
            assert!(is_taken || RARE.contains(path), "no query takes {path:?}");
        }
    }

    fn count(
        &mut self,
        verdict: &Verdict,
        features: impl IntoIterator<Item = &'static str>,
        paths: Paths,
    ) {
        self.queries += 1;
        for path in paths {
            *self.paths.entry(format!("{path:?}")).or_default() += 1;
        }
        let is_full = matches!(verdict, Verdict::Same(answer) if shows_anything(answer));
        for feature in features {
            let (requested, full) = self.features.entry(feature).or_default();
            *requested += 1;
            *full += usize::from(is_full);
        }
        self.full += usize::from(is_full);
        match verdict {
            Verdict::Refused(_) => self.refused += 1,
            Verdict::Undecided => self.undecided += 1,
            Verdict::Same(_) | Verdict::Differs(_) => {}
        }
    }
}

impl Run {
    /// One database: built, asked, changed, asked again. False when the time is up.
    fn session(&self) -> bool {
        let seed = {
            let mut tally = self.tally.lock().unwrap();
            tally.sessions += 1;
            self.first_seed + tally.sessions - 1
        };
        let mut rng = Rng::with_seed(seed);
        fastrand::seed(seed);
        let uids = data::uids(&mut rng);
        let mut steps = vec![Step::Alter(data::schema(&mut rng))];
        let mut pair = Pair::new();
        take(&mut pair, &steps[0], seed);
        let count = rng.usize(2..6);
        for stage in 0..count {
            let step = next_step(&mut rng, &pair, &uids, stage);
            take(&mut pair, &step, seed);
            steps.push(step);
            for _ in 0..QUERIES {
                if self.is_over() {
                    return false;
                }
                self.ask(rng.u64(..), &pair, &steps, &uids, seed);
            }
        }
        !self.is_over()
    }

    fn is_over(&self) -> bool {
        self.length < self.started.elapsed()
            || self.most_differences <= self.tally.lock().unwrap().differences.len()
    }

    fn ask(&self, query_seed: u64, pair: &Pair, steps: &[Step], uids: &[u64], seed: u64) {
        let mut generator = Generator::new(query_seed, &pair.graph, uids);
        let query = generator.query();
        let lists = std::mem::take(&mut generator.lists);
        let mut paths = Paths::default();
        let verdict = pair.ask(&query.to_string(), &lists, query_seed, &mut paths);
        self.tally.lock().unwrap().count(&verdict, generator.features, paths);
        let Verdict::Differs(how) = verdict else { return };
        let small = shrink(&Case { steps: steps.to_vec(), query, lists, seed: query_seed });
        let now = match small.verdict() {
            Verdict::Differs(how) => how,
            _ => format!("not when the database is built anew; at first {how}"),
        };
        let difference = format!("session {seed}\n{small}\n{now}\n");
        self.tally.lock().unwrap().differences.push(difference);
    }
}

fn take(pair: &mut Pair, step: &Step, seed: u64) {
    if let Err(error) = pair.take(step) {
        panic!("session {seed}: a step is refused: {error}\n{step:?}");
    }
}

/// What happens to the database next; first it gets its data.
pub fn next_step(rng: &mut Rng, pair: &Pair, uids: &[u64], stage: usize) -> Step {
    let schema = &pair.graph.schema;
    match (stage, rng.u32(..20)) {
        (0, 0..10) => Step::Load(data::first_triples(rng, schema, uids)),
        (0, _) => {
            let set = data::first_triples(rng, schema, uids);
            Step::Change(Change { delete: Vec::new(), set })
        }
        (_, 0..4) => Step::Alter(data::altered(rng, schema)),
        (_, 4) => {
            let own = schema.predicates.keys().filter(|name| *name != "dgraph.type");
            let names: Vec<&String> = own.collect();
            Step::Drop((*one_of(rng, &names)).clone())
        }
        (_, 5..8) => Step::Reopen,
        _ => Step::Change(data::change(rng, &pair.graph, uids)),
    }
}
