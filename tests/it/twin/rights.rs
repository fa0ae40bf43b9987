//! What a user sees who may read some predicates only: what an engine answers that never had the
//! others. Where a block begins with one of those it is absent, and its variables are empty.
//!
//! `HEXGRAPH_TWIN_SECONDS` and `HEXGRAPH_TWIN_SEED` are those of the other test; it takes a fifth
//! of the time.

use super::case::{Lists, Pair, Step, ask_engine, written_out};
use super::compare::shows_anything;
use super::data;
use super::generate::Generator;
use super::graph::{Change, Graph, Triple};
use super::run::{first_seed, from_environment, next_step};
use fastrand::Rng;
use hexgraph::db::access::{AccessOptions, LoginRequest};
use hexgraph::db::{Database, Mutation, MutationRequest, RequestContext, Statements};
use hexgraph::internals::dql;
use hexgraph::internals::plan::{Call, Function, Operand};
use hexgraph::types::Error;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// How many queries each database is asked.
const QUERIES: usize = 120;

const PASSWORD: &str = "longenough";

/// The steps of a database, and what it has after them. It is not opened again: users are asked for
/// in the one that is open.
fn steps(rng: &mut Rng, uids: &[u64]) -> (Vec<Step>, Graph) {
    let mut pair = Pair::new();
    let mut steps = vec![Step::Alter(data::schema(rng))];
    pair.take(&steps[0]).unwrap();
    for stage in 0..rng.usize(1..4) {
        let step = next_step(rng, &pair, uids, stage);
        if !matches!(step, Step::Reopen) {
            pair.take(&step).unwrap();
            steps.push(step);
        }
    }
    (steps, pair.graph)
}

/// The database after the same steps that never had some predicates.
fn without(steps: &[Step], hidden: &BTreeSet<&String>) -> Vec<Step> {
    let left = |triples: &[Triple]| -> Vec<Triple> {
        triples.iter().filter(|triple| !hidden.contains(&triple.predicate)).cloned().collect()
    };
    let mut retained = Vec::new();
    for step in steps {
        retained.push(match step {
            Step::Alter(schema) => {
                let mut schema = schema.clone();
                schema.predicates.retain(|name, _| !hidden.contains(name));
                for fields in schema.types.values_mut() {
                    fields.retain(|field| {
                        !hidden.contains(&field.trim_start_matches('~').to_owned())
                    });
                }
                Step::Alter(schema)
            }
            Step::Load(triples) => Step::Load(left(triples)),
            Step::Change(change) => {
                Step::Change(Change { delete: left(&change.delete), set: left(&change.set) })
            }
            Step::Drop(name) if hidden.contains(name) => continue,
            other => other.clone(),
        });
    }
    retained
}

/// A database after some steps, as a user sees it who may read these predicates. The users are
/// there first, and so have the same uids whatever the steps are.
fn seen(steps: &[Step], readable: &BTreeSet<&String>) -> (Pair, Database) {
    let mut pair = Pair::new();
    let db = pair.db();
    db.enable_access(AccessOptions::new(b"a secret of thirty-two bytes or more".to_vec())).unwrap();
    let rules: Vec<_> = readable
        .iter()
        .map(|name| {
            json!({
                "dgraph.rule.predicate": name, "dgraph.rule.permission": 4,
                "dgraph.type": "dgraph.type.Rule",
            })
        })
        .collect();
    let people = json!([
        { "uid": "_:g", "dgraph.xid": "readers", "dgraph.type": "dgraph.type.Group", "dgraph.acl.rule": rules },
        {
            "dgraph.xid": "ada", "dgraph.type": "dgraph.type.User", "dgraph.password": PASSWORD,
            "dgraph.user.group": [{ "uid": "_:g" }],
        },
    ]);
    let set = people.to_string();
    let mutation = Mutation { set: vec![Statements::Json(&set)], ..Mutation::default() };
    let request = MutationRequest { mutations: vec![mutation], ..MutationRequest::default() };
    db.mutate_with(&request, &RequestContext::new()).unwrap();
    let login = LoginRequest {
        user: "ada".to_owned(),
        password: PASSWORD.to_owned(),
        ..LoginRequest::default()
    };
    let tokens = db.login_with(&login, &RequestContext::new()).unwrap();
    let user = db.for_token(Some(&tokens.access));
    steps.iter().for_each(|step| pair.take(step).unwrap());
    (pair, user)
}

/// The answer, or why there is none; `None` where a limit was met.
fn answer(db: &Database, text: &str) -> Option<Result<Json, String>> {
    match ask_engine(db, text, &Lists::new(), Duration::from_secs(10)) {
        Ok(json) => Some(Ok(json)),
        Err(Error::Limit { .. }) => None,
        Err(error) => Some(Err(error.to_string())),
    }
}

