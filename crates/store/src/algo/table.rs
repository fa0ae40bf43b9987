//! The kernels by the names of their algorithms. The arguments and results of an algorithm are in
//! [`hexgraph_base::plan::ALGORITHMS`].

use super::communities::core_numbers::core_numbers;
use super::communities::label_propagation::label_propagation;
use super::communities::leiden::leiden;
use super::communities::louvain::louvain;
use super::communities::modularity::modularity;
use super::components::cuts::{articulation_points, bridges};
use super::components::spanning_forest::spanning_forest;
use super::components::strong::strong_components;
use super::components::topological_order::topological_order;
use super::components::weak::components;
use super::distances::among::distances_among;
use super::distances::bfs::bfs;
use super::distances::diameter::diameter;
use super::distances::k_shortest::k_shortest;
use super::distances::weighted::distances;
use super::embedding::fastrp::fastrp;
use super::embedding::sample::sample;
use super::embedding::walks::walks;
use super::importance::betweenness::betweenness;
use super::importance::degree::degree;
use super::importance::eigenvector::eigenvector;
use super::importance::harmonic::{closeness, harmonic};
use super::importance::hits::hits;
use super::importance::katz::katz;
use super::importance::personal::pagerank;
use super::run::{Outcome, Run};
use super::similarity::pairs::similarity;
use super::similarity::top::similar_nodes;
use super::triangles::clustering::transitivity;
use super::triangles::counts::triangles;
use super::triangles::directed::clustering;
use super::triangles::truss_numbers::truss_numbers;
use hexgraph_base::types::{Error, Result};

type Kernel = fn(&Run<'_>) -> Result<Outcome>;

const KERNELS: &[(&str, Kernel)] = &[
    ("pagerank", pagerank),
    ("components", components),
    ("strong_components", strong_components),
    ("bfs", bfs),
    ("distances", distances),
    ("degree", degree),
    ("hits", hits),
    ("closeness", closeness),
    ("harmonic", harmonic),
    ("betweenness", betweenness),
    ("label_propagation", label_propagation),
    ("louvain", louvain),
    ("leiden", leiden),
    ("core_numbers", core_numbers),
    ("triangles", triangles),
    ("clustering", clustering),
    ("transitivity", transitivity),
    ("similarity", similarity),
    ("similar_nodes", similar_nodes),
    ("eigenvector", eigenvector),
    ("katz", katz),
    ("articulation_points", articulation_points),
    ("bridges", bridges),
    ("topological_order", topological_order),
    ("spanning_forest", spanning_forest),
    ("distances_among", distances_among),
    ("diameter", diameter),
    ("truss_numbers", truss_numbers),
    ("modularity", modularity),
    ("k_shortest", k_shortest),
    ("sample", sample),
    ("walks", walks),
    ("fastrp", fastrp),
];

/// Runs an algorithm.
///
/// # Errors
///
/// `Query` for arguments that do not fit the graph; `Limit` when it has to stop, or has no memory.
pub fn compute(run: &Run<'_>) -> Result<Outcome> {
    let name = run.call.algorithm.name;
    let kernel = KERNELS.iter().find(|(existing, _)| *existing == name);
    let (_, kernel) = kernel.ok_or_else(|| Error::query(format!("`{name}` is no algorithm")))?;
    run.task.check()?;
    kernel(run)
}

/// Whether an algorithm of the table of plans has code. A test checks that all have.
pub fn has_kernel(name: &str) -> bool {
    KERNELS.iter().any(|(existing, _)| *existing == name)
}
