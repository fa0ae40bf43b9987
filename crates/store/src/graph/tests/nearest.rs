//! The nearest vectors through loads, mutations, alters and files.

use super::super::{Nearest, Predicate};
use super::*;
use crate::graph::build::compact::settle_all;
use crate::index::{Links, NearGraph};
use crate::storage::{Array, Offsets, catch_corrupt};
use hexgraph_base::schema::Metric;
use hexgraph_base::types::Error;
use proptest::prelude::*;
use std::fmt::Write;
use std::sync::Arc;

const DIMENSION: usize = 4;

const METRICS: [(Metric, &str); 3] = [
    (Metric::Euclidean, "euclidean"),
    (Metric::Cosine, "cosine"),
    (Metric::DotProduct, "dotproduct"),
];

fn schema(metric: usize) -> String {
    let options = format!("metric: \"{}\", efConstruction: \"40\"", METRICS[metric].1);
    format!("v: float32vector @index(hnsw({options})) .")
}

/// A pseudo-random vector.
fn vector(seed: u64) -> Vec<f32> {
    let number = |position: u64| {
        let bits = (seed * 8 + position + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((bits ^ bits >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f32 / 1e6 - 8.0
    };
    (0..DIMENSION as u64).map(number).collect()
}

fn line(uid: u64, vector: &[f32]) -> String {
    format!("<{uid}> <v> \"{vector:?}\" .\n")
}

fn predicate(version: &Version) -> &Predicate {
    version.predicate("v").unwrap()
}

fn nearest(version: &Version, vector: &[f32], count: usize) -> Result<Vec<u32>> {
    let expected = Nearest { vector, count, width: None, distance_max: None, pool: None };
    let mut result = predicate(version).nearest(&expected)?;
    result.sort_unstable();
    Ok(result)
}

/// All uids, nearest first, by the plainest formula.
fn ranked(model: &BTreeMap<u64, Vec<f32>>, metric: Metric, query: &[f32]) -> Vec<(f64, u32)> {
    let dot = |one: &[f32], other: &[f32]| -> f64 {
        one.iter().zip(other).map(|(one, other)| f64::from(*one) * f64::from(*other)).sum()
    };
    let distance = |vector: &[f32]| match metric {
        Metric::Euclidean => dot(vector, vector) - 2.0 * dot(vector, query) + dot(query, query),
        Metric::Cosine => {
            1.0 - dot(vector, query) / (dot(vector, vector) * dot(query, query)).sqrt()
        }
        Metric::DotProduct => -dot(vector, query),
    };
    let mut all: Vec<_> = model.iter().map(|(uid, it)| (distance(it), *uid as u32)).collect();
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    all
}

fn check(version: &Version, model: &BTreeMap<u64, Vec<f32>>, metric: usize) {
    let (mut hits, mut expected) = (0, 0);
    for seed in 0..8 {
        let query = vector(1 << 40 | seed);
        let result = nearest(version, &query, 6).unwrap();
        let truth = ranked(model, METRICS[metric].0, &query);
        assert_eq!(result.len(), truth.len().min(6));
        assert!(result.is_sorted_by(|one, next| one < next));
        assert!(result.iter().all(|uid| model.contains_key(&u64::from(*uid))));
        expected += result.len();
        hits += truth.iter().take(6).filter(|(_, uid)| result.contains(uid)).count();
    }
    assert!(9 * expected <= 10 * hits, "{hits} of {expected}");
}

#[derive(Debug, Clone)]
enum Step {
    Load(u64),
    Set(Vec<(u64, u64)>),
    Delete(Vec<u64>),
    Settle,
    Save,
    Alter(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let uid = || 1..400_u64;
    prop_oneof![
        1 => (0..9_u64).prop_map(Step::Load),
        4 => proptest::collection::vec((uid(), 0..10_000_u64), 1..20).prop_map(Step::Set),
        3 => proptest::collection::vec(uid(), 1..20).prop_map(Step::Delete),
        1 => Just(Step::Settle),
        1 => Just(Step::Save),
        1 => (0..4_usize).prop_map(Step::Alter),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, failure_persistence: None, ..Default::default() })]

    #[test]
    fn nearest_neighbours_are_right_after_any_change(steps in proptest::collection::vec(step(), 1..14)) {
        let folder = tempfile::tempdir().unwrap();
        let mut metric = 0;
        let mut version = with_schema(&schema(metric));
        let mut model = BTreeMap::new();
        for (number, step) in [Step::Load(9)].iter().chain(&steps).enumerate() {
            match step {
                Step::Load(seed) => {
                    let new = (0..250_u64).map(|at| (1 + at * (seed + 1) % 400, vector(seed << 20 | at)));
                    let new: Vec<_> = new.collect();
                    let text: String = new.iter().map(|(uid, it)| line(*uid, it)).collect();
                    version = load_text(&version, &text);
                    model.extend(new);
                }
                Step::Set(pairs) => {
                    let text = pairs.iter().map(|(uid, seed)| line(*uid, &vector(*seed)));
                    version = apply(&version, &text.collect::<String>(), "").unwrap().0;
                    model.extend(pairs.iter().map(|(uid, seed)| (*uid, vector(*seed))));
                }
                Step::Delete(uids) => {
                    let mut text = String::new();
                    uids.iter().for_each(|uid| writeln!(text, "<{uid}> <v> * .").unwrap());
                    version = apply(&version, "", &text).unwrap().0;
                    uids.iter().for_each(|uid| { model.remove(uid); });
                }
                Step::Settle => version = settle_all(&version),
                Step::Save => {
                    let path = folder.path().join(format!("{number}.hxs"));
                    persist::save(&version, &path).unwrap();
                    version = opened(&path).unwrap();
                }
                Step::Alter(3) => {
                    version = alter(&version, "v: float32vector .").unwrap();
                    let error = nearest(&version, &vector(0), 1).err().unwrap().to_string();
                    assert!(error.starts_with("predicate `v` has no vector index"), "{error}");
                    version = alter(&version, &schema(metric)).unwrap();
                }
                Step::Alter(which) => {
                    metric = *which;
                    version = alter(&version, &schema(metric)).unwrap();
                }
            }
            check(&version, &model, metric);
        }
    }
}

#[test]
fn lengths_must_agree_where_there_is_an_index() {
    let version = with_schema("v: float32vector @index(hnsw) .\nw: float32vector .");
    let error = apply(&version, "<1> <v> \"[1]\" .\n<2> <v> \"[1, 2]\" .", "").err().unwrap();
    assert!(error.to_string().contains("vectors of different lengths, 1 and 2"), "{error}");
    apply(&version, "<1> <w> \"[1]\" .\n<2> <w> \"[1, 2]\" .", "").unwrap();
    let one = apply(&version, "<1> <v> \"[1, 2]\" .\n<9> <v> \"[]\" .", "").unwrap().0;
    for version in [&one, &settle_all(&one)] {
        let fault = apply(version, "<2> <v> \"[1]\" .", "").err().unwrap().to_string();
        assert!(
            fault.contains("euclidean distance of vectors of different lengths, 1 and 2"),
            "{fault}"
        );
        // The only vector that there is may become another.
        let other = apply(version, "<1> <v> \"[1, 2, 3]\" .", "").unwrap().0;
        assert_eq!(nearest(&other, &[1.0, 2.0, 3.0], 5).unwrap(), [1]);
        let error = nearest(&other, &[1.0, 2.0], 5).err().unwrap().to_string();
        assert!(error.contains("vectors of different lengths, 2 and 3"), "{error}");
        let other = apply(version, "<2> <v> \"[5]\" .", "<1> <v> * .").unwrap().0;
        assert_eq!(nearest(&other, &[1.0], 5).unwrap(), [2]);
        assert_eq!(nearest(version, &[1.0, 2.0], 5).unwrap(), [1]);
    }
}

#[test]
fn texts_and_lists_are_indexed_too() {
    let version = load_text(
        &with_schema("v: string ."),
        "<1> <v> \"[1, 2]\" .\n<2> <v> \"no\" .\n<3> <v> \"[3, 4]\" .",
    );
    let version = alter(&version, "v: float32vector @index(hnsw) .").unwrap();
    assert_eq!(nearest(&version, &[3.0, 3.0], 1).unwrap(), [3]);
    let version = apply(&version, "<4> <v> \"[3, 3]\" .", "").unwrap().0;
    assert_eq!(nearest(&settle_all(&version), &[3.0, 3.0], 2).unwrap(), [3, 4]);
    let lists = with_schema("v: [float32vector] @index(hnsw) .");
    let mut text: String = (0..60).map(|at| line(1, &[at as f32, 0.0])).collect();
    text += &(2..40).map(|uid| line(uid, &[0.0, uid as f32 * 50.0])).collect::<String>();
    let lists = load_text(&lists, &text);
    assert_eq!(nearest(&lists, &[0.0, 0.0], 3).unwrap(), [1, 2, 3]);
    let changed = apply(&lists, "<7> <v> \"[1, 1]\" .", "<1> <v> \"[0, 0]\" .").unwrap().0;
    assert_eq!(nearest(&changed, &[0.0, 0.0], 3).unwrap(), [1, 2, 7]);
}

/// A file may claim anything, as long as its checksums hold.
#[test]
fn a_file_with_wild_links_does_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.hxs");
    let count = 400;
    let text: String = (1..=count).map(|uid| line(uid, &vector(uid))).collect();
    let version = load_text(&with_schema(&schema(1)), &text);
    for round in 0..40_u64 {
        let wild =
            |at: u64| vector(round << 32 | at)[0].to_bits() % (count as u32 + round as u32 / 2);
        let links = |lists: usize| Links {
            offsets: Offsets::from_lens(std::iter::repeat_n(5, lists)),
            targets: Array::from_vec((0..5 * lists as u64).map(wild).collect()),
        };
        let mut broken = Predicate::clone(predicate(&version));
        let PredicateData::Values(langs) = &mut broken.data else { panic!() };
        let base = &langs[0].base;
        let mut index = base.vectors.clone().unwrap();
        index.width = 10;
        index.graph = NearGraph {
            members: Array::from_vec((1000..1020).map(wild).collect()),
            layers: vec![links(count as usize), links(20), links(3)],
        };
        let base = crate::graph::version::values::ValueBase {
            column: base.column.clone(),
            indexes: Vec::new(),
            vectors: Some(index),
        };
        langs[0].base = Arc::new(base);
        let mut saved = version.clone();
        saved.predicates.insert("v".into(), Arc::new(broken));
        persist::save(&saved, &path).unwrap();
        let opened = opened(&path).unwrap();
        for seed in 0..20 {
            let searched = catch_corrupt(|| nearest(&opened, &vector(1 << 40 | seed), 5));
            match searched.and_then(|result| result) {
                Ok(result) => assert_eq!(result.len(), 5),
                Err(Error::Corrupt { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        }
        let changed = apply(&opened, &line(2, &vector(9)), "<1> <v> * .").unwrap().0;
        match catch_corrupt(|| settle_all(&changed)) {
            Ok(_) | Err(Error::Corrupt { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }
}