/// What an engine is asked that never had the predicates, for the answer of one where a user may
/// not see them: blocks that begin with one of them begin with nothing. Returns the names of those
/// blocks too, which are absent then.
fn without_blocks(text: &str, hidden: &BTreeSet<&String>) -> (String, Vec<String>) {
    let plan = dql::parse(text).and_then(|document| document.plan(&BTreeMap::new()));
    let (mut left, mut gone) = (text.to_owned(), Vec::new());
    // From the last to the first, so that the places of the others stay.
    for block in plan.iter().flat_map(|plan| &plan.blocks).rev() {
        let Some(root) = &block.root else { continue };
        if about(root).is_some_and(|name| hidden.contains(&name)) {
            assert_eq!(root.at.line, 1, "the query is one line");
            let start = root.at.column as usize;
            let end = start + end_of_call(&text[start..]);
            // As long as the call was, so that errors name the same positions.
            left.replace_range(start..end, &format!("{:1$}", "uid()", end - start));
            gone.push(block.name.clone());
        }
    }
    (left, gone)
}

/// The predicate that a function is about.
fn about(root: &Function) -> Option<String> {
    match &root.call {
        Call::Compare { left, .. } | Call::Between { left, .. } => match left {
            Operand::Predicate(it) | Operand::Count(it) => Some(it.name.clone()),
            Operand::Val(_) | Operand::Len(_) => None,
        },
        Call::Terms { predicate: it, .. }
        | Call::Text { predicate: it, .. }
        | Call::Has(it)
        | Call::UidIn { predicate: it, .. }
        | Call::Geo { predicate: it, .. }
        | Call::SimilarTo { predicate: it, .. } => Some(it.name.clone()),
        Call::Type(_) => Some("dgraph.type".to_owned()),
        Call::CustomTerms { .. } | Call::Uid { .. } => None,
    }
}

/// The length of the call with which a text begins: up to the bracket that closes it, without a
/// look into quotes and patterns.
fn end_of_call(text: &str) -> usize {
    let (mut depth, mut inside) = (0, None);
    let mut chars = text.char_indices();
    while let Some((position, c)) = chars.next() {
        match (inside, c) {
            (Some(_), '\\') => drop(chars.next()),
            (Some(end), c) if c == end => inside = None,
            (Some(_), _) => {}
            (None, '"' | '/') => inside = Some(c),
            (None, '(') => depth += 1,
            (None, ')') if depth == 1 => return position + 1,
            (None, ')') => depth -= 1,
            (None, _) => {}
        }
    }
    panic!("no end: {text}")
}

#[test]
fn hidden_predicates_are_not_there() {
    let length = from_environment("HEXGRAPH_TWIN_SECONDS").unwrap_or(10);
    let (started, length) = (Instant::now(), Duration::from_secs(length) / 5);
    let (mut requested, mut full, mut absent, mut refused) = (0, 0, 0, 0);
    let mut seed = first_seed();
    while started.elapsed() < length || requested < QUERIES {
        let mut rng = Rng::with_seed(seed);
        fastrand::seed(seed);
        let uids = data::uids(&mut rng);
        let (steps, graph) = steps(&mut rng, &uids);
        let names: Vec<String> = graph.schema.predicates.keys().cloned().collect();
        let (hidden, readable): (BTreeSet<&String>, BTreeSet<&String>) =
            names.iter().partition(|name| rng.u32(..100) < 12 && *name != "dgraph.type");
        let (_full, user) = seen(&steps, &readable);
        let (_part, never) = seen(&without(&steps, &hidden), &readable);
        for _ in 0..QUERIES {
            let mut generator = Generator::new(rng.u64(..), &graph, &uids);
            let query = generator.query().to_string();
            let query = written_out(&query, &generator.lists);
            let (requested_there, gone) = without_blocks(&query, &hidden);
            let mut expected = answer(&never, &requested_there);
            if let Some(Ok(Json::Object(blocks))) = &mut expected {
                gone.iter().for_each(|name| drop(blocks.remove(name)));
            }
            let seen = answer(&user, &query);
            // What is wrong in a block that is absent is not told.
            if !gone.is_empty() && matches!(&expected, Some(Err(_))) {
                continue;
            }
            assert_eq!(
                seen, expected,
                "session {seed}, hidden: {hidden:?}\n{query}\n{requested_there}"
            );
            requested += 1;
            absent += usize::from(!gone.is_empty());
            refused += usize::from(matches!(seen, Some(Err(_))));
            full += usize::from(matches!(&seen, Some(Ok(json)) if shows_anything(json)));
        }
        seed += 1;
    }
    println!(
        "{requested} queries: {full} show something, {absent} lack blocks, {refused} are refused"
    );
    assert!(requested < 5 * full && requested < 40 * absent, "they say too little");
}
