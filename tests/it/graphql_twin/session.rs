//! One database with its model: mutations and queries are asked of both, and have to agree.

use super::answer::Answering;
use super::ask::Asking;
use super::changes::Changes;
use super::graph::Graph;
use super::mutate::{Effect, mutate};
use super::naming::Failure;
use super::request::{Part, Request, RequestedQuery};
use super::schema::{Of, Schema};
use super::shape::Group;
use super::shrink::shrink;
use super::store;
use super::words::chance;
use crate::twin::{any_costs, difference, small};
use fastrand::Rng;
use hexgraph::db::graphql::Headers;
use hexgraph::db::{Database, OpenOptions, RequestContext, SyncPolicy, graphql};
use hexgraph::types::Error;
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tempfile::TempDir;

/// The longest that one request may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What was asked, and how often it came to something.
#[derive(Debug, Default)]
pub struct Tally {
    pub queries: usize,
    pub full: usize,
    pub mutations: usize,
    pub refused: usize,
    pub undecided: usize,
    pub with_errors: usize,
    /// Why mutations are undecided.
    pub reasons: BTreeMap<&'static str, usize>,
    /// By feature: how often it was asked for, and how often the answer showed something.
    pub features: BTreeMap<&'static str, (usize, usize)>,
}

pub struct Session {
    db: Database,
    schema: Schema,
    graph: Graph,
    rng: Rng,
    fresh: i64,
    /// Where the database was saved last; gone with it.
    folder: Option<TempDir>,
}

/// What the model says to a mutation.
enum Report {
    Effects(Vec<(String, Option<Effect>)>),
    /// Only that what is stored holds together can be told.
    Open(&'static str),
}

impl Session {
    pub fn new(seed: u64) -> Result<Session, String> {
        let mut rng = Rng::with_seed(seed);
        let schema = super::family::schema(&mut rng);
        let db = Database::in_memory_with(small());
        if let Err(error) = db.set_graphql_schema(&schema.text()) {
            return Err(format!("{}\nis refused: {error}", schema.text()));
        }
        Ok(Session { db, schema, graph: Graph::default(), rng, fresh: 0, folder: None })
    }

    /// A few mutations, each followed by queries.
    pub fn run(&mut self, is_over: impl Fn() -> bool, tally: &mut Tally) -> Result<(), String> {
        for _ in 0..self.rng.usize(5..25) {
            self.mutation(tally).map_err(|reported| self.with_schema(&reported))?;
            if chance(&mut self.rng, 3) {
                self.reopen().map_err(|error| self.with_schema(&error.to_string()))?;
            }
            for _ in 0..4 {
                if is_over() {
                    return Ok(());
                }
                self.query(tally).map_err(|reported| self.with_schema(&reported))?;
            }
        }
        Ok(())
    }

    /// Saves the database and opens it; later on, closes and opens it, so that what came since is
    /// in the log.
    fn reopen(&mut self) -> Result<(), Error> {
        let folder = match self.folder.take() {
            Some(folder) => {
                self.db.close()?;
                folder
            }
            None => {
                let folder = tempfile::tempdir().expect("there is room");
                self.db.save(folder.path())?;
                folder
            }
        };
        let options = OpenOptions { sync: SyncPolicy::Never, ..small() };
        self.db = Database::open(folder.path(), options)?;
        self.folder = Some(folder);
        Ok(())
    }

    fn with_schema(&self, reported: &str) -> String {
        let lines: Vec<String> = store::lines(&self.graph, &self.schema).into_iter().collect();
        format!("{}\nmodel:\n{}\n\n{reported}", self.schema.text(), lines.join("\n"))
    }

