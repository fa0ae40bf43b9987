//! A case: how a database came to be, and a query. Engine and twin are asked alike.

use super::compare::difference;
use super::exec::Failure;
use super::generate::quoted;
use super::graph::{Change, Graph};
use super::piece::Chunk;
use super::run::from_environment;
use super::schema::Schema;
use super::{exec, graph};
use crate::shadow::{unplanned, unplanned_step};
use bytes::Bytes;
use hexgraph::db::{
    Database, Drop, LoadOptions, OpenOptions, ParameterValue, QueryAnswer, QueryRequest,
    RequestContext, Source, SyncPolicy, Thresholds,
};
use hexgraph::internals::exec::{AccessPath, CostModel, REWRITES, RandomChoice, Rewrite, Trace};
use hexgraph::types::Error;
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The longest that the engine may take for one query.
const PATIENCE: Duration = Duration::from_secs(10);

/// Options whose graphs fold their changes, replay their logs and walk over vectors although they
/// are small.
pub fn small() -> OpenOptions {
    // When a compaction comes must make no difference.
    let thresholds = match fastrand::bool() {
        true => Thresholds::small(),
        false => Thresholds::small_background(),
    };
    // More threads than most machines have for a test: what is shared with others must make no
    // difference.
    OpenOptions { thresholds, threads: 3, ..OpenOptions::default() }
}

/// Random costs, of the generator of this thread: which access path is chosen must make no
/// difference.
pub fn any_costs() -> CostModel {
    let random = |usual: usize| match fastrand::u32(..3) {
        0 => usual,
        1 => 1,
        _ => usize::MAX / 2,
    };
    let usual = CostModel::default();
    CostModel {
        test: random(usual.test),
        driver_ratio: random(usual.driver_ratio),
        page_batch: random(usual.page_batch).min(1000),
        long_list: random(usual.long_list),
        long_list_ratio: random(usual.long_list_ratio),
        cascade_batch: random(usual.cascade_batch),
        cascade_ratio: random(usual.cascade_ratio),
        index_walk_min: random(usual.index_walk_min),
        column_min: random(usual.column_min),
        top_ratio: random(usual.top_ratio),
        sampled_top: random(usual.sampled_top),
        spread: random(usual.spread),
        morsel: random(usual.morsel),
        // In half of the queries each step takes any of the access paths that are allowed for it.
        choice: if fastrand::bool() {
            RandomChoice::of(fastrand::u64(..))
        } else {
            RandomChoice::default()
        },
        // And each rewrite is left out now and then.
        left_out: if fastrand::bool() { fastrand::u32(..) } else { 0 },
    }
}

/// One step in the life of a database.
#[derive(Debug, Clone)]
pub enum Step {
    /// The schema is set or changed.
    Alter(Schema),
    /// Triples are loaded in bulk.
    Load(Vec<graph::Triple>),
    /// Triples go and come.
    Change(Change),
    /// It is saved and opened; the second time on, closed and opened.
    Reopen,
    /// A predicate is dropped.
    Drop(String),
}

/// A database and the graph that it should hold.
pub struct Pair {
    db: Database,
    pub graph: Graph,
    /// Where it was saved last; gone with it.
    folder: Option<TempDir>,
}

/// How a database came to be, and a query.
#[derive(Debug, Clone)]
pub struct Case {
    pub steps: Vec<Step>,
    pub query: Chunk,
    /// The lists that the query's `$` variables hold.
    pub lists: Lists,
    /// The seed of the random costs.
    pub seed: u64,
}

/// The access paths that steps took.
pub type Paths = HashSet<AccessPath>;

/// Lists for the `$` variables of a query, by name, each with its declared type.
pub type Lists = BTreeMap<String, (&'static str, Vec<String>)>;

/// A query with its lists written out.
pub fn written_out(query: &str, lists: &Lists) -> String {
    lists.iter().fold(query.to_owned(), |text, (name, (_, items))| {
        let items: Vec<String> = items.iter().map(|item| quoted(item)).collect();
        text.replace(name.as_str(), &format!("[{}]", items.join(", ")))
    })
}

/// What came of asking both.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Both gave this answer.
    Same(Json),
    /// Both refused.
    Refused(String),
    /// There is more than one right answer, or a limit was met.
    Undecided,
    /// They differ.
    Differs(String),
}

impl Pair {
    /// An empty one.
    pub fn new() -> Pair {
        Pair { db: Database::in_memory_with(small()), graph: Graph::default(), folder: None }
    }

