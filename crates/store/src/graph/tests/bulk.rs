//! Deletes of many nodes at once, compared with the same deletes node by node.

use super::model::check_indexes;
use super::*;
use crate::graph::build::compact::settle_all;
use crate::graph::thresholds::Folding;
use proptest::prelude::*;
use std::fmt::Write;

const SCHEMA: &str = "name: string @index(exact, term, trigram) @lang .\ntag: [string] @index(exact) @count .\n\
     age: int @index(int) .\nkey: string @index(hash) @upsert .\nnote: string .\nbest: uid @reverse .\n\
     friend: [uid] @reverse @count .\nlikes: [uid] .\nhot: uid @reverse .\nv: float32vector @index(hnsw) .\n\
     type T {\n name\n tag\n age\n key\n note\n best\n friend\n likes\n hot\n v\n}\n";

const NODES: u64 = 40;

/// Statements about some nodes, small and great ones.
fn statements(rng: &mut fastrand::Rng, count: usize) -> String {
    let mut text = String::new();
    for _ in 0..count {
        let (node, other) = (uid(rng.u64(1..=NODES)), uid(rng.u64(1..=NODES)));
        let facet = if rng.u8(..4) == 0 { " (f=3)" } else { "" };
        let number = rng.u8(..9);
        let _ = match rng.u8(..11) {
            0 => writeln!(text, "<{node}> <name> \"name {number}\"{facet} ."),
            1 => writeln!(text, "<{node}> <name> \"Name {number}\"@de{facet} ."),
            2 => writeln!(text, "<{node}> <tag> \"tag {number}\"{facet} ."),
            3 => writeln!(text, "<{node}> <age> \"{number}\"{facet} ."),
            4 => writeln!(text, "<{node}> <key> \"key {number}\" ."),
            5 => writeln!(text, "<{node}> <note> \"note {number}\"{facet} ."),
            6 => writeln!(text, "<{node}> <best> <{other}>{facet} ."),
            7 => writeln!(text, "<{node}> <friend> <{other}>{facet} ."),
            8 => writeln!(text, "<{node}> <likes> <{other}>{facet} ."),
            9 => writeln!(text, "<{node}> <hot> <{other}> ."),
            _ => writeln!(text, "<{node}> <v> \"[{number}, 1]\" ."),
        };
        let _ = writeln!(text, "<{node}> <dgraph.type> \"T\" .");
    }
    text
}

fn uid(number: u64) -> u64 {
    if number.is_multiple_of(7) { number << 40 } else { number }
}

/// Deletes of all kinds, most of them of all that a node has.
fn deletes(rng: &mut fastrand::Rng) -> String {
    let mut text = String::new();
    for _ in 0..rng.usize(..40) {
        let (node, other) = (uid(rng.u64(1..=NODES + 3)), uid(rng.u64(1..=NODES + 3)));
        let number = rng.u8(..9);
        let _ = match rng.u8(..12) {
            0..4 => writeln!(text, "<{node}> * * ."),
            4 | 5 => writeln!(text, "<{node}> <friend> <{other}> ."),
            6 => writeln!(text, "<{node}> <hot> <{other}> ."),
            7 => writeln!(text, "<{node}> <tag> \"tag {number}\" ."),
            8 => writeln!(text, "<{node}> <name@de> * ."),
            9 => writeln!(text, "<{node}> <friend> * ."),
            10 => writeln!(text, "<{node}> <likes> <{other}> ."),
            _ => writeln!(text, "<{node}> <name> * ."),
        };
    }
    text
}

proptest! {
    /// The contents, the indexes, the effect and the conflict keys are the same, with clean columns
    /// or not.
    #[test]
    fn deletes_at_once_equal_deletes_one_by_one(seed in any::<u64>(), is_clean in any::<bool>()) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut version = apply(&with_schema(SCHEMA), &statements(&mut rng, 400), "").unwrap().0;
        if is_clean {
            version = settle_all(&version);
        }
        version = apply(&version, &statements(&mut rng, 3), "").unwrap().0;
        let (set, delete) = (statements(&mut rng, 2), deletes(&mut rng));
        let apply_with = |changes_min| {
            let thresholds = Thresholds { changes_min, ..Thresholds::small() };
            let version = Version { thresholds, ..version.clone() };
            let texts = [(Statements::NQuads(&set), Statements::NQuads(&delete))];
            let (changes, _) = staged(&version, &texts, &Bindings::default()).unwrap();
            let mut keys = Vec::new();
            let (next, effect) = changes.apply_keyed(&version, &mut keys, &|| Ok(())).unwrap();
            keys.sort_unstable();
            keys.dedup();
            (next, effect, keys)
        };
        let (bulk, single) = (apply_with(2), apply_with(usize::MAX));
        prop_assert_eq!(contents(&bulk.0), contents(&single.0));
        check_indexes(&bulk.0);
        prop_assert_eq!(bulk.1, single.1);
        prop_assert_eq!(bulk.2, single.2);
    }
}

/// A column that a delete of many nodes leaves due is built anew by it, and not changed row by row.
#[test]
fn a_delete_of_many_nodes_leaves_no_changes() {
    let lines = |line: fn(u32) -> String| (1..=100).map(line).collect::<String>();
    let text = lines(|node| {
        format!("<{node}> <age> \"{node}\" .\n<{node}> <friend> <{}> .\n", node % 9 + 1)
    });
    let compacted = settle_all(&apply(&with_schema(SCHEMA), &text, "").unwrap().0);
    let version = Version {
        thresholds: Thresholds { folding: Folding::Manual, ..compacted.thresholds },
        ..compacted
    };
    let delete = lines(|node| match node % 2 {
        0 => format!("<{node}> <age> * .\n<{node}> <friend> * .\n"),
        _ => String::new(),
    });
    let next = apply(&version, "", &delete).unwrap().0;
    let age = next.predicate("age").unwrap().values("").unwrap();
    let friend = next.predicate("friend").unwrap();
    assert_eq!((age.changes_len(), age.subjects().len()), (0, 50));
    for reverse in [false, true] {
        let direction = friend.direction(reverse).unwrap();
        assert!(direction.is_clean() && direction.total() == 50, "{reverse}");
    }
}