    fn query(&mut self, tally: &mut Tally) -> Result<(), String> {
        let mut asking = Asking::new(&mut self.rng, &self.schema, &self.graph);
        let request = asking.query();
        let features = std::mem::take(&mut asking.features);
        let (reported, data, has_errors) = self.compared(&request);
        tally.queries += 1;
        tally.undecided += usize::from(data.is_none());
        tally.with_errors += usize::from(has_errors);
        tally.count(features, &data.unwrap_or_default());
        if reported.is_ok() {
            return reported;
        }
        // What can't be executed at all is another thing.
        let is_answered = ask(&self.db, &request).is_ok();
        let small = shrink(request, |request| {
            self.compared(request).0.is_err() && ask(&self.db, request).is_ok() == is_answered
        });
        self.compared(&small).0
    }

    /// Asks both. What the model says, where it can; whether there are errors.
    fn compared(&self, request: &Request) -> (Result<(), String>, Option<Json>, bool) {
        let mut answering = Answering::new(&self.graph, &self.schema);
        let mut data = Map::new();
        for root in request.roots.iter().filter(|root| root.is_requested()) {
            data.insert(root.key().to_owned(), answering.root(root));
        }
        let (data, has_errors) = (Json::Object(data), answering.has_errors);
        match ask(&self.db, request) {
            Err(reported) => (Err(reported), None, has_errors),
            Ok(_) if answering.is_undecided => (Ok(()), None, has_errors),
            Ok(result) => (agree(request, &result, &data, has_errors), Some(data), has_errors),
        }
    }

    fn mutation(&mut self, tally: &mut Tally) -> Result<(), String> {
        let mut changes = Changes {
            rng: &mut self.rng,
            schema: &self.schema,
            graph: &self.graph,
            fresh: &mut self.fresh,
            features: BTreeSet::new(),
        };
        let request = changes.mutation();
        let features = std::mem::take(&mut changes.features);
        let (mut state, reported) = self.reported(&request);
        let result = ask(&self.db, &request)?;
        let with_request = |reported: String| {
            let (text, variables) = request.print();
            format!("{text}\n{}\n{reported}\nanswered {result}", Json::Object(variables))
        };
        let engine = store::read(&self.db, &self.schema).map_err(with_request)?;
        tally.mutations += 1;
        if let Some(torn) = store::torn_link(&engine, &self.schema) {
            return Err(with_request(torn));
        }
        let effects = match reported {
            Report::Effects(effects) if !dangles(&state) => effects,
            reported => {
                let reason = match reported {
                    Report::Open(reason) => reason,
                    Report::Effects(_) => "a link to what came and went",
                };
                tally.undecided += 1;
                *tally.reasons.entry(reason).or_default() += 1;
                store::adopt(&mut self.graph, &engine);
                return Ok(());
            }
        };
        store::settle(&mut state, &engine, &self.schema).map_err(with_request)?;
        self.graph = state;
        let (data, has_errors, is_open) = self.payloads(&request, effects);
        tally.refused +=
            usize::from(data.as_object().is_some_and(|data| data.values().any(Json::is_null)));
        tally.count(features, &data);
        if is_open { Ok(()) } else { agree(&request, &result, &data, has_errors) }
    }

    /// What the model makes of a mutation, one root field after the other.
    fn reported(&self, request: &Request) -> (Graph, Report) {
        let mut state = self.graph.clone();
        let mut effects = Vec::new();
        for root in &request.roots {
            match mutate(&state, &self.schema, root) {
                Ok(effect) if effect.is_open => {
                    return (state, Report::Open("the order of links"));
                }
                Err(Failure::Undecided(reason)) => return (state, Report::Open(reason)),
                Ok(effect) => {
                    state = effect.after.clone();
                    effects.push((root.key().to_owned(), Some(effect)));
                }
                Err(Failure::Refused(_)) => {
                    effects.push((root.key().to_owned(), None));
                    break;
                }
            }
        }
        (state, Report::Effects(effects))
    }

