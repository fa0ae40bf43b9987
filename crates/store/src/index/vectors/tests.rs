//! The index against a comparison with every vector.

use super::builder::random;
use super::points::{Query, key_of, measure};
use super::vector_index::{Near, VectorIndex, VectorThresholds};
use crate::storage::{Column, FrozenBitmap, ValuesBuilder};
use hexgraph_base::schema::{HnswOptions, Metric};
use hexgraph_base::types::{ValueRef, ValueType, endless};

type Vectors = Vec<Vec<f32>>;

fn built(
    column: &Column,
    options: &HnswOptions,
    before: Option<(&VectorIndex, &Column)>,
) -> VectorIndex {
    let thresholds = VectorThresholds { compared_max: 100, walk_cost: 1 };
    VectorIndex::build(column, options, before, thresholds, &endless).unwrap()
}

/// Pseudo-random numbers around 0 from a seed.
fn gauss(seed: u64) -> f32 {
    let part = |salt| random(seed.wrapping_mul(4).wrapping_add(salt)) as f64 / u64::MAX as f64;
    let length = (-2.0 * part(0).max(1e-12).ln()).sqrt();
    (length * (std::f64::consts::TAU * part(1)).cos()) as f32
}

fn vectors(count: usize, dimension: usize, seed: u64) -> Vectors {
    let number = |at: usize, slot: usize| gauss(seed << 40 ^ (at * dimension + slot) as u64);
    (0..count).map(|at| (0..dimension).map(|slot| number(at, slot)).collect()).collect()
}

/// Vectors around some centres.
fn clustered(count: usize, dimension: usize, seed: u64) -> Vectors {
    let centres = vectors(20, dimension, 7);
    let mut all = vectors(count, dimension, seed);
    for (at, vector) in all.iter_mut().enumerate() {
        let centre = &centres[random(at as u64) as usize % centres.len()];
        vector.iter_mut().zip(centre).for_each(|(number, centre)| *number = *number / 8.0 + centre);
    }
    all
}

fn options(metric: &str) -> HnswOptions {
    options_with(metric, "3")
}

fn options_with(metric: &str, layers: &str) -> HnswOptions {
    // Narrow when building, for builds without optimisation are slow.
    let narrow = [("efConstruction", "40"), ("efSearch", "20")];
    let written = [("metric", metric), ("maxLevels", layers)].into_iter().chain(narrow);
    HnswOptions::new(written.map(|(name, value)| (name.into(), value.into())).collect()).unwrap()
}

fn column(nodes: &[u32], vectors: &[Vec<f32>]) -> Column {
    let mut values = ValuesBuilder::new(ValueType::Vector);
    vectors.iter().for_each(|vector| values.push(ValueRef::Vector(vector)));
    let subjects = FrozenBitmap::from_sorted(nodes);
    Column::new(subjects, None, values.finish(), Vec::new())
}

fn column_of(vectors: &[Vec<f32>]) -> Column {
    column(&(0..vectors.len() as u32).collect::<Vec<u32>>(), vectors)
}

/// The distances of the nearest of all.
fn nearest(metric: Metric, vectors: &[Vec<f32>], query: &[f32], count: usize) -> Vec<u32> {
    let requested = Query::new(metric, query);
    let mut keys: Vec<u32> =
        vectors.iter().map(|vector| key_of(measure(metric, &requested, vector))).collect();
    keys.sort_unstable();
    keys.truncate(count);
    keys
}

/// The part of the ten nearest that the index finds.
fn recall(index: &VectorIndex, vectors: &[Vec<f32>], queries: &[Vec<f32>]) -> f64 {
    let mut hits = 0;
    for query in queries {
        let result = index.nearest(query, 10, None, &|_| true, None);
        assert_eq!(result.len(), 10.min(vectors.len()));
        assert!(result.is_sorted_by(|one, next| one.distance <= next.distance));
        let truth = nearest(index.metric, vectors, query, 10);
        let worst = *truth.last().unwrap();
        hits += result.iter().filter(|near| key_of(near.distance) <= worst).count();
    }
    hits as f64 / (10 * queries.len()) as f64
}

#[test]
fn recall_of_nearest_neighbours_is_high() {
    for metric in ["euclidean", "cosine", "dotproduct"] {
        for make in [vectors, clustered] {
            let (data, queries) = (make(2000, 16, 1), make(50, 16, 2));
            let index = built(&column_of(&data), &options(metric), None);
            assert!(!index.graph.is_empty() && index.width < data.len(), "{}", index.width);
            let result = recall(&index, &data, &queries);
            assert!(0.95 <= result, "{metric}: {result} at width {}", index.width);
        }
    }
}

