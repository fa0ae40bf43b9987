//! Mutations: they leave what the recorded upsert leaves.

use super::graph::{Graph, Predicates, graph};
use super::pools::Pools;
use super::record::{Record, ask, schema};
use super::scene::Scene;
use super::shape::renamed;
use super::world::World;
use hexgraph::db::{
    Mutation, MutationRequest, QueryRequest, RequestContext, Statements, TxnOptions,
};
use serde_json::Value;
use std::collections::BTreeSet;

/// How many nodes of each type there are.
pub const NODES: usize = 4;

/// Why the upsert of a record is no measure.
const DEFECTS: [(&str, &str); 3] = [
    (
        "Updating @id field when given value for @id fields exist in some node",
        "the node that has the values is the one that is updated, so nothing changes",
    ),
    (
        "Additional Deletes - Update references existing node by XID (update single edge)",
        "the former partner keeps a link to a node that leads elsewhere",
    ),
    (
        "Updating link to nested object inheriting @id field with interface argument-2\"",
        "two nodes have an id that only one can have",
    ),
];

/// A world that can be made what it was.
pub struct Stage {
    pub world: World,
    predicates: Predicates,
    base: Graph,
    /// The nodes from the beginning.
    pub existing: BTreeSet<u64>,
}

impl Stage {
    pub fn new(world: World) -> Stage {
        let predicates = Predicates::of(&world.model);
        let existing: BTreeSet<u64> = world.nodes.values().flatten().copied().collect();
        let base = graph(&world, &predicates, &existing);
        Stage { world, predicates, base, existing }
    }

    pub fn graph(&self) -> Graph {
        graph(&self.world, &self.predicates, &self.existing)
    }

    /// Makes the data what a record supposes them to be, and the record one about them.
    pub fn prepare(&self, record: &Record, round: usize) -> Record {
        let scene = Scene::of(&self.world, &self.base, record, round);
        self.world.db.mutate("", &scene.delete).unwrap();
        self.world.db.mutate(&scene.set, "").unwrap();
        renamed(record, &scene.renaming)
    }

    /// Makes the data what they were.
    pub fn restore(&self, from: &Graph) {
        let (delete, set) = self.base.way_from(from);
        self.world.db.mutate("", &delete).unwrap();
        self.world.db.mutate(&set, "").unwrap_or_else(|error| panic!("{error}\n{set}"));
    }

    /// The graph that the recorded upsert makes, in a transaction that is thrown away.
    fn recorded(&self, record: &Record) -> Result<Graph, String> {
        let [first, second] = ["dgquery", "dgquerysec"].map(|key| record.text(key));
        let query = if first.contains(" as ") { first } else { second };
        let parts = record.0["dgmutations"].as_array().cloned().unwrap_or_default();
        let text = |part: &Value, key: &str| part[key].as_str().unwrap_or_default().to_owned();
        let parts: Vec<[String; 3]> = parts
            .iter()
            .map(|part| ["cond", "setjson", "deletejson"].map(|key| text(part, key)))
            .collect();
        let mutations = parts.iter().map(|[condition, set, delete]| Mutation {
            condition: condition.as_str().into(),
            set: statements(set),
            delete: statements(delete),
        });
        let mutations: Vec<Mutation<'_>> = mutations.collect();
        let request =
            MutationRequest { query: query.into(), mutations, ..MutationRequest::default() };
        let txn = self.world.db.begin(TxnOptions::default()).unwrap();
        txn.mutate_with(&request, &RequestContext::new())
            .map_err(|error| format!("{error}\n{query}"))?;
        let text = self.predicates.query(&self.existing);
        let query = QueryRequest { text, ..QueryRequest::default() };
        let result = txn.query_with(&query, &RequestContext::new()).unwrap().to_json().unwrap().0;
        txn.discard();
        Ok(self.predicates.read(&serde_json::from_str(&result).unwrap()))
    }

    /// What differs, if anything.
    fn difference(&self, record: &Record) -> Option<String> {
        let record = &self.prepare(record, 0);
        let want = match record.error() {
            Some(_) => Ok(self.graph()),
            None => self.recorded(record),
        };
        let answer = ask(&self.world.db, &record.request(), &record.headers());
        let have = self.graph();
        self.restore(&have);
        let title = format!(
            "# {}\n{}\n{}\n{}\n",
            record.text("name"),
            record.text("gqlquery"),
            record.0["variables"],
            answer
        );
        let dql = format!("{}\n{}\n", record.dql(), record.0["dgmutations"]);
        let want = match want {
            Ok(want) => want,
            Err(error) => return Some(title + &dql + &error),
        };
        let (more, less) = have.difference(&want, &self.existing);
        let refused = messages(&answer);
        let same = more.is_empty() && less.is_empty();
        (!same || refused != record.error().unwrap_or_default()).then(|| {
            let (more, less) = (more.join("\n + "), less.join("\n - "));
            title + &dql + &format!("error {:?}\n + {more}\n - {less}\n", record.error())
        })
    }

    fn check(&self, records: &[Record]) {
        let mut wrong = Vec::new();
        for record in records {
            if DEFECTS.iter().any(|(name, _)| *name == record.text("name")) {
                continue;
            }
            wrong.extend(self.difference(record));
        }
        assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    }
}

fn statements(json: &str) -> Vec<Statements<'_>> {
    (!json.is_empty()).then_some(Statements::Json(json)).into_iter().collect()
}

/// The messages of the errors of an answer, without what the caller adds to them.
fn messages(answer: &Value) -> String {
    let errors = answer["errors"].as_array().into_iter().flatten();
    let text = |error: &Value| {
        let text = error["message"].as_str().unwrap();
        match text.split_once(" because failed to rewrite") {
            Some((_, text)) => format!("failed to rewrite{text}"),
            None => text.to_owned(),
        }
    };
    errors.map(text).collect::<Vec<_>>().join("\n")
}

fn check_file(file: &str, name: &str) {
    let (Some(schema), Some(records)) = (schema(file, false), Record::all(name)) else { return };
    let world = World::new(&schema, &Pools::of(&records), NODES);
    Stage::new(world).check(&records);
}

#[test]
fn additions_leave_the_same() {
    check_file("resolve_schema.graphql", "resolve_add_mutation.jsonl");
}

#[test]
fn updates_leave_the_same() {
    check_file("resolve_schema.graphql", "resolve_update_mutation.jsonl");
}

#[test]
fn deletions_leave_the_same() {
    check_file("resolve_schema.graphql", "resolve_delete_mutation.jsonl");
}

#[test]
fn deletions_with_rules_leave_the_same() {
    check_file("auth_schema.graphql", "resolve_auth_delete.jsonl");
}