    /// The payloads, now that the numbers of new nodes are known.
    fn payloads(
        &self,
        request: &Request,
        effects: Vec<(String, Option<Effect>)>,
    ) -> (Json, bool, bool) {
        let (mut data, mut has_errors, mut is_open) = (Map::new(), false, false);
        for ((key, effect), root) in effects.into_iter().zip(&request.roots) {
            let Some(mut effect) = effect else {
                has_errors = true;
                data.insert(key, Json::Null);
                continue;
            };
            for (position, node) in effect.shown.nodes.iter_mut().enumerate() {
                node.uid = self.graph.nodes[position].uid;
                is_open |= node.uid.is_none();
            }
            let mut answering = Answering::new(&effect.shown, &self.schema);
            data.insert(key, payload(&mut answering, &effect, root));
            has_errors |= answering.has_errors;
            is_open |= answering.is_undecided;
        }
        (Json::Object(data), has_errors, is_open)
    }
}

fn payload(answering: &mut Answering<'_>, effect: &Effect, root: &RequestedQuery) -> Json {
    let mut members = Map::new();
    for part in &root.below {
        let Part::Field(requested) = part else { continue };
        let value = match requested.name.as_str() {
            "numUids" => json!(effect.count),
            "msg" => json!(effect.message),
            _ => {
                let group = Group { fields: vec![requested] };
                answering.list(effect.nodes.clone(), Of::Kind(effect.kind), &group)
            }
        };
        members.insert(requested.key().to_owned(), value);
    }
    Json::Object(members)
}

/// Whether a link leads to a node that came and went, so that nobody knows its number.
fn dangles(graph: &Graph) -> bool {
    let is_lost = |target: &usize| {
        let node = &graph.nodes[*target];
        node.is_gone && node.uid.is_none()
    };
    graph.nodes.iter().any(|node| node.edges.values().flatten().any(is_lost))
}

/// Asks the engine.
fn ask(db: &Database, request: &Request) -> Result<Json, String> {
    let (text, variables) = request.print();
    let reported = format!("{text}\n{}", Json::Object(variables.clone()));
    let request = graphql::Request { variables, ..graphql::Request::new(text) };
    let hash = |hash: u64, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte));
    fastrand::seed(reported.bytes().fold(0, hash));
    let control = RequestContext::new().with_timeout(PATIENCE).with_costs(any_costs());
    let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        db.graphql_with(&request, &Headers::new(), &control).to_json("")
    }));
    let answer = answer.map_err(|_| format!("{reported}\npanics"))?;
    let result: Json =
        serde_json::from_slice(&answer).map_err(|error| format!("{reported}\n{error}"))?;
    match result.get("data") {
        Some(_) => Ok(result),
        None => Err(format!("{reported}\nis not carried out: {result}")),
    }
}

/// Whether the engine answers what the model does.
fn agree(request: &Request, result: &Json, data: &Json, has_errors: bool) -> Result<(), String> {
    let is_reported = result.get("errors").is_some();
    let position = difference(&result["data"], data);
    if position.is_none() && is_reported == has_errors {
        return Ok(());
    }
    let (text, variables) = request.print();
    let variables = Json::Object(variables);
    let position = position.unwrap_or_else(|| "the errors".to_owned());
    Err(format!(
        "{text}\n{variables}\nat {position}\n  engine: {result}\n  model:  {data} (errors: {has_errors})"
    ))
}

impl Tally {
    fn count(&mut self, features: BTreeSet<&'static str>, data: &Json) {
        let is_full = crate::twin::shows_anything(data);
        self.full += usize::from(is_full);
        for feature in features {
            let (requested, full) = self.features.entry(feature).or_default();
            *requested += 1;
            *full += usize::from(is_full);
        }
    }

    /// Adds another.
    pub fn add(&mut self, other: Tally) {
        self.queries += other.queries;
        self.full += other.full;
        self.mutations += other.mutations;
        self.refused += other.refused;
        self.undecided += other.undecided;
        self.with_errors += other.with_errors;
        for (reason, count) in other.reasons {
            *self.reasons.entry(reason).or_default() += count;
        }
        for (feature, (requested, full)) in other.features {
            let sum = self.features.entry(feature).or_default();
            *sum = (sum.0 + requested, sum.1 + full);
        }
    }
}
