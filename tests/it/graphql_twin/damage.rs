//! Schemas and requests with faults: nothing that somebody writes makes the engine panic or wait,
//! and a schema that is accepted in spite of them has a valid API.

use super::api;
use super::api::Caller;
use super::run::{first_seed, seconds};
use super::words::{chance, one_of};
use fastrand::Rng;
use hexgraph::db::Database;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// The longest that a schema may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// What may stand where it should not.
const ODD: [&str; 40] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "!",
    ":",
    "@",
    "|",
    "&",
    "=",
    "$",
    "...",
    "\"\"\"",
    "\"",
    "#",
    "type",
    "interface",
    "union",
    "enum",
    "input",
    "extend",
    "implements",
    "ID",
    "Int",
    "String",
    "[[Int]]",
    "@id",
    "@search",
    "@search(by: [hash, exact])",
    "@hasInverse(field: id)",
    "@dgraph(pred: \"~x\")",
    "@default(add: {value: \"x\"})",
    "Query",
    "null",
    "99999999999999999999",
    "-1",
    "é",
    "\u{0}",
];

/// The words and signs of a text, with what is between them.
fn tokens(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for c in text.chars() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        match all.last_mut() {
            Some(last) if is_word(c) && last.chars().all(is_word) => last.push(c),
            _ => all.push(c.to_string()),
        }
    }
    all
}

/// A text with a few faults.
fn damaged(rng: &mut Rng, text: &str) -> String {
    let mut all = tokens(text);
    for _ in 0..rng.usize(1..4) {
        if all.len() < 2 {
            break;
        }
        let (one, other) = (rng.usize(..all.len()), rng.usize(..all.len()));
        match rng.u32(..7) {
            0 => drop(all.remove(one)),
            1 => all[one] = (*one_of(rng, &ODD)).to_owned(),
            2 => all.insert(one, format!(" {} ", one_of(rng, &ODD))),
            3 => all.swap(one, other),
            4 => all[one] = all[other].clone(),
            5 => {
                let (low, high) = (one.min(other), one.max(other).min(one.min(other) + 30));
                let part = all[low..high].to_vec();
                let at = rng.usize(..=all.len());
                all.splice(at..at, part);
            }
            _ if chance(rng, 20) => all.truncate(one),
            _ => {
                let end = (one + rng.usize(1..10)).min(all.len());
                all.drain(one..end);
            }
        }
    }
    all.concat()
}

fn check_schema(rng: &mut Rng, text: &str) -> Result<bool, String> {
    let text = damaged(rng, text);
    let db = Database::in_memory();
    let started = Instant::now();
    let made = catch_unwind(AssertUnwindSafe(|| db.set_graphql_schema(&text)));
    let made = made.map_err(|_| format!("{text}\npanics"))?;
    if PATIENCE < started.elapsed() {
        return Err(format!("{text}\ntakes too long"));
    }
    let Ok(made) = made else { return Ok(false) };
    let api =
        api::checked_api(&made.generated).map_err(|reported| format!("{text}\n{reported}"))?;
    for (is_mutation, name) in api::roots(&api) {
        let request = Caller { rng, api: &api, is_minimal: true }.request(is_mutation, &name);
        api::ask(&db, &request).map_err(|reported| format!("{text}\n{reported}"))?;
    }
    Ok(true)
}

fn check_requests(rng: &mut Rng, text: &str) -> Result<(), String> {
    let db = Database::in_memory();
    let made = db.set_graphql_schema(text).map_err(|error| error.to_string())?;
    let api =
        api::checked_api(&made.generated).map_err(|reported| format!("{text}\n{reported}"))?;
    for (is_mutation, name) in api::roots(&api) {
        for _ in 0..3 {
            let request = Caller { rng, api: &api, is_minimal: false }.request(is_mutation, &name);
            let request = damaged(rng, &request);
            api::ask(&db, &request).map_err(|reported| format!("{text}\n{reported}"))?;
        }
    }
    Ok(())
}

#[test]
fn damaged_texts_are_refused_in_peace() {
    let (first, length) = (first_seed(), seconds(3));
    let started = Instant::now();
    let (mut seed, mut accepted, mut schemas) = (first, 0, 0);
    while started.elapsed() < length {
        let mut rng = Rng::with_seed(seed);
        let text = api::text(&mut rng);
        let reported = check_requests(&mut rng, &text);
        reported.unwrap_or_else(|reported| panic!("seed {seed}\n{reported}"));
        for _ in 0..20 {
            let reported = check_schema(&mut rng, &text);
            accepted +=
                usize::from(reported.unwrap_or_else(|reported| panic!("seed {seed}\n{reported}")));
            schemas += 1;
        }
        seed += 1;
    }
    println!("{schemas} damaged schemas, {accepted} of them accepted");
}
