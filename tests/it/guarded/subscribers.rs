//! Whether subscribers are told what they may see, and all of it: whenever a commit of somebody
//! else changes what they may see, they are woken, and what they were told last is what they would
//! be answered by an engine that was never given the hidden nodes.

use super::rules::Claims;
use super::world::World;
use super::{Case, Op, answer, clean, headers, requests, rules, signed};
use hexgraph::db::graphql::{Headers, Request, Subscription, Update};
use hexgraph::db::{Database, RequestContext};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

struct Subscriber {
    text: String,
    subscription: Subscription,
    is_woken: Arc<AtomicBool>,
    reported: Value,
}

impl Subscriber {
    fn new(database: &Database, text: String, headers: &Headers) -> Subscriber {
        let is_woken = Arc::new(AtomicBool::new(true));
        let flag = Arc::clone(&is_woken);
        let wake = move || flag.store(true, Ordering::Relaxed);
        let begun = database.graphql_subscribe(&Request::new(text.clone()), headers, wake);
        let subscription = begun.unwrap_or_else(|faults| panic!("{faults:?}\n{text}"));
        Subscriber { text, subscription, is_woken, reported: Value::Null }
    }

    /// Asks if there is reason to; whether there was something new.
    fn listen(&mut self) -> bool {
        if !self.is_woken.swap(false, Ordering::Relaxed) {
            return false;
        }
        match self.subscription.update(&RequestContext::new()) {
            Update::Next(response) => {
                self.reported = serde_json::from_slice(&response.to_json("")).unwrap();
                true
            }
            Update::Same => false,
            Update::Ended => panic!("it has ended"),
        }
    }
}

impl Case {
    /// Carries a random change out, as somebody whom no rule binds.
    fn disturb(&mut self) -> String {
        let before = self.world.clone();
        for _ in 0..self.rng.usize(1..3) {
            self.world.change(&mut self.rng);
        }
        let lines = |world: &World| -> BTreeSet<String> {
            world.nquads().lines().map(str::to_owned).collect()
        };
        let (old, new) = (lines(&before), lines(&self.world));
        let difference = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
            one.difference(other).map(|line| format!("{line}\n")).collect::<String>()
        };
        let (set, delete) = (difference(&new, &old), difference(&old, &new));
        if !set.is_empty() || !delete.is_empty() {
            self.guarded.mutate(&set, &delete).unwrap();
        }
        format!("set {{\n{set}}}\ndelete {{\n{delete}}}")
    }

    fn check_subscribers(
        &self,
        claims: &Claims,
        all: &mut [Subscriber],
        change: &str,
    ) -> Result<(), String> {
        let seen = self.seen(claims);
        for subscriber in all {
            let was_reported = subscriber.listen();
            let text = &subscriber.text;
            let expected = clean(answer(&seen, text, Headers::new()));
            let reported = clean(subscriber.reported.clone());
            if reported != expected {
                return Err(format!(
                    "{text}\nas {claims:?}\nrules\n{}{change}\n{} {reported}\nshould be\n{expected}",
                    self.rules.reported(Op::Query),
                    if was_reported { "was told" } else { "still believes" }
                ));
            }
        }
        Ok(())
    }
}

/// A few subscribers with few tokens while others change things.
fn check(seed: u64, forgotten: &str) -> Result<(), String> {
    let mut case = Case::new(seed, forgotten);
    let mut groups: Vec<(Claims, Vec<Subscriber>)> = Vec::new();
    for _ in 0..2 {
        let claims = rules::random_claims(&mut case.rng);
        let each = (0..6).map(|_| {
            let text = requests::subscription(&mut case.rng, &case.world);
            Subscriber::new(&case.guarded, text, &headers(&claims))
        });
        groups.push((claims.clone(), each.collect()));
    }
    let mut change = "at first".to_owned();
    for _ in 0..10 {
        for (claims, all) in &mut groups {
            case.check_subscribers(claims, all, &change)?;
        }
        change = case.disturb();
    }
    Ok(())
}

/// Two who differ in one claim ask the same; whether they counted as one although they are told
/// different things.
fn check_identity(case: &mut Case) -> Result<bool, String> {
    let one = rules::random_claims(&mut case.rng);
    let mut other = one.clone();
    match case.rng.u8(..4) {
        0 => drop(other.insert("jti".to_owned(), json!(case.rng.u64(..)))),
        _ => {
            let donor = rules::random_claims(&mut case.rng);
            let names = ["USER", "LEVEL", "FLAG", "CODE", "ROLE"];
            let name = names[case.rng.usize(..names.len())];
            other.remove(name);
            other.extend(donor.get(name).map(|value| (name.to_owned(), value.clone())));
        }
    }
    let text = requests::subscription(&mut case.rng, &case.world);
    let request = Request::new(text.clone());
    let identity = |claims: &Claims| {
        let checked = case.guarded.graphql_subscribable(&request, &headers(claims));
        checked.unwrap_or_else(|faults| panic!("{faults:?}\n{text}")).identity().clone()
    };
    if identity(&one) != identity(&other) {
        return Ok(false);
    }
    match case.ask(&text, &one) == case.ask(&text, &other) {
        true => Ok(true),
        false => Err(format!("{text}\nas {one:?}\nand as {other:?} is one question")),
    }
}

#[test]
fn who_counts_as_one_is_told_the_same() {
    let mut same = 0;
    for seed in 0..40 {
        let mut case = Case::new(seed, "");
        for _ in 0..10 {
            match check_identity(&mut case) {
                Ok(is_same) => same += usize::from(is_same),
                Err(reported) => panic!("seed {seed}: {reported}"),
            }
        }
    }
    assert!(40 < same && same < 360, "{same} of 400");
}

#[test]
fn subscribers_are_told_what_they_may_see() {
    let cases = std::env::var("HEXGRAPH_CASES").ok().and_then(|count| count.parse().ok());
    for seed in 0..cases.unwrap_or(20) {
        if let Err(reported) = check(seed, "") {
            panic!("seed {seed}: {reported}");
        }
    }
}

#[test]
fn a_forgotten_rule_is_noticed_by_subscribers() {
    for kind in ["User", "Item"] {
        assert!((0..20).any(|seed| check(seed, kind).is_err()), "{kind}");
    }
}

#[test]
fn nobody_is_told_anything_when_the_token_has_ended() {
    let mut case = Case::new(1, "");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let claims = rules::random_claims(&mut case.rng);
    let headers = signed(json!({ "claims": claims, "exp": now + 2 }));
    let text = "subscription { queryUser { id title } }".to_owned();
    let mut subscriber = Subscriber::new(&case.guarded, text, &headers);
    assert!(subscriber.listen());
    let end = subscriber.subscription.expires().unwrap();
    thread::sleep(end.duration_since(SystemTime::now()).unwrap() + Duration::from_millis(5));
    for _ in 0..10 {
        case.disturb();
        assert_eq!(subscriber.subscription.update(&RequestContext::new()), Update::Ended);
    }
}
