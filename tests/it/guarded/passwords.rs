//! Whether `checkUserPassword` tells more than it should. Who knows a password, and passes the rule
//! for it, is shown that node; after it are only nodes that may be seen. Whoever does not is told
//! what is told of nodes that are not there.

use super::rules::{Claims, Op, Rules};
use super::world::{BACK, Kind, World, uid};
use super::{answer, clean, database, headers, requests, rules, with_authorization, world};
use hexgraph::db::Database;
use hexgraph::db::graphql::Headers;
use serde_json::{Value, json};
use std::collections::BTreeMap;

struct Vault {
    rng: fastrand::Rng,
    rules: Rules,
    world: World,
    guarded: Database,
    /// They are costly, so few have one.
    passwords: BTreeMap<usize, String>,
}

impl Vault {
    fn new(seed: u64, forgets: bool) -> Vault {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (rules, world) = (Rules::random(&mut rng), World::random(&mut rng));
        let sdl = world::sdl(|kind| match kind {
            "User" => format!("{} @secret(field: \"pwd\")", rules.directive(kind, !forgets)),
            _ => rules.directive(kind, !forgets),
        });
        let guarded = database(&with_authorization(&sdl), &world);
        let mut users = world.of(Kind::of("User").unwrap());
        rng.shuffle(&mut users);
        let passwords: BTreeMap<usize, String> =
            users.into_iter().take(2).map(|node| (node, format!("secret of {node}"))).collect();
        let lines = passwords
            .iter()
            .map(|(node, password)| format!("<{}> <User.pwd> \"{password}\" .\n", uid(*node)));
        guarded.mutate(&lines.collect::<String>(), "").unwrap();
        Vault { rng, rules, world, guarded, passwords }
    }

    fn check(&mut self) -> Result<(), String> {
        let claims = rules::random_claims(&mut self.rng);
        let existing: Vec<usize> = self.passwords.keys().copied().collect();
        let node = match self.rng.u8(..4) {
            0 => self.rng.usize(..self.world.nodes.len()),
            _ => self.rng.choice(&existing).copied().unwrap_or(0),
        };
        let password = match self.rng.u8(..4) {
            0 => "secret of nobody".to_owned(),
            _ => format!("secret of {node}"),
        };
        let selection = requests::plain_selection(&mut self.rng);
        let id = uid(node);
        let text =
            format!("{{ m: checkUserPassword(id: \"{id}\", pwd: \"{password}\") {selection} }}");
        let result = clean(answer(&self.guarded, &text, headers(&claims)));
        let fits = self.passwords.get(&node) == Some(&password);
        let expected = match fits && self.rules.permit(&self.world, Op::Password, node, &claims) {
            true => clean(self.shown(node, &selection, &claims)),
            false => json!({"data": {"m": null}}),
        };
        match result == expected {
            true => Ok(()),
            false => Err(format!(
                "{text}\nas {claims:?}\npassword rules\n{}query rules\n{}{result}\nshould be\n{expected}",
                self.rules.reported(Op::Password),
                self.rules.reported(Op::Query)
            )),
        }
    }

    /// What is shown of a node to which somebody has the password: of all that lies after it only
    /// what may be seen, the node itself among that. So in its place stands one to which nothing
    /// leads.
    fn shown(&self, node: usize, selection: &str, claims: &Claims) -> Value {
        let is_visible = |node: usize| self.rules.permit(&self.world, Op::Query, node, claims);
        let mut world = self.world.only(is_visible);
        let mut position = node;
        if !is_visible(node) {
            let mut twin = self.world.nodes[node].clone();
            twin.edges.retain(|name, _| *name != BACK);
            twin.edges.values_mut().for_each(|ends| ends.retain(|end| is_visible(*end)));
            position = world.nodes.len();
            world.nodes.push(twin);
        }
        let seen = database(&world::sdl(|_| String::new()), &world);
        let text = format!("{{ m: getUser(id: \"{}\") {selection} }}", uid(position));
        let result = answer(&seen, &text, Headers::new()).to_string();
        let result =
            result.replace(&format!("\"{}\"", uid(position)), &format!("\"{}\"", uid(node)));
        serde_json::from_str(&result).unwrap()
    }
}

fn check(seed: u64, forgets: bool) -> Result<(), String> {
    let mut vault = Vault::new(seed, forgets);
    (0..6).try_for_each(|_| vault.check())
}

#[test]
fn passwords_open_what_they_should() {
    let cases = std::env::var("HEXGRAPH_CASES").ok().and_then(|count| count.parse().ok());
    for seed in 0..cases.unwrap_or(10) {
        if let Err(reported) = check(seed, false) {
            panic!("seed {seed}: {reported}");
        }
    }
}

#[test]
fn a_forgotten_rule_for_passwords_is_noticed() {
    assert!((0..20).any(|seed| check(seed, true).is_err()));
}