    /// Takes a step on both sides.
    pub fn take(&mut self, step: &Step) -> Result<(), Error> {
        match step {
            Step::Alter(schema) => {
                self.db.alter(&schema.text())?;
                self.graph.schema = schema.clone();
            }
            Step::Load(triples) => {
                let text = Bytes::from(graph::lines(triples));
                self.db.load_with(
                    Source::Bytes(text),
                    None,
                    LoadOptions::default(),
                    &RequestContext::new(),
                )?;
                self.graph.apply(&Change { delete: Vec::new(), set: triples.clone() });
            }
            Step::Change(change) => {
                self.db.mutate(&graph::lines(&change.set), &graph::lines(&change.delete))?;
                self.graph.apply(change);
            }
            Step::Drop(name) => {
                self.db.drop(&Drop::Predicate(name.clone()))?;
                self.graph.forget(name);
            }
            Step::Reopen => {
                let options = OpenOptions { sync: SyncPolicy::Never, ..small() };
                let folder = match self.folder.take() {
                    // What came since it was saved is in the log, and is executed again.
                    Some(folder) => {
                        self.db.close()?;
                        folder
                    }
                    None => {
                        let folder = tempfile::tempdir().unwrap();
                        self.db.save(folder.path())?;
                        folder
                    }
                };
                self.db = Database::open(folder.path(), options)?;
                self.folder = Some(folder);
            }
        }
        Ok(())
    }

    /// The engine.
    pub fn db(&self) -> &Database {
        &self.db
    }

    /// Asks both: the engine with the lists as values of variables, the twin with lists in the
    /// text. The engine is asked with all rewrites, without each of those that made a block, and
    /// with random choices among the access paths that are allowed; all paths that it took are
    /// noted in `paths`. The costs follow from `seed`.
    pub fn ask(&self, text: &str, lists: &Lists, seed: u64, paths: &mut Paths) -> Verdict {
        fastrand::seed(seed);
        let literal = written_out(text, lists);
        let plan = hexgraph::internals::dql::parse(&literal)
            .and_then(|document| document.plan(&BTreeMap::new()));
        let twin = match plan {
            Ok(plan) => exec::answer(&self.graph, &plan),
            Err(error) => Err(Failure::Refused(error.to_string())),
        };
        let verdict = self.compare(text, lists, &twin, CostModel::default(), paths);
        let made = |rewrite: &Rewrite| paths.contains(&AccessPath::Block(rewrite.after));
        let made: Vec<usize> = (0..REWRITES.len()).filter(|it| made(&REWRITES[*it])).collect();
        let without = made
            .iter()
            .map(|position| CostModel { left_out: 1 << position, ..CostModel::default() });
        let many = from_environment("HEXGRAPH_TWIN_COSTS").unwrap_or(1);
        for costs in without.chain((0..many).map(|_| any_costs())) {
            if matches!(verdict, Verdict::Differs(_) | Verdict::Undecided) {
                break;
            }
            let other = self.compare(text, lists, &twin, costs, paths);
            if let Verdict::Differs(how) = other {
                return Verdict::Differs(format!("{how}\n  with {costs:?}"));
            }
        }
        verdict
    }

    /// Asks the engine, which weighs ways with some costs, and compares its answer with that of the
    /// twin.
    fn compare(
        &self,
        text: &str,
        lists: &Lists,
        twin: &Result<Json, Failure>,
        costs: CostModel,
        paths: &mut Paths,
    ) -> Verdict {
        let is_decided = *twin != Err(Failure::Undecided);
        // A random choice is not planned.
        let planned = (costs.choice == RandomChoice::default()).then(|| {
            let control = RequestContext::new().with_costs(costs);
            self.db.planned_steps(&requested(text, lists), &control)
        });
        let patience = if is_decided { PATIENCE } else { PATIENCE / 10 };
        let control = RequestContext::new().with_timeout(patience).with_costs(costs);
        control.start_trace();
        let started = Instant::now();
        let engine = catch_unwind(AssertUnwindSafe(|| answered(&self.db, text, lists, &control)));
        let steps = control.trace().map(Trace::steps).unwrap_or_default();
        paths.extend(steps.iter().filter_map(|step| step.path));
        let Ok(engine) = engine else {
            return Verdict::Differs("the engine panicked".to_owned());
        };
        if is_decided && patience < started.elapsed() {
            return Verdict::Differs("the engine takes too long".to_owned());
        }
        if let (Ok(_), Some(planned)) = (&engine, planned)
            && !matches!(&planned, Ok(planned) if unplanned_step(planned, &steps).is_none())
            // A compaction in between may change what is chosen.
            && let Some(step) = unplanned(
                &self.db,
                &requested(text, lists),
                &RequestContext::new().with_timeout(patience).with_costs(costs),
            )
        {
            return Verdict::Differs(step);
        }
        match (engine, twin) {
            (_, Err(Failure::Undecided)) | (Err(Error::Limit { .. }), _) => Verdict::Undecided,
            (Ok(engine), Ok(twin)) => match difference(&engine, twin) {
                None => Verdict::Same(engine),
                Some(position) => {
                    Verdict::Differs(format!("at {position}\n  engine: {engine}\n  twin:   {twin}"))
                }
            },
            (Err(error), Err(Failure::Refused(_))) => Verdict::Refused(error.to_string()),
            (Err(error), Ok(twin)) => {
                Verdict::Differs(format!("\n  engine refuses: {error}\n  twin: {twin}"))
            }
            (Ok(engine), Err(Failure::Refused(reason))) => {
                Verdict::Differs(format!("\n  engine: {engine}\n  twin refuses: {reason}"))
            }
        }
    }
}

