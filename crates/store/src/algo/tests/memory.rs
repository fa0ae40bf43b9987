//! The memory of calls, compared with the estimates.

use super::case::{Counted, Edges, loaded, quads, result};
use super::graphs::any_call;
use crate::algo::{EdgeSelection, GraphCache, Requested, Task, estimate};
use crate::graph::Version;
use fastrand::Rng;
use hexgraph_base::plan::{ALGORITHMS, Direction};
use hexgraph_base::types::Uid;
use hexgraph_base::types::pool::Pool;

fn random(nodes: u32, edges: usize) -> Version {
    let mut rng = Rng::with_seed(7);
    let mut set = Edges::new();
    while set.len() < edges {
        let weight = Some(f64::from(rng.u8(1..9)));
        set.insert((0, rng.u32(1..=nodes), rng.u32(1..=nodes)), weight);
    }
    loaded(quads(&set))
}

#[test]
fn estimates_are_close_to_the_peaks() {
    let uid = |node| Uid(u64::from(node));
    let mut faults = Vec::new();
    for (nodes, edges) in [(2_000, 8_000), (4_000, 8_000)] {
        let version = random(nodes, edges);
        for direction in [Direction::Out, Direction::In, Direction::Both] {
            for weight in [None, Some("w")] {
                let predicate = version.predicate("e").unwrap();
                let parts = vec![EdgeSelection { predicate, reverse: false, weight, far: None }];
                let expected = Requested { parts, nodes: None, direction, uid: &uid };
                for algorithm in ALGORITHMS.iter().filter(|it| it.directions.contains(&direction)) {
                    for threads in [1, 3] {
                        let pool = Some(Pool::new(threads));
                        let work = Counted { pool, ..Counted::default() };
                        let task = Task::new(&work, None);
                        let graph = GraphCache::get(None, &expected, &task).unwrap().0;
                        let estimate = estimate(algorithm.name, &expected, Some(&graph));
                        let Some(estimate) = estimate else { continue };
                        result(&graph, &any_call(algorithm), &work, None).unwrap();
                        let ratio = estimate.bytes as f64 / work.most.into_inner() as f64;
                        if !(0.8..1.2).contains(&ratio) {
                            let name = algorithm.name;
                            faults.push(format!(
                                "{name} of {nodes} nodes, {direction:?}, weight {weight:?}, {threads} threads: {ratio:.2}"
                            ));
                        }
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "estimate by peak:\n{}", faults.join("\n"));
}