#[test]
fn a_graph_is_the_same_each_time() {
    let column = column_of(&vectors(1500, 8, 3));
    let build = || built(&column, &options("cosine"), None);
    let (one, other) = (build(), build());
    assert_eq!(one.graph.members.as_slice(), other.graph.members.as_slice());
    assert_eq!(one.graph.layers.len(), 3);
    for (one, other) in one.graph.layers.iter().zip(&other.graph.layers) {
        assert_eq!(one.targets.as_slice(), other.targets.as_slice());
    }
    assert_eq!(one.width, other.width);
}

/// Vectors come, go and change many times, and each graph is made of the one before.
#[test]
fn a_graph_lives_through_changes() {
    live_through_changes(&options_with("euclidean", "3"), 12);
    live_through_changes(&options_with("cosine", "1"), 3);
}

fn live_through_changes(options: &HnswOptions, rounds: u64) {
    let mut data: Vec<(u32, Vec<f32>)> = (0..).zip(vectors(1000, 12, 4)).collect();
    let split = |data: &[(u32, Vec<f32>)]| -> (Vec<u32>, Vectors) { data.iter().cloned().unzip() };
    let (nodes, all) = split(&data);
    let mut before = (built(&column(&nodes, &all), options, None), column(&nodes, &all));
    let queries = vectors(50, 12, 5);
    let mut grown = 0;
    for round in 1..rounds {
        let fate = |node: u32| random(round << 32 | u64::from(node)) % 40;
        data.retain(|(node, _)| fate(*node) != 0);
        for (node, vector) in data.iter_mut().filter(|(node, _)| fate(*node) == 1) {
            vector[0] = gauss(round << 32 | u64::from(*node));
        }
        let next = data.last().map_or(0, |(node, _)| node + 1);
        data.extend((next..).zip(vectors(30, 12, 5 + round)));
        let (nodes, all) = split(&data);
        let column = column(&nodes, &all);
        let index = built(&column, options, Some((&before.0, &before.1)));
        assert!(index.graph.fits(all.len()));
        grown += usize::from(0 < index.untuned);
        let result = recall(&index, &all, &queries);
        assert!(0.94 <= result, "round {round}: {result} at width {}", index.width);
        before = (index, column);
    }
    assert!(rounds < 4 * grown as u64, "the graphs were built anew");
}

#[test]
fn excluded_points_still_guide_the_search() {
    let data = vectors(1000, 6, 6);
    let index = built(&column_of(&data), &options("euclidean"), None);
    let retains = |position: u32| position.is_multiple_of(50);
    let retained: Vectors = data.iter().step_by(50).cloned().collect();
    for query in vectors(20, 6, 7) {
        let result = index.nearest(&query, 5, Some(60), &retains, None);
        assert!(result.iter().all(|near| retains(near.position)));
        let keys: Vec<u32> = result.iter().map(|near| key_of(near.distance)).collect();
        let truth = nearest(Metric::Euclidean, &retained, &query, 5);
        assert!(keys.iter().filter(|&key| truth.contains(key)).count() >= 4);
    }
    // As many as there are, however many are requested.
    assert_eq!(index.nearest(&data[0], 1000, None, &retains, None).len(), 20);
    assert_eq!(index.nearest(&data[0], 10, None, &|_| false, None), []);
}

#[test]
fn other_lengths_are_left_out() {
    let mut data = vectors(300, 5, 8);
    data[7] = vec![1.0, 2.0];
    data[8] = Vec::new();
    let index = built(&column_of(&data), &options("cosine"), None);
    assert!(index.has_own && index.dimension == 5);
    assert_eq!(index.absent.iter().collect::<Vec<u32>>(), [7, 8]);
    let result = index.nearest(&data[9], 300, None, &|_| true, None);
    assert_eq!(result.len(), 298);
    assert!(result.iter().all(|near| near.position != 7 && near.position != 8));
    assert_eq!(result[0].position, 9);
    let none = built(&column_of(&[Vec::new(), Vec::new()]), &options("cosine"), None);
    assert_eq!((none.dimension, none.count()), (0, 0));
}

#[test]
fn strange_numbers_do_no_harm() {
    let strange =
        [0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN_POSITIVE];
    for metric in ["euclidean", "cosine", "dotproduct"] {
        let mut data = vectors(400, 3, 9);
        for (at, vector) in data.iter_mut().enumerate().step_by(2) {
            vector[at / 2 % 3] = strange[at / 6 % strange.len()];
        }
        data[1] = vec![0.0; 3];
        let index = built(&column_of(&data), &options(metric), None);
        for query in data.iter().take(60) {
            assert_eq!(index.nearest(query, 10, None, &|_| true, None).len(), 10);
        }
        let same = vec![vec![1.0, 2.0]; 500];
        let index = built(&column_of(&same), &options(metric), None);
        let result: Vec<Near> = index.nearest(&[1.0, 2.0], 20, None, &|_| true, None);
        assert_eq!(result.len(), 20);
    }
}