/// The answer of the engine, with the lists as values of variables. Ways are weighed with random
/// costs and not drawn at random: of several errors the first one is told, and the parts of a
/// filter are asked in the order that the engine chose.
pub fn ask_engine(
    db: &Database,
    text: &str,
    lists: &Lists,
    patience: Duration,
) -> Result<Json, Error> {
    let costs = CostModel { choice: RandomChoice::default(), left_out: 0, ..any_costs() };
    let control = RequestContext::new().with_timeout(patience).with_costs(costs);
    answered(db, text, lists, &control)
}

fn answered(
    db: &Database,
    text: &str,
    lists: &Lists,
    control: &RequestContext,
) -> Result<Json, Error> {
    let request = requested(text, lists);
    let answer = db.query_with(&request, control)?;
    let (json, _) = answer.to_json_with(control)?;
    let full = reported(&answer);
    let copied = answer.copied_out(u64::MAX);
    let copied = copied.unwrap_or_else(|| panic!("there is no copy: {}", request.text));
    assert_eq!(copied.memory().version, 0, "{}", request.text);
    assert_eq!(reported(&copied), full, "a copy tells something else: {}", request.text);
    Ok(serde_json::from_str(&json).unwrap())
}

/// The query with the lists as values of variables.
fn requested(text: &str, lists: &Lists) -> QueryRequest {
    let used = lists.iter().filter(|(name, _)| text.contains(name.as_str()));
    let (types, variables): (Vec<String>, Vec<(String, ParameterValue)>) = used
        .map(|(name, (kind, items))| {
            (format!("{name}: {kind}"), (name.clone(), ParameterValue::list(items.clone())))
        })
        .unzip();
    let text = match types.is_empty() {
        true => text.to_owned(),
        false => format!("query t({}) {text}", types.join(", ")),
    };
    let variables = variables.into_iter().collect();
    QueryRequest { text, variables, ..QueryRequest::default() }
}

/// All forms of an answer; errors by their texts.
fn reported(answer: &QueryAnswer) -> Vec<String> {
    let control = RequestContext::new();
    let text = |form: Result<String, Error>| form.unwrap_or_else(|error| error.to_string());
    let mut forms = vec![
        text(answer.to_json().map(|(json, _)| json)),
        text(answer.to_rdf().map(|(lines, _)| lines)),
        format!("{:?}", answer.warnings()),
        format!("{:?}", answer.root_counts().collect::<Vec<_>>()),
        format!("{:?}", answer.touched()),
    ];
    for block in answer.block_names() {
        let keys = answer.keys_with(Some(&block), &control).map(|keys| format!("{keys:?}"));
        let table = answer.table_with(Some(&block), &control).map(|table| format!("{table:?}"));
        forms.extend([text(keys), text(table)]);
    }
    forms
}

impl Case {
    /// Builds the database anew and asks both.
    pub fn verdict(&self) -> Verdict {
        let mut pair = Pair::new();
        for step in &self.steps {
            if let Err(error) = pair.take(step) {
                return Verdict::Refused(error.to_string());
            }
        }
        pair.ask(&self.query.to_string(), &self.lists, self.seed, &mut Paths::default())
    }
}

/// The case as a script of `tests/golden`.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            match step {
                Step::Alter(schema) => writeln!(f, "schema\n{}", schema.text())?,
                Step::Load(triples) => writeln!(f, "# loaded\nset\n{}", graph::lines(triples))?,
                Step::Change(change) => {
                    writeln!(f, "delete\n{}", graph::lines(&change.delete))?;
                    writeln!(f, "set\n{}", graph::lines(&change.set))?;
                }
                Step::Reopen => writeln!(f, "# saved and opened\n")?,
                Step::Drop(name) => writeln!(f, "# {name} dropped\n")?,
            }
        }
        for (name, (kind, items)) in &self.lists {
            writeln!(f, "# {name}: {kind} = {items:?}")?;
        }
        writeln!(f, "> {}", self.query)
    }
}
