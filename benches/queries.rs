//! How long does each kind of query take on the film data, result as JSON text included?

use criterion::{Criterion, criterion_group, criterion_main};
use hexgraph_benches::{ask, features, film, shared};
use std::hint::black_box;

fn queries(c: &mut Criterion) {
    let Some(root) = shared() else {
        println!("skipped: the film data is not here");
        return;
    };
    let db = film(&root);
    let lines = std::fs::read_to_string(root.join("bench/film_queries.jsonl"))
        .expect("the queries lie beside the data");
    let mut group = c.benchmark_group("film");
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        let case: serde_json::Value = serde_json::from_str(line).expect("each line is JSON");
        let (Some(id), Some(text)) = (case["id"].as_str(), case["query"].as_str()) else {
            continue;
        };
        group.bench_function(id, |b| b.iter(|| black_box(ask(&db, text))));
    }
    for (id, text) in features() {
        group.bench_function(id, |b| b.iter(|| black_box(ask(&db, text))));
    }
    group.finish();
}

criterion_group!(benches, queries);
criterion_main!(benches);
