//! Mutations with rules: what nobody forbids is what the same world without rules does. What is
//! forbidden, the recorded DQL tells: it finds which nodes may be updated, which of the new ones
//! may be, and which may lose a link.

use super::graph::{End, Graph};
use super::mutations::{NODES, Stage};
use super::pools::Pools;
use super::record::{Record, ask, dql, quoted, schema, without_rules};
use super::world::World;
use hexgraph::db::graphql::{GraphqlOptions, Headers};
use regex::{Captures, Regex};
use serde_json::{Value, json};
use std::sync::LazyLock;

static NEW: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(\w+?)_(\d+) as var\(func: uid\(0x[0-9a-fx, ]+\)\)").unwrap());
static CHOSEN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(\w+) as \w+\(").unwrap());

/// How often an operation is executed: about other nodes each time.
fn rounds(record: &Record) -> usize {
    if record.dql().contains("0x") { 2 } else { 1 }
}

/// A world with rules, and one without.
struct Pair {
    ruled: Stage,
    free: Stage,
}

/// What is to come of a mutation.
enum Expected {
    /// What the world without rules now holds.
    Graph,
    /// Nothing new.
    Nothing,
    /// Nothing new, and an error.
    Refusal,
    /// The record does not tell.
    Unknown,
}

impl Pair {
    /// What the recorded DQL finds, with the nodes that it chooses beside.
    fn result(&self, record: &Record) -> (Value, Option<Vec<String>>) {
        let text = record.text("dgquerysec").trim_end();
        if text.is_empty() {
            return (Value::Null, None);
        }
        let first = CHOSEN.captures(text).filter(|result| !result[0].ends_with("var("));
        let chosen = first
            .map_or(String::new(), |result| format!("chosen(func: uid({})) {{ uid }}", &result[1]));
        let text = format!("{} {chosen} }}", text.trim_end_matches('}'));
        let result = dql(&self.ruled.world.db, &text, &Default::default()).unwrap();
        let uids = result["chosen"].as_array().map(|nodes| {
            nodes.iter().map(|node| node["uid"].as_str().unwrap().to_owned()).collect()
        });
        (result, (!chosen.is_empty()).then(|| uids.unwrap_or_default()))
    }

    /// Whether the rules of the new nodes of the world without rules hold.
    fn may_add(&self, record: &Record, graph: &Graph) -> bool {
        let text = record.text("authquery");
        // Nothing is asked where the claims say it all; or where somebody is to lose a link.
        if !text.contains("uid(") || !record.has("authjson") {
            let is_asked_else = record.text("dgquerysec").contains(".auth(");
            return record.error().is_none() || is_asked_else;
        }
        let new = |ty: &str| {
            let name = self.free.world.model.get(ty).map_or(ty, |def| &def.dgraph_type);
            let of = (String::from("dgraph.type"), End::Value(quoted(name)));
            let lines = graph.0.iter().filter(|(_, name, end)| (name, end) == (&of.0, &of.1));
            let new = lines.map(|(uid, ..)| *uid).filter(|uid| !self.free.existing.contains(uid));
            new.map(|uid| format!("{uid:#x}")).collect::<Vec<_>>()
        };
        let named = |result: &Captures<'_>| {
            let (ty, number) = (&result[1], &result[2]);
            format!("{ty}_{number} as var(func: uid({}))", new(ty).join(", "))
        };
        let query = NEW.replace_all(text, named);
        let result = dql(&self.free.world.db, &query, &Default::default());
        let result = result.unwrap_or_else(|error| panic!("{error}\n{query}"));
        let blocks = result.as_object().unwrap().iter();
        blocks.into_iter().all(|(ty, nodes)| {
            let expected = if NEW.is_match(text) { new(ty).len() } else { usize::MAX };
            nodes.as_array().unwrap().len() == expected
        })
    }

    /// What is expected, and what the world without rules holds now.
    fn expected(&self, record: &Record, before: &Graph) -> (Expected, Graph) {
        let (result, chosen) = self.result(record);
        let before = || before.clone();
        let mut request = record.request();
        let is_update = record.text("gqlquery").contains("mutation update");
        if let Some(chosen) = &chosen {
            if chosen.is_empty() && record.has("authquery") && !is_update {
                return (Expected::Unknown, before());
            }
            if chosen.is_empty() {
                return (Expected::Nothing, before());
            }
            if is_update {
                // The same about those that may be updated.
                let input = request.variables.values_mut().next().unwrap();
                let filter = input["filter"].as_object_mut().unwrap();
                *filter.values_mut().next().unwrap() = json!(chosen);
            }
        }
        let losers =
            result.as_object().into_iter().flatten().filter(|(name, _)| name.ends_with(".auth"));
        for (name, allowed) in losers {
            if result[name.trim_end_matches(".auth")] != *allowed {
                return (Expected::Refusal, before());
            }
        }
        let answer = ask(&self.free.world.db, &request, &Headers::new());
        assert!(answer["errors"].is_null(), "{answer}");
        let graph = self.free.graph();
        match self.may_add(record, &graph) {
            true => (Expected::Graph, graph),
            false => (Expected::Refusal, graph),
        }
    }

    fn difference(&self, record: &Record, round: usize, seen: &mut [usize; 3]) -> Option<String> {
        self.free.prepare(record, round);
        let record = &self.ruled.prepare(record, round);
        let before = self.free.graph();
        let (expected, free) = self.expected(record, &before);
        let answer = ask(&self.ruled.world.db, &record.request(), &record.headers());
        let have = self.ruled.graph();
        self.ruled.restore(&have);
        self.free.restore(&free);
        let errors = answer["errors"].to_string();
        let (want, is_refused, kind) = match expected {
            Expected::Graph => (&free, false, 2),
            Expected::Nothing => (&before, false, 1),
            Expected::Refusal => (&before, true, 0),
            Expected::Unknown => return None,
        };
        seen[kind] += 1;
        let (more, less) = have.difference(want, &self.ruled.existing);
        let same = more.is_empty()
            && less.is_empty()
            && is_refused == errors.contains("authorization failed")
            && (is_refused || answer["errors"].is_null());
        (!same).then(|| {
            format!(
                "# {} [{round}]\n{}\n{}\n{}\n{answer}\n{}\n{}\nrefused {is_refused}\n + {}\n - {}\n",
                record.text("name"),
                record.text("gqlquery"),
                record.0["variables"],
                record.0["jwtvar"],
                record.text("dgquerysec"),
                record.text("authquery"),
                more.join("\n + "),
                less.join("\n - ")
            )
        })
    }
}

fn check_file(name: &str) {
    let (Some(schema), Some(records)) = (schema("auth_schema.graphql", false), Record::all(name))
    else {
        return;
    };
    let pools = Pools::of(&records);
    let stage = |schema: &str| Stage::new(World::new(schema, &pools, NODES));
    let pair = Pair { ruled: stage(&schema), free: stage(&without_rules(&schema)) };
    let options = GraphqlOptions { debug: true, links_hidden: true, ..GraphqlOptions::default() };
    pair.ruled.world.db.set_graphql_options(options);
    let mut wrong = Vec::new();
    let mut seen = [0; 3];
    for record in &records {
        let rounds =
            (0..rounds(record)).filter_map(|round| pair.difference(record, round, &mut seen));
        wrong.extend(rounds.take(1));
    }
    println!("refused, nothing done, done: {seen:?}");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

#[test]
fn additions_with_rules_leave_the_same() {
    check_file("resolve_auth_add.jsonl");
}

#[test]
fn updates_with_rules_leave_the_same() {
    check_file("resolve_auth_update.jsonl");
}
