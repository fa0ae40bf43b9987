//! Random graphs for tests: values of all kinds, loaded, changed and deleted, of few distinct ones
//! and with gaps.

use crate::graph::{
    Bindings, LoadOptions, LoadSource, MutationTexts, Passwords, Stager, Statements, Version,
    alter, load, stage,
};
use fastrand::Rng;
use hexgraph_base::schema::Actor;
use hexgraph_base::types::{Error, Result, Value};
use std::fmt::Write;
use std::io::Cursor;

const SCHEMA: &str = "age: int .\nwide: int .\nrank: int @index(int) .\nrate: float .\n\
     share: float @index(float) .\nis: bool .\nwas: bool @index(bool) .\nday: datetime .\n\
     at: datetime .\nsince: datetime @index(hour) .\ncity: string .\nname: string @index(exact) .\n\
     said: string @lang .\nplain: default .\ntags: [int] .\ngreat: bigfloat .\n\
     knows: [uid] @reverse .\nlikes: [uid] .\n";

/// The predicates of edges; the first can be walked back.
pub(in crate::exec) const EDGES: [&str; 2] = ["knows", "likes"];

/// The predicates.
pub(in crate::exec) const NAMES: [&str; 16] = [
    "age", "wide", "rank", "rate", "share", "is", "was", "day", "at", "since", "city", "name",
    "said", "plain", "tags", "great",
];

/// A random value of a predicate, of few distinct ones.
fn value_of(name: &str, rng: &mut Rng) -> String {
    let pick = |rng: &mut Rng, texts: &[&str]| (*rng.choice(texts).unwrap()).to_owned();
    match name {
        "age" => rng.i32(-3..5).to_string(),
        "wide" | "rank" => match rng.u8(..3) {
            0 => (i64::MAX - rng.i64(0..3)).to_string(),
            1 => (i64::MIN + rng.i64(0..3)).to_string(),
            _ => (rng.i64(0..5) * 1_000_000_007).to_string(),
        },
        "rate" | "share" => {
            pick(rng, &["0", "-0.0", "0.1", "0.2", "-1e300", "1e308", "-1e308", "3.25"])
        }
        "is" | "was" => rng.bool().to_string(),
        "day" => format!("19{}-03-0{}", rng.u8(70..74), rng.u8(1..4)),
        "at" | "since" => pick(
            rng,
            &[
                "2001-02-03T04:05:06Z",
                "2001-02-03T05:05:06+01:00",
                "2001-02-03T04:05:06.5Z",
                "0001-01-01T00:00:00Z",
                "2001-02-03",
            ],
        ),
        "tags" => rng.u8(..4).to_string(),
        "great" => pick(rng, &["1", "1.0", "2.5", "-3"]),
        // Some texts come once, or with the changes alone.
        _ if rng.u8(..) == 0 => format!("t{}", rng.u16(..)),
        _ => pick(rng, &["a", "b", "", "long enough to be no short text", "é", "1"]),
    }
}

/// Statements about some random nodes; a value of each predicate for most.
fn statements(nodes: u64, count: u64, fraction: f64, rng: &mut Rng) -> String {
    let mut text = String::new();
    for node in 0..count {
        let node = if fraction < 1.0 { rng.u64(..nodes) } else { node } + 1;
        for _ in 0..rng.u8(..4) {
            let name = rng.choice(EDGES).unwrap();
            writeln!(text, "<{node}> <{name}> <{}> .", rng.u64(..nodes) + 1).unwrap();
        }
        for name in NAMES {
            if rng.f64() < fraction * 0.9 {
                let value = value_of(name, rng);
                writeln!(text, "<{node}> <{name}> \"{value}\" .").unwrap();
            }
        }
    }
    text
}

struct Plain;

impl Passwords for Plain {
    fn hash(&self, _: &str) -> Result<Value> {
        Err(Error::query("there are no passwords"))
    }

    fn verify(&self, _: &str, _: &str) -> Result<bool> {
        Ok(false)
    }
}

fn changed(version: &Version, set: &str, delete: &str) -> Version {
    let tree = MutationTexts::new(&[Statements::NQuads(set)], &[Statements::NQuads(delete)]);
    let stager = Stager { actor: Actor::Client, passwords: &Plain, charge: &|_| Ok(()) };
    let statements = vec![tree.statements(&mut 0, &()).unwrap()];
    let (changes, _) = stage(version, statements, &Bindings::default(), stager).unwrap();
    changes.apply(version).unwrap()
}

/// A graph of so many nodes, each with a value of each predicate, as it was loaded.
pub(in crate::exec) fn full_graph(nodes: u64, rng: &mut Rng) -> Version {
    let version = alter(&Version::empty(), SCHEMA).unwrap();
    loaded(&version, statements(nodes, nodes, 2.0, rng))
}

fn loaded(version: &Version, statements: String) -> Version {
    let reader = Box::new(Cursor::new(statements));
    let source = LoadSource { name: "test.rdf".to_owned(), reader };
    load(version, vec![source], &LoadOptions::default()).unwrap().0
}

/// A graph of about so many nodes that was loaded and then changed, or one that has nothing but
/// changes.
pub(in crate::exec) fn graph(nodes: u64, rng: &mut Rng) -> Version {
    let mut version = alter(&Version::empty(), SCHEMA).unwrap();
    if rng.u8(..5) != 0 {
        version = loaded(&version, statements(nodes, nodes, 1.0, rng));
    }
    for _ in 0..rng.u64(..4) {
        let count = rng.u64(..nodes / 4);
        let mut set = statements(nodes + nodes / 8, count, 0.3, rng);
        if rng.u8(..4) == 0 {
            // Wider than the column is.
            writeln!(set, "<{}> <age> \"{}\" .", rng.u64(..nodes) + 1, 1_i64 << 40).unwrap();
        }
        let mut delete = String::new();
        for _ in 0..rng.u64(..8) {
            let name = rng.choice(NAMES).unwrap();
            writeln!(delete, "<{}> <{name}> * .", rng.u64(..nodes) + 1).unwrap();
        }
        version = changed(&version, &set, &delete);
    }
    version
}
